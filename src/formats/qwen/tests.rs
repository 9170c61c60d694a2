//! What a session says, and what is written back.

use serde_json::{Value, json};

use super::QWEN;
use crate::conditions::real_sessions;
use crate::formats::shared::contract::{hides, outgoing, read, values, written};
use crate::formats::sniff::sniff;
use crate::formats::{Cover, Document, HideStep, Outgoing};
use crate::model::{HideKind, Message, Millis, Part, Role, Usage};

const PLAIN: &[u8] = include_bytes!("../../../tests/data/qwen/plain.jsonl");
const CHANGED: &[u8] = include_bytes!("../../../tests/data/qwen/changed.jsonl");
const AGENT: &[u8] = include_bytes!("../../../tests/data/qwen/agent.jsonl");

fn text(message: &Message) -> &str {
    match &message.parts[..] {
        [Part::Text { text }] => text,
        parts => panic!("one text: {parts:?}"),
    }
}

fn exported(messages: &[Outgoing], document: &Document) -> (Vec<Value>, Vec<String>) {
    let (out, remarks) = written(&QWEN, messages, document);
    (values(&out), remarks)
}

#[test]
fn a_session_is_read() {
    assert_eq!(sniff(&PLAIN).expect("readable"), Some(&QWEN));
    let told = read(&QWEN, PLAIN);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    assert_eq!(session.start.id, "8b1d2c3b-0000-4000-8000-000000000021");
    assert_eq!(session.end.title.as_deref(), Some("The pantry"));
    assert_eq!(session.end.cwd.as_deref(), Some("/home/mara/pantry"));
    let others: Vec<_> = session.end.other_records.keys().collect();
    assert_eq!(
        others,
        [
            "system/custom_title",
            "system/slash_command",
            "system/ui_telemetry"
        ]
    );
    let messages = session.messages();
    let roles: Vec<_> = messages.iter().map(|message| message.role).collect();
    let (user, said, tool) = (Role::User, Role::Assistant, Role::Tool);
    assert_eq!(
        roles,
        [user, said, tool, tool, said, user, said, tool, said]
    );
    let [
        Part::Thinking {
            signature: Some(signature),
            ..
        },
        Part::Text { .. },
        Part::ToolCall { arguments, .. },
        Part::ToolCall { .. },
    ] = &messages[1].parts[..]
    else {
        panic!("{:?}", messages[1]);
    };
    assert_eq!(
        (&**signature, &**arguments),
        ("c2ln", r#"{"path":"shelves","deep":1.0}"#)
    );
    let [Part::ToolResult { call, content, .. }] = &messages[3].parts[..] else {
        panic!("{:?}", messages[3]);
    };
    assert_eq!(
        (&**call, content.len()),
        ("c2", 2),
        "a picture belongs to it"
    );
    let [Part::ToolResult { is_error, .. }] = &messages[7].parts[..] else {
        panic!("{:?}", messages[7]);
    };
    assert!(is_error);
    let usage = Usage::new(102, 9).reasoned(4);
    assert_eq!(session.steps[1].usage, Some(usage));
    assert_eq!(session.steps[1].settings["model"], r#""coder-model""#);
}

#[test]
fn what_was_taken_back_or_compressed_is_hidden() {
    let told = read(&QWEN, CHANGED);
    assert!(told.problems.iter().all(|problem| problem.harmless));
    assert_eq!(told.problems.len(), 1, "a link that leads nowhere");
    let session = &told.sessions[0];
    let said: Vec<_> = session.messages().into_iter().map(text).collect();
    assert_eq!(
        said,
        [
            "One.", "First.", "Two.", "Second.", "Other.", "Third.", "Four.", "Fourth.", "Five.",
            "Fifth."
        ]
    );
    let hides = hides(&session.steps);
    let [taken_back, compressed] = hides[..] else {
        panic!("{hides:?}");
    };
    let entry = |hide: &HideStep| match hide.cover {
        Cover::Range(first, last) => (first.step.0, last.step.0),
        cover => panic!("{cover:?}"),
    };
    assert_eq!(
        (taken_back.kind, entry(taken_back)),
        (HideKind::Drop, (2, 3))
    );
    assert!(taken_back.replacements.is_empty());
    // What it keeps stays where it is, behind what it puts in place of the rest.
    assert_eq!(
        (compressed.kind, entry(compressed)),
        (HideKind::Compaction, (0, 1))
    );
    let placed = compressed.replacements.iter();
    let placed: Vec<_> = placed
        .map(|(before, message)| (before.map(|it| it.step.0), text(message)))
        .collect();
    assert_eq!(
        placed,
        [
            (Some(5), "<state_snapshot>One and other.</state_snapshot>"),
            (Some(5), "Got it.")
        ]
    );
}

#[test]
fn going_back_to_before_a_compression_brings_that_back() {
    let said = text;
    let file = String::from_utf8(CHANGED.to_vec()).expect("text");
    let again = file.replace(r#""parentUuid":"gone""#, r#""parentUuid":"r-02""#);
    let told = read(&QWEN, again.as_bytes());
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let all = hides(&told.sessions[0].steps);
    let [_, _, back] = all[..] else {
        panic!("{all:?}");
    };
    let placed: Vec<_> = back
        .replacements
        .iter()
        .map(|(_, message)| said(message))
        .collect();
    assert_eq!(placed, ["One.", "First."]);
    assert!(back.keep.is_empty());
}

/// A record behind another one: a message of these parts.
fn record(uuid: &str, parent: &str, role: &str, parts: &Value) -> String {
    let of_calls = parts[0].get("functionResponse").is_some();
    let kind = match role {
        "model" => "assistant",
        _ if of_calls => "tool_result",
        _ => "user",
    };
    let parent = (!parent.is_empty()).then_some(parent);
    let message = json!({"role": role, "parts": parts});
    let record = json!({"uuid": uuid, "parentUuid": parent, "sessionId": "s", "type": kind, "message": message});
    record.to_string()
}

fn said(uuid: &str, parent: &str, role: &str, text: &str) -> String {
    record(uuid, parent, role, &json!([{"text": text}]))
}

/// What stands once these records were read.
fn standing(records: &[String]) -> Vec<Message> {
    let told = read(&QWEN, records.join("\n").as_bytes());
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    told.sessions[0].standing()
}

#[test]
fn results_without_ids_are_those_of_calls_without() {
    let given = |uuid: &str, parent: &str| {
        let response = json!({"name": "look", "response": {"output": "nothing"}});
        record(
            uuid,
            parent,
            "user",
            &json!([{"functionResponse": response}]),
        )
    };
    let call = |at: &str| json!({"functionCall": {"name": "look", "args": {"at": at}}});
    let calls = json!([call("shelf"), call("jar")]);
    let records = [
        said("a", "", "user", "Look."),
        record("b", "a", "model", &calls),
        given("c", "b"),
        given("d", "c"),
        record("e", "d", "model", &json!([call("floor")])),
        given("f", "e"),
        // From the calls on once more.
        given("g", "b"),
        given("h", "g"),
    ];
    let ids = |messages: &[Message]| -> Vec<String> {
        let parts = messages.iter().flat_map(|message| &message.parts);
        let ids = parts.filter_map(|part| match part {
            Part::ToolCall { id, .. } => Some(id.clone()),
            Part::ToolResult { call, .. } => Some(call.clone()),
            _ => None,
        });
        ids.collect()
    };
    let all = ["look", "look_2", "look", "look_2", "look", "look"];
    assert_eq!(ids(&standing(&records[..6])), all);
    assert_eq!(ids(&standing(&records)), all[..4]);
}

#[test]
fn what_comes_later_under_a_records_name_belongs_to_it() {
    let records = [
        said("a", "", "user", "Is it there?"),
        said("b", "a", "model", "It is,"),
        said("c", "b", "user", "And now?"),
        said("b", "a", "model", " on the shelf."),
        said("d", "b", "user", "Thanks."),
        said("e", "d", "model", "Not at all."),
    ];
    let texts = |records: &[String]| -> Vec<String> {
        let standing = standing(records);
        standing.iter().map(|it| text(it).to_owned()).collect()
    };
    let now = [
        "Is it there?",
        "It is,",
        " on the shelf.",
        "Thanks.",
        "Not at all.",
    ];
    assert_eq!(texts(&records), now);
    // It stays there when the way is left and gone on with.
    let left = [
        &records[..],
        &[
            said("f", "a", "model", "Where?"),
            said("g", "e", "user", "Bye."),
        ],
    ];
    assert_eq!(texts(&left.concat()), [&now[..], &["Bye."]].concat());
    let behind = [&records[..], &[said("f", "b", "user", "Which?")]];
    assert_eq!(texts(&behind.concat()), [&now[..3], &["Which?"]].concat());
}

#[test]
fn going_to_and_fro_all_the_time_costs_no_more_than_the_file_allows() {
    let mut records = vec![said("r", "", "user", "Root.")];
    let mut ends = ["r".to_owned(), "r".to_owned()];
    let mut turn = |way: usize, number: usize| {
        let uuid = format!("{way}-{number}");
        records.push(said(&uuid, &ends[way], "user", &uuid));
        ends[way] = uuid;
    };
    let (first, second) = ((0..400).map(|at| (0, at)), (0..400).map(|at| (1, at)));
    let to_and_fro = (400..800).map(|at| (at % 2, at));
    for (way, number) in first.chain(second).chain(to_and_fro) {
        turn(way, number);
    }
    let file = records.join("\n");
    let told = read(&QWEN, file.as_bytes());
    let session = &told.sessions[0];
    assert_eq!(session.messages().len(), records.len());
    assert!(
        told.problems
            .iter()
            .any(|it| it.reason.contains("too often"))
    );
    let placed: usize = hides(&session.steps)
        .iter()
        .map(|hide| hide.replacements.len())
        .sum();
    let all = super::read::most_read_again(file.len() as u64);
    assert!(placed as u64 * records[1].len() as u64 <= all, "{placed}");
    // As often as anybody does, it is followed.
    let short = records[..810].join("\n");
    assert_eq!(read(&QWEN, short.as_bytes()).problems, []);
}

#[test]
fn an_agents_session_names_who_started_it() {
    let session = &read(&QWEN, AGENT).sessions[0];
    let parent = "8b1d2c3b-0000-4000-8000-000000000021";
    assert_eq!(session.start.id, format!("{parent}/agent-look-1"));
    assert_eq!(session.start.descent.spawned_by.as_deref(), Some(parent));
    let first = AGENT.split(|byte| *byte == b'\n').next().expect("a line");
    let first = std::str::from_utf8(first).expect("text");
    let home = QWEN.home.as_ref().expect("one");
    let (id, descent) = (home.descent)(first, "x").expect("it is told");
    assert_eq!(
        (id, descent),
        (session.start.id.clone(), session.start.descent.clone())
    );
}

#[test]
fn a_changed_message_changes_its_record_alone() {
    let session = &read(&QWEN, PLAIN).sessions[0];
    let mut messages = outgoing(PLAIN, session);
    messages[2].replaces = std::mem::take(&mut messages[2].records);
    if let Part::ToolResult { content, .. } = &mut messages[2].message.parts[0] {
        *content = vec![Part::text("[cut]")];
    }
    let (lines, remarks) = exported(&messages, &Document::default());
    assert_eq!(remarks, [""; 0]);
    let was: Vec<Value> = PLAIN
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    assert_eq!(lines[1], was[2]);
    assert_eq!(lines[2]["toolCallResult"], was[3]["toolCallResult"]);
    let response = &lines[2]["message"]["parts"][0]["functionResponse"];
    assert_eq!(response["response"]["output"], "[cut]");
    assert_eq!(lines[3], was[4]);
}

#[test]
fn a_new_session_is_one_line_of_its_own() {
    let session = &read(&QWEN, PLAIN).sessions[0];
    let mut messages = outgoing(PLAIN, session);
    messages[0].records.clear();
    let document = Document {
        session_id: "new".into(),
        cwd: "/w".into(),
        now: Some(Millis(0)),
        fresh: true,
        ..Document::default()
    };
    let (lines, remarks) = exported(&messages, &document);
    assert_eq!(remarks, [""; 0]);
    let mut last = Value::Null;
    for line in &lines {
        assert_eq!(
            (&line["sessionId"], &line["cwd"]),
            (&"new".into(), &"/w".into())
        );
        assert_eq!(line["parentUuid"], last);
        last = line["uuid"].clone();
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let again = read(&QWEN, text.as_bytes());
    assert_eq!(again.sessions[0].messages(), session.messages());
}

#[test]
fn requests_that_no_record_of_a_reply_shows_are_counted() {
    let answered = |input: u64, total: u64| {
        let event = json!({"event.name": "qwen-code.api_response", "model": "m", "input_token_count": input,
            "output_token_count": total - input, "cached_content_token_count": 4, "total_token_count": total});
        json!({"uuid": format!("t{input}"), "sessionId": "s", "type": "system", "subtype": "ui_telemetry",
            "systemPayload": {"uiEvent": event}})
        .to_string()
    };
    let reply = json!({"uuid": "a", "sessionId": "s", "type": "assistant", "model": "m",
        "message": {"role": "model", "parts": [{"text": "Said."}]},
        "usageMetadata": {"promptTokenCount": 100, "totalTokenCount": 110, "cachedContentTokenCount": 4}});
    let counted = |records: &[String]| {
        let lines = records.join("\n");
        read(&QWEN, lines.as_bytes()).sessions[0].counted()
    };
    let asked = said("u", "", "user", "One?");
    let records = [
        asked.clone(),
        answered(100, 110),
        reply.to_string(),
        answered(60, 63),
    ];
    let usage = Usage::new(100, 10).cached(4, 0);
    let others = vec![("m".to_owned(), [60, 3, 4])];
    assert_eq!(counted(&records), (usage, others));
    assert_eq!(counted(&records[..3]), (usage, Vec::new()));
    // A tool that tells of no requests says nothing of others.
    assert_eq!(counted(&[asked, reply.to_string()]), (usage, Vec::new()));
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_sessions_come_back_equal() {
    let mut seen = 0;
    for file in std::fs::read_dir(real_sessions().join("qwen")).expect("a folder") {
        let bytes = std::fs::read(file.expect("a file").path()).expect("readable");
        let told = read(&QWEN, &bytes);
        assert!(
            told.problems.iter().all(|it| it.harmless),
            "{:?}",
            told.problems
        );
        let session = &told.sessions[0];
        let records = bytes.split(|byte| *byte == b'\n');
        let records: Vec<Value> = records
            .filter_map(|it| serde_json::from_slice(it).ok())
            .collect();
        let said = records.iter().filter(|record| record["type"] != "system");
        assert_eq!(session.messages().len(), said.count());
        let document = Document::default();
        let (lines, remarks) = exported(&outgoing(&bytes, session), &document);
        assert_eq!(remarks, [""; 0]);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let again = read(&QWEN, text.as_bytes());
        assert_eq!(again.sessions[0].messages(), session.messages());
        seen += 1;
    }
    assert!(seen >= 2, "the folder holds fewer sessions than it should");
}
