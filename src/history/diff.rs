//! Two commits' contexts read, to be compared.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::context::{Context, Entry};
use crate::diff::{ContextDiff, DiffOptions, Side};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::history::repo::Repo;
use crate::history::{counts, load, path};
use crate::model::{Commit, Encoding, EntryId, Message};
use crate::store::{CountKey, View};

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
    /// use tract::history::{Call, CommitOptions, On, Repo};
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
        let view = self.store.read()?;
        old.known = known(&*view, &old, &new)?;
        new.known = known(&*view, &new, &old)?;
        old.messages = messages(&*view, &old, &Side::default())?;
        new.messages = messages(&*view, &new, &old)?;
        Ok(ContextDiff::new(old, new, options))
    }

    /// One side of a comparison with a context of another repository, of whose history nothing is known here.
    ///
    /// # Errors
    ///
    /// [`crate::Error::UnknownRevision`] if the commit is not here.
    pub fn side_of(&self, commit: &CommitHash, encoding: Encoding) -> Result<Side> {
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
        let counts = self.counts(&context, encoding)?;
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
