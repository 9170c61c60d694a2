//! What messages of each version say, alone and in Mastra's rows, and what is wrong with one.

use serde_json::{Value, json};

use super::{MASTRA, UI_MESSAGE, rows};
use crate::formats::Document;
use crate::formats::shared::contract::{TablesOf, anew, outgoing, read, sound, value_at, written};
use crate::formats::shared::rows::Row;
use crate::model::{Millis, Usage};

const RUN: &[u8] = include_bytes!("../../../tests/data/ui-message/run.json");
const CHAT: &[u8] = include_bytes!("../../../tests/data/ui-message/chat.json");
const OLD: &[u8] = include_bytes!("../../../tests/data/ui-message/old.json");
const LINES: &[u8] = include_bytes!("../../../tests/data/ui-message/lines.jsonl");
const THREAD: &[u8] = include_bytes!("../../../tests/data/mastra/thread.json");

#[test]
fn a_message_is_as_many_as_the_model_was_sent_of_it() {
    let session = &sound(&UI_MESSAGE, RUN);
    assert_eq!(
        session.said(),
        [
            "system: You mind the mill.",
            "user: How many sacks are on both floors? | [Some(\"floor.png\") Some(\"image/png\")] | [None Some(\"application/pdf\")]",
            r#"assistant: (Count both. Some("anthropic") c2VhbA==) | I count. | c1: count_sacks {"floor":1} | c2: count_sacks {"floor": | c3: look {} | c4: open_gate {}"#,
            "tool: c1 false = {\"sacks\":12,\"exact\":1.0} | c2 true = no such floor | c3 false = dark | c4 true = Not at night.",
            "assistant: (One.\n\nTwo. Some(\"openai\") ZW5j) | c5: web_search {\"q\":\"sacks\"}",
            "tool: c5 false = [{\"title\":\"Sacks\"}]",
            "assistant: Twelve sacks 🌾.",
            "user: And barrels?",
            "assistant: I see thr",
            "user: Go on.",
            "assistant: c7: count_barrels {\"cellar\":true}",
        ]
    );
    let steps = &session.steps;
    assert_eq!(steps[1].time, Some(Millis(1_772_438_400_000)));
    assert_eq!(steps[4].time, Some(Millis(1_772_438_403_000)));
    assert_eq!(steps[2].settings["model"], "\"miller-2\"");
    let counted = Usage::new(90, 7).cached(64, 0).reasoned(2);
    assert_eq!(steps[8].usage, Some(counted));
    assert!(steps.iter().all(|step| {
        let is_cut = step.message().is_some_and(|message| message.interrupted);
        is_cut == (step == &steps[8])
    }));
    let other = &session.end.other_records;
    assert_eq!(
        json!(other),
        json!({"data-cursor": 1, "source-url": 1, "unfinished call": 1})
    );
    // Each stands behind the whole message.
    assert_eq!(value_at(RUN, steps[6].records[0])["id"], "a1");
}

#[test]
fn a_chat_says_more_than_its_messages() {
    let session = &sound(&UI_MESSAGE, CHAT);
    assert_eq!(session.start.id, "chat-7");
    assert_eq!(session.end.title.as_deref(), Some("Wood"));
    assert_eq!(session.end.absent, ["tool definitions"]);
    assert_eq!(
        session.said(),
        [
            "system: Be brief.",
            "user: Which wood?",
            "assistant: Oak.",
            "user: No, softer.",
            "assistant: {\"type\":\"hologram\",\"of\":\"a tree\"} | Pine.",
        ]
    );
    assert_eq!(session.steps[0].settings["model"], "\"miller-2\"");
    assert_eq!(session.end.opaque_blocks["hologram"], 1);
    // Many of them in one list, or one a line.
    let chat: Value = serde_json::from_slice(CHAT).expect("JSON");
    let both = read(&UI_MESSAGE, json!([chat, chat]).to_string().as_bytes());
    let lines = read(&UI_MESSAGE, format!("{chat}\n{chat}\n").as_bytes());
    for told in [both, lines] {
        let ids = told.sessions.iter().map(|it| &*it.start.id);
        assert_eq!(ids.collect::<Vec<_>>(), ["chat-7", "chat-7-2"]);
        assert!(told.sessions.iter().all(|it| it.said() == session.said()));
    }
}

#[test]
fn messages_may_be_lines() {
    let session = &sound(&UI_MESSAGE, LINES);
    assert_eq!(
        session.said(),
        [
            "user: Is the sluice open?",
            "assistant: It is.",
            "user: Close it."
        ]
    );
    assert_eq!(value_at(LINES, session.steps[2].records[0])["id"], "u2");
}

