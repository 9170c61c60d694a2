-- The sessions that an agent of another session did, where no file here says it: a clone without session files, and what a purge
-- left. agent and starter are refs.
CREATE TABLE starters (
    agent   TEXT    PRIMARY KEY,
    starter TEXT    NOT NULL,
    seal    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID
