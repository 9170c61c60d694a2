//! Messages by their text, over all history.
//!
//! The index names the contents that may match; each is then read and checked, newest first, until
//! there are enough. Deliberately absent: how a pattern matches ([`crate::model::pattern`]), what "newest" means
//! across branches, and where a found message stands in its branch's context.

mod alike;
mod hit;
mod merge;
mod options;
mod own;
mod ranking;
mod taken_back;
#[cfg(test)]
mod tests;
mod vectors;
mod visibility;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::pattern::MatchedLine;
use crate::model::{Commit, EntryId, Head, Operation, RefName, Role, Speaker, call};
use crate::repo::call::On;
use crate::repo::calls::Callers;
use crate::repo::repository::{self, Repo};
use crate::repo::{load, path, prompts};
use crate::store::{CommitRow, SessionRow, Tips, Tx, View};

pub use alike::{AlikeOptions, AlikeQuery, StaticModel};
use merge::Merge;
pub use options::{FindOptions, RankedOptions, RankedQuery, SearchOptions};
use own::Own;
pub use taken_back::{Chosen, TakenBack};
pub use visibility::{HiddenBy, Neighbour, Origin};
use visibility::{Tip, Visibility, ran_in};

/// How many bytes of contents one transaction indexes: some 80 ms, 200 on a slow machine.
const INDEX_BYTES: u64 = 2 << 20;
/// After how many messages a search looks at the repository anew, so that its view doesn't hold the
/// journal back for as long as it takes.
const VIEW_HITS: usize = 256;

/// A message that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The commit that brought the text: it appended it, edited it in, or put it in place.
    pub hash: CommitHash,
    /// That commit.
    pub commit: Commit,
    /// The message's place in the conversation.
    pub entry: EntryId,
    /// Who speaks.
    pub role: Role,
    /// Whether a client says it in the user's name.
    pub is_injected: bool,
    /// The branch, tag or session that it was found on, HEAD's branch first; none when a commit's
    /// history was searched.
    pub branch: Option<RefName>,
    /// The session that came from there.
    pub session: Origin,
    /// The number of the message among the visible ones there, from 1; none if it is hidden.
    pub number: Option<usize>,
    /// Why the text is not in the context there.
    pub hidden_by: Option<HiddenBy>,
    /// That it was taken back, and what was chosen instead.
    pub taken_back: Option<TakenBack>,
    /// How well it answers a ranked search, only to be compared with others of the same one; 0 where an exact
    /// one found it.
    pub score: f32,
    /// Whether what answers is what tract, or another memory, was asked or told, as far as a ranked search says.
    pub is_own: bool,
    /// The lines that match, in order.
    pub lines: Vec<MatchedLine>,
    /// The messages before it, oldest first, hidden ones included.
    pub before: Vec<Neighbour>,
    /// The messages after it, likewise.
    pub after: Vec<Neighbour>,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindProgress {
    /// What came in since the last search goes into the index.
    Indexing {
        /// How many bytes are done.
        bytes: u64,
        /// Of so many.
        total_bytes: u64,
    },
    /// What may match is read.
    Reading {
        /// How many messages are done.
        messages: usize,
        /// Of so many, at most.
        total: usize,
    },
}

