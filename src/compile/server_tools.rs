//! The calls of Anthropic's own tools and their results: which of them are sent.

use std::collections::{HashMap, HashSet};

use crate::wire::anthropic::Server;

/// Whether a block of a reply is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pairing {
    /// It is.
    Kept,
    /// A call or result of the provider's own tools that lacks its partner: it is not.
    Alone,
    /// A call that ends a paused reply: it is sent as long as nothing follows, for the provider
    /// to go on from there.
    Paused,
}

/// Pairs the calls of the provider's own tools with their results in a reply of one or several
/// messages; each block is given as its message's number and what it is. `used` are the ids in
/// earlier replies.
///
/// A result answers a call earlier in its own message, or one at the end of the message before
/// it (the provider may pause there). Nothing else pairs, so that a message that follows never
/// brings back a block in the middle.
///
/// # Source
///
/// Anthropic's guide on server tools: `pause_turn`.
pub(super) fn pair_server_tools(
    reply: &[(usize, Option<&Server>)],
    is_last: bool,
    used: &mut HashSet<String>,
) -> Vec<Pairing> {
    let is_call = |block: &(usize, Option<&Server>)| matches!(block.1, Some(Server::Call(_)));
    let ends_message = |index: usize| {
        let (number, _) = reply[index];
        let rest = reply[index..].iter();
        rest.take_while(|block| block.0 == number).all(is_call)
    };
    let mut pairing: Vec<Pairing> = reply
        .iter()
        .map(|block| block.1.map_or(Pairing::Kept, |_| Pairing::Alone))
        .collect();
    let mut open: HashMap<&str, usize> = HashMap::new();
    // The messages of the reply, counted.
    let mut ordinal = 0;
    let mut ordinals = Vec::with_capacity(reply.len());
    for (index, (number, server)) in reply.iter().enumerate() {
        if index > 0 && reply[index - 1].0 != *number {
            ordinal += 1;
        }
        ordinals.push(ordinal);
        match server {
            Some(Server::Call(id)) if !used.contains(id) => match open.get(id.as_str()) {
                // Still open and out of any result's reach: this one takes its place.
                Some(&call) if !reaches(&ordinals, call, ordinal, &ends_message) => {
                    open.insert(id, index);
                }
                Some(_) => {}
                None => {
                    open.insert(id, index);
                }
            },
            Some(Server::Result(id)) => {
                let call = open.get(id.as_str()).copied();
                if let Some(call) =
                    call.filter(|call| reaches(&ordinals, *call, ordinal, &ends_message))
                {
                    open.remove(id.as_str());
                    used.insert(id.clone());
                    pairing[call] = Pairing::Kept;
                    pairing[index] = Pairing::Kept;
                }
            }
            _ => {}
        }
    }
    if is_last {
        for &call in open.values() {
            if ordinals[call] == ordinal && ends_message(call) {
                pairing[call] = Pairing::Paused;
            }
        }
    }
    pairing
}

/// Whether a result in the message counted `ordinal` may answer the call at `call`.
fn reaches(
    ordinals: &[usize],
    call: usize,
    ordinal: usize,
    ends_message: &impl Fn(usize) -> bool,
) -> bool {
    ordinals[call] == ordinal || ordinals[call] + 1 == ordinal && ends_message(call)
}
