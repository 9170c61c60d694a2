-- Bodies of messages that stand one behind the other, in one zstd frame: what neighbours have in common is kept once.
-- A body in one has the pack's number, negative, as its encoding, and where it stands in the pack's text as its bytes.
--
-- first, last: no other content stands in it than from the one to the other, in their order. size_bytes is the length of
-- the text. Where a content is erased, each pack that may hold it is taken apart in the same transaction. No number
-- is given twice, for readers keep what they have read.
CREATE TABLE packs (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    first      INTEGER NOT NULL,
    last       INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    data       BLOB    NOT NULL,
    seal       INTEGER NOT NULL
) STRICT
