//! `tract compact`: a summary in place of a span.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tract::compile::Provider;
use tract::deeds::{CompactParams, Deed};
use tract::render::plural;
use tract::rewrite::Compact;

use crate::cli::drawing::outcome;
use crate::cli::machine::input;
use crate::cli::machine::summariser::{self, Summariser, TIMEOUT_SECONDS};
use crate::cli::{App, Failure, Result};

/// Replace a span of messages with a summary
///
/// Without --keep, --to or a range, the span is everything but the system messages. --to counts a summary that is not
/// made yet as 1,000 tokens. Pinned messages stay, and so do calls
/// that wait for a result. You give the summary (-m, -F, or - for standard input), or a command makes it: it gets the
/// span on standard input. Messages that are committed while the command runs stay, after the summary. A command that
/// fails changes nothing.
///
/// In place of an earlier summary, the command gets the messages that it replaced. tract audits the summary. If a
/// prompt, an open point or a line pinned with @pin is missing, the command runs once more and gets the list. If
/// facts are still missing then, a hint lists them. A summary that you give is taken as it is. With --strict, one
/// that lacks such a thing is refused, whoever wrote it, and nothing is changed.
///
/// tract undo brings the messages back, and so does tract restore later. See also: prune (tool
/// outputs), drop (messages you name), truncate (the oldest), clear (everything).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract compact -m \"We fixed the parser; its tests pass.\"
  tract compact --keep 10 --exec 'claude -p \"Summarise this conversation\"'
  tract compact --to 80k --exec 'llm -s summarise'
  tract compact :4..:20 -F summary.md
  tract compact --keep 10 --exec 'llm -s summarise' --dry-run")]
pub struct Args {
    #[command(flatten)]
    deed: CompactParams,
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
    /// - for a summary on standard input
    #[arg(value_name = "-", value_parser = ["-"], hide = true)]
    dash: Option<String>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let mut deed = args.deed.clone();
    // Behind a span, or in its place.
    let dash = deed.range.take_if(|range| range == "-");
    let is_piped = dash.or_else(|| args.dash.clone()).is_some();
    let text = match (&deed.message, &args.file, !is_piped) {
        (Some(text), None, true) if args.exec.is_none() => Some(text.clone()),
        (None, Some(path), true) => Some(input::read(app, path)?),
        (None, None, false) if args.exec.is_none() && !app.ui.input_is_terminal() => {
            Some(input::read(app, Path::new("-"))?)
        }
        (None, None, true) if args.exec.is_some() => None,
        (None, None, true) if deed.dry_run => None,
        _ => {
            let what = "a summary is needed, from one place: -m, -F, - in a pipe, or --exec";
            return Err(Failure::usage(what).with_hint("tract compact -m \"…\""));
        }
    };
    deed.message = text;
    let mut what = deed.line();
    if args.exec.is_some() {
        what += " --exec …";
    }
    let call = app.call(&on, &what);
    let summary = deed.message.as_deref().map(str::trim);
    if deed.dry_run {
        let staying = deed.staying(&repo, &on)?;
        let plan = Compact {
            extent: deed.span(&repo, &on)?,
            summary: summary.filter(|text| !text.is_empty()),
        };
        let options = outcome::limited(app, &repo, true, deed.limit)?;
        let (would, gentler) = outcome::foresee(app, &repo, call, &plan, &options)?;
        outcome::foretell(app, "compact", &would, &gentler)?;
        outcome::foretell_facts(app, &repo, call, &plan)?;
        tell_staying(staying, app);
        if would.shown.is_empty() {
            app.ui
                .notice("without the summary, which nothing has made yet");
        }
        return Ok(());
    }
    let options = outcome::options(app, &repo, false)?;
    let done = match summary {
        Some(text) => (deed.carry_out(&repo, call, text, &options)?, None),
        None => {
            let summariser = Summariser {
                command: args.exec.as_deref().unwrap_or_default(),
                format: args.exec_format,
                timeout: Duration::from_secs(args.timeout.get()),
                is_strict: deed.strict,
            };
            let span = deed.span(&repo, &on)?;
            summariser.compact(&repo, call, &span, &options, app)?
        }
    };
    summariser::tell(&on, &done, app);
    tell_staying(done.0.staying, app);
    Ok(())
}

/// Says what of a range stays.
fn tell_staying(count: usize, app: &mut App) {
    if count > 0 {
        let messages = plural(count as u64, "message");
        app.ui.notice(format!(
            "not replaced: {messages} of the range; a pin or the rest of a call outside it keeps them"
        ));
    }
}
