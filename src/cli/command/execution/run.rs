//! `tract run`: continuations from one exact context.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use tract::compile::{Provider, RequestOptions};
use tract::diff::DiffOptions;
use tract::formats::Format;
use tract::hash::CommitHash;
use tract::ingest::checked_out;
use tract::model::{Draft, Head, Message, Part, RefName, Role};
use tract::query::Bill;
use tract::render::{Label, Line, grouped, shell_word, table};
use tract::repo::{CommitOptions, On, Repo, RunBranch};

use crate::cli::bisection::resolve;
use crate::cli::drawing::{leaks, prices};
use crate::cli::runs::client::{Client, prompt_at};
use crate::cli::runs::directory::{self, Checkout};
use crate::cli::runs::{Done, Maker, Runs, bill_after, outcome_at};
use crate::cli::{App, Failure, Result, Typed, duration};

/// Go on from one context several times
///
/// Each run starts from the same context and gets a branch of its own, run/NAME/1 and so on. With --exec,
/// CMD gets the request on standard input and prints the answer: text, a stream of events, or messages in a
/// provider's form. With --in, the tool itself resumes the context, in a directory of its own, and what it
/// does is imported onto the branch. PROMPT is what is asked; without it, what the user says last.
///
/// --judge CMD says how a run went: it gets the context on standard input, and BRANCH and REV in its environment. It
/// ends with 0 for good, 1 to 124 for bad, 125 for unknown. With --worktree each run has a git worktree of its own.
/// It is of the commit that was checked out at REV's time, if git's reflog knows it.
///
/// At the end, a table tells how each run went, what it cost, and where it first differs from what was
/// recorded after REV. Ctrl+C ends what is at work; the same command with --name goes on with what is missing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract run HEAD~4 -n 8 --in claude-code --judge 'cargo test' --worktree
  tract run a1b2c3d -n 20 -j 4 --exec ./ask.sh --judge 'grep -q 42'
  tract run HEAD --in codex --max-cost 2 -- Try again, without the cache.
  tract run --clean a1b2c3d       remove the directories of these runs")]
pub struct Args {
    /// The commit whose context each run goes on from
    #[arg(value_name = "REV", default_value = "HEAD")]
    rev: String,
    /// How many runs
    #[arg(short = 'n', long = "runs", value_name = "N", default_value = "1")]
    runs: NonZeroUsize,
    /// The tool that goes on: claude-code or codex
    #[arg(long = "in", value_name = "TOOL", value_parser = Format::named)]
    tool: Option<&'static Format>,
    /// The command that answers
    #[arg(long, value_name = "CMD", conflicts_with = "tool")]
    exec: Option<String>,
    /// One more argument for the tool's program, such as --dangerously-skip-permissions
    #[arg(
        long,
        value_name = "ARG",
        allow_hyphen_values = true,
        requires = "tool"
    )]
    tool_arg: Vec<String>,
    /// The command that says how a run went
    #[arg(long, value_name = "CMD")]
    judge: Option<String>,
    /// The name of the runs; by default REV's hash
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// How long each run, and each verdict, may take
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration::read)]
    timeout: Duration,
    /// Begin no more runs once they have cost so many US dollars
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    max_cost: Option<f64>,
    /// Give each run a git worktree of its own
    #[arg(long)]
    worktree: bool,
    /// How many runs at a time
    #[arg(short = 'j', long, value_name = "N", default_value = "1")]
    jobs: NonZeroUsize,
    /// The form of the request: openai, responses, anthropic, gemini or text; by default the setting compile.format
    #[arg(long, value_name = "F")]
    format: Option<Provider>,
    /// Add model, limits and tools to the request, from the settings
    #[arg(long)]
    request: bool,
    /// Remove the directories of the runs by this name, and nothing else; those with work in them need --force
    #[arg(long, value_name = "NAME", conflicts_with_all = ["rev", "exec", "tool", "judge", "name", "worktree"])]
    clean: Option<String>,
    /// With --clean, remove directories with work that is nowhere else, too
    #[arg(long, requires = "clean")]
    force: bool,
    #[command(flatten)]
    secrets: leaks::Flags,
    /// The prompt
    #[arg(last = true, value_name = "PROMPT")]
    prompt: Vec<String>,
}

