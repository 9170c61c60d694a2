//! A branch goes forward to commits that are there.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::deeds::{ApiError, At, Method, MoveAnswer, Position};
use crate::repo::Expect;

/// Where to, and from where.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdvanceParams {
    /// The commit, one that was made with `after`.
    pub rev: String,
    /// Refuse (exit code 4) unless the branch is at this revision; `none`: unless it has no commit.
    pub expect: String,
    /// What the log of operations calls it.
    #[serde(default)]
    pub what: Option<String>,
}

impl Method for AdvanceParams {
    const NAME: &'static str = "advance";
    const ABOUT: &'static str =
        "Moves the branch forward to commits that were made with `after`, all at once.";
    const CHANGES: bool = true;
    type Answer = MoveAnswer;

    fn act(self, at: &mut At<'_>) -> Result<MoveAnswer, ApiError> {
        let to = at.resolve(Some(&self.rev))?;
        let expect = at.expected(Some(&self.expect))?;
        let expect = expect.unwrap_or(Expect::Nothing);
        let what = self.what.as_deref().unwrap_or("advance");
        let branch = at.repo.advance(at.call(what), to, expect)?;
        let branch = Some(branch.short().to_owned());
        let from = match expect {
            Expect::Nothing => None,
            Expect::At(commit) => Some(commit.to_string()),
        };
        Ok(MoveAnswer {
            from: Position {
                branch: branch.clone(),
                commit: from,
            },
            to: Position {
                branch,
                commit: Some(to.to_string()),
            },
        })
    }
}
