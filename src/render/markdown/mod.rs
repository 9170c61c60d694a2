//! A conversation as Markdown: the same tree as a text that reads well, and better where it is
//! rendered.
//!
//! What is folded on a page stands in `<details>` here; that is all the HTML there is, and it is our
//! own. Text of messages passes the one door of `contain`. Deliberately absent: which messages
//! there are, and their numbers.

mod contain;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use serde_json::Value;

use crate::diff::Tag;
use crate::model::call::{self, BriefPiece, relative};
use crate::model::{Media, MediaSource, Part};
use crate::render::edit::{EditKind, Edits, FileEdit};
use crate::render::html::{is_address, is_raster};
use crate::render::outcome::ToolOutcome;
use crate::render::page::{ConversationPage, Stretch, apart, hidden_words, node_of, stretches};
use crate::render::plural;
use crate::tree::console::printed;
use crate::tree::cut::{more_lines, omitted_lines};
use crate::tree::group::{Section, sections};
use crate::tree::words::{word, words};
use crate::tree::{
    Mark, Node, NodeId, Notation, Response, ResponseBlock, State, Tool, TreeItem, TurnItem,
};
use contain::{code, fence, plain, prose};

/// What is written for thinking of which the client kept no text.
const EMPTY_THOUGHT: &str = "*thinking, empty*";
/// How much of a call stands on its line.
const LINE_CHARS: usize = 160;
/// What a tool gave back on so few lines is not folded.
const OUTPUT_LINES: usize = 3;

/// Writes these items as Markdown, one after the other.
///
/// # Errors
///
/// The output's.
pub fn write(
    page: &ConversationPage<'_>,
    items: &[TreeItem],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut sheet = Sheet {
        page,
        text: String::new(),
        last: None,
        inside: false,
    };
    sheet.head();
    for stretch in stretches(items, true) {
        sheet.stretch(&stretch);
        out.write_all(std::mem::take(&mut sheet.text).as_bytes())?;
    }
    out.write_all(sheet.text.as_bytes())
}

/// An object with one member.
fn one(key: &str, value: &Value) -> String {
    format!("{{{}:{value}}}", Value::from(key))
}

/// The letters of a key, which may stand in markup of our own.
fn letters(key: &str) -> String {
    let letters = key.chars().filter(|c| c.is_alphanumeric()).take(40);
    let letters: String = letters.collect();
    if letters.is_empty() {
        "arguments".to_owned()
    } else {
        letters
    }
}

struct Sheet<'a> {
    page: &'a ConversationPage<'a>,
    /// What is not written yet.
    text: String,
    /// The message whose number was written last.
    last: Option<usize>,
    /// Whether it is said already that all this is hidden.
    inside: bool,
}

