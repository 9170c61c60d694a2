-- The tools' files that could not be read when they were last looked at, since when, and why; a purge empties it.
CREATE TABLE unread (
    path bytea  NOT NULL,
    why  bytea  NOT NULL,
    time bigint NOT NULL
);
CREATE UNIQUE INDEX unread_by_path ON unread (sha256(path));
