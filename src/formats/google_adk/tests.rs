//! What events say, what they hide, and what is wrong with one.

use serde_json::{Value, json};

use super::{GOOGLE_ADK, rows};
use crate::formats::shared::contract::{TablesOf, read, sound};
use crate::formats::shared::rows::Row;
use crate::formats::{Action, Cover, HideStep, Step};
use crate::model::{HideKind, Millis, Usage};

const SESSION: &[u8] = include_bytes!("../../../tests/data/google-adk/session.json");

fn hide(step: &Step) -> &HideStep {
    match &step.action {
        Action::Hide(hide) => hide,
        Action::Append(message) => panic!("{message:?}"),
    }
}

/// The numbers of the first and the last step that a hide covers.
fn covered(hide: &HideStep) -> (usize, usize) {
    match hide.cover {
        Cover::Range(first, last) => (first.step.0, last.step.0),
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn events_say_messages_and_hide_what_is_sent_no_more() {
    let session = &sound(&GOOGLE_ADK, SESSION);
    assert_eq!(session.start.id, "mill:ida:s-1");
    assert_eq!(
        session.said(),
        [
            "user: How many sacks? | [None Some(\"image/png\")]",
            r#"assistant: (Count both. Some("gemini") c2Vh+A==) | I count. | adk-1: count {"floor":1} | adk-2: count {"floor":9}"#,
            "tool: adk-1 false = {\"sacks\":12} | adk-2 true = {\"error\":\"no such floor\"}",
            "assistant: Twelve sacks 🌾.",
            "user: Open the gate.",
            "assistant: adk-3: open {}",
            "Drop: ",
            "user: And barrels?",
            "assistant: I look. | adk-4: look {\"where\":\"cellar\"}",
            "Prune: ",
            "user: Never mind.",
            "assistant: Fine.",
            "Drop: ",
            "user: Run the mill.",
            "assistant: {\"executableCode\":{\"code\":\"run()\",\"language\":\"PYTHON\"}} | {\"codeExecutionResult\":{\"outcome\":\"OUTCOME_OK\",\"output\":\"ok\"}} | It runs.",
            "Compaction: assistant: Twelve sacks were counted.",
            "user: Good night.",
        ]
    );
    let steps = &session.steps;
    // A call that nothing answered, alone and beside a text.
    assert_eq!(covered(hide(&steps[6])), (5, 5));
    let pruned = &hide(&steps[9]).parts;
    assert_eq!(
        pruned
            .iter()
            .map(|(entry, part, _)| (entry.step.0, *part))
            .collect::<Vec<_>>(),
        [(8, 1)]
    );
    // A rewind, and a summary of what is older than the call that is gone.
    assert_eq!(covered(hide(&steps[12])), (7, 11));
    let summary = hide(&steps[15]);
    assert_eq!(
        (summary.kind, covered(summary)),
        (HideKind::Compaction, (0, 4))
    );
    assert_eq!(
        summary.replacements[0].0.map(|before| before.step.0),
        Some(13)
    );
    assert_eq!(
        steps[1].usage,
        Some(Usage::new(90, 16).cached(64, 0).reasoned(4))
    );
    assert_eq!(steps[1].time, Some(Millis(1_772_438_402_000)));
    assert_eq!(steps[1].settings["model"], "\"gemini-9\"");
    assert_eq!(session.end.other_records["error"], 1);
}

#[test]
fn a_session_is_put_together_of_its_rows_and_belongs_to_one_user() {
    let document: Value = serde_json::from_slice(SESSION).expect("JSON");
    let session = document["adk_session"].as_object().expect("a row");
    let of = |user: &str, row: &Row| {
        let mut row = row.clone();
        row.insert("user_id".to_owned(), user.into());
        row
    };
    let tables = TablesOf(|table: &str| match table {
        "sessions" => {
            let mut row = session.clone();
            row.insert("state".to_owned(), "{}".into());
            row.insert(
                "update_time".to_owned(),
                "2026-03-02 08:01:00.000000".into(),
            );
            vec![of("ida", &row), of("otto", &row)]
        }
        _ => {
            let events = document["adk_events"].as_array().expect("a list").iter();
            let events = events.zip(0..).flat_map(|(event, at)| {
                let row = json!({"id": event["id"], "app_name": "mill", "user_id": "", "session_id": "s-1",
                    "invocation_id": event["invocation_id"], "timestamp": at, "event_data": event.to_string()});
                let row: Row = row.as_object().expect("a row").clone();
                let otto = (at == 0).then(|| of("otto", &row));
                [Some(of("ida", &row)), otto].into_iter().flatten()
            });
            events.collect()
        }
    });
    assert!(rows::TABLES.are_in(&tables).expect("readable"));
    let listed = (rows::TABLES.sessions)(&tables).expect("readable");
    let ids: Vec<&str> = listed.iter().map(|it| &*it.id).collect();
    assert_eq!(ids, ["mill:ida:s-1", "mill:otto:s-1"]);
    for (own, events) in listed.iter().zip([16, 1]) {
        let found = (rows::TABLES.document)(&tables, &own.id).expect("readable");
        let (stored, text) = found.expect("a session");
        assert_eq!(&stored, own);
        let made: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(made["adk_events"].as_array().map(Vec::len), Some(events));
        if events == 16 {
            assert_eq!(made, document);
        }
    }
    assert_eq!(listed[0].updated, 1_772_438_460_000);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_comes_in() {
    let said =
        |role: &str| json!({"content": {"role": role, "parts": [{"text": "a"}]}, "author": "user"});
    let rewind = json!({"actions": {"rewind_before_invocation_id": "e-9"}, "author": "user"});
    let partial = json!({"content": {"role": "model", "parts": [{"text": "b"}]}, "partial": true});
    let session = json!({"adk_session": {"id": "s"}, "adk_events": [said("robot"), "{", said("user"), rewind, partial]});
    let told = read(&GOOGLE_ADK, session.to_string().as_bytes());
    assert_eq!(
        told.reasons(),
        [
            "unknown role 'robot'",
            "a message that is no object",
            "a rewind to before e-9, which is not in the session",
        ]
    );
    assert_eq!(told.sessions[0].said(), ["user: a"]);
    assert_eq!(told.sessions[0].end.other_records["partial event"], 1);
}
