//! How the requests of two replies differ, as they were sent, for people.

use tract::formats::shared::sent::{SentDifference, SystemDifference};
use tract::hash::CommitHash;
use tract::ingest::missed_between;
use tract::query::answered_request;
use tract::render::{Label, Line, grouped, plural};
use tract::repo::Repo;

use super::failure::Exit;
use super::prices::{money, prices};
use super::{App, Failure, Result};

/// The columns of the names.
const NAME_COLS: usize = 12;

/// Prints how the request of the second reply differs from that of the first, and what it cost; whether it does.
pub fn tell(
    repo: &Repo,
    replies: [&CommitHash; 2],
    names: &(String, String),
    app: &mut App,
) -> Result<bool> {
    let request = |reply: &CommitHash, name: &str| {
        let found = answered_request(repo, reply, None)?;
        found.map(|found| found.request).ok_or_else(|| {
            let what = format!("no request is recorded for {name}");
            Failure::refused(what).with_hint("tract log --requests lists those that are")
        })
    };
    let (before, after) = (
        request(replies[0], &names.0)?,
        request(replies[1], &names.1)?,
    );
    let differs = SentDifference::of(&before, &after).map_err(|lack| {
        let what = format!("what was sent cannot be told: {lack}");
        let hint = "tract fsck --requests says what is wrong";
        Failure::Said(Exit::Damaged, what, Some(hint.to_owned()))
    })?;
    let mut lines = Vec::new();
    let mut row = |name: &str, said: Line| {
        lines.push(Label::Strong.of(format!("{name:NAME_COLS$}")) + said);
    };
    if let Some([old, new]) = &differs.model {
        row(
            "Model",
            Label::Removed.quote(old) + " → " + Label::Added.quote(new),
        );
    }
    row("System", system(&differs));
    for change in &differs.system {
        for (sign, label, text) in [
            ("- ", Label::Removed, &change.texts[0]),
            ("+ ", Label::Added, &change.texts[1]),
        ] {
            if let Some(text) = text {
                row("", label.quote(&format!("{sign}{text}")).cut(SHOWN_COLS));
            }
        }
    }
    row("Tools", tools(&differs));
    if !differs.parameters.is_empty() {
        row(
            "Parameters",
            Label::Text.quote(&differs.parameters.join(", ")),
        );
    }
    row("Messages", messages(&differs));
    if differs.marks.iter().any(|marks| !marks.is_empty()) {
        let [gone, new] = &differs.marks;
        row(
            "Breakpoints",
            signed(&[("- ", Label::Removed, gone), ("+ ", Label::Added, new)]),
        );
    }
    if let Some(byte) = &differs.byte {
        let [old, new] = byte.sizes_bytes.map(grouped);
        let at = format!("{} of {old} and {new}, in ", grouped(byte.at));
        row("First byte", Line::from(at) + Label::Text.quote(&byte.path));
    }
    let (prices, list) = prices(repo, app)?;
    let missed = missed_between(repo, replies, &prices)?;
    if let Some(missed) = &missed {
        let tokens = plural(missed.missed_tokens, "token");
        let cost = match missed.missed_dollars {
            _ if missed.missed_tokens == 0 => String::new(),
            Some(dollars) => format!(", which cost {} more", money(dollars)),
            None => ", at no price that is known".to_owned(),
        };
        row(
            "Cache",
            format!("{tokens} that {} left there were not read{cost}", names.0).into(),
        );
    }
    lines
        .into_iter()
        .try_for_each(|line| app.ui.print_wrapped(line))?;
    if missed.is_some_and(|missed| missed.missed_dollars.is_some_and(|dollars| dollars > 0.0)) {
        app.ui.notice(format!("list prices of {list}"));
    }
    Ok(!differs.is_empty())
}

/// The most columns that a line of a system prompt takes.
const SHOWN_COLS: usize = 100;

fn system(differs: &SentDifference) -> Line {
    let change = |SystemDifference { block, line, .. }: &SystemDifference| {
        format!("system[{block}] from line {line} on")
    };
    match differs.system.as_slice() {
        [] => "the same".into(),
        changes => changes
            .iter()
            .map(change)
            .collect::<Vec<_>>()
            .join(", ")
            .into(),
    }
}

fn tools(differs: &SentDifference) -> Line {
    let tools = &differs.tools;
    let mut line = Line::from(format!("{} the same", grouped(tools.same)));
    let changes = signed(&[
        ("- ", Label::Removed, &tools.removed),
        ("+ ", Label::Added, &tools.added),
        ("~ ", Label::Warning, &tools.changed),
    ]);
    if !changes.is_empty() {
        line = line + "; " + changes;
    }
    if tools.moved {
        line + "; in another order"
    } else {
        line
    }
}

/// Names with their signs: `- ls, + cat`.
fn signed(groups: &[(&str, Label, &Vec<String>)]) -> Line {
    let names = groups.iter().flat_map(|(sign, label, names)| {
        names
            .iter()
            .map(move |name| label.quote(&format!("{sign}{name}")))
    });
    Line::join(names, ", ")
}

fn messages(differs: &SentDifference) -> Line {
    let messages = &differs.messages;
    let [old, new] = messages.counts.map(grouped);
    let mut line = Line::from(format!(
        "{} the same, of {old} and {new}",
        grouped(messages.same)
    ));
    if let Some(path) = &messages.path {
        line += "; the first other: ";
        line += Label::Text.quote(&format!("messages[{}]{path}", messages.same));
    }
    line
}