impl Repo {
    /// Finds messages by their text: newest first, along a branch in the chain's order. A message
    /// that several branches share is found once, on the first of: the branch of `on`, or a HEAD that is on none, other
    /// branches, tags, sessions; where it was taken back there, on a branch where it stands. What no name reaches is not
    /// found.
    ///
    /// The first search after an import takes what is new into the index; where the repository
    /// cannot be written to, that is read instead.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::query::FindOptions;
    /// use tract::model::pattern::Pattern;
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let said = Message::text(Role::User, "Why does parseConfig() fail?");
    /// repo.commit(Call::default(), &[Draft::append(said)], &CommitOptions::default())?;
    ///
    /// let options = FindOptions::new(Pattern::text("config(")?);
    /// let found = repo.find_messages(&On::Head, &options, &mut |_| Ok(()))?;
    /// assert_eq!(found[0].number, Some(1));
    /// assert_eq!(found[0].lines[0].matches, [14..21]);
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`crate::Error::UnknownRevision`] if `within` is not here, what `progress` fails with, and the store's.
    pub fn find_messages(
        &self,
        on: &On,
        options: &FindOptions,
        progress: &mut dyn FnMut(FindProgress) -> Result<()>,
    ) -> Result<Vec<Found>> {
        self.fill_index(progress)?;
        let mut view = self.store.read()?;
        let (tips, head) = tips(&*view, on, options.within)?;
        let tips = narrowed(
            &*view,
            tips,
            options.session.as_ref(),
            options.directory.as_deref(),
        )?;
        let commits: Vec<CommitHash> = tips.iter().map(|(_, commit)| *commit).collect();
        let hits = view.search(options.asked.literals(), &commits)?;
        let total = hits.len();
        let mut hits = Merge::of(&*view, hits)?;
        let mut visibility = Visibility::new(tips.clone(), head);
        let (mut found, mut contents, mut messages) = (Vec::new(), Vec::new(), 0);
        while let Some((hit, row)) = hits.next(&*view)? {
            progress(FindProgress::Reading { messages, total })?;
            messages += 1;
            if messages.is_multiple_of(VIEW_HITS) {
                drop(view);
                view = self.store.read()?;
            }
            let Some(content) = hit.content.or(row.appended()) else {
                continue;
            };
            let Some((role, lines)) = read(&*view, &content, &row, options)? else {
                continue;
            };
            if !is_said_by(&*view, options.role, role, (&row, &content))? {
                continue;
            }
            let entry = entry_of(&*view, &hit.commit, &content, &row.commit.operation)?;
            let parts: HashSet<usize> = lines.iter().map(|line| line.part).collect();
            let at = (hit.tip, &hit.commit);
            let standing = visibility.standing(&*view, at, (entry, &content), &parts)?;
            let tip = standing.tip;
            if options.hidden && standing.hidden_by.is_none() {
                continue;
            }
            let by = standing.taken_by.as_ref();
            let taken_back = by.map(|by| visibility.taken_back(&*view, tip, entry, by));
            let taken_back = taken_back.transpose()?;
            let (before, after) = match options.neighbours {
                0 => Default::default(),
                around => visibility.neighbours(&*view, tip, &entry, around)?,
            };
            contents.push(content);
            found.push(Found {
                hash: row.hash,
                commit: row.commit,
                entry,
                role,
                is_injected: options.role == Some(Speaker::Injected),
                branch: tips[tip].0.clone(),
                session: visibility.session(&*view, tip)?.clone(),
                number: standing.number,
                hidden_by: standing.hidden_by,
                taken_back,
                score: 0.0,
                is_own: false,
                lines,
                before,
                after,
            });
            if found.len() == options.limit {
                break;
            }
        }
        // Who is asked for by name is known.
        if options.role.is_none() {
            tell_injected(&*view, &mut found, &contents)?;
        }
        Ok(found)
    }

    /// The end of the first conversation in these places that has a commit, in the order in which
    /// [`Self::find_messages`] prefers them; none: none of them has it.
    ///
    /// # Errors
    ///
    /// [`crate::Error::UnknownRevision`] if `within` is not here, and the store's.
    pub fn conversation_with<T>(
        &self,
        on: &On,
        commit: &CommitHash,
        places: &SearchOptions<T>,
    ) -> Result<Option<CommitHash>> {
        let view = self.store.read()?;
        let (tips, _) = tips(&*view, on, places.within)?;
        let (session, directory) = (places.session.as_ref(), places.directory.as_deref());
        let tips = narrowed(&*view, tips, session, directory)?;
        let ends: Vec<CommitHash> = tips.iter().map(|(_, tip)| *tip).collect();
        view.look_ahead(Tips::At(&ends))?;
        for tip in ends {
            if view.is_ancestor(commit, &tip)? {
                return Ok(Some(tip));
            }
        }
        Ok(None)
    }

    /// Takes into the index what it lacks, in short transactions. That it cannot be written to, or
    /// that someone else is writing, is no obstacle: what is missing there is read.
    fn fill_index(&self, progress: &mut dyn FnMut(FindProgress) -> Result<()>) -> Result<()> {
        let total_bytes = self.store.read()?.unindexed_bytes()?;
        self.index_in_slices(total_bytes, |tx| tx.index(INDEX_BYTES), progress)
    }

    /// Takes so many bytes into an index, a slice in each transaction.
    fn index_in_slices(
        &self,
        total_bytes: u64,
        slice: impl Fn(&dyn Tx) -> Result<u64>,
        progress: &mut dyn FnMut(FindProgress) -> Result<()>,
    ) -> Result<()> {
        let mut bytes = 0;
        while bytes < total_bytes {
            progress(FindProgress::Indexing { bytes, total_bytes })?;
            let taken = self.store.write().and_then(|tx| {
                let done = slice(&*tx)?;
                tx.commit()?;
                Ok(done)
            });
            match taken {
                Ok(0) | Err(_) => break,
                Ok(done) => bytes += done,
            }
        }
        Ok(())
    }
}

