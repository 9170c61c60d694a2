//! What a check finds wrong, whatever engine read it. Deliberately absent: which rows are read, and what is
//! damaged in an engine's own ways.

use std::collections::{BTreeMap, BTreeSet};

use super::codec::unpack_spans;
use super::columns::{Columns, get};
use super::grams::Terms;
use super::indexed::Indexed;
use super::rows::{self, Shown};
use super::tables::SEGMENTS;
use super::words::{self, Shelf, WordSum};
use super::{Checked, Fault};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::word_weights::weighed;
use crate::model::{Commit, Message, Operation, RefName, Span, is_tombstone};

/// Who is told of faults and of progress, and may end it.
pub(super) type Tell<'a> = &'a mut dyn FnMut(Checked, Option<Fault>) -> Result<()>;

/// Where a ref is: the row of a commit, or another ref's name; neither: it is not there.
pub(super) type At = (Option<i64>, Option<Vec<u8>>);

/// Such a place in two columns.
pub(super) fn at(row: &impl Columns, first: usize) -> Result<At> {
    Ok((get(row, first)?, get(row, first + 1)?))
}

/// Refs against the log of their moves.
pub(super) struct RefLogs {
    refs: BTreeMap<String, At>,
    /// Where the last move has put each, and whether one before it did not begin where its predecessor ended.
    logs: BTreeMap<String, (At, bool)>,
}

impl RefLogs {
    pub(super) fn of(refs: Vec<(String, At)>) -> Self {
        Self {
            refs: refs.into_iter().collect(),
            logs: BTreeMap::new(),
        }
    }

    /// Takes the next move in a row: the ref's name, where it was, where it is.
    pub(super) fn moved(&mut self, row: &impl Columns) -> Result<()> {
        let (was, has_gap) = self.logs.entry(get(row, 0)?).or_default();
        *has_gap |= *was != at(row, 1)?;
        *was = at(row, 3)?;
        Ok(())
    }

    /// What is wrong, of refs that were deleted too.
    fn faults(self) -> Vec<Fault> {
        let names: BTreeSet<&String> = self.refs.keys().chain(self.logs.keys()).collect();
        let nowhere = At::default();
        let faults = names.into_iter().filter_map(|name| {
            let log = self.logs.get(name);
            let (last, has_gap) = log.map_or((&nowhere, false), |(at, gap)| (at, *gap));
            let is_there = self.refs.get(name).unwrap_or(&nowhere) == last;
            let why = match (has_gap, is_there) {
                (false, true) => return None,
                (true, _) => "its log has a gap",
                (false, false) => "it is not where its log says",
            };
            let name = name.clone();
            Some(Fault::Ref { name, why })
        });
        faults.collect()
    }
}

/// A check under way.
pub(super) struct Check<'t> {
    /// How far it is.
    pub(super) done: Checked,
    tell: Tell<'t>,
    /// Why whoever is told wants no more.
    stopped: Option<Error>,
    /// After how many objects it is told how far it is; none where the engine says so itself.
    step: Option<u64>,
    /// Whether the engine repairs what is damaged of objects.
    mends: bool,
    terms: Terms,
    /// Rows of the search index that are not as they should be.
    pub(super) astray: u64,
    /// What the index of words says of contents, and how much of it is not so.
    words: Indexed<WordSum>,
    words_astray: u64,
    /// Commits with what each has merged.
    merging: Vec<(CommitHash, CommitHash)>,
}

impl<'t> Check<'t> {
    pub(super) fn new(tell: Tell<'t>, step: Option<u64>, mends: bool) -> Self {
        Self {
            done: Checked::default(),
            tell,
            stopped: None,
            step,
            mends,
            terms: Terms::new(),
            astray: 0,
            words: Indexed::default(),
            words_astray: 0,
            merging: Vec::new(),
        }
    }

