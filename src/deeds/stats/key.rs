//! By what things are summed up.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ingest::project_of;
use crate::model::{Millis, RefName};
use crate::render::Calendar;

/// What a row stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum StatsBy {
    /// A session, with its sub-agents
    #[default]
    Session,
    /// An hour of the day, from 00 to 23, over all days
    Hour,
    /// A day
    Day,
    /// A day of the week, over all weeks
    Weekday,
    /// A week, by its number
    Week,
    /// A month
    Month,
    /// A tool that was called
    Tool,
    /// A file that was edited
    File,
    /// A working directory with its worktrees, and the links to it
    Project,
    /// A program whose sessions these are, such as claude-code
    Client,
}

impl StatsBy {
    /// Whether rows are in the order of their times.
    pub fn is_time(self) -> bool {
        matches!(
            self,
            Self::Hour | Self::Day | Self::Weekday | Self::Week | Self::Month
        )
    }

    /// Whether each row is a time of its own, so that some are newer than others.
    pub fn is_date(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month)
    }

    /// Whether a row is of calls, and not of messages.
    pub fn is_of_calls(self) -> bool {
        matches!(self, Self::Tool | Self::File)
    }
}

/// Names the row of a message.
pub(super) struct Keys {
    by: StatsBy,
    calendar: Calendar,
    projects: HashMap<String, String>,
}

impl Keys {
    pub(super) fn of(by: StatsBy, calendar: Calendar) -> Self {
        Self {
            by,
            calendar,
            projects: HashMap::new(),
        }
    }

    pub(super) fn by(&self) -> StatsBy {
        self.by
    }

    /// The row in which a message counts that is of this session, by its ref; empty where that is not known.
    pub(super) fn name(
        &mut self,
        session: Option<&str>,
        directory: Option<&String>,
        time: Option<Millis>,
    ) -> String {
        let calendar = &self.calendar;
        let name = match self.by {
            StatsBy::Session => session.map(str::to_owned),
            StatsBy::Hour => time.map(|time| calendar.hour(time)),
            StatsBy::Day => time.map(|time| calendar.date(time)),
            StatsBy::Weekday => time.map(|time| calendar.weekday(time)),
            StatsBy::Week => time.map(|time| calendar.week(time)),
            StatsBy::Month => time.map(|time| calendar.month(time)),
            StatsBy::Project => directory.map(|directory| {
                let known = self.projects.entry(directory.clone());
                known.or_insert_with(|| project_of(directory)).clone()
            }),
            StatsBy::Client => {
                let session = session.and_then(|it| it.parse::<RefName>().ok());
                let named = session.as_ref().and_then(RefName::as_session);
                named.map(|(tool, _)| tool.to_owned())
            }
            StatsBy::Tool | StatsBy::File => None,
        };
        name.unwrap_or_default()
    }
}
