//! `tract export`: a session file back out.

use std::io::Write;
use std::path::{Path, PathBuf};

use tract::Error;
use tract::deeds::page::GuardedPage;
use tract::deeds::{At, ExportParams, guard};
use tract::ingest::{Scope, WITHOUT_FILE, export};
use tract::render::{grouped, plural};

use crate::cli::drawing::leaks;
use crate::cli::machine::{paths, private};
use crate::cli::{App, Result};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract export -o session.jsonl                 in the format that it came in
  tract export HEAD~3 --format openai           to standard output
  tract export -o session.html                  a page to read, to keep, to share
  tract export --format markdown -o notes.txt   the same as text
  tract export --redact -o session.jsonl        without the secrets in it
  tract export --anonymous -o session.jsonl     without who and where, too")]
pub struct Args {
    #[command(flatten)]
    deed: ExportParams,
    /// The file to write, instead of standard output; ending in .html or .md, a page
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    force: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on, deed) = (app.repo()?, app.on()?, &args.deed);
    let at = At::new(&repo, on, app);
    let commit = deed.commit(&at)?;
    let secrets = deed.finder(&at, &commit)?;
    let leaving = deed.leaving(&secrets);
    let output = paths::written(args.output.as_deref())
        .map(|path| app.path(path))
        .transpose()?;
    if let Some(form) = deed.page(&at, &commit, output.as_deref())? {
        drop(at);
        let page = GuardedPage::of((&repo, &commit), Scope::All, form, leaving, &app.calendar())?;
        return to_read(&page, output.as_deref(), args.force, app);
    }
    let options = deed.options(&at, &commit)?;
    drop(at);
    let guarded = |out: &mut dyn Write| {
        let mut make = |out: &mut dyn Write| export(&repo, &commit, &options, out);
        Ok(guard((&repo, &commit), leaving, &mut make, out)?)
    };
    let (done, redacted) = match &output {
        Some(path) => {
            let (done, redacted) = private::write(path, args.force, guarded)?;
            let messages = plural(done.untouched + done.written, "message");
            let (untouched, place) = (grouped(done.untouched), app.short_path(path));
            let wrote = format!("Wrote {messages}, {untouched} untouched, to {place}");
            app.ui.status(wrote);
            (done, redacted)
        }
        None if app.ui.is_terminal() => {
            let mut bytes = Vec::new();
            let done = guarded(&mut bytes)?;
            app.ui.write_json(&String::from_utf8_lossy(&bytes))?;
            done
        }
        None => guarded(app.ui.out())?,
    };
    leaks::tell(&redacted, app);
    for remark in &done.remarks {
        app.ui.notice(remark);
    }
    if done.remarks.iter().any(|remark| remark == WITHOUT_FILE) {
        let hint = "tract fetch --sources brings it, if it is kept where the session came from";
        app.ui.hint(hint);
    }
    Ok(())
}

/// Writes a page.
fn to_read(page: &GuardedPage, output: Option<&Path>, force: bool, app: &mut App) -> Result<()> {
    match output {
        None => app.ui.out().write_all(&page.bytes)?,
        Some(path) => {
            private::write(path, force, |out| {
                Ok(out.write_all(&page.bytes).map_err(Error::io(path))?)
            })?;
            let messages = plural(page.messages as u64, "message");
            let place = app.short_path(path);
            app.ui.status(format!("Wrote {messages} to {place}"));
        }
    }
    leaks::tell(&page.redacted, app);
    Ok(())
}
