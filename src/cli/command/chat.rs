//! `tract chat`: a conversation in which every turn is a commit.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tract::compile::{Provider, RequestOptions};
use tract::context::Context;
use tract::history::{CommitOptions, On, Repo};
use tract::interop::messages_of;
use tract::model::{Draft, Message, RefName, Role};
use tract::render::plural;
use tract::tree::Tree;

use crate::cli::answer::{self, Answer};
use crate::cli::exec::Failed;
use crate::cli::live::Live;
use crate::cli::pause::Pause;
use crate::cli::{App, Failure, Typed, budgeted, request};

/// Talk with a model, every turn a commit
///
/// A line is a prompt. It is committed, and the command gets the request that the context is then
/// (tract compile) on standard input; what it prints is the answer: plain text, or a stream of events
/// as tract record knows them. It is drawn as it comes and committed in the end. Ctrl+C cancels it:
/// what was said until then is kept. The setting budget.action applies before each turn.
///
/// /undo takes back the last commit, /save [DIR] keeps an --ephemeral conversation, /quit or the end
/// of input ends it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract chat --agent 'llm -m gpt-5' --format text
  tract chat --format anthropic --agent 'jq -c \". + {model: \\\"claude-opus-4-8\\\", max_tokens: 4096, stream: true}\" |
    curl -sN https://api.anthropic.com/v1/messages -H \"x-api-key: $ANTHROPIC_API_KEY\" \\
      -H \"anthropic-version: 2023-06-01\" -H \"content-type: application/json\" -d @-'
  tract --ephemeral chat --agent cat       shows what would be sent")]
pub struct Args {
    /// The command that answers: it gets the request, and prints the answer
    #[arg(long, value_name = "CMD")]
    agent: String,
    /// The form of the request: openai, anthropic or text; else the setting compile.format
    #[arg(long, value_name = "F")]
    format: Option<Provider>,
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let (repo, on) = (app.repo()?, app.on()?);
    let mut chat = Chat {
        options: RequestOptions {
            provider: app.provider(&repo, args.format)?,
            ..RequestOptions::default()
        },
        agent: &args.agent,
        what: Typed::new("chat").text("--agent", true).line(),
        // What is typed at a terminal is there already.
        echoes: !(io::stdin().is_terminal() && app.ui.is_terminal()),
        repo: &repo,
        on,
        saved: None,
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
            ("/save", place) => chat.save(place.trim(), app),
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
        let done = done.and(chat.save_on(app));
        match done {
            Err(Failure::ClosedPipe) => return Err(Failure::ClosedPipe),
            Err(Failure::Output(error)) => return Err(Failure::Output(error)),
            Err(failure) => {
                app.ui.flush()?;
                failed = Some(failure.report(&mut app.ui));
            }
            Ok(()) => failed = None,
        }
    }
    if chat.saved.is_none() && repo.directory().is_none() {
        app.ui.notice("nothing of it was kept; /save keeps it");
    }
    match failed {
        // What was wrong with the last turn has been said.
        Some(_) => Err(Failure::Quiet(crate::cli::Exit::NotAllowed)),
        None => Ok(()),
    }
}

struct Chat<'a> {
    repo: &'a Repo,
    on: On,
    agent: &'a str,
    options: RequestOptions,
    what: String,
    /// Whether what the user says is drawn as well.
    echoes: bool,
    /// Where it was saved, if it is in memory alone.
    saved: Option<Saved>,
}

/// A copy that is kept.
struct Saved {
    place: PathBuf,
    branch: RefName,
    /// How many messages it has.
    messages: usize,
}

