//! What the checkpoints of a thread say together, and what is wrong with one.

use serde_json::{Value, json};

use super::LANGGRAPH;
use crate::formats::shared::contract::{Session, read, sketch, sound, value_at};
use crate::formats::{Action, Cover, StepEntry};
use crate::model::{HideKind, Message, Millis, Part, Usage};

const THREAD: &[u8] = include_bytes!("../../../tests/data/langgraph/thread.json");

/// What is visible at the end of the main way, as whoever takes the steps would have it.
fn visible(session: &Session) -> Vec<String> {
    let mut entries: Vec<(StepEntry, &Message)> = Vec::new();
    for (number, step) in session.main().iter().enumerate() {
        let entry = |replacement| StepEntry {
            step: crate::formats::StepId(number),
            replacement,
        };
        match &step.action {
            Action::Append(message) => entries.push((entry(None), message)),
            Action::Hide(hide) => {
                let Cover::Range(first, last) = hide.cover else {
                    panic!("{hide:?}")
                };
                let place = |of| {
                    entries
                        .iter()
                        .position(|(it, _)| *it == of)
                        .expect("visible")
                };
                let range = place(first)..=place(last);
                let mut at = 0;
                entries.retain(|(it, _)| {
                    let is_covered = range.contains(&at);
                    at += 1;
                    !is_covered || hide.keep.contains(it)
                });
                for (number, (before, message)) in hide.replacements.iter().enumerate() {
                    let before = before.expect("one stands behind it");
                    let place = entries.iter().position(|(it, _)| *it == before);
                    let made = (entry(Some(number)), message);
                    entries.insert(place.expect("visible"), made);
                }
            }
        }
    }
    entries.into_iter().map(|(_, it)| sketch(it)).collect()
}

#[test]
fn what_a_cache_had_is_counted_by_each_of_its_names() {
    let counted = |input: Value, output: Value| {
        let mut thread: Value = serde_json::from_slice(THREAD).expect("JSON");
        thread["messages"][2]["kwargs"]["usage_metadata"] = json!({
            "input_tokens": 300, "output_tokens": 90, "total_tokens": 390,
            "input_token_details": input, "output_token_details": output,
        });
        let session = sound(&LANGGRAPH, thread.to_string().as_bytes());
        session.steps[2].usage.expect("it is counted")
    };
    let usage = Usage::new(300, 90);
    let plain = json!({"cache_read": 200, "cache_creation": 50, "audio": 7});
    let all = usage.cached(200, 50).reasoned(40);
    assert_eq!(counted(plain, json!({"reasoning": 40})), all);
    let flex = json!({"flex_cache_read": 200, "flex_cache_creation": 50, "flex": 100});
    assert_eq!(
        counted(flex, json!({"flex_reasoning": 40, "flex": 50})),
        all
    );
    let kept = json!({
        "cache_read": 200, "cache_creation": 0, "ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 20,
    });
    let hour = Usage {
        written_hour_tokens: 20,
        ..usage.cached(200, 50)
    };
    assert_eq!(counted(kept, json!({})), hour);
}

#[test]
fn checkpoints_are_what_came_and_what_went() {
    let session = &sound(&LANGGRAPH, THREAD);
    assert_eq!(session.start.id, "mill:1");
    assert_eq!(
        session.said(),
        [
            "system: You mind the mill.",
            "user: How many sacks?",
            r#"assistant: I look. | c1: count {"floor":1} | c2: count {"floor":"#,
            "tool: c1 false = twelve",
            "tool: c2 true = bad arguments",
            "assistant: 12 🌾.",
            r#"user: And this? | [None Some("image/png")]"#,
            r#"assistant: A wheel. | c9: draw {"what":"wheel"}"#,
            "Compaction: system: Summed up: 12 sacks.",
            "user: Thanks.",
            "Drop: ",
            "user: What else?",
            "assistant: Nothing.",
        ]
    );
    let hides: Vec<_> = session
        .steps
        .iter()
        .filter_map(|step| match &step.action {
            Action::Hide(hide) => Some((hide.kind, hide.keep.len(), hide.replacements.len())),
            Action::Append(_) => None,
        })
        .collect();
    assert_eq!(
        hides,
        [(HideKind::Compaction, 2, 1), (HideKind::Drop, 1, 0)]
    );
    assert_eq!(
        visible(session),
        ["system: You mind the mill.", "user: Thanks."]
    );
    let [(_, branch)] = &session.branches[..] else {
        panic!("{:?}", session.branches)
    };
    assert_eq!(branch.after.map(|step| step.0), Some(5));
    let reply = &session.steps[2];
    assert_eq!(reply.settings["model"], "\"gpt-4o\"");
    assert!(session.steps[5].settings.is_empty());
    let counted = Usage::new(30, 9);
    assert_eq!(reply.usage, Some(counted));
    assert_eq!(reply.time, Some(Millis(1_772_438_403_250)));
    assert_eq!(value_at(THREAD, reply.records[0])["kwargs"]["id"], "a1");
    assert_eq!(session.end.other_records["checkpoint of a graph inside"], 2);
}

