//! Which ref a session that came in belongs to, and the refs that move for it.

use super::bases::descent_of;
use super::mirror;
use super::report::{BranchOutcome, ImportedSession, Outcome};
use super::session::{Arrived, Path, refs_of};
use super::source::SourceFile;
use super::stub::is_stub;
use crate::error::{Error, Result};
use crate::formats::{Format, Shape};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{RefName, RefValue, Role, Span};
use crate::repo::{by_branch, load, path};
use crate::store::{CommitRow, SessionRow, SourceRow, Tx, View};
use crate::upkeep::erase::ERASED;

/// How many commits a last group has at most.
const LAST_GROUP: usize = 64;

/// The ref of a session, and how it got there.
pub(super) struct Placement {
    pub(super) name: RefName,
    /// Where it was.
    old: Option<CommitHash>,
    outcome: Outcome,
    /// The file is an earlier state of what is here: no ref moves back to it.
    pub(super) is_older: bool,
    /// Where its file was rewritten, or it went on elsewhere: how many commits of what was here are not in it.
    kept: u64,
    /// The session goes on in a newer file: what this one ends with stands beside it.
    is_left: bool,
    /// Something was erased in it, or in what it is a copy of.
    pub(super) is_erased: bool,
}

impl Placement {
    /// Finds the ref of a session: its own, or a new one beside it if its history was rewritten.
    pub(super) fn of(
        view: &dyn View,
        format: &Format,
        session: &Arrived,
        file: &SourceFile<'_>,
        path: Option<&str>,
    ) -> Result<Self> {
        let tip = session.found.paths[0].tip;
        let id = &session.id;
        let (known, free) = refs_of(view, format.name, id)?;
        let mut candidates = Vec::with_capacity(known.len());
        for (name, old) in known {
            let sources = view.sources(&name)?;
            candidates.push((name, old, sources));
        }
        let older_or_grown = |name: &RefName, old: &CommitHash, is_older: bool| {
            let outcome = if is_older {
                Outcome::Unchanged
            } else {
                Outcome::Grown
            };
            let place = Self::at(name, *old, outcome);
            Self { is_older, ..place }
        };
        if let Some(placed) = in_files(view, format, session, file, &candidates)? {
            return Ok(placed);
        }
        if let Some(placed) = beside_stub(view, format, tip, &candidates)? {
            return Ok(placed);
        }
        // What it begins with was here before, and is not any more.
        let has_lost = |old: &CommitHash| match tip {
            Some(tip) if session.found.end.begins_in.is_some() => {
                Ok(shares_nothing(view, old, &tip)?)
            }
            _ => Ok::<_, Error>(false),
        };
        for (name, old, sources) in &candidates {
            if Some(*old) == tip {
                return Ok(Self::at(name, *old, Outcome::Unchanged));
            }
            if file.among(sources)?.is_some() {
                return Ok(older_or_grown(name, old, has_lost(old)?));
            }
        }
        for (name, old, sources) in &candidates {
            let goes_on = match tip {
                Some(tip) => view.is_ancestor(old, &tip)? || same_messages(view, old, &tip)?,
                None => false,
            };
            let own = behind(view, old, sources)?;
            if goes_on || file.grown_from(&own)?.is_some() && !has_lost(old)? {
                return Ok(Self::at(name, *old, Outcome::Grown));
            }
            if let Some(source) = file.beginning_of(view, sources)? {
                // An import that keeps the file's bytes may have died before it moved the ref.
                let is_older = reaches(view, old, source.id, session)?;
                return Ok(older_or_grown(name, old, is_older));
            }
            // What was recorded piece by piece has the stream of each process.
            if format.events.is_some() && file.is_part_of(view, sources)? {
                return Ok(older_or_grown(name, old, true));
            }
        }
        // Of a session whose kept file a purge erased, its commits alone tell: all of them are in this file.
        for (name, old, sources) in &candidates {
            if !sources.is_empty() {
                continue;
            }
            for end in session.found.paths.iter().filter_map(|path| path.tip) {
                if view.is_ancestor(old, &end)? {
                    return Ok(Self::at(name, *old, Outcome::Grown));
                }
            }
        }
        // What the file of the session that started it mirrors is here alone.
        if let (Some((name, old, sources)), Some(_)) = (candidates.first(), tip)
            && sources.is_empty()
            && let Some((parent, _)) = mirror::parent(name)
            && mirror::is_of(view, old, &parent)?
        {
            return Ok(Self::at(name, *old, Outcome::Grown));
        }
        // A document is written anew while its last reply grows.
        if let (Some(tip), Some(path), Shape::Document) = (tip, path, format.shape)
            && let Some(followed) = view.followed(path)?
        {
            for (name, old, sources) in &candidates {
                let is_followed = sources.iter().any(|source| source.id == followed.source);
                if is_followed && differs_at_the_end(view, old, &tip)? {
                    return Ok(Self::at(name, *old, Outcome::Grown));
                }
            }
        }
        let (outcome, kept) = beside(view, path, tip, &candidates)?;
        Ok(Self {
            name: free,
            old: None,
            kept,
            outcome,
            is_older: false,
            is_left: false,
            is_erased: false,
        })
    }

