//! The short forms: a bar for each message, or a line.

use tract::diff::Kind;
use tract::model::preview;
use tract::render::escape;

use super::page::Page;
use super::{Painter, Shown, list, message, run};
use crate::cli::columns;
use crate::cli::number::{plural, signed};
use crate::cli::ui::Label;

/// The columns of a line in a pipe.
const PIPE_COLS: usize = 80;
/// The most columns that say which message it is, and the fewest that are left for a bar.
const SHARE_COLS: (usize, usize) = (72, 12);

/// A row of the bars: one message, or a run of hidden ones.
struct Row {
    head: String,
    label: Label,
    what: String,
    delta: i64,
}

impl Painter<'_> {
    /// A bar for each message that differs; runs of hidden ones have one together.
    pub(super) fn stat(&self, page: &mut Page) {
        let mut rows: Vec<Row> = Vec::new();
        let mut rest = self.changes.as_slice();
        while let Some((change, _)) = rest.first() {
            let count = match change.kind {
                Kind::Hidden | Kind::Returned => run(rest),
                _ => 1,
            };
            rows.push(self.bar_row(&rest[..count]));
            rest = &rest[count..];
        }
        let width = page.look.width_cols.unwrap_or(PIPE_COLS);
        let cols = |text: fn(&Row) -> String| {
            let widths = rows.iter().map(|row| columns::width_cols(&text(row)));
            widths.max().unwrap_or(0)
        };
        let head_cols = cols(|row| row.head.clone());
        let delta_cols = cols(|row| signed(row.delta));
        let fixed = "    |  ".len() + head_cols + delta_cols;
        let room = width.saturating_sub(fixed);
        let what_cols = cols(|row| row.what.clone())
            .min(SHARE_COLS.0)
            .min(room * 2 / 3);
        let bar_cols = room.saturating_sub(what_cols).max(SHARE_COLS.1);
        let most = rows
            .iter()
            .map(|row| row.delta.unsigned_abs())
            .max()
            .unwrap_or(0);
        page.gap();
        for row in &rows {
            let what = columns::left(&columns::cut(&row.what, what_cols), what_cols);
            let delta = columns::right(&signed(row.delta), delta_cols);
            let head = page.paint(row.label, &columns::left(&row.head, head_cols));
            let bar = bar(row.delta, most, bar_cols);
            let label = match row.delta {
                ..=0 => Label::Removed,
                _ => Label::Added,
            };
            let bar = page.paint(label, &bar);
            page.push(
                format!(" {head}  {what} | {delta} {bar}")
                    .trim_end()
                    .to_owned(),
            );
        }
    }

    fn bar_row(&self, changes: &[Shown<'_>]) -> Row {
        let first = changes[0].0;
        let message = self.diff.message(first);
        let (head, label, what) = match changes {
            [_] => {
                let (sign, label) = message::sign(&first.kind);
                let head = format!("{sign} {}", message::number(first));
                let text = preview(message);
                let text = format!("{} {}", message.role, escape::line(&text));
                (head, label, text)
            }
            _ => {
                let (head, label) = list::span(changes);
                let count = plural(changes.len() as u64, "message");
                (head, label, format!("{count} {}", list::verb(&first.kind)))
            }
        };
        Row {
            head,
            label,
            what,
            delta: changes.iter().map(|(change, _)| change.delta).sum(),
        }
    }
}

/// `+++` or `---`, as long as `delta` is beside `most`, which takes `cols`.
fn bar(delta: i64, most: u64, cols: usize) -> String {
    let sign = match delta {
        0 => return String::new(),
        1.. => "+",
        _ => "-",
    };
    let most = most.max(cols as u64);
    let length = (delta.unsigned_abs() * cols as u64).div_ceil(most) as usize;
    sign.repeat(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_scaled_to_their_room() {
        assert_eq!(bar(3, 10, 20), "+++");
        assert_eq!(bar(-2_000, 2_000, 20), "-".repeat(20));
        assert_eq!(bar(1, 2_000, 20), "+");
        assert_eq!(bar(0, 2_000, 20), "");
    }
}
