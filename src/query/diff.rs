//! Two commits' contexts read, to be compared.

mod omissions;
mod prefix;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::context::{Context, Entry};
use crate::diff::{ContextDiff, DiffOptions, Side};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{Commit, Encoding, EntryId, Message, Part, Total};
use crate::repo::outline::Listed;
use crate::repo::repository::Repo;
use crate::repo::stretches::Outline;
use crate::repo::{counts, load, path, pictures, totals};
use crate::store::{CommitRow, CountKey, View};

/// How many entries are read at once.
const PAGE: usize = if cfg!(test) { 8 } else { 4_096 };
/// How many entries before the others are first looked at for a call; then four times as many.
const CALL_PAGE: usize = if cfg!(test) { 2 } else { 16 };
/// How many commits between two are looked at for whether any sets anything.
const NEAR: usize = 4_096;

impl Repo {
    /// What changed from the context at `before` to the context at `after`; none is the empty
    /// context before any commit.
    ///
    /// Reads both contexts whole; what they share is read once.
    ///
    /// # Errors
    ///
    /// [`crate::Error::UnknownRevision`] if a commit is not here.
    ///
    /// ```
    /// use tract::diff::DiffOptions;
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::model::{Draft, Encoding, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let drafts = ["one", "two"].map(|text| Draft::append(Message::text(Role::User, text)));
    /// let made = repo.commit(Call::default(), &drafts, &CommitOptions::default())?;
    ///
    /// let (one, two) = (&made[0].hash, &made[1].hash);
    /// let options = DiffOptions::default();
    /// let diff = repo.diff(Some(one), Some(two), &options, Encoding::default())?;
    /// assert_eq!(diff.changes.len(), 1);
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn diff(
        &self,
        before: Option<&CommitHash>,
        after: Option<&CommitHash>,
        options: &DiffOptions,
        encoding: Encoding,
    ) -> Result<ContextDiff> {
        let mut old = self.side(before, encoding)?;
        let mut new = self.side(after, encoding)?;
        let is_estimated = [&old, &new].iter().any(|side| side.total().estimated);
        if let Some(by_rule) = self.encoding_of_both([before, after], encoding, is_estimated)? {
            (old, new) = (self.side(before, by_rule)?, self.side(after, by_rule)?);
        }
        let view = self.store.read()?;
        old.known = known(&*view, &old, &new)?;
        new.known = known(&*view, &new, &old)?;
        old.messages = messages(&*view, &old, &Side::default())?;
        new.messages = messages(&*view, &new, &old)?;
        Ok(ContextDiff::new(old, new, options))
    }

    /// The same, where of what both contexts begin with nothing is read: it costs what differs and what comes after that,
    /// however long the contexts are. What they begin with is told by its length and its tokens alone, and, if the options
    /// say so, long runs of neighbours of one fate as well.
    ///
    /// # Errors
    ///
    /// [`crate::Error::UnknownRevision`] if a commit is not here.
    pub fn diff_of_rest(
        &self,
        before: &CommitHash,
        after: &CommitHash,
        options: &DiffOptions,
        encoding: Encoding,
    ) -> Result<ContextDiff> {
        let diff = self.diff_in(before, after, options, encoding)?;
        let sides = [&diff.before, &diff.after];
        let is_estimated = sides.iter().any(|side| side.total().estimated);
        match self.encoding_of_both([Some(before), Some(after)], encoding, is_estimated)? {
            Some(by_rule) => self.diff_in(before, after, options, by_rule),
            None => Ok(diff),
        }
    }

    /// The same in just this encoding.
    fn diff_in(
        &self,
        before: &CommitHash,
        after: &CommitHash,
        options: &DiffOptions,
        encoding: Encoding,
    ) -> Result<ContextDiff> {
        let view = self.store.read()?;
        let outlines = [Outline::of(&*view, before)?, Outline::of(&*view, after)?];
        let [old, new] = &outlines;
        let line = in_line(&*view, before, after)?;
        let shared = match &line {
            Some([early, _]) => early.depth + 1,
            None => view.shared(before, after)?,
        };
        let mut both = old.visible_in_common(new, shared);
        let [mut old, mut new] = [
            Side {
                commit: Some(*before),
                ..Side::default()
            },
            Side {
                commit: Some(*after),
                ..Side::default()
            },
        ];
        if sets_between(&*view, line.as_ref())? {
            for (side, outline) in [&mut old, &mut new].into_iter().zip(&outlines) {
                let by = view.settings_at(&outline.tip)?;
                let context = Context {
                    settings: by,
                    ..Context::default()
                };
                side.settings = load::settings(&*view, &context)?;
                side.set_by = set_by(&*view, &context)?;
            }
            for (key, by) in old.set_by.iter().chain(&new.set_by) {
                if old.settings.get(key) != new.settings.get(key) {
                    both = both.min(outlines[0].visible_before(&*view, by)?.unwrap_or(both));
                }
            }
        }
        let listed = outlines.each_ref().map(Outline::visible);
        let mut pieces = match &line {
            Some([early, _]) if options.ends_only && old.settings == new.settings => {
                let early = usize::from(early.hash != *before);
                omissions::pieces(&*view, &outlines, early, shared, both)?
            }
            _ => Vec::new(),
        };
        loop {
            for (which, side) in [&mut old, &mut new].into_iter().enumerate() {
                side.skipped = both;
                omissions::read(&*view, &listed[which], &pieces, which, side)?;
            }
            old.messages = messages(&*view, &old, &Side::default())?;
            new.messages = messages(&*view, &new, &old)?;
            if !omissions::refine(&mut pieces, [&old, &new], options) {
                break;
            }
        }
        drop(view);
        for side in [&mut old, &mut new] {
            let entries: Vec<&Entry> = side.entries.iter().collect();
            side.counts = counts::of_entries(&*self.store, &entries, encoding)?;
        }
        if pieces.is_empty() {
            let total = self.total_of_first(&listed[0], &old, encoding)?;
            (old.skipped_total, new.skipped_total) = (total, total);
        } else {
            self.weigh_omitted(&outlines, &pieces, [&mut old, &mut new], encoding)?;
        }
        let view = self.store.read()?;
        old.known = known(&*view, &old, &new)?;
        new.known = known(&*view, &new, &old)?;
        for side in [&mut old, &mut new] {
            side.callers = callers(&*view, &listed[0], side)?;
        }
        Ok(ContextDiff::new(old, new, options))
    }

    /// What both sides are counted in by one rule for pictures, that of the newer one: else the rule would tell them apart. None where
    /// they are counted so.
    fn encoding_of_both(
        &self,
        [before, after]: [Option<&CommitHash>; 2],
        encoding: Encoding,
        is_estimated: bool,
    ) -> Result<Option<Encoding>> {
        let Some(commit) = after.or(before) else {
            return Ok(None);
        };
        pictures::other(&*self.store.read()?, commit, encoding, is_estimated)
    }

    /// What the entries come to that a side skipped; no view may be open.
    fn total_of_first(&self, listed: &Listed, side: &Side, encoding: Encoding) -> Result<Total> {
        let Some(commit) = side.commit.filter(|_| side.skipped > PAGE) else {
            let view = self.store.read()?;
            let first = listed.read_in(&*view, 0..side.skipped)?;
            drop(view);
            let first: Vec<&Entry> = first.iter().map(|one| &one.entry).collect();
            let mut total = Total::default();
            total.extend(counts::of_entries(&*self.store, &first, encoding)?);
            return Ok(total);
        };
        let mut total = totals::of_commit(self, &commit, encoding)?;
        for count in &side.counts {
            total.remove(*count);
        }
        Ok(total)
    }

    /// One side of a comparison with a context of another repository, of whose history nothing is known here.
    ///
    /// # Errors
    ///
    /// [`crate::Error::UnknownRevision`] if the commit is not here.
    pub fn side_of(&self, commit: &CommitHash, encoding: Encoding) -> Result<Side> {
        let encoding = self.encoding_at(commit, encoding)?;
        let mut side = self.side(Some(commit), encoding)?;
        side.messages = messages(&*self.store.read()?, &side, &Side::default())?;
        Ok(side)
    }

    /// A commit.
    ///
    /// # Errors
    ///
    /// [`crate::Error::UnknownRevision`] if it is not here.
    pub fn commit_at(&self, hash: &CommitHash) -> Result<Commit> {
        Ok(load::commit(&*self.store.read()?, hash)?.commit)
    }

    /// Whether an entry is visible at a commit.
    ///
    /// # Errors
    ///
    /// [`crate::Error::UnknownRevision`] if the commit is not here.
    pub fn shows(&self, commit: &CommitHash, entry: &EntryId) -> Result<bool> {
        let view = self.store.read()?;
        let outline = Outline::of(&*view, commit)?;
        Ok(outline.visible_before(&*view, entry)?.is_some())
    }

    /// The entry that an edit gave its content.
    ///
    /// # Errors
    ///
    /// [`crate::Error::UnknownRevision`] if the commit is not here.
    pub fn edited_entry(&self, edit: &CommitHash) -> Result<EntryId> {
        path::entry_of(&*self.store.read()?, EntryId::of(*edit))
    }

    /// One side of a comparison, but for its messages and what the other knows of it.
    fn side(&self, commit: Option<&CommitHash>, encoding: Encoding) -> Result<Side> {
        let context = match commit {
            Some(commit) => self.context(commit)?,
            None => Context::default(),
        };
        let counts = self.counts_in(&context, encoding)?;
        let settings = self.settings(&context)?;
        Ok(Side {
            commit: commit.copied(),
            set_by: set_by(&*self.store.read()?, &context)?,
            entries: context.entries.into_iter().collect(),
            counts,
            settings,
            ..Side::default()
        })
    }
}

/// For each setting, the entry whose commit set it: the message appended or put in place with it,
/// or the one that an edit gave a new content.
fn set_by(view: &dyn View, context: &Context) -> Result<BTreeMap<String, EntryId>> {
    let mut set_by = BTreeMap::new();
    for (key, commit) in &context.settings {
        set_by.insert(key.clone(), path::entry_of(view, EntryId::of(*commit))?);
    }
    Ok(set_by)
}

/// The entries of `side` that the history of `other` knows.
fn known(view: &dyn View, side: &Side, other: &Side) -> Result<HashSet<EntryId>> {
    let ids = side.entries.iter().map(|entry| entry.id);
    let (Some(tip), Some(other_tip)) = (&side.commit, &other.commit) else {
        return Ok(HashSet::new());
    };
    if view.is_ancestor(tip, other_tip)? {
        return Ok(ids.collect());
    }
    let mut known: HashSet<EntryId> = other.entries.iter().map(|entry| entry.id).collect();
    let rest: Vec<EntryId> = ids.filter(|id| !known.contains(id)).collect();
    let commits: Vec<CommitHash> = rest.iter().map(|id| id.commit).collect();
    let on_path = view.are_ancestors(&commits, other_tip)?;
    let on_path = rest.into_iter().zip(on_path);
    known.extend(on_path.filter(|(_, on_path)| *on_path).map(|(id, _)| id));
    Ok(known)
}

/// The messages of `side`; those that `read` has as well are not read again.
fn messages(view: &dyn View, side: &Side, read: &Side) -> Result<Vec<Message>> {
    let have: HashMap<CountKey, &Message> = read
        .entries
        .iter()
        .map(counts::key)
        .zip(&read.messages)
        .collect();
    let had = |entry: &Entry| have.get(&counts::key(entry)).copied();
    let unread = side.entries.iter().filter(|entry| had(entry).is_none());
    let mut read = load::messages(view, unread)?.into_iter();
    let all = side.entries.iter().map(|entry| {
        let message = had(entry).cloned().or_else(|| read.next());
        message.expect("what one has not, the other has read")
    });
    Ok(all.collect())
}

/// The earlier and the later of two commits of which one leads to the other.
fn in_line(
    view: &dyn View,
    one: &CommitHash,
    other: &CommitHash,
) -> Result<Option<[CommitRow; 2]>> {
    for (early, late) in [(one, other), (other, one)] {
        if view.is_ancestor(early, late)? {
            return Ok(Some([
                load::commit(view, early)?,
                load::commit(view, late)?,
            ]));
        }
    }
    Ok(None)
}

/// Whether the settings at two commits may differ: not where one leads to the other, is near it, and none of
/// those between sets anything.
fn sets_between(view: &dyn View, line: Option<&[CommitRow; 2]>) -> Result<bool> {
    let Some([early, late]) = line else {
        return Ok(true);
    };
    let between = late.depth - early.depth;
    if between > NEAR as u64 {
        return Ok(true);
    }
    let rows = view.ancestors(&late.hash, None, between as usize)?;
    Ok(rows.iter().any(|row| !row.commit.settings.is_empty()))
}

/// The messages among those that a side skipped whose calls the others answer: for each result without a call among those
/// before it, the nearest call of its id. `listed` are all that are visible there.
fn callers(view: &dyn View, listed: &Listed, side: &Side) -> Result<Vec<Message>> {
    let mut called: HashSet<&str> = HashSet::new();
    let mut wanted: HashSet<String> = HashSet::new();
    for message in &side.messages {
        for part in &message.parts {
            match part {
                Part::ToolCall { id, .. } => drop(called.insert(id)),
                Part::ToolResult { call, .. } if !called.contains(call.as_str()) => {
                    wanted.insert(call.clone());
                }
                _ => {}
            }
        }
    }
    let (mut end, mut page, mut found) = (side.skipped, CALL_PAGE, Vec::new());
    while end > 0 && !wanted.is_empty() {
        let start = end.saturating_sub(page);
        let entries = listed.read_in(view, start..end)?;
        let contents: Vec<_> = entries.iter().map(|one| one.entry.content).collect();
        let uses = view.tool_uses(&contents)?;
        for (one, uses) in entries.iter().zip(uses).rev() {
            let calls = uses.iter().flat_map(|uses| &uses.calls);
            if !calls
                .map(|call| call.id.as_str())
                .any(|id| wanted.contains(id))
            {
                continue;
            }
            // Some of its parts may be hidden.
            let message = load::message(view, &one.entry)?;
            if message.calls().filter(|id| wanted.remove(*id)).count() > 0 {
                found.push(message);
            }
        }
        (end, page) = (start, PAGE.min(4 * page));
    }
    found.reverse();
    Ok(found)
}