    /// The place of a session whose file has grown at its end.
    pub(super) fn grown(name: &RefName, old: CommitHash, session: &Arrived) -> Self {
        let outcome = if session.found.paths[0].tip == Some(old) {
            Outcome::Unchanged
        } else {
            Outcome::Grown
        };
        Self::at(name, old, outcome)
    }

    fn at(name: &RefName, old: CommitHash, outcome: Outcome) -> Self {
        Self {
            name: name.clone(),
            old: Some(old),
            outcome,
            is_older: false,
            kept: 0,
            is_left: false,
            is_erased: false,
        }
    }

    /// Refuses to go on if the ref is elsewhere by now.
    ///
    /// # Errors
    ///
    /// [`Error::Overtaken`].
    pub(super) fn check(&self, tx: &dyn Tx) -> Result<()> {
        if load::tip(tx, &self.name)? == self.old {
            Ok(())
        } else {
            Err(Error::overtaken(self.name.short()))
        }
    }

    /// Points the session ref, its further paths and the branches that follow them.
    pub(super) fn move_refs(
        mut self,
        tx: &dyn Tx,
        mut session: Arrived,
        chosen: Option<&str>,
    ) -> Result<ImportedSession> {
        let is_of_end = session.is_of_end;
        if let (Some(old), Some((parent, _)), false) =
            (self.old, mirror::parent(&self.name), self.is_older)
            && let Some(tip) = &mut session.found.paths[0].tip
            && !tx.is_ancestor(&old, tip)?
        {
            *tip = mirror::joined(tx, *tip, old, &parent)?;
            if *tip == old {
                self.outcome = Outcome::Unchanged;
            }
        }
        let left = if self.is_left {
            std::mem::replace(&mut session.found.paths[0].tip, self.old)
        } else {
            self.old
        };
        if self.is_older {
            session.found.paths.truncate(1);
            session.found.paths[0].tip = self.old;
        } else if !self.is_left {
            let known = tx.session(&self.name)?.unwrap_or_default();
            let is_erased = self.is_erased || known.absent.iter().any(|it| it == ERASED);
            let erased = is_erased.then(|| ERASED.to_owned());
            let end = &session.found.end;
            let row = SessionRow {
                title: end.title.clone(),
                cwd: end.cwd.clone(),
                absent: end.absent.iter().cloned().chain(erased).collect(),
            };
            tx.put_session(&self.name, &row)?;
        }
        // What an earlier state of the file says is less than what is known.
        if let Some(stated) = session.found.end.stated.as_ref().filter(|_| !self.is_older) {
            tx.put_stated_usage(&self.name, stated)?;
        }
        let tip = session.found.paths[0].tip;
        let agents = match mirrored_branch(tx, &self.name, self.old)? {
            None => agents_branch(tx, &self.name, &session)?,
            known => known,
        };
        if let (Some(left), Some(tip)) = (left, tip) {
            let goes_on = session.descent.goes_on(&session.id);
            // What came in without its beginning is on the new path, with it.
            if self.is_left || goes_on && !shares_nothing(tx, &left, &tip)? {
                let leaf = leaf(tx, &self.name, &left, &tip)?;
                session.found.paths.extend(leaf);
            }
        }
        let mut branch = BranchOutcome::None;
        if let Some(tip) = tip {
            // The branch first: by then both are held, and the log says what comes in the order in which it came.
            branch = follow(tx, &self.name, self.old, tip, chosen.or(agents.as_deref()))?;
            tx.set_reference(&self.name, Some(&RefValue::Commit(tip)))?;
        }
        let mut further = Vec::new();
        let end = tip;
        for path in session.found.paths.drain(1..) {
            let (Some(mut name), Some(tip)) = (path.name, path.tip) else {
                continue;
            };
            // A copy of the file may tell otherwise what was taken back: neither takes the other's place.
            if self.outcome == Outcome::Unchanged
                && name.starts_with(RefName::LEAF)
                && let Some(known) = load::tip(tx, &self.name.path(&name)?)?
                && !tx.is_ancestor(&known, &tip)?
                && let Some(end) = end
            {
                match leaf(tx, &self.name, &tip, &end)?.and_then(|path| path.name) {
                    Some(free) => name = free,
                    None => continue,
                }
            }
            let below = |above: &RefName| above.path(&name).ok();
            let theirs = self.name.path(&name)?;
            let old = tx.reference(&theirs)?;
            let own = old.as_ref().and_then(RefValue::commit);
            let own = own.filter(|_| !name.starts_with(RefName::LEAF));
            // A purge may have erased the file of its own.
            let has_file = !tx.sources(&theirs)?.is_empty() || tx.origin(&theirs)?.is_some();
            let is_own = own.is_some() && has_file;
            let (value, ours) = match own.filter(|_| is_own) {
                Some(own) => {
                    let joined = mirror::joined(tx, own, tip, &self.name)?;
                    (RefValue::Commit(joined), tx.follower(&theirs)?)
                }
                None => {
                    let row = SessionRow {
                        title: path.title,
                        ..SessionRow::default()
                    };
                    tx.put_session(&theirs, &row)?;
                    (RefValue::Commit(tip), branch.name().and_then(below))
                }
            };
            tx.set_reference(&theirs, Some(&value))?;
            if let Some(ours) = &ours {
                // A branch that has moved on its own stays where it is.
                let current = tx.reference(ours)?;
                if current.is_none() || current == old {
                    tx.set_reference(ours, Some(&value))?;
                }
            }
            further.push(ours.unwrap_or(theirs));
        }
        Ok(ImportedSession {
            parent: parent(&self.name, &session),
            name: self.name,
            outcome: self.outcome,
            kept: self.kept,
            is_of_end,
            messages: session.found.messages,
            new_commits: session.found.new_commits,
            secrets: session.found.secrets,
            tip,
            hides: session.found.hides,
            branch,
            further,
            end: session.found.end,
        })
    }
}

