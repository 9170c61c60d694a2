//! What a history file says, step by step, and what is written back.

use serde_json::{Value, json};

use super::ROO;
use crate::error::Result;
use crate::formats::shared::contract::{anew, written};
use crate::formats::sniff::sniff;
use crate::formats::{
    Action, BranchStart, Cover, Document, Format, HideStep, Moment, Outgoing, Problem, SessionEnd,
    SessionStart, Sink, Source, Step,
};
use crate::model::{Message, Millis, Part, Role, Settings, Usage};

#[derive(Default)]
struct Read {
    id: String,
    steps: Vec<Step>,
    end: SessionEnd,
    problems: Vec<String>,
}

impl Sink for Read {
    fn session(&mut self, start: SessionStart) -> Result<()> {
        self.id = start.id;
        Ok(())
    }
    fn branch(&mut self, _: BranchStart) -> Result<()> {
        panic!("a task has no branches")
    }
    fn step(&mut self, step: Step) -> Result<()> {
        self.steps.push(step);
        Ok(())
    }
    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.end = end;
        Ok(())
    }
    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.problems
            .push(format!("{}: {}", problem.line, problem.reason));
        Ok(())
    }
}

fn read(text: &str) -> Read {
    let mut read = Read::default();
    let told = (ROO.read)(Source {
        stem: "task",
        ..Source::of(&text.as_bytes(), &mut read)
    });
    told.expect("it can be read");
    read
}

fn text(message: &Message) -> &str {
    match &message.parts[..] {
        [Part::Text { text }, ..] => text,
        _ => "",
    }
}

/// The steps of a file, one line each.
fn sketch(file: &Value) -> Vec<String> {
    let line = |step: &Step| match &step.action {
        Action::Append(message) => text(message).to_owned(),
        Action::Hide(HideStep {
            kind,
            cover,
            keep,
            replacements,
            moment,
            ..
        }) => {
            let Cover::Range(first, last) = cover else {
                panic!("whole entries")
            };
            let keep: Vec<usize> = keep.iter().map(|entry| entry.step.0).collect();
            let texts: Vec<&str> = replacements.iter().map(|(_, m)| text(m)).collect();
            let Moment::Since(since) = moment else {
                panic!("no time is told")
            };
            let (first, last) = (first.step.0, last.step.0);
            format!("{kind:?} {first}..{last} but {keep:?} by {texts:?} since {since}")
        }
    };
    read(&file.to_string()).steps.iter().map(line).collect()
}

fn said(role: &str, text: &str, tags: Value) -> Value {
    let mut message = json!({"role": role, "content": text});
    let tags = tags.as_object().expect("tags").clone();
    message.as_object_mut().expect("an object").extend(tags);
    message
}

fn marker(id: &str) -> Value {
    said(
        "user",
        "hidden",
        json!({"isTruncationMarker": true, "truncationId": id}),
    )
}

fn summary(role: &str, id: &str) -> Value {
    said(
        role,
        "summary",
        json!({"isSummary": true, "condenseId": id}),
    )
}

#[test]
fn keys_beside_a_message_tell_the_format() {
    for text in [
        r#"[{"role":"user","content":"a","ts":1}]"#,
        r#"[{"role":"user","content":"a"},{"role":"assistant","content":"b","modelInfo":{"modelId":"m"}}]"#,
        r#"[{"role":"user","content":"a","truncationParent":"t"}]"#,
        r#"[{"role":"user","content":"a","ts":1},{"role":"#,
    ] {
        assert_eq!(sniff(&text.as_bytes()).expect("read"), Some(&ROO), "{text}");
    }
    assert_eq!(Format::named("cline").expect("a name"), &ROO);
}

