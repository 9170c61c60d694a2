-- The commits that edit, hide, restore or annotate stand by their place on the way: which messages there
-- are at a commit, and what became of each, follows from these few alone, so that a window of a long
-- conversation is known without a look at the rest. A search still reads all of them.
DROP INDEX commits_not_append;
CREATE INDEX commits_not_append ON commits (lineage, depth) WHERE content IS NULL;
