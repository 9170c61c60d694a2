//! How the requests of two replies differ, as they were sent, for people.

use tract::deeds::SentChanges;
use tract::render::{Label, Line, grouped, plural};
use tract::repo::Repo;

use crate::cli::drawing::prices::{money, prices};
use crate::cli::{App, Result};

/// The columns of the names.
const NAME_COLS: usize = 12;

/// Prints how the request of a reply differs from that of the first one, which is called so, and what it cost.
pub fn tell(repo: &Repo, differs: &SentChanges, first: &str, app: &mut App) -> Result<()> {
    let mut lines = Vec::new();
    let mut row = |name: &str, said: Line| {
        lines.push(Label::Strong.of(format!("{name:NAME_COLS$}")) + said);
    };
    if let Some((old, new)) = &differs.models {
        row(
            "Model",
            Label::Removed.quote(old) + " → " + Label::Added.quote(new),
        );
    }
    row("System", system(differs));
    for change in &differs.system {
        for (sign, label, text) in [
            ("- ", Label::Removed, &change.before),
            ("+ ", Label::Added, &change.after),
        ] {
            if let Some(text) = text {
                row("", label.quote(&format!("{sign}{text}")).cut(SHOWN_COLS));
            }
        }
    }
    row("Tools", tools(differs));
    if !differs.parameters.is_empty() {
        row(
            "Parameters",
            Label::Text.quote(&differs.parameters.join(", ")),
        );
    }
    row("Messages", messages(differs));
    let (gone, new) = (&differs.removed_breakpoints, &differs.added_breakpoints);
    let marks = signed(&[("- ", Label::Removed, gone), ("+ ", Label::Added, new)]);
    if !marks.is_empty() {
        row("Breakpoints", marks);
    }
    if let Some(byte) = &differs.first_byte {
        let (old, new) = (grouped(byte.bytes.0), grouped(byte.bytes.1));
        let at = format!("{} of {old} and {new}, in ", grouped(byte.at));
        row("First byte", Line::from(at) + Label::Text.quote(&byte.path));
    }
    let dollars = differs.missed_dollars;
    if let Some(missed) = differs.missed_tokens {
        let tokens = plural(missed, "token");
        let cost = match dollars {
            _ if missed == 0 => String::new(),
            Some(dollars) => format!(", which cost {} more", money(dollars)),
            None => ", at no price that is known".to_owned(),
        };
        row(
            "Cache",
            format!("{tokens} that {first} left there were not read{cost}").into(),
        );
    }
    lines
        .into_iter()
        .try_for_each(|line| app.ui.print_wrapped(line))?;
    if dollars.is_some_and(|dollars| dollars > 0.0) {
        let (_, list) = prices(repo, app)?;
        app.ui.notice(format!("list prices of {list}"));
    }
    Ok(())
}

/// The most columns that a line of a system prompt takes.
const SHOWN_COLS: usize = 100;

fn system(differs: &SentChanges) -> Line {
    if differs.system.is_empty() {
        return "the same".into();
    }
    let changes = differs.system.iter();
    let changes = changes.map(|it| format!("system[{}] from line {} on", it.block, it.line));
    changes.collect::<Vec<_>>().join(", ").into()
}

fn tools(differs: &SentChanges) -> Line {
    let mut line = Line::from(format!("{} the same", grouped(differs.same_tools)));
    let changes = signed(&[
        ("- ", Label::Removed, &differs.removed_tools),
        ("+ ", Label::Added, &differs.added_tools),
        ("~ ", Label::Warning, &differs.changed_tools),
    ]);
    if !changes.is_empty() {
        line = line + "; " + changes;
    }
    if differs.moved_tools {
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

fn messages(differs: &SentChanges) -> Line {
    let (old, new) = differs.messages;
    let same = grouped(differs.same_messages);
    let counts = format!("{same} the same, of {} and {}", grouped(old), grouped(new));
    let mut line = Line::from(counts);
    if let Some(path) = &differs.path {
        line += "; the first other: ";
        line += Label::Text.quote(&format!("messages[{}]{path}", differs.same_messages));
    }
    line
}
