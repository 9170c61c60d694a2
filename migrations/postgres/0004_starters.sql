-- The sessions that an agent of another session did, where no file here says it: a clone without session files, and what a purge
-- left. agent and starter are refs.
CREATE TABLE starters (
    agent   bytea PRIMARY KEY,
    starter bytea NOT NULL
);

-- Whoever may read or write what was counted may read or write this: an upgrade shuts nobody out.
DO $$
DECLARE
    may record;
BEGIN
    FOR may IN
        SELECT privilege_type AS what, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS who
        FROM pg_class, aclexplode(relacl)
        WHERE oid = 'usage'::regclass AND grantee <> relowner
          AND privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
    LOOP
        EXECUTE format('GRANT %s ON starters TO %s', may.what, may.who);
    END LOOP;
END $$;

UPDATE tract_repository SET format = 16;
