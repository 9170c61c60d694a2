//! Calls that wait for their results at the end of a context.

use std::collections::HashSet;

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::Operation;
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::store::View;

/// How many messages with results are looked at before the whole context is.
const RESULTS_BEHIND: usize = 16;

/// How far ahead the results of an open call are looked for, in commits.
const RESULTS_AHEAD: u64 = 64;

/// A context that ends with a tool call that has no result yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// The number, from 1, of the message that calls.
    pub number: usize,
    /// The number of the last message that answers it on the path that one came from, and the
    /// commit there.
    pub answered: Option<(usize, CommitHash)>,
}

impl Repo {
    /// Where `tip`'s context ends with an open tool call, and where on the path to `after` its
    /// results are.
    pub fn open_call(
        &self,
        tip: &CommitHash,
        after: Option<&CommitHash>,
    ) -> Result<Option<OpenCall>> {
        open_call(&*self.store.read()?, tip, after)
    }
}

/// Whether the last commits alone say that no call waits: what was appended last, back to the message
/// that calls.
fn ends_answered(view: &dyn View, tip: &CommitHash) -> Result<bool> {
    let mut answered: HashSet<String> = HashSet::new();
    for row in view.ancestors(tip, None, RESULTS_BEHIND)? {
        let Operation::Append { content } = row.commit.operation else {
            return Ok(false);
        };
        let message = load::content(view, &content)?;
        answered.extend(message.results().map(str::to_owned));
        if message.calls().next().is_some() || message.results().next().is_none() {
            return Ok(message.calls().all(|id| answered.contains(id)));
        }
    }
    Ok(false)
}

/// The calls that wait at the end of the context at `tip`.
pub(crate) fn open_call(
    view: &dyn View,
    tip: &CommitHash,
    after: Option<&CommitHash>,
) -> Result<Option<OpenCall>> {
    // Most commits are plain words, and then the context need not be read.
    if let Operation::Append { content } = load::commit(view, tip)?.commit.operation {
        let row = view.content_row(&content)?;
        if row.is_some_and(|row| row.calls == 0 && row.results == 0) {
            return Ok(None);
        }
    }
    if ends_answered(view, tip)? {
        return Ok(None);
    }
    let context = load::context(view, tip)?;
    // Open calls stand at the end: the last message that calls, and what answers it.
    let mut waiting: Vec<String> = Vec::new();
    let mut answered: HashSet<String> = HashSet::new();
    let mut number = context.entries.len();
    for entry in context.entries.iter().rev() {
        let message = load::message(view, entry)?;
        answered.extend(message.results().map(str::to_owned));
        if message.calls().next().is_some() || message.results().next().is_none() {
            let open = message.calls().filter(|id| !answered.contains(*id));
            waiting = open.map(str::to_owned).collect();
            break;
        }
        number -= 1;
    }
    if waiting.is_empty() {
        return Ok(None);
    }
    let mut open = OpenCall {
        number,
        answered: None,
    };
    let Some(after) = after.filter(|after| *after != tip) else {
        return Ok(Some(open));
    };
    if !view.is_ancestor(tip, after)? {
        return Ok(Some(open));
    }
    let depth = load::commit(view, tip)?.depth;
    for ahead in 1..=RESULTS_AHEAD {
        let Some(next) = view.ancestor_at(after, depth + ahead)? else {
            break;
        };
        let row = load::commit(view, &next)?;
        if let Operation::Append { content } = row.commit.operation {
            let message = load::content(view, &content)?;
            let before = waiting.len();
            waiting.retain(|id| !message.results().any(|done| done == id));
            if waiting.len() < before {
                let number = context.entries.len() + ahead as usize;
                open.answered = Some((number, next));
            }
        }
        if waiting.is_empty() {
            break;
        }
    }
    Ok(Some(open))
}
