//! Text that stays where it stands: whatever it says, what comes after it is read as if it were not
//! there.
//!
//! Whoever turns a Markdown file into a page may let HTML through. So HTML in a text is written as
//! text, links that lead anywhere but to the web or to mail are none, and pictures from elsewhere
//! are links. A text that does not end where it ends stands in a fence, as it was written.
//!
//! Headings and heads are tract's own: a text is a block quote, and a fence is indented, by which it says the same.

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use crate::model::quote::{MARGIN, quoted};
use crate::render::escape;
use crate::render::html::{is_address, is_raster_address};

/// What stands after a text to see whether it is read as it should be.
const SENTINEL: &str = "tract-sentinel";

/// What stands before each line of a text that is read as Markdown.
const CITED: &str = "> ";

/// A text as its Markdown says, quoted, or in a fence.
pub(super) fn prose(text: &str) -> String {
    let text = escape::block(text);
    let mended = mend(text.trim_end());
    let cited = quoted(&mended, CITED);
    // Behind the margin a tab is less wide, so that what was code by its indent may be none.
    if is_contained(&mended) && is_contained(&cited) {
        cited
    } else {
        fence("", &text)
    }
}

/// A text as it was written.
pub(super) fn fence(language: &'static str, text: &str) -> String {
    let text = escape::block(text);
    let runs = text.split(|c| c != '`').map(str::len);
    let ticks = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    let text = text.trim_end_matches('\n');
    quoted(&format!("{ticks}{language}\n{text}\n{ticks}"), MARGIN)
}

/// A text on one line, as it was written.
pub(super) fn code(text: &str) -> String {
    let text = escape::line(text);
    let runs = text.split(|c| c != '`').map(str::len);
    let ticks = "`".repeat(runs.max().unwrap_or(0) + 1);
    match text.trim().is_empty() {
        true => String::new(),
        false if text.starts_with('`') || text.ends_with('`') => format!("{ticks} {text} {ticks}"),
        false => format!("{ticks}{text}{ticks}"),
    }
}

/// A text on one line that says nothing to Markdown.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in escape::line(text).chars() {
        match c {
            '<' => plain += "&lt;",
            '&' => plain += "&amp;",
            c => {
                if c.is_ascii_punctuation() && !matches!(c, ',' | '.' | ':' | '/' | '-' | '\'') {
                    plain.push('\\');
                }
                plain.push(c);
            }
        }
    }
    plain
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// What a link or a picture becomes.
fn is_good(tag: &Tag<'_>) -> bool {
    match tag {
        Tag::Link {
            link_type: LinkType::Email,
            ..
        } => true,
        Tag::Link { dest_url, .. } => is_address(dest_url),
        Tag::Image { dest_url, .. } => is_raster_address(dest_url),
        _ => true,
    }
}

/// The text without HTML, and without links that lead elsewhere.
fn mend(text: &str) -> String {
    let mut changes: Vec<(usize, &str)> = Vec::new();
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                let signs = text[range.clone()].match_indices('<');
                changes.extend(signs.map(|(at, _)| (range.start + at, "&lt;")));
            }
            Event::Start(tag) if !is_good(&tag) => {
                let first = text[range.start..].chars().next();
                changes.push(match (first, &tag) {
                    (Some('<'), _) => (range.start, "&lt;"),
                    // `![…](https://…)` without its first sign is a link.
                    (Some('!'), Tag::Image { dest_url, .. }) if is_address(dest_url) => {
                        (range.start, "")
                    }
                    (Some('!'), _) => (range.start + 1, "\\["),
                    _ => (range.start, "\\["),
                });
            }
            _ => {}
        }
    }
    changes.sort_unstable();
    changes.dedup_by_key(|(at, _)| *at);
    let mut mended = String::with_capacity(text.len());
    let mut from = 0;
    for (at, instead) in changes {
        mended += &text[from..at];
        mended += instead;
        from = at + 1;
    }
    mended + &text[from..]
}

