//! The paths on which replies are looked for: each commit once, with the session and the directory that it is of.

use std::collections::{HashMap, HashSet};

use super::reply::BilledReply;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::call::one_spelling;
use crate::model::price::Prices;
use crate::model::{RefName, UsageDetail};
use crate::repo::copies::Copies;
use crate::repo::served::{ServedBy, go_on};
use crate::repo::{load, path};
use crate::store::{CommitRow, View};

/// A path with commits that are on none before it.
pub(crate) struct NewPath<'a> {
    pub(crate) session: Option<&'a RefName>,
    pub(crate) directory: Option<&'a String>,
    /// Its commits, oldest first.
    pub(crate) rows: Vec<CommitRow>,
    /// How many of them are on a path before.
    pub(crate) known: usize,
}

/// The paths that refs lead to.
pub(crate) struct Paths {
    /// The directories in which sessions ran, by the sessions' refs.
    pub(crate) directories: HashMap<String, String>,
    /// Each ref with where it leads, those of sessions first.
    pub(crate) tips: Vec<(RefName, CommitHash)>,
}

impl Paths {
    /// Those of sessions, branches and tags.
    pub(crate) fn of_all(view: &dyn View, copies: &Copies<'_>) -> Result<Self> {
        let sessions = view.sessions()?.into_iter();
        // Of several spellings of a directory the first stands for all.
        let mut spelled: HashMap<String, String> = HashMap::new();
        let directories = sessions.filter_map(|(name, row)| {
            let cwd = row.cwd?;
            let one = spelled.entry(one_spelling(&cwd)).or_insert(cwd);
            Some((name.to_string(), one.clone()))
        });
        let directories = directories.collect();
        let mut tips = load::tips(view, RefName::SESSIONS)?;
        let copied = copied_agents(&tips, copies)?;
        tips.retain(|(name, _)| !copied.contains_key(name));
        let copied: HashSet<CommitHash> = copied.into_values().collect();
        for prefix in [RefName::HEADS, RefName::TAGS] {
            let others = load::tips(view, prefix)?.into_iter();
            tips.extend(others.filter(|(_, tip)| !copied.contains(tip)));
        }
        Ok(Self { directories, tips })
    }
}

/// Tells the path to `tip`, or the paths that sessions, branches and tags lead to, those of sessions first.
pub(crate) fn each_path(
    view: &dyn View,
    tip: Option<&CommitHash>,
    visit: &mut dyn FnMut(NewPath<'_>) -> Result<()>,
) -> Result<()> {
    let Some(tip) = tip else {
        let Paths { directories, tips } = Paths::of_all(view, &Copies::of(view))?;
        let paths = tips.into_iter();
        let paths = paths.map(|(name, tip)| (name.as_session().is_some().then_some(name), tip));
        return each_of(view, paths.collect(), &directories, visit);
    };
    let session = path::session_of(view, tip)?;
    let paths = vec![(session.as_ref().map(|(name, _)| name.clone()), *tip)];
    let directories = session.and_then(|(name, row)| Some((name.to_string(), row.cwd?)));
    each_of(view, paths, &directories.into_iter().collect(), visit)
}

/// Where a session ran: a part of one, such as a path that a rewind left, where that ran.
pub(super) fn ran_in<'d>(
    session: &RefName,
    directories: &'d HashMap<String, String>,
) -> Option<&'d String> {
    let mut name = session.as_str();
    loop {
        if let Some(directory) = directories.get(name) {
            return Some(directory);
        }
        name = name.rsplit_once('/')?.0;
    }
}

