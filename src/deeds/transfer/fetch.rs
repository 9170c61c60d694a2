//! What another repository has comes in, beside what is here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CarriedAnswer, Elsewhere, Fetching, at_peer};
use crate::deeds::{ApiError, At, Deed, Method};
use crate::error::Result;
use crate::repo::{Call, Repo};
use crate::sync::{FetchOptions, Fetched, Follow, Peer};

/// Get commits from another repository; your branches stay
///
/// Its branches are called origin/main here, its sessions origin/sessions/TOOL/ID. Only what is missing is sent, and
/// every message and commit is checked against its name. Erased messages stay erased; what was erased there is named,
/// and erased here if receive.purge is set to allow. After an interruption, the same request continues where it
/// stopped. undo takes a fetch back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(
    feature = "cli",
    command(after_help = "\
Example:
  tract fetch                       from origin, or the only remote there is
  tract fetch laptop --sources      with the session files that are kept there
  tract fetch --all                 from every remote
  tract log origin/main             what has come")
)]
pub struct FetchParams {
    /// The remote; by default that of the branch, origin, or the only one
    #[cfg_attr(feature = "cli", arg(value_name = "REMOTE"))]
    pub remote: Option<String>,
    /// Also the session files that are kept there
    #[cfg_attr(feature = "cli", arg(long))]
    pub sources: bool,
    /// From all remotes
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "remote"))]
    pub all: bool,
    /// Forget refs that no longer exist there
    #[cfg_attr(feature = "cli", arg(long))]
    pub prune: bool,
}

impl FetchParams {
    /// A request for each remote that is meant.
    ///
    /// # Errors
    ///
    /// Where it names one and means all.
    pub fn each(&self, repo: &Repo) -> Result<Vec<Self>, ApiError> {
        match (self.all, &self.remote) {
            (false, _) => Ok(vec![self.clone()]),
            (true, Some(_)) => Err(ApiError::params("'remote' names one, and 'all' means all")),
            (true, None) => {
                let remotes = repo.remotes()?.into_iter();
                Ok(remotes.map(|remote| self.of(remote.name)).collect())
            }
        }
    }

    fn fetched(&self, at: &mut At<'_>) -> Result<Fetched, ApiError> {
        let repo = at.repo;
        let there = Elsewhere::of(self.remote.as_deref(), at)?;
        there.named()?;
        at_peer(at, &there.url, &self.line(), |call, peer, told| {
            Ok(self.carry_out(repo, call, (&there, peer), told)?)
        })
    }

    fn of(&self, remote: String) -> Self {
        Self {
            remote: Some(remote),
            all: false,
            ..self.clone()
        }
    }
}

impl Fetching for FetchParams {
    fn remote(&self) -> Option<&str> {
        self.remote.as_deref()
    }

    fn carry_out(
        &self,
        repo: &Repo,
        call: Call<'_>,
        (there, peer): (&Elsewhere, &mut dyn Peer),
        told: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<Fetched> {
        let options = FetchOptions {
            prune: self.prune,
            ..there.asked(self.sources, Follow::Tags)
        };
        repo.fetch(call, peer, &options, told)
    }
}

impl Method for FetchParams {
    const NAME: &'static str = "fetch";
    const CHANGES: bool = true;
    type Answer = CarriedAnswer;

    fn act(self, at: &mut At<'_>) -> Result<CarriedAnswer, ApiError> {
        let (repo, mut answer) = (at.repo, CarriedAnswer::default());
        let mut failed = None;
        for one in self.each(repo)? {
            match one.fetched(at) {
                Ok(done) => answer.add((&done).into()),
                // One that cannot be reached does not stop the others.
                Err(error) if self.all => _ = failed.get_or_insert(error),
                Err(error) => return Err(error),
            }
        }
        failed.map_or(Ok(answer), Err)
    }
}

impl Deed for FetchParams {
    const PLACES: &'static [&'static str] = &["remote"];
    const REMOTES: &'static [&'static str] = &["remote"];
}
