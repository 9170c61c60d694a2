//! The library's one error type: facts, no advice. Advice names commands and lives in the program.

mod server;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use server::ServerTrouble;

/// What is said of another program's database that cannot be read.
pub const SPOILT_DATABASE: &str = "the database is cut short or damaged";

/// What a fallible function of this crate gives.
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Of what a name is by which a search is narrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameOf {
    /// A session.
    Session,
    /// A directory that sessions ran in.
    Directory,
    /// A tool that was called.
    Tool,
    /// A file that calls name.
    File,
    /// An author of commits.
    Author,
}

impl NameOf {
    /// Nothing here has the name.
    pub fn unknown(self, name: impl Into<String>) -> Error {
        self.unknown_among(name, Vec::new())
    }

    /// Nothing here has the name; these are names that are here, the most used first.
    pub fn unknown_among(self, name: impl Into<String>, known: Vec<String>) -> Error {
        Error::UnknownName {
            what: self,
            name: name.into(),
            known,
        }
    }
}

impl fmt::Display for NameOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Session => "no session",
            Self::Directory => "no session ran in",
            Self::Tool => "no message calls the tool",
            Self::File => "no tool call names the file",
            Self::Author => "no commit is by",
        })
    }
}

/// What is not here: a commit where a hash or a way to one was typed, else anything that has a name.
fn nothing_like(text: &str) -> &'static str {
    let is_hash = text.bytes().all(|it| it.is_ascii_hexdigit());
    match is_hash || text.contains([':', '@', '~', '^']) {
        true => "no commit",
        false => "nothing here is called",
    }
}

