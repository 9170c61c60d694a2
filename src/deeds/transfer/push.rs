//! What is here goes to another repository.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CarriedAnswer, Elsewhere, LandedFacts, at_peer};
use crate::deeds::advice::Exit;
use crate::deeds::{ApiError, At, Deed, Method};
use crate::error::Result;
use crate::model::secret::{Leaving, Secrets};
use crate::model::{Head, RefName, RefValue};
use crate::repo::{Call, On, Repo};
use crate::sync::{Peer, PushOptions, PushRef, Pushed};

/// Send commits to another repository
///
/// Without `refs`, it sends the branch that HEAD is on, and the session that it came from. Only what is
/// missing there is sent; branches with new commits that stay here are named. Request settings, notes and titles go too; session files only with `sources`.
/// A ref that would lose commits there is not moved, unless `force_with_lease` is given and the ref is
/// where it was last seen. A session that an import has rewritten replaces what you sent of it. After an interruption, the
/// same request continues where it stopped.
///
/// If there are secrets, in hidden messages too, nothing is sent. The other side learns what was erased here; it
/// erases that as well if it is set to (`tract config receive.purge allow`). It is taken out of a bucket, and out of
/// bundles in a git repository.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct PushParams {
    /// The remote, or a URL; by default that of the branch, origin, or the only one
    #[cfg_attr(feature = "cli", arg(value_name = "REMOTE"))]
    pub remote: Option<String>,
    /// Branches, tags, sessions
    #[cfg_attr(feature = "cli", arg(value_name = "REF"))]
    pub refs: Vec<String>,
    /// All branches, tags and sessions
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "refs"))]
    pub all: bool,
    /// Also send the session files that were imported
    #[cfg_attr(feature = "cli", arg(long))]
    pub sources: bool,
    /// Let a ref there lose commits, if it is where it was last seen
    #[cfg_attr(feature = "cli", arg(long))]
    pub force_with_lease: bool,
    /// Delete these refs there
    #[cfg_attr(feature = "cli", arg(long, requires = "refs"))]
    pub delete: bool,
    /// From now on push and pull this branch there
    #[cfg_attr(feature = "cli", arg(short = 'u', long, conflicts_with = "delete"))]
    pub set_upstream: bool,
    /// Say what would be sent, and send nothing
    #[cfg_attr(feature = "cli", arg(short = 'n', long))]
    pub dry_run: bool,
    /// Send secrets, too
    #[cfg_attr(feature = "cli", arg(long))]
    pub allow_secrets: bool,
}

impl PushParams {
    /// Where to.
    ///
    /// # Errors
    ///
    /// As [`Elsewhere::of`]; where a branch is to go to what has no name.
    pub fn there(&self, at: &At<'_>) -> Result<Elsewhere, ApiError> {
        let there = Elsewhere::of(self.remote.as_deref(), at)?;
        if self.set_upstream && there.name.is_none() {
            let fault = ApiError::params("a branch goes to a remote, and this is a URL");
            return Err(fault.with_hint("`tract remote add NAME URL`, and `tract push -u NAME`"));
        }
        Ok(there)
    }

    /// What is to be where.
    ///
    /// # Errors
    ///
    /// Where something that is named is none of what is sent, or there is nothing to send.
    pub fn wanted(&self, repo: &Repo, on: &On) -> Result<Vec<PushRef>, ApiError> {
        if !self.delete {
            return pushed_refs(repo, on, &self.refs, self.all);
        }
        if self.refs.is_empty() || self.set_upstream {
            return Err(ApiError::params(
                "'delete' takes 'refs', and nothing is kept of them",
            ));
        }
        let named = self.refs.iter().map(|text| {
            let name = match repo.reference_named(text) {
                Ok(name) if !name.as_str().starts_with(RefName::REMOTES) => name,
                _ => RefName::branch(text)?,
            };
            Ok(PushRef { name, commit: None })
        });
        named.collect()
    }

