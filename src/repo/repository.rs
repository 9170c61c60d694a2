//! The repository: a directory `.tract/` with one database, a schema on a server, or one in memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::compile::AnsweredCalls;
use crate::context::{Context, Entry, Order};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Author, Head, Message, Millis, RefName, RefValue, Settings};
use crate::repo::call::On;
use crate::repo::directory::{self, DIRECTORY, Standing};
pub(crate) use crate::repo::head::{detached, head, is_of_directory, last_branch};
use crate::repo::load::Stored;
use crate::repo::visitor::Visitor;
use crate::repo::{load, path, server};
use crate::store::sqlite::Sqlite;
use crate::store::{Condition, Guarded, Ledger, SessionRow, Store, View};

/// How many rows are asked for at once.
const TOGETHER: usize = 4096;

/// Reads a moment as people write it; none where it is none.
pub type ReadTime = Box<dyn Fn(&str) -> Option<Millis> + Send + Sync>;

/// An open repository.
pub struct Repo {
    pub(crate) store: Box<dyn Store>,
    directory: Option<PathBuf>,
    /// The address on a server, without a password.
    address: Option<String>,
    own: bool,
    /// Who made the commits that are made here.
    pub(crate) signature: Option<Author>,
    /// How the time in `REF@{TIME}` is read.
    pub(crate) times: Option<ReadTime>,
}

impl Repo {
    /// Makes `.tract/` in `dir`, or opens the one that is there, whoever it belongs to: see
    /// [`Repo::init_as`].
    ///
    /// # Errors
    ///
    /// As [`Repo::init_as`].
    pub fn init(dir: &Path) -> Result<(Self, bool)> {
        Self::init_as(dir, &Visitor::default())
    }

    /// Makes `.tract/` in `dir`, completes one that has no database, or opens the one that is there.
    /// The flag says whether the repository is new. Where it fails, nothing is left behind. A server's
    /// address stands for a directory everywhere.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be made, [`Error::Damaged`] if only its journal is left, and
    /// whatever [`Repo::open_as`] returns.
    pub fn init_as(dir: &Path, visitor: &Visitor) -> Result<(Self, bool)> {
        if let Some(address) = server::address(dir) {
            return Self::on_server(address, true, visitor);
        }
        // As it opens, so it is made: what is called `.tract` is the repository itself.
        let directory = match dir.file_name().is_some_and(|name| name == DIRECTORY) {
            true => dir.to_owned(),
            false => dir.join(DIRECTORY),
        };
        let database = directory::database(&directory);
        match directory::look(&directory)? {
            Standing::Whole => {
                let repo = Self::enter(directory, Standing::Whole, visitor)?;
                return Ok((repo, false));
            }
            Standing::Unfinished => visitor.enter(&directory, &database)?,
            Standing::Nothing => true,
        };
        let store = directory::make(&directory)?;
        // Someone else may have been first.
        let own = visitor.enter(&directory, &database)?;
        let repo = Self {
            directory: Some(directory),
            own,
            ..Self::of(Box::new(store))
        };
        Ok((repo, true))
    }

    /// Opens the repository at an address, or makes it.
    fn on_server(address: &str, makes: bool, visitor: &Visitor) -> Result<(Self, bool)> {
        let (store, address, is_new) = server::enter(address, makes, visitor)?;
        let repo = Self {
            address: Some(address),
            own: visitor.users.is_none(),
            ..Self::of(store)
        };
        Ok((repo, is_new))
    }

    /// Finds the repository of `start`: its own `.tract`, or that of the nearest directory above,
    /// whoever it belongs to: see [`Repo::find_as`].
    ///
    /// # Errors
    ///
    /// As [`Repo::find_as`].
    pub fn find(start: &Path) -> Result<Self> {
        Self::find_as(start, &Visitor::default())
    }

    /// Finds the repository of `start`: its own `.tract`, or that of the nearest directory above.
    /// The first `.tract` is the one, repository or not.
    ///
    /// # Errors
    ///
    /// [`Error::NoRepository`] if there is none, and whatever [`Repo::open_as`] returns.
    pub fn find_as(start: &Path, visitor: &Visitor) -> Result<Self> {
        let (directory, found) = Self::sought(start)?;
        Self::enter(directory, found, visitor)
    }

    /// Where the repository of `start` is, or that of the nearest directory above. It is not opened.
    ///
    /// # Errors
    ///
    /// [`Error::NoRepository`] if there is none.
    pub fn seek(start: &Path) -> Result<PathBuf> {
        Ok(Self::sought(start)?.0)
    }

    /// The first `.tract` of `start` and the directories above, and what stands there.
    pub(crate) fn sought(start: &Path) -> Result<(PathBuf, Standing)> {
        for dir in start.ancestors() {
            let directory = dir.join(DIRECTORY);
            match directory::look(&directory)? {
                Standing::Nothing => {}
                found => return Ok((directory, found)),
            }
        }
        Err(Error::NoRepository {
            start: start.to_owned(),
        })
    }