/// Everything that can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No `.tract` here or in any directory above.
    #[error("no tract repository here or above")]
    NoRepository {
        /// Where the search began.
        start: PathBuf,
    },
    /// A repository of another user, which nobody said is safe.
    #[error("{} belongs to another user (uid {owner})", path.display())]
    NotOwned {
        /// What belongs to them: the `.tract`, or its database.
        path: PathBuf,
        /// Their id.
        owner: u32,
        /// The directory to call safe, links resolved.
        place: PathBuf,
    },
    /// A repository that every user of the machine may write to, which nobody said is safe.
    #[error("everybody on this machine can write to {}", path.display())]
    OpenToAll {
        /// What they can write to: the `.tract`, or its database.
        path: PathBuf,
        /// The directory to call safe, links resolved.
        place: PathBuf,
    },
    /// What bears a repository's name and can be none.
    #[error("{} is not a repository: {reason}", path.display())]
    NoDirectory {
        /// The `.tract`, or its database.
        path: PathBuf,
        /// What it is instead.
        reason: &'static str,
    },
    /// A directory that one may not look into.
    #[error("{} cannot be entered: permission denied", path.display())]
    NoEntry {
        /// The directory.
        path: PathBuf,
    },
    /// A `.tract` without a database.
    #[error("{} has no database in it", path.display())]
    Unfinished {
        /// The `.tract`.
        path: PathBuf,
    },
    /// No commit, branch or tag answers to `text`; `nearest` is the closest name.
    #[error("{} '{text}'", nothing_like(text))]
    UnknownRevision {
        /// What was typed.
        text: String,
        /// The closest name or hash, and a preview of what it is where there is one.
        nearest: Option<String>,
        /// Whether no branch, tag or session has a commit yet.
        nothing_yet: bool,
    },
    /// Nothing here has a name by which a search was narrowed.
    #[error("{what} '{name}'")]
    UnknownName {
        /// What has no such name.
        what: NameOf,
        /// What was typed.
        name: String,
        /// Some that are here, the most used first; empty: nobody looked, or there is none. Hostile until escaped.
        known: Vec<String>,
    },
    /// `REF@{TIME}` with a time that cannot be read.
    #[error("'{inside}' in '{text}' is neither a number, a date nor an age")]
    UnreadableMoment {
        /// The revision that was typed.
        text: String,
        /// The time in it.
        inside: String,
    },
    /// Several commits, or sessions, begin with `text`.
    #[error("'{text}' is ambiguous")]
    AmbiguousRevision {
        /// What was typed.
        text: String,
        /// Up to five of them: short hash and preview.
        candidates: Vec<String>,
    },
    /// `:N` beyond the context's messages.
    #[error("no message '{text}'")]
    NoSuchMessage {
        /// What was typed.
        text: String,
        /// How many messages the context has.
        messages: usize,
    },
    /// `~N` or `^` beyond the first commit.
    #[error("'{text}' goes back beyond the first commit")]
    BeyondFirst {
        /// What was typed.
        text: String,
        /// The first commit.
        first: String,
    },
    /// A branch, tag or session by this name is there already.
    #[error("'{name}' is there already")]
    RefExists {
        /// Its short name.
        name: String,
    },
    /// `checkout -` before HEAD has ever moved.
    #[error("no previous position")]
    NoPreviousPosition,
    /// An undo that would reach behind a purge.
    #[error("what came before was purged")]
    Purged,
    /// An undo right after a purge, which moved nothing.
    #[error("a purge cannot be undone")]
    PurgedLast {
        /// The operation before it that an undo would take back, if there is one.
        before: Option<u64>,
    },
    /// No operation is left to undo.
    #[error("nothing to undo")]
    NothingToUndo,
    /// An undo right after an operation that wrote something elsewhere and moved nothing here.
    #[error("'{what}' changed nothing here that undo could reverse")]
    NothingMoved {
        /// The operation.
        what: String,
        /// The operation before it that an undo would take back, if there is one.
        before: Option<u64>,
    },
    /// No undo is left to take back.
    #[error("nothing to redo{}", since.as_deref().map_or(String::new(), |what| format!(": '{what}' came after the undo")))]
    NothingToRedo {
        /// The operation that came after the newest undo, if one did.
        since: Option<String>,
    },
    /// No operation has this number.
    #[error("no operation {id}")]
    UnknownOperation {
        /// The number.
        id: u64,
    },
    /// An operation that cannot be undone by its number.
    #[error("operation {id} cannot be undone: {reason}")]
    NotUndoable {
        /// The number.
        id: u64,
        /// Why.
        reason: &'static str,
    },
    /// An operation of somebody else's, in a repository where each undoes their own.
    #[error("operation {id} ('{what}') was done by {}, not by you", by.as_deref().unwrap_or("nobody who is known"))]
    NotYours {
        /// The number.
        id: u64,
        /// What it was.
        what: String,
        /// Who did it, if that is known.
        by: Option<String>,
    },
    /// A ref that an operation moved has moved again.
    #[error("operation {id} ('{what}') cannot be undone: '{name}' has moved since{}", by.as_deref().map_or(String::new(), |by| format!(", by {by}")))]
    OperationSuperseded {
        /// The number.
        id: u64,
        /// What it was.
        what: String,
        /// The ref.
        name: String,
        /// Who moved it, if that was somebody else.
        by: Option<String>,
        /// The operation before it, if there is one.
        before: Option<u64>,
    },
    /// A ref held nothing at the moment that was asked for.
    #[error("{name} had no commits yet then")]
    BeforeItsFirst {
        /// Its short name.
        name: String,
    },
    /// The branch has no commit yet.
    #[error("{}", empty_branch(branch, *.is_made))]
    EmptyBranch {
        /// Its short name.
        branch: String,
        /// Whether somebody made it: a `HEAD` is on it, or it had commits. A commit makes any other.
        is_made: bool,
        /// Of one that nobody made, the branch whose name is closest, if one is close.
        nearest: Option<String>,
        /// Of one that nobody made, a remote's branch of that name, such as `origin/idea`.
        remote: Option<String>,
    },
    /// Not a hash's hex digits.
    #[error("'{text}' is not a hash")]
    InvalidHash {
        /// What was given.
        text: String,
    },
    /// Not a ref's name.
    #[error("'{name}' is not a valid name: {reason}")]
    InvalidRefName {
        /// What was given.
        name: String,
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// Not one of the five roles.
    #[error("unknown role '{text}'")]
    UnknownRole {
        /// What was given.
        text: String,
    },
    /// A message with nothing in it.
    #[error("the message is empty")]
    EmptyMessage,
    /// JSON, or what a message holds, nested deeper than can be read again.
    #[error("{what} is nested {levels} levels deep, more than {max}")]
    TooDeep {
        /// What is nested.
        what: String,
        /// How deep.
        levels: usize,
        /// The deepest that goes.
        max: usize,
    },
    /// Text given from outside that is not what it should be.
    #[error("{what}: {detail}")]
    InvalidInput {
        /// What was being read.
        what: String,
        /// What is wrong.
        detail: String,
    },
    /// Several messages where one is asked for.
    #[error("{what}: it holds several messages")]
    SeveralMessages {
        /// What was being read.
        what: String,
    },
    /// A commit while no branch is checked out.
    #[error(
        "Cannot commit in detached HEAD. Use 'tract checkout {branch}' to return to your branch."
    )]
    DetachedHead {
        /// The branch last attached.
        branch: String,
    },
    /// The branch is not where the caller expected it.
    #[error("'{name}' has moved: expected {expected}, found {found}")]
    RefMoved {
        /// The ref.
        name: String,
        /// The expected hash, or `none`.
        expected: String,
        /// The hash that is there, or `none`.
        found: String,
    },
    /// An operation names an entry that is not on this path.
    #[error("{entry} is not on this path")]
    NotOnPath {
        /// The entry's or commit's name.
        entry: String,
    },
    /// A message is named by a commit that brings none, or several.
    #[error("{entry} brings {}: its operation is {operation}", if *messages == 0 { "no message" } else { "several messages" })]
    NoMessage {
        /// The commit's name.
        entry: String,
        /// What it does.
        operation: &'static str,
        /// How many messages it brings.
        messages: usize,
    },
    /// A restore of something that cannot be restored.
    #[error("{commit} cannot be restored: {reason}")]
    NotRestorable {
        /// The target.
        commit: String,
        /// Why.
        reason: &'static str,
    },
    /// What was asked cannot be done here.
    #[error(transparent)]
    Refused(Refusal),
    /// An operation of another path that cannot be done on this one.
    #[error("{commit} ({what}) does not fit here: {reason}")]
    DoesNotFit {
        /// The operation's commit.
        commit: String,
        /// Its word.
        what: &'static str,
        /// Why.
        #[source]
        reason: Refusal,
    },
    /// Messages that two paths changed differently.
    #[error("{}", changed_differently(conflicts))]
    Conflicts {
        /// They.
        conflicts: Vec<Conflict>,
    },
    /// A drop of what only force drops.
    #[error("{what} cannot be dropped")]
    Essential {
        /// The message's part in the conversation.
        what: &'static str,
    },
    /// An append that the budget has no room for.
    #[error("the context would have {total} tokens, and its budget is {max}")]
    OverBudget {
        /// The tokens with what was to be appended.
        total: u64,
        /// The tokens that a context may have.
        max: u64,
    },
    /// A truncation to a budget, where hiding all that may go is not enough.
    #[error("does not fit {tokens} tokens: hiding all that may go leaves {least}")]
    CannotFit {
        /// The tokens that would be left.
        least: u64,
        /// The tokens that were asked for.
        tokens: u64,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file that is in none of the known formats.
    #[error("{}: {}", path.display(), not_known(*known))]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// What it is, where that is known: `a Qwen Code session`.
        known: Option<&'static str>,
    },
    /// A file that begins as JSON and is none.
    #[error("{}: {reason}", path.display())]
    BrokenFile {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// A file with nothing in it.
    #[error("{}: the file is empty", path.display())]
    EmptyFile {
        /// The file.
        path: PathBuf,
    },
    /// A compressed file that was cut, or damaged, before anything in it is whole.
    #[error("{}: nothing in the compressed file is whole", path.display())]
    TornFile {
        /// The file.
        path: PathBuf,
    },
    /// A compressed file that becomes more than one may.
    #[error("{}: its {packed_bytes} bytes become more than {most_mib} MiB", path.display())]
    ExpandsTooFar {
        /// The file.
        path: PathBuf,
        /// How long it is.
        packed_bytes: u64,
        /// What it may become.
        most_mib: u64,
    },
    /// A strict import met something that is wrong.
    #[error("{problems} problems in {}; nothing was imported", path.display())]
    StrictImport {
        /// The file.
        path: PathBuf,
        /// How many.
        problems: u64,
        /// The first of them: line (0 where the format has none) and reason.
        first: Vec<(u64, String)>,
    },
    /// Something that would leave holds secrets.
    #[error("{} in what would be written", leaks(counts))]
    Leaks {
        /// How many of each kind.
        counts: BTreeMap<&'static str, usize>,
        /// The commits that bring them, by their short hashes; none where what brings them is no
        /// message.
        commits: Vec<String>,
    },
    /// A request that would need repairs, while none are allowed.
    #[error("the request would need repairs: {first}")]
    StrictCompile {
        /// The first repair.
        first: String,
    },
    /// Stored or canonical bytes that are not what they should be.
    #[error("malformed {what}: {detail}")]
    Malformed {
        /// What was being read.
        what: &'static str,
        /// What is wrong.
        detail: String,
    },
    /// A bundle that is none, or not as it was written, or says what cannot be.
    #[error("the bundle is not whole: {detail}")]
    BrokenBundle {
        /// What was found.
        detail: String,
    },
    /// A bundle that goes on from commits which are not here.
    #[error("the bundle builds on commits that are not here: {}", short(commits))]
    MissingCommits {
        /// Their hashes.
        commits: Vec<String>,
    },
    /// A ref that was to go on only, and would lose commits.
    #[error("'{name}' would lose commits")]
    NotForward {
        /// The ref.
        name: String,
    },
    /// What a repository is set to let nobody do who pushes.
    #[error("'{name}' stays as it is: {setting} is set here")]
    Denied {
        /// The ref.
        name: String,
        /// The setting.
        setting: &'static str,
    },
    /// What another repository said of a question or an order. Hostile until escaped.
    #[error("the other side: {what}")]
    Peer {
        /// What it said.
        what: String,
        /// What kind of trouble that is.
        trouble: PeerTrouble,
    },
    /// Another repository that fell silent, or says what cannot be. Hostile until escaped.
    #[error("the other side {detail}")]
    BrokenPeer {
        /// What it did.
        detail: String,
    },
    /// The database is damaged.
    #[error("the repository is damaged: {detail}")]
    Damaged {
        /// What was found.
        detail: String,
    },
    /// The file is no tract database.
    #[error("{} is not a tract database", path.display())]
    ForeignDatabase {
        /// The file.
        path: PathBuf,
    },
    /// An older tract wrote this database, in a format that was never released.
    #[error("the repository has format {found}; this program knows only {known}")]
    OlderDatabase {
        /// Its format.
        found: u32,
        /// The one that is known here.
        known: u32,
    },
    /// A repository on a server of the format before, which becomes the newest where its owner opens it.
    #[error("repository format {found} is too old; this tract reads format {known}")]
    AwaitsUpgrade {
        /// Its format.
        found: u32,
        /// The one that is known here.
        known: u32,
    },
    /// A database that was put in place of another, whose journal still lies there: to read it would write
    /// the other's pages into this one.
    #[error("the journal of {} belongs to another file", path.display())]
    ForeignJournal {
        /// The database.
        path: PathBuf,
    },
    /// A backup is not put in place of a repository that has what it lacks.
    #[error("{}", would_lose(*commits))]
    WouldLose {
        /// How many commits; none: nobody can tell, for what is there cannot be read.
        commits: Option<u64>,
    },
    /// A newer tract wrote this database.
    #[error("the repository has format {found}; this program knows up to {known}")]
    NewerDatabase {
        /// Its format.
        found: u32,
        /// The newest that is known here.
        known: u32,
    },
    /// What an import builds on was changed by another process meanwhile.
    #[error("'{name}' was changed by another process at the same time")]
    Overtaken {
        /// The session's ref, or what of it.
        name: String,
    },
    /// Who asked for it wanted it to end.
    #[error("cancelled; no ref has moved")]
    Cancelled,
    /// Another process held the write lock for too long.
    #[error("waited {waited_ms} ms for another process that is writing to the repository")]
    Busy {
        /// How long, in milliseconds.
        waited_ms: u64,
    },
    /// The repository's files, or the disk that they are on, cannot be written to.
    #[error("the repository cannot be written to")]
    ReadOnly,
    /// Something that this program was built without.
    #[error("this tract was built without {what}")]
    NotBuilt {
        /// What it is.
        what: &'static str,
    },
    /// A server that cannot be reached, or lets nobody in.
    #[error("{address}: {reason}")]
    Unreachable {
        /// Where it should be, without a password.
        address: String,
        /// What it says, or the system.
        reason: String,
    },
    /// A server that is there, and that is not talked to.
    #[error("{address}: {trouble}")]
    Server {
        /// Where it is, without a password.
        address: String,
        /// What stands in the way.
        trouble: ServerTrouble,
    },
    /// The connection to a server was lost.
    #[error("the connection to the server was lost{}", became(*during))]
    Disconnected {
        /// What was being done then, and what became of it.
        during: Interrupted,
    },
    /// Something that the programs of a database's server do.
    #[error("{what} is for the server's own programs to make")]
    ServersOwn {
        /// What was asked for.
        what: &'static str,
    },
    /// The storage engine failed.
    #[error("storage: {0}")]
    Store(#[source] Source),
}

/// What a lost connection interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// Nothing was being written. What was written before stands.
    Reading,
    /// A transaction, of which nothing remains.
    Undone,
    /// A commit, and nobody could say whether it was made.
    InDoubt,
}

