-- A repository is a schema. Its tables are those of the engine in a file (the file above this folder
-- says what each of them is for), with what a server does otherwise:
--
-- All text is bytea: what people and programs say may hold any character, which a server's own text may
-- not, and neither its encoding nor its collation has a say in what is kept or in what order it comes.
-- Rows have no seals: the server has checksums of its pages, and roles. Bodies and commits are still held
-- against their names. Whoever writes holds the schema's advisory lock, so rows get their numbers from
-- the one writer, without sequences. Columns that name a commit bear a foreign key only where an index
-- leads back: else each commit that a collection takes out would be looked for in every such table.

-- What there is once. `collected`, `forgotten`: what collections have taken out; `owes_scrub`: the transaction of a purge
-- whose rows were not rewritten yet.
CREATE TABLE tract_repository (
    is_only     boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    format      integer NOT NULL,
    collected   bigint  NOT NULL DEFAULT 0,
    forgotten   bigint,
    last_check  bigint,
    owes_scrub  bigint
);
INSERT INTO tract_repository (format) VALUES (13);

CREATE TABLE contents (
    id         bigint PRIMARY KEY,
    hash       bytea  NOT NULL UNIQUE CHECK (length(hash) = 32),
    role       bigint NOT NULL,
    preview    bytea  NOT NULL,
    size_bytes bigint NOT NULL,
    calls      bigint NOT NULL,
    results    bigint NOT NULL
);

-- What may be erased, so that an import asks at once whether anything is: it may have come so from elsewhere.
CREATE INDEX contents_erased ON contents (id) WHERE preview = '[purged]'::bytea;

-- encoding: 0 the canonical bytes, 1 the same in zstd.
CREATE TABLE bodies (
    content  bigint PRIMARY KEY REFERENCES contents ON DELETE CASCADE,
    encoding bigint NOT NULL,
    body     bytea  NOT NULL
);
-- Packed already.
ALTER TABLE bodies ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE tool_uses (
    content bigint PRIMARY KEY REFERENCES contents ON DELETE CASCADE,
    uses    bytea  NOT NULL
);

-- mask is empty for a whole content.
CREATE TABLE counts (
    content   bigint  NOT NULL REFERENCES contents ON DELETE CASCADE,
    encoding  bigint  NOT NULL,
    mask      bytea   NOT NULL,
    tokens    bigint  NOT NULL,
    estimated boolean NOT NULL,
    PRIMARY KEY (content, encoding, mask)
);

-- The search index: the terms of each content, as numbers. An array's own operators find those that
-- hold some, so no extension is needed. The greatest content says how far it is.
CREATE TABLE search (
    content bigint    PRIMARY KEY REFERENCES contents ON DELETE CASCADE,
    terms   integer[] NOT NULL
);
CREATE INDEX search_by_term ON search USING gin (terms);

-- The index of a ranked search: which words stand in which contents, and what each is worth there. A segment
-- holds the words of the contents whose numbers are above since, up to last; a block of it some words from word on,
-- each with its contents.
CREATE TABLE segments (
    last       bigint PRIMARY KEY,
    since      bigint NOT NULL,
    size_bytes bigint NOT NULL
);

CREATE TABLE words (
    id      bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    segment bigint NOT NULL,
    word    bytea  NOT NULL,
    data    bytea  NOT NULL
);

-- The block of a segment that holds a word.
CREATE UNIQUE INDEX words_by_place ON words (segment, word);

CREATE TABLE lineages (
    id         bigint PRIMARY KEY,
    parent     bigint,
    fork_depth bigint,
    CHECK ((parent IS NULL) = (fork_depth IS NULL))
);

-- The lineages that begin behind a commit: whether it has a second child.
CREATE INDEX lineages_by_fork ON lineages (parent, fork_depth);

