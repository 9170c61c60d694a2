//! What a conversation says, what a summary stands for in it, and what is wrong with one.

use serde_json::json;

use super::CURSOR_CLI;
use crate::formats::shared::contract::{Session, read, sketch, sound, value_at};
use crate::formats::{Action, Cover};
use crate::model::{HideKind, Part};

const CHAT: &[u8] = include_bytes!("../../../tests/data/cursor-cli/chat.json");

fn standing(session: &Session) -> Vec<String> {
    session.standing().iter().map(sketch).collect()
}

#[test]
fn what_was_said_comes_in_with_what_the_model_was_sent_of_it() {
    let session = &sound(&CURSOR_CLI, CHAT);
    assert_eq!(session.start.id, "5e0f0c1e-0000-4000-8000-000000000007");
    assert_eq!(session.end.title.as_deref(), Some("Sacks"));
    assert_eq!(session.end.cwd.as_deref(), Some("/home/mara/the mill"));
    let appended = session.steps.iter().filter_map(|step| match &step.action {
        Action::Append(message) => Some(sketch(message)),
        Action::Hide(_) => None,
    });
    assert_eq!(
        appended.collect::<Vec<_>>(),
        [
            "system: You mind the mill.",
            "user: <user_info>\nOS Version: linux\n</user_info>",
            "user: <user_query>\nHow many sacks?\n</user_query>",
            r#"assistant: (Look. None seal) | {"type":"redacted-reasoning","data":"dark"} | I look. | t1: Shell {"command":"ls sacks"} | t2: Read {"path":"x"}"#,
            r#"tool: t1 false = twelve + [None Some("image/png")]"#,
            r#"tool: t2 true = {"error":"no file"}"#,
            "assistant: 12 🌾.",
            "user: <user_query>\nAnd wood?\n</user_query>",
            "assistant: Oak.",
        ]
    );
    assert_eq!(session.end.opaque_blocks["redacted-reasoning"], 1);
    let record = value_at(CHAT, session.steps[6].records[0]);
    assert_eq!(record["id"], "2");
}

#[test]
fn a_summary_stands_in_the_place_of_what_it_sums_up() {
    let told = read(&CURSOR_CLI, CHAT);
    let session = &told.sessions[0];
    let hides: Vec<_> = session
        .steps
        .iter()
        .filter_map(|step| match &step.action {
            Action::Hide(hide) => Some(hide),
            Action::Append(_) => None,
        })
        .collect();
    let [hide] = hides[..] else {
        panic!("{hides:?}");
    };
    assert_eq!(hide.kind, HideKind::Compaction);
    assert!(
        matches!(hide.cover, Cover::Range(first, last) if (first.step.0, last.step.0) == (2, 6))
    );
    assert_eq!(
        standing(session),
        [
            "system: You mind the mill.",
            "user: <user_info>\nOS Version: linux\n</user_info>",
            "user: [Previous conversation summary]: 12 sacks.",
            "user: <user_query>\nAnd wood?\n</user_query>",
            "assistant: Oak.",
        ]
    );
}

#[test]
fn what_stays_beside_a_summary_is_not_said_again() {
    let say = |text: &str| json!({"role": "user", "content": text});
    let source = json!({"cursor_agent": {"agentId": "a"}, "messages": [
        say("one"), say("two"), say("three"), say("summed up"), say("four")],
        "states": [{"keeps": 0, "then": [0, 1, 2]},
                   {"keeps": 0, "then": [0, 2, 3, 4], "summary": 3}]});
    let told = read(&CURSOR_CLI, source.to_string().as_bytes());
    let session = &told.sessions[0];
    assert_eq!(
        standing(session),
        ["user: one", "user: three", "user: summed up", "user: four"]
    );
    // Three, a hide with the summary, and the last.
    assert_eq!(session.steps.len(), 5);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_comes_in() {
    let source = json!({"cursor_agent": {"agentId": "a", "name": "New Agent"}, "messages": [
        {"role": "user", "content": "one"}, 7, {"role": "nobody", "content": "x"},
        {"missing": "00ff"}, {"unread": "00fe"},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "t9", "result": "x",
            "experimental_content": [{"type": "tool-call"}]}]},
        {"role": "assistant", "content": [{"type": "file", "data": "JVBERi0=", "mimeType": "application/pdf"},
            {"type": "image", "image": "https://x/y.png"}, {"type": "new"}, 8]}],
        "states": [{"keeps": 0, "then": [0, 1, 2, 3, 4, 5, 6, 99]}, 5]});
    let told = read(&CURSOR_CLI, source.to_string().as_bytes());
    let mut reasons: Vec<&str> = told.problems.iter().map(|it| &*it.reason).collect();
    reasons.sort_unstable();
    assert_eq!(
        reasons,
        [
            "a message that is no JSON object: 00fe",
            "a message that is no object",
            "a message that is not in the database: 00ff",
            "a state that is no object",
            "a tool result without its call 't9'",
            "unknown role 'nobody'",
        ]
    );
    let session = &told.sessions[0];
    assert_eq!(session.end.title, None);
    let messages = session.messages();
    assert_eq!(messages.len(), 3);
    let Part::ToolResult { content, .. } = &messages[1].parts[0] else {
        panic!("{:?}", messages[1]);
    };
    assert!(matches!(content[..], [Part::Opaque { .. }]), "{content:?}");
    assert!(matches!(
        messages[2].parts[..],
        [
            Part::File(_),
            Part::Image(_),
            Part::Opaque { .. },
            Part::Opaque { .. }
        ]
    ));
    let torn = br#"{"cursor_agent":{},"messages":[{"role":"user","content":"a"}],"states":[{"keeps":0,"then":[0]},{"ke"#;
    let told = read(&CURSOR_CLI, torn);
    assert_eq!(standing(&told.sessions[0]), ["user: a"]);
    assert!(!told.problems.is_empty());
}