/// What kind of trouble another repository has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeerTrouble {
    /// It does not allow what was asked.
    Refused,
    /// What it keeps, or what was sent, is damaged.
    Damaged,
    /// Someone was first; it may be tried again.
    Lost,
}

fn would_lose(commits: Option<u64>) -> String {
    match commits {
        Some(1) => "the repository has 1 commit that the backup lacks".to_owned(),
        Some(commits) => format!("the repository has {commits} commits that the backup lacks"),
        None => {
            "what is there cannot be read, and may have commits that the backup lacks".to_owned()
        }
    }
}

/// A message that two paths changed differently. Commits stand here by their short hashes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The operation of the other path.
    pub commit: String,
    /// The message, by its name here.
    pub message: String,
    /// What both did, in a few words.
    pub what: &'static str,
}

/// Why something cannot be done that would be right elsewhere. Commits stand here by their short
/// hashes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A message that would go is pinned.
    #[error("{commit} is pinned")]
    Pinned {
        /// Its commit.
        commit: String,
    },
    /// A message that would have to go along is pinned.
    #[error("{commit}, its tool partner, is pinned")]
    PartnerPinned {
        /// Its commit.
        commit: String,
    },
    /// A message that would go calls a tool and has no result yet.
    #[error("a tool call of {commit} still waits for its result")]
    CallOpen {
        /// Its commit.
        commit: String,
    },
    /// A message has no such part.
    #[error("there is no part #{part}: the last one is #{last}")]
    NoSuchPart {
        /// The part that was named, from 0.
        part: usize,
        /// The last one that there is.
        last: usize,
    },
    /// A reset to before the first commit, off every branch.
    #[error("HEAD is detached, so it must stay on a commit")]
    DetachedRoot,
    /// A reset to `ORIG_HEAD`, which another branch left behind.
    #[error("ORIG_HEAD is where {moved} was, not {branch}")]
    OrigHeadOfOther {
        /// The branch that was moved.
        moved: String,
        /// The one that is to be reset.
        branch: String,
    },
    /// A restore of a message that nothing hides.
    #[error("that message is not hidden")]
    NotHidden,
    /// A restore of a message that only its priority hides.
    #[error("that message is skipped, not hidden by a command")]
    Skipped,
    /// A move to before what is not in the context, or is itself moved.
    #[error(
        "nothing can be put before that message: it is not in the context, or was itself moved there"
    )]
    NoPlace,
    /// A restore of a part that nothing hides.
    #[error("that part is not hidden")]
    PartNotHidden,
    /// A merge of a path that has nothing in common with this one.
    #[error("{name} has nothing in common with this branch")]
    NothingInCommon {
        /// What the other path is called.
        name: String,
    },
    /// A merge while another one has conflicts that are not settled.
    #[error("a merge is under way on this branch")]
    MergeUnderWay,
    /// What only a merge that is under way can be asked for.
    #[error("no merge is under way on this branch")]
    NoMerge,
    /// A conflict is settled of a message that has none.
    #[error("{commit} has no conflict")]
    NoConflict {
        /// The message.
        commit: String,
    },
    /// An operation of another path that changes what is not on this one.
    #[error("it changes {}, not on this branch", listed_few(commits))]
    NotHere {
        /// The messages.
        commits: Vec<String>,
    },
    /// A summary made on another path of what is not on this one.
    #[error("it sums up {}, not on this branch", listed_few(commits))]
    SumsUpMore {
        /// The messages.
        commits: Vec<String>,
    },
    /// An operation of another path that undoes what this one has not.
    #[error("it undoes {commit}, which is not on this branch")]
    UndoesElsewhere {
        /// The hide or the edit.
        commit: String,
    },
    /// A call or a result that would be without the other.
    #[error("{commit} would be without its tool partner")]
    Parted {
        /// The message that would stay.
        commit: String,
    },
    /// A rebase of two histories that share no commit.
    #[error("the two histories have nothing in common")]
    Unrelated,
    /// A rebase onto what goes on from the branch.
    #[error("{commit} already has all that is on '{branch}'")]
    BehindOnto {
        /// Onto where.
        commit: String,
        /// The branch.
        branch: String,
    },
    /// A compaction of a span with nothing to take.
    #[error("nothing to compact")]
    NothingToCompact,
    /// A compaction of what came before the current turn, which is all there is.
    #[error("nothing to compact: the turn since the newest prompt stays, and nothing is before it")]
    OnlyTheTurn,
    /// A compaction of all but the newest messages, where there are no more.
    #[error("nothing to compact: the newest {keep} messages stay, and no other can go")]
    OnlyTheNewest {
        /// How many stay.
        keep: usize,
    },
    /// A compaction right after another one.
    #[error("nothing to compact: at most one message since the last summary")]
    CompactedAlready,
    /// A summary without something that it has to hold.
    #[error("the summary lacks {what}")]
    Lacking {
        /// What it lacks, in a few words.
        what: String,
    },
    /// A span from or to a hidden message.
    #[error("one end of the span is not in the context")]
    EndNotVisible,
    /// A span from a message to an earlier one.
    #[error("the span ends before it begins")]
    EndsBeforeItBegins,
    /// A summary with nothing in it.
    #[error("the summary is empty")]
    EmptySummary,
    /// What was to make a summary has failed.
    #[error("'{maker}' made no summary: {reason}")]
    NoSummary {
        /// What was to make it.
        maker: String,
        /// What became of it.
        reason: String,
    },
    /// No branch or tag has this name.
    #[error("no {kind} '{name}'")]
    NoSuchRef {
        /// Branch or tag.
        kind: &'static str,
        /// Its short name.
        name: String,
    },
    /// A branch that HEAD is on cannot go.
    #[error("{head} is on '{name}': check out another one first")]
    HeadIsOnIt {
        /// Its short name.
        name: String,
        /// Whose HEAD.
        head: String,
    },
    /// Request settings that are hashed with a commit cannot be purged.
    #[error(
        "{commit} has it among its request settings, which are part of its hash and cannot be purged"
    )]
    InSettings {
        /// The commit.
        commit: String,
    },
    /// Something that cannot follow leads to a commit whose note or reason is to be purged.
    #[error("a merge under way leads to {commit}, which a purge of a note would give another name")]
    Noted {
        /// The commit.
        commit: String,
    },
}

