//! What the steps of a trajectory say, and what is wrong with one.

use serde_json::Value;

use super::{ATIF, read::NESTED_MAX};
use crate::conditions::real_sessions;
use crate::formats::shared::contract::{Session, read, sound, texts};
use crate::formats::{Action, Cover, Step};
use crate::model::{MediaSource, Message, Millis, Part, Role, Usage};
use crate::wire::json::tight;

const PLAIN: &[u8] = include_bytes!("../../../tests/data/atif/plain.json");
const COMPACTED: &[u8] = include_bytes!("../../../tests/data/atif/compacted.json");

/// The results of a message: each call, and what it gave.
fn results(message: &Message) -> Vec<(&str, Vec<&str>)> {
    let results = message.parts.iter().map(|part| match part {
        Part::ToolResult { call, content, .. } => {
            let texts = content.iter().map(|part| match part {
                Part::Text { text } => text.as_str(),
                part => panic!("{part:?}"),
            });
            (call.as_str(), texts.collect())
        }
        part => panic!("{part:?}"),
    });
    results.collect()
}

fn said(step: &Step) -> Vec<&str> {
    texts(step.message().expect("a message"))
}

/// The steps of the session itself, and those of each branch.
fn branches(session: &Session) -> Vec<(&str, &[Step])> {
    let begins = session.branches.iter().map(|(at, _)| *at);
    let ends = begins.skip(1).chain([session.steps.len()]);
    let branches = session.branches.iter().zip(ends);
    let branches = branches.map(|((at, branch), end)| (&*branch.name, &session.steps[*at..end]));
    branches.collect()
}

#[test]
fn a_step_is_what_was_said_its_calls_and_what_they_gave() {
    let session = &sound(&ATIF, PLAIN);
    assert_eq!(
        session.start.id, "mill-run-1",
        "a run has several documents"
    );
    assert_eq!(session.end.cwd.as_deref(), Some("/home/mara/mill"));
    assert!(session.end.absent.is_empty(), "{:?}", session.end.absent);
    let messages = session.messages();
    let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
    let (system, user, reply, tool) = (Role::System, Role::User, Role::Assistant, Role::Tool);
    let expected = [system, user, reply, tool, reply, tool, reply, user, reply];
    assert_eq!(roles, expected);

    let [_, Part::Image(picture), Part::Opaque { data, .. }] = &messages[1].parts[..] else {
        panic!("{:?}", messages[1]);
    };
    assert_eq!(
        picture.source,
        MediaSource::FileId("images/wheel.png".into())
    );
    assert_eq!(tight(data), r#"{"type":"hologram","of":"wheel"}"#);
    assert_eq!(session.end.opaque_blocks["hologram"], 1);

    let [
        Part::Thinking { text, .. },
        _,
        Part::ToolCall { arguments, .. },
        _,
    ] = &messages[2].parts[..]
    else {
        panic!("{:?}", messages[2]);
    };
    assert_eq!(
        (&**text, texts(messages[2])),
        ("Two places.", vec!["I look."])
    );
    assert_eq!(arguments, r#"{"at":"spokes","deep":1.0}"#);
    let expected = [("b", vec!["A rim."]), ("a", vec!["Twelve."])];
    assert_eq!(results(messages[3]), expected);
    // What two calls gave together stands with the last.
    let expected = [("c", vec![]), ("d", vec!["wheel.md\n/mill"])];
    assert_eq!(results(messages[5]), expected);
    // What answers no call is said to the model all the same.
    assert_eq!(texts(messages[7]), ["It is sawn.", "It fits."]);

    assert_eq!(session.steps[2].time, Some(Millis(1_777_622_402_500)));
    let models: Vec<Option<&String>> = session
        .steps
        .iter()
        .map(|it| it.settings.get("model"))
        .collect();
    let quoted = ["\"oak-large\"", "\"oak-small\""].map(str::to_owned);
    assert_eq!((models[0], models[2]), (Some(&quoted[0]), Some(&quoted[1])));
    assert_eq!(models.iter().flatten().count(), 3, "{models:?}");
    assert!(session.steps[0].settings["tools"].starts_with('['));
    assert_eq!(session.steps[2].settings["reasoning_effort"], "\"low\"");
    let usage = Usage::new(120, 9).cached(100, 15).reasoned(4);
    let counted: Vec<Usage> = session.steps.iter().filter_map(|step| step.usage).collect();
    assert_eq!(
        counted,
        [usage],
        "what several calls had together is no reply's"
    );
    let others: Vec<&str> = session.end.other_records.keys().map(|it| &**it).collect();
    assert_eq!(others, ["empty step", "final_metrics", "notes"]);
}

#[test]
fn what_was_replaced_is_hidden_and_what_is_only_told_is_no_message() {
    let session = &sound(&ATIF, COMPACTED);
    let steps = session.main();
    let Action::Hide(hide) = &steps[3].action else {
        panic!("{:?}", steps[3]);
    };
    assert_eq!(hide.cover, Cover::Everything);
    assert_eq!(texts(&hide.replacements[0].1), ["There are twelve sacks."]);
    let after: Vec<_> = steps[4..].iter().map(said).collect();
    assert_eq!(after, [["And mice?"], ["Mice like sacks."], ["Many."]]);
    let others: Vec<&str> = session.end.other_records.keys().map(|it| &**it).collect();
    let expected = [
        "continued_trajectory_ref",
        "operation",
        "pruning (of what, it does not say)",
    ];
    assert_eq!(others, expected);
    assert_eq!(session.end.absent, ["system prompt", "tool definitions"]);
}

#[test]
fn sub_agents_inside_it_are_branches() {
    let told = read(&ATIF, COMPACTED);
    let session = &told.sessions[0];
    let branches = branches(session);
    let names: Vec<&str> = branches.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["agent-boy", "agent-cat"]);
    let texts: Vec<_> = branches[0].1.iter().map(said).collect();
    assert_eq!(texts, [["Count."], ["Twelve."]]);
    assert_eq!(branches[0].1[0].settings["model"], "\"small\"");
    assert!(
        session
            .branches
            .iter()
            .all(|(_, branch)| branch.after.is_none())
    );
}

#[test]
fn a_replacement_with_nothing_before_it_is_a_message() {
    let bytes = br#"{"schema_version":"ATIF-v1.7","agent":{},"steps":[{"source":"system","message":"m",
        "observation":{"results":[{"content":"All."}]},"extra":{"context_management":{"boundary":"replace"}}}]}"#;
    let told = read(&ATIF, bytes);
    assert_eq!(told.sessions[0].start.id, "stem");
    assert_eq!(texts(told.sessions[0].messages()[0]), ["All."]);
}