/// Whether nothing of it is HTML or leads elsewhere, and what follows is read on its own.
fn is_contained(text: &str) -> bool {
    let followed = format!("{text}\n\n{SENTINEL}");
    let parser = Parser::new_ext(&followed, options());
    if parser.reference_definitions().iter().next().is_some() {
        return false;
    }
    let mut depth = 0_usize;
    let mut last = [Event::Rule, Event::Rule, Event::Rule];
    let mut is_top = false;
    for event in parser {
        match &event {
            Event::Html(_) | Event::InlineHtml(_) => return false,
            Event::Start(tag) if !is_good(tag) => return false,
            Event::Start(_) => {
                is_top = depth == 0;
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        last.rotate_left(1);
        last[2] = event;
    }
    let [start, said, end] = &last;
    let is_said = matches!(said, Event::Text(said) if &**said == SENTINEL);
    let is_paragraph = matches!(start, Event::Start(Tag::Paragraph))
        && matches!(end, Event::End(TagEnd::Paragraph));
    is_top && is_said && is_paragraph
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_stays_where_it_stands() {
        let texts = [
            "Plain *text* with `<b>` and [a link](https://a.example).",
            "open fence:\n```rust\nlet x = 1;",
            "<!-- open",
            "<script>alert(1)</script>",
            "<details>\n\ninside",
            "a <img src=x onerror=alert(1)> b",
            "[bad](javascript:alert(1)) and ![bad](javascript:alert(1))",
            "![far](https://a.example/x.png) ![near](data:image/png;base64,iVBORw0KGgo=)",
            "[ref]: https://a.example \"takes over\"\n\n[ref]",
            "- a list\n- of two",
            "> quoted",
            "<javascript:alert(1)> <https://a.example>",
            "    indented",
            "ends in a rule\n---",
            "\u{202e}turned\u{1b}[31m\0",
            "",
        ];
        let shown = texts.map(|text| format!("{}\n\n~\n", prose(text)));
        insta::assert_snapshot!(shown.join("\n"));
        // Behind a margin the tab is no four columns wide any more.
        assert_eq!(prose("\t<b>bold</b>"), fence("", "\t<b>bold</b>"));
        let indented = "  `````diff\n  a ```` b\n  `````";
        assert_eq!(fence("diff", "a ```` b\n"), indented);
        assert_eq!(code("a `b` c"), "``a `b` c``");
        assert_eq!(code("`b`"), "`` `b` ``");
        assert_eq!(
            plain("# <b> [x](y) *z* &c"),
            "\\# &lt;b\\> \\[x\\]\\(y\\) \\*z\\* &amp;c"
        );
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(1024))]

        /// Whatever two texts say, the second one's reader sees no HTML, and where it begins.
        #[test]
        fn no_text_takes_hold_of_the_next(
            words in prop::collection::vec(prop_oneof![
                "[-#>*_`~|<!\\[\\]() \t]{0,6}[a-z]{0,4}",
                Just("\n".to_owned()), Just("\n\n".to_owned()), Just("```\n".to_owned()),
                Just("<div>".to_owned()), Just("<!--".to_owned()), Just("</p>".to_owned()),
                Just("[x]: y\n".to_owned()), Just("](javascript:x)".to_owned()),
                Just("<a:b>".to_owned()), Just("<?".to_owned()), Just("<![CDATA[".to_owned()),
                Just("1. ".to_owned()), Just("![a](https://b)".to_owned()),
            ], 0..16)
        ) {
            let written = prose(&words.concat());
            prop_assert!(is_contained(&written), "{written}");
            let speaks = |line: &&str| !line.is_empty() && !line.starts_with(['>', ' ']);
            prop_assert_eq!(written.lines().find(speaks), None);
            let line = plain(&words.concat());
            prop_assert!(is_contained(&format!("# {line}")), "{line}");
        }
    }
}
