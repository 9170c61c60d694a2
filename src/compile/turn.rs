//! What stands between two replies in Anthropic's form: results first, then what the user said, and
//! what a client attached to it, in the form that the model takes.
//!
//! # Source
//!
//! Observed: the requests of Claude Code 2.1.197 beside its sessions.

use crate::compile::repair::Answer;
use crate::model::{Part, Settings};
use crate::wire::anthropic::{
    Block, Place, block, content, result_blocks, text_block, tool_result,
};
use crate::wire::attached::tagged;
use crate::wire::json::{array, quoted};
use crate::wire::{INTERRUPTED, Repair, Repairs};

/// The text of a failed tool that said nothing.
const SILENT_FAILURE: &str = "[the tool failed without output]";

/// Models that take system messages in mid-conversation.
const TAKE_SYSTEM: [&str; 1] = ["claude-opus-4-8"];

/// How attachments are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// In a system message after the user's.
    System,
    /// In the user's message, within tags.
    User,
}

impl Form {
    /// That of the model in the settings.
    pub(super) fn of(settings: &Settings) -> Self {
        let model = settings.get("model").map_or("", String::as_str);
        let model = model.trim_start_matches('"');
        if TAKE_SYSTEM.iter().any(|known| model.starts_with(known)) {
            Self::System
        } else {
            Self::User
        }
    }
}

/// Whether the model in the settings takes system messages in mid-conversation.
pub fn takes_system_messages(settings: &Settings) -> bool {
    Form::of(settings) == Form::System
}

/// Whose message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    User,
    Assistant,
    System,
}

/// A content block and the number of the message that it comes from.
pub(super) struct Numbered<'a> {
    pub(super) number: usize,
    pub(super) block: Block<'a>,
}

/// What stands between two replies, as it is gathered.
#[derive(Default)]
pub(super) struct Turn<'a> {
    answers: Vec<Answer<'a>>,
    said: Vec<Numbered<'a>>,
    attached: Vec<(usize, Vec<&'a Part>)>,
}

impl<'a> Turn<'a> {
    pub(super) fn answer(&mut self, answers: Vec<Answer<'a>>) {
        self.answers.extend(answers);
    }

    /// What one message says. `joined`: as the client joins texts, which ends each but the last with
    /// a line's end.
    pub(super) fn say(&mut self, blocks: Vec<Numbered<'a>>, joined: bool) {
        if let (true, Some(last), Some(first)) = (joined, self.said.last_mut(), blocks.first())
            && let (Block::Text(text), Block::Text(_)) = (&last.block, &first.block)
        {
            last.block = Block::Other(text_block(&format!("{text}\n")));
        }
        self.said.extend(blocks);
    }

    pub(super) fn attach(&mut self, number: usize, parts: Vec<&'a Part>) {
        self.attached.push((number, parts));
    }

    /// The messages, each with its blocks; none is empty.
    pub(super) fn messages(
        mut self,
        form: Form,
        repairs: &mut Repairs,
    ) -> Vec<(Voice, Vec<Numbered<'a>>)> {
        let attached = std::mem::take(&mut self.attached);
        let has_user = !self.answers.is_empty() || !self.said.is_empty();
        let is_plain = |parts: &[&Part]| {
            let is_text = |part: &&Part| part.as_text().is_some();
            form == Form::System && has_user && parts.iter().all(is_text)
        };
        let (apart, beside): (Vec<_>, Vec<_>) =
            attached.into_iter().partition(|(_, parts)| is_plain(parts));
        let mut messages = self.beside(beside, repairs);
        if let Some((number, _)) = apart.first() {
            let number = *number;
            let texts = apart.iter().map(|(_, parts)| {
                let texts = parts.iter().filter_map(|part| part.as_text());
                texts.collect::<Vec<_>>().join("\n")
            });
            let text = texts.collect::<Vec<_>>().join("\n\n");
            messages.push((Voice::System, vec![numbered(number, quoted(&text))]));
        }
        messages
    }