#[test]
fn what_is_damaged_is_told_and_the_rest_stays() {
    let bytes = br#"{"schema_version":"ATIF-v1.2","session_id":"s","agent":7,"steps":[{"source":"user","message":"a"},7,
        {"source":"nobody","message":"b"},{"source":"agent","tool_calls":"none"},
        {"source":"agent","message":"c","observation":{"results":[{"source_call_id":"x","content":"d"}]}},
        {"source":"user","message":"e"#;
    let told = read(&ATIF, bytes);
    let reasons: Vec<&str> = told.problems.iter().map(|it| &*it.reason).collect();
    assert_eq!(reasons.len(), 5, "{reasons:?}");
    assert_eq!(reasons[1], "unknown source 'nobody'");
    assert_eq!(reasons[3], "a tool result without its call 'x'");
    let session = &told.sessions[0];
    assert_eq!(session.messages().len(), 3);
}

#[test]
fn sub_agents_of_sub_agents_are_read_to_a_depth() {
    let nested = r#"{"schema_version":"ATIF-v1.7","steps":[{"source":"user","message":"a"}],"subagent_trajectories":["#;
    let deep = 5_000;
    let bytes = nested.repeat(deep) + &"]}".repeat(deep);
    let told = read(&ATIF, bytes.as_bytes());
    assert_eq!(told.sessions[0].branches.len(), NESTED_MAX);
    assert_eq!(told.problems.len(), 1, "{:?}", told.problems);
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_trajectories_come_in_whole() {
    let mut seen = 0;
    for file in std::fs::read_dir(real_sessions().join("atif")).expect("a folder") {
        let bytes = std::fs::read(file.expect("a file").path()).expect("readable");
        let source: Value = serde_json::from_slice(&bytes).expect("JSON");
        let told = read(&ATIF, &bytes);
        let steps = source["steps"].as_array().expect("steps");
        let known = |step: &&Value| step["source"] != "<redacted>";
        let (known, unknown): (Vec<&Value>, Vec<&Value>) = steps.iter().partition(known);
        assert_eq!(told.problems.len(), unknown.len(), "{:?}", told.problems);
        let messages = told.sessions[0].messages();
        let count = |key: &str, inner: &str| {
            let lists = known.iter().filter_map(|step| match inner {
                "" => step[key].as_array(),
                inner => step[key][inner].as_array(),
            });
            lists.map(Vec::len).sum::<usize>()
        };
        let calls: usize = messages.iter().map(|message| message.calls().count()).sum();
        let results: usize = messages
            .iter()
            .map(|message| message.results().count())
            .sum();
        assert_eq!(calls, count("tool_calls", ""));
        assert_eq!(results, count("observation", "results"));
        seen += 1;
    }
    assert!(
        seen >= 2,
        "the folder holds fewer trajectories than it should"
    );
}
