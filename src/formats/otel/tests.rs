//! What spans say by each convention, which of them belong together, and what is wrong with one.

use serde_json::{Value, json};

use super::OTEL;
use crate::formats::shared::contract::{fresh, read, written};
use crate::formats::{Action, Document, Outgoing};
use crate::model::{HideKind, Millis, Part, Role, Usage};

const CONVENTIONS: &[u8] = include_bytes!("../../../tests/data/otel/conventions.json");
const BATCHES: &[u8] = include_bytes!("../../../tests/data/otel/batches.jsonl");

#[test]
fn requests_of_one_conversation_are_one_session_and_each_says_what_was_sent() {
    let told = read(&OTEL, CONVENTIONS);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let [main, helper] = &told.sessions[..] else {
        panic!("{}", told.sessions.len());
    };
    assert_eq!(main.start.id, "mill-7");
    assert_eq!(
        main.said(),
        [
            "system: You mind the mill.",
            "user: How many sacks?",
            "assistant: (Count both. None) | c1: count {\"floor\":1} | c2: count {\"floor\":9}",
            "tool: c1 false = {\"sacks\":12} | c2 false = no such floor",
            "assistant: Twelve sacks 🌾.",
            "user: And barrels?",
            "assistant: Three barrels.",
            "Drop: ",
            "user: Sacks and barrels were counted.",
            "user: Good.",
            "assistant: Good night.",
        ]
    );
    let steps = &main.steps;
    assert_eq!(steps[2].usage, Some(Usage::new(90, 30).reasoned(4)));
    assert_eq!(steps[4].usage, Some(Usage::new(120, 9).cached(64, 0)));
    assert_eq!(steps[1].time, Some(Millis(1_772_438_401_000)));
    assert_eq!(steps[2].time, Some(Millis(1_772_438_402_000)));
    assert_eq!(steps[2].settings["model"], "\"miller-2-2026\"");
    assert_eq!(steps[3].settings["temperature"], "0.5");
    let tools: Value = serde_json::from_str(&steps[1].settings["tools"]).expect("JSON");
    assert_eq!(tools[0]["function"]["name"], "count");
    assert!(matches!(&steps[7].action, Action::Hide(hide) if hide.kind == HideKind::Drop));
    let other = &main.end.other_records;
    assert_eq!(
        json!(other),
        json!({"execute_tool span": 1, "invoke_agent span": 1})
    );
    assert_eq!(helper.start.id, "mill-7-helper");
    assert_eq!(helper.start.descent.spawned_by.as_deref(), Some("mill-7"));
    assert_eq!(
        helper.said(),
        [
            "system: You help.",
            "user: Look up barrels.",
            "assistant: Three."
        ]
    );
}

#[test]
fn batches_are_lines_and_each_convention_says_the_same() {
    let told = read(&OTEL, BATCHES);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let [inference, older] = &told.sessions[..] else {
        panic!("{}", told.sessions.len());
    };
    assert_eq!(inference.start.id, "s-9");
    assert_eq!(
        inference.said(),
        [
            "system: Be brief.",
            "user: Which wood? | [None Some(\"image/png\")]",
            "assistant: c1: look {\"at\":\"beam\"}",
            "tool: c1 false = oak",
            "assistant: Oak.",
        ]
    );
    assert_eq!(
        inference.steps[2].usage,
        Some(Usage::new(50, 5).cached(16, 0))
    );
    assert_eq!(inference.steps[3].settings["temperature"], "0");
    assert_eq!(older.start.id, "5b8aa5a2d2c872e8321cf37308d69df2");
    assert_eq!(
        older.said(),
        [
            "user: Is the sluice open?",
            "assistant: d1: look {}",
            "tool: d1 false = open",
            "assistant: It is.",
        ]
    );
    assert_eq!(older.steps[3].usage, Some(Usage::new(20, 3)));
    assert_eq!(inference.end.other_records["other span"], 1);
}

