-- The purges after which the files were not rewritten yet: what was erased may stand in a free page or
-- in the journal. A purge that is killed before that, or cannot do it because another process reads,
-- leaves it to the next one that writes. A row says nothing but that, so none is sealed.
CREATE TABLE unscrubbed (
    operation INTEGER PRIMARY KEY
) STRICT;

-- Of purges before this it is not known: one more rewriting makes sure.
INSERT INTO unscrubbed SELECT operation FROM purges;
