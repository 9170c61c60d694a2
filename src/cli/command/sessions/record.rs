//! `tract record`: a stream of events, while it comes.

use tract::Error;
use tract::formats::{Format, registry};
use tract::ingest::{RecordRequest, Recorder};

use crate::cli::drawing::import;
use crate::cli::live::Live;
use crate::cli::machine::byte_stream::Incoming;
use crate::cli::machine::pause::Pause;
use crate::cli::recorder::{Opening, Recording, verdict};
use crate::cli::{App, Failure, Result, Typed};

/// Record a stream of events from standard input as it arrives
///
/// Reads what an agent or a provider prints while it works, draws it, and commits each message as soon
/// as it is complete. If the stream ends or a signal arrives in the middle of a message, that message
/// is committed too, marked as interrupted. A session that continues in another stream continues here, where its
/// earlier stream is kept.
///
/// While the stream is open, tract view and other readers show a call without a result as running; if the
/// recorder is killed, for one minute more.
///
/// The format is recognised from the first records: JSON Lines or server-sent events. Outside a
/// repository, one is made here. Messages that arrive together are one operation: tract undo takes back
/// the last one. A reply without a time counts for that of the messages around it, or of its
/// recording.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  claude -p --output-format stream-json --verbose 'fix the parser' \\
    | tract record
  codex exec --json 'fix the parser' | tract record --as parser
  curl -sN https://api.openai.com/v1/responses \\
    -H \"Authorization: Bearer $OPENAI_API_KEY\" \\
    -H 'Content-Type: application/json' \\
    -d '{\"model\":\"gpt-5\",\"input\":\"Hello\",\"stream\":true}' | tract record")]
pub struct Args {
    /// The format, instead of recognising it
    #[arg(long, value_name = "F", value_parser = stream, help = format!(
        "The format, instead of recognising it: {}", registry::stream_names()
    ))]
    format: Option<&'static Format>,
    /// The name of the branch that follows the session
    #[arg(long = "as", value_name = "NAME")]
    branch: Option<String>,
}

fn stream(text: &str) -> Result<&'static Format, String> {
    let names = || format!("no stream '{text}' ({})", registry::stream_names());
    let found = Format::named(text).ok();
    found
        .filter(|format| format.events.is_some())
        .ok_or_else(names)
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    if app.ui.input_is_terminal() {
        let failure = Failure::usage("a stream comes on standard input, and that is a terminal");
        return Err(failure.with_hint("claude -p --output-format stream-json … | tract record"));
    }
    // What stands in the way is told before anything is waited for.
    match app.repo() {
        Ok(_) | Err(Failure::Tract(Error::NoRepository { .. } | Error::Unfinished { .. })) => {}
        Err(failure) => return Err(failure),
    }
    if let Some(branch) = &args.branch {
        tract::model::RefName::branch(branch)?;
    }
    let pause = Pause::begin()?;
    let incoming = Incoming::of(std::io::stdin());
    let opening = Opening::read(&incoming, &pause)?;
    let format = opening.stream(args.format)?;
    let (repo, created) = app.repo_or_init()?;
    let before = repo.head(&tract::repo::On::Head)?;
    let what = Typed::new("record")
        .option("--format", args.format)
        .option("--as", args.branch.as_ref())
        .line();
    let request = RecordRequest {
        format,
        stem: None,
        branch: args.branch.as_deref(),
        moves_head: !app.names_a_branch(),
        what: &what,
    };
    let mut recorder = Recorder::new(&repo, request)?;
    let mut live = Live::default();
    let mut recording = Recording::of(&mut recorder, &mut live);
    let taken = recording.take(opening, &incoming, &pause, &mut || false, app);
    let finished = recording.finish(app);
    if created {
        app.tell_made(&repo);
    }
    let problems = match recorder.report() {
        Some(report) => {
            let problems = import::recorded(&repo, report, recorder.new_commits(), app)?;
            import::head_moved(&repo, &before, app)?;
            problems
        }
        None => {
            // What failed says itself why nothing is here.
            if taken.is_ok() && finished.is_ok() {
                app.ui.status("No messages in the stream");
            }
            0
        }
    };
    let ended = taken?;
    finished?;
    verdict(problems, ended)
}