    /// Opens a `.tract` directory, or the directory that holds one, whoever it belongs to: see
    /// [`Repo::open_as`].
    ///
    /// # Errors
    ///
    /// As [`Repo::open_as`].
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_as(path, &Visitor::default())
    }

    /// Opens a `.tract` directory, or the directory that holds one, for somebody who may: a program
    /// that people run in directories of others says who runs it.
    ///
    /// # Errors
    ///
    /// [`Error::NotOwned`] for a repository of another user that wasn't said to be safe;
    /// [`Error::NoRepository`], [`Error::NoDirectory`], [`Error::NoEntry`], [`Error::Unfinished`],
    /// [`Error::Damaged`], [`Error::ForeignDatabase`], [`Error::ForeignJournal`], [`Error::OlderDatabase`],
    /// [`Error::NewerDatabase`]; what is refused is left as it was.
    pub fn open_as(path: &Path, visitor: &Visitor) -> Result<Self> {
        if let Some(address) = server::address(path) {
            return Ok(Self::on_server(address, false, visitor)?.0);
        }
        let (directory, found) = Self::meant(path)?;
        Self::enter(directory, found, visitor)
    }

    /// The `.tract` that is at `path` or in it, and what stands there.
    pub(crate) fn meant(path: &Path) -> Result<(PathBuf, Standing)> {
        let inner = path.join(DIRECTORY);
        match directory::look(&inner)? {
            Standing::Nothing => {}
            found => return Ok((inner, found)),
        }
        let is_meant = path.file_name().is_some_and(|name| name == DIRECTORY);
        match directory::look(path) {
            Ok(found) if found == Standing::Whole || (found != Standing::Nothing && is_meant) => {
                Ok((path.to_owned(), found))
            }
            Err(error) if is_meant => Err(error),
            Err(error @ Error::NoEntry { .. }) => Err(error),
            _ => Err(Error::NoRepository {
                start: path.to_owned(),
            }),
        }
    }

    /// Opens the repository in a directory where something was `found`.
    fn enter(directory: PathBuf, found: Standing, visitor: &Visitor) -> Result<Self> {
        let database = directory::database(&directory);
        let own = visitor.enter(&directory, &database)?;
        if found != Standing::Whole {
            directory::refuse_leftovers(&directory)?;
            return Err(Error::Unfinished { path: directory });
        }
        Ok(Self {
            directory: Some(directory),
            own,
            ..Self::of(Box::new(Sqlite::open(&database)?))
        })
    }

    /// A copy of a repository, in a file of its own, to be looked at.
    pub(crate) fn of_file(store: Sqlite) -> Self {
        Self::of(Box::new(store))
    }

    /// The same repository, with a condition on what is written.
    pub(crate) fn guarded(self, condition: Box<Condition>) -> Self {
        let store = Box::new(Guarded::new(self.store, condition));
        Self { store, ..self }
    }

    fn of(store: Box<dyn Store>) -> Self {
        Self {
            store,
            directory: None,
            address: None,
            own: true,
            signature: None,
            times: None,
        }
    }

    /// Whether it is on a server, where others are at work as well.
    pub fn is_on_server(&self) -> bool {
        self.address.is_some()
    }

    /// Whether what is read from here on may all be as it was at one moment, until something is written here: where a
    /// look is dear, as on a server, the next one goes on with the last. To be ended before anything else takes its time.
    pub fn hold(&self, holds: bool) {
        self.store.hold(holds);
    }

    /// How many operations were committed through this handle. Whoever holds the count sees it go on, also
    /// after the repository is closed; what others commit is not in it.
    pub fn operations_committed(&self) -> Arc<AtomicU64> {
        self.store.operations_committed()
    }

    /// What was done through this handle: how often its engine was asked, and which refs were moved.
    pub fn ledger(&self) -> Arc<Ledger> {
        self.store.ledger()
    }

    /// A repository in memory: the same code, gone with the process.
    pub fn ephemeral() -> Result<Self> {
        Sqlite::in_memory().map(Self::of_file)
    }

    /// A repository in memory whose engine's steps are counted.
    #[cfg(test)]
    pub(crate) fn counted() -> (Self, std::sync::Arc<std::sync::atomic::AtomicU64>) {
        let mut store = Sqlite::in_memory().expect("made");
        let steps = store.count_steps();
        (Self::of_file(store), steps)
    }

    /// A repository in memory whose statements are counted.
    #[cfg(test)]
    pub(crate) fn counting_statements() -> (Self, std::sync::Arc<std::sync::atomic::AtomicU64>) {
        let store = Sqlite::in_memory().expect("made");
        let statements = store.statements();
        (Self::of_file(store), statements)
    }

    /// A repository on a server that is new, and how often the server was asked.
    #[cfg(all(test, feature = "postgres"))]
    pub(crate) fn counting_trips(
        address: &str,
    ) -> (Self, std::sync::Arc<std::sync::atomic::AtomicU64>) {
        let store = crate::store::postgres::Postgres::create(address);
        let (store, _) = store.expect("made");
        let trips = store.trips();
        (Self::of_server(store), trips)
    }

    /// A repository on a server.
    #[cfg(all(test, feature = "postgres"))]
    pub(crate) fn of_server(store: crate::store::postgres::Postgres) -> Self {
        Self {
            address: Some(store.address()),
            ..Self::of(Box::new(store))
        }
    }

    /// The `.tract` directory; none for a repository on a server or in memory.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Where it is, as people are told: its directory, or its address without a password; none for a
    /// repository in memory.
    pub fn place(&self) -> Option<&Path> {
        self.directory()
            .or_else(|| self.address.as_deref().map(Path::new))
    }

    /// Whether it belongs to who opened it, as far as that was asked. Where it doesn't, the commands
    /// that its configuration names are another's, and are not to be run.
    pub fn is_own(&self) -> bool {
        self.own
    }

    /// Where `on` stands.
    pub fn head(&self, on: &On) -> Result<Head> {
        head(&*self.store.read()?, on)
    }

    /// The error for a branch without commits: it may be one that nobody made.
    pub(crate) fn without_commits(&self, branch: &RefName) -> Result<Error> {
        crate::repo::head::without_commits(&*self.store.read()?, branch)
    }

    /// What compiling `commit` gives, before any body is read.
    pub fn context(&self, commit: &CommitHash) -> Result<Context> {
        load::context(&*self.store.read()?, commit)
    }

    /// The whole order of entries at `commit`, hidden ones included. Grows with history.
    pub fn order(&self, commit: &CommitHash) -> Result<Order> {
        load::order(&*self.store.read()?, commit)
    }

    /// The messages of a context, in order, hidden parts left out or replaced.
    pub fn messages(&self, context: &Context) -> Result<Vec<Message>> {
        let view = self.store.read()?;
        load::messages(&*view, &context.entries)
    }

    /// Tells the same messages one after the other, so that no two need be held at once.
    ///
    /// # Errors
    ///
    /// What `visit` returns, and the store's.
    pub fn each_message(
        &self,
        context: &Context,
        visit: &mut dyn FnMut(Stored<'_>) -> Result<()>,
    ) -> Result<()> {
        let view = self.store.read()?;
        load::each_message(&*view, &context.entries, visit)
    }

    /// Tells the messages of some entries of a context: whoever takes any time over what it is told asks for some at a time, and
    /// holds up nobody in between.
    ///
    /// # Errors
    ///
    /// As [`Repo::each_message`].
    pub fn each_message_of(
        &self,
        entries: &[&Entry],
        visit: &mut dyn FnMut(Stored<'_>) -> Result<()>,
    ) -> Result<()> {
        load::each_message(&*self.store.read()?, entries.iter().copied(), visit)
    }

    /// Whether a client attached any of these entries. Reads no body.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn has_attached<'a>(&self, entries: impl Iterator<Item = &'a Entry>) -> Result<bool> {
        let (view, mut entries) = (self.store.read()?, entries);
        loop {
            let some = entries.by_ref().take(TOGETHER).map(|entry| entry.content);
            let some: Vec<ContentHash> = some.collect();
            if some.is_empty() {
                return Ok(false);
            }
            if load::rows(&*view, &some)?.values().any(|row| row.attached) {
                return Ok(true);
            }
        }
    }

    /// The ids of the calls that these entries answer. Reads no body.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn answered_calls<'a>(
        &self,
        entries: impl Iterator<Item = &'a Entry>,
    ) -> Result<AnsweredCalls> {
        let (view, mut answered) = (self.store.read()?, AnsweredCalls::default());
        let contents = entries.flat_map(|entry| {
            let stubs = entry.mask.parts().iter().filter_map(|part| part.stub);
            stubs.chain([entry.content])
        });
        let mut contents = contents.peekable();
        while contents.peek().is_some() {
            let some: Vec<ContentHash> = contents.by_ref().take(TOGETHER).collect();
            for uses in view.tool_uses(&some)?.into_iter().flatten() {
                uses.answers.iter().for_each(|call| answered.add(call));
            }
        }
        Ok(answered)
    }

    /// Whether any file was imported.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn has_sources(&self) -> Result<bool> {
        self.store.read()?.has_sources()
    }

    /// The request settings in force in a context; JSON texts by key.
    pub fn settings(&self, context: &Context) -> Result<Settings> {
        load::settings(&*self.store.read()?, context)
    }

    /// The session that the newest imported commit on the path to `commit` came from.
    pub fn session_of(&self, commit: &CommitHash) -> Result<Option<(RefName, SessionRow)>> {
        path::session_of(&*self.store.read()?, commit)
    }

    /// All refs whose full name begins with `prefix`, by name.
    pub fn references(&self, prefix: &str) -> Result<Vec<(RefName, RefValue)>> {
        self.store.read()?.references(prefix)
    }
}

