//! What the items of a history say, and what is written back.

use serde_json::{Value, json};

use super::{CONTINUE, directory, is_session};
use crate::conditions::real_sessions;
use crate::formats::shared::contract::{hides, outgoing, read, sound, texts, written};
use crate::formats::{Cover, Document, HideStep, Outgoing};
use crate::model::{Message, Part, Role, Usage};

const PLAIN: &[u8] = include_bytes!("../../../tests/data/continue/plain.json");
const SUMMARY: &[u8] = include_bytes!("../../../tests/data/continue/summary.json");

fn export(messages: &[Outgoing], source: Option<&[u8]>) -> (Value, Vec<String>) {
    let source = source.map(|bytes| String::from_utf8(bytes.to_vec()).expect("text"));
    let document = Document {
        session_id: "new".into(),
        cwd: "/w".into(),
        title: Some("New".into()),
        source,
        ..Document::default()
    };
    let (out, remarks) = written(&CONTINUE, messages, &document);
    (serde_json::from_slice(&out).expect("JSON"), remarks)
}

fn again(file: &Value) -> Vec<Message> {
    let told = read(&CONTINUE, file.to_string().as_bytes());
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let messages = told.sessions[0].messages().into_iter();
    messages.cloned().collect()
}

#[test]
fn a_message_is_what_was_sent() {
    let session = &sound(&CONTINUE, PLAIN);
    assert_eq!(session.start.id, "0e0e0e00-1111-4222-8333-444455556666");
    assert_eq!(session.end.title.as_deref(), Some("The wheel"));
    assert_eq!(session.end.cwd.as_deref(), Some("/home/mara/mill two"));
    let messages = session.messages();
    let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
    let (user, reply, tool) = (Role::User, Role::Assistant, Role::Tool);
    assert_eq!(roles, [user, reply, tool, reply, user, reply]);
    // What the editor put before a prompt is sent with it.
    let expected = ["```wheel.md\nOak.\n```\n", "Look at the wheel."];
    assert_eq!(texts(messages[0]), expected);
    assert!(matches!(messages[0].parts[2], Part::Image(_)));
    // What was thought belongs to the reply, with its seal.
    let kinds = [
        ("thinking", 1),
        ("opaque", 1),
        ("text", 1),
        ("tool_call", 3),
    ];
    assert_eq!(messages[1].part_types(), kinds);
    let sealed = Part::Thinking {
        text: "Two places.".into(),
        signature: Some("c2ln".into()),
        provider: Some("anthropic".into()),
    };
    assert_eq!(messages[1].parts[0], sealed);
    assert_eq!(session.steps[1].records.len(), 3);
    let results = messages[2].parts.iter().map(|part| match part {
        Part::ToolResult {
            call,
            content,
            is_error,
        } => (call.as_str(), content.len(), *is_error),
        part => panic!("{part:?}"),
    });
    assert_eq!(
        results.collect::<Vec<_>>(),
        [("c1", 2, false), ("c2", 1, true), ("c3", 1, false)]
    );
    // An open call has no result, and a blank reply is not sent.
    assert_eq!(messages[5].calls().collect::<Vec<_>>(), ["c4"]);
    let others: Vec<_> = session
        .end
        .other_records
        .iter()
        .map(|(key, n)| (key.as_str(), *n))
        .collect();
    let unsent = [
        ("assistant (not sent)", 1),
        ("mode", 1),
        ("system (not sent)", 1),
        ("tool (not sent)", 1),
    ];
    assert_eq!(others, unsent);
    let usage = Usage::new(120, 9);
    assert_eq!(session.steps[1].usage, Some(usage));
    assert_eq!(session.steps[3].settings["model"], "\"oak-1\"");
    assert_eq!(messages[3].part_types(), [("thinking", 1), ("text", 1)]);
}

#[test]
fn a_result_counts_once_wherever_it_stands() {
    let mut session: Value = serde_json::from_slice(PLAIN).expect("JSON");
    session["history"][4]["toolCallStates"][0].take();
    let messages = again(&session);
    let calls = |at: usize| messages[at].results().collect::<Vec<_>>();
    assert_eq!((calls(2), calls(3)), (vec!["c2", "c3"], vec!["c1"]));
}

