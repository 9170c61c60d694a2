//! Single messages erased for good: by name, and by what they say.

use crate::sandbox::Sandbox;
use crate::upkeep::purge::places_of;
use crate::upkeep::secrets::{amazon, github, session};

/// The session with secrets, and what came of it: a branch, a tag with a note, an edit, something hidden, and
/// something reset away.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let token = github(0);
    sandbox.write("session.jsonl", session());
    sandbox.ok(&["import", "session.jsonl"]);
    sandbox.ok(&["tag", "v1", "-m", &format!("here was {token}")]);
    sandbox.ok(&["checkout", "-b", "other"]);
    sandbox.ok(&["commit", "-r", "user", "-m", &format!("{token} again")]);
    let edited = format!("no: {token}");
    sandbox.ok(&["commit", "--edit", ":1", "-m", &edited]);
    sandbox.ok(&["commit", "-r", "user", "-m", "and on"]);
    sandbox.ok(&["drop", ":3"]);
    sandbox.ok(&["commit", "-r", "user", "-m", &format!("away with {token}")]);
    sandbox.ok(&["reset", "HEAD^"]);
    sandbox.ok(&["find", "-F", "ghp_"]);
    sandbox.ok(&["status"]);
    sandbox
}

#[test]
fn what_says_what_is_looked_for_is_erased_wherever_it_is() {
    let sandbox = sandbox();
    let token = github(0);
    let secrets = [token.as_str()];
    assert!(!places_of(&sandbox, &secrets).is_empty());
    let hashes = sandbox.ok(&["log", "-n", "0", "--format", "%H"]);
    let pattern = ["purge", "--match", "ghp_[a-z0-9]{36}"];
    let with = |more: &str| sandbox.tract(&[&pattern[..], &[more]].concat());

    insta::assert_snapshot!(sandbox.tract(&pattern), @r"
    exit code: 1
    --- stderr
    error: 6 messages, 1 kept session file and 1 tag note would be erased for good
    hint: tract purge --match 'ghp_[a-z0-9]{36}' --force; --dry-run lists them
    ");
    let shown = with("--dry-run").replace(&token, "TOKEN");
    insta::assert_snapshot!(shown.replace(&token[14..31], "…"), @r#"
    Would erase 6 messages, 1 kept session file and 1 tag note
      0573c04  user       log in with TOKEN, please
      2010819  assistant  shell command=["gh","auth","login","--token","ghp_0000q7Zk2m……
      d969622  tool       {"output":"as \u001b[32mTOKEN\u001b[0m\n"}
      1c0cc3b  user       TOKEN again
      7bf187a  user       no: TOKEN
      d077bae  user       away with TOKEN
      the kept file of sessions/codex/5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c71
      the note of v1
    Would end the undo of 2 commands
      #9  reset HEAD^
      #7  drop :3
    "#);
    assert_eq!(sandbox.ok(&["log", "-n", "0", "--format", "%H"]), hashes);
    insta::assert_snapshot!(with("--force"), @r"
    --- stderr
    Erased 6 messages (783 B) and 1 kept session file and 1 title or note for good
    hint: session files outside of .tract are not touched
    ");
    assert_eq!(places_of(&sandbox, &secrets), Vec::<String>::new());
    assert_eq!(sandbox.ok(&["log", "-n", "0", "--format", "%H"]), hashes);
    sandbox.ok(&["fsck"]);
    insta::assert_snapshot!(sandbox.ok(&["log", "--oneline"]), @r"
    00a9a5f      2026-03-14 12:08:00  drop    -1 message   -8 tokens  55  (HEAD -> other)
    3c87cbe  :7  2026-03-14 12:07:00  append  user         +6         63  and on
    7bf187a  :1  2026-03-14 12:06:00  edit    user          0         57  [purged]
    1c0cc3b  :6  2026-03-14 12:05:00  append  user         +8         57  [purged]
    a3620e5  :5  2026-01-02 03:04:06  append  assistant    +6         49  (main, codex/5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c71, v1)  Done.
    d969622  :4  2026-01-02 03:04:05  append  user         +8         43  [purged]
    2010819  :3  2026-01-02 03:04:04  append  assistant    +8         35  [purged]
    0573c04      2026-01-02 03:04:03  append  user         +8         27  [purged]
    01fe7c8  :2  2026-01-02 03:04:02  append  assistant    +8         19  Here it is.
    d1c76b2  :1  2026-01-02 03:04:01  append  user        +11         11  show me the log
    ");
    insta::assert_snapshot!(sandbox.tract(&["undo"]), @r"
    exit code: 1
    --- stderr
    error: a purge cannot be undone
    hint: what was purged does not come back
    ");
    insta::assert_snapshot!(with("--force"), @r"
    --- stderr
    Nothing to erase
    ");

    // The file still has it, and brings nothing back, grown or not.
    insta::assert_snapshot!(sandbox.tract(&["import", "session.jsonl"]), @r"
    --- stderr
    Nothing new in codex 5b0c9a1e-7d42: 6 messages
    ");
    let prompt = session()
        .lines()
        .nth(1)
        .expect("a prompt")
        .replace("the log", "it again");
    sandbox.write("session.jsonl", session() + &prompt + "\n");
    sandbox.ok(&["import", "session.jsonl"]);
    let grown = sandbox.ok(&["log", "sessions/codex/5b0c9a1e", "--oneline"]);
    assert!(grown.contains("show me it again"), "{grown}");
    assert_eq!(places_of(&sandbox, &secrets), Vec::<String>::new());
    sandbox.ok(&["fsck"]);
}

#[test]
fn a_record_that_is_no_message_is_erased_and_comes_not_back() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", session());
    sandbox.ok(&["import", "session.jsonl"]);
    let key = amazon();
    assert!(!places_of(&sandbox, &[&key]).is_empty());
    insta::assert_snapshot!(sandbox.tract(&["purge", "--match", &key.to_lowercase(), "--force"]), @r"
    --- stderr
    Erased 1 kept session file for good
    hint: session files outside of .tract are not touched
    ");
    assert_eq!(places_of(&sandbox, &[&key]), Vec::<String>::new());
    for _ in 0..2 {
        sandbox.ok(&["import", "session.jsonl"]);
        assert_eq!(places_of(&sandbox, &[&key]), Vec::<String>::new());
    }
    assert!(sandbox.ok(&["compile"]).contains("show me the log"));
}

#[test]
fn a_message_that_is_named_is_erased_with_all_that_it_ever_said() {
    let sandbox = Sandbox::with_messages(&[("user", "keep this"), ("user", "hunter2")]);
    sandbox.ok(&["commit", "--edit", ":2", "-m", "hunter3"]);
    sandbox.ok(&["commit", "--edit", ":2", "-m", "hunter4"]);
    sandbox.ok(&["drop", "--force", ":2"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "go on"]);
    sandbox.ok(&["find", "-F", "hunter"]);
    insta::assert_snapshot!(sandbox.tract(&["purge", "HEAD~4"]), @r"
    exit code: 1
    --- stderr
    error: 3 messages would be erased for good
    hint: tract purge HEAD~4 --force; --dry-run lists them
    ");
    insta::assert_snapshot!(sandbox.tract(&["purge", "HEAD~4", "--force"]), @r"
    --- stderr
    Erased 3 messages (174 B) for good
    hint: session files outside of .tract are not touched
    ");
    assert_eq!(places_of(&sandbox, &["hunter"]), Vec::<String>::new());
    insta::assert_snapshot!(sandbox.ok(&["compile", "--format", "text"]), @r"
    [1] user
      keep this

    [2] user
      go on
    ");
    sandbox.ok(&["fsck"]);
    // What is written again is a new message.
    sandbox.ok(&["commit", "-r", "user", "-m", "hunter4"]);
    assert!(sandbox.ok(&["compile"]).contains("hunter4"));
}

#[test]
fn what_is_looked_for_is_found_however_json_spells_it_and_what_is_hashed_is_refused() {
    let secret = r#"p"ss\wörd"#;
    let sandbox = Sandbox::with_messages(&[("user", &format!("it is {secret}"))]);
    let call = serde_json::json!({
        "role": "assistant", "content": null,
        "tool_calls": [{"id": "1", "type": "function", "function": {
            "name": "sh", "arguments": serde_json::json!({
                "command": serde_json::json!(["login", secret]).to_string().replace('ö', "\\u00f6"),
            }).to_string(),
        }}],
    });
    sandbox.write("call.json", call.to_string());
    sandbox.ok(&["commit", "--json", "call.json"]);
    let pattern = regex::escape(secret);
    insta::assert_snapshot!(sandbox.tract(&["purge", "--match", &pattern, "--dry-run"]), @r#"
    Would erase 2 messages
      0862330  user       it is p"ss\wörd
      558e389  assistant  sh command="["login","p\"ss\\w\u00f6rd"]"
    "#);
    sandbox.ok(&["purge", "--match", &pattern, "--force"]);
    assert_eq!(
        places_of(&sandbox, &["ss\\\\w", "ss\\w"]),
        Vec::<String>::new()
    );
    insta::assert_snapshot!(sandbox.tract(&["purge", "--match", &pattern, "--force"]), @r"
    --- stderr
    Nothing to erase
    ");

    sandbox.ok(&["commit", "-r", "user", "-m", "more", "--note", "hunter2"]);
    let said = sandbox.tract(&["purge", "--match", "hunter2", "--force"]);
    assert!(said.contains("Erased 1 commit note for good"), "{said}");
    assert!(
        said.contains("note: 1 commit has another name now"),
        "{said}"
    );
    assert!(!sandbox.ok(&["log", "-v"]).contains("hunter2"));
    sandbox.ok(&[
        "commit",
        "-r",
        "user",
        "-m",
        "more",
        "--set",
        "user=\"hunter5\"",
    ]);
    let commit = sandbox.ok(&["rev-parse", "HEAD"]);
    insta::assert_snapshot!(sandbox.tract(&["purge", "--match", "hunter5", "--force"]).replace(&commit[..7], "[COMMIT]"), @r"
    exit code: 1
    --- stderr
    error: [COMMIT] has it among its request settings, which are part of its hash and cannot be purged
    hint: tract show REV prints its settings
    ");
    insta::assert_snapshot!(sandbox.tract(&["purge", "--match", "a(b", "--force"]), @r"
    exit code: 2
    --- stderr
    error: the regular expression: unclosed group
    hint: a backslash makes a special character plain: \( \[ \. \* \+ \?
    ");
    insta::assert_snapshot!(sandbox.tract(&["purge", ":1#0", "--force"]), @r"
    exit code: 2
    --- stderr
    error: parts are not erased, only messages
    hint: tract drop takes parts out of the context
    ");
}
