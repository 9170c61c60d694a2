//! Where everything is kept: the traits [`Store`], [`View`] and [`Tx`], and what they promise.
//!
//! A view is seven nouns: objects, paths, reach, what is derived, refs, sources, search. The verbs are the domain's, so that another
//! engine can take SQLite's place. One that takes many keys gives as many answers, in the order
//! asked; what isn't here is a none, and a key that is asked twice is answered twice. `contract.rs`
//! holds the promises as functions that run on every engine. Deliberately absent: what a command
//! means (that is [`crate::repo`]), and SQL anywhere outside `sqlite/`, `postgres/` and, for databases
//! of other programs, `foreign/`.

mod activity;
mod check;
mod checkpoint;
mod codec;
mod columns;
mod compression;
pub(crate) mod crew;
mod derived;
mod fault;
mod foreign;
mod grams;
mod health;
mod indexed;
mod ledger;
mod lineage;
mod objects;
mod paths;
#[cfg(feature = "postgres")]
pub mod postgres;
mod precondition;
mod reach;
mod refs;
mod remembered;
mod room;
mod rows;
mod search;
mod servers;
mod sources;
pub mod sqlite;
mod tables;
mod words;

#[cfg(test)]
mod contract;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::word_weights::{Weighed, weighed};
use crate::model::{Author, Message, Millis, RefName, Sealed, Usage, UsageRecord};
use rows::Shown;

pub use activity::Activity;
pub use columns::Cell;
pub use derived::{CountKey, Derivations, DerivationsMut, Derived};
pub use fault::{Checked, Fault, SetAside};
pub use foreign::{ForeignTables, is_database, read_foreign};
pub use health::{
    Archiver, Connected, Connections, FileHealth, Health, HealthOf, LockWait, OpenTransaction,
    ServerHealth, TableHealth, Transport,
};
pub use ledger::{Ledger, RefMoves};
pub use objects::{CommitRow, ContentRow, Objects, ObjectsMut};
pub use paths::{Appended, Facts, ListedCommit, Paths, Spot, Trail, Trails, Visit};
pub use precondition::{Condition, Guarded};
pub use reach::{ByReach, Dropped, Reachability, ReachabilityMut};
#[cfg(test)]
pub(crate) use refs::KEPT_WORDS;
pub use refs::{
    AdoptedRow, Collections, MovesOf, Opening, OperationRow, ReflogRow, Refs, RefsMut, Reversal,
    Seat, TagNote, Tips, Upkeep,
};
pub use remembered::{Memory, MemoryRow, Remembered, RememberedMut};
pub use room::{ContentSize, Room, RoomOf, SourceSize};
pub use search::{Hit, Ranked, Ranking, Scored, Search, SearchMut};
pub use servers::{Servers, without_password};
pub use sources::{
    BlockText, FileStamp, FollowedFile, KeptBill, OriginRow, PressedBlock, Records, ResumeRow,
    SessionRow, SourceRow, SourceState, Sources, SourcesMut, SourcesOf, UnreadFile,
};

/// Whence somebody looks who wants to see all at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Whose HEAD it is.
    pub seat: Option<Seat>,
    /// The branch that is looked at, if it is not HEAD's.
    pub branch: Option<RefName>,
}

/// An engine: hands out views and transactions. A thread may own it.
pub trait Store: Send {
    /// A consistent view for reading. Close it soon: it holds back the journal.
    fn read(&self) -> Result<Box<dyn View + '_>>;

    /// The repository's configuration, as a view would tell it now: an engine for which a view is dear does without one.
    fn config(&self) -> Result<Vec<(String, String)>> {
        self.read()?.config()
    }

    /// Whether the views that follow, one after the other, may see the same, until something is written here: an
    /// engine for which a view is dear goes on with the last one. It holds back what an open view does.
    fn hold(&self, holds: bool) {
        let _ = holds;
    }