/// A thread of these states, each a list of texts, with nothing said of what stays.
fn states(all: &[&[&str]]) -> Value {
    let texts: Vec<&str> = all.iter().flat_map(|state| state.iter().copied()).collect();
    let number = |text: &&str| texts.iter().position(|it| it == text);
    let message = |text: &&str| json!({"class": "HumanMessage", "kwargs": {"content": text}});
    let messages: Vec<Value> = texts.iter().map(message).collect();
    let mut before: Vec<&str> = Vec::new();
    let mut checkpoints = Vec::new();
    for (at, state) in all.iter().enumerate() {
        let pairs = state.iter().zip(&before);
        let keeps = pairs.take_while(|(one, other)| one == other).count();
        let then: Vec<_> = state[keeps..].iter().map(number).collect();
        before = state.to_vec();
        let parent = at.checked_sub(1).map(|at| at.to_string());
        checkpoints.push(
            json!({"checkpoint_id": at.to_string(), "parent_checkpoint_id": parent,
            "keeps": keeps, "then": then}),
        );
    }
    json!({"langgraph_thread": {}, "messages": messages, "checkpoints": checkpoints})
}

#[test]
fn whatever_becomes_of_a_list_the_last_state_is_what_is_visible() {
    let cases: [&[&[&str]]; 9] = [
        &[&["a"], &["a", "b"], &["b"], &["b", "c"]],
        &[&["a", "b", "c"], &[], &["d"]],
        &[
            &["a", "b", "c"],
            &["s", "c"],
            &["s", "c", "d"],
            &["s2", "d"],
        ],
        &[&["a", "b"], &["s", "a", "b"]],
        &[&["a", "b", "c"], &["c", "b", "a"]],
        &[&["a", "b", "c"], &["a", "B", "c"], &["a", "B", "C"]],
        &[&["a", "a", "a"], &["a", "a"], &["a", "b", "a"]],
        &[&["a", "b", "c", "d"], &["x", "b", "y", "d", "z"]],
        &[&["a", "b"], &["x", "y"], &["a", "b"]],
    ];
    for case in cases {
        let source = states(case).to_string();
        let told = read(&LANGGRAPH, source.as_bytes());
        assert!(told.problems.is_empty(), "{:?}", told.problems);
        let expected: Vec<String> = case[case.len() - 1]
            .iter()
            .map(|text| format!("user: {text}"))
            .collect();
        assert_eq!(visible(&told.sessions[0]), expected, "{case:?}");
    }
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_comes_in() {
    let human = |text: &str| json!({"class": "HumanMessage", "kwargs": {"content": text}});
    let source = json!({"langgraph_thread": {"thread_id": ""}, "messages": [
        human("one"), {"class": "Robot", "kwargs": {"content": "x"}}, 3,
        {"class": "ToolMessage", "kwargs": {"content": "y", "tool_call_id": "none"}},
        {"class": "AIMessage", "kwargs": {"content": [{"type": "song"}, "two"]}}],
        "checkpoints": [
            {"checkpoint_id": "1", "keeps": 9, "then": [0, 1, 2, 3, 77]},
            {"checkpoint_id": "2", "parent_checkpoint_id": "1", "unread": "a state of the kind 'pickle' is not read"},
            7,
            {"checkpoint_id": "4", "parent_checkpoint_id": "2", "keeps": 1, "then": [3, 4]},
            {"checkpoint_id": "5", "parent_checkpoint_id": "5"},
            {"checkpoint_id": "6", "parent_checkpoint_id": "4", "keeps": "x"}]});
    let told = read(&LANGGRAPH, source.to_string().as_bytes());
    let mut reasons: Vec<&str> = told.problems.iter().map(|it| &*it.reason).collect();
    reasons.sort_unstable();
    assert_eq!(
        reasons,
        [
            "a checkpoint that is no object",
            "a checkpoint that stands below itself",
            "a message of an unknown class 'Robot'",
            "a message that is no object",
            "a state of the kind 'pickle' is not read",
            "a tool result without its call 'none'",
        ]
    );
    assert_eq!(
        told.sessions[0].said(),
        [
            "user: one",
            "tool: none false = y",
            r#"assistant: {"type":"song"} | two"#,
        ]
    );
    let torn = br#"{"langgraph_thread":{},"messages":[{"class":"HumanMessage","kwargs":{"content":"a"}}],"checkpoints":[{"checkpoint_id":"1","keeps":0,"then":[0]},{"#;
    let told = read(&LANGGRAPH, torn);
    assert_eq!(told.sessions[0].said(), ["user: a"]);
    assert_eq!(told.problems.len(), 1);
}

/// A reply or prompt of blocks, in the framework's own forms and in those of providers.
#[test]
fn blocks_are_what_a_provider_takes() {
    let message = |class: &str, content: Value| {
        json!({"class": class, "kwargs": {"content": content, "additional_kwargs":
        {"reasoning_content": "Hm."}}})
    };
    let prompt = json!([
        {"type": "image", "url": "https://mill.example/a.png"},
        {"type": "image", "base64": "aGk=", "mime_type": "image/png"},
        {"type": "image", "file_id": "f1", "mime_type": "image/png"},
        {"type": "image", "source_type": "base64", "data": "aGk=", "mime_type": "image/gif"},
        {"type": "image", "source_type": "id", "id": "f2", "mime_type": "image/gif"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": "aGk="}},
        {"type": "file", "base64": "aGk=", "mime_type": "application/pdf", "filename": "a.pdf"},
        {"type": "file", "file": {"file_id": "f3", "filename": "b.pdf"}},
        {"type": "audio", "base64": "aGk=", "mime_type": "audio/wav"},
        {"type": "text-plain", "text": "Rye.", "mime_type": "text/plain"}]);
    let reply = json!([
        {"type": "reasoning", "reasoning": "I think.", "extras": {"signature": "c2ln"}},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "So."}], "encrypted_content": "gAAA"},
        {"type": "reasoning", "reasoning": "Plain."},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "Done."}]);
    let source = json!({"langgraph_thread": {}, "messages": [message("HumanMessage", prompt), message("AIMessage", reply)],
        "checkpoints": [{"checkpoint_id": "1", "keeps": 0, "then": [0, 1]}]});
    let told = read(&LANGGRAPH, source.to_string().as_bytes());
    let session = &told.sessions[0];
    assert!(
        session.end.opaque_blocks.is_empty(),
        "{:?}",
        session.end.opaque_blocks
    );
    let messages = session.messages();
    let kinds = messages[0].part_types();
    assert_eq!(kinds, [("image", 6), ("file", 3), ("text", 1)]);
    let held = messages[0].parts.iter().filter_map(|part| match part {
        Part::Image(media) | Part::File(media) => {
            let kind = media.media_type.as_deref().unwrap_or_default();
            Some(format!(
                "{:?} {kind} {}",
                media.source,
                media.name.as_deref().unwrap_or_default()
            ))
        }
        _ => None,
    });
    assert_eq!(
        held.collect::<Vec<_>>(),
        [
            r#"Url("https://mill.example/a.png")  "#,
            r#"Base64("aGk=") image/png "#,
            r#"FileId("f1") image/png "#,
            r#"Base64("aGk=") image/gif "#,
            r#"FileId("f2") image/gif "#,
            r#"Base64("aGk=") image/webp "#,
            r#"Base64("aGk=") application/pdf a.pdf"#,
            r#"FileId("f3")  b.pdf"#,
            r#"Base64("aGk=") audio/wav "#,
        ]
    );
    let thought = |text: &str, seal: Option<&str>, provider| {
        Part::thinking(text.to_owned(), seal.map(str::to_owned), provider)
    };
    assert_eq!(
        messages[1].parts,
        [
            thought("Hm.", None, None),
            thought("I think.", Some("c2ln"), Some("anthropic")),
            thought("So.", Some("gAAA"), Some("openai")),
            thought("Plain.", None, None),
            crate::formats::shared::parts::redacted("x"),
            Part::text("Done."),
        ]
    );
}

