//! What a request says, in both layouts, and what is written back.

use serde_json::{Value, json};

use super::VSCODE_CHAT;
use crate::conditions::real_sessions;
use crate::formats::shared::contract::{fresh, hides, outgoing, read, texts, written};
use crate::formats::{Cover, Document, Moment, Outgoing};
use crate::model::depth::check_message;
use crate::model::{Message, Millis, Part, Role, Usage};

const PLAIN: &[u8] = include_bytes!("../../../tests/data/vscode-chat/plain.json");
const LOG: &[u8] = include_bytes!("../../../tests/data/vscode-chat/log.jsonl");

fn export(messages: &[Outgoing], source: Option<&[u8]>) -> (Value, Vec<String>) {
    let source = source.map(|bytes| String::from_utf8(bytes.to_vec()).expect("text"));
    let document = Document {
        session_id: "new".into(),
        now: Some(Millis(7)),
        source,
        ..Document::default()
    };
    let (out, remarks) = written(&VSCODE_CHAT, messages, &document);
    (serde_json::from_slice(&out).expect("JSON"), remarks)
}

#[test]
fn a_message_is_what_the_model_was_sent_and_said() {
    let told = read(&VSCODE_CHAT, PLAIN);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    assert_eq!(session.start.id, "0c0c0c00-1111-4222-8333-444455556666");
    let messages = session.messages();
    let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
    let (user, reply, tool) = (Role::User, Role::Assistant, Role::Tool);
    let expected = [
        user, user, reply, tool, reply, user, reply, user, reply, user, reply,
    ];
    assert_eq!(roles, expected);
    assert_eq!(
        texts(messages[0]),
        ["<environment_info>\nA mill.\n</environment_info>\n"]
    );
    assert_eq!(
        texts(messages[1]),
        ["<userRequest>\nLook at the wheel.\n</userRequest>\n"]
    );
    let thinking = Part::Thinking {
        text: "Where is it?".into(),
        signature: Some("c2ln".into()),
        provider: Some("copilot".into()),
    };
    assert_eq!(messages[2].parts[0], thinking);
    // In the order of the calls; a tree's texts have lines of their own where it says so.
    let result = |at: usize| match &messages[3].parts[at] {
        Part::ToolResult { content, .. } => content[0].clone(),
        part => panic!("{part:?}"),
    };
    let rendered = "A wheel of oak.\nA spoke is missing.\nEleven are there.";
    assert_eq!(result(0), Part::text(rendered));
    assert!(matches!(result(1), Part::Image(_)));
    // A request that was stopped has what the screen showed.
    assert_eq!(texts(messages[5]), ["Mend it."]);
    let shown = messages[6].part_types();
    assert_eq!(shown, [("thinking", 1), ("text", 1)]);
    assert_eq!(texts(messages[6]), ["It takes oak.md and a day."]);
    let absent = "the tool calls of 1 request without a result".to_owned();
    assert!(
        session.end.absent.contains(&absent),
        "{:?}",
        session.end.absent
    );
    assert_eq!(
        messages[7].part_types(),
        [("text", 1), ("image", 1), ("opaque", 1)]
    );
    assert_eq!(texts(messages[9]), ["Say it again."]);
    let model = |at: usize| session.steps[at].settings.get("model").map(String::as_str);
    assert_eq!(
        (model(1), model(5)),
        (Some("\"claude-opus-4.5\""), Some("\"gpt-5.1\""))
    );
    assert_eq!(session.steps[4].time, Some(Millis(1_772_400_004_000)));
    let usage = Usage::new(120, 9);
    assert_eq!(
        (session.steps[2].usage, session.steps[4].usage),
        (None, Some(usage))
    );
}

#[test]
fn a_log_is_replayed_and_summaries_hide_what_they_sum_up() {
    let told = read(&VSCODE_CHAT, LOG);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    assert_eq!(session.start.id, "0d0d0d00-1111-4222-8333-444455556666");
    assert_eq!(session.end.title.as_deref(), Some("Count the sacks"));
    let messages = session.messages();
    let said: Vec<_> = messages.iter().flat_map(|message| texts(message)).collect();
    let expected = [
        "Count the sacks.\n",
        "I count.",
        "Twelve.",
        "And barrels?\n",
        "I look.",
        "I look once more.",
        "Three.",
        "Thanks.\n",
        "You are welcome.",
    ];
    // What was taken back is not there.
    assert_eq!(said, expected);
    let found = hides(&session.steps);
    let [first, second] = found[..] else {
        panic!("{found:?}");
    };
    // Of several in one request the last counts; one round was sent beside it.
    let text =
        "<conversation-summary>\nTwelve sacks; barrels are looked at.\n</conversation-summary>\n";
    assert_eq!(texts(&first.replacements[0].1), [text]);
    assert_eq!(
        (first.moment, second.moment),
        (Moment::Since(2), Moment::Since(0))
    );
    let Cover::Range(begin, _) = second.cover else {
        panic!("{second:?}");
    };
    assert_eq!(
        begin.replacement,
        Some(0),
        "the first summary is summed up as well"
    );
    // Each line is behind a request, or counted.
    let lines = LOG.iter().filter(|byte| **byte == b'\n').count() as u64;
    assert_eq!(session.end.other_records["change"], lines - 6);
    let records: Vec<usize> = session
        .steps
        .iter()
        .map(|step| step.records.len())
        .collect();
    assert!(records.iter().all(|count| *count == 2), "{records:?}");
}

