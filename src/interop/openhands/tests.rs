//! What conversations and older runs say, and what condensations hide of them.

use super::{OPENHANDS, is_one};
use crate::interop::contract::{Session, read, sketch, sound};
use crate::interop::sniff::sniff;
use crate::interop::{Action, Cover, HideStep, StepId};
use crate::model::{HideKind, Millis, Part};

const EVENTS: &[u8] = include_bytes!("../../../tests/data/openhands/events.jsonl");
const RUNS: &[u8] = include_bytes!("../../../tests/data/openhands/output.jsonl");

fn word(part: &Part) -> String {
    match part {
        Part::Text { text } => text.clone(),
        Part::Thinking { text, provider, .. } => format!("({text} {provider:?})"),
        Part::ToolCall {
            id,
            name,
            arguments,
            ..
        } => format!("{id}: {name} {arguments}"),
        Part::ToolResult {
            call,
            content,
            is_error,
        } => {
            let content: Vec<String> = content.iter().map(word).collect();
            format!("{call} {is_error} = {}", content.concat())
        }
        Part::Image(media) => format!("[{:?}]", media.media_type),
        Part::File(media) => panic!("{media:?}"),
        Part::Opaque { data, .. } => data.clone(),
    }
}

fn sketches(session: &Session) -> Vec<String> {
    let said = |action: &Action| match action {
        Action::Append(message) => sketch(message, word),
        Action::Hide(hide) => {
            let messages: Vec<String> = hide.messages().map(|it| sketch(it, word)).collect();
            format!("{:?}: {}", hide.kind, messages.join(" || "))
        }
    };
    session.steps.iter().map(|it| said(&it.action)).collect()
}

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
        sketches(session),
        [
            "system: Be a miller. | Host: mill",
            "user: How many sacks? | [Some(\"image/png\")] | Count twice.",
            "assistant: (Look. Some(\"anthropic\")) | I look. | call_1: terminal {\"command\": \"ls\"} \
             | call_2: terminal {\"command\": \"wc\"}",
            "tool: call_1 false = sacks.txt",
            "tool: call_2 true = Action rejected: no",
            "assistant: (Sum. Some(\"openai\")) | 42.",
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
fn each_run_of_a_file_is_a_session() {
    assert_eq!(sniff(&RUNS).expect("readable"), Some(&OPENHANDS));
    let told = read(&OPENHANDS, RUNS);
    assert_eq!(
        told.reasons(),
        ["an event that is neither action nor observation"]
    );
    let ids: Vec<&str> = told.sessions.iter().map(|it| &*it.start.id).collect();
    assert_eq!(ids, ["mill__1", "stem/2"]);
    assert_eq!(
        sketches(&told.sessions[0]),
        [
            "user: How many sacks?",
            "assistant: I look. | call_1: execute_bash {\"command\":\"ls\"}",
            "tool: call_1 false = sacks.txt",
            "Compaction: user: Looked.",
            "assistant: 42.",
        ]
    );
    assert_eq!(
        told.sessions[0].steps[0].settings["model"],
        "\"claude-3-5-sonnet\""
    );
    assert_eq!(
        sketches(&told.sessions[1]),
        [
            "user: Which wood?",
            "assistant: Look. | call-1: run {\"command\":\"ls\"}",
            "tool: call-1 false = oak",
        ]
    );
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