    /// The one write transaction: nobody else writes while it is open. Nothing of it is visible, or remains, unless it is
    /// committed; dropping it takes everything back. One that does not wait may write nothing but what follows from the
    /// rest, and others may write beside it.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Busy`] when another process holds the lock: at once, or for longer than the wait if
    /// this `waits`.
    fn begin(&self, waits: bool) -> Result<Box<dyn Tx + '_>>;

    /// A transaction that puts commits on one branch, the one where HEAD is unless it is named, or on a session's ref, and takes
    /// out nothing: an engine that can lets others do the same on other refs meanwhile. An operation comes with the first move under
    /// it there ([`Opening::WithFirstMove`]). `contents` are those that it may put; an engine asks for them for which it is
    /// quicker to find out together with what it asks first.
    ///
    /// # Errors
    ///
    /// As [`Store::begin`]. What it does then, and its commit, may end with [`Error::Overtaken`] where somebody else has put
    /// the same at the same moment: nothing remains, and done once more it finds what they have put.
    fn begin_on(
        &self,
        branch: Option<&RefName>,
        contents: &mut dyn FnMut() -> Vec<ContentHash>,
    ) -> Result<Box<dyn Tx + '_>> {
        let _ = (branch, contents);
        self.begin(true)
    }

    /// The same for commits to which nothing refers that stays: an engine that can has them on the disk no later than what the next
    /// transaction puts there, and its own commit does not wait for that.
    ///
    /// # Errors
    ///
    /// As [`Store::begin_on`].
    fn begin_loose(
        &self,
        branch: Option<&RefName>,
        contents: &mut dyn FnMut() -> Vec<ContentHash>,
    ) -> Result<Box<dyn Tx + '_>> {
        self.begin_on(branch, contents)
    }

    /// The same with a wait.
    ///
    /// # Errors
    ///
    /// As [`Store::begin`].
    fn write(&self) -> Result<Box<dyn Tx + '_>> {
        self.begin(true)
    }

    /// The same for what can as well be written another time: where somebody else writes, it does not
    /// wait.
    ///
    /// # Errors
    ///
    /// As [`Store::begin`].
    fn write_if_free(&self) -> Result<Box<dyn Tx + '_>> {
        self.begin(false)
    }

    /// How blocks of a source are made smaller before they are kept, beside what its messages
    /// [say](Sources::said); none: one stays as it is. It may be called on any thread, ahead of
    /// [`SourcesMut::append_pressed`].
    fn press(&self) -> fn(&[u8], &BlockText) -> Option<PressedBlock> {
        |block, _| compression::press(block).map(PressedBlock::alone)
    }

    /// How what this engine keeps of a message is worked out ahead of [`ObjectsMut::put_message`], on any
    /// thread: as it would be kept now. `weighs`: whether its words go into the index as it is put.
    fn preparing(&self, weighs: bool) -> Result<Box<Prepare>> {
        Ok(Box::new(move |message| Prepared {
            shown: Shown::of(message),
            words: weighs.then(|| weighed(message)),
            body: compression::press(message.canonical().as_bytes()),
        }))
    }

    /// From where it is looked at from here on.
    fn sit(&mut self, seat: Option<Seat>);

    /// From where it is looked at, if that has a HEAD of its own.
    fn seat(&self) -> Option<&Seat>;

    /// Who is at work from here on: the operations that follow bear it.
    fn work_as(&mut self, who: Option<Author>);

    /// Who is at work, if that is known.
    fn worker(&self) -> Option<&Author>;

    /// How many operations were committed through this handle: a count that goes on while whoever asked
    /// holds it. What others commit is not in it.
    fn operations_committed(&self) -> Arc<AtomicU64>;

    /// What was done through this handle: it goes on while whoever asked holds it.
    fn ledger(&self) -> Arc<Ledger>;

    /// A number that is another one once somebody else has written: cheap enough to be asked for many
    /// times a second. What this store writes itself need not change it.
    fn version(&self) -> Result<u64>;

    /// Reads all that is kept and tells what is not as it was written, or does not fit the rest; now
    /// and then it tells only how far it has come. Fault or not, it goes on to the end.
    fn verify(&self, tell: &mut dyn FnMut(Checked, Option<Fault>) -> Result<()>)
    -> Result<Checked>;

    /// The size of the files in bytes.
    fn size_bytes(&self) -> Result<u64> {
        Ok(self.room()?.size_bytes())
    }

    /// Puts what is kept into fewer bytes, little by little: others may write meanwhile, and where it
    /// ends half-way, all is as it was or smaller. Tells how far it has come, in parts of a whole. An engine
    /// whose files are a server's own has nothing to do.
    fn recompress(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
        let _ = progress;
        Ok(())
    }

    /// Whether rewriting the files would make them smaller.
    fn has_free_room(&self) -> Result<bool> {
        Ok(false)
    }

    /// What takes the room in the files. Reads all of their pages.
    fn room(&self) -> Result<Room>;

    /// How the engine stands, by what it tells itself; `now` is the caller's clock. What one may not see is missing, and
    /// no error.
    fn health(&self, now: Millis) -> Result<Health>;

    /// Makes again what can be made from the rest, and sets aside what nothing vouches for, see
    /// [`Fault::mends`]; nothing else changes. Gives what was set aside.
    fn rebuild(&self) -> Result<Vec<SetAside>>;

    /// Copies all that is here now into the file at `to`, while others go on writing; tells how far it
    /// has come, in parts of a whole. Nothing that was erased is in the copy, and it needs no other file.
    ///
    /// # Errors
    ///
    /// [`Error::ServersOwn`] where the files are a server's own.
    fn backup(&self, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
        let _ = (to, progress);
        Err(Error::ServersOwn {
            what: "a backup of a server's repository",
        })
    }

    /// Remembers that everything was checked now and found whole.
    fn checked(&self, now: Millis) -> Result<()>;

    /// Rewrites what is stored so that nothing that was erased is left of it, in any file. Every
    /// purge owes it; where it fails, or was never come to, a later [`Store::write`] does it before
    /// anything else.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Busy`] while another process reads what was there before.
    fn scrub(&self) -> Result<()>;
}

