-- The objects: messages' contents, commits, and what is derived from them.
--
-- Joins run on integer keys; hashes stand outside as 32-byte blobs, each in one unique index, whose
-- range scans also answer prefixes. Bodies stand in a table of their own, so that a listing reads
-- short rows and never a body.

CREATE TABLE contents (
    id         INTEGER PRIMARY KEY,
    hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    role       INTEGER NOT NULL,
    preview    TEXT    NOT NULL,
    size_bytes INTEGER NOT NULL,
    calls      INTEGER NOT NULL,
    results    INTEGER NOT NULL
) STRICT;

-- encoding: 0 the canonical bytes, 1 the same in zstd.
CREATE TABLE bodies (
    content  INTEGER PRIMARY KEY REFERENCES contents (id) ON DELETE CASCADE,
    encoding INTEGER NOT NULL,
    body     BLOB    NOT NULL
) STRICT;

-- A lineage is a line of commits without a fork; a second child opens one. fork_depth is the depth
-- of the last commit that it shares with its parent lineage.
CREATE TABLE lineages (
    id         INTEGER PRIMARY KEY,
    parent     INTEGER REFERENCES lineages (id),
    fork_depth INTEGER,
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
    canonical TEXT    NOT NULL
) STRICT;

-- Walking back: a range scan.
CREATE UNIQUE INDEX commits_by_place ON commits (lineage, depth);

-- "Was this message appended here before?", which a repeated import asks for each message.
CREATE INDEX commits_by_append ON commits (parent, content) WHERE content IS NOT NULL;

-- mask is empty for a whole content.
CREATE TABLE counts (
    content   INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    encoding  INTEGER NOT NULL,
    mask      BLOB    NOT NULL,
    tokens    INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    PRIMARY KEY (content, encoding, mask)
) STRICT, WITHOUT ROWID;

-- Derived: any row may be deleted. data names commits by their place, so it is small: a run of
-- plain appends is three numbers.
CREATE TABLE checkpoints (
    commit_id INTEGER PRIMARY KEY REFERENCES commits (id) ON DELETE CASCADE,
    lineage   INTEGER NOT NULL,
    depth     INTEGER NOT NULL,
    data      BLOB    NOT NULL
) STRICT;

-- The newest checkpoint on a path.
CREATE UNIQUE INDEX checkpoints_by_place ON checkpoints (lineage, depth);

-- What the provider counted.
CREATE TABLE usage (
    commit_id     INTEGER PRIMARY KEY REFERENCES commits (id) ON DELETE CASCADE,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL
) STRICT;
