//! Requests in Anthropic's Messages form: adjacent messages of one role merged, results first.
//!
//! # Source
//!
//! Anthropic's API reference, "Create a Message", the guides on tool use and extended thinking,
//! and the errors that the API answers with where those are silent (white space, thinking at a
//! reply's end, failed tools without output).

use std::collections::HashSet;

use crate::compile::Repair;
use crate::compile::ids::{IdRule, plain};
use crate::compile::media::{self, FILE_WORD, IMAGE_WORD};
use crate::compile::notice::Tally;
use crate::compile::own_blocks::{Own, Pairing, Place, Server, in_result, own, pair_server_tools};
use crate::compile::repair::{Answer, INTERRUPTED, Item, Piece, Spoken, arrange};
use crate::compile::request::Body;
use crate::hash::write_string as push_string;
use crate::model::{Message, Part, Role};
use crate::wire::json::{is_object, push_list};

/// The user's line before a conversation that begins with a reply.
pub(super) const OPENING_LINE: &str = "(conversation continues)";
/// The text of a failed tool that said nothing.
pub(super) const SILENT_FAILURE: &str = "[the tool failed without output]";

/// The longest name of a tool.
const NAME_MAX_CHARS: usize = 128;

/// Writes the request; `head` are the keys before `system`, each with a comma after it.
pub(super) fn write(messages: &[Message], head: &str, tally: &mut Tally) -> Body {
    let leading = messages
        .iter()
        .take_while(|message| message.role.is_system())
        .count();
    let mut system = Vec::new();
    let mut runs: Vec<Run<'_>> = Vec::new();
    for item in arrange(messages, IdRule::PlainAndUnique, tally) {
        match item {
            Item::Spoken(spoken) if spoken.number <= leading => {
                system.extend(blocks(&spoken, tally).iter().map(Block::json));
            }
            Item::Spoken(spoken) => {
                let blocks = blocks(&spoken, tally);
                if spoken.role.is_system() && !blocks.is_empty() {
                    tally.add(Repair::SystemInPlace, spoken.number);
                }
                extend(&mut runs, spoken.role == Role::Assistant, blocks);
            }
            Item::Answers(answers) => {
                let blocks = answers
                    .iter()
                    .map(|answer| Block {
                        number: answer.number,
                        kind: Kind::Raw(tool_result(answer, tally)),
                    })
                    .collect();
                extend(&mut runs, false, blocks);
            }
        }
    }
    let pairing = pair(&runs, tally);
    let assemble = |paused: bool, tally: &mut Tally| {
        let opening = Block::text(OPENING_LINE, leading + 1);
        let mut closed = close_replies(&runs, &pairing, paused, tally);
        if closed.first().is_some_and(|run| run.assistant) {
            tally.add(Repair::OpeningLine, opening.number);
            let blocks = vec![&opening];
            let assistant = false;
            closed.insert(0, Closed { assistant, blocks });
        }
        finish(head, &system, &closed, tally)
    };
    if !pairing
        .iter()
        .flatten()
        .any(|pairing| *pairing == Pairing::Paused)
    {
        return assemble(false, tally);
    }
    // What a paused reply ends in goes again if anything but its continuation follows.
    let stable_bytes = assemble(false, &mut Tally::default()).stable_bytes;
    Body {
        stable_bytes,
        ..assemble(true, tally)
    }
}

