//! What a session says, what of it is not sent any more, and what is written back.

use serde_json::{Value, json};

use super::OPENCODE;
use crate::conditions::real_sessions;
use crate::formats::shared::contract::{fresh, outgoing, read, texts, written};
use crate::formats::{Action, Cover, Document, HideStep, Outgoing};
use crate::model::{HideKind, Message, Millis, Part, Role, Usage};

const PLAIN: &[u8] = include_bytes!("../../../tests/data/opencode/plain.json");
const HIDDEN: &[u8] = include_bytes!("../../../tests/data/opencode/hidden.json");

fn export(messages: &[Outgoing], source: Option<&[u8]>) -> (Value, Vec<String>) {
    let (text, remarks) = exported(messages, source);
    (serde_json::from_slice(&text).expect("JSON"), remarks)
}

fn exported(messages: &[Outgoing], source: Option<&[u8]>) -> (Vec<u8>, Vec<String>) {
    let source = source.map(|bytes| String::from_utf8(bytes.to_vec()).expect("text"));
    let document = Document {
        session_id: "ses_x".into(),
        cwd: "/home/ada/mill".into(),
        now: Some(Millis(7)),
        source,
        ..Document::default()
    };
    let (out, remarks) = written(&OPENCODE, messages, &document);
    (out, remarks)
}

#[test]
fn a_message_is_what_the_model_is_sent_of_it() {
    let told = read(&OPENCODE, PLAIN);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    assert_eq!(session.start.id, "ses_e01aa0000ffeMill00000000001");
    assert_eq!(session.end.title.as_deref(), Some("Mend the wheel"));
    assert_eq!(session.end.cwd.as_deref(), Some("/home/ada/mill"));
    assert_eq!(session.end.started, ["ses_child"]);
    let messages = session.messages();
    let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
    let (user, reply, tool) = (Role::User, Role::Assistant, Role::Tool);
    assert_eq!(roles, [user, reply, tool, reply, tool, reply]);
    let kinds: Vec<_> = messages[0].part_types();
    assert_eq!(kinds, [("text", 2), ("image", 1)]);
    let signature = Some("c2ln".to_owned());
    let thinking = Part::Thinking {
        text: "A spoke is missing.".into(),
        signature,
        provider: Some("anthropic".into()),
    };
    assert_eq!(messages[1].parts[0], thinking);
    let failed = Part::ToolResult {
        call: "c2".into(),
        content: vec![Part::text("File not found")],
        is_error: true,
    };
    assert_eq!(messages[2].parts[1], failed);
    assert_eq!(session.steps[2].time, Some(Millis(1_772_100_002_950)));
    // One that failed is not sent again; one that was cut off is, and its call has no result.
    assert_eq!(session.end.other_records["assistant (not sent)"], 1);
    assert_eq!(texts(messages[5]), ["It turns"]);
    let usage = Usage::new(134, 9).cached(30, 4).reasoned(2);
    assert_eq!(session.steps[1].usage, Some(usage));
    assert_eq!(session.end.opaque_blocks["hologram"], 1);
}

fn hides(bytes: &[u8]) -> Vec<HideStep> {
    let told = read(&OPENCODE, bytes);
    let steps = told.sessions[0].steps.iter();
    let hides = steps.filter_map(|step| match &step.action {
        Action::Hide(hide) => Some(hide.clone()),
        Action::Append(_) => None,
    });
    hides.collect()
}

