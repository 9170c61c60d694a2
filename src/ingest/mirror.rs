//! A sub-agent that stands in two files: in one of its own, and as a mirror in the file of the session that
//! started it. Both are records of one conversation, which has one ref.
//!
//! The own file says more: mirrors lack texts and the final counts. So its path is the conversation's, whichever file
//! comes first, and what the mirror alone knows stands behind its end. Deliberately absent: which records
//! mirror others; the format says it by the name of a session's further path.

use std::collections::HashSet;

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{Draft, Message, Part, RefName};
use crate::repo::chain::Chain;
use crate::repo::{load, path};
use crate::store::{CommitRow, Tx, View};

/// How many of a path's messages are read at once.
const ROWS: usize = 64;

/// The ref of the session that started a sub-agent's, and the name of the sub-agent's below it.
pub(super) fn parent(agent: &RefName) -> Option<(RefName, &str)> {
    let (tool, id) = agent.as_session()?;
    let (parent, name) = id.rsplit_once('/')?;
    Some((RefName::session(tool, parent), name))
}

/// Whether a commit came in from the file of a session. Where a purge erased that file, any commit without records may
/// have.
pub(super) fn is_of(view: &dyn View, commit: &CommitHash, session: &RefName) -> Result<bool> {
    let records = view.records_of(commit)?;
    if records.is_empty() {
        return Ok(view.origin(session)?.is_some());
    }
    for (source, _) in records {
        if view
            .source(source)?
            .is_some_and(|row| row.session == *session)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The path to `own`, from a sub-agent's own file, with what the path to `mirror` says behind its end: the commits that
/// came from the file of `parent` after the last one whose message `own` has as well.
pub(super) fn joined(
    tx: &dyn Tx,
    own: CommitHash,
    mirror: CommitHash,
    parent: &RefName,
) -> Result<CommitHash> {
    let shared = path::last_shared(tx, &own, &mirror)?;
    let mut told = Told {
        tx,
        next: Some(own),
        marks: HashSet::new(),
    };
    let mut rest: Vec<(CommitRow, Message)> = Vec::new();
    for row in tx.ancestors(&mirror, shared.as_ref(), usize::MAX)? {
        let Some(content) = row.appended() else {
            break;
        };
        let message = load::content(tx, &content)?;
        if told.has(&message)? {
            break;
        }
        if is_of(tx, &row.hash, parent)? {
            rest.push((row, message));
        }
    }
    let mut chain = Chain::at(Some(own));
    for (row, message) in rest.into_iter().rev() {
        let draft = Draft {
            settings: row.commit.settings,
            ..Draft::append(message)
        };
        let commit = chain.commit_of(&draft, row.commit.time);
        if tx.commit(&commit.hash())?.is_some() {
            chain.follow(tx, commit.hash(), &commit)?;
            continue;
        }
        chain.add(tx, &draft.messages, &commit)?;
        if let Some(record) = &tx.usage_records(&[row.hash])?[0] {
            tx.put_usage_record(&commit.hash(), record)?;
        }
        for (source, spans) in tx.records_of(&row.hash)? {
            tx.put_records(&commit.hash(), source, &spans)?;
        }
    }
    Ok(chain.tip().unwrap_or(own))
}

/// What the messages of a path say, read from its end on as far as anybody asks.
struct Told<'a> {
    tx: &'a dyn Tx,
    /// The newest commit that was not read.
    next: Option<CommitHash>,
    marks: HashSet<String>,
}

impl Told<'_> {
    /// Whether any message of the path is another record of this one: it has one of its calls, or answers one that this
    /// one answers; of a message without calls, one of its texts.
    fn has(&mut self, message: &Message) -> Result<bool> {
        let ids = ids(message);
        let marks = if ids.is_empty() { texts(message) } else { ids };
        while !marks.iter().any(|mark| self.marks.contains(mark)) {
            let Some(next) = self.next else {
                return Ok(false);
            };
            let rows = self.tx.ancestors(&next, None, ROWS)?;
            self.next = rows.last().and_then(|row| row.commit.parent);
            let contents: Vec<_> = rows.iter().filter_map(CommitRow::appended).collect();
            for message in load::contents(self.tx, &contents)? {
                self.marks.extend(self::ids(&message));
                self.marks.extend(texts(&message));
            }
        }
        Ok(true)
    }
}

/// A message's calls, and the calls that it answers.
fn ids(message: &Message) -> Vec<String> {
    let calls = message.calls().map(|id| format!("call {id}"));
    let results = message.results().map(|id| format!("result {id}"));
    calls.chain(results).collect()
}

/// A message's texts, by its role.
fn texts(message: &Message) -> Vec<String> {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(format!("{} {text}", message.role.as_str())),
        _ => None,
    });
    texts.collect()
}
