//! Erasing for good what only the time before a commit reaches.
//!
//! Commits keep their hashes: they name what was said by its hash, which cannot be turned back.
//! Deliberately absent: making the clear that a purge follows; and what lies outside the
//! repository, such as the session file that was imported.

use std::collections::{BTreeSet, HashSet};

use crate::error::{Error, Refusal, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::history::budget;
use crate::history::call::{Call, On};
use crate::history::load;
use crate::history::repo::{self, Repo};
use crate::model::{Operation, RefName, RefValue};
use crate::store::{CommitRow, View};

/// What a purge erased.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Contents that now read `[purged]`.
    pub contents: u64,
    /// Their bytes, as they were before compression.
    pub size_bytes: u64,
    /// Contents that stay, because other history or the context needs them.
    pub shared: u64,
    /// Kept session files that were erased.
    pub sources: u64,
    /// Sessions whose kept file stays, because it has history of its own.
    pub kept_sessions: Vec<RefName>,
}

impl Repo {
    /// Whether [`Repo::purge`] could erase what is before the tip of `on`.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] where a note or a reason stands on a commit there: those are hashed with
    /// the commit and cannot be erased.
    pub fn purgeable(&self, on: &On) -> Result<()> {
        let view = self.store.read()?;
        let Some(tip) = repo::head(&*view, on)?.commit() else {
            return Ok(());
        };
        erasable(&*view, &tip)?;
        Ok(())
    }

    /// Erases what only the commits before the tip that the call is on reach: bodies, previews, search terms,
    /// kept session files and titles, and what operations were called. What the context at the tip
    /// holds stays, and what the path of any branch, tag or session needs that has commits of its
    /// own. What was reset away or undone goes too, wherever it was. Request settings stay: they
    /// are part of a commit's hash. Then every file is rewritten, so that nothing erased is left in a free page or the
    /// journal.
    ///
    /// Erased contents read `[purged]`; a repeated import does not fill them again, and no undo
    /// reaches behind the purge.
    ///
    /// # Errors
    ///
    /// As [`Repo::purgeable`], [`Error::EmptyBranch`], [`Error::Busy`]. Where it fails, nothing is
    /// erased.
    ///
    /// ```
    /// use tract::history::{Call, CommitOptions, On, Repo, SurgeryOptions};
    /// use tract::model::{Draft, Message, Millis, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "a secret"));
    /// let made = repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// repo.clear(Call::at(Millis(0), "clear"), false, &SurgeryOptions::default())?;
    ///
    /// let purged = repo.purge(Call::at(Millis(0), "clear --purge"))?;
    /// assert_eq!(purged.contents, 1);
    /// let before = repo.messages(&repo.context(&made[0].hash)?)?;
    /// assert_eq!(before[0], Message::text(Role::User, "[purged]"));
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn purge(&self, call: Call<'_>) -> Result<Purged> {
        let tx = self.store.write()?;
        let head = repo::head(&*tx, call.on)?;
        let Some(tip) = head.commit() else {
            let branch = match call.on {
                On::Branch(branch) => branch.short().to_owned(),
                On::Head => "HEAD".to_owned(),
            };
            return Err(Error::EmptyBranch { branch });
        };
        let mut path = erasable(&*tx, &tip)?;
        path.retain(|row| row.hash != tip);
        let erased: BTreeSet<ContentHash> = contents(&path);
        let stays = needed(&*tx, &tip)?;
        let mut purged = Purged {
            shared: erased.intersection(&stays).count() as u64,
            ..Purged::default()
        };
        let mut sources = BTreeSet::new();
        let hashes: Vec<CommitHash> = path.iter().map(|row| row.hash).collect();
        for records in tx.records(&hashes)? {
            sources.extend(records.into_iter().map(|(source, _)| source));
        }
        let gone: Vec<ContentHash> = erased.difference(&stays).copied().collect();
        let already = tx.purged(&gone)?;
        for (content, _) in gone.iter().zip(already).filter(|(_, already)| !already) {
            purged.contents += 1;
            purged.size_bytes += tx.purge_content(content)?;
        }
        tx.unindex(&gone)?;
        for id in sources {
            let Some(source) = tx.source(id)? else {
                continue;
            };
            if is_elsewhere(&*tx, &source.session, &tip)? {
                purged.kept_sessions.push(source.session);
                continue;
            }
            tx.purge_source(id)?;
            purged.sources += 1;
            if let Some(mut session) = tx.session(&source.session)? {
                session.title = None;
                session.cwd = None;
                tx.put_session(&source.session, &session)?;
            }
        }
        for (name, commit) in load::tips(&*tx, RefName::TAGS)? {
            if tx.is_ancestor(&commit, &tip)? {
                tx.set_tag_note(&name, None)?;
            }
        }
        let operation = tx.begin_operation(call.now, call.what)?;
        tx.purge_operations(operation)?;
        tx.commit()?;
        self.store.scrub()?;
        Ok(purged)
    }
}

