//! `tract bisect`: which message, part, hide or setting makes it go wrong; or which commit.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tract::compile::{Provider, RequestOptions};
use tract::deeds::request_payload;
use tract::formats::Format;
use tract::model::RefName;
use tract::render::{Label, Line, plural};
use tract::repo::{On, Repo};
use tract::rewrite::bisect::{BisectStep, Bisection, Judged, SearchHow};

use crate::cli::bisection::by_hand::Session;
use crate::cli::bisection::{BRANCH, Conclusion, left, resolve, tip};
use crate::cli::drawing::leaks;
use crate::cli::machine::input;
use crate::cli::machine::judge::{self, Judge, Ruling};
use crate::cli::machine::pause::Pause;
use crate::cli::runs::client::{Client, prompt_at};
use crate::cli::{App, Failure, Result, Typed, duration};

/// Find the message that makes it go wrong
///
/// tract bisect run leaves out one half of the messages after the other. Your command gets the rest as a request on
/// standard input. The command ends with 0 where that is good, with 1 to 124 where it is bad, and with 125 where it
/// cannot tell. A tool call stays with its result. System messages and the last prompt stay. A single message is
/// found in at most 2·log2 n + 3 runs, then the part of it. Where several are needed together, all are found; where
/// one of several is enough, each of them, up to four.
///
/// If it goes wrong even without all that, hides are brought back one half after the other, and with
/// --request settings are left out. The context without what was found is put on a branch.
///
/// With --in, the tool itself goes on with each context, in an empty directory; your command then gets the
/// context with what the tool has answered.
///
/// If it goes wrong by chance, -n says how often each end is tried to see how often that is. The search then
/// runs until it is as sure as --confidence asks.
///
/// By hand: tract bisect start, then try the branch bisect and say good, bad or skip; tract undo takes back
/// the last word. With --time the question is another: from which commit on does it go wrong?
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract bisect run ./asks-and-checks.sh
  tract bisect run HEAD~2 --format anthropic -- ./asks-and-checks.sh
  tract bisect run -n 20 -- ./fails-now-and-then.sh
  tract bisect run --time --good HEAD~40 -- ./asks-and-checks.sh
  tract bisect start; tract compile bisect; tract bisect bad")]
pub struct Args {
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    /// Let a command judge each context
    Run(Box<Run>),
    /// Begin a bisection by hand
    Start {
        /// The commit whose context goes wrong
        #[arg(value_name = "BAD", default_value = "HEAD")]
        bad: String,
        /// A commit whose context goes well: what it has stays
        #[arg(value_name = "GOOD")]
        good: Option<String>,
        /// Look for the first commit after GOOD that goes wrong
        #[arg(long)]
        time: bool,
    },
    /// Mark the context on the branch bisect as good
    Good,
    /// Mark it as bad
    Bad,
    /// Mark it as untestable
    Skip,
    /// Print the marks so far
    Log,
    /// Repeat the marks of a log
    Replay {
        /// The output of tract bisect log; - for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// End the bisection
    Reset,
}

#[derive(Debug, clap::Args)]
struct Run {
    /// The commit whose context goes wrong, HEAD unless given; without --, the command that judges may follow
    #[arg(value_name = "REV")]
    words: Vec<String>,
    /// A commit whose context goes well: what it has stays
    #[arg(long, value_name = "REV")]
    good: Option<String>,
    /// Look for the first commit after --good that goes wrong
    #[arg(long)]
    time: bool,
    /// How often each end is tried, where it goes wrong by chance
    #[arg(short = 'n', long = "runs", value_name = "RUNS", default_value = "1")]
    runs: std::num::NonZeroUsize,
    /// How sure the answer is to be, where it goes wrong by chance
    #[arg(long, value_name = "P", default_value = "0.95", value_parser = probability)]
    confidence: f64,
    /// The most runs in all
    #[arg(long, value_name = "N", default_value = "1000")]
    max_runs: std::num::NonZeroUsize,
    /// How long the command may take each time
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration::read)]
    timeout: Duration,
    /// The form of the request: openai, responses, anthropic, gemini or text; by default the setting compile.format
    #[arg(long, value_name = "F")]
    format: Option<Provider>,
    /// Add model, limits and tools, from the settings; each may be why
    #[arg(long)]
    request: bool,
    /// Have this tool go on with each context, and judge what comes of it: claude-code or codex
    #[arg(long = "in", value_name = "TOOL", value_parser = Format::named, conflicts_with_all = ["time", "request"])]
    tool: Option<&'static Format>,
    /// One more argument for the tool's program, such as --dangerously-skip-permissions
    #[arg(
        long,
        value_name = "ARG",
        allow_hyphen_values = true,
        requires = "tool"
    )]
    tool_arg: Vec<String>,
    /// What the tool is asked; by default what the user says last
    #[arg(long, value_name = "TEXT", requires = "tool")]
    prompt: Vec<String>,
    /// The branch for the context without what was found; by default bisect/HASH
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    #[command(flatten)]
    secrets: leaks::Flags,
    /// The command that judges
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
}

