//! By what replies are summed up: what a row stands for, and what its replies have in common.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hash::CommitHash;
use crate::model::RefName;
use crate::query::BilledReply;
use crate::render::Calendar;

/// What a row stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum CostBy {
    /// A session, with its sub-agents
    #[default]
    Session,
    /// A session without its sub-agents, or a sub-agent
    Agent,
    /// A day
    Day,
    /// A week, by its number
    Week,
    /// A month
    Month,
    /// Five hours, as plans of a subscription count use
    Block,
    /// A model
    Model,
    /// A working directory, however it is spelt
    Directory,
    /// A working directory with its worktrees, and the links to it
    Project,
    /// A program whose sessions these are, such as claude-code
    Client,
    /// A home of a program, such as ~/.claude: whoever is signed in there pays
    Account,
    /// A tool that was called: what its results have cost
    Tool,
    /// A message
    Message,
}

impl CostBy {
    /// Whether rows are in the order of their times, and not of what they cost.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month | Self::Block)
    }

    /// The session that a reply counts with, by its ref: a sub-agent with who started it, unless agents are rows.
    pub fn session_of(self, reply: &BilledReply) -> Option<String> {
        reply.counts_with(self == Self::Agent)
    }
}

/// What replies have in common that they do not say themselves.
#[derive(Default)]
pub(super) struct CostNames {
    pub(super) projects: HashMap<String, String>,
    pub(super) accounts: HashMap<String, String>,
    pub(super) blocks: HashMap<CommitHash, String>,
}

impl CostNames {
    /// What a reply has in common with others.
    pub(super) fn word(&self, reply: &BilledReply, by: CostBy, calendar: &Calendar) -> String {
        let word = match by {
            CostBy::Session | CostBy::Agent | CostBy::Message | CostBy::Tool => {
                by.session_of(reply)
            }
            CostBy::Day => reply.time.map(|time| calendar.date(time)),
            CostBy::Week => reply.time.map(|time| calendar.week(time)),
            CostBy::Month => reply.time.map(|time| calendar.month(time)),
            CostBy::Block => self.blocks.get(&reply.commit).cloned(),
            CostBy::Model => reply.model.clone(),
            CostBy::Directory => reply.directory.clone(),
            CostBy::Project => {
                let directory = reply.directory.as_ref();
                directory.and_then(|directory| self.projects.get(directory).cloned())
            }
            CostBy::Client => {
                let session = reply.session.as_ref().and_then(RefName::as_session);
                session.map(|(tool, _)| tool.to_owned())
            }
            CostBy::Account => {
                let session = CostBy::Session.session_of(reply);
                session.and_then(|session| self.accounts.get(&session).cloned())
            }
        };
        word.unwrap_or_default()
    }
}