#[test]
fn summaries_cleared_outputs_and_what_was_taken_back_are_hidden() {
    let found = hides(HIDDEN);
    let kinds: Vec<_> = found.iter().map(|hide| hide.kind).collect();
    let compaction = HideKind::Compaction;
    assert_eq!(
        kinds,
        [HideKind::Prune, compaction, compaction, HideKind::Drop]
    );
    let [prune, first, second, drop] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(prune.parts.len(), 1);
    let ends = |hide: &HideStep| match hide.cover {
        Cover::Range(first, last) => (first.step.0, last.step.0),
        cover => panic!("{cover:?}"),
    };
    // one, its reply, its output; two, its reply.
    assert_eq!(ends(first), (0, 4));
    assert_eq!(texts(&first.replacements[0].1), ["One and two are done."]);
    // The end of it is kept, behind the summary and what asked for it.
    assert_eq!(second.keep.len(), 2);
    let said: Vec<_> = second.replacements.iter().map(|(_, m)| texts(m)).collect();
    assert_eq!(said, [["What did we do so far?"], ["Three, too."]]);
    let before = second.replacements.iter().map(|(before, _)| *before);
    assert!(before.eq([Some(second.keep[0]); 2]));
    assert!(drop.replacements.is_empty());
}

#[test]
fn what_is_taken_back_from_a_part_on_leaves_what_stands_before() {
    let mut session: Value = serde_json::from_slice(PLAIN).expect("JSON");
    let message = session["messages"][1].clone();
    session["info"]["revert"] = json!({
        "messageID": message["info"]["id"],
        "partID": message["parts"][2]["id"],
    });
    let found = hides(session.to_string().as_bytes());
    let parts: Vec<u32> = found[0].parts.iter().map(|(_, part, _)| *part).collect();
    assert_eq!(parts, [1, 2, 3]);
    assert!(matches!(found[0].cover, Cover::Range(..)));
}

#[test]
fn records_stay_as_they_were_and_nothing_written_is_taken_back() {
    let told = read(&OPENCODE, PLAIN);
    let messages = outgoing(PLAIN, &told.sessions[0]);
    let (file, remarks) = export(&messages, Some(PLAIN));
    let source: Value = serde_json::from_slice(PLAIN).expect("JSON");
    assert!(remarks.is_empty(), "{remarks:?}");
    assert_eq!(file["info"], source["info"]);
    let kept = [0, 1, 2, 4].map(|at| source["messages"][at].clone());
    assert_eq!(file["messages"], Value::from(kept.to_vec()));
    let (file, _) = export(&messages, Some(HIDDEN));
    assert!(file["info"].get("revert").is_none());
}

#[test]
fn an_output_that_is_back_is_not_cleared() {
    let told = read(&OPENCODE, HIDDEN);
    let messages = outgoing(HIDDEN, &told.sessions[0]);
    let (file, _) = export(&messages[..3], None);
    let state = &file["messages"][1]["parts"][1]["state"];
    assert_eq!(state["output"], "a long page");
    assert!(state["time"].get("compacted").is_none());
    // With what stands in its place, it is as it was.
    let mut cleared = messages[..3].to_vec();
    if let Part::ToolResult { content, .. } = &mut cleared[2].message.parts[0] {
        *content = vec![Part::text("[Old tool result content cleared]")];
    }
    cleared[1].replaces = std::mem::take(&mut cleared[1].records);
    let (file, _) = export(&cleared, None);
    let source: Value = serde_json::from_slice(HIDDEN).expect("JSON");
    assert_eq!(file["messages"][1], source["messages"][1]);
}

#[test]
fn new_messages_are_read_back() {
    let call = Part::ToolCall {
        id: "c".into(),
        name: "look".into(),
        arguments: r#"{"x":1.0}"#.into(),
        kind: None,
    };
    let result = Part::ToolResult {
        call: "c".into(),
        content: vec![Part::text("seen")],
        is_error: false,
    };
    let sealed = Part::Opaque {
        provider: "anthropic".into(),
        data: r#"{"type":"redacted_thinking","data":"x"}"#.into(),
    };
    let messages = [
        fresh(Role::User, vec![Part::text("Look.")]),
        fresh(Role::Assistant, vec![sealed, Part::text("So."), call]),
        fresh(Role::Tool, vec![result]),
        fresh(Role::User, vec![Part::text("Thanks.")]),
    ];
    let (file, remarks) = export(&messages, None);
    assert!(remarks.is_empty(), "{remarks:?}");
    let told = read(&OPENCODE, file.to_string().as_bytes());
    let again: Vec<Message> = told.sessions[0].messages().into_iter().cloned().collect();
    let said: Vec<Message> = messages.into_iter().map(|out| out.message).collect();
    assert_eq!(again, said);
    let id = |at: usize| file["messages"][at]["info"]["id"].as_str().expect("an id");
    assert!(id(0) < id(1) && id(1) < id(2), "they sort by time");
    assert_eq!(file["messages"][1]["info"]["parentID"], id(0));
}

