//! Erasing for good.

use std::fs;

use rusqlite::types::Value;
use tract::hash::CommitHash;
use tract::history::Repo;

use crate::sandbox::{Sandbox, dump};

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
    sandbox.ok(&["find", "hunter2"]);
    sandbox
}

/// Where a secret stands: in a raw file of the repository, or in a value of a table, decompressed
/// where it is compressed.
fn places(sandbox: &Sandbox) -> Vec<String> {
    let mut found = Vec::new();
    let has = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        SECRETS.iter().any(|secret| text.contains(secret))
    };
    for file in fs::read_dir(sandbox.work().join(".tract")).expect("it is there") {
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
    assert!(before.iter().any(|place| place.starts_with("raw")));
    assert!(before.contains(&"bodies".to_owned()) && before.contains(&"source_blocks".to_owned()));
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
    let repo = Repo::open(&sandbox.work()).expect("opens");
    for hash in after.lines() {
        let hash: CommitHash = hash.parse().expect("a hash");
        assert_eq!(repo.commit_at(&hash).expect("there").hash(), hash);
    }
    drop(repo);
    insta::assert_snapshot!(sandbox.ok(&["log"]), @r"
    724e415  2026-03-14 12:09:00  clear   -6 messages  -48 tokens  10  (HEAD -> main)
    5eaa9c9  2026-03-14 12:03:00  append  user          +8         58  [purged]
    82ce037  -                    append  user          +8         50  (openai/session)  [purged]
    bd0043f  -                    append  user          +8         42  [purged]
    f012602  -                    append  assistant     +8         34  [purged]
    b05d950  -                    append  assistant     +8         26  [purged]
    18455b0  -                    append  user          +8         18  [purged]
    80ccb6e  -                    append  system       +10         10  Be brief.
    ");
    insta::assert_snapshot!(sandbox.ok(&["compile", "HEAD^"]), @r#"
    {"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"[purged]"},{"role":"assistant","content":"[purged]"},{"role":"assistant","content":"[purged]"},{"role":"user","content":"[purged]"},{"role":"user","content":"[purged]"},{"role":"user","content":"[purged]"}]}
    "#);
    insta::assert_snapshot!(sandbox.tract(&["find", "hunter2"]), @r"
    exit code: 1
    --- stderr
    No message matches
    ");
    insta::assert_snapshot!(sandbox.tract(&["undo"]), @r"
    exit code: 1
    --- stderr
    error: what came before was purged
    hint: a purge is for good
    ");
    insta::assert_snapshot!(sandbox.tract(&["reflog"]), @r"
    #6  2026-03-14 12:09:00  clear --purge
    #5  2026-03-14 12:09:00  [purged]       main 5eaa9c9 → 724e415
    #4  2026-03-14 12:05:00  [purged]       main 6d97d14 → 5eaa9c9, ORIG_HEAD none → 6d97d14, PREV_HEAD none → 6d97d14
    #3  2026-03-14 12:04:00  [purged]       main 5eaa9c9 → 6d97d14
    #2  2026-03-14 12:03:00  [purged]       main 82ce037 → 5eaa9c9
    #1  2026-03-14 12:02:00  [purged]       main none → 82ce037, sessions/openai/session none → 82ce037
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
    hint: a purge is for good
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
fn notes_cannot_be_purged_and_nothing_is_changed() {
    let sandbox = sandbox();
    sandbox.ok(&["commit", "-r", "user", "-m", "x", "--note", "remember"]);
    sandbox.ok(&["status"]);
    let before = dump(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["clear", "--purge", "--force"]), @r"
    exit code: 1
    --- stderr
    error: ca5a272 has a note or a reason, which is part of its hash and cannot be purged
    ");
    assert_eq!(dump(&sandbox), before);
}
