//! Commands taken back, and done again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::OperationAnswer;
use crate::deeds::{ApiError, At, Deed, Method, Spelled, WrittenTime};
use crate::model::Millis;
use crate::render::Calendar;
use crate::render::calendar::Edge;
use crate::repo::{OperationEntry, Repo, UndoPoint, UndoTo, UndoneTo};

/// Reverse the last command that moved a branch, a tag or HEAD
///
/// All refs that the command moved go back at once, those of all files of an import, too, and HEAD behind a checkout. A second undo reverses the command before it. The last command is
/// the last one that was typed in this repository. In the repository of a home it is the last one typed in this
/// directory. On a server it is your last one. Settings and the names of remotes stay as they are. Imports by a watch, a hook or an agent were not typed. OP is a number
/// from reflog: only that command is reversed, and only if nothing that it moved has moved since. On a server, what
/// others did is refused unless `force` is given. With `to` or `since`, everything goes back to a point: all later
/// commands are reversed, and earlier ones that were undone later are done again. That is one step, and one redo takes it
/// back. Imports and recordings stay then, unless `captured` is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract undo       the last command
  tract undo       and the one before
  tract redo       that one again
  tract undo 12    operation 12 of tract reflog
  tract undo 12 --force            the same, though somebody else did it
  tract undo --to 12               all that came after operation 12
  tract undo --since 10min         all commands of the last ten minutes, but imports
  tract undo --since 10min --captured    imports and recordings, too
  tract undo --to 12 --dry-run     say which those are, and change nothing
  tract undo --dry-run             say which command would be reversed, and whose")
)]
pub struct UndoParams {
    /// The operation to reverse, instead of the newest one
    #[cfg_attr(feature = "cli", arg(value_name = "OP", value_parser = number))]
    pub operation: Option<u64>,
    /// Reverse OP although somebody else did it
    #[cfg_attr(feature = "cli", arg(long, requires = "operation"))]
    pub force: bool,
    /// Go back to right after this operation, which may be an undo
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "OP", value_parser = number, conflicts_with = "operation")
    )]
    pub to: Option<u64>,
    /// Reverse every operation since then: an age such as 10min or 2h, a date, or milliseconds since 1970
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "T", conflicts_with_all = ["operation", "to"])
    )]
    pub since: Option<Spelled<WrittenTime>>,
    /// With `to` or `since`, also reverse imports, recordings, and what a watch, a hook or an agent took in
    #[cfg_attr(feature = "cli", arg(long))]
    pub captured: bool,
    /// Say what would be reversed, and whose it is; change nothing
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
}

/// `12` or `#12`.
#[cfg(feature = "cli")]
fn number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    digits
        .parse()
        .map_err(|_| "tract reflog numbers the operations".to_owned())
}

/// What an undo did.
pub struct UndoOutcome {
    /// What was reversed.
    pub undone: Undone,
    /// Whether redo does not bring it back, for a purge came between.
    pub is_final: bool,
}

/// What was reversed.
pub enum Undone {
    /// One command.
    One(OperationEntry),
    /// All back to a point.
    ToAPoint(UndoneTo),
}

impl UndoParams {
    /// Does it; the calendar says what time it is, and what a date means.
    ///
    /// # Errors
    ///
    /// Where options contradict each other; as [`Repo::undo`] and [`Repo::undo_to`].
    pub fn carry_out(&self, repo: &Repo, calendar: &Calendar) -> Result<UndoOutcome, ApiError> {
        if self.force && self.operation.is_none() {
            return Err(ApiError::params("'force' is for one 'operation'"));
        }
        let point = match (self.operation, self.to, &self.since) {
            (_, None, None) => return self.one(repo, calendar),
            (None, Some(id), None) => UndoPoint::After(id),
            (None, None, Some(Spelled(since))) => {
                UndoPoint::Before(since.read(calendar, Edge::Start)?)
            }
            _ => return Err(ApiError::params("one of 'operation', 'to' and 'since'")),
        };
        let undo = UndoTo {
            point,
            captured: self.captured,
            dry_run: self.dry_run,
        };
        let undone = repo.undo_to(undo, calendar.now).map_err(|error| {
            let with_captures = UndoTo {
                captured: true,
                dry_run: true,
                ..undo
            };
            let fault = ApiError::from(error);
            match repo.undo_to(with_captures, calendar.now) {
                Ok(_) if !self.captured => fault.with_hint(
                    "imports and recordings stay; `--captured` reverses them, too; `tract reflog` lists past commands",
                ),
                _ => fault,
            }
        })?;
        Ok(UndoOutcome {
            is_final: undone.is_final || !self.dry_run && is_final(repo),
            undone: Undone::ToAPoint(undone),
        })
    }

    /// Reverses one command.
    fn one(&self, repo: &Repo, calendar: &Calendar) -> Result<UndoOutcome, ApiError> {
        if self.captured {
            let fault = ApiError::params("'captured' goes with 'to' or 'since'");
            return Err(fault.with_hint("`tract undo` takes the last command back, an import, too"));
        }
        let (undone, is_final) = match self.operation {
            named if self.dry_run => repo.undo_forecast(named, self.force, calendar.now)?,
            Some(id) if self.force => (repo.undo_of_anybody(id, calendar.now)?, is_final(repo)),
            named => (repo.undo(named, calendar.now)?, is_final(repo)),
        };
        Ok(UndoOutcome {
            undone: Undone::One(undone),
            is_final,
        })
    }
}

/// Whether redo does not bring back what was undone. It is undone: what cannot be told of it is no failure.
fn is_final(repo: &Repo) -> bool {
    repo.is_final().unwrap_or_default()
}

impl Method for UndoParams {
    const NAME: &'static str = "undo";
    const CHANGES: bool = true;
    type Answer = OperationAnswer;

    fn act(self, at: &mut At<'_>) -> Result<OperationAnswer, ApiError> {
        let UndoOutcome { undone, is_final } = self.carry_out(at.repo, &at.calendar())?;
        let answer = match undone {
            Undone::One(entry) => OperationAnswer::of(&entry),
            Undone::ToAPoint(undone) => OperationAnswer {
                captures: Some(undone.captures).filter(|stay| *stay > 0),
                ..OperationAnswer::all(&undone.operations)
            },
        };
        Ok(OperationAnswer { is_final, ..answer })
    }
}

impl Deed for UndoParams {
    const PLACES: &'static [&'static str] = &["operation"];
}

/// Reverse the last undo
///
/// A second redo reverses the undo before it, and so on to where the undoing began. After any other
/// command there is nothing to redo, because its commits would be lost. All that an undo with to or since
/// reversed comes back at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract undo
  tract redo
  tract redo --dry-run     say what would be done again, and change nothing")
)]
pub struct RedoParams {
    /// Say what would be done again; change nothing
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
}

impl RedoParams {
    /// Does again what the newest undo reversed, or says what that is.
    ///
    /// # Errors
    ///
    /// As [`Repo::redo`].
    pub fn carry_out(&self, repo: &Repo, now: Millis) -> Result<Vec<OperationEntry>, ApiError> {
        Ok(match self.dry_run {
            true => repo.redoable()?,
            false => repo.redo(now)?,
        })
    }
}

impl Method for RedoParams {
    const NAME: &'static str = "redo";
    const CHANGES: bool = true;
    type Answer = OperationAnswer;

    fn act(self, at: &mut At<'_>) -> Result<OperationAnswer, ApiError> {
        let redone = self.carry_out(at.repo, at.host.now())?;
        Ok(OperationAnswer::all(&redone))
    }
}

impl Deed for RedoParams {}
