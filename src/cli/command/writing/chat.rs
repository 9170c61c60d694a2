//! `tract chat`: a conversation in which every turn is a commit.

use std::collections::BTreeSet;
use std::io::{self, BufRead, IsTerminal, Write};

use tract::compile::{Provider, RequestOptions};

use crate::cli::answer::{self, Answer};
use crate::cli::live::Live;
use crate::cli::machine::pause::Pause;
use crate::cli::talk::Talk;
use crate::cli::{App, Failure, Result, Typed, interactive};

/// Talk with a model; every turn is a commit
///
/// Each prompt is committed. CMD then gets the request on standard input, as tract compile prints it. Its output is
/// the answer: plain text, or a stream of events as tract record reads it. The answer is drawn as it arrives and
/// committed at its end. Esc or Ctrl+C cancels it; the messages until then are kept. The setting budget.action
/// applies before each turn.
///
/// On a terminal it has the screen of tract view -i, and its commands (/compact, /rewind, /redo, …);
/// Esc switches to its keys. In a pipe, each line is a prompt. /undo takes back the last commit, /save
/// [DIR] keeps an --ephemeral conversation, and /quit or the end of input ends it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract chat --agent 'llm -m gpt-5' --format text
  tract chat --format anthropic --agent '
    jq -c \". + {model: \\\"claude-opus-4-8\\\", max_tokens: 4096, stream: true}\" |
    curl -sN https://api.anthropic.com/v1/messages \\
      -H \"x-api-key: $ANTHROPIC_API_KEY\" -H \"anthropic-version: 2023-06-01\" \\
      -H \"content-type: application/json\" -d @-'
  tract --ephemeral chat --agent cat       shows what would be sent")]
pub struct Args {
    /// The command that answers: it reads the request and prints the answer
    #[arg(long, alias = "exec", value_name = "CMD")]
    agent: String,
    /// The form of the request: openai, responses, anthropic, gemini or text; by default the setting compile.format
    #[arg(long, value_name = "F")]
    format: Option<Provider>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let mut talk = Talk {
        options: RequestOptions {
            provider: app.provider(&repo, args.format)?,
            ..RequestOptions::default()
        },
        agent: &args.agent,
        what: Typed::new("chat").text("--agent", true).line(),
        repo: &repo,
        on,
        noted: BTreeSet::new(),
        saved: None,
    };
    let done = if interactive::can_draw(app) {
        interactive::chat(&mut talk, app)
    } else {
        lines(&mut talk, app)
    };
    if talk.is_lost() && !matches!(done, Err(Failure::ClosedPipe | Failure::Output(_))) {
        app.ui.notice("nothing of it was kept; /save keeps it");
    }
    done
}

/// A line is a prompt.
fn lines(talk: &mut Talk<'_>, app: &mut App) -> Result<()> {
    let mut chat = Chat {
        // What is typed at a terminal is there already.
        echoes: !(io::stdin().is_terminal() && app.ui.is_terminal()),
        talk,
    };
    let mut lines = io::stdin().lock();
    let mut failed = None;
    loop {
        chat.invite(app)?;
        let mut line = Vec::new();
        let read = lines.read_until(b'\n', &mut line);
        if read.map_err(tract::Error::io("standard input"))? == 0 {
            break;
        }
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        let done = match line.split_once(' ').unwrap_or((line.as_str(), "")) {
            ("", _) => continue,
            ("/quit", _) => break,
            ("/undo", _) => chat.undo(app),
            ("/save", place) => chat.talk.save(place.trim(), app),
            (word, _) if word.starts_with('/') && !word[1..].contains('/') => {
                let failure = Failure::usage(format!("there is no {word} here"));
                Err(failure.with_hint("/undo, /save [DIR] or /quit; a prompt that begins with a slash is typed with two"))
            }
            _ => chat.turn(
                line.strip_prefix('/')
                    .filter(|_| line.starts_with("//"))
                    .unwrap_or(&line),
                app,
            ),
        };
        let done = done.and(chat.talk.save_on(app));
        match done {
            Err(failure @ (Failure::ClosedPipe | Failure::Output(_))) => return Err(failure),
            Err(failure) => {
                app.ui.flush()?;
                failed = Some(failure.report(&mut app.ui));
            }
            Ok(()) => failed = None,
        }
    }
    match failed {
        // What was wrong with the last turn has been said.
        Some(_) => Err(Failure::Quiet(crate::cli::Exit::NotAllowed)),
        None => Ok(()),
    }
}

/// A talk of lines: on a terminal that cannot go back, or in a pipe.
struct Chat<'t, 'a> {
    talk: &'t mut Talk<'a>,
    /// Whether what the user says is drawn as well.
    echoes: bool,
}

impl Chat<'_, '_> {
    fn invite(&self, app: &mut App) -> Result<()> {
        if !self.echoes {
            write!(app.ui.out(), "> ")?;
        }
        Ok(app.ui.flush()?)
    }

    /// What the user says, and what is answered.
    fn turn(&mut self, prompt: &str, app: &mut App) -> Result<()> {
        let (asked, request) = self.talk.ask(prompt, app)?;
        let pause = Pause::begin()?;
        let mut live = Live::default();
        let mut cancelled = || pause.is_over();
        let asked = self.echoes.then_some(asked);
        let taken = answer::take(
            self.talk.agent,
            &request,
            asked,
            &mut live,
            &mut cancelled,
            &mut app.ui,
        );
        let Answer {
            tree,
            failed,
            cancelled,
        } = taken.map_err(|failed| self.talk.failure(failed, 0, app))?;
        let drawn = live.finish(&tree, &|_| None, &mut app.ui);
        let answered = self.talk.keep(&tree, usize::from(self.echoes), app)?;
        drawn?;
        if self.echoes {
            writeln!(app.ui.out())?;
        }
        self.talk.judge(failed, cancelled, answered, app)?;
        // A signal that ends programs ends this one, once all is kept.
        match pause.signal() {
            Some(signal) if cancelled && signal != INTERRUPT => Err(Failure::Stopped(signal)),
            _ => Ok(()),
        }
    }

    fn undo(&self, app: &mut App) -> Result<()> {
        let undone = self.talk.repo.undo(None, app.now())?;
        app.ui.status(format!("Undid {}", undone.operation.what));
        Ok(())
    }
}

/// What ctrl+c sends.
const INTERRUPT: i32 = 2;
