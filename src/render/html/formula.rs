//! A formula of LaTeX as MathML, which browsers draw.
//!
//! The library that reads it does not escape every text, so no sign of markup goes in, and what comes out is held to the elements
//! that it writes.

use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::mathml::push_mathml;
use pulldown_latex::{Event, Parser, ParserError, Storage};

use crate::render::escape;

/// The elements of MathML that may come.
const ELEMENTS: [&str; 21] = [
    "math",
    "mi",
    "mn",
    "mo",
    "ms",
    "mtext",
    "mspace",
    "mrow",
    "mfrac",
    "msqrt",
    "mroot",
    "msub",
    "msup",
    "msubsup",
    "munder",
    "mover",
    "munderover",
    "mmultiscripts",
    "mtable",
    "mtr",
    "mtd",
];

/// What a browser may draw as it stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MathMl(String);

impl MathMl {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The formula as MathML, if it is one: what stands between signs of dollars may be names of a shell's variables.
pub(super) fn mathml(text: &str, is_display: bool) -> Option<MathMl> {
    if !is_formula(text) || text.contains('"') || escape::block(text) != text {
        return None;
    }
    let safe = text.replace('<', r"\lt ").replace('>', r"\gt ");
    let storage = Storage::new();
    let events: Result<Vec<Event<'_>>, _> = Parser::new(&safe, &storage).collect();
    let events = events.ok()?.into_iter().map(Ok::<_, ParserError>);
    let config = RenderConfig {
        display_mode: match is_display {
            true => DisplayMode::Block,
            false => DisplayMode::Inline,
        },
        ..RenderConfig::default()
    };
    let mut written = String::new();
    push_mathml(&mut written, events, config).ok()?;
    let written = written.replace("<mo><</mo>", "<mo>&lt;</mo>");
    let tags = written.split('<').skip(1);
    let mut names = tags.map(|tag| tag.trim_start_matches('/').split([' ', '>', '/']).next());
    let is_known = |name: Option<&str>| name.is_some_and(|name| ELEMENTS.contains(&name));
    // Within a text, those two are no signs.
    let is_read = !written.contains(r"\lt") && !written.contains(r"\gt");
    (is_read && names.all(is_known) && !written.contains(" style=")).then_some(MathMl(written))
}

/// Whether a command, a power or an index stands in it.
fn is_formula(text: &str) -> bool {
    let mut pairs = text.chars().zip(text.chars().skip(1));
    pairs.any(|(sign, next)| match sign {
        '\\' => next.is_ascii_alphabetic(),
        '^' | '_' => next.is_ascii_alphanumeric() || next == '{',
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_drawn_and_a_name_is_none() {
        let drawn = |text: &str, is_display| mathml(text, is_display).map(|drawn| drawn.0);
        let block = drawn("E = mc^2", true).expect("a formula");
        let inline = drawn(r"\frac{a}{b} < \sqrt{x_1}", false).expect("a formula");
        assert!(
            inline.contains("<mfrac>") && inline.contains("<mo>&lt;</mo><msqrt>"),
            "{inline}"
        );
        assert!(inline.starts_with("<math display=\"inline\">"), "{inline}");
        assert!(block.contains("display=\"block\""), "{block}");
        for none in [
            "HOME/bin:",
            "{PATH} or {HOME}",
            " and ",
            "5 or ",
            r"\unknown x",
            r"\frac{a}",
            r"\text{a < b} x^2",
        ] {
            assert_eq!(drawn(none, false), None, "{none}");
        }
    }

    #[test]
    fn nothing_in_a_formula_is_markup() {
        for hostile in [
            r"\text{<script>alert(1)</script>}",
            r"\text{</math><img src=x onerror=alert(1)>}",
            r"\operatorname{<b>}^2",
            r#"\color{red"onclick=alert(1)} x"#,
            r"\text{&lt;script&gt;} x^2",
            "x^2\u{202e}y",
            "x^2\u{feff}y",
        ] {
            let drawn = mathml(hostile, false).map_or(String::new(), |drawn| drawn.0);
            for never in ["<script", "<img", "<b>", "onclick", "\u{202e}", "\u{feff}"] {
                assert!(!drawn.contains(never), "{hostile}: {drawn}");
            }
        }
    }
}
