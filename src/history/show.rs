//! One commit, whole.

use crate::error::Result;
use crate::hash::CommitHash;
use crate::history::log::{LogOptions, LogRow};
use crate::history::repo::Repo;
use crate::history::walk;
use crate::interop::Span;
use crate::model::{Encoding, Message, Operation};

/// A commit with everything that belongs to it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The commit as a log lists it.
    pub row: LogRow,
    /// The message that it appends or gives to an entry.
    pub message: Option<Message>,
    /// What an edit replaced.
    pub replaced: Option<Message>,
    /// What a hide put in place, in order.
    pub replacements: Vec<Message>,
    /// The messages that went hidden, oldest first: one line each.
    pub hidden: Vec<String>,
    /// The records of the source behind it: format, and each record's place.
    pub source: Option<(String, Vec<Span>)>,
}

impl Repo {
    /// Everything about one commit.
    ///
    /// # Errors
    ///
    /// [`crate::Error::UnknownRevision`] if it is not here.
    pub fn show(&self, hash: &CommitHash, encoding: Encoding) -> Result<Shown> {
        let options = LogOptions {
            limit: 1,
            encoding,
            ..LogOptions::default()
        };
        let row = self
            .log(hash, &options)?
            .pop()
            .ok_or_else(|| crate::Error::UnknownRevision {
                text: hash.to_string(),
                nearest: None,
            })?;
        let view = self.store.read()?;
        let before = match row.commit.parent {
            Some(parent) => walk::context(&*view, &parent)?,
            None => crate::context::Context::default(),
        };
        let after = walk::context(&*view, hash)?;
        let (mut message, mut replaced, mut replacements) = (None, None, Vec::new());
        match &row.commit.operation {
            Operation::Append { content } => message = Some(walk::content(&*view, content)?),
            Operation::Edit { target, content } => {
                message = Some(walk::content(&*view, content)?);
                if let Some(entry) = before.entries.iter().find(|entry| entry.id == *target) {
                    replaced = Some(walk::message(&*view, entry)?);
                }
            }
            Operation::Hide(hide) => {
                for replacement in &hide.replacements {
                    replacements.push(walk::content(&*view, &replacement.content)?);
                }
            }
            Operation::Restore { .. } | Operation::Annotate { .. } => {}
        }
        let still: std::collections::HashSet<_> =
            after.entries.iter().map(|entry| entry.id).collect();
        let gone: Vec<_> = before
            .entries
            .iter()
            .filter(|entry| !still.contains(&entry.id))
            .map(|entry| entry.content)
            .collect();
        let hidden = view
            .content_rows(&gone)?
            .into_iter()
            .map(|row| format!("{} {}", row.role, row.preview))
            .collect();
        let source = match view.records(hash)?.into_iter().next() {
            Some((id, spans)) => view.source(id)?.map(|source| (source.format, spans)),
            None => None,
        };
        Ok(Shown {
            row,
            message,
            replaced,
            replacements,
            hidden,
            source,
        })
    }
}
