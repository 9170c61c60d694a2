-- What a session's file began with, where none of it is kept, for a purge erased it: whose copy it is and since when it is
-- there tells which of two sessions made what both hold. source is the number that the file had.
CREATE TABLE origins (
    name        TEXT PRIMARY KEY,
    source      INTEGER,
    began       INTEGER,
    copied_from TEXT,
    seal        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- What may be erased, so that an import asks at once whether anything is: it may have come so from elsewhere.
CREATE INDEX contents_erased ON contents (id) WHERE preview = '[purged]'
