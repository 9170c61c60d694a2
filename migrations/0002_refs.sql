-- Names, how they moved, and settings of the repository.
--
-- A value is a commit's hash (64 hex digits) or `ref: NAME`, as git writes it.
CREATE TABLE refs (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE operations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time INTEGER NOT NULL,
    what TEXT NOT NULL
) STRICT;

CREATE TABLE reflog (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    operation INTEGER NOT NULL REFERENCES operations (id),
    name TEXT NOT NULL,
    old TEXT,
    new TEXT
) STRICT;

-- One ref's moves, newest first.
CREATE INDEX reflog_by_name ON reflog (name, id);

CREATE TABLE config (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
