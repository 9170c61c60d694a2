//! `tract status`: where am I in my context.

mod filling;

use std::collections::{BTreeMap, BTreeSet};

use tract::history::{ProviderSays, Repo, Status};
use tract::ingest::{self, HeldSession};
use tract::model::{Head, HideKind, Millis, RefName, Role, Summed};
use tract::render::{Label, Line, amount, grouped, plural, row, tokens};

use crate::cli::watching::lock;
use crate::cli::{App, Failure, Listing, Ui, listing, outcome, unread};

/// Say where you are in your context
///
/// HEAD, the messages that a model would be sent, their tokens, and the newest commits. With -v also
/// what fills the context: each tool, thinking, pictures, what the client attached; the ten largest
/// messages; and what a prune would give back.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "\
Example:
  tract status
  tract status -v                  what fills the context
  tract --on experiment status     as if HEAD were that branch")]
pub struct Args {
    /// What fills the context, and the largest messages
    #[arg(short, long)]
    verbose: bool,
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// How long after a check of everything another one is due.
const CHECK_AFTER_MS: i64 = 30 * DAY_MS;
/// How many cells the bar has.
const BAR: usize = 20;
/// Under `Tokens   `.
const INDENT: &str = "         ";
/// What is said of a repository without commits.
const START: &str = "
No messages yet.
  tract import                    this directory's Claude Code and Codex sessions
  tract import FILE               one session
  tract commit -r user -m \"…\"     write the first message";

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let (repo, on) = (app.repo()?, app.on()?);
    let status = repo.status(&on, app.encoding(&repo)?)?;
    let total = status.provider.total(status.total);
    let watched = watched(&repo, app)?;
    let is_watched = watched.is_some();
    let held = match is_watched {
        true => ingest::held(&repo)?,
        false => Vec::new(),
    };
    let unread = unread::lines(&repo, app)?;
    let ui = &mut app.ui;
    ui.print(head_line(&status, ui))?;
    if let Some(watched) = watched {
        ui.print(watched)?;
        ui.print_all(sessions_line(&held))?;
    }
    ui.print_all(unread)?;
    if status.head.commit().is_none() && is_watched && !repo.references(RefName::HEADS)?.is_empty()
    {
        ui.print("")?;
        return Ok(ui.print("What came in stands on branches of its own: tract branch")?);
    }
    if status.head.commit().is_none() {
        return Ok(ui.print_all(START.lines().map(Line::from))?);
    }
    ui.print(context_line(&status.summary))?;
    ui.print_all(token_lines(&status, ui))?;
    ui.print("")?;
    let listing = Listing {
        head: &status.head,
        calendar: app.calendar(),
        width_cols: app.ui.width_cols(),
        running: false,
        heading: false,
        indent: 2,
    };
    app.ui.print_all(listing.lines(&status.recent))?;
    // Where HEAD is detached nothing can be made smaller before one has returned.
    let is_attached = matches!(status.head, Head::Attached { .. });
    if args.verbose {
        filling::tell(app, &repo, &on, status.total, is_attached)?;
    }
    if is_attached && status.budget.is_some_and(|budget| total.tokens > budget) {
        let smaller = outcome::smaller(app, &repo, &on)?;
        app.ui.hint(format!("over budget: {smaller}"));
    }
    if let Some(since) = unchecked_since(app, repo.last_check()?) {
        app.ui.notice(format!("{since}: tract fsck"));
    }
    if let Head::Detached(_) = status.head {
        let branch = repo.last_branch()?;
        app.ui.hint(format!(
            "to return: tract checkout {branch}; to go on from here: tract checkout -b NAME"
        ));
    }
    Ok(())
}

/// Where the last check of everything is long ago, or has never been while there was time for it.
fn unchecked_since(app: &App, (last, first): (Option<Millis>, Option<Millis>)) -> Option<String> {
    let now = app.now();
    let is_long_ago = |time: Millis| now.0.saturating_sub(time.0) >= CHECK_AFTER_MS;
    match (last, first) {
        (Some(last), _) if is_long_ago(last) => {
            let days = now.0.saturating_sub(last.0).unsigned_abs() / DAY_MS.unsigned_abs();
            Some(format!(
                "last checked for damage {} ago",
                plural(days, "day")
            ))
        }
        (None, Some(first)) if is_long_ago(first) => Some("never checked for damage".to_owned()),
        _ => None,
    }
}

/// Whether somebody watches the tools' folders, and when something last came in; nothing where nobody ever has.
fn watched(repo: &Repo, app: &App) -> Result<Option<Line>, Failure> {
    let lock = lock::path(repo, app);
    let Some(is_held) = lock.as_deref().and_then(lock::is_held) else {
        return Ok(None);
    };
    let mut line = match is_held {
        true => Line::from("Watched, "),
        false => Label::Warning.of("Not watched") + " (tract watch), ",
    };
    line += match ingest::last_taken_in(repo)? {
        Some(time) => {
            let when = app.calendar().listed(Some(time));
            Line::from("something last came in ") + Label::Time.of(when)
        }
        None => Line::from("nothing has come in yet"),
    };
    Ok(Some(line))
}

