//! What a file holds comes in.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Deed, Method, WorkProgress};
use crate::error::Error;
use crate::repo::{Call, Repo};
use crate::sync::{Arrival, ArrivedRef, Unbundled};

/// Read in a file that bundle wrote
///
/// Every message and every commit is checked against its name; if anything is wrong, nothing is written. Commits that
/// are here already are not brought in twice. Messages that were erased here stay erased. If another history here has
/// a branch of the same name, the new branch gets a number. One undo takes it all back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct UnbundleParams {
    /// The file
    pub file: PathBuf,
}

/// What came in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnbundleAnswer {
    /// Commits that were not here before.
    pub commits: u64,
    /// Messages likewise.
    pub messages: u64,
    /// Kept session files likewise.
    pub session_files: u64,
    /// The refs in the file.
    pub refs: Vec<ArrivedFacts>,
    /// Messages that were erased here, and stay so.
    pub erased: u64,
    /// Session files that were left out, because they may hold what was erased here.
    pub left_out: u64,
}

/// A ref that came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ArrivedFacts {
    /// Its name here.
    pub name: String,
    /// Its name in the file.
    pub name_there: String,
    /// Its commit in the file.
    pub commit: String,
    /// What became of it: new, grown, or known.
    pub arrival: &'static str,
}

impl From<&ArrivedRef> for ArrivedFacts {
    fn from(arrived: &ArrivedRef) -> Self {
        Self {
            name: arrived.ours.to_string(),
            name_there: arrived.theirs.to_string(),
            commit: arrived.commit.to_string(),
            arrival: arrived.arrival.as_str(),
        }
    }
}

impl Arrival {
    /// In a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Grown => "grown",
            Self::Known => "known",
        }
    }
}

impl UnbundleParams {
    /// Takes in what the file holds, where it is `path` from here; `told` hears how many commits were read.
    ///
    /// # Errors
    ///
    /// Where it is no file; as [`Repo::unbundle`].
    pub fn carry_out(
        path: &Path,
        repo: &Repo,
        call: Call<'_>,
        told: &mut dyn FnMut(usize),
    ) -> Result<Unbundled, ApiError> {
        if !fs::metadata(path).map_err(Error::io(path))?.is_file() {
            let what = format!("{} is not a file", path.display());
            return Err(ApiError::params(what));
        }
        let mut file = File::open(path).map_err(Error::io(path))?;
        Ok(repo.unbundle(call, &mut file, told)?)
    }
}

impl Method for UnbundleParams {
    const NAME: &'static str = "unbundle";
    const CHANGES: bool = true;
    type Answer = UnbundleAnswer;

    fn act(self, at: &mut At<'_>) -> Result<UnbundleAnswer, ApiError> {
        let (line, repo, on) = (self.line(), at.repo, at.on.clone());
        let call = Call::at(at.host.now(), &line).on(&on);
        let done = Self::carry_out(&self.file, repo, call, &mut |commits| {
            // Nothing is seen of it before all is there.
            let (done, total) = (commits as u64, None);
            (at.goes_on)(WorkProgress { done, total });
        })?;
        Ok(UnbundleAnswer {
            commits: done.commits,
            messages: done.contents,
            session_files: done.sources,
            refs: done.refs.iter().map(ArrivedFacts::from).collect(),
            erased: done.erased,
            left_out: done.left_out,
        })
    }
}

impl Deed for UnbundleParams {
    const PLACES: &'static [&'static str] = &["file"];
}
