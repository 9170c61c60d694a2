-- The messages of which a client's record says that the client wrote them in the user's name, where that record is not here: a
-- clone without session files. message is the hash of the commit.
CREATE TABLE injected (
    message   bytea  PRIMARY KEY,
    commit_id bigint NOT NULL REFERENCES commits (id) ON DELETE CASCADE
);

CREATE INDEX injected_by_commit ON injected (commit_id);

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
        EXECUTE format('GRANT %s ON injected TO %s', may.what, may.who);
    END LOOP;
END $$;

UPDATE tract_repository SET format = 15;
