//! Two repositories made to agree: commits carried from one to the other, and refs moved there.
//!
//! What one has is never sent to it again: where the two part is found by asking for commits on the path
//! ([`Carries`]), and what is sent is bundles (`docs/bundle.md`), each checked whole on arrival. Objects come
//! first, slice by slice, and refs move last, in one operation, so that what was interrupted goes on where it
//! stopped. Deliberately absent: how another repository is reached, and whether the one who asks may.

pub mod bundle;
mod carried;
mod carry;
mod denials;
mod erased;
mod erasures;
mod fetch;
mod files;
mod here;
mod landed;
mod layout;
pub(crate) mod leaks;
pub(crate) mod people;
mod push;
mod remotes;
mod shelf;
mod shelf_push;
mod shelved;
#[cfg(test)]
mod tests;
mod upstream;
mod wire;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::RefName;
use crate::store::{SessionRow, TagNote};
use crate::sync::bundle::{FileState, KeptFile, Packing, ref_name};

pub use bundle::{Arrival, ArrivedRef, BundleTip, Bundled, Unbundled};
pub use carried::Carried;
pub use carry::{Load, Want};
pub use denials::{Denial, Denials, checked_patterns};
pub use erasures::ErasedHere;
pub use fetch::{FetchOptions, Fetched, Follow, Parted};
pub use here::Here;
pub use landed::{Landed, LandedRef};
pub use leaks::Leaked;
pub use push::{PushOptions, PushRef, Pushed};
pub use remotes::Remote;
pub use shelf::OnShelf;
pub use shelved::{Shelf, Shelved, ShelvedBundle};
pub use upstream::{SeenRef, Upstream};
pub use wire::{PROTOCOL, Wired, serve};

/// Another repository, where things are brought and taken from. What it says is a stranger's.
pub trait Peer: Carries {
    /// Its branches, tags and sessions, and where its HEAD is.
    fn refs(&mut self) -> Result<PeerRefs>;

    /// Moves refs as one operation, all of them or none.
    ///
    /// # Errors
    ///
    /// [`crate::Error::RefMoved`] where one is not where it was expected, [`crate::Error::NotForward`] where one
    /// would lose commits and that was not asked for, [`crate::Error::Denied`] where it lets nobody do that.
    fn move_refs(&mut self, what: &str, moves: &[RefMove]) -> Result<()>;

    /// Tells which messages were erased on the other side. Whether they are to be here too, it decides.
    fn erased(&mut self, contents: &[ContentHash]) -> Result<ErasedThere>;

    /// The messages on the paths to these refs of its own that it has erased; none where it does not tell.
    fn erasures(&mut self, refs: &[PeerRef]) -> Result<Vec<ContentHash>>;

    /// Whether each of these refs of its own is as deep as it says.
    fn are_so_deep(&mut self, refs: &[PeerRef]) -> Result<Vec<bool>> {
        Ok(vec![true; refs.len()])
    }
}

