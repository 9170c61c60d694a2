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

/// What the branch of a session is called, unless somebody calls it otherwise.
pub(crate) fn of_session(session: &RefName) -> Result<RefName> {
    let (tool, id) = session.as_session().unwrap_or(("session", "session"));
    let first = id.split('/').next().unwrap_or(id);
    // Nobody types a UUID.
    let stem = match uuid::Uuid::try_parse(first.get(..36).unwrap_or(first)) {
        Ok(_) => format!("{tool}-{}{}", &first[..8], &id[first.len()..]),
        Err(_) => id.to_owned(),
    };
    let plain = RefName::branch(&stem).and_then(|name| name.refuse_hash().map(|()| name));
    plain.or_else(|_| RefName::branch(&format!("{tool}-{stem}")))
}

/// Whether somebody has given the branch of a session its name. Sub-agents' branches go by the one of who started them.
pub(crate) fn is_named(session: &RefName, branch: &RefName) -> Result<bool> {
    let is_part = session.as_session().is_some_and(|(_, id)| id.contains('/'));
    let last = branch.as_str().rsplit_once('/');
    if is_part || last.is_some_and(|(_, last)| last.starts_with(RefName::AGENT)) {
        return Ok(false);
    }
    let first = of_session(session)?;
    let rest = branch.as_str().strip_prefix(first.as_str());
    let number = rest.and_then(|rest| rest.strip_prefix('-'));
    Ok(rest != Some("") && number.is_none_or(|number| number.parse::<usize>().is_err()))
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
