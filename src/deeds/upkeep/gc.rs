//! What nothing leads to any more goes, and what stays gets smaller.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Deed, Method, Spelled, WorkProgress};
use crate::ingest;
use crate::model::Millis;
use crate::model::retention::{Expire, Retention};
use crate::upkeep::{Collected, GcStep, LetGo, Unfinished};

/// Delete what no branch, tag, session or undo needs any more
///
/// Everything that a branch, tag or session holds stays, hidden messages too, with what they compile to and export
/// as. Commits that undo and reflog can reach stay for 90 days, or as long as gc.reflogExpire says; older commands
/// are forgotten, and undo cannot reach them. Parts of kept session files that nothing reads are deleted. Then the
/// rest is compressed again and the files are rewritten. Other commands may run meanwhile. tract never does this
/// unasked.
///
/// With `keep`, or gc.keep, it first removes imported sessions that are neither among the newest so many nor
/// of the last so many days. It lists the sessions that it removes. `tract undo` restores them for 90 days, or not at
/// all where `expire` is now. A session stays if a branch of your own, a tag or a HEAD leads to it. It stays if
/// commits of it were taken over, and while its file is in its place, for an import would bring it back. It also
/// stays if a purge erased anything in it, for its file would bring that back.
///
/// To erase something so that nobody can read it again: purge, or `tract clear --purge`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract gc
  tract gc --dry-run         what would go
  tract gc --expire now      also forget everything that could be undone
  tract gc --expire 30       forget only what is older than 30 days
  tract gc --keep 100,90d --dry-run    which sessions would go, with sizes
  tract gc --keep 100,90d    keep the newest 100 sessions, and those of the last 90 days
  tract tag keep-this claude-code/2f6c1f0e    this session stays")
)]
pub struct GcParams {
    /// Forget commands older than this: a number of days, now, or never
    #[cfg_attr(feature = "cli", arg(long, value_name = "AGE"))]
    pub expire: Option<Spelled<Age>>,
    /// Which imported sessions are kept: so many, days such as 90d, both (100,90d), or all
    #[cfg_attr(feature = "cli", arg(long, value_name = "KEEP"))]
    pub keep: Option<Spelled<Kept>>,
    /// Change nothing; say what would go
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
}

/// How much of the log is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age(pub Expire);

impl FromStr for Age {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = |_| "an age is a number of days, now, or never";
        text.parse().map(Self).map_err(wrong)
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// All sessions, or those of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept(pub Option<Retention>);

impl FromStr for Kept {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong =
            |_| "it is a number of sessions, a number of days such as 90d, both (100,90d), or all";
        Retention::read(text).map(Self).map_err(wrong)
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(retention) => retention.fmt(f),
            None => f.write_str("all"),
        }
    }
}

/// What a collection did or, in a dry run, would do.
pub struct Collection {
    /// The sessions that were let go; none where all are kept.
    pub let_go: Option<Vec<LetGo>>,
    /// What was taken out.
    pub collected: Collected,
}

impl GcParams {
    /// Does it, or foretells it. `told` hears how far it has come.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn carry_out(
        &self,
        at: &At<'_>,
        told: &mut dyn FnMut(GcStep),
    ) -> Result<Collection, ApiError> {
        let (repo, now) = (at.repo, at.host.now());
        let retention = match self.keep {
            Some(Spelled(Kept(retention))) => retention,
            None => repo.config()?.retention()?,
        };
        let expire = match self.expire {
            Some(Spelled(Age(expire))) => expire,
            None => repo.config()?.reflog_expire()?,
        };
        if self.dry_run {
            let (let_go, mut collected) = match retention {
                Some(retention) => (
                    Some(ingest::let_go_forecast(repo, retention, now)?),
                    ingest::gc_forecast_of(repo, retention, expire, now)?,
                ),
                None => (None, repo.gc_forecast(expire, now)?),
            };
            collected.killed_backups = repo.killed_backups();
            return Ok(Collection { let_go, collected });
        }
        let let_go = retention.map(|retention| ingest::let_go(repo, retention, now));
        Ok(Collection {
            let_go: let_go.transpose()?,
            collected: repo.gc(expire, now, told)?,
        })
    }
}

/// What was taken out or, in a dry run, would be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GcAnswer {
    /// The sessions that were let go: an undo brings them back.
    pub let_go: Vec<LetGoFacts>,
    /// How many commits were deleted.
    pub commits: u64,
    /// How many messages.
    pub messages: u64,
    /// Their size in bytes.
    pub message_bytes: u64,
    /// How many kept session files.
    pub session_files: u64,
    /// Their size in bytes.
    pub session_bytes: u64,
    /// How many operations are forgotten.
    pub operations: u64,
    /// The oldest operation that can be undone still, where some are forgotten and one is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest: Option<u64>,
    /// Damaged rows that a repair has set aside. While there are any, nothing that they may need is deleted.
    pub aside: u64,
    /// The size of the files in bytes, before and after; none in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<(u64, u64)>,
    /// Why the files could not be rewritten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<String>,
    /// Copies that killed backups had left, by their paths.
    pub killed_backups: Vec<String>,
}

/// A session that is let go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LetGoFacts {
    /// Its ref.
    pub session: String,
    /// The refs that go with it: what was taken back in it, its sub-agents, branches that only followed it.
    pub others: Vec<String>,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// When the last thing was said in it, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_ms: Option<i64>,
}

impl LetGoFacts {
    fn of(one: &LetGo) -> Self {
        let others = one.refs().filter(|name| **name != one.session);
        Self {
            session: one.session.to_string(),
            others: others.map(ToString::to_string).collect(),
            title: one.title.clone(),
            last_ms: one.last.map(|Millis(time)| time),
        }
    }
}

impl Unfinished {
    fn why(&self) -> String {
        match self {
            Self::Busy => "another process reads or writes them".to_owned(),
            Self::Failed(why) => why.clone(),
        }
    }
}

impl Method for GcParams {
    const NAME: &'static str = "gc";
    const CHANGES: bool = true;
    type Answer = GcAnswer;

    fn act(self, at: &mut At<'_>) -> Result<GcAnswer, ApiError> {
        let mut goes_on = std::mem::replace(&mut at.goes_on, Box::new(|_| true));
        let done = self.carry_out(at, &mut |step| {
            if let GcStep::Compressing(done, total) = step {
                // Half a collection is one, too: it is not ended.
                let total = Some(total);
                goes_on(WorkProgress { done, total });
            }
        })?;
        let Collection { let_go, collected } = done;
        let copies = collected.killed_backups.iter();
        Ok(GcAnswer {
            let_go: let_go.iter().flatten().map(LetGoFacts::of).collect(),
            commits: collected.dropped.commits,
            messages: collected.dropped.contents,
            message_bytes: collected.dropped.size_bytes,
            session_files: collected.sources,
            session_bytes: collected.source_bytes,
            operations: collected.operations,
            oldest: collected.oldest.map(|row| row.id),
            aside: collected.aside,
            size_bytes: (!self.dry_run).then_some(collected.size_bytes),
            unfinished: collected.unfinished.as_ref().map(Unfinished::why),
            killed_backups: copies.map(|it| it.path.display().to_string()).collect(),
        })
    }
}

impl Deed for GcParams {}
