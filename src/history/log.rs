//! The commits of a path, newest first, each with what it did to the context and its tokens.

use std::collections::HashMap;

use crate::context::Context;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::history::repo::Repo;
use crate::history::{tokens, walk};
use crate::model::tokens::context_total;
use crate::model::{Commit, Encoding, EntryId, Operation, RefName, RefValue, Role, TokenCount};
use crate::store::{CommitRow, CountKey, View};

/// How many commits are read at once while looking for those that match.
const PAGE: usize = 256;

/// What to list.
#[derive(Clone, Debug, Default)]
pub struct LogOptions {
    /// At most so many commits; 0: all.
    pub limit: usize,
    /// Stop before this commit.
    pub until: Option<CommitHash>,
    /// Only these operations (`append`, `hide`, …), kinds of hide (`compaction`) and the words
    /// that a listing prints for them (`compact`); empty: all.
    pub operations: Vec<String>,
    /// What tokens are counted in.
    pub encoding: Encoding,
}

/// One commit of a log.
#[derive(Clone, Debug)]
pub struct LogRow {
    /// Its hash.
    pub hash: CommitHash,
    /// The commit.
    pub commit: Commit,
    /// Who speaks in the message that it adds or edits.
    pub role: Option<Role>,
    /// One line of that message, or of a hide's first replacement. Hostile until escaped.
    pub preview: String,
    /// The change in the context's tokens.
    pub delta: i64,
    /// The change in the number of visible messages.
    pub messages: i64,
    /// The context's tokens at this commit.
    pub running: TokenCount,
    /// The number, from 1, among the visible messages at this commit, of the message that it
    /// appends, edits or puts in place; none where that is hidden, or where there is none.
    pub number: Option<usize>,
    /// The refs that point here, HEAD included.
    pub refs: Vec<RefName>,
}

impl Repo {
    /// Lists the commits from `tip` back, newest first, in the chain's order.
    ///
    /// Counts what has no count yet.
    pub fn log(&self, tip: &CommitHash, options: &LogOptions) -> Result<Vec<LogRow>> {
        let (rows, mut context, names) = {
            let view = self.store.read()?;
            let rows = matching(&*view, tip, options)?;
            let before = rows.last().and_then(|row| row.commit.parent);
            let context = match before {
                Some(parent) => walk::context(&*view, &parent)?,
                None => Context::default(),
            };
            (rows, context, decorations(&*view)?)
        };
        let mut known: HashMap<CountKey, TokenCount> = HashMap::new();
        let mut total = self.total(&context, options.encoding, &mut known)?;
        let mut listed = Vec::with_capacity(rows.len());
        for row in rows.into_iter().rev() {
            let next = match context.step(row.hash, &row.commit)? {
                Some(next) => next,
                None => self.context(&row.hash)?,
            };
            let running = self.total_after(&next, &row, total, options.encoding, &mut known)?;
            if wanted(&row.commit.operation, &options.operations) {
                let (role, preview) = self.headline(&row, &context)?;
                listed.push(LogRow {
                    role,
                    preview,
                    delta: running.tokens as i64 - total.tokens as i64,
                    messages: next.entries.len() as i64 - context.entries.len() as i64,
                    running,
                    number: number(&row, &next),
                    refs: names.get(&row.hash).cloned().unwrap_or_default(),
                    hash: row.hash,
                    commit: row.commit,
                });
            }
            (context, total) = (next, running);
        }
        listed.reverse();
        if options.limit > 0 {
            listed.truncate(options.limit);
        }
        Ok(listed)
    }

    /// The tokens of a whole context; what is known is not asked for again.
    fn total(
        &self,
        context: &Context,
        encoding: Encoding,
        known: &mut HashMap<CountKey, TokenCount>,
    ) -> Result<TokenCount> {
        let missing: Vec<_> = context
            .entries
            .iter()
            .filter(|entry| !known.contains_key(&tokens::key(entry)))
            .collect();
        let counts = tokens::of_entries(&*self.store, &missing, encoding)?;
        known.extend(missing.iter().map(|entry| tokens::key(entry)).zip(counts));
        Ok(context_total(
            context
                .entries
                .iter()
                .map(|entry| known[&tokens::key(entry)]),
        ))
    }

