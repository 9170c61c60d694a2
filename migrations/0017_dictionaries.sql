-- What many messages have in common, so that each takes fewer bytes: a dictionary for zstd, which a
-- collection makes of the messages that are here. A body whose encoding is the number of one leans on it.
--
-- It holds pieces of messages whose numbers are up to `trained`: where one of those is erased, all
-- dictionaries are, and every body that leans on one is packed anew in the same transaction. No number is
-- given twice, for readers keep what they have read. `offered`: the last message that was packed with it
-- if that made it smaller; `size_bytes`: what all messages had when it was made.
CREATE TABLE dictionaries (
    id         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 1),
    trained    INTEGER NOT NULL,
    offered    INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    data       BLOB    NOT NULL,
    seal       INTEGER NOT NULL
) STRICT;
