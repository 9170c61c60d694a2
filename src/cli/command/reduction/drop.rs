//! `tract drop`: single messages or parts out.

use tract::deeds::{At, Deed, Still};
use tract::render::plural;
use tract::repo::Named;
use tract::rewrite::SurgeryOptions;

use crate::cli::drawing::outcome;
use crate::cli::{App, Result};

pub use tract::deeds::DropParams as Args;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let named = args.named(&At::new(&repo, on.clone(), &Still))?;
    let what = args.line();
    let call = app.call(&on, &what);
    // All that went is held against what was named.
    let options = SurgeryOptions {
        told: usize::MAX,
        ..outcome::limited(app, &repo, args.dry_run, args.limit)?
    };
    let done = repo.drop_named(call, &named, args.force, &options)?;
    if done.is_nothing() {
        app.ui.status("Nothing to drop: it is hidden already");
        return Ok(());
    }
    if args.dry_run {
        return outcome::foretell(app, "drop", &done, &[]);
    }
    let changed = plural(done.changed.len() as u64, "message");
    let did = match (done.hidden.len(), done.changed.len()) {
        (_, 0) => outcome::hid(&done),
        (0, _) => format!("Hid parts of {changed}"),
        _ => format!("{} and parts of {changed}", outcome::hid(&done)),
    };
    let entries = named.iter().map(|named| match named {
        Named::Entry(id) | Named::Part(id, _) => *id,
    });
    let entries: Vec<_> = entries.collect();
    let touched = done.hidden.told().iter().chain(done.changed.told());
    let partners = outcome::partners(touched.map(|one| one.id), &entries);
    outcome::tell(app, &on, &format!("{did}{partners}"), &done);
    Ok(())
}