CREATE TABLE commits (
    id        bigint PRIMARY KEY,
    hash      bytea  NOT NULL UNIQUE CHECK (length(hash) = 32),
    lineage   bigint NOT NULL REFERENCES lineages,
    depth     bigint NOT NULL,
    parent    bigint,
    content   bigint REFERENCES contents,
    canonical bytea  NOT NULL,
    UNIQUE (lineage, depth)
);

-- Who appends this content, to what.
CREATE INDEX commits_by_append ON commits (content, parent) WHERE content IS NOT NULL;

-- What changes a path.
CREATE INDEX commits_not_append ON commits (lineage, depth) WHERE content IS NULL;

-- The commits with a second parent, by their place on the way: what else a path leads to.
CREATE INDEX commits_merging ON commits (lineage, depth) WHERE position('"merged":"'::bytea IN canonical) > 0;

-- What was read from a cache and written to it is part of the input, what was written for an hour part of that,
-- reasoning part of the output.
CREATE TABLE usage (
    commit_id           bigint PRIMARY KEY REFERENCES commits ON DELETE CASCADE,
    input_tokens        bigint NOT NULL,
    output_tokens       bigint NOT NULL,
    cached_tokens       bigint NOT NULL DEFAULT 0,
    written_tokens      bigint NOT NULL DEFAULT 0,
    written_hour_tokens bigint NOT NULL DEFAULT 0,
    reasoning_tokens    bigint NOT NULL DEFAULT 0
);

-- Until when a session that is recorded is taken for one that still goes on.
CREATE TABLE recordings (
    session bytea  PRIMARY KEY,
    until   bigint NOT NULL
);

CREATE TABLE checkpoints (
    commit_id bigint PRIMARY KEY REFERENCES commits ON DELETE CASCADE,
    lineage   bigint NOT NULL,
    depth     bigint NOT NULL,
    data      bytea  NOT NULL,
    UNIQUE (lineage, depth)
);

CREATE TABLE totals (
    lineage   bigint NOT NULL,
    depth     bigint NOT NULL,
    encoding  bigint NOT NULL,
    messages  bigint NOT NULL,
    tokens    bigint NOT NULL,
    estimates bigint NOT NULL,
    PRIMARY KEY (lineage, encoding, depth)
);

CREATE TABLE summaries (
    lineage  bigint NOT NULL,
    depth    bigint NOT NULL,
    encoding bigint NOT NULL,
    data     bytea  NOT NULL,
    PRIMARY KEY (lineage, encoding, depth)
);

CREATE TABLE refs (
    name     bytea PRIMARY KEY,
    target   bigint,
    symbolic bytea,
    active   bigint,
    CHECK ((target IS NULL) <> (symbolic IS NULL))
);

CREATE TABLE operations (
    id     bigint PRIMARY KEY,
    time   bigint NOT NULL,
    what   bytea  NOT NULL,
    undoes bigint,
    redoes bigint
);

-- Who did an operation: a name, the program, and what that was about then. Of one that is not here, that was not said.
CREATE TABLE authors (
    operation bigint PRIMARY KEY REFERENCES operations,
    name      bytea,
    client    bytea,
    run       bytea
);

CREATE TABLE reflog (
    id           bigint PRIMARY KEY,
    operation    bigint NOT NULL REFERENCES operations,
    name         bytea  NOT NULL,
    old_target   bigint,
    old_symbolic bytea,
    new_target   bigint,
    new_symbolic bytea
);
-- The moves of one ref, newest first; what one operation moved.
CREATE INDEX reflog_by_name ON reflog (name, id);
CREATE INDEX reflog_by_operation ON reflog (operation, id);

CREATE TABLE purges (
    operation bigint PRIMARY KEY
);

CREATE TABLE config (
    key   bytea PRIMARY KEY,
    value bytea NOT NULL
);

CREATE TABLE tag_notes (
    tag       bytea  PRIMARY KEY,
    commit_id bigint NOT NULL,
    time      bigint NOT NULL,
    note      bytea  NOT NULL
);

CREATE TABLE followers (
    session bytea PRIMARY KEY,
    branch  bytea NOT NULL
);

