//! Erasing for good.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use rusqlite::Connection;
use rusqlite::types::Value;
use tract::hash::CommitHash;
use tract::model::RefName;
use tract::repo::Repo;

use crate::sandbox::{Sandbox, THE_FILE, dump, is_left_out, on_servers};

/// In a short message, which is stored as it is, and in a long one, which is compressed.
const SECRETS: [&str; 3] = ["hunter2-short", "hunter2-long", "hunter2-tool"];

fn long(secret: &str) -> String {
    let filler: String = (0..400)
        .map(|n| format!("line {n} of a log that compresses well\n"))
        .collect();
    format!("{filler}{secret}\n{filler}")
}

/// A session of a file, and own messages after it.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let long = serde_json::to_string(&long(SECRETS[1])).expect("JSON");
    let session = format!(
        r#"{{"messages":[{{"role":"system","content":"Be brief."}},
        {{"role":"user","content":"My password is {}."}},
        {{"role":"assistant","content":{long}}},
        {{"role":"assistant","content":null,"tool_calls":[{{"id":"c1","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}},
        {{"role":"tool","tool_call_id":"c1","content":"{}"}},
        {{"role":"user","content":"Thanks, {}."}}]}}"#,
        SECRETS[0], SECRETS[2], SECRETS[0]
    );
    sandbox.write("session.json", session);
    sandbox.ok(&["import", "session.json"]);
    sandbox.ok(&[
        "commit",
        "-r",
        "user",
        "-m",
        &format!("Again: {}", SECRETS[0]),
    ]);
    // What was reset away is not kept by the reflog either.
    sandbox.ok(&[
        "commit",
        "-r",
        "assistant",
        "-m",
        &format!("Noted: {}", SECRETS[2]),
    ]);
    sandbox.ok(&["reset", "HEAD^"]);
    sandbox.ok(&["find", "-F", "hunter2"]);
    sandbox
}

/// Where a secret stands: in a raw file of the repository, or in a value of a table, decompressed
/// where it is compressed.
fn places(sandbox: &Sandbox) -> Vec<String> {
    places_of(sandbox, &SECRETS)
}

/// The same of any of these.
pub fn places_of(sandbox: &Sandbox, secrets: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let has = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        secrets.iter().any(|secret| text.contains(secret))
    };
    // Of a server's repository there are none.
    let files = fs::read_dir(sandbox.work().join(".tract"));
    for file in files.ok().into_iter().flatten() {
        let path = file.expect("an entry").path();
        if has(&fs::read(&path).expect("readable")) {
            found.push(format!("raw {}", path.display()));
        }
    }
    for (table, rows) in dump(sandbox) {
        for value in rows.into_iter().flatten() {
            let bytes = match value {
                Value::Text(text) => text.into_bytes(),
                Value::Blob(bytes) => bytes,
                _ => continue,
            };
            let unpacked = zstd::decode_all(bytes.as_slice()).unwrap_or_default();
            if has(&bytes) || has(&unpacked) {
                found.push(table.clone());
            }
        }
    }
    found
}

