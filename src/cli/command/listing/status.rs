//! `tract status`: where am I in my context.

mod contents;
mod cost;
mod counts;

use std::collections::{BTreeMap, BTreeSet};

use tract::deeds::{self, At};
use tract::ingest::{self, HeldSession};
use tract::model::{Head, HideKind, Millis, RefName};
use tract::query::{ProviderSays, RunningWork, Status};
use tract::render::{Calendar, Label, Line, grouped, percent, plural, rounded, row, tokens};
use tract::repo::Repo;

use crate::cli::bisection::by_hand;
use crate::cli::drawing::prices::{period, place, spent, untimed};
use crate::cli::drawing::{cache, import, listing, outcome, unreadable};
use crate::cli::watch::lock;
use crate::cli::{App, Listing, Result, Ui, guard_record};

pub use tract::deeds::StatusParams as Args;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// How long after a check of everything another one is due.
const CHECK_AFTER_MS: i64 = 30 * DAY_MS;
/// How many cells the bar has.
const BAR: usize = 20;
/// How much work in the background is listed.
const OPEN_LINES: usize = 8;
/// Under what `Tokens   ` is the name of.
const INDENT: &str = "         ";
/// What a client says in the user's name, explained where most people read of it first.
const INJECTED: &str = "injected by the client";
/// What is said of a repository without commits.
const START: &str = "
No messages yet.
  tract import                    this directory's sessions of your agents
  tract import FILE               one session
  tract commit -r user -m \"…\"     write the first message";

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let status = repo.status(&on, app.encoding(&repo)?)?;
    let (at_least, _) = status.provider.range(status.total);
    let watched = watched(&repo, app)?;
    let is_watched = watched.is_some();
    let held = if is_watched {
        ingest::held(&repo)?
    } else {
        Vec::new()
    };
    outcome::refuse_unmade(&repo, &on)?;
    let mut troubles = unreadable::lines(&repo, app)?;
    troubles.extend(guard_record::lines(&repo, app));
    troubles.extend(by_hand::line(&repo)?);
    let cache = match status.head.commit() {
        Some(tip) => cache::state(&repo, &tip, app)?,
        None => None,
    };
    let spending = deeds::spending(&At::new(&repo, on.clone(), app))?;
    let spending = spending.map(|it| it.of_directory(repo.seat()).budgets);
    let spending = spending.unwrap_or_default();
    let open = match status.head.commit() {
        Some(tip) if args.verbose || !repo.is_on_server() => {
            open_lines(&repo.running(&tip)?, &app.calendar())
        }
        _ => Vec::new(),
    };
    let upstream = match status.head.branch() {
        Some(branch) => repo.upstream(branch)?,
        None => None,
    };
    let apart = upstream.map(|it| Line::from(format!("Remote   {}", listing::apart(&it))));
    let onto = match &status.session {
        Some((name, _)) if status.session_new > 0 => {
            let branch = status.head.branch().map_or("BRANCH", RefName::short);
            import::onto(&repo, name, branch, app)?
        }
        _ => None,
    };
    let ui = &mut app.ui;
    ui.print(head_line(&status, onto.as_deref(), ui))?;
    if let Some(watched) = watched {
        ui.print(watched)?;
        ui.print_all(sessions_line(&held))?;
    }
    ui.print_all(apart)?;
    ui.print_all(troubles)?;
    if let Some(merge) = &status.merge {
        let name = Line::from(merge.name.as_str());
        let line = Line::from("Merging ")
            + name
            + ", which has conflicts: tract resolve, tract merge --continue";
        ui.print_wrapped(line)?;
    }
    if status.head.commit().is_none() {
        let others = !repo.references(RefName::HEADS)?.is_empty();
        if !(others && is_watched) {
            ui.print_all(START.lines().map(Line::from))?;
        }
        if others {
            ui.print("")?;
            ui.print("Imported sessions have branches of their own: tract branch")?;
        }
        return Ok(());
    }
    ui.print(context_line(&status))?;
    ui.print(token_line(&status))?;
    ui.print_all(shares(&status, ui))?;
    ui.print_all(cache.map(|cache| Line::from(format!("Cache    {cache}"))))?;
    for (at, budget) in spending.iter().enumerate() {
        let name = if at == 0 { "Spent" } else { "" };
        let label = match budget.is_over() {
            true => Label::Warning,
            false => Label::Text,
        };
        let said = Line::from(format!("{} {}", spent(budget), period(budget)))
            + place(budget)
            + untimed(budget);
        ui.print(Line::from(format!("{name:9}")) + label.of(said.text()))?;
    }
    let room = ui.width_cols();
    for line in open {
        ui.print(line.within(room))?;
    }
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
        counts::tell(&status, &repo, &mut app.ui)?;
        cost::tell(app, &repo, &status)?;
        contents::tell(app, &repo, &on, status.total, is_attached)?;
    }
    if is_attached && status.budget.is_some_and(|budget| at_least > budget) {
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

/// What was started in the background and has no end in the session, a line each, the newest last. Of a session that has been
/// silent for long only how many there are.
fn open_lines(open: &[RunningWork], calendar: &Calendar) -> Vec<Line> {
    if let Some(work) = open.first()
        && let Some(last) = work.last_record.filter(|_| work.is_stale(calendar.now))
    {
        let count = open.len();
        let last = calendar.aged(last);
        let line = format!(
            "Open     {count} without an end in the record (last message {last}): tract log --running"
        );
        return vec![Line::from(line)];
    }
    let left = open.len().saturating_sub(OPEN_LINES);
    let mut lines: Vec<Line> = open[left..]
        .iter()
        .map(|work| {
            let mut head = format!("Open     {} {}", work.kind.as_str(), work.id);
            if let Some(agent) = work.agent_id() {
                head += &format!(" of agent {agent}");
            }
            head += ", no end in the record";
            if let Some(since) = work.since {
                head += &format!(", started {}", calendar.aged(since));
            }
            head += ": ";
            Line::from(head) + work.what.as_str()
        })
        .collect();
    if left > 0 {
        let more = format!("Open     {left} more: tract log --running -n 0");
        lines.insert(0, Line::from(more));
    }
    lines
}

/// Where the last check of everything is long ago, or has never been while there was time for it.
fn unchecked_since(app: &App, (last, first): (Option<Millis>, Option<Millis>)) -> Option<String> {
    let now = app.now();
    let is_long_ago = |time: Millis| now.0.saturating_sub(time.0) >= CHECK_AFTER_MS;
    match (last, first) {
        (Some(last), _) if is_long_ago(last) => {
            let days = now.0.saturating_sub(last.0).unsigned_abs() / DAY_MS.unsigned_abs();
            let days = plural(days, "day");
            Some(format!("last checked for damage {days} ago"))
        }
        (None, Some(first)) if is_long_ago(first) => Some("never checked for damage".to_owned()),
        _ => None,
    }
}

/// Whether somebody watches the tools' folders, and when something last came in; nothing where nobody ever has.
fn watched(repo: &Repo, app: &App) -> Result<Option<Line>> {
    let lock = lock::path(repo, app);
    let Some(is_held) = lock.as_deref().and_then(lock::is_held) else {
        return Ok(None);
    };
    let mut line = if is_held {
        Line::from("Watched, ")
    } else {
        Label::Warning.of("Not watched") + " (tract watch), "
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
    let own = held.iter().filter(|session| !session.is_agents);
    for (tool, _) in own.filter_map(|session| session.name.as_session()) {
        *tools.entry(tool).or_default() += 1;
    }
    let tools = tools
        .iter()
        .map(|(tool, count)| format!("{tool} {}", grouped(*count)));
    let tools: Vec<String> = tools.collect();
    let agents = held.iter().filter(|session| session.is_agents).count();
    let mut line = format!(
        "Sessions {} ({})",
        grouped((held.len() - agents) as u64),
        tools.join(", ")
    );
    if agents > 0 {
        line += &format!(", {}", plural(agents as u64, "sub-agent"));
    }
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

fn head_line(status: &Status, onto: Option<&str>, ui: &Ui) -> Line {
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
        let new = plural(status.session_new, "new message");
        let way = onto.map_or_else(
            || {
                format!(
                    "tract log {}",
                    listing::shown_name(name, true).trim_end_matches('…')
                )
            },
            str::to_owned,
        );
        after += &format!(", {new}: {way}");
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
fn context_line(status: &Status) -> String {
    let summary = &status.summary;
    let visible = plural(summary.total.messages, "message");
    let mut line = format!("Context  {visible}");
    let hidden = status.hidden;
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

/// `Window   [===>...] 121k of 128k (95%)`, or `Tokens   85,760 (no budget set)`: as the provider counts,
/// where that is known. How that compares with our count is in `status/counting.rs`.
fn token_line(status: &Status) -> Line {
    let total = status.provider.total(status.total);
    let about = match status.provider.count() {
        None if total.estimated => "~",
        Some(_) if matches!(status.provider, ProviderSays::Before(_)) => "about ",
        _ => "",
    };
    let spread = counts::spread(status);
    // Why it is a range.
    let why = match status.provider {
        ProviderSays::Before(_) => ": no reply since the newest hide or edit",
        _ => "",
    };
    let Some(budget) = status.budget else {
        let count = match spread {
            Some((low, high)) => format!("{} to {}", grouped(low), grouped(high)),
            None => about.to_owned() + &grouped(total.tokens),
        };
        let why = spread.map_or("", |_| why);
        // Lists have tract's own count.
        let count = match status.provider.count() {
            Some(_) if total.tokens != status.total.tokens => {
                format!("{count} by the provider, {} by tract", tokens(status.total))
            }
            _ => count,
        };
        return format!("Tokens   {count} (no budget set){why}").into();
    };
    if let Some((low, high)) = spread {
        let (few, many) = (percent(low, budget), percent(high, budget));
        let label = if low > budget {
            Label::Error
        } else {
            Label::Good
        };
        return Line::from("Window   ")
            + label.of(bar(low, budget))
            + format!(
                " {} to {} of {} ({few} to {many}){why}",
                rounded(low),
                rounded(high),
                rounded(budget)
            );
    }
    let full = percent(total.tokens, budget);
    let (label, share) = if total.tokens > budget {
        (Label::Error, Label::Error.of(full))
    } else {
        (Label::Good, full.into())
    };
    Line::from("Window   ")
        + label.of(bar(total.tokens, budget))
        + format!(" {about}{} of {} (", rounded(total.tokens), rounded(budget))
        + share
        + ")"
}

/// `system 4% · user 9% · …   largest: … 12,480 (:97)`, in one line or two.
fn shares(status: &Status, ui: &Ui) -> Vec<Line> {
    let shares = status
        .by_role
        .iter()
        .map(|(role, tokens)| (role.as_str(), Label::role(*role), *tokens));
    let injected = status.summary.injected;
    let injected = (injected > 0).then_some((INJECTED, Label::Dim, injected));
    let shares: Vec<_> = shares.chain(injected).collect();
    let sum: u64 = shares.iter().map(|(_, _, tokens)| tokens).sum();
    if sum == 0 {
        return Vec::new();
    }
    let share = |(who, label, tokens): &(&str, Label, u64)| {
        label.of(format!("{who} {}", percent(*tokens, sum)))
    };
    let shares = Line::join(shares.iter().map(share), " · ");
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
