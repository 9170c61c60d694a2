//! What is kept by the name of a branch, beside its ref: the sessions that it follows, the merge that is under way on it, and which
//! remote it goes to. It goes along when the branch is called otherwise, and is not there for a new branch of an old name.

use crate::error::Result;
use crate::model::RefName;
use crate::store::{ReflogRow, Tx, View};

const BRANCH: &str = "branch.";
const REMOTE: &str = ".remote";

/// The setting that says which remote a branch goes to.
pub(crate) fn remote_key(branch: &RefName) -> String {
    let name = branch.as_str().strip_prefix(RefName::HEADS);
    format!("{BRANCH}{}{REMOTE}", name.unwrap_or(branch.as_str()))
}

/// Whether a setting is [`remote_key`] of any branch.
pub(crate) fn is_remote_key(key: &str) -> bool {
    key.starts_with(BRANCH) && key.ends_with(REMOTE)
}

/// The remote that a branch goes to, where one was set.
pub(crate) fn remote_of(view: &dyn View, branch: &RefName) -> Result<Option<String>> {
    let key = remote_key(branch);
    let mut config = view.config()?.into_iter();
    Ok(config.find(|(of, _)| *of == key).map(|(_, to)| to))
}

/// How many characters of a UUID are whole groups of it.
const UUID_GROUPS: [usize; 5] = [8, 13, 18, 23, 36];

/// What the branch of a session is called, unless somebody calls it otherwise: the first of these that is free. Nobody types a
/// UUID, so its first group does; where another session has that, more of it. A number says that one session has a second history.
pub(crate) fn of_session(session: &RefName) -> Result<Vec<RefName>> {
    let (tool, id) = session.as_session().unwrap_or(("session", "session"));
    let first = id.split('/').next().unwrap_or(id);
    let uuid = first
        .get(..36)
        .filter(|it| uuid::Uuid::try_parse(it).is_ok());
    let stems = match uuid {
        Some(uuid) => {
            let rest = &id[uuid.len()..];
            let cut = |len: usize| format!("{tool}-{}{rest}", &uuid[..len]);
            UUID_GROUPS.into_iter().map(cut).collect()
        }
        None => vec![id.to_owned()],
    };
    let branch = |stem: String| {
        let plain = RefName::branch(&stem).and_then(|name| name.refuse_hash().map(|()| name));
        plain.or_else(|_| RefName::branch(&format!("{tool}-{stem}")))
    };
    stems.into_iter().map(branch).collect()
}

/// The session of which this one is a sub-agent, a further path or, with a number behind its UUID, a further history.
pub(crate) fn root(session: &RefName) -> Option<RefName> {
    let (tool, id) = session.as_session()?;
    let (first, _) = id.split_once('/').unwrap_or((id, ""));
    let numbered = first.split_at_checked(36).filter(|(uuid, rest)| {
        let number = rest.strip_prefix('-');
        let is_numbered = number.is_some_and(|it| it.parse::<usize>().is_ok());
        is_numbered && uuid::Uuid::try_parse(uuid).is_ok()
    });
    let root = numbered.map_or(first, |(uuid, _)| uuid);
    (root != id).then(|| RefName::session(tool, root))
}

/// Whether somebody has given the branch of a session its name. Sub-agents' branches go by the one of who started them.
pub(crate) fn is_named(session: &RefName, branch: &RefName) -> Result<bool> {
    let is_part = session.as_session().is_some_and(|(_, id)| id.contains('/'));
    let last = branch.as_str().rsplit_once('/');
    if is_part || last.is_some_and(|(_, last)| last.starts_with(RefName::AGENT)) {
        return Ok(false);
    }
    let is_after = |first: &RefName| {
        let rest = branch.as_str().strip_prefix(first.as_str());
        let number = rest.and_then(|rest| rest.strip_prefix('-'));
        rest == Some("") || number.is_some_and(|number| number.parse::<usize>().is_ok())
    };
    Ok(!of_session(session)?.iter().any(is_after))
}

/// A branch is called otherwise.
pub(crate) fn take_along(tx: &dyn Tx, old: &RefName, new: &RefName) -> Result<()> {
    for (session, branch) in tx.followers()? {
        if branch == *old {
            tx.set_follower(&session, new)?;
        }
    }
    tx.set_merging(new, tx.merging(old)?.as_deref())?;
    tx.set_config(&remote_key(new), remote_of(tx, old)?.as_deref())?;
    forget(tx, old)
}

/// A branch is made: what is left of another one of its name is not this one's.
pub(crate) fn forget(tx: &dyn Tx, branch: &RefName) -> Result<()> {
    tx.set_merging(branch, None)?;
    tx.set_config(&remote_key(branch), None)
}

/// The branch that these moves of one operation call otherwise, and how: what one of them deletes, another makes.
pub(crate) fn renamed<'a>(
    moves: impl IntoIterator<Item = &'a ReflogRow>,
    undone: bool,
) -> Option<(&'a RefName, &'a RefName)> {
    let (mut gone, mut made) = (Vec::new(), Vec::new());
    for row in moves.into_iter().filter(|row| row.name.is_branch()) {
        let (old, new) = if undone {
            (&row.new, &row.old)
        } else {
            (&row.old, &row.new)
        };
        match (old, new) {
            (Some(at), None) => gone.push((&row.name, at)),
            (None, Some(at)) => made.push((&row.name, at)),
            _ => {}
        }
    }
    match (&gone[..], &made[..]) {
        ([(old, from)], [(new, to)]) if from == to => Some((old, new)),
        _ => None,
    }
}
