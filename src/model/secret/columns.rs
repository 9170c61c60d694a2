//! The values in a table, of which a column is named so: in Markdown, on a terminal, between commas or tabs, and in SQL's
//! `INSERT INTO users (name, password) VALUES ('mara', 'X')`.

use std::ops::Range;

use super::name::{Name, Says};
use super::value::{OF_CODE, is_chosen, is_random, is_told};
use super::{feed, run};

/// What stands between the cells of a row; two blanks in what a terminal shows.
const BETWEEN: [&str; 6] = ["|", "\\t", "\t", ",", ";", "  "];
/// The most rows that are looked at, and how long a row may be.
const ROWS: usize = 12;
const ROW: usize = 400;

/// Adds the secrets in the column of a name.
pub(super) fn cells(text: &[u8], name: &Name, found: &mut Vec<Range<usize>>) {
    let Range { start, end } = name.place;
    if text[start..end].contains(&b'.') {
        return;
    }
    let closed = end
        + run(&text[end..], 6, |it| {
            b"\\\"'`* ".contains(&it) && feed(&text[end..]) == 0
        });
    let behind = &text[end..text.len().min(closed + 2)];
    let opened = text[..start]
        .iter()
        .rev()
        .take(6)
        .take_while(|it| b"\\\"'`* ".contains(it))
        .count();
    let before = text[..start - opened].last();
    // It is alone in its cell.
    let is_between = |it: Option<&u8>| it.is_none_or(|it| b"|,;(\t\nnt".contains(it));
    let is_last = feed(&text[end..]) > 0 || text.len() == closed;
    if !is_between(before) && opened < 2
        || !is_last
            && !is_between(text.get(closed))
            && text.get(closed) != Some(&b')')
            && !behind.starts_with(b"  ")
            && !behind.starts_with(b"\\t")
    {
        return;
    }
    if text.get(closed) == Some(&b')') || in_brackets(text, start, closed) {
        return of_rows(text, name, start, found);
    }
    let head_end = line_end(text, end, None);
    let quote = closing(&text[head_end..]);
    let head = line_start(text, start, quote)..head_end;
    let is_between =
        |it: &&&str| memchr::memmem::find(&text[head.clone()], it.as_bytes()).is_some();
    let between = BETWEEN.iter().find(is_between);
    // A table of one column has a rule under its head.
    let rule = head.end + feed(&text[head.end..]);
    if between.is_none() && !text[rule..].starts_with(b"---") {
        return;
    }
    let between = between.unwrap_or(&BETWEEN[0]);
    let of_head = split(text, &head, between);
    let Some(column) = of_head.iter().position(|it| it.contains(&start)) else {
        return;
    };
    // A list of one thing a line has nothing behind its commas.
    let is_filled = |cell: &&Range<usize>| !text[(*cell).clone()].trim_ascii().is_empty();
    if of_head.iter().filter(is_filled).count() < of_head.len().min(2) {
        return;
    }
    let mut from = head.end;
    for _ in 0..ROWS {
        let down = feed(&text[from..]);
        if down == 0 {
            return;
        }
        let row = from + down..line_end(text, from + down, quote);
        from = row.end;
        let is_rule = text[row.clone()].iter().all(|it| b"-+|=: ".contains(it));
        if is_rule {
            continue;
        }
        let cells = split(text, &row, between);
        if cells.len() != of_head.len() {
            return;
        }
        add(text, name, &cells[column], found);
    }
}

/// Whether a name stands in a list in brackets that ends behind it, as columns do.
fn in_brackets(text: &[u8], start: usize, end: usize) -> bool {
    let is_of_list = |it: u8| it.is_ascii_alphanumeric() || b"_, `\"\\".contains(&it);
    let more = run(&text[end..], 120, is_of_list);
    let before = text[start.saturating_sub(120)..start].iter().rev();
    let fewer = before.take_while(|it| is_of_list(**it)).count();
    text.get(end + more) == Some(&b')') && start > fewer && text[start - fewer - 1] == b'('
}

