//! What is said and done, as parts of a page.

use std::collections::HashSet;

use super::markup::{Markup, is_address, is_raster};
use super::prose;
use crate::model::{Media, MediaSource, Part, own_words};
use crate::render::chat::first_line;
use crate::render::page::{
    ConversationPage, Stretch, apart, hidden_words, node_of, number_name, stretches,
};
use crate::tree::group::{GroupState, Section, sections};
use crate::tree::words::{word, words};
use crate::tree::{
    Node, NodeId, Notation, Response, ResponseBlock, TreeItem, Turn, TurnItem, User,
};

/// How many bytes of a text stand beside what can be opened.
pub(super) const PEEK_BYTES: usize = 200;

/// Parts of a page in the making.
pub(super) struct Blocks<'a> {
    pub(super) page: &'a ConversationPage<'a>,
    pub(super) markup: Markup,
    /// The messages that have a name.
    named: HashSet<usize>,
    /// What hides the messages around.
    pub(super) inside: Option<&'static str>,
    /// What the user said: where, its beginning, and whether it is hidden.
    pub(super) prompts: Vec<(String, String, bool)>,
    /// Whether what stands for hidden messages is open.
    pub(super) opens_marks: bool,
    /// Whether a user has spoken.
    is_begun: bool,
    /// How deep in sub-agents.
    pub(super) depth: usize,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(page: &'a ConversationPage<'a>) -> Self {
        Self {
            page,
            markup: Markup::default(),
            named: HashSet::new(),
            inside: None,
            prompts: Vec::new(),
            opens_marks: false,
            is_begun: false,
            depth: 0,
        }
    }

    /// The items of a tree; neighbours that the same thing hides are closed as one, and a marker
    /// stands with what it hides.
    pub(super) fn items(&mut self, items: &[TreeItem]) {
        for stretch in stretches(items, self.inside.is_none()) {
            match stretch {
                Stretch::Seen(item) => self.item(item),
                Stretch::Hidden { by, items, mark } => {
                    self.markup.open("section", &[("class", Some("cut"))]);
                    let count = self.page.hidden_by(by, items, mark);
                    let (first, items) = self.first_prompt(items);
                    self.hidden(&hidden_words(by, count, mark.is_some()), by, |blocks| {
                        if let Some(turn) = first {
                            blocks.markup.raw("<article class=\"turn\">\n");
                            blocks.turn_items(&turn.items);
                            blocks.markup.raw("</article>\n");
                        }
                        items.iter().for_each(|item| blocks.item(item));
                    });
                    if let Some(mark) = mark {
                        self.mark(mark);
                    }
                    self.markup.raw("</section>\n");
                }
            }
        }
    }

    /// What it is all about stays open, whatever hides it: writes the first prompt, if it is among these items, and what
    /// stands before it. Gives the turn that it begins, and what stands behind that.
    fn first_prompt<'t>(&mut self, items: &'t [TreeItem]) -> (Option<&'t Turn>, &'t [TreeItem]) {
        if self.is_begun || self.depth > 0 || self.page.first > 0 {
            return (None, items);
        }
        let asks = |item: &TreeItem| matches!(item, TreeItem::Turn(turn) if turn.user.is_some());
        let at = items.iter().position(asks);
        let Some((at, TreeItem::Turn(turn))) = at.map(|at| (at, &items[at])) else {
            return (None, items);
        };
        let is_near = items[..at]
            .iter()
            .all(|item| matches!(item, TreeItem::Note(_)));
        let Some(user) = turn.user.as_ref().filter(|_| is_near) else {
            return (None, items);
        };
        items[..at].iter().for_each(|item| self.item(item));
        self.markup.raw("<article class=\"turn\">\n");
        self.user(user);
        self.markup.raw("</article>\n");
        (Some(turn), &items[at + 1..])
    }

    /// What something hides, closed.
    fn hidden(&mut self, words: &str, by: &'static str, write: impl FnOnce(&mut Self)) {
        self.markup
            .raw("<details class=\"hidden\"><summary>")
            .text(words)
            .raw("</summary>\n");
        self.inside = Some(by);
        write(self);
        self.inside = None;
        self.markup.raw("</details>\n");
    }

    pub(super) fn item(&mut self, item: &TreeItem) {
        match item {
            TreeItem::Turn(turn) => {
                self.markup.raw("<article class=\"turn\">\n");
                if let Some(user) = &turn.user {
                    self.user(user);
                }
                self.turn_items(&turn.items);
                self.markup.raw("</article>\n");
            }
            TreeItem::Mark(mark) => self.mark(mark),
            TreeItem::Note(note) => self.note(note),
            TreeItem::Fault(fault) => self.fault(&fault.node, &fault.text),
        }
    }

    fn turn_items(&mut self, items: &[TurnItem]) {
        for item in items {
            match item {
                TurnItem::Response(response) => self.response(response),
                TurnItem::Note(note) => self.note(note),
                TurnItem::Interrupted(cancelled) if cancelled.stands => {
                    self.begin("div", "b stop", &cancelled.node);
                    self.markup.raw("interrupted</div>\n");
                }
                TurnItem::Interrupted(_) => {}
                TurnItem::Fault(fault) => self.fault(&fault.node, &fault.text),
            }
        }
    }

    fn user(&mut self, user: &User) {
        self.is_begun = true;
        let said = words(&user.parts);
        if self.depth == 0 {
            let anchor = self.anchor(user.node.id);
            let is_hidden = user.node.hidden.is_some();
            self.prompts
                .push((anchor, peek(&own_words(&said)).to_owned(), is_hidden));
        }
        self.begin("section", "b user", &user.node);
        self.markup.raw("<h2>");
        match &user.from {
            Some(from) => self.markup.raw("received from ").text(from),
            None => self.markup.raw("user"),
        };
        self.badge(&user.node);
        self.told(user.node.id, false);
        self.markup.raw("</h2>\n");
        for part in &user.parts {
            match part {
                Part::Text { text } => self.prose(text),
                part => self.parts(std::slice::from_ref(part)),
            }
        }
        self.markup.raw("</section>\n");
    }

    /// What Markdown says.
    pub(super) fn prose(&mut self, text: &str) {
        self.markup.raw("<div class=\"prose\">\n");
        prose::write(&mut self.markup, text);
        self.markup.raw("</div>\n");
    }

    /// When a message was said, and what else is known of it; of a reply also what was sent for it.
    fn told(&mut self, id: NodeId, is_reply: bool) {
        let page = self.page;
        let message = (page.message_of)(id);
        let Some(message) = message.and_then(|message| page.message(message.at)) else {
            return;
        };
        let request = message.request.as_ref().filter(|_| is_reply);
        if message.time.is_none() && message.facts.is_empty() && request.is_none() {
            return;
        }
        self.markup.raw(" <span class=\"told\">");
        for fact in &message.facts {
            self.markup.element("span", "fact", fact).raw(" ");
        }
        if let Some(address) = request {
            let attributes = [("class", Some("sent")), ("href", Some(address.as_str()))];
            self.markup.open("a", &attributes).raw("request</a> ");
        }
        if let Some(time) = &message.time {
            self.markup
                .open("time", &[("datetime", Some(&time.machine))])
                .text(&time.shown)
                .raw("</time>");
        }
        self.markup.raw("</span>");
    }

    /// Parts as they were written.
    pub(super) fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Image(media) | Part::File(media) => self.media(part, media),
                part => {
                    let text = word(part);
                    self.markup
                        .element("div", "plain", text.trim_end_matches('\n'))
                        .raw("\n");
                }
            }
        }
    }

    pub(super) fn media(&mut self, part: &Part, media: &Media) {
        let media_type = media.media_type.as_deref().unwrap_or_default();
        let name = word(part);
        match &media.source {
            MediaSource::Base64(data) if is_raster(media_type, data) => {
                // Both are held to what a raster picture's may be.
                let source = format!("data:{media_type};base64,{data}");
                let attributes = [
                    ("src", Some(source.as_str())),
                    ("alt", Some(name.as_str())),
                    ("loading", Some("lazy")),
                ];
                self.markup.open("img", &attributes).raw("\n");
            }
            MediaSource::Url(address) if is_address(address) => {
                let markup = self.markup.raw("<p>").link(address);
                markup.text(&name).raw("</a></p>\n");
            }
            _ => {
                self.markup.element("p", "away", &name);
            }
        }
    }

    fn note(&mut self, note: &Notation) {
        let said = words(&note.parts);
        self.fold("fold of-note", "b note", &note.node, false);
        self.markup.raw("<b>").text(note.who()).raw("</b> ");
        self.markup.element("span", "peek", peek(&said));
        self.badge(&note.node);
        self.markup.raw("</summary>\n");
        self.parts(&note.parts);
        self.end_fold();
    }

    fn fault(&mut self, node: &Node, text: &str) {
        self.begin("div", "b fault", node);
        self.markup.element("div", "plain", text).raw("</div>\n");
    }

    fn response(&mut self, response: &Response) {
        let sections = sections(&response.blocks);
        if sections.is_empty() {
            return;
        }
        self.markup
            .raw("<section class=\"response\">\n<h2>assistant");
        self.told(node_of(&sections[0]).id, true);
        self.markup.raw("</h2>\n");
        for (by, sections) in apart(&sections, self.inside.is_none()) {
            let write = |blocks: &mut Self| {
                sections.iter().for_each(|section| blocks.section(section));
            };
            match by {
                Some(by) => self.hidden(
                    &hidden_words(by, self.page.hidden_in(by, sections), false),
                    by,
                    write,
                ),
                None => write(self),
            }
        }
        self.markup.raw("</section>\n");
    }

    fn section(&mut self, section: &Section<'_>) {
        match section {
            Section::One(block) => self.block(block),
            Section::Calls(tools) => {
                let state = GroupState::of(tools.iter().copied()).as_str();
                let group = format!("group is-{state}");
                self.markup
                    .open("div", &[("class", Some(&group))])
                    .raw("<h3>");
                self.markup
                    .number(tools.len() as u64)
                    .raw(" calls, ")
                    .raw(state)
                    .raw("</h3>\n");
                tools.iter().for_each(|tool| self.tool(tool));
                self.markup.raw("</div>\n");
            }
        }
    }

    fn block(&mut self, block: &ResponseBlock) {
        let node = block.node();
        match block {
            ResponseBlock::Text(text) => {
                self.begin("div", "b text", node);
                self.badge(node);
                self.prose(&text.text);
                self.cut(text.interrupted);
                self.markup.raw("</div>\n");
            }
            ResponseBlock::Thinking(thought) if thought.text.is_empty() => {
                self.begin("div", "b thinking", node);
                self.markup.raw("<b>thinking</b> ");
                self.markup.element("span", "peek", "(empty)");
                self.badge(node);
                self.markup.raw("</div>\n");
            }
            ResponseBlock::Thinking(thought) => {
                self.fold("fold of-thinking", "b thinking", node, false);
                self.markup.raw("<b>thinking</b> ");
                self.markup.element("span", "peek", peek(&thought.text));
                self.badge(node);
                self.markup.raw("</summary>\n");
                self.markup.element("div", "plain", &thought.text);
                self.cut(thought.interrupted);
                self.end_fold();
            }
            ResponseBlock::Tool(tool) => self.tool(tool),
            ResponseBlock::Other(held) => {
                self.begin("div", "b other", node);
                self.parts(std::slice::from_ref(&held.part));
                self.markup.raw("</div>\n");
            }
        }
    }

    /// That something was not told to its end.
    fn cut(&mut self, interrupted: bool) {
        if interrupted {
            self.markup.raw("<p class=\"stop\">interrupted</p>");
        }
    }

    /// What hides a node, unless that is said of all around it.
    pub(super) fn badge(&mut self, node: &Node) {
        if let Some(by) = node.hidden.filter(|_| self.inside.is_none()) {
            self.markup
                .raw(" <span class=\"badge\">hidden: ")
                .text(by)
                .raw("</span>");
        }
    }

    /// An element that a message may begin with, and its number if it does.
    pub(super) fn begin(&mut self, tag: &'static str, class: &'static str, node: &Node) {
        let anchor = self.name(node.id);
        let attributes = [("class", Some(class)), ("id", anchor.as_deref())];
        self.markup.open(tag, &attributes);
        self.number(node.id, anchor.is_some());
    }

    /// Something that can be opened and that a message may begin with, up to what is seen of it closed. The message's
    /// number stands beside it: what opens something holds nothing else that can be chosen.
    pub(super) fn fold(&mut self, around: &'static str, class: &str, node: &Node, is_open: bool) {
        let anchor = self.name(node.id);
        self.markup.open("div", &[("class", Some(around))]);
        self.number(node.id, anchor.is_some());
        let attributes = [
            ("class", Some(class)),
            ("id", anchor.as_deref()),
            ("open", is_open.then_some("")),
        ];
        self.markup.open("details", &attributes).raw("<summary>");
    }

    /// The end of such.
    pub(super) fn end_fold(&mut self) {
        self.markup.raw("</details></div>\n");
    }

    /// A message's number, as a link to it.
    pub(super) fn number(&mut self, id: NodeId, is_first: bool) {
        if !is_first {
            return;
        }
        let link = format!("#{}", self.anchor(id));
        let message = (self.page.message_of)(id);
        // Its number is a name, too: as it is now, where the other one stays.
        let alias = message.map(number_name);
        let alias = alias.filter(|alias| link[1..] != **alias);
        let number = message.and_then(|message| message.number);
        self.markup.open(
            "a",
            &[
                ("class", Some("no")),
                ("id", alias.as_deref()),
                ("href", Some(&link)),
            ],
        );
        match number {
            Some(number) => self.markup.raw(":").number(number as u64),
            None => self.markup.raw("#"),
        };
        self.markup.raw("</a>");
        let known = message.and_then(|message| self.page.message(message.at));
        if let Some(act) = known.and_then(|known| known.act.as_deref()) {
            let name = number.map_or_else(|| "this message".to_owned(), |it| format!(":{it}"));
            let label = format!("act on {name}");
            let attributes = [
                ("class", Some("act")),
                ("href", Some(act)),
                ("aria-label", Some(label.as_str())),
            ];
            self.markup.open("a", &attributes).raw("⋯</a>");
        }
    }

    /// The name of a node's message, if nothing of it was written yet.
    pub(super) fn name(&mut self, id: NodeId) -> Option<String> {
        let message = (self.page.message_of)(id);
        let is_first = message.is_none_or(|message| self.named.insert(message.at));
        is_first.then(|| self.anchor(id))
    }

    fn anchor(&self, id: NodeId) -> String {
        match (self.page.message_of)(id) {
            Some(message) => self.page.name(message),
            None => format!("n{}", id.0),
        }
    }
}

/// The beginning of a text, on one line.
pub(super) fn peek(text: &str) -> &str {
    head(first_line(text), PEEK_BYTES)
}

pub(super) fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
