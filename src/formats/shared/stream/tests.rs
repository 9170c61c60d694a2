//! What must hold of every format of events: read live or read whole, it is the same.

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use crate::conditions::{laws, real_sessions};
use crate::formats::shared::contract::{Told, read, written};
use crate::formats::shared::sse;
use crate::formats::{Action, Document, FORMATS, Format, Outgoing, sniff};
use crate::model::{Message, Part, Role, Settings, Span};
use crate::tree::{Event, Fold, json};
use crate::wire::json::quoted;

/// The streams of a folder: name, format, bytes.
fn streams(folder: &Path) -> Vec<(String, &'static Format, Vec<u8>)> {
    let mut found = Vec::new();
    for file in std::fs::read_dir(folder).expect("a folder of streams") {
        let path = file.expect("a file").path();
        let is_stream = |extension| extension == "jsonl" || extension == "sse";
        if !path.extension().is_some_and(is_stream) {
            continue;
        }
        let bytes = std::fs::read(&path).expect("readable");
        let format = sniff::sniff(&bytes.as_slice()).expect("readable");
        let format = format.unwrap_or_else(|| panic!("{} is of no format", path.display()));
        assert!(format.events.is_some(), "{} is {format}", path.display());
        found.push((path.display().to_string(), format, bytes));
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

fn own() -> Vec<(String, &'static Format, Vec<u8>)> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let formats = FORMATS.iter().filter(|format| format.events.is_some());
    formats
        .flat_map(|format| streams(&data.join(format.fixtures)))
        .collect()
}

/// The events of a stream that comes in reads of these sizes, over and over.
fn live(format: &Format, bytes: &[u8], sizes: &[usize]) -> Vec<Event> {
    let mut stream = EventStream::of(format).expect("a format of events");
    let mut events = Vec::new();
    let (mut rest, mut sizes) = (bytes, sizes.iter().cycle());
    while !rest.is_empty() {
        let size = *sizes.next().expect("a cycle");
        let (read, more) = rest.split_at(size.clamp(1, rest.len()));
        events.extend(stream.push(read));
        rest = more;
    }
    events.extend(stream.finish());
    events
}

fn settled(events: Vec<Event>) -> String {
    let mut fold = Fold::live();
    for event in events {
        fold.feed(event);
    }
    json::text(&fold.settle())
}

/// The tree of what an import keeps behind its messages, in the order of the file.
fn replayed(format: &Format, bytes: &[u8], told: &Told) -> String {
    let mut stream = EventStream::of(format).expect("a format of events");
    let steps = told.sessions.iter().flat_map(|session| &session.steps);
    let spans: BTreeSet<Span> = steps.flat_map(|step| step.records.clone()).collect();
    let record = |span: Span| {
        let at = span.offset as usize..(span.offset + span.len) as usize;
        stream.record(&bytes[at])
    };
    settled(spans.into_iter().flat_map(record).collect())
}

fn hold_the_law(name: &str, format: &Format, bytes: &[u8]) {
    let whole = live(format, bytes, &[bytes.len()]);
    let tree = settled(whole.clone());
    for size in [1, 7, 64, 4096] {
        assert_eq!(
            live(format, bytes, &[size]),
            whole,
            "{name} in reads of {size}"
        );
    }
    let told = read(format, bytes);
    if told.sessions[0].steps.is_empty() {
        return;
    }
    assert_eq!(replayed(format, bytes, &told), tree, "{name}");
}

#[test]
fn live_and_replayed_trees_are_equal() {
    for (name, format, bytes) in own() {
        hold_the_law(&name, format, &bytes);
        // However soon it was cut.
        for end in memchr::memchr_iter(b'\n', &bytes) {
            hold_the_law(&name, format, &bytes[..end.saturating_sub(3)]);
        }
    }
}

#[test]
#[ignore = "reads the real streams beside TRACT_REAL_SESSIONS"]
fn live_and_replayed_trees_of_real_streams_are_equal() {
    let real = streams(&real_sessions().join("../streams"));
    assert!(!real.is_empty());
    for (name, format, bytes) in real {
        hold_the_law(&name, format, &bytes);
        for end in memchr::memchr_iter(b'\n', &bytes) {
            hold_the_law(&name, format, &bytes[..end]);
        }
    }
}

#[test]
fn each_stream_is_drawn_as_it_was() {
    for (name, format, bytes) in own() {
        let tree: serde_json::Value =
            serde_json::from_str(&settled(live(format, &bytes, &[99]))).expect("JSON");
        let name = Path::new(&name)
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let pretty = serde_json::to_string_pretty(&tree).expect("JSON");
        insta::assert_snapshot!(format!("{format}-{name}"), pretty);
    }
}

/// A message in brief.
fn brief(message: &Message) -> String {
    let part = |part: &Part| match part {
        Part::Text { text } => format!("{text:?}"),
        Part::Thinking { text, .. } => format!("thinking {text:?}"),
        Part::ToolCall { id, name, .. } => format!("call {id} {name}"),
        Part::ToolResult {
            call,
            content,
            is_error,
        } => {
            let text: Vec<String> = content.iter().map(|part| format!("{part:?}")).collect();
            let text = text
                .join(" ")
                .replace("Text { text: ", "")
                .replace(" }", "");
            format!(
                "{} {call} {text}",
                if *is_error { "failure" } else { "result" }
            )
        }
        other => other.type_name().to_owned(),
    };
    let parts: Vec<String> = message.parts.iter().map(part).collect();
    let cut = if message.interrupted {
        " (interrupted)"
    } else {
        ""
    };
    format!("{}{cut}: {}", message.role, parts.join(", "))
}

#[test]
fn each_stream_gives_the_messages_that_it_tells_of() {
    for (name, format, bytes) in own() {
        let told = read(format, &bytes);
        let steps = told.sessions[0].steps.iter().map(|step| {
            let what = match (&step.action, step.message()) {
                (_, Some(message)) => brief(message),
                (Action::Hide(hide), _) => {
                    format!("{} -> {}", hide.kind, brief(&hide.replacements[0].1))
                }
                _ => unreachable!("a step appends or hides"),
            };
            format!("{what}  [{} records]", step.records.len())
        });
        let steps: Vec<String> = steps.collect();
        let end = &told.sessions[0].end;
        let others = format!("others: {:?}", end.other_records);
        let name = Path::new(&name)
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let all = [steps, vec![others]].concat().join("\n");
        insta::assert_snapshot!(format!("messages-{format}-{name}"), all);
    }
}

#[test]
fn every_record_is_behind_a_message() {
    for (name, format, bytes) in own() {
        let told = read(format, &bytes);
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .filter_map(sse::record)
            .filter(|record| serde_json::from_slice::<serde_json::Value>(record).is_ok());
        let steps = told.sessions[0].steps.iter();
        let spans: BTreeSet<Span> = steps.flat_map(|step| step.records.clone()).collect();
        assert_eq!(spans.len(), lines.count(), "{name}");
    }
}

#[test]
fn messages_and_tree_say_the_same() {
    for (name, format, bytes) in own() {
        let told = read(format, &bytes);
        let tree = settled(live(format, &bytes, &[99]));
        for message in told.sessions[0].messages() {
            for part in &message.parts {
                let Part::Text { text } = part else { continue };
                let quoted = quoted(text);
                assert!(tree.contains(&quoted), "{name}: {quoted}");
            }
            assert!(
                !message.parts.is_empty() || message.role == Role::Tool,
                "{name}"
            );
        }
    }
}

#[test]
fn a_message_that_is_nested_too_deep_is_told_of_and_the_others_come_in() {
    let deep = format!("{}{}", "[".repeat(99), "]".repeat(99));
    let lines = [
        r#"{"type":"user_message","text":"go"}"#.to_owned(),
        format!(r#"{{"type":"tool_call_start","callId":"a","toolName":"f","arguments":"{deep}"}}"#),
        r#"{"type":"tool_result","callId":"a","result":"x"}"#.to_owned(),
    ];
    let bytes = lines.join("\n").into_bytes();
    let format = Format::named("event-log").expect("known");
    let told = read(format, &bytes);
    let roles: Vec<Role> = told.sessions[0].messages().iter().map(|m| m.role).collect();
    assert_eq!(roles, [Role::User, Role::Tool]);
    assert_eq!(told.problems[0].line, 2, "{:?}", told.problems);
    let tree = settled(live(format, &bytes, &[9]));
    assert_eq!(replayed(format, &bytes, &told), tree);
    assert!(tree.contains("[[["));
}

#[test]
fn what_was_cut_is_written_so_that_it_is_read_as_cut() {
    let said = |text: &str, interrupted| Message {
        interrupted,
        ..Message::text(Role::Assistant, text)
    };
    let user = Message::text(Role::User, "on");
    let messages = [
        said("Half a sen", true),
        user,
        said("A whole one.", false),
        said("And so", true),
    ];
    let outgoing = |message: &Message| Outgoing {
        message: message.clone(),
        time: None,
        settings: Settings::new().into(),
        usage: None,
        records: Vec::new(),
        replaces: Vec::new(),
        dollars: None,
        cited: Vec::new(),
        is_summary: false,
    };
    for name in ["event-log", "anthropic-stream", "openai-stream"] {
        let format = Format::named(name).expect("known");
        // A provider's stream holds no prompt.
        let holds = |message: &&Message| name == "event-log" || message.role == Role::Assistant;
        let messages: Vec<Message> = messages.iter().filter(holds).cloned().collect();
        let outgoing: Vec<Outgoing> = messages.iter().map(outgoing).collect();
        let (out, _) = written(format, &outgoing, &Document::default());
        let told = read(format, &out);
        let read: Vec<Message> = told.sessions[0].messages().into_iter().cloned().collect();
        assert_eq!(read, messages, "{name}");
    }
}

proptest! {
    #![proptest_config(laws(64))]

    /// However a stream is cut, mixed and split into reads, live and stored agree.
    #[test]
    fn any_split_of_any_stream_gives_the_same_tree(
        which in any::<Index>(),
        lines in proptest::collection::vec(any::<Index>(), 1..40),
        sizes in proptest::collection::vec(1..300_usize, 1..6),
    ) {
        let all = own();
        let (name, format, bytes) = which.get(&all);
        let records: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        // Any lines of it in any order, some twice.
        let mixed: Vec<u8> = lines.iter().flat_map(|line| line.get(&records).to_vec()).collect();
        let whole = live(format, &mixed, &[mixed.len()]);
        prop_assert_eq!(&live(format, &mixed, &sizes), &whole);
        let told = read(format, &mixed);
        if !told.sessions[0].steps.is_empty() {
            prop_assert_eq!(replayed(format, &mixed, &told), settled(whole), "{}", name);
        }
    }
}
