-- The tables of a repository in a file.
--
-- Joins run on integer keys; hashes stand outside as 32-byte blobs, each in one unique index, whose
-- range scans also answer prefixes.
--
-- seal: a checksum of the row's other columns, for rows whose bytes no object's hash covers: sealed(...) of
-- them in their order, but for a commit's canonical text. A flipped byte in a ref, a count, a preview or a
-- place in a lineage would be an answer like any other without it; with it, it is damage. A checksum of 32
-- bits, for what breaks by itself. Bodies have none: their hash is their name.
--
-- There is no trigger and no view: both are switched off, so that one that somebody planted in the file does
-- nothing.

-- Objects: messages' contents and commits, and what is derived from them.

-- role: 8 higher where a client attached the message to another (the field `attached` of its content), so
-- that plans need no body to know of it.
CREATE TABLE contents (
    id         INTEGER PRIMARY KEY,
    hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    role       INTEGER NOT NULL,
    preview    TEXT    NOT NULL,
    size_bytes INTEGER NOT NULL,
    calls      INTEGER NOT NULL,
    results    INTEGER NOT NULL,
    seal       INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What may be erased, so that an import asks at once whether anything is: it may have come so from elsewhere.
CREATE INDEX contents_erased ON contents (id) WHERE preview = '[purged]';

-- Bodies stand in a table of their own, so that a listing reads short rows and never a body.
-- encoding: 0 the canonical bytes, 1 the same in zstd, from 2 on the number of the dictionary that they lean on.
CREATE TABLE bodies (
    content  INTEGER PRIMARY KEY REFERENCES contents (id) ON DELETE CASCADE,
    encoding INTEGER NOT NULL,
    body     BLOB    NOT NULL
) STRICT;

-- What many messages have in common, so that each takes fewer bytes: a dictionary for zstd, which a
-- collection makes of the messages that are here. A body whose encoding is the number of one leans on it.
--
-- It holds pieces of messages whose numbers are up to `trained`: where one of those is erased, all
-- dictionaries are, and every body that leans on one is packed anew in the same transaction. No number is
-- given twice, for readers keep what they have read. `offered`: the last message that was packed with it
-- if that made it smaller; `size_bytes`: what all messages had when it was made.
CREATE TABLE dictionaries (
    id         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 1),
    trained    INTEGER NOT NULL,
    offered    INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    data       BLOB    NOT NULL,
    seal       INTEGER NOT NULL
) STRICT;

-- How a message uses tools, in brief: each call with its tool and a line of it, and which calls its
-- results answer. A listing says beside a result what was called, and that stands in another message:
-- without this, both bodies would be read for one line.
--
-- Derived data, so a row may be missing: then nothing is said. uses is a JSON text.
CREATE TABLE tool_uses (
    content INTEGER PRIMARY KEY REFERENCES contents (id) ON DELETE CASCADE,
    uses    TEXT    NOT NULL,
    seal    INTEGER NOT NULL
) STRICT;

-- Derived: tokens that were counted here. mask is empty for a whole content.
CREATE TABLE counts (
    content   INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    encoding  INTEGER NOT NULL,
    mask      BLOB    NOT NULL,
    tokens    INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    seal      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (content, encoding, mask)
) STRICT, WITHOUT ROWID;

-- A lineage is a line of commits without a fork; a second child opens one. fork_depth is the depth
-- of the last commit that it shares with its parent lineage.
--
-- changes: how many of a lineage's commits append nothing. The index of those (`commits_not_append`) is read alone
-- where it is asked what changed a path, and nothing beside it says what it has lost: so the lineage says how many
-- there are.
CREATE TABLE lineages (
    id         INTEGER PRIMARY KEY,
    parent     INTEGER REFERENCES lineages (id),
    fork_depth INTEGER,
    seal       INTEGER NOT NULL DEFAULT 0,
    changes    INTEGER NOT NULL DEFAULT 0,
    CHECK ((parent IS NULL) = (fork_depth IS NULL))
) STRICT;

