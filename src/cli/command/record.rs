//! `tract record`: a stream of events, while it comes.

use tract::Error;
use tract::ingest::{RecordRequest, Recorder};
use tract::interop::{Format, formats};

use crate::cli::incoming::Incoming;
use crate::cli::live::Live;
use crate::cli::pause::Pause;
use crate::cli::recording::{Opening, Recording, verdict};
use crate::cli::{App, Failure, Typed, imported};

/// Record a stream of events while it comes
///
/// Reads what an agent or a provider tells while it works on standard input, draws it as it comes,
/// and commits each message as soon as it is complete. What was being said when the stream ends, or a
/// signal asks for the end, is committed too, marked interrupted. A session that goes on in another
/// stream goes on here. The format is seen from the first records; lines of JSON and server-sent
/// events are both understood. Outside a repository, one is made here.
///
/// Each message is an operation of its own: tract undo takes back the last one.
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
    /// The format, where it should not be guessed
    #[arg(long, value_name = "F", value_parser = stream, help = format!(
        "The format, where it should not be guessed: {}", formats::stream_names()
    ))]
    format: Option<&'static Format>,
    /// The branch that is to follow the session
    #[arg(long = "as", value_name = "NAME")]
    branch: Option<String>,
}

fn stream(text: &str) -> Result<&'static Format, String> {
    let names = || format!("no stream '{text}' ({})", formats::stream_names());
    let found = Format::named(text).ok();
    found
        .filter(|format| format.events.is_some())
        .ok_or_else(names)
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
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
    let before = repo.head(&tract::history::On::Head)?;
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
        let place = repo.place().map(|dir| app.short_path(dir));
        app.ui.status(format!(
            "Made a repository in {}",
            place.unwrap_or_default()
        ));
    }
    let problems = match recorder.report() {
        Some(report) => {
            let problems = imported::recorded(&repo, report, recorder.new_commits(), app)?;
            imported::head_moved(&repo, &before, app)?;
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
