//! A name never goes before the hash that it looks like, and no name acts on a terminal.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;

use crate::sandbox::{Sandbox, THE_FILE, is_left_out};

/// Plants what no command would write, and seals all rows as the program would have.
fn plant(sandbox: &Sandbox, sql: &str) {
    let database = Connection::open(sandbox.work().join(".tract/tract.db")).expect("opens");
    let sealed = |row: &Context<'_>| Ok(i64::from(seal(row)));
    database
        .create_scalar_function("sealed", -1, FunctionFlags::SQLITE_UTF8, sealed)
        .expect("a function");
    database.execute_batch(sql).expect("SQL");
    let tables = "SELECT m.name, group_concat(c.name ORDER BY c.cid)
         FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
         WHERE m.type = 'table' AND c.name NOT IN ('seal', 'canonical', 'active')
           AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'seal') GROUP BY 1";
    let mut tables = database.prepare(tables).expect("SQL");
    let tables = tables.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    for table in tables.expect("reads") {
        let (table, columns): (String, String) = table.expect("a table");
        let seal = format!("UPDATE {table} SET seal = sealed({columns})");
        database.execute_batch(&seal).expect("SQL");
    }
}

/// The checksum of a row, by `docs/object-format.md`.
fn seal(row: &Context<'_>) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    for at in 0..row.len() {
        let (kind, bytes) = match row.get_raw(at) {
            ValueRef::Null => (0, &[][..]),
            ValueRef::Integer(number) => {
                crc.update(&[1]);
                crc.update(&number.to_le_bytes());
                continue;
            }
            ValueRef::Real(_) => panic!("no table has such a column"),
            ValueRef::Text(text) => (3, text),
            ValueRef::Blob(blob) => (4, blob),
        };
        crc.update(&[kind]);
        crc.update(&(bytes.len() as u64).to_le_bytes());
        crc.update(bytes);
    }
    crc.finalize()
}

/// The hashes of a repository with three messages, the newest first.
fn hashes(sandbox: &Sandbox) -> Vec<String> {
    let listed = sandbox.ok(&["log", "--format", "%H"]);
    listed.lines().map(str::to_owned).collect()
}

fn three() -> Sandbox {
    Sandbox::with_messages(&[("user", "one"), ("assistant", "two"), ("user", "three")])
}

#[test]
fn a_name_like_a_hash_never_goes_before_the_commit() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = three();
    let hashes = hashes(&sandbox);
    let oldest = &hashes[2];
    for folder in ["refs/heads/", "refs/tags/", "refs/", "refs/sessions/"] {
        for length in [4, 7, 40, 64] {
            for name in [oldest[..length].to_owned(), oldest[..length].to_uppercase()] {
                plant(
                    &sandbox,
                    &format!(
                        "INSERT INTO refs (name, target) SELECT '{folder}{name}', id FROM commits WHERE depth = 2"
                    ),
                );
                let commit = |rev: &str| sandbox.ok(&["rev-parse", rev]).trim().to_owned();
                assert_eq!(commit(&name), *oldest, "{folder}{name}");
                assert_eq!(commit(&format!("{folder}{name}")), hashes[0]);
                assert_eq!(
                    sandbox
                        .ok(&["log", "-n", "1", "--format", "%H", &name])
                        .trim(),
                    oldest
                );
                assert!(sandbox.ok(&["compile", &name]).contains("one"));
                // Looking there is no step onto the branch.
                sandbox.ok(&["checkout", &name]);
                assert_eq!(commit("HEAD"), *oldest);
                assert!(sandbox.ok(&["status"]).starts_with("HEAD detached"));
                sandbox.ok(&["checkout", "main"]);
                plant(
                    &sandbox,
                    &format!("DELETE FROM refs WHERE name = '{folder}{name}'"),
                );
            }
        }
    }
}

