//! What was done in sessions: how long they were at work, prompts, calls and what came of them, edits of files.

mod key;
mod tally;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::key::Keys;
pub use self::key::StatsBy;
use self::tally::Tally;
use super::facts::is_zero;
use super::here::Here;
use super::provenance::called_edits;
use super::{ApiError, At, Deed, Method, Spelled, WrittenTime};
use crate::hash::CommitHash;
use crate::model::Millis;
use crate::model::price::Prices;
use crate::query::ActivityRow;
use crate::render::calendar::Edge;

/// How many edits are listed unless somebody says.
const EDITS: usize = 20;

/// Show what was done: time at work, prompts, calls, edits
///
/// Time at work is what a model, tools and the user took, with pauses left out. More than 5 minutes before a prompt is a
/// pause. More than an hour before a reply or a result is one, too. Sub-agents count with their session, and what runs
/// side by side counts once. A call failed where its tool reports an error. A call without a result was interrupted. A
/// message that a copy of a session repeats counts with the original. So does one that pick, rebase or merge copied.
///
/// It counts all that sessions, branches and tags lead to, with the branches that merges brought in. With REV, it counts
/// what is on the path to it, as log lists it. Several revisions get a column each. Where each directory has a HEAD of
/// its own, it counts this directory. `all` counts everything. Days and hours are those of the local time zone. Tokens are what providers counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract stats                     all sessions, the longest at work first
  tract stats --by day --since 7d what was done on each of the last days
  tract stats --by hour           at which hours of the day
  tract stats --by tool main      calls on the path to main, how many failed
  tract stats --by file           files by their edits
  tract stats --edits             the newest edits of all sessions, with their prompts
  tract stats main try-2 try-3    runs beside each other")
)]
pub struct StatsParams {
    /// Only what is on the path to this commit; several are rows of their own
    #[cfg_attr(feature = "cli", arg(value_name = "REV"))]
    pub revs: Vec<String>,
    /// The grouping of the rows; session unless given
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "WHAT"))]
    pub by: Option<StatsBy>,
    /// The newest edits of files instead, each with its prompt
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "by"))]
    pub edits: bool,
    /// In a repository where each directory has a HEAD of its own: of all directories
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "revs"))]
    pub all: bool,
    /// At most N rows, of dates the newest; 0: all. By default 20 edits, or all of anything else
    #[cfg_attr(feature = "cli", arg(short = 'n', long, value_name = "N"))]
    pub limit: Option<usize>,
    /// Only from then on: a date, or an age such as 3w or '2 days ago'
    #[cfg_attr(feature = "cli", arg(long, value_name = "WHEN"))]
    pub since: Option<Spelled<WrittenTime>>,
    /// Only up to then
    #[cfg_attr(feature = "cli", arg(long, value_name = "WHEN"))]
    pub until: Option<Spelled<WrittenTime>>,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct StatsAnswer {
    /// All of it.
    pub total: StatsRow,
    /// The rows: times in their order, revisions as they were given, anything else by time at work, tools by calls, files
    /// by edits.
    pub rows: Vec<StatsRow>,
    /// With `edits`, in place of rows: the newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<StatsEdit>,
    /// How many rows or edits `limit` leaves out.
    pub left_out: usize,
    /// With revisions: how many replies of sub-agents of their sessions were counted by a provider and are not in the sums, for
    /// they are on none of the paths.
    #[serde(skip_serializing_if = "is_zero")]
    pub sub_agent_replies: usize,
    /// With `since` or `until`: how many replies have no time, as those of an imported stream, and are left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub untimed_replies: usize,
    /// How many replies have no tokens of their own in the sums: no provider counted them one by one, or what they are copies of
    /// is not on these paths.
    #[serde(skip_serializing_if = "is_zero")]
    pub uncounted_replies: usize,
    /// The directory of which it is alone, where each has a HEAD of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

/// What was done in some sessions, at some time, or with a tool or a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct StatsRow {
    /// What it is of: a session's ref, a day, a tool, a file, a revision. Empty where none is known. What somebody else
    /// wrote: escape it before it is shown.
    pub name: String,
    /// Of a session: its title. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How many sessions had a part in it.
    pub sessions: usize,
    /// How many prompts the user typed; of a tool or a file, for how many it was used.
    pub prompts: usize,
    /// How many replies there were.
    pub replies: usize,
    /// How many calls of tools.
    pub calls: usize,
    /// How many of these failed.
    pub failed: usize,
    /// How many have no result: they were interrupted, or still run.
    pub interrupted: usize,
    /// How many edits of files did not fail.
    pub edits: usize,
    /// In how many files.
    pub files: usize,
    /// How many lines came.
    pub lines_added: usize,
    /// How many went.
    pub lines_removed: usize,
    /// How long sessions were at work, in milliseconds. Pauses are left out.
    pub active_ms: i64,
    /// How long models wrote, in milliseconds. Agents that run side by side count each.
    pub model_ms: i64,
    /// How long tools ran; likewise.
    pub tools_ms: i64,
    /// How long the user read and wrote; likewise.
    pub user_ms: i64,
    /// The first time that is known, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_ms: Option<i64>,
    /// The last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_ms: Option<i64>,
    /// The input that providers counted, in tokens.
    pub input_tokens: u64,
    /// The output that they counted, in tokens.
    pub output_tokens: u64,
    /// How many replies were counted for less output than they say: `output_tokens` is at least what they have.
    #[serde(skip_serializing_if = "is_zero")]
    pub short_outputs: usize,
}

