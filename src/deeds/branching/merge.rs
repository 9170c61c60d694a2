//! Branches that meet again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::advice::Exit;
use crate::deeds::{ApiError, At, Changed, Deed, HookQuestion, Method, must_be_allowed};
use crate::hash::CommitHash;
use crate::model::Message;
use crate::repo::{Call, MergeForm};
use crate::rewrite::{
    Merge, MergeConflict, MergeOptions, MergeSummary, Merged, SurgeryOptions, Whose,
};

/// Bring another branch into this one
///
/// What the other branch has said since it left comes at the end, so that a provider's cache stays valid: as one
/// message, which a summary stands in, or else the other branch's last answer. `messages` brings all of its messages,
/// those that it hid as hidden ones; `prompts` what the user typed there, with what the client attached to it.
/// Changes of the other branch to messages that both have apply here as well: edits, hides, restores, priorities.
/// A hide also covers messages that are hidden here already, so they stay hidden when this branch's own hide is restored.
///
/// Where this branch has nothing of its own since, it moves to the other's end. A message that was merged once does
/// not come again. A tool call without its result does not come.
///
/// Where both changed one message differently, that is a conflict: all are listed, and nothing is written.
/// `ours` or `theirs` says whose change holds; resolve says it message by message, and then the merge goes on with `continue`.
///
/// The setting hook.merge names a command that may refuse a merge. Then nothing is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct MergeParams {
    /// A branch, a session or a commit
    #[cfg_attr(
        feature = "cli",
        arg(value_name = "BRANCH", required_unless_present_any = ["go_on", "abort"])
    )]
    pub rev: Option<String>,
    /// All of its messages
    #[cfg_attr(feature = "cli", arg(long))]
    pub messages: bool,
    /// The prompts of the other branch, with their attachments
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "messages"))]
    pub prompts: bool,
    /// A summary of its messages, in place of its last answer
    #[cfg_attr(
        feature = "cli",
        arg(short, long, value_name = "TEXT", conflicts_with_all = ["messages", "prompts"])
    )]
    pub message: Option<String>,
    /// In conflicts, what this branch has holds
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "theirs"))]
    pub ours: bool,
    /// In conflicts, what the other branch has holds
    #[cfg_attr(feature = "cli", arg(long))]
    pub theirs: bool,
    /// Go on with the merge that is under way
    #[serde(rename = "continue")]
    #[cfg_attr(
        feature = "cli",
        arg(long = "continue", conflicts_with_all = ["rev", "abort", "messages", "prompts"])
    )]
    pub go_on: bool,
    /// Give up the merge that is under way
    #[cfg_attr(
        feature = "cli",
        arg(long, conflicts_with_all = ["rev", "messages", "prompts", "message", "ours", "theirs", "dry_run"])
    )]
    pub abort: bool,
    /// Also where the two have nothing in common
    #[cfg_attr(feature = "cli", arg(long, requires = "rev"))]
    pub allow_unrelated_histories: bool,
    /// Do not ask the command of hook.merge
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "abort"))]
    pub no_verify: bool,
    /// Change nothing; say what would come, and what is in conflict
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
    /// In a dry run, list at most N messages of each kind; 0: all
    #[cfg_attr(
        feature = "cli",
        arg(short = 'n', long, value_name = "N", requires = "dry_run")
    )]
    pub limit: Option<usize>,
}

/// Whose change holds of a message that both changed, where that is said.
pub(super) fn side(ours: bool, theirs: bool) -> Result<Option<Whose>, ApiError> {
    match (ours, theirs) {
        (true, true) => Err(ApiError::params("'ours' or 'theirs', not both")),
        (true, false) => Ok(Some(Whose::Ours)),
        (false, true) => Ok(Some(Whose::Theirs)),
        (false, false) => Ok(None),
    }
}

/// What a merge did.
pub struct MergeOutcome {
    /// What became of it.
    pub made: Merge,
    /// What the other branch is called.
    pub name: String,
}

impl MergeParams {
    /// Refuses what the command of hook.merge refuses, unless nothing is written.
    fn must_be_allowed(&self, at: &At<'_>, name: &str, commit: CommitHash) -> Result<(), ApiError> {
        match self.no_verify || self.dry_run {
            true => Ok(()),
            false => {
                let message = self.message.as_deref();
                let question = HookQuestion::Merge {
                    name,
                    commit,
                    message,
                };
                must_be_allowed(at, &at.repo.config()?, &question)
            }
        }
    }

