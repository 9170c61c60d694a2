-- What each commit asks of the server, as functions: a server keeps the plans of what a function says, whoever comes through a
-- pooler. In statements of their own, most of what a commit cost was parsing and planning.

-- Refuses whoever may only read: as before, and whoever calls it has said already where tables are looked for.
CREATE OR REPLACE FUNCTION refuse_readers() RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
    IF NOT has_table_privilege(
        CASE current_setting('role') WHEN 'none' THEN session_user::text ELSE current_setting('role') END, 'operations', 'INSERT'
    ) THEN
        RAISE insufficient_privilege USING MESSAGE = 'permission denied for numbers';
    END IF;
END $$;

-- Begins a turn beside others: takes the schema's lock with them, that of the branch to which the first of some names leads that
-- leads to one, or of the one that is named, and tells what whoever goes on there asks first. Each statement sees what was
-- committed before it began, so what comes after the locks sees what those have left who had them before. The kinds of rows:
-- 0 what a name holds, 1 a part of the path to the tip, 2 the tip: whether anything stands behind it, how deep its newest
-- checkpoint is, and whether nobody else goes on there; 3 the transaction's token and number, 4 the numbers of a content and of
-- a commit, 5 the branch, 6 the newest purge, 7 a content that is here.
CREATE OR REPLACE FUNCTION begin_on(
    own_lock bigint, schema_lock bigint, named bytea, names bytea[], wanted bytea[], messages bigint
) RETURNS TABLE (
    kind bigint, at bigint, target bigint, hash bytea, symbolic bytea, name bytea,
    lineage bigint, last bigint, checkpoint bigint, is_followed boolean, is_claimed boolean
)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT
    -- Tables that are small when a plan is made grow.
    SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
    AS $$
#variable_conflict use_column
DECLARE
    token uuid := gen_random_uuid();
    branch bytea := named;
    asked bytea;
    leads bytea;
    tip bigint;
    tip_hash bytea;
    tip_lineage bigint;
    tip_depth bigint;
    part bigint;
    part_last bigint;
