//! Secrets that came in with a session: said, taken out, kept from leaving. The tokens are put together
//! here, so that no scanner takes this file for a leak.

use crate::sandbox::{Sandbox, on_servers};
use crate::upkeep::purge::places_of;

/// A token as GitHub makes them, and another one for each number.
pub fn github(number: usize) -> String {
    format!("ghp_{number:04}{}", "q7Zk2mWx9RtB4vLc8YpN3sHd6GfJ5uKe")
}

/// An access key as Amazon makes them.
pub fn amazon() -> String {
    format!("AKIA{}", "Q7ZK2MWX4RTB5VLC")
}

/// A Codex session in which somebody shows a token, a command prints it, and a key stands in a picture of
/// the repository that is no message.
pub fn session() -> String {
    let (github, amazon) = (github(0), amazon());
    let say = |at: usize, payload: serde_json::Value| {
        let time = format!("2026-01-02T03:04:{at:02}.000Z");
        let line =
            serde_json::json!({"timestamp": time, "type": "response_item", "payload": payload});
        line.to_string() + "\n"
    };
    let text = |role: &str, kind: &str, text: String| serde_json::json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    let meta = serde_json::json!({
        "id": "5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c71", "timestamp": "2026-01-02T03:04:00.000Z",
        "cwd": "/work", "originator": "codex_cli_rs", "cli_version": "0.40.0",
        "instructions": null, "git": {"repository_url": format!("https://h/?key={amazon}")},
    });
    let first = serde_json::json!({
        "timestamp": "2026-01-02T03:04:00.000Z", "type": "session_meta", "payload": meta,
    });
    let call = serde_json::json!({
        "type": "function_call", "name": "shell", "call_id": "call_1",
        "arguments": serde_json::json!({"command": ["gh", "auth", "login", "--token", github]}).to_string(),
    });
    let result = serde_json::json!({
        "type": "function_call_output", "call_id": "call_1",
        "output": serde_json::json!({"output": format!("as \u{1b}[32m{github}\u{1b}[0m\n")}).to_string(),
    });
    [
        first.to_string() + "\n",
        say(1, text("user", "input_text", "show me the log".into())),
        say(2, text("assistant", "output_text", "Here it is.".into())),
        say(
            3,
            text(
                "user",
                "input_text",
                format!("log in with {github}, please"),
            ),
        ),
        say(4, call),
        say(5, result),
        say(6, text("assistant", "output_text", "Done.".into())),
    ]
    .concat()
}

