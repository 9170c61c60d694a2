-- The commits with a second parent, by their place on the way: what else a path leads to. It is made with the first
-- of them (or the first copy of a commit), and with it the repository's format becomes an odd number.
CREATE INDEX commits_merging ON commits (lineage, depth) WHERE instr(canonical, '"merged":"') > 0
