//! What was done, newest first: the log of operations as a page, with the way back where that is open.
//!
//! Deliberately absent: which operations there are, their words, and whether anything may be changed.

use super::document::PageFrame;
use super::form::{self, PageForm};
use super::markup::Markup;
use super::words;
use crate::render::{Line, grouped};

/// The log of operations that is to be a page.
pub struct OperationsPage<'a> {
    /// The operations, newest first.
    pub operations: &'a [OperationLine],
    /// Where the rest of them is read, if there are more.
    pub more: Option<&'a str>,
    /// What can be done to all of them: none where nothing can be changed here.
    pub forms: &'a [PageForm],
}

/// An operation, in words.
pub struct OperationLine {
    /// Its number.
    pub id: u64,
    /// When, as people read it; and exactly, as machines do.
    pub time: [String; 2],
    /// What it was. Hostile until escaped.
    pub what: String,
    /// Who did it, where a commit of it says so. Hostile until escaped.
    pub who: Option<String>,
    /// Whether it is undone now.
    pub undone: bool,
    /// What it moved.
    pub moved: Vec<MovedLine>,
    /// What goes back to it, where that can be done here.
    pub form: Option<PageForm>,
}

/// A ref that an operation moved.
pub struct MovedLine {
    /// In the words of `tract reflog`.
    pub words: Line,
    /// Where what it held before and what it holds since are compared.
    pub compare: Option<String>,
}

/// The page of the log.
pub fn operations(frame: &PageFrame<'_>, page: &OperationsPage<'_>) -> String {
    let mut markup = Markup::default();
    frame.begin("What was done", &mut markup);
    markup
        .raw("<header>\n")
        .element("h1", "title", "What was done");
    markup.raw("</header>\n<main>\n");
    write(page, &mut markup);
    markup.raw("</main>\n");
    frame.end(&mut markup);
    markup.take()
}

fn write(page: &OperationsPage<'_>, markup: &mut Markup) {
    markup.raw("<section class=\"operations\">\n");
    if !page.forms.is_empty() {
        markup.raw("<div class=\"actions\">");
        page.forms.iter().for_each(|one| form::write(markup, one));
        markup.raw("</div>\n");
    }
    if page.operations.is_empty() {
        let nothing = "No command has changed anything here yet.";
        markup.element("p", "earlier", nothing).raw("\n");
    }
    markup.raw("<ol class=\"log\" reversed>\n");
    for operation in page.operations {
        line(operation, markup);
    }
    markup.raw("</ol>\n");
    if let Some(more) = page.more {
        markup
            .raw("<p class=\"earlier\">")
            .open("a", &[("href", Some(more))]);
        markup.raw("Older ones</a></p>\n");
    }
    markup.raw("</section>\n");
}

fn line(operation: &OperationLine, markup: &mut Markup) {
    let id = format!("op{}", operation.id);
    let class = operation.undone.then_some("undone");
    markup.open("li", &[("id", Some(&id)), ("class", class)]);
    let number = format!("#{}", grouped(operation.id));
    markup.element("code", "w-hash", &number).raw(" ");
    let [said, exact] = &operation.time;
    markup.open("time", &[("datetime", Some(exact)), ("title", Some(exact))]);
    markup.text(said).raw("</time> ");
    markup.element("b", "what", &operation.what);
    if operation.undone {
        markup.raw(" <span class=\"badge\">undone</span>");
    }
    if let Some(who) = &operation.who {
        markup
            .raw(" ")
            .element("span", "away", &format!("by {who}"));
    }
    if !operation.moved.is_empty() {
        markup.raw("\n<ul class=\"moved\">");
        for moved in &operation.moved {
            markup.raw("<li>");
            words::inside(markup, &moved.words);
            if let Some(compare) = &moved.compare {
                markup.raw(" ").open("a", &[("href", Some(compare))]);
                markup.raw("what changed</a>");
            }
            markup.raw("</li>");
        }
        markup.raw("</ul>\n");
    }
    if let Some(back) = &operation.form {
        form::write(markup, back);
    }
    markup.raw("</li>\n");
}
