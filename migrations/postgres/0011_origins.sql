-- What a session's file began with, where none of it is kept, for a purge erased it: whose copy it is and since when it is
-- there tells which of two sessions made what both hold. source is the number that the file had.
CREATE TABLE origins (
    name        bytea PRIMARY KEY,
    source      bigint,
    began       bigint,
    copied_from bytea
);

-- Whoever may read or write sessions may read or write this: an upgrade shuts nobody out.
DO $$
DECLARE
    may record;
BEGIN
    FOR may IN
        SELECT privilege_type AS what, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS who
        FROM pg_class, aclexplode(relacl)
        WHERE oid = 'sessions'::regclass AND grantee <> relowner
          AND privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
    LOOP
        EXECUTE format('GRANT %s ON origins TO %s', may.what, may.who);
    END LOOP;
END $$;

-- What may be erased, so that an import asks at once whether anything is: it may have come so from elsewhere.
CREATE INDEX contents_erased ON contents (id) WHERE preview = '[purged]'::bytea;

UPDATE tract_repository SET format = 13;
