//! What a conversation says, which ways it has, and what is wrong with one.

use serde_json::{Value, json};

use super::CHATGPT;
use crate::conditions::real_sessions;
use crate::formats::shared::contract::{Session, Told, read, value_at};
use crate::model::{Message, Millis};

const FILE: &[u8] = include_bytes!("../../../tests/data/chatgpt/conversations.json");

/// Each node is behind a step, or counted, or told to be wrong.
fn accounts_for_all(bytes: &[u8], told: &Told) {
    let file: Value = serde_json::from_slice(bytes).expect("JSON");
    let all = match file {
        Value::Array(all) => all,
        one => vec![one],
    };
    assert_eq!(told.sessions.len(), all.len());
    for (session, conversation) in told.sessions.iter().zip(all) {
        let nodes = conversation["mapping"].as_object().expect("nodes").len();
        let behind: usize = session.steps.iter().map(|step| step.records.len()).sum();
        let others: u64 = session.end.other_records.values().sum();
        assert_eq!(behind + others as usize, nodes, "{:?}", session.end);
    }
}

#[test]
fn a_message_is_what_the_model_was_sent_and_said() {
    let told = read(&CHATGPT, FILE);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    accounts_for_all(FILE, &told);
    let session = &told.sessions[0];
    assert_eq!(session.start.id, "0a0a0a00-1111-4222-8333-444455556666");
    assert_eq!(session.start.descent.begun, Some(Millis(1_748_900_000_250)));
    assert_eq!(session.end.title.as_deref(), Some("The wheel"));
    insta::assert_snapshot!(session.said().join("\n"));
    let model = |at: usize| session.steps[at].settings.get("model").map(String::as_str);
    let models: Vec<_> = (0..session.steps.len())
        .filter_map(|at| Some((at, model(at)?)))
        .collect();
    insta::assert_debug_snapshot!(models);
    assert_eq!(session.steps[0].time, None);
    assert_eq!(session.steps[1].time, Some(Millis(1_748_900_007_500)));
    insta::assert_debug_snapshot!((&session.end.other_records, &session.end.absent));
    assert_eq!(session.end.opaque_blocks["hologram"], 1);
}

#[test]
fn results_of_one_call_are_one_message_and_stand_in_all_their_records() {
    let told = read(&CHATGPT, FILE);
    let session = &told.sessions[0];
    let quotes = session
        .steps
        .iter()
        .find(|step| step.records.len() > 1)
        .expect("one");
    let ids: Vec<Value> = quotes
        .records
        .iter()
        .map(|span| value_at(FILE, *span)["id"].clone())
        .collect();
    assert_eq!(ids, ["n10", "n11"]);
    // Where the way forks between two of them, what follows the first alone must stand below it alone.
    let mut file: Value = serde_json::from_slice(FILE).expect("JSON");
    file[0]["mapping"]["n12"]["parent"] = json!("n10");
    let told = read(&CHATGPT, file.to_string().as_bytes());
    let session = &told.sessions[0];
    assert!(session.steps.iter().all(|step| step.records.len() == 1));
    let all = session.said();
    let first = all
        .iter()
        .position(|one| one.contains("Oak lasts."))
        .expect("the first");
    let (at, branch) = session
        .branches
        .iter()
        .find(|(at, _)| all[*at].contains("ash."))
        .expect("it");
    assert_eq!(branch.after.map(|step| step.0), Some(first), "{at}");
    assert!(
        all[first + 1].starts_with("browser: Ash"),
        "{}",
        all[first + 1]
    );
}

#[test]
fn what_was_edited_or_made_again_is_a_branch() {
    let told = read(&CHATGPT, FILE);
    let session = &told.sessions[0];
    let all = session.said();
    let branches: Vec<_> = session
        .branches
        .iter()
        .map(|(at, branch)| {
            let after = branch.after.map(|step| all[step.0].as_str());
            (
                branch.name.as_str(),
                after.expect("it leaves the way"),
                all[*at].as_str(),
            )
        })
        .collect();
    insta::assert_debug_snapshot!(branches);
}

