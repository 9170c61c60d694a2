-- What an import keeps so that an export gives the same bytes back: the source's bytes in compressed
-- blocks, which records of it are behind a commit, and what is known of the session.

CREATE TABLE sources (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    session     TEXT    NOT NULL,
    format      TEXT    NOT NULL,
    size_bytes  INTEGER NOT NULL,
    fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32)
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
    data       BLOB    NOT NULL
) STRICT;

-- The blocks that a run of bytes touches.
CREATE UNIQUE INDEX source_blocks_by_place ON source_blocks (source, start);

-- spans holds offset and length of each record as variable-length integers.
CREATE TABLE commit_records (
    commit_id INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    source    INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    spans     BLOB    NOT NULL,
    PRIMARY KEY (commit_id, source)
) STRICT, WITHOUT ROWID;

-- absent is a JSON array of words for people.
CREATE TABLE sessions (
    name   TEXT PRIMARY KEY,
    title  TEXT,
    cwd    TEXT,
    absent TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What a resume wrote, so that importing it again continues the same branch.
CREATE TABLE resumes (
    tool      TEXT    NOT NULL,
    session   TEXT    NOT NULL,
    commit_id INTEGER NOT NULL REFERENCES commits (id),
    messages  INTEGER NOT NULL,
    digest    BLOB    NOT NULL CHECK (length(digest) = 32),
    PRIMARY KEY (tool, session)
) STRICT, WITHOUT ROWID;
