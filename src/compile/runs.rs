//! What is sent of messages in Anthropic's form: neighbours of one voice in a row, and of their blocks those that the
//! provider takes there.
//!
//! Deliberately absent: how that is written.

use std::collections::HashSet;

use crate::compile::repair::{Piece, Spoken};
use crate::compile::server_tools::{Pairing, pair_server_tools};
use crate::compile::turn::{Form, Numbered, Turn, Voice};
use crate::wire::anthropic::{Block, Place, Server, block, tool_use};
use crate::wire::{Repair, Repairs};

/// Messages of one role in a row.
pub(super) struct Run<'a> {
    pub(super) voice: Voice,
    pub(super) blocks: Vec<Numbered<'a>>,
}

/// The same with what is sent of it.
pub(super) struct Closed<'b, 'a> {
    pub(super) voice: Voice,
    pub(super) blocks: Vec<&'b Numbered<'a>>,
}

/// Appends blocks to the last run if it is of the same role, else begins one.
pub(super) fn extend<'a>(runs: &mut Vec<Run<'a>>, voice: Voice, blocks: Vec<Numbered<'a>>) {
    match runs.last_mut() {
        Some(run) if run.voice == voice => run.blocks.extend(blocks),
        _ => runs.push(Run { voice, blocks }),
    }
}

/// Ends what stands between two replies.
pub(super) fn end<'a>(
    turn: &mut Turn<'a>,
    form: Form,
    runs: &mut Vec<Run<'a>>,
    repairs: &mut Repairs,
) {
    for (voice, blocks) in std::mem::take(turn).messages(form, repairs) {
        runs.push(Run { voice, blocks });
    }
}

/// For each block of each run, whether it has the partner that it may need. `ends`: nothing follows; `used` are the
/// ids of those before.
pub(super) fn pair(
    runs: &[Run<'_>],
    ends: bool,
    used: &mut HashSet<String>,
    repairs: &mut Repairs,
) -> Vec<Vec<Pairing>> {
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
        let paired = pair_server_tools(&reply, ends && index + 1 == runs.len(), used);
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
pub(super) fn close_replies<'b, 'a>(
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
            ..
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
pub(super) fn blocks<'a>(spoken: &Spoken<'a>, repairs: &mut Repairs) -> Vec<Numbered<'a>> {
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
    let blocks: Vec<Numbered<'a>> = written.map(|block| Numbered::new(number, block)).collect();
    if !blocks.is_empty() {
        spoken.tell(repairs);
    }
    blocks
}