#[test]
fn requests_of_the_ai_sdk_say_what_was_sent() {
    let system = json!({"role": "system", "content": "You watch a mill."});
    let picture = json!({"type": "file", "mediaType": "image/png", "data": "iVBORw0KGgo="});
    let asked =
        json!({"role": "user", "content": [{"type": "text", "text": "Is it open?"}, picture]});
    let call = json!({"toolCallId": "c1", "toolName": "look", "input": "{\"at\": \"sluice\"}"});
    let made = json!({"type": "tool-call", "toolCallId": "c1", "toolName": "look", "input": {"at": "sluice"}});
    let thought = json!({"type": "reasoning", "text": "Hm."});
    let replied = json!({"role": "assistant", "content": [thought, {"type": "text", "text": "I look."}, made]});
    let given = |output: Value| {
        let result = json!({"type": "tool-result", "toolCallId": "c1", "toolName": "look", "output": output});
        json!({"role": "tool", "content": [result]})
    };
    let ask = |start, operation: &str, messages: &[Value], reply: Value| {
        let mut attributes = json!({"ai.operationId": operation, "ai.telemetry.metadata.sessionId": "s-1",
            "ai.prompt.messages": json!(messages).to_string(), "gen_ai.request.model": "m-1",
            "ai.usage.inputTokens": 20, "ai.usage.outputTokens": 5, "ai.usage.cachedInputTokens": 8});
        let fields = attributes.as_object_mut().expect("an object");
        fields.extend(reply.as_object().expect("an object").clone());
        span("aa", start, &attributes)
    };
    let first = json!({"ai.response.reasoning": "Hm.", "ai.response.text": "I look.",
        "ai.response.toolCalls": json!([call]).to_string()});
    let mut asked_first = ask(
        1,
        "ai.generateText.doGenerate",
        &[system.clone(), asked.clone()],
        first,
    );
    let tool =
        json!({"type": "function", "name": "look", "inputSchema": {"type": "object"}}).to_string();
    let tools = json!({"key": "ai.prompt.tools", "value": {"arrayValue": {"values": [{"stringValue": tool}]}}});
    asked_first["attributes"]
        .as_array_mut()
        .expect("a list")
        .push(tools);
    let json = given(json!({"type": "json", "value": {"open": true}}));
    let spans = [
        asked_first,
        span(
            "aa",
            2,
            &json!({"ai.operationId": "ai.toolCall", "ai.toolCall.id": "c1"}),
        ),
        ask(
            3,
            "ai.streamText.doStream",
            &[system, asked, replied, json],
            json!({"ai.response.text": "It is."}),
        ),
        span(
            "aa",
            4,
            &json!({"ai.operationId": "ai.generateText", "ai.response.text": "It is."}),
        ),
    ];
    let told = read(&OTEL, &trace(&spans));
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    assert_eq!(session.start.id, "s-1");
    assert_eq!(
        session.said(),
        [
            "system: You watch a mill.",
            "user: Is it open? | [None Some(\"image/png\")]",
            "assistant: (Hm. None) | I look. | c1: look {\"at\":\"sluice\"}",
            "tool: c1 false = {\"open\":true}",
            "assistant: It is.",
        ]
    );
    let usage = Some(Usage::new(20, 5).cached(8, 0));
    assert_eq!(session.steps[2].usage, usage);
    assert_eq!(session.steps[2].settings["model"], "\"m-1\"");
    let tools = session.steps.iter().find_map(|it| it.settings.get("tools"));
    let tools: Value = serde_json::from_str(tools.expect("tools")).expect("JSON");
    assert_eq!(tools[0]["function"]["name"], "look");
    assert_eq!(session.end.other_records["ai.toolcall span"], 1);
}

