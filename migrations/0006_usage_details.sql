-- What a usage record says beyond the tokens of one request: the other requests behind a reply, searches of the web, tokens
-- of pictures and sound. Few replies have it. reply is the hash of the commit, detail a JSON text.
CREATE TABLE usage_details (
    reply     TEXT    PRIMARY KEY,
    commit_id INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    detail    TEXT    NOT NULL,
    seal      INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- What a client says that all requests of a session came to, by the session's ref: a JSON text.
CREATE TABLE stated_usage (
    name   TEXT    PRIMARY KEY,
    stated TEXT    NOT NULL,
    seal   INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID
