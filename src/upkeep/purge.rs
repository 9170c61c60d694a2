//! Erasing for good what only the time before a commit reaches.
//!
//! Commits keep their hashes: they name what was said by its hash, which cannot be turned back.
//! Deliberately absent: making the clear that a purge follows; and what lies outside the
//! repository, such as the session file that was imported.

use std::collections::{BTreeSet, HashSet};

use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::budget::NOTE;
use crate::model::{PURGED, RefName};
use crate::repo::ancestry;
use crate::repo::call::Call;
use crate::repo::copies;
use crate::repo::head;
use crate::repo::load;
use crate::repo::prompts;
use crate::repo::repository::{self, Repo};
use crate::store::{CommitRow, Store, Tx, View};
use crate::upkeep::asides::ErasedAside;
use crate::upkeep::notes::{self, noted};

/// What a purge erased.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Contents that now read `[purged]`, or that no commit named any more.
    pub contents: u64,
    /// Their bytes, as they were before compression.
    pub size_bytes: u64,
    /// Contents that stay, because other history or the context needs them.
    pub shared: u64,
    /// Kept session files that were erased.
    pub sources: u64,
    /// Titles of sessions and notes of tags that said it.
    pub words: u64,
    /// Refs whose names say it, and stay.
    pub names: Vec<RefName>,
    /// The commits whose messages say all that an erased one said, and stay.
    pub quoting: Vec<CommitHash>,
    /// Sessions whose kept file stays, because it has history of its own.
    pub kept_sessions: Vec<RefName>,
    /// Notes and reasons of commits that said it.
    pub notes: u64,
    /// Commits that have other names now, for a note or a reason of one before them was erased.
    pub renamed: u64,
    /// Copies from before a restore in which messages were erased, or that still hold them.
    pub asides: Vec<ErasedAside>,
    /// Why the repository's files still hold what was erased from history; none: they don't. The
    /// next call that writes rewrites them.
    pub unfinished: Option<Unfinished>,
}

/// Why files could not be rewritten after a purge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// Another process reads, or writes, for longer than the wait.
    Busy,
    /// The engine or the disk said no.
    Failed(String),
}

impl Repo {
    /// Erases what nothing needs beside the commits before the tip that the call is on: bodies,
    /// previews, search terms, kept session files and titles, tags' notes, and what operations were
    /// called. What the context at the tip holds stays, and what the path of any branch, tag or
    /// session needs that has commits of its own. What was reset away or undone goes too, wherever
    /// it was, and what an import has left that was killed. Request settings stay: they are part of
    /// a commit's hash. Then every file is rewritten, so that nothing erased is left in a free page
    /// or the journal; [`Purged::unfinished`] says where that was not possible yet.
    ///
    /// Erased contents read `[purged]`; a repeated import does not fill them again, and no undo
    /// shows what is gone. Where a note or a reason stands on a commit there, it is erased as well: each is
    /// hashed with its commit, so that one and all behind it get other names, and the log ends here.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyBranch`], [`Error::Busy`], and [`Error::Refused`] where a merge under way leads to a commit with a
    /// note. Where it fails, nothing is erased.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::rewrite::SurgeryOptions;
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
        let tip = |tx: &dyn View| {
            let at = head::head(tx, call.on)?;
            match (at.commit(), at.branch()) {
                (None, Some(branch)) => Err(head::without_commits(tx, branch)?),
                (tip, _) => tip.ok_or_else(|| Error::no_commit("HEAD")),
            }
        };
        let named: HashSet<CommitHash> = erasable(&*tx, &tip(&*tx)?)?
            .iter()
            .filter(|row| noted(&row.commit).any(|note| note != NOTE && note != PURGED))
            .map(|row| row.hash)
            .collect();
        let unnoted = notes::erase_notes(&*tx, call, &|row| named.contains(&row.hash))?;
        let tip = tip(&*tx)?;
        let mut path = erasable(&*tx, &tip)?;
        path.retain(|row| row.hash != tip);
        let live = Live::beside(&*tx, &tip)?;
        let hashes: Vec<CommitHash> = path.iter().map(|row| row.hash).collect();
        let behind: HashSet<u64> = tx.sources_behind(&hashes)?.into_iter().collect();

        let dropped = tx.drop_unreached()?;
        let mut purged = Purged {
            contents: dropped.contents,
            size_bytes: dropped.size_bytes,
            notes: unnoted.notes,
            renamed: unnoted.renamed.len() as u64,
            shared: contents_of(&path).intersection(&live.contents).count() as u64,
            ..Purged::default()
        };
        let mut gone = tx.all_contents()?;
        gone.retain(|content| !live.contents.contains(content));
        let already = tx.purged(&gone)?;
        for (content, _) in gone.iter().zip(already).filter(|(_, already)| !already) {
            purged.contents += 1;
            purged.size_bytes += tx.purge_content(content)?;
        }
        tx.unindex(&gone)?;

