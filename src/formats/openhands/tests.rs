//! What conversations say, and what condensations hide of them.

use super::{OPENHANDS, is_one};
use crate::formats::shared::contract::{Session, sound};
use crate::formats::sniff::sniff;
use crate::formats::{Action, Cover, HideStep, StepId};
use crate::model::{HideKind, Millis};

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
