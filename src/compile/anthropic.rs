//! Requests in Anthropic's Messages form: adjacent messages of one role merged, results first.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::compile::body::Body;
use crate::compile::ids::IdRule;
use crate::compile::repair::{Item, Piece, Spoken, arrange};
use crate::compile::server_tools::{Pairing, pair_server_tools};
use crate::compile::turn::{Attached, Form, Numbered, Turn, Voice};
use crate::compile::wire_form::{Contents, Said};
use crate::model::{Message, Part, Role};
use crate::wire::anthropic::{Block, Place, Server, block, text_block, tool_use};
use crate::wire::json::push_list;
use crate::wire::{Repair, Repairs};

/// The user's line before a conversation that begins with a reply.
const OPENING_LINE: &str = "(conversation continues)";

/// Writes the request; `head` are the keys before `system`, each with a comma after it.
/// `form` is that of what a client attached.
pub(super) fn write(
    messages: &[Message],
    contents: &Contents,
    head: &str,
    form: Form,
    repairs: &mut Repairs,
) -> Body {
    let leading = messages
        .iter()
        .take_while(|message| message.role.is_system())
        .count();
    let mut system = Vec::new();
    let mut runs: Vec<Run<'_>> = Vec::new();
    // A client joins texts in a way of its own, and moves what it attaches as more comes in.
    let client = messages.iter().any(Message::is_attached);
    let mut turn = Turn::default();
    for item in arrange(messages, 0, IdRule::PlainAndUnique, repairs) {
        match item {
            Item::Spoken(spoken) if spoken.attached.is_some() => {
                let kind = spoken.attached.unwrap_or_default();
                let parts = spoken.pieces.iter().filter_map(|piece| match piece {
                    Piece::Part(part @ Part::Text { .. }) => {
                        block(part, Place::User, spoken.number, repairs).map(|_| *part)
                    }
                    Piece::Part(part) => Some(*part),
                    Piece::Call { .. } => None,
                });
                let parts: Vec<&Part> = parts.collect();
                if !parts.is_empty() {
                    turn.attach(Attached {
                        number: spoken.number,
                        kind,
                        parts,
                    });
                }
            }
            Item::Spoken(spoken) if spoken.number <= leading => {
                system.extend(blocks(&spoken, repairs));
            }
            Item::Spoken(spoken) => {
                let blocks = blocks(&spoken, repairs);
                if spoken.role.is_system() && !blocks.is_empty() {
                    repairs.add(Repair::SystemInPlace, spoken.number);
                }
                if spoken.role != Role::Assistant {
                    turn.say(blocks, client);
                } else if !blocks.is_empty() {
                    end(&mut turn, form, &mut runs, repairs);
                    extend(&mut runs, Voice::Assistant, blocks);
                }
            }
            Item::Answers(answers) => turn.answer(answers),
        }
    }
    end(&mut turn, form, &mut runs, repairs);
    let pairing = pair(&runs, repairs);
    let assemble = |paused: bool, repairs: &mut Repairs| {
        let opening = Numbered {
            number: leading + 1,
            block: Block::Text(OPENING_LINE),
        };
        let mut closed = close_replies(&runs, &pairing, paused, repairs);
        let is_reply = |run: &Closed<'_, '_>| run.voice == Voice::Assistant;
        if closed.first().is_some_and(is_reply) {
            repairs.add(Repair::OpeningLine, opening.number);
            let blocks = vec![&opening];
            let voice = Voice::User;
            closed.insert(0, Closed { voice, blocks });
        }
        let said = Said::of(contents);
        finish(head, &system, &closed, client, said, repairs)
    };
    let is_paused = |pairing: &Pairing| *pairing == Pairing::Paused;
    if !pairing.iter().flatten().any(is_paused) {
        return assemble(false, repairs);
    }
    // What a paused reply ends in goes again if anything but its continuation follows.
    let stable_bytes = assemble(false, &mut Repairs::default()).stable_bytes;
    Body {
        stable_bytes,
        ..assemble(true, repairs)
    }
}