#[test]
fn a_change_of_what_is_not_there_is_told_and_the_rest_stays() {
    let text = std::str::from_utf8(LOG).expect("text");
    let deep: Vec<&str> = std::iter::repeat_n("a", 65).collect();
    let odd = [
        json!({"kind": 1, "k": ["requests", 99, "result"], "v": 1}),
        json!({"kind": 1, "k": ["requests", 1_000_000_000_000_u64], "v": 1}),
        json!({"kind": 2, "k": ["customTitle"], "v": [1]}),
        json!({"kind": 2, "k": ["requests"], "v": "x"}),
        json!({"kind": 3, "k": ["requests", "x"]}),
        json!({"kind": 1, "k": deep, "v": 1}),
        json!({"kind": 7, "k": ["x"], "v": 1}),
        json!([1]),
    ];
    let odd: String = odd.iter().map(|line| format!("{line}\n")).collect();
    let told = read(&VSCODE_CHAT, format!("{text}{odd}").as_bytes());
    let lines: Vec<u64> = told.problems.iter().map(|problem| problem.line).collect();
    let first = text.lines().count() as u64 + 1;
    assert_eq!(lines, (first..first + 8).collect::<Vec<u64>>());
    let whole = read(&VSCODE_CHAT, LOG);
    assert_eq!(told.sessions[0].steps, whole.sessions[0].steps);
    // A list that is not there begins empty; the log may begin anew.
    let more = json!({"kind": 2, "k": ["pending"], "v": [1], "i": 5});
    let anew = text.lines().next().expect("a line");
    let told = read(&VSCODE_CHAT, format!("{text}{more}\n{anew}\n").as_bytes());
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    assert!(told.sessions[0].steps.is_empty());
}

#[test]
fn results_beyond_a_limit_come_with_the_next_request() {
    let mut session: Value = serde_json::from_slice(PLAIN).expect("JSON");
    let given = session["requests"][0]["result"]["metadata"]["toolCallResults"].take();
    session["requests"][0]["result"]["metadata"]["maxToolCallsExceeded"] = json!(true);
    session["requests"][1]["result"] = json!({"metadata": {"toolCallResults": given}});
    let told = read(&VSCODE_CHAT, session.to_string().as_bytes());
    let whole = read(&VSCODE_CHAT, PLAIN);
    assert_eq!(
        told.sessions[0].messages()[3],
        whole.sessions[0].messages()[3]
    );
}

/// The first request's results, as `change` leaves them.
fn with_results(change: impl Fn(&mut Value)) -> Value {
    let mut session: Value = serde_json::from_slice(PLAIN).expect("JSON");
    change(&mut session["requests"][0]["result"]["metadata"]["toolCallResults"]);
    session
}

#[test]
fn a_result_that_is_none_takes_no_other_with_it() {
    let session = with_results(|results| results["none"] = Value::Null);
    let told = read(&VSCODE_CHAT, session.to_string().as_bytes());
    let whole = read(&VSCODE_CHAT, PLAIN);
    assert_eq!(told.sessions[0].messages(), whole.sessions[0].messages());
}

/// A result stands deeper than the message: where it is read is where it is too deep.
#[test]
fn a_result_that_is_too_deep_is_told_where_it_is_read() {
    let with_piece = |levels: usize| {
        let piece = (1..levels).fold(json!({}), |inner, _| json!([inner]));
        let session = with_results(|results| {
            let results = results.as_object_mut().expect("results");
            let first = results.values_mut().next().expect("a result");
            first["content"][0] = json!({"odd": piece.clone()});
        });
        read(&VSCODE_CHAT, session.to_string().as_bytes())
    };
    for (levels, problems) in [(95, 0), (96, 1), (97, 1), (98, 1)] {
        let told = with_piece(levels);
        assert_eq!(
            told.problems.len(),
            problems,
            "{levels}: {:?}",
            told.problems
        );
        for message in told.sessions[0].messages() {
            check_message(message).expect("it can be kept");
        }
    }
}

