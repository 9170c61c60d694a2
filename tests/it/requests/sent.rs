//! The requests that Claude Code writes into its files: each is told as it was sent, and held to the client's hash.

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

/// Made with the client's own rules: its hashes are right.
const REQUESTS: &str = include_str!("../../data/claude-code/requests.jsonl");

fn imported(session: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", session);
    sandbox.tract(&["import", "session.jsonl"]);
    sandbox
}

#[test]
fn a_request_is_printed_as_it_was_sent() {
    let sandbox = imported(REQUESTS);
    assert_snapshot!(sandbox.ok(&["compile", "--for", ":2"]), @r#"{"model":"claude-opus-4-8","messages":[{"role":"user","content":[{"type":"text","text":"<system-reminder>\nToday is Friday.\n</system-reminder>"},{"type":"text","text":"Name a river."}]},{"role":"system","content":[{"type":"text","text":"Be kind.","cache_control":{"type":"ephemeral"}}],"output_config":{"effort":"low"}}],"system":[{"type":"text","text":"You keep answers short."},{"type":"text","text":"Say rivers by name: \ud83d is no letter.","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"ls","description":"List a folder.","input_schema":{"type":"object","properties":{"depth":{"type":"number","maximum":1000}}}}],"max_tokens":32000,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}}"#);
    // Few readers take half of a pair.
    let last = sandbox.ok(&["compile", "--for", ":-3"]);
    let last = last.replace(r"\ud83d", "?");
    let last: Value = serde_json::from_str(&last).expect("JSON");
    // It bore the mark when it was sent first, and was a block for that alone.
    assert_eq!(last["messages"][1]["content"], "Be kind.");
    assert_eq!(
        last["messages"][3]["content"][0]["cache_control"],
        Value::Null
    );
    assert_eq!(
        last["messages"][5]["content"][0]["cache_control"]["type"],
        "ephemeral"
    );
    // Another form is made of the messages.
    let other = sandbox.ok(&["compile", "--for", ":2", "--format", "openai"]);
    assert!(other.contains(r#""content":"Name a river.""#), "{other}");
}

/// Whatever happens to the context, its request is made of the newest one that was sent.
#[test]
fn the_next_request_has_system_prompt_tools_and_parameters_of_the_last() {
    let sandbox = imported(REQUESTS);
    let request = |rev: &str| -> Value {
        let made = sandbox.ok(&["compile", rev, "--request", "--format", "anthropic"]);
        serde_json::from_str(&made.replace(r"\ud83d", "?")).expect("JSON")
    };
    let sent = sandbox.ok(&["compile", "--for", ":2"]);
    let sent: Value = serde_json::from_str(&sent.replace(r"\ud83d", "?")).expect("JSON");
    let mark = |message: &Value| message["content"][0]["cache_control"]["type"].clone();
    let next = request(":3");
    for same in [
        "model",
        "system",
        "tools",
        "max_tokens",
        "thinking",
        "output_config",
    ] {
        assert_eq!(next[same], sent[same], "{same}");
    }
    let messages = next["messages"].as_array().expect("messages");
    assert_eq!(
        messages
            .iter()
            .map(mark)
            .filter(|it| it == "ephemeral")
            .count(),
        1
    );
    assert_eq!(mark(messages.last().expect("one")), "ephemeral");

    sandbox.ok(&["truncate", "--keep", "2"]);
    sandbox.ok(&[
        "commit",
        "-r",
        "user",
        "-m",
        "Go on.",
        "--set",
        "max_tokens=99",
    ]);
    let next = request("HEAD");
    assert_eq!(next["tools"], sent["tools"]);
    assert_eq!(next["max_tokens"], 99);
    let messages = next["messages"].as_array().expect("messages");
    assert!(messages.len() < 5, "{messages:?}");
    assert_eq!(
        messages.last().expect("one")["content"][0]["text"],
        "Go on."
    );
    // Of another provider's form nothing is known.
    let other = sandbox.ok(&["compile", "--request", "--format", "openai"]);
    assert!(
        !other.contains("input_schema") && !other.contains("You keep answers short"),
        "{other}"
    );
}

#[test]
fn a_request_is_held_to_the_hash_of_its_client() {
    let sandbox = imported(REQUESTS);
    assert_snapshot!(sandbox.tract(&["compile", "--for", ":4", "--verify"]), @"proved: equal to the client's hash c4df89c");
    assert_snapshot!(sandbox.tract(&["compile", "--for", ":-1", "--verify"]), @"
    exit code: 1
    not proved: the client gives no hash of all that was sent
    ");
    assert_snapshot!(sandbox.tract(&["fsck", "--requests"]), @"
    --- stderr
    4 requests proved
    note: 1 request without a hash of all that was sent
    ");
    let asked = |rev: &str| {
        let params = serde_json::json!({ "for": rev, "verify": true }).to_string();
        sandbox.tract(&["api", "compile", &params])
    };
    assert!(asked(":4").contains(r#""is_proved":true"#));
    // It ends as the command does.
    let unsaid = asked(":-1");
    assert!(
        unsaid.starts_with("exit code: 1") && unsaid.contains(r#""is_damaged":false"#),
        "{unsaid}"
    );
    sandbox.ok(&["commit", "-r", "assistant", "-m", "Mine."]);
    assert_snapshot!(sandbox.tract(&["compile", "--for", ":-1", "--verify"]), @"
    exit code: 1
    --- stderr
    error: no request is recorded for this reply
    hint: tract compile --for REV makes it of the messages
    ");
    assert_snapshot!(sandbox.tract(&["compile", "--verify"]), @"
    exit code: 2
    --- stderr
    error: the following required arguments were not provided: --for <REV>
    hint: tract compile --help
    ");
}

#[test]
fn all_requests_are_listed_with_the_replies_that_they_brought() {
    let sandbox = imported(REQUESTS);
    assert_snapshot!(sandbox.tract(&["log", "--requests", "-4"]), @"
    5aaaaaaa  2026-11-20 10:00:15  claude-opus-4-8  8  +2  sdk  answered by 25a4c1b
    4aaaaaaa  2026-11-20 10:00:12  claude-opus-4-8  6  +4  sdk  answered by 49dbc2a
    3aaaaaaa  2026-11-20 10:00:09  claude-opus-4-8  4  +0  sdk  answered by fc5468b
    2aaaaaaa  2026-11-20 10:00:07  claude-opus-4-8  4  +2  sdk  no reply
    ");
    let none = REQUESTS
        .lines()
        .filter(|line| !line.contains("api-request"));
    let none: Vec<&str> = none.collect();
    let sandbox = imported(&none.join("\n"));
    assert_snapshot!(sandbox.tract(&["log", "--requests"]), @"
    --- stderr
    No request is recorded in the session's file
    ");
}

/// What is wrong is said once with its place, and the other requests are proved.
#[test]
fn what_cannot_be_proved_is_named() {
    let mut told = String::new();
    let max_tokens = |max: u32| format!(r#""max_tokens":{max}"#);
    for (what, from, to) in [
        ("a letter of a message", "Be kind.", "Be kinb."),
        ("a letter of the system prompt", "short", "shirt"),
        ("a parameter", &max_tokens(32_000), &max_tokens(32_001)),
        ("a base that is not there", r#""base":"2"#, r#""base":"9"#),
        ("more than the base has", r#""keep":4"#, r#""keep":5"#),
        ("an edited record", "Shorter.", "Longer."),
        ("a mark at no place", r#""messages",5"#, r#""messages",9"#),
        (
            "parameters that are none",
            r#""params":"#,
            r#""params":0,"other":"#,
        ),
    ] {
        assert!(REQUESTS.contains(from), "{from}");
        let sandbox = imported(&REQUESTS.replacen(from, to, 1));
        told += &format!("{what}\n{}\n", sandbox.tract(&["fsck", "--requests"]));
        sandbox.ok(&["fsck"]);
    }
    assert_snapshot!(told, @"
    a letter of a message
    exit code: 3
    damaged  claude-code/5e551011…: line 3: the message of a request does not have its recorded hash abe692d
    damaged  claude-code/5e551011…: request 1aaaaaaa-0000-4000-8000-000000000000: its message abe692d is not in the file
    damaged  claude-code/5e551011…: request 2aaaaaaa-0000-4000-8000-000000000000: its message abe692d is not in the file
    damaged  claude-code/5e551011…: request 3aaaaaaa-0000-4000-8000-000000000000: its message abe692d is not in the file
    damaged  claude-code/5e551011…: request 4aaaaaaa-0000-4000-8000-000000000000: its message abe692d is not in the file
    damaged  claude-code/5e551011…: request 5aaaaaaa-0000-4000-8000-000000000000: its message abe692d is not in the file
    --- stderr
    0 requests proved

    a letter of the system prompt
    exit code: 3
    damaged  claude-code/5e551011…: line 1: the system prompt and tools of a request does not have its recorded hash dde233a
    damaged  claude-code/5e551011…: request 1aaaaaaa-0000-4000-8000-000000000000: its system prompt and tools dde233a are not in the file
    damaged  claude-code/5e551011…: request 2aaaaaaa-0000-4000-8000-000000000000: its system prompt and tools dde233a are not in the file
    damaged  claude-code/5e551011…: request 3aaaaaaa-0000-4000-8000-000000000000: its system prompt and tools dde233a are not in the file
    damaged  claude-code/5e551011…: request 4aaaaaaa-0000-4000-8000-000000000000: its system prompt and tools dde233a are not in the file
    damaged  claude-code/5e551011…: request 5aaaaaaa-0000-4000-8000-000000000000: its system prompt and tools dde233a are not in the file
    --- stderr
    0 requests proved

    a parameter
    exit code: 3
    damaged  claude-code/5e551011…: request 1aaaaaaa-0000-4000-8000-000000000000: its hash is another
    --- stderr
    3 requests proved
    note: 1 request without a hash of all that was sent

    a base that is not there
    exit code: 3
    damaged  claude-code/5e551011…: request 3aaaaaaa-0000-4000-8000-000000000000: it goes on from the request 9aaaaaaa-0000-4000-8000-000000000000, which is not before it
    damaged  claude-code/5e551011…: request 4aaaaaaa-0000-4000-8000-000000000000: it goes on from the request 3aaaaaaa-0000-4000-8000-000000000000, which cannot be told
    damaged  claude-code/5e551011…: request 5aaaaaaa-0000-4000-8000-000000000000: it goes on from the request 4aaaaaaa-0000-4000-8000-000000000000, which cannot be told
    --- stderr
    2 requests proved

    more than the base has
    exit code: 3
    damaged  claude-code/5e551011…: request 3aaaaaaa-0000-4000-8000-000000000000: it takes 5 messages of a request that has 4
    damaged  claude-code/5e551011…: request 4aaaaaaa-0000-4000-8000-000000000000: it goes on from the request 3aaaaaaa-0000-4000-8000-000000000000, which cannot be told
    damaged  claude-code/5e551011…: request 5aaaaaaa-0000-4000-8000-000000000000: it goes on from the request 4aaaaaaa-0000-4000-8000-000000000000, which cannot be told
    --- stderr
    2 requests proved

    an edited record
    exit code: 3
    damaged  claude-code/5e551011…: request 4aaaaaaa-0000-4000-8000-000000000000: its message afc561b is not in the file
    damaged  claude-code/5e551011…: request 5aaaaaaa-0000-4000-8000-000000000000: its message afc561b is not in the file
    --- stderr
    3 requests proved

    a mark at no place
    exit code: 3
    damaged  claude-code/5e551011…: request 4aaaaaaa-0000-4000-8000-000000000000: a mark of the cache stands where it has nothing
    --- stderr
    3 requests proved
    note: 1 request without a hash of all that was sent

    parameters that are none
    exit code: 3
    damaged  claude-code/5e551011…: request 1aaaaaaa-0000-4000-8000-000000000000: its hash is another
    --- stderr
    3 requests proved
    note: 1 request without a hash of all that was sent
    ");
}

#[test]
fn a_request_that_cannot_be_told_is_made_of_the_messages_and_that_is_said() {
    let sandbox = imported(&REQUESTS.replacen("Be kind.", "Be kinb.", 1));
    assert_snapshot!(sandbox.tract(&["compile", "--for", ":2", "--format", "anthropic"]), @r#"
    {"messages":[{"role":"user","content":[{"type":"text","text":"Name a river."}]}]}
    --- stderr
    note: made of the messages, for what was sent cannot be told: its message abe692d is not in the file
    "#);
    assert_snapshot!(sandbox.tract(&["compile", "--for", ":2", "--verify"]), @"
    exit code: 3
    not proved: its message abe692d is not in the file
    --- stderr
    note: line 3: the message of a request does not have its recorded hash abe692d
    ");
}

#[test]
fn a_file_that_somebody_laid_out_anew_holds_the_same_requests() {
    let session = REQUESTS.replace(r#""type":"api-request"#, r#""type": "api-request"#);
    let sandbox = imported(&session);
    assert_snapshot!(sandbox.tract(&["fsck", "--requests"]), @"
    --- stderr
    4 requests proved
    note: 1 request without a hash of all that was sent
    ");
}