impl Run {
    /// The commit whose context goes wrong, and the command. As git takes it, `bisect run CMD` needs no `--`.
    fn meant(&self, repo: &Repo, on: &On) -> Result<(String, Vec<String>)> {
        let head = || "HEAD".to_owned();
        let usage = |what: &str| {
            let failure = Failure::usage(what);
            failure.with_hint("tract bisect run [REV] -- CMD, or tract bisect run CMD")
        };
        match (self.words.as_slice(), self.command.as_slice()) {
            ([], []) => Err(usage("no command is given that judges")),
            ([], command) => Ok((head(), command.to_vec())),
            ([rev], command @ [_, ..]) => Ok((rev.clone(), command.to_vec())),
            (_, [_, ..]) => Err(usage("only one commit may come before --")),
            ([first, rest @ ..], []) => match (repo.resolve_if_any(on, first)?, rest) {
                (Some(_), []) => Err(usage("no command is given that judges")),
                (Some(_), command) => Ok((first.clone(), command.to_vec())),
                (None, _) => Ok((head(), self.words.clone())),
            },
        }
    }
}

/// A probability that is one.
fn probability(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let number = number.filter(|number| (0.5..1.0).contains(number));
    number.ok_or_else(|| "it is a number from 0.5 to below 1, such as 0.95".to_owned())
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let Some(act) = &args.act else {
        return under_way(app);
    };
    match act {
        Act::Run(args) => with_command(args, app),
        Act::Start { bad, good, time } => start(bad, good.as_deref(), *time, app),
        Act::Good => say(Judged::Good, app),
        Act::Bad => say(Judged::Bad, app),
        Act::Skip => say(Judged::Skip, app),
        Act::Log => {
            let text = Session::under_way(&*app.repo()?)?.text();
            for line in text.lines() {
                app.ui.print(Line::from(line))?;
            }
            Ok(())
        }
        Act::Replay { file } => replay(file, app),
        Act::Reset => reset(app),
    }
}

/// Says how a bisection by hand stands, or how one begins.
fn under_way(app: &mut App) -> Result<()> {
    match Session::under_way(&*app.repo()?) {
        Ok(session) => {
            app.ui.print_all(session.text().lines().map(Line::from))?;
            app.ui
                .hint("tract bisect good, bad or skip goes on; tract bisect reset ends it");
        }
        Err(_) => {
            app.ui.status("No bisection is under way");
            app.ui.hint(
                "tract bisect start begins one by hand; tract bisect run CMD lets a command judge",
            );
        }
    }
    Ok(())
}

