//! What a session says, what of it is not sent any more, and what is written back.

use serde_json::{Value, json};

use super::COPILOT_CLI;
use crate::conditions::real_sessions;
use crate::formats::shared::contract::{fresh, hides, outgoing, read, texts, values, written};
use crate::formats::{Cover, Document, Midway, Outgoing, Sink, Source, Step};
use crate::model::{HideKind, Message, Millis, Part, Role, Settings, Usage};

const PLAIN: &[u8] = include_bytes!("../../../tests/data/copilot-cli/plain.jsonl");
const HIDDEN: &[u8] = include_bytes!("../../../tests/data/copilot-cli/hidden.jsonl");

fn export(messages: &[Outgoing], document: &Document) -> (Vec<u8>, Vec<String>) {
    let (out, remarks) = written(&COPILOT_CLI, messages, document);
    (out, remarks)
}

fn document() -> Document {
    Document {
        session_id: "new".into(),
        cwd: "/home/ada/mill".into(),
        now: Some(Millis(7)),
        ..Document::default()
    }
}

#[test]
fn a_message_is_what_the_model_was_sent() {
    let told = read(&COPILOT_CLI, PLAIN);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    assert_eq!(session.start.id, "0a11ce00-1111-4222-8333-444455556666");
    assert_eq!(session.end.cwd.as_deref(), Some("/home/ada/mill"));
    assert_eq!(session.end.absent, ["tool definitions"]);
    let title = session.end.title.as_deref();
    assert_eq!(title, Some("Look at the wheel and the race."));
    let messages = session.messages();
    let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
    let (user, reply, tool) = (Role::User, Role::Assistant, Role::Tool);
    let expected = [
        Role::System,
        user,
        reply,
        tool,
        tool,
        tool,
        reply,
        user,
        reply,
    ];
    assert_eq!(roles, expected);
    assert!(texts(messages[1])[0].starts_with("<current_datetime>"));
    let prompt = texts(messages[7]);
    assert!(
        prompt[0].ends_with("Write down how the mill is built."),
        "{prompt:?}"
    );
    assert_eq!(prompt[1], "wheel.png");
    assert_eq!(messages[7].part_types(), [("text", 2), ("image", 1)]);
    let thinking = Part::Thinking {
        text: "Two places to look at.".into(),
        signature: Some("b3BhcXVl".into()),
        provider: Some("copilot".into()),
    };
    assert_eq!(messages[2].parts[0], thinking);
    let call = |at: usize| match &messages[2].parts[at] {
        Part::ToolCall {
            arguments, kind, ..
        } => (arguments.as_str(), kind.as_deref()),
        part => panic!("{part:?}"),
    };
    assert_eq!(call(3), (r#"{"command":"cat race.md","depth":1.0}"#, None));
    assert_eq!(call(4), ("*** Begin Patch\n*** End Patch", Some("custom")));
    // In the order in which they came, with what is for the model.
    let failed = Part::ToolResult {
        call: "c2".into(),
        content: vec![Part::text("race.md: No such file")],
        is_error: true,
    };
    assert_eq!(messages[3].parts, [failed]);
    assert_eq!(session.steps[6].records.len(), 2, "a reply in two pieces");
    assert_eq!(
        texts(messages[6]),
        ["A spoke is missing, ", "and there is no race."]
    );
    let model = |at: usize| session.steps[at].settings.get("model").map(String::as_str);
    assert_eq!(model(0), Some("\"claude-sonnet-4.6\""));
    assert_eq!(model(7), Some("\"gpt-5.2\""));
    assert_eq!(
        session.end.other_records["system.message"], 1,
        "the same again"
    );
    assert_eq!(session.end.other_records["abort"], 1);
}

fn lines(events: &[Value]) -> Vec<u8> {
    let lines = events.iter().map(|event| format!("{event}\n"));
    lines.collect::<String>().into_bytes()
}

#[test]
fn taking_back_leaves_the_instructions() {
    let instructions =
        json!({"type": "system.message", "data": {"role": "system", "content": "Be brief."}});
    let asked =
        |id: &str, text: &str| json!({"type": "user.message", "id": id, "data": {"content": text}});
    let said = |text: &str| json!({"type": "assistant.message", "data": {"content": text}});
    let events = [
        asked("e1", "One?"),
        said("First."),
        instructions.clone(),
        asked("e2", "Two?"),
        said("Second."),
        json!({"type": "session.snapshot_rewind", "data": {"upToEventId": "e1"}}),
        instructions,
        asked("e3", "Three?"),
    ];
    let told = read(&COPILOT_CLI, &lines(&events));
    let standing = told.sessions[0].standing();
    let shown: Vec<_> = standing.iter().map(|it| texts(it).concat()).collect();
    assert_eq!(shown, ["Be brief.", "Three?"]);
}

#[test]
fn what_is_damaged_in_a_list_leaves_its_neighbours() {
    let picture = |data: &str| json!({"data": data, "mimeType": "image/png"});
    let call = |id: &str| json!({"toolCallId": id, "name": "look", "arguments": {}});
    let given = json!({"content": "A wheel.", "binaryResultsForLlm": [picture("AQ=="), 7, picture("Ag==")]});
    let events = [
        json!({"type": "user.message", "data": {"content": "Look.", "attachments": [null, picture("Aw==")]}}),
        json!({"type": "assistant.message", "data": {"toolRequests": [call("c1"), null, call("c2")]}}),
        json!({"type": "tool.execution_complete", "data": {"toolCallId": "c1", "success": true, "result": given}}),
        json!({"type": "assistant.message", "data": {"content": "So it is.", "toolRequests": "none"}}),
    ];
    let told = read(&COPILOT_CLI, &lines(&events));
    let messages = told.sessions[0].messages();
    let types: Vec<_> = messages.iter().map(|it| it.part_types()).collect();
    assert_eq!(
        types[..2],
        [vec![("text", 1), ("image", 1)], vec![("tool_call", 2)]]
    );
    let [Part::ToolResult { content, .. }] = &messages[2].parts[..] else {
        panic!("one result: {:?}", messages[2]);
    };
    assert_eq!(content.len(), 3);
    let reported: Vec<_> = told
        .problems
        .iter()
        .map(|it| (it.line, it.reason.as_str()))
        .collect();
    assert_eq!(
        reported,
        [
            (1, "attachments[0] is not an object"),
            (2, "toolRequests[1] is not an object"),
            (3, "binaryResultsForLlm[1] is not an object"),
            (4, "toolRequests is not a list"),
        ]
    );
}

#[test]
fn what_is_summed_up_cleared_or_taken_back_is_hidden() {
    let told = read(&COPILOT_CLI, HIDDEN);
    let reasons: Vec<_> = told
        .problems
        .iter()
        .map(|problem| problem.reason.as_str())
        .collect();
    assert_eq!(
        reasons,
        ["2 messages were not sent here; which is not in the file"]
    );
    assert!(told.problems[0].harmless);
    let session = &told.sessions[0];
    let found = hides(&session.steps);
    let kinds: Vec<_> = found.iter().map(|hide| hide.kind).collect();
    let (drop, compaction) = (HideKind::Drop, HideKind::Compaction);
    assert_eq!(kinds, [drop, compaction, drop, HideKind::Clear]);
    let [instructions, summary, rewind, clear] = found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(
        texts(&instructions.replacements[0].1),
        ["You help at the mill, and it rains."]
    );
    // The instructions stay, and what was said while the summary was made.
    assert_eq!(summary.keep.len(), 2);
    assert_eq!(summary.replacements[0].0, Some(summary.keep[1]));
    let framed = texts(&summary.replacements[0].1)[0];
    let asked = "<user_message>\nSend somebody to count the sacks.\n</user_message>\n\
                 <user_message>\nAnd barrels?\n</user_message>\n\n";
    assert!(framed.contains(asked), "{framed}");
    assert!(
        framed.ends_with(
            "<summary>\n<overview>\nSacks were counted: twelve.\n</overview>\n</summary>"
        )
    );
    let Cover::Range(first, last) = rewind.cover else {
        panic!("{rewind:?}");
    };
    assert_eq!(last.step.0 - first.step.0, 3);
    assert_eq!(texts(&clear.replacements[0].1), ["Mend the roof."]);
    let messages = session.messages();
    let said: Vec<_> = messages.iter().flat_map(|message| texts(message)).collect();
    assert!(said.contains(&"The roof is mended."));
    // A result of a call that was cleared, and what the user ran, are sent to nobody.
    assert_eq!(session.end.other_records["tool.execution_complete"], 2);
    assert_eq!(session.end.other_records["session.compaction_complete"], 1);
    let images = messages.iter().filter(|message| {
        let mut types = message.part_types().into_iter();
        types.any(|(kind, _)| kind == "image")
    });
    assert_eq!(
        images.count(),
        1,
        "the prompt's; a result holds its own within"
    );
    let viewed = messages
        .iter()
        .find_map(|message| match &message.parts[..] {
            [Part::ToolResult { call, content, .. }] if call == "c1" => Some(content.len()),
            _ => None,
        });
    assert_eq!(viewed, Some(2));
}

#[test]
fn a_sub_agent_is_a_branch() {
    let told = read(&COPILOT_CLI, HIDDEN);
    let session = &told.sessions[0];
    let [(at, branch)] = &session.branches[..] else {
        panic!("{:?}", session.branches);
    };
    assert_eq!(branch.name, "agent-sacks");
    assert_eq!(branch.title.as_deref(), Some("Explore"));
    assert_eq!(branch.after, None);
    let said = session.steps[*at..].iter().filter_map(Step::message);
    let roles: Vec<Role> = said.map(|message| message.role).collect();
    let (reply, tool) = (Role::Assistant, Role::Tool);
    assert_eq!(roles, [Role::System, Role::User, reply, tool, reply]);
    // Older events name the call that started it, and no agent.
    let older = String::from_utf8(HIDDEN.to_vec()).expect("text");
    let older = older.replace(r#","agentId":"sacks""#, "");
    let older: Vec<String> = older
        .lines()
        .map(|line| {
            let mut event: Value = serde_json::from_str(line).expect("JSON");
            let was = values(HIDDEN)
                .into_iter()
                .find(|was| was["id"] == event["id"]);
            if was.is_some_and(|was| was["agentId"] == "sacks") {
                event["data"]["parentToolCallId"] = json!("t1");
            }
            event.to_string()
        })
        .collect();
    let again = read(&COPILOT_CLI, older.join("\n").as_bytes());
    assert_eq!(again.sessions[0].branches[0].1.name, "agent-t1");
    assert_eq!(again.sessions[0].messages(), session.messages());
}

#[test]
fn events_are_written_as_they_were_and_name_the_one_before() {
    let told = read(&COPILOT_CLI, PLAIN);
    let messages = outgoing(PLAIN, &told.sessions[0]);
    let (file, remarks) = export(&messages[1..], &document());
    assert!(remarks.is_empty(), "{remarks:?}");
    let events = values(&file);
    assert_eq!(events[0]["type"], "session.start");
    for pair in events.windows(2) {
        assert_eq!(pair[1]["parentId"], pair[0]["id"]);
    }
    let mut source = values(PLAIN);
    source.retain(|event| event["type"] == "user.message");
    for (event, was) in events
        .iter()
        .filter(|e| e["type"] == "user.message")
        .zip(&source)
    {
        assert_eq!(event["data"], was["data"]);
        assert_eq!(event["id"], was["id"]);
    }
}

#[test]
fn new_messages_are_read_back() {
    let call = |id: &str, arguments: &str, kind: Option<&str>| Part::ToolCall {
        id: id.into(),
        name: "look".into(),
        arguments: arguments.into(),
        kind: kind.map(str::to_owned),
    };
    let result = |call: &str, text: &str, is_error| Part::ToolResult {
        call: call.into(),
        content: vec![Part::text(text)],
        is_error,
    };
    let thinking = Part::Thinking {
        text: "Hm.".into(),
        signature: None,
        provider: None,
    };
    let parts = vec![
        Part::text("So."),
        thinking,
        call("a", r#"{"x":1.0}"#, None),
        call("b", "plain", Some("custom")),
    ];
    let messages = [
        fresh(Role::System, vec![Part::text("Be brief.")]),
        fresh(Role::User, vec![Part::text("Look.")]),
        fresh(Role::Assistant, parts),
        fresh(Role::Tool, vec![result("b", "gone", true)]),
        fresh(Role::Tool, vec![result("a", "seen", false)]),
        fresh(Role::Assistant, vec![Part::text("Seen.")]),
    ];
    let (file, remarks) = export(&messages, &document());
    assert!(remarks.is_empty(), "{remarks:?}");
    let told = read(&COPILOT_CLI, &file);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let again: Vec<Message> = told.sessions[0].messages().into_iter().cloned().collect();
    let said: Vec<Message> = messages.into_iter().map(|out| out.message).collect();
    assert_eq!(again, said);
    let events = values(&file);
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!(of("assistant.turn_start"), of("assistant.turn_end"));
    assert_eq!(of("tool.execution_start"), 2);
}

/// The steps of an end, if that can be told alone.
fn goes_on(bytes: &[u8], offset: usize, settings: &Settings) -> Option<Vec<Step>> {
    #[derive(Default)]
    struct Steps(Vec<Step>);
    impl Sink for Steps {
        fn step(&mut self, step: Step) -> crate::error::Result<()> {
            self.0.push(step);
            Ok(())
        }
    }
    let mut found = Steps::default();
    let from = Midway {
        offset: offset as u64,
        id: "id",
        settings,
    };
    let go_on = COPILOT_CLI.go_on.expect("it can");
    let done = go_on(Source::of(&bytes, &mut found), from).expect("readable");
    done.then_some(found.0)
}

#[test]
fn what_has_grown_is_gone_on_with_where_nothing_there_reaches_back() {
    let told = read(&COPILOT_CLI, PLAIN);
    let steps = &told.sessions[0].steps;
    let mut settings = Settings::new();
    for step in &steps[..3] {
        settings.extend(step.settings.clone());
    }
    let reply = steps[2].records[0].offset as usize;
    // Behind it the instructions are said again, which may be others by then.
    assert_eq!(goes_on(PLAIN, reply, &settings), None);
    let again = steps[7].records[0].offset as usize;
    let short = PLAIN[..again]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .expect("lines");
    let cut = values(&PLAIN[..=short])
        .iter()
        .rposition(|event| event["type"] == "system.message");
    let text = std::str::from_utf8(PLAIN).expect("text");
    let before: String = text.split_inclusive('\n').take(cut.expect("one")).collect();
    let rest = goes_on(before.as_bytes(), reply, &settings).expect("it can be told");
    // Which step brought the settings is known to who reads from the beginning.
    assert_eq!(rest[1..], steps[3..7]);
    assert_eq!(rest[0].action, steps[2].action);
    let told = read(&COPILOT_CLI, HIDDEN);
    let first = told.sessions[0].steps[2].records[0].offset as usize;
    assert_eq!(goes_on(HIDDEN, first, &settings), None);
}

/// What a request came to, by its call.
fn counted(call: &str, input: u64, output: u64) -> Value {
    json!({"type": "session.usage_record", "data": {"usage": {"model": "m", "inputTokens": input,
        "outputTokens": output, "cacheReadTokens": 5, "cost": 0.5, "apiCallId": call}}})
}

fn replied(call: &str, text: &str) -> Value {
    json!({"type": "assistant.message", "data": {"model": "m", "content": text, "apiCallId": call}})
}

/// What a process says at its end that requests came to.
fn ended(count: u64, input: u64, output: u64) -> Value {
    json!({"type": "session.shutdown", "data": {"modelMetrics": {"m": {"requests": {"count": count},
        "usage": {"inputTokens": input, "outputTokens": output}}}}})
}

#[test]
fn each_request_is_counted_once_be_it_for_a_reply_or_not() {
    let asked = json!({"type": "user.message", "data": {"content": "One?"}});
    let summed = json!({"type": "session.compaction_complete", "data": {"success": true,
        "summaryContent": "Sum.", "compactionTokensUsed": {"model": "m", "inputTokens": 70, "outputTokens": 7}}});
    let events = [
        asked.clone(),
        counted("c1", 100, 10),
        replied("c1", "First."),
        // One that was stopped before it said anything.
        counted("c2", 110, 1),
        asked.clone(),
        counted("c3", 120, 12),
        replied("c3", "Second."),
        summed,
        ended(4, 400, 30),
        asked.clone(),
        counted("c4", 130, 13),
        replied("c4", "Third."),
    ];
    let session = &read(&COPILOT_CLI, &lines(&events)).sessions[0];
    let (known, others) = session.counted();
    assert_eq!(known, Usage::new(350, 35).cached(15, 0));
    assert_eq!(others, [("m".to_owned(), [180, 8, 5])]);
    let amounts = &session.steps[1].detail.amounts;
    assert_eq!(amounts.get("cost").map(String::as_str), Some("0.5"));
    // Of earlier versions the ends alone tell: each process counted for itself, later ones for all.
    let [first, second] = ["c1", "c2"].map(|call| replied(call, "Said."));
    let early = |last: Value| {
        let more = [asked.clone(), second.clone(), second.clone(), last];
        let events = [&[asked.clone(), first.clone(), ended(2, 50, 5)], &more[..]].concat();
        read(&COPILOT_CLI, &lines(&events)).sessions[0].counted().1
    };
    let all = [("m".to_owned(), [150, 15, 0])];
    assert_eq!(early(ended(2, 100, 10)), all);
    assert_eq!(early(ended(4, 150, 15)), all);
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_sessions_come_in_whole() {
    let names = [
        "computermode-b4257b63-v1.0.20.events.jsonl",
        "xeff09-9a493a94/events.jsonl",
        "xeff09-feeb765c/events.jsonl",
    ];
    for name in names {
        let path = real_sessions().join("copilot-cli").join(name);
        let bytes = std::fs::read(&path).expect("readable");
        let told = read(&COPILOT_CLI, &bytes);
        assert!(told.problems.is_empty(), "{path:?}: {:?}", told.problems);
        let session = &told.sessions[0];
        let events = values(&bytes);
        let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
        let messages = session.messages();
        let count = |role: Role| {
            messages
                .iter()
                .filter(|message| message.role == role)
                .count()
        };
        assert_eq!(count(Role::User), of("user.message"), "{path:?}");
        assert_eq!(count(Role::Assistant), of("assistant.message"), "{path:?}");
        assert_eq!(count(Role::Tool), of("tool.execution_complete"), "{path:?}");
        let other: u64 = session.end.other_records.values().sum();
        assert_eq!(messages.len() + other as usize, events.len(), "{path:?}");
        let (file, remarks) = export(&outgoing(&bytes, session), &document());
        assert!(remarks.is_empty(), "{path:?}: {remarks:?}");
        let again = read(&COPILOT_CLI, &file);
        assert_eq!(again.sessions[0].messages(), messages, "{path:?}");
    }
}

#[test]
fn a_reply_has_what_was_counted_for_it_and_a_session_of_one_request_its_total() {
    let line = |kind: &str, data: Value| {
        let event = json!({"type": kind, "data": data, "id": kind, "timestamp": "2026-03-01T09:00:00Z", "parentId": null});
        event.to_string() + "\n"
    };
    let start = line(
        "session.start",
        json!({"sessionId": "s", "version": 1, "producer": "copilot-agent"}),
    );
    let said = |call: &str| {
        line(
            "assistant.message",
            json!({"content": "So.", "toolRequests": [], "apiCallId": call}),
        )
    };
    let counted = |call: &str, input: u64| {
        let counts = json!({"apiCallId": call, "inputTokens": input, "outputTokens": 9, "cacheReadTokens": 70, "cacheWriteTokens": 20, "reasoningTokens": 4});
        line("assistant.usage", counts)
    };
    let ended = |count: u64| {
        let usage = json!({"inputTokens": 500, "outputTokens": 12, "cacheReadTokens": 0, "cacheWriteTokens": 490});
        let model = json!({"requests": {"count": count, "cost": 1}, "usage": usage});
        line(
            "session.shutdown",
            json!({"modelMetrics": {"claude-sonnet-4.6": model}}),
        )
    };
    let usages = |lines: &[String]| -> Vec<Option<Usage>> {
        let told = read(&COPILOT_CLI, (start.clone() + &lines.concat()).as_bytes());
        told.sessions[0]
            .steps
            .iter()
            .map(|step| step.usage)
            .collect()
    };
    let usage = Usage::new(100, 9).cached(70, 20).reasoned(4);
    let lines = [
        said("a"),
        counted("a", 100),
        said("b"),
        counted("other", 7),
        said("c"),
        ended(3),
    ];
    assert_eq!(usages(&lines), [Some(usage), None, None]);
    let total = Usage::new(500, 12).cached(0, 490);
    assert_eq!(usages(&[said("a"), ended(1)]), [Some(total)]);
    assert_eq!(
        usages(&[said("a"), counted("a", 100), ended(1)]),
        [Some(usage)]
    );
}

#[test]
fn the_last_line_of_printed_events_is_no_damage() {
    let result =
        r#"{"type":"result","timestamp":"2026-04-06T08:41:05.000Z","sessionId":"s","exitCode":0}"#;
    let before = read(&COPILOT_CLI, PLAIN);
    let told = read(&COPILOT_CLI, &[PLAIN, result.as_bytes()].concat());
    assert_eq!(told.problems, before.problems);
    assert_eq!(told.sessions[0].messages(), before.sessions[0].messages());
}

#[test]
fn instructions_stand_before_the_first_prompt_and_skills_are_no_prompts() {
    let asked = |text: &str, source: &str| json!({"type": "user.message", "data": {"content": text, "source": source}});
    let instructions =
        json!({"type": "system.message", "data": {"role": "system", "content": "Be brief."}});
    let call = json!({"type": "assistant.message", "data": {"toolRequests": [{"toolCallId": "c1", "name": "bash",
        "arguments": {}}]}});
    let cut = json!({"type": "tool.execution_complete", "data": {"toolCallId": "c1", "model": "resumed",
        "success": false, "error": {"message": "It was cut off, and much more.", "code": "interrupted"}}});
    let skill = asked(
        "<skill-context name=\"oak\">\nSaw.\n</skill-context>",
        "skill-oak",
    );
    let events = [
        asked("One?", ""),
        instructions,
        call,
        cut,
        skill.clone(),
        asked("Two?", ""),
    ];
    let session = &read(&COPILOT_CLI, &lines(&events)).sessions[0];
    let roles: Vec<Role> = session.messages().iter().map(|it| it.role).collect();
    let (system, user) = (Role::System, Role::User);
    assert_eq!(
        roles,
        [system, user, Role::Assistant, Role::Tool, user, user]
    );
    assert_eq!(session.end.title.as_deref(), Some("One?"));
    let (_, given, _) = session.messages()[3].parts[0]
        .as_result()
        .expect("a result");
    assert_eq!(given, [Part::text(super::CUT_OFF)]);
    let is_injected = COPILOT_CLI.injected.expect("told by records");
    assert!(is_injected(&skill.to_string()) && !is_injected(&events[5].to_string()));
}
