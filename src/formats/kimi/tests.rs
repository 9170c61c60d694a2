//! What a log's records say, and what they leave of the context.

use serde_json::{Value, json};

use super::{KIMI, called, folder_of};
use crate::conditions::real_sessions;
use crate::formats::shared::contract::{Session, Told, read, texts, values};
use crate::formats::sniff::sniff;
use crate::formats::{Midway, Source};
use crate::model::{MediaSource, Message, Millis, Part, Role, Settings, Usage};

const PLAIN: &[u8] = include_bytes!("../../../tests/data/kimi/plain.jsonl");
const HIDDEN: &[u8] = include_bytes!("../../../tests/data/kimi/hidden.jsonl");

/// A log of these records.
fn log(version: &str, records: &[Value]) -> Session {
    let opening = json!({"type": "metadata", "protocol_version": version});
    let lines = std::iter::once(&opening).chain(records);
    let lines: String = lines.map(|record| format!("{record}\n")).collect();
    let mut told = read(&KIMI, lines.as_bytes());
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    told.sessions.remove(0)
}

fn said(role: &str, text: &str, origin: &Value) -> Value {
    let content = [json!({"type": "text", "text": text})];
    json!({"type": "context.append_message",
        "message": {"role": role, "content": content, "toolCalls": [], "origin": origin, "id": text}})
}

fn prompt(text: &str) -> Value {
    said("user", text, &json!({"kind": "user"}))
}

fn reminder(variant: &str, of: &str) -> Value {
    let origin = json!({"kind": "injection", "variant": variant, "ownerPromptId": of});
    said(
        "user",
        &format!("<system-reminder>\n{variant}\n</system-reminder>"),
        &origin,
    )
}

/// A call and what it gave.
fn called_for(output: &str) -> [Value; 4] {
    let event = |event: Value| json!({"type": "context.append_loop_event", "event": event});
    [
        event(json!({"type": "step.begin", "uuid": "s"})),
        event(
            json!({"type": "tool.call", "stepUuid": "s", "toolCallId": "c", "name": "Bash", "args": {}}),
        ),
        event(json!({"type": "tool.result", "toolCallId": "c", "result": {"output": output}})),
        event(json!({"type": "step.end", "uuid": "s", "finishReason": "tool_use"})),
    ]
}

fn all_texts(messages: &[Message]) -> Vec<String> {
    let said = |message: &Message| match &message.parts[..] {
        [Part::ToolResult { content, .. }] => {
            texts(&Message::new(Role::Tool, content.clone())).join("|")
        }
        [Part::ToolCall { .. }] => "(call)".to_owned(),
        _ => texts(message).join("|"),
    };
    messages.iter().map(said).collect()
}

