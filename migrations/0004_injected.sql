-- The messages of which a client's record says that the client wrote them in the user's name, where that record is not here: a
-- clone without session files. message is the hash of the commit.
CREATE TABLE injected (
    message   TEXT    PRIMARY KEY,
    commit_id INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    seal      INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID
