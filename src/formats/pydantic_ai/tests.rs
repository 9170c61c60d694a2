//! What requests and responses say, with the instructions that hold, and what is wrong with one.

use serde_json::{Value, json};

use super::PYDANTIC_AI;
use crate::formats::shared::contract::{read, sound};
use crate::formats::{Action, Cover};
use crate::model::{HideKind, MediaSource, Millis, Part, Usage};

const HISTORY: &[u8] = include_bytes!("../../../tests/data/pydantic-ai/history.json");

#[test]
fn a_request_is_its_prompts_results_and_what_was_said() {
    let session = &sound(&PYDANTIC_AI, HISTORY);
    assert_eq!(
        session.said(),
        [
            "system: You mind the mill.",
            "system: Be brief.",
            "user: How many sacks?",
            r#"assistant: (Count both. Some("anthropic") c2VhbA==) | I count. | c1: count {"floor":1} | c2: count {"floor": 9} | c3: see {}"#,
            "tool: c1 false = {\"sacks\":12} | c2 true = no such floor | c3 false = Here: + [None Some(\"image/png\")]",
            "user: See: | [None Some(\"image/png\")] | [None Some(\"image/png\")] | [None Some(\"application/pdf\")] | the list",
            "assistant: c4: web_search {\"q\":\"sacks\"}",
            "tool: c4 false = [{\"title\":\"Sacks\"}]",
            "assistant: Twelve sacks 🌾.",
            "Drop: system: Be long.",
            "user: And barrels?",
            "assistant: I see thr",
            "Drop: ",
            "user: Go on.",
            "assistant: c5: final_result {\"barrels\":3}",
            "tool: c5 false = Final result processed.",
        ]
    );
    let steps = &session.steps;
    assert_eq!(steps[3].time, Some(Millis(1_772_438_402_000)));
    assert_eq!(steps[3].settings["model"], "\"miller-2\"");
    let counted = Usage::new(120, 30).cached(64, 16).reasoned(4);
    assert_eq!(steps[3].usage, Some(counted));
    assert_eq!(steps[3].detail.counts["searches"], 2);
    assert_eq!(steps[6].usage, Some(Usage::new(200, 8)));
    assert_eq!([&steps[8], &steps[11]].map(|it| it.usage), [None, None]);
    assert!(
        steps[11]
            .message()
            .is_some_and(|message| message.interrupted)
    );
    // The letters of its base64 are those of addresses.
    let bytes = steps[5].message().expect("a message").parts.iter();
    let mut bytes = bytes.filter_map(|part| match part {
        Part::Image(media) => Some(&media.source),
        _ => None,
    });
    assert_eq!(
        bytes.next_back(),
        Some(&MediaSource::Base64("iVBO+/8=".to_owned()))
    );
    assert_eq!(session.end.absent, ["tool definitions"]);
}

#[test]
fn instructions_stand_in_place_of_the_older_ones() {
    let session = sound(&PYDANTIC_AI, HISTORY);
    let [Action::Hide(change), Action::Hide(end)] =
        [&session.steps[9], &session.steps[12]].map(|it| &it.action)
    else {
        panic!("{:?}", session.said());
    };
    let Cover::Range(first, last) = change.cover else {
        panic!("{change:?}");
    };
    assert_eq!((first, first.step.0), (last, 1));
    assert_eq!(change.replacements[0].0, Some(first));
    assert_eq!(end.kind, HideKind::Drop);
    let Cover::Range(first, _) = end.cover else {
        panic!("{end:?}");
    };
    assert_eq!((first.step.0, first.replacement), (9, Some(0)));
}

#[test]
fn a_row_may_hold_a_message_and_an_object_all_of_them() {
    let list: Value = serde_json::from_slice(HISTORY).expect("JSON");
    let whole = &sound(&PYDANTIC_AI, HISTORY);
    let lines: Vec<String> = list
        .as_array()
        .expect("a list")
        .iter()
        .map(Value::to_string)
        .collect();
    let lines = sound(&PYDANTIC_AI, lines.join("\n").as_bytes());
    assert_eq!(lines.said(), whole.said());
    let object = json!({"conversation_id": "mill", "messages": list});
    let object = sound(&PYDANTIC_AI, object.to_string().as_bytes());
    assert_eq!(
        (object.start.id.as_str(), object.said()),
        ("mill", whole.said())
    );
}

