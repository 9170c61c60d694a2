//! Text in columns: measured and cut by the cells that it takes on a terminal, CJK and
//! emoji too.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many columns `text` takes.
pub fn width_cols(text: &str) -> usize {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        text.len()
    } else {
        text.width()
    }
}

/// `text` cut to `cols` columns; what is cut ends in `…`.
pub fn cut(text: &str, cols: usize) -> String {
    if width_cols(text) <= cols {
        return text.to_owned();
    }
    let room = cols.saturating_sub(1);
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if out.width() > room {
            out.pop();
            break;
        }
    }
    // A joiner or a modifier without its base would attach itself to the ellipsis.
    while out.ends_with('\u{200d}') {
        out.pop();
        let base = out.chars().last().and_then(|c| c.width());
        if base.is_some() {
            out.pop();
        }
    }
    let out = out.trim_end();
    if cols == 0 {
        String::new()
    } else {
        format!("{out}…")
    }
}

/// `text` cut to `cols` columns in its middle, where a `…` stands: names that begin alike are told
/// apart by their ends, of which more is kept.
pub fn cut_inside(text: &str, cols: usize) -> String {
    if width_cols(text) <= cols {
        return text.to_owned();
    }
    let head = cut(text, cols / 3 + 1);
    let room = cols.saturating_sub(width_cols(&head));
    let mut tail: Vec<char> = Vec::new();
    let mut used = 0;
    for c in text.chars().rev() {
        used += c.width().unwrap_or(0);
        if used > room {
            break;
        }
        tail.push(c);
    }
    head + &tail.into_iter().rev().collect::<String>()
}

/// How many columns the widest of these takes.
pub fn widest<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> usize {
    let widths = texts.into_iter().map(|text| width_cols(text.as_ref()));
    widths.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_in_its_middle() {
        assert_eq!(cut_inside("abc", 3), "abc");
        assert_eq!(
            cut_inside("claude-code-12345678/agent-9", 12),
            "clau…agent-9"
        );
        for cols in 1..30 {
            let cut = cut_inside("日本語-claude-code-1234567日本", cols);
            assert!(width_cols(&cut) <= cols, "{cols}: {cut}");
        }
    }

    #[test]
    fn a_cut_never_takes_more_columns_than_it_may() {
        for text in [
            "plain text",
            "日本語のテキスト",
            "a👩\u{200d}💻b👍🏽c",
            "e\u{301}e\u{301}e\u{301}",
        ] {
            for cols in 0..12 {
                let short = cut(text, cols);
                assert!(width_cols(&short) <= cols, "{short:?} in {cols}");
            }
        }
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("one two", 5), "one…");
    }
}
