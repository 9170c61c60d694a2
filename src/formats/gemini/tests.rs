//! What a session says, and what is written back.

use serde_json::{Value, json};

use super::GEMINI;
use crate::conditions::real_sessions;
use crate::formats::shared::contract::{
    Told, fresh, hides, outgoing, read, texts, value_at, written,
};
use crate::formats::{Document, Outgoing};
use crate::model::{HideKind, Message, Millis, Part, Role, Usage};

const PLAIN: &[u8] = include_bytes!("../../../tests/data/gemini/plain.json");
const ODD: &[u8] = include_bytes!("../../../tests/data/gemini/odd.json");
const LINES: &[u8] = include_bytes!("../../../tests/data/gemini/lines.jsonl");
const CHANGED: &[u8] = include_bytes!("../../../tests/data/gemini/changed.jsonl");
const AGENT: &[u8] = include_bytes!("../../../tests/data/gemini/agent.jsonl");

fn export(messages: &[Outgoing], source: Option<&[u8]>) -> (String, Vec<String>) {
    let source = source.map(|bytes| String::from_utf8(bytes.to_vec()).expect("text"));
    let document = Document {
        session_id: "s".into(),
        now: Some(Millis(0)),
        source,
        ..Document::default()
    };
    let (out, remarks) = written(&GEMINI, messages, &document);
    (String::from_utf8(out).expect("text"), remarks)
}

/// What was exported, and what an import of it says: a document, or the lines.
fn again(exported: &str) -> (Value, Told) {
    let told = read(&GEMINI, exported.as_bytes());
    let lines = || {
        exported
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()
    };
    let value = serde_json::from_str(exported).or_else(|_| lines().map(Value::Array));
    (value.expect("JSON"), told)
}

