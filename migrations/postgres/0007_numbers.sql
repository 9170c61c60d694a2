-- Several write at once, each on a branch of their own. Their rows get numbers from sequences, which give none twice: the
-- later one is the greater, but may be seen first, and what was taken back leaves a gap. Whoever writes alone goes on from the
-- greatest number that is there, and says in the end how far that was. All numbers are given under the schema's lock, so below
-- what somebody sees who is alone, nothing comes any more.

-- Programs of the formats before give numbers without saying so. What they are at is waited for; what they write later is
-- refused by this name.
ALTER TABLE tract_repository DROP CONSTRAINT IF EXISTS a_newer_tract_is_needed_to_write;
UPDATE tract_repository SET writes = 0;
ALTER TABLE tract_repository ADD CONSTRAINT a_newer_tract_is_needed_to_write CHECK (writes = 0);

CREATE SEQUENCE IF NOT EXISTS contents_numbers MINVALUE 0;
CREATE SEQUENCE IF NOT EXISTS commits_numbers MINVALUE 0;
CREATE SEQUENCE IF NOT EXISTS lineages_numbers MINVALUE 0;
CREATE SEQUENCE IF NOT EXISTS operations_numbers MINVALUE 0;
CREATE SEQUENCE IF NOT EXISTS reflog_numbers MINVALUE 0;
CREATE SEQUENCE IF NOT EXISTS transactions_numbers MINVALUE 0;
SELECT setval('contents_numbers', coalesce(max(id), 0)) FROM contents;
SELECT setval('commits_numbers', coalesce(max(id), 0)) FROM commits;
SELECT setval('lineages_numbers', coalesce(max(id), 0)) FROM lineages;
SELECT setval('operations_numbers', coalesce(max(id), 0)) FROM operations;
SELECT setval('reflog_numbers', coalesce(max(id), 0)) FROM reflog;
SELECT setval('transactions_numbers', coalesce(max(number), 0)) FROM transactions;

-- Refuses whoever may only read. The functions below run with their owner's rights, so they have to ask for themselves.
CREATE OR REPLACE FUNCTION refuse_readers() RETURNS void
    LANGUAGE plpgsql STABLE SET search_path FROM CURRENT
    AS $$
BEGIN
    IF NOT has_table_privilege(
        CASE current_setting('role') WHEN 'none' THEN session_user::text ELSE current_setting('role') END, 'operations', 'INSERT'
    ) THEN
        RAISE insufficient_privilege USING MESSAGE = 'permission denied for numbers';
    END IF;
END $$;

-- The next numbers of a table, 1,024 at most. A function of the owner's: rights to tables are all that a writer needs.
CREATE OR REPLACE FUNCTION numbers(of text, many bigint) RETURNS bigint[]
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
BEGIN
    PERFORM refuse_readers();
    RETURN ARRAY(SELECT nextval(quote_ident(of || '_numbers')::regclass) FROM generate_series(1, least(many, 1024)));
END $$;

-- Numbers up to this one were given without asking.
CREATE OR REPLACE FUNCTION numbered(of text, last bigint) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
DECLARE
    sequence regclass := quote_ident(of || '_numbers')::regclass;
BEGIN
    PERFORM refuse_readers();
    RETURN setval(sequence, greatest(last, pg_sequence_last_value(sequence)));
END $$;

-- How many transactions were committed is the sum of these. Each counts in a row that nobody else is about to change.
CREATE TABLE IF NOT EXISTS turns (
    id     bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    writes bigint NOT NULL
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
        EXECUTE format('GRANT %s ON turns TO %s', may.what, may.who);
    END LOOP;
END $$;

UPDATE tract_repository SET format = 9;
