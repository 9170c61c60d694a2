//! Branches that move at once, each from where it is expected.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{
    ApiError, At, HookQuestion, Method, MovedRef, Provided, must_be_allowed, served_settings,
    signed, unfit,
};
use crate::hash::CommitHash;
use crate::ingest::read_messages;
use crate::model::tokens::Counter;
use crate::model::{Author, Draft, RefName};
use crate::repo::{BranchMove, Config};

/// One branch, and where it goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BranchMoveParams {
    /// The branch. One that is not there yet is made.
    pub branch: String,
    /// The commit; none: it goes before its first commit, so that it is no branch any more.
    #[serde(default)]
    pub to: Option<String>,
    /// Refuse (exit code 4) unless it is at this revision; `none`: unless it has no commit.
    #[serde(default)]
    pub expect: Option<String>,
    /// Messages in a provider's form, each a response or what it holds. They are committed behind `to` first (behind nothing
    /// where that is none), and the branch goes to the last of them. No budget is kept there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batch: Vec<Provided>,
}

/// On a command line it is JSON.
impl FromStr for BranchMoveParams {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| unfit(&error, text))
    }
}

/// Branches and where they go, as the history takes them. What is committed there is said by `author`, if the command of
/// hook.commit allows it.
pub(in crate::deeds) fn branch_moves(
    at: &At<'_>,
    moves: &[BranchMoveParams],
    config: &Config,
    author: Option<&Author>,
    no_verify: bool,
) -> Result<Vec<BranchMove>, ApiError> {
    let read = |it: &BranchMoveParams| {
        let expect = at.expected(it.expect.as_deref())?;
        let bare = BranchMove::to(RefName::branch(&it.branch)?, it.to.clone(), expect);
        if it.batch.is_empty() {
            return Ok(bare);
        }
        let texts: Result<Vec<&str>, ApiError> = it.batch.iter().map(Provided::text).collect();
        let messages = read_messages(&texts?).map_err(|(_, error)| error)?;
        let after = match &it.to {
            Some(rev) => Some(at.resolve(Some(rev))?),
            None => None,
        };
        let served = served_settings(at.repo, &messages, false, after)?;
        let usages = messages.iter().map(|it| it.usage.clone()).collect();
        let drafts = messages.into_iter().map(|it| Draft {
            author: author.cloned(),
            ..Draft::append(it.message)
        });
        let mut drafts: Vec<Draft> = drafts.collect();
        for (draft, (key, value)) in served {
            drafts[draft].settings.insert(key.to_owned(), value);
        }
        if !no_verify {
            must_be_allowed(at, config, &HookQuestion::of_drafts(&drafts, Some(after)))?;
        }
        Ok(BranchMove {
            drafts,
            usages,
            ..bare
        })
    };
    moves.iter().map(read).collect()
}

/// Which branches, and where to.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveParams {
    /// The branches, in the order in which they move. One that goes to where it is expected is only looked at.
    pub moves: Vec<BranchMoveParams>,
    /// What the log of operations calls it.
    #[serde(default)]
    pub what: Option<String>,
}

/// What moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MovedAnswer {
    /// The branches, in the order in which they were given.
    pub moved: Vec<MovedRef>,
}

impl Method for MoveParams {
    const NAME: &'static str = "move";
    const ABOUT: &'static str = "Moves branches, each from where it is expected to be, as one operation: all of them, or none. Nothing but the log of operations keeps what they leave.";
    const CHANGES: bool = true;
    type Answer = MovedAnswer;

    fn act(self, at: &mut At<'_>) -> Result<MovedAnswer, ApiError> {
        if self.moves.is_empty() {
            return Err(ApiError::params("'moves' names no branch"));
        }
        let config = at.repo.config()?;
        let author = signed(at.repo, &config, Author::default());
        let moves = branch_moves(at, &self.moves, &config, author.as_ref(), false)?;
        let what = self.what.as_deref().unwrap_or("move");
        let counter = Counter::of(config.encoding()?);
        let moved = at
            .repo
            .move_counting(at.call(what), &moves, Some(counter))?;
        let text = |commit: Option<CommitHash>| commit.map(|commit| commit.to_string());
        let moved = moved.into_iter().map(|it| MovedRef {
            name: it.branch.to_string(),
            old: text(it.from),
            new: text(it.to),
        });
        Ok(MovedAnswer {
            moved: moved.collect(),
        })
    }
}
