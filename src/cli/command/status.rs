//! `tract status`: where am I in my context.

use std::io::Write;

use tract::history::Status;
use tract::model::{Head, RefName, Role};
use tract::render::escape;

use crate::cli::app::App;
use crate::cli::columns;
use crate::cli::failure::{Failure, SMALLER};
use crate::cli::listing::{self, Listing};
use crate::cli::number::{amount, grouped, plural, signed, tokens};
use crate::cli::ui::{Label, Ui};

/// Say where you are in your context
///
/// HEAD, the messages that a model would be sent, their tokens, and the newest commits.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract status
  tract --on experiment status     as if HEAD were that branch")]
pub struct Args {}

/// How many cells the bar has.
const BAR: u64 = 20;

pub fn run(_: &Args, app: &mut App) -> Result<(), Failure> {
    let (repo, on) = (app.repo()?, app.on()?);
    let status = repo.status(&on, app.encoding(&repo)?)?;
    let ui = &mut app.ui;
    let head = head_line(&status, ui);
    writeln!(ui.out(), "{head}")?;
    if status.head.commit().is_none() {
        writeln!(
            ui.out(),
            "\nNo messages yet.\n  \
             tract import                    this directory's Claude Code and Codex sessions\n  \
             tract import FILE               one session\n  \
             tract commit -r user -m \"…\"     write the first message"
        )?;
        return Ok(());
    }
    writeln!(
        ui.out(),
        "Context  {}",
        listing::context_line(&status.context)
    )?;
    for line in token_lines(&status, ui) {
        writeln!(ui.out(), "{line}")?;
    }
    writeln!(ui.out())?;
    let listing = Listing {
        head: &status.head,
        now: app.now(),
        running: false,
        indent: 2,
    };
    // HEAD is named above; what is left of the line is the preview's.
    let mut recent = status.recent;
    for row in &mut recent {
        row.refs.clear();
    }
    for line in listing.lines(&recent, &app.ui) {
        writeln!(app.ui.out(), "{line}")?;
    }
    if status
        .budget
        .is_some_and(|budget| status.total.tokens > budget)
    {
        app.ui.hint(&format!("over budget: {SMALLER}"));
    }
    if let Head::Detached(_) = status.head {
        let branch = repo.last_branch()?;
        app.ui.hint(&format!(
            "to return: tract checkout {branch}; to go on from here: tract checkout -b NAME"
        ));
    }
    Ok(())
}