/// Refuses to remove work that is nowhere else.
fn keep_work(work: &[(PathBuf, directory::Work)], name: &str, app: &App) -> Result<()> {
    let Some((first, _)) = work.first() else {
        return Ok(());
    };
    let sum = |of: fn(&directory::Work) -> usize| work.iter().map(|(_, work)| of(work)).sum();
    let all = directory::Work {
        files: sum(|work| work.files),
        commits: sum(|work| work.commits),
    };
    let place = match work.len() {
        1 => app.short_path(first),
        more => format!("{more} directories, such as {}", app.short_path(first)),
    };
    let what = format!("{} would be lost for good, in {place}", all.counted());
    let hint = format!(
        "tract run --clean {} --force removes them",
        shell_word(name)
    );
    Err(Failure::refused(what).with_hint(hint))
}

/// The columns of what differs.
const DIFFERENCE_COLS: usize = 60;

/// An amount of money.
fn dollars(text: &str) -> Result<f64, String> {
    let number = text.trim_start_matches('$').parse::<f64>().ok();
    let number = number.filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "it is an amount of US dollars, such as 2 or 0.50".to_owned())
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    if let Some(name) = &args.clean {
        let folder = directory::of(&repo, name, app);
        if !args.force {
            keep_work(&directory::work(&folder), name, app)?;
        }
        let removed = directory::clean(&folder)?;
        let removed = match removed {
            1 => "1 directory".to_owned(),
            count => format!("{count} directories"),
        };
        app.ui.status(format!("Removed {removed}; branches stay"));
        return Ok(());
    }
    let rev = resolve(&repo, &on, &args.rev)?;
    let name = match &args.name {
        Some(name) => name.clone(),
        None => free_name(&repo, &rev)?,
    };
    RefName::branch(&format!("run/{name}/1"))?;
    let what = Typed::new("run")
        .revs([&args.rev])
        .option("-n", Some(args.runs))
        .option("--name", Some(&name))
        .line();
    let (maker, base) = maker(args, &repo, &rev, &name, app)?;
    let time = repo.commit_at(&rev)?.time;
    let checkout = match args.worktree {
        true => {
            let cwd = repo.session_of(&rev)?.and_then(|(_, session)| session.cwd);
            let cwd = cwd.map(std::path::PathBuf::from).filter(|dir| dir.is_dir());
            let checkout = {
                let said = checked_out(&repo, &rev)?;
                Checkout::of(&cwd.unwrap_or(app.cwd()?), time, said.as_deref())?
            };
            let said = format!("Worktrees of {}, {}", checkout.short(), checkout.known);
            app.ui.status(said);
            Some(checkout)
        }
        false => None,
    };
    let runs = Runs {
        name: &name,
        count: args.runs.get(),
        jobs: args.jobs.get(),
        base,
        maker,
        options: RequestOptions {
            provider: app.provider(&repo, args.format)?,
            whole_request: args.request,
            strict: false,
        },
        judge: args.judge.as_deref(),
        timeout: args.timeout,
        max_cost: args.max_cost,
        checkout,
        folder: directory::of(&repo, &name, app),
        what,
    };
    let done = runs.carry_out(&repo, app)?;
    let told = tell(&runs, &rev, &done, &repo, &on, app)?;
    if let Some(signal) = done.signal {
        app.ui.status("Interrupted; what was done stays");
        app.ui.hint(format!(
            "the same command with --name {} goes on",
            shell_word(&name)
        ));
        app.ui.flush()?;
        return Err(Failure::Stopped(signal));
    }
    if told == 0 && !done.is_spent {
        let reason = done.failed.values().next().cloned().unwrap_or_default();
        let failure = Failure::refused(format!("no run gave an answer: {reason}"));
        return Err(
            failure.with_hint("nothing was committed; --timeout says how long a run may take")
        );
    }
    Ok(())
}

