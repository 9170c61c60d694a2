-- What a repair sets aside: rows that are not as they were written and that nothing else can make again.
-- Each stands here as the statement that would put it back, so that nothing is thrown away and none of it
-- is in the way of what is whole. A purge empties it: nobody knows what a damaged row holds.
CREATE TABLE quarantine (
    id        INTEGER PRIMARY KEY,
    origin    TEXT    NOT NULL,
    statement TEXT    NOT NULL,
    seal      INTEGER NOT NULL
) STRICT;

-- When everything was checked last and found whole: no operation, for nothing changed by it.
CREATE TABLE checks (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    time INTEGER NOT NULL,
    seal INTEGER NOT NULL
) STRICT;
