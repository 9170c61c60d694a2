//! What runs of both tools say, and what of them was left out of later requests.

use serde_json::{Value, json};

use super::{MINI_SWE_AGENT, SWE_AGENT};
use crate::conditions::real_sessions;
use crate::formats::shared::contract::{Session, read, sound, texts};
use crate::formats::sniff::sniff;
use crate::formats::{Action, Cover, Step};
use crate::model::{Message, Millis, Part, Role, Usage};

const TOOLS: &[u8] = include_bytes!("../../../tests/data/swe-agent/tools.json");
const ATTEMPTS: &[u8] = include_bytes!("../../../tests/data/swe-agent/attempts.json");
const MINI: &[u8] = include_bytes!("../../../tests/data/mini-swe-agent/tools.traj.json");
const RESPONSES: &[u8] = include_bytes!("../../../tests/data/mini-swe-agent/responses.traj.json");

const SYSTEM: Role = Role::System;
const USER: Role = Role::User;
const REPLY: Role = Role::Assistant;
const TOOL: Role = Role::Tool;

fn roles(session: &Session) -> Vec<Role> {
    let messages = session.messages().into_iter();
    messages.map(|message| message.role).collect()
}

/// What a result says, and the call that it answers.
fn result(message: &Message) -> (&str, &str) {
    match &message.parts[..] {
        [Part::ToolResult { call, content, .. }] => match &content[..] {
            [Part::Text { text }] => (call, text),
            content => panic!("{content:?}"),
        },
        parts => panic!("{parts:?}"),
    }
}

/// What was thought, and with which seal.
fn thought(message: &Message) -> Vec<(&str, Option<&str>)> {
    let thought = message.parts.iter().filter_map(|part| match part {
        Part::Thinking {
            text, signature, ..
        } => Some((&**text, signature.as_deref())),
        _ => None,
    });
    thought.collect()
}