/// `Sessions 1,032 (claude-code 700, codex 332) of 41 directories; the files of 212 are gone: tract branch --gone`.
fn sessions_line(held: &[HeldSession]) -> Option<Line> {
    let mut tools: BTreeMap<&str, u64> = BTreeMap::new();
    for (tool, _) in held.iter().filter_map(|session| session.name.as_session()) {
        *tools.entry(tool).or_default() += 1;
    }
    let tools = tools
        .iter()
        .map(|(tool, count)| format!("{tool} {}", grouped(*count)));
    let tools: Vec<String> = tools.collect();
    let mut line = format!(
        "Sessions {} ({})",
        grouped(held.len() as u64),
        tools.join(", ")
    );
    let directories: BTreeSet<&String> = held.iter().filter_map(|it| it.cwd.as_ref()).collect();
    if directories.len() > 1 {
        line += &format!(" of {} directories", grouped(directories.len() as u64));
    }
    let gone = held.iter().filter(|session| session.is_gone).count() as u64;
    match gone {
        0 => {}
        1 => line += "; the file of 1 is gone: tract branch --gone",
        gone => {
            line += &format!(
                "; the files of {} are gone: tract branch --gone",
                grouped(gone)
            )
        }
    }
    (!held.is_empty()).then(|| line.into())
}

fn head_line(status: &Status, ui: &Ui) -> Line {
    let mut line = match &status.head {
        Head::Attached { branch, tip } => {
            let on = Line::from("On ") + Label::Branch.of(branch.short());
            match tip {
                None => on + ", no commits yet",
                Some(tip) => on + ", HEAD " + Label::Hash.of(tip.short()),
            }
        }
        Head::Detached(commit) => {
            Label::Warning.of("HEAD detached") + " at " + Label::Hash.of(commit.short())
        }
    };
    let Some((name, session)) = &status.session else {
        return line;
    };
    let mut after = String::new();
    if status.session_new > 0 {
        let branch = match &status.head {
            Head::Attached { branch, .. } => branch.short(),
            Head::Detached(_) => "BRANCH",
        };
        let new = plural(status.session_new, "new message");
        after += &format!(", {new}: tract import --onto {branch}");
    }
    let mut facts = match (&session.title, name.as_session()) {
        (Some(_), Some((tool, _))) => tool.to_owned(),
        _ => listing::shown_name(name, true),
    };
    if let Some(title) = &session.title {
        let used = line.width_cols() + facts.len() + after.len() + "  ( \"\")".len();
        let room = match ui.width_cols() {
            Some(width) => width.saturating_sub(used).max(12),
            None => 60,
        };
        facts += &format!(" \"{}\"", Line::from(title).cut(room).text());
    }
    line += "  (";
    line += Label::Session.of(facts + &after);
    line + ")"
}

/// `Context  182 messages, 1,204 hidden (2 truncations, 1 compaction)`.
fn context_line(summary: &Summed) -> String {
    let visible = plural(summary.total.messages, "message");
    let mut line = format!("Context  {visible}");
    let hidden = summary.hidden;
    if hidden > 0 {
        line += &format!(", {} hidden", grouped(hidden));
    }
    // A drop of which a message is seen is a move.
    let moves = u64::from(summary.moves);
    let kinds = HideKind::ALL.into_iter().zip(summary.hides.map(u64::from));
    let kinds = kinds.map(|(kind, count)| match kind {
        HideKind::Drop => (kind.as_str(), count.saturating_sub(moves)),
        kind => (kind.as_str(), count),
    });
    let active = kinds.chain([("move", moves)]);
    let active = active.filter(|(_, count)| *count > 0);
    let active = active.map(|(kind, count)| plural(count, kind));
    let active: Vec<String> = active.collect();
    if !active.is_empty() {
        line += &format!(" ({})", active.join(", "));
    }
    line
}

fn token_lines(status: &Status, ui: &Ui) -> Vec<Line> {
    let (ours, encoding) = (tokens(status.total), status.encoding);
    let total = status.provider.total(status.total);
    let counts = match status.provider.count() {
        None => format!("{ours}, {encoding}"),
        Some(count) => {
            let is_guess = matches!(status.provider, ProviderSays::Before(_));
            // What it was off by was measured where it counted.
            let error = count.error.filter(|_| !is_guess);
            let percent = |error: f64| format!(", ±{:.0}%", (error * 100.0).ceil().max(1.0));
            let error = error.map(percent).unwrap_or_default();
            let about = if is_guess { "about " } else { "" };
            let theirs = grouped(total.tokens);
            format!("{ours} ours, {encoding}; {about}{theirs} the provider's{error}")
        }
    };
    let mut lines = Vec::new();
    let last = match (status.budget, status.provider.count()) {
        (None, None) => format!("Tokens   {ours} (no budget set; {encoding})").into(),
        (None, Some(_)) => format!("Tokens   {counts} (no budget set)").into(),
        (Some(budget), _) => {
            let percent = format!("{}%", total.tokens * 100 / budget.max(1));
            let (label, share) = match total.tokens > budget {
                true => (Label::Error, Label::Error.of(percent)),
                false => (Label::Good, percent.into()),
            };
            let bar = label.of(bar(total.tokens, budget));
            let bar = Line::from("Tokens   ") + bar + " " + share;
            let bar = bar + format!(" of {}", amount(budget));
            let counts = Line::from(format!("({counts})"));
            let fits = bar.width_cols() + 3 + counts.width_cols();
            match ui.width_cols() {
                Some(width) if fits > width => {
                    lines.push(bar);
                    Line::from(INDENT) + counts
                }
                _ => bar + "   " + counts,
            }
        }
    };
    lines.push(last);
    lines.extend(provider_lines(status, ui));
    lines.extend(shares(status, ui));
    lines
}

