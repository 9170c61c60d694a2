-- Objects and what is derived from them.
--
-- Inside, rows are joined by integer; hashes stand outside, as 32-byte blobs with a unique index.
-- Bodies have a table of their own, so that a listing, which needs roles, previews and counts, never
-- pages through message text.
CREATE TABLE contents (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    role TEXT NOT NULL,
    preview TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    results INTEGER NOT NULL
) STRICT;

-- form: 0 plain, 1 zstd.
CREATE TABLE bodies (
    content INTEGER PRIMARY KEY REFERENCES contents (id),
    form INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;

-- A line of history. A commit's first child goes on in its parent's lineage; every further child
-- opens one. So an ancestor is a range of depths and a few hops, not a walk.
CREATE TABLE lineages (
    id INTEGER PRIMARY KEY,
    parent INTEGER REFERENCES lineages (id),
    fork_depth INTEGER
) STRICT;

-- canonical: the commit's canonical bytes, from which everything else in the row follows.
CREATE TABLE commits (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    parent INTEGER REFERENCES commits (id),
    lineage INTEGER NOT NULL REFERENCES lineages (id),
    depth INTEGER NOT NULL,
    content INTEGER REFERENCES contents (id),
    canonical TEXT NOT NULL
) STRICT;

-- Walking back: a range scan of one lineage.
CREATE UNIQUE INDEX commits_by_place ON commits (lineage, depth);
-- Finding the same message after the same parent, when a copied history is imported.
CREATE INDEX commits_by_append ON commits (parent, content);

-- mask: empty for the whole content, else the name of the set of its hidden parts.
CREATE TABLE counts (
    content INTEGER NOT NULL REFERENCES contents (id),
    mask BLOB NOT NULL,
    encoding TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    PRIMARY KEY (content, mask, encoding)
) STRICT, WITHOUT ROWID;

-- The visible list at a commit. Placed like the commit, so that the newest one on a path is the
-- last of a range.
CREATE TABLE checkpoints (
    lineage INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (lineage, depth)
) STRICT;

-- What the provider counted for a reply.
CREATE TABLE usages (
    commit_id INTEGER PRIMARY KEY REFERENCES commits (id),
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL
) STRICT;
