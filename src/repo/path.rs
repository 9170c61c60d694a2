//! What lies on the path to a commit: what two of them share, which entry a commit is about, and
//! which session it came from.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::HashMap;

use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{EntryId, Operation, RefName};
use crate::repo::copies::Copies;
use crate::repo::kept::{first_imported, newest_imported};
use crate::repo::load;
use crate::store::{CommitRow, SessionRow, View};

/// The last commit that the paths to `theirs` and `ours` have in common.
pub(crate) fn last_shared(
    view: &dyn View,
    theirs: &CommitHash,
    ours: &CommitHash,
) -> Result<Option<CommitHash>> {
    match view.shared(theirs, ours)? {
        0 => Ok(None),
        shared => view.ancestor_at(theirs, shared - 1),
    }
}

/// The entry that `id` names: itself, or, where it names an edit, what that edited.
pub(crate) fn entry_of(view: &dyn View, mut id: EntryId) -> Result<EntryId> {
    while let Operation::Edit { target, .. } = load::commit(view, &id.commit)?.commit.operation {
        id = target;
    }
    Ok(id)
}

/// The same, of several.
pub(crate) fn entries_of(view: &dyn View, ids: &[EntryId]) -> Result<Vec<EntryId>> {
    ids.iter().map(|id| entry_of(view, *id)).collect()
}

/// The content that an entry had when it was made.
pub(crate) fn made(view: &dyn View, entry: &EntryId) -> Result<Option<ContentHash>> {
    let operation = load::commit(view, &entry.commit)?.commit.operation;
    Ok(match operation {
        Operation::Append { content } => Some(content),
        Operation::Hide(hide) => {
            let at = entry.index.unwrap_or(0) as usize;
            hide.replacements.get(at).map(|made| made.content)
        }
        _ => None,
    })
}

/// The session that the newest imported commit on the path to `commit` came from; of several, the one that ends there,
/// and else the original.
pub(crate) fn session_of(
    view: &dyn View,
    commit: &CommitHash,
) -> Result<Option<(RefName, SessionRow)>> {
    let (sessions, has_file) = sessions_found(view, commit, &SessionEnds::default())?;
    let session = sessions.into_iter().next();
    session
        .map(|name| with_row(view, name, has_file))
        .transpose()
}

/// Where all sessions end, read when that is asked for first, and once: for who asks of many branches.
#[derive(Default)]
pub(crate) struct SessionEnds(OnceCell<Ends>);

#[derive(Default)]
struct Ends {
    tips: Vec<(RefName, CommitHash)>,
    /// The places of those that end at a commit.
    at: HashMap<CommitHash, Vec<usize>>,
}

impl Ends {
    /// The sessions that end at a commit.
    fn ending_at(&self, commit: &CommitHash) -> impl Iterator<Item = &RefName> {
        let places = self.at.get(commit).into_iter().flatten();
        places.map(|at| &self.tips[*at].0)
    }
}

impl SessionEnds {
    fn all(&self, view: &dyn View) -> Result<&Ends> {
        if let Some(read) = self.0.get() {
            return Ok(read);
        }
        let tips = load::tips(view, RefName::SESSIONS)?;
        let mut at: HashMap<CommitHash, Vec<usize>> = HashMap::new();
        for (place, (_, tip)) in tips.iter().enumerate() {
            at.entry(*tip).or_default().push(place);
        }
        Ok(self.0.get_or_init(|| Ends { tips, at }))
    }
}

/// The same for a branch that ends there: of several, the one that it follows.
pub(crate) fn session_of_branch(
    view: &dyn View,
    (branch, tip): (&RefName, &CommitHash),
    ends: &SessionEnds,
) -> Result<Option<(RefName, SessionRow)>> {
    let (mut sessions, has_file) = sessions_found(view, tip, ends)?;
    if sessions.len() > 1 {
        for at in 0..sessions.len() {
            if view.follower(&sessions[at])?.as_ref() == Some(branch) {
                sessions.swap(0, at);
                break;
            }
        }
    }
    let session = sessions.into_iter().next();
    session
        .map(|name| with_row(view, name, has_file))
        .transpose()
}

