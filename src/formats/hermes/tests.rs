//! What a session says, what its compactions hide, and how its rows make it.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::HERMES;
use super::rows::TABLES;
use crate::formats::shared::contract::{TablesOf, read, sketch, sound, texts};
use crate::formats::shared::rows::Row;
use crate::formats::sniff::sniff;
use crate::model::{Millis, Usage};

const SESSION: &[u8] = include_bytes!("../../../tests/data/hermes/session.json");
const LOG: &[u8] = include_bytes!("../../../tests/data/hermes/log.json");
const EXPORT: &[u8] = include_bytes!("../../../tests/data/hermes/export.jsonl");

#[test]
fn a_session_is_what_was_sent_of_it() {
    let session = &sound(&HERMES, SESSION);
    assert_eq!(session.end.title.as_deref(), Some("Sacks in the mill"));
    assert_eq!(session.end.cwd.as_deref(), Some("/home/ada/mill"));
    assert_eq!(session.end.absent, ["tool definitions"]);
    assert_eq!(session.end.other_records["session_meta"], 1);
    let forked = session.start.forked_from.as_deref();
    assert_eq!(forked, Some("20260301_080000_5e5500"));
    assert_eq!(
        session.said(),
        [
            "system: You are the miller.",
            "user: Count the sacks.\n\n<memory-context>\nThe mill has two floors.\n</memory-context>",
            "assistant: (First the cellar. None) | I look. | c1: terminal {\"a\":[1,2.5],\"b\":\"\\u00e4\"}",
            "tool: c1 false = {\"output\": \"42 sacks of rye, and much more\", \"exit_code\": 0}",
            "assistant: Forty-two.",
            "user: Burn them.",
            "assistant: Never.",
            "Drop: ",
            "user: And barrels?",
            "assistant: I look again. | c2: terminal {\"command\":\"ls\"}",
            "tool: c2 false = {\"output\": \"three\", \"exit_code\": 0}",
            "Compaction: user: [CONTEXT COMPACTION — REFERENCE ONLY] There are 42 sacks. \
             || tool: c2 false = [Old tool output cleared to save context space]",
            "assistant: Three.",
            "user: And this? It says [CONTEXT COMPACTION | [None Some(\"image/png\")]",
            "assistant: A wheel.",
            "Compaction: assistant: [PRIOR CONTEXT]\nThree.\n\n[CONTEXT COMPACTION — REFERENCE ONLY] Sacks and barrels were counted.",
            "user: Thanks.",
            "assistant: Of course.",
        ]
    );
    let standing = session.standing();
    let standing: Vec<String> = standing.iter().map(|it| texts(it).concat()).collect();
    assert_eq!(
        standing[2..],
        [
            "And this? It says [CONTEXT COMPACTION",
            "A wheel.",
            "Thanks.",
            "Of course."
        ]
    );
    assert_eq!(session.steps[1].time, Some(Millis(1_772_438_401_500)));
    assert_eq!(session.steps[0].settings["model"], "\"canned-1\"");
    let stated = session.end.stated.as_ref().expect("it says so");
    let all = Usage::new(1_030, 60).cached(900, 30).reasoned(10);
    assert_eq!(stated.models[0].usage(), all);
}

#[test]
fn exports_and_logs_are_of_the_same_format() {
    for source in [SESSION, LOG, EXPORT] {
        assert_eq!(sniff(&source).expect("readable"), Some(&HERMES));
    }
    let log = sound(&HERMES, LOG);
    let said = [
        "system: You are the miller.",
        "user: How deep is the pond?",
        "assistant: Two metres.",
    ];
    assert_eq!(log.said(), said);
    assert!(log.steps[0].settings["tools"].contains("terminal"));
    assert!(log.end.absent.is_empty(), "{:?}", log.end.absent);
    let told = read(&HERMES, EXPORT);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let ids: Vec<&str> = told
        .sessions
        .iter()
        .map(|it| it.start.id.as_str())
        .collect();
    assert_eq!(ids, ["20260304_080000_aa", "20260304_090000_bb"]);
    // A line that is cut loses that session alone.
    let cut = read(&HERMES, &EXPORT[..EXPORT.len() - 9]);
    assert_eq!((cut.sessions.len(), cut.problems.len()), (2, 1));
    let odd = json!({"id": "s", "started_at": 1, "api_call_count": 1, "message_count": 1, "system_prompt": null,
        "messages": [{"role": "robot", "content": "x"}, 7, {"role": "user", "content": "one"}]});
    let told = read(&HERMES, odd.to_string().as_bytes());
    assert_eq!(
        told.reasons(),
        ["unknown role 'robot'", "a message that is no object"]
    );
    assert_eq!(told.sessions[0].said(), ["user: one"]);
}

/// The rows of a document as the tool's database gives them.
fn rows_of(document: &Value, table: &str) -> Vec<Row> {
    let mut session = document.as_object().expect("a session").clone();
    let messages = session.remove("messages").expect("messages");
    if table == "sessions" {
        session.insert("ended_at".into(), Value::Null);
        return vec![session];
    }
    let rows = messages.as_array().expect("a list").iter().map(|it| {
        let mut row = it.as_object().expect("a row").clone();
        for (column, before) in [("tool_calls", ""), ("content", "\0json:")] {
            let listed = row.get(column).filter(|value| value.is_array());
            if let Some(text) = listed.map(|value| format!("{before}{value}")) {
                row.insert(column.into(), text.into());
            }
        }
        for column in ["tool_calls", "content"] {
            row.entry(column).or_insert(Value::Null);
        }
        row
    });
    rows.collect()
}

