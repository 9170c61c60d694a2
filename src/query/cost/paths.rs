//! The paths on which replies are looked for: each commit once, with the session and the directory that it is of.

use std::collections::{HashMap, HashSet};

use super::reply::BilledReply;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::RefName;
use crate::model::call::one_spelling;
use crate::model::price::Prices;
use crate::repo::copies::Copies;
use crate::repo::served::{ServedBy, go_on};
use crate::repo::{load, path};
use crate::store::{CommitRow, View};

/// A path with commits that are on none before it.
pub(crate) struct NewPath<'a> {
    pub(super) session: Option<&'a RefName>,
    pub(super) directory: Option<&'a String>,
    /// Its commits, oldest first.
    pub(crate) rows: Vec<CommitRow>,
    /// How many of them are on a path before.
    pub(crate) known: usize,
}

/// Tells the path to `tip`, or the paths that sessions, branches and tags lead to, those of sessions first.
pub(crate) fn each_path(
    view: &dyn View,
    tip: Option<&CommitHash>,
    visit: &mut dyn FnMut(NewPath<'_>) -> Result<()>,
) -> Result<()> {
    let mut directories: HashMap<String, String> = HashMap::new();
    let mut paths: Vec<(Option<RefName>, CommitHash)> = Vec::new();
    match tip {
        Some(tip) => {
            let session = path::session_of(view, tip)?;
            paths.push((session.as_ref().map(|(name, _)| name.clone()), *tip));
            directories.extend(session.and_then(|(name, row)| Some((name.to_string(), row.cwd?))));
        }
        None => {
            let sessions = view.sessions()?.into_iter();
            // Of several spellings of a directory the first stands for all.
            let mut spelled: HashMap<String, String> = HashMap::new();
            directories.extend(sessions.filter_map(|(name, row)| {
                let cwd = row.cwd?;
                let one = spelled.entry(one_spelling(&cwd)).or_insert(cwd);
                Some((name.to_string(), one.clone()))
            }));
            let tips = load::tips(view, RefName::SESSIONS)?;
            let copied = copied_agents(view, &tips)?;
            let own = tips
                .into_iter()
                .filter(|(name, _)| !copied.contains_key(name));
            paths.extend(own.map(|(name, tip)| (Some(name), tip)));
            let copied: HashSet<CommitHash> = copied.into_values().collect();
            for prefix in [RefName::HEADS, RefName::TAGS] {
                let tips = load::tips(view, prefix)?.into_iter();
                let tips = tips.filter(|(_, tip)| !copied.contains(tip));
                paths.extend(tips.map(|(_, tip)| (None, tip)));
            }
        }
    }
    each_of(view, paths, &directories, visit)
}

/// Where a session ran: a part of one, such as a path that a rewind left, where that ran.
fn ran_in<'d>(session: &RefName, directories: &'d HashMap<String, String>) -> Option<&'d String> {
    let mut name = session.as_str();
    loop {
        if let Some(directory) = directories.get(name) {
            return Some(directory);
        }
        name = name.rsplit_once('/')?.0;
    }
}

/// What the name of a sub-agent's ref begins with, below its session's.
const AGENT: &str = "agent-";

/// Where sub-agents are, of those that a copy's file mirrors and that ran in its original: whatever the mirror says, or
/// counts, is there.
fn copied_agents(
    view: &dyn View,
    tips: &[(RefName, CommitHash)],
) -> Result<HashMap<RefName, CommitHash>> {
    let agent = |name: &RefName| -> Option<(RefName, String)> {
        let (tool, id) = name.as_session()?;
        let (root, agent) = id.split_once('/')?;
        let is_agent = agent.starts_with(AGENT);
        is_agent.then(|| (RefName::session(tool, root), agent.to_owned()))
    };
    let mut roots: HashMap<String, Vec<RefName>> = HashMap::new();
    for (root, agent) in tips.iter().filter_map(|(name, _)| agent(name)) {
        roots.entry(agent).or_default().push(root);
    }
    let copies = Copies::of(view);
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
pub(super) fn each_of(
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
    pub(crate) fn replies(&self, view: &dyn View, prices: &Prices) -> Result<Vec<BilledReply>> {
        let mut served = ServedBy::default();
        let mut new = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            go_on(&mut served, row);
            if at >= self.known {
                new.push((row, served.clone()));
            }
        }
        let commits: Vec<CommitHash> = new.iter().map(|(row, _)| row.hash).collect();
        let mut before = self.last_known(view)?;
        let mut details = view.usage_details(&commits)?;
        let counted = new.into_iter().zip(view.usage(&commits)?);
        let replies = counted.filter_map(|((row, served), usage)| {
            let [model, tier, speed, region] = served.words();
            let mut reply = BilledReply {
                commit: row.hash,
                session: self.session.cloned(),
                directory: self.directory.cloned(),
                time: row.commit.time,
                model,
                tier,
                speed,
                region,
                usage: usage?,
                detail: details.remove(&row.hash).unwrap_or_default(),
                dollars: None,
                paid: None,
                before: before.replace(row.hash),
                content: row.appended(),
                behind: row.commit.parent,
            };
            reply.price(prices);
            Some(reply)
        });
        Ok(replies.collect())
    }
}