fn with_command(args: &Run, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let (rev, words) = args.meant(&repo, &on)?;
    let commit = resolve(&repo, &on, &rev)?;
    let good = args.good.as_ref().map(|rev| resolve(&repo, &on, rev));
    let good = good.transpose()?;
    let branch = args.branch.as_ref().map(|name| RefName::branch(name));
    let branch = branch.transpose()?;
    if let Some(branch) = &branch
        && tip(&repo, branch)?.is_some()
    {
        let name = branch.short().to_owned();
        return Err(tract::Error::RefExists { name }.into());
    }
    let ground = if args.time {
        repo.bisect_path(&commit, good.as_ref())?
    } else {
        repo.bisect_ground(&commit, good.as_ref(), args.request)?
    };
    let how = SearchHow {
        runs: args.runs.get(),
        confidence: args.confidence,
        trials_max: args.max_runs.get(),
    };
    let options = RequestOptions {
        provider: app.provider(&repo, args.format)?,
        whole_request: args.request,
        strict: false,
    };
    let command = judge::command_line(&words);
    let judge = Judge {
        command: &command,
        timeout: args.timeout,
        directory: None,
    };
    let what = Typed::new("bisect run").revs([&rev]).line();
    let trials_on = On::Branch(RefName::branch(BRANCH)?);
    let pause = Pause::begin()?;
    // A tool is given the prompt by itself: what it resumes is the context before that.
    let client = match args.tool {
        Some(format) => {
            let (prompt, base) = prompt_at(&repo, &commit, &args.prompt)?;
            let client = Client::of(format, prompt, &args.tool_arg, args.secrets, app)?;
            Some((client, repo.bisect_ground(&base, good.as_ref(), false)?))
        }
        None => None,
    };
    let tried_on = client.as_ref().map_or(&ground, |(_, ground)| ground);
    let mut bisection = Bisection::new(tried_on.suspects().clone(), how);
    let end = loop {
        let taken = match bisection.step() {
            BisectStep::Try(taken) => taken,
            BisectStep::Over(end) => break end,
        };
        let call = app.call(&trials_on, &what);
        let tried = repo.bisect_without(call, tried_on, &taken, None)?;
        let hash = tried.to_string();
        let env = [("TRACT_BISECT_REV", hash.as_str())];
        let ruling = match &client {
            None => {
                let (request, _) = request_payload(&repo, &tried, None, &options)?;
                judge.ask(&request, &env, &pause)?
            }
            Some((client, _)) => {
                let bounds = (args.timeout, &pause);
                match client.answer(&repo, &tried, bounds, &what, app)? {
                    Ok((memory, tip)) => {
                        let (answered, _) = request_payload(&memory, &tip, None, &options)?;
                        judge.ask(&answered, &env, &pause)?
                    }
                    Err(reason) => Ruling {
                        judged: Judged::Skip,
                        reason: Some(reason),
                    },
                }
            }
        };
        bisection.tell(ruling.judged);
        let said = format!(
            "{:>4}  {}: {}",
            bisection.trials(),
            left(tried_on, &taken),
            judge::word(ruling.judged)
        );
        app.ui.status(said);
        judge::tell(&ruling, app);
    };
    drop(pause);
    let conclusion = Conclusion {
        ground: &ground,
        trials: bisection.trials(),
        by_chance: how.runs > 1,
        branch: branch.as_ref(),
        what: &what,
    };
    conclusion.tell(&end, &repo, app)
}

fn start(bad: &str, good: Option<&str>, time: bool, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let bad = resolve(&repo, &on, bad)?;
    let good = good.map(|rev| resolve(&repo, &on, rev)).transpose()?;
    free_for(&repo)?;
    let session = Session {
        bad,
        good,
        over_time: time,
        verdicts: Vec::new(),
        tip: None,
    };
    session.go_on(&repo, "bisect start", app)
}

/// Refuses where the branch is there, whosever it is.
fn free_for(repo: &tract::Repo) -> Result<()> {
    if Session::here(repo)?.is_some() {
        let failure = Failure::refused("a bisection is under way");
        return Err(failure.with_hint("tract bisect reset ends it"));
    }
    if tip(repo, &RefName::branch(BRANCH)?)?.is_some() {
        let failure = Failure::refused(format!("there is a branch '{BRANCH}' already"));
        return Err(failure.with_hint(format!("tract branch -m {BRANCH} NAME")));
    }
    Ok(())
}

fn say(judged: Judged, app: &mut App) -> Result<()> {
    let repo = app.repo()?;
    let mut session = Session::under_way(&repo)?;
    session.verdicts.push(judged);
    let what = format!("bisect {}", judge::word(judged));
    session.go_on(&repo, &what, app)
}

fn replay(file: &Path, app: &mut App) -> Result<()> {
    let text = input::read(app, file)?;
    let session = Session::read(&text)?;
    let repo = app.repo()?;
    free_for(&repo)?;
    session.go_on(&repo, "bisect replay", app)
}

fn reset(app: &mut App) -> Result<()> {
    let repo = app.repo()?;
    let session = Session::under_way(&repo)?;
    let branch = RefName::branch(BRANCH)?;
    let call = app.call(&On::Head, "bisect reset");
    // What was found stays.
    if let Some(name) = session.found(&repo)? {
        repo.rename_branch(call, &branch, &name)?;
        let line = Line::from("Ended the bisection; the context without it is on ");
        app.ui.status(line + Label::Branch.of(name.short()));
        return Ok(());
    }
    repo.delete_reference(call, &branch)?;
    let said = plural(session.verdicts.len() as u64, "verdict");
    app.ui.status(format!("Ended the bisection, after {said}"));
    Ok(())
}
