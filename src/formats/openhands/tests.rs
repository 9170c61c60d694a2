//! What conversations say, and what condensations hide of them.

use serde_json::{Value, json};

use super::{OPENHANDS, is_one};
use crate::formats::shared::contract::{Session, sound};
use crate::formats::sniff::sniff;
use crate::formats::{Action, Cover, HideStep, StepId};
use crate::model::{HideKind, Millis, Part, Usage};

const EVENTS: &[u8] = include_bytes!("../../../tests/data/openhands/events.jsonl");

fn hide(session: &Session, at: usize) -> &HideStep {
    match &session.steps[at].action {
        Action::Hide(hide) => hide,
        Action::Append(message) => panic!("{message:?}"),
    }
}

#[test]
fn a_conversation_is_what_was_sent_of_its_events() {
    assert_eq!(sniff(&EVENTS).expect("readable"), Some(&OPENHANDS));
    let session = &sound(&OPENHANDS, EVENTS);
    assert_eq!(
        session.said(),
        [
            "system: Be a miller. | Host: mill",
            "user: How many sacks? | [None Some(\"image/png\")] | Count twice.",
            r#"assistant: (Look. Some("anthropic") seal) | I look. | call_1: terminal {"command": "ls"} | call_2: terminal {"command": "wc"}"#,
            "tool: call_1 false = sacks.txt",
            "tool: call_2 true = Action rejected: no",
            r#"assistant: (Sum. Some("openai") cipher) | 42."#,
            "Compaction: user: The miller looked.",
            "user: And barrels?",
            "Compaction: ",
        ]
    );
    // The calls of one reply are one message, by the records of both.
    assert_eq!(session.steps[2].records.len(), 2);
    assert_eq!(session.steps[1].time, Some(Millis(1_772_438_401_000)));
    assert_eq!(session.end.other_records["ConversationStateUpdateEvent"], 1);
}

#[test]
fn a_condensation_hides_what_it_names_and_puts_its_summary_where_it_says() {
    let session = &sound(&OPENHANDS, EVENTS);
    let entry = |step| StepId(step).entry();
    let first = hide(session, 6);
    assert_eq!(
        (first.kind, first.cover),
        (HideKind::Compaction, Cover::Range(entry(2), entry(4)))
    );
    assert_eq!(first.replacements[0].0, Some(entry(5)));
    // The summary of one may be forgotten by the next.
    let second = hide(session, 8);
    let summary = StepId(6).replacement(0);
    assert_eq!(second.cover, Cover::Range(summary, entry(5)));
    assert!(second.replacements.is_empty() && second.keep.is_empty());
}

#[test]
fn an_events_file_is_known_by_its_name() {
    assert!(is_one("event-00012-0a1b2c3d-e5f6.json"));
    for other in [
        "event-12-0a1b.json",
        "event-00012-.json",
        "event-00012-a.txt",
        "base_state.json",
    ] {
        assert!(!is_one(other), "{other}");
    }
}

#[test]
fn a_command_gives_what_was_noted_of_it_as_well() {
    let given = |output: &str, metadata: Value| {
        let observation = json!({"content": [{"type": "text", "text": output}], "metadata": metadata,
            "kind": "TerminalObservation"});
        let events = [
            json!({"id": "e1", "timestamp": "2026-03-02T08:00:00", "source": "agent", "kind": "ActionEvent",
                "tool_call": {"id": "c1", "name": "terminal", "arguments": "{}"}, "llm_response_id": "r1"}),
            json!({"id": "e2", "timestamp": "2026-03-02T08:00:01", "source": "environment",
                "kind": "ObservationEvent", "tool_call_id": "c1", "observation": observation}),
        ];
        let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
        let session = sound(&OPENHANDS, lines.as_bytes());
        let result = session.messages()[1].parts[0].clone();
        let (_, content, _) = result.as_result().expect("a result");
        content.iter().filter_map(Part::as_text).collect::<String>()
    };
    let noted = |code: i64, suffix: &str| {
        json!({"exit_code": code, "working_dir": "/mill", "py_interpreter_path": "/usr/bin/python3",
            "prefix": "", "suffix": suffix})
    };
    assert_eq!(
        given(
            "twelve",
            noted(2, "\n[The command completed with exit code 2.]")
        ),
        "twelve\n[The command completed with exit code 2.]\n[Current working directory: /mill]\n\
         [Python interpreter: /usr/bin/python3]\n[Command finished with exit code 2]"
    );
    // One that goes on has nothing but the tool's word.
    let waits = json!({"exit_code": -1, "prefix": "", "suffix": "\n[No new output.]"});
    assert_eq!(given("", waits), "\n[No new output.]");
    assert_eq!(given("twelve", json!({})), "twelve");
}

#[test]
fn the_state_says_what_was_counted_for_each_reply_and_for_all() {
    let counts = |reply: &str, input: u64| json!({"response_id": reply, "prompt_tokens": input, "completion_tokens": 5, "cache_read_tokens": 4});
    let all = json!({"prompt_tokens": 200, "completion_tokens": 12, "cache_read_tokens": 8});
    let metrics = json!({"model_name": "m", "accumulated_cost": 0.25, "accumulated_token_usage": all,
        "token_usages": [counts("r1", 100), counts("r2", 70)]});
    let file = json!({"agent": {"llm": {"model": "m", "api_key": "secret"}},
        "stats": {"usage_to_metrics": {"agent": metrics}}, "secret_registry": {"key": "secret"}});
    let line = super::state::line(&file.to_string()).expect("a line");
    assert!(!line.contains("secret"), "{line}");
    let source = [EVENTS, line.as_bytes(), b"\n"].concat();
    let session = &sound(&OPENHANDS, &source);
    assert_eq!(session.said(), sound(&OPENHANDS, EVENTS).said());
    assert_eq!(session.steps[0].settings["model"], "\"m\"");
    let one = |input| Some(Usage::new(input, 5).cached(4, 0));
    assert_eq!(
        [session.steps[2].usage, session.steps[5].usage],
        [one(100), one(70)]
    );
    let stated = session.end.stated.as_ref().expect("what all came to");
    assert_eq!(stated.dollars.as_deref(), Some("0.25"));
    assert_eq!(session.counted().1, [("m".to_owned(), [30, 2, 0])]);
    assert_eq!(super::state::line("{}"), None);
}
