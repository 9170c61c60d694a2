//! The tables, each described once: its columns, what is in it, what a repair and a purge do to it.
//!
//! `migrations/` makes them; a test of each engine holds that they have the columns that are said here.
//! Whatever treats tables alike, in any engine, goes by these descriptions. Deliberately absent: SQL.

use super::RoomOf;

/// What a repair does to the rows of a table that are not as they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    /// They are set aside: nothing else can make them again.
    Aside,
    /// A step of its own makes them again from the rest.
    Again,
    /// Every row goes, damaged or not; each comes again when it is needed.
    Drop,
    /// They stay, and are sealed as they are: nothing follows from them.
    Reseal,
}

/// What becomes of a table's rows where contents are erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purge {
    /// Nothing by itself.
    Stay,
    /// The rows of an erased content go, by their column `content`.
    OfContent,
    /// All rows go with any content or commit that is taken out: they were summed up from it.
    Sums,
    /// A purge empties it: any row may quote what is erased.
    Empty,
}

/// A kind of engine that has a table alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Only {
    Files,
    Servers,
}

/// A table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: &'static str,
    /// Its columns in their order, but for a seal and what a seal does not cover. The first tells rows apart.
    pub(super) columns: &'static [&'static str],
    /// As what its room is counted.
    pub(super) room: RoomOf,
    /// What people call what is in it, if all of it can be made again from the rest.
    pub(super) derived: Option<&'static str>,
    pub(super) repair: Repair,
    pub(super) purge: Purge,
    /// Whether its rows bear seals, where an engine has them.
    pub(super) is_sealed: bool,
    /// The one kind of engine that has it; none: all have it.
    pub(super) only: Option<Only>,
    /// Whether its key may be longer than a server's index can hold.
    pub(super) has_long_key: bool,
}

impl Table {
    /// A table of what cannot be made again.
    const fn of(name: &'static str, columns: &'static [&'static str], room: RoomOf) -> Self {
        Self {
            name,
            columns,
            room,
            derived: None,
            repair: Repair::Aside,
            purge: Purge::Stay,
            is_sealed: true,
            only: None,
            has_long_key: false,
        }
    }

    /// A table of what follows from the rest.
    const fn derived(
        name: &'static str,
        columns: &'static [&'static str],
        what: &'static str,
    ) -> Self {
        let mut table = Self::of(name, columns, RoomOf::Derived);
        table.derived = Some(what);
        table.repair(Repair::Again)
    }

    const fn repair(mut self, repair: Repair) -> Self {
        self.repair = repair;
        self
    }

    const fn purge(mut self, purge: Purge) -> Self {
        self.purge = purge;
        self
    }

    const fn room(mut self, room: RoomOf) -> Self {
        self.room = room;
        self
    }

    const fn unsealed(mut self) -> Self {
        self.is_sealed = false;
        self
    }

    const fn only(mut self, only: Only) -> Self {
        self.only = Some(only);
        self
    }

    const fn long_key(mut self) -> Self {
        self.has_long_key = true;
        self
    }

    /// The column that tells rows apart.
    pub(super) fn key(&self) -> &'static str {
        self.columns[0]
    }

    /// The columns as a statement lists them.
    pub(super) fn listed(&self) -> String {
        self.columns.join(",")
    }
}

// What is [remembered](super::Remembered) by a name; a column `commit_id` of these names a commit.

/// The configuration.
pub(super) static CONFIG: Table = Table::of("config", &["key", "value"], RoomOf::Names);
/// The branches that follow sessions.
pub(super) static FOLLOWERS: Table = Table::of("followers", &["session", "branch"], RoomOf::Names);
/// The notes of annotated tags.
pub(super) static TAG_NOTES: Table = Table::of(
    "tag_notes",
    &["tag", "commit_id", "time", "note"],
    RoomOf::Names,
);
/// What is known of imported sessions.
pub(super) static SESSIONS: Table = Table::of(
    "sessions",
    &["name", "title", "cwd", "absent"],
    RoomOf::Sources,
);
/// What sessions began with whose files are not here: a purge erased them, or they stayed where the sessions were imported.
pub(super) static ORIGINS: Table = Table::of(
    "origins",
    &["name", "source", "began", "copied_from"],
    RoomOf::Sources,
);
/// Which sessions started others whose files are not here, by the latter.
pub(super) static STARTERS: Table = Table::of("starters", &["agent", "starter"], RoomOf::Sources);
/// What usage records say beyond tokens, by the commits of their replies.
pub(super) static USAGE_DETAILS: Table = Table::of(
    "usage_details",
    &["reply", "commit_id", "detail"],
    RoomOf::Names,
);
/// Messages that a client wrote in the user's name, by what its records said elsewhere, by their commits.
pub(super) static INJECTED: Table = Table::of("injected", &["message", "commit_id"], RoomOf::Names);
/// What clients say that all requests of a session came to.
pub(super) static STATED_USAGE: Table =
    Table::of("stated_usage", &["name", "stated"], RoomOf::Sources);