#[test]
fn a_tool_keeps_its_schema_by_whatever_name_it_is_written_down() {
    let schema =
        json!({"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]});
    let flat = |key: &str| json!({"type": "function", "name": "look", "description": "Looks.", key: schema.clone()});
    let inside = json!({"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": schema.clone()}});
    for tool in [
        flat("parameters"),
        flat("inputSchema"),
        flat("input_schema"),
        inside,
    ] {
        let said = json!([{"role": "user", "parts": [{"type": "text", "content": "Where?"}]}]);
        let asked = json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": said.to_string(),
            "gen_ai.tool.definitions": json!([tool]).to_string()});
        let told = read(&OTEL, &trace(&[span("aa", 1, &asked)]));
        let kept: Value =
            serde_json::from_str(&told.sessions[0].steps[0].settings["tools"]).expect("JSON");
        let function = &kept[0]["function"];
        assert_eq!(function["parameters"], schema, "{tool}");
        assert_eq!(
            (&function["name"], &function["description"]),
            (&json!("look"), &json!("Looks.")),
        );
    }
}

/// A span with these attributes, all texts or numbers.
fn span(trace: &str, start: u64, attributes: &Value) -> Value {
    let attributes = attributes.as_object().expect("an object").iter();
    let attributes: Vec<Value> = attributes
        .map(|(key, value)| match value {
            Value::String(_) => json!({"key": key, "value": {"stringValue": value}}),
            number => json!({"key": key, "value": {"intValue": number}}),
        })
        .collect();
    json!({"traceId": trace, "startTimeUnixNano": start.to_string(), "attributes": attributes})
}

fn trace(spans: &[Value]) -> Vec<u8> {
    let scopes = json!([{"spans": spans}]);
    json!({"resourceSpans": [{"scopeSpans": scopes}]})
        .to_string()
        .into_bytes()
}

#[test]
fn what_goes_on_from_another_trace_is_the_same_session() {
    let said = |role: &str, text: &str| json!({"role": role, "parts": [{"type": "text", "content": text}]});
    let ask = |trace: &str, start, input: &[Value], output: Value| {
        span(
            trace,
            start,
            &json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": json!(input).to_string(),
            "gen_ai.output.messages": json!([output]).to_string()}),
        )
    };
    let (hello, hi) = (said("user", "Hello."), said("assistant", "Hi."));
    let more = [hello.clone(), hi.clone(), said("user", "Bye.")];
    // Python writes ids in base64.
    let spans = [
        ask(
            "CvdlGRbNQ92ESOshHIAxnA==",
            1,
            std::slice::from_ref(&hello),
            hi.clone(),
        ),
        ask(
            "BB",
            2,
            std::slice::from_ref(&hello),
            said("assistant", "Yes?"),
        ),
        ask("CC", 3, &more, said("assistant", "Goodbye.")),
    ];
    let told = read(&OTEL, &trace(&spans));
    let sessions: Vec<(&str, Vec<String>)> = told
        .sessions
        .iter()
        .map(|it| (&*it.start.id, it.said()))
        .collect();
    assert_eq!(
        sessions,
        [
            (
                "0af7651916cd43dd8448eb211c80319c",
                [
                    "user: Hello.",
                    "assistant: Hi.",
                    "user: Bye.",
                    "assistant: Goodbye."
                ]
                .map(str::to_owned)
                .to_vec()
            ),
            (
                "bb",
                ["user: Hello.", "assistant: Yes?"]
                    .map(str::to_owned)
                    .to_vec()
            ),
        ]
    );
}

#[test]
fn a_request_that_failed_and_was_sent_again_is_one() {
    let body = json!({"model": "miller", "messages": [{"role": "user", "content": "Grind."}]});
    // OpenInference tells the model as the reply names it, once there is one.
    let asked = |start: u64, model: &str, reply: &str| {
        let of = json!({
            "openinference.span.kind": "LLM", "session.id": "s-1", "llm.model_name": model,
            "input.value": body.to_string(), "llm.output_messages.0.message.role": reply,
            "llm.output_messages.0.message.content": "Ground.",
        });
        span("t-1", start, &of)
    };
    let spans = [asked(1, "", ""), asked(2, "miller-2026", "assistant")];
    let told = read(&OTEL, &trace(&spans));
    let session = &told.sessions[0];
    assert_eq!(session.said(), ["user: Grind.", "assistant: Ground."]);
    assert_eq!(session.end.other_records["request sent again"], 1);
    assert_eq!(session.steps[0].settings["model"], "\"miller\"");
    assert_eq!(session.steps[1].settings["model"], "\"miller-2026\"");
}