fn empty_branch(branch: &str, is_made: bool) -> String {
    match is_made {
        true => format!("'{branch}' has no commits yet"),
        false => format!("no branch '{branch}'"),
    }
}

impl Error {
    /// Wraps an engine's own error.
    pub fn store(error: impl Into<Source>) -> Self {
        Self::Store(error.into())
    }

    /// Something kept is not what it must be.
    pub fn damaged(detail: impl Into<String>) -> Self {
        Self::Damaged {
            detail: detail.into(),
        }
    }

    /// Something that is read is not in its form.
    pub fn malformed(what: &'static str, detail: impl ToString) -> Self {
        let detail = detail.to_string();
        Self::Malformed { what, detail }
    }

    /// Somebody else was first.
    pub fn overtaken(name: impl Into<String>) -> Self {
        Self::Overtaken { name: name.into() }
    }

    /// No commit answers to a text, and no name is close to it.
    pub fn no_commit(text: impl Into<String>) -> Self {
        Self::UnknownRevision {
            text: text.into(),
            nearest: None,
            nothing_yet: false,
        }
    }

    /// Attaches a file's path to a system error.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    /// Something given from outside is wrong.
    pub fn input(what: impl Into<String>, detail: impl ToString) -> Self {
        Self::InvalidInput {
            what: what.into(),
            detail: detail.to_string(),
        }
    }
}

