//! What a session says, what its summaries hide, and how its rows make it.

use serde_json::{Value, json};

use super::CRUSH;
use super::rows::TABLES;
use crate::formats::shared::contract::{TablesOf, read, sound};
use crate::formats::shared::rows::Row;
use crate::formats::sniff::sniff;
use crate::formats::{Action, Cover};
use crate::model::{HideKind, Millis};

const SESSION: &[u8] = include_bytes!("../../../tests/data/crush/session.json");

#[test]
fn a_session_is_what_was_sent_of_it() {
    assert_eq!(sniff(&SESSION).expect("readable"), Some(&CRUSH));
    let session = &sound(&CRUSH, SESSION);
    assert_eq!(session.end.title.as_deref(), Some("Sacks in the mill"));
    assert_eq!(
        session.said(),
        [
            "user: How many sacks?\n<system_info>The files below have been attached by the user, consider them in your \
             response</system_info>\n<file path='/home/mara/mill/note.txt'>\n\nrye first\n</file>\n \
             | [Some(\"mill.png\") Some(\"image/png\")]",
            r#"assistant: (Look. Some("anthropic") seal) | I look. | call_1: view {"file_path": "sacks.txt"} | call_2: bash {}"#,
            "tool: call_1 false = <file>42</file> | call_2 true = no command",
            "assistant: Forty",
            "user: $ ls\nsacks.txt\n(exit code 0)",
            "assistant: (Sum up. None)",
            "Compaction: user: There are 42 sacks.",
            "user: And barrels?",
            "assistant: None, I th"
        ]
    );
    assert_eq!(session.steps[0].time, Some(Millis(1_772_438_400_000)));
    assert_eq!(session.steps[1].settings["model"], "\"claude-sonnet-4\"");
    assert_eq!(session.steps[6].settings["model"], "\"gpt-5\"");
    assert!(session.steps[3].message().is_some_and(|it| it.interrupted));
    // What wrote it may have died: it is as much as there is, and cut off.
    assert!(session.steps[8].message().is_some_and(|it| it.interrupted));
}

#[test]
fn older_sessions_name_their_summary_alone_and_what_is_unknown_stays() {
    let said = |id: &str, role: &str, text: &str| {
        json!({"id": id, "role": role, "created_at": 1,
        "parts": [{"type": "text", "data": {"text": text}}, {"type": "finish", "data": {"reason": "end_turn"}}]})
    };
    let bytes = |summary: &str| {
        let odd = json!({"id": "m", "role": "user", "parts": [{"type": "hologram", "data": {}}]});
        let bad = json!({"id": "m", "role": "robot", "parts": []});
        let messages = [
            said("a", "user", "one"),
            said("b", "assistant", "sum"),
            odd,
            bad,
        ];
        let session = json!({"id": "s", "message_count": 4, "completion_tokens": 0, "summary_message_id": summary,
            "parent_session_id": "p", "messages": messages});
        session.to_string().into_bytes()
    };
    let told = read(&CRUSH, &bytes("b"));
    assert_eq!(told.reasons(), ["unknown role 'robot'"]);
    let session = &told.sessions[0];
    assert_eq!(session.start.descent.spawned_by.as_deref(), Some("p"));
    let Action::Hide(hide) = &session.steps[1].action else {
        panic!("{:?}", session.steps[1]);
    };
    assert_eq!(
        (hide.kind, hide.cover),
        (HideKind::Compaction, Cover::Everything)
    );
    assert_eq!(session.end.opaque_blocks["hologram"], 1);
    // A summary with nothing before it is a message.
    let first = &read(&CRUSH, &bytes("a")).sessions[0];
    assert_eq!(first.said()[..2], ["user: one", "assistant: sum"]);
}

/// The rows of a document as the tool's database gives them.
fn rows_of(document: &Value, table: &str) -> Vec<Row> {
    let mut session = document.as_object().expect("a session").clone();
    let messages = session.remove("messages").expect("messages");
    session.insert("todos".into(), session["todos"].to_string().into());
    session.insert("parent_session_id".into(), Value::Null);
    session.insert("updated_at".into(), 7.into());
    if table == "sessions" {
        return vec![session];
    }
    let rows = messages.as_array().expect("a list").iter().map(|it| {
        let mut row = it.as_object().expect("a row").clone();
        row.insert("parts".into(), it["parts"].to_string().into());
        row.insert("session_id".into(), document["id"].clone());
        row.insert("updated_at".into(), 1_772_438_410.into());
        row
    });
    rows.collect()
}

#[test]
fn the_rows_of_a_session_make_its_object() {
    let session: Value = serde_json::from_slice(SESSION).expect("JSON");
    let rows = TablesOf(|table: &str| rows_of(&session, table));
    assert!(TABLES.are_in(&rows).expect("read"));
    let all = (TABLES.sessions)(&rows).expect("read");
    let id = session["id"].as_str().expect("an id");
    let found = (TABLES.document)(&rows, id).expect("read");
    let (stored, made) = found.expect("it is there");
    assert_eq!(stored.updated, 1_772_438_410_000);
    assert_eq!(all, [stored]);
    let made: Value = serde_json::from_str(&made).expect("JSON");
    assert_eq!(made, session);
    assert!((TABLES.document)(&rows, "none").expect("read").is_none());
}
