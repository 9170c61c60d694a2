-- What the visible messages at a commit come to, so that a listing sums up nothing: kept where it was
-- summed up once, found by the commit's place; between two of them a listing adds a few counts.
-- Derived: any row may be deleted, and all are where a content is erased or a commit taken out.
CREATE TABLE totals (
    lineage   INTEGER NOT NULL,
    depth     INTEGER NOT NULL,
    encoding  INTEGER NOT NULL,
    messages  INTEGER NOT NULL,
    tokens    INTEGER NOT NULL,
    estimates INTEGER NOT NULL,
    seal      INTEGER NOT NULL,
    PRIMARY KEY (lineage, encoding, depth)
) STRICT, WITHOUT ROWID;
