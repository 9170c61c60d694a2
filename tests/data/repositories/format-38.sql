-- A repository of the format numbered 21, as it was before its tables were written down in one file: what is in
-- it must stay readable, and a new one has the same tables.
PRAGMA application_id = 1414677332;
PRAGMA user_version = 38;
CREATE TABLE contents (
    id         INTEGER PRIMARY KEY,
    hash       BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    role       INTEGER NOT NULL,
    preview    TEXT    NOT NULL,
    size_bytes INTEGER NOT NULL,
    calls      INTEGER NOT NULL,
    results    INTEGER NOT NULL
, seal INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE bodies (
    content  INTEGER PRIMARY KEY REFERENCES contents (id) ON DELETE CASCADE,
    encoding INTEGER NOT NULL,
    body     BLOB    NOT NULL
) STRICT;
CREATE TABLE lineages (
    id         INTEGER PRIMARY KEY,
    parent     INTEGER REFERENCES lineages (id),
    fork_depth INTEGER, seal INTEGER NOT NULL DEFAULT 0, changes INTEGER NOT NULL DEFAULT 0,
    CHECK ((parent IS NULL) = (fork_depth IS NULL))
) STRICT;
CREATE TABLE commits (
    id        INTEGER PRIMARY KEY,
    hash      BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    lineage   INTEGER NOT NULL REFERENCES lineages (id),
    depth     INTEGER NOT NULL,
    parent    INTEGER REFERENCES commits (id),
    content   INTEGER REFERENCES contents (id),
    canonical TEXT    NOT NULL
, seal INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE UNIQUE INDEX commits_by_place ON commits (lineage, depth);
CREATE TABLE counts (
    content   INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    encoding  INTEGER NOT NULL,
    mask      BLOB    NOT NULL,
    tokens    INTEGER NOT NULL,
    estimated INTEGER NOT NULL, seal INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (content, encoding, mask)
) STRICT, WITHOUT ROWID;
CREATE TABLE checkpoints (
    commit_id INTEGER PRIMARY KEY REFERENCES commits (id) ON DELETE CASCADE,
    lineage   INTEGER NOT NULL,
    depth     INTEGER NOT NULL,
    data      BLOB    NOT NULL
, seal INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE UNIQUE INDEX checkpoints_by_place ON checkpoints (lineage, depth);
CREATE TABLE usage (
    commit_id           INTEGER PRIMARY KEY REFERENCES commits (id) ON DELETE CASCADE,
    input_tokens        INTEGER NOT NULL,
    output_tokens       INTEGER NOT NULL,
    cached_tokens       INTEGER NOT NULL,
    written_tokens      INTEGER NOT NULL,
    written_hour_tokens INTEGER NOT NULL,
    reasoning_tokens    INTEGER NOT NULL
, seal INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE refs (
    name     TEXT PRIMARY KEY,
    target   INTEGER REFERENCES commits (id),
    symbolic TEXT, seal INTEGER NOT NULL DEFAULT 0, active INTEGER,
    CHECK ((target IS NULL) <> (symbolic IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX refs_by_activity ON refs (active DESC, name) WHERE name >= 'refs/heads/' AND name < 'refs/heads0';
CREATE TABLE operations (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    time INTEGER NOT NULL,
    what TEXT    NOT NULL
, undoes INTEGER REFERENCES operations (id), redoes INTEGER REFERENCES operations (id), seal INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE reflog (
    id           INTEGER PRIMARY KEY,
    operation    INTEGER NOT NULL REFERENCES operations (id),
    name         TEXT    NOT NULL,
    old_target   INTEGER REFERENCES commits (id),
    old_symbolic TEXT,
    new_target   INTEGER REFERENCES commits (id),
    new_symbolic TEXT
, seal INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX reflog_by_name ON reflog (name);
CREATE INDEX reflog_by_operation ON reflog (operation);
CREATE TABLE config (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
, seal INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE sources (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    session     TEXT    NOT NULL,
    format      TEXT    NOT NULL,
    size_bytes  INTEGER NOT NULL,
    fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32)
, seal INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX sources_by_session ON sources (session);
CREATE TABLE source_blocks (
    id         INTEGER PRIMARY KEY,
    source     INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    start      INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    encoding   INTEGER NOT NULL,
    data       BLOB    NOT NULL
, seal INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE UNIQUE INDEX source_blocks_by_place ON source_blocks (source, start);
CREATE TABLE commit_records (
    commit_id INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    source    INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    spans     BLOB    NOT NULL, seal INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (commit_id, source)
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (
    name   TEXT PRIMARY KEY,
    title  TEXT,
    cwd    TEXT,
    absent TEXT NOT NULL
, seal INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_cwd ON sessions (cwd) WHERE cwd IS NOT NULL;
CREATE TABLE resumes (
    tool      TEXT    NOT NULL,
    session   TEXT    NOT NULL,
    commit_id INTEGER NOT NULL REFERENCES commits (id),
    messages  INTEGER NOT NULL,
    digest    BLOB    NOT NULL CHECK (length(digest) = 32), seal INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tool, session)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE search USING fts5 (
    pieces,
    content = '',
    contentless_delete = 1,
    detail = none,
    tokenize = 'ascii'
);
CREATE TABLE segments (
    last       INTEGER PRIMARY KEY,
    since      INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    seal       INTEGER NOT NULL
) STRICT;
CREATE TABLE words (
    id      INTEGER PRIMARY KEY,
    segment INTEGER NOT NULL,
    word    BLOB    NOT NULL,
    data    BLOB    NOT NULL,
    seal    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX words_by_place ON words (segment, word);
CREATE INDEX commits_by_append ON commits (content, parent) WHERE content IS NOT NULL;
CREATE TABLE tag_notes (
    tag       TEXT    PRIMARY KEY,
    commit_id INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    time      INTEGER NOT NULL,
    note      TEXT    NOT NULL
, seal INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE followers (
    session TEXT PRIMARY KEY,
    branch  TEXT NOT NULL
, seal INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE adopted (
    id      INTEGER PRIMARY KEY,
    session TEXT    NOT NULL,
    theirs  INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    ours    INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE
, seal INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX adopted_by_session ON adopted (session);
CREATE TABLE purges (
    operation INTEGER PRIMARY KEY REFERENCES operations (id)
, seal INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE authors (
    operation INTEGER PRIMARY KEY REFERENCES operations (id),
    name      TEXT,
    client    TEXT,
    run       TEXT,
    seal      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE unscrubbed (
    operation INTEGER PRIMARY KEY
) STRICT;
CREATE INDEX commits_not_append ON commits (lineage, depth) WHERE content IS NULL;
CREATE TABLE totals (
    lineage   INTEGER NOT NULL,
    depth     INTEGER NOT NULL,
    encoding  INTEGER NOT NULL,
    messages  INTEGER NOT NULL,
    tokens    INTEGER NOT NULL,
    estimates INTEGER NOT NULL,
    seal      INTEGER NOT NULL,
    PRIMARY KEY (lineage, encoding, depth)
) STRICT, WITHOUT ROWID;
CREATE TABLE tool_uses (
    content INTEGER PRIMARY KEY REFERENCES contents (id) ON DELETE CASCADE,
    uses    TEXT    NOT NULL,
    seal    INTEGER NOT NULL
) STRICT;
CREATE TABLE quarantine (
    id        INTEGER PRIMARY KEY,
    origin    TEXT    NOT NULL,
    statement TEXT    NOT NULL,
    seal      INTEGER NOT NULL
) STRICT;
CREATE TABLE checks (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    time INTEGER NOT NULL,
    seal INTEGER NOT NULL
) STRICT;
CREATE TABLE summaries (
    lineage  INTEGER NOT NULL,
    depth    INTEGER NOT NULL,
    encoding INTEGER NOT NULL,
    data     BLOB    NOT NULL,
    seal     INTEGER NOT NULL,
    PRIMARY KEY (lineage, encoding, depth)
) STRICT, WITHOUT ROWID;
CREATE TABLE collections (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    times     INTEGER NOT NULL,
    operation INTEGER REFERENCES operations (id),
    seal      INTEGER NOT NULL
) STRICT;
CREATE TABLE dictionaries (
    id         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 1),
    trained    INTEGER NOT NULL,
    offered    INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    data       BLOB    NOT NULL,
    seal       INTEGER NOT NULL
) STRICT;
CREATE TABLE packs (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    first      INTEGER NOT NULL,
    last       INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    data       BLOB    NOT NULL,
    seal       INTEGER NOT NULL
) STRICT;
CREATE TABLE followed (
    path        TEXT    PRIMARY KEY,
    source      INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    size_bytes  INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    file        INTEGER NOT NULL,
    hashed      BLOB    NOT NULL,
    settings    TEXT    NOT NULL,
    time        INTEGER NOT NULL,
    seal        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX followed_by_source ON followed (source);
CREATE TABLE unread (
    path TEXT    PRIMARY KEY,
    why  TEXT    NOT NULL,
    time INTEGER NOT NULL,
    seal INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE origins (
    name        TEXT PRIMARY KEY,
    source      INTEGER,
    began       INTEGER,
    copied_from TEXT,
    seal        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE starters (
    agent   TEXT    PRIMARY KEY,
    starter TEXT    NOT NULL,
    seal    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE injected (
    message   TEXT    PRIMARY KEY,
    commit_id INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    seal      INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE usage_details (
    reply     TEXT    PRIMARY KEY,
    commit_id INTEGER NOT NULL REFERENCES commits (id) ON DELETE CASCADE,
    detail    TEXT    NOT NULL,
    seal      INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE stated_usage (
    name   TEXT    PRIMARY KEY,
    stated TEXT    NOT NULL,
    seal   INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE billed (
    name    TEXT    PRIMARY KEY,
    tip     BLOB    NOT NULL CHECK (length(tip) = 32),
    until   INTEGER NOT NULL,
    replies BLOB    NOT NULL,
    seal    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX billed_by_until ON billed (until);
CREATE TABLE recordings (
    session TEXT    PRIMARY KEY,
    until   INTEGER NOT NULL,
    seal    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX contents_erased ON contents (id) WHERE preview = '[purged]';
INSERT INTO contents VALUES (1, X'D26E0D1683BC3F60C00AB3EE7E0B59C6423D5A05BE0AF3A6AF4B952763CF3DCE', 2, 'one', 54, 0, 0, 2243235039);
INSERT INTO contents VALUES (2, X'81E2ACC036FB2839769D7CDDEE2E15C527E4192DCBC581276E024C485B47FE48', 3, 'two', 59, 0, 0, 833712631);
INSERT INTO bodies VALUES (1, 0, X'7B227061727473223A5B7B2274657874223A226F6E65222C2274797065223A2274657874227D5D2C22726F6C65223A2275736572227D');
INSERT INTO bodies VALUES (2, 0, X'7B227061727473223A5B7B2274657874223A2274776F222C2274797065223A2274657874227D5D2C22726F6C65223A22617373697374616E74227D');
INSERT INTO lineages VALUES (1, NULL, NULL, 656631243, 0);
INSERT INTO commits VALUES (1, X'8CFAB40186FF8DF5C123F291F37B78FE83DF4EE941F7B1E77CBAD01A013BB613', 1, 0, NULL, 1, '{"operation":{"content":"d26e0d1683bc3f60c00ab3ee7e0b59c6423d5a05be0af3a6af4b952763cf3dce","type":"append"},"time":1795474717530}', 1673011407);
INSERT INTO commits VALUES (2, X'392A45E3CC8611C7438DB726C24A99C234D74D43974CC9D8675657B4E4BD23FC', 1, 1, 1, 2, '{"operation":{"content":"81e2acc036fb2839769d7cddee2e15c527e4192dcbc581276e024c485b47fe48","type":"append"},"parent":"8cfab40186ff8df5c123f291f37b78fe83df4ee941f7b1e77cbad01a013bb613","time":1795474717578}', 1583374832);
INSERT INTO counts VALUES (1, 0, X'', 5, 0, 3079173748);
INSERT INTO counts VALUES (2, 0, X'', 5, 0, 3387965138);
INSERT INTO refs VALUES ('refs/heads/main', 2, NULL, 1619187999, 1795474717578);
INSERT INTO refs VALUES ('refs/heads/side', 2, NULL, 999521065, 1795474717578);
INSERT INTO refs VALUES ('refs/tags/v1', 2, NULL, 1852174524, NULL);
INSERT INTO operations VALUES (1, 1795474717530, 'commit -r user -m …', NULL, NULL, 4270666161);
INSERT INTO operations VALUES (2, 1795474717578, 'commit -r assistant -m …', NULL, NULL, 3693121910);
INSERT INTO operations VALUES (3, 1795474717617, 'tag v1 HEAD -m …', NULL, NULL, 2299667711);
INSERT INTO operations VALUES (4, 1795474717727, 'branch side HEAD', NULL, NULL, 1205998876);
INSERT INTO authors VALUES (4, 'Mara', 'tract', NULL, 3909841292);
INSERT INTO reflog VALUES (1, 1, 'refs/heads/main', NULL, NULL, 1, NULL, 3333291408);
INSERT INTO reflog VALUES (2, 2, 'refs/heads/main', 1, NULL, 2, NULL, 4192152128);
INSERT INTO reflog VALUES (3, 3, 'refs/tags/v1', NULL, NULL, 2, NULL, 1559818341);
INSERT INTO reflog VALUES (4, 4, 'refs/heads/side', NULL, NULL, 2, NULL, 3935677364);
INSERT INTO config VALUES ('budget.max', '90', 1563867552);
INSERT INTO tag_notes VALUES ('refs/tags/v1', 2, 1795474717617, 'a note', 3538421163);
INSERT INTO sqlite_sequence VALUES ('operations', 4);