#[test]
fn what_is_not_recorded_is_said_to_be_missing_and_its_tokens_are_counted() {
    let counted = json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 2});
    let cut = json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
        "gen_ai.input.messages": "[{\"role\":\"user\",\"parts\":[{\"type\":\"te",
        "gen_ai.output.messages": "[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"Yes.\"}]}]"});
    let told = read(
        &OTEL,
        &trace(&[span("aa", 1, &counted), span("aa", 2, &cut)]),
    );
    assert_eq!(
        told.reasons(),
        ["gen_ai.input.messages that is cut or no list of messages"]
    );
    let session = &told.sessions[0];
    assert_eq!(session.said(), ["assistant: Yes."]);
    assert_eq!(session.end.absent, ["what was sent with some requests"]);
    let stated = session.end.stated.as_ref().expect("what the trace says");
    assert_eq!(stated.models[0].usage(), Usage::new(7, 2));
    let nothing = read(
        &OTEL,
        &trace(&[span("aa", 1, &json!({"http.request.method": "GET"}))]),
    );
    assert_eq!(nothing.reasons(), ["no span of a request to a model"]);
}

#[test]
fn of_a_trace_that_is_cut_all_whole_spans_come_in() {
    let chat = |at: u64| {
        let said = json!([{"role": "user", "parts": [{"type": "text", "content": format!("Sack {at}?")}]}]);
        let reply = json!([{"role": "assistant", "parts": [{"type": "text", "content": "Yes."}]}]);
        let of = json!({"gen_ai.operation.name": "chat", "gen_ai.conversation.id": at.to_string(),
            "gen_ai.input.messages": said.to_string(), "gen_ai.output.messages": reply.to_string()});
        span("aa", at, &of)
    };
    let whole = trace(&[chat(1), chat(2), chat(3)]);
    let place = |sought: &str| {
        let found = memchr::memmem::find(&whole, sought.as_bytes());
        found.expect("it is there")
    };
    for (end, count) in [
        (place("Sack 3"), 2),
        (place("Sack 2"), 1),
        (whole.len() - 3, 3),
    ] {
        let told = read(&OTEL, &whole[..end]);
        assert_eq!(told.sessions.len(), count, "{end}");
        assert_eq!(told.reasons(), ["the JSON text ends too early"]);
    }
}

#[test]
fn a_list_of_messages_is_a_session_and_no_list_of_the_ai_sdk() {
    const MESSAGES: &[u8] = include_bytes!("../../../tests/data/otel/messages.json");
    let found = crate::formats::sniff::sniff(&MESSAGES).expect("readable");
    assert_eq!(found, Some(&OTEL));
    let told = read(&OTEL, MESSAGES);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    assert_eq!(
        told.sessions[0].said(),
        [
            "system: You mind the mill.",
            "user: How many sacks? | [None Some(\"image/png\")]",
            "assistant: (Count. None) | c1: count {\"floor\":1}",
            "tool: c1 false = {\"sacks\":12}",
            "assistant: Twelve sacks 🌾.",
        ]
    );
}

