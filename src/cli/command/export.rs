//! `tract export`: a session file back out.

use std::io::Write;
use std::path::PathBuf;

use tract::Error;
use tract::deeds::guard;
use tract::formats::{FORMATS, Format};
use tract::hash::CommitHash;
use tract::ingest::{ExportOptions, Scope, export, session_format, session_meant};
use tract::render::{grouped, plural};
use tract::repo::Repo;

use crate::cli::page::{self, Guarded};
use crate::cli::{App, Failure, Result, leaks, position, private};

/// Write a session file, or a page to read
///
/// Messages that were imported and have not changed come back JSON-equal, with their ids and links.
/// Changed and new messages are written as valid records. Hidden messages are left out.
///
/// --format html writes one self-contained page for a browser: the whole conversation, with hidden
/// messages folded under their marker. --format markdown writes the same as text.
///
/// Where secrets are found, nothing is written unless --redact or --allow-secrets is given. --anonymous is for what is
/// shared with others: one person has one other name in all that is written, whatever the spelling. First names alone, and
/// what a reader can infer, stay.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract export -o session.jsonl                 in the format that it came in
  tract export HEAD~3 --format openai           to standard output
  tract export --format html -o session.html    to read, to keep, to share
  tract export --redact -o session.jsonl        without the secrets in it
  tract export --anonymous -o session.jsonl     without who and where, too")]
pub struct Args {
    /// The commit whose context is written
    #[arg(value_name = "REV", default_value = "HEAD")]
    rev: String,
    /// The format; by default the session's own
    #[arg(long, value_name = "F", value_parser = Shape::named, help = format!(
        "One of the {} that tract import --help lists, html or markdown; by default the session's own",
        FORMATS.len()
    ))]
    format: Option<Shape>,
    /// The file to write, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    secrets: leaks::SharedFlags,
}

/// What is written.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Session(&'static Format),
    Page(page::Kind),
}

impl Shape {
    fn named(name: &str) -> Result<Self, Error> {
        match page::Kind::named(name) {
            Some(kind) => Ok(Self::Page(kind)),
            None => Format::named(name).map(Self::Session),
        }
    }
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    position::must_be_whole(&repo, &on, &args.rev)?;
    let commit = repo.resolve(&on, &args.rev)?;
    let format = match args.format {
        Some(Shape::Session(format)) => format,
        Some(Shape::Page(kind)) => return to_read(&repo, &commit, kind, args, app),
        None => session_format(&repo, &commit)?.ok_or_else(|| {
            let failure = Failure::usage("this history came from no session file");
            failure.with_hint("tract export --format F, with one that tract import --help lists")
        })?,
    };
    let now = app.now();
    let session = session_meant(&repo, &on, &args.rev)?;
    let options = ExportOptions {
        format,
        now,
        session,
    };
    let secrets = args.secrets.finder(&repo, &[commit], app)?;
    let guarded = |out: &mut dyn Write| {
        let leaving = args.secrets.leaving(&secrets);
        let mut make = |out: &mut dyn Write| export(&repo, &commit, &options, out);
        Ok(guard((&repo, &commit), leaving, &mut make, out)?)
    };
    let (done, redacted) = match &args.output {
        Some(path) => {
            let path = app.path(path)?;
            let (done, redacted) = private::write(&path, args.force, guarded)?;
            let messages = plural(done.untouched + done.written, "message");
            let (untouched, place) = (grouped(done.untouched), app.short_path(&path));
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
    Ok(())
}

/// Writes a page.
fn to_read(
    repo: &Repo,
    commit: &CommitHash,
    kind: page::Kind,
    args: &Args,
    app: &mut App,
) -> Result<()> {
    let secrets = args.secrets.finder(repo, &[*commit], app)?;
    let leaving = args.secrets.leaving(&secrets);
    let Some(path) = &args.output else {
        return page::to_output((repo, commit), Scope::All, kind, leaving, app);
    };
    let path = app.path(path)?;
    let page = Guarded::of((repo, commit), Scope::All, kind, leaving, app)?;
    private::write(&path, args.force, |out| {
        Ok(out.write_all(&page.bytes).map_err(Error::io(&path))?)
    })?;
    let messages = plural(page.messages as u64, "message");
    let place = app.short_path(&path);
    app.ui.status(format!("Wrote {messages} to {place}"));
    leaks::tell(&page.redacted, app);
    Ok(())
}