CREATE TABLE adopted (
    id      bigint PRIMARY KEY,
    session bytea  NOT NULL,
    theirs  bigint NOT NULL,
    ours    bigint NOT NULL
);
CREATE INDEX adopted_by_session ON adopted (session, id);

CREATE TABLE sources (
    id          bigint PRIMARY KEY,
    session     bytea  NOT NULL,
    format      bytea  NOT NULL,
    size_bytes  bigint NOT NULL,
    fingerprint bytea  NOT NULL CHECK (length(fingerprint) = 32)
);
CREATE INDEX sources_by_session ON sources (session, id);

CREATE TABLE source_blocks (
    source     bigint NOT NULL REFERENCES sources ON DELETE CASCADE,
    start      bigint NOT NULL,
    size_bytes bigint NOT NULL,
    encoding   bigint NOT NULL,
    data       bytea  NOT NULL,
    PRIMARY KEY (source, start)
);
ALTER TABLE source_blocks ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE commit_records (
    commit_id bigint NOT NULL REFERENCES commits ON DELETE CASCADE,
    source    bigint NOT NULL REFERENCES sources ON DELETE CASCADE,
    spans     bytea  NOT NULL,
    PRIMARY KEY (commit_id, source)
);
CREATE INDEX commit_records_by_source ON commit_records (source);

CREATE TABLE sessions (
    name   bytea PRIMARY KEY,
    title  bytea,
    cwd    bytea,
    absent bytea NOT NULL
);

-- What a session's file began with, where none of it is kept, for a purge erased it: whose copy it is and since when it is
-- there tells which of two sessions made what both hold. source is the number that the file had.
CREATE TABLE origins (
    name        bytea PRIMARY KEY,
    source      bigint,
    began       bigint,
    copied_from bytea
);

CREATE TABLE resumes (
    tool      bytea  NOT NULL,
    session   bytea  NOT NULL,
    commit_id bigint NOT NULL,
    messages  bigint NOT NULL,
    digest    bytea  NOT NULL CHECK (length(digest) = 32),
    PRIMARY KEY (tool, session)
);

-- A path may be longer than an index's entry.
CREATE TABLE followed (
    path        bytea  NOT NULL,
    source      bigint NOT NULL REFERENCES sources ON DELETE CASCADE,
    size_bytes  bigint NOT NULL,
    modified_ns bigint NOT NULL,
    file        bigint NOT NULL,
    hashed      bytea  NOT NULL,
    settings    bytea  NOT NULL,
    time        bigint NOT NULL
);
CREATE UNIQUE INDEX followed_by_path ON followed (sha256(path));
CREATE INDEX followed_by_source ON followed (source);

-- The tools' files that could not be read when they were last looked at, since when, and why; a purge empties it.
CREATE TABLE unread (
    path bytea  NOT NULL,
    why  bytea  NOT NULL,
    time bigint NOT NULL
);
CREATE UNIQUE INDEX unread_by_path ON unread (sha256(path));

-- What the newest transactions left as they were committed. Where a connection is lost at COMMIT, its token
-- tells whether the commit was made: a number would not do, for a server that has crashed, or a replica that
-- takes its place, gives the numbers of lost transactions to others.
CREATE TABLE transactions (
    number bigint PRIMARY KEY,
    token  uuid   NOT NULL
);

-- How many transactions were committed is the sum of these. Each counts in a row that nobody else is about to change.
CREATE TABLE turns (
    id     bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    writes bigint NOT NULL
);