/// What makes the runs, and the commit that all go on from.
fn maker<'a>(
    args: &'a Args,
    repo: &Repo,
    rev: &CommitHash,
    name: &str,
    app: &mut App,
) -> Result<(Maker<'a>, CommitHash)> {
    match (&args.exec, args.tool) {
        (Some(command), _) => {
            if args.prompt.is_empty() {
                return Ok((Maker::Exec(command), *rev));
            }
            // The same prompt, however often it is asked: those that are here go on from it.
            let prompt = Message::text(Role::User, args.prompt.join(" "));
            let draft = Draft::append(prompt);
            if let Some(asked) = asked(repo, rev, &draft, name)? {
                return Ok((Maker::Exec(command), asked));
            }
            let on = On::Branch(RefName::branch(&format!("run/{name}/1"))?);
            let call = app.call(&on, "run");
            let options: CommitOptions<'static> = app.committing(repo)?;
            let made = repo.commit_after(call, Some(*rev), &[draft], &options)?;
            let base = made.last().map_or(*rev, |made| made.hash);
            Ok((Maker::Exec(command), base))
        }
        (None, Some(format)) => {
            let (prompt, base) = prompt_at(repo, rev, &args.prompt)?;
            let client = Client::of(format, prompt, &args.tool_arg, args.secrets, app)?;
            Ok((Maker::Client(client), base))
        }
        (None, None) => {
            let failure = Failure::usage("who goes on?");
            Err(failure.with_hint("--in claude-code, --in codex, or --exec CMD"))
        }
    }
}

/// The commit of the prompt that runs which are here go on from, where it is the same prompt.
fn asked(repo: &Repo, rev: &CommitHash, draft: &Draft, name: &str) -> Result<Option<CommitHash>> {
    let Some(run) = repo.runs(name)?.into_iter().next() else {
        return Ok(None);
    };
    let mut at = run.tip;
    loop {
        let commit = repo.commit_at(&at)?;
        match commit.parent {
            Some(parent) if parent == *rev => {
                return Ok((commit.operation == draft.operation).then_some(at));
            }
            Some(parent) => at = parent,
            None => return Ok(None),
        }
    }
}

/// A name that no runs have.
fn free_name(repo: &Repo, rev: &CommitHash) -> Result<String> {
    let base = rev.short();
    let names = std::iter::once(base.clone()).chain((2..).map(|n| format!("{base}-{n}")));
    for name in names {
        if repo.runs(&name)?.is_empty() {
            return Ok(name);
        }
    }
    unreachable!("there is always another number")
}

/// Tells how each run went; gives how many have an answer.
fn tell(
    runs: &Runs<'_>,
    rev: &CommitHash,
    done: &Done,
    repo: &Repo,
    on: &On,
    app: &mut App,
) -> Result<usize> {
    let here = repo.runs(runs.name)?;
    let first = match repo.head(on)? {
        Head::Attached {
            branch,
            tip: Some(tip),
        } => Some((branch, tip)),
        _ => None,
    };
    let recorded = repo.recorded_after(rev, first)?;
    let (prices, _) = prices::prices(repo, app)?;
    let heading = [
        "run",
        "outcome",
        "cost",
        "messages",
        "tools",
        "first difference",
    ];
    let mut rows = vec![heading.map(|word| Label::Dim.of(word)).to_vec()];
    let mut outcomes: BTreeMap<String, u64> = BTreeMap::new();
    let mut sum = Bill::default();
    for number in 1..=runs.count {
        let row = match here.iter().find(|run| run.number == number) {
            Some(run) => {
                let outcome = outcome_at(repo, &run.tip)?;
                *outcomes.entry(outcome.clone()).or_default() += 1;
                let bill = bill_after(repo, &runs.base, &run.tip, &prices)?;
                sum.plus(&bill);
                row(
                    run,
                    &outcome,
                    &bill_words(&bill),
                    (runs, recorded.as_ref()),
                    repo,
                    app,
                )?
            }
            None => {
                let reason = done.failed.get(&number).map(String::as_str);
                let outcome = match reason {
                    Some(reason) => Label::Error.of("failed") + ": " + reason,
                    None => Label::Dim.of("not begun"),
                };
                let name = Line::from(format!("run/{}/{number}", runs.name));
                vec![
                    name,
                    outcome,
                    Line::new(),
                    Line::new(),
                    Line::new(),
                    Line::new(),
                ]
            }
        };
        rows.push(row);
    }
    let room = app.ui.width_cols();
    app.ui.print_all(table::list(rows, &[2, 3], room))?;
    let counted = outcomes
        .iter()
        .map(|(outcome, count)| format!("{} {outcome}", grouped(*count)));
    let mut said = counted.collect::<Vec<_>>().join(", ");
    if !done.failed.is_empty() {
        said = format!(
            "{said}{}{} failed",
            if said.is_empty() { "" } else { ", " },
            done.failed.len()
        );
    }
    if sum.replies > 0 {
        said = format!("{said}; {}", bill_words(&sum));
    }
    if !said.is_empty() {
        app.ui.status(said);
    }
    if runs.max_cost.is_some() && !here.is_empty() && sum.replies == sum.unpriced {
        app.ui
            .notice("what these runs cost is not known: --max-cost holds none back");
    }
    if let (Some((name, _)), Some(run)) = (&recorded, here.first()) {
        let (name, run) = (shell_word(name.short()), run.branch.short());
        app.ui.hint(format!("tract diff {name} {run}"));
    }
    if done.is_spent {
        let most = prices::money(runs.max_cost.unwrap_or_default());
        app.ui.warn(format!(
            "no more runs were begun: they have cost {most} or more"
        ));
    }
    Ok(here.len())
}

