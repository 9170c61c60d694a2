//! The list of all conversations.

use super::document::Frame;
use super::markup::Markup;

/// A conversation in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedSession {
    /// Its page, seen from the first one.
    pub address: String,
    /// Its title, or how its first prompt begins. Hostile until escaped.
    pub title: String,
}

/// The page of these conversations, in their order.
pub fn session_list(frame: &Frame<'_>, sessions: &[ListedSession]) -> String {
    let mut markup = Markup::default();
    frame.begin("Sessions", &mut markup);
    markup.raw("<header>\n").element("h1", "title", "Sessions");
    markup.raw("</header>\n<main>\n<ul class=\"sessions\">\n");
    for session in sessions {
        let address = frame.address(&session.address);
        markup.raw("<li>");
        markup.open("a", &[("href", Some(address.as_str()))]);
        markup.text(&session.title).close("a").raw("</li>\n");
    }
    markup.raw("</ul>\n</main>\n");
    frame.end(&mut markup);
    markup.take()
}
