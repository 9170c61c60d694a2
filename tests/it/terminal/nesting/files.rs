//! Session files with a place for something deep.

/// A session of each format with a value in it, wherever a file can hold one: the format, the place,
/// how many levels of the message stand around the value (none: it is in no message), and the file. In
/// it stands `DEEP` for the value, or `RESULTS` for blocks of results in results.
pub fn sessions() -> Vec<(&'static str, &'static str, Option<usize>, String)> {
    let mut all = Vec::new();
    let mut add = |format, place, around, text: String| all.push((format, place, around, text));

    let claude = |records: &[(&str, String)]| {
        let mut parent = "null".to_owned();
        let mut lines = String::new();
        for (at, (kind, rest)) in records.iter().enumerate() {
            let uuid = format!("\"00000000-0000-4000-8000-00000000000{at}\"");
            lines += &format!(
                r#"{{"type":"{kind}","parentUuid":{parent},"uuid":{uuid},"isSidechain":false,"sessionId":"s","timestamp":"2026-01-02T03:04:0{at}Z",{rest}}}"#
            );
            lines.push('\n');
            parent = uuid;
        }
        lines
    };
    let said =
        |role: &str, content: &str| format!(r#""message":{{"role":"{role}","content":{content}}}"#);
    let first = || ("user", said("user", "\"before\""));
    let last = || {
        (
            "assistant",
            said("assistant", r#"[{"type":"text","text":"after"}]"#),
        )
    };
    let call = r#"[{"type":"tool_use","id":"c","name":"f","input":DEEP}]"#;
    let block = r#"[{"type":"redacted_thinking","data":DEEP}]"#;
    let result = r#"[{"type":"tool_result","tool_use_id":"c","content":[{"type":"tool_result","tool_use_id":"d","content":[{"type":"search_result","x":DEEP}]}]}]"#;
    for (place, around, kind, content) in [
        ("a call", 3, "assistant", call),
        ("a block", 3, "assistant", block),
        ("a result", 7, "user", result),
        ("results", 3, "user", "RESULTS"),
    ] {
        let text = claude(&[first(), (kind, said(kind, content)), last()]);
        add("claude-code", place, Some(around), text);
    }
    let beside = said("user", "\"more\"") + ",\"toolUseResult\":DEEP";
    let text = claude(&[first(), ("user", beside), last()]);
    add("claude-code", "beside", None, text);
    let text = claude(&[first(), ("progress", "\"data\":DEEP".to_owned()), last()]);
    add("claude-code", "an unknown record", None, text);
    let text = claude(&[first(), last()]) + "{\"type\":\"else\",\"k\":DEEP}\nDEEP\n";
    add(
        "claude-code",
        "the top",
        None,
        text.replace("\nDEEP", "\n{\"k\":DEEP}"),
    );

    let codex = |items: &[&str]| {
        let meta = r#"{"timestamp":"2026-01-02T03:04:00Z","type":"session_meta","payload":{"id":"s","cwd":"/"}}"#;
        let lines = items
            .iter()
            .map(|rest| format!("{{\"timestamp\":\"2026-01-02T03:04:05Z\",{rest}}}\n"));
        format!("{meta}\n{}", lines.collect::<String>())
    };
    let before = r#""type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"before"}]}"#;
    let after = r#""type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"after"}]}"#;
    for (place, around, item) in [
        (
            "a call",
            Some(3),
            r#""type":"response_item","payload":{"type":"local_shell_call","call_id":"c","action":DEEP}"#,
        ),
        (
            "an item",
            Some(3),
            r#""type":"response_item","payload":{"type":"strange","x":DEEP}"#,
        ),
        (
            "a piece",
            Some(3),
            r#""type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"strange","x":DEEP}]}"#,
        ),
        (
            "a result",
            Some(5),
            r#""type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":[{"type":"strange","x":DEEP}]}"#,
        ),
        (
            "an agent",
            Some(3),
            r#""type":"inter_agent_communication","payload":{"author":"a","content":[{"type":"strange","x":DEEP}]}"#,
        ),
        (
            "a setting",
            Some(1),
            r#""type":"turn_context","payload":{"model":DEEP}"#,
        ),
        (
            "a compaction",
            Some(3),
            r#""type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"before"}]},{"type":"strange","x":DEEP}]}"#,
        ),
        (
            "an event",
            None,
            r#""type":"event_msg","payload":{"type":"else","x":DEEP}"#,
        ),
        ("the top", None, r#""type":"else","payload":DEEP"#),
    ] {
        add("codex", place, around, codex(&[before, item, after]));
    }

    let gemini = |more: &str, message: &str| {
        format!(
            r#"{{"sessionId":"s","projectHash":"p",{more}"messages":[{{"type":"user","content":"before"}},{message}{{"type":"gemini","content":"after"}}]}}"#
        )
    };
    for (place, around, message) in [
        (
            "a call",
            Some(3),
            r#"{"type":"gemini","content":"","toolCalls":[{"id":"c","name":"f","args":DEEP}]},"#,
        ),
        (
            "a piece",
            Some(3),
            r#"{"type":"user","content":[{"strange":DEEP}]},"#,
        ),
        (
            "a result",
            Some(5),
            r#"{"type":"gemini","content":"","toolCalls":[{"id":"c","name":"f","args":{},"result":[{"text":"so"},{"strange":DEEP}]}]},"#,
        ),
        (
            "beside",
            None,
            r#"{"type":"gemini","content":"more","x":DEEP},"#,
        ),
        ("an unknown record", None, r#"{"type":"else","x":DEEP},"#),
    ] {
        add("gemini", place, around, gemini("", message));
    }
    add("gemini", "the top", None, gemini("\"x\":DEEP,", ""));

    let list = |message: &str| {
        format!(
            r#"[{{"role":"user","content":"before"}},{message}{{"role":"assistant","content":[{{"type":"text","text":"after"}}]}}]"#
        )
    };
    for (place, around, role, content) in [
        ("a call", 3, "assistant", call),
        ("a block", 3, "assistant", block),
        ("a result", 7, "user", result),
        ("results", 3, "user", "RESULTS"),
    ] {
        let message = format!(r#"{{"role":"{role}","content":{content}}},"#);
        add("anthropic", place, Some(around), list(&message));
        add(
            "roo",
            place,
            Some(around),
            list(&message.replace("{\"role", "{\"ts\":1,\"role")),
        );
    }
    let beside = r#"{"role":"user","content":"more","ts":1,"x":DEEP},"#;
    add("anthropic", "beside", None, list(beside));
    add("roo", "beside", None, list(beside));
    add(
        "roo",
        "reasoning",
        Some(3),
        list(r#"{"type":"reasoning","ts":1,"x":DEEP},"#),
    );

    for (place, around, message) in [
        (
            "a call",
            Some(3),
            r#"{"role":"assistant","tool_calls":[{"id":"c","type":"strange","x":DEEP}]},"#,
        ),
        (
            "a piece",
            Some(3),
            r#"{"role":"user","content":[{"type":"strange","x":DEEP}]},"#,
        ),
        ("a content", Some(2), r#"{"role":"user","content":DEEP},"#),
        (
            "a refusal",
            Some(3),
            r#"{"role":"assistant","content":"more","refusal":DEEP},"#,
        ),
        (
            "beside",
            None,
            r#"{"role":"user","content":"more","x":DEEP},"#,
        ),
    ] {
        add("openai", place, around, list(message));
    }
    for format in ["openai", "anthropic"] {
        let request = format!(r#"{{"model":"m","messages":{},"x":DEEP}}"#, list(""));
        add(format, "a setting", Some(1), request);
        add(
            format,
            "the top",
            None,
            format!(r#"[{{"task_id":"1","x":DEEP,"traj":{}}}]"#, list("")),
        );
        let rows = format!("{{\"messages\":{}}}\n", list(""));
        add(
            format,
            "a row",
            None,
            rows.clone() + &rows.replace("{\"mess", "{\"x\":DEEP,\"mess"),
        );
    }
    let conversation = r#"[{"id":"c","mapping":{
        "a":{"parent":null,"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["before"]}}},
        "b":{"parent":"a","message":{"author":{"role":"assistant"},"content":{"content_type":"strange","x":DEEP}}},
        "c":{"parent":"b","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["after"]}}}}}]"#;
    add("chatgpt", "a content", Some(3), conversation.to_owned());
    all
}