#[test]
fn a_history_is_read_with_its_calls() {
    let session = &sound(&SWE_AGENT, TOOLS);
    assert_eq!(session.end.title.as_deref(), Some("mill__wheel-7"));
    assert_eq!(session.end.cwd.as_deref(), Some("/mill"));
    assert_eq!(session.end.absent, ["tool definitions"]);
    let expected = [SYSTEM, USER, REPLY, TOOL, REPLY, TOOL, REPLY, TOOL];
    assert_eq!(roles(session), expected);
    let messages = session.messages();
    assert_eq!(thought(messages[2]), [("Where is it?", Some("c2ln"))]);
    let [.., Part::ToolCall { id, arguments, .. }] = &messages[2].parts[..] else {
        panic!("{:?}", messages[2]);
    };
    assert_eq!(
        (&**id, &**arguments),
        ("t1", r#"{"path":"wheel.md","deep":1.0}"#)
    );
    let expected = ("t1", "OBSERVATION:\nTwelve spokes.\nOne is gone.");
    assert_eq!(result(messages[3]), expected);
    let settings = session.steps[0].settings.iter();
    let settings: Vec<(&str, &str)> = settings.map(|(key, value)| (&**key, &**value)).collect();
    assert_eq!(
        settings,
        [("model", "\"oak-large\""), ("temperature", "0.0")]
    );
    let others: Vec<&str> = session.end.other_records.keys().map(|it| &**it).collect();
    assert_eq!(
        others,
        ["environment", "info", "replay_config", "trajectory"]
    );
}

#[test]
fn what_a_request_left_out_is_hidden_before_its_reply() {
    let told = read(&SWE_AGENT, TOOLS);
    let session = &told.sessions[0];
    let hides: Vec<usize> = (0..session.steps.len())
        .filter(|at| session.steps[*at].message().is_none())
        .collect();
    assert_eq!(hides, [6], "marks for the cache hide nothing");
    let Action::Hide(hide) = &session.steps[6].action else {
        panic!("{:?}", session.steps[6]);
    };
    assert_eq!(hide.cover, Cover::Nothing);
    let [(entry, 0, Some(stub))] = &hide.parts[..] else {
        panic!("{hide:?}");
    };
    assert_eq!(entry.step.0, 3);
    assert_eq!(
        result(stub),
        ("t1", "Old environment output: (2 lines omitted)")
    );
}

#[test]
fn a_list_with_what_came_of_the_step_is_the_next_request() {
    // So it was before 1.1, under another name.
    let mut file: Value = serde_json::from_slice(TOOLS).expect("JSON");
    let mut next = json!(file["history"]);
    next[1]["content"] = json!("Left out.");
    next[3]["content"] = json!("Left out.");
    next[4]["content"] = json!("The model said otherwise.");
    for step in file["trajectory"].as_array_mut().expect("steps") {
        step.as_object_mut().expect("a step").remove("query");
    }
    file["trajectory"][2]["messages"] = next;
    let bytes = file.to_string();
    let told = read(&SWE_AGENT, bytes.as_bytes());
    let steps = &told.sessions[0].steps;
    let Some(Step {
        action: Action::Hide(hide),
        ..
    }) = steps.last()
    else {
        panic!("{:?}", steps.last());
    };
    let cut: Vec<usize> = hide.parts.iter().map(|(entry, ..)| entry.step.0).collect();
    assert_eq!(cut, [1, 3], "a reply stays as it was");
}

#[test]
fn attempts_and_other_agents_are_branches() {
    let session = &sound(&SWE_AGENT, ATTEMPTS);
    let main: Vec<&Step> = session.main().iter().collect();
    assert_eq!(main.len(), 5);
    let last = main[4].message().expect("a message");
    assert_eq!(texts(last), ["(Mended.)"], "the best attempt is the run");
    let branches = session.branches.iter();
    let branches: Vec<(usize, &str)> = branches.map(|(at, it)| (*at, &*it.name)).collect();
    assert_eq!(branches, [(5, "attempt-1"), (10, "attempt-1-agent-judge")]);
    assert_eq!(session.end.cwd.as_deref(), Some("/mill"));
    assert!(session.end.absent.is_empty(), "no tool was defined");
    // While none is chosen it is the last one.
    let mut file: Value = serde_json::from_slice(ATTEMPTS).expect("JSON");
    file = json!({"attempts": file["attempts"].take()});
    let bytes = file.to_string();
    assert_eq!(
        sniff(&bytes.as_bytes()).expect("readable"),
        Some(&SWE_AGENT)
    );
    let told = read(&SWE_AGENT, bytes.as_bytes());
    assert_eq!(told.sessions[0].main().len(), 5);
    assert_eq!(told.sessions[0].branches.len(), 2);
}

#[test]
fn messages_of_a_chat_are_read_without_what_was_not_sent() {
    let session = &sound(&MINI_SWE_AGENT, MINI);
    assert_eq!(roles(session), [SYSTEM, USER, REPLY, TOOL, USER, REPLY]);
    let messages = session.messages();
    assert_eq!(
        thought(messages[2]),
        [("Where is it?", Some("c2ln"))],
        "once"
    );
    assert_eq!(result(messages[3]).0, "call_1");
    assert_eq!(session.steps[2].time, Some(Millis(1_777_622_402_500)));
    let usage = Usage::new(120, 9);
    assert_eq!(session.steps[2].usage, Some(usage));
    let settings = session.steps[0].settings.iter();
    let settings: Vec<(&str, &str)> = settings.map(|(key, value)| (&**key, &**value)).collect();
    let expected = [("model", "\"anthropic/oak-large\""), ("temperature", "0.0")];
    assert_eq!(settings, expected);
    assert_eq!(session.end.cwd.as_deref(), Some("/mill"));
    assert_eq!(session.end.other_records["exit"], 1);
}

#[test]
fn responses_are_read_by_their_items() {
    let session = &sound(&MINI_SWE_AGENT, RESPONSES);
    assert_eq!(roles(session), [SYSTEM, USER, REPLY, TOOL, USER]);
    let messages = session.messages();
    assert_eq!(messages[2].calls().collect::<Vec<_>>(), ["call_1"]);
    assert_eq!(
        session.steps[2].usage.map(|usage| usage.input_tokens),
        Some(70)
    );
    assert_eq!(texts(messages[4]), ["Every response needs a call."]);
    assert_eq!(session.end.title.as_deref(), Some("mill__wheel-7"));
}

#[test]
fn what_is_damaged_is_told_and_the_rest_stays() {
    let bytes = br#"{"trajectory":[7,{"query":[{}]}],"history":[{"role":"user","agent":"a","content":"a"},7,{"role":"nobody"},
        {"role":"tool","agent":"a","content":"b"},{"role":"assistant","agent":"a","content":"c"}"#;
    let told = read(&SWE_AGENT, bytes);
    assert_eq!(told.problems.len(), 4, "{:?}", told.problems);
    assert_eq!(roles(&told.sessions[0]), [USER, TOOL, REPLY]);
    let bytes = br#"{"trajectory_format":"mini-swe-agent-1","messages":[{"role":"user","content":"a"},7,{"object":"response"},
        {"role":"assistant","content":"b"}],"info":7}"#;
    assert_eq!(sniff(&&bytes[..]).expect("readable"), Some(&MINI_SWE_AGENT));
    let told = read(&MINI_SWE_AGENT, bytes);
    assert_eq!(told.problems.len(), 2, "{:?}", told.problems);
    assert_eq!(roles(&told.sessions[0]), [USER, REPLY]);
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_runs_come_in_whole() {
    let mut seen = 0;
    for file in std::fs::read_dir(real_sessions().join("swe-agent")).expect("a folder") {
        let path = file.expect("a file").path();
        let bytes = std::fs::read(&path).expect("readable");
        if path.extension().is_none_or(|it| it != "traj") {
            // A bare list of messages.
            continue;
        }
        assert_eq!(
            sniff(&bytes.as_slice()).expect("readable"),
            Some(&SWE_AGENT)
        );
        let told = read(&SWE_AGENT, &bytes);
        assert!(told.problems.is_empty(), "{:?}", told.problems);
        let session = &told.sessions[0];
        let source: Value = serde_json::from_slice(&bytes).expect("JSON");
        let history = source["history"].as_array().expect("entries");
        let messages = session.messages();
        assert_eq!(messages.len(), history.len());
        assert_eq!(
            session.steps.len(),
            history.len(),
            "no request left anything out"
        );
        for (message, entry) in messages.iter().zip(history) {
            assert_eq!(message.role.as_str(), entry["role"]);
            let ids = entry["tool_call_ids"].as_array().into_iter().flatten();
            assert!(message.results().eq(ids.filter_map(Value::as_str)));
        }
        seen += 1;
    }
    assert!(seen >= 3, "the folder holds fewer runs than it should");
}