/// Puts the parts of the payload together.
fn finish(
    head: &str,
    system: &[Numbered<'_>],
    runs: &[Closed<'_, '_>],
    client: bool,
    mut said: Said<'_>,
    repairs: &mut Repairs,
) -> Body {
    let mut payload = format!("{{{head}");
    let mut stable_bytes = payload.len();
    if !system.is_empty() {
        payload.push_str(r#""system":"#);
        let system: Vec<&Numbered<'_>> = system.iter().collect();
        match contents(&system, &mut said) {
            Content::Blocks(blocks) => {
                payload.push('[');
                push_list(&mut payload, blocks);
                stable_bytes = payload.len();
                payload.push_str("],");
            }
            Content::Text(text) => payload = payload + &text + ",",
        }
    }
    payload.push_str(r#""messages":["#);
    for (index, run) in runs.iter().enumerate() {
        if index > 0 {
            payload.push(',');
        }
        let role = match run.voice {
            Voice::User => "user",
            Voice::Assistant => "assistant",
            // One text, as a string.
            Voice::System => {
                payload.push_str(r#"{"role":"system","content":"#);
                payload.push_str(&joined(&run.blocks));
                payload.push('}');
                continue;
            }
        };
        payload.push_str(&format!(r#"{{"role":"{role}","content":"#));
        match contents(&run.blocks, &mut said) {
            Content::Blocks(blocks) => {
                payload.push('[');
                push_list(&mut payload, blocks);
                if !client || run.voice == Voice::Assistant {
                    stable_bytes = payload.len();
                }
                payload.push_str("]}");
            }
            // Another message of the same role would make a list of it.
            Content::Text(text) => payload = payload + &text + "}",
        }
    }
    // A reply at the end is a beginning for the model to go on from; it may not end in white
    // space. Once a message follows, the space is there again: the bytes before it stay.
    if let Some(run) = runs.last()
        && run.voice == Voice::Assistant
        && let Some(block) = run.blocks.last()
        && let Block::Text(text) = block.block
        && text.trim_end() != text
    {
        repairs.add(Repair::TrailingSpace, block.number);
        payload.truncate(stable_bytes - block.block.json().len());
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

/// Texts, each a string's JSON, as one of them.
fn joined(blocks: &[&Numbered<'_>]) -> String {
    let texts = blocks.iter().map(|block| block.block.json());
    let inside = |text: String| text.get(1..text.len() - 1).map(str::to_owned);
    let texts: Vec<String> = texts.filter_map(inside).collect();
    format!("\"{}\"", texts.join(r"\n\n"))
}

/// What a message holds.
enum Content<'a> {
    Blocks(Vec<Cow<'a, str>>),
    /// A string's JSON.
    Text(Cow<'a, str>),
}

/// Blocks as their client wrote them, where that is known.
fn contents<'a>(blocks: &[&Numbered<'_>], said: &mut Said<'a>) -> Content<'a> {
    let mut written: Vec<Cow<'a, str>> = Vec::with_capacity(blocks.len());
    for block in blocks {
        let json = block.block.json();
        let has_space = matches!(block.block, Block::Text(text) if text.trim_end() != text);
        let known = if has_space {
            None
        } else {
            said.block(block.number, &json)
        };
        match known {
            Some(text) if text.starts_with('"') && blocks.len() == 1 => {
                return Content::Text(text.into());
            }
            Some(block) if !block.starts_with('"') => written.push(block.into()),
            _ => written.push(json.into()),
        }
    }
    Content::Blocks(written)
}

/// Messages of one role in a row.
struct Run<'a> {
    voice: Voice,
    blocks: Vec<Numbered<'a>>,
}

/// The same with what is sent of it.
struct Closed<'b, 'a> {
    voice: Voice,
    blocks: Vec<&'b Numbered<'a>>,
}

/// Appends blocks to the last run if it is of the same role, else begins one.
fn extend<'a>(runs: &mut Vec<Run<'a>>, voice: Voice, blocks: Vec<Numbered<'a>>) {
    match runs.last_mut() {
        Some(run) if run.voice == voice => run.blocks.extend(blocks),
        _ => runs.push(Run { voice, blocks }),
    }
}

/// Ends what stands between two replies.
fn end<'a>(turn: &mut Turn<'a>, form: Form, runs: &mut Vec<Run<'a>>, repairs: &mut Repairs) {
    for (voice, blocks) in std::mem::take(turn).messages(form, repairs) {
        runs.push(Run { voice, blocks });
    }
}

/// For each block of each run, whether it has the partner that it may need.
fn pair(runs: &[Run<'_>], repairs: &mut Repairs) -> Vec<Vec<Pairing>> {
    let mut used = HashSet::new();
    let mut pairing = Vec::with_capacity(runs.len());
    for (index, run) in runs.iter().enumerate() {
        let reply: Vec<(usize, Option<&Server>)> = run
            .blocks
            .iter()
            .map(|block| match &block.block {
                Block::Server(_, server) => (block.number, Some(server)),
                _ => (block.number, None),
            })
            .collect();
        let paired = pair_server_tools(&reply, index + 1 == runs.len(), &mut used);
        for (block, pairing) in run.blocks.iter().zip(&paired) {
            if *pairing == Pairing::Alone {
                repairs.add(Repair::Opaque, block.number);
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
    repairs: &mut Repairs,
) -> Vec<Closed<'b, 'a>> {
    let mut closed: Vec<Closed<'b, 'a>> = Vec::with_capacity(runs.len());
    let mut dropped = false;
    for (run, pairing) in runs.iter().zip(pairing) {
        let voice = run.voice;
        let mut blocks: Vec<&Numbered<'a>> = run
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
        let is_joined = voice == Voice::Assistant || dropped;
        while let Some(Numbered {
            block: Block::Thinking(_),
            number,
        }) = blocks.last()
        {
            repairs.add(Repair::Thinking, *number);
            blocks.pop();
        }
        dropped |= blocks.is_empty();
        if blocks.is_empty() {
            continue;
        }
        dropped = false;
        match closed.last_mut() {
            Some(last) if last.voice == voice && (is_joined || voice == Voice::System) => {
                last.blocks.extend(blocks);
            }
            // A system message stands after all that the user says.
            Some(last) if last.voice == Voice::System && voice == Voice::User => {
                let user = closed.len().checked_sub(2).map(|at| &mut closed[at]);
                user.into_iter()
                    .for_each(|user| user.blocks.extend(&blocks));
            }
            _ => closed.push(Closed { voice, blocks }),
        }
    }
    closed
}

/// The blocks of a message.
fn blocks<'a>(spoken: &Spoken<'a>, repairs: &mut Repairs) -> Vec<Numbered<'a>> {
    let number = spoken.number;
    let place = Place::of(spoken.role);
    let written = spoken.pieces.iter().filter_map(|piece| match piece {
        Piece::Call {
            id,
            name,
            arguments,
            ..
        } => Some(Block::Other(tool_use(id, name, arguments, number, repairs))),
        Piece::Part(part) => block(part, place, number, repairs),
    });
    let blocks: Vec<Numbered<'a>> = written.map(|block| Numbered { number, block }).collect();
    if !blocks.is_empty() {
        if spoken.name.is_some() {
            repairs.add(Repair::SpeakerName, number);
        }
        if spoken.role == Role::Tool {
            repairs.add(Repair::ToolText, number);
        }
    }
    blocks
}
