-- The search index: which contents hold which short pieces of text, so that a search reads only the
-- bodies that may match. It is derived data, filled by the first search after a content came in; the
-- greatest rowid says how far it is. rowid is contents.id.
--
-- Pieces are three characters (two within Chinese, Japanese and Korean text) that no white space or
-- punctuation parts, folded and hashed by the program; every match is checked against the body.
-- Nothing but "this piece is in this content" is kept: no positions, no columns, no text. Measured
-- on agents' sessions: 0.05 bytes per byte of session file, 0.2 per byte of text; with pieces over
-- white space and punctuation twice that, with positions ten times. Whole words took 0.03, but
-- "config" would not have found "parseConfig".
CREATE VIRTUAL TABLE search USING fts5 (
    pieces,
    content = '',
    contentless_delete = 1,
    detail = none,
    tokenize = 'ascii'
);

-- An id may be given again once its content is gone, and must then be indexed anew.
CREATE TRIGGER contents_leave_search AFTER DELETE ON contents BEGIN
    DELETE FROM search WHERE rowid = old.id;
END;

-- As before "was this message appended here before?"; with the content first also "who appends this
-- content?", which a search asks for each that may match.
DROP INDEX commits_by_append;
CREATE INDEX commits_by_append ON commits (content, parent) WHERE content IS NOT NULL;

-- The few commits that edit, hide, restore or annotate: they name contents only inside their text.
CREATE INDEX commits_not_append ON commits (id) WHERE content IS NULL;
