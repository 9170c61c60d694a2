//! What a reader goes back to: the moment before the user said something.

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{EntryId, Operation, Part};
use crate::repo::call::On;
use crate::repo::load;
use crate::repo::repository::Repo;

/// Something that the user said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its text.
    pub text: String,
    /// The commit before it; none where it is the first.
    pub before: Option<CommitHash>,
}

impl Repo {
    /// What `text` names, where that is a message of the user's.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve`].
    pub fn asked(&self, on: &On, text: &str) -> Result<Option<Asked>> {
        let commit = self.resolve(on, text)?;
        let view = self.store.read()?;
        let commit = load::commit(&*view, &commit)?;
        let Operation::Append { content } = commit.commit.operation else {
            return Ok(None);
        };
        // It may be another one by now.
        let entry = EntryId::of(commit.hash);
        let now = match self.head(on)?.commit() {
            Some(tip) => load::context(&*view, &tip)?,
            None => return Ok(None),
        };
        let message = match now.entries.iter().find(|it| it.id == entry) {
            Some(entry) => load::message(&*view, entry)?,
            None => load::content(&*view, &content)?,
        };
        let is_asked = !message.is_attached() && message.is_typed();
        let texts = message.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        });
        Ok(is_asked.then(|| Asked {
            text: texts.collect::<Vec<_>>().join("\n"),
            before: commit.commit.parent,
        }))
    }
}