/// A session of these messages: who speaks, when it began, and its id with those of its texts.
fn of_ids(messages: &[(&str, i64, &str, &[&str])]) -> Value {
    let messages = messages.iter().map(|(role, created, id, parts)| {
        let parts = parts.iter().map(|part| json!({"id": part, "type": "text", "text": part}));
        json!({"info": {"id": id, "role": role, "time": {"created": created}}, "parts": parts.collect::<Vec<_>>()})
    });
    json!({"info": {"id": "ses_1", "slug": "s", "directory": "/mill"}, "messages": messages.collect::<Vec<_>>()})
}

#[test]
fn time_orders_messages_and_their_parts_though_ids_wrap() {
    let session = of_ids(&[
        ("assistant", 4, "msg_000000000200", &["prt_000000000210"]),
        ("user", 3, "msg_000000000100", &["prt_000000000110"]),
        ("user", 1, "msg_fffffffff000", &["prt_fffffffff010"]),
        (
            "assistant",
            2,
            "msg_fffffffff100",
            &["prt_000000000010", "prt_fffffffff110", "prt_fffffffff120"],
        ),
    ]);
    let told = read(&OPENCODE, session.to_string().as_bytes());
    let messages = told.sessions[0].messages();
    let said: Vec<Vec<&str>> = messages.into_iter().map(texts).collect();
    assert_eq!(
        said,
        [
            vec!["prt_fffffffff010"],
            vec!["prt_fffffffff110", "prt_fffffffff120", "prt_000000000010"],
            vec!["prt_000000000110"],
            vec!["prt_000000000210"],
        ]
    );
}