/// Files as they came in.
pub(super) static FOLLOWED: Table = Table::derived(
    "followed",
    &[
        "path",
        "source",
        "size_bytes",
        "modified_ns",
        "file",
        "hashed",
        "settings",
        "time",
    ],
    "followed files",
)
.repair(Repair::Drop)
.long_key();
/// Replies as they were billed last.
pub(super) static BILLED: Table = Table::derived(
    "billed",
    &["name", "tip", "until", "replies"],
    "replies as they were billed",
)
.repair(Repair::Drop)
.purge(Purge::Empty)
.only(Only::Files);
/// Files that could not be read.
pub(super) static UNREAD: Table = Table::derived(
    "unread",
    &["path", "why", "time"],
    "files that could not be read",
)
.repair(Repair::Drop)
.purge(Purge::Empty)
.long_key();

/// Sessions that are recorded.
pub(super) static RECORDINGS: Table = Table::derived(
    "recordings",
    &["session", "until"],
    "sessions that are recorded",
)
.repair(Repair::Drop);

/// What contexts come to, by the place of their commits.
pub(super) static TOTALS: Table = Table::derived(
    "totals",
    &[
        "lineage",
        "depth",
        "encoding",
        "messages",
        "tokens",
        "estimates",
    ],
    "totals",
)
.repair(Repair::Drop)
.purge(Purge::Sums);
/// Contexts summed up, likewise.
pub(super) static SUMMARIES: Table = Table::derived(
    "summaries",
    &["lineage", "depth", "encoding", "data"],
    "totals",
)
.repair(Repair::Drop)
.purge(Purge::Sums);

/// Stretches of contents whose words are in the index.
pub(super) static SEGMENTS: Table = Table::derived(
    "segments",
    &["last", "since", "size_bytes"],
    "the words of messages",
)
.room(RoomOf::Index)
.repair(Repair::Drop);
/// Their words, in blocks.
pub(super) static WORDS: Table = Table::derived(
    "words",
    &["id", "segment", "word", "data"],
    "the words of messages",
)
.room(RoomOf::Index)
.repair(Repair::Drop);