/// A thread may own a repository.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Repo>();
};

/// Refuses a new name that is taken, or could be taken for a hash.
pub(crate) fn refuse_name(view: &dyn View, name: &RefName) -> Result<()> {
    match view.reference(name)? {
        None => name.refuse_hash(),
        Some(_) => Err(Error::RefExists {
            name: name.short().to_owned(),
        }),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    /// A folder with a repository in it, and who owns both.
    fn owned() -> (tempfile::TempDir, PathBuf, u32) {
        let folder = tempfile::tempdir().expect("a folder");
        let place = fs::canonicalize(folder.path()).expect("it is there");
        Repo::init(&place).expect("made");
        let owner = fs::metadata(&place).expect("it is there").uid();
        (folder, place, owner)
    }

    fn refused(found: Result<Repo>) -> (PathBuf, u32, PathBuf) {
        match found.err().expect("it is refused") {
            Error::NotOwned { path, owner, place } => (path, owner, place),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn ones_own_repository_is_opened_and_anothers_is_not() {
        let (_folder, place, owner) = owned();
        let own = Visitor::new([owner]);
        assert!(Repo::open_as(&place, &own).expect("opens").is_own());
        assert!(Repo::open(&place).expect("opens").is_own());
        let asked = Visitor::new([owner + 2, owner]);
        assert!(Repo::find_as(&place, &asked).expect("opens").is_own());

        let other = Visitor::new([owner + 1]);
        let below = place.join("a/b");
        fs::create_dir_all(&below).expect("made");
        let wanted = (place.join(".tract"), owner, place.clone());
        assert_eq!(refused(Repo::open_as(&place, &other)), wanted);
        assert_eq!(
            refused(Repo::open_as(&place.join(".tract"), &other)),
            wanted
        );
        assert_eq!(refused(Repo::find_as(&below, &other)), wanted);
        assert_eq!(
            refused(Repo::init_as(&place, &other).map(|made| made.0)),
            wanted
        );
        let nobody = Visitor::new([]);
        assert_eq!(refused(Repo::find_as(&below, &nobody)), wanted);
    }

    #[test]
    fn a_repository_that_is_named_itself_is_made_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let named = folder.path().join(".tract");
        let (repo, is_new) = Repo::init(&named).expect("made");
        assert!(is_new);
        assert_eq!(repo.place(), Some(named.as_path()));
        assert!(!named.join(".tract").exists());
        assert!(!Repo::init(&named).expect("opens").1);
        assert!(!Repo::init(folder.path()).expect("opens").1);
    }

    #[test]
    fn what_is_said_to_be_safe_is_opened_and_stays_anothers() {
        let (folder, place, owner) = owned();
        let link = folder.path().join("link");
        symlink(&place, &link).expect("linked");
        let opens = |safe: &str, path: &Path| {
            let mut visitor = Visitor::new([owner + 1]);
            visitor.safe.push(safe.parse().expect("any text"));
            Repo::open_as(path, &visitor).map(|repo| repo.is_own())
        };
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        let above = text(place.parent().expect("not the root"));
        for safe in [
            "*".to_owned(),
            text(&place),
            text(&place.join(".tract")),
            format!("{}/", text(&place)),
            text(&link),
            format!("{above}/*"),
            "/*".to_owned(),
        ] {
            assert!(!opens(&safe, &place).expect(&safe), "{safe}");
            assert!(!opens(&safe, &link).expect(&safe), "{safe}");
        }
        for safe in [
            "",
            ".",
            "/",
            &above,
            &format!("{above}/"),
            &format!("{}x", text(&place)),
            &format!("{}/.tract/tract.db", text(&place)),
            "/nowhere",
        ] {
            assert!(opens(safe, &place).is_err(), "{safe}");
        }
    }

    #[test]
    fn a_link_does_not_hide_whose_it_is() {
        let (folder, place, owner) = owned();
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir(&elsewhere).expect("made");
        symlink(place.join(".tract"), elsewhere.join(".tract")).expect("linked");
        let other = Visitor::new([owner + 1]);
        let (path, found, allow) = refused(Repo::find_as(&elsewhere, &other));
        assert_eq!((path, found), (elsewhere.join(".tract"), owner));
        assert_eq!(allow, place, "what is allowed is where it leads to");
    }
}