-- Several write at once, each on a branch of their own. Their rows get numbers from sequences, which give none twice: the
-- later one is the greater, but may be seen first, and what was taken back leaves a gap. Whoever writes alone goes on from the
-- greatest number that is there, and says in the end how far that was. All numbers are given under the schema's lock, so below
-- what somebody sees who is alone, nothing comes any more.
CREATE SEQUENCE contents_numbers MINVALUE 0;
SELECT setval('contents_numbers', 0);
CREATE SEQUENCE commits_numbers MINVALUE 0;
SELECT setval('commits_numbers', 0);
CREATE SEQUENCE lineages_numbers MINVALUE 0;
SELECT setval('lineages_numbers', 0);
CREATE SEQUENCE operations_numbers MINVALUE 0;
SELECT setval('operations_numbers', 0);
CREATE SEQUENCE reflog_numbers MINVALUE 0;
SELECT setval('reflog_numbers', 0);
CREATE SEQUENCE transactions_numbers MINVALUE 0;
SELECT setval('transactions_numbers', 0);
CREATE SEQUENCE sources_numbers MINVALUE 0;
SELECT setval('sources_numbers', 0);
CREATE SEQUENCE adopted_numbers MINVALUE 0;
SELECT setval('adopted_numbers', 0);

-- Refuses whoever may only read. The functions below run with their owner's rights, so they have to ask for themselves. Whoever
-- calls it has said already where tables are looked for.
CREATE FUNCTION refuse_readers() RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
    IF NOT has_table_privilege(
        CASE current_setting('role') WHEN 'none' THEN session_user::text ELSE current_setting('role') END, 'operations', 'INSERT'
    ) THEN
        RAISE insufficient_privilege USING MESSAGE = 'permission denied for numbers';
    END IF;
END $$;

-- The next numbers of a table, 1,024 at most. A function of the owner's: rights to tables are all that a writer needs.
CREATE FUNCTION numbers(of text, many bigint) RETURNS bigint[]
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
BEGIN
    PERFORM refuse_readers();
    RETURN ARRAY(SELECT nextval(quote_ident(of || '_numbers')::regclass) FROM generate_series(1, least(many, 1024)));
END $$;

-- Numbers up to this one were given without asking.
CREATE FUNCTION numbered(of text, last bigint) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
DECLARE
    sequence regclass := quote_ident(of || '_numbers')::regclass;
BEGIN
    PERFORM refuse_readers();
    RETURN setval(sequence, greatest(last, pg_sequence_last_value(sequence)));
END $$;

-- What each commit asks of the server, as functions: a server keeps the plans of what a function says, whoever comes through a
-- pooler. In statements of their own, most of what a commit cost was parsing and planning.

-- Begins a turn beside others: takes the schema's lock with them, that of the branch to which the first of some names leads that
-- leads to one, or of the one that is named, and tells what whoever goes on there asks first. Each statement sees what was
-- committed before it began, so what comes after the locks sees what those have left who had them before. The kinds of rows:
-- 0 what a name holds, 1 a part of the path to the tip, 2 the tip: whether anything stands behind it, how deep its newest
-- checkpoint is, and whether nobody else goes on there; 3 the transaction's token and number, 4 the numbers of a content and of
-- a commit, 5 the branch, 6 the newest purge, 7 a content that is here.
CREATE FUNCTION begin_on(
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
CREATE FUNCTION put_objects(
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
CREATE FUNCTION log_numbers(OUT operation bigint, OUT move bigint)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
BEGIN
    PERFORM refuse_readers();
    operation := nextval('operations_numbers');
    move := nextval('reflog_numbers');
END $$;

-- Moves a ref from where it was seen, and logs it: under a new operation at a time, by somebody or by nobody who is known, or,
-- without a time, under the one whose first move was of `came_with`. One that is elsewhere by now is not moved, and ends all.
CREATE FUNCTION move_ref(
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
CREATE FUNCTION leave_trace(own_number bigint, own_token uuid) RETURNS void
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

-- refs.active: when each branch was worked on last, so that a page of their list costs the same however many there are: the time of the
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

CREATE INDEX refs_by_activity ON refs (active DESC, name) WHERE substr(name, 1, 11) = 'refs/heads/';
CREATE TRIGGER refs_activity BEFORE INSERT OR UPDATE ON refs FOR EACH ROW
    WHEN (NEW.target IS NOT NULL AND substr(NEW.name, 1, 11) = 'refs/heads/') EXECUTE FUNCTION note_activity();