/// Where sub-agents are, of those that a copy's file mirrors and that ran in its original: whatever the mirror says, or
/// counts, is there.
fn copied_agents(
    tips: &[(RefName, CommitHash)],
    copies: &Copies<'_>,
) -> Result<HashMap<RefName, CommitHash>> {
    let agent = |name: &RefName| -> Option<(RefName, String)> {
        let (tool, id) = name.as_session()?;
        let (root, agent) = id.split_once('/')?;
        let is_agent = agent.starts_with(RefName::AGENT);
        is_agent.then(|| (RefName::session(tool, root), agent.to_owned()))
    };
    let mut roots: HashMap<String, Vec<RefName>> = HashMap::new();
    for (root, agent) in tips.iter().filter_map(|(name, _)| agent(name)) {
        roots.entry(agent).or_default().push(root);
    }
    let mut copied = HashMap::new();
    for (name, tip) in tips {
        let Some((root, agent)) = agent(name) else {
            continue;
        };
        let roots = &roots[&agent];
        if roots.len() > 1 && copies.parents(&root)?.iter().any(|it| roots.contains(it)) {
            copied.insert(name.clone(), *tip);
        }
    }
    Ok(copied)
}

/// Tells these paths, with the sessions that they are of.
pub(crate) fn each_of(
    view: &dyn View,
    paths: Vec<(Option<RefName>, CommitHash)>,
    directories: &HashMap<String, String>,
    visit: &mut dyn FnMut(NewPath<'_>) -> Result<()>,
) -> Result<()> {
    let mut seen: HashSet<CommitHash> = HashSet::new();
    for (session, tip) in paths {
        // A session that is on another one's path may have made what stands there.
        if session.is_none() && seen.contains(&tip) {
            continue;
        }
        let mut rows = view.ancestors(&tip, None, usize::MAX)?;
        rows.reverse();
        let known = rows.partition_point(|row| seen.contains(&row.hash));
        seen.extend(rows[known..].iter().map(|row| row.hash));
        visit(NewPath {
            directory: session.as_ref().and_then(|name| ran_in(name, directories)),
            session: session.as_ref(),
            rows,
            known,
        })?;
    }
    Ok(())
}

impl NewPath<'_> {
    /// The newest counted reply of the path that is on another before it.
    fn last_known(&self, view: &dyn View) -> Result<Option<CommitHash>> {
        for rows in self.rows[..self.known].rchunks(64) {
            let commits: Vec<CommitHash> = rows.iter().map(|row| row.hash).collect();
            if let Some(at) = view.usage(&commits)?.iter().rposition(Option::is_some) {
                return Ok(Some(commits[at]));
            }
        }
        Ok(None)
    }

    /// The replies among its new commits that a provider counted, oldest first.
    pub(crate) fn replies(
        &self,
        view: &dyn View,
        details: &load::UsageDetails<'_>,
        prices: &Prices,
    ) -> Result<Vec<BilledReply>> {
        let mut served = ServedBy::default();
        let (known, new) = self.rows.split_at(self.known);
        known.iter().for_each(|row| go_on(&mut served, row));
        let before = self.last_known(view)?;
        let mut replies = counted(view, new, (&mut served, before), details.all()?)?;
        for reply in &mut replies {
            reply.session = self.session.cloned();
            reply.directory = self.directory.cloned();
            reply.price(prices);
        }
        Ok(replies)
    }
}

/// The replies among these commits that a provider counted, oldest first and without a price, by what is in force before
/// the first of them, and the counted reply before. It isn't said which session they are of.
pub(super) fn counted(
    view: &dyn View,
    rows: &[CommitRow],
    (served, mut before): (&mut ServedBy, Option<CommitHash>),
    details: &HashMap<CommitHash, UsageDetail>,
) -> Result<Vec<BilledReply>> {
    let commits: Vec<CommitHash> = rows.iter().map(|row| row.hash).collect();
    let mut replies = Vec::new();
    for (row, usage) in rows.iter().zip(view.usage(&commits)?) {
        go_on(served, row);
        let Some(usage) = usage else { continue };
        let [model, tier, speed, region] = served.clone().words();
        replies.push(BilledReply {
            commit: row.hash,
            session: None,
            started_by: None,
            directory: None,
            time: row.commit.time,
            model,
            tier,
            speed,
            region,
            usage,
            detail: details.get(&row.hash).cloned().unwrap_or_default(),
            dollars: None,
            paid: None,
            short: None,
            before: before.replace(row.hash),
            content: row.appended(),
            behind: row.commit.parent,
        });
    }
    Ok(replies)
}