/// A ref of the session, where it was, and the files that are kept of it.
type Candidate = (RefName, CommitHash, Vec<SourceRow>);

/// How a session relates to those of its id that it does not go on with, and how many commits of what was here are not
/// in it: its own file was rewritten, it went on elsewhere, or it is another one, for ids repeat.
fn beside(
    view: &dyn View,
    path: Option<&str>,
    tip: Option<CommitHash>,
    candidates: &[Candidate],
) -> Result<(Outcome, u64)> {
    let (mut kept, mut is_of_both) = (0, false);
    for (number, (_, old, _)) in candidates.iter().enumerate() {
        let Some(tip) = tip else { break };
        let all = view.commit(old)?.map_or(0, |row| row.depth + 1);
        let shared = view.shared(old, &tip)?.min(all);
        if number == 0 || shared > 0 && !is_of_both {
            kept = all - shared;
        }
        is_of_both |= shared > 0;
    }
    let followed = path.map(|path| view.followed(path)).transpose()?.flatten();
    let is_followed = followed.is_some_and(|followed| {
        let mut sources = candidates.iter().flat_map(|(_, _, sources)| sources);
        sources.any(|source| source.id == followed.source)
    });
    Ok(match candidates {
        [] => (Outcome::New, 0),
        _ if is_followed => (Outcome::Rewritten, kept),
        _ if is_of_both => (Outcome::Elsewhere, kept),
        _ => (Outcome::New, 0),
    })
}

