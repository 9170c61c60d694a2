//! Lines as a terminal shows them, on a page: the same words, and a class for each label.

use super::markup::Markup;
use crate::render::{Label, Line};

/// Writes these lines, one below the other, as they stand in a terminal.
pub(super) fn write(markup: &mut Markup, lines: &[Line]) {
    markup.pre(&[("class", Some("words"))]);
    for line in lines {
        inside(markup, line);
        markup.raw("\n");
    }
    markup.raw("</pre>\n");
}

/// Writes a line into a sentence of a page.
pub(super) fn inside(markup: &mut Markup, line: &Line) {
    for run in line.runs() {
        match class(run.label) {
            Some(class) => markup.element("span", class, run.text()),
            None => markup.text(run.text()),
        };
    }
}

/// How a label is called in the style sheet; none where it looks like any text.
fn class(label: Label) -> Option<&'static str> {
    Some(match label {
        Label::Text | Label::Tokens | Label::Unchanged | Label::Code(_) => return None,
        Label::Hash => "w-hash",
        Label::Time | Label::Dim => "w-dim",
        Label::System | Label::Session => "w-session",
        Label::User | Label::Added | Label::AddedWord => "w-added",
        Label::Restore | Label::Good | Label::Branch => "w-good",
        Label::Assistant | Label::Tool | Label::Hint | Label::Head => "w-accent",
        Label::Hide | Label::Warning => "w-warn",
        Label::Removed | Label::RemovedWord => "w-removed",
        Label::Error | Label::Match => "w-bad",
        Label::Command | Label::Strong => "w-strong",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_class_and_a_text_is_no_markup() {
        let mut markup = Markup::default();
        let line = Line::from("at ") + Label::Hash.of("<b>1</b>") + Label::Tokens.of(" 12");
        write(&mut markup, &[line]);
        let shown = "at <span class=\"w-hash\">&lt;b&gt;1&lt;/b&gt;</span> 12\n";
        let whole = format!("<pre class=\"words\" tabindex=\"0\">{shown}</pre>\n");
        assert_eq!(markup.take(), whole);
    }
}