/// Puts the parts of the payload together.
fn finish(head: &str, system: &[String], runs: &[Closed<'_, '_>], tally: &mut Tally) -> Body {
    let mut payload = format!("{{{head}");
    let mut stable_bytes = payload.len();
    if !system.is_empty() {
        payload.push_str(r#""system":["#);
        push_list(&mut payload, system);
        stable_bytes = payload.len();
        payload.push_str("],");
    }
    payload.push_str(r#""messages":["#);
    for (index, run) in runs.iter().enumerate() {
        let role = if run.assistant { "assistant" } else { "user" };
        if index > 0 {
            payload.push(',');
        }
        payload.push_str(&format!(r#"{{"role":"{role}","content":["#));
        push_list(&mut payload, run.blocks.iter().map(|block| block.json()));
        stable_bytes = payload.len();
        payload.push_str("]}");
    }
    // A reply at the end is a beginning for the model to go on from; it may not end in white
    // space. Once a message follows, the space is there again: the bytes before it stay.
    if let Some(run) = runs.last()
        && run.assistant
        && let Some(block) = run.blocks.last()
        && let Kind::Text(text) = block.kind
        && text.trim_end() != text
    {
        tally.add(Repair::TrailingSpace, block.number);
        payload.truncate(stable_bytes - block.json().len());
        payload.push_str(&text_block(text.trim_end()));
        stable_bytes = payload.len() - r#""}"#.len();
        payload.push_str("]}");
    }
    payload.push_str("]}");
    Body {
        payload,
        stable_bytes,
        nothing_to_send: runs.is_empty(),
    }
}

/// Messages of one role in a row.
struct Run<'a> {
    assistant: bool,
    blocks: Vec<Block<'a>>,
}

/// The same with what is sent of it.
struct Closed<'b, 'a> {
    assistant: bool,
    blocks: Vec<&'b Block<'a>>,
}

struct Block<'a> {
    /// The message that it comes from.
    number: usize,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Text(&'a str),
    Thinking(String),
    Server(String, Server),
    Raw(String),
}

impl<'a> Block<'a> {
    fn text(text: &'a str, number: usize) -> Self {
        let kind = Kind::Text(text);
        Self { number, kind }
    }

    fn json(&self) -> String {
        match &self.kind {
            Kind::Text(text) => text_block(text),
            Kind::Thinking(raw) | Kind::Server(raw, _) | Kind::Raw(raw) => raw.clone(),
        }
    }
}

fn text_block(text: &str) -> String {
    let mut out = String::from(r#"{"type":"text","text":"#);
    push_string(&mut out, text);
    out.push('}');
    out
}

/// Appends blocks to the last run if it is of the same role, else begins one.
fn extend<'a>(runs: &mut Vec<Run<'a>>, assistant: bool, blocks: Vec<Block<'a>>) {
    if blocks.is_empty() {
        return;
    }
    match runs.last_mut() {
        Some(run) if run.assistant == assistant => run.blocks.extend(blocks),
        _ => runs.push(Run { assistant, blocks }),
    }
}

/// For each block of each run, whether it has the partner that it may need.
fn pair(runs: &[Run<'_>], tally: &mut Tally) -> Vec<Vec<Pairing>> {
    let mut used = HashSet::new();
    let mut pairing = Vec::with_capacity(runs.len());
    for (index, run) in runs.iter().enumerate() {
        let reply: Vec<(usize, Option<&Server>)> = run
            .blocks
            .iter()
            .map(|block| match &block.kind {
                Kind::Server(_, server) => (block.number, Some(server)),
                _ => (block.number, None),
            })
            .collect();
        let paired = pair_server_tools(&reply, index + 1 == runs.len(), &mut used);
        for (block, pairing) in run.blocks.iter().zip(&paired) {
            if *pairing == Pairing::Alone {
                tally.add(Repair::Opaque, block.number);
            }
        }
        pairing.push(paired);
    }
    pairing
}

/// A reply may not end in thinking: such blocks go, and with them replies of nothing else. Where
/// one stood between two of the user's messages, these become one.
fn close_replies<'b, 'a>(
    runs: &'b [Run<'a>],
    pairing: &[Vec<Pairing>],
    paused: bool,
    tally: &mut Tally,
) -> Vec<Closed<'b, 'a>> {
    let mut closed: Vec<Closed<'b, 'a>> = Vec::with_capacity(runs.len());
    for (run, pairing) in runs.iter().zip(pairing) {
        let assistant = run.assistant;
        let mut blocks: Vec<&Block<'a>> = run
            .blocks
            .iter()
            .zip(pairing)
            .filter(|(_, pairing)| match pairing {
                Pairing::Kept => true,
                Pairing::Alone => false,
                Pairing::Paused => paused,
            })
            .map(|(block, _)| block)
            .collect();
        while let Some(Block {
            kind: Kind::Thinking(_),
            number,
        }) = blocks.last()
        {
            tally.add(Repair::Thinking, *number);
            blocks.pop();
        }
        if blocks.is_empty() {
            continue;
        }
        match closed.last_mut() {
            Some(last) if last.assistant == assistant => last.blocks.extend(blocks),
            _ => closed.push(Closed { assistant, blocks }),
        }
    }
    closed
}

/// The blocks of a message.
fn blocks<'a>(spoken: &Spoken<'a>, tally: &mut Tally) -> Vec<Block<'a>> {
    let number = spoken.number;
    let place = match spoken.role {
        Role::Assistant => Place::Assistant,
        Role::User | Role::Tool => Place::User,
        Role::System | Role::Developer => Place::System,
    };
    let mut blocks: Vec<Block<'a>> = Vec::with_capacity(spoken.pieces.len());
    for piece in &spoken.pieces {
        let mut push = |kind| blocks.push(Block { number, kind });
        match piece {
            Piece::Call {
                id,
                name,
                arguments,
                ..
            } => push(Kind::Raw(tool_use(id, name, arguments, number, tally))),
            Piece::Part(Part::Text { text }) => blocks.extend(text_part(text, number, tally)),
            Piece::Part(Part::Image(media)) => {
                let taken = media::anthropic_image(media).filter(|_| place == Place::User);
                blocks.push(media_or_word(taken, IMAGE_WORD, number, tally));
            }
            Piece::Part(Part::File(media)) => {
                let taken = media::anthropic_document(media).filter(|_| place == Place::User);
                blocks.push(media_or_word(taken, FILE_WORD, number, tally));
            }
            Piece::Part(Part::Thinking {
                text,
                signature: Some(signature),
                provider,
            }) if place == Place::Assistant
                && provider.as_deref() == Some("anthropic")
                && !signature.is_empty() =>
            {
                push(Kind::Thinking(thinking(text, signature)));
            }
            Piece::Part(Part::Thinking { .. }) => tally.add(Repair::Thinking, number),
            Piece::Part(Part::Opaque { provider, data }) => {
                let raw = data.clone();
                match own(provider, data, place) {
                    Own::Refused => tally.add(Repair::Opaque, number),
                    Own::Thinking => push(Kind::Thinking(raw)),
                    Own::Sent => push(Kind::Raw(raw)),
                    Own::Server(server) => push(Kind::Server(raw, server)),
                }
            }
            // The arrangement leaves no call or result among the parts.
            Piece::Part(Part::ToolCall { .. } | Part::ToolResult { .. }) => {}
        }
    }
    if !blocks.is_empty() {
        if spoken.name.is_some() {
            tally.add(Repair::SpeakerName, number);
        }
        if spoken.role == Role::Tool {
            tally.add(Repair::ToolText, number);
        }
    }
    blocks
}

/// A text's block, unless there is nothing in it.
fn text_part<'a>(text: &'a str, number: usize, tally: &mut Tally) -> Option<Block<'a>> {
    if text.trim().is_empty() {
        if !text.is_empty() {
            tally.add(Repair::BlankText, number);
        }
        return None;
    }
    Some(Block::text(text, number))
}