#[test]
fn parents_are_enough_for_a_tree_and_children_where_there_are_none() {
    let told = read(&CHATGPT, FILE);
    let session = &told.sessions[1];
    assert_eq!(session.start.id, "0b0b0b00-1111-4222-8333-444455556666");
    let said = [
        "user: Count the sacks.",
        "assistant: Twelve.",
        "user: Thanks 🌾.",
    ];
    assert_eq!(session.said(), said);
    assert!(session.branches.is_empty());
    let mut file: Value = serde_json::from_slice(FILE).expect("JSON");
    let mapping = &mut file[1]["mapping"];
    for (above, below) in [("r", "a"), ("a", "b"), ("b", "c")] {
        mapping[above]["children"] = json!([below]);
        mapping[below]["parent"] = Value::Null;
    }
    let told = read(&CHATGPT, file.to_string().as_bytes());
    assert_eq!(told.sessions[1].said(), said);
}

#[test]
fn a_file_may_hold_one_conversation_alone() {
    let file: Value = serde_json::from_slice(FILE).expect("JSON");
    let mut one = file[1].clone();
    one.as_object_mut().expect("one").remove("conversation_id");
    let told = read(&CHATGPT, one.to_string().as_bytes());
    assert_eq!(told.sessions[0].start.id, "stem");
    assert_eq!(told.sessions[0].steps.len(), 3);
    // Of the same name each is its own session.
    let told = read(
        &CHATGPT,
        json!([file[1], file[1], one]).to_string().as_bytes(),
    );
    let ids: Vec<&str> = told
        .sessions
        .iter()
        .map(|session| &*session.start.id)
        .collect();
    let id = "0b0b0b00-1111-4222-8333-444455556666";
    assert_eq!(ids, [id, &format!("{id}-2"), "stem/3"]);
}

#[test]
fn what_is_wrong_is_said_and_nothing_else_is_lost() {
    let mut file: Value = serde_json::from_slice(FILE).expect("JSON");
    let mapping = &mut file[0]["mapping"];
    mapping["n13"]["parent"] = json!("n13");
    mapping["n21"]["message"]["author"]["role"] = json!("oracle");
    mapping["n05"] = json!(7);
    mapping["n14"]["parent"] = json!("gone");
    mapping["n13"]["children"] = json!([]);
    file[1]["current_node"] = json!("gone");
    file.as_array_mut()
        .expect("a list")
        .push(json!({"title": "none"}));
    let told = read(&CHATGPT, file.to_string().as_bytes());
    let reasons: Vec<&str> = told
        .problems
        .iter()
        .map(|problem| &*problem.reason)
        .collect();
    insta::assert_debug_snapshot!(reasons);
    let whole = read(&CHATGPT, FILE);
    let mut lost: Vec<String> = whole.sessions[0].said();
    for one in told.sessions[0].said() {
        lost.retain(|message| *message != one);
    }
    assert_eq!(
        lost,
        [
            "assistant: (Spokes\nOne is missing. None) | (Oak? None)",
            "assistant: The eel?",
        ]
    );
    assert_eq!(told.sessions[1].said(), whole.sessions[1].said());
}

#[test]
fn a_torn_file_gives_what_stands_before_the_tear() {
    let cut = &FILE[..FILE.len() - 200];
    let told = read(&CHATGPT, cut);
    assert_eq!(told.sessions.len(), 1);
    assert_eq!(told.problems.len(), 1, "{:?}", told.problems);
    assert_eq!(told.sessions[0], read(&CHATGPT, FILE).sessions[0]);
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_exports_come_in_whole() {
    // Conversations, messages on all ways, calls, results, and branches.
    let names = [
        ("conversations-a.json", [2, 62, 3, 3, 0]),
        ("convonaut-conversations.json", [7, 35, 0, 0, 0]),
        ("librechat-chatgpt-export.json", [2, 18, 4, 4, 0]),
        ("librechat-chatgpt-tree.json", [1, 11, 0, 0, 2]),
    ];
    for (name, counts) in names {
        let path = real_sessions().join("chatgpt-export").join(name);
        let bytes = std::fs::read(&path).expect("readable");
        let told = read(&CHATGPT, &bytes);
        assert!(told.problems.is_empty(), "{name}: {:?}", told.problems);
        accounts_for_all(&bytes, &told);
        let sessions = || told.sessions.iter();
        let messages: Vec<&Message> = sessions().flat_map(Session::messages).collect();
        let of = |kind: &str| {
            let parts = messages.iter().flat_map(|message| &message.parts);
            parts.filter(|part| part.type_name() == kind).count()
        };
        let branches: usize = sessions().map(|session| session.branches.len()).sum();
        let found = [
            told.sessions.len(),
            messages.len(),
            of("tool_call"),
            of("tool_result"),
            branches,
        ];
        assert_eq!(found, counts, "{name}");
        assert!(
            sessions().all(|session| session.end.opaque_blocks.is_empty()),
            "{name}"
        );
    }
}
