//! `tract compact`: a summary in place of a span.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tract::Error;
use tract::compile::Provider;
use tract::error::Refusal;
use tract::render::edit::changed_files;
use tract::repo::{Call, On, Repo};
use tract::rewrite::SurgeryOptions;
use tract::rewrite::{Compact, Compaction, Extent, Summary, SummarySpan};

use crate::cli::summariser::{self, Summariser, TIMEOUT_SECONDS};
use crate::cli::{App, Failure, Result, Typed, input, outcome};

/// Replace a span of messages with a summary
///
/// Without --keep or a range, the span is everything but the system messages. Pinned messages stay, and
/// so do calls that wait for a result. You give the summary (-m, -F, or - for standard input), or a
/// command makes it: it gets the span on standard input. What is committed while the command runs
/// stays, after the summary. A command that fails changes nothing.
///
/// In place of an earlier summary, the command gets the messages that it stands for. What it prints is audited:
/// where it lacks something that you said, an open point or a line that you pinned with @pin, the command is run
/// once more and told what is missing. What is missing after that is a hint. A summary that you give is taken as
/// it is. With --strict, one that lacks such a thing is refused, whoever wrote it, and nothing is changed.
///
/// tract undo brings the messages back, and so does tract restore later. See also: prune (tool
/// outputs), drop (messages you name), truncate (the oldest), clear (everything).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract compact -m \"We fixed the parser; its tests pass.\"
  tract compact --keep 10 --exec 'claude -p \"Summarise this conversation\"'
  tract compact :4..:20 -F summary.md
  tract compact --keep 10 --exec 'llm -s summarise' --dry-run")]
pub struct Args {
    /// The summary
    #[arg(short, long, value_name = "TEXT", conflicts_with_all = ["file", "exec"])]
    message: Option<String>,
    /// A file that holds the summary
    #[arg(short = 'F', long, value_name = "FILE", conflicts_with = "exec")]
    file: Option<PathBuf>,
    /// A command that makes the summary
    #[arg(long, value_name = "CMD")]
    exec: Option<String>,
    /// How the command gets the span: text, openai, responses or anthropic
    #[arg(long, value_name = "FORMAT", default_value = "text", requires = "exec")]
    exec_format: Provider,
    /// How long the command may take
    #[arg(long, value_name = "SECONDS", default_value_t = TIMEOUT_SECONDS, requires = "exec")]
    timeout: NonZeroU64,
    /// Refuse a summary that lacks what you said, an open point or a pin
    #[arg(long, conflicts_with = "dry_run")]
    strict: bool,
    /// Leave out the newest N messages
    #[arg(long, value_name = "N", conflicts_with = "range")]
    keep: Option<usize>,
    /// Change nothing; say what would go
    #[arg(long)]
    dry_run: bool,
    /// The span, both ends included; or - for a summary on standard input
    #[arg(value_name = "A..B|-")]
    range: Vec<String>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let (dashes, ranges): (Vec<&String>, Vec<&String>) =
        args.range.iter().partition(|word| *word == "-");
    let span = match (ranges.as_slice(), args.keep) {
        ([], None) => Extent::All,
        ([], Some(keep)) => Extent::KeepLast(keep),
        ([range], _) => span(&repo, &on, range)?,
        _ => return Err(Failure::usage("one span at a time").with_hint("tract compact A..B -m …")),
    };
    let what = what(args);
    let call = app.call(&on, &what);
    let text = match (&args.message, &args.file, dashes.is_empty()) {
        (Some(text), None, true) => Some(text.clone()),
        (None, Some(path), true) => Some(input::read(app, path)?),
        (None, None, false) if args.exec.is_none() && !app.ui.input_is_terminal() => {
            Some(input::read(app, Path::new("-"))?)
        }
        (None, None, true) if args.exec.is_some() => None,
        (None, None, true) if args.dry_run => None,
        _ => {
            let what = "a summary is needed, from one place: -m, -F, - in a pipe, or --exec";
            return Err(Failure::usage(what).with_hint("tract compact -m \"…\""));
        }
    };
    if args.dry_run {
        let summary = text.as_deref().map(str::trim);
        let plan = Compact {
            extent: span,
            summary: summary.filter(|text| !text.is_empty()),
        };
        let (would, gentler) = outcome::foresee(app, &repo, call, &plan)?;
        outcome::foretell(app, "compact", &would, &gentler)?;
        outcome::foretell_facts(app, &repo, call, &plan)?;
        if would.shown.is_empty() {
            app.ui
                .notice("without the summary, which nothing has made yet");
        }
        return Ok(());
    }
    let options = outcome::options(app, &repo, false)?;
    let done = match &text {
        Some(text) if args.strict => (strict(&repo, call, &span, text.trim(), &options)?, None),
        Some(text) => {
            let summary = Summary::Text(text.trim());
            (repo.compact(call, &span, summary, &options)?, None)
        }
        None => {
            let summariser = Summariser {
                command: args.exec.as_deref().unwrap_or_default(),
                format: args.exec_format,
                timeout: Duration::from_secs(args.timeout.get()),
                is_strict: args.strict,
            };
            summariser.compact(&repo, call, &span, &options, app)?
        }
    };
    summariser::tell(&on, &done, app);
    Ok(())
}

/// Takes a summary unless it lacks what it has to hold.
fn strict(
    repo: &Repo,
    call: Call<'_>,
    span: &Extent,
    text: &str,
    options: &SurgeryOptions,
) -> Result<Compaction> {
    let mut make =
        |span: &SummarySpan<'_>| match summariser::lacks(&span.lacks(text, changed_files)?) {
            Some(what) => Err(Error::Refused(Refusal::Lacking { what })),
            None => Ok(text.to_owned()),
        };
    let done = repo.compact(call, span, Summary::From(&mut make), options);
    done.map_err(|error| match error {
        error @ Error::Refused(Refusal::Lacking { .. }) => summariser::refused(error),
        error => error.into(),
    })
}

/// One end of a range may be left out: the first or the last message.
fn span(repo: &Repo, on: &On, range: &str) -> Result<Extent> {
    let Some((from, to)) = range.split_once("..") else {
        let what = format!("'{range}' is not a span");
        return Err(Failure::usage(what).with_hint("both ends: tract compact :4..:20"));
    };
    let from = if from.is_empty() { ":1" } else { from };
    let to = if to.is_empty() { ":-1" } else { to };
    Ok(Extent::Range(
        repo.resolve_entry(on, from)?,
        repo.resolve_entry(on, to)?,
    ))
}

/// The command as the operations keep it: without the summary.
fn what(args: &Args) -> String {
    let made = args.exec.is_some();
    Typed::new("compact")
        .option("--keep", args.keep)
        .revs(args.range.iter().filter(|word| *word != "-"))
        .text("--exec", made)
        .text("-m", !made)
        .line()
}