/// What the provider counts, and why that is more: in one line or two.
fn provider_lines(status: &Status, ui: &Ui) -> Vec<Line> {
    let (what, is_more) = match &status.provider {
        ProviderSays::Nothing => return Vec::new(),
        ProviderSays::NothingSince => {
            let what = "by our count; the provider's are from before the newest hide or edit";
            (what.to_owned(), false)
        }
        ProviderSays::NoCount => {
            let what =
                "by our count; what the replies say of theirs is zero, or beyond any context";
            (what.to_owned(), false)
        }
        ProviderSays::Before(count) => {
            let counted = outcome::counted(count);
            let what = format!("the provider {counted}, as before the newest hide or edit");
            (what, count.of(0) > 0)
        }
        ProviderSays::Counts { count, .. } if count.is_fitted() => {
            let replies = plural(count.replies as u64, "reply");
            let what = format!("the provider {} ({replies})", outcome::counted(count));
            (what, count.of(0) > 0)
        }
        ProviderSays::Counts {
            count,
            number,
            usage,
        } => {
            let (counted, top) = (grouped(usage.input_tokens), count.of(0));
            let what = format!(
                "the provider counted {counted} for :{number} (+{})",
                grouped(top)
            );
            (what, top > 0)
        }
    };
    let absent = status.session.as_ref().map(|(_, session)| &session.absent);
    let absent = absent.filter(|absent| is_more && !absent.is_empty());
    let why = absent.map(|absent| format!("not in the file: {}", absent.join(", ")));
    let said = match &why {
        Some(why) => format!("{what}; {why}"),
        None => what.clone(),
    };
    let Some(room) = ui
        .width_cols()
        .map(|width| width.saturating_sub(INDENT.len()).max(20))
    else {
        return vec![Line::from(INDENT) + said];
    };
    // Where one line is too short for both, each has its own, if it has room there.
    let said = match why {
        Some(why) if said.chars().count() > room && what.chars().count() < room => {
            vec![what + ";", why]
        }
        _ => vec![said],
    };
    let rows = said.iter().flat_map(|line| Line::from(line).wrap(room));
    rows.map(|row| Line::from(INDENT) + row).collect()
}

/// `system 4% · user 9% · …   largest: … 12,480 (:97)`, in one line or two.
fn shares(status: &Status, ui: &Ui) -> Vec<Line> {
    let sum: u64 = status.by_role.iter().map(|(_, tokens)| tokens).sum();
    let share = |(role, tokens): &(Role, u64)| {
        let percent = (tokens * 100 + sum / 2) / sum.max(1);
        Label::role(*role).of(format!("{role} {percent}%"))
    };
    let shares = Line::join(status.by_role.iter().map(share), " · ");
    let mut line = Line::from(INDENT) + shares;
    let Some(largest) = &status.largest else {
        return vec![line];
    };
    let mut lines = Vec::new();
    let tail = format!(" {} (:{})", tokens(largest.tokens), largest.number);
    let room = ui.wrap_cols();
    if line.width_cols() + "   largest: ".len() + 24 + tail.len() > room {
        lines.push(line);
        line = Line::indent(6);
    }
    line += "   largest: ";
    let room = room.saturating_sub(line.width_cols() + tail.len());
    let room = room.clamp(8, 64);
    line += row::said(largest.call.as_deref(), &largest.preview, Some(room)) + tail;
    lines.push(line);
    lines
}

/// `[=============>......]`; full when it is more than full.
fn bar(tokens: u64, budget: u64) -> String {
    if tokens >= budget {
        return format!("[{}]", "=".repeat(BAR));
    }
    let full = (tokens * BAR as u64 / budget) as usize;
    format!("[{}>{}]", "=".repeat(full), ".".repeat(BAR - full - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_always_as_long() {
        assert_eq!(bar(85_760, 128_000), "[=============>......]");
        assert_eq!(bar(0, 128_000), "[>...................]");
        for tokens in 0..300 {
            assert_eq!(bar(tokens, 200).len(), 22);
        }
        assert_eq!(bar(146, 128), "[====================]");
        assert_eq!(bar(1, 0), "[====================]");
    }
}
