-- The lineages that begin behind a commit: whether it has a second child.
CREATE INDEX lineages_by_fork ON lineages (parent, fork_depth);

UPDATE tract_repository SET format = 8;