/// An edit of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StatsEdit {
    /// The commit of the message that made it.
    pub commit: String,
    /// When, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// The session, by its ref.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The tool. What somebody else wrote.
    pub tool: String,
    /// The file, as the call spells it. What somebody else wrote.
    pub path: String,
    /// What came of it: done, failed, or unanswered.
    pub outcome: &'static str,
    /// How many lines came.
    pub lines_added: usize,
    /// How many went.
    pub lines_removed: usize,
    /// The commit of the prompt that it was made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// A line of that prompt. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_preview: Option<String>,
}

impl StatsParams {
    /// What a row stands for.
    pub fn by(&self) -> StatsBy {
        self.by.unwrap_or_default()
    }

    /// The directory of which it is alone: of the one whose HEAD this is, where each has its own.
    pub fn directory<'r>(&self, at: &At<'r>) -> Option<&'r str> {
        let is_narrow = self.revs.is_empty() && !self.all;
        at.repo.seat().filter(|_| is_narrow)
    }

    fn times(&self, at: &At<'_>) -> Result<(Option<Millis>, Option<Millis>), ApiError> {
        let since = at.moment(self.since.as_ref(), Edge::Start)?;
        Ok((since, at.moment(self.until.as_ref(), Edge::End)?))
    }

    /// Reads what is on one path, or on all.
    fn read(
        &self,
        at: &At<'_>,
        tip: Option<&CommitHash>,
        keys: &mut Keys,
    ) -> Result<Tally, ApiError> {
        let (since, until) = self.times(at)?;
        let is_meant = |time: Option<Millis>| {
            since.is_none_or(|since| time.is_some_and(|time| time >= since))
                && until.is_none_or(|until| time.is_some_and(|time| time <= until))
        };
        let here = Here::of(at, self.directory(at))?;
        let is_here = |commit: &CommitHash, directory: Option<&String>| {
            let has = |here: &Here| here.has(commit, directory);
            here.as_ref().is_none_or(has)
        };
        let mut tally = Tally::default();
        at.repo
            .each_activity(tip, &called_edits, &mut |row: ActivityRow| {
                if is_meant(row.time) && is_here(&row.commit, row.directory.as_ref()) {
                    tally.take(&row, keys, self.edits);
                }
                Ok(())
            })?;
        for reply in at.repo.billed(tip, &Prices::none())? {
            if !is_here(&reply.commit, reply.directory.as_ref()) {
                continue;
            }
            match is_meant(reply.time) {
                true => tally.take_reply(&reply, keys),
                false => tally.untimed += usize::from(reply.time.is_none()),
            }
        }
        if let Some(tip) = tip {
            let agents = at.repo.billed_agents_beside(tip, &Prices::none())?;
            tally.agents_beside = agents.iter().filter(|it| is_meant(it.time)).count();
        }
        Ok(tally)
    }

    fn titled(&self, at: &At<'_>, rows: &mut [StatsRow]) -> Result<(), ApiError> {
        if self.by() == StatsBy::Session {
            let mut titles = at.repo.session_titles()?;
            for row in rows {
                row.title = titles.remove(&row.name);
            }
        }
        Ok(())
    }
}

