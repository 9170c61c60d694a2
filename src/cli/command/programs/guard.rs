//! `tract guard`: what a compaction must not lose, told to the model that summarises, and given back to the one that
//! goes on.
//!
//! # Source
//!
//! Observed with Claude Code 2.1.330 and Codex 0.169. Claude Code puts what PreCompact prints into the request for the
//! summary; Codex throws it away. Both put what SessionStart prints into the next request. Claude Code calls
//! SessionStart before its file holds the summary, and PostCompact, which is told the summary, after that.

use std::io::{self, Write};
use std::path::Path;

use tract::deeds::{self, ApiError, At, RunningFacts, digest};
use tract::query::audit::{Heard, Keep};
use tract::render::edit::changed_files;
use tract::render::{Line, grouped, plural};
use tract::repo::On;

use crate::cli::door::{Surroundings, Watch, Worker};
use crate::cli::drawing::prices::{period, place, spent};
use crate::cli::machine::hook::Hook;
use crate::cli::mcp::{self, Asking, Withheld};
use crate::cli::{App, Failure, Result, guard_record};

/// Say what a compaction must not lose, and give back what it lost
///
/// As a hook of Claude Code or Codex it takes the client's JSON on standard input. At PreCompact it prints the facts
/// that the summary must hold, as room allows. Those are pins word for word, open points, prompts, files, commands,
/// errors, addresses, names and numbers. At SessionStart after a compaction it prints what the summary lacks, for the model's
/// next request. Both name agents and shells in the background that have no end in the session. At PostCompact it prints nothing and audits the summary.
///
/// Pinned is what tract annotate --pin or the tool pin has marked. So is a line that you begin with @pin while you
/// talk to the agent. With @pin on a line of its own, all that you type there is pinned.
///
/// With budget.tell set to true, it also tells the model how budget.day and budget.month stand. It does so at SessionStart and
/// UserPromptSubmit, once four fifths of one are used up.
///
/// A hook never stops the agent: it ends with exit code 0. Failures are on standard error and in tract status.
/// Without a repository it works on the session's file alone. Without --hook, what a compaction of this branch must
/// not lose is printed, and what runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract guard                    what a compaction of this branch must not lose
  tract guard --hook             as a hook at PreCompact, PostCompact and SessionStart
  tract guard --hook --chars 4000")]
pub struct Args {
    /// Read a client's hook JSON on standard input
    #[arg(long)]
    hook: bool,
    /// At most N characters for the model: 500 to 10000
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    #[arg(value_parser = clap::value_parser!(u16).range(500..=10_000))]
    chars: u16,
}

/// What stands before what the summary must hold.
const MUST_HOLD: &str = "What follows is quoted from this conversation by tract, which keeps it word for word. \
                         The summary must hold all of it, in these words:";
/// What stands around what is given back. Texts in such tags count as no user's.
const BEFORE: &str = "<tract_given_back>\n\
                      tract keeps this conversation word for word. Of what stood before the compaction, this matters \
                      most and is not in the summary:";
/// The same where the summary is not known yet.
const BEFORE_UNHEARD: &str = "<tract_given_back>\n\
                              tract keeps this conversation word for word. Of what stood before the compaction, this \
                              matters most, and the summary may lack it:";
const AFTER: &str = "For the rest, and for anything that was said before: the tools recall, read and dropped of \
                     tract, or in a shell tract find WORDS and tract show ID.\n</tract_given_back>";

/// From which part of a budget of money on it is told.
const TOLD_FROM: f64 = 0.8;
/// What stands around how budgets of money stand.
const MONEY_BEFORE: &str = "<tract_budget>\n\
                            What the replies of models have cost, at list prices, of what the user has set with tract:";
const MONEY_AFTER: &str = "</tract_budget>";

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    if !args.hook {
        return look(args, app);
    }
    if let Err(failure) = hooked(args, app) {
        // Nothing that goes wrong here is worth stopping an agent for.
        app.ui.complain(failure.line());
    }
    Ok(())
}

