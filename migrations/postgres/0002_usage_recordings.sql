-- What was read from a cache and written to it is part of the input, what was written for an hour part of that,
-- reasoning part of the output. Of what was counted before, no more is known.
ALTER TABLE usage
    ADD COLUMN cached_tokens       bigint NOT NULL DEFAULT 0,
    ADD COLUMN written_tokens      bigint NOT NULL DEFAULT 0,
    ADD COLUMN written_hour_tokens bigint NOT NULL DEFAULT 0,
    ADD COLUMN reasoning_tokens    bigint NOT NULL DEFAULT 0;

-- Until when a session that is recorded is taken for one that still goes on.
CREATE TABLE recordings (
    session bytea  PRIMARY KEY,
    until   bigint NOT NULL
);

UPDATE tract_repository SET format = 4;