/// All of them, by name.
pub(super) static TABLES: [&Table; 45] = [
    &Table::of(
        "adopted",
        &["id", "session", "theirs", "ours"],
        RoomOf::Names,
    ),
    &Table::of(
        "authors",
        &["operation", "name", "client", "run"],
        RoomOf::Names,
    ),
    &BILLED,
    &Table::of("bodies", &["content", "encoding", "body"], RoomOf::Messages).unsealed(),
    &Table::derived(
        "checkpoints",
        &["commit_id", "lineage", "depth", "data"],
        "checkpoints",
    ),
    &Table::of("checks", &["id", "time"], RoomOf::Names)
        .repair(Repair::Reseal)
        .only(Only::Files),
    &Table::of("collections", &["id", "times", "operation"], RoomOf::Names)
        .repair(Repair::Again)
        .only(Only::Files),
    &Table::of(
        "commit_records",
        &["commit_id", "source", "spans"],
        RoomOf::Sources,
    ),
    &Table::of(
        "commits",
        &["id", "hash", "lineage", "depth", "parent", "content"],
        RoomOf::Commits,
    )
    .repair(Repair::Again),
    &CONFIG,
    &Table::of(
        "contents",
        &[
            "id",
            "hash",
            "role",
            "preview",
            "size_bytes",
            "calls",
            "results",
        ],
        RoomOf::Listings,
    )
    .repair(Repair::Again),
    &Table::derived(
        "counts",
        &["content", "encoding", "mask", "tokens", "estimated"],
        "token counts",
    )
    .purge(Purge::OfContent),
    &Table::of(
        "dictionaries",
        &["id", "trained", "offered", "size_bytes", "data"],
        RoomOf::Messages,
    )
    .only(Only::Files),
    &FOLLOWED,
    &FOLLOWERS,
    &INJECTED,
    &Table::of(
        "lineages",
        &["id", "parent", "fork_depth", "changes"],
        RoomOf::Commits,
    )
    .repair(Repair::Again),
    &Table::of(
        "operations",
        &["id", "time", "what", "undoes", "redoes"],
        RoomOf::Names,
    )
    .repair(Repair::Again),
    &ORIGINS,
    &Table::of(
        "packs",
        &["id", "first", "last", "size_bytes", "data"],
        RoomOf::Messages,
    )
    .only(Only::Files),
    &Table::of("purges", &["operation"], RoomOf::Names),
    &Table::of("quarantine", &["id", "origin", "statement"], RoomOf::Aside)
        .repair(Repair::Reseal)
        .purge(Purge::Empty)
        .only(Only::Files),
    &RECORDINGS,
    &Table::of(
        "reflog",
        &[
            "id",
            "operation",
            "name",
            "old_target",
            "old_symbolic",
            "new_target",
            "new_symbolic",
        ],
        RoomOf::Names,
    )
    .repair(Repair::Again),
    &Table::of("refs", &["name", "target", "symbolic"], RoomOf::Names).repair(Repair::Again),
    &Table::of(
        "resumes",
        &["tool", "session", "commit_id", "messages", "digest"],
        RoomOf::Names,
    ),
    &Table::of("search", &["pieces"], RoomOf::Index)
        .repair(Repair::Again)
        .unsealed(),
    &SEGMENTS,
    &SESSIONS,
    &Table::of(
        "source_blocks",
        &["id", "source", "start", "size_bytes", "encoding", "data"],
        RoomOf::Sources,
    )
    .repair(Repair::Again),
    &Table::of(
        "sources",
        &["id", "session", "format", "size_bytes", "fingerprint"],
        RoomOf::Sources,
    )
    .repair(Repair::Again),
    &STARTERS,
    &STATED_USAGE,
    &SUMMARIES,
    &TAG_NOTES,
    &Table::derived("tool_uses", &["content", "uses"], "calls of tools")
        .room(RoomOf::Listings)
        .purge(Purge::OfContent),
    &TOTALS,
    &Table::of("tract_repository", &[], RoomOf::Names)
        .unsealed()
        .only(Only::Servers),
    &Table::of("transactions", &["number", "token"], RoomOf::Derived)
        .unsealed()
        .only(Only::Servers),
    &Table::of("turns", &["id", "writes"], RoomOf::Derived)
        .unsealed()
        .only(Only::Servers),
    &UNREAD,
    &Table::of("unscrubbed", &["operation"], RoomOf::Names)
        .unsealed()
        .only(Only::Files),
    &Table::of(
        "usage",
        &[
            "commit_id",
            "input_tokens",
            "output_tokens",
            "cached_tokens",
            "written_tokens",
            "written_hour_tokens",
            "reasoning_tokens",
        ],
        RoomOf::Names,
    ),
    &USAGE_DETAILS,
    &WORDS,
];

/// The table of this name.
pub(super) fn named(name: &str) -> Option<&'static Table> {
    let at = TABLES.binary_search_by(|table| table.name.cmp(name));
    at.ok().map(|at| TABLES[at])
}

/// The tables for which a purge does this.
pub(super) fn purged(purge: Purge, without: Only) -> impl Iterator<Item = &'static Table> {
    let wanted = move |table: &&&Table| table.purge == purge && table.only != Some(without);
    TABLES.iter().filter(wanted).copied()
}

/// The tables that a repair empties.
pub(super) fn dropped(without: Only) -> impl Iterator<Item = &'static Table> {
    let wanted = move |table: &&&Table| table.repair == Repair::Drop && table.only != Some(without);
    TABLES.iter().filter(wanted).copied()
}