#[test]
fn older_and_odd_parts_are_read_and_what_is_never_sent_is_counted() {
    let request = |parts: Value| json!({"kind": "request", "parts": parts});
    let response = |parts: Value| json!({"kind": "response", "parts": parts});
    let history = json!([
        request(json!([
            {"part_kind": "user-prompt", "content": "Count."},
            {"part_kind": "instruction-baseline", "instructions": [{}]},
            {"part_kind": "tool-availability-delta"},
        ])),
        response(json!([
            {"part_kind": "thinking", "content": "", "id": "redacted_thinking", "signature": "aGlk", "provider_name": "anthropic"},
            {"part_kind": "thinking", "content": "hm", "signature": "s"},
            {"part_kind": "tool-call", "tool_name": "count", "args": "", "tool_call_id": "c1"},
            {"part_kind": "file", "content": {"kind": "binary", "data": "AA==", "media_type": "image/png"}},
            {"part_kind": "hologram"},
        ])),
        request(json!([
            {"part_kind": "retry-prompt", "content": [{"type": "missing", "loc": ["floor"]}], "tool_name": "count", "tool_call_id": "c1"},
            {"part_kind": "retry-prompt", "content": "Say a number."},
        ])),
        {"kind": "note", "parts": []},
    ]);
    let told = read(&PYDANTIC_AI, history.to_string().as_bytes());
    assert_eq!(told.reasons(), ["unknown kind 'note'"]);
    let session = &told.sessions[0];
    assert_eq!(
        session.said(),
        [
            "user: Count.",
            r#"assistant: {"type":"redacted_thinking","data":"aGlk"} | (hm None s) | c1: count  | [None Some("image/png")] | {"part_kind":"hologram"}"#,
            "tool: c1 true = [{\"type\":\"missing\",\"loc\":[\"floor\"]}]",
            "user: Your previous response failed the application's validation (this is automated feedback, not a message from the user):\n<pyai:retry_feedback>\nSay a number.\n</pyai:retry_feedback>",
        ]
    );
    let other = &session.end.other_records;
    assert_eq!(
        json!(other),
        json!({"instruction-baseline": 1, "tool-availability-delta": 1})
    );
}

/// The words are those of `model_response` of the framework's own parts, version 2.68.
#[test]
fn feedback_is_worded_as_the_framework_sends_it() {
    let whole = json!({"carts": 1});
    let faults = json!([
        {"type": "missing", "loc": ["sacks"], "msg": "Field required", "input": whole, "ctx": {"x": 1}},
        {"type": "missing", "loc": ["doors"], "msg": "Field required", "input": whole},
        {"type": "int_parsing", "loc": ["a", "b"], "msg": "No number", "input": "x"},
    ]);
    let feedback = |content: &str, cause: &str| json!({"part_kind": "retry-feedback", "content": content, "retry": {"cause": cause}});
    let history = json!([{"kind": "request", "parts": [
        {"part_kind": "user-prompt", "content": "Count."},
        {"part_kind": "retry-prompt", "content": faults},
        feedback("Fewer.", "model_retry"),
        feedback("Please return text or call a tool.", "no_output"),
        feedback("Please obey.", "no_output"),
    ]}]);
    let told = read(&PYDANTIC_AI, history.to_string().as_bytes());
    let before = "user: Your previous response failed the application's validation (this is automated feedback, not a \
        message from the user):";
    let faults = r#"[{"type":"missing","loc":["sacks"],"msg":"Field required","input":{"carts":1}},{"type":"missing","loc":["doors"],"msg":"Field required"},{"type":"int_parsing","loc":["a","b"],"msg":"No number","input":"x"}]"#;
    assert_eq!(
        told.sessions[0].said(),
        [
            "user: Count.".to_owned(),
            format!("{before}\n<pyai:validation_errors>\n{faults}\n</pyai:validation_errors>"),
            format!("{before}\n<pyai:retry_feedback>\nFewer.\n</pyai:retry_feedback>"),
            "system: Please return text or call a tool.".to_owned(),
            format!("{before}\n<pyai:retry_feedback>\nPlease obey.\n</pyai:retry_feedback>"),
        ]
    );
}
