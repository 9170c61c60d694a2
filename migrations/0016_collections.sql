-- What collections have taken out: how many did take anything out, so that an import which goes on in
-- several transactions knows that what it left here may be gone; and the operation that stands for all
-- before it, whose moves are where each ref was then. One row or none.
CREATE TABLE collections (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    times     INTEGER NOT NULL,
    operation INTEGER REFERENCES operations (id),
    seal      INTEGER NOT NULL
) STRICT;
