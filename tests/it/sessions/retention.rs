//! How many imported sessions are kept.

use crate::sandbox::Sandbox;

/// Three sessions of different times, whose files are gone, on which nothing of one's own stands but on the first.
fn three() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    for (name, day) in [("one", "01"), ("two", "20"), ("three", "28")] {
        let record = |role: &str, text: &str, at: &str| {
            let id = format!("{name}-{at}");
            let parent = match at {
                "0" => "null".to_owned(),
                _ => format!("\"{name}-0\""),
            };
            format!(
                r#"{{"type":"{role}","uuid":"{id}","parentUuid":{parent},"sessionId":"{name}","timestamp":"2026-01-{day}T09:0{at}:00.000Z","cwd":"/work","message":{{"role":"{role}","content":"{text} of {name}"}}}}"#
            )
        };
        let lines = [
            record("user", "a question", "0"),
            record("assistant", "an answer", "1"),
        ];
        let file = sandbox.work().join(format!("{name}.jsonl"));
        std::fs::write(&file, lines.join("\n") + "\n").expect("written");
        sandbox.ok(&["import", &format!("{name}.jsonl")]);
        std::fs::remove_file(file).expect("gone");
    }
    sandbox
}

#[test]
fn what_a_rule_does_not_keep_is_let_go_and_comes_back_until_the_log_forgets() {
    let sandbox = three();
    sandbox.wait_days(60);
    let branches = sandbox.ok(&["branch"]);
    let log = |name: &str| sandbox.tract(&["compile", name, "--format", "text"]);
    let two = log("two");
    insta::assert_snapshot!(sandbox.tract(&["gc", "--keep", "1", "--dry-run"]), @r"
    claude-code/two  2026-01-20 09:01:00  2 messages  504
    --- stderr
    Would let go of 1 session: 504 B that nothing else needs
    hint: tract undo brings it back until the log forgets it; to delete it now: tract gc --expire now
    ");
    assert_eq!(sandbox.ok(&["branch"]), branches);
    insta::assert_snapshot!(sandbox.tract(&["gc", "--keep", "1"]), @r"
    --- stderr
    Let go of 1 session: claude-code/two
    hint: tract undo brings it back until the log forgets it; to delete it now: tract gc --expire now
    ");
    // HEAD is on main, which follows the first.
    insta::assert_snapshot!(sandbox.tract(&["branch"]), @r"
      three  5875eeb  2026-01-28 09:01:00  19 tokens  file gone  claude-code  a question of three
    * main   82d892b  2026-01-01 09:01:00  19 tokens  file gone  claude-code  a question of one
    ");
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.ok(&["branch"]), branches);
    assert_eq!(log("two"), two);
    sandbox.ok(&["redo"]);
    insta::assert_snapshot!(sandbox.tract(&["gc", "--expire", "now"]), @r"
    --- stderr
    Took out 2 commits, 2 messages (140 B) and 1 kept session file (364 B)
    Forgot 6 operations: there is nothing left to undo
    ");
    sandbox.ok(&["fsck"]);
    assert!(log("two").contains("nothing here is called 'two'"));
}

#[test]
fn a_tag_and_a_setting_keep() {
    let sandbox = three();
    sandbox.wait_days(365);
    sandbox.ok(&["tag", "keep-this", "two"]);
    sandbox.ok(&["config", "gc.keep", "30d"]);
    insta::assert_snapshot!(sandbox.tract(&["config", "gc.keep"]), @"30d");
    insta::assert_snapshot!(sandbox.tract(&["gc", "--dry-run"]), @r"
    claude-code/three  2026-01-28 09:01:00  2 messages  522
    --- stderr
    Would let go of 1 session: 522 B that nothing else needs
    Would forget 3 operations: undo reaches back to #4 (3 min ago)
    ");
    insta::assert_snapshot!(sandbox.tract(&["gc", "--keep", "all", "--dry-run"]), @r"
    --- stderr
    Would forget 3 operations: undo reaches back to #4 (4 min ago)
    ");
    insta::assert_snapshot!(sandbox.tract(&["gc", "--keep", "some"]), @r"
    exit code: 2
    --- stderr
    error: invalid value 'some' for '--keep <KEEP>': it is a number of sessions, a number of days such as 90d, both (100,90d), or all
    hint: tract gc --help
    ");
    insta::assert_snapshot!(sandbox.tract(&["config", "gc.keep", "some"]), @r"
    exit code: 2
    --- stderr
    error: gc.keep: 'some' is neither all, a number of sessions, a number of days such as 90d, nor both: 100,90d
    hint: tract config --help says what each setting takes
    ");
    // While its file is there, it would only come in again.
    std::fs::write(sandbox.work().join("three.jsonl"), "{}\n").expect("written");
    insta::assert_snapshot!(sandbox.tract(&["gc", "--dry-run"]), @r"
    --- stderr
    Would let go of no session
    Would forget 3 operations: undo reaches back to #4 (7 min ago)
    ");
}

/// Whatever a session's file is, as long as it is there the session stays: one of several in a file, and one that came in
/// without its secrets.
#[test]
fn every_session_whose_file_is_there_stays() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    let talk = |at: usize| {
        format!(
            r#"{{"title":"t{at}","create_time":170000000{at},"update_time":170000000{at},"conversation_id":"c{at}","mapping":{{
            "r":{{"id":"r","message":null,"parent":null,"children":["a"]}},
            "a":{{"id":"a","parent":"r","children":[],"message":{{"id":"a","author":{{"role":"user"}},"create_time":170000000{at},
                "content":{{"content_type":"text","parts":["question {at}"]}},"metadata":{{}}}}}}}},"current_node":"a"}}"#
        )
    };
    let all = format!("[{},{},{}]", talk(0), talk(1), talk(2));
    let several = sandbox.write("several.json", all);
    let secret = concat!(
        "sk-ant-",
        "api03-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyz-abcdefAA"
    );
    let record = format!(
        r#"{{"type":"user","uuid":"a","parentUuid":null,"sessionId":"redacted","timestamp":"2026-01-01T09:00:00.000Z","cwd":"/work","message":{{"role":"user","content":"the key is {secret}"}}}}"#
    );
    let redacted = sandbox.write("redacted.jsonl", record + "\n");
    let path = |path: &std::path::Path| path.to_str().expect("text").to_owned();
    sandbox.ok(&["import", &path(&several)]);
    sandbox.ok(&["import", "--redact", &path(&redacted)]);
    let branches = sandbox.ok(&["branch"]);
    insta::assert_snapshot!(sandbox.tract(&["gc", "--keep", "0", "--dry-run"]), @r"
    --- stderr
    Would let go of no session
    Nothing to delete
    ");
    sandbox.ok(&["gc", "--keep", "0", "--expire", "now"]);
    assert_eq!(sandbox.ok(&["branch"]), branches);
    std::fs::remove_file(redacted).expect("gone");
    std::fs::remove_file(several).expect("gone");
    // HEAD holds one of them, and a branch of one's own another.
    sandbox.ok(&["branch", "own", "chatgpt/c2"]);
    let said = sandbox.tract(&["gc", "--keep", "0"]);
    assert!(said.contains("Let go of 2 sessions"), "{said}");
    assert!(!said.contains("c2"), "{said}");
}

/// Of a session whose file a purge took, nobody knows where the file is: it stays.
#[test]
fn a_session_of_which_a_purge_took_something_stays() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    let record = |id: &str, parent: &str, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":{parent},"sessionId":"one","timestamp":"2026-01-01T09:00:00.000Z","cwd":"/work","message":{{"role":"user","content":"{text}"}}}}"#
        ) + "\n"
    };
    let lines = record("a", "null", "the task") + &record("b", "\"a\"", "ZQXSECRET");
    sandbox.write("one.jsonl", lines);
    sandbox.ok(&["import", "one.jsonl"]);
    sandbox.ok(&["checkout", "-b", "own"]);
    sandbox.ok(&["reset", "--root"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "mine"]);
    sandbox.ok(&["purge", "--match", "ZQXSECRET", "--force"]);
    let said = sandbox.tract(&["gc", "--keep", "0"]);
    assert!(!said.contains("Let go"), "{said}");
    assert!(sandbox.ok(&["branch"]).contains("main"));
    // Its file comes in once more, and is moved away.
    sandbox.ok(&["import", "one.jsonl"]);
    let there = sandbox.work().join("one.jsonl");
    std::fs::rename(&there, sandbox.home().join("moved.jsonl")).expect("moved");
    let said = sandbox.tract(&["gc", "--keep", "0", "--expire", "now"]);
    assert!(!said.contains("Let go"), "{said}");
    let moved = sandbox.home().join("moved.jsonl");
    sandbox.ok(&["import", moved.to_str().expect("UTF-8")]);
    assert!(!sandbox.tract(&["log", "main"]).contains("ZQXSECRET"));
}

/// What an undo took back is not there as it was when it came in.
#[test]
fn a_file_whose_import_was_undone_is_new_again() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    let home = sandbox.home();
    let folder = home.join(".claude/projects/-work");
    std::fs::create_dir_all(&folder).expect("made");
    for name in ["one", "two"] {
        let record = format!(
            r#"{{"type":"user","uuid":"{name}","parentUuid":null,"sessionId":"{name}","timestamp":"2026-01-01T09:00:00.000Z","cwd":"/work","message":{{"role":"user","content":"of {name}"}}}}"#
        );
        std::fs::write(folder.join(format!("{name}.jsonl")), record + "\n").expect("written");
    }
    sandbox.ok(&["import", "--all"]);
    let said = sandbox.tract(&["import", "--all"]);
    assert!(
        said.contains("2 files are as they were when they came in"),
        "{said}"
    );
    let branches = sandbox.ok(&["branch"]);
    // One undo takes back what one command brought.
    sandbox.ok(&["undo"]);
    let said = sandbox.tract(&["import", "--all"]);
    assert_eq!(said.matches("Imported claude-code").count(), 2, "{said}");
    assert_eq!(sandbox.ok(&["branch"]), branches);
    let reflog = sandbox.ok(&["reflog", "-n", "1"]);
    let last = reflog.trim_start().split(' ').next().expect("a number");
    sandbox.ok(&["undo", last]);
    let said = sandbox.tract(&["import", "--all"]);
    assert!(said.contains("Imported claude-code"), "{said}");
    assert!(
        said.contains("1 other file is as it was when it came in"),
        "{said}"
    );
    assert_eq!(sandbox.ok(&["branch"]), branches);
}
