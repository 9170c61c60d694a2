//! Whether all is as it was written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::advice::sentence;
use super::at::still;
use super::{ApiError, At, Method, WorkProgress};

/// How much.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FsckParams {
    /// Count the tokens of messages again, too.
    pub counts: bool,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FsckAnswer {
    /// Whether there is damage of any kind.
    pub is_damaged: bool,
    /// Whether `tract fsck --repair` helps.
    pub is_repairable: bool,
    /// What is not as it was written.
    pub faults: Vec<String>,
    /// The refs that do not compile.
    pub lost: Vec<String>,
    /// How many messages were checked.
    pub messages: u64,
    /// How many commits.
    pub commits: u64,
}

impl Method for FsckParams {
    const NAME: &'static str = "fsck";
    const ABOUT: &'static str = "Checks everything for damage.";
    const CHANGES: bool = false;
    type Answer = FsckAnswer;

    fn call(self, at: &mut At<'_>) -> Result<FsckAnswer, ApiError> {
        let goes_on = &mut at.goes_on;
        let found = at.repo.fsck(self.counts, &mut |checked| {
            let done = checked.contents + checked.commits;
            still(goes_on(WorkProgress { done, total: None }))
        })?;
        let mut faults: Vec<String> = found.faults.iter().map(ToString::to_string).collect();
        faults.extend(
            found
                .log
                .iter()
                .map(|error| format!("the log of operations: {}", sentence(error))),
        );
        let lost = found.refs.iter().filter(|(_, lost)| lost.is_some());
        Ok(FsckAnswer {
            is_damaged: found.is_damaged(),
            is_repairable: found.is_repairable(),
            faults,
            lost: lost.map(|(name, _)| name.to_string()).collect(),
            messages: found.checked.contents,
            commits: found.checked.commits,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deeds::Still;
    use crate::model::{Draft, Message, Role};
    use crate::repo::{Call, CommitOptions, On, Repo};

    #[test]
    fn a_check_that_nobody_waits_for_ends() {
        let repo = Repo::ephemeral().expect("a repository");
        let draft = Draft::append(Message::text(Role::User, "hello"));
        let done = repo.commit(Call::default(), &[draft], &CommitOptions::default());
        done.expect("commits");
        let check = |goes_on| {
            let mut at = At::new(&repo, On::Head, &Still);
            at.goes_on = Box::new(move |_| goes_on);
            FsckParams { counts: true }.call(&mut at)
        };
        assert!(!check(true).expect("checked").is_damaged);
        let ended = check(false).expect_err("it ends");
        assert_eq!(ended.kind, ApiError::from(crate::Error::Cancelled).kind);
    }
}
