//! What a running client sends otherwise than its records say.
//!
//! A client that reads a session back sends what the records say, and so a context is compiled. The one
//! that wrote them sent some of it in another form for as long as it ran. Deliberately absent: which
//! messages that concerns.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::formats::Input;

/// What of a session was sent otherwise for one of its replies.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Running {
    /// Texts beside the result of a call, by its id, in their order: each with the place of the record
    /// that is read as a message of its own, where there is one, which then is not sent.
    pub beside: HashMap<String, Vec<(Option<u64>, String)>>,
    /// The arguments of calls, by their ids, where the file holds others.
    pub arguments: HashMap<String, String>,
    /// The places of the records that are read as messages of their own, and were not sent.
    pub unsent: HashSet<u64>,
    /// The ids of calls that were left out: a kill left them without result.
    pub left_out: HashSet<String>,
    /// The places of the records of replies of other models: their thinking was left out.
    pub of_other_models: HashSet<u64>,
    /// How much effort was asked for, as the `output_config` that says so, by the places of the records of replies: that of
    /// the reply itself among them. The client sends it where it changes.
    pub efforts: HashMap<u64, String>,
    /// Blocks of the system message that tells what is attached, by the places of the attachments' records.
    pub system_blocks: HashMap<u64, Vec<String>>,
    /// The places of the records of prompts that were given in mid-turn, and were sent as the user's own text.
    pub own_turn: HashSet<u64>,
    /// Whether the client, once it reads the session back, sends what it sent while it ran.
    pub is_sent_again: bool,
}

impl Running {
    /// What of it is sent for the next reply, too, whoever makes it.
    pub fn next(self) -> Self {
        if !self.is_sent_again {
            return Self::default();
        }
        Self {
            beside: self.beside,
            arguments: self.arguments,
            own_turn: self.own_turn,
            is_sent_again: true,
            ..Self::default()
        }
    }
}

/// Reads a session up to the record of a reply, which begins at an offset and is of a model, and says
/// what was sent for it.
pub type ReadRunning = fn(&dyn Input, u64, Option<&str>) -> Result<Running>;

/// Reads a session, and gives the client's ids of processes and agents that its records say to have ended.
pub type ReadEnded = fn(&dyn Input) -> Result<HashSet<String>>;
