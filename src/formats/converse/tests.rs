//! What messages say, how a session is put together of its files, and what its agent has let go of.

use serde_json::{Value, json};

use super::files::FILES;
use super::{CONVERSE, STRANDS};
use crate::formats::shared::contract::{FolderOf, read, sound};
use crate::formats::sniff::sniff;
use crate::formats::{Action, Cover};
use crate::model::{HideKind, Millis, Usage};

const REQUEST: &[u8] = include_bytes!("../../../tests/data/converse/request.json");
const SESSION: &str = include_str!("../../../tests/data/strands/session.json");

#[test]
fn a_request_says_its_messages_tools_and_limits() {
    let session = sound(&CONVERSE, REQUEST);
    assert_eq!(
        session.said(),
        [
            "system: You mind the mill.",
            "user: How many sacks? | [None Some(\"image/jpeg\")] | [Some(\"list\") Some(\"application/pdf\")] | [Some(\"note\") Some(\"text/plain\")]",
            "assistant: {\"type\":\"redacted_thinking\",\"data\":\"aGlk\"} | t1: count {\"floor\":1}",
            "tool: t1 false = 12 + [None Some(\"image/png\")]",
            "user: Well?",
            "assistant: Twelve sacks. | {\"hologram\":{\"a\":1}}",
        ]
    );
    let settings = &session.steps[0].settings;
    assert_eq!(settings["model"], "\"anthropic.mill-2\"");
    assert_eq!(settings["max_tokens"], "100");
    assert_eq!(settings["stop_sequences"], "[\"END\"]");
    assert!(settings["tools"].contains("\"description\":\"Counts sacks\""));
    assert!(session.end.absent.is_empty(), "{:?}", session.end.absent);
    assert_eq!(session.end.opaque_blocks["hologram"], 1);
}

#[test]
fn a_list_a_line_and_an_object_are_told_from_those_of_others() {
    let message = json!({"role": "user", "content": [{"text": "How many?"}]});
    let reply = json!({"role": "assistant", "content": [{"text": "Twelve."}]});
    let lines = format!("{message}\n{reply}\n");
    let sources = [
        json!([message, reply]).to_string(),
        json!({"messages": [message, reply]}).to_string(),
        lines,
    ];
    for text in sources {
        assert_eq!(
            sniff(&text.as_bytes()).expect("readable"),
            Some(&CONVERSE),
            "{text}"
        );
        let session = sound(&CONVERSE, text.as_bytes());
        assert_eq!(session.said(), ["user: How many?", "assistant: Twelve."]);
    }
    let typed = json!([{"role": "user", "content": [{"type": "text", "text": "How many?"}]}]);
    let found = sniff(&typed.to_string().as_bytes()).expect("readable");
    assert_eq!(found.map(|format| format.name), Some("openai"));
    let wrong = json!([message, {"role": "robot", "content": [{"text": "a"}]}, {"role": "user", "content": "a"}]);
    let told = read(&CONVERSE, wrong.to_string().as_bytes());
    assert_eq!(
        told.reasons(),
        ["unknown role 'robot'", "a message without a list of blocks"]
    );
}

#[test]
fn a_session_is_its_files_in_the_order_of_their_numbers() {
    let folder = FolderOf::read("strands/session_mill");
    let text = (FILES.document)(&folder, "session.json").expect("it is read");
    let [made, kept]: [Value; 2] =
        [&text, SESSION].map(|text| serde_json::from_str(text).expect("JSON"));
    assert_eq!(made, kept);
    assert_eq!(sniff(&text.as_bytes()).expect("readable"), Some(&STRANDS));
    let shown = |path: &str| (FILES.shown_by)(path);
    let part = "agents/agent_miller/messages/message_3.json";
    assert_eq!(shown(part).as_deref(), Some("session.json"));
    assert_eq!(shown("notes/a.json"), None);
    assert!((FILES.shows)(folder.0["session.json"].as_bytes()));
    let growing = (FILES.growing)(&folder, "session.json").expect("it is read");
    assert_eq!((growing.len(), &*growing[3]), (12, part));
}

#[test]
fn what_an_agent_has_let_go_of_is_hidden() {
    let session = &sound(&STRANDS, SESSION.as_bytes());
    assert_eq!(session.start.id, "mill:miller");
    let said = session.said();
    assert_eq!(
        said[..5],
        [
            "user: How many sacks? | [None Some(\"image/png\")]",
            r#"assistant: (Count both. Some("anthropic") c2lnbmVk) | I count. | t1: count {"floor":1} | t2: count {"floor":9}"#,
            "tool: t1 false = {\"sacks\":12} | t2 true = no such floor",
            "assistant: Twelve sacks 🌾.",
            "user: [removed]",
        ]
    );
    assert_eq!(said[10..], ["assistant: Good 5.", "Truncation: "]);
    assert_eq!(session.steps[1].time, Some(Millis(1_772_438_401_000)));
    assert_eq!(
        session.steps[1].usage,
        Some(Usage::new(120, 30).cached(64, 16))
    );
    let Action::Hide(hide) = &session.steps[11].action else {
        panic!("{said:?}");
    };
    let Cover::Range(first, last) = hide.cover else {
        panic!("{hide:?}");
    };
    assert_eq!((first.step.0, last.step.0), (0, 3));

    let mut summed: Value = serde_json::from_str(SESSION).expect("JSON");
    let manager = &mut summed[0]["strands_agent"]["conversation_manager_state"];
    manager["summary_message"] =
        json!({"role": "user", "content": [{"text": "Twelve sacks were counted."}]});
    let session = sound(&STRANDS, summed.to_string().as_bytes());
    let Some(Action::Hide(hide)) = session.steps.last().map(|step| &step.action) else {
        panic!("{:?}", session.said());
    };
    assert_eq!(hide.kind, HideKind::Compaction);
    assert_eq!(hide.replacements[0].0.map(|before| before.step.0), Some(4));
}

#[test]
fn a_broken_file_is_named_and_the_others_come_in() {
    let mut folder = FolderOf::read("strands/session_mill");
    let broken = "agents/agent_miller/messages/message_3.json";
    folder
        .0
        .insert(broken.to_owned(), "{\"message\": {".to_owned());
    let text = (FILES.document)(&folder, "session.json").expect("it is read");
    let told = read(&STRANDS, text.as_bytes());
    assert_eq!(told.reasons(), ["a message that is no object"]);
    assert_eq!(told.sessions[0].said().len(), 11);
}
