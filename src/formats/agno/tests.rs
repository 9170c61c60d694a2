//! What runs say, which of them are sent no more, and how a session is put together of its rows.

use serde_json::{Value, json};

use super::{AGNO, rows};
use crate::formats::shared::contract::{TablesOf, read, sound};
use crate::formats::shared::rows::Row;
use crate::formats::{Action, Cover};
use crate::model::{Millis, Usage};

const SESSION: &[u8] = include_bytes!("../../../tests/data/agno/session.json");

#[test]
fn a_run_brings_what_is_new_in_it_and_a_failed_one_is_sent_no_more() {
    let session = &sound(&AGNO, SESSION);
    assert_eq!(session.start.id, "mill");
    assert_eq!(
        session.said(),
        [
            "system: You mind the mill.",
            "user: How many sacks? | [None Some(\"image/png\")]",
            "assistant: (Count both. None) | c1: count {\"floor\": 1} | c2: count {\"floor\": 9}",
            "tool: c1 false = 12",
            "tool: c2 true = no such floor",
            "assistant: Twelve sacks 🌾.",
            "user: And barrels?",
            "Drop: ",
            "Drop: system: You mind the mill. Be brief.",
            "user: And carts? | [None None]",
            "assistant: None.",
        ]
    );
    let steps = &session.steps;
    assert_eq!(
        steps[2].usage,
        Some(Usage::new(120, 30).cached(64, 0).reasoned(4))
    );
    assert!(steps[2].detail.counts.is_empty() && steps[2].detail.amounts.is_empty());
    assert_eq!(steps[2].time, Some(Millis(1_772_438_402_000)));
    assert_eq!(steps[9].settings["model"], "\"miller-3\"");
    let Action::Hide(hide) = &steps[7].action else {
        panic!("{:?}", session.said());
    };
    let Cover::Range(first, last) = hide.cover else {
        panic!("{hide:?}");
    };
    assert_eq!((first.step.0, last.step.0), (6, 6));
    let others = json!(session.end.other_records);
    assert_eq!(
        others,
        json!({"run of a team's member": 1, "run that ended in 'error'": 1})
    );
    assert_eq!(session.end.absent, ["tool definitions"]);
}

#[test]
fn a_session_is_put_together_of_its_rows_or_of_its_own_column() {
    let document: Value = serde_json::from_slice(SESSION).expect("JSON");
    let runs = document["agno_runs"].as_array().expect("a list");
    for is_old in [false, true] {
        let tables = TablesOf(|table: &str| match table {
            "agno_sessions" => {
                let mut row: Row = document["agno_session"].as_object().expect("a row").clone();
                row.insert(
                    "agent_data".to_owned(),
                    row["agent_data"].to_string().into(),
                );
                row.insert("session_data".to_owned(), "{}".into());
                row.insert("updated_at".to_owned(), 1_772_438_500.into());
                if is_old {
                    // A text of JSON in JSON.
                    let text = document["agno_runs"].to_string();
                    row.insert("runs".to_owned(), Value::from(text).to_string().into());
                }
                vec![row]
            }
            "agno_runs" if !is_old => {
                let rows = runs.iter().zip(0..).map(|(run, at)| {
                    let row = json!({"session_id": "mill", "run_id": run["run_id"], "run_index": at,
                        "run_data": run.to_string(), "created_at": 1_772_438_400});
                    row.as_object().expect("a row").clone()
                });
                rows.collect()
            }
            _ => Vec::new(),
        });
        assert!(rows::TABLES.are_in(&tables).expect("readable"));
        let listed = (rows::TABLES.sessions)(&tables).expect("readable");
        let [own] = &listed[..] else {
            panic!("{listed:?}");
        };
        assert_eq!(own.updated, 1_772_438_500_000);
        let found = (rows::TABLES.document)(&tables, "mill").expect("readable");
        let (stored, text) = found.expect("a session");
        assert_eq!(&stored, own);
        let made: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(made, document);
        let none = (rows::TABLES.document)(&tables, "other").expect("readable");
        assert!(none.is_none());
    }
}

#[test]
fn older_and_odd_messages_are_read_and_what_is_wrong_is_named() {
    let run = |messages: Value| json!({"run_id": "r", "status": "COMPLETED", "messages": messages});
    let session = json!({"agno_session": {"session_id": "s"}, "agno_runs": [
        run(json!([
            {"role": "developer", "content": "Count."},
            {"role": "user", "content": {"city": "Bern"}, "files": [{"url": "https://mill.example/a.pdf"}, {"filepath": "/a"}]},
            {"role": "model", "content": null, "tool_calls": [{"id": "c1", "function": {"name": "count", "arguments": {"floor": 1}}}]},
            {"role": "tool", "tool_calls": [{"tool_call_id": "c1", "content": ["a", 1]}], "content": ["a"]},
            {"role": "assistant", "content": "Done.", "redacted_reasoning_content": "aGlk", "image_output": {"content": "iVBO_w==", "format": "png"}},
        ])),
        run(json!([{"role": "robot", "content": "a"}])),
        "{",
    ]});
    let told = read(&AGNO, session.to_string().as_bytes());
    assert_eq!(
        told.reasons(),
        ["unknown role 'robot'", "a message that is no object"]
    );
    assert_eq!(
        told.sessions[0].said(),
        [
            "system: Count.",
            "user: {\"city\":\"Bern\"} | [None None]",
            "assistant: c1: count {\"floor\":1}",
            "tool: c1 false = [\"a\",1]",
            "assistant: {\"type\":\"redacted_thinking\",\"data\":\"aGlk\"} | Done. | [None Some(\"image/png\")]",
        ]
    );
}