#[test]
fn what_was_purged_is_nowhere() {
    let sandbox = sandbox();
    let before = places(&sandbox);
    assert!(on_servers() || before.iter().any(|place| place.starts_with("raw")));
    assert!(before.contains(&"bodies".to_owned()));
    let hashes = sandbox.ok(&["log", "-n", "0", "--format", "%H"]);

    insta::assert_snapshot!(sandbox.tract(&["clear", "--purge"]), @r"
    exit code: 2
    --- stderr
    error: a purge erases for good: no command brings it back
    hint: tract clear --purge --force
    ");
    insta::assert_snapshot!(sandbox.tract(&["clear", "--purge", "--force"]), @r"
    --- stderr
    Cleared 6 messages
    Erased 7 messages (32 kB) and 1 kept session file for good
    note: kept from before: 1 message that the context, another branch, a tag or a session needs
    hint: session files outside of .tract are not touched
    ");
    assert_eq!(places(&sandbox), Vec::<String>::new());

    // Every commit is there under its hash, and its hash is that of what it says.
    let after = sandbox.ok(&["log", "-n", "0", "--format", "%H"]);
    assert!(after.ends_with(&hashes));
    let repo = Repo::open(Path::new(&sandbox.place())).expect("opens");
    for hash in after.lines() {
        let hash: CommitHash = hash.parse().expect("a hash");
        assert_eq!(repo.commit_at(&hash).expect("there").hash(), hash);
    }
    drop(repo);
    insta::assert_snapshot!(sandbox.ok(&["log"]), @r"
    724e415      2026-03-14 12:09:00  clear   -6 messages  -48 tokens  10  (HEAD -> main)
    5eaa9c9      2026-03-14 12:03:00  append  user          +8         58  [purged]
    82ce037      -                    append  user          +8         50  (openai/session)  [purged]
    bd0043f      -                    append  user          +8         42  [purged]
    f012602      -                    append  assistant     +8         34  [purged]
    b05d950      -                    append  assistant     +8         26  [purged]
    18455b0      -                    append  user          +8         18  [purged]
    80ccb6e  :1  -                    append  system       +10         10  Be brief.
    ");
    insta::assert_snapshot!(sandbox.ok(&["compile", "HEAD^"]), @r#"{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"[purged]"},{"role":"assistant","content":"[purged]"},{"role":"assistant","content":"[purged]"},{"role":"user","content":"[purged]"},{"role":"user","content":"[purged]"},{"role":"user","content":"[purged]"}]}"#);
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "hunter2"]), @r"
    exit code: 1
    --- stderr
    No message matches
    ");
    insta::assert_snapshot!(sandbox.tract(&["undo"]), @r"
    exit code: 1
    --- stderr
    error: a purge cannot be undone
    hint: what was purged does not come back
    ");
    insta::assert_snapshot!(sandbox.tract(&["reflog"]), @r"
    #6  2026-03-14 12:09:00  clear --purge --force
    #5  2026-03-14 12:09:00  [purged]               main 5eaa9c9 → 724e415
    #4  2026-03-14 12:05:00  [purged]               main 6d97d14 → 5eaa9c9, ORIG_HEAD none → 6d97d14, PREV_HEAD none → 6d97d14
    #3  2026-03-14 12:04:00  [purged]               main 5eaa9c9 → 6d97d14
    #2  2026-03-14 12:03:00  [purged]               main 82ce037 → 5eaa9c9
    #1  2026-03-14 12:02:00  import [purged]        main none → 82ce037, sessions/openai/session none → 82ce037
    ");

    // Importing the file again fills nothing.
    insta::assert_snapshot!(sandbox.tract(&["import", "session.json"]), @r"
    --- stderr
    Nothing new in openai session: 6 messages
    ");
    assert_eq!(places(&sandbox), Vec::<String>::new());
    // What comes after works as ever, undo included.
    sandbox.ok(&["commit", "-r", "user", "-m", "A new start."]);
    sandbox.ok(&["undo"]);
    insta::assert_snapshot!(sandbox.tract(&["undo"]), @r"
    exit code: 1
    --- stderr
    error: what came before was purged
    hint: what was purged does not come back
    ");
}

#[test]
fn what_other_history_needs_stays_and_is_reported() {
    let sandbox = sandbox();
    sandbox.ok(&["branch", "aside", ":2"]);
    sandbox.ok(&["--on", "aside", "commit", "-r", "assistant", "-m", "Noted."]);
    insta::assert_snapshot!(sandbox.tract(&["clear", "--purge", "--force"]), @r"
    --- stderr
    Cleared 6 messages
    Erased 6 messages (32 kB) and 1 kept session file for good
    note: kept from before: 2 messages that the context, another branch, a tag or a session needs
    hint: session files outside of .tract are not touched
    ");
    assert!(sandbox.ok(&["compile", "aside"]).contains(SECRETS[0]));
    assert!(!sandbox.ok(&["compile", "HEAD^"]).contains(SECRETS[1]));
}

#[test]
fn notes_and_reasons_go_with_what_was_purged() {
    let sandbox = sandbox();
    let note = format!("remember {}", SECRETS[0]);
    sandbox.ok(&["commit", "-r", "user", "-m", "x", "--note", &note]);
    sandbox.ok(&["pin", ":1", "--reason", &long(SECRETS[1])]);
    let said = sandbox.tract(&["clear", "--purge", "--force"]);
    assert!(said.contains("2 commit notes"), "{said}");
    assert!(
        said.contains("have another name now, for a note is hashed with its commit"),
        "{said}"
    );
    assert_eq!(places(&sandbox), Vec::<String>::new());
    sandbox.ok(&["fsck"]);
}

/// What a purge must keep of a history in which a note goes: each message, in its place, whatever leads to it.
#[test]
fn a_reason_is_erased_and_everything_else_is_as_it_was() {
    let sandbox = sandbox();
    let reason = long("ZQXREASON").repeat(2);
    sandbox.ok(&["tag", "early"]);
    sandbox.ok(&["pin", ":1", "--reason", &reason]);
    let pin = sandbox.ok(&["rev-parse", "HEAD"]);
    sandbox.ok(&["tag", "late", "-m", "of the pin"]);
    sandbox.ok(&["commit", "-r", "assistant", "-m", "And on."]);
    sandbox.ok(&["drop", ":-1"]);
    sandbox.ok(&["checkout", "-b", "side"]);
    sandbox.ok(&["restore", "HEAD"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Aside."]);
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&["merge", "side", "--messages"]);
    sandbox.ok(&["resume", "--in", "claude-code"]);
    sandbox.ok(&["checkout", "late"]);
    sandbox.ok(&["checkout", "main"]);
    let early = sandbox.ok(&["rev-parse", "early"]);
    let what = |rev: &str| {
        let listed = ["log", rev, "-n", "0", "--format", "%t %r %s"];
        (
            sandbox.ok(&["compile", rev]),
            sandbox.ok(&listed).lines().count(),
        )
    };
    let all = || ["main", "side", "late", "early"].map(what);
    let before = all();
    let said = sandbox.tract(&["purge", "--match", "ZQXREASON", "--dry-run"]);
    assert!(said.contains("Would erase 1 commit note\n"), "{said}");
    assert!(
        said.contains(&format!("the note of {}", &pin[..7])),
        "{said}"
    );
    assert_eq!(all(), before);
    insta::assert_snapshot!(sandbox.tract(&["purge", "--match", "ZQXREASON", "--force"]), @r"
    --- stderr
    Erased 1 commit note for good
    note: 5 commits have another name now, for a note is hashed with its commit; undo reaches back no further
    note: clones and bundles from before keep the note; a fetch from one brings it back
    hint: session files outside of .tract are not touched
    ");
    assert_eq!(all(), before);
    assert_eq!(places_of(&sandbox, &["ZQXREASON"]), Vec::<String>::new());
    assert_eq!(sandbox.ok(&["rev-parse", "early"]), early);
    assert!(sandbox.tract(&["show", pin.trim()]).contains("no commit"));
    assert!(sandbox.ok(&["log", "late", "-n", "1"]).contains("[purged]"));
    assert!(sandbox.ok(&["tag"]).contains("of the pin"));
    sandbox.ok(&["fsck"]);
    // What comes in and goes on finds the commits that there are.
    sandbox.ok(&["import", "session.json"]);
    sandbox.ok(&["gc", "--expire", "now"]);
    assert_eq!(all(), before);
    sandbox.ok(&["commit", "-r", "user", "-m", "It goes on."]);
    sandbox.ok(&["undo"]);
    let again = sandbox.tract(&["purge", "--match", "ZQXREASON", "--force"]);
    assert!(again.contains("Nothing to erase"), "{again}");
}

/// A session that was taken back once, whose title, directory and texts bear secrets.
const AGENT: &str = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","cwd":"/home/hunter2-tool","timestamp":"2026-01-05T10:00:01.000Z","message":{"role":"user","content":"Say it."}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s1","cwd":"/home/hunter2-tool","timestamp":"2026-01-05T10:00:02.000Z","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"hunter2-long"}]}}
{"type":"user","uuid":"u2","parentUuid":"u1","isSidechain":false,"sessionId":"s1","cwd":"/home/hunter2-tool","timestamp":"2026-01-05T10:00:03.000Z","message":{"role":"user","content":"No: hunter2-tool."}}
{"type":"ai-title","aiTitle":"About hunter2-short","sessionId":"s1"}
"#;

#[test]
fn titles_notes_and_directories_go_with_what_was_purged() {
    let sandbox = sandbox();
    sandbox.write("agent.jsonl", AGENT);
    sandbox.ok(&["import", "agent.jsonl"]);
    sandbox.ok(&["tag", "kept", "-m", "all about hunter2-short"]);
    sandbox.ok(&["tag", "gone", "-m", "all about hunter2-long"]);
    sandbox.ok(&["tag", "-d", "gone"]);
    sandbox.ok(&["tag", "moved", "-m", "all about hunter2-tool"]);
    sandbox.ok(&["tag", "-d", "moved"]);
    sandbox.ok(&["tag", "moved"]);
    sandbox.ok(&["find", "-F", "hunter2"]);
    let index = |sandbox: &Sandbox| {
        let rows = dump(sandbox)
            .into_iter()
            .filter(|(table, _)| ["search_data", "search"].contains(&table.as_str()));
        let values = rows.flat_map(|(_, rows)| rows.into_iter().flatten());
        let size = |value: Value| match value {
            Value::Blob(bytes) => bytes.len(),
            Value::Text(terms) => terms.len(),
            _ => 0,
        };
        values.map(size).sum::<usize>()
    };
    let before = index(&sandbox);
    let repo = Repo::open(Path::new(&sandbox.place())).expect("opens");
    let branches = repo.references(RefName::HEADS).expect("branches");
    drop(repo);
    assert!(branches.len() > 1, "{branches:?}");
    for (branch, _) in branches {
        sandbox.ok(&["checkout", branch.short()]);
        sandbox.ok(&["clear", "--all", "--purge", "--force"]);
    }
    assert_eq!(places(&sandbox), Vec::<String>::new());
    // The index keeps pieces of text, which nobody reads in it; but there is nothing left of them.
    assert!(
        index(&sandbox) < before / 10,
        "{} of {before}",
        index(&sandbox)
    );
}

#[test]
fn a_purge_beside_a_reader_says_what_is_left_and_the_next_writer_does_it() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = sandbox();
    let database = sandbox.work().join(".tract/tract.db");
    let reader = Connection::open(&database).expect("opens");
    let count = "SELECT count(*) FROM contents";
    let count = || reader.query_row(count, [], |row| row.get::<_, i64>(0));
    reader.execute_batch("BEGIN").expect("begun");
    let before = count().expect("counted");

    insta::assert_snapshot!(sandbox.tract(&["clear", "--purge", "--force"]), @r"
    exit code: 4
    --- stderr
    Cleared 6 messages
    Erased 7 messages (32 kB) and 1 kept session file from history
    note: kept from before: 1 message that the context, another branch, a tag or a session needs
    hint: session files outside of .tract are not touched
    error: the files still hold it, because another process reads or writes them
    hint: when it has ended, the next command that writes erases it
    ");
    assert!(sandbox.ok(&["compile", "HEAD^"]).contains("[purged]"));
    assert!(is_raw(&sandbox) && is_owed(&sandbox));
    // While it reads nobody can, and nobody waits for it.
    sandbox.ok(&["commit", "-r", "user", "-m", "A new start."]);
    assert!(is_raw(&sandbox) && is_owed(&sandbox));
    assert_eq!(count().expect("counted"), before);

    reader.execute_batch("COMMIT").expect("ended");
    sandbox.ok(&["compile"]);
    assert!(is_owed(&sandbox));
    sandbox.ok(&["commit", "-r", "user", "-m", "And on."]);
    assert!(!is_owed(&sandbox));
    assert_eq!(places(&sandbox), Vec::<String>::new());
}

/// Whether a secret stands in a file. Another process looks: closing a file here would take the
/// locks of a reader that has it open.
fn is_raw(sandbox: &Sandbox) -> bool {
    let mut grep = Command::new("grep");
    let grep = grep
        .args(["-raq", "hunter2"])
        .arg(sandbox.work().join(".tract"));
    grep.status().expect("it looks").success()
}

/// Whether a purge has left something to do.
fn is_owed(sandbox: &Sandbox) -> bool {
    !sandbox.query("SELECT 1 FROM unscrubbed").is_empty()
}

#[test]
fn an_export_that_nobody_reads_holds_up_no_purge() {
    let sandbox = Sandbox::new();
    // More than a pipe holds, and nothing that compresses.
    let mut state = 1_u64;
    let noise: String = std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        char::from(b'a' + (state >> 33) as u8 % 26)
    })
    .take(3 << 20)
    .collect();
    let text = format!(r#"{{"messages":[{{"role":"user","content":"hunter2-short {noise}"}}]}}"#);
    sandbox.write("session.json", text);
    sandbox.ok(&["import", "session.json"]);
    for format in ["openai", "anthropic", "codex"] {
        let mut export = sandbox
            .command(&["export", "openai/session", "--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut out = export.stdout.take().expect("a pipe");
        let mut some = [0; 1024];
        out.read_exact(&mut some).expect("it has begun");
        // It waits for its reader now; a purge doesn't wait for it.
        let told = match format {
            "openai" => sandbox.tract(&["commit", "-r", "user", "-m", "x"]),
            "anthropic" => sandbox.tract(&["config", "budget.max", "900000000"]),
            _ => sandbox.tract(&["clear", "--purge", "--force"]),
        };
        assert!(!told.contains("exit code"), "{format}: {told}");
        if !on_servers() {
            let view = Connection::open(sandbox.work().join(".tract/tract.db")).expect("opens");
            let is_busy = "PRAGMA wal_checkpoint(TRUNCATE)";
            let is_busy: bool = view
                .query_row(is_busy, [], |row| row.get(0))
                .expect("asked");
            assert!(!is_busy, "{format}");
        }
        let mut rest = Vec::new();
        out.read_to_end(&mut rest).expect("it goes on");
        assert!(export.wait().expect("it ends").success(), "{format}");
    }
    assert_eq!(places(&sandbox), Vec::<String>::new());
}

#[test]
fn an_export_of_a_file_that_is_erased_meanwhile_says_so() {
    let sandbox = Sandbox::new();
    let noise = "0123456789".repeat(500_000);
    let text = format!(r#"{{"messages":[{{"role":"user","content":"{noise}"}}]}}"#);
    sandbox.write("session.json", text);
    sandbox.ok(&["import", "session.json"]);
    let export = sandbox
        .command(&["export", "--allow-secrets", "HEAD"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut export = export;
    let mut out = export.stdout.take().expect("a pipe");
    out.read_exact(&mut [0; 1024]).expect("it has begun");
    sandbox.ok(&["clear", "--purge", "--force"]);
    out.read_to_end(&mut Vec::new()).expect("it ends");
    let output = export.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(4));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr), @r"
    error: 'sessions/openai/session' was changed by another process at the same time
    hint: try again: it continues from what is here now
    ");
}

#[test]
fn a_purge_ends_only_the_undoes_that_would_show_what_is_gone() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "Name a river."),
        ("user", "My password is hunter2."),
        ("assistant", "The Elbe."),
    ]);
    sandbox.ok(&["drop", ":2", "--force"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "And a lake?"]);
    let commands = [
        "purge --match hunter2 --dry-run",
        "purge --match hunter2 --force",
        "undo",
        "undo 5",
        "undo",
        "undo --to 1",
    ];
    insta::assert_snapshot!(crate::recovery::moves::walk(&sandbox, &commands), @r#"
    $ tract purge --match hunter2 --dry-run
    Would erase 1 message
      21b6d69  user       My password is hunter2.
    Would end the undo of 1 command
      #4  drop :2 --force
    $ tract purge --match hunter2 --force
    --- stderr
    Erased 1 message (74 B) for good
    hint: session files outside of .tract are not touched
    $ tract undo
    exit code: 1
    --- stderr
    error: a purge cannot be undone
    hint: tract undo 5 reverses the command before it
    $ tract undo 5
    --- stderr
    Undid #5 (4 min ago): [purged]
    On main, at 2db94bb ("drop")
    hint: back: tract redo
    $ tract undo
    exit code: 1
    --- stderr
    error: what came before was purged
    hint: what was purged does not come back
    $ tract undo --to 1
    exit code: 1
    --- stderr
    error: what came before was purged
    hint: what was purged does not come back
    "#);
}

/// A purge erases a session's kept file. What its client writes after that is known by the commits alone, a rewind too.
#[test]
fn a_session_that_a_purge_met_goes_on_after_a_rewind() {
    let sandbox = Sandbox::new();
    let whole = include_str!("../../data/claude-code/rewind.jsonl");
    let begun: String = whole.split_inclusive('\n').take(4).collect();
    sandbox.write("session.jsonl", begun);
    sandbox.ok(&["import", "session.jsonl"]);
    sandbox.ok(&["purge", "--match", "^Hello!$", "--force"]);
    sandbox.write("session.jsonl", whole);
    sandbox.ok(&["import", "session.jsonl"]);
    let sessions = "SELECT name FROM refs WHERE name LIKE 'refs/sessions/%' ORDER BY name";
    let id = "refs/sessions/claude-code/11111111-2222-4333-8444-555555555555";
    assert_eq!(
        sandbox.texts(sessions),
        [id.to_owned(), format!("{id}/leaf-1")]
    );
    assert!(sandbox.ok(&["find", "-F", "A cat."]).contains("A cat."));
    assert!(
        sandbox
            .tract(&["find", "-F", "Hello!"])
            .contains("No message matches")
    );
}

/// An undo of what was typed passes over imports, as before: a purge takes the words of an operation, not its kind.
#[test]
fn an_import_is_no_command_of_ones_own_after_a_purge_either() {
    let sandbox = Sandbox::new();
    let line = |id: &str, parent: &str, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":{parent},"sessionId":"s","cwd":"/p","version":"2.1.332","timestamp":"2026-11-28T10:00:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#
        ) + "\n"
    };
    let talk = line("a", "null", "the first of two") + &line("b", "\"a\"", "the word is hunter2");
    sandbox.write("talk.jsonl", talk);
    let path = "talk.jsonl".to_owned();
    sandbox.ok(&["import", &path]);
    sandbox.ok(&["commit", "-r", "user", "-m", "mine"]);
    sandbox.ok(&["purge", "--match", "hunter2", "--force"]);
    let log = sandbox.ok(&["reflog"]);
    assert!(
        log.contains("import [purged]") && !log.contains("talk.jsonl"),
        "{log}"
    );
    sandbox.ok(&["undo", "--since", "9000d"]);
    let found = sandbox.tract(&["find", "the first of two"]);
    assert!(found.contains("the first of two"), "{found}");
    sandbox.ok(&["import", &path]);
    let found = sandbox.tract(&["find", "hunter2"]);
    assert!(!found.contains("hunter2\n"), "{found}");
}
