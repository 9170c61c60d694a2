-- Imports write beside others, too. Kept files, and what branches took over of sessions, get their numbers from sequences, as
-- all else does since the format before. The row that counted files was a lock that an import held until its end.

CREATE SEQUENCE IF NOT EXISTS sources_numbers MINVALUE 0;
CREATE SEQUENCE IF NOT EXISTS adopted_numbers MINVALUE 0;
SELECT setval('sources_numbers', greatest(
    (SELECT last_source FROM tract_repository), (SELECT coalesce(max(id), 0) FROM sources),
    coalesce(pg_sequence_last_value('sources_numbers'::regclass), 0)));
SELECT setval('adopted_numbers', greatest(coalesce(max(id), 0), pg_sequence_last_value('adopted_numbers'::regclass)))
FROM adopted;

-- A program of the format before counts them there still, if it was at work meanwhile. It is refused by this name.
ALTER TABLE tract_repository DROP CONSTRAINT IF EXISTS a_newer_tract_is_needed_to_import;
UPDATE tract_repository SET last_source = 0;
ALTER TABLE tract_repository ADD CONSTRAINT a_newer_tract_is_needed_to_import CHECK (last_source = 0);

UPDATE tract_repository SET format = 10;
