//! What a transaction knows without asking the database again: it wrote it itself, or has just read it.
//!
//! A batch asks of each message where the commit before it stands, which it has just put there, and
//! what the greatest number of a table is, which only itself makes greater: that was half of its
//! statements. Nobody else writes while a transaction is open, so it is true until its end, but for
//! what the transaction takes out itself: then all is forgotten.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use imbl::Vector;

use crate::context::Entry;
use crate::hash::{CommitHash, ContentHash};
use crate::store::checkpoint::Run;
use crate::store::lineage::Place;

/// What is known. Of a view, which gives way to writers, nothing is kept.
#[derive(Default)]
pub(super) struct Memo {
    /// The greatest number given in each table.
    ids: RefCell<BTreeMap<String, i64>>,
    /// The last two commits that were put here or looked for: one's parent, and it.
    places: Cell<[Option<(CommitHash, Place)>; 2]>,
    /// The last commit that was put here: no other follows it.
    end: Cell<Option<Place>>,
    /// How many contents were put here.
    grown: Cell<u64>,
    /// The last content.
    content: Cell<Option<(ContentHash, i64)>>,
    /// The longest run of the checkpoints that were put here, which the next one mostly goes on from.
    run: RefCell<Option<KnownRun>>,
}

/// Entries that stand in the database as a run.
struct KnownRun {
    entries: Vector<Entry>,
    /// Which of them is its first.
    first: usize,
    run: Run,
}

impl Memo {
    /// The number after the last one given, if one was.
    pub(super) fn next_id(&self, table: &str) -> Option<i64> {
        let mut ids = self.ids.borrow_mut();
        let id = ids.get_mut(table)?;
        *id += 1;
        Some(*id)
    }

    /// The first number given in a table.
    pub(super) fn gave(&self, table: &str, id: i64) {
        self.ids.borrow_mut().insert(table.to_owned(), id);
    }

    pub(super) fn place(&self, hash: &CommitHash) -> Option<Place> {
        let mut known = self.places.get().into_iter().flatten();
        known
            .find(|(known, _)| known == hash)
            .map(|(_, place)| place)
    }

    pub(super) fn saw(&self, hash: CommitHash, place: Place) {
        let [_, last] = self.places.get();
        self.places.set([last, Some((hash, place))]);
    }

    /// A commit was put here, at the end of its lineage.
    pub(super) fn put(&self, hash: CommitHash, place: Place) {
        self.saw(hash, place);
        self.end.set(Some(place));
    }

    /// Whether it is known that nothing follows a commit on its lineage.
    pub(super) fn is_end(&self, place: Place) -> bool {
        self.end.get() == Some(place)
    }

    pub(super) fn content(&self, hash: &ContentHash) -> Option<i64> {
        let (last, id) = self.content.get()?;
        (last == *hash).then_some(id)
    }

    pub(super) fn saw_content(&self, hash: ContentHash, id: i64) {
        self.content.set(Some((hash, id)));
    }

    /// What is known of the run that begins with one of these entries.
    pub(super) fn run(&self, entries: &Vector<Entry>, first: usize) -> Option<Run> {
        let known = self.run.borrow();
        let known = known.as_ref().filter(|known| known.first == first)?;
        let end = first + known.run.len;
        let is_same = || {
            let before = known.entries.iter().skip(first);
            before
                .take(known.run.len)
                .eq(entries.iter().skip(first).take(known.run.len))
        };
        (end <= entries.len() && is_same()).then_some(known.run)
    }

    pub(super) fn saw_run(&self, entries: &Vector<Entry>, first: usize, run: Run) {
        let mut known = self.run.borrow_mut();
        if known.as_ref().is_none_or(|known| known.run.len <= run.len) {
            let entries = entries.clone();
            *known = Some(KnownRun {
                entries,
                first,
                run,
            });
        }
    }

    /// How many contents were put here.
    pub(super) fn grown(&self) -> u64 {
        self.grown.get()
    }

    /// Counts a content that was put here.
    pub(super) fn grew(&self) {
        self.grown.set(self.grown.get() + 1);
    }

    /// Rows were taken out.
    pub(super) fn forget(&self) {
        self.ids.borrow_mut().clear();
        self.places.set([None, None]);
        self.end.set(None);
        self.content.set(None);
        self.run.take();
    }
}