fn changed_differently(conflicts: &[Conflict]) -> String {
    let told = conflicts.iter().take(3);
    let told = told.map(|it| format!("{} by {} ({})", it.message, it.commit, it.what));
    let told = told.collect::<Vec<_>>().join(", ");
    let more = conflicts.len().saturating_sub(3);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("both sides changed the same differently: {told}{more}")
}

/// `a1b2c3d`, `a1b2c3d and 12 more`.
fn listed_few(commits: &[String]) -> String {
    match commits {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [one, rest @ ..] => format!("{one} and {} more", rest.len()),
    }
}

fn became(during: Interrupted) -> &'static str {
    match during {
        Interrupted::Reading => "",
        Interrupted::Undone => "; nothing was written",
        Interrupted::InDoubt => ", and whether the last change was made is not known",
    }
}

/// `3 secrets (2 github-token, 1 aws-access-key)`.
fn leaks(counts: &BTreeMap<&'static str, usize>) -> String {
    let all: usize = counts.values().sum();
    let mut kinds: Vec<_> = counts.iter().collect();
    kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(**count), **kind));
    let kinds = kinds
        .into_iter()
        .map(|(kind, count)| format!("{count} {kind}"));
    let kinds: Vec<String> = kinds.collect();
    let ending = if all == 1 { "" } else { "s" };
    format!("{all} secret{ending}: {}", kinds.join(", "))
}

fn short(commits: &[String]) -> String {
    let short = commits.iter().map(|hash| hash.get(..7).unwrap_or(hash));
    short.collect::<Vec<_>>().join(", ")
}

fn not_known(known: Option<&str>) -> String {
    match known {
        Some(name) => format!("{name}, which tract does not read"),
        None => "not a session in a known format".to_owned(),
    }
}