#[test]
fn calls_and_their_results_are_two_messages_of_one_record() {
    let told = read(&GEMINI, PLAIN);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    assert_eq!(session.start.id, "6f1d2c3b-0000-4000-8000-000000000001");
    assert_eq!(session.end.title.as_deref(), Some("Look into the pantry"));
    assert_eq!(session.end.other_records, [("info".to_owned(), 1)].into());
    let messages = session.messages();
    let roles: Vec<_> = messages.iter().map(|message| message.role).collect();
    assert_eq!(
        roles,
        [Role::User, Role::Assistant, Role::Tool, Role::Assistant]
    );
    let [
        Part::Thinking { text, .. },
        Part::ToolCall { arguments, .. },
        _,
    ] = &messages[1].parts[..]
    else {
        panic!("{:?}", messages[1]);
    };
    assert_eq!(
        text,
        "Looking first\n\nThe shelves and the jar, both at once."
    );
    assert_eq!(arguments, r#"{"path": "shelves",  "deep": 1.0}"#);
    let is_error = |part: &Part| matches!(part, Part::ToolResult { is_error: true, .. });
    let errors: Vec<_> = messages[2].parts.iter().map(is_error).collect();
    assert_eq!(errors, [false, true]);
    let reply = &session.steps[1];
    let usage = Usage::new(1200, 65).cached(100, 0).reasoned(25);
    assert_eq!(reply.usage, Some(usage));
    assert_eq!(reply.settings["model"], r#""gemini-2.5-flash""#);
    assert_eq!(reply.records, session.steps[2].records);
    assert_eq!(
        session.steps[2].time,
        Millis::parse("2026-01-02T10:00:07.000Z")
    );
}

#[test]
fn what_is_odd_is_kept_and_counted() {
    let told = read(&GEMINI, ODD);
    assert_eq!(told.problems.len(), 1);
    assert_eq!(told.problems[0].line, 12);
    let session = &told.sessions[0];
    let counted = |key: &str| session.end.other_records.get(key).copied();
    assert_eq!(
        ["source", "error", "gemini (empty)"].map(counted),
        [Some(1), Some(1), Some(1)]
    );
    // Every reader is told of code that ran at the provider.
    assert!(session.end.opaque_blocks.is_empty());
    assert_eq!(session.end.lone_surrogates, 1);
    let messages = session.messages();
    assert!(matches!(messages[0].parts[1], Part::Image(_)));
    let [Part::ToolResult { content, .. }] = &messages[4].parts[..] else {
        panic!("one result: {:?}", messages[4]);
    };
    assert!(matches!(content[..], [Part::Text { .. }, Part::File(_)]));
}

#[test]
fn a_changed_result_changes_its_record_alone() {
    let session = &read(&GEMINI, PLAIN).sessions[0];
    let mut messages = outgoing(PLAIN, session);
    messages[2].replaces = std::mem::take(&mut messages[2].records);
    let Part::ToolResult { content, .. } = &mut messages[2].message.parts[0] else {
        panic!("a result");
    };
    *content = vec![Part::text("[cut]")];
    let (written, remarks) = export(&messages, Some(PLAIN));
    assert_eq!(remarks, [""; 0]);
    let (written, told) = again(&written);
    let wanted: Vec<_> = messages.iter().map(|outgoing| &outgoing.message).collect();
    assert_eq!(told.sessions[0].messages(), wanted);
    assert_eq!(told.sessions[0].start, session.start);
    let was: Value = serde_json::from_slice(PLAIN).expect("JSON");
    assert_eq!(written["messages"][0], was["messages"][0]);
    assert_eq!(
        written["messages"][1]["tokens"],
        was["messages"][1]["tokens"]
    );
    assert_eq!(written["messages"][2], was["messages"][3]);
}

#[test]
fn another_tools_history_becomes_a_session() {
    let call = Part::ToolCall {
        id: "c".into(),
        name: "look".into(),
        arguments: r#"{"at":"it"}"#.into(),
        kind: None,
    };
    let result = Part::ToolResult {
        call: "c".into(),
        content: vec![Part::text("gone")],
        is_error: true,
    };
    let thinking = Part::Thinking {
        text: "hm".into(),
        signature: Some("s".into()),
        provider: Some("anthropic".into()),
    };
    let messages = [
        fresh(Role::System, vec![Part::text("Be brief.")]),
        fresh(Role::User, vec![Part::text("Look.")]),
        fresh(Role::Assistant, vec![thinking, call.clone()]),
        fresh(Role::User, vec![result.clone(), Part::text("And?")]),
        fresh(Role::Assistant, vec![Part::text("It is gone.")]),
    ];
    let (written, remarks) = export(&messages, None);
    assert_eq!(remarks.len(), 2, "{remarks:?}");
    let (written, told) = again(&written);
    assert_eq!(written[0]["sessionId"], json!("s"));
    assert_eq!(written.as_array().map(Vec::len), Some(5), "{written}");
    let messages = told.sessions[0].messages();
    let parts: Vec<_> = messages.iter().map(|message| &message.parts[..]).collect();
    let text = |text: &str| [Part::text(text)];
    assert_eq!(
        parts,
        [
            &text("Look.")[..],
            &[call],
            &[result],
            &text("And?"),
            &text("It is gone.")
        ]
    );
}

/// The first words of a message.
fn words(message: &Message) -> String {
    let text = |part: &Part| match part {
        Part::Text { text } => text.clone(),
        Part::ToolResult { content, .. } => format!("{content:?}"),
        part => part.type_name().to_owned(),
    };
    let first = message.parts.first().map(text).unwrap_or_default();
    first.chars().take(24).collect()
}

#[test]
fn lines_are_read_with_what_changes_them() {
    let told = read(&GEMINI, LINES);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    assert_eq!(session.start.id, "7a1d2c3b-0000-4000-8000-000000000011");
    assert_eq!(session.end.title.as_deref(), Some("Look into the pantry"));
    assert_eq!(session.end.cwd.as_deref(), Some("/home/mara/pantry"));
    assert_eq!(
        session.end.started,
        ["7a1d2c3b-0000-4000-8000-0000000000aa"]
    );
    let counted = |key: &str| session.end.other_records.get(key).copied();
    assert_eq!(
        ["session", "$set", "info", "gemini (said again)"].map(counted),
        [Some(1), Some(5), Some(1), Some(1)]
    );
    let messages = session.messages();
    let roles: Vec<_> = messages.iter().map(|message| message.role).collect();
    let (user, said, tool) = (Role::User, Role::Assistant, Role::Tool);
    assert_eq!(
        roles,
        [user, user, said, tool, said, user, said, tool, said]
    );
    let kinds: Vec<_> = messages[2].parts.iter().map(Part::type_name).collect();
    assert_eq!(kinds, ["thinking", "text", "tool_call", "tool_call"]);
    let [_, Part::ToolResult { content, .. }] = &messages[3].parts[..] else {
        panic!("two results: {:?}", messages[3]);
    };
    assert!(matches!(content[..], [Part::Text { .. }, Part::Image(_)]));
    // What the calls gave back stands in the reply's record and in one of its own.
    assert_eq!(session.steps[3].records.len(), 2);
    assert_eq!(session.steps[3].records[0], session.steps[2].records[0]);
    assert!(hides(&session.steps).is_empty());
}

#[test]
fn what_is_taken_back_cut_or_summed_up_is_hidden() {
    let told = read(&GEMINI, CHANGED);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let session = &told.sessions[0];
    let said: Vec<_> = session.messages().into_iter().map(words).collect();
    let typed = [
        "Read it.",
        "Write it.",
        "Read it again.",
        "And now?",
        "Go on.",
        "Stop",
        "What was it?",
    ];
    for typed in typed {
        assert_eq!(
            said.iter().filter(|said| *said == typed).count(),
            1,
            "{said:?}"
        );
    }
    let shown: Vec<_> = hides(&session.steps)
        .into_iter()
        .map(|hide| {
            let placed = hide.replacements.iter().map(|(_, message)| words(message));
            let parts = hide
                .parts
                .iter()
                .filter_map(|(.., stub)| stub.as_ref().map(words));
            (
                hide.kind,
                placed.chain(parts).collect::<Vec<_>>(),
                hide.keep.len(),
            )
        })
        .collect();
    let context = "<session_context>\nThis i".to_owned();
    let summary = "<state_snapshot>All was ".to_owned();
    assert_eq!(
        shown,
        [
            (HideKind::Drop, vec![], 0),
            (HideKind::Drop, vec![], 0),
            // A process that goes on says its beginning anew, and nothing else.
            (HideKind::Drop, vec![context], 0),
            (
                HideKind::Prune,
                vec!["[Text { text: \"[cut]\" }]".to_owned()],
                0
            ),
            (HideKind::Compaction, vec![summary, "Got it.".to_owned()], 2),
        ]
    );
}

#[test]
fn what_the_tool_writes_down_before_it_lists_it_is_no_message_of_its_own() {
    let text = String::from_utf8(CHANGED.to_vec()).expect("text");
    let list = text
        .lines()
        .rfind(|line| line.contains(r#""$set":{"messages""#));
    let list = list.expect("a summary");
    let value: Value = serde_json::from_str(list).expect("JSON");
    let rows = value["$set"]["messages"].as_array().expect("a list").iter();
    let rows: String = rows.map(|row| format!("{row}\n")).collect();
    let written = text.replace(list, &format!("{rows}{list}"));
    let [before, after] = [&text, &written].map(|text| read(&GEMINI, text.as_bytes()));
    let steps = |told: &Told| {
        let steps = told.sessions[0].steps.iter();
        steps.map(|step| step.action.clone()).collect::<Vec<_>>()
    };
    assert_eq!(steps(&after), steps(&before));
}

/// What stands once these lines were read behind the one that says which session it is, as text.
fn standing(records: &[&str]) -> Vec<String> {
    let opening = r#"{"sessionId":"s","projectHash":"h"}"#;
    let lines = [&[opening], records].concat().join("\n");
    let told = read(&GEMINI, lines.as_bytes());
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    let standing = told.sessions[0].standing();
    standing
        .iter()
        .map(|message| texts(message).concat())
        .collect()
}

#[test]
fn a_changed_record_does_not_take_the_place_of_a_later_one() {
    let records = [
        r#"{"id":"u1","type":"user","content":"Is it there?"}"#,
        r#"{"id":"m1","type":"gemini","model":"g","content":"Let me"}"#,
        r#"{"id":"u2","type":"user","content":"And now?"}"#,
        r#"{"id":"m2","type":"gemini","model":"g","content":"It is."}"#,
        r#"{"id":"m1","type":"gemini","model":"g","content":"It is."}"#,
        r#"{"id":"u3","type":"user","content":"Thanks."}"#,
    ];
    let said = ["Is it there?", "It is.", "And now?", "It is.", "Thanks."];
    assert_eq!(standing(&records), said);
    let rewound = [&records[..], &[r#"{"$rewindTo":"m2"}"#]].concat();
    assert_eq!(standing(&rewound), said[..3]);
    // What was empty until then has a place of its own, too.
    let empty = records[1].replace("Let me", "");
    let filled = [&records[..1], &[&empty], &records[2..]].concat();
    assert_eq!(standing(&filled), said);
}

#[test]
fn the_list_with_which_a_process_goes_on_counts_at_the_end_unless_it_is_a_beginning() {
    let asked = r#"{"id":"u1","type":"user","content":"One?"}"#;
    let reply = r#"{"id":"m1","type":"gemini","model":"g","content":"First."}"#;
    let next = r#"{"id":"u2","type":"user","content":"Two?"}"#;
    let goes_on = |list: &[&str]| {
        let list = format!(r#"{{"$set":{{"messages":[{}]}}}}"#, list.join(","));
        standing(&[
            asked,
            reply,
            r#"{"sessionId":"s","projectHash":"h"}"#,
            &list,
        ])
    };
    assert_eq!(goes_on(&[asked, reply, next]), ["One?", "First.", "Two?"]);
    assert_eq!(goes_on(&[asked, next]), ["One?", "Two?"]);
    assert_eq!(goes_on(&[asked]), ["One?", "First."]);
}

#[test]
fn a_document_and_lines_are_told_apart() {
    let is_document = |text: &str| super::is_document(text.as_bytes());
    assert!(is_document(std::str::from_utf8(PLAIN).expect("text")));
    assert!(is_document(std::str::from_utf8(ODD).expect("text")));
    assert!(!is_document(std::str::from_utf8(LINES).expect("text")));
    assert!(is_document(
        r#"{"sessionId":"a","projectHash":"b","messages":[]}"#
    ));
    // The first line alone, whole and torn, and one that is damaged.
    assert!(!is_document(
        "{\"sessionId\":\"a\",\"projectHash\":\"b\"}\n"
    ));
    assert!(!is_document(r#"{"sessionId":"a","projectHash":"b","start"#));
    assert!(!is_document(
        "{\"sessionId\":\"a\",\"projectHash\"\n{\"id\":\"u\"}\n"
    ));
    let torn = format!("{}{{\"id\":\"x\",\"type", String::from_utf8_lossy(LINES));
    let told = read(&GEMINI, torn.as_bytes());
    assert_eq!(told.problems.len(), 1);
    assert!(told.problems[0].harmless);
}

#[test]
fn an_agents_session_is_that_of_its_folder() {
    let first = AGENT.split(|byte| *byte == b'\n').next().expect("a line");
    let home = GEMINI.home.as_ref().expect("one");
    let first = std::str::from_utf8(first).expect("text");
    let (id, descent) = (home.descent)(first, "parent").expect("it is told");
    assert_eq!(id, "7a1d2c3b-0000-4000-8000-0000000000aa");
    assert_eq!(descent.spawned_by.as_deref(), Some("parent"));
    let main = LINES.split(|byte| *byte == b'\n').next().expect("a line");
    let main = std::str::from_utf8(main).expect("text");
    let (_, descent) = (home.descent)(main, "chats").expect("it is told");
    assert_eq!(descent.spawned_by, None);
    assert!((home.belongs)(
        "session-x.jsonl",
        "/home/mara/pantry",
        &|| Some(main.to_owned())
    ));
    assert!(!(home.belongs)("session-x.jsonl", "/home/mara", &|| Some(
        main.to_owned()
    )));
    let known = r#"{"projects":{"/w":"w","/x":"../x"}}"#;
    assert_eq!(super::folder(known, "/w").as_deref(), Some("w"));
    assert_eq!(super::folder(known, "/x"), None);
}

#[test]
fn lines_are_written_as_they_were_but_for_what_changed() {
    let session = &read(&GEMINI, LINES).sessions[0];
    let mut messages = outgoing(LINES, session);
    let all: Vec<Value> = LINES
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let (written, remarks) = export(&messages, None);
    assert_eq!(remarks, [""; 0]);
    let (written, told) = again(&written);
    assert_eq!(told.sessions[0].messages(), session.messages());
    let written = written.as_array().expect("lines");
    for line in [&all[2], &all[6], &all[7], &all[10], &all[13]] {
        assert!(written.contains(line), "{line}");
    }
    // A result that was changed: the record of its own goes, the reply's says it.
    messages[3].replaces = std::mem::take(&mut messages[3].records);
    if let Part::ToolResult { content, .. } = &mut messages[3].message.parts[0] {
        *content = vec![Part::text("[cut]")];
    }
    let (written, remarks) = export(&messages, None);
    assert_eq!(remarks, [""; 0]);
    let (written, told) = again(&written);
    let wanted: Vec<_> = messages.iter().map(|outgoing| &outgoing.message).collect();
    assert_eq!(told.sessions[0].messages(), wanted);
    assert_eq!(written.as_array().map(Vec::len), Some(1 + 2 + 1 + 2 + 2));
}

/// The files of lines in a folder and those inside it.
fn lines_in(folder: &std::path::Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => lines_in(&path, files),
            false if path.extension().is_some_and(|end| end == "jsonl") => files.push(path),
            false => {}
        }
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_lines_come_back_equal() {
    let folder = real_sessions();
    let mut files = vec![];
    for folder in [folder.join("gemini-cli"), folder.join("../live/gemini-cli")] {
        lines_in(&folder, &mut files);
    }
    files.retain(|path| !path.ends_with("requests.jsonl"));
    assert!(
        files.len() >= 6,
        "the folder holds fewer sessions than it should"
    );
    for path in files {
        let bytes = std::fs::read(&path).expect("readable");
        let told = read(&GEMINI, &bytes);
        assert!(told.problems.is_empty(), "{path:?}: {:?}", told.problems);
        let session = &told.sessions[0];
        let (written, _) = export(&outgoing(&bytes, session), None);
        let (_, again) = again(&written);
        assert_eq!(again.sessions[0].messages(), session.messages(), "{path:?}");
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_sessions_come_back_equal() {
    let folder = real_sessions().join("gemini-cli");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let bytes = std::fs::read(&path).expect("readable");
        let told = read(&GEMINI, &bytes);
        assert!(told.problems.is_empty(), "{path:?}: {:?}", told.problems);
        let json: Value = serde_json::from_slice(&bytes).expect("JSON");
        let records = json["messages"].as_array().expect("messages");
        let count = |list: &str, of: &dyn Fn(&Value) -> bool| -> usize {
            let inside = records.iter().filter_map(|record| record[list].as_array());
            inside.flatten().filter(|value| of(value)).count()
        };
        let messages = told.sessions[0].messages();
        let parts = messages.iter().flat_map(|message| &message.parts);
        let kinds: Vec<_> = parts.map(Part::type_name).collect();
        let of = |name: &str| kinds.iter().filter(|kind| **kind == name).count();
        assert_eq!(of("tool_call"), count("toolCalls", &|_| true), "{path:?}");
        assert_eq!(
            of("tool_result"),
            count("toolCalls", &|call| call["result"].is_array())
        );
        assert_eq!(of("thinking"), count("thoughts", &|_| true), "{path:?}");
        let typed = |kind: &str| {
            records
                .iter()
                .filter(|record| record["type"] == kind)
                .count()
        };
        let from = |role: Role| {
            messages
                .iter()
                .filter(|message| message.role == role)
                .count()
        };
        assert_eq!(
            (from(Role::User), from(Role::Assistant)),
            (typed("user"), typed("gemini"))
        );
        let (written, _) = export(&outgoing(&bytes, &told.sessions[0]), Some(&bytes));
        let (written, _) = again(&written);
        let kept = records
            .iter()
            .filter(|record| ["user", "gemini"].iter().any(|k| record["type"] == *k));
        assert_eq!(
            written["messages"]
                .as_array()
                .expect("a list")
                .iter()
                .collect::<Vec<_>>(),
            kept.collect::<Vec<_>>()
        );
        for step in &told.sessions[0].steps {
            assert!(value_at(&bytes, step.records[0]).is_object());
        }
        seen += 1;
    }
    assert!(seen >= 6, "the folder holds fewer sessions than it should");
}
