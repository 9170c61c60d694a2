-- A repository is a schema. Its tables are those of the engine in a file (the file above this folder
-- says what each of them is for), with what a server does otherwise:
--
-- All text is bytea: what people and programs say may hold any character, which a server's own text may
-- not, and neither its encoding nor its collation has a say in what is kept or in what order it comes.
-- Rows have no seals: the server has checksums of its pages, and roles. Bodies and commits are still held
-- against their names. Whoever writes holds the schema's advisory lock, so rows get their numbers from
-- the one writer, without sequences. Columns that name a commit bear a foreign key only where an index
-- leads back: else each commit that a collection takes out would be looked for in every such table.

-- What there is once. `writes` is another number after each transaction; `last_source`: a source's number is
-- never given twice; `collected`, `forgotten`: what collections have taken out; `owes_scrub`: the
-- transaction of a purge whose rows were not rewritten yet.
CREATE TABLE tract_repository (
    is_only     boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    format      integer NOT NULL,
    writes      bigint  NOT NULL DEFAULT 0,
    last_source bigint  NOT NULL DEFAULT 0,
    collected   bigint  NOT NULL DEFAULT 0,
    forgotten   bigint,
    last_check  bigint,
    owes_scrub  bigint
);
INSERT INTO tract_repository (format) VALUES (3);

CREATE TABLE contents (
    id         bigint PRIMARY KEY,
    hash       bytea  NOT NULL UNIQUE CHECK (length(hash) = 32),
    role       bigint NOT NULL,
    preview    bytea  NOT NULL,
    size_bytes bigint NOT NULL,
    calls      bigint NOT NULL,
    results    bigint NOT NULL
);

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

CREATE TABLE lineages (
    id         bigint PRIMARY KEY,
    parent     bigint,
    fork_depth bigint,
    CHECK ((parent IS NULL) = (fork_depth IS NULL))
);

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

CREATE TABLE usage (
    commit_id     bigint PRIMARY KEY REFERENCES commits ON DELETE CASCADE,
    input_tokens  bigint NOT NULL,
    output_tokens bigint NOT NULL
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
    CHECK ((target IS NULL) <> (symbolic IS NULL))
);

CREATE TABLE operations (
    id     bigint PRIMARY KEY,
    time   bigint NOT NULL,
    what   bytea  NOT NULL,
    undoes bigint,
    redoes bigint
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
