//! The way back.

use super::*;
use crate::formats::shared::contract;
use crate::model::{Media, MediaSource, Millis};

/// The context at the end of the main path, as it goes to an exporter.
fn context(bytes: &[u8]) -> Vec<Outgoing> {
    let kept = import(bytes, "s");
    let mut visible: Vec<(usize, Outgoing)> = Vec::new();
    let mut settings = crate::model::Settings::new();
    for (at, step) in kept.main().iter().enumerate() {
        settings.extend(step.settings.clone());
        let texts = step.records.iter().map(|span| {
            let mut text = vec![0; span.len as usize];
            bytes.read_at(span.offset, &mut text).expect("bytes");
            String::from_utf8_lossy(&text).into_owned()
        });
        let outgoing = |message: &Message, is_summary| Outgoing {
            message: message.clone(),
            time: step.time,
            settings: settings.clone().into(),
            usage: step.usage,
            records: texts.clone().collect(),
            replaces: Vec::new(),
            dollars: None,
            cited: Vec::new(),
            is_summary,
        };
        match &step.action {
            Action::Append(message) => visible.push((at, outgoing(message, false))),
            Action::Hide(hide) if hide.kind == HideKind::Compaction => {
                let keep: Vec<_> = hide.keep.iter().map(place).collect();
                visible.retain(|(step, _)| keep.contains(step));
                visible.insert(0, (at, outgoing(&hide.replacements[0].1, true)));
            }
            Action::Hide(hide) => {
                for (entry, part, stub) in &hide.parts {
                    let found = visible.iter_mut().find(|(step, _)| *step == place(entry));
                    let (_, found) = found.expect("visible");
                    let stub = stub.clone().expect("a stub");
                    found.message.parts[*part as usize] = stub.parts[0].clone();
                    if found.replaces.is_empty() {
                        found.replaces = std::mem::take(&mut found.records);
                    }
                }
            }
        }
    }
    visible.into_iter().map(|(_, outgoing)| outgoing).collect()
}

fn read_fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/claude-code")
        .join(name);
    std::fs::read(path).expect("a fixture")
}

fn document() -> Document {
    Document {
        session_id: "77777777-2222-4333-8444-555555555555".into(),
        cwd: "/work".into(),
        now: Some(Millis(0)),
        seed: [7; 32],
        ..Document::default()
    }
}

fn written(messages: &[Outgoing], document: &Document) -> (Vec<u8>, Vec<String>) {
    contract::written(&CLAUDE_CODE, messages, document)
}

fn records(bytes: &[u8]) -> Vec<Value> {
    let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).expect("JSON"))
        .collect()
}

/// The messages that a reader of `bytes` sees.
fn seen(bytes: &[u8]) -> Vec<Message> {
    let read = context(bytes).into_iter().map(|outgoing| outgoing.message);
    read.collect()
}

fn messages(outgoing: &[Outgoing]) -> Vec<Message> {
    outgoing.iter().map(|o| o.message.clone()).collect()
}

/// By formats.md §1.8.
fn assert_valid(bytes: &[u8], session: &str) {
    assert!(bytes.ends_with(b"\n"));
    let mut uuids = HashSet::new();
    let (mut open, mut roots) = (HashSet::new(), 0);
    for record in records(bytes) {
        if record["uuid"].is_null() {
            continue;
        }
        for key in ["sessionId", "cwd", "version", "timestamp", "gitBranch"] {
            assert!(record[key].is_string(), "{key}: {record}");
        }
        assert_eq!(record["sessionId"], session);
        assert_eq!(record["isSidechain"], false);
        match record["parentUuid"].as_str() {
            Some(parent) => assert!(uuids.contains(parent), "{record}"),
            None => roots += 1,
        }
        assert!(uuids.insert(record["uuid"].as_str().expect("uuid").to_owned()));
        let content = record["message"]["content"].clone();
        if record["type"] == "assistant" {
            for key in ["id", "type", "role", "model", "stop_reason", "usage"] {
                assert!(!record["message"][key].is_null(), "{key}: {record}");
            }
            assert_eq!(content.as_array().expect("blocks").len(), 1);
        }
        for block in content.as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("tool_use") => assert!(open.insert(block["id"].to_string())),
                Some("tool_result") => assert!(open.remove(&block["tool_use_id"].to_string())),
                _ => {}
            }
        }
    }
    assert_eq!(roots, 1);
    assert!(open.is_empty(), "{open:?}");
}

