//! `tract redact`: secrets out of the context.

use tract::deeds::{At, Deed};
use tract::render::{counted_secrets, plural};

use crate::cli::drawing::outcome;
use crate::cli::{App, Result};

pub use tract::deeds::RedactParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on, line) = (app.repo()?, app.on()?, args.line());
    let options = outcome::limited(app, &repo, args.dry_run, args.limit)?;
    let call = app.call(&on, &line);
    let done = args.carry_out(&At::new(&repo, on.clone(), app), call, &options);
    let (done, counts) = done?;
    if done.is_nothing() {
        app.ui.status("Nothing to redact: no secrets are visible");
        return Ok(());
    }
    if args.dry_run {
        app.ui
            .print(format!("Would redact {}", counted_secrets(&counts)))?;
        return outcome::foretell(app, "redact", &done, &[]);
    }
    let messages = plural(done.changed.len() as u64, "message");
    let did = format!("Redacted {} in {messages}", counted_secrets(&counts));
    outcome::tell(app, &on, &did, &done);
    app.ui
        .hint("the history and kept session files still hold them: only tract purge erases");
    Ok(())
}