#[test]
fn a_session_is_what_the_tool_makes_of_its_records() {
    let told = read(&KIMI, PLAIN);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    assert_eq!(session.end.cwd.as_deref(), Some("/home/mara/mill"));
    let messages = session.messages();
    let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
    let (user, reply, tool) = (Role::User, Role::Assistant, Role::Tool);
    let expected = [
        Role::System,
        user,
        user,
        reply,
        tool,
        tool,
        user,
        reply,
        tool,
        user,
        reply,
    ];
    assert_eq!(roles, expected);
    // A picture is here, or in a file of its own.
    let [_, Part::Image(media), missing] = &messages[1].parts[..] else {
        panic!("{:?}", messages[1]);
    };
    assert!(matches!(&media.source, MediaSource::Base64(data) if data == "iVBORw0KGgo="));
    assert_eq!(missing, &Part::text("[media missing]"));
    assert_eq!(session.end.absent, ["1 picture or the like"]);
    // What the tool puts beside a prompt is called by its name.
    let attached = Message::attached("todo_list_reminder", vec![Part::text("The list is empty.")]);
    assert_eq!(messages[2], &attached);
    // A reply is whole, with the call that came behind a result.
    let [
        Part::Thinking { .. },
        Part::Text { .. },
        Part::ToolCall { arguments, .. },
        Part::ToolCall { .. },
    ] = &messages[3].parts[..]
    else {
        panic!("{:?}", messages[3]);
    };
    assert_eq!(arguments, r#"{"command":"ls","deep":1.0}"#);
    let step = &session.steps[3];
    let counted = Usage::new(142, 20).cached(40, 2);
    assert_eq!(
        (step.usage, step.time),
        (Some(counted), Some(Millis(1_785_600_002_000)))
    );
    assert_eq!(step.records.len(), 6);
    let tools = r#"[{"type":"function","function":{"name":"Bash","description":"Runs a command.","parameters":{"type":"object"}}}]"#;
    let settings = [
        ("model", "\"kimi-k2\""),
        ("temperature", "0.6"),
        ("tools", tools),
    ];
    let settings = settings.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(step.settings, Settings::from(settings));
    // What it gave is in the words that the model was sent.
    let said = all_texts(&session.standing());
    let failed = "<system>ERROR: Tool execution failed.</system>\n";
    assert_eq!(
        said[4],
        format!("{failed}ls: no such mill\n<system>Ended with 2.</system>")
    );
    assert_eq!(said[5], "agent_id: agent-0\nstatus: completed\n|Nine.");
    assert_eq!(session.end.started, ["stem/agent-0"]);
    // What was typed meanwhile stands behind; a call that was cut off is said to be.
    assert_eq!(said[6], "Hurry.");
    assert_eq!(said[8], format!("{failed}{}", super::read::CUT_OFF));
    assert_eq!(said[9..], ["Go on.", "There are nine."]);
    assert_eq!(session.end.other_records["reply without content"], 1);
}

#[test]
fn what_is_hidden_is_what_the_tool_leaves_out() {
    let told = read(&KIMI, HIDDEN);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    let standing = session.standing();
    let expected = [
        "You help at the new mill.",
        "One.",
        "Three.",
        "The summary: it was counted.",
        "Four.",
        "Fou",
    ];
    assert_eq!(all_texts(&standing), expected);
    assert!(standing[5].interrupted);
    assert_eq!(session.messages().len(), 10, "nothing is lost");
    assert!(session.steps.iter().all(|step| step.settings.is_empty()));
}

#[test]
fn a_prompt_is_taken_back_as_each_version_does() {
    let records = [
        prompt("One."),
        reminder("image_compression", "Two."),
        prompt("Two."),
        reminder("plan_mode", ""),
        json!({"type": "context.undo", "count": 1}),
        json!({"type": "context.undo", "count": 7}),
        prompt("Three."),
    ];
    let standing = |version| all_texts(&log(version, &records).standing());
    assert_eq!(
        standing("1.4"),
        ["image_compression", "plan_mode", "Three."]
    );
    // Later nothing is taken back where there is too little of it.
    assert_eq!(standing("1.5"), ["One.", "Three."]);
    assert_eq!(standing("2.0"), standing("1.10"));
}

#[test]
fn nothing_is_taken_back_from_behind_a_summary() {
    let undo = json!({"type": "context.undo", "count": 1});
    let compaction = json!({"type": "context.apply_compaction", "summary": "Sum.", "compactedCount": 1,
        "keptUserMessageCount": 1});
    for version in ["1.4", "1.5"] {
        let records = [prompt("One."), compaction.clone(), undo.clone()];
        assert_eq!(
            all_texts(&log(version, &records).standing()),
            ["One.", "Sum."]
        );
    }
}

#[test]
fn what_was_summed_up_at_first_left_the_newest_behind_the_summary() {
    let summary = json!({"role": "user", "content": [{"type": "text", "text": "Sum."}]});
    let records = [
        prompt("One."),
        prompt("Two."),
        prompt("Three."),
        json!({"type": "context.apply_compaction", "summary": summary, "count": 2}),
        prompt("Four."),
    ];
    let standing = log("1.0", &records).standing();
    assert_eq!(all_texts(&standing), ["Sum.", "Three.", "Four."]);
}

#[test]
fn of_too_many_words_a_summary_keeps_both_ends() {
    let long = "a".repeat(90_000);
    let compaction = |head: Option<u64>| {
        json!({"type": "context.apply_compaction", "summary": "Sum.", "compactedCount": 3,
            "keptUserMessageCount": 3, "keptHeadUserMessageCount": head})
    };
    let mut records = vec![
        prompt("One."),
        prompt(&long),
        prompt("Three."),
        compaction(Some(2)),
    ];
    let standing = log("1.4", &records).standing();
    let [one, start, note, end, three, sum] = &all_texts(&standing)[..] else {
        panic!("{} messages", standing.len());
    };
    assert_eq!([&**one, three, sum], ["One.", "Three.", "Sum."]);
    // A token is four characters, and each message is one more.
    assert_eq!(
        (start.len(), end.len()),
        ((2_000 - 2) * 4, (18_000 - 3) * 4)
    );
    assert!(standing[2].is_attached());
    let omitted = 2 + 22_501 + 3 - (2 + 1_999 + 17_998 + 3);
    assert!(
        note.contains(&format!("roughly {omitted} tokens")),
        "{note}"
    );
    // Pieces are the user's words, too, and the note is not.
    records.push(compaction(Some(2)));
    let again = log("1.4", &records).standing();
    assert_eq!(again.iter().filter(|it| it.is_attached()).count(), 1);
    assert_eq!(again.len(), standing.len());
    // Null says that nothing was split.
    records.truncate(3);
    records.push(compaction(None));
    let newest = all_texts(&log("1.4", &records).standing());
    assert_eq!(
        (newest[0].len(), &*newest[1], newest.len()),
        ((20_000 - 3) * 4, "Three.", 3)
    );
}

#[test]
fn what_calls_gave_was_emptied_and_a_mode_left() {
    let mut records = vec![prompt("One.")];
    records.extend(called_for(&"x".repeat(400)));
    records.push(json!({"type": "micro_compaction.apply", "cutoff": 3}));
    records.extend(called_for(&"y".repeat(400)));
    records.push(reminder("swarm_mode", ""));
    records.push(json!({"type": "swarm_mode.exit"}));
    let standing = all_texts(&log("1.4", &records).standing());
    let cleared = "[Old tool result content cleared]";
    assert_eq!(standing[1..3], ["(call)", cleared]);
    assert_eq!((standing[4].len(), standing.len()), (400, 5));
    records.push(json!({"type": "context.clear"}));
    records.push(prompt("Two."));
    let session = log("1.4", &records);
    assert_eq!(all_texts(&session.standing()), ["Two."]);
}

#[test]
fn a_reminder_that_waits_for_a_call_goes_with_its_mode() {
    let mut records = vec![prompt("One.")];
    let [begin, call, result, end] = called_for("");
    records.extend([
        begin,
        call,
        reminder("swarm_mode", ""),
        json!({"type": "swarm_mode.exit"}),
    ]);
    records.extend([result, end]);
    let session = log("1.4", &records);
    let empty = "<system>Tool output is empty.</system>";
    assert_eq!(all_texts(&session.standing()), ["One.", "(call)", empty]);
    assert_eq!(session.messages().len(), 4);
}

#[test]
fn messages_of_the_oldest_logs_have_their_calls_one_level_down() {
    let call = json!({"type": "function", "id": "c", "function": {"name": "Bash", "arguments": "{\"a\": 1}"}});
    let records = [
        prompt("One."),
        json!({"type": "context.append_message", "message":
            {"role": "assistant", "content": [], "toolCalls": [call]}}),
        json!({"type": "context.append_message", "message":
            {"role": "tool", "toolCallId": "c", "content": [{"type": "text", "text": "Done."}], "toolCalls": []}}),
    ];
    let session = log("1.0", &records);
    let messages = session.messages();
    let call = Part::ToolCall {
        id: "c".into(),
        name: "Bash".into(),
        arguments: "{\"a\": 1}".into(),
        kind: None,
    };
    assert_eq!(messages[1].parts, [call]);
    assert!(matches!(&messages[2].parts[..], [Part::ToolResult { call, .. }] if call == "c"));
}

#[test]
fn what_is_wrong_costs_itself_alone() {
    let odd = [
        "[1]",
        r#"{"type":"context.append_message","message":7}"#,
        r#"{"type":"context.append_message","message":{"role":"nobody"}}"#,
        r#"{"type":"context.append_message","message":{"role":"user","content":7}}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"content.part"}}"#,
        r#"{"type":"context.apply_compaction"}"#,
        r#"{"type":"context.undo"}"#,
        r#"{"type":"something.new","time":1}"#,
    ];
    let bytes = [odd.join("\n").as_bytes(), b"\n", PLAIN].concat();
    let told = read(&KIMI, &bytes);
    let lines: Vec<u64> = told.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [1, 2, 3, 4, 5, 6, 7]);
    let session = &told.sessions[0];
    assert_eq!(
        session.messages(),
        read(&KIMI, PLAIN).sessions[0].messages()
    );
    assert_eq!(session.end.other_records["something.new"], 1);
}