#[test]
fn an_import_says_which_secrets_came_in_and_says_so_once() {
    let sandbox = Sandbox::new();
    let lines = session();
    let first: String = lines.split_inclusive('\n').take(4).collect();
    sandbox.write("session.jsonl", first);
    insta::assert_snapshot!(sandbox.tract(&["import", "session.jsonl"]), @r"
    --- stderr
    Imported codex 5b0c9a1e-7d42: 3 messages, on main
      records other than messages  1 record (-v lists them)
      not in the file              system prompt, tool definitions
    warning: 1 secret: 1 github-token
    hint: tract redact takes them out of the context; tract import --redact lets none in
    ");
    sandbox.write("session.jsonl", lines);
    insta::assert_snapshot!(sandbox.tract(&["import", "session.jsonl"]), @r"
    --- stderr
    Updated codex 5b0c9a1e-7d42: 3 new commits, now 6 messages, on main
      records other than messages  1 record (-v lists them)
      not in the file              system prompt, tool definitions
    warning: 2 secrets: 2 github-token
    hint: tract redact takes them out of the context; tract import --redact lets none in
    ");
    insta::assert_snapshot!(sandbox.tract(&["import", "session.jsonl"]), @r"
    --- stderr
    Nothing new in codex 5b0c9a1e-7d42: 6 messages
    ");
}

#[test]
fn what_the_user_allows_is_no_secret() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", session());
    let allowed = format!("^{}$", github(0));
    insta::assert_snapshot!(sandbox.tract(&["config", "--global", "secrets.allow", "a(b"]), @r"
    exit code: 2
    --- stderr
    error: the regular expression 'a(b': unclosed group
    hint: a backslash makes a special character plain: \( \[ \. \* \+ \?
    ");
    sandbox.ok(&["config", "--global", "secrets.allow", &allowed]);
    insta::assert_snapshot!(sandbox.tract(&["import", "session.jsonl"]), @r"
    --- stderr
    Imported codex 5b0c9a1e-7d42: 6 messages, on main
      records other than messages  1 record (-v lists them)
      not in the file              system prompt, tool definitions
    ");
}

/// A repository with that session in it.
fn with_session() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", session());
    sandbox.ok(&["import", "session.jsonl"]);
    sandbox
}

/// Whether a file is without the secrets, in any spelling of their letters that there is here.
fn is_clean(sandbox: &Sandbox, name: &str) -> bool {
    let bytes = std::fs::read(sandbox.work().join(name)).expect("it is there");
    let text = String::from_utf8_lossy(&bytes);
    [github(0), amazon()]
        .iter()
        .all(|token| !text.contains(&token[6..]))
}

#[test]
fn an_export_with_secrets_in_it_is_not_written() {
    let sandbox = with_session();
    insta::assert_snapshot!(sandbox.tract(&["export", "-o", "out.jsonl"]), @r"
    exit code: 1
    --- stderr
    error: 4 secrets: 3 github-token, 1 aws-access-key, in 0573c04, 2010819, d969622; nothing was written
    hint: --redact replaces them in what is written, --allow-secrets writes them too
    ");
    insta::assert_snapshot!(sandbox.tract(&["export"]), @r"
    exit code: 1
    --- stderr
    error: 4 secrets: 3 github-token, 1 aws-access-key, in 0573c04, 2010819, d969622; nothing was written
    hint: --redact replaces them in what is written, --allow-secrets writes them too
    ");
    insta::assert_snapshot!(sandbox.tract(&["export", "--format", "html", "-o", "out.jsonl"]), @r"
    exit code: 1
    --- stderr
    error: 4 secrets: 4 github-token, in 0573c04, 2010819, d969622; nothing was written
    hint: --redact replaces them in what is written, --allow-secrets writes them too
    ");
    insta::assert_snapshot!(sandbox.tract(&["export", "--format", "markdown"]), @r"
    exit code: 1
    --- stderr
    error: 4 secrets: 4 github-token, in 0573c04, 2010819, d969622; nothing was written
    hint: --redact replaces them in what is written, --allow-secrets writes them too
    ");
    insta::assert_snapshot!(sandbox.tract(&["view", "--format", "html"]), @r"
    exit code: 1
    --- stderr
    error: 4 secrets: 4 github-token, in 0573c04, 2010819, d969622; nothing was written
    hint: tract export --format html, or markdown, with --redact or --allow-secrets
    ");
    for format in ["openai", "anthropic", "responses", "claude-code", "roo"] {
        let said = sandbox.tract(&["export", "--format", format, "-o", "out.jsonl"]);
        assert!(
            said.contains("exit code: 1") && said.contains("nothing was written"),
            "{said}"
        );
    }
    assert!(!sandbox.work().join("out.jsonl").exists());
    // Where none of them goes along, nothing is refused.
    sandbox.ok(&["export", ":2", "--format", "openai", "-o", "early.json"]);
    sandbox.ok(&["export", "--allow-secrets", "-o", "whole.jsonl"]);
    let whole = std::fs::read_to_string(sandbox.work().join("whole.jsonl")).expect("written");
    assert_eq!(whole, session());
}

#[test]
fn an_export_without_its_secrets_is_a_session_like_any_other() {
    let sandbox = with_session();
    insta::assert_snapshot!(sandbox.tract(&["export", "--redact", "-o", "out.jsonl"]), @r"
    --- stderr
    Wrote 6 messages, 6 untouched, to out.jsonl
    Redacted 4 secrets: 3 github-token, 1 aws-access-key
    ");
    assert!(is_clean(&sandbox, "out.jsonl"));
    let back = Sandbox::new();
    let bytes = std::fs::read(sandbox.work().join("out.jsonl")).expect("written");
    back.write("session.jsonl", bytes);
    insta::assert_snapshot!(back.tract(&["import", "session.jsonl"]), @r"
    --- stderr
    Imported codex 5b0c9a1e-7d42: 6 messages, on main
      records other than messages  1 record (-v lists them)
      not in the file              system prompt, tool definitions
    ");
    insta::assert_snapshot!(back.tract(&["compile", "--format", "text"]), @r#"
    [1] user
      show me the log

    [2] assistant
      Here it is.

    [3] user
      log in with [redacted:github-token], please

    [4] assistant
    → shell {"command":["gh","auth","login","--token","[redacted:github-token]"]}

    [5] tool
    ← shell
      {"output":"as \u001b[32m[redacted:github-token]\u001b[0m\n"}

    [6] assistant
      Done.
    --- stderr
    note: not in the session file: system prompt, tool definitions
    "#);
    for format in ["openai", "anthropic", "claude-code", "html", "markdown"] {
        let name = format!("out.{format}");
        let said = sandbox.tract(&["export", "--redact", "--format", format, "-o", &name]);
        assert!(
            said.contains("Redacted ") && !said.contains("exit code"),
            "{said}"
        );
        assert!(is_clean(&sandbox, &name), "{format}");
    }
}

#[test]
fn a_bundle_with_secrets_in_it_is_not_written_hidden_ones_included() {
    let sandbox = with_session();
    sandbox.ok(&["drop", "--force", ":3", ":4", ":5"]);
    assert!(!sandbox.ok(&["compile"]).contains("ghp_"));
    insta::assert_snapshot!(sandbox.tract(&["bundle", "out.tract"]), @r"
    exit code: 1
    --- stderr
    error: 3 secrets: 3 github-token, in 0573c04, 2010819, d969622; nothing was written
    hint: --redact replaces them in what is written, --allow-secrets writes them too
    ");
    insta::assert_snapshot!(sandbox.tract(&["bundle", "--sources", "out.tract"]), @r"
    exit code: 1
    --- stderr
    error: 7 secrets: 6 github-token, 1 aws-access-key, in 0573c04, 2010819, d969622; nothing was written
    hint: --redact replaces them in what is written, --allow-secrets writes them too
    ");
    assert!(!sandbox.work().join("out.tract").exists());
    insta::assert_snapshot!(sandbox.tract(&["bundle", "--sources", "--redact", "out.tract"]), @r"
    --- stderr
    Wrote 7 commits, 6 messages, 1 session file to out.tract
    Redacted 7 secrets: 6 github-token, 1 aws-access-key
    ");
    let back = Sandbox::new();
    let bytes = std::fs::read(sandbox.work().join("out.tract")).expect("written");
    back.write("in.tract", bytes);
    insta::assert_snapshot!(back.tract(&["unbundle", "in.tract"]), @r"
    --- stderr
    Received 7 commits, 6 messages, 1 session file
      new    25cebf1  main
      new    f40b0ac  sessions/codex/5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c71
    ");
    back.ok(&["fsck"]);
    back.ok(&["restore", "HEAD"]);
    back.ok(&["export", "-o", "out.jsonl"]);
    assert!(is_clean(&back, "out.jsonl"));
    if !on_servers() {
        back.ok(&["backup", "copy.db"]);
        assert!(is_clean(&back, "copy.db") && is_clean(&back, ".tract/tract.db"));
    }
    sandbox.ok(&["bundle", "--allow-secrets", "all.tract"]);
}

#[test]
fn a_resumed_session_holds_no_secrets_unless_somebody_says_so() {
    let sandbox = with_session();
    insta::assert_snapshot!(sandbox.tract(&["resume"]), @r"
    exit code: 1
    --- stderr
    error: 5 secrets: 4 github-token, 1 aws-access-key, in 0573c04, 2010819, d969622; nothing was written
    hint: --redact replaces them in what is written, --allow-secrets writes them too
    ");
    assert!(!sandbox.home().join(".codex").exists());
    let written = |arguments: &[&str]| {
        let said = sandbox.tract(arguments);
        let path = said.lines().find_map(|line| line.strip_prefix("Wrote "));
        let path = path.unwrap_or_else(|| panic!("{said}"));
        let root = sandbox.home().parent().expect("a root").to_owned();
        let path = path.replace("[SANDBOX]", &root.display().to_string());
        std::fs::read_to_string(path).expect("it is there")
    };
    let redacted = written(&["resume", "--redact"]);
    assert!(redacted.contains("[redacted:github-token]") && !redacted.contains("ghp_"));
    // What is said in it goes on from there.
    sandbox.write("redacted.jsonl", &redacted);
    insta::assert_snapshot!(sandbox.tract(&["import", "redacted.jsonl"]), @r#"
    --- stderr
    Imported codex "show me the log": 6 messages, on codex-019cec3b
      records other than messages  6 records (-v lists them)
      not in the file              system prompt, tool definitions
    hint: HEAD stayed where it was; to look: tract --on codex-019cec3b status
    "#);
    assert!(written(&["resume", "--allow-secrets"]).contains("ghp_"));
    let said = sandbox.tract(&["config", "--global", "secrets.resume", "yes"]);
    assert!(
        said.contains("error: secrets.resume: 'yes' is not allow"),
        "{said}"
    );
    sandbox.ok(&["config", "--global", "secrets.resume", "allow"]);
    assert!(written(&["resume"]).contains("ghp_"));
    assert!(!written(&["resume", "--redact"]).contains("ghp_"));
}

#[test]
fn secrets_are_taken_out_of_the_context_and_an_undo_brings_them_back() {
    let sandbox = with_session();
    let before = sandbox.ok(&["compile"]);
    insta::assert_snapshot!(sandbox.tract(&["redact", "--dry-run"]).replace(&github(0)[14..31], "…"), @r#"
    Would redact 3 secrets: 3 github-token
    Would change 3 messages
      :3  user         41  log in with ghp_0000q7Zk2m…d6GfJ5uKe, please
      :4  assistant    51  shell gh auth login --token ghp_0000q7Zk2m…d6GfJ5uKe
      :5  tool         55  shell gh auth login --token ghp_0000q7Zk2m…d6GfJ5uKe → {"output":"as \u001b[32mghp_0000q7Zk2m…d6GfJ5uKe\u001b[0m\n"}
      =   3 messages  147
    Messages  6 → 6
    Tokens    172 → 96 (-76)
    Cache     the first 2 messages stay as they are: 19 tokens, 11%
    redact would reach 96, cache kept 11%
    "#);
    assert_eq!(sandbox.ok(&["compile"]), before);
    insta::assert_snapshot!(sandbox.tract(&["redact"]), @r"
    --- stderr
    Redacted 3 secrets: 3 github-token in 3 messages (-76 tokens); HEAD is now 93e7c13
    hint: the history and kept session files still hold them: only tract purge erases
    ");
    let after = sandbox.ok(&["compile"]);
    assert_eq!(after, before.replace(&github(0), "[redacted:github-token]"));
    insta::assert_snapshot!(sandbox.tract(&["redact"]), @r"
    --- stderr
    Nothing to redact: no secrets are visible
    ");
    insta::assert_snapshot!(sandbox.ok(&["log", "-n", "3"]).replace(&github(0)[14..31], "…"), @r#"
    93e7c13  :5  2026-03-14 12:06:00  edit  tool       -25   96  (HEAD -> main)  shell gh auth login --token ghp_0000q7Zk2m…d6GfJ5uKe → {"output":"as \u001b[32m[redacted:github-token]\u001b[0m\n"}
    49e7ee7  :4  2026-03-14 12:06:00  edit  assistant  -25  121  shell command=["gh","auth","login","--token","[redacted:github-token]"]
    621f42f  :3  2026-03-14 12:06:00  edit  user       -26  146  log in with [redacted:github-token], please
    "#);
    // What is left in the history goes along with a bundle, and not with the context alone.
    sandbox.ok(&["export", "--format", "openai", "-o", "out.json"]);
    assert!(is_clean(&sandbox, "out.json"));
    assert!(
        sandbox
            .tract(&["bundle", "out.tract"])
            .contains("nothing was written")
    );
    sandbox.ok(&["undo"]);
    assert_eq!(sandbox.ok(&["compile"]), before);
    // Of a message that is pruned, what is visible.
    sandbox.ok(&["redact", ":4", ":5"]);
    let after = sandbox.ok(&["compile"]);
    assert_eq!(after.matches(&github(0)).count(), 1);
    assert_eq!(after.matches("[redacted:github-token]").count(), 2);
}

#[test]
fn an_import_that_redacts_lets_no_secret_in_and_goes_on_so() {
    let sandbox = Sandbox::new();
    let lines = session();
    let first: String = lines.split_inclusive('\n').take(4).collect();
    // Its last record is not whole yet.
    sandbox.write(
        "session.jsonl",
        first + r#"{"timestamp":"2026-01-02T03:04:05Z","payload":""# + &github(1)[..30],
    );
    insta::assert_snapshot!(sandbox.tract(&["import", "--redact", "session.jsonl"]), @r"
    --- stderr
    Imported codex 5b0c9a1e-7d42: 3 messages, on main
      records other than messages  1 record (-v lists them)
      not in the file              system prompt, tool definitions, secrets (redacted)
    Redacted 2 secrets: 1 aws-access-key, 1 github-token
    ");
    let secrets = [&github(0)[8..], &github(1)[..8], &amazon()[4..]];
    assert_eq!(places_of(&sandbox, &secrets), Vec::<String>::new());
    // It has grown; nobody has to say again that it is to be redacted.
    sandbox.write("session.jsonl", &lines);
    insta::assert_snapshot!(sandbox.tract(&["import", "session.jsonl"]), @r"
    --- stderr
    Updated codex 5b0c9a1e-7d42: 3 new commits, now 6 messages, on main
      records other than messages  1 record (-v lists them)
      not in the file              system prompt, tool definitions, secrets (redacted)
    Redacted 4 secrets: 3 github-token, 1 aws-access-key
    ");
    insta::assert_snapshot!(sandbox.tract(&["import", "--redact", "session.jsonl"]), @r"
    --- stderr
    Nothing new in codex 5b0c9a1e-7d42: 6 messages
    ");
    insta::assert_snapshot!(sandbox.ok(&["log", "-n", "0", "--oneline"]), @r#"
    f40b0ac  :6  2026-01-02 03:04:06  append  assistant   +6  96  (HEAD -> main, codex/5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c71)  Done.
    ff455a2  :5  2026-01-02 03:04:05  append  tool       +30  90  shell gh auth login --token [redacted:github-token] → {"output":"as \u001b[32m[redacted:github-token]\u001b[0m\n"}
    061f564  :4  2026-01-02 03:04:04  append  assistant  +26  60  shell gh auth login --token [redacted:github-token]
    ddc7b84  :3  2026-01-02 03:04:03  append  user       +15  34  log in with [redacted:github-token], please
    01fe7c8  :2  2026-01-02 03:04:02  append  assistant   +8  19  Here it is.
    d1c76b2  :1  2026-01-02 03:04:01  append  user       +11  11  show me the log
    "#);
    assert_eq!(places_of(&sandbox, &secrets), Vec::<String>::new());
    sandbox.ok(&["fsck"]);
    sandbox.ok(&["export", "-o", "out.jsonl"]);
    let out = std::fs::read_to_string(sandbox.work().join("out.jsonl")).expect("written");
    let wanted = lines.replace(&github(0), "[redacted:github-token]");
    assert_eq!(out, wanted.replace(&amazon(), "[redacted:aws-access-key]"));
    sandbox.ok(&["bundle", "--sources", "out.tract"]);
    // Another session is none of its business.
    let id = "5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c72";
    sandbox.write(
        "other.jsonl",
        lines.replace("5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c71", id),
    );
    assert!(
        sandbox
            .tract(&["import", "other.jsonl"])
            .contains("warning: ")
    );
}

#[test]
fn what_came_in_with_its_secrets_is_not_redacted_by_a_further_import() {
    let sandbox = with_session();
    insta::assert_snapshot!(sandbox.tract(&["import", "--redact", "session.jsonl"]), @r"
    --- stderr
    Imported codex 5b0c9a1e-7d42 anew, for its file was rewritten: 6 messages, on codex-5b0c9a1e-2; 4 commits of before are kept
      records other than messages  1 record (-v lists them)
      not in the file              system prompt, tool definitions, secrets (redacted)
    hint: HEAD stayed where it was; to look: tract --on codex-5b0c9a1e-2 status
    Redacted 4 secrets: 3 github-token, 1 aws-access-key
    hint: what came in before still holds them: tract purge --match REGEX erases
    ");
    sandbox.ok(&["purge", "--match", "ghp_|AKIA", "--force"]);
    assert_eq!(
        places_of(&sandbox, &[&github(0), &amazon()]),
        Vec::<String>::new()
    );
}

#[test]
fn a_secret_that_comes_in_pieces_is_redacted_and_its_pieces_are_not_kept() {
    let sandbox = Sandbox::new();
    let event = |value: serde_json::Value| value.to_string() + "\n";
    let delta = |text: &str| {
        event(serde_json::json!({
            "type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text},
        }))
    };
    let token = github(7);
    let stream = [
        event(serde_json::json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
            "stop_reason": null, "usage": {"input_tokens": 1, "output_tokens": 1},
        }})),
        event(
            serde_json::json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        ),
        delta("it is "),
        delta(&token[..17]),
        delta(&token[17..]),
        event(serde_json::json!({"type": "content_block_stop", "index": 0})),
        event(
            serde_json::json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}),
        ),
        event(serde_json::json!({"type": "message_stop"})),
    ];
    sandbox.write("stream.jsonl", stream.concat());
    sandbox.ok(&["import", "--redact", "stream.jsonl"]);
    assert!(
        sandbox
            .ok(&["compile"])
            .contains("it is [redacted:github-token]")
    );
    let pieces = [&token[..17], &token[17..]];
    assert_eq!(places_of(&sandbox, &pieces), Vec::<String>::new());
    sandbox.ok(&["fsck"]);
}