        for source in tx.all_sources()? {
            let is_behind = behind.contains(&source.id);
            let is_used = live.sources.contains(&source.id);
            if is_used && is_elsewhere(&*tx, &source.session, &tip)? {
                if is_behind {
                    purged.kept_sessions.push(source.session);
                }
            } else if is_behind || !is_used {
                copies::keep_origin(&*tx, &source.session)?;
                prompts::keep_told(&*tx, &source.session)?;
                tx.purge_source(source.id)?;
                purged.sources += 1;
            }
        }
        for (name, mut session) in tx.sessions()? {
            match load::tip(&*tx, &name)? {
                None => tx.forget_session(&name)?,
                Some(theirs) if tx.is_ancestor(&theirs, &tip)? => {
                    session.title = None;
                    session.cwd = None;
                    tx.put_session(&name, &session)?;
                }
                Some(_) => {}
            }
        }
        for (tag, note) in tx.all_tag_notes()? {
            let counts = load::tip(&*tx, &tag)? == Some(note.commit);
            if !counts || tx.is_ancestor(&note.commit, &tip)? {
                tx.set_tag_note(&tag, None)?;
            }
        }
        purged.unfinished = concluded(&*self.store, tx, call)?;
        self.forget_vectors()?;
        purged.asides = self.erase_aside(call, &gone, None);
        Ok(purged)
    }
}

/// Ends a purge with its operation, and rewrites the files; says why that was not possible yet.
pub(crate) fn concluded(
    store: &dyn Store,
    tx: Box<dyn Tx + '_>,
    call: Call<'_>,
) -> Result<Option<Unfinished>> {
    let operation = tx.begin_operation(call.now, call.what)?;
    tx.purge_operations(operation)?;
    tx.commit()?;
    Ok(scrubbed(store))
}

/// Rewrites the files after a purge; says why that was not possible yet.
pub(crate) fn scrubbed(store: &dyn Store) -> Option<Unfinished> {
    match store.scrub() {
        Ok(()) => None,
        Err(Error::Busy { .. }) => Some(Unfinished::Busy),
        Err(error) => Some(Unfinished::Failed(error.to_string())),
    }
}

/// Whether the path to `tip` holds anything that was purged here. Free where nothing ever was.
pub(crate) fn holds_purged(view: &dyn View, tip: &CommitHash) -> Result<bool> {
    Ok(view.last_purge()?.is_some() && has_tombstones(view, tip)?)
}

/// The same, wherever it was purged. Free where nothing is erased.
pub(crate) fn holds_erased(view: &dyn View, tip: &CommitHash) -> Result<bool> {
    Ok(is_any_erased(view)? && has_tombstones(view, tip)?)
}

/// Whether anything here is erased, by a purge here or one elsewhere.
pub(crate) fn is_any_erased(view: &dyn View) -> Result<bool> {
    Ok(view.last_purge()?.is_some() || view.has_tombstones()?)
}

/// The same, where it may have come so from elsewhere.
fn has_tombstones(view: &dyn View, tip: &CommitHash) -> Result<bool> {
    let named = contents_of(&view.ancestors(tip, None, usize::MAX)?);
    let named: Vec<ContentHash> = named.into_iter().collect();
    Ok(view.purged(&named)?.contains(&true))
}

/// Whether a file of this session may hold what was erased, as far as its ref tells. A purge here may have erased what no
/// path names any more; what was erased elsewhere is where it came.
pub(crate) fn may_hold_purged(view: &dyn View, session: &RefName) -> Result<bool> {
    match load::tip(view, session)? {
        Some(tip) => Ok(view.last_purge()?.is_some() || has_tombstones(view, &tip)?),
        None => Ok(false),
    }
}

/// All contents that these commits name.
pub(crate) fn contents_of(rows: &[CommitRow]) -> BTreeSet<ContentHash> {
    let rows = rows.iter();
    rows.flat_map(|row| row.commit.operation.contents())
        .collect()
}

/// What a purge must leave alone.
struct Live {
    contents: BTreeSet<ContentHash>,
    sources: HashSet<u64>,
}

impl Live {
    /// What the context at `tip` shows, and what every path needs that has commits which `tip`'s
    /// has not.
    fn beside(view: &dyn View, tip: &CommitHash) -> Result<Self> {
        let mut others = Vec::new();
        let tips = load::tips(view, "refs/")?.into_iter();
        let heads = repository::detached(view)?;
        for other in tips.map(|(_, commit)| commit).chain(heads) {
            if !view.is_ancestor(&other, tip)? {
                others.push(other);
            }
        }
        let reached = view.by_reach(&others)?.reached;
        let mut contents = contents_of(&reached);
        for entry in &load::context(view, tip)?.entries {
            contents.insert(entry.content);
            contents.extend(entry.mask.parts().iter().filter_map(|part| part.stub));
        }
        contents.extend(load::commit(view, tip)?.commit.operation.contents());
        let reached: Vec<CommitHash> = reached.iter().map(|row| row.hash).collect();
        let sources = view.sources_behind(&reached)?.into_iter().collect();
        Ok(Self { contents, sources })
    }
}

/// The commits up to `tip`, and those that no branch, tag or session reaches: what was reset away
/// or undone would otherwise keep what is to be erased, and so would an import that was killed.
fn erasable(view: &dyn View, tip: &CommitHash) -> Result<Vec<CommitRow>> {
    let mut rows = ancestry::beyond(view, tip, &[])?;
    let tips = load::tips(view, "refs/")?.into_iter();
    let mut tips: Vec<CommitHash> = tips.map(|(_, commit)| commit).collect();
    tips.push(*tip);
    tips.extend(repository::detached(view)?);
    rows.extend(view.by_reach(&tips)?.unreached);
    Ok(rows)
}

/// Whether a session has commits that the path to `tip` has not.
fn is_elsewhere(view: &dyn View, session: &RefName, tip: &CommitHash) -> Result<bool> {
    match load::tip(view, session)? {
        Some(theirs) => Ok(!view.is_ancestor(&theirs, tip)?),
        None => Ok(false),
    }
}
