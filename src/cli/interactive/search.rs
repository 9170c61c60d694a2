//! A search through a conversation, a few messages at a time.

use tract::Result;
use tract::ingest::Conversation;
use tract::repo::Repo;

use super::reel::Way;

/// How many messages are read at once.
const STEP: usize = 32;

/// A search under way.
pub struct Search {
    pub text: String,
    pub way: Way,
    /// Where it goes on: everything on this side is not looked at yet.
    pub at: usize,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Here.
    At(usize),
    NotYet,
    Nowhere,
}

impl Search {
    /// Looks at some more.
    pub fn step(&mut self, talk: &Conversation, repo: &Repo) -> Result<Found> {
        let range = match self.way {
            Way::Up => self.at.saturating_sub(STEP)..self.at.min(talk.len()),
            Way::Down => self.at..(self.at + STEP).min(talk.len()),
        };
        if range.is_empty() {
            return Ok(Found::Nowhere);
        }
        let found = talk.find(repo, range.clone(), &self.text)?;
        let (found, next) = match self.way {
            Way::Up => (found.last(), range.start),
            Way::Down => (found.first(), range.end),
        };
        self.at = next;
        Ok(found.map_or(Found::NotYet, |place| Found::At(*place)))
    }
}
