//! Which session's agent started another session: sub-agents count with the session that somebody began.
//!
//! A tool may keep a sub-agent as a session of its own. Its branch stands below that of the session that started it, and
//! each session has the branch that follows it: so it is known for every tool, wherever the tool itself says it. An agent
//! that came in before that session has a branch of its own; then its file tells, where its tool's files do. Of one whose file is
//! not here, where it came from tells.
//! Deliberately absent: sub-agents that stand below their session by name, for they tell it themselves.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::formats::Format;
use crate::model::RefName;
use crate::repo::copies::Copies;
use crate::repo::load;
use crate::store::View;

/// How many agents of agents are told apart.
const LEVELS: usize = 16;

/// The sessions that started others.
#[derive(Debug, Default)]
pub(crate) struct Starters {
    /// By the ref of the session that was started.
    by_agent: HashMap<String, RefName>,
}

impl Starters {
    /// Those that are here, by their branches.
    pub(crate) fn of(view: &dyn View) -> Result<Self> {
        let followers = view.followers()?;
        let mut by_branch: HashMap<&str, &RefName> = HashMap::new();
        for (session, branch) in &followers {
            by_branch.insert(branch.as_str(), session);
        }
        let mut by_agent = HashMap::new();
        for (session, branch) in &followers {
            let Some(above) = branch.above_agent() else {
                continue;
            };
            let starter = by_branch.get(above).and_then(|it| root(it));
            if let (Some(own), Some(starter)) = (root(session), starter)
                && own != starter
            {
                by_agent.insert(own.to_string(), starter);
            }
        }
        Ok(Self { by_agent })
    }

    /// Looks up which of these sessions say in their files that an agent did all of them: one that came in before who
    /// started it has a branch of its own. Reads the beginning of each file that may say it.
    pub(crate) fn read<'s>(
        &mut self,
        sessions: impl Iterator<Item = &'s RefName>,
        (view, copies): (&dyn View, &Copies<'_>),
    ) -> Result<()> {
        let mut looked = HashSet::new();
        let mut left: Vec<RefName> = sessions.filter_map(root).collect();
        while let Some(own) = left.pop() {
            if !looked.insert(own.clone()) || self.by_agent.contains_key(own.as_str()) {
                continue;
            }
            let starter = copies.starter(&own)?.filter(|it| *it != own);
            if let Some(starter) = starter
                && load::tip(view, &starter)?.is_some()
            {
                self.by_agent.insert(own.to_string(), starter.clone());
                left.push(starter);
            }
        }
        Ok(())
    }

    /// The same of all sessions of the client that had this one, if its files say so. `prepare` tells what was read of files
    /// before.
    pub(crate) fn read_like(
        &mut self,
        session: &RefName,
        view: &dyn View,
        prepare: impl FnOnce(&Copies<'_>) -> Result<()>,
    ) -> Result<()> {
        let Some((tool, _)) = session.as_session() else {
            return Ok(());
        };
        let home = Format::named(tool).ok().and_then(|it| it.home.as_ref());
        if !home.is_some_and(|home| home.names_starters) {
            return Ok(());
        }
        let copies = Copies::of(view);
        prepare(&copies)?;
        let sessions = view.sessions()?;
        let names = sessions.iter().map(|(name, _)| name);
        let is_like = |name: &&RefName| name.as_session().is_some_and(|(of, _)| of == tool);
        self.read(names.filter(is_like), (view, &copies))
    }

    /// The session that somebody began, of which an agent started this one or another agent did; none where nobody's
    /// agent did.
    pub(crate) fn first(&self, session: &RefName) -> Option<&RefName> {
        let mut first = self.by_agent.get(session.root_session()?)?;
        for _ in 0..LEVELS {
            match self.by_agent.get(first.as_str()) {
                Some(above) => first = above,
                None => break,
            }
        }
        Some(first)
    }

    /// The session an agent of which did this one.
    pub(crate) fn of_agent(&self, session: &RefName) -> Option<&RefName> {
        self.by_agent.get(session.as_str())
    }

    /// The sessions that agents of this one started, and agents of theirs.
    pub(crate) fn started_by(&self, session: &RefName) -> Vec<RefName> {
        let agents = self.by_agent.keys().filter_map(|name| name.parse().ok());
        let is_below = |agent: &RefName| self.first(agent).is_some_and(|it| it == session);
        let mut agents: Vec<RefName> = agents.filter(is_below).collect();
        agents.sort();
        agents
    }
}

fn root(session: &RefName) -> Option<RefName> {
    session.root_session()?.parse().ok()
}
