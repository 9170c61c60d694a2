-- Names that point at commits, and the log of their moves, from which undo works: each command is
-- an operation, and each ref that it moved has a row with what it held before and since.

-- Exactly one of target and symbolic is there.
CREATE TABLE refs (
    name     TEXT PRIMARY KEY,
    target   INTEGER REFERENCES commits (id),
    symbolic TEXT,
    CHECK ((target IS NULL) <> (symbolic IS NULL))
) STRICT, WITHOUT ROWID;

-- Numbers are never used twice, so that an undo can name one.
CREATE TABLE operations (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    time INTEGER NOT NULL,
    what TEXT    NOT NULL
) STRICT;

-- Where both old columns are null, the ref did not exist; where both new ones are, it was deleted.
CREATE TABLE reflog (
    id           INTEGER PRIMARY KEY,
    operation    INTEGER NOT NULL REFERENCES operations (id),
    name         TEXT    NOT NULL,
    old_target   INTEGER REFERENCES commits (id),
    old_symbolic TEXT,
    new_target   INTEGER REFERENCES commits (id),
    new_symbolic TEXT
) STRICT;

-- The moves of one ref, newest first; a row's id follows the name in the index.
CREATE INDEX reflog_by_name ON reflog (name);

-- What one operation moved.
CREATE INDEX reflog_by_operation ON reflog (operation);

CREATE TABLE config (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
