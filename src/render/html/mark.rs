//! What stands in place of hidden messages, as a part of a page, and what it says no more.

use super::block::{Blocks, PEEK_BYTES, peek};
use super::prose;
use crate::model::HideKind;
use crate::tree::Mark;
use crate::tree::words::words;

impl Blocks<'_> {
    /// What stands in place of hidden messages, whole.
    pub(super) fn mark(&mut self, mark: &Mark) {
        let said = words(&mark.parts);
        self.begin("section", "b mark", &mark.node);
        self.markup.raw("<h2>").text(mark.kind.as_str());
        self.badge(&mark.node);
        self.markup.raw("</h2>\n");
        let is_long = said.len() > PEEK_BYTES || said.trim().contains('\n');
        if is_long {
            let open = self.opens_marks.then_some("");
            self.markup
                .open("details", &[("open", open)])
                .raw("<summary>");
            self.markup.element("span", "peek", peek(&said));
            self.markup.raw("</summary>\n");
        }
        self.markup.raw("<div class=\"prose\">\n");
        match mark.kind {
            HideKind::Compaction => prose::write(&mut self.markup, &said),
            _ => {
                self.markup.raw("<p>").text(&said).raw("</p>\n");
            }
        }
        self.markup.raw("</div>\n");
        self.markup.raw(if is_long { "</details>" } else { "" });
        self.lost(mark);
        self.markup.raw("</section>\n");
    }

    /// What was hidden and is said nowhere any more, closed.
    fn lost(&mut self, mark: &Mark) {
        let page = self.page;
        let at = (page.message_of)(mark.node.id).map(|message| message.at);
        let lost = page.lost.iter().find(|lost| Some(lost.message.at) == at);
        if let Some(address) = lost.and_then(|lost| lost.address.as_deref()) {
            self.markup
                .raw("<p class=\"beside\">")
                .open("a", &[("href", Some(address))])
                .raw("beside what it hid</a></p>\n");
        }
        let Some(lost) = lost.filter(|lost| lost.count > 0) else {
            return;
        };
        self.markup
            .raw("<details class=\"lost\"><summary>Not said any more: ")
            .number(lost.count as u64)
            .raw("</summary>\n<ul>\n");
        for fact in &lost.facts {
            self.markup.raw("<li>").element("b", "class", fact.class);
            let link = fact.message;
            let link = link.map(|message| page.link(message));
            let link = link.or_else(|| fact.address.clone());
            match &link {
                Some(link) => self.markup.open("a", &[("href", Some(link))]),
                None => self.markup.raw("<span>"),
            };
            self.markup.text(fact.text.trim());
            self.markup.raw(match &link {
                Some(_) => "</a>",
                None => "</span>",
            });
            if let Some(outcome) = &fact.outcome {
                self.markup.raw(" ").element("i", "outcome", outcome);
            }
            self.markup.raw("</li>\n");
        }
        let more = lost.count - lost.facts.len();
        if more > 0 {
            self.markup
                .raw("<li>and ")
                .number(more as u64)
                .raw(" more</li>\n");
        }
        self.markup.raw("</ul></details>\n");
    }
}