/// The place of a session that goes on in several files, of which the newest counts: what stands in an
/// earlier one alone was taken back. None for any other session.
fn in_files(
    view: &dyn View,
    format: &Format,
    session: &Arrived,
    file: &SourceFile<'_>,
    candidates: &[Candidate],
) -> Result<Option<Placement>> {
    let tip = session.found.paths[0].tip;
    for (name, old, sources) in candidates {
        let mut others = Vec::with_capacity(sources.len());
        for source in sources {
            // A file that has grown, or that was grown, is no other one.
            if !file.is(source)? && file.grown_from(std::slice::from_ref(source))?.is_none() {
                others.push(descent_of(view, format, source)?);
            }
        }
        let goes_on = session.descent.goes_on(&session.id);
        if !goes_on && !others.iter().any(|other| other.goes_on(&session.id)) {
            continue;
        }
        let is_left = others
            .iter()
            .any(|other| other.begun > session.descent.begun);
        let known = file.among(sources)?.is_some();
        let is_here = match tip {
            Some(tip) => tip == *old || view.is_ancestor(&tip, old)?,
            None => true,
        };
        let outcome = if known && (is_here || is_left) {
            Outcome::Unchanged
        } else {
            Outcome::Grown
        };
        return Ok(Some(Placement {
            is_left,
            ..Placement::at(name, *old, outcome)
        }));
    }
    Ok(None)
}

/// The place of a session of which a file that says nothing is here, or that is such a file of one that is here. None
/// for any other session.
fn beside_stub(
    view: &dyn View,
    format: &Format,
    tip: Option<CommitHash>,
    candidates: &[Candidate],
) -> Result<Option<Placement>> {
    let leaves_stubs = format.home.as_ref().is_some_and(|home| home.leaves_stubs);
    let Some(tip) = tip.filter(|_| leaves_stubs) else {
        return Ok(None);
    };
    let others = candidates.iter().filter(|(_, old, _)| *old != tip);
    let others: Vec<&Candidate> = others.collect();
    // What is here as it is needs no other place.
    if others.len() < candidates.len() {
        return Ok(None);
    }
    let says_nothing = !others.is_empty() && is_stub(view, &tip)?;
    for (name, old, _) in others {
        if says_nothing {
            let place = Placement::at(name, *old, Outcome::Unchanged);
            let is_older = true;
            return Ok(Some(Placement { is_older, ..place }));
        }
        if is_stub(view, old)? {
            return Ok(Some(Placement::at(name, *old, Outcome::Grown)));
        }
    }
    Ok(None)
}

/// Whether two paths have no commit in common.
fn shares_nothing(view: &dyn View, one: &CommitHash, other: &CommitHash) -> Result<bool> {
    Ok(path::last_shared(view, one, other)?.is_none())
}

/// A path for what a session no longer leads to, unless it has one.
fn leaf(
    view: &dyn View,
    session: &RefName,
    left: &CommitHash,
    tip: &CommitHash,
) -> Result<Option<Path>> {
    if left == tip || view.is_ancestor(left, tip)? {
        return Ok(None);
    }
    for number in 1.. {
        let name = format!("{}{number}", RefName::LEAF);
        let known = load::tip(view, &session.path(&name)?)?;
        let free = match known {
            None => true,
            Some(known) if known == *left || view.is_ancestor(left, &known)? => return Ok(None),
            Some(known) => view.is_ancestor(&known, left)?,
        };
        if free {
            return Ok(Some(Path {
                name: Some(name),
                title: None,
                tip: Some(*left),
            }));
        }
    }
    Ok(None)
}

/// Whether the records of a source behind `old` reach as far as those behind the end of a session.
fn reaches(view: &dyn View, old: &CommitHash, source: u64, session: &Arrived) -> Result<bool> {
    let end = |span: &Span| span.offset.saturating_add(span.len);
    let theirs = view.records_of(old)?;
    let theirs = theirs.iter().find(|(of, _)| *of == source);
    Ok(match (theirs, session.found.reach) {
        (Some((_, theirs)), Some(ours)) => theirs.iter().map(end).max() >= Some(ours),
        _ => true,
    })
}

/// Those of a session's sources that its end came from: two processes that go on with one session at once each keep their own.
/// All of them where it came from none, as where a mirror alone has its end.
fn behind(view: &dyn View, old: &CommitHash, sources: &[SourceRow]) -> Result<Vec<SourceRow>> {
    let records = view.records_of(old)?;
    let is_behind = |source: &&SourceRow| records.iter().any(|(of, _)| *of == source.id);
    let own: Vec<SourceRow> = sources.iter().filter(is_behind).cloned().collect();
    Ok(if own.is_empty() {
        sources.to_vec()
    } else {
        own
    })
}

/// Whether the path to `old` says, message by message, what the path to `new` begins with. Times
/// and settings aside: a request that has grown bears its settings on its new last message.
fn same_messages(view: &dyn View, old: &CommitHash, new: &CommitHash) -> Result<bool> {
    let old = view.ancestors(old, None, usize::MAX)?;
    let new = view.ancestors(new, None, usize::MAX)?;
    let same = |(old, new): (&CommitRow, &CommitRow)| old.commit.operation == new.commit.operation;
    Ok(old.len() <= new.len() && old.iter().rev().zip(new.iter().rev()).all(same))
}

/// Whether what the path to `old` has beside the path to `new` is its last group alone: a reply and what
/// belongs to it, or a prompt, that was not whole.
fn differs_at_the_end(view: &dyn View, old: &CommitHash, new: &CommitHash) -> Result<bool> {
    let shared = path::last_shared(view, old, new)?;
    let rows = view.ancestors(old, shared.as_ref(), LAST_GROUP + 1)?;
    if rows.len() > LAST_GROUP {
        return Ok(false);
    }
    let appended = rows.iter().filter_map(CommitRow::appended);
    let appended: Vec<ContentHash> = appended.collect();
    // Only the newest may be a prompt.
    let mut earlier = view.contents(&appended)?.into_iter().skip(1);
    Ok(!earlier.any(|message| message.is_none_or(|it| it.role == Role::User)))
}

/// The session whose agent started one: it says so, or its name begins with that one's.
fn parent(name: &RefName, session: &Arrived) -> Option<RefName> {
    let (tool, id) = name.as_session()?;
    let said = session.descent.spawned_by.as_deref();
    let above = said.or_else(|| Some(id.rsplit_once('/')?.0))?;
    Some(RefName::session(tool, above))
}

/// The branch of a session that another one's agent started: below the branch of that one, where it is
/// new and that one is here.
fn agents_branch(tx: &dyn Tx, name: &RefName, session: &Arrived) -> Result<Option<String>> {
    let Some((parent, tool)) = session.descent.spawned_by.as_ref().zip(name.as_session()) else {
        return Ok(None);
    };
    let above = tx.follower(&RefName::session(tool.0, parent))?;
    let (Some(above), None) = (above, tx.follower(name)?) else {
        return Ok(None);
    };
    let first = above.path(&format!("{}{}", RefName::AGENT, session.id))?;
    let free = match tx.reference(&first)? {
        None => first,
        Some(_) => return Ok(None),
    };
    Ok(Some(free.short().to_owned()))
}