/// The sessions that the newest imported commit on the path to `commit` came from: those that end there first, and
/// originals before their copies. Where no session's file is kept, as in a plain clone, those whose own ends are the
/// last on the path.
pub(crate) fn sessions_of(view: &dyn View, commit: &CommitHash) -> Result<Vec<RefName>> {
    Ok(sessions_found(view, commit, &SessionEnds::default())?.0)
}

/// The same, and whether a file of them is kept here.
fn sessions_found(
    view: &dyn View,
    commit: &CommitHash,
    ends: &SessionEnds,
) -> Result<(Vec<RefName>, bool)> {
    if !view.has_sources()? {
        return Ok((sessions_before(view, commit, ends)?, false));
    }
    match newest_imported(view, commit)? {
        Some((commit, files)) => Ok((
            in_order(view, &commit, own(view, (&commit, files), ends)?)?,
            true,
        )),
        // It may have come from elsewhere, without its file.
        None if !view.references(RefName::REMOTES)?.is_empty() => {
            Ok((sessions_before(view, commit, ends)?, false))
        }
        None => Ok((Vec::new(), false)),
    }
}

/// The sessions whose ends are the last on the path to a commit.
fn sessions_before(
    view: &dyn View,
    commit: &CommitHash,
    ends: &SessionEnds,
) -> Result<Vec<RefName>> {
    let ends = ends.all(view)?;
    let here: Vec<RefName> = ends.ending_at(commit).cloned().collect();
    if ends.tips.is_empty() || !here.is_empty() {
        return Ok(here);
    }
    let (names, tips): (Vec<RefName>, Vec<CommitHash>) = ends.tips.iter().cloned().unzip();
    let is_before = view.are_ancestors(&tips, commit)?;
    let mut last: (u64, Vec<RefName>) = (0, Vec::new());
    for ((name, row), is_before) in names.into_iter().zip(view.commits(&tips)?).zip(is_before) {
        let Some(row) = row.filter(|_| is_before) else {
            continue;
        };
        match row.depth.cmp(&last.0) {
            Ordering::Greater => last = (row.depth, vec![name]),
            Ordering::Equal => last.1.push(name),
            Ordering::Less => {}
        }
    }
    Ok(last.1)
}

/// The session by whose name the file is kept that the newest imported commit on the path to `commit` came from: one of
/// several sessions has a name that is none of theirs.
pub(crate) fn file_of(view: &dyn View, commit: &CommitHash) -> Result<Option<RefName>> {
    if !view.has_sources()? {
        return Ok(None);
    }
    let Some((commit, files)) = newest_imported(view, commit)? else {
        return Ok(None);
    };
    Ok(in_order(view, &commit, files)?.into_iter().next())
}

/// The sessions of files on which a commit is: of a file of several, those that end there, or else that lead on from
/// there. A file of which no session is here any more gives its own name.
fn own(
    view: &dyn View,
    (commit, files): (&CommitHash, Vec<RefName>),
    ends: &SessionEnds,
) -> Result<Vec<RefName>> {
    let mut sessions = Vec::with_capacity(files.len());
    for file in files {
        let is_one = view.session(&file)?.is_some() || view.reference(&file)?.is_some();
        let Some((tool, _)) = file.as_session().filter(|_| !is_one) else {
            sessions.push(file);
            continue;
        };
        let is_of_tool = |name: &RefName| name.as_session().is_some_and(|(other, _)| other == tool);
        let all = ends.all(view)?;
        let count = sessions.len();
        let here = all.ending_at(commit).filter(|name| is_of_tool(name));
        sessions.extend(here.cloned());
        for (name, tip) in all.tips.iter().filter(|(name, _)| is_of_tool(name)) {
            if sessions.len() > count {
                break;
            }
            if view.is_ancestor(commit, tip)? {
                sessions.push(name.clone());
            }
        }
        if sessions.len() == count {
            sessions.push(file);
        }
    }
    sessions.dedup();
    Ok(sessions)
}

