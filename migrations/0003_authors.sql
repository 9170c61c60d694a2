-- Who did an operation: a name, the program, and what that was about then. Of one that is not here, that was not said.
-- It is a table of its own, for a program that has the file open while another one adds it goes on undisturbed.
CREATE TABLE authors (
    operation INTEGER PRIMARY KEY REFERENCES operations (id),
    name      TEXT,
    client    TEXT,
    run       TEXT,
    seal      INTEGER NOT NULL DEFAULT 0
) STRICT
