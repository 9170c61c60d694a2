//! A page that says one thing: what went wrong, and what to do about it.

use super::document::PageFrame;
use super::markup::Markup;

/// The page that says so. Both texts are hostile until escaped.
pub fn notice(frame: &PageFrame<'_>, title: &str, what: &str, hint: Option<&str>) -> String {
    let mut markup = Markup::default();
    frame.begin(title, &mut markup);
    markup.raw("<header>\n").element("h1", "title", title);
    markup.raw("</header>\n<main>\n");
    markup.element("p", "fault", what).raw("\n");
    if let Some(hint) = hint {
        markup.element("p", "hint", hint).raw("\n");
    }
    markup.raw("</main>\n");
    frame.end(&mut markup);
    markup.take()
}