impl Sheet<'_> {
    fn head(&mut self) {
        self.block(&format!("# {}", plain(self.page.title)));
        let facts: Vec<String> = self.page.facts.iter().map(|fact| plain(fact)).collect();
        if !facts.is_empty() {
            self.block(&facts.join(" · "));
        }
        if self.page.earlier > 0 {
            let earlier = plural(self.page.earlier as u64, "earlier message");
            self.block(&format!("↑ {earlier}"));
        }
    }

    /// Something, and an empty line.
    fn block(&mut self, text: &str) {
        if !text.is_empty() {
            self.text += text;
            self.text += "\n\n";
        }
    }

    /// What is folded; `words` are our own.
    fn folded(&mut self, words: &str, write: impl FnOnce(&mut Self)) {
        self.block(&format!("<details><summary>{words}</summary>"));
        write(self);
        self.block("</details>")
    }

    fn hidden(&mut self, words: &str, write: impl FnOnce(&mut Self)) {
        self.folded(words, |sheet| {
            sheet.inside = true;
            write(sheet);
            sheet.inside = false;
        });
    }

    fn items(&mut self, items: &[TreeItem]) {
        for stretch in stretches(items, !self.inside) {
            self.stretch(&stretch);
        }
    }

    fn stretch(&mut self, stretch: &Stretch<'_>) {
        match *stretch {
            Stretch::Seen(item) => self.item(item),
            Stretch::Hidden { by, items, mark } => {
                let count = self.page.hidden_by(by, items, mark);
                self.hidden(&hidden_words(by, count, mark.is_some()), |sheet| {
                    items.iter().for_each(|item| sheet.item(item));
                });
                if let Some(mark) = mark {
                    self.mark(mark);
                }
            }
        }
    }

    fn item(&mut self, item: &TreeItem) {
        match item {
            TreeItem::Turn(turn) => {
                if let Some(user) = &turn.user {
                    let who = match &user.from {
                        Some(from) => format!("received from {}", plain(from)),
                        None => "user".to_owned(),
                    };
                    self.heading(&user.node, &who);
                    self.parts(&user.parts);
                }
                turn.items.iter().for_each(|item| self.turn_item(item))
            }
            TreeItem::Mark(mark) => self.mark(mark),
            TreeItem::Note(note) => self.note(note),
            TreeItem::Fault(fault) => self.fault(&fault.text),
        }
    }

    fn turn_item(&mut self, item: &TurnItem) {
        match item {
            TurnItem::Response(response) => self.response(response),
            TurnItem::Note(note) => self.note(note),
            TurnItem::Interrupted(cancelled) if cancelled.stands => self.block("*interrupted*"),
            TurnItem::Interrupted(_) => {}
            TurnItem::Fault(fault) => self.fault(&fault.text),
        }
    }

    /// `## :12 user`.
    fn heading(&mut self, node: &Node, who: &str) {
        let number = self.number(node.id);
        let hidden = node.hidden.filter(|_| !self.inside);
        let hidden = hidden.map_or(String::new(), |by| format!(" (hidden: {by})"));
        self.block(&format!("## {number}{who}{hidden}"))
    }

    /// A message's number, where something of it is written for the first time.
    fn number(&mut self, id: NodeId) -> String {
        let message = (self.page.message_of)(id).filter(|message| self.last != Some(message.at));
        self.last = message.map(|message| message.at).or(self.last);
        let number = message.and_then(|message| message.number);
        number.map_or(String::new(), |number| format!(":{number} "))
    }

    fn mark(&mut self, mark: &Mark) {
        self.heading(&mark.node, mark.kind.as_str());
        self.parts(&mark.parts)
    }

    fn note(&mut self, note: &Notation) {
        let number = self.number(note.node.id);
        self.folded(&format!("{number}{}", note.who()), |sheet| {
            sheet.block(&fence("", &words(&note.parts)))
        })
    }

    fn fault(&mut self, text: &str) {
        self.block("**failure**");
        self.block(&fence("", text))
    }

    fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Image(media) | Part::File(media) => self.media(part, media),
                part => self.block(&prose(&word(part))),
            }
        }
    }

    fn media(&mut self, part: &Part, media: &Media) {
        let media_type = media.media_type.as_deref().unwrap_or_default();
        let name = plain(&word(part));
        match &media.source {
            MediaSource::Base64(data) if is_raster(media_type, data) => {
                self.block(&format!("![{name}](data:{media_type};base64,{data})"))
            }
            MediaSource::Url(address) if is_address(address) => {
                self.block(&prose(&format!("<{address}>")))
            }
            _ => self.block(&format!("*{name}*")),
        }
    }

    fn response(&mut self, response: &Response) {
        let sections = sections(&response.blocks);
        let Some(first) = sections.first() else {
            return;
        };
        let hidden = None;
        let node = node_of(first);
        self.heading(&Node { hidden, ..*node }, "assistant");
        for (by, sections) in apart(&sections, !self.inside) {
            let write = |sheet: &mut Self| {
                let sections = sections.iter();
                sections.for_each(|section| sheet.section(section))
            };
            match by {
                Some(by) => {
                    let count = self.page.hidden_in(by, sections);
                    self.hidden(&hidden_words(by, count, false), write);
                }
                None => write(self),
            }
        }
    }

    fn section(&mut self, section: &Section<'_>) {
        match section {
            Section::One(ResponseBlock::Text(text)) => {
                self.block(&prose(&text.text));
                self.cut(text.interrupted)
            }
            Section::One(ResponseBlock::Thinking(thought)) if thought.text.is_empty() => {
                self.block(EMPTY_THOUGHT)
            }
            Section::One(ResponseBlock::Thinking(thought)) => self.folded("thinking", |sheet| {
                sheet.block(&prose(&thought.text));
                sheet.cut(thought.interrupted)
            }),
            Section::One(ResponseBlock::Other(held)) => {
                self.parts(std::slice::from_ref(&held.part))
            }
            Section::One(ResponseBlock::Tool(tool)) => self.tool(tool),
            Section::Calls(tools) => tools.iter().for_each(|tool| self.tool(tool)),
        }
    }

    /// That something was not told to its end.
    fn cut(&mut self, interrupted: bool) {
        self.block(if interrupted { "*interrupted*" } else { "" })
    }

    fn tool(&mut self, tool: &Tool) {
        let edits = Edits::of_tool(tool);
        let mut brief = Edits::brief_of(tool, edits.as_ref()).from(self.page.directory);
        let is_reason = |piece: &BriefPiece| matches!(piece, BriefPiece::Reason(_));
        let (reasons, pieces) = brief.pieces.into_iter().partition(is_reason);
        brief.pieces = pieces;
        let reasons: Vec<BriefPiece> = reasons;
        let number = self.number(tool.node.id);
        let whole = brief.said(None);
        let said = brief.said(Some(LINE_CHARS));
        let mut head = format!("{number}**{}** {}", plain(&brief.name), code(&said));
        for reason in reasons {
            if let BriefPiece::Reason(reason) = reason {
                head = format!("{} ({})", head.trim_end(), plain(&reason));
            }
        }
        if let Some(edits) = &edits {
            let (added, removed) = edits.tally();
            head = format!("{} +{added} -{removed}", head.trim_end());
        }
        if tool.state != State::Success {
            head = format!("{} ({})", head.trim_end(), tool.state.as_str());
        }
        self.block(head.trim_end());
        if let Some(edits) = &edits {
            for file in &edits.files {
                self.file(file, edits.names_files());
            }
        } else if tool.is_call() {
            self.arguments(tool, brief.is_cut || said != whole);
        }
        if let Some(agent) = &tool.agent {
            self.folded("what the sub-agent did", |sheet| sheet.items(&agent.items));
        }
        if let Some((id, content)) = &tool.queued {
            self.output(*id, content);
        }
        match &tool.answer {
            Some((id, content)) => self.output(*id, content),
            None if tool.output.is_empty() => {}
            None => self.output(tool.node.id, &[Part::text(tool.output.clone())]),
        }
    }

    /// Arguments that say more than a line can: a command is a block of its own.
    fn arguments(&mut self, tool: &Tool, is_cut: bool) {
        let command = call::command(&tool.arguments).filter(|_| is_cut);
        if let Some(command) = &command {
            self.block(&fence("sh", command.trim_end()));
        }
        let Ok(Value::Object(arguments)) = serde_json::from_str(&tool.arguments) else {
            if is_cut {
                self.block(&fence("", &tool.arguments));
            }
            return;
        };
        for (key, value) in arguments {
            let text = match &value {
                Value::String(text) => text.clone(),
                value => serde_json::to_string_pretty(value).unwrap_or_default(),
            };
            let is_long = text.len() > LINE_CHARS || text.trim_end().contains('\n');
            let is_said = command.is_some() && call::command(&one(&key, &value)).is_some();
            if is_long && !is_said {
                let language = if value.is_string() { "" } else { "json" };
                let words = letters(&key);
                self.folded(&words, |sheet| sheet.block(&fence(language, &text)));
            }
        }
    }

    fn file(&mut self, file: &FileEdit, is_named: bool) {
        let path = file.path.as_deref().filter(|_| is_named);
        let path = path.map(|path| code(relative(path, self.page.directory)));
        let fate = match &file.kind {
            EditKind::Changed | EditKind::Written => String::new(),
            EditKind::Deleted => "deleted".to_owned(),
            EditKind::Moved(to) => format!("→ {}", code(to)),
        };
        let head = format!("{} {fate}", path.unwrap_or_default());
        self.block(head.trim());
        let mut text = String::new();
        for (place, hunk) in file.placed() {
            text.extend(place.map(|place| place + "\n"));
            for line in &hunk.lines {
                text.push(match line.tag {
                    Tag::Equal => ' ',
                    Tag::Removed => '-',
                    Tag::Added => '+',
                });
                text = text + &line.text() + "\n";
            }
        }
        if !text.is_empty() {
            self.block(&fence("diff", &text));
        }
    }

    fn output(&mut self, id: NodeId, content: &[Part]) {
        let number = self.number(id);
        let is_text = |part: &&Part| !matches!(part, Part::Image(_) | Part::File(_));
        let texts: Vec<String> = content.iter().filter(is_text).map(word).collect();
        let text = texts.join("\n");
        let text = printed(&text);
        let outcome = ToolOutcome::of(&text);
        let text = outcome.text.trim_end();
        let more = omitted_lines(content).map(more_lines);
        match text.lines().count() {
            0 if content.iter().all(|part| is_text(&part)) => {
                self.block(&format!("{number}(nothing)"));
            }
            0 => {}
            1..=OUTPUT_LINES => {
                self.block(number.trim_end());
                self.block(&fence("", text));
            }
            count => {
                let words = format!("{number}output, {count} lines");
                self.folded(&words, |sheet| sheet.block(&fence("", text)));
            }
        }
        if !outcome.facts.is_empty() {
            self.block(&format!("*{}*", plain(&outcome.facts())));
        }
        if let Some(aside) = outcome.aside {
            self.folded("what the client put behind it", |sheet| {
                sheet.block(&fence("", aside))
            });
        }
        self.block(&more.unwrap_or_default());
        let media = content.iter().filter(|part| !is_text(part));
        media.cloned().for_each(|part| self.parts(&[part]))
    }
}
