//! A line of a message around what was found in it.

use std::ops::Range;

use tract::history::MatchedLine;
use tract::render::escape;

use super::columns;
use super::ui::{Label, Ui};

/// A line with its matches marked, without its indent. On a terminal it is cut to what `used` columns
/// leave, so that the first match is seen.
pub fn of(line: &MatchedLine, used: usize, ui: &Ui) -> String {
    let trimmed = line.text.trim_start();
    let indent = line.text.len() - trimmed.len();
    let first = line.matches.first().map_or(0, |first| first.start);
    let mut pieces: Vec<(bool, String)> = Vec::new();
    let mut push = |hit: bool, range: Range<usize>| {
        // One line among others: a tab is white space here, no sign.
        let text = line.text[range].replace('\t', " ");
        pieces.push((hit, escape::line(&text).into_owned()));
    };
    // A match may be of white space.
    let mut at = indent.min(first);
    for range in &line.matches {
        push(false, at..range.start);
        push(true, range.clone());
        at = range.end;
    }
    push(false, at..line.text.trim_end().len().max(at));
    if let Some(width) = ui.width_cols() {
        fit(&mut pieces, width.saturating_sub(used));
    }
    let paint = |(hit, text): &(bool, String)| match hit {
        true => ui.paint(Label::Match, text),
        false => text.clone(),
    };
    pieces.iter().map(paint).collect()
}

/// Cuts pieces to `room` columns: what stands before the first match to a third of the room, or to
/// what the rest leaves of it, and then the end.
fn fit(pieces: &mut [(bool, String)], room: usize) {
    let width = |pieces: &[(bool, String)]| -> usize {
        pieces
            .iter()
            .map(|(_, text)| columns::width_cols(text))
            .sum()
    };
    if width(pieces) > room
        && let Some(((false, before), after)) = pieces.split_first_mut()
    {
        *before = tail(before, (room / 3).max(room.saturating_sub(width(after))));
    }
    let (mut left, mut rest) = (room, width(pieces));
    for (_, text) in pieces.iter_mut() {
        let width = columns::width_cols(text);
        if rest > left && width >= left {
            // More follows: the mark of a cut is due even where this piece alone would fit.
            *text = columns::cut(&format!("{text}…"), left);
        }
        rest -= width;
        left = left.saturating_sub(width);
    }
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

    fn fitted(pieces: &[(bool, &str)], room: usize) -> String {
        let mut pieces: Vec<_> = pieces
            .iter()
            .map(|(hit, text)| (*hit, (*text).to_owned()))
            .collect();
        fit(&mut pieces, room);
        pieces.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn a_cut_line_shows_its_first_match() {
        let line = [
            (false, "a long beginning of a line and "),
            (true, "match"),
            (false, " and its end"),
        ];
        assert_eq!(
            fitted(&line, 80),
            "a long beginning of a line and match and its end"
        );
        assert_eq!(fitted(&line, 30), "… a line and match and its end");
        assert_eq!(fitted(&line, 20), "… and match and its…");
    }

    #[test]
    fn a_line_never_takes_more_columns_than_there_are() {
        let lines: [&[(bool, &str)]; 4] = [
            &[
                (false, "日本語のテキスト"),
                (true, "東京"),
                (false, "タワー"),
            ],
            &[(true, "match"), (false, ""), (true, "match")],
            &[
                (false, ""),
                (true, "a very long match that is longer than all"),
                (false, "x"),
            ],
            &[(false, "short "), (true, "m")],
        ];
        for line in lines {
            let whole: String = line.iter().map(|(_, text)| *text).collect();
            for room in 1..40 {
                let fitted = fitted(line, room);
                let width = columns::width_cols(&fitted);
                assert!(width <= room, "{fitted:?} in {room}");
                let cut = columns::width_cols(&whole) > room;
                assert_eq!(fitted.contains('…'), cut, "{fitted:?} in {room}");
            }
        }
    }
}
