//! Commits one to a line, as `log` and `status` list them: short hash, time, operation, role,
//! tokens, running total, preview. Aligned and cut on a terminal; aligned and whole in a pipe.

use tract::history::LogRow;
use tract::model::{Head, HideKind, Millis, Operation, RefName};
use tract::render::escape;

use super::columns;
use super::number::{grouped, plural, signed, tokens};
use super::table::{self, Cell};
use super::ui::{Label, Ui};
use super::when;

/// The fewest columns that names of refs leave to the preview.
const PREVIEW: usize = 16;

/// From how many columns on a list has room to line up its hides.
const ROOMY: usize = 100;

/// How a list is laid out.
pub struct Listing<'a> {
    /// Where HEAD is, so that its branch can be marked.
    pub head: &'a Head,
    /// What "ago" is counted from.
    pub now: Millis,
    /// Whether the running total has a column.
    pub running: bool,
    /// Spaces before every line.
    pub indent: usize,
}

/// The word that a list prints for an operation: the command's name for a hide.
pub fn verb(operation: &Operation) -> &'static str {
    match operation {
        Operation::Hide(hide) => hide.kind.verb(),
        other => other.type_name(),
    }
}

/// The colour of that word.
pub fn verb_label(operation: &Operation) -> Label {
    match operation {
        Operation::Hide(_) => Label::Hide,
        Operation::Restore { .. } => Label::Restore,
        Operation::Edit { .. } => Label::Warning,
        Operation::Append { .. } | Operation::Annotate { .. } => Label::Dim,
    }
}

struct Cells {
    /// Hash, time, operation, role (or messages), tokens, running total.
    columns: Vec<Cell>,
    refs: Vec<(Label, String)>,
    preview: String,
}

/// Which columns hold numbers.
const NUMBERS: [usize; 2] = [4, 5];

impl Listing<'_> {
    /// Draws the rows, in their order.
    pub fn lines(&self, rows: &[LogRow], ui: &Ui) -> Vec<String> {
        let roomy = ui.width_cols().is_none_or(|width| width >= ROOMY);
        // Where a hide says "tokens", the other numbers leave room for the word.
        let words = roomy && rows.iter().any(|row| !is_message(&row.commit.operation));
        let cells: Vec<Cells> = rows
            .iter()
            .map(|row| self.cells(row, roomy, words, ui))
            .collect();
        let columns: Vec<Vec<Cell>> = cells.iter().map(|c| c.columns.clone()).collect();
        let (heads, width) = table::lines(&columns, &NUMBERS, ui);
        let indent = " ".repeat(self.indent);
        let drawn = heads.into_iter().zip(&cells);
        drawn
            .map(|(head, c)| self.finish(format!("{indent}{head}"), self.indent + width, c, ui))
            .collect()
    }

    /// Adds refs and preview, within the terminal's width.
    fn finish(&self, mut line: String, mut used: usize, cells: &Cells, ui: &Ui) -> String {
        let width = ui.width_cols();
        let names = fitting(&cells.refs, width.map(|width| width.saturating_sub(used)));
        if !names.is_empty() {
            let plain: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
            used += columns::width_cols(&plain.join(", ")) + 4;
            let painted: Vec<String> = names
                .iter()
                .map(|(label, name)| ui.paint(*label, name))
                .collect();
            line += &format!("  ({})", painted.join(", "));
        }
        let room = width.map(|width| width.saturating_sub(used + 2));
        let preview = match room {
            Some(room) => columns::cut(&cells.preview, room),
            None => cells.preview.clone(),
        };
        if !preview.is_empty() {
            line += "  ";
            line += &preview;
        }
        line.trim_end().to_owned()
    }

    fn cells(&self, row: &LogRow, roomy: bool, words: bool, ui: &Ui) -> Cells {
        let operation = &row.commit.operation;
        let (who, delta) = match operation {
            _ if is_message(operation) => {
                let role = row.role.map_or("", |role| role.as_str()).to_owned();
                let room = if words { TOKENS.len() } else { 0 };
                let delta = match operation {
                    Operation::Annotate { .. } if row.delta == 0 => String::new(),
                    _ => signed(row.delta),
                };
                let who = (row.role.map_or(Label::Dim, Label::role), role);
                (who, format!("{delta}{}", " ".repeat(room)))
            }
            _ => {
                let unit = if words { TOKENS } else { "" };
                let who = (Label::Strong, taken_out(row, roomy));
                (who, format!("{}{unit}", signed(row.delta)))
            }
        };
        let running = match self.running {
            true => tokens(row.running),
            false => String::new(),
        };
        Cells {
            columns: vec![
                (Label::Hash, row.hash.short()),
                (Label::Time, when::listed(row.commit.time, self.now, ui)),
                (verb_label(operation), verb(operation).to_owned()),
                who,
                (Label::Tokens, delta),
                (Label::Dim, running),
            ],
            refs: marks(&row.refs, self.head, ui.is_terminal()),
            preview: describe(row),
        }
    }
}