#[test]
fn a_message_has_its_time_its_model_and_its_counts() {
    let file = json!([
        {"role": "user", "ts": 1_760_000_000_000_i64, "content": [
            {"type": "text", "text": "<task>\nBake\nbread\n</task>"}]},
        {"role": "assistant", "content": [
            {"type": "reasoning", "text": "hm", "summary": []},
            {"type": "thoughtSignature", "thoughtSignature": "s"},
            {"type": "redacted_thinking", "data": "r"},
            {"type": "tool_use", "id": "c", "name": "f", "input": {}}],
         "modelInfo": {"modelId": "m\"1", "providerId": "p", "mode": "act"},
         "metrics": {"tokens": {"prompt": 7, "completion": 2, "cached": 3}, "cost": 0.1}},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]},
        {"type": "reasoning", "encrypted_content": "e", "id": "rs", "ts": 5},
    ]);
    let read = read(&file.to_string());
    assert_eq!(read.problems, [] as [String; 0]);
    assert_eq!(
        (read.id.as_str(), read.end.title.as_deref()),
        ("task", Some("Bake"))
    );
    let messages: Vec<&Message> = read
        .steps
        .iter()
        .map(|step| match &step.action {
            Action::Append(message) => message,
            Action::Hide(_) => panic!("nothing is hidden"),
        })
        .collect();
    assert_eq!(read.steps[0].time, Some(Millis(1_760_000_000_000)));
    assert_eq!(read.steps[1].time, None);
    let thinking = Part::Thinking {
        text: "hm".into(),
        signature: None,
        provider: None,
    };
    let opaque = |provider: &str, data: &str| Part::Opaque {
        provider: provider.into(),
        data: data.into(),
    };
    assert_eq!(messages[1].parts[0], thinking);
    let signature = r#"{"type":"thoughtSignature","thoughtSignature":"s"}"#;
    let redacted = r#"{"type":"redacted_thinking","data":"r"}"#;
    assert_eq!(messages[1].parts[1], opaque("roo", signature));
    assert_eq!(messages[1].parts[2], opaque("anthropic", redacted));
    let model = ("model".to_owned(), r#""m\"1""#.to_owned());
    assert_eq!(read.steps[1].settings, Settings::from_iter([model]));
    let usage = Usage::new(7, 2);
    assert_eq!(read.steps[1].usage, Some(usage));
    assert_eq!(messages[2].role, Role::Tool);
    assert_eq!(messages[3].role, Role::Assistant);
    assert_eq!(
        read.end.opaque_blocks.into_iter().collect::<Vec<_>>(),
        [
            ("reasoning".to_owned(), 1),
            ("redacted_thinking".to_owned(), 1),
            ("thoughtSignature".to_owned(), 1)
        ]
    );
}

#[test]
fn a_marker_hides_what_names_it_and_stands_in_its_place() {
    let tagged = json!({"truncationParent": "t"});
    let file = json!([
        said("user", "task", json!({})),
        said("assistant", "a", tagged.clone()),
        said("user", "b", tagged),
        marker("t"),
        said(
            "assistant",
            "c",
            json!({"truncationParent": "no such marker"})
        ),
    ]);
    assert_eq!(
        sketch(&file),
        [
            "task",
            "a",
            "b",
            r#"Truncation 1..2 but [] by ["hidden"] since 2"#,
            "c"
        ]
    );
}

#[test]
fn what_a_truncation_left_between_stays() {
    let file = json!([
        said("user", "task", json!({})),
        said("assistant", "a", json!({"truncationParent": "t"})),
        marker("t"),
        said("user", "b", json!({"truncationParent": "u"})),
        said("assistant", "c", json!({"truncationParent": "t"})),
        marker("u"),
    ]);
    assert_eq!(
        sketch(&file),
        [
            "task",
            "a",
            r#"Truncation 1..1 but [] by ["hidden"] since 1"#,
            "b",
            "c",
            // Its mark stood before it already.
            "Truncation 4..4 but [] by [] since 0",
            r#"Truncation 3..3 but [] by ["hidden"] since 1"#,
        ]
    );
}

#[test]
fn a_request_begins_at_the_last_summary_and_an_assistants_leaves_the_task() {
    let condensed = json!({"condenseParent": "c"});
    let by = |role: &str| {
        sketch(&json!([
            said("user", "task", json!({})),
            said("assistant", "a", condensed.clone()),
            said("user", "b", json!({})),
            summary(role, "c"),
            said("user", "d", json!({})),
        ]))[3]
            .clone()
    };
    assert_eq!(
        by("assistant"),
        r#"Compaction 1..2 but [] by ["summary"] since 3"#
    );
    assert_eq!(
        by("user"),
        r#"Compaction 0..2 but [] by ["summary"] since 0"#
    );
    let alone = json!([said("user", "task", json!({})), summary("assistant", "c")]);
    assert_eq!(sketch(&alone), ["task", "summary"]);
}