    /// The tokens after `row`: an append adds its own, everything else is summed anew.
    fn total_after(
        &self,
        context: &Context,
        row: &CommitRow,
        before: TokenCount,
        encoding: Encoding,
        known: &mut HashMap<CountKey, TokenCount>,
    ) -> Result<TokenCount> {
        let last = context
            .entries
            .last()
            .filter(|entry| entry.id == EntryId::of(row.hash));
        match (&row.commit.operation, last) {
            (Operation::Append { .. }, Some(entry)) if context.entries.len() > 1 => {
                let key = tokens::key(entry);
                let count = match known.get(&key) {
                    Some(count) => *count,
                    None => {
                        let count = tokens::of_entries(&*self.store, &[entry], encoding)?[0];
                        known.insert(key, count);
                        count
                    }
                };
                Ok(before + count)
            }
            _ => self.total(context, encoding, known),
        }
    }

    /// Who speaks and what, in the message that a commit brings.
    fn headline(&self, row: &CommitRow, before: &Context) -> Result<(Option<Role>, String)> {
        let view = self.store.read()?;
        let content = match &row.commit.operation {
            Operation::Append { content } | Operation::Edit { content, .. } => Some(*content),
            Operation::Hide(hide) => hide.replacements.first().map(|r| r.content),
            Operation::Restore { .. } => None,
            Operation::Annotate {
                targets, priority, ..
            } => {
                let shown = targets
                    .first()
                    .and_then(|target| before.entries.iter().find(|entry| entry.id == *target));
                let Some(entry) = shown else {
                    return Ok((None, priority.to_string()));
                };
                Some(entry.content)
            }
        };
        let Some(content) = content else {
            let target = match &row.commit.operation {
                Operation::Restore { target, .. } => target.short(),
                _ => String::new(),
            };
            return Ok((None, target));
        };
        let found = view.content_rows(&[content])?.pop();
        Ok(found.map_or((None, String::new()), |row| (Some(row.role), row.preview)))
    }
}

/// The commits to walk: back from `tip` until enough of them match.
fn matching(view: &dyn View, tip: &CommitHash, options: &LogOptions) -> Result<Vec<CommitRow>> {
    let until = options.until.as_ref();
    if options.limit == 0 {
        return view.ancestors(tip, until, usize::MAX);
    }
    let page = if options.operations.is_empty() {
        options.limit
    } else {
        PAGE
    };
    let (mut rows, mut found, mut next) = (Vec::new(), 0, Some(*tip));
    while let Some(from) = next {
        let read = view.ancestors(&from, until, page)?;
        let full = read.len() == page;
        next = read
            .last()
            .and_then(|row| row.commit.parent)
            .filter(|_| full);
        if until.is_some() && next.as_ref() == until {
            next = None;
        }
        for row in read {
            found += usize::from(wanted(&row.commit.operation, &options.operations));
            rows.push(row);
            if found == options.limit {
                return Ok(rows);
            }
        }
    }
    Ok(rows)
}

/// Whether an operation is one of those that these words name.
pub(crate) fn wanted(operation: &Operation, words: &[String]) -> bool {
    let matches = |word: &String| {
        let kind = match operation {
            Operation::Hide(hide) => word == hide.kind.as_str() || word == hide.kind.verb(),
            _ => false,
        };
        kind || word == operation.type_name()
    };
    words.is_empty() || words.iter().any(matches)
}

/// The number in `context` of the message that a commit is about.
fn number(row: &CommitRow, context: &Context) -> Option<usize> {
    let id = match &row.commit.operation {
        Operation::Append { .. } => {
            // Almost always the last one.
            let last = context.entries.last()?;
            if last.id == EntryId::of(row.hash) {
                return Some(context.entries.len());
            }
            EntryId::of(row.hash)
        }
        Operation::Edit { target, .. } => *target,
        Operation::Hide(hide) if !hide.replacements.is_empty() => {
            EntryId::replacement(row.hash, 0, hide.replacements.len())
        }
        _ => return None,
    };
    Some(context.position(&id)? + 1)
}

/// The refs by the commit that they point at; HEAD first.
fn decorations(view: &dyn View) -> Result<HashMap<CommitHash, Vec<RefName>>> {
    let mut names: HashMap<CommitHash, Vec<RefName>> = HashMap::new();
    let head = crate::history::repo::head(view, &crate::history::On::Head)?;
    if let Some(commit) = head.commit() {
        names.entry(commit).or_default().push(RefName::head());
    }
    for (name, value) in view.references("refs/")? {
        if let RefValue::Commit(commit) = value {
            names.entry(commit).or_default().push(name);
        }
    }
    Ok(names)
}
