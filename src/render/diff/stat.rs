//! The short forms: a bar for each message, or a line.

use crate::diff::Kind;
use crate::model::preview;
use crate::render::diff::page::Page;
use crate::render::diff::{Painter, Shown, list, message, run};
use crate::render::{Label, Line, columns, plural, row, signed};

/// The columns of a line in a pipe.
const PIPE_COLS: usize = 80;
/// The most columns that say which message it is, and the fewest that are left for a bar.
const SHARE_COLS: (usize, usize) = (72, 10);

/// A row of the bars: one message, or a run of hidden ones.
struct Row {
    head: Line,
    role: Line,
    call: Option<String>,
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
        let width = page.width_cols.unwrap_or(PIPE_COLS);
        let widest = |of: fn(&Row) -> String| columns::widest(rows.iter().map(of));
        let head_cols = widest(|row| row.head.text());
        let role_cols = widest(|row| row.role.text());
        let delta_cols = widest(|row| signed(row.delta));
        let fixed = "       |  ".len() + head_cols + role_cols + delta_cols;
        let room = width.saturating_sub(fixed);
        let said = |row: &Row, cols| row::said(row.call.as_deref(), &row.what, cols);
        let what_cols = columns::widest(rows.iter().map(|row| said(row, None).text()))
            .min(SHARE_COLS.0)
            .min(room.saturating_sub(SHARE_COLS.1).max(room * 2 / 3));
        let bar_cols = room.saturating_sub(what_cols).max(SHARE_COLS.1);
        let most = rows.iter().map(|row| row.delta.unsigned_abs()).max();
        page.gap();
        for row in rows {
            let delta = Line::from(signed(row.delta)).right(delta_cols);
            let label = match row.delta {
                ..=0 => Label::Removed,
                _ => Label::Added,
            };
            let bar = bar(row.delta, most.unwrap_or(0), bar_cols);
            let what = said(&row, Some(what_cols)).left(what_cols);
            let head = row.head.left(head_cols) + "  " + row.role.left(role_cols) + "  ";
            page.push(0, head + what + " | " + delta + " " + label.of(bar));
        }
    }

    fn bar_row(&self, changes: &[Shown<'_>]) -> Row {
        let first = changes[0].0;
        let (head, role, call, what) = match changes {
            [_] => {
                let message = self.diff.message(first);
                let (sign, label) = message::sign(&first.kind);
                let head = label.of(format!("{sign} {}", message::number(first)));
                (
                    head,
                    self.speaker(first),
                    self.call(first),
                    preview(message),
                )
            }
            _ => {
                let count = changes.iter().map(|(change, _)| change.count as u64).sum();
                let count = plural(count, "message");
                let what = format!("{count} {}", list::verb(&first.kind));
                (list::span(changes), Line::new(), None, what)
            }
        };
        Row {
            head,
            role,
            call,
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