#[test]
fn what_has_grown_is_read_from_its_middle_or_as_a_whole() {
    let go_on = KIMI.go_on.expect("it can");
    let mut plain = 0;
    for bytes in [PLAIN, HIDDEN] {
        let whole = read(&KIMI, bytes);
        let mut settings = Settings::new();
        for (at, step) in whole.sessions[0].steps.iter().enumerate() {
            settings.extend(step.settings.clone());
            let from = Midway {
                offset: step.records[0].offset,
                id: "stem",
                settings: &settings,
            };
            let mut found = Told::default();
            if !go_on(Source::of(&bytes, &mut found), from).expect("readable") {
                continue;
            }
            plain += 1;
            let session = &found.sessions[0];
            let wanted = &whole.sessions[0].steps[at..];
            let is_first =
                session.steps.first().map(|it| &it.action) == wanted.first().map(|it| &it.action);
            // What tells otherwise from the first step on is read as a whole.
            if is_first {
                assert_eq!(session.steps[1..], wanted[1..], "from step {at}");
            }
        }
    }
    assert!(plain > 3, "{plain}");
}

#[test]
fn a_session_is_found_and_called_by_its_folder() {
    assert_eq!(sniff(&PLAIN).expect("readable"), Some(&KIMI));
    assert_eq!(
        folder_of("/private/tmp/as-agent-lab/kimi/project"),
        "wd_project_ac3bb318f98e"
    );
    let name = |cwd: &str| {
        folder_of(cwd)
            .rsplit_once('_')
            .map(|(name, _)| name.to_owned())
    };
    assert_eq!(name("/w/Das Mühlrad! ").as_deref(), Some("wd_das-m-hlrad"));
    assert_eq!(name("/").as_deref(), Some("wd_workspace"));
    let long = format!("/{}-b", "a".repeat(39));
    assert_eq!(name(&long), Some(format!("wd_{}", "a".repeat(39))));
    let own = called("session_1/agents/main").expect("a session");
    assert_eq!((&*own.0, own.1.spawned_by), ("session_1", None));
    let agent = called("session_1/agents/agent-0").expect("an agent");
    assert_eq!(agent.0, "session_1/agent-0");
    assert_eq!(agent.1.spawned_by.as_deref(), Some("session_1"));
    assert!(called("main").is_none());
    let home = KIMI.home.as_ref().expect("one");
    let first = PLAIN.split(|byte| *byte == b'\n').next().expect("a line");
    let first = std::str::from_utf8(first).expect("text");
    assert!((home.descent)(first, "session_1/agents/agent-0").is_some());
    assert!((home.descent)(first, "").is_none());
    assert!((home.descent)("{}", "session_1/agents/agent-0").is_none());
    // The logs of the tool before this one begin alike.
    let before = [
        json!({"type": "metadata", "protocol_version": "1.3"}),
        json!({"timestamp": 1.5, "message": {"type": "TurnBegin", "payload": {"user_input": "Hi"}}}),
    ];
    let before = before.map(|line| format!("{line}\n")).concat();
    assert_eq!(sniff(&before.as_bytes()).expect("readable"), None);
}

