//! A line of a text around what was found in it.

use std::ops::Range;

use crate::render::{Label, Line, columns};

/// A line with its matches marked, without its indent; cut to `room` columns, if there is a limit,
/// so that the first match is seen.
pub fn of(text: &str, matches: &[Range<usize>], room: Option<usize>) -> Line {
    let indent = text.len() - text.trim_start().len();
    let first = matches.first().map_or(0, |first| first.start);
    let mut pieces = Vec::new();
    let mut push = |label: Label, range: Range<usize>| {
        // One line among others: a tab is white space here, no sign.
        pieces.push(label.of(text[range].replace('\t', " ")));
    };
    // A match may be of white space.
    let mut at = indent.min(first);
    for range in matches {
        push(Label::Text, at..range.start);
        push(Label::Match, range.clone());
        at = range.end;
    }
    push(Label::Text, at..text.trim_end().len().max(at));
    match room {
        Some(room) => fitted(pieces, room),
        None => Line::join(pieces, ""),
    }
}

/// The pieces in `room` columns: what stands before the first match is cut to a third of the room,
/// or to what the rest leaves of it, and then the end.
fn fitted(mut pieces: Vec<Line>, room: usize) -> Line {
    let width = |pieces: &[Line]| pieces.iter().map(Line::width_cols).sum::<usize>();
    if width(&pieces) > room
        && let [before, after @ ..] = pieces.as_mut_slice()
    {
        let text = tail(
            &before.text(),
            (room / 3).max(room.saturating_sub(width(after))),
        );
        *before = Line::from(text);
    }
    Line::join(pieces, "").cut(room)
}

/// The end of `text` in `cols` columns; what is cut before it is a `…`.
fn tail(text: &str, cols: usize) -> String {
    if columns::width_cols(text) <= cols {
        return text.to_owned();
    }
    let fits = |at: &usize| columns::width_cols(&text[*at..]) < cols;
    let mut starts = text.char_indices().map(|(at, _)| at);
    let start = starts.find(fits).unwrap_or(text.len());
    format!("…{}", &text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text and a match by turns, in `room` columns.
    fn shown(pieces: &[&str], room: usize) -> String {
        let labels = [Label::Text, Label::Match].into_iter().cycle();
        let pieces = pieces.iter().zip(labels);
        let pieces = pieces.map(|(text, label)| label.of(*text)).collect();
        fitted(pieces, room).text()
    }

    #[test]
    fn a_cut_line_shows_its_first_match() {
        let line = ["a long beginning of a line and ", "match", " and its end"];
        assert_eq!(
            shown(&line, 80),
            "a long beginning of a line and match and its end"
        );
        assert_eq!(shown(&line, 30), "… a line and match and its end");
        assert_eq!(shown(&line, 20), "… and match and its…");
    }

    #[test]
    fn a_line_never_takes_more_columns_than_there_are() {
        let lines: [&[&str]; 4] = [
            &["日本語のテキスト", "東京", "タワー"],
            &["", "match", "", "match"],
            &["", "a very long match that is longer than all", "x"],
            &["short ", "m"],
        ];
        for line in lines {
            let whole = line.concat();
            for room in 1..40 {
                let fitted = shown(line, room);
                let width = columns::width_cols(&fitted);
                assert!(width <= room, "{fitted:?} in {room}");
                let cut = columns::width_cols(&whole) > room;
                assert_eq!(fitted.contains('…'), cut, "{fitted:?} in {room}");
            }
        }
    }
}