/// For people: what a compaction of the branch must not lose.
fn look(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let Some(tip) = repo.head(&on)?.commit() else {
        app.ui.status("There are no messages yet");
        return Ok(());
    };
    let withheld = Withheld::with(app.secrets()?);
    let secrets = Some(withheld.secrets());
    let keep = repo.keep(&tip, None, Heard::Nothing, changed_files, secrets)?;
    let mut running = RunningFacts::all(&repo.running(&tip)?, app.now());
    withheld.running(&mut running);
    let mut digest = digest(&keep, args.chars.into());
    let mut running = mcp::running(&running, &app.calendar());
    if digest.text.is_empty() && running.is_empty() {
        app.ui.status("Nothing that a compaction could lose");
        return Ok(());
    }
    withheld.text(&mut digest.text);
    withheld.text(&mut running);
    let note = withheld.note(&[&digest.text, &running]).unwrap_or_default();
    for text in [digest.text.trim_end(), running.trim_start(), &note] {
        app.ui.print_all(text.lines().map(Line::from))?;
    }
    if digest.left > 0 {
        let left = plural(digest.left as u64, "more fact");
        app.ui.hint(format!("{left}: tract guard --chars 10000"));
    }
    Ok(())
}

/// When a hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    PreCompact,
    PostCompact,
    /// Of a session that goes on after a compaction.
    SessionStart,
    /// Of any other session, and a prompt: there is a word of money to say, if that is asked for.
    Money,
}

impl Event {
    /// None: there is nothing to do.
    fn of(hook: &Hook) -> Result<Option<Self>> {
        match (hook.event.as_deref(), hook.source.as_deref()) {
            (Some("PreCompact"), _) => Ok(Some(Self::PreCompact)),
            (Some("PostCompact"), _) => Ok(Some(Self::PostCompact)),
            (Some("SessionStart"), Some("compact")) => Ok(Some(Self::SessionStart)),
            (Some("SessionStart"), Some(_)) | (Some("UserPromptSubmit"), _) => {
                Ok(Some(Self::Money))
            }
            (event, _) => {
                let what = match event {
                    Some(event) => format!("there is nothing to guard at the event {event:.40}"),
                    None => "the hook's JSON on standard input names no event".to_owned(),
                };
                Err(Failure::refused(what))
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::PreCompact => "PreCompact",
            Self::PostCompact => "PostCompact",
            Self::SessionStart => "SessionStart",
            Self::Money => "money",
        }
    }
}

/// Does what a hook asks for, and keeps what became of it.
fn hooked(args: &Args, app: &mut App) -> Result<()> {
    let hook = Hook::read().and_then(|hook| hook.enter(app).map(|()| hook));
    let event = hook.as_ref().ok().and_then(|hook| hook.event.clone());
    let directory = hook.as_ref().ok().and_then(|hook| hook.cwd.clone());
    let directory = directory.or_else(|| app.cwd().ok());
    let done = hook.and_then(|hook| answer(args, &hook, app));
    let why = done.as_ref().map_err(Failure::what);
    let told = match &why {
        Ok(None) => return Ok(()),
        Ok(Some(told)) => Ok(told.as_str()),
        Err(why) => Err(why.as_str()),
    };
    let is_here = guard_record::keep(
        (event.as_deref().unwrap_or("an event"), directory.as_deref()),
        told,
        app,
    );
    if told.is_ok() && !is_here {
        let what = "there is no tract repository here, so nothing is kept: tract init";
        app.ui.notice(what);
    }
    done.map(|_| ())
}

/// Prints what is for the model, and says what was done; none: there was nothing to do.
fn answer(args: &Args, hook: &Hook, app: &App) -> Result<Option<String>> {
    let Some(event) = Event::of(hook)? else {
        return Ok(None);
    };
    if matches!(event, Event::Money | Event::SessionStart) {
        say_money(app)?;
    }
    if event == Event::Money {
        return Ok(None);
    }
    let file = hook.transcript(app)?;
    let heard = match (event, &hook.compact_summary) {
        (Event::PreCompact, _) => Heard::Nothing,
        (Event::PostCompact, Some(summary)) => Heard::Summary(summary),
        _ => Heard::Context,
    };
    let mut surroundings = Surroundings::of(app);
    match keep(&surroundings, event, &file, heard) {
        Ok((keep, running)) => say(event, args.chars.into(), (&keep, &running), app).map(Some),
        Err(fault) => {
            // What cannot be written can still be said.
            surroundings.forget_repository();
            if let Ok((keep, running)) = keep(&surroundings, event, &file, heard) {
                say(event, args.chars.into(), (&keep, &running), app)?;
            }
            Err(fault.into())
        }
    }
}

/// Tells the model how budgets of money stand that are nearly used up, where `budget.tell` asks for it.
fn say_money(app: &App) -> Result<()> {
    let repo = match app.repo() {
        Err(Failure::Tract(tract::Error::NoRepository { .. })) => return Ok(()),
        repo => repo?,
    };
    if !repo.config()?.tells_budgets()? {
        return Ok(());
    }
    let spending = deeds::spending(&At::new(&repo, On::Head, app))?;
    let spending = spending.map(|it| it.of_directory(repo.seat()));
    let budgets = spending.map(|it| it.budgets).unwrap_or_default();
    let told = budgets
        .iter()
        .filter(|budget| budget.spent_dollars >= budget.limit_dollars * TOLD_FROM);
    let told = told.map(|budget| {
        let over = match budget.is_over() {
            true => "It is exceeded: ask the user before you go on with what takes many requests.",
            false => "It is nearly used up.",
        };
        let place = place(budget).text();
        format!("{}{place}: {}. {over}\n", period(budget), spent(budget))
    });
    let told: String = told.collect();
    if !told.is_empty() {
        let mut out = io::stdout();
        write!(out, "{MONEY_BEFORE}\n{told}{MONEY_AFTER}\n")?;
        out.flush()?;
    }
    Ok(())
}

/// Takes in what is new in the session's file; what a compaction of it must not lose, or has lost, and what was started
/// in the background and has no end.
fn keep(
    surroundings: &Surroundings,
    event: Event,
    file: &Path,
    heard: Heard<'_>,
) -> Result<(Keep, Vec<RunningFacts>), ApiError> {
    Worker::new(surroundings).with_or_memory(Watch::none(), |at: &mut At<'_>| {
        let mut asking = Asking::default();
        asking.take_in(at, file, &format!("guard {}", event.name()), false)?;
        let tip = asking.tip.as_deref();
        let tip =
            tip.ok_or_else(|| ApiError::refused("there are no messages in the session's file"))?;
        let tip = at.resolve(Some(tip))?;
        let branch = match asking.branch {
            Some(name) => at.repo.head(&On::Branch(name))?.commit(),
            None => None,
        };
        let withheld = Withheld::of(at)?;
        let secrets = Some(withheld.secrets());
        let keep = at
            .repo
            .keep(&tip, branch.as_ref(), heard, changed_files, secrets)?;
        let running = at.repo.running(&tip)?;
        let mut running = RunningFacts::all(&running, at.host.now());
        withheld.running(&mut running);
        Ok((keep, running))
    })
}

