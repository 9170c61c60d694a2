//! A search in a session's file, without a repository.
//!
//! Deliberately absent: which files there are, and how long anybody waits for them.

use std::path::Path;

use super::inspect::SessionInput;
use crate::error::Result;
use crate::formats::{Action, BranchStart, SessionEnd, SessionStart, Sink, Step};
use crate::model::pattern::{MatchedLine, Pattern};
use crate::model::{Message, Millis, Role};

/// What a search found in a session's file.
#[derive(Clone, Debug, Default)]
pub struct Sifted {
    /// The id of the last session in it.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// The directory that it ran in.
    pub cwd: Option<String>,
    /// The first messages that match, oldest first.
    pub messages: Vec<SiftedMessage>,
    /// How many match in all.
    pub count: usize,
}

/// A message of a file that matches.
#[derive(Clone, Debug)]
pub struct SiftedMessage {
    /// Who speaks.
    pub role: Role,
    /// When, by the file.
    pub time: Option<Millis>,
    /// The lines that match; hostile until escaped.
    pub lines: Vec<MatchedLine>,
}

/// Looks for messages in which all patterns match, on the main path of a session's file; keeps the first `limit`.
///
/// # Errors
///
/// As [`import`](super::import).
pub fn sift(path: &Path, patterns: &[Pattern], limit: usize) -> Result<Sifted> {
    let mut sieve = Sieve {
        patterns,
        limit,
        found: Sifted::default(),
        is_branched: false,
    };
    SessionInput::open(path, None)?.read(None, &mut sieve)?;
    Ok(sieve.found)
}

/// Takes what a reader tells, and keeps what matches.
struct Sieve<'a> {
    patterns: &'a [Pattern],
    limit: usize,
    found: Sifted,
    is_branched: bool,
}

impl Sieve<'_> {
    fn take(&mut self, message: &Message, time: Option<Millis>) {
        if !self.patterns.iter().all(|pattern| pattern.is_in(message)) {
            return;
        }
        self.found.count += 1;
        if self.found.messages.len() < self.limit {
            let lines = self
                .patterns
                .iter()
                .flat_map(|pattern| pattern.lines(message));
            self.found.messages.push(SiftedMessage {
                role: message.role,
                time,
                lines: lines.collect(),
            });
        }
    }
}

impl Sink for Sieve<'_> {
    fn session(&mut self, start: SessionStart) -> Result<()> {
        self.found.id = start.id;
        Ok(())
    }

    fn branch(&mut self, _: BranchStart) -> Result<()> {
        self.is_branched = true;
        Ok(())
    }

    fn step(&mut self, step: Step) -> Result<()> {
        match step.action {
            Action::Append(message) if !self.is_branched => self.take(&message, step.time),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.found.title = end.title;
        self.found.cwd = end.cwd;
        Ok(())
    }
}
