-- The replies on a ref's path that a provider counted, as tract cost read them last: all costs ask for those of all refs. tip is
-- the commit to which the ref led, until the newest commit that was here then. All of it can be made again from the rest.
CREATE TABLE billed (
    name    TEXT    PRIMARY KEY,
    tip     BLOB    NOT NULL CHECK (length(tip) = 32),
    until   INTEGER NOT NULL,
    replies BLOB    NOT NULL,
    seal    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX billed_by_until ON billed (until);
