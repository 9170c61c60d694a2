-- What the visible messages at a commit come to by role, which is the largest, and how many messages are
-- hidden by what: kept where a status had to sum it up, found by the commit's place; the messages appended
-- since are added. Without it a status reads a row of each visible message, however many there are.
-- Derived: any row may be deleted, and all are where a content is erased or a commit taken out.
CREATE TABLE summaries (
    lineage  INTEGER NOT NULL,
    depth    INTEGER NOT NULL,
    encoding INTEGER NOT NULL,
    data     BLOB    NOT NULL,
    seal     INTEGER NOT NULL,
    PRIMARY KEY (lineage, encoding, depth)
) STRICT, WITHOUT ROWID;
