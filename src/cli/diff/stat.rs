//! The short forms: a bar for each message, or a line.

use tract::diff::{Change, Kind};
use tract::render::escape;
use tract::store::preview;

use super::message;
use super::page::Page;
use super::{Painter, same_kind};
use crate::cli::columns;
use crate::cli::number::{plural, signed};
use crate::cli::ui::Label;

/// The columns of a line in a pipe.
const PIPE_COLS: usize = 80;
/// The most columns that say which message it is, and the fewest that are left for a bar.
const SHARE_COLS: (usize, usize) = (72, 12);

/// A row of the bars: one message, or a run of hidden ones.
struct Row {
    sign: char,
    label: Label,
    number: String,
    what: String,
    delta: i64,
}

impl Painter<'_> {
    /// One line for each message that differs.
    pub(super) fn lines(&self, page: &mut Page) {
        for (change, _) in &self.changes {
            page.push(self.row(page, change, 0));
        }
    }

    /// A bar for each message that differs; runs of hidden ones have one together.
    pub(super) fn stat(&self, page: &mut Page) {
        let mut rows: Vec<Row> = Vec::new();
        let mut rest = self.changes.as_slice();
        while let Some((change, _)) = rest.first() {
            let listed = matches!(change.kind, Kind::Hidden | Kind::Returned);
            let same = |other: &&(&Change, Vec<&str>)| listed && same_kind(change, other.0);
            let count = rest.iter().take_while(same).count().max(1);
            rows.push(self.bar_row(&rest[..count]));
            rest = &rest[count..];
        }
        let width = page.look.width_cols.unwrap_or(PIPE_COLS);
        let cols = |text: fn(&Row) -> String| {
            let widths = rows.iter().map(|row| columns::width_cols(&text(row)));
            widths.max().unwrap_or(0)
        };
        let number_cols = cols(|row| row.number.clone());
        let delta_cols = cols(|row| signed(row.delta));
        let fixed = " x   |  ".len() + number_cols + delta_cols;
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
            let number = columns::left(&row.number, number_cols);
            let what = columns::left(&columns::cut(&row.what, what_cols), what_cols);
            let delta = columns::right(&signed(row.delta), delta_cols);
            let head = page.paint(row.label, &format!("{} {number}", row.sign));
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

    fn bar_row(&self, changes: &[(&Change, Vec<&str>)]) -> Row {
        let (first, last) = (changes[0].0, changes[changes.len() - 1].0);
        let (sign, label) = message::sign(&first.kind);
        let message = self.diff.message(first);
        let word = match first.kind {
            Kind::Returned => "returned",
            _ => "hidden",
        };
        let (number, what) = match changes.len() {
            1 => {
                let text = preview(message);
                let text = format!("{} {}", message.role, escape::line(&text));
                (message::number(first), text)
            }
            count => (
                format!("{} … {}", message::number(first), message::number(last)),
                format!("{} {word}", plural(count as u64, "message")),
            ),
        };
        Row {
            sign,
            label,
            number,
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
