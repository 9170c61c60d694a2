-- What a usage record says beyond the tokens of one request: the other requests behind a reply, searches of the web, tokens
-- of pictures and sound. Few replies have it. reply is the hash of the commit, detail a JSON text.
CREATE TABLE usage_details (
    reply     bytea  PRIMARY KEY,
    commit_id bigint NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    detail    bytea  NOT NULL
);

-- What a client says that all requests of a session came to, by the session's ref: a JSON text.
CREATE TABLE stated_usage (
    name   bytea PRIMARY KEY,
    stated bytea NOT NULL
);

CREATE INDEX usage_details_by_commit ON usage_details (commit_id);

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
        EXECUTE format('GRANT %s ON usage_details, stated_usage TO %s', may.what, may.who);
    END LOOP;
END $$;

-- What a provider's own tools did was in no index of the formats before. The next search makes them anew.
DELETE FROM search;
DELETE FROM words;
DELETE FROM segments;

UPDATE tract_repository SET format = 14;