/// What was counted for a request.
fn counted(scope: &str, input: u64) -> Value {
    json!({"type": "usage.record", "model": "m", "usageScope": scope,
        "usage": {"inputOther": input, "inputCacheRead": 5, "output": 2}})
}

/// A step of a turn.
fn step(event: &Value) -> Value {
    json!({"type": "context.append_loop_event", "event": event})
}

#[test]
fn requests_are_counted_once_be_they_for_a_reply_or_not() {
    let begin = step(&json!({"type": "step.begin", "uuid": "s1"}));
    let said = step(
        &json!({"type": "content.part", "stepUuid": "s1", "part": {"type": "text", "text": "One."}}),
    );
    let usage = json!({"inputOther": 10, "inputCacheRead": 5, "output": 2});
    let end = step(&json!({"type": "step.end", "uuid": "s1", "usage": usage}));
    let cut = step(&json!({"type": "step.end", "uuid": "s1", "finishReason": "interrupted"}));
    let of = |records: &[&Value]| {
        let records: Vec<Value> = records.iter().copied().cloned().collect();
        log("1.5", &records).counted()
    };
    let one = Usage::new(15, 2).cached(5, 0);
    let (record, other) = (counted("turn", 10), counted("session", 30));
    // Before the reply's end, behind it, and alone where it was cut off.
    assert_eq!(of(&[&begin, &record, &said, &end]), (one, vec![]));
    assert_eq!(of(&[&begin, &said, &end, &record]), (one, vec![]));
    assert_eq!(of(&[&begin, &record, &said, &cut]), (one, vec![]));
    let others = |numbers| vec![("m".to_owned(), numbers)];
    let found = of(&[&begin, &record, &said, &end, &other]);
    assert_eq!(found, (one, others([35, 2, 5])));
    // A reply of which nothing came, and one that was asked for again.
    let found = of(&[&begin, &record, &cut]);
    assert_eq!(found.1.len(), 1, "{found:?}");
    let again = counted("turn", 20);
    let found = of(&[&begin, &again, &record, &said, &end]);
    assert_eq!(found, (one, others([25, 2, 5])));
}

