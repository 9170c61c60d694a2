//! Whether all is as it was written, and what can be done where it is not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::advice::{Exit, sentence};
use crate::deeds::at::still;
use crate::deeds::{ApiError, At, Deed, Method, WorkProgress};
use crate::formats::Problem;
use crate::formats::shared::sent::{Lack, Proof, SentRequest, Wanted};
use crate::model::RefName;
use crate::query::requests_of;
use crate::repo::Repo;
use crate::upkeep::{Checked, Fsck, SetAside};

/// Check the repository for damage, and repair it if asked
///
/// Checks every page, row, message, commit and kept session file against its name, checksum or
/// fingerprint; each ref against its log; token counts, checkpoints, totals and the search index
/// against the messages; and reads the context of every branch, tag and session. Damage is listed, with
/// what still compiles; the exit code is then 3.
///
/// `repair` rebuilds what can be rebuilt from the rest: indexes, listings, token counts, checkpoints,
/// the search index, refs from their logs, and places of commits. Rows that nothing confirms are set
/// aside, into the table quarantine of the database. Intact messages and commits are never touched. A
/// message or commit that was set aside comes back when it is imported again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract fsck
  tract fsck --repair
  tract fsck --requests")
)]
pub struct FsckParams {
    /// Rebuild what can be rebuilt, and set damaged rows aside
    #[cfg_attr(feature = "cli", arg(long))]
    pub repair: bool,
    /// Only check each request that a client recorded against the client's own hash
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "repair"))]
    pub requests: bool,
}

/// What a check found.
pub enum FsckOutcome {
    /// In the repository.
    Repository(Box<RepositoryCheck>),
    /// In the requests that clients recorded.
    Requests(RequestsCheck),
}

/// What a check of a repository found.
pub struct RepositoryCheck {
    /// What is there.
    pub found: Fsck,
    /// What was there before the repair; none: nothing was repaired.
    pub before: Option<Fsck>,
    /// The rows that the repair has set aside.
    pub set_aside: Vec<SetAside>,
}

/// What a check of recorded requests found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestsCheck {
    /// How many.
    pub counts: RequestCounts,
    /// What is wrong with the others, by the sessions in whose files they are.
    pub wrong: Vec<(RefName, String)>,
}

/// How many recorded requests are what was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequestCounts {
    /// How many are proved by their client's hash.
    pub proved: u64,
    /// How many have no hash of all that was sent.
    pub unproved: u64,
}

impl FsckParams {
    /// Checks, and repairs if that is asked for. `told` hears how far a check has come, and may end it.
    ///
    /// # Errors
    ///
    /// The store's; where `told` ends it.
    pub fn carry_out(
        &self,
        at: &At<'_>,
        told: &mut dyn FnMut(Checked) -> crate::Result<()>,
    ) -> Result<FsckOutcome, ApiError> {
        let repo = at.repo;
        if self.requests {
            if self.repair {
                return Err(ApiError::params("'requests' only checks; 'repair' mends"));
            }
            return Ok(FsckOutcome::Requests(requests(repo)?));
        }
        let mut check = RepositoryCheck {
            found: repo.fsck(true, told)?,
            before: None,
            set_aside: Vec::new(),
        };
        if self.repair && check.found.is_repairable() {
            check.set_aside = repo.repair(&check.found)?;
            let found = repo.fsck(true, told)?;
            check.before = Some(std::mem::replace(&mut check.found, found));
        }
        if !check.found.is_damaged() {
            // Where it cannot be written down, nothing is wrong with what was checked.
            let _ = repo.remember_check(at.host.now());
        }
        Ok(FsckOutcome::Repository(Box::new(check)))
    }
}

/// Holds every recorded request to its client's hash.
fn requests(repo: &Repo) -> crate::Result<RequestsCheck> {
    let mut check = RequestsCheck::default();
    for (source, found) in requests_of(repo, None, Wanted::Proofs)? {
        let mut wrong: Vec<String> = found.problems.iter().map(problem).collect();
        for SentRequest { id, proof, .. } in found.requests {
            match proof.unwrap_or(Err(Lack::Record)) {
                Ok(Proof::Equal) => check.counts.proved += 1,
                Ok(Proof::Unsaid) => check.counts.unproved += 1,
                Ok(Proof::Other) => wrong.push(format!("request {id}: its hash is another")),
                Err(lack) => wrong.push(format!("request {id}: {lack}")),
            }
        }
        let session = &source.session;
        let wrong = wrong.into_iter().map(|why| (session.clone(), why));
        check.wrong.extend(wrong);
    }
    Ok(check)
}