/// Works out what an engine keeps of a message.
pub type Prepare = dyn Fn(&Sealed<Message>) -> Prepared + Send + Sync;

/// What is kept of a message beside its name, worked out without the database.
pub struct Prepared {
    shown: Shown,
    /// What its words are worth, if they go into the index.
    words: Option<Weighed>,
    /// Its canonical bytes in fewer of them, if that is worth it.
    body: Option<Vec<u8>>,
}

/// Reading.
pub trait View: Objects + Paths + Reachability + Derivations + Refs + Sources + Search {}

impl<T: Objects + Paths + Reachability + Derivations + Refs + Sources + Search> View for T {}

/// Reading and writing, all or nothing.
pub trait Tx:
    View + ObjectsMut + ReachabilityMut + DerivationsMut + RefsMut + SourcesMut + SearchMut
{
    /// Keeps a usage record by the commit of its reply.
    fn put_usage_record(&self, commit: &CommitHash, record: &UsageRecord) -> Result<()> {
        self.put_usage(commit, record.usage)?;
        self.put_usage_detail(commit, &record.detail)
    }

    /// The usage records of these replies, where there are any.
    fn usage_records(&self, commits: &[CommitHash]) -> Result<Vec<Option<UsageRecord>>> {
        let mut details = self.usage_details(commits)?;
        let usages = commits.iter().zip(self.usage(commits)?);
        let record = |(commit, usage): (&CommitHash, Option<Usage>)| {
            let detail = details.remove(commit).unwrap_or_default();
            usage.map(|usage| UsageRecord { usage, detail })
        };
        Ok(usages.map(record).collect())
    }

    /// Makes it all visible and durable.
    fn commit(self: Box<Self>) -> Result<()>;
}