/// What follows the number of a hide.
const TOKENS: &str = " tokens";

/// Whether the row is about one message, and not about how many are visible.
fn is_message(operation: &Operation) -> bool {
    !matches!(operation, Operation::Hide(_) | Operation::Restore { .. })
}

/// `-1,204 messages`: what became of the number of visible messages, or how many parts went.
fn taken_out(row: &LogRow, roomy: bool) -> String {
    if let Operation::Hide(hide) = &row.commit.operation
        && row.messages == 0
        && hide.kind == HideKind::Prune
    {
        return format!("-{}", plural(hide.parts.len() as u64, "part"));
    }
    let sign = if row.messages < 0 { "-" } else { "+" };
    match row.messages.unsigned_abs() {
        count if roomy => format!("{sign}{}", plural(count, "message")),
        count => format!("{sign}{} msg", grouped(count)),
    }
}

/// One line about what a commit brings, safe to print.
pub fn describe(row: &LogRow) -> String {
    match &row.commit.operation {
        Operation::Restore { target, .. } => format!("of {}", target.short()),
        Operation::Annotate {
            targets,
            priority,
            reason,
        } => {
            let what = plural(targets.len() as u64, "message");
            let reason = reason.as_deref().map(|r| format!(": {r}"));
            escape::line(&format!("{priority}, {what}{}", reason.unwrap_or_default())).into_owned()
        }
        _ => escape::line(&row.preview).into_owned(),
    }
}

/// As many names as leave some room for a preview. The first, which says where HEAD is, is always
/// among them, cut if it must be.
pub fn fitting(names: &[(Label, String)], room: Option<usize>) -> Vec<(Label, String)> {
    let Some(room) = room else {
        return names.to_vec();
    };
    let mut shown: Vec<(Label, String)> = Vec::new();
    let mut cols = "  ()".len();
    for (label, name) in names {
        let first = shown.is_empty();
        let width = columns::width_cols(name);
        match first {
            true if cols + 8 > room => break,
            true => shown.push((*label, columns::cut(name, room - cols))),
            false if cols + 2 + width + PREVIEW > room => break,
            false => shown.push((*label, name.clone())),
        }
        cols += width + if first { 0 } else { 2 };
    }
    shown
}

/// The refs at a commit as people read them: `HEAD -> main`, then the others. On a terminal a
/// session's id is cut to what tells it from others.
pub fn marks(refs: &[RefName], head: &Head, short: bool) -> Vec<(Label, String)> {
    let here = |name: &RefName| refs.contains(name);
    let mut marks = Vec::new();
    let attached = match head {
        Head::Attached { branch, .. } if here(branch) => Some(branch),
        _ => None,
    };
    match attached {
        Some(branch) => marks.push((Label::Head, format!("HEAD -> {}", branch.short()))),
        None if here(&RefName::head()) => marks.push((Label::Head, "HEAD".to_owned())),
        None => {}
    }
    for name in refs {
        if *name == RefName::head() || Some(name) == attached {
            continue;
        }
        marks.push(match name.as_str().strip_prefix(RefName::SESSIONS) {
            Some(session) if short => (Label::Session, shorten(session)),
            Some(session) => (Label::Session, session.to_owned()),
            None => (Label::Branch, name.short().to_owned()),
        });
    }
    marks
}

/// `claude-code/2f6c1f0e-…` from `claude-code/` and a UUID.
pub fn shorten(session: &str) -> String {
    match session.split_once('/') {
        Some((tool, id)) if id.len() > 12 && !id.contains('/') => {
            let id: String = id.chars().take(8).collect();
            format!("{tool}/{id}…")
        }
        _ => session.to_owned(),
    }
}

/// `2 truncations, 1 compaction`: the active hides of a context, if there are any.
pub fn hides(context: &tract::context::Context) -> Option<String> {
    let kinds: Vec<String> = HideKind::ALL
        .into_iter()
        .map(|kind| (kind, u64::from(context.active_hides(kind))))
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| plural(count, kind.as_str()))
        .collect();
    (!kinds.is_empty()).then(|| kinds.join(", "))
}

/// `182 messages, 1,204 hidden (2 truncations, 1 compaction)`.
pub fn context_line(context: &tract::context::Context) -> String {
    let mut line = plural(context.entries.len() as u64, "message");
    let hidden = context.hidden_entries();
    if hidden > 0 {
        line += &format!(", {} hidden", grouped(hidden));
    }
    if let Some(hides) = hides(context) {
        line += &format!(" ({hides})");
    }
    line
}