#[test]
fn a_truncation_of_what_was_condensed_comes_after_the_summary() {
    let both = json!({"condenseParent": "c", "truncationParent": "t"});
    let file = json!([
        said("user", "task", json!({})),
        said("assistant", "a", both.clone()),
        said("user", "b", both),
        marker("t"),
        summary("assistant", "c"),
        said("user", "d", json!({})),
    ]);
    assert_eq!(
        sketch(&file),
        [
            "task",
            "a",
            "b",
            r#"Compaction 1..2 but [] by ["summary"] since 3"#,
            "Truncation 1..2 but [] by [] since 1",
            "d",
        ]
    );
}

#[test]
fn damage_is_told_with_its_line_and_the_rest_is_read() {
    let read = read(
        "[{\"role\":\"user\",\"content\":\"a\",\"ts\":1},\n7,\n{\"content\":\"b\"},\n{\"role\":\"user\"",
    );
    assert_eq!(read.steps.len(), 1);
    assert_eq!(read.problems.len(), 3, "{:?}", read.problems);
    assert_eq!(read.problems[0], "2: a message that is no object");
    assert!(read.problems[2].starts_with("4: "));
    assert_eq!(self::read("\n{}").problems, ["2: not a list of messages"]);
}

fn outgoing(role: Role, text: &str) -> Outgoing {
    Outgoing {
        time: Some(Millis(5)),
        ..anew(Message::text(role, text))
    }
}

fn export(messages: &[Outgoing]) -> (Value, Vec<String>) {
    let (bytes, remarks) = written(&ROO, messages, &Document::default());
    (serde_json::from_slice(&bytes).expect("JSON"), remarks)
}

#[test]
fn records_stay_as_they_were_and_new_messages_get_their_time() {
    let kept = said(
        "user",
        "x",
        json!({"ts": 1, "truncationParent": "gone", "extra": 1.0}),
    );
    let changed = said(
        "assistant",
        "y",
        json!({"ts": 2, "modelInfo": {"modelId": "m"}}),
    );
    let result = |call: &str| Message {
        attached: None,
        recipient: None,
        interrupted: false,
        role: Role::Tool,
        name: None,
        parts: vec![Part::ToolResult {
            call: call.into(),
            content: vec![Part::text("r")],
            is_error: false,
        }],
    };
    let (file, remarks) = export(&[
        outgoing(Role::System, "s"),
        Outgoing {
            records: vec![kept.to_string()],
            ..outgoing(Role::User, "x")
        },
        Outgoing {
            replaces: vec![changed.to_string()],
            ..outgoing(Role::Assistant, "z")
        },
        Outgoing {
            message: result("1"),
            ..outgoing(Role::Tool, "")
        },
        Outgoing {
            message: result("2"),
            ..outgoing(Role::Tool, "")
        },
    ]);
    let results = |call: &str| json!({"type": "tool_result", "tool_use_id": call, "content": "r"});
    assert_eq!(
        file,
        json!([
            kept,
            said("assistant", "z", json!({"ts": 2, "modelInfo": {"modelId": "m"}})),
            {"role": "user", "content": [results("1"), results("2")], "ts": 5},
        ])
    );
    assert_eq!(
        remarks,
        ["left out: a system message; the tool writes its own (1)"]
    );
}

#[test]
fn no_tag_hides_what_is_written() {
    let record = |record: Value| Outgoing {
        records: vec![record.to_string()],
        ..outgoing(Role::User, "")
    };
    let (file, _) = export(&[
        record(said("user", "task", json!({}))),
        record(said(
            "user",
            "back",
            json!({"truncationParent": "t", "ts": 1}),
        )),
        record(marker("t")),
        record(summary("user", "c")),
        Outgoing {
            is_summary: true,
            ..outgoing(Role::Assistant, "own")
        },
    ]);
    assert_eq!(
        file,
        json!([
            said("user", "task", json!({})),
            said("user", "back", json!({"ts": 1})),
            marker("t"),
            said("user", "summary", json!({})),
            said("assistant", "own", json!({"ts": 5})),
        ])
    );
}

#[test]
fn an_own_summary_is_marked_where_the_tool_reads_it_so() {
    let own = || Outgoing {
        is_summary: true,
        ..outgoing(Role::Assistant, "own")
    };
    let (file, _) = export(&[
        outgoing(Role::User, "task"),
        own(),
        outgoing(Role::User, "on"),
    ]);
    assert_eq!(file[1]["isSummary"], true);
}
