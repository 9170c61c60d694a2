//! A merge that has met conflicts: what it is of, and what was settled of it. It is remembered by its branch.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::context::plan::carry::Whose;
use crate::error::{Error, Refusal, Result};
use crate::hash::CommitHash;
use crate::model::{EntryId, Head};
use crate::repo::call::On;
use crate::repo::repository::{self, Repo};
use crate::store::View;

/// What of the other path's own messages is brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MergeForm {
    /// One message: a summary of them, or the last answer among them.
    #[default]
    Message,
    /// All of them, hidden ones hidden.
    Messages,
    /// What a user typed.
    Prompts,
}

impl MergeForm {
    /// All forms.
    pub const ALL: [Self; 3] = [Self::Message, Self::Messages, Self::Prompts];

    /// It, in a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Messages => "messages",
            Self::Prompts => "prompts",
        }
    }
}

/// A merge that is under way on a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnderWay {
    /// The end of the other path.
    pub theirs: CommitHash,
    /// What people call it.
    pub name: String,
    pub(crate) form: String,
    pub(crate) unrelated: bool,
    /// Whose change holds, by the messages here.
    pub(crate) settled: BTreeMap<EntryId, Side>,
}

/// Whose change of a message holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Side {
    Ours,
    Theirs,
}

impl Side {
    pub(crate) fn whose(self) -> Whose {
        match self {
            Self::Ours => Whose::Ours,
            Self::Theirs => Whose::Theirs,
        }
    }
}

impl UnderWay {
    /// What it brings.
    pub fn form(&self) -> MergeForm {
        let mut forms = MergeForm::ALL.into_iter();
        forms
            .find(|form| form.as_str() == self.form)
            .unwrap_or_default()
    }

    /// How many messages were settled.
    pub fn resolved(&self) -> usize {
        self.settled.len()
    }
}

/// The merge that is under way where HEAD is, if any.
pub(crate) fn under_way(view: &dyn View, head: &Head) -> Result<Option<UnderWay>> {
    let Head::Attached { branch, .. } = head else {
        return Ok(None);
    };
    let read = |text: String| {
        let read = serde_json::from_str(&text);
        read.map_err(|error| Error::damaged(format!("the merge under way: {error}")))
    };
    view.merging(branch)?.map(read).transpose()
}

impl Repo {
    /// The merge that is under way on a branch, if any.
    pub fn merge_under_way(&self, on: &On) -> Result<Option<UnderWay>> {
        let view = self.store.read()?;
        under_way(&*view, &repository::head(&*view, on)?)
    }

    pub(crate) fn must_be_under_way(&self, on: &On) -> Result<UnderWay> {
        let under_way = self.merge_under_way(on)?;
        under_way.ok_or(Error::Refused(Refusal::NoMerge))
    }

    pub(crate) fn put_under_way(&self, on: &On, what: Option<&UnderWay>) -> Result<()> {
        let tx = self.store.write()?;
        let branch = match repository::head(&*tx, on)? {
            Head::Attached { branch, .. } => branch,
            Head::Detached(_) => return Ok(()),
        };
        let text = what.map(|what| serde_json::to_string(what).expect("strings are JSON"));
        tx.set_merging(&branch, text.as_deref())?;
        tx.commit()
    }
}
