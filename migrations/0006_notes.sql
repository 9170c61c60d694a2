-- Tables for what stood as text in config: notes of tags, branches that follow sessions, commits of
-- sessions that were taken over, and how far back a purge took the words of operations. There they
-- named commits where no foreign key saw them, so that whoever collects or copies commits could not
-- know; and config, which people list and change, was no longer theirs alone.

-- A note counts while the tag points at this commit, so that undoing the tag undoes it too.
CREATE TABLE tag_notes (
    tag       TEXT    PRIMARY KEY,
    commit_id INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    time      INTEGER NOT NULL,
    note      TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO tag_notes (tag, commit_id, time, note)
SELECT substr(key, 6), commits.id, CAST(substr(value, 1, instr(value, ' ') - 1) AS INTEGER),
       substr(value, instr(value, char(10)) + 1)
FROM config JOIN commits ON commits.hash = unhex(substr(value, instr(value, ' ') + 1, 64))
WHERE key GLOB 'note.*';

-- The branch that an import moves along with a session.
CREATE TABLE followers (
    session TEXT PRIMARY KEY,
    branch  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO followers SELECT substr(key, 8), value FROM config WHERE key GLOB 'follow.*';

-- A commit of a session, and the commit on somebody's branch that it became.
CREATE TABLE adopted (
    id      INTEGER PRIMARY KEY,
    session TEXT    NOT NULL,
    theirs  INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    ours    INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE
) STRICT;

-- What was taken over of one session.
CREATE INDEX adopted_by_session ON adopted (session);

-- They were lines of two hashes: 64 digits, a space, 64 digits, a line's end.
WITH RECURSIVE pairs (session, number, line, rest) AS (
    SELECT substr(key, 6), 1, substr(value, 1, 130), substr(value, 131)
    FROM config WHERE key GLOB 'onto.*'
    UNION ALL
    SELECT session, number + 1, substr(rest, 1, 130), substr(rest, 131) FROM pairs WHERE rest <> ''
)
INSERT INTO adopted (session, theirs, ours)
SELECT session, theirs.id, ours.id FROM pairs
JOIN commits theirs ON theirs.hash = unhex(substr(line, 1, 64))
JOIN commits ours ON ours.hash = unhex(substr(line, 66, 64))
ORDER BY session, number;

-- The purges by their operations: no undo goes back behind one.
CREATE TABLE purges (
    operation INTEGER PRIMARY KEY REFERENCES operations (id)
) STRICT;

INSERT INTO purges
SELECT operations.id FROM config JOIN operations ON operations.id = CAST(value AS INTEGER)
WHERE key = 'purge.operation';

DELETE FROM config WHERE key NOT IN (
    'budget.action', 'budget.max', 'budget.target', 'compile.format', 'tokens.encoding'
);