/// Where to look, and under what name; the preferred names first.
/// Beside them the branch that HEAD is on, or HEAD where it is on none.
fn tips(
    view: &dyn View,
    on: &On,
    within: Option<CommitHash>,
) -> Result<(Vec<Tip>, Option<RefName>)> {
    if let Some(commit) = within {
        return Ok((vec![(None, commit)], None));
    }
    let head = repository::head(view, on)?;
    let rank = |name: &RefName| {
        let kinds = [RefName::HEADS, RefName::TAGS, RefName::SESSIONS];
        let kind = kinds
            .iter()
            .position(|kind| name.as_str().starts_with(kind));
        let is_other = Some(name) != head.branch();
        // What was left is found there only where nothing goes on with it.
        let is_left = is_other && name.left_by().is_some();
        (is_other, is_left, kind.unwrap_or(kinds.len()))
    };
    let mut tips = load::tips(view, "refs/")?;
    tips.sort_by_key(|(name, _)| rank(name));
    let tips = tips.into_iter();
    let tips = tips.map(|(name, commit)| (Some(name), commit));
    Ok(match head {
        Head::Attached { branch, .. } => (tips.collect(), Some(branch)),
        Head::Detached(commit) => {
            let own = RefName::head();
            let here = (Some(own.clone()), commit);
            ([here].into_iter().chain(tips).collect(), Some(own))
        }
    })
}