#[test]
fn a_signature_in_spans_of_the_ai_sdk_stands_before_what_it_came_with() {
    let sealed = |seal: &str| json!({"google": {"thoughtSignature": seal}});
    let prompt = json!([
        {"role": "user", "content": [{"type": "text", "text": "How many?"}]},
        {"role": "assistant", "content": [
            {"type": "reasoning", "text": "Count.", "providerOptions": sealed("c2VhbDA=")},
            {"type": "tool-call", "toolCallId": "c1", "toolName": "count", "input": {}, "providerOptions": sealed("c2VhbDE=")},
        ]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "count",
            "output": {"type": "text", "value": "6"}}]},
    ]);
    let calls = json!([{"toolCallId": "c2", "toolName": "count", "input": "{}", "providerMetadata": sealed("c2VhbDI=")}]);
    let of = json!({"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": prompt.to_string(),
        "ai.response.toolCalls": calls.to_string()});
    let told = read(&OTEL, &trace(&[span("aa", 1, &of)]));
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    assert_eq!(
        told.sessions[0].said(),
        [
            "user: How many?",
            r#"assistant: (Count. Some("gemini") c2VhbDA=) | ( Some("gemini") c2VhbDE=) | c1: count {}"#,
            "tool: c1 false = 6",
            r#"assistant: ( Some("gemini") c2VhbDI=) | c2: count {}"#,
        ]
    );
}

#[test]
fn no_span_ends_after_its_parent() {
    let said = |role, text: &str, at: i64| Outgoing {
        time: Some(Millis(at)),
        ..fresh(role, vec![Part::text(text)])
    };
    let call = Part::call("c1".to_owned(), "count".to_owned(), "{}".to_owned(), None);
    let result = Part::result("c1".to_owned(), vec![Part::text("6")], false);
    let at = |part, role, at| Outgoing {
        time: Some(Millis(at)),
        ..fresh(role, vec![part])
    };
    // The run was stopped when its tool had answered.
    let messages = [
        said(Role::User, "How many?", 1_000),
        at(call, Role::Assistant, 2_000),
        at(result, Role::Tool, 9_000),
        said(Role::User, "And barrels?", 10_000),
        said(Role::Assistant, "Three.", 11_000),
    ];
    let (text, _) = written(&OTEL, &messages, &Document::default());
    let trace: Value = serde_json::from_slice(&text).expect("JSON");
    let spans = trace["resourceSpans"][0]["scopeSpans"][0]["spans"]
        .as_array()
        .expect("spans");
    let nanos = |span: &Value, key: &str| {
        span[key]
            .as_str()
            .expect("a text")
            .parse::<u64>()
            .expect("a number")
    };
    let mut inner = 0;
    for span in spans {
        let parent = spans
            .iter()
            .find(|one| one["spanId"] == span["parentSpanId"]);
        let Some(parent) = parent else { continue };
        inner += 1;
        assert!(
            nanos(parent, "startTimeUnixNano") <= nanos(span, "startTimeUnixNano"),
            "{span}"
        );
        assert!(
            nanos(span, "endTimeUnixNano") <= nanos(parent, "endTimeUnixNano"),
            "{span}"
        );
    }
    assert_eq!(inner, 3);
}

#[test]
fn a_long_document_over_several_lines_is_one() {
    let chat = |at: u64| {
        let said = json!([{"role": "user", "parts": [{"type": "text", "content": format!("Sack {at}?")}]}]);
        let of = json!({"gen_ai.operation.name": "chat", "gen_ai.conversation.id": at.to_string(),
            "gen_ai.input.messages": said.to_string(), "note": "LONG"});
        span("aa", at, &of)
    };
    let spans: Vec<String> = (1..=9).map(|at| chat(at).to_string()).collect();
    // More than is looked at to tell what a source is. To have it written as JSON takes a build without optimisation long.
    let list = spans.join(",\n").replace("LONG", &"word ".repeat(400_000));
    let text = format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{list}]}}]}}]}}"#);
    let told = read(&OTEL, text.as_bytes());
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    assert_eq!(told.sessions.len(), 9);
    let glued = read(&OTEL, format!("{text}\n{{}}").as_bytes());
    assert_eq!(glued.reasons(), ["more text after the document"]);
}