#[test]
fn a_summary_hides_all_up_to_it() {
    let session = &sound(&CONTINUE, SUMMARY);
    let found = hides(&session.steps);
    let [first, second] = found[..] else {
        panic!("{found:?}");
    };
    let steps = |hide: &HideStep| match hide.cover {
        Cover::Range(first, last) => (first.step.0, first.replacement, last.step.0),
        cover => panic!("{cover:?}"),
    };
    assert_eq!(steps(first), (0, None, 3));
    assert_eq!(
        steps(second),
        (4, Some(0), 6),
        "the first is summed up as well"
    );
    let text = "Previous conversation summary:\n\n Twelve sacks, three barrels.";
    assert_eq!(
        first.replacements,
        [(None, Message::text(Role::System, text))]
    );
    // The context goes out as it would be read.
    let all = outgoing(SUMMARY, session);
    let summary = Outgoing {
        message: second.replacements[0].1.clone(),
        is_summary: true,
        ..all[0].clone()
    };
    let context = [&[summary][..], &all[6..]].concat();
    let (file, remarks) = export(&context, None);
    assert!(remarks.is_empty(), "{remarks:?}");
    let wanted: Vec<Message> = context.iter().map(|out| out.message.clone()).collect();
    assert_eq!(again(&file), wanted);
    // One message from before it, gone back to, is not hidden by it.
    let (file, _) = export(&all[..4], None);
    assert_eq!(again(&file).len(), 4);
    assert!(hides(&read(&CONTINUE, file.to_string().as_bytes()).sessions[0].steps).is_empty());
}

#[test]
fn a_summary_as_the_command_line_leaves_it_is_a_reply() {
    let summary = json!({"message": {"role": "assistant", "content": "Twelve."}, "contextItems": [],
        "conversationSummary": "Twelve."});
    let prompt = json!({"message": {"role": "user", "content": "And?"}, "contextItems": []});
    let session = json!({"sessionId": "s", "title": "", "workspaceDirectory": "/w",
        "history": [summary, prompt]});
    let bytes = session.to_string();
    let told = read(&CONTINUE, bytes.as_bytes());
    let wanted = [
        Message::text(Role::Assistant, "Twelve."),
        Message::text(Role::User, "And?"),
    ];
    assert!(told.sessions[0].messages().into_iter().eq(&wanted));
    let (file, _) = export(
        &outgoing(bytes.as_bytes(), &told.sessions[0]),
        Some(bytes.as_bytes()),
    );
    assert_eq!(file, session);
}

#[test]
fn items_stay_as_they_were() {
    let told = read(&CONTINUE, PLAIN);
    let mut messages = outgoing(PLAIN, &told.sessions[0]);
    let source: Value = serde_json::from_slice(PLAIN).expect("JSON");
    let (file, remarks) = export(&messages, Some(PLAIN));
    assert!(remarks.is_empty(), "{remarks:?}");
    assert_eq!(
        (&file["mode"], &file["title"]),
        (&source["mode"], &source["title"])
    );
    for (new, old) in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 6), (5, 7), (6, 9)] {
        assert_eq!(file["history"][new], source["history"][old]);
    }
    // What was changed is made anew, and nothing else.
    messages[2].message.parts.truncate(1);
    messages[2].records.clear();
    let (file, remarks) = export(&messages, Some(PLAIN));
    assert!(remarks.is_empty(), "{remarks:?}");
    assert_eq!(file["history"][0], source["history"][1]);
    assert_eq!(file["history"][5], source["history"][7]);
    let wanted: Vec<Message> = messages.iter().map(|out| out.message.clone()).collect();
    assert_eq!(again(&file), wanted);
}

#[test]
fn new_messages_are_read_back() {
    let told = read(&CONTINUE, PLAIN);
    let mut messages = outgoing(PLAIN, &told.sessions[0]);
    for out in &mut messages {
        out.records.clear();
    }
    let (file, remarks) = export(&messages, None);
    assert!(remarks.is_empty(), "{remarks:?}");
    let wanted: Vec<Message> = messages.iter().map(|out| out.message.clone()).collect();
    let mut found = again(&file);
    // What was called off is a result like any other then.
    assert_eq!(found, wanted);
    found.clear();
    assert_eq!(
        (&file["sessionId"], &file["workspaceDirectory"]),
        (&json!("new"), &json!("/w"))
    );
}

