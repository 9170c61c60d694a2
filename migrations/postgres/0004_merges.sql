-- The commits with a second parent, by their place on the way: what else a path leads to.
CREATE INDEX commits_merging ON commits (lineage, depth) WHERE position('"merged":"'::bytea IN canonical) > 0;

UPDATE tract_repository SET format = 6;