/// Every untouched record comes back, with at most its parent changed.
fn assert_untouched(bytes: &[u8], what: &str) {
    let context = context(bytes);
    let (out, remarks) = written(&context, &document());
    assert_eq!(remarks, Vec::<String>::new(), "{what}");
    let out = records(&out);
    let known: HashSet<String> = out
        .iter()
        .filter_map(|record| Some(record["uuid"].as_str()?.to_owned()))
        .collect();
    let mut before = HashSet::new();
    let mut back = out.iter();
    for outgoing in &context {
        for text in &outgoing.records {
            let mut old: Value = serde_json::from_str(text).expect("JSON");
            let found = back.find(|new| new["uuid"] == old["uuid"]);
            let mut new = found.expect("written").clone();
            let parent = old["parentUuid"].as_str().map(str::to_owned);
            if !parent.is_some_and(|parent| before.contains(&parent)) {
                if let Some(parent) = new["parentUuid"].as_str() {
                    assert!(known.contains(parent), "{what}");
                }
                if old.get("parentUuid").is_some() {
                    (old["parentUuid"], new["parentUuid"]) = (Value::Null, Value::Null);
                }
            }
            before.extend(old["uuid"].as_str().map(str::to_owned));
            assert_eq!(new, old, "{what}");
        }
    }
    let again: Vec<u8> = out
        .iter()
        .flat_map(|record| format!("{record}\n").into_bytes())
        .collect();
    assert_eq!(seen(&again), messages(&context), "{what}");
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn untouched_messages_are_their_records() {
    for name in [
        "parallel.jsonl",
        "compaction.jsonl",
        "compaction-first.jsonl",
        "queue.jsonl",
        "sidechain.jsonl",
        "rewind.jsonl",
        "synthetic.jsonl",
        "microcompact.jsonl",
    ] {
        assert_untouched(&read_fixture(name), name);
    }
    for path in real_files() {
        let bytes = std::fs::read(&path).expect("a file");
        assert_untouched(&bytes, &path.display().to_string());
    }
}

#[test]
fn a_changed_message_keeps_its_envelope() {
    let bytes = read_fixture("parallel.jsonl");
    let mut context = context(&bytes);
    let results = &mut context[2];
    results.replaces = std::mem::take(&mut results.records);
    if let Part::ToolResult { content, .. } = &mut results.message.parts[0] {
        *content = vec![Part::text("changed")];
    }
    let (out, _) = written(&context, &document());
    assert_eq!(seen(&out), messages(&context));
    let out = records(&out);
    let changed = out.iter().find(|record| record["uuid"] == "r2");
    let changed = changed.expect("the same uuid");
    assert_eq!(changed["message"]["content"][0]["content"], "changed");
    assert_eq!(changed["parentUuid"], "a3");
    assert!(changed.get("toolUseResult").is_none());
}

#[test]
fn a_dropped_and_an_added_message_leave_the_chain_whole() {
    let bytes = read_fixture("rewind.jsonl");
    let mut context = context(&bytes);
    context.remove(1);
    let added = Outgoing {
        message: Message::text(Role::User, "Mind the paws."),
        time: None,
        settings: Default::default(),
        usage: None,
        records: Vec::new(),
        replaces: Vec::new(),
        dollars: None,
        cited: Vec::new(),
        is_summary: false,
    };
    context.insert(2, added);
    let (out, _) = written(&context, &document());
    assert_eq!(seen(&out), messages(&context));
}

#[test]
fn a_fresh_file_is_a_session_of_its_own() {
    for name in ["parallel.jsonl", "compaction.jsonl", "queue.jsonl"] {
        assert_fresh_is_its_own(&read_fixture(name));
    }
    // A newer client takes the text of an attachment from beside it.
    let queued = String::from_utf8(read_fixture("queue.jsonl")).expect("text");
    let queued = queued.replace(r#""2.1.7""#, r#""2.1.330""#);
    assert_fresh_is_its_own(queued.as_bytes());
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn a_fresh_file_of_a_real_session_is_a_session_of_its_own() {
    for path in real_files() {
        assert_fresh_is_its_own(&std::fs::read(path).expect("a file"));
    }
}

fn assert_fresh_is_its_own(bytes: &[u8]) {
    let context = context(bytes);
    let document = Document {
        fresh: true,
        ..document()
    };
    let (out, _) = written(&context, &document);
    assert_eq!(written(&context, &document).0, out);
    assert_valid(&out, &document.session_id);
    let text = String::from_utf8(out.clone()).expect("UTF-8");
    for record in context.iter().flat_map(|outgoing| &outgoing.records) {
        let old: Value = serde_json::from_str(record).expect("JSON");
        // A copied reply keeps the names of its request, by which it is known to be paid for.
        if let Some(id) = old["uuid"].as_str().filter(|id| id.len() > 8) {
            assert!(!text.contains(&format!("\"uuid\":\"{id}\"")));
            assert!(!text.contains(&format!("\"id\":\"{id}\"")));
        }
    }
    // What nothing answers is left out.
    let mut expected = messages(&context);
    for at in 0..expected.len() {
        let later = expected[at + 1..].iter();
        let later = later.take_while(|next| next.role != Role::Assistant);
        let answered: Vec<String> = later
            .flat_map(|next| next.results().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        expected[at].parts.retain(|part| match part {
            Part::ToolCall { id, .. } => answered.contains(id),
            _ => true,
        });
    }
    expected.retain(|message| !message.parts.is_empty());
    expected.truncate(seen(&out).len());
    assert_eq!(seen(&out)[..context.len().min(expected.len())], expected);
}

#[test]
fn what_the_vendor_would_refuse_is_left_out_and_told() {
    let outgoing = |role, parts| Outgoing {
        message: Message {
            attached: None,
            recipient: None,
            interrupted: false,
            role,
            name: None,
            parts,
        },
        time: None,
        settings: Default::default(),
        usage: None,
        records: Vec::new(),
        replaces: Vec::new(),
        dollars: None,
        cited: Vec::new(),
        is_summary: false,
    };
    let call = |id: &str, arguments: &str| Part::ToolCall {
        id: id.into(),
        name: "f".into(),
        arguments: arguments.into(),
        kind: None,
    };
    let thinking = |signature: Option<&str>| Part::Thinking {
        text: "hm".into(),
        signature: signature.map(str::to_owned),
        provider: Some("anthropic".into()),
    };
    let picture = Part::Image(Media {
        media_type: Some("image/bmp".into()),
        name: None,
        detail: None,
        source: MediaSource::Base64("AAAA".into()),
    });
    let orphan = Part::ToolResult {
        call: "none".into(),
        content: vec![],
        is_error: false,
    };
    let failed = |id: &str| Part::ToolResult {
        call: id.into(),
        content: vec![],
        is_error: true,
    };
    let foreign = Part::Opaque {
        provider: "openai".into(),
        data: "{}".into(),
    };
    let messages = [
        outgoing(Role::User, vec![Part::text("Go."), picture]),
        outgoing(
            Role::Assistant,
            vec![
                thinking(None),
                thinking(Some("")),
                foreign,
                call("c1", "{\n\"a\": 1.0}"),
                call("c2", "plain"),
            ],
        ),
        outgoing(Role::Tool, vec![orphan, failed("c1"), failed("c2")]),
        outgoing(Role::Assistant, vec![Part::text("Wait."), call("c3", "{}")]),
        outgoing(Role::User, vec![Part::text("And?")]),
    ];
    let document = Document {
        fresh: true,
        ..document()
    };
    let (out, remarks) = written(&messages, &document);
    assert_valid(&out, &document.session_id);
    assert_eq!(remarks.len(), 6, "{remarks:?}");
    let text = String::from_utf8(out.clone()).expect("UTF-8");
    assert!(text.contains(r#""input":{ "a": 1.0}"#), "{text}");
    assert!(text.contains(r#""input":{"_raw":"plain"}"#));
    assert!(
        text.contains(r#"{"type":"text","text":"[image]"}"#),
        "{text}"
    );
    // A call without result is left out, as the tool does itself.
    assert!(
        !text.contains(r#""id":"c3""#) && text.contains("Wait."),
        "{text}"
    );
    let left_out = |one: &String| one.starts_with("1 tool call without result left out");
    assert!(remarks.iter().any(left_out), "{remarks:?}");
    let seen: Vec<_> = seen(&out).iter().map(message).collect();
    assert_eq!(seen.len(), 5);
    assert!(seen[2].starts_with("tool: error c1") && seen[2].contains("error c2"));
}

#[test]
fn a_continuation_follows_the_last_record() {
    let bytes = read_fixture("rewind.jsonl");
    let last = String::from_utf8(bytes.clone()).expect("UTF-8");
    let last = last.lines().last().expect("a line").to_owned();
    let next = Outgoing {
        message: Message::text(Role::User, "A horse."),
        time: Some(Millis(5)),
        settings: Default::default(),
        usage: None,
        records: Vec::new(),
        replaces: Vec::new(),
        dollars: None,
        cited: Vec::new(),
        is_summary: false,
    };
    let document = Document {
        after: vec![last],
        title: Some("Animals".into()),
        ..document()
    };
    let (out, _) = written(&[next], &document);
    let out = records(&out);
    assert_eq!(out.len(), 1);
    assert_eq!(out[0]["parentUuid"], "a3");
    assert_eq!(out[0]["sessionId"], "11111111-2222-4333-8444-555555555555");
    assert_eq!(out[0]["timestamp"], "1970-01-01T00:00:00.005Z");
}

#[test]
fn elsewhere_no_worktree_is_gone_on_in() {
    let messages = context(&read_fixture("parallel.jsonl"));
    let state = [
        r#"{"type":"relocated","relocatedCwd":"/home/ada/mill/side","sessionId":"s"}"#,
        r#"{"type":"worktree-state","worktreeSession":{"originalCwd":"/home/ada/mill","worktreePath":"/home/ada/mill/side"},"sessionId":"s"}"#,
    ];
    let document = |elsewhere| Document {
        state: state.map(str::to_owned).to_vec(),
        fresh: true,
        native: true,
        elsewhere,
        ..document()
    };
    let kinds = |bytes: &[u8]| {
        let records = records(bytes).into_iter();
        let kinds = records.filter_map(|it| Some(it["type"].as_str()?.to_owned()));
        let kinds = kinds.filter(|it| it == "relocated" || it == "worktree-state");
        kinds.collect::<Vec<_>>()
    };
    let (bytes, remarks) = written(&messages, &document(true));
    assert_eq!(kinds(&bytes), Vec::<String>::new());
    let remark = "the session was in a worktree, and goes on outside of it";
    assert!(remarks.iter().any(|it| it == remark), "{remarks:?}");
    let (bytes, remarks) = written(&messages, &document(false));
    assert_eq!(kinds(&bytes), ["relocated", "worktree-state"]);
    assert!(remarks.iter().all(|it| it != remark), "{remarks:?}");
}