    /// Reads the index of words, to which contents are held from now on.
    pub(super) fn read_words(&mut self, shelf: &impl Shelf) -> Result<()> {
        match words::indexed(shelf) {
            Ok(words) => self.words = words,
            // It cannot even be read through, and can be made again.
            Err(Error::Damaged { .. }) => self.words_astray = 1,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    pub(super) fn fault(&mut self, fault: Fault) {
        let told = (self.tell)(self.done, Some(fault));
        self.stopped = self.stopped.take().or(told.err());
    }

    /// Tells how far it is.
    ///
    /// # Errors
    ///
    /// What whoever is told fails with, if it wants no more.
    pub(super) fn progress(&mut self) -> Result<()> {
        match self.stopped.take() {
            Some(error) => Err(error),
            None => (self.tell)(self.done, None),
        }
    }

    fn step(&mut self) -> Result<()> {
        let done = self.done.contents + self.done.commits + self.done.sources;
        match self.step {
            Some(step) if done.is_multiple_of(step) => self.progress(),
            _ => Ok(()),
        }
    }

    /// A content, by its number in the engine: its body, unpacked if there is one and it can be; what its row shows, if that is as it was
    /// written; and whether what is indexed of it are the terms of its message.
    pub(super) fn content(
        &mut self,
        (id, hash): (i64, ContentHash),
        body: Option<Option<Vec<u8>>>,
        shown: Option<Shown>,
        is_indexed: impl FnOnce(&mut Terms, &Message) -> bool,
    ) -> Result<()> {
        self.done.contents += 1;
        self.step()?;
        let (why, mends) = match body {
            Some(_) => ("its body is not what was written", self.mends),
            None => ("its body is missing", false),
        };
        let words = self.words.take(id);
        let Some((message, size_bytes)) = body.flatten().and_then(|body| message(&hash, &body))
        else {
            self.fault(Fault::Content { hash, why, mends });
            return Ok(());
        };
        // What a purge erased may be indexed or not.
        let is_erased = is_tombstone(&hash, message.canonical().as_bytes());
        let is_right = is_erased || is_indexed(&mut self.terms, &message);
        self.astray += u64::from(!is_right);
        let has_words = |words| words == WordSum::of(&weighed(&message));
        let is_right = is_erased || words.is_none_or(has_words);
        self.words_astray += u64::from(!is_right);
        let wanted = Shown::of_size(&message, size_bytes);
        if !shown.is_some_and(|shown| shown.is_of(wanted, &message)) {
            self.fault(Fault::Listing { hash });
        }
        Ok(())
    }

    /// What is astray in the search index, once all contents were told.
    pub(super) fn indexed(&mut self) {
        let words = self.words_astray + self.words.left();
        let of_words = SEGMENTS.derived.unwrap_or_default();
        for (what, rows) in [("the search index", self.astray), (of_words, words)] {
            if rows > 0 {
                self.fault(Fault::Derived { what, rows });
            }
        }
    }

    /// A commit beside its parent, from a column on: its hash, text and depth, its parent's hash and depth, the
    /// hash of what its row says it appends, and whether its lineage goes on where the parent's does, or began
    /// there.
    pub(super) fn commit(
        &mut self,
        row: &impl Columns,
        first: usize,
        is_sealed: bool,
        mut is_here: impl FnMut(&ContentHash) -> bool,
    ) -> Result<()> {
        self.done.commits += 1;
        self.step()?;
        let hash: CommitHash = get(row, first)?;
        let text = row.text(first + 1).ok();
        let text = text.filter(|text| hash.names(text.as_bytes()));
        let commit = text.and_then(|text| Commit::from_canonical(text).ok());
        let may_mend = self.mends;
        let mut wrong = |why, mends| self.fault(Fault::Commit { hash, why, mends });
        let Some(commit) = commit else {
            // Its name may be what is wrong.
            wrong("its text is not what was written", !is_sealed);
            return Ok(());
        };
        let parent: Option<CommitHash> = get(row, first + 3)?;
        let above: Option<i64> = get(row, first + 4)?;
        let depth = above.map_or(0, |above| above + 1);
        let appended: Option<ContentHash> = get(row, first + 5)?;
        let named = match commit.operation {
            Operation::Append { content } => Some(content),
            _ => None,
        };
        if parent != commit.parent || row.number(first + 2)? != depth || !row.flag(first + 6)? {
            wrong("it does not stand where its parent says", may_mend);
        } else if appended != named || !is_sealed {
            wrong("its row is not as it was written", may_mend);
        }
        for content in commit.operation.contents() {
            if !is_here(&content) {
                wrong("a message that it names is missing", false);
            }
        }
        self.merging
            .extend(commit.merged.map(|merged| (hash, merged)));
        Ok(())
    }

    /// What commits have merged must be here, once all commits were told.
    pub(super) fn merged(
        &mut self,
        mut is_here: impl FnMut(&CommitHash) -> Result<bool>,
    ) -> Result<()> {
        for (hash, merged) in std::mem::take(&mut self.merging) {
            if !is_here(&merged)? {
                let why = "the commit that it merged is missing";
                let mends = false;
                self.fault(Fault::Commit { hash, why, mends });
            }
        }
        Ok(())
    }

    /// Each ref against the log of its moves, those that were deleted too.
    pub(super) fn refs(&mut self, logs: RefLogs) {
        for fault in logs.faults() {
            self.fault(fault);
        }
    }

    /// How many branches were worked on last at another time than is kept.
    pub(super) fn activity(&mut self, wrong: Option<u64>) {
        let what = "when branches were worked on last";
        if let Some(rows) = wrong.filter(|rows| *rows > 0) {
            self.fault(Fault::Derived { what, rows });
        }
    }

    /// A kept source, whose bytes are what was imported or not, and which holds all records behind commits or not.
    pub(super) fn source(&mut self, session: Option<RefName>, is_whole: bool, holds_all: bool) {
        let why = match (is_whole, holds_all) {
            (true, true) => return,
            (true, false) => "a record behind a commit is not in it",
            (false, _) => "its bytes are not what was imported",
        };
        self.fault(Fault::Source { session, why });
    }
}

/// The message of a body, which must be that of its name, and the size of its text.
pub(super) fn message(hash: &ContentHash, body: &[u8]) -> Option<(Message, usize)> {
    let canonical = rows::canonical(hash, body).ok()?;
    Some((Message::from_canonical(canonical).ok()?, canonical.len()))
}

/// Whether the records of packed spans lie within a source of so many bytes.
pub(super) fn are_inside(spans: &[u8], size_bytes: u64) -> bool {
    let is_inside = |span: &Span| {
        let end = span.offset.checked_add(span.len);
        end.is_some_and(|end| end <= size_bytes)
    };
    unpack_spans(spans).is_ok_and(|spans| spans.iter().all(is_inside))
}
