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