#[test]
fn older_calls_begin_another_request_by_their_numbers() {
    let session = &sound(&UI_MESSAGE, OLD);
    assert_eq!(
        session.said(),
        [
            "user: What is in the cellar? | [Some(\"cellar.png\") Some(\"image/png\")]",
            r#"assistant: (Look. Some("anthropic") c2VhbA==) | {"type":"redacted_thinking","data":"aGlk"} | c1: look {"where":"cellar"}"#,
            "tool: c1 false = {\"seen\":[\"barrels\"]}",
            "assistant: c2: look {\"where\":\"attic\"}",
            "tool: c2 false = mice",
            "assistant: Barrels.",
        ]
    );
}

#[test]
fn a_thread_of_mastras_says_each_text_once_and_leaves_failures_out() {
    let session = &sound(&MASTRA, THREAD);
    assert_eq!(session.start.id, "mill:7");
    assert_eq!(session.end.title.as_deref(), Some("Sacks"));
    assert_eq!(session.end.cwd.as_deref(), Some("/home/miller/mill"));
    assert_eq!(
        session.said(),
        [
            "user: Count the sacks.",
            "assistant: c1: count {\"floor\":1} | c2: count {\"floor\":9}",
            "tool: c1 false = {\"sacks\":12} | c2 true = no such floor",
            "assistant: Twelve.",
            "user: And barrels?",
            "user: Try again.",
            "assistant: (Look below. None) | c3: see {}",
            "tool: c3 false = Here: + [None Some(\"image/png\")]",
            "assistant: Three.",
            "user: Is this a cog? | [None Some(\"image/png\")]",
            r#"assistant: (Ask the smith. Some("anthropic") c2ln) | c4: agent-smith {"prompt":"A cog?"} | c5: draw {}"#,
            "tool: c4 false = A cog, yes. | c5 false = Drawn: + [None Some(\"image/png\")] + [None None]",
            "assistant: Yes.",
        ]
    );
    assert_eq!(session.end.other_records["error"], 1);
    assert_eq!(session.steps[3].time, Some(Millis(1_772_438_403_773)));
    assert_eq!(session.steps[1].settings["model"], "\"miller-2\"");
    assert!(session.steps[3].settings.is_empty());
}

#[test]
fn a_thread_is_put_together_of_its_rows() {
    let document: Value = serde_json::from_slice(THREAD).expect("JSON");
    let row = |value: &Value| -> Row {
        let columns = value.as_object().expect("a row").iter();
        let text = |value: &Value| match value {
            Value::Object(_) => value.to_string().into(),
            value => value.clone(),
        };
        columns
            .map(|(key, value)| (key.clone(), text(value)))
            .collect()
    };
    let tables = TablesOf(|table: &str| match table {
        "mastra_threads" => {
            let mut row = row(&document["mastra_thread"]);
            row.insert("updatedAt".to_owned(), "2026-03-02T08:00:21.000Z".into());
            vec![row]
        }
        _ => {
            let rows = document["mastra_messages"].as_array().expect("a list");
            rows.iter().map(row).collect()
        }
    });
    assert!(rows::TABLES.are_in(&tables).expect("readable"));
    let found = (rows::TABLES.document)(&tables, "mill:7").expect("readable");
    let (stored, text) = found.expect("a thread");
    assert_eq!(stored.updated, 1_772_438_421_000);
    assert_eq!(stored.cwd.as_deref(), Some("/home/miller/mill"));
    let listed = (rows::TABLES.sessions)(&tables).expect("readable");
    assert_eq!(listed, [stored]);
    assert_eq!(
        serde_json::from_str::<Value>(&text).expect("JSON"),
        document
    );
}