BEGIN
    PERFORM refuse_readers();
    PERFORM pg_advisory_xact_lock_shared(own_lock::int, schema_lock::int);
    PERFORM pg_advisory_xact_lock(('x' || left(replace(token::text, '-', ''), 16))::bit(64)::bigint);
    kind := 3; target := nextval('transactions_numbers'); name := convert_to(token::text, 'UTF8');
    RETURN NEXT;
    kind := 4;
    FOR i IN 1 .. least(greatest(messages, 1), 1024) LOOP
        target := nextval('contents_numbers'); last := nextval('commits_numbers');
        RETURN NEXT;
    END LOOP;
    IF branch IS NULL THEN
        <<every>>
        FOREACH asked IN ARRAY names LOOP
            FOR hop IN 0 .. 2 LOOP
                SELECT r.symbolic INTO leads FROM refs AS r WHERE r.name = asked;
                IF leads IS NULL THEN
                    IF substr(asked, 1, 5) = 'refs/' THEN
                        branch := asked;
                        EXIT every;
                    END IF;
                    EXIT;
                END IF;
                asked := leads;
            END LOOP;
        END LOOP;
    END IF;
    IF branch IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(
            schema_lock::int, ('x' || encode(substr(sha256(branch), 1, 4), 'hex'))::bit(32)::int);
        kind := 5; name := branch;
        RETURN NEXT;
    END IF;

    kind := 0;
    FOREACH asked IN ARRAY names LOOP
        FOR hop IN 0 .. 2 LOOP
            name := asked; hash := NULL;
            SELECT r.target, r.symbolic INTO target, symbolic FROM refs AS r WHERE r.name = asked;
            IF target IS NOT NULL THEN
                SELECT c.hash, c.lineage, c.depth INTO hash, part, part_last FROM commits AS c WHERE c.id = target;
                IF tip IS NULL AND hash IS NOT NULL THEN
                    tip := target; tip_hash := hash; tip_lineage := part; tip_depth := part_last;
                END IF;
            END IF;
            RETURN NEXT;
            EXIT WHEN symbolic IS NULL;
            asked := symbolic;
        END LOOP;
    END LOOP;

    IF tip IS NOT NULL THEN
        kind := 1; part := tip_lineage; part_last := tip_depth; checkpoint := NULL;
        LOOP
            lineage := part; last := part_last;
            RETURN NEXT;
            IF checkpoint IS NULL THEN
                SELECT max(k.depth) INTO checkpoint FROM checkpoints AS k WHERE k.lineage = part AND k.depth <= part_last;
            END IF;
            SELECT l.parent, l.fork_depth INTO part, part_last FROM lineages AS l WHERE l.id = part;
            EXIT WHEN part IS NULL;
        END LOOP;
        kind := 2; target := tip; hash := tip_hash; lineage := tip_lineage; last := tip_depth;
        is_claimed := pg_try_advisory_xact_lock((schema_lock << 32) # tip);
        is_followed := EXISTS (SELECT 1 FROM commits AS c WHERE c.lineage = tip_lineage AND c.depth = tip_depth + 1)
            OR EXISTS (SELECT 1 FROM lineages AS l WHERE l.parent = tip_lineage AND l.fork_depth = tip_depth);
        RETURN NEXT;
    END IF;

    kind := 6;
    SELECT p.operation INTO target FROM purges AS p ORDER BY p.operation DESC LIMIT 1;
    RETURN NEXT;
    kind := 7;
    FOREACH asked IN ARRAY wanted LOOP
        SELECT c.id INTO target FROM contents AS c WHERE c.hash = asked;
        IF target IS NOT NULL THEN
            hash := asked;
            RETURN NEXT;
        END IF;
    END LOOP;
END $$;

-- Puts contents that are not here, commits that append to a lineage's end, and counts of tokens.
CREATE OR REPLACE FUNCTION put_objects(
    contents bigint[], hashes bytea[], roles bigint[], previews bytea[], sizes bigint[], calls bigint[], results bigint[],
    encodings bigint[], bodies bytea[], users bigint[], uses bytea[],
    commits bigint[], names bytea[], lineages bigint[], depths bigint[], parents bigint[], appended bigint[], canonicals bytea[],
    counted bigint[], by_encoding bigint[], masks bytea[], tokens bigint[], estimated boolean[]
) RETURNS void
    LANGUAGE plpgsql VOLATILE
    AS $$
BEGIN
    IF cardinality(put_objects.contents) > 0 THEN
        INSERT INTO contents (id, hash, role, preview, size_bytes, calls, results)
        SELECT * FROM unnest(put_objects.contents, hashes, roles, previews, sizes, put_objects.calls, put_objects.results);
        INSERT INTO bodies (content, encoding, body) SELECT * FROM unnest(put_objects.contents, encodings, put_objects.bodies);
        IF cardinality(users) > 0 THEN
            INSERT INTO tool_uses (content, uses) SELECT * FROM unnest(users, put_objects.uses);
        END IF;
    END IF;
    IF cardinality(put_objects.commits) > 0 THEN
        INSERT INTO commits (id, hash, lineage, depth, parent, content, canonical)
        SELECT * FROM unnest(
            put_objects.commits, names, put_objects.lineages, depths, parents, appended, canonicals);
    END IF;
    IF cardinality(counted) > 0 THEN
        INSERT INTO counts (content, encoding, mask, tokens, estimated)
        SELECT * FROM unnest(counted, by_encoding, masks, put_objects.tokens, put_objects.estimated)
        ON CONFLICT (content, encoding, mask) DO UPDATE SET tokens = excluded.tokens, estimated = excluded.estimated;
    END IF;
END $$;

-- The next numbers of an operation and of a move.
CREATE OR REPLACE FUNCTION log_numbers(OUT operation bigint, OUT move bigint)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
BEGIN
    PERFORM refuse_readers();
    operation := nextval('operations_numbers');
    move := nextval('reflog_numbers');
END $$;

-- Moves a ref from where it was seen, and logs it: under a new operation at a time, by somebody or by nobody who is known, or,
-- without a time, under the one whose first move was of `came_with`. One that is elsewhere by now is not moved, and ends all.
CREATE OR REPLACE FUNCTION move_ref(
    moved bytea, was_target bigint, was_symbolic bytea, to_target bigint, to_symbolic bytea,
    at_time bigint, as_what bytea, is_by boolean, who bytea, by_client bytea, in_run bytea, came_with bytea
) RETURNS void
    LANGUAGE plpgsql VOLATILE
    AS $$
DECLARE
    under bigint;
    move bigint;
BEGIN
    IF at_time IS NULL THEN
        move := (numbers('reflog', 1))[1];
        SELECT l.operation INTO under FROM reflog AS l WHERE l.name = came_with ORDER BY l.id DESC LIMIT 1;
    ELSE
        SELECT n.operation, n.move INTO under, move FROM log_numbers() AS n;
        INSERT INTO operations (id, time, what) VALUES (under, at_time, as_what);
        IF is_by THEN
            INSERT INTO authors (operation, name, client, run) VALUES (under, who, by_client, in_run);
        END IF;
    END IF;
    IF was_target IS NULL AND was_symbolic IS NULL THEN
        INSERT INTO refs (name, target, symbolic) VALUES (moved, to_target, to_symbolic);
    ELSIF to_target IS NULL AND to_symbolic IS NULL THEN
        DELETE FROM refs AS r WHERE r.name = moved
            AND r.target IS NOT DISTINCT FROM was_target AND r.symbolic IS NOT DISTINCT FROM was_symbolic;
    ELSE
        UPDATE refs AS r SET target = to_target, symbolic = to_symbolic WHERE r.name = moved
            AND r.target IS NOT DISTINCT FROM was_target AND r.symbolic IS NOT DISTINCT FROM was_symbolic;
    END IF;
    IF NOT FOUND THEN
        RAISE serialization_failure USING MESSAGE = 'the ref is elsewhere';
    END IF;
    INSERT INTO reflog (id, operation, name, old_target, old_symbolic, new_target, new_symbolic)
    VALUES (move, under, moved, was_target, was_symbolic, to_target, to_symbolic);
END $$;

-- What a transaction leaves behind of itself as its last thing, and counts one more. Nobody is waited for here.
CREATE OR REPLACE FUNCTION leave_trace(own_number bigint, own_token uuid) RETURNS void
    LANGUAGE plpgsql VOLATILE
    AS $$
DECLARE
    free bigint;
BEGIN
    SELECT t.id INTO free FROM turns AS t LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF free IS NULL THEN
        INSERT INTO turns (writes) VALUES (1);
    ELSE
        UPDATE turns AS t SET writes = writes + 1 WHERE t.id = free;
    END IF;
    INSERT INTO transactions (number, token) VALUES (own_number, own_token);
END $$;

UPDATE tract_repository SET format = 11;