#[test]
fn standard_blocks_are_parts() {
    let blocks = json!([
        {"type": "text", "text": "See:"},
        {"type": "image", "url": "https://mill.example/cart.png"},
        {"type": "image", "base64": "iVBORw==", "mime_type": "image/png"},
        {"type": "image", "file_id": "file-1"},
        {"type": "file", "base64": "JVBERg==", "mime_type": "application/pdf", "filename": "l.pdf"},
        {"type": "audio", "base64": "UklG", "mime_type": "audio/wav"},
        {"type": "text-plain", "text": "Twelve.", "mime_type": "text/plain"},
    ]);
    let reply = json!([
        {"type": "reasoning", "reasoning": "Count.", "extras": {"signature": "c2VhbA=="}},
        {"type": "server_tool_call", "id": "w1", "name": "web_search", "args": {"q": "sacks"}},
        {"type": "server_tool_result", "tool_call_id": "w1", "status": "error", "output": {"hits": 0}},
        {"type": "text", "text": "None."},
    ]);
    let source = json!({"langgraph_thread": {}, "messages": [
        {"class": "HumanMessage", "kwargs": {"content": blocks}},
        {"class": "AIMessage", "kwargs": {"content": reply, "additional_kwargs": {"reasoning_content": "Both."}}}],
        "checkpoints": [{"checkpoint_id": "1", "keeps": 0, "then": [0, 1]}]});
    let told = read(&LANGGRAPH, source.to_string().as_bytes());
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    assert!(session.end.opaque_blocks.is_empty());
    assert_eq!(
        session.said(),
        [
            "user: See: | [None None] | [None Some(\"image/png\")] | <file-1 None> | [Some(\"l.pdf\") Some(\"application/pdf\")] | [None Some(\"audio/wav\")] | Twelve.",
            r#"assistant: (Both. None) | (Count. Some("anthropic") c2VhbA==) | w1: web_search {"q":"sacks"} | w1 true = {"hits":0} | None."#,
        ]
    );
}
