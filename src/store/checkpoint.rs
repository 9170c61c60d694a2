//! Checkpoints as bytes: a context, stored small, whatever engine keeps it.
//!
//! A run of plain appended entries on one lineage is three numbers; everything else is written out,
//! with rows in place of hashes. Deliberately absent: which rows there are, which each engine asks its
//! own tables.

use std::collections::{BTreeMap, HashMap};

use imbl::Vector;

use super::codec::{Packer, Unpacker};
use super::columns::{Column, Columns, damaged, get};
use crate::context::{Context, Entry, Mask, MaskedPart};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{EntryId, HideKind, Priority};

/// Another number: another codec, and older checkpoints count as absent.
const VERSION: u64 = 1;
const END: u64 = 0;
const RUN: u64 = 1;
const SINGLE: u64 = 2;

/// Entries that are all appends of a lineage between two depths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) lineage: i64,
    pub(super) first: i64,
    pub(super) last: i64,
    /// How many entries.
    pub(super) len: usize,
}

/// For each request setting the commit that set it.
pub(super) type Settings = BTreeMap<String, CommitHash>;

/// A commit, and the content that it appends.
pub(super) type Append = (CommitHash, ContentHash);

/// The rows behind the names in a context.
pub(super) trait Rows {
    /// The row of a commit, which must be here.
    fn commit_row(&self, commit: &CommitHash) -> Result<u64>;

    /// The row of a content, which must be here.
    fn content_row(&self, content: &ContentHash) -> Result<u64>;

    /// The longest run that begins `left` entries before the end. It holds every append of its lineage
    /// between its depths.
    fn run(&self, entries: &Vector<Entry>, left: usize) -> Result<Option<Run>>;
}

/// Whether nothing but its commit is needed to rebuild an entry.
pub(super) fn is_plain(entry: &Entry) -> bool {
    entry.id.index.is_none() && entry.priority == Priority::Normal && entry.is_as_appended()
}

/// A context as bytes.
pub(super) fn encode(rows: &impl Rows, context: &Context) -> Result<Vec<u8>> {
    let mut out = Packer::default();
    out.number(VERSION);
    out.number(context.total_entries);
    for hides in context.hides {
        out.number(hides.into());
    }
    out.number(context.settings.len() as u64);
    for (key, commit) in &context.settings {
        out.text(key);
        out.number(rows.commit_row(commit)?);
    }
    let mut entries = context.entries.iter().peekable();
    while let Some(entry) = entries.peek().copied() {
        let Some(run) = rows.run(&context.entries, entries.len())? else {
            single(rows, &mut out, entry)?;
            entries.next();
            continue;
        };
        out.number(RUN);
        for value in [run.lineage, run.first, run.last] {
            out.number(value.cast_unsigned());
        }
        entries.nth(run.len - 1);
    }
    out.number(END);
    Ok(out.0)
}

fn single(rows: &impl Rows, out: &mut Packer, entry: &Entry) -> Result<()> {
    out.number(SINGLE);
    out.number(rows.commit_row(&entry.id.commit)?);
    out.number(entry.id.index.map_or(0, |index| u64::from(index) + 1));
    out.number(rows.content_row(&entry.content)?);
    out.number(match entry.priority {
        Priority::Normal => 0,
        Priority::Pinned => 1,
        Priority::Skip => 2,
    });
    let placed = |placed| HideKind::ALL.iter().position(|kind| *kind == placed);
    let placed = entry.placed.and_then(placed);
    out.number(placed.map_or(0, |at| at as u64 + 1));
    out.number(entry.edited.into());
    let parts = entry.mask.parts();
    out.number(parts.len() as u64);
    for part in parts {
        out.number(part.part.into());
        let stub = part.stub.map(|stub| rows.content_row(&stub));
        out.number(stub.transpose()?.unwrap_or(0));
    }
    Ok(())
}

/// What stands behind the rows that a checkpoint names.
#[derive(Default)]
struct Names {
    commits: HashMap<i64, CommitHash>,
    contents: HashMap<i64, ContentHash>,
    /// The appends of each run; none of one of which a commit is not found.
    runs: Vec<Vec<Append>>,
}

/// Of each run, the appends among its commits, of which each is to be found once at its depth; `found`
/// has the run's place, the depth, and what the commit appends.
pub(super) fn whole_runs(
    runs: &[[i64; 3]],
    found: Vec<(usize, i64, Option<Append>)>,
) -> Vec<Vec<Append>> {
    let mut by_run: Vec<Vec<(i64, _)>> = vec![Vec::new(); runs.len()];
    for (run, depth, append) in found {
        by_run[run].push((depth, append));
    }
    let whole = by_run.into_iter().zip(runs);
    let whole = whole.map(|(mut run, [_, first, last])| {
        run.sort_unstable_by_key(|(depth, _)| *depth);
        if run.iter().map(|(depth, _)| *depth).eq(*first..=*last) {
            run.into_iter().filter_map(|(_, append)| append).collect()
        } else {
            Vec::new()
        }
    });
    whole.collect()
}

/// Checkpoints as an engine keeps them, and the names behind their rows.
pub(super) trait Checkpoints {
    /// The newest checkpoint on the path to `tip` of which `read` can make anything, with its commit.
    fn newest_data<T>(
        &self,
        tip: &CommitHash,
        read: impl Fn(&[u8]) -> Result<Option<T>>,
    ) -> Result<Option<(CommitHash, T)>>;

    /// These are asked for next, one after the other: an engine for which each question is dear asks for them at once.
    fn foresee_names(&self, commits: &[i64], contents: &[i64], runs: &[[i64; 3]]) -> Result<()> {
        let _ = (commits, contents, runs);
        Ok(())
    }

