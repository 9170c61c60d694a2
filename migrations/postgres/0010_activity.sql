-- When each branch was worked on last, so that a page of their list costs the same however many there are: the time of the
-- newest of the last 64 commits that has one, -2^63 where none has. Whoever moves a branch, by whatever statement, says it. It is
-- null, and worked out by whoever lists, where the commit came later than the ref, as it may where rows are copied.
CREATE FUNCTION last_time(tip bigint) RETURNS bigint
    LANGUAGE plpgsql STABLE
    -- Tables that are small when a plan is made grow.
    SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
    AS $$
DECLARE
    at bigint := tip;
    said text;
BEGIN
    FOR i IN 1 .. 64 LOOP
        -- A member of the commit itself: in a string its quotes would be escaped, and what is in it are strings alone.
        SELECT c.parent, substring(encode(c.canonical, 'escape') FROM '[{,]"time":(-?[0-9]+)') INTO at, said
        FROM commits AS c WHERE c.id = at;
        IF i = 1 AND NOT FOUND THEN
            RETURN NULL;
        END IF;
        IF said IS NOT NULL THEN
            RETURN said::bigint;
        END IF;
        EXIT WHEN at IS NULL;
    END LOOP;
    RETURN -9223372036854775808;
END $$;

-- Whoever writes rows may have said nothing of where tables are looked for, as a copy that is put back.
CREATE FUNCTION note_activity() RETURNS trigger
    LANGUAGE plpgsql SET search_path FROM CURRENT
    AS $$
BEGIN
    IF TG_OP = 'UPDATE' OR NEW.active IS NULL THEN
        NEW.active := last_time(NEW.target);
    END IF;
    RETURN NEW;
END $$;

ALTER TABLE refs ADD COLUMN active bigint;
UPDATE refs SET active = last_time(target) WHERE target IS NOT NULL AND substr(name, 1, 11) = 'refs/heads/';
CREATE INDEX refs_by_activity ON refs (active DESC, name) WHERE substr(name, 1, 11) = 'refs/heads/';
CREATE TRIGGER refs_activity BEFORE INSERT OR UPDATE ON refs FOR EACH ROW
    WHEN (NEW.target IS NOT NULL AND substr(NEW.name, 1, 11) = 'refs/heads/') EXECUTE FUNCTION note_activity();

UPDATE tract_repository SET format = 12;
