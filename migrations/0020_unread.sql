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