/// The branch of a sub-agent's mirror, which is at `tip`: its own file goes on with that one.
fn mirrored_branch(
    tx: &dyn Tx,
    agent: &RefName,
    tip: Option<CommitHash>,
) -> Result<Option<String>> {
    let Some(((parent, name), tip)) = mirror::parent(agent).zip(tip) else {
        return Ok(None);
    };
    let (Some(above), None) = (tx.follower(&parent)?, tx.follower(agent)?) else {
        return Ok(None);
    };
    let branch = above.path(name)?;
    let is_there = load::tip(tx, &branch)? == Some(tip);
    Ok(is_there.then(|| branch.short().to_owned()))
}

/// Moves the branch that follows a session, or makes it.
fn follow(
    tx: &dyn Tx,
    session: &RefName,
    old: Option<CommitHash>,
    tip: CommitHash,
    chosen: Option<&str>,
) -> Result<BranchOutcome> {
    let name = match (chosen, tx.follower(session)?) {
        (Some(name), _) => RefName::branch(name)?,
        (None, Some(name)) => name,
        (None, None) => free_branch(tx, session, tip)?,
    };
    let current = load::tip(tx, &name)?;
    if current.is_none() && chosen.is_some() {
        name.refuse_hash()?;
    }
    // A branch that its owner has deleted stays deleted; a new session gets one.
    if current.is_some() && current != Some(tip) && current != old {
        // What was pulled may have taken the session farther than this file; the branch stands where they parted.
        let parted = old.map(|old| path::last_shared(tx, &old, &tip));
        if parted.transpose()?.flatten() != current {
            return Ok(BranchOutcome::Stays(name));
        }
    }
    if current != Some(tip) {
        tx.set_reference(&name, Some(&RefValue::Commit(tip)))?;
    }
    tx.set_follower(session, &name)?;
    Ok(BranchOutcome::Follows(name))
}

/// A branch name after the session's that is free, or is at `tip` already.
fn free_branch(view: &dyn View, session: &RefName, tip: CommitHash) -> Result<RefName> {
    let names = by_branch::of_session(session)?;
    let from = match by_branch::root(session) {
        Some(root) => names_from(view, session, &root)?,
        None => telling(view, session, &names)?,
    };
    let mut wanted = names[from..].iter().cloned();
    let mut number = 1;
    loop {
        let name = wanted.next().unwrap_or_else(|| {
            number += 1;
            names[names.len() - 1].numbered(number)
        });
        if load::tip(view, &name)?.is_none_or(|current| current == tip) {
            return Ok(name);
        }
    }
}

/// Which of the names of a further history or a sub-agent of `root` goes with the branch of that: below the branch of another
/// session, or with a number behind it, it would look like that one's.
fn names_from(view: &dyn View, session: &RefName, root: &RefName) -> Result<usize> {
    let names = by_branch::of_session(root)?;
    let own = view.follower(root)?;
    let own = own.and_then(|own| names.iter().position(|name| *name == own));
    if own.is_some() || session.above().is_some() {
        return Ok(own.unwrap_or_default());
    }
    for (at, name) in names.iter().enumerate().skip(telling(view, root, &names)?) {
        if load::tip(view, name)?.is_none() {
            return Ok(at);
        }
    }
    Ok(names.len() - 1)
}

/// Which of the names of a session is the first that no other session may have, be there a branch of that name here or not:
/// after a clone or a rename there is none.
fn telling(view: &dyn View, session: &RefName, names: &[RefName]) -> Result<usize> {
    let Some((tool, id)) = session.as_session().filter(|_| names.len() > 1) else {
        return Ok(0);
    };
    let group = id.split('-').next().unwrap_or(id);
    let mut from = 0;
    for (other, _) in load::tips(view, RefName::session(tool, group).as_str())? {
        let other = by_branch::root(&other).unwrap_or(other);
        if other != *session {
            let theirs = by_branch::of_session(&other)?;
            let shared = names.iter().zip(&theirs).take_while(|(a, b)| a == b);
            from = from.max(shared.count());
        }
    }
    Ok(from.min(names.len() - 1))
}