/// The sessions that a commit came from: those that end there first, and originals before their copies.
fn in_order(
    view: &dyn View,
    commit: &CommitHash,
    mut sessions: Vec<RefName>,
) -> Result<Vec<RefName>> {
    if sessions.len() > 1 {
        Copies::of(view).sort(&mut sessions)?;
        let mut ends = Vec::with_capacity(sessions.len());
        for name in sessions {
            ends.push((load::tip(view, &name)?.as_ref() != Some(commit), name));
        }
        ends.sort_by_key(|(goes_on, _)| *goes_on);
        sessions = ends.into_iter().map(|(_, name)| name).collect();
    }
    Ok(sessions)
}

/// The session that `session`, which ends in `tip`, went on from or was forked from: the original of the last commit
/// before its own.
pub(crate) fn predecessor(
    view: &dyn View,
    (session, tip): (&RefName, &CommitHash),
    ends: &SessionEnds,
) -> Result<Option<(RefName, SessionRow)>> {
    if is_whole(view, tip, session)? {
        return Ok(None);
    }
    let copies = Copies::of(view);
    let other = |commit: &CommitHash| -> Result<Option<RefName>> {
        let (mut others, _) = sessions_found(view, commit, ends)?;
        others.retain(|name| name != session);
        copies.sort(&mut others)?;
        match others.into_iter().next() {
            Some(original) if copies.is_older(&original, session)? => Ok(Some(original)),
            _ => Ok(None),
        }
    };
    if let Some(original) = other(tip)? {
        return with_row(view, original, true).map(Some);
    }
    let (mut before, mut own) = (None, load::commit(view, tip)?.depth);
    // Most sessions begin with what is their own.
    let (mut least, mut at) = (0, 0);
    while least < own {
        let commit = view
            .ancestor_at(tip, at)?
            .ok_or_else(|| load::unknown(tip))?;
        match other(&commit)? {
            None => own = at,
            Some(name) => (before, least) = (Some(name), at + 1),
        }
        at = least + (own - least) / 2;
    }
    before.map(|name| with_row(view, name, true)).transpose()
}

