//! How an engine stands, as it tells itself: what whoever runs it wants to know beyond what is kept.
//!
//! Facts alone. What of them is good, and what to do about the rest, is said by whoever is asked.

use super::refs::Upkeep;
use super::room::Room;
use crate::model::Millis;

/// How an engine stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The engine and its version.
    pub engine: String,
    /// The number of the repository's format.
    pub format: u32,
    /// What takes the room.
    pub room: Room,
    /// What is known of the repository's keeping.
    pub upkeep: Upkeep,
    /// Whether a purge's files are still to be rewritten.
    pub owes_scrub: bool,
    /// Where it is.
    pub place: HealthOf,
}

/// Where a repository is, with what there is to know about that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HealthOf {
    /// In a file.
    File(FileHealth),
    /// On a server.
    Server(Box<ServerHealth>),
}

/// How a file stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileHealth {
    /// SQLite's `journal_mode`.
    pub journal_mode: String,
    /// SQLite's `synchronous`: 2 (FULL) and more mean that a commit is on the disk.
    pub synchronous: u64,
    /// Whether somebody is writing; none where one may only read, and so cannot tell.
    pub is_being_written: Option<bool>,
}

/// How a server stands. None: whoever asks may not see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerHealth {
    /// Its version as a number, such as 150018.
    pub version: u64,
    /// The database.
    pub database: String,
    /// As whom it is asked.
    pub user: String,
    /// Whether that one may see what others do.
    pub sees_others: bool,
    /// Whether it is a replica, which takes no writes.
    pub is_replica: bool,
    /// Its settings that matter here, by name.
    pub settings: Vec<(&'static str, String)>,
    /// How far its clock is before the caller's, in milliseconds.
    pub clock_ahead_ms: i64,
    /// How long it takes to ask it something, in milliseconds.
    pub trip_ms: u64,
    /// How it is reached.
    pub transport: Transport,
    /// Its connections, the most first.
    pub connections: Option<Vec<Connections>>,
    /// Who waits for a lock.
    pub waits: Option<Vec<LockWait>>,
    /// The oldest transaction of the database that whoever asks may see, but for their own.
    pub oldest: Option<OpenTransaction>,
    /// What it knows of each of the repository's tables.
    pub tables: Option<Vec<TableHealth>>,
    /// What it archives.
    pub archiver: Option<Archiver>,
    /// How many replicas, and programs that make backups, take its log.
    pub replicas: Option<u64>,
}

impl ServerHealth {
    /// A setting's value; nothing where it is not known.
    pub fn setting(&self, name: &str) -> &str {
        let found = self.settings.iter().find(|(of, _)| *of == name);
        found.map_or("", |(_, value)| value)
    }
}

/// How a server is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transport {
    /// `sslmode`, as it is in force.
    pub sslmode: &'static str,
    /// Whether what is sent stays on this machine.
    pub is_local: bool,
    /// Which TLS the server speaks on this connection, or its pooler with it; none: plain text.
    pub tls: Option<String>,
}

/// Connections of one user by one program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// Whose.
    pub user: String,
    /// What the program calls itself.
    pub program: String,
    /// How many.
    pub count: u64,
}

/// Somebody who waits for a lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockWait {
    /// What is waited for: the repository, or a table.
    pub what: String,
    /// Who waits.
    pub waiter: Connected,
    /// For how long, in milliseconds, where the server tells.
    pub waited_ms: Option<u64>,
    /// Who has it, and waits for nobody.
    pub holders: Vec<Connected>,
}

/// Somebody who is connected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connected {
    /// The number of the server's process.
    pub process: u64,
    /// Whose connection it is.
    pub user: String,
    /// What the program calls itself.
    pub program: String,
}

/// A transaction that is open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenTransaction {
    /// Whose.
    pub by: Connected,
    /// For how long, in milliseconds.
    pub open_ms: u64,
}

/// What a server knows of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableHealth {
    /// Its name.
    pub name: String,
    /// How many rows it had when they were counted.
    pub rows: u64,
    /// How many have changed since.
    pub changed: u64,
    /// How many rows are gone, and take room still.
    pub dead: u64,
    /// When its statistics were made.
    pub analyzed: Option<Millis>,
}

/// What a server archives of its log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archiver {
    /// How many files it has archived.
    pub archived: u64,
    /// When it archived the last one.
    pub last: Option<Millis>,
    /// When it failed to.
    pub last_failed: Option<Millis>,
}
