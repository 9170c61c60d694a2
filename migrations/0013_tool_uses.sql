-- How a message uses tools, in brief: each call with its tool and a line of it, and which calls its
-- results answer. A listing says beside a result what was called, and that stands in another message:
-- without this, both bodies would be read for one line.
--
-- Derived data, so a row may be missing: then nothing is said. uses is a JSON text.
CREATE TABLE tool_uses (
    content INTEGER PRIMARY KEY REFERENCES contents (id) ON DELETE CASCADE,
    uses    TEXT    NOT NULL,
    seal    INTEGER NOT NULL
) STRICT;

INSERT INTO tool_uses (content, uses, seal)
SELECT id, uses, sealed(id, uses)
FROM (SELECT contents.id, tool_uses_of(encoding, body, size_bytes) AS uses
      FROM contents JOIN bodies ON content = contents.id WHERE calls + results > 0)
WHERE uses IS NOT NULL;