/// Prints what is for the model; in a sentence what that was.
fn say(
    event: Event,
    chars: usize,
    (keep, running): (&Keep, &[RunningFacts]),
    app: &App,
) -> Result<String> {
    let (before, after) = match event {
        Event::PreCompact => (MUST_HOLD, ""),
        Event::SessionStart if keep.is_compacted => (BEFORE, AFTER),
        Event::SessionStart => (BEFORE_UNHEARD, AFTER),
        Event::Money => return Ok(String::new()),
        Event::PostCompact => {
            let said = keep.held - keep.pins.len() - keep.facts.len();
            return Ok(format!("the summary says {said} of {} facts", keep.held));
        }
    };
    let mut running = mcp::running(running, &app.calendar());
    // It is short, and to start something twice costs most.
    let most = running.floor_char_boundary(chars / 2);
    running.truncate(most);
    let running = running.trim_start().to_owned();
    let texts = [before, after, &running];
    let frame = 3 + texts.map(|text| text.chars().count()).iter().sum::<usize>();
    let mut room = chars.saturating_sub(frame);
    let withheld = Withheld::with(app.secrets()?);
    let (digest, running, note) = loop {
        let mut digest = digest(keep, room);
        let mut told = running.clone();
        withheld.text(&mut digest.text);
        withheld.text(&mut told);
        let note = withheld.note(&[&digest.text, &told]).unwrap_or_default();
        // What stands in a secret's place may be longer than that, and the note takes room as well.
        let long = digest.text.chars().count() + note.chars().count() + 1;
        if note.is_empty() || long <= chars.saturating_sub(frame) || room == 0 {
            break (digest, told, note);
        }
        room = room.saturating_sub(long - chars.saturating_sub(frame));
    };
    if !digest.text.is_empty() || !running.is_empty() {
        let lines = [before, digest.text.trim_end(), &running, &note, after];
        let lines = lines.iter().filter(|text| !text.is_empty());
        let text: String = lines.map(|text| format!("{text}\n")).collect();
        let mut out = io::stdout();
        out.write_all(text.as_bytes())?;
        out.flush()?;
    }
    let given = plural(digest.given as u64, "fact");
    let verb = if event == Event::PreCompact {
        "named"
    } else {
        "gave back"
    };
    Ok(match digest.left {
        0 => format!("{verb} {given}"),
        left => format!(
            "{verb} {given}, and had no room for {}",
            grouped(left as u64)
        ),
    })
}
