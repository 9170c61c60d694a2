//! Histories, brought to other repositories and from there.

mod bundle;
mod fetch;
mod pull;
mod push;
mod remote;
mod unbundle;

use schemars::JsonSchema;
use serde::Serialize;

pub use bundle::{BundleAnswer, BundleParams};
pub use fetch::FetchParams;
pub use pull::{PullParams, merge_what_came};
pub use push::{PushParams, went};
pub use remote::{
    RemoteAddParams, RemoteRemoveParams, RemoteRenameParams, RemoteSetUrlParams, RemotesAnswer,
    RemotesParams,
};
pub use unbundle::{ArrivedFacts, UnbundleAnswer, UnbundleParams};

use super::advice::command;
use super::at::still;
use super::facts::is_zero;
use super::{ApiError, At, WorkProgress};
use crate::error::Result;
use crate::render::shell_word;
use crate::repo::{Call, Repo};
use crate::sync::{Carried, FetchOptions, Fetched, Follow, LandedRef, Peer};

/// The remote that is meant where none is named.
const DEFAULT: &str = "origin";

/// Where another repository is, and what it is called here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// Its name; none where only its URL was given.
    pub name: Option<String>,
    /// The URL.
    pub url: String,
    /// Whether the settings name it.
    pub is_kept: bool,
}

impl Elsewhere {
    /// What is meant by the name of a remote or an address; where nothing is said, that of the branch, origin, or the only one.
    ///
    /// # Errors
    ///
    /// Where there is none, or several may be meant.
    pub fn of(typed: Option<&str>, at: &At<'_>) -> Result<Self, ApiError> {
        let remotes = at.repo.remotes()?;
        let kept = |name: &str| {
            let found = remotes.iter().find(|remote| remote.name == name);
            found.map(|remote| Self {
                name: Some(remote.name.clone()),
                url: remote.url.clone(),
                is_kept: true,
            })
        };
        if let Some(typed) = typed {
            let found = match kept(typed) {
                None => at.host.elsewhere(typed)?,
                found => found,
            };
            return found.ok_or_else(|| {
                let word = shell_word(typed);
                let add = command(&format!("remote add {word} URL"));
                let hint = format!("{add}; a directory is ./{word}");
                ApiError::refused(format!("no remote '{typed}'")).with_hint(hint)
            });
        }
        let of_branch = match at.repo.head(&at.on)?.branch() {
            Some(branch) => at.repo.remote_of(branch)?,
            None => None,
        };
        let of_branch = of_branch.and_then(|name| kept(&name));
        let only = || match remotes.as_slice() {
            [only] => kept(&only.name),
            _ => kept(DEFAULT),
        };
        of_branch.or_else(only).ok_or_else(|| {
            let what = match remotes.len() {
                0 => "no remote is set up".to_owned(),
                count => format!("there are {count} remotes, and none is called {DEFAULT}"),
            };
            let hint = "`tract remote add origin URL`; `tract remote` lists what there is";
            ApiError::refused(what).with_hint(hint)
        })
    }

    /// Its name, under which is kept what comes from there.
    ///
    /// # Errors
    ///
    /// Where it has none.
    pub fn named(&self) -> Result<&str, ApiError> {
        self.name.as_deref().ok_or_else(|| {
            let what = "what comes is kept under the name of a remote";
            ApiError::params(what).with_hint("`tract remote add NAME URL`")
        })
    }
}

impl Elsewhere {
    /// What is asked of what has a name.
    fn asked(&self, sources: bool, follow: Follow) -> FetchOptions<'_> {
        FetchOptions {
            remote: self.name.as_deref().unwrap_or_default(),
            is_named: self.is_kept,
            sources,
            follow,
            ..FetchOptions::default()
        }
    }
}

/// What brings commits from another repository.
pub trait Fetching: super::Deed {
    /// From where; none: the usual one.
    fn remote(&self) -> Option<&str>;

    /// Brings what there is, from what has a name.
    ///
    /// # Errors
    ///
    /// As [`crate::Repo::fetch`].
    fn carry_out(
        &self,
        repo: &Repo,
        call: Call<'_>,
        from: (&Elsewhere, &mut dyn Peer),
        told: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<Fetched>;
}

/// Works with the repository at an address: as a call that `what` names, telling how far it is.
fn at_peer<T>(
    at: &mut At<'_>,
    url: &str,
    what: &str,
    mut work: impl FnMut(
        Call<'_>,
        &mut dyn Peer,
        &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<T, ApiError>,
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

/// What was carried, and what became of refs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CarriedAnswer {
    /// Commits that arrived.
    pub commits: u64,
    /// Messages that arrived.
    pub messages: u64,
    /// How many bytes went.
    pub size_bytes: u64,
    /// What became of each ref.
    pub refs: Vec<LandedFacts>,
    /// The refs that have commits which did not go; of a push alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stayed: Vec<String>,
    /// How many of the sessions that are new here came without their session file.
    #[serde(skip_serializing_if = "is_zero")]
    pub without_file: u64,
    /// Where the remote's branch was seen that the own one goes on with, if it is not there any more; of a pull alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone: Option<String>,
    /// How many commits would go; of a dry run alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would_send: Option<u64>,
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
            stayed: Vec::new(),
            without_file: 0,
            gone: None,
            would_send: None,
        }
    }
}

impl CarriedAnswer {
    /// The same of another repository as well.
    fn add(&mut self, mut other: Self) {
        self.commits += other.commits;
        self.messages += other.messages;
        self.size_bytes += other.size_bytes;
        self.without_file += other.without_file;
        self.refs.append(&mut other.refs);
    }
}

impl From<&Fetched> for CarriedAnswer {
    fn from(done: &Fetched) -> Self {
        Self {
            without_file: done.without_file,
            gone: done.gone.as_ref().map(ToString::to_string),
            ..Self::of(&done.carried, &done.refs)
        }
    }
}