/// The values of a statement of SQL: `(a, b) VALUES (1, 2), (3, 4)`.
fn of_rows(text: &[u8], name: &Name, start: usize, found: &mut Vec<Range<usize>>) {
    let before = text[start.saturating_sub(160)..start].iter().rev();
    let open = start - before.take_while(|it| **it != b'(').count();
    let Some(close) = memchr::memchr(b')', &text[start..text.len().min(start + 200)]) else {
        return;
    };
    let head = open..start + close;
    let of_head = split(text, &head, ",");
    let Some(column) = of_head.iter().position(|it| it.contains(&start)) else {
        return;
    };
    let mut from = head.end + 1;
    from += blank(&text[from..]);
    let is_values = text
        .get(from..from + 6)
        .is_some_and(|it| it.eq_ignore_ascii_case(b"values"));
    if !is_values {
        return;
    }
    from += 6;
    for _ in 0..ROWS {
        from += blank(&text[from..]);
        if text.get(from) != Some(&b'(') {
            return;
        }
        let Some(len) = memchr::memchr(b')', &text[from..text.len().min(from + ROW)]) else {
            return;
        };
        let row = from + 1..from + len;
        let cells = split(text, &row, ",");
        if let Some(cell) = cells.get(column).filter(|_| cells.len() == of_head.len()) {
            add(text, name, cell, found);
        }
        from += len + 1;
        from += blank(&text[from..]);
        from += usize::from(text.get(from) == Some(&b','));
    }
}

/// Blanks and line feeds at the front.
fn blank(text: &[u8]) -> usize {
    let mut len = 0;
    loop {
        let more = run(&text[len..], 40, |it| it == b' ' || it == b'\t')
            + feed(&text[len + run(&text[len..], 40, |it| it == b' ' || it == b'\t')..]);
        if more == 0 {
            return len;
        }
        len += more;
    }
}

/// Adds a cell, if it is secret.
fn add(text: &[u8], name: &Name, cell: &Range<usize>, found: &mut Vec<Range<usize>>) {
    let is_mark = |it: &u8| b" \\\"'`*".contains(it);
    let before = text[cell.clone()]
        .iter()
        .take_while(|it| is_mark(it))
        .count();
    let behind = text[cell.clone()]
        .iter()
        .rev()
        .take_while(|it| is_mark(it))
        .count();
    if before + behind >= cell.len() {
        return;
    }
    // What marks the text as another kind: `N'…'`.
    let mut place = cell.start + before..cell.end - behind;
    if text[place.clone()].starts_with(b"N'") {
        place.start += 2;
    }
    let value = &text[place.clone()];
    let is_it = !value
        .iter()
        .any(|it| b" \\".contains(it) || OF_CODE.contains(it))
        && match name.says {
            Says::Password => is_told(value) || is_chosen(value, false),
            _ if value.len() < 20 => value.len() >= 16 && is_told(value),
            _ => !value.iter().all(|it| it.is_ascii_hexdigit() || *it == b'-') && is_random(value),
        };
    if is_it {
        found.push(place);
    }
}

/// How many backslashes stand before a quote that ends the text of JSON which has this line feed; none where it is itself.
fn closing(feed: &[u8]) -> Option<usize> {
    run(feed, 8, |it| it == b'\\').checked_sub(1)
}

/// Whether a text of JSON begins or ends at a place, by how many backslashes its quotes have.
fn is_quote(text: &[u8], at: usize, slashes: usize) -> bool {
    let before = || text[..at].iter().rev().take_while(|it| **it == b'\\');
    text[at] == b'"' && before().count() == slashes
}

/// Where the line of a place begins.
fn line_start(text: &[u8], at: usize, quote: Option<usize>) -> usize {
    let mut start = at;
    while start > 0 && at - start < ROW {
        if text[start - 1] == b'\n'
            || start > 1 && text[start - 2] == b'\\' && text[start - 1] == b'n'
            || quote.is_some_and(|slashes| is_quote(text, start - 1, slashes))
        {
            break;
        }
        start -= 1;
    }
    start
}

/// Where the line of a place ends.
fn line_end(text: &[u8], at: usize, quote: Option<usize>) -> usize {
    let most = text.len().min(at + ROW);
    let feeds = |at: usize| matches!(text[at], b'\n' | b'\r' | b'\\') && feed(&text[at..]) > 0;
    let closes = |at: usize| quote.is_some_and(|slashes| is_quote(text, at, slashes));
    let end = (at..most).find(|it| feeds(*it) || closes(*it));
    // The backslashes of a quote are no part of the line.
    end.map_or(most, |end| {
        if closes(end) {
            end - quote.unwrap_or_default()
        } else {
            end
        }
    })
}

/// The cells of a row.
fn split(text: &[u8], row: &Range<usize>, between: &str) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut from = row.start;
    for at in memchr::memmem::find_iter(&text[row.clone()], between.as_bytes()) {
        cells.push(from..row.start + at);
        from = row.start + at + between.len();
    }
    cells.push(from..row.end);
    // Blanks that are one gap.
    if between == "  " {
        cells.retain(|cell| !text[cell.clone()].trim_ascii().is_empty());
    }
    cells
}
