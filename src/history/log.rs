//! The commits of a path, newest first, each with what it did to the context and its tokens.

use std::collections::HashMap;

use crate::context::Context;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::history::change::Change;
use crate::history::counts::Counts;
use crate::history::repo::Repo;
use crate::history::totals::{Along, RunningTotal};
use crate::history::{load, path};
use crate::model::{Commit, Encoding, EntryId, Operation, RefName, Role, TokenCount};
use crate::store::{CommitRow, View};

/// How many commits are read at once while looking for those that match.
const PAGE: usize = 256;

/// What to list.
#[derive(Clone, Debug, Default)]
pub struct LogOptions {
    /// At most so many commits; 0: all.
    pub limit: usize,
    /// Leave out this commit and all that lead to it.
    pub until: Option<CommitHash>,
    /// Only these operations (`append`, `hide`, …), kinds of hide (`compaction`) and the words
    /// that a listing prints for them (`compact`); empty: all.
    pub operations: Vec<String>,
    /// What tokens are counted in.
    pub encoding: Encoding,
    /// Say of each message what parts it has, which reads its body.
    pub parts: bool,
    /// Say of each message which number it has in the context at the tip.
    pub numbers: bool,
}

/// One commit of a log.
#[derive(Clone, Debug)]
pub struct LogRow {
    /// Its hash.
    pub hash: CommitHash,
    /// The commit.
    pub commit: Commit,
    /// Who speaks in the message that it adds, edits, puts in place or annotates.
    pub role: Option<Role>,
    /// One line of that message; of a restore, what it restores. Hostile until escaped.
    pub preview: String,
    /// The types of that message's parts and how many there are of each, if asked for.
    pub parts: Vec<(&'static str, usize)>,
    /// The number of that message in the context at the tip, from 1, if asked for.
    pub number: Option<usize>,
    /// The change in the context's tokens.
    pub delta: i64,
    /// The change in the number of visible messages.
    pub messages: i64,
    /// The context's tokens at this commit.
    pub running: TokenCount,
    /// The refs that point here, HEAD included.
    pub refs: Vec<RefName>,
}

/// What the database says of the commits to list, before anything is counted.
struct Read {
    /// Oldest first, each with what happened before it that is not listed, and what it changed.
    rows: Vec<(CommitRow, Change, Change)>,
    /// The context before the first of them.
    base: Context,
    headlines: HashMap<CommitHash, Headline>,
    refs: HashMap<CommitHash, Vec<RefName>>,
    /// Where the entries stand in the context at the tip, if asked for.
    places: HashMap<EntryId, usize>,
}

impl Repo {
    /// Lists the commits from `tip` back, newest first, in the chain's order, whatever their times
    /// say. Reads the rows that it lists and those since the checkpoint before them, and sums up
    /// the visible messages there. Counts what has no count yet.
    ///
    /// ```
    /// use tract::history::{Call, CommitOptions, LogOptions, On, Repo};
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let said = [(Role::System, "You are helpful."), (Role::User, "Hi")];
    /// let drafts = said.map(|(role, text)| Draft::append(Message::text(role, text)));
    /// repo.commit(Call::default(), &drafts, &CommitOptions::default())?;
    ///
    /// let tip = repo.resolve(&On::Head, "HEAD")?;
    /// let rows = repo.log(&tip, &LogOptions::default())?;
    /// assert_eq!(rows[0].preview, "Hi");
    /// assert_eq!(rows[0].delta, 5);
    /// assert_eq!(rows[0].running.tokens, 16);
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) and [`Error::Damaged`](crate::Error::Damaged).
    pub fn log(&self, tip: &CommitHash, options: &LogOptions) -> Result<Vec<LogRow>> {
        let mut read = read(&*self.store.read()?, tip, options)?;
        let changes = read.rows.iter().flat_map(|(_, skipped, own)| {
            let all = [&skipped.gained, &skipped.lost, &own.gained, &own.lost];
            all.into_iter().flatten().map(|(_, entry)| entry)
        });
        let entries = read.base.entries.iter().chain(changes);
        let counts = Counts::of(&*self.store, entries, options.encoding)?;
        let mut total = RunningTotal::default();
        for entry in &read.base.entries {
            total.add(counts.get(entry));
        }
        let mut listed = Vec::with_capacity(read.rows.len());
        for (row, skipped, own) in read.rows {
            total.apply(&skipped, &counts);
            let before = total.total();
            total.apply(&own, &counts);
            let running = total.total();
            let headline = read.headlines.remove(&row.hash).unwrap_or_default();
            listed.push(LogRow {
                role: headline.role,
                preview: headline.preview,
                parts: headline.parts,
                number: headline
                    .entry
                    .and_then(|id| Some(read.places.get(&id)? + 1)),
                delta: running.tokens as i64 - before.tokens as i64,
                messages: own.messages(),
                running,
                refs: read.refs.get(&row.hash).cloned().unwrap_or_default(),
                hash: row.hash,
                commit: row.commit,
            });
        }
        listed.reverse();
        Ok(listed)
    }
}