impl Chat<'_> {
    fn invite(&self, app: &mut App) -> Result<(), Failure> {
        if !self.echoes {
            write!(app.ui.out(), "> ")?;
        }
        Ok(app.ui.flush()?)
    }

    /// What the user says, and what is answered.
    fn turn(&self, prompt: &str, app: &mut App) -> Result<(), Failure> {
        let asked = Message::text(Role::User, prompt);
        let held = self.commit(vec![Draft::append(asked.clone())], app)?;
        held.tell(self.repo, &self.on, app);
        let head = self.repo.resolve(&self.on, "HEAD")?;
        let (request, notices) = request::payload(self.repo, &head, None, &self.options)?;
        for notice in notices {
            app.ui.notice(notice);
        }
        let pause = Pause::begin()?;
        let mut live = Live::default();
        let mut cancelled = || pause.is_over();
        let asked = self.echoes.then_some(asked.parts);
        let taken = answer::take(
            self.agent,
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
        } = taken.map_err(|failed| self.failure(failed, 0, app))?;
        let drawn = live.finish(&tree, &|_| None, &mut app.ui);
        let answered = self.keep(&tree, app)?;
        drawn?;
        if self.echoes {
            writeln!(app.ui.out())?;
        }
        match failed {
            Some(_) if cancelled => {
                app.ui.status("Cancelled; what was said is kept");
                // A signal that ends programs ends this one, once all is kept.
                match pause.signal() {
                    Some(signal) if signal != INTERRUPT => Err(Failure::Stopped(signal)),
                    _ => Ok(()),
                }
            }
            Some(failed) => Err(self.failure(failed, answered, app)),
            None if answered == 0 => {
                let failed = Failed {
                    reason: "it said nothing".to_owned(),
                    stderr: String::new(),
                };
                Err(self.failure(failed, 0, app))
            }
            None => Ok(()),
        }
    }

    /// Commits an answer; returns of how many messages it is.
    fn keep(&self, tree: &Tree, app: &mut App) -> Result<usize, Failure> {
        let messages = messages_of(tree).into_iter();
        let messages: Vec<Message> = messages.skip(usize::from(self.echoes)).collect();
        let count = messages.len();
        if count > 0 {
            // What was said was said: the budget has its word before the next turn.
            let drafts: Vec<Draft> = messages.into_iter().map(Draft::append).collect();
            let call = app.call(&self.on, &self.what);
            self.repo.commit(call, &drafts, &CommitOptions::default())?;
        }
        Ok(count)
    }

    fn commit(&self, drafts: Vec<Draft>, app: &App) -> Result<budgeted::Held, Failure> {
        let call = app.call(&self.on, &self.what);
        let options = CommitOptions::default();
        budgeted::commit(self.repo, &self.on, call, &drafts, &options, app)
    }

    fn failure(&self, failed: Failed, answered: usize, app: &mut App) -> Failure {
        failed.stderr.lines().for_each(|line| app.ui.complain(line));
        let what = format!("'{}' gave no whole answer: {}", self.agent, failed.reason);
        Failure::refused(what).with_hint(match answered {
            0 => "the prompt is kept; /undo takes it back",
            _ => "what it said until then is kept; /undo takes it back",
        })
    }

    fn undo(&self, app: &mut App) -> Result<(), Failure> {
        let undone = self.repo.undo(None, app.now())?;
        app.ui.status(format!("Undid {}", undone.operation.what));
        Ok(())
    }

    /// Where the conversation was saved, it goes on there, too.
    fn save_on(&mut self, app: &App) -> Result<(), Failure> {
        let Some(saved) = self.saved.take() else {
            return Ok(());
        };
        let kept = Repo::open_as(&saved.place, &app.visitor()?)?;
        let (messages, branch) = self.copy(&kept, saved.branch, saved.messages, app)?;
        let place = saved.place;
        self.saved = Some(Saved {
            place,
            branch,
            messages,
        });
        Ok(())
    }

    /// Commits the messages from `from` on to a branch of another repository: another branch where the
    /// conversation has become shorter meanwhile. Returns how many there are, and on which branch.
    fn copy(
        &self,
        kept: &Repo,
        mut branch: RefName,
        mut from: usize,
        app: &App,
    ) -> Result<(usize, RefName), Failure> {
        let context = match self.repo.head(&self.on)?.commit() {
            Some(tip) => self.repo.context(&tip)?,
            None => Context::default(),
        };
        let messages = self.repo.messages(&context)?;
        let count = messages.len();
        if count < from {
            (branch, from) = (free_branch(kept)?, 0);
        }
        let drafts: Vec<Draft> = messages.into_iter().skip(from).map(Draft::append).collect();
        if !drafts.is_empty() {
            let on = On::Branch(branch.clone());
            let call = app.call(&on, "chat /save");
            kept.commit(call, &drafts, &CommitOptions::default())?;
        }
        Ok((count, branch))
    }

    /// Keeps a conversation that is in memory alone: its messages, on a branch of their own where
    /// there are others.
    fn save(&mut self, place: &str, app: &mut App) -> Result<(), Failure> {
        if self.repo.directory().is_some() {
            app.ui.status("It is kept already");
            return Ok(());
        }
        let place: PathBuf = match place {
            "" => app.cwd()?,
            place => app.path(Path::new(place))?,
        };
        if self
            .saved
            .as_ref()
            .is_some_and(|saved| saved.place == place)
        {
            app.ui.status("It is kept there already, and goes on there");
            return Ok(());
        }
        let (kept, _) = Repo::init_as(&place, &app.visitor()?)?;
        let (count, branch) = self.copy(&kept, free_branch(&kept)?, 0, app)?;
        self.saved = Some(Saved {
            place,
            branch: branch.clone(),
            messages: count,
        });
        let place = kept.directory().map(|place| app.short_path(place));
        app.ui.status(format!(
            "Kept {} in {}, on {}",
            plural(count as u64, "message"),
            place.unwrap_or_default(),
            branch.short()
        ));
        Ok(())
    }
}

/// What ctrl+c sends.
const INTERRUPT: i32 = 2;

/// main, where it has no commit, or else the first free `chat-N`.
fn free_branch(repo: &Repo) -> Result<RefName, Failure> {
    let names = std::iter::once("main".to_owned()).chain((1..).map(|n| format!("chat-{n}")));
    for name in names {
        let branch = RefName::branch(&name)?;
        if repo
            .head(&On::Branch(branch.clone()))
            .map_or(true, |head| head.commit().is_none())
        {
            return Ok(branch);
        }
    }
    unreachable!("there is always another number")
}