fn bill_words(bill: &Bill) -> String {
    match bill.replies {
        0 => String::new(),
        _ => prices::cost_of(bill),
    }
}

/// A run that has an answer.
fn row(
    run: &RunBranch,
    outcome: &str,
    cost: &str,
    (runs, recorded): (&Runs<'_>, Option<&(RefName, CommitHash)>),
    repo: &Repo,
    app: &App,
) -> Result<Vec<Line>> {
    let context = repo.context(&run.tip)?;
    let before = repo.context(&runs.base)?.entries.len();
    let messages = repo.messages(&context)?;
    let new = messages
        .get(before.min(messages.len())..)
        .unwrap_or_default();
    let label = match outcome.split(':').next() {
        Some("good") => Label::Good,
        Some("bad") => Label::Error,
        _ => Label::Text,
    };
    let difference = match recorded {
        None => Line::new(),
        Some((_, recorded)) => difference(repo, recorded, &run.tip, app)?,
    };
    Ok(vec![
        Label::Branch.of(run.branch.short()),
        label.of(outcome),
        Line::from(cost),
        Line::from(grouped(new.len() as u64)),
        Line::from(tools(new)),
        difference,
    ])
}

/// The tools that were called, each with how often.
fn tools(messages: &[Message]) -> String {
    let mut called: Vec<(String, u64)> = Vec::new();
    for part in messages.iter().flat_map(|message| &message.parts) {
        if let Part::ToolCall { name, .. } = part {
            match called.iter_mut().find(|(known, _)| known == name) {
                Some((_, count)) => *count += 1,
                None => called.push((name.clone(), 1)),
            }
        }
    }
    let each = called.into_iter().map(|(name, count)| match count {
        1 => name,
        count => format!("{name} ×{count}"),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Where a run first says something else than what was recorded.
fn difference(repo: &Repo, recorded: &CommitHash, tip: &CommitHash, app: &App) -> Result<Line> {
    let options = DiffOptions::default();
    let found = repo.diff(Some(recorded), Some(tip), &options, app.encoding(repo)?)?;
    let place = |change: &&tract::diff::Change| change.after.or(change.before).unwrap_or_default();
    let Some(first) = found
        .changes
        .iter()
        .min_by_key(|it| (place(it), it.after.is_none()))
    else {
        return Ok(Label::Good.of("none"));
    };
    let message = found.message(first);
    let number = place(&first) + 1;
    let role = Label::role(message.role).of(message.role.as_str());
    let preview = tract::model::preview(message);
    let line = Line::from(format!(":{number} ")) + role + " " + preview.as_str();
    Ok(line.cut(DIFFERENCE_COLS))
}
