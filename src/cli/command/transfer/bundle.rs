//! `tract bundle`: commits in one file, for a repository elsewhere.

use tract::deeds::{At, BundleParams};
use tract::render::{Label, Line, plural};

use crate::cli::drawing::leaks;
use crate::cli::{App, Result};

/// Write commits to one file, for another repository
///
/// A branch, a tag or a session is written with everything that it needs. A..B writes what comes after
/// A, for someone who has A already. tract unbundle reads the file. Request settings and notes are part
/// of their commits; session files and titles are written only with --sources.
///
/// If there are secrets, in hidden messages too, nothing is written unless --redact or --allow-secrets
/// is given. --redact makes another history from the first secret on: it cannot continue a history that
/// still has the secrets. So does --anonymous, which also gives each person and host another name.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract bundle talk.tract                     the branch where HEAD is
  tract bundle talk.tract --sources main v1   with the session files that were imported
  tract bundle more.tract v1..main            what came after v1")]
pub struct Args {
    #[command(flatten)]
    deed: BundleParams,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on, deed) = (app.repo()?, app.on()?, &args.deed);
    let at = At::new(&repo, on, app);
    let (bytes, done) = deed.carry_out(&at)?;
    at.host.write_file(&deed.file, deed.force, &bytes)?;
    drop(at);
    let mut what = vec![
        plural(done.commits, "commit"),
        plural(done.contents, "message"),
    ];
    if deed.sources {
        what.push(plural(done.sources, "session file"));
    }
    let place = app.short_path(&app.path(&deed.file)?);
    app.ui
        .status(format!("Wrote {} to {place}", what.join(", ")));
    leaks::tell(&done.secrets, app);
    for need in &done.needs {
        let need = Label::Hash.of(need.short());
        app.ui
            .notice(Line::from("whoever reads it must already have ") + need);
    }
    Ok(())
}