fn head_line(status: &Status, ui: &Ui) -> String {
    let mut line = match &status.head {
        Head::Attached { branch, tip: None } => {
            format!(
                "On {}, no commits yet",
                ui.paint(Label::Branch, branch.short())
            )
        }
        Head::Attached {
            branch,
            tip: Some(tip),
        } => format!(
            "On {}, HEAD {}",
            ui.paint(Label::Branch, branch.short()),
            ui.paint(Label::Hash, &tip.short())
        ),
        Head::Detached(commit) => format!(
            "{} at {}",
            ui.paint(Label::Warning, "HEAD detached"),
            ui.paint(Label::Hash, &commit.short())
        ),
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
    let session_name = name.as_str().strip_prefix(RefName::SESSIONS);
    let mut facts = match &session.title {
        Some(_) => tool(name).to_owned(),
        None => listing::shorten(session_name.unwrap_or_default()),
    };
    if let Some(title) = &session.title {
        let title = escape::line(title);
        let used = plain_width(status) + facts.len() + after.len() + "  ( \"\")".len();
        let room = match ui.width_cols() {
            Some(width) => width.saturating_sub(used).max(12),
            None => 60,
        };
        facts += &format!(" \"{}\"", columns::cut(&title, room));
    }
    facts += &after;
    line += &format!("  ({})", ui.paint(Label::Session, &facts));
    line
}

/// The columns of `On main, HEAD a1b2c3d`.
fn plain_width(status: &Status) -> usize {
    match &status.head {
        Head::Attached { branch, .. } => columns::width_cols(branch.short()) + 17,
        Head::Detached(_) => 24,
    }
}

/// The tool of a session's ref: `claude-code`.
fn tool(name: &RefName) -> &str {
    let session = name.as_str().strip_prefix(RefName::SESSIONS);
    session
        .and_then(|s| s.split('/').next())
        .unwrap_or_default()
}

fn token_lines(status: &Status, ui: &Ui) -> Vec<String> {
    let total = tokens(status.total);
    let mut lines = vec![match status.budget {
        None => format!("Tokens   {total} (no budget set; {})", status.encoding),
        Some(budget) => {
            let percent = status.total.tokens * 100 / budget.max(1);
            let over = status.total.tokens > budget;
            let label = if over { Label::Error } else { Label::Good };
            let share = format!("{percent}%");
            format!(
                "Tokens   {} {} of {}   ({total}, {})",
                ui.paint(label, &bar(status.total.tokens, budget)),
                if over { ui.paint(label, &share) } else { share },
                amount(budget),
                status.encoding
            )
        }
    }];
    if let Some((number, usage, sent)) = &status.provider {
        let difference = usage.input_tokens as i64 - sent.tokens as i64;
        let absent = status.session.as_ref().map(|(_, session)| &session.absent);
        let counted = format!(
            "         the provider counted {} for :{number} ({}",
            grouped(usage.input_tokens),
            signed(difference)
        );
        match absent {
            Some(absent) if difference > 0 && !absent.is_empty() => {
                let why = format!("not in the file: {})", absent.join(", "));
                let why = escape::line(&why);
                let fits = columns::width_cols(&counted) + 2 + columns::width_cols(&why);
                if ui.width_cols().is_none_or(|width| fits <= width) {
                    lines.push(format!("{counted}; {why}"));
                } else {
                    lines.push(format!("{counted};"));
                    lines.push(format!("         {why}"));
                }
            }
            _ => lines.push(format!("{counted})")),
        }
    }
    lines.extend(shares(status, ui));
    lines
}

/// `system 4% · user 9% · …   largest: … 12,480 (:97)`, in one line or two.
fn shares(status: &Status, ui: &Ui) -> Vec<String> {
    let sum: u64 = status.by_role.iter().map(|(_, tokens)| tokens).sum();
    let share = |(role, tokens): &(Role, u64)| {
        let percent = (tokens * 100 + sum / 2) / sum.max(1);
        (Label::role(*role), format!("{role} {percent}%"))
    };
    let shares: Vec<(Label, String)> = status.by_role.iter().map(share).collect();
    let plain: Vec<&str> = shares.iter().map(|(_, text)| text.as_str()).collect();
    let mut used = 9 + columns::width_cols(&plain.join(" · "));
    let painted: Vec<String> = shares
        .iter()
        .map(|(label, text)| ui.paint(*label, text))
        .collect();
    let mut lines = vec![format!("         {}", painted.join(" · "))];
    if let Some((number, count, preview)) = &status.largest {
        let tail = format!(" {} (:{number})", tokens(*count));
        let room = ui.wrap_cols();
        let wanted = columns::width_cols("   largest: ") + 24 + tail.len();
        let start = if used + wanted > room {
            lines.push(" ".repeat(6));
            used = 6;
            lines.len() - 1
        } else {
            0
        };
        let preview = escape::line(preview);
        let room = room
            .saturating_sub(used + "   largest: ".len() + tail.len())
            .clamp(8, 48);
        lines[start] += &format!("   largest: {}{tail}", columns::cut(&preview, room));
    }
    lines
}

/// `[=============>......]`; full when it is more than full.
fn bar(tokens: u64, budget: u64) -> String {
    let full = (tokens.min(budget) * BAR / budget.max(1)) as usize;
    if tokens >= budget {
        return format!("[{}]", "=".repeat(BAR as usize));
    }
    let rest = BAR as usize - full - 1;
    format!("[{}>{}]", "=".repeat(full), ".".repeat(rest))
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