/// How objects come there, and from there. No ref moves.
pub trait Carries {
    /// Finds how far each of these paths of one's own is there already.
    fn compare(&mut self, mine: &mut Here<'_>, wants: &mut [Want]) -> Result<()>;

    /// Finds which session files behind these paths of one's own would go there with their bytes.
    fn missing_files(&mut self, mine: &mut Here<'_>, paths: &[BundleTip]) -> Result<Vec<KeptFile>>;

    /// Brings there what is missing of these paths.
    fn send(&mut self, mine: &mut Here<'_>, load: Load<'_>) -> Result<Carried>;

    /// Brings here what is missing of these paths of its own.
    fn bring(&mut self, mine: &mut Here<'_>, load: Load<'_>) -> Result<Carried>;
}

/// A repository that can be asked of its commits: two such bring each other what the one lacks.
pub trait Answers {
    /// Whether it has these commits. Who has one has all before it.
    fn has(&mut self, commits: &[CommitHash]) -> Result<Vec<bool>>;

    /// The commits at these depths on the paths to these.
    fn at(&mut self, places: &[(CommitHash, u64)]) -> Result<Vec<CommitHash>>;

    /// Whether it is asked on this machine, so that what it gives and takes crosses no network.
    fn is_near(&self) -> bool {
        false
    }

    /// A bundle without session files. Whoever is not near packs it small.
    fn give(&mut self, tips: &[BundleTip], packing: Packing) -> Result<Vec<u8>>;

    /// Takes the objects of a bundle in.
    fn take(&mut self, bundle: &[u8]) -> Result<Brought>;

    /// The session files behind what leads to these commits.
    fn kept_files(&mut self, tips: &[CommitHash]) -> Result<Vec<KeptFile>>;

    /// What it has of session files that are behind what leads to these commits elsewhere.
    fn file_states(&mut self, tips: &[CommitHash], files: &[KeptFile]) -> Result<Vec<FileState>>;

    /// A bundle with these session files, and their records of what leads to the tips.
    fn give_files(
        &mut self,
        tips: &[BundleTip],
        files: &[KeptFile],
        packing: Packing,
    ) -> Result<Vec<u8>>;
}

impl<T: Answers> Carries for T {
    fn compare(&mut self, mine: &mut Here<'_>, wants: &mut [Want]) -> Result<()> {
        carry::compare(mine, self, wants)
    }

    fn missing_files(&mut self, mine: &mut Here<'_>, paths: &[BundleTip]) -> Result<Vec<KeptFile>> {
        files::missing(mine, self, paths)
    }

    fn send(&mut self, mine: &mut Here<'_>, load: Load<'_>) -> Result<Carried> {
        carry::carry(mine, self, load)
    }

    fn bring(&mut self, mine: &mut Here<'_>, load: Load<'_>) -> Result<Carried> {
        carry::carry(self, mine, load)
    }
}

/// What another repository has to offer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerRefs {
    /// The branch that its HEAD is on.
    pub head: Option<RefName>,
    /// Its refs, by name.
    pub refs: Vec<PeerRef>,
    /// What it does not let others do.
    #[serde(default, skip_serializing_if = "Denials::is_none")]
    pub denies: Denials,
    /// What it calls refs, and nobody could have made.
    #[serde(skip)]
    pub left_out: Vec<LeftOut>,
}

/// A ref of another repository that is passed over. Hostile until escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// What it is called there.
    pub name: String,
    /// What is wrong with it.
    pub why: String,
}

impl LeftOut {
    /// A ref by its name there, and what is wrong with it.
    pub fn new(name: impl Into<String>, why: impl ToString) -> Self {
        let cut = |text: &str| text.chars().take(SHOWN_CHARS).collect();
        Self {
            name: cut(&name.into()),
            why: cut(&why.to_string()),
        }
    }
}

/// How much is shown of what a stranger says.
const SHOWN_CHARS: usize = 200;

impl PeerRefs {
    /// The ref of that name.
    pub fn get(&self, name: &RefName) -> Option<&PeerRef> {
        self.refs.iter().find(|row| row.name == *name)
    }
}

/// A branch, a tag or a session of another repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerRef {
    /// Its full name.
    pub name: RefName,
    /// The commit.
    pub commit: CommitHash,
    /// How many commits stand before that on its path.
    pub depth: u64,
    /// What goes with the name.
    #[serde(flatten)]
    pub beside: Beside,
}

impl PeerRef {
    /// What is wrong with what a stranger says of a ref, if anything is.
    fn fault(&self) -> Option<&'static str> {
        match ref_name(self.name.as_str()) {
            Err(_) => Some("nobody could make that name"),
            Ok(_) if i64::try_from(self.depth).is_err() => Some("no path is so long"),
            Ok(_) => None,
        }
    }
}

/// What another repository says or does that none would.
fn strange(detail: impl Into<String>) -> Error {
    let detail = detail.into();
    Error::BrokenPeer { detail }
}

/// What is known beside a ref, and goes where it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// The note of a tag.
    pub note: Option<TagNote>,
    /// What is known of a session.
    pub session: Option<SessionRow>,
}

/// Where a ref is to go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefMove {
    /// Its full name.
    pub name: RefName,
    /// Where it must be now; none: it must not be there.
    pub old: Option<CommitHash>,
    /// Where it goes; none: it is deleted.
    pub new: Option<CommitHash>,
    /// It need not go on from where it was.
    #[serde(rename = "forced")]
    pub is_forced: bool,
    /// What goes with the name.
    #[serde(flatten)]
    pub beside: Beside,
}

/// What came of a bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brought {
    /// Commits that were not there before.
    pub commits: u64,
    /// Messages likewise.
    pub contents: u64,
    /// Kept session files likewise.
    pub sources: u64,
    /// Messages that were erased there, and stay so.
    pub erased: u64,
}

/// What became of messages that were erased elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasedThere {
    /// They are there still.
    pub kept: u64,
    /// They have been erased there now.
    pub erased: u64,
    /// They were taken out of the bundles there, and who pulls is told now.
    #[serde(default)]
    pub listed: u64,
}
