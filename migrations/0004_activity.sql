-- When each branch was worked on last, so that a page of their list costs the same however many there are: the time of the
-- newest of the last 64 commits that has one, -2^63 where none has. No seal covers it, for a program that has the file open
-- while another one adds it goes on undisturbed; it writes rows without, and whoever lists works those out.
ALTER TABLE refs ADD COLUMN active INTEGER;

-- The sessions that ran in a directory: whose HEAD is its own, and where it is.
CREATE INDEX sessions_by_cwd ON sessions (cwd) WHERE cwd IS NOT NULL;

CREATE INDEX refs_by_activity ON refs (active DESC, name) WHERE name >= 'refs/heads/' AND name < 'refs/heads0';
