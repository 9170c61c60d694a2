-- Who did an operation: a name, the program, and what that was about then. Of one that is not here, that was not said.
CREATE TABLE authors (
    operation bigint PRIMARY KEY REFERENCES operations,
    name      bytea,
    client    bytea,
    run       bytea
);

-- Whoever may read or write operations may read or write this: an upgrade shuts nobody out.
DO $$
DECLARE
    may record;
BEGIN
    FOR may IN
        SELECT privilege_type AS what, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS who
        FROM pg_class, aclexplode(relacl)
        WHERE oid = 'operations'::regclass AND grantee <> relowner
          AND privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
    LOOP
        EXECUTE format('GRANT %s ON authors TO %s', may.what, may.who);
    END LOOP;
END $$;

UPDATE tract_repository SET format = 7;
