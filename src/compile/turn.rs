//! What stands between two replies in Anthropic's form: results first, then what the user said, and
//! what a client attached to it, in the form that the model takes.
//!
//! # Source
//!
//! Observed: the requests of Claude Code 2.1.197 beside its sessions.

use crate::compile::repair::Answer;
use crate::model::{Message, Part, Role, Settings};
use crate::wire::anthropic::{
    Block, Place, block, content, result_blocks, text_block, tool_result,
};
use crate::wire::attachments::{OUTPUT_CONFIG, SYSTEM_BLOCKS, tagged, untagged};
use crate::wire::json::{array, quoted};
use crate::wire::{Repair, Repairs};

/// The user's line before a conversation that begins with a reply.
pub(super) const OPENING_LINE: &str = "(conversation continues)";

/// The text of a failed tool that said nothing.
const SILENT_FAILURE: &str = "[the tool failed without output]";

/// Models that take system messages in mid-conversation.
const TAKE_SYSTEM: [&str; 3] = ["claude-opus-4-8", "claude-opus-5-5", "claude-sonnet-5-5"];

/// What a client puts in front of its first prompt: the text before it ends without a line's end.
const IN_FRONT: [&str; 3] = ["instructions", "session_context", "remote_session_change"];

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

/// Whose word a message surely begins with, whatever stood before; none where it may leave nothing, or something else.
pub(super) fn begins_with(message: &Message) -> Option<Voice> {
    let is_call = |part: &Part| matches!(part, Part::ToolCall { .. });
    match message.role {
        _ if message.is_attached() => None,
        Role::User if message.parts.iter().any(is_word) => Some(Voice::User),
        Role::Assistant
            if message
                .parts
                .iter()
                .any(|part| is_word(part) || is_call(part)) =>
        {
            Some(Voice::Assistant)
        }
        _ => None,
    }
}

/// Whose word a message surely ends with, whatever follows. `answers`: it answers a call of the reply right before it.
pub(super) fn ends_with(message: &Message, answers: bool) -> Option<Voice> {
    match message.role {
        _ if message.is_attached() => None,
        Role::User | Role::Tool if answers => Some(Voice::User),
        Role::User => begins_with(message),
        Role::Assistant if message.calls().next().is_some() => None,
        Role::Assistant => message
            .parts
            .last()
            .filter(|part| is_word(part))
            .map(|_| Voice::Assistant),
        _ => None,
    }
}

/// Whether a message holds nothing but results.
pub(super) fn is_result(message: &Message) -> bool {
    let is_result = |part: &Part| matches!(part, Part::ToolResult { .. });
    !message.is_attached() && message.parts.iter().all(is_result)
}

/// Whether a part is a text that is sent.
fn is_word(part: &Part) -> bool {
    part.as_text().is_some_and(|text| !text.trim().is_empty())
}

/// A content block and the number of the message that it comes from.
pub(super) struct Numbered<'a> {
    pub(super) number: usize,
    pub(super) block: Block<'a>,
    /// Whether it is a text that a client would end with a line's end, if one was at work.
    pub(super) is_joined: bool,
}

impl<'a> Numbered<'a> {
    pub(super) fn new(number: usize, block: Block<'a>) -> Self {
        let is_joined = false;
        Self {
            number,
            block,
            is_joined,
        }
    }
}

/// What stands between two replies, as it is gathered.
#[derive(Default)]
pub(super) struct Turn<'a> {
    answers: Vec<Answer<'a>>,
    said: Vec<Numbered<'a>>,
    attached: Vec<Attached<'a>>,
}

/// What a client attached.
pub(super) struct Attached<'a> {
    pub(super) number: usize,
    /// What the client calls it.
    pub(super) kind: &'a str,
    pub(super) parts: Vec<&'a Part>,
}

impl Attached<'_> {
    /// Whether it is nothing but texts, which stand where the model's form says.
    fn is_loose(&self) -> bool {
        let loose = |part: &&Part| part.as_text().is_some_and(|text| untagged(text).is_none());
        self.parts.iter().all(loose)
    }
}

impl<'a> Turn<'a> {
    pub(super) fn answer(&mut self, answers: Vec<Answer<'a>>) {
        self.answers.extend(answers);
    }

    /// What one message says. `joined`: as the client joins texts, which ends each but the last with
    /// a line's end.
    pub(super) fn say(&mut self, blocks: Vec<Numbered<'a>>, joined: bool) {
        if let (Some(last), Some(first)) = (self.said.last_mut(), blocks.first())
            && let (Block::Text(text), Block::Text(_)) = (&last.block, &first.block)
        {
            if joined {
                last.block = Block::Other(text_block(&format!("{text}\n")));
            } else {
                last.is_joined = true;
            }
        }
        self.said.extend(blocks);
    }

    pub(super) fn attach(&mut self, attached: Attached<'a>) {
        self.attached.push(attached);
    }