#[test]
fn the_rows_of_a_session_make_its_object() {
    let session: Value = serde_json::from_slice(SESSION).expect("JSON");
    let rows = TablesOf(|table: &str| rows_of(&session, table));
    assert!(TABLES.are_in(&rows).expect("read"));
    let id = session["id"].as_str().expect("an id");
    let found = (TABLES.document)(&rows, id).expect("read");
    let (stored, made) = found.expect("it is there");
    assert_eq!(stored.cwd.as_deref(), Some("/home/ada/mill"));
    let count = session["messages"].as_array().expect("a list").len() as u64;
    assert_eq!(stored.rows, count + 2, "the session's own, and a rewind");
    let made: Value = serde_json::from_str(&made).expect("JSON");
    assert_eq!(made, session);
    assert!((TABLES.document)(&rows, "none").expect("read").is_none());
}

/// What happens in a session.
#[derive(Clone, Debug)]
enum Event {
    /// A prompt, or a reply with a call and its result.
    Said(bool, u8),
    /// A compaction that keeps so many of the first and of the last, and shortens results.
    Compacted(Index, Index, bool),
    /// The user takes back so many of the last.
    Back(u8),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (any::<bool>(), 0..3_u8).prop_map(|(is_call, text)| Event::Said(is_call, text)),
        2 => (any::<Index>(), any::<Index>(), any::<bool>())
            .prop_map(|(first, last, cuts)| Event::Compacted(first, last, cuts)),
        1 => (1..4_u8).prop_map(Event::Back),
    ]
}

/// The rows that the tool writes, with those that are sent now last.
fn rows(events: &[Event]) -> Vec<Value> {
    let mut rows: Vec<Value> = Vec::new();
    for (number, event) in events.iter().enumerate() {
        let active = |rows: &[Value]| -> Vec<usize> {
            let all = rows.iter().enumerate();
            let all = all.filter(|(_, row)| row["active"] == 1);
            all.map(|(at, _)| at).collect()
        };
        let row = |role: &str, text: String| json!({"role": role, "content": text, "active": 1, "compacted": 0});
        match event {
            Event::Said(false, text) => rows.push(row("user", format!("prompt {text}"))),
            Event::Said(true, text) => {
                let id = format!("call {number}");
                let mut reply = row("assistant", format!("reply {text}"));
                reply["tool_calls"] = json!([{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
                let mut result = row("tool", format!("result {text}"));
                result["tool_call_id"] = id.into();
                rows.extend([reply, result]);
            }
            Event::Compacted(first, last, cuts) => {
                let stood = active(&rows);
                // The tool compacts what is long, and keeps the last prompt.
                if stood.len() < 4 {
                    continue;
                }
                let first = first.index(stood.len() / 2);
                let last = 1 + last.index(stood.len() / 2);
                let mut kept: Vec<Value> = stood.iter().map(|at| rows[*at].clone()).collect();
                stood.iter().for_each(|at| {
                    rows[*at]["active"] = 0.into();
                    rows[*at]["compacted"] = 1.into();
                });
                let mut tail = kept.split_off(kept.len() - last);
                for row in tail.iter_mut().filter(|row| *cuts && row["role"] == "tool") {
                    row["content"] = "[cut]".into();
                }
                rows.extend(kept.drain(..first));
                let summary = format!("[CONTEXT COMPACTION — REFERENCE ONLY] Sum {number}.");
                rows.push(row("user", summary));
                rows.extend(tail);
            }
            Event::Back(count) => {
                let stood = active(&rows);
                let most = usize::from(*count).min(stood.len());
                for at in &stood[stood.len() - most..] {
                    rows[*at]["active"] = 0.into();
                }
            }
        }
    }
    rows
}

proptest! {
    /// Whatever the tool compacts and its user takes back, what stands is what is sent, in order.
    #[test]
    fn what_stands_is_what_is_active(events in prop::collection::vec(event(), 0..40)) {
        let rows = rows(&events);
        let session = json!({"id": "s", "started_at": 1, "api_call_count": 1, "message_count": 1,
            "system_prompt": null, "messages": rows});
        let told = read(&HERMES, session.to_string().as_bytes());
        prop_assert!(told.problems.iter().all(|it| it.reason.contains("without its call")));
        let standing: Vec<String> =
            told.sessions[0].standing().iter().map(sketch).collect();
        let active: Vec<Value> = rows.into_iter().filter(|row| row["active"] == 1).collect();
        let alone = json!({"id": "s", "started_at": 1, "api_call_count": 1, "message_count": 1,
            "system_prompt": null, "messages": active});
        let alone = read(&HERMES, alone.to_string().as_bytes());
        let expected: Vec<String> =
            alone.sessions[0].messages().into_iter().map(sketch).collect();
        prop_assert_eq!(standing, expected);
    }
}