    /// Sends it, and notes where the branches go from now on, if that is asked for.
    ///
    /// # Errors
    ///
    /// As [`Repo::push`].
    pub fn carry_out(
        &self,
        repo: &Repo,
        call: Call<'_>,
        (there, peer): (&Elsewhere, &mut dyn Peer),
        (wanted, secrets): (&[PushRef], &Secrets),
        told: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<Pushed> {
        let options = PushOptions {
            remote: there.name.as_deref(),
            is_named: there.is_kept,
            sources: self.sources,
            with_lease: self.force_with_lease,
            is_dry: self.dry_run,
            leaving: match self.allow_secrets {
                true => Leaving::Allowed,
                false => Leaving::Refused(secrets),
            },
        };
        let done = repo.push(call, peer, wanted, &options, told)?;
        if let (true, false, Some(remote)) = (self.set_upstream, self.dry_run, &there.name) {
            if !repo.remotes()?.iter().any(|it| it.name == *remote) {
                repo.add_remote(remote, &there.url)?;
            }
            repo.set_remote_of(&went(&done), remote)?;
        }
        Ok(done)
    }
}

/// The branches that went.
pub fn went(done: &Pushed) -> Vec<RefName> {
    let went = done.refs.iter().filter(|row| !row.landed.is_refused());
    let names = went.map(|row| row.name.clone());
    names.filter(RefName::is_branch).collect()
}

/// Which refs a push means: those that are named, or else the branch that HEAD is on and its session; all branches, tags
/// and sessions.
///
/// # Errors
///
/// Where one is none of these, or there is nothing to push.
fn pushed_refs(
    repo: &Repo,
    on: &On,
    named: &[String],
    all: bool,
) -> Result<Vec<PushRef>, ApiError> {
    let mut names = Vec::new();
    if all {
        for folder in [RefName::HEADS, RefName::TAGS, RefName::SESSIONS] {
            names.extend(repo.references(folder)?.into_iter().map(|(name, _)| name));
        }
    } else if named.is_empty() {
        match repo.head(on)? {
            Head::Attached { branch, tip: None } => {
                return Err(repo.without_commits(&branch)?.into());
            }
            Head::Attached {
                branch,
                tip: Some(tip),
            } => {
                names.push(branch);
                names.extend(repo.session_of(&tip)?.map(|(name, _)| name));
            }
            Head::Detached(commit) => {
                let what = format!("HEAD is on no branch, at {}", commit.short());
                let hint = "`tract push REMOTE BRANCH` says what is meant";
                return Err(ApiError::refused(what).with_hint(hint));
            }
        }
    } else {
        for text in named {
            match text.as_str() {
                "HEAD" | "@" => names.extend(repo.head(on)?.branch().cloned()),
                text if text.starts_with(':') && text.len() > 1 => {
                    let what = format!("'{text}' is not a branch, tag or session");
                    let hint = format!(
                        "`tract push --delete REMOTE {}` deletes it there",
                        &text[1..]
                    );
                    return Err(ApiError::params(what).with_hint(hint));
                }
                text => names.push(repo.reference_named(text)?),
            }
        }
    }
    let mut wanted: Vec<PushRef> = Vec::new();
    for name in names {
        let held = repo.references(name.as_str())?;
        let held = held.into_iter().find(|(of, _)| *of == name);
        match held {
            Some((_, RefValue::Commit(commit))) if is_own(&name) => {
                if !wanted.iter().any(|to| to.name == name) {
                    let commit = Some(commit);
                    wanted.push(PushRef { name, commit });
                }
            }
            // A session may be known by what it brought alone.
            None if named.is_empty() => {}
            _ => {
                let what = format!("'{}' is not a branch, tag or session", name.short());
                return Err(ApiError::params(what));
            }
        }
    }
    if wanted.is_empty() {
        Err(ApiError::refused("there are no commits here"))
    } else {
        Ok(wanted)
    }
}

fn is_own(name: &RefName) -> bool {
    let folders = [RefName::HEADS, RefName::TAGS, RefName::SESSIONS];
    folders
        .iter()
        .any(|folder| name.as_str().starts_with(folder))
}

impl Method for PushParams {
    const NAME: &'static str = "push";
    const CHANGES: bool = true;
    type Answer = CarriedAnswer;

    fn exit(answer: &CarriedAnswer) -> Option<Exit> {
        let is_refused = |row: &LandedFacts| matches!(row.landed, "parted" | "unseen" | "denied");
        answer
            .refs
            .iter()
            .any(is_refused)
            .then_some(Exit::NotAllowed)
    }

    fn check(&self) -> Result<(), ApiError> {
        let what = match self {
            _ if self.all && !self.refs.is_empty() => "'refs' names some, and 'all' means all",
            _ if self.delete && self.refs.is_empty() => "'delete' takes 'refs'",
            _ if self.delete && self.set_upstream => "what is deleted goes nowhere from now on",
            Self {
                remote: None, refs, ..
            } if !refs.is_empty() => "with 'refs', 'remote' says where they go",
            _ => return Ok(()),
        };
        Err(ApiError::params(what))
    }

    fn act(self, at: &mut At<'_>) -> Result<CarriedAnswer, ApiError> {
        let there = self.there(at)?;
        let wanted = self.wanted(at.repo, &at.on)?;
        let (repo, secrets, line) = (at.repo, at.host.secrets()?, self.line());
        let done = at_peer(at, &there.url, &line, |call, peer, told| {
            Ok(self.carry_out(repo, call, (&there, peer), (&wanted, &secrets), told)?)
        })?;
        Ok(CarriedAnswer {
            stayed: done.stayed.iter().map(ToString::to_string).collect(),
            would_send: self.dry_run.then_some(done.would_send),
            ..CarriedAnswer::of(&done.carried, &done.refs)
        })
    }
}

impl Deed for PushParams {
    const PLACES: &'static [&'static str] = &["remote", "refs"];
    const REMOTES: &'static [&'static str] = &["remote"];
    const SHORT: &'static [(&'static str, &'static str)] =
        &[("set_upstream", "-u"), ("dry_run", "-n")];
}