    /// The names of a table's rows.
    fn names<T: for<'r> Column<'r>>(&self, table: &str, rows: &[i64]) -> Result<HashMap<i64, T>>;

    /// Of each run, the appends among its commits, see [`whole_runs`].
    fn appends_of(&self, runs: &[[i64; 3]]) -> Result<Vec<Vec<Append>>>;
}

/// The context of a checkpoint; none of bytes that make no sense.
pub(super) fn decode(named: &impl Checkpoints, data: &[u8]) -> Result<Option<Context>> {
    let mut rows = Decoder::of(data, None);
    if rows.context().is_none() {
        return Ok(None);
    }
    named.foresee_names(&rows.commits, &rows.contents, &rows.runs)?;
    let names = Names {
        commits: named.names("commits", &rows.commits)?,
        contents: named.names("contents", &rows.contents)?,
        runs: named.appends_of(&rows.runs)?,
    };
    Ok(Decoder::of(data, Some(&names)).context())
}

/// What it says of settings, without its entries.
pub(super) fn decode_settings(named: &impl Checkpoints, data: &[u8]) -> Result<Option<Settings>> {
    let mut rows = Decoder::of(data, None);
    if rows.head().is_none() {
        return Ok(None);
    }
    let names = Names {
        commits: named.names("commits", &rows.commits)?,
        ..Names::default()
    };
    let head = Decoder::of(data, Some(&names)).head();
    Ok(head.map(|(_, _, settings)| settings))
}

/// A commit of a run: the run's place and the commit's depth, its hash, whether it appends nothing, and what.
pub(super) fn run_row(row: &impl Columns, run: usize) -> Result<(usize, i64, Option<Append>)> {
    let (content, is_other): (Option<ContentHash>, bool) = (get(row, 4)?, get(row, 3)?);
    if content.is_none() && !is_other {
        return Err(damaged("what a commit appends is missing"));
    }
    let commit: CommitHash = get(row, 2)?;
    let append = content.map(|content| (commit, content));
    Ok((run, get(row, 1)?, append))
}

/// Reads a checkpoint: without names only to learn which rows it names, then with them.
struct Decoder<'a> {
    input: Unpacker<'a>,
    names: Option<&'a Names>,
    commits: Vec<i64>,
    contents: Vec<i64>,
    /// Lineage, first and last depth.
    runs: Vec<[i64; 3]>,
}

impl<'a> Decoder<'a> {
    fn of(data: &'a [u8], names: Option<&'a Names>) -> Self {
        Self {
            input: Unpacker(data),
            names,
            commits: Vec::new(),
            contents: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// What stands before the entries: how many there are, the active hides, the settings.
    fn head(&mut self) -> Option<(u64, [u32; 5], Settings)> {
        (self.input.number()? == VERSION).then_some(())?;
        let total_entries = self.input.number()?;
        let mut hides = [0; 5];
        for count in &mut hides {
            *count = self.input.small()?;
        }
        let mut settings = Settings::new();
        for _ in 0..self.input.number()? {
            let key = self.input.text()?;
            settings.insert(key, self.commit()?);
        }
        Some((total_entries, hides, settings))
    }

    fn context(&mut self) -> Option<Context> {
        let (total_entries, hides, settings) = self.head()?;
        let mut entries = Vector::new();
        loop {
            match self.input.number()? {
                END => break,
                RUN => self.run(&mut entries)?,
                SINGLE => {
                    let entry = self.single()?;
                    entries.push_back(entry);
                }
                _ => return None,
            }
        }
        (self.input.is_done() && total_entries >= entries.len() as u64).then_some(Context {
            entries,
            settings,
            total_entries,
            hides,
        })
    }

    fn run(&mut self, entries: &mut Vector<Entry>) -> Option<()> {
        let lineage = self.input.small()?;
        let (first, last) = (self.input.small()?, self.input.small()?);
        self.runs.push([lineage, first, last]);
        let Some(names) = self.names else {
            return Some(());
        };
        let found = &names.runs[self.runs.len() - 1];
        (!found.is_empty()).then_some(())?;
        let plain = |(commit, content): &_| Entry::new(EntryId::of(*commit), *content, None);
        entries.extend(found.iter().map(plain));
        Some(())
    }

    fn single(&mut self) -> Option<Entry> {
        let commit = self.commit()?;
        let index = match self.input.number()? {
            0 => None,
            index => Some(u32::try_from(index - 1).ok()?),
        };
        let content = self.content()??;
        let priority = match self.input.number()? {
            0 => Priority::Normal,
            1 => Priority::Pinned,
            _ => return None,
        };
        let placed = match self.input.small::<usize>()? {
            0 => None,
            kind => Some(*HideKind::ALL.get(kind - 1)?),
        };
        let edited = self.input.number()? == 1;
        let mut parts = Vec::new();
        for _ in 0..self.input.number()? {
            let part = self.input.small()?;
            parts.push(MaskedPart {
                part,
                stub: self.content()?,
            });
        }
        Some(Entry {
            id: EntryId { commit, index },
            content,
            mask: Mask::new(parts),
            priority,
            placed,
            edited,
        })
    }

    fn commit(&mut self) -> Option<CommitHash> {
        let row = self.input.small::<i64>()?;
        let Some(names) = self.names else {
            self.commits.push(row);
            return Some(CommitHash::from_bytes([0; 32]));
        };
        names.commits.get(&row).copied()
    }

    /// A content's row, where 0 stands for none.
    #[allow(clippy::option_option)]
    fn content(&mut self) -> Option<Option<ContentHash>> {
        let row = self.input.small::<i64>()?;
        let Some(names) = self.names.filter(|_| row != 0) else {
            self.contents.push(row);
            return Some((row != 0).then_some(ContentHash::from_bytes([0; 32])));
        };
        names.contents.get(&row).copied().map(Some)
    }
}
