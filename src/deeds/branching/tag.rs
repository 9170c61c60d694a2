//! Names that stay where they are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Deed, Method};
use crate::hash::CommitHash;
use crate::model::RefName;
use crate::repo::{Call, TagRow};

/// Make or delete a tag
///
/// A tag names one commit, and no command moves it. With `message` the tag also keeps that note and the time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct TagParams {
    /// The tag
    // A command line without one lists all.
    #[cfg_attr(feature = "cli", arg(required = false))]
    pub name: String,
    /// The commit to tag, instead of HEAD
    #[serde(default)]
    pub rev: Option<String>,
    /// Delete the tag `name`
    #[serde(default)]
    #[cfg_attr(
        feature = "cli",
        arg(short, long, requires = "name", conflicts_with = "message")
    )]
    pub delete: bool,
    /// A note to keep with the tag
    #[serde(default)]
    #[cfg_attr(
        feature = "cli",
        arg(short, long, value_name = "TEXT", requires = "name")
    )]
    pub message: Option<String>,
}

/// A tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TagFacts {
    /// Its name.
    pub name: String,
    /// The commit that it names.
    pub commit: String,
    /// The note that it keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When one with a note was made, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
}

impl From<TagRow> for TagFacts {
    fn from(row: TagRow) -> Self {
        let (message, time) = row.note.unzip();
        Self {
            name: row.name.short().to_owned(),
            commit: row.commit.to_string(),
            message,
            time_ms: time.map(|time| time.0),
        }
    }
}

impl TagParams {
    /// Does it; the tag, and the commit that it names or named.
    ///
    /// # Errors
    ///
    /// Where options contradict each other; as [`crate::repo::Repo::create_tag`] and
    /// [`crate::repo::Repo::delete_reference`].
    pub fn carry_out(
        &self,
        at: &At<'_>,
        call: Call<'_>,
    ) -> Result<(RefName, CommitHash), ApiError> {
        let tag = RefName::tag(&self.name)?;
        let (rev, message) = (self.rev.as_deref(), self.message.as_deref());
        if self.delete && message.is_some() {
            return Err(ApiError::params("'delete' or 'message', not both"));
        }
        let commit = match self.delete {
            true => {
                if let Some(rev) = rev {
                    let what = format!("'delete' takes one name, not '{rev}' too");
                    return Err(ApiError::params(what));
                }
                at.repo.delete_reference(call, &tag)?
            }
            false => {
                let rev = rev.unwrap_or("HEAD");
                at.repo.create_tag(call, &tag, rev, message)?
            }
        };
        Ok((tag, commit))
    }
}

impl Method for TagParams {
    const NAME: &'static str = "tag";
    const CHANGES: bool = true;
    type Answer = TagFacts;

    fn act(self, at: &mut At<'_>) -> Result<TagFacts, ApiError> {
        let line = self.line();
        let call = at.call(&line);
        let (name, commit) = self.carry_out(at, call)?;
        let time = self.message.as_ref().map(|_| call.now.0);
        Ok(TagFacts {
            name: name.short().to_owned(),
            commit: commit.to_string(),
            message: self.message,
            time_ms: time,
        })
    }
}

impl Deed for TagParams {
    const OPTIONS_FIRST: bool = true;
    const PLACES: &'static [&'static str] = &["name", "rev"];
    const SHORT: &'static [(&'static str, &'static str)] = &[("delete", "-d"), ("message", "-m")];
    const SAID: &'static [&'static str] = &["message"];
    const REVISIONS: &'static [&'static str] = &["rev"];
}

/// Nothing is asked.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TagsParams {}

/// Tags, by their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TagsAnswer {
    /// They.
    pub tags: Vec<TagFacts>,
}

impl Method for TagsParams {
    const NAME: &'static str = "tags";
    const ABOUT: &'static str = "Lists the tags.";
    const CHANGES: bool = false;
    type Answer = TagsAnswer;

    fn act(self, at: &mut At<'_>) -> Result<TagsAnswer, ApiError> {
        Ok(TagsAnswer {
            tags: at.repo.tags()?.into_iter().map(Into::into).collect(),
        })
    }
}
