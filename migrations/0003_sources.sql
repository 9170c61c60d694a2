-- What an import kept, so that an export gives the same bytes back.
CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    format TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    fingerprint BLOB NOT NULL
) STRICT;

CREATE INDEX sources_by_session ON sources (session, id);

-- The file's bytes in blocks, each zstd-compressed alone, so that a record can be read without the
-- rest.
CREATE TABLE source_blocks (
    source INTEGER NOT NULL REFERENCES sources (id),
    offset INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (source, offset)
) STRICT;

-- Which records are behind a commit: pairs of offset and length, little-endian, 8 bytes each.
CREATE TABLE records (
    commit_id INTEGER NOT NULL REFERENCES commits (id),
    source INTEGER NOT NULL REFERENCES sources (id),
    spans BLOB NOT NULL,
    PRIMARY KEY (commit_id, source)
) STRICT, WITHOUT ROWID;

-- absent: one line for each thing that the file lacks of what the model was sent.
CREATE TABLE sessions (
    name TEXT PRIMARY KEY,
    title TEXT,
    cwd TEXT,
    absent TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE resumes (
    tool TEXT NOT NULL,
    id TEXT NOT NULL,
    commit_id INTEGER NOT NULL REFERENCES commits (id),
    messages INTEGER NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (tool, id)
) STRICT, WITHOUT ROWID;
