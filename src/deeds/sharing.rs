//! Histories, brought to other repositories and from there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::at::still;
use super::{ApiError, At, Method, SecretsLeave, WorkProgress};
use crate::error::{Error, Result};
use crate::model::{Head, RefName, RefValue};
use crate::repo::{Call, On, Repo};
use crate::rewrite::{Merge, MergeOptions};
use crate::sync::{
    Carried, FetchOptions, Follow, Landed, LandedRef, Parted, Peer, PushOptions, PushRef,
};

/// Which refs a push means: those that are named, or else the branch that HEAD is on and its session; all branches, tags
/// and sessions.
///
/// # Errors
///
/// Where one is none of these, or there is nothing to push.
pub fn pushed_refs(
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
                let branch = branch.short().to_owned();
                return Err(Error::EmptyBranch { branch }.into());
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
                let hint = "tract push REMOTE BRANCH says what is meant";
                return Err(ApiError::refused(what).with_hint(hint));
            }
        }
    } else {
        for text in named {
            match text.as_str() {
                "HEAD" | "@" => names.extend(repo.head(on)?.branch().cloned()),
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

/// What was carried, and what became of refs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CarriedAnswer {
    /// Commits that arrived.
    pub commits: u64,
    /// Messages that arrived.
    pub messages: u64,
    /// How many bytes went.
    pub size_bytes: u64,
    /// What became of each ref.
    pub refs: Vec<LandedFacts>,
}

/// What became of a ref.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LandedFacts {
    /// Its name where it landed.
    pub name: String,
    /// new, grown, known, further, replaced or deleted; beside: a session went on here and there, and each stays; parted or unseen: it stayed, and its commits are not there;
    /// merged; conflicts: a merge is under way.
    pub landed: &'static str,
    /// Where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// Where it was to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

impl CarriedAnswer {
    fn of(carried: &Carried, refs: &[LandedRef]) -> Self {
        let refs = refs.iter().map(|row| LandedFacts {
            name: row.name.to_string(),
            landed: row.landed.as_str(),
            old: row.old.map(|commit| commit.to_string()),
            new: row.new.map(|commit| commit.to_string()),
        });
        Self {
            commits: carried.brought.commits,
            messages: carried.brought.contents,
            size_bytes: carried.size_bytes,
            refs: refs.collect(),
        }
    }
}

/// The remote of a name, that of the branch, or the only one: its name and URL.
fn remote(repo: &Repo, on: &On, named: Option<&str>) -> Result<(String, String), ApiError> {
    let remotes = repo.remotes()?;
    let kept = match (named, repo.head(on)?.branch()) {
        (None, Some(branch)) => repo.remote_of(branch)?,
        _ => None,
    };
    let kept = kept.filter(|name| remotes.iter().any(|remote| remote.name == *name));
    let found = match named.or(kept.as_deref()) {
        Some(name) => remotes.iter().find(|remote| remote.name == name),
        None if remotes.len() == 1 => remotes.first(),
        None => remotes.iter().find(|remote| remote.name == "origin"),
    };
    let missing = || match named {
        Some(name) => ApiError::refused(format!("no remote '{name}'")),
        None => ApiError::refused("no remote is set up, or several are and none is called origin"),
    };
    let found = found.ok_or_else(|| missing().with_hint("tract remote add origin URL"))?;
    Ok((found.name.clone(), found.url.clone()))
}

/// Works with the repository at an address: as a call that `what` names, telling how far it is.
fn at_peer<T>(
    at: &mut At<'_>,
    url: &str,
    what: &str,
    mut work: impl FnMut(Call<'_>, &mut dyn Peer, &mut dyn FnMut(u64, u64) -> Result<()>) -> Result<T>,
) -> Result<T, ApiError> {
    let (repo, host, on) = (at.repo, at.host, at.on.clone());
    let goes_on = &mut at.goes_on;
    let mut done = None;
    host.with_peer(url, repo, &mut |peer| {
        let mut told = |done, total| {
            let total = Some(total);
            still(goes_on(WorkProgress { done, total }))
        };
        done = Some(work(Call::at(host.now(), what).on(&on), peer, &mut told)?);
        Ok(())
    })?;
    done.ok_or_else(|| ApiError::refused("nobody was reached"))
}

/// Which, and where to.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PushParams {
    /// The remote; origin, or the only one, unless given.
    pub remote: Option<String>,
    /// Branches, tags and sessions; HEAD's branch and its session unless given.
    pub refs: Vec<String>,
    /// All of them.
    pub all: bool,
    /// Also the session files that were kept.
    pub sources: bool,
    /// What is done about secrets: refuse or allow.
    pub secrets: SecretsLeave,
}

impl Method for PushParams {
    const NAME: &'static str = "push";
    const ABOUT: &'static str = "Brings branches and sessions to another repository.";
    const CHANGES: bool = true;
    type Answer = CarriedAnswer;

    fn call(self, at: &mut At<'_>) -> Result<CarriedAnswer, ApiError> {
        let (name, url) = remote(at.repo, &at.on, self.remote.as_deref())?;
        let wanted = pushed_refs(at.repo, &at.on, &self.refs, self.all)?;
        let secrets = at.host.secrets()?;
        let leaving = match self.secrets {
            SecretsLeave::Redact => {
                return Err(ApiError::params(
                    "a push cannot redact: that is another history",
                ));
            }
            other => other.leaving(&secrets),
        };
        let options = PushOptions {
            remote: Some(&name),
            is_named: true,
            sources: self.sources,
            with_lease: false,
            is_dry: false,
            leaving,
        };
        let repo = at.repo;
        let done = at_peer(at, &url, &format!("push {name}"), |call, peer, told| {
            repo.push(call, peer, &wanted, &options, told)
        })?;
        Ok(CarriedAnswer::of(&done.carried, &done.refs))
    }
}

/// Where from.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PullParams {
    /// The remote; origin, or the only one, unless given.
    pub remote: Option<String>,
    /// Fetch alone: move no branch and no session of one's own.
    pub fetch_only: bool,
    /// Also the session files that it has kept.
    pub sources: bool,
    /// Merge the branch where both sides have gone on; as the setting `pull.merge` says, unless given.
    pub merge: Option<bool>,
}

impl Method for PullParams {
    const NAME: &'static str = "pull";
    const ABOUT: &'static str =
        "Brings what another repository has, and moves the branch and sessions forward.";
    const CHANGES: bool = true;
    type Answer = CarriedAnswer;

    fn call(self, at: &mut At<'_>) -> Result<CarriedAnswer, ApiError> {
        let (name, url) = remote(at.repo, &at.on, self.remote.as_deref())?;
        let options = FetchOptions {
            remote: &name,
            is_named: true,
            sources: self.sources,
            follow: if self.fetch_only {
                Follow::Tags
            } else {
                Follow::Head
            },
            ..FetchOptions::default()
        };
        let repo = at.repo;
        let done = at_peer(at, &url, &format!("pull {name}"), |call, peer, told| {
            repo.fetch(call, peer, &options, told)
        })?;
        let mut answer = CarriedAnswer::of(&done.carried, &done.refs);
        let merges = match self.merge {
            Some(merges) => merges,
            None => repo.config()?.pull_merges()?,
        };
        for parted in &done.parted {
            let mut landed = Landed::Parted.as_str();
            if merges && parted.name.is_branch() {
                landed = merged(at, parted)?;
            }
            answer.refs.push(LandedFacts {
                name: parted.name.to_string(),
                landed,
                old: None,
                new: None,
            });
        }
        Ok(answer)
    }
}

/// Merges what was brought of a branch, and says what became of it.
fn merged(at: &mut At<'_>, parted: &Parted) -> Result<&'static str, ApiError> {
    let seen = parted.seen.short();
    let options = MergeOptions {
        surgery: at.surgery(false)?,
        ..MergeOptions::default()
    };
    let theirs = at.resolve(Some(seen))?;
    let what = format!("merge {seen}");
    let made = at
        .repo
        .merge(at.call(&what), &theirs, seen, &options, None)?;
    Ok(match made {
        Merge::Conflicts(_) => "conflicts",
        _ => "merged",
    })
}
