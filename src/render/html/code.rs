//! Code as a part of a page: each piece by what it is in its language.

use super::markup::Markup;
use crate::render::Label;
use crate::render::code::{self, Language};

/// Writes code, in colours where its language has any.
pub(super) fn write(markup: &mut Markup, text: &str, language: Option<&Language>) {
    let Some(language) = language else {
        markup.text(text);
        return;
    };
    let spans = code::spans(text, language);
    for (piece, label) in code::pieces(text, &spans) {
        match label {
            Label::Code(syntax) => markup.element("i", syntax.as_str(), piece),
            _ => markup.text(piece),
        };
    }
}