#[test]
fn what_is_damaged_is_told_and_the_rest_stays() {
    let bytes = br#"{"sessionId":"s","history":[{"message":{"role":"user","content":"a"}},7,{"message":{}},
        {"message":{"role":"user","content":[{"type":"film"}]}},{"message":{"role":"user","content":"b"}}"#;
    let told = read(&CONTINUE, bytes);
    assert_eq!(told.problems.len(), 3, "{:?}", told.problems);
    let session = &told.sessions[0];
    assert_eq!(session.messages().len(), 3);
    assert_eq!(session.end.opaque_blocks["film"], 1);
}

#[test]
fn a_session_is_found_by_its_directory() {
    let home = CONTINUE.home.as_ref().expect("one");
    let text = || Some(String::from_utf8(PLAIN.to_vec()).expect("text"));
    assert!((home.belongs)("x.json", "/home/mara/mill two", &text));
    assert!(!(home.belongs)("x.json", "/home/mara", &text));
    assert!(!is_session("sessions.json"), "the list of them");
    assert_eq!(
        directory(r#"{"sessionId":"x","workspaceDirectory":"/w","history":[{"#).as_deref(),
        Some("/w")
    );
}

#[test]
fn counts_are_read_by_the_names_of_both_tools() {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110,
        "prompt_tokens_details": {"cached_tokens": 40}, "completion_tokens_details": {"reasoning_tokens": 3},
        "model": "m", "cost_cents": 2});
    let reply = json!({"message": {"role": "assistant", "content": "Said.", "usage": usage}});
    let asked = json!({"message": {"role": "user", "content": "One?"}});
    let of = |all: Value| {
        let file = json!({"sessionId": "s", "usage": all, "history": [asked, reply]});
        sound(&CONTINUE, file.to_string().as_bytes())
    };
    let session = of(json!({"promptTokens": 130, "completionTokens": 12}));
    let step = &session.steps[1];
    let known = Usage::new(100, 10).cached(40, 0).reasoned(3);
    assert_eq!(step.usage, Some(known));
    assert_eq!(
        step.settings.get("model").map(String::as_str),
        Some("\"m\"")
    );
    let amounts = &step.detail.amounts;
    assert_eq!(amounts.get("cost_cents").map(String::as_str), Some("2"));
    assert!(step.detail.counts.is_empty(), "{:?}", step.detail);
    // The session counts what an item is gone of as well.
    let others = vec![("m".to_owned(), [30, 2, 0])];
    assert_eq!(session.counted(), (known, others));
    let all = json!({"promptTokens": 100, "completionTokens": 10});
    assert_eq!(of(all).counted(), (known, Vec::new()));
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_sessions_come_in_whole_and_go_back() {
    let mut seen = 0;
    for file in std::fs::read_dir(real_sessions().join("continue")).expect("a folder") {
        let bytes = std::fs::read(file.expect("a file").path()).expect("readable");
        let told = read(&CONTINUE, &bytes);
        assert!(told.problems.is_empty(), "{:?}", told.problems);
        let session = &told.sessions[0];
        let source: Value = serde_json::from_slice(&bytes).expect("JSON");
        let items = source["history"].as_array().expect("items");
        assert_eq!(session.messages().len(), items.len());
        for (item, message) in items.iter().zip(session.messages()) {
            // The newest prompt as it was rendered ends with the last message, and what stands before it.
            let thought = item["reasoning"]["text"].as_str();
            let found = message.parts.iter().find_map(|part| match part {
                Part::Thinking { text, .. } => Some(text.as_str()),
                _ => None,
            });
            assert_eq!(found, thought);
        }
        for (at, item) in items.iter().enumerate() {
            let Some(prompt) = item["promptLogs"][0]["prompt"].as_str() else {
                continue;
            };
            for text in texts(session.messages()[at - 1]) {
                assert!(prompt.contains(text.trim_start()), "{text}");
            }
        }
        let (file, remarks) = export(&outgoing(&bytes, session), Some(&bytes));
        assert!(remarks.is_empty(), "{remarks:?}");
        assert_eq!(file, source);
        seen += 1;
    }
    assert!(seen >= 3, "the folder holds fewer sessions than it should");
}