#[test]
fn a_thread_of_an_agent_that_was_asked_knows_who_asked() {
    const ASKED: &str = "mill:7-7d0b4d9c-0b5e-4a51-9c8f-2f8b4d1f7a10";
    let thread = |id: &str| -> Row {
        let row = json!({"id": id, "title": "", "createdAt": "", "updatedAt": ""});
        row.as_object()
            .expect("a row")
            .clone()
            .into_iter()
            .collect()
    };
    let threads = |ids: &[&str]| ids.iter().map(|id| thread(id)).collect::<Vec<Row>>();
    // The one that was asked may stand before the other.
    let tables = TablesOf(|table: &str| match table {
        "mastra_threads" => {
            threads(&[ASKED, "mill:7", "mill-7d0b4d9c-0b5e-4a51-9c8f-2f8b4d1f7a10"])
        }
        _ => {
            let said = json!({"format": 2, "parts": [{"type": "text", "text": "A cog?"}]});
            let row =
                json!({"id": "m", "thread_id": ASKED, "role": "user", "content": said.to_string()});
            vec![
                row.as_object()
                    .expect("a row")
                    .clone()
                    .into_iter()
                    .collect(),
            ]
        }
    });
    let listed = (rows::TABLES.sessions)(&tables).expect("readable");
    let parents = listed.iter().map(|it| (&*it.id, it.spawned_by.as_deref()));
    assert_eq!(
        parents.collect::<Vec<_>>(),
        [
            ("mill:7", None),
            ("mill-7d0b4d9c-0b5e-4a51-9c8f-2f8b4d1f7a10", None),
            (ASKED, Some("mill:7")),
        ]
    );
    let found = (rows::TABLES.document)(&tables, ASKED).expect("readable");
    let (stored, text) = found.expect("a thread");
    assert_eq!(stored.spawned_by.as_deref(), Some("mill:7"));
    let session = read(&MASTRA, text.as_bytes());
    let descent = &session.sessions[0].start.descent;
    assert_eq!(descent.spawned_by.as_deref(), Some("mill:7"));
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_comes_in() {
    let text = |role: &str| json!({"role": role, "parts": [{"type": "text", "text": "a"}]});
    let told = read(
        &UI_MESSAGE,
        json!([text("robot"), 3, text("user"), {"role": "user", "parts": []}])
            .to_string()
            .as_bytes(),
    );
    assert_eq!(
        told.reasons(),
        ["unknown role 'robot'", "a message that is no object"]
    );
    assert_eq!(told.sessions[0].said(), ["user: a"]);
    assert_eq!(told.sessions[0].end.other_records["empty message"], 1);
}

#[test]
fn before_there_were_parts_calls_stood_beside_what_was_said_last() {
    const BEFORE: &[u8] = include_bytes!("../../../tests/data/ui-message/version-4.json");
    let found = crate::formats::sniff::sniff(&BEFORE).expect("readable");
    assert_eq!(found, Some(&UI_MESSAGE));
    let session = &sound(&UI_MESSAGE, BEFORE);
    assert_eq!(
        session.said(),
        [
            "user: How many sacks? | [Some(\"a.png\") Some(\"image/png\")]",
            "assistant: c1: count {\"floor\":1} | c2: count {\"floor\":2}",
            "tool: c1 false = 6 | c2 false = {\"sacks\":6}",
            "assistant: c3: see {}",
            "tool: c3 false = true",
            "assistant: Twelve.",
            "user: Thanks.",
        ]
    );
    assert_eq!(session.steps[1].time, Some(Millis(1_714_557_601_000)));
}

#[test]
fn a_signature_of_geminis_stands_before_the_text_or_call_that_it_came_with() {
    let sealed = |seal: &str| json!({"google": {"thoughtSignature": seal}});
    let parts = json!([
        {"type": "step-start"},
        {"type": "reasoning", "text": "Count.", "state": "done"},
        {"type": "dynamic-tool", "toolName": "count", "toolCallId": "c1", "state": "output-available", "input": {"floor": 1},
            "output": "6", "callProviderMetadata": sealed("c2VhbDE=")},
        {"type": "dynamic-tool", "toolName": "count", "toolCallId": "c2", "state": "output-available", "input": {"floor": 2},
            "output": "6"},
        {"type": "step-start"},
        {"type": "text", "text": "Twelve.", "state": "done", "providerMetadata": sealed("c2VhbDI=")},
    ]);
    let chat = json!([
        {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "How many?"}]},
        {"id": "a1", "role": "assistant", "parts": parts},
    ]);
    let chat = chat.to_string().into_bytes();
    let session = &sound(&UI_MESSAGE, &chat);
    assert_eq!(
        session.said(),
        [
            "user: How many?",
            r#"assistant: (Count. None) | ( Some("gemini") c2VhbDE=) | c1: count {"floor":1} | c2: count {"floor":2}"#,
            "tool: c1 false = 6 | c2 false = 6",
            r#"assistant: ( Some("gemini") c2VhbDI=) | Twelve."#,
        ]
    );
    let messages: Vec<_> = outgoing(&chat, session)
        .into_iter()
        .map(|outgoing| anew(outgoing.message))
        .collect();
    let (text, left_out) = written(&UI_MESSAGE, &messages, &Document::default());
    assert!(left_out.is_empty(), "{left_out:?}");
    let again = sound(&UI_MESSAGE, &text);
    assert_eq!(again.messages(), session.messages());
    let records: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(
        records[1]["parts"][2]["callProviderMetadata"],
        sealed("c2VhbDE=")
    );
    assert_eq!(
        records[1]["parts"][5]["providerMetadata"],
        sealed("c2VhbDI=")
    );
}