    /// The user's messages, with what goes into them.
    fn beside(
        mut self,
        attached: Vec<(usize, Vec<&'a Part>)>,
        repairs: &mut Repairs,
    ) -> Vec<(Voice, Vec<Numbered<'a>>)> {
        let mut messages = Vec::new();
        let mut blocks = Vec::new();
        let last = self.answers.pop();
        for answer in &self.answers {
            blocks.push(numbered(answer.number, answered(answer, &[], repairs)));
        }
        if let Some(last) = last {
            // Texts go into the last result; what holds a picture stands after it, whole.
            let (into, after): (Vec<_>, Vec<_>) = attached
                .into_iter()
                .partition(|(_, parts)| parts.iter().all(|part| part.as_text().is_some()));
            let texts = into.iter().flat_map(|(_, parts)| parts.iter().copied());
            let texts: Vec<&str> = texts.filter_map(Part::as_text).collect();
            blocks.push(numbered(last.number, answered(&last, &texts, repairs)));
            for (number, parts) in &after {
                let parts = parts.iter();
                blocks.extend(parts.filter_map(|part| self.tagged(part, *number, repairs)));
            }
        } else {
            let mut front = Vec::new();
            for (at, (number, parts)) in attached.iter().enumerate() {
                let mut texts = parts
                    .iter()
                    .filter_map(|part| self.tagged(part, *number, repairs));
                let mut own: Vec<Numbered<'a>> = texts.by_ref().collect();
                // Of what comes first all but the last part is a message of its own.
                if at == 0 {
                    while own.len() > 1 {
                        messages.push((Voice::User, vec![own.remove(0)]));
                    }
                }
                front.extend(own);
            }
            if let (Some(last), Some(first)) = (front.last_mut(), self.said.first())
                && let (Some(text), true) = (last_text(&attached), is_text(&first.block))
            {
                last.block = Block::Other(text_block(&format!("{}\n", tagged(text))));
            }
            blocks.extend(front);
        }
        blocks.extend(self.said);
        if !blocks.is_empty() {
            messages.push((Voice::User, blocks));
        }
        messages
    }

    fn tagged(&self, part: &'a Part, number: usize, repairs: &mut Repairs) -> Option<Numbered<'a>> {
        let block = match part.as_text() {
            Some(text) => Block::Other(text_block(&tagged(text))),
            None => block(part, Place::User, number, repairs)?,
        };
        Some(Numbered { number, block })
    }
}

/// Whether a block is text, a line's end added to it or not.
fn is_text(block: &Block<'_>) -> bool {
    match block {
        Block::Text(_) => true,
        Block::Other(raw) => raw.starts_with(r#"{"type":"text","#),
        Block::Thinking(_) | Block::Server(..) => false,
    }
}

/// The text that stands last, if it is one.
fn last_text<'a>(attached: &[(usize, Vec<&'a Part>)]) -> Option<&'a str> {
    attached.last()?.1.last()?.as_text()
}

fn numbered<'a>(number: usize, raw: String) -> Numbered<'a> {
    let block = Block::Other(raw);
    Numbered { number, block }
}

/// A result's block, with texts that go into it. A failed tool's content is not empty.
fn answered(answer: &Answer<'_>, more: &[&str], repairs: &mut Repairs) -> String {
    let parts = answer.content.unwrap_or_default();
    let mut blocks = result_blocks(parts, answer.is_error, answer.number, repairs);
    if answer.content.is_none() {
        blocks.push(Block::Text(INTERRUPTED));
    } else if answer.is_error && blocks.is_empty() {
        repairs.add(Repair::SilentFailure, answer.number);
        blocks.push(Block::Text(SILENT_FAILURE));
    }
    let more: Vec<String> = more.iter().map(|text| tagged(text)).collect();
    let content = match (&blocks[..], more.is_empty()) {
        (_, true) => (!blocks.is_empty()).then(|| array(blocks.iter().map(Block::json))),
        ([] | [Block::Text(_)], false) => {
            let said = match blocks.first() {
                Some(Block::Text(text)) => text.trim_end(),
                _ => "",
            };
            let said = (!said.is_empty()).then(|| said.to_owned());
            let texts: Vec<String> = said.into_iter().chain(more).collect();
            let joined = texts.join("\n\n");
            content(&[Block::Text(&joined)])
        }
        (_, false) => {
            let more = more.iter().map(|text| text_block(text));
            Some(array(blocks.iter().map(Block::json).chain(more)))
        }
    };
    tool_result(&answer.id, content.as_deref(), answer.is_error)
}