#[test]
fn how_long_a_call_took_and_a_word_to_go_on_are_sent() {
    let given = |tool: &str, result: &Value| {
        let records = [
            step(&json!({"type": "step.begin", "uuid": "s1"})),
            step(
                &json!({"type": "tool.call", "stepUuid": "s1", "toolCallId": "c1", "name": tool, "args": {}}),
            ),
            step(&json!({"type": "tool.result", "toolCallId": "c1", "result": result})),
            step(&json!({"type": "step.end", "uuid": "s1"})),
        ];
        let session = log("1.5", &records);
        let result = session.messages()[1].parts[0].clone();
        let (_, content, _) = result.as_result().expect("a result");
        content
            .iter()
            .filter_map(Part::as_text)
            .collect::<Vec<_>>()
            .join("|")
    };
    let took = json!({"output": "ok", "durationMs": 30});
    assert_eq!(given("Bash", &took), "Wall time: 0.030 seconds\nok");
    assert_eq!(given("mcp__a__b", &took), "Wall time: 0.030 seconds\nok");
    assert_eq!(given("Read", &took), "ok");
    assert_eq!(given("Bash", &json!({"output": "ok"})), "ok");
    let failed = json!({"output": "no", "isError": true, "durationMs": 2552, "note": "n"});
    assert_eq!(
        given("Bash", &failed),
        "Wall time: 2.552 seconds\n<system>ERROR: Tool execution failed.</system>\nno\nn"
    );
    let compaction = json!({"type": "context.apply_compaction", "summary": "Sum.", "compactedCount": 1,
        "keptUserMessageCount": 1});
    let standing = |count: u64| {
        let rebased = json!({"type": "token_counting.rebased", "length": count});
        let records = [prompt("One."), compaction.clone(), rebased, prompt("Two.")];
        all_texts(&log("1.5", &records).standing())
    };
    let word =
        "Context compaction is complete — continue the work that was in progress when it began.";
    assert_eq!(standing(3), ["One.", "Sum.", word, "Two."]);
    assert_eq!(standing(2), ["One.", "Sum.", "Two."]);
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_sessions_are_what_the_tool_counted() {
    let mut seen = 0;
    for file in std::fs::read_dir(real_sessions().join("kimi")).expect("a folder") {
        let bytes = std::fs::read(file.expect("a file").path()).expect("readable");
        let told = read(&KIMI, &bytes);
        assert!(told.problems.is_empty(), "{:?}", told.problems);
        let records = values(&bytes);
        for (at, record) in records.iter().enumerate() {
            // A compaction says how many messages there were, a request of a new prompt, too.
            let before = || {
                let lines = records[..at].iter().map(|record| format!("{record}\n"));
                let session = read(&KIMI, lines.collect::<String>().as_bytes())
                    .sessions
                    .remove(0);
                let standing = session.standing();
                let spoken = standing.iter().filter(|it| it.role != Role::System).count() as u64;
                let empty = session.end.other_records.get("reply without content");
                (spoken, empty.copied().unwrap_or(0))
            };
            if record["type"] == "context.apply_compaction" {
                let (spoken, empty) = before();
                assert_eq!(record["compactedCount"], spoken + empty);
                let session = &told.sessions[0];
                assert_eq!(
                    record["keptUserMessageCount"],
                    session.standing().len() as u64 - 2
                );
                seen += 1;
            }
        }
        let requests = records
            .iter()
            .filter(|it| it["type"] == "llm.request" && it["kind"] == "loop");
        let settings: Vec<_> = told.sessions[0]
            .steps
            .iter()
            .map(|step| &step.settings)
            .collect();
        assert!(requests.count() > 0 && settings.iter().any(|it| it.contains_key("model")));
        seen += 1;
    }
    assert!(seen >= 3, "the folder holds fewer sessions than it should");
}