/// Whether both ends of a path came from this session and from no other, as those of most sessions do.
fn is_whole(view: &dyn View, tip: &CommitHash, session: &RefName) -> Result<bool> {
    let Some(root) = view.ancestor_at(tip, 0)? else {
        return Ok(false);
    };
    let mut sources = Vec::new();
    for records in view.records(&[root, *tip])? {
        if records.is_empty() {
            return Ok(false);
        }
        sources.extend(records.into_iter().map(|(source, _)| source));
    }
    sources.sort_unstable();
    sources.dedup();
    for source in sources {
        let row = view.source(source)?;
        if row.is_none_or(|row| row.session != *session) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The session that the first of these commits came from that came from one.
pub(crate) fn session_among(
    view: &dyn View,
    commits: &[CommitHash],
) -> Result<Option<(RefName, SessionRow)>> {
    let found = first_imported(view, commits)?;
    let ends = SessionEnds::default();
    let found = found.map(|(commit, files)| {
        let own = own(view, (&commit, files), &ends)?;
        in_order(view, &commit, own)
    });
    let session = found.transpose()?.into_iter().flatten().next();
    session.map(|name| with_row(view, name, true)).transpose()
}

/// What a commit is a copy of, and what that is a copy of, and so on; the last may not be here.
pub(crate) fn origins(view: &dyn View, row: &CommitRow) -> Result<Vec<CommitHash>> {
    let (mut origins, mut next) = (Vec::new(), row.commit.origin);
    while let Some(origin) = next {
        origins.push(origin);
        next = view.commit(&origin)?.and_then(|row| row.commit.origin);
    }
    Ok(origins)
}

/// The commit itself or, where no record is behind it, the nearest one that it is a copy of and that has any; where none has,
/// the first of them that is here.
pub(crate) fn recorded(view: &dyn View, row: &CommitRow) -> Result<CommitHash> {
    let origins = origins(view, row)?;
    let here = view.commits(&origins)?.into_iter().flatten();
    let mut all = vec![row.hash];
    all.extend(here.map(|row| row.hash));
    let records = view.records(&all)?;
    let at = records.iter().position(|records| !records.is_empty());
    Ok(all[at.unwrap_or(all.len() - 1)])
}

/// What stands among what a session's file lacks where neither it nor anything of it is kept here.
pub(crate) const NO_FILE: &str = "records that are no messages (the session file is not here)";

/// A session with what is known of it.
fn with_row(view: &dyn View, name: RefName, has_file: bool) -> Result<(RefName, SessionRow)> {
    let mut row = view.session(&name)?.unwrap_or_default();
    if !has_file {
        row.absent.push(NO_FILE.to_owned());
    }
    Ok((name, row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Draft, Encoding, Message, Priority, Role};
    use crate::repo::{Call, CommitOptions, Named, On, Repo};
    use crate::rewrite::Lost;
    use crate::rewrite::SurgeryOptions;

    fn said(text: &str) -> Message {
        Message::text(Role::User, text)
    }

    /// The task, a message, an edit of it, an edit of that edit, and a reply.
    fn edited_twice() -> (Repo, Vec<CommitHash>) {
        let repo = Repo::ephemeral().expect("a repository");
        let mut made: Vec<CommitHash> = Vec::new();
        for at in 0..5 {
            let draft = match at {
                2 | 3 => Draft::edit(EntryId::of(made[at - 1]), said(&format!("edit {at}"))),
                _ => Draft::append(said(&format!("message {at}"))),
            };
            let options = CommitOptions::default();
            let done = repo.commit(Call::default(), &[draft], &options);
            made.push(done.expect("it commits")[0].hash);
        }
        (repo, made)
    }

    #[test]
    fn an_edit_of_an_edit_is_named_like_the_message() {
        let (call, options) = (Call::default(), SurgeryOptions::default());
        let (_, made) = edited_twice();
        for name in [made[2], made[3]] {
            let (repo, _) = edited_twice();
            let message = EntryId::of(made[1]);
            let typed = repo.resolve_named(&On::Head, &name.to_string());
            assert_eq!(typed.expect("it is there"), Named::Entry(message));

            for named in [Named::Entry(name.into()), Named::Part(name.into(), 0)] {
                let (repo, _) = edited_twice();
                let done = repo.drop_named(call, &[named], false, &options);
                let done = done.expect("it may go");
                assert_eq!(done.hidden[0].id, message);
                let lost = [Lost::Entry(name.into())];
                let back = repo.restore(call, &lost, &options).expect("it comes back");
                assert_eq!(back.surgery.shown[0].id, message);
            }
            let pinned = repo.annotate(call, &[name.into()], Priority::Pinned, None, &options);
            assert_eq!(pinned.expect("it is there").entries, [message]);
        }
    }

    #[test]
    fn what_is_shown_of_an_edit_of_an_edit_is_that_of_the_message() {
        let (repo, made) = edited_twice();
        let call = Call::default();
        // By the name of an edit, as the fold takes it.
        let draft = Draft::new(
            Operation::Annotate {
                targets: vec![made[3].into()],
                priority: Priority::Pinned,
                reason: None,
            },
            Vec::new(),
        );
        let done = repo.commit(call, &[draft], &CommitOptions::default());
        let pin = done.expect("it commits")[0].hash;

        let show = |commit| repo.show(commit, Encoding::default()).expect("shown");
        assert_eq!(show(&made[3]).replaced, Some(said("edit 2")));
        assert_eq!(show(&made[3]).message, Some(said("edit 3")));
        let targets = show(&pin).targets;
        assert_eq!(targets.len(), 1);
        assert_eq!(targets[0].id, EntryId::of(made[1]));

        let life = repo.life(&made[1], &pin).expect("it has a life");
        assert_eq!(life.edited, Some(made[3]));
        assert_eq!(life.current, Some(said("edit 3")));
        assert_eq!(life.priorities, [(pin, Priority::Pinned, None)]);
    }
}
