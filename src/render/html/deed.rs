//! A deed and its words: what a command would do, what it did, or why it did not; and the buttons that follow.

use super::document::PageFrame;
use super::form::{self, PageForm};
use super::markup::Markup;
use super::words;
use crate::render::Line;

/// A deed that is to be a page.
#[derive(Clone, Debug, Default)]
pub struct DeedPage {
    /// What it is called.
    pub title: String,
    /// What it is about, in a few words: the conversation, the message. Hostile until escaped.
    pub about: Vec<String>,
    /// How it stands.
    pub standing: Standing,
    /// The command's own words.
    pub words: Vec<Line>,
    /// What can be done now, one group of forms below the other, each with its heading.
    pub forms: Vec<(&'static str, Vec<PageForm>)>,
    /// Where else one may go, and what it is called.
    pub links: Vec<(String, String)>,
}

/// How a deed stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is done; it is to be chosen.
    #[default]
    Open,
    /// Nothing is done; this is what would be.
    Foretold,
    /// It is done.
    Done,
    /// It was not done.
    Refused,
}

/// The page of a deed.
pub fn deed(frame: &PageFrame<'_>, page: &DeedPage) -> String {
    let mut markup = Markup::default();
    frame.begin(&page.title, &mut markup);
    markup.raw("<header>\n").element("h1", "title", &page.title);
    if !page.about.is_empty() {
        markup.raw("\n<ul class=\"facts\">");
        for about in &page.about {
            markup.raw("<li>").text(about).raw("</li>");
        }
        markup.raw("</ul>\n");
    }
    markup.raw("</header>\n<main>\n");
    let (class, said) = match page.standing {
        Standing::Open => ("deed", None),
        Standing::Foretold => (
            "deed is-foretold",
            Some("Nothing is changed yet. This would happen:"),
        ),
        Standing::Done => ("deed is-done", Some("Done.")),
        Standing::Refused => ("deed is-refused", Some("Nothing was changed.")),
    };
    markup.open("section", &[("class", Some(class))]);
    if let Some(said) = said {
        markup
            .raw("<p class=\"sum\" role=\"status\">")
            .raw(said)
            .raw("</p>\n");
    }
    if !page.words.is_empty() {
        words::write(&mut markup, &page.words);
    }
    for (heading, forms) in &page.forms {
        if !heading.is_empty() {
            markup.raw("<h2>").raw(heading).raw("</h2>\n");
        }
        markup.raw("<div class=\"actions\">");
        forms.iter().for_each(|one| form::write(&mut markup, one));
        markup.raw("</div>\n");
    }
    if !page.links.is_empty() {
        markup.raw("<p class=\"views\">");
        for (address, word) in &page.links {
            markup.open("a", &[("href", Some(address))]);
            markup.text(word).raw("</a> ");
        }
        markup.raw("</p>\n");
    }
    markup.raw("</section>\n</main>\n");
    frame.end(&mut markup);
    markup.take()
}
