//! What a conversation says and who saw it, as an export, as lines and as rows, and what is wrong with one.

use serde_json::{Value, json};

use super::GOOSE;
use super::rows::TABLES;
use crate::formats::shared::contract::{Session, TablesOf, read, sound};
use crate::formats::shared::rows::Row;
use crate::formats::{Action, Cover, HideStep, StepId};
use crate::model::{HideKind, Millis};

const EXPORT: &[u8] = include_bytes!("../../../tests/data/goose/export.json");
const LINES: &[u8] = include_bytes!("../../../tests/data/goose/wheel.jsonl");

fn hides(session: &Session) -> Vec<(usize, &HideStep)> {
    let steps = session.steps.iter().enumerate();
    let hides = steps.filter_map(|(at, step)| match &step.action {
        Action::Hide(hide) => Some((at, hide)),
        Action::Append(_) => None,
    });
    hides.collect()
}

#[test]
fn an_export_says_what_was_sent_and_what_is_sent_no_more() {
    let session = &sound(&GOOSE, EXPORT);
    assert_eq!(session.start.id, "20260302_1");
    assert_eq!(session.end.title.as_deref(), Some("Sacks in the mill"));
    assert_eq!(session.end.cwd.as_deref(), Some("/home/mara/mill"));
    insta::assert_snapshot!(session.said().join("\n"));
    // A reply in two pieces is two messages: the first one may be here before the other is written.
    assert_eq!(session.steps[1].time, Some(Millis(1_772_438_403_000)));
    assert_eq!(session.end.other_records["assistant (not sent)"], 1);
    let [(7, summary), (15, dropped)] = &hides(session)[..] else {
        panic!("{:?}", hides(session));
    };
    assert_eq!(
        (summary.kind, summary.cover, &summary.keep[..]),
        (HideKind::Compaction, Cover::Everything, &[][..])
    );
    let entry = |step| StepId(step).entry();
    assert_eq!(dropped.cover, Cover::Range(entry(13), entry(14)));
}

#[test]
fn lines_of_before_the_database_are_read_alike() {
    let session = &sound(&GOOSE, LINES);
    assert_eq!(session.end.title.as_deref(), Some("Wood for the wheel"));
    assert_eq!(
        session.said(),
        [
            "user: Which wood for the wheel?",
            "assistant: toolu_1: developer__text_editor {\"path\":\"/home/mara/mill/wood.txt\",\"command\":\"view\"}",
            "tool: toolu_1 false = oak",
            "assistant: Oak.",
            "user: Thanks.",
        ]
    );
    assert_eq!(session.steps[0].time, Some(Millis(1_743_400_000_000)));
}

fn with(messages: &[Value]) -> Vec<u8> {
    let session = json!({"id": "s", "working_dir": "/w", "conversation": messages});
    session.to_string().into_bytes()
}

fn message(role: &str, text: &str, agent: bool, user: bool) -> Value {
    json!({"role": role, "created": 1, "content": [{"type": "text", "text": text}],
        "metadata": {"agentVisible": agent, "userVisible": user}})
}

#[test]
fn each_summary_stands_for_what_was_before_it_but_what_is_sent_still() {
    let source = with(&[
        message("user", "one", false, true),
        message("user", "stays", true, true),
        message("user", "first", false, false),
        message("assistant", "go on", false, false),
        message("user", "two", false, true),
        message("user", "second", true, false),
        message("assistant", "go on", true, false),
        message("user", "three", true, true),
    ]);
    let told = read(&GOOSE, &source);
    let session = &told.sessions[0];
    assert_eq!(
        session.said(),
        [
            "user: one",
            "user: stays",
            "Compaction: user: first",
            "assistant: go on",
            "user: two",
            "Compaction: user: second",
            "assistant: go on",
            "user: three",
        ]
    );
    let stays = StepId(1).entry();
    let kept: Vec<_> = hides(session)
        .iter()
        .map(|(_, it)| it.keep.clone())
        .collect();
    assert_eq!(kept, [[stays], [stays]]);
    // A summary with nothing before it is a message like any other.
    let told = read(
        &GOOSE,
        &with(&[
            message("user", "first", true, false),
            message("assistant", "go on", true, false),
        ]),
    );
    assert_eq!(told.sessions[0].said(), ["user: first", "assistant: go on"]);
}

#[test]
fn what_is_no_message_is_named_and_the_rest_comes_in() {
    let said = |text: &str| message("user", text, true, true);
    let source = with(&[
        said("one"),
        json!(7),
        json!({"role": "robot", "content": []}),
        json!({"role": "user", "content": "no list"}),
        json!({"role": "user", "content": [{"type": "toolResponse", "id": "none",
            "toolResult": {"status": "success", "value": null}}, {"type": "hologram"}]}),
        said("two"),
    ]);
    let told = read(&GOOSE, &source);
    let reasons: Vec<&str> = told.problems.iter().map(|it| &*it.reason).collect();
    insta::assert_snapshot!(reasons.join("\n"));
    let session = &told.sessions[0];
    assert_eq!(
        session.said(),
        [
            "user: one",
            r#"user: none false =  | {"type":"hologram"}"#,
            "user: two",
        ]
    );
    assert_eq!(session.end.opaque_blocks["hologram"], 1);
}

/// The rows of an export as the tool's database gives them.
fn rows_of(export: &Value, table: &str) -> Vec<Row> {
    let mut session = export.as_object().expect("a session").clone();
    let messages = session.remove("conversation").expect("messages");
    let text = |value: &Value| Value::from(value.to_string());
    if table == "sessions" {
        for (name, column) in [
            ("recipe", "recipe_json"),
            ("extension_data", "extension_data"),
        ] {
            if let Some(value) = session.remove(name).filter(|it| !it.is_null()) {
                session.insert(column.into(), text(&value));
            }
        }
        return vec![session];
    }
    let rows = messages.as_array().expect("a list").iter().enumerate();
    let row = |(at, it): (usize, &Value)| {
        let row = json!({"id": at + 1, "message_id": it["id"], "session_id": export["id"],
            "role": it["role"], "content_json": text(&it["content"]),
            "created_timestamp": it["created"], "timestamp": "2026-03-02 08:00:00", "tokens": null,
            "metadata_json": text(&it["metadata"])});
        row.as_object().expect("a row").clone()
    };
    rows.map(row).collect()
}

#[test]
fn the_rows_of_a_session_make_its_export() {
    let mut export: Value = serde_json::from_slice(EXPORT).expect("JSON");
    let rows = TablesOf(|table: &str| rows_of(&export, table));
    assert!(TABLES.are_in(&rows).expect("read"));
    let all = (TABLES.sessions)(&rows).expect("read");
    let found = (TABLES.document)(&rows, "20260302_1").expect("read");
    let (session, made) = found.expect("it is there");
    assert_eq!(session.cwd.as_deref(), Some("/home/mara/mill"));
    assert_eq!(all, [session]);
    let told = read(&GOOSE, made.as_bytes());
    assert_eq!(
        told.sessions[0].said(),
        read(&GOOSE, EXPORT).sessions[0].said()
    );
    let made: Value = serde_json::from_str(&made).expect("JSON");
    // What is null is left out.
    export
        .as_object_mut()
        .expect("a session")
        .retain(|_, value| !value.is_null());
    assert_eq!(made, export);
    let rows = TablesOf(|table: &str| rows_of(&export, table));
    assert!((TABLES.document)(&rows, "none").expect("read").is_none());
}
