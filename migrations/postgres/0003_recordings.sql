-- Until when a session that is recorded is taken for one that still goes on.
CREATE TABLE recordings (
    session bytea  PRIMARY KEY,
    until   bigint NOT NULL
);

UPDATE tract_repository SET format = 4;