/// Those of the tips that come from a session, if one is asked for, and whose session ran in a directory or
/// below it.
fn narrowed(
    view: &dyn View,
    tips: Vec<Tip>,
    session: Option<&RefName>,
    directory: Option<&Path>,
) -> Result<Vec<Tip>> {
    if session.is_none() && directory.is_none() {
        return Ok(tips);
    }
    let known: HashMap<RefName, SessionRow> = view.sessions()?.into_iter().collect();
    let mut left = Vec::new();
    for (name, commit) in tips {
        let own = name.as_ref().filter(|name| name.as_session().is_some());
        let (from, row) = match own.and_then(|name| known.get_key_value(name)) {
            Some((name, row)) => (name.clone(), row.clone()),
            None => match path::session_of(view, &commit)? {
                Some(found) => found,
                None => continue,
            },
        };
        let cwd = ran_in(&from, &row, |above| Ok(known.get(above).cloned()))?;
        let is_in = |directory| {
            let cwd = cwd.as_deref();
            cwd.is_some_and(|cwd| call::is_below(cwd, directory))
        };
        let is_of = |session: &RefName| {
            let rest = from.as_str().strip_prefix(session.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if session.is_none_or(is_of) && directory.is_none_or(is_in) {
            left.push((name, commit));
        }
    }
    Ok(left)
}

/// Who speaks and the lines that match, if this is what was asked for. Reads the body last.
fn read(
    view: &dyn View,
    content: &ContentHash,
    row: &CommitRow,
    options: &FindOptions,
) -> Result<Option<(Role, Vec<MatchedLine>)>> {
    if !options.takes(row) {
        return Ok(None);
    }
    if let Some(speaker) = options.role {
        let found = view.content_row(content)?;
        if found.is_none_or(|row| row.role != speaker.role()) {
            return Ok(None);
        }
    }
    let message = load::content(view, content)?;
    let lines = options.asked.lines(&message).into_iter();
    let lines: Vec<MatchedLine> = lines.map(|line| line.in_brief(&message)).collect();
    let wanted = !lines.is_empty()
        && match &options.tool {
            Some(tool) => Callers::new(view).has_to_do_with(tool, row.commit.parent, content)?,
            None => true,
        }
        && match &options.path {
            Some(path) => {
                let mut own = Own::of(&message);
                own.answered(&Callers::new(view).of_row(row, content)?);
                own.names(path)
            }
            None => true,
        };
    Ok(wanted.then_some((message.role, lines)))
}

/// Whether what a commit brings is said by whoever is asked for, among those of the role.
fn is_said_by(
    view: &dyn View,
    speaker: Option<Speaker>,
    role: Role,
    (row, content): (&CommitRow, &ContentHash),
) -> Result<bool> {
    match speaker.filter(|speaker| speaker.role() == Role::User) {
        Some(speaker) => Ok(speaker.says(role, is_injected(view, row, content)?)),
        None => Ok(true),
    }
}

/// Whether a client says in the user's name what a commit brings.
fn is_injected(view: &dyn View, row: &CommitRow, content: &ContentHash) -> Result<bool> {
    let Some(said) = view.content_row(content)? else {
        return Ok(false);
    };
    Ok(prompts::injected_rows(view, &[(row.hash, &row.commit.operation, &said)])?[0])
}

/// Says of what was found what a client says in the user's name: of all of it at once.
fn tell_injected(view: &dyn View, found: &mut [Found], contents: &[ContentHash]) -> Result<()> {
    let users = (0..found.len()).filter(|at| found[*at].role == Role::User);
    let users: Vec<usize> = users.collect();
    let of_users: Vec<ContentHash> = users.iter().map(|at| contents[*at]).collect();
    let rows = load::rows(view, &of_users)?;
    let said = users.iter().zip(&of_users).map(|(at, content)| {
        let one = &found[*at];
        (one.hash, &one.commit.operation, &rows[content])
    });
    let injected = prompts::injected_rows(view, &said.collect::<Vec<_>>())?;
    for (at, injected) in users.into_iter().zip(injected) {
        found[at].is_injected = injected;
    }
    Ok(())
}

/// The entry to which a commit gives a content.
fn entry_of(
    view: &dyn View,
    commit: &CommitHash,
    content: &ContentHash,
    operation: &Operation,
) -> Result<EntryId> {
    let hide = match operation {
        Operation::Edit { target, .. } => return path::entry_of(view, *target),
        Operation::Hide(hide) => hide,
        _ => return Ok(EntryId::of(*commit)),
    };
    let (mut replacements, mut parts) = (hide.replacements.iter(), hide.parts.iter());
    let replaced = replacements.position(|one| one.content == *content);
    let stubbed = parts.find(|part| part.stub == Some(*content));
    Ok(match (replaced, stubbed) {
        (Some(index), _) => EntryId::replacement(*commit, index, hide.replacements.len()),
        (None, Some(part)) => part.entry,
        (None, None) => EntryId::of(*commit),
    })
}