/// What is wrong with a record of a session's file.
pub fn problem(problem: &Problem) -> String {
    format!("line {}: {}", problem.line, problem.reason)
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FsckAnswer {
    /// Whether there is damage of any kind.
    pub is_damaged: bool,
    /// Whether a repair helps.
    pub is_repairable: bool,
    /// What is not as it was written.
    pub faults: Vec<String>,
    /// The refs that do not compile.
    pub lost: Vec<String>,
    /// How many messages were checked.
    pub messages: u64,
    /// How many commits.
    pub commits: u64,
    /// How many kept session files.
    pub session_files: u64,
    /// How many damaged rows are set aside, by this repair and earlier ones.
    pub aside: u64,
    /// How many rows this repair has set aside, by their tables; none where it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<Vec<SetAsideRows>>,
    /// What a check of the recorded requests found, where that was asked for; nothing else was checked then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<RequestCounts>,
}

/// Rows that a repair has set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SetAsideRows {
    /// Of which table.
    pub table: String,
    /// How many.
    pub rows: u64,
}

impl FsckAnswer {
    fn of(check: &RepositoryCheck) -> Self {
        let found = &check.found;
        let mut faults: Vec<String> = found.faults.iter().map(ToString::to_string).collect();
        faults.extend(
            found
                .log
                .iter()
                .map(|error| format!("the log of operations: {}", sentence(error))),
        );
        let lost = found.refs.iter().filter(|(_, lost)| lost.is_some());
        let set_aside = check.set_aside.iter().map(|SetAside { table, rows }| {
            let (table, rows) = (table.to_string(), *rows);
            SetAsideRows { table, rows }
        });
        Self {
            is_damaged: found.is_damaged(),
            is_repairable: found.is_repairable(),
            faults,
            lost: lost.map(|(name, _)| name.to_string()).collect(),
            messages: found.checked.contents,
            commits: found.checked.commits,
            session_files: found.checked.sources,
            aside: found.checked.aside,
            set_aside: check.before.is_some().then(|| set_aside.collect()),
            requests: None,
        }
    }
}

impl Method for FsckParams {
    const NAME: &'static str = "fsck";
    const CHANGES: bool = true;
    type Answer = FsckAnswer;

    fn exit(answer: &FsckAnswer) -> Option<Exit> {
        answer.is_damaged.then_some(Exit::Damaged)
    }

    fn act(self, at: &mut At<'_>) -> Result<FsckAnswer, ApiError> {
        let mut goes_on = std::mem::replace(&mut at.goes_on, Box::new(|_| true));
        let told = &mut |checked: Checked| {
            let done = checked.contents + checked.commits;
            still(goes_on(WorkProgress { done, total: None }))
        };
        Ok(match self.carry_out(at, told)? {
            FsckOutcome::Repository(check) => FsckAnswer::of(&check),
            FsckOutcome::Requests(RequestsCheck { counts, wrong }) => {
                let faults = wrong
                    .iter()
                    .map(|(session, why)| format!("{session}: {why}"));
                FsckAnswer {
                    is_damaged: !wrong.is_empty(),
                    faults: faults.collect(),
                    requests: Some(counts),
                    ..FsckAnswer::default()
                }
            }
        })
    }
}

impl Deed for FsckParams {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deeds::Still;
    use crate::model::{Draft, Message, Role};
    use crate::repo::{Call, CommitOptions, On};

    #[test]
    fn a_check_that_nobody_waits_for_ends() {
        let repo = Repo::ephemeral().expect("a repository");
        let draft = Draft::append(Message::text(Role::User, "hello"));
        let done = repo.commit(Call::default(), &[draft], &CommitOptions::default());
        done.expect("commits");
        let check = |goes_on| {
            let mut at = At::new(&repo, On::Head, &Still);
            at.goes_on = Box::new(move |_| goes_on);
            FsckParams::default().call(&mut at)
        };
        assert!(!check(true).expect("checked").is_damaged);
        let ended = check(false).expect_err("it ends");
        assert_eq!(ended.kind, ApiError::from(crate::Error::Cancelled).kind);
    }
}