-- content is what an append appends, and null for other operations.
CREATE TABLE commits (
    id        INTEGER PRIMARY KEY,
    hash      BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    lineage   INTEGER NOT NULL REFERENCES lineages (id),
    depth     INTEGER NOT NULL,
    parent    INTEGER REFERENCES commits (id),
    content   INTEGER REFERENCES contents (id),
    canonical TEXT    NOT NULL,
    seal      INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Walking back: a range scan.
CREATE UNIQUE INDEX commits_by_place ON commits (lineage, depth);

-- "Was this message appended here before?", which a repeated import asks for each message; with the content
-- first also "who appends this content?", which a search asks for each that may match.
CREATE INDEX commits_by_append ON commits (content, parent) WHERE content IS NOT NULL;

-- The commits that edit, hide, restore or annotate, by their place on the way: which messages there are at a
-- commit, and what became of each, follows from these few alone, so that a window of a long conversation is
-- known without a look at the rest. A search reads all of them, for they name contents only inside their text.
CREATE INDEX commits_not_append ON commits (lineage, depth) WHERE content IS NULL;

-- What the provider counted: what was read from a cache and written to it is part of the input, what was
-- written for an hour part of that, reasoning part of the output.
CREATE TABLE usage (
    commit_id           INTEGER PRIMARY KEY REFERENCES commits (id) ON DELETE CASCADE,
    input_tokens        INTEGER NOT NULL,
    output_tokens       INTEGER NOT NULL,
    cached_tokens       INTEGER NOT NULL,
    written_tokens      INTEGER NOT NULL,
    written_hour_tokens INTEGER NOT NULL,
    reasoning_tokens    INTEGER NOT NULL,
    seal                INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What a usage record says beyond the tokens of one request: the other requests behind a reply, searches of the web, tokens
-- of pictures and sound. Few replies have it. reply is the hash of the commit, detail a JSON text.
CREATE TABLE usage_details (
    reply     TEXT    PRIMARY KEY,
    commit_id INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    detail    TEXT    NOT NULL,
    seal      INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- What a client says that all requests of a session came to, by the session's ref: a JSON text.
CREATE TABLE stated_usage (
    name   TEXT    PRIMARY KEY,
    stated TEXT    NOT NULL,
    seal   INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- The replies on a ref's path that a provider counted, as tract cost read them last: all costs ask for those of all refs. tip is
-- the commit to which the ref led, until the newest commit that was here then. All of it can be made again from the rest.
CREATE TABLE billed (
    name    TEXT    PRIMARY KEY,
    tip     BLOB    NOT NULL CHECK (length(tip) = 32),
    until   INTEGER NOT NULL,
    replies BLOB    NOT NULL,
    seal    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX billed_by_until ON billed (until);

-- Derived: any row may be deleted. data names commits by their place, so it is small: a run of
-- plain appends is three numbers.
CREATE TABLE checkpoints (
    commit_id INTEGER PRIMARY KEY REFERENCES commits (id) ON DELETE CASCADE,
    lineage   INTEGER NOT NULL,
    depth     INTEGER NOT NULL,
    data      BLOB    NOT NULL,
    seal      INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The newest checkpoint on a path.
CREATE UNIQUE INDEX checkpoints_by_place ON checkpoints (lineage, depth);

-- What the visible messages at a commit come to, so that a listing sums up nothing: kept where it was
-- summed up once, found by the commit's place; between two of them a listing adds a few counts.
-- Derived: any row may be deleted, and all are where a content is erased or a commit taken out.
CREATE TABLE totals (
    lineage   INTEGER NOT NULL,
    depth     INTEGER NOT NULL,
    encoding  INTEGER NOT NULL,
    messages  INTEGER NOT NULL,
    tokens    INTEGER NOT NULL,
    estimates INTEGER NOT NULL,
    seal      INTEGER NOT NULL,
    PRIMARY KEY (lineage, encoding, depth)
) STRICT, WITHOUT ROWID;

-- What the visible messages at a commit come to by role, which is the largest, and how many messages are
-- hidden by what: kept where a status had to sum it up, found by the commit's place; the messages appended
-- since are added. Without it a status reads a row of each visible message, however many there are.
-- Derived: any row may be deleted, and all are where a content is erased or a commit taken out.
CREATE TABLE summaries (
    lineage  INTEGER NOT NULL,
    depth    INTEGER NOT NULL,
    encoding INTEGER NOT NULL,
    data     BLOB    NOT NULL,
    seal     INTEGER NOT NULL,
    PRIMARY KEY (lineage, encoding, depth)
) STRICT, WITHOUT ROWID;

-- The search index: which contents hold which short pieces of text, so that a search reads only the
-- bodies that may match. It is derived data, filled by the first search after a content came in; the
-- greatest rowid says how far it is. rowid is contents.id, which may be given again once its content is gone:
-- whoever erases a content says so to the index.
--
-- Pieces are three characters (two within Chinese, Japanese and Korean text) that no white space or
-- punctuation parts, folded and hashed by the program; every match is checked against the body.
-- Nothing but "this piece is in this content" is kept: no positions, no columns, no text. Measured
-- on agents' sessions: 0.05 bytes per byte of session file, 0.2 per byte of text; with pieces over
-- white space and punctuation twice that, with positions ten times. Whole words took 0.03, but
-- "config" would not have found "parseConfig".
CREATE VIRTUAL TABLE search USING fts5 (
    pieces,
    content = '',
    contentless_delete = 1,
    detail = none,
    tokenize = 'ascii'
);

-- The index of a ranked search: which words stand in which contents, and what each is worth there. A segment
-- holds the words of the contents whose numbers are above since, up to last; the next one goes on from there, and
-- what is above all of them is not in the index yet. An import makes a segment of what it takes in; several of a
-- size become one.
--
-- A block holds words in the order of their bytes, from word on, each with its contents: whole blocks go over to
-- the program, which knows how they are written. So no word costs a row, and a search reads a few blocks.
-- Derived: any segment may be deleted with all above it; a purge takes the words of what it erases out.
CREATE TABLE segments (
    last       INTEGER PRIMARY KEY,
    since      INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    seal       INTEGER NOT NULL
) STRICT;

CREATE TABLE words (
    id      INTEGER PRIMARY KEY,
    segment INTEGER NOT NULL,
    word    BLOB    NOT NULL,
    data    BLOB    NOT NULL,
    seal    INTEGER NOT NULL
) STRICT;

-- The block of a segment that holds a word.
CREATE UNIQUE INDEX words_by_place ON words (segment, word);

-- Names that point at commits, and the log of their moves, from which undo works: each command is
-- an operation, and each ref that it moved has a row with what it held before and since.

-- Exactly one of target and symbolic is there.
--
-- active: when a branch was worked on last, so that a page of their list costs the same however many there are: the time of
-- the newest of the last 64 commits that has one, -2^63 where none has. No seal covers it.
CREATE TABLE refs (
    name     TEXT PRIMARY KEY,
    target   INTEGER REFERENCES commits (id),
    symbolic TEXT,
    seal     INTEGER NOT NULL DEFAULT 0,
    active   INTEGER,
    CHECK ((target IS NULL) <> (symbolic IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX refs_by_activity ON refs (active DESC, name) WHERE name >= 'refs/heads/' AND name < 'refs/heads0';

-- Numbers are never used twice, so that an undo can name one. undoes, redoes: what an undo or redo reversed,
-- so that the next one knows where to go on; an operation that is neither has neither.
CREATE TABLE operations (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    time   INTEGER NOT NULL,
    what   TEXT    NOT NULL,
    undoes INTEGER REFERENCES operations (id),
    redoes INTEGER REFERENCES operations (id),
    seal   INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Who did an operation: a name, the program, and what that was about then. Of one that is not here, that was not said.
CREATE TABLE authors (
    operation INTEGER PRIMARY KEY REFERENCES operations (id),
    name      TEXT,
    client    TEXT,
    run       TEXT,
    seal      INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Where both old columns are null, the ref did not exist; where both new ones are, it was deleted.
CREATE TABLE reflog (
    id           INTEGER PRIMARY KEY,
    operation    INTEGER NOT NULL REFERENCES operations (id),
    name         TEXT    NOT NULL,
    old_target   INTEGER REFERENCES commits (id),
    old_symbolic TEXT,
    new_target   INTEGER REFERENCES commits (id),
    new_symbolic TEXT,
    seal         INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The moves of one ref, newest first; a row's id follows the name in the index.
CREATE INDEX reflog_by_name ON reflog (name);

-- What one operation moved.
CREATE INDEX reflog_by_operation ON reflog (operation);

-- The purges by their operations: no undo goes back behind one.
CREATE TABLE purges (
    operation INTEGER PRIMARY KEY REFERENCES operations (id),
    seal      INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The purges after which the files were not rewritten yet: what was erased may stand in a free page or
-- in the journal. A purge that is killed before that, or cannot do it because another process reads,
-- leaves it to the next one that writes. A row says nothing but that, so none is sealed.
CREATE TABLE unscrubbed (
    operation INTEGER PRIMARY KEY
) STRICT;

-- What collections have taken out: how many did take anything out, so that an import which goes on in
-- several transactions knows that what it left here may be gone; and the operation that stands for all
-- before it, whose moves are where each ref was then. One row or none.
CREATE TABLE collections (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    times     INTEGER NOT NULL,
    operation INTEGER REFERENCES operations (id),
    seal      INTEGER NOT NULL
) STRICT;

-- What a repair sets aside: rows that are not as they were written and that nothing else can make again.
-- Each stands here as the statement that would put it back, so that nothing is thrown away and none of it
-- is in the way of what is whole. A purge empties it: nobody knows what a damaged row holds.
CREATE TABLE quarantine (
    id        INTEGER PRIMARY KEY,
    origin    TEXT    NOT NULL,
    statement TEXT    NOT NULL,
    seal      INTEGER NOT NULL
) STRICT;

-- When everything was checked last and found whole: no operation, for nothing changed by it.
CREATE TABLE checks (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    time INTEGER NOT NULL,
    seal INTEGER NOT NULL
) STRICT;

-- What people set. What the program remembers of commits has tables of its own, so that whoever collects or
-- copies commits sees each that is named.
CREATE TABLE config (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    seal  INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- A note counts while the tag points at this commit, so that undoing the tag undoes it too.
CREATE TABLE tag_notes (
    tag       TEXT    PRIMARY KEY,
    commit_id INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    time      INTEGER NOT NULL,
    note      TEXT    NOT NULL,
    seal      INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- The branch that an import moves along with a session.
CREATE TABLE followers (
    session TEXT PRIMARY KEY,
    branch  TEXT NOT NULL,
    seal    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- A commit of a session, and the commit on somebody's branch that it became.
CREATE TABLE adopted (
    id      INTEGER PRIMARY KEY,
    session TEXT    NOT NULL,
    theirs  INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    ours    INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    seal    INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What was taken over of one session.
CREATE INDEX adopted_by_session ON adopted (session);

-- What an import keeps so that an export gives the same bytes back: the source's bytes in compressed
-- blocks, which records of it are behind a commit, and what is known of the session.

CREATE TABLE sources (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    session     TEXT    NOT NULL,
    format      TEXT    NOT NULL,
    size_bytes  INTEGER NOT NULL,
    fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    seal        INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The sources of a session, newest first.
CREATE INDEX sources_by_session ON sources (session);

-- encoding: 0 the bytes, 1 the same in zstd. size_bytes is their number before compression.
CREATE TABLE source_blocks (
    id         INTEGER PRIMARY KEY,
    source     INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    start      INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    encoding   INTEGER NOT NULL,
    data       BLOB    NOT NULL,
    seal       INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The blocks that a run of bytes touches.
CREATE UNIQUE INDEX source_blocks_by_place ON source_blocks (source, start);

-- spans holds offset and length of each record as variable-length integers.
CREATE TABLE commit_records (
    commit_id INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    source    INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    spans     BLOB    NOT NULL,
    seal      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (commit_id, source)
) STRICT, WITHOUT ROWID;

-- absent is a JSON array of words for people.
CREATE TABLE sessions (
    name   TEXT PRIMARY KEY,
    title  TEXT,
    cwd    TEXT,
    absent TEXT NOT NULL,
    seal   INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- The sessions that ran in a directory: whose HEAD is its own, and where it is.
CREATE INDEX sessions_by_cwd ON sessions (cwd) WHERE cwd IS NOT NULL;

-- What a session's file began with, where none of it is kept, for a purge erased it: whose copy it is and since when it is
-- there tells which of two sessions made what both hold. source is the number that the file had.
CREATE TABLE origins (
    name        TEXT PRIMARY KEY,
    source      INTEGER,
    began       INTEGER,
    copied_from TEXT,
    seal        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- What a resume wrote, so that importing it again continues the same branch.
CREATE TABLE resumes (
    tool      TEXT    NOT NULL,
    session   TEXT    NOT NULL,
    commit_id INTEGER NOT NULL REFERENCES commits (id),
    messages  INTEGER NOT NULL,
    digest    BLOB    NOT NULL CHECK (length(digest) = 32),
    seal      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tool, session)
) STRICT, WITHOUT ROWID;

-- What is needed to go on with a session's file that grows without reading again what is here of it: as how
-- large and when it came in, where the hash of its bytes stood (at its last whole block of 64 bytes, so that
-- no text of the file is in here), and the settings in force at its end.
-- Derived: any row may be deleted; the file is then read from its beginning once more.
CREATE TABLE followed (
    path        TEXT    PRIMARY KEY,
    source      INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    size_bytes  INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    file        INTEGER NOT NULL,
    hashed      BLOB    NOT NULL,
    settings    TEXT    NOT NULL,
    time        INTEGER NOT NULL,
    seal        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Found where a source goes, and its rows with it.
CREATE INDEX followed_by_source ON followed (source);

-- The tools' files that could not be read when they were last looked at, since when, and why: a watch names such
-- a file once, on a terminal that nobody may look at; status says it for as long as the file is there.
-- Derived: any row may be deleted; the next look at the file writes it again. A purge deletes all of them, for
-- the reasons may quote what it erases.
CREATE TABLE unread (
    path TEXT    PRIMARY KEY,
    why  TEXT    NOT NULL,
    time INTEGER NOT NULL,
    seal INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Until when a session that is recorded is taken for one that still goes on, so that whoever reads it shows its
-- calls as running. The recorder puts it off as long as it lives, and sets it back when the stream ends.
-- Derived: any row may be deleted; the session is then judged by the time of its last message.
CREATE TABLE recordings (
    session TEXT    PRIMARY KEY,
    until   INTEGER NOT NULL,
    seal    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