    /// The messages, each with its blocks; none is empty. Those of a system message are strings, further blocks, and the
    /// object that is its `output_config`.
    pub(super) fn messages(
        mut self,
        form: Form,
        repairs: &mut Repairs,
    ) -> Vec<(Voice, Vec<Numbered<'a>>)> {
        let mut attached = std::mem::take(&mut self.attached);
        let configs = attached.extract_if(.., |one| one.kind == OUTPUT_CONFIG);
        let config = configs.last();
        let blocks = attached.extract_if(.., |one| one.kind == SYSTEM_BLOCKS);
        let blocks: Vec<_> = blocks.chain(config).collect();
        let has_user = !self.answers.is_empty() || !self.said.is_empty();
        let takes_apart = form == Form::System && has_user;
        let (apart, beside): (Vec<_>, Vec<_>) = attached
            .into_iter()
            .partition(|one| takes_apart && one.is_loose());
        let mut messages = self.beside(beside, repairs);
        if let Some(Attached { number, .. }) = apart.first() {
            let number = *number;
            let texts = apart.iter().map(|one| {
                let texts = one.parts.iter().filter_map(|part| part.as_text());
                texts.collect::<Vec<_>>().join("\n")
            });
            let text = texts.collect::<Vec<_>>().join("\n\n");
            messages.push((Voice::System, vec![numbered(number, quoted(&text))]));
        }
        for one in blocks.iter().filter(|_| takes_apart) {
            let objects = one.parts.iter().filter_map(|part| part.as_text());
            let objects = objects.map(|object| numbered(one.number, object.to_owned()));
            match messages.last_mut() {
                Some((Voice::System, blocks)) => blocks.extend(objects),
                _ => messages.push((Voice::System, objects.collect())),
            }
        }
        messages
    }

    /// The user's messages, with what goes into them.
    fn beside(
        mut self,
        attached: Vec<Attached<'a>>,
        repairs: &mut Repairs,
    ) -> Vec<(Voice, Vec<Numbered<'a>>)> {
        let mut messages = Vec::new();
        let mut blocks = Vec::new();
        let last = self.answers.pop();
        for answer in &self.answers {
            blocks.push(numbered(answer.number, answered(answer, &[], repairs)));
        }
        // Loose texts go into the last result; what else there is stands after it.
        let (into, after): (Vec<_>, Vec<_>) = attached
            .into_iter()
            .partition(|one| last.is_some() && one.is_loose());
        if let Some(last) = &last {
            let texts = into.iter().flat_map(|one| one.parts.iter().copied());
            let texts: Vec<&str> = texts.filter_map(Part::as_text).collect();
            blocks.push(numbered(last.number, answered(last, &texts, repairs)));
        }
        let mut after = tagged_blocks(&after, repairs);
        if last.is_none() {
            // Of what comes first all but the last part is a message of its own.
            let own = after.iter().take_while(|one| one.at == 0).count();
            for one in after.drain(..own.saturating_sub(1)) {
                messages.push((Voice::User, vec![one.block]));
            }
        }
        blocks.extend(ended(after, self.said.first()));
        blocks.extend(self.said);
        if !blocks.is_empty() {
            messages.push((Voice::User, blocks));
        }
        messages
    }
}

/// A block of what is attached, in the user's message.
struct Beside<'a> {
    /// Which attachment it is of.
    at: usize,
    kind: &'a str,
    text: Option<&'a str>,
    block: Numbered<'a>,
}

fn tagged_blocks<'a>(attached: &[Attached<'a>], repairs: &mut Repairs) -> Vec<Beside<'a>> {
    let mut all = Vec::new();
    for (at, one) in attached.iter().enumerate() {
        let (number, kind) = (one.number, one.kind);
        for part in one.parts.iter().copied() {
            let text = part.as_text();
            let block = match text {
                Some(text) => Some(Block::Other(text_block(&tagged(text)))),
                None => block(part, Place::User, number, repairs),
            };
            let block = block.map(|block| Numbered::new(number, block));
            all.extend(block.map(|block| Beside {
                at,
                kind,
                text,
                block,
            }));
        }
    }
    all
}

/// The blocks, with a line's end between texts where the client has one: before what was said, and, between
/// texts that came within their tags, before all but what stands in front of a first prompt.
fn ended<'a>(blocks: Vec<Beside<'a>>, said: Option<&Numbered<'a>>) -> Vec<Numbered<'a>> {
    let mut all: Vec<Numbered<'a>> = Vec::with_capacity(blocks.len());
    let mut blocks = blocks.into_iter().peekable();
    while let Some(mut one) = blocks.next() {
        let next = blocks.peek();
        let has_end = |text: &str| match next {
            Some(next) => {
                let both = [Some(text), next.text].map(|text| text.and_then(untagged));
                both.iter().all(Option::is_some) && !IN_FRONT.contains(&next.kind)
            }
            None => said.is_some_and(|said| is_text(&said.block)),
        };
        if let Some(text) = one.text.filter(|text| has_end(text)) {
            one.block.block = Block::Other(text_block(&format!("{}\n", tagged(text))));
        }
        all.push(one.block);
    }
    all
}

/// Whether a block is text, a line's end added to it or not.
fn is_text(block: &Block<'_>) -> bool {
    match block {
        Block::Text(_) => true,
        Block::Other(raw) => raw.starts_with(r#"{"type":"text","#),
        Block::Thinking(_) | Block::Server(..) => false,
    }
}

fn numbered<'a>(number: usize, raw: String) -> Numbered<'a> {
    Numbered::new(number, Block::Other(raw))
}

/// A result's block, with texts that go into it. A failed tool's content is not empty.
fn answered(answer: &Answer<'_>, more: &[&str], repairs: &mut Repairs) -> String {
    let parts = answer.content.unwrap_or_default();
    let mut blocks = result_blocks(parts, answer.is_error, answer.number, repairs);
    if answer.content.is_none() {
        blocks.push(Block::Text(repairs.words_of_none()));
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