fn media_or_word<'a>(
    taken: Option<String>,
    word: &'static str,
    number: usize,
    tally: &mut Tally,
) -> Block<'a> {
    match taken {
        Some(raw) => {
            let kind = Kind::Raw(raw);
            Block { number, kind }
        }
        None => {
            tally.add(Repair::Media, number);
            Block::text(word, number)
        }
    }
}

fn thinking(text: &str, signature: &str) -> String {
    let mut out = String::from(r#"{"type":"thinking","thinking":"#);
    push_string(&mut out, text);
    out.push_str(r#","signature":"#);
    push_string(&mut out, signature);
    out.push('}');
    out
}

/// A call's block. Arguments that are a JSON object go in byte for byte.
fn tool_use(id: &str, name: &str, arguments: &str, number: usize, tally: &mut Tally) -> String {
    let allowed = plain(name, NAME_MAX_CHARS, "tool");
    if allowed != name {
        tally.add(Repair::ToolName, number);
    }
    let mut out = String::from(r#"{"type":"tool_use","id":"#);
    push_string(&mut out, id);
    out.push_str(r#","name":"#);
    push_string(&mut out, &allowed);
    out.push_str(r#","input":"#);
    if is_object(arguments) {
        out.push_str(arguments);
    } else {
        tally.add(Repair::RawArguments, number);
        out.push_str(r#"{"_raw":"#);
        push_string(&mut out, arguments);
        out.push('}');
    }
    out.push('}');
    out
}

/// A result's block. A failed tool's content is text, and is not empty.
fn tool_result(answer: &Answer<'_>, tally: &mut Tally) -> String {
    let number = answer.number;
    let mut content = Vec::new();
    for part in answer.content.unwrap_or_default() {
        let block = match part {
            Part::Text { text } => text_part(text, number, tally),
            Part::Image(media) => {
                let taken = media::anthropic_image(media).filter(|_| !answer.is_error);
                Some(media_or_word(taken, IMAGE_WORD, number, tally))
            }
            Part::File(media) => {
                let taken = media::anthropic_document(media).filter(|_| !answer.is_error);
                Some(media_or_word(taken, FILE_WORD, number, tally))
            }
            Part::Opaque { provider, data }
                if provider == "anthropic" && !answer.is_error && in_result(data) =>
            {
                Some(Block {
                    number,
                    kind: Kind::Raw(data.clone()),
                })
            }
            Part::Thinking { .. } => {
                tally.add(Repair::Thinking, number);
                None
            }
            Part::Opaque { .. } | Part::ToolCall { .. } | Part::ToolResult { .. } => {
                tally.add(Repair::Opaque, number);
                None
            }
        };
        content.extend(block.map(|block| block.json()));
    }
    if answer.content.is_none() {
        content.push(text_block(INTERRUPTED));
    } else if answer.is_error && content.is_empty() {
        tally.add(Repair::SilentFailure, number);
        content.push(text_block(SILENT_FAILURE));
    }
    let mut out = String::from(r#"{"type":"tool_result","tool_use_id":"#);
    push_string(&mut out, &answer.id);
    if !content.is_empty() {
        out.push_str(r#","content":["#);
        push_list(&mut out, content);
        out.push(']');
    }
    if answer.is_error {
        out.push_str(r#","is_error":true"#);
    }
    out.push('}');
    out
}
