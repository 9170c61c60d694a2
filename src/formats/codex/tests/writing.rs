//! What is read goes out again; what is new is read back.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Collected, data, export, outgoing, slice};
use crate::formats::shared::contract::anew;
use crate::formats::{Document, Outgoing};
use crate::model::{Media, MediaSource, Message, Millis, Part, Role, Settings};

fn lines(text: &str) -> Vec<Value> {
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn new(message: Message) -> Outgoing {
    let model = ("model".to_owned(), r#""gpt-5.5""#.to_owned());
    Outgoing {
        time: Millis::parse("2026-03-02T00:00:00Z"),
        settings: Settings::from([model]).into(),
        ..anew(message)
    }
}

fn document() -> Document {
    Document {
        session_id: "new-id".into(),
        cwd: "/home/ana/bakery".into(),
        now: Millis::parse("2026-03-03T00:00:00Z"),
        fresh: true,
        ..Document::default()
    }
}

fn without_records(mut messages: Vec<Outgoing>) -> Vec<Outgoing> {
    for outgoing in &mut messages {
        outgoing.records.clear();
    }
    messages
}

#[test]
fn untouched_messages_are_their_records() {
    for name in [
        "plain.jsonl",
        "rare.jsonl",
        "fork.jsonl",
        "twice-opened.jsonl",
        "legacy.jsonl",
    ] {
        let bytes = data(name);
        let collected = Collected::of(&bytes);
        let (text, remarks) = export(&outgoing(&bytes, &collected), &Document::default());
        assert_eq!(remarks, Vec::<String>::new());
        let written = lines(&text);
        let spans = collected.steps.iter().flat_map(|step| &step.records);
        let mut from = 0;
        for span in spans {
            let record: Value = serde_json::from_str(slice(&bytes, *span)).expect("JSON");
            let at = written[from..].iter().position(|value| *value == record);
            from += at.unwrap_or_else(|| panic!("{name}: {record} is written in its place")) + 1;
        }
        let again = Collected::of(text.as_bytes());
        assert_eq!(again.messages(), collected.messages(), "{name}");
        assert_eq!(again.problems.len(), collected.problems.len(), "{name}");
    }
}

#[test]
fn the_old_layout_stays_the_old_layout() {
    let bytes = data("legacy.jsonl");
    let mut messages = outgoing(&bytes, &Collected::of(&bytes));
    messages.push(new(Message::text(Role::User, "more")));
    let (text, _) = export(&messages, &Document::default());
    assert!(
        lines(&text)
            .iter()
            .all(|line| line.get("payload").is_none())
    );
    let (text, _) = export(&messages, &document());
    assert!(
        lines(&text)
            .iter()
            .all(|line| line.get("payload").is_some())
    );
    assert_eq!(
        Collected::of(text.as_bytes()).messages().len(),
        messages.len()
    );
}

#[test]
fn rebuilt_messages_say_the_same() {
    for name in ["plain.jsonl", "fork.jsonl", "twice-opened.jsonl"] {
        let bytes = data(name);
        let collected = Collected::of(&bytes);
        let messages = without_records(outgoing(&bytes, &collected));
        let (text, _) = export(&messages, &document());
        let again = Collected::of(text.as_bytes());
        let spoken = |collected: &Collected| -> Vec<Message> {
            let messages = collected.messages().into_iter().cloned();
            let spoken = messages.map(|mut message| {
                message.parts.retain(|part| {
                    !matches!(part, Part::Thinking { text, signature: None, .. } if text.is_empty())
                });
                message
            });
            spoken.collect()
        };
        assert_eq!(spoken(&again), spoken(&collected), "{name}");
        let usages = |collected: &Collected| -> Vec<_> {
            collected.steps.iter().map(|step| step.usage).collect()
        };
        assert_eq!(usages(&again), usages(&collected), "{name}");
    }
}

#[test]
fn a_new_file_is_one_that_the_tool_lists() {
    let mut call = Message::text(Role::Assistant, "on it");
    call.parts.push(Part::ToolCall {
        id: "toolu_1".into(),
        name: "shell".into(),
        arguments: "{}".into(),
        kind: None,
    });
    let messages = [
        new(Message::text(Role::System, "Be kind.")),
        new(Message::text(Role::User, "hello")),
        new(call),
        new(Message::text(Role::User, "and?")),
    ];
    let mut document = document();
    document.title = Some("A title".into());
    let (text, remarks) = export(&messages, &document);
    assert_eq!(remarks, Vec::<String>::new());
    let lines = lines(&text);
    let kinds: Vec<String> = lines
        .iter()
        .map(|line| {
            let inner = line["payload"]["type"].as_str().unwrap_or_default();
            format!("{} {inner}", line["type"].as_str().unwrap_or_default())
        })
        .collect();
    let expected = [
        "session_meta ",
        "event_msg thread_name_updated",
        "turn_context ",
        "response_item message",
        "event_msg user_message",
        "response_item message",
        "response_item function_call",
        "event_msg agent_message",
        "response_item function_call_output",
        "turn_context ",
        "response_item message",
        "event_msg user_message",
    ];
    assert_eq!(kinds, expected);
    let meta = &lines[0]["payload"];
    for key in ["timestamp", "cwd", "originator", "cli_version", "source"] {
        assert!(meta[key].is_string(), "{key}");
    }
    assert_eq!(meta["id"], "new-id");
    assert_eq!(meta["base_instructions"]["text"], "Be kind.");
    assert_eq!(lines[8]["payload"]["output"], "aborted");
    assert_eq!(lines[2]["payload"]["model"], "gpt-5.5");
    assert_eq!(export(&messages, &document).0, text, "the same bytes twice");
    let again = Collected::of(text.as_bytes());
    assert_eq!(again.end.title.as_deref(), Some("A title"));
}

#[test]
fn a_resumed_session_has_an_id_of_its_own() {
    let bytes = data("plain.jsonl");
    let (text, _) = export(&outgoing(&bytes, &Collected::of(&bytes)), &document());
    assert!(!text.contains("11111111-1111-7111-8111-111111111111"));
    let meta = &lines(&text)[0]["payload"];
    assert_eq!(meta["id"], "new-id");
    assert_eq!(meta["timestamp"], "2026-03-03T00:00:00.000Z");
    assert_eq!(meta["cli_version"], "0.142.0");
}

#[test]
fn a_resumed_session_has_no_open_call() {
    let bytes = data("rare.jsonl");
    let messages = outgoing(&bytes, &Collected::of(&bytes));
    let closing = |text: &str| text.contains(r#""output":"aborted""#);
    assert!(closing(&export(&messages, &document()).0));
    assert!(!closing(&export(&messages, &Document::default()).0));
}

#[test]
fn an_edited_system_prompt_keeps_the_rest_of_its_record() {
    let bytes = data("plain.jsonl");
    let mut messages = outgoing(&bytes, &Collected::of(&bytes));
    messages[0].replaces = std::mem::take(&mut messages[0].records);
    messages[0].message = Message::text(Role::System, "Be long.");
    let (text, _) = export(&messages, &Document::default());
    let meta = &lines(&text)[0]["payload"];
    assert_eq!(meta["base_instructions"]["text"], "Be long.");
    assert_eq!(meta["id"], "11111111-1111-7111-8111-111111111111");
}

#[test]
fn what_cannot_be_said_is_told() {
    let foreign = Message {
        attached: None,
        recipient: None,
        interrupted: false,
        role: Role::Assistant,
        name: None,
        parts: vec![
            Part::Thinking {
                text: "hm".into(),
                signature: Some("s".into()),
                provider: Some("anthropic".into()),
            },
            Part::Opaque {
                provider: "anthropic".into(),
                data: "{}".into(),
            },
            Part::text("yes"),
        ],
    };
    let mut file = Message::text(Role::User, "look");
    file.parts.push(Part::File(Media {
        media_type: Some("application/pdf".into()),
        name: None,
        detail: None,
        source: MediaSource::Base64("AAAA".into()),
    }));
    let (text, remarks) = export(&[new(foreign), new(file)], &document());
    assert_eq!(remarks.len(), 3, "{remarks:?}");
    assert!(!text.contains("hm"));
    assert!(
        text.contains(r#"{"type":"input_text","text":"[file]"}"#),
        "{text}"
    );
}

#[test]
fn a_continuation_is_new_lines_alone() {
    let tail = r#"{"timestamp":"2026-03-01T10:00:00.000Z","type":"response_item","payload":{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"x"}}"#;
    let answer = Message {
        attached: None,
        recipient: None,
        interrupted: false,
        role: Role::Tool,
        name: None,
        parts: vec![Part::ToolResult {
            call: "c".into(),
            content: vec![Part::text("done")],
            is_error: false,
        }],
    };
    let mut document = document();
    document.after = vec![tail.to_owned()];
    let (text, _) = export(
        &[new(answer), new(Message::text(Role::User, "go on"))],
        &document,
    );
    let kinds: Vec<_> = lines(&text)
        .iter()
        .map(|line| (line["type"].clone(), line["payload"]["type"].clone()))
        .collect();
    assert_eq!(kinds.len(), 4);
    assert_eq!(kinds[0].1, "custom_tool_call_output");
    assert!(!kinds.iter().any(|(kind, _)| kind == "session_meta"));
}

#[test]
fn what_a_compaction_put_in_place_goes_out_as_it_stood_there() {
    let bytes = data("compact-rollback.jsonl");
    let collected = Collected::of(&bytes);
    let step = &collected.steps[6];
    let record = slice(&bytes, step.records[0]).to_owned();
    let replacements = &collected.hides()[0].replacements;
    let messages: Vec<_> = replacements
        .iter()
        .map(|(_, message)| Outgoing {
            records: vec![record.clone()],
            ..new(message.clone())
        })
        .collect();
    let (text, _) = export(&messages, &Document::default());
    let items = lines(&text).into_iter();
    let items: Vec<Value> = items
        .filter(|line| line["type"] == "response_item")
        .map(|line| line["payload"].clone())
        .collect();
    let record: Value = serde_json::from_str(&record).expect("JSON");
    assert_eq!(Value::from(items), record["payload"]["replacement_history"]);
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_rollouts_go_out_as_they_came() {
    for (name, bytes) in super::real::real() {
        let collected = Collected::of(&bytes);
        let messages = outgoing(&bytes, &collected);
        let (text, _) = export(&messages, &Document::default());
        let mut written: BTreeMap<String, usize> = BTreeMap::new();
        for line in lines(&text) {
            *written.entry(line.to_string()).or_default() += 1;
        }
        for span in messages.iter().flat_map(|outgoing| &outgoing.records) {
            let record: Value = serde_json::from_str(span).expect("JSON");
            let count = written.get_mut(&record.to_string());
            let count = count.unwrap_or_else(|| panic!("{name}: {record} is written"));
            assert!(*count > 0, "{name}");
            *count -= 1;
        }
        let again = Collected::of(text.as_bytes());
        assert_eq!(again.messages().len(), messages.len(), "{name}");
        let pairs = again.messages().into_iter().zip(&messages);
        for (read, sent) in pairs {
            assert_eq!(*read, sent.message, "{name}");
        }
        let (fresh, _) = export(&messages, &document());
        assert_eq!(export(&messages, &document()).0, fresh, "{name}");
        assert_eq!(Collected::of(fresh.as_bytes()).problems, [], "{name}");
    }
}

#[test]
fn a_resumed_session_says_how_things_stood() {
    let bytes = data("plain.jsonl");
    let collected = Collected::of(&bytes);
    let messages = outgoing(&bytes, &collected);
    let world = |full: bool, said: &str| {
        format!(
            r#"{{"timestamp":"t","ordinal":4,"type":"world_state","payload":{{"full":{full},"state":{{"a":"{said}"}}}}}}"#
        )
    };
    let turn = |model: &str| {
        format!(
            r#"{{"timestamp":"t","type":"turn_context","payload":{{"cwd":"/old","model":"{model}","mode":{{"a":1}}}}}}"#
        )
    };
    let document = Document {
        session_id: "id".to_owned(),
        cwd: "/new".to_owned(),
        fresh: true,
        native: true,
        is_whole: true,
        state: vec![
            world(true, "old"),
            turn("m1"),
            world(true, "new"),
            turn("m2"),
            world(false, "newer"),
        ],
        ..Document::default()
    };
    let last = |document: &Document| -> Vec<String> {
        let (text, _) = export(&messages, document);
        let records = text.lines().filter(|line| line.contains("\"a\":"));
        let payloads = records.map(|line| line.split_once("\"payload\":").expect("one").1);
        payloads.map(str::to_owned).collect()
    };
    let turned = r#"{"cwd":"/new","model":"m2","mode":{"a":1}}}"#;
    assert_eq!(
        last(&document),
        [
            r#"{"full":true,"state":{"a":"new"}}}"#,
            r#"{"full":false,"state":{"a":"newer"}}}"#,
            turned
        ]
    );
    // What the model was told may be among what is hidden.
    let hidden = Document {
        is_whole: false,
        ..document
    };
    assert_eq!(last(&hidden), [turned]);
    // An export stays as it was.
    let kept = Document {
        fresh: false,
        ..hidden
    };
    assert!(last(&kept).is_empty());
}

/// A message with these settings, as JSON by their names.
fn under(message: Message, settings: &[(&str, &str)]) -> Outgoing {
    let settings = settings.iter();
    let settings = settings.map(|(key, value)| ((*key).to_owned(), format!("\"{value}\"")));
    Outgoing {
        settings: settings.collect::<Settings>().into(),
        ..new(message)
    }
}

/// The records of a file, each as what matters of it here: the model and effort of a turn, or who speaks.
fn turns(messages: &[Outgoing], document: &Document) -> Vec<String> {
    let (text, _) = export(messages, document);
    let told = lines(&text).into_iter().filter_map(|line| {
        let payload = &line["payload"];
        let word = |key: &str| payload[key].as_str().unwrap_or_default().to_owned();
        match line["type"].as_str()? {
            "turn_context" => Some(format!("{} {}", word("model"), word("effort"))),
            "response_item" => Some(word("role")),
            _ => None,
        }
    });
    told.collect()
}

#[test]
fn a_turn_is_told_with_its_replies_settings() {
    let said = |role, settings| under(Message::text(role, "said"), settings);
    let messages = [
        said(Role::User, &[]),
        said(Role::Assistant, &[("model", "gpt-5.1")]),
        said(Role::User, &[("model", "gpt-5.1")]),
        said(Role::Assistant, &[("model", "gpt-5.2")]),
        said(Role::Assistant, &[("model", "gpt-5.2")]),
        said(
            Role::Assistant,
            &[("model", "gpt-5.2"), ("reasoning_effort", "high")],
        ),
        said(
            Role::Assistant,
            &[("model", "gpt-5.1"), ("reasoning_effort", "high")],
        ),
        said(
            Role::User,
            &[("model", "gpt-5.1"), ("reasoning_effort", "high")],
        ),
    ];
    let expected = [
        "gpt-5.1 ",
        "user",
        "assistant",
        "gpt-5.2 ",
        "user",
        "assistant",
        "assistant",
        "gpt-5.2 high",
        "assistant",
        "gpt-5.1 high",
        "assistant",
        "gpt-5.1 high",
        "user",
    ];
    for document in [document(), Document::default()] {
        assert_eq!(turns(&messages, &document), expected);
    }
}

/// The tool asks its provider for the newest model that a session names.
#[test]
fn a_resumed_session_names_no_model_of_another_tool() {
    let of = |model: &str| {
        let settings = [("model", model)];
        let said = |role| under(Message::text(role, "said"), &settings);
        [said(Role::User), said(Role::Assistant)]
    };
    let native = Document {
        native: true,
        ..document()
    };
    for (model, is_own) in [
        ("gpt-5.1-codex", true),
        ("o3", true),
        ("claude-opus-4-5", false),
        ("gemini-2.5-pro", false),
        ("openai/gpt-5.1", false),
    ] {
        let names = |document: &Document| turns(&of(model), document)[0].starts_with(model);
        assert_eq!(names(&document()), is_own, "{model}");
        assert!(names(&native), "a session of the tool's own: {model}");
        assert!(names(&Document::default()), "an export: {model}");
    }
}

/// The records that stand beside the messages in the source say what its turns were made with.
#[test]
fn a_reply_among_a_sources_own_records_is_told_with_its_model() {
    let turn =
        r#"{"timestamp":"t","type":"turn_context","payload":{"cwd":"/p","model":"gpt-5.1"}}"#;
    let item = |role: &str, kind: &str| {
        format!(
            r#"{{"timestamp":"t","type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"said"}}]}}}}"#
        )
    };
    let own = |role, record: String| Outgoing {
        records: vec![record],
        ..under(Message::text(role, "said"), &[("model", "gpt-5.1")])
    };
    let added = under(
        Message::text(Role::Assistant, "added"),
        &[("model", "gpt-5.2")],
    );
    let messages = [
        own(Role::User, item("user", "input_text")),
        own(Role::Assistant, item("assistant", "output_text")),
        added,
        own(Role::Assistant, item("assistant", "output_text")),
    ];
    let document = Document {
        asides: BTreeMap::from([(0, vec![turn.to_owned()])]),
        ..Document::default()
    };
    assert_eq!(
        turns(&messages, &document),
        [
            "gpt-5.1 ",
            "user",
            "assistant",
            "gpt-5.2 ",
            "assistant",
            "gpt-5.1 ",
            "assistant"
        ]
    );
    let untouched = [messages[0].clone(), messages[1].clone()];
    assert_eq!(
        turns(&untouched, &document),
        ["gpt-5.1 ", "user", "assistant"]
    );
}
