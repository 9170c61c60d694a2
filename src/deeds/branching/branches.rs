//! The list of branches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Method, Tokens};
use crate::model::RefName;

/// Which branches.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BranchesParams {
    /// At most so many; all unless given, or 0.
    pub limit: Option<usize>,
    /// Only those that come behind this branch in the list: the last one of the page before.
    pub behind: Option<String>,
}

/// Branches, the one with the newest commit first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BranchesAnswer {
    /// They.
    pub branches: Vec<BranchFacts>,
    /// Whether there are more behind these.
    pub more: bool,
}

/// A branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BranchFacts {
    /// Its name.
    pub name: String,
    /// Its newest commit.
    pub commit: String,
    /// Whether HEAD is on it.
    pub is_head: bool,
    /// The title of the session that it came from, or else its first prompt. What somebody else wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// That session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The directory that it ran in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The time of its newest commit that has one, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_ms: Option<i64>,
    /// The tokens of its context.
    pub tokens: Tokens,
    /// The compactions that are active in it.
    pub compactions: u32,
}

impl Method for BranchesParams {
    const NAME: &'static str = "branches";
    const ABOUT: &'static str = "Lists the branches, the one with the newest commit first.";
    const CHANGES: bool = false;
    type Answer = BranchesAnswer;

    fn act(self, at: &mut At<'_>) -> Result<BranchesAnswer, ApiError> {
        let behind = self.behind.as_deref().map(RefName::branch).transpose()?;
        let most = self.limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX);
        let mut pages = at
            .repo
            .branch_pages(behind.as_ref(), most, at.encoding()?)?;
        let mut rows = Vec::new();
        for page in pages.by_ref() {
            rows.extend(page?);
        }
        let branches = rows.into_iter().map(|row| BranchFacts {
            name: row.name.short().to_owned(),
            commit: row.tip.to_string(),
            is_head: row.is_head,
            title: row.title.or(row.prompt),
            session: row.session.map(|name| name.to_string()),
            directory: row.cwd,
            last_ms: row.last.map(|time| time.0),
            tokens: row.tokens.into(),
            compactions: row.compactions,
        });
        Ok(BranchesAnswer {
            branches: branches.collect(),
            more: pages.has_more(),
        })
    }
}