    /// Merges, or goes on with it. `summary` makes a summary, where none is given.
    ///
    /// # Errors
    ///
    /// Where what is asked for makes no sense together; as [`crate::Repo::merge`].
    pub fn carry_out(
        &self,
        at: &At<'_>,
        call: Call<'_>,
        surgery: SurgeryOptions,
        summary: Option<MergeSummary<'_>>,
    ) -> Result<MergeOutcome, ApiError> {
        let options = MergeOptions {
            form: match (self.messages, self.prompts) {
                (true, true) => return Err(ApiError::params("'messages' or 'prompts', not both")),
                (true, false) => MergeForm::Messages,
                (false, true) => MergeForm::Prompts,
                (false, false) => MergeForm::Message,
            },
            settle: side(self.ours, self.theirs)?,
            unrelated: self.allow_unrelated_histories,
            surgery,
        };
        let mut making = summary;
        let has_summary = self.message.is_some() || making.is_some();
        let mut make = |messages: &[Message]| match (&self.message, &mut making) {
            (None, Some(making)) => making(messages),
            (text, _) => Ok(text.clone().unwrap_or_default()),
        };
        let summary = has_summary.then_some(&mut make as MergeSummary<'_>);
        if summary.is_some() && options.form != MergeForm::Message {
            return Err(ApiError::params(
                "a summary stands for the messages: it is one or the other",
            ));
        }
        match (&self.rev, self.go_on) {
            (Some(rev), false) => Ok(MergeOutcome {
                made: {
                    let theirs = at.resolve(Some(rev))?;
                    self.must_be_allowed(at, rev, theirs)?;
                    at.repo.merge(call, &theirs, rev, &options, summary)?
                },
                name: rev.clone(),
            }),
            (None, true) => {
                let under_way = at.repo.merge_under_way(call.on)?;
                if let Some(it) = &under_way {
                    self.must_be_allowed(at, &it.name, it.theirs)?;
                }
                let made = at.repo.merge_on(call, &options, summary)?;
                let name = under_way.map(|it| it.name).unwrap_or_default();
                Ok(MergeOutcome { made, name })
            }
            _ => Err(ApiError::params(
                "'rev' says what is merged, 'continue' goes on with what is under way",
            )),
        }
    }
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MergeAnswer {
    /// here: there was nothing to do; forward: the branch went on to the other's end; made; conflicts: nothing was
    /// written, and the merge is under way; aborted.
    pub state: &'static str,
    /// The other branch's own visible messages.
    pub messages: usize,
    /// How many changes of shared messages were made here as well.
    pub changes: usize,
    /// Changes of the other branch that could not be made here, by their commits.
    pub left_out: Vec<String>,
    /// What it changed in the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Changed>,
    /// The messages that both branches changed differently, as far as that is not settled.
    pub conflicts: Vec<ConflictFacts>,
}

/// A message that both branches changed differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConflictFacts {
    /// Its name.
    pub id: String,
    /// Its number among the visible ones, from 1; none if it is hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// What both did, in a few words.
    pub kind: &'static str,
    /// One line of it. What somebody else wrote: escape it before it is shown.
    pub preview: String,
}

impl ConflictFacts {
    pub(super) fn all(conflicts: &[MergeConflict]) -> Vec<Self> {
        let one = |conflict: &MergeConflict| Self {
            id: conflict.clash.here.to_string(),
            number: conflict.number,
            kind: conflict.clash.kind.as_str(),
            preview: conflict.preview.clone(),
        };
        conflicts.iter().map(one).collect()
    }
}

impl MergeAnswer {
    fn of(state: &'static str) -> Self {
        Self {
            state,
            messages: 0,
            changes: 0,
            left_out: Vec::new(),
            changed: None,
            conflicts: Vec::new(),
        }
    }

    fn made(made: &Merged) -> Self {
        let left_out = made.left_out.iter();
        Self {
            messages: made.said,
            changes: made.changes,
            left_out: left_out.map(|(commit, _)| commit.to_string()).collect(),
            changed: Some(Changed::of(&made.surgery)),
            ..Self::of("made")
        }
    }
}

impl Method for MergeParams {
    const NAME: &'static str = "merge";
    const CHANGES: bool = true;
    type Answer = MergeAnswer;

    fn exit(answer: &MergeAnswer) -> Option<Exit> {
        (answer.state == "conflicts").then_some(Exit::NotAllowed)
    }

    fn check(&self) -> Result<(), ApiError> {
        let alone = Self {
            abort: true,
            ..Self::default()
        };
        let what = match self {
            _ if self.abort && *self != alone => "'abort' goes with nothing else",
            _ if self.go_on && (self.messages || self.prompts) => {
                "a merge goes on as it was begun: without 'messages' and 'prompts'"
            }
            _ if self.allow_unrelated_histories && self.rev.is_none() => {
                "'allow_unrelated_histories' is about what 'rev' names"
            }
            _ => return Ok(()),
        };
        Err(ApiError::params(what))
    }

    fn act(self, at: &mut At<'_>) -> Result<MergeAnswer, ApiError> {
        if self.abort {
            at.repo.merge_abort(&at.on)?;
            return Ok(MergeAnswer::of("aborted"));
        }
        let (line, surgery) = (self.line(), at.surgery(self.dry_run, self.limit)?);
        let done = self.carry_out(at, at.call(&line), surgery, None)?;
        Ok(match &done.made {
            Merge::Here => MergeAnswer::of("here"),
            Merge::Forward { .. } => MergeAnswer::of("forward"),
            Merge::Made(made) => MergeAnswer::made(made),
            Merge::Conflicts(conflicts) => MergeAnswer {
                conflicts: ConflictFacts::all(conflicts),
                ..MergeAnswer::of("conflicts")
            },
        })
    }
}

impl Deed for MergeParams {
    const PLACES: &'static [&'static str] = &["rev"];
    const SHORT: &'static [(&'static str, &'static str)] = &[("message", "-m")];
    const SAID: &'static [&'static str] = &["message"];
    const REVISIONS: &'static [&'static str] = &["rev"];
}
