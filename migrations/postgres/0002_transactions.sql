-- What the newest transactions left as they were committed. Where a connection is lost at COMMIT, its token
-- tells whether the commit was made: a number would not do, for a server that has crashed, or a replica that
-- takes its place, gives the numbers of lost transactions to others.
CREATE TABLE transactions (
    number bigint PRIMARY KEY,
    token  uuid   NOT NULL
);

UPDATE tract_repository SET format = 3;
