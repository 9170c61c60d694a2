//! `tract compact`: a summary in place of a span.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tract::compile::Provider;
use tract::history::surgery::{Compact, Extent, Summary};
use tract::history::{On, Repo};

use crate::cli::summariser::{self, Summariser, TIMEOUT_SECONDS};
use crate::cli::{App, Failure, Result, Typed, input, outcome};

/// Replace a span of messages with a summary
///
/// Without --keep or a range, the span is everything but the system messages. Pinned messages stay, and
/// so do calls that wait for a result. You give the summary (-m, -F, or - for standard input), or a
/// command makes it: it gets the span on standard input. What is committed while the command runs
/// stays, after the summary. A command that fails changes nothing.
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
        if would.shown.is_empty() {
            app.ui
                .notice("without the summary, which nothing has made yet");
        }
        return Ok(());
    }
    let options = outcome::options(app, &repo, false)?;
    let done = match &text {
        Some(text) => repo.compact(call, &span, Summary::Text(text.trim()), &options)?,
        None => {
            let summariser = Summariser {
                command: args.exec.as_deref().unwrap_or_default(),
                format: args.exec_format,
                timeout: Duration::from_secs(args.timeout.get()),
            };
            summariser.compact(&repo, call, &span, &options, app)?
        }
    };
    summariser::tell(&on, &done, app);
    Ok(())
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
