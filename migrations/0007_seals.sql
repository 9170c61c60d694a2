-- A seal on each row whose bytes no object's hash covers: sealed(...) of its columns in their order,
-- but for the seal itself and a commit's canonical text. A flipped byte in a ref, a count, a preview
-- or a place in a lineage was an answer like any other before; now it is damage.
--
-- A checksum of 32 bits, for what breaks by itself. Bodies have none: their hash is their name.

ALTER TABLE contents ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE contents SET seal = sealed(id, hash, role, preview, size_bytes, calls, results);

ALTER TABLE lineages ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE lineages SET seal = sealed(id, parent, fork_depth);

ALTER TABLE commits ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE commits SET seal = sealed(id, hash, lineage, depth, parent, content);

ALTER TABLE counts ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE counts SET seal = sealed(content, encoding, mask, tokens, estimated);

ALTER TABLE checkpoints ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE checkpoints SET seal = sealed(commit_id, lineage, depth, data);

ALTER TABLE usage ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE usage SET seal = sealed(commit_id, input_tokens, output_tokens);

ALTER TABLE refs ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE refs SET seal = sealed(name, target, symbolic);

ALTER TABLE operations ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE operations SET seal = sealed(id, time, what, undoes, redoes);

ALTER TABLE reflog ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE reflog
SET seal = sealed(id, operation, name, old_target, old_symbolic, new_target, new_symbolic);

ALTER TABLE config ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE config SET seal = sealed(key, value);

ALTER TABLE sources ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE sources SET seal = sealed(id, session, format, size_bytes, fingerprint);

ALTER TABLE source_blocks ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE source_blocks SET seal = sealed(id, source, start, size_bytes, encoding, data);

ALTER TABLE commit_records ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE commit_records SET seal = sealed(commit_id, source, spans);

ALTER TABLE sessions ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET seal = sealed(name, title, cwd, absent);

ALTER TABLE resumes ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE resumes SET seal = sealed(tool, session, commit_id, messages, digest);

ALTER TABLE tag_notes ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE tag_notes SET seal = sealed(tag, commit_id, time, note);

ALTER TABLE followers ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE followers SET seal = sealed(session, branch);

ALTER TABLE adopted ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE adopted SET seal = sealed(id, session, theirs, ours);

ALTER TABLE purges ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
UPDATE purges SET seal = sealed(operation);