/// Whether the path to `tip` holds anything that was purged. Free where nothing ever was.
pub(crate) fn holds_purged(view: &dyn View, tip: &CommitHash) -> Result<bool> {
    if view.last_purge()?.is_none() {
        return Ok(false);
    }
    let named = contents(&view.ancestors(tip, None, usize::MAX)?);
    let named: Vec<ContentHash> = named.into_iter().collect();
    Ok(view.purged(&named)?.contains(&true))
}

/// All contents that these commits name.
fn contents(rows: &[CommitRow]) -> BTreeSet<ContentHash> {
    let rows = rows.iter();
    rows.flat_map(|row| row.commit.operation.contents())
        .collect()
}

/// The contents that must stay: those of the context at `tip`, and those of every path that has
/// commits which `tip`'s has not.
fn needed(view: &dyn View, tip: &CommitHash) -> Result<BTreeSet<ContentHash>> {
    let mut needed = BTreeSet::new();
    for entry in &load::context(view, tip)?.entries {
        needed.insert(entry.content);
        needed.extend(entry.mask.parts().iter().filter_map(|part| part.stub));
    }
    needed.extend(load::commit(view, tip)?.commit.operation.contents());
    let mut seen: HashSet<CommitHash> = HashSet::new();
    for (_, other) in load::tips(view, "refs/")? {
        if seen.insert(other) && !view.is_ancestor(&other, tip)? {
            needed.extend(contents(&view.ancestors(&other, None, usize::MAX)?));
        }
    }
    Ok(needed)
}

/// The commits up to `tip`, and those that were left behind.
///
/// # Errors
///
/// [`Error::Refused`] for what a purge cannot erase.
fn erasable(view: &dyn View, tip: &CommitHash) -> Result<Vec<CommitRow>> {
    let mut rows = view.ancestors(tip, None, usize::MAX)?;
    for commit in left_behind(view, tip)? {
        rows.extend(view.ancestors(&commit, None, usize::MAX)?);
    }
    let noted = |row: &&CommitRow| {
        let reasoned = matches!(
            row.commit.operation,
            Operation::Annotate {
                reason: Some(_),
                ..
            }
        );
        let note = row.commit.note.as_deref();
        reasoned || note.is_some_and(|note| note != budget::NOTE)
    };
    match rows.iter().find(noted) {
        None => Ok(rows),
        Some(row) => {
            let commit = row.hash.short();
            Err(Error::Refused(Refusal::Noted { commit }))
        }
    }
}

/// The commits that a ref once held and that no branch, tag or session reaches any more: what was
/// reset away or undone would otherwise keep what is to be erased.
fn left_behind(view: &dyn View, tip: &CommitHash) -> Result<BTreeSet<CommitHash>> {
    let mut held = BTreeSet::new();
    for operation in view.operations(None, usize::MAX)? {
        for row in view.moves(operation.id)? {
            let values = [row.old, row.new].into_iter().flatten();
            held.extend(values.filter_map(|value| match value {
                RefValue::Commit(commit) => Some(commit),
                RefValue::Symbolic(_) => None,
            }));
        }
    }
    let tips = load::tips(view, "refs/")?;
    for by in tips.iter().map(|(_, commit)| commit).chain([tip]) {
        let asked: Vec<CommitHash> = held.iter().copied().collect();
        for (commit, is_reached) in asked.iter().zip(view.are_ancestors(&asked, by)?) {
            if is_reached {
                held.remove(commit);
            }
        }
    }
    Ok(held)
}

/// Whether a session has commits that the path to `tip` has not.
fn is_elsewhere(view: &dyn View, session: &RefName, tip: &CommitHash) -> Result<bool> {
    match load::tip(view, session)? {
        Some(theirs) => Ok(!view.is_ancestor(&theirs, tip)?),
        None => Ok(false),
    }
}
