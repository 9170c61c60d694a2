//! What a session says, and what is written back.

use serde_json::{Value, json};

use super::GEMINI;
use crate::conditions::real_sessions;
use crate::interop::contract::{Told, outgoing, read, value_at};
use crate::interop::{Document, Outgoing};
use crate::model::{Message, Millis, Part, Role, Usage};

const PLAIN: &[u8] = include_bytes!("../../../tests/data/gemini/plain.json");
const ODD: &[u8] = include_bytes!("../../../tests/data/gemini/odd.json");

fn export(messages: &[Outgoing], source: Option<&[u8]>) -> (String, Vec<String>) {
    let source = source.map(|bytes| String::from_utf8(bytes.to_vec()).expect("text"));
    let document = Document {
        session_id: "s".into(),
        now: Some(Millis(0)),
        source,
        ..Document::default()
    };
    let mut out = Vec::new();
    let remarks = GEMINI.writer().expect("is written")(messages, &document, &mut out)
        .expect("a vector takes all");
    (String::from_utf8(out).expect("text"), remarks)
}

/// What was exported, and what an import of it says.
fn again(exported: &str) -> (Value, Told) {
    let told = read(&GEMINI, exported.as_bytes());
    (serde_json::from_str(exported).expect("JSON"), told)
}

fn fresh(role: Role, parts: Vec<Part>) -> Outgoing {
    Outgoing {
        message: Message {
            attached: None,
            recipient: None,
            interrupted: false,
            role,
            name: None,
            parts,
        },
        time: None,
        settings: std::sync::Arc::default(),
        usage: None,
        records: Vec::new(),
        replaces: Vec::new(),
        is_summary: false,
    }
}