impl Method for StatsParams {
    const NAME: &'static str = "stats";
    const CHANGES: bool = false;
    type Answer = StatsAnswer;

    fn act(self, at: &mut At<'_>) -> Result<StatsAnswer, ApiError> {
        let by = self.by();
        let mut keys = Keys::of(by, at.calendar());
        let mut answer = StatsAnswer {
            directory: self.directory(at).map(str::to_owned),
            ..StatsAnswer::default()
        };
        let tips: Vec<CommitHash> = self
            .revs
            .iter()
            .map(|rev| at.resolve(Some(rev)))
            .collect::<Result<_, _>>()?;
        let mut tally = match tips.as_slice() {
            [] => self.read(at, None, &mut keys)?,
            [tip] => self.read(at, Some(tip), &mut keys)?,
            several if self.by.is_none() && !self.edits => {
                // Each is a row, and what two of them share counts in both.
                for (rev, tip) in self.revs.iter().zip(several) {
                    let mut tally = self.read(at, Some(tip), &mut keys)?;
                    answer.sub_agent_replies += tally.agents_beside;
                    answer.untimed_replies += tally.untimed;
                    answer.uncounted_replies += tally.uncounted();
                    let mut row = tally.total();
                    row.name.clone_from(rev);
                    answer.rows.push(row);
                }
                answer.total = StatsRow::sum(&answer.rows);
                return Ok(answer);
            }
            _ => {
                let what = "several revisions are rows of their own: without 'by' and 'edits'";
                return Err(ApiError::params(what));
            }
        };
        answer.sub_agent_replies = tally.agents_beside;
        answer.untimed_replies = tally.untimed;
        if !self.edits && !by.is_of_calls() {
            answer.uncounted_replies = tally.uncounted();
        }
        answer.total = tally.total();
        if self.edits {
            let limit = self.limit.unwrap_or(EDITS);
            let (edits, left_out) = tally.newest_edits(at.repo, limit)?;
            (answer.edits, answer.left_out) = (edits, left_out);
            return Ok(answer);
        }
        answer.rows = tally.rows(by);
        self.titled(at, &mut answer.rows)?;
        if let Some(limit) = self.limit.filter(|limit| *limit > 0) {
            answer.left_out = answer.rows.len().saturating_sub(limit);
            match by.is_date() {
                true => drop(answer.rows.drain(..answer.left_out)),
                false => answer.rows.truncate(limit),
            }
        }
        Ok(answer)
    }
}

impl Deed for StatsParams {
    const PLACES: &'static [&'static str] = &["revs"];
    const REVISIONS: &'static [&'static str] = &["revs"];
}

impl StatsRow {
    /// What rows come to of which none shares anything with another.
    fn sum(rows: &[Self]) -> Self {
        let mut sum = Self {
            name: "total".to_owned(),
            ..Self::default()
        };
        for row in rows {
            sum.sessions += row.sessions;
            sum.prompts += row.prompts;
            sum.replies += row.replies;
            sum.calls += row.calls;
            sum.failed += row.failed;
            sum.interrupted += row.interrupted;
            sum.edits += row.edits;
            sum.files += row.files;
            sum.lines_added += row.lines_added;
            sum.lines_removed += row.lines_removed;
            sum.active_ms += row.active_ms;
            sum.model_ms += row.model_ms;
            sum.tools_ms += row.tools_ms;
            sum.user_ms += row.user_ms;
            sum.first_ms = [sum.first_ms, row.first_ms].into_iter().flatten().min();
            sum.last_ms = sum.last_ms.max(row.last_ms);
            sum.input_tokens += row.input_tokens;
            sum.output_tokens += row.output_tokens;
            sum.short_outputs += row.short_outputs;
        }
        sum
    }
}