#[test]
fn requests_stay_as_they_were() {
    let told = read(&VSCODE_CHAT, PLAIN);
    let messages = outgoing(PLAIN, &told.sessions[0]);
    let source: Value = serde_json::from_slice(PLAIN).expect("JSON");
    let (file, remarks) = export(&messages, Some(PLAIN));
    assert!(remarks.is_empty(), "{remarks:?}");
    assert_eq!(file, source);
    // One that was changed is made anew, and the others stay.
    let mut changed = messages.clone();
    changed[6].message.parts = vec![Part::text("It takes oak.")];
    changed[6].records.clear();
    changed[5].records.clear();
    let (file, _) = export(&changed, Some(PLAIN));
    assert_eq!(file["requests"][0], source["requests"][0]);
    assert_eq!(file["requests"][2], source["requests"][2]);
    let again = read(&VSCODE_CHAT, file.to_string().as_bytes());
    let changed: Vec<&Message> = changed.iter().map(|out| &out.message).collect();
    assert_eq!(again.sessions[0].messages(), changed);
    // A log becomes the object that it makes.
    let told = read(&VSCODE_CHAT, LOG);
    let messages = outgoing(LOG, &told.sessions[0]);
    let (file, _) = export(&messages, Some(LOG));
    assert_eq!(file["customTitle"], "Count the sacks");
    assert_eq!(file.get("inputState"), None);
    let again = read(&VSCODE_CHAT, file.to_string().as_bytes());
    assert_eq!(again.sessions[0].messages(), told.sessions[0].messages());
}

#[test]
fn new_messages_are_read_back() {
    let call = Part::ToolCall {
        id: "c".into(),
        name: "look".into(),
        arguments: r#"{"x":1.0}"#.into(),
        kind: None,
    };
    let result = Part::ToolResult {
        call: "c".into(),
        content: vec![Part::text("seen")],
        is_error: false,
    };
    let thinking = Part::Thinking {
        text: "Hm.".into(),
        signature: None,
        provider: None,
    };
    let messages = [
        fresh(Role::User, vec![Part::text("Look."), Part::text("Well.")]),
        fresh(Role::Assistant, vec![thinking, Part::text("So."), call]),
        fresh(Role::Tool, vec![result]),
        fresh(Role::Assistant, vec![Part::text("Seen.")]),
        fresh(Role::User, vec![Part::text("Thanks.")]),
    ];
    let (file, remarks) = export(&messages, None);
    assert!(remarks.is_empty(), "{remarks:?}");
    let told = read(&VSCODE_CHAT, file.to_string().as_bytes());
    assert_eq!(told.sessions[0].start.id, "new");
    let again = told.sessions[0].messages().into_iter();
    assert!(again.eq(messages.iter().map(|out| &out.message)));
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_sessions_come_in_whole_and_go_back() {
    let names = [
        ("digitarald-fix-deploy.json", 1),
        ("digitarald-small.json", 2),
        ("digitarald-thinking.json", 2),
        ("p47-export.json", 6),
    ];
    for (name, requests) in names {
        let path = real_sessions().join("vscode-chat").join(name);
        let bytes = std::fs::read(&path).expect("readable");
        let told = read(&VSCODE_CHAT, &bytes);
        assert!(told.problems.is_empty(), "{name}: {:?}", told.problems);
        let session = &told.sessions[0];
        let object: Value = serde_json::from_slice(&bytes).expect("JSON");
        let all = object["requests"].as_array().expect("requests");
        assert_eq!(all.len(), requests, "{name}");
        let rounds = all
            .iter()
            .filter_map(|request| request["result"]["metadata"]["toolCallRounds"].as_array());
        let rounds: Vec<&Value> = rounds.flatten().collect();
        let calls = rounds
            .iter()
            .filter_map(|round| round["toolCalls"].as_array());
        let calls = calls.map(Vec::len).sum::<usize>();
        let messages = session.messages();
        let parts = messages.iter().flat_map(|message| &message.parts);
        let kinds: Vec<_> = parts.map(Part::type_name).collect();
        let of = |name: &str| kinds.iter().filter(|kind| **kind == name).count();
        assert_eq!(
            (of("tool_call"), of("tool_result")),
            (calls, calls),
            "{name}"
        );
        let stopped = all
            .iter()
            .filter(|request| request.get("result").is_none())
            .count();
        let replies = messages
            .iter()
            .filter(|message| message.role == Role::Assistant);
        assert_eq!(replies.count(), rounds.len() + stopped, "{name}");
        let (file, remarks) = export(&outgoing(&bytes, session), Some(&bytes));
        assert!(remarks.is_empty(), "{name}: {remarks:?}");
        assert_eq!(file, object, "{name}");
    }
}