#[test]
fn calls_and_their_results_are_two_messages_of_one_record() {
    let told = read(&GEMINI, PLAIN);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    assert_eq!(session.start.id, "6f1d2c3b-0000-4000-8000-000000000001");
    assert_eq!(session.end.title.as_deref(), Some("Look into the pantry"));
    assert_eq!(session.end.other_records, [("info".to_owned(), 1)].into());
    let messages = session.messages();
    let roles: Vec<_> = messages.iter().map(|message| message.role).collect();
    assert_eq!(
        roles,
        [Role::User, Role::Assistant, Role::Tool, Role::Assistant]
    );
    let [
        Part::Thinking { text, .. },
        Part::ToolCall { arguments, .. },
        _,
    ] = &messages[1].parts[..]
    else {
        panic!("{:?}", messages[1]);
    };
    assert_eq!(
        text,
        "Looking first\n\nThe shelves and the jar, both at once."
    );
    assert_eq!(arguments, r#"{"path": "shelves",  "deep": 1.0}"#);
    let is_error = |part: &Part| matches!(part, Part::ToolResult { is_error: true, .. });
    let errors: Vec<_> = messages[2].parts.iter().map(is_error).collect();
    assert_eq!(errors, [false, true]);
    let reply = &session.steps[1];
    let usage = Usage {
        input_tokens: 1200,
        output_tokens: 65,
    };
    assert_eq!(reply.usage, Some(usage));
    assert_eq!(reply.settings["model"], r#""gemini-2.5-flash""#);
    assert_eq!(reply.records, session.steps[2].records);
    assert_eq!(
        session.steps[2].time,
        Millis::parse("2026-01-02T10:00:07.000Z")
    );
}

#[test]
fn what_is_odd_is_kept_and_counted() {
    let told = read(&GEMINI, ODD);
    assert_eq!(told.problems.len(), 1);
    assert_eq!(told.problems[0].line, 12);
    let session = &told.sessions[0];
    let counted = |key: &str| session.end.other_records.get(key).copied();
    assert_eq!(
        ["source", "error", "gemini (empty)"].map(counted),
        [Some(1), Some(1), Some(1)]
    );
    assert_eq!(session.end.opaque_blocks["executableCode"], 1);
    assert_eq!(session.end.lone_surrogates, 1);
    let messages = session.messages();
    assert!(matches!(messages[0].parts[1], Part::Image(_)));
    let [Part::ToolResult { content, .. }] = &messages[4].parts[..] else {
        panic!("one result: {:?}", messages[4]);
    };
    assert!(matches!(content[..], [Part::Text { .. }, Part::File(_)]));
}

#[test]
fn a_changed_result_changes_its_record_alone() {
    let session = &read(&GEMINI, PLAIN).sessions[0];
    let mut messages = outgoing(PLAIN, session);
    messages[2].replaces = std::mem::take(&mut messages[2].records);
    let Part::ToolResult { content, .. } = &mut messages[2].message.parts[0] else {
        panic!("a result");
    };
    *content = vec![Part::text("[cut]")];
    let (written, remarks) = export(&messages, Some(PLAIN));
    assert_eq!(remarks, [""; 0]);
    let (written, told) = again(&written);
    let wanted: Vec<_> = messages.iter().map(|outgoing| &outgoing.message).collect();
    assert_eq!(told.sessions[0].messages(), wanted);
    assert_eq!(told.sessions[0].start, session.start);
    let was: Value = serde_json::from_slice(PLAIN).expect("JSON");
    assert_eq!(written["messages"][0], was["messages"][0]);
    assert_eq!(
        written["messages"][1]["tokens"],
        was["messages"][1]["tokens"]
    );
    assert_eq!(written["messages"][2], was["messages"][3]);
}

#[test]
fn another_tools_history_becomes_a_session() {
    let call = Part::ToolCall {
        id: "c".into(),
        name: "look".into(),
        arguments: r#"{"at":"it"}"#.into(),
        kind: None,
    };
    let result = Part::ToolResult {
        call: "c".into(),
        content: vec![Part::text("gone")],
        is_error: true,
    };
    let thinking = Part::Thinking {
        text: "hm".into(),
        signature: Some("s".into()),
        provider: Some("anthropic".into()),
    };
    let messages = [
        fresh(Role::System, vec![Part::text("Be brief.")]),
        fresh(Role::User, vec![Part::text("Look.")]),
        fresh(Role::Assistant, vec![thinking, call.clone()]),
        fresh(Role::User, vec![result.clone(), Part::text("And?")]),
        fresh(Role::Assistant, vec![Part::text("It is gone.")]),
    ];
    let (written, remarks) = export(&messages, None);
    assert_eq!(remarks.len(), 2, "{remarks:?}");
    let (written, told) = again(&written);
    assert_eq!(written["sessionId"], json!("s"));
    let messages = told.sessions[0].messages();
    let parts: Vec<_> = messages.iter().map(|message| &message.parts[..]).collect();
    let text = |text: &str| [Part::text(text)];
    assert_eq!(
        parts,
        [
            &text("Look.")[..],
            &[call],
            &[result],
            &text("And?"),
            &text("It is gone.")
        ]
    );
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_sessions_come_back_equal() {
    let folder = real_sessions().join("gemini-cli");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let bytes = std::fs::read(&path).expect("readable");
        let told = read(&GEMINI, &bytes);
        assert!(told.problems.is_empty(), "{path:?}: {:?}", told.problems);
        let json: Value = serde_json::from_slice(&bytes).expect("JSON");
        let records = json["messages"].as_array().expect("messages");
        let count = |list: &str, of: &dyn Fn(&Value) -> bool| -> usize {
            let inside = records.iter().filter_map(|record| record[list].as_array());
            inside.flatten().filter(|value| of(value)).count()
        };
        let messages = told.sessions[0].messages();
        let parts = messages.iter().flat_map(|message| &message.parts);
        let kinds: Vec<_> = parts.map(Part::type_name).collect();
        let of = |name: &str| kinds.iter().filter(|kind| **kind == name).count();
        assert_eq!(of("tool_call"), count("toolCalls", &|_| true), "{path:?}");
        assert_eq!(
            of("tool_result"),
            count("toolCalls", &|call| call["result"].is_array())
        );
        assert_eq!(of("thinking"), count("thoughts", &|_| true), "{path:?}");
        let typed = |kind: &str| {
            records
                .iter()
                .filter(|record| record["type"] == kind)
                .count()
        };
        let from = |role: Role| {
            messages
                .iter()
                .filter(|message| message.role == role)
                .count()
        };
        assert_eq!(
            (from(Role::User), from(Role::Assistant)),
            (typed("user"), typed("gemini"))
        );
        let (written, _) = export(&outgoing(&bytes, &told.sessions[0]), Some(&bytes));
        let (written, _) = again(&written);
        let kept = records
            .iter()
            .filter(|record| ["user", "gemini"].iter().any(|k| record["type"] == *k));
        assert_eq!(
            written["messages"]
                .as_array()
                .expect("a list")
                .iter()
                .collect::<Vec<_>>(),
            kept.collect::<Vec<_>>()
        );
        for step in &told.sessions[0].steps {
            assert!(value_at(&bytes, step.records[0]).is_object());
        }
        seen += 1;
    }
    assert!(seen >= 6, "the folder holds fewer sessions than it should");
}