#[test]
fn a_branch_like_a_hash_that_is_there_is_reached_by_its_full_name() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = three();
    let hashes = hashes(&sandbox);
    let name = &hashes[2][..7];
    plant(
        &sandbox,
        &format!(
            "INSERT INTO refs (name, target) SELECT 'refs/heads/{name}', id FROM commits WHERE depth = 1"
        ),
    );
    let full = format!("refs/heads/{name}");
    let said = |arguments: &[&str]| sandbox.tract(arguments).replace(name, "[NAME]");
    insta::assert_snapshot!(said(&["checkout", &full]), @r#"
    --- stderr
    On refs/heads/[NAME], at 8822737 ("two")
    "#);
    insta::assert_snapshot!(said(&["branch"]), @r"
      main                fb779ee  2026-03-14 12:04:00  18 tokens  one
    * refs/heads/[NAME]  8822737  2026-03-14 12:03:00  13 tokens  one
    ");
    insta::assert_snapshot!(said(&["commit", "-r", "user", "-m", "four"]), @"8abd7cd user 5 tokens");
    sandbox.ok(&["checkout", "HEAD^"]);
    insta::assert_snapshot!(said(&["commit", "-r", "user", "-m", "five"]), @r"
    exit code: 1
    --- stderr
    error: Cannot commit in detached HEAD. Use 'tract checkout refs/heads/[NAME]' to return to your branch.
    hint: to go on from here and keep both: tract checkout -b NAME
    ");
    sandbox.ok(&["checkout", "-"]);
    sandbox.ok(&["branch", "-m", &full, "plain"]);
    sandbox.ok(&["rev-parse", "plain"]);
}

#[test]
fn a_name_like_a_hash_is_not_made() {
    let sandbox = three();
    insta::assert_snapshot!(sandbox.tract(&["branch", "cafe"]), @r"
    exit code: 2
    --- stderr
    error: 'cafe' is not a valid name: 4 to 64 hex digits are taken for a hash
    hint: such as fix-parser or ideas/one
    ");
    let refusal = sandbox.tract(&["branch", "cafe"]);
    let session = sandbox.write("session.json", r#"[{"role":"user","content":"hi"}]"#);
    let session = session.to_str().expect("UTF-8").to_owned();
    for command in [
        &["tag", "cafe"][..],
        &["tag", "cafe", "HEAD^", "-m", "note"],
        &["checkout", "-b", "cafe"],
        &["checkout", "-b", "cafe", "HEAD^"],
        &["branch", "-m", "cafe"],
        &["branch", "-m", "main", "cafe"],
        &["branch", "refs/heads/cafe"],
        &["--on", "cafe", "commit", "-r", "user", "-m", "x"],
        &["import", &session, "--as", "cafe"],
        &["import", &session, "--onto", "cafe"],
    ] {
        assert_eq!(sandbox.tract(command), refusal, "{command:?}");
    }
    for name in ["0000", "DEADBEEF", "2024", &"f".repeat(64)] {
        assert!(
            sandbox
                .tract(&["branch", name])
                .contains("taken for a hash"),
            "{name}"
        );
    }
    for name in ["caf", "cafes", "cafe-1", "x/cafe", &"f".repeat(65)] {
        sandbox.ok(&["branch", name]);
    }
}

#[test]
fn a_session_like_a_hash_gets_a_branch_that_is_not() {
    let sandbox = Sandbox::new();
    let line = |id: &str| {
        format!(
            "{}\n{}\n",
            serde_json::json!({"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":id,"timestamp":"2026-01-01T00:00:00Z","cwd":"/x"}}),
            serde_json::json!({"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":id}]}}),
        )
    };
    for id in ["deadbeef", "cafe"] {
        let path = sandbox.write(&format!("{id}.jsonl"), line(id));
        sandbox.ok(&["import", path.to_str().expect("UTF-8")]);
    }
    insta::assert_snapshot!(sandbox.ok(&["branch"]), @r"
      codex-cafe  4104e1d  2026-01-01 00:00:01   9 tokens  cafe
    * main        f8f1039  2026-01-01 00:00:01  10 tokens  codex  deadbeef
    ");
    sandbox.ok(&[
        "rev-parse",
        "codex/cafe",
        "sessions/codex/cafe",
        "refs/sessions/codex/cafe",
    ]);
}

/// What a terminal would act on: a title set, the screen cleared, a C1 control, a text turned round,
/// a line faked.
const EVIL: &str =
    "ev\u{1b}]0;pwn\u{7}\u{1b}[2J\u{9b}31m\u{202e}il\u{200b}\u{feff}\r\nerror: faked";
/// The same as far as a ref's name can hold it.
const EVIL_NAME: &str = "ev\u{202e}il\u{2066}\u{200b}";

/// Whatever a terminal could act on, and lines that a name has faked.
fn acts(text: &str) -> bool {
    let acts = |c: char| {
        (c.is_control() && !"\n\t".contains(c))
            || matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    text.contains(acts) || text.lines().any(|line| line.starts_with("error: faked"))
}

/// A repository in which every name there is acts on terminals.
fn hostile() -> Sandbox {
    let sandbox = Sandbox::new();
    let said = |role: &str, content: serde_json::Value| serde_json::json!({"role": role, "content": content});
    let messages = [
        said("system", EVIL.into()),
        said("user", EVIL.into()),
        said(
            "assistant",
            serde_json::json!([{"type":"text","text":EVIL},{"type":"tool_use","id":EVIL,"name":EVIL,"input":{EVIL:EVIL}}]),
        ),
        said(
            "user",
            serde_json::json!([{"type":"tool_result","tool_use_id":EVIL,"content":EVIL}]),
        ),
    ];
    for message in messages {
        let path = sandbox.write("message.json", message.to_string());
        let path = path.to_str().expect("UTF-8");
        let model = format!("x={}", serde_json::Value::from(EVIL));
        sandbox.ok(&[
            "commit", "--json", path, "--note", EVIL, "--model", EVIL, "--set", &model,
        ]);
    }
    sandbox.ok(&["tag", "v1", "-m", EVIL]);
    sandbox.ok(&["annotate", ":2", "--pin", "--reason", EVIL]);
    sandbox.ok(&["drop", ":-1"]);
    let session = format!("refs/sessions/codex/{EVIL_NAME}");
    let quoted = EVIL.replace('\'', "''");
    plant(
        &sandbox,
        &format!(
            "INSERT INTO refs (name, target) SELECT 'refs/heads/{EVIL_NAME}', id FROM commits WHERE depth = 2;
             INSERT INTO refs (name, target) SELECT 'refs/tags/{EVIL_NAME}', id FROM commits WHERE depth = 3;
             INSERT INTO refs (name, target) SELECT '{session}', id FROM commits WHERE depth = 3;
             INSERT INTO sessions (name, title, cwd, absent) VALUES ('{session}', '{quoted}', '{quoted}', json_array('{quoted}'));
             INSERT INTO sources (session, format, size_bytes, fingerprint) VALUES ('{session}', 'codex', 0, zeroblob(32));
             INSERT INTO commit_records (commit_id, source, spans) SELECT id, 1, x'' FROM commits WHERE depth = 3;
             INSERT INTO followers (session, branch) VALUES ('{session}', 'refs/heads/{EVIL_NAME}');
             INSERT INTO config (key, value) VALUES ('{quoted}', '{quoted}');
             UPDATE contents SET preview = '{quoted}' WHERE id = 2;
             UPDATE operations SET what = '{quoted}';
             UPDATE reflog SET name = 'refs/heads/{EVIL_NAME}' WHERE id = 2;
             UPDATE refs SET symbolic = 'refs/heads/{EVIL_NAME}', target = NULL WHERE name = 'HEAD';
             INSERT OR IGNORE INTO refs (name, target, symbolic) VALUES ('HEAD', NULL, 'refs/heads/{EVIL_NAME}');"
        ),
    );
    sandbox
}

#[test]
fn no_name_and_no_text_acts_on_a_terminal() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = hostile();
    let file = sandbox.write(
        &format!("{EVIL_NAME}\u{1b}[2J\nerror: faked.jsonl"),
        "no session",
    );
    let file = file.to_str().expect("UTF-8").to_owned();
    let session = sandbox.write(
        "\u{1b}[2J.json",
        format!(
            r#"{{"id":{0},"title":{0},"mapping":{{}}}}"#,
            serde_json::Value::from(EVIL)
        ),
    );
    let session = session.to_str().expect("UTF-8").to_owned();
    let openai = sandbox.write(
        &format!("{EVIL_NAME}\u{9b}.json"),
        serde_json::json!([{"role":"user","content":EVIL,"name":EVIL}]).to_string(),
    );
    let openai = openai.to_str().expect("UTF-8").to_owned();
    let out = sandbox.work().join("out\u{1b}[2J\u{202e}.json");
    let out = out.to_str().expect("UTF-8").to_owned();
    let range = format!("{EVIL}..HEAD");
    let full = format!("refs/heads/{EVIL_NAME}");
    let commands: &[&[&str]] = &[
        &[],
        &["status"],
        &["log"],
        &["log", "-v"],
        &["log", "--oneline", EVIL_NAME],
        &["log", "--role", EVIL],
        &["log", &range],
        &["log", "--format", "%H %r %o %t %s %d"],
        &["show"],
        &["show", ":1"],
        &["show", ":2", "--full"],
        &["show", ":3"],
        &["show", "v1"],
        &["show", EVIL_NAME],
        &["show", EVIL],
        &["diff", "HEAD~3"],
        &["diff", "HEAD~3", "--stat"],
        &["diff", "main", EVIL_NAME],
        &["find", "-F", "il"],
        &["find", "-F", EVIL],
        &["branch"],
        &["branch", EVIL],
        &["branch", EVIL_NAME],
        &["branch", "-d", EVIL],
        &["branch", "-d", EVIL_NAME],
        &["branch", "-m", EVIL_NAME, EVIL],
        &["branch", &format!("{EVIL_NAME}2")],
        &[
            "branch",
            "-m",
            &format!("{EVIL_NAME}2"),
            &format!("{EVIL_NAME}3"),
        ],
        &["branch", "-d", &format!("{EVIL_NAME}3")],
        &["tag"],
        &["tag", EVIL],
        &["tag", EVIL_NAME],
        &["tag", &format!("{EVIL_NAME}2"), "-m", EVIL],
        &["tag", "-d", &format!("{EVIL_NAME}2")],
        &["tag", "-d", EVIL],
        &["reflog"],
        &["reflog", EVIL_NAME],
        &["reflog", EVIL],
        &["rev-parse", EVIL],
        &["rev-parse", EVIL_NAME],
        &["rev-parse", &format!("{EVIL_NAME}:99")],
        &["rev-parse", &format!("{EVIL_NAME}~99")],
        &["rev-parse", &format!("{EVIL_NAME}@{{99}}")],
        &["rev-parse", &format!("{}x", &EVIL_NAME[..5])],
        &["config"],
        &["config", EVIL],
        &["config", EVIL, EVIL],
        &["config", "budget.max", EVIL],
        &["config", "budget.action", EVIL],
        &["config", "compile.format", EVIL],
        &["config", "--global", EVIL],
        &["config", "--global", "safe.directory", EVIL],
        &["import"],
        &["import", &file],
        &["import", &session],
        &["import", &openai],
        &["import", &openai, "--as", EVIL_NAME],
        &["import", &openai, "--as", EVIL],
        &["import", &openai, "--onto", EVIL_NAME],
        &["import", "--strict", &file],
        &["import", "--format", EVIL, &file],
        &["import", EVIL],
        &["export", "-o", &out, "--format", "openai"],
        &["export", "-o", &out, "--format", "openai"],
        &["export", "-o", EVIL, "--format", EVIL],
        &["resume", "--in", "codex", EVIL],
        &["resume", "--in", "codex"],
        &["commit", "-r", EVIL, "-m", EVIL],
        &["commit", "-r", "user", "-m", EVIL],
        &["commit", "-r", "user", "-F", EVIL],
        &["commit", "-r", "user", "-m", "x", "--expect", EVIL],
        &["commit", "-r", "user", "-m", "x", "--expect", EVIL_NAME],
        &["commit", "--edit", EVIL, "-m", "x"],
        &["commit", "--json", EVIL],
        &["annotate", EVIL, "--pin"],
        &["drop", EVIL],
        &["restore", EVIL],
        &["reset", EVIL],
        &["reset", EVIL_NAME],
        &["checkout", EVIL],
        &["checkout", "-b", EVIL],
        &["checkout", "-b", EVIL_NAME],
        &["checkout", "main"],
        &["checkout", EVIL_NAME],
        &["checkout", &full],
        &["checkout", "HEAD^"],
        &["status"],
        &["commit", "-r", "user", "-m", "x"],
        &["checkout", "-"],
        &["truncate", "--keep", "1", "--dry-run"],
        &["truncate", "--keep", EVIL],
        &["compact", "-m", EVIL, "--dry-run"],
        &[
            "compact",
            "--exec",
            &format!("printf '%s' '{EVIL_NAME}\u{1b}[2J' >&2; false"),
        ],
        &["compact", "--exec", &format!("printf '%s' '{EVIL}'")],
        &["prune", "--dry-run"],
        &["prune", "--min", EVIL],
        &["undo"],
        &["undo", EVIL],
        &["redo"],
        &["redo"],
        &["clear", "--dry-run"],
        &["--on", EVIL_NAME, "status"],
        &["--on", EVIL_NAME, "log", "-n", "2"],
        &["--on", EVIL, "status"],
        &["--repo", EVIL, "status"],
        &["--repo", EVIL, "log"],
        &[EVIL],
        &["log", EVIL_NAME, &format!("--{EVIL}")],
        &["compile", EVIL],
        &["compile", EVIL_NAME, "--format", EVIL],
        &["init", &out],
    ];
    let mut wrong = Vec::new();
    for command in commands {
        let output = sandbox.command(command).output().expect("it runs");
        for stream in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(stream);
            if acts(&text) {
                wrong.push(format!("{command:?}\n{text:?}"));
            }
        }
        assert!(
            output.status.code().is_some_and(|code| code <= 4),
            "{command:?}"
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    for command in [
        &["find", "-F", "il"][..],
        &["log"],
        &["branch"],
        &["import", &openai],
        &["compile"],
        &["config"],
        &["status"],
    ] {
        if let Some(drawn) = sandbox.on_terminal("80", command) {
            let fakes = [
                "\u{1b}]0;pwn",
                "\u{1b}[2J",
                "\u{9b}31m",
                "\u{202e}",
                "\u{200b}",
            ];
            for fake in fakes {
                assert!(!drawn.contains(fake), "{command:?}\n{drawn:?}");
            }
        }
    }
}