fn read(view: &dyn View, tip: &CommitHash, options: &LogOptions) -> Result<Read> {
    let matching = matching(view, tip, options)?;
    let mut along = Along::default();
    let mut base = None;
    let mut rows = Vec::with_capacity(matching.len());
    let mut headlines = Vec::with_capacity(matching.len());
    for row in matching.into_iter().rev() {
        let left = along.context.clone();
        along.advance_to(view, &row)?;
        let skipped = match &base {
            Some(_) => Change::between(&left, &along.context),
            None => Change::default(),
        };
        base.get_or_insert_with(|| along.context.clone());
        headlines.push((row.hash, Headline::of(view, &row, &along.context)?));
        let own = along.step(view, &row)?;
        rows.push((row, skipped, own));
    }
    let mut read = Read {
        rows,
        base: base.unwrap_or_default(),
        headlines: HashMap::new(),
        refs: decorations(view)?,
        places: HashMap::new(),
    };
    if options.numbers {
        read.places = load::context(view, tip)?.positions();
    }
    read.headlines = spoken(view, headlines, options.parts)?;
    Ok(read)
}

/// The message that says what a commit is about.
#[derive(Default)]
struct Headline {
    entry: Option<EntryId>,
    content: Option<ContentHash>,
    role: Option<Role>,
    preview: String,
    parts: Vec<(&'static str, usize)>,
}

impl Headline {
    fn of(view: &dyn View, row: &CommitRow, before: &Context) -> Result<Self> {
        let about = |entry, content| Self {
            entry: Some(entry),
            content: Some(content),
            ..Self::default()
        };
        Ok(match &row.commit.operation {
            Operation::Append { content } => about(EntryId::of(row.hash), *content),
            Operation::Edit { target, content } => about(path::entry_of(view, *target)?, *content),
            Operation::Hide(hide) => {
                let id = EntryId::replacement(row.hash, 0, hide.replacements.len());
                let first = hide.replacements.first();
                first.map_or_else(Self::default, |first| about(id, first.content))
            }
            Operation::Restore { target, .. } => {
                let what = load::commit(view, target)?.commit.operation;
                Self {
                    preview: format!("{} {}", what.verb(), target.short()),
                    ..Self::default()
                }
            }
            Operation::Annotate { targets, .. } => {
                let Some(target) = targets.first() else {
                    return Ok(Self::default());
                };
                let id = path::entry_of(view, *target)?;
                let seen = before.entries.iter().rev().find(|entry| entry.id == id);
                let content = match seen {
                    Some(entry) => Some(entry.content),
                    None => path::made(view, &id)?,
                };
                Self {
                    entry: Some(id),
                    content,
                    ..Self::default()
                }
            }
        })
    }
}

/// Adds who speaks and what, for all of them at once.
fn spoken(
    view: &dyn View,
    headlines: Vec<(CommitHash, Headline)>,
    parts: bool,
) -> Result<HashMap<CommitHash, Headline>> {
    let contents: Vec<ContentHash> = headlines.iter().filter_map(|(_, h)| h.content).collect();
    let rows = load::rows(view, &contents)?;
    let mut spoken = HashMap::with_capacity(headlines.len());
    for (hash, mut headline) in headlines {
        if let Some(row) = headline.content.and_then(|content| rows.get(&content)) {
            headline.role = Some(row.role);
            headline.preview.clone_from(&row.preview);
            if parts {
                headline.parts = load::content(view, &row.hash)?.part_types();
            }
        }
        spoken.insert(hash, headline);
    }
    Ok(spoken)
}

/// The commits to list, newest first: back from `tip` until there are enough.
fn matching(view: &dyn View, tip: &CommitHash, options: &LogOptions) -> Result<Vec<CommitRow>> {
    let until = match &options.until {
        None => None,
        // Where the paths have parted, what both have is left out.
        Some(until) => match path::shared_commits(view, until, tip)? {
            0 => None,
            shared => view.ancestor_at(tip, shared - 1)?,
        },
    };
    let until = until.as_ref();
    let most = match options.limit {
        0 => usize::MAX,
        limit => limit,
    };
    if options.operations.is_empty() {
        return view.ancestors(tip, until, most);
    }
    let (mut found, mut next) = (Vec::new(), Some(*tip));
    while let Some(from) = next.filter(|from| until != Some(from)) {
        let read = view.ancestors(&from, until, PAGE)?;
        next = read.last().and_then(|row| row.commit.parent);
        let full = read.len() == PAGE;
        for row in read {
            if wanted(&row.commit.operation, &options.operations) {
                found.push(row);
                if found.len() == most {
                    return Ok(found);
                }
            }
        }
        if !full {
            break;
        }
    }
    Ok(found)
}

/// Whether an operation is one of those that these words name.
pub(crate) fn wanted(operation: &Operation, words: &[String]) -> bool {
    let matches = |word: &String| {
        let kind = match operation {
            Operation::Hide(hide) => word == hide.kind.as_str(),
            _ => false,
        };
        kind || word == operation.type_name() || word == operation.verb()
    };
    words.is_empty() || words.iter().any(matches)
}

/// The refs by the commit that they point at; HEAD first.
fn decorations(view: &dyn View) -> Result<HashMap<CommitHash, Vec<RefName>>> {
    let mut names: HashMap<CommitHash, Vec<RefName>> = HashMap::new();
    let head = crate::history::repo::head(view, &crate::history::On::Head)?;
    if let Some(commit) = head.commit() {
        names.entry(commit).or_default().push(RefName::head());
    }
    for (name, commit) in load::tips(view, "refs/")? {
        names.entry(commit).or_default().push(name);
    }
    Ok(names)
}