#[test]
fn a_new_session_has_ids_of_the_moment_of_writing_in_order() {
    // The end of the time that ids have room for is between the two.
    let (july, now) = (1_786_000_000_000, 1_796_000_000_000);
    let session = of_ids(&[
        ("user", july, "msg_f95b00000001", &["prt_f95b00000002"]),
        (
            "assistant",
            july + 1,
            "msg_f95b00001001",
            &["prt_f95b00001002", "prt_f95b00001003"],
        ),
    ]);
    let bytes = session.to_string();
    let told = read(&OPENCODE, bytes.as_bytes());
    let mut messages = outgoing(bytes.as_bytes(), &told.sessions[0]);
    messages.push(fresh(Role::User, vec![Part::text("And now?")]));
    let document = Document {
        session_id: "ses_2".into(),
        fresh: true,
        now: Some(Millis(now)),
        ..Document::default()
    };
    let (text, _) = written(&OPENCODE, &messages, &document);
    let written: Value = serde_json::from_slice(&text).expect("JSON");
    let mut ids = Vec::new();
    for message in written["messages"].as_array().expect("a list") {
        ids.push(&message["info"]["id"]);
        ids.extend(
            message["parts"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|part| &part["id"]),
        );
    }
    let places: Vec<u64> = ids
        .iter()
        .map(|id| u64::from_str_radix(&id.as_str().expect("an id")[4..16], 16).expect("digits"))
        .collect();
    assert_eq!(places.len(), 7);
    assert!(places.windows(2).all(|two| two[0] < two[1]), "{ids:?}");
    let moment = (now as u64 * 0x1000) & 0xffff_ffff_ffff;
    assert!(
        places.iter().all(|place| place - moment < 0x1000),
        "{ids:?}"
    );
    let times = written["messages"].as_array().expect("a list").iter();
    let times: Vec<&Value> = times.map(|it| &it["info"]["time"]["created"]).collect();
    assert_eq!(times[..2], [&json!(july), &json!(july + 1)]);
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_sessions_come_back_equal() {
    let folder = real_sessions().join("opencode");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let bytes = std::fs::read(&path).expect("readable");
        let told = read(&OPENCODE, &bytes);
        assert!(told.problems.is_empty(), "{path:?}: {:?}", told.problems);
        let session = &told.sessions[0];
        let json: Value = serde_json::from_slice(&bytes).expect("JSON");
        let records = json["messages"].as_array().expect("messages");
        let of_kind = |kind: &str| {
            let parts = records.iter().flat_map(|record| record["parts"].as_array());
            let parts = parts.flatten().filter(|part| part["type"] == kind);
            parts.cloned().collect::<Vec<Value>>()
        };
        let messages = session.messages();
        let parts = messages.iter().flat_map(|message| &message.parts);
        let kinds: Vec<_> = parts.map(Part::type_name).collect();
        let of = |name: &str| kinds.iter().filter(|kind| **kind == name).count();
        let tools = of_kind("tool");
        assert_eq!(of("tool_call"), tools.len(), "{path:?}");
        assert_eq!(of("tool_result"), tools.len(), "{path:?}");
        assert_eq!(of("thinking"), of_kind("reasoning").len(), "{path:?}");
        let cleared = |part: &&Value| !part["state"]["time"]["compacted"].is_null();
        let hidden: usize = hides(&bytes).iter().map(|hide| hide.parts.len()).sum();
        assert_eq!(hidden, tools.iter().filter(cleared).count(), "{path:?}");
        let (written, _) = exported(&outgoing(&bytes, session), Some(&bytes));
        let again = read(&OPENCODE, &written);
        let again = again.sessions[0].messages();
        assert_eq!(again.len(), messages.len(), "{path:?}");
        for (again, message) in again.iter().zip(&messages) {
            assert_eq!(again, message, "{path:?}");
        }
        seen += 1;
    }
    assert!(seen >= 2, "the folder holds fewer sessions than it should");
}

/// A command that was stopped half-way: what it had printed is what the next prompt goes on from.
#[test]
fn what_an_interrupted_call_had_printed_is_sent() {
    let tool = |metadata: Value| {
        json!({"id": "prt_2", "type": "tool", "callID": "c1", "tool": "bash", "state": {"status": "error",
            "input": {"command": "make"}, "error": "Tool execution aborted", "metadata": metadata,
            "time": {"start": 2, "end": 3}}})
    };
    let read_with = |metadata: Value| {
        let file = json!({"info": {"id": "ses_1"}, "messages": [
            {"info": {"id": "msg_1", "role": "user", "time": {"created": 1}},
             "parts": [{"id": "prt_1", "type": "text", "text": "build it"}]},
            {"info": {"id": "msg_2", "role": "assistant", "time": {"created": 2}},
             "parts": [tool(metadata)]}]});
        let told = read(&OPENCODE, file.to_string().as_bytes());
        assert!(told.problems.is_empty(), "{:?}", told.problems);
        told.sessions[0].steps.last().expect("a result").clone()
    };
    let result = |text: &str, is_error| {
        let part = Part::ToolResult {
            call: "c1".into(),
            content: vec![Part::text(text)],
            is_error,
        };
        Message::new(Role::Tool, vec![part])
    };
    let aborted = result("Tool execution aborted", true);
    let step = read_with(json!({"interrupted": true, "output": "cc a.c\n"}));
    assert_eq!(step.message(), Some(&result("cc a.c\n", false)));
    for metadata in [
        json!({"interrupted": true}),
        json!({"output": "cc a.c\n"}),
        json!(null),
    ] {
        let step = read_with(metadata);
        assert_eq!(step.message(), Some(&aborted));
    }
}
