//! What was seen live, what is seen of what was stored, and the file's own tree are one.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::Index;
use tract::formats::sniff::sniff;
use tract::ingest::{ImportRequest, Scope, import, replay, tree_of_file};
use tract::model::{Draft, EntryId, Message, Millis, Role};
use tract::repo::{Call, CommitOptions, On, Repo};
use tract::tree::json;

use crate::conditions::{laws, real_sessions};
use crate::oracles::streams::{hold_replayed, imported, live, stored};

pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|file| file.expect("a file").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|e| e == "jsonl" || e == "json" || e == "sse")
        })
        .collect();
    found.sort();
    found
}

/// The same, those in folders inside it included.
fn all_files(folder: &Path) -> Vec<PathBuf> {
    let inside = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|file| file.expect("a file").path());
    let folders = inside.filter(|path| path.is_dir());
    let mut found: Vec<PathBuf> = folders.flat_map(|folder| all_files(&folder)).collect();
    found.extend(files(folder));
    found
}

pub fn own(formats: &[&str]) -> Vec<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    formats
        .iter()
        .flat_map(|format| files(&data.join(format)))
        .collect()
}

pub const STREAMS: [&str; 6] = [
    "event-log",
    "claude-stream",
    "codex-exec",
    "anthropic-stream",
    "openai-stream",
    "responses-stream",
];

#[test]
fn live_stored_and_the_files_own_tree_are_equal() {
    for path in own(&STREAMS) {
        let bytes = std::fs::read(&path).expect("readable");
        hold_replayed(&bytes, 13, &path.display().to_string());
    }
}

#[test]
#[ignore = "reads the real streams beside TRACT_REAL_SESSIONS"]
fn live_stored_and_the_files_own_tree_of_real_streams_are_equal() {
    let real = files(&real_sessions().join("../streams"));
    assert!(!real.is_empty());
    for path in real {
        let bytes = std::fs::read(&path).expect("readable");
        for size in [1, 1000] {
            hold_replayed(&bytes, size, &path.display().to_string());
        }
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn every_real_session_has_a_tree_and_what_was_stored_has_the_same() {
    let mut seen = 0;
    for path in all_files(&real_sessions()) {
        let bytes = std::fs::read(&path).expect("readable");
        let Some(_) = sniff(&bytes.as_slice()).expect("readable") else {
            continue;
        };
        let Ok(tree) = tree_of_file(&path, None) else {
            continue;
        };
        seen += 1;
        let text = json::text(&tree);
        assert!(!text.contains(r#""kind":"typing""#), "{}", path.display());
        if let Some(repo) = imported(&path) {
            assert_eq!(stored(&repo), text, "{}", path.display());
        }
    }
    assert!(seen > 10, "only {seen} sessions were seen");
}

proptest! {
    #![proptest_config(laws(48))]

    /// Of any lines of a stream, in any order, some of them twice, in any reads.
    #[test]
    fn any_stream_holds_the_law(
        which in any::<Index>(),
        lines in proptest::collection::vec(any::<Index>(), 1..40),
        size in 1..400_usize,
    ) {
        let paths = own(&STREAMS);
        let path = which.get(&paths);
        let bytes = std::fs::read(path).expect("readable");
        let records: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let mixed: Vec<u8> = lines.iter().flat_map(|line| line.get(&records).to_vec()).collect();
        if matches!(sniff(&mixed.as_slice()), Ok(Some(format)) if format.events.is_some()) {
            hold_replayed(&mixed, size, &path.display().to_string());
        }
    }
}

/// A line of an event log, of either generation, that says something no other line says.
pub fn line(number: usize) -> impl Strategy<Value = String> {
    let id = |names: [&'static str; 3]| proptest::sample::select(names.to_vec());
    let which = proptest::sample::select(vec![
        "turn_start",
        "turn_end",
        "user_message",
        "user_message",
        "assistant_chunk",
        "assistant_chunk",
        "assistant_done",
        "assistant_message",
        "thinking_chunk",
        "thinking_done",
        "tool_call",
        "tool_call",
        "tool_call_start",
        "tool_input_chunk",
        "tool_output_chunk",
        "tool_result",
        "tool_result",
        "agent_message",
        "agent_callback",
        "summary_message",
        "interrupt",
        "error",
        "custom_message",
        "something_new",
    ]);
    let ids = (
        id(["", "t1", "t2"]),
        id(["", "r1", "r2"]),
        id(["c1", "c2", "c3"]),
        id(["", "", "c1"]),
    );
    (which, ids, any::<bool>(), 0..9_u64).prop_map(move |(kind, ids, flat, sequence)| {
        let (turn, response, call, parent) = ids;
        let text = format!("<{number}>");
        let mut body = serde_json::json!({
            "text": text, "chunk": text, "result": text, "message": text,
            "toolCallId": call, "toolName": "ls", "args": {"n": number}, "offset": number,
            "messageId": call, "targetAgentId": "coder", "summaryType": "compaction",
        });
        if !parent.is_empty() {
            body["parentToolCallId"] = parent.into();
        }
        let mut line = if flat {
            body.clone()
        } else {
            serde_json::json!({"payload": body})
        };
        line["type"] = kind.into();
        line["id"] = format!("e{number}").into();
        line["sessionId"] = "walk".into();
        line["timestamp"] = (number * 1000).into();
        for (key, id) in [("turnId", turn), ("responseId", response)] {
            if !id.is_empty() {
                line[key] = id.into();
            }
        }
        if sequence > 6 {
            line["revision"] = 1.into();
            line["sequence"] = ((number as u64 * 7) % 11 + sequence).into();
        }
        line.to_string()
    })
}

proptest! {
    #![proptest_config(laws(128))]

    /// Of any stream at all.
    #[test]
    fn any_generated_stream_holds_the_law(
        lines in (1..25_usize).prop_flat_map(|count| (0..count).map(line).collect::<Vec<_>>()),
        size in 1..200_usize,
        cut in 0..30_usize,
    ) {
        let mut bytes = lines.join("\n").into_bytes();
        bytes.truncate(bytes.len().saturating_sub(cut).max(1));
        if matches!(sniff(&bytes.as_slice()), Ok(Some(format)) if format.events.is_some()) {
            hold_replayed(&bytes, size, "generated");
        }
    }
}

/// The tree of the whole order in brief: kinds, states, what hid them, texts.
fn brief(repo: &Repo, scope: Scope) -> String {
    fn below(node: &serde_json::Value, depth: usize, lines: &mut String) {
        for item in node["items"].as_array().into_iter().flatten() {
            let word = |key: &str| item[key].as_str().map(str::to_owned);
            let keys = [
                "kind", "turn", "response", "state", "line", "text", "hidden",
            ];
            let words: Vec<String> = keys.iter().filter_map(|key| word(key)).collect();
            *lines += &format!("{}{}\n", "  ".repeat(depth), words.join(" | "));
            below(item, depth + 1, lines);
        }
    }
    let tip = repo
        .head(&On::Head)
        .expect("a head")
        .commit()
        .expect("a commit");
    let tree = replay(repo, &tip, scope).expect("replays").tree;
    let mut lines = String::new();
    let root = serde_json::from_str(&json::text(&tree)).expect("JSON");
    below(&root, 0, &mut lines);
    lines
}

#[test]
fn a_growing_file_is_replayed_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stream.jsonl");
    for source in own(&STREAMS) {
        let bytes = std::fs::read(&source).expect("readable");
        let half = bytes.len() / 2;
        std::fs::write(&path, &bytes[..half]).expect("written");
        let Some(repo) = imported(&path) else {
            continue;
        };
        std::fs::write(&path, &bytes).expect("written");
        let request = ImportRequest::at(Millis(0), "import");
        let report = import(&repo, &path, &request, &mut |_| {}).expect("imports");
        let name = &report.sessions[0].name;
        let tips = repo.references(name.as_str()).expect("refs");
        let tip = tips.iter().find_map(|(of, value)| match value {
            tract::model::RefValue::Commit(tip) if of == name => Some(*tip),
            _ => None,
        });
        let all = replay(&repo, &tip.expect("a session"), Scope::All).expect("replays");
        assert_eq!(
            json::text(&all.tree),
            live(&bytes, 99),
            "{}",
            source.display()
        );
    }
}

#[test]
fn what_was_edited_or_added_by_hand_stands_where_it_belongs() {
    let data = own(&["event-log"]);
    let path = data
        .iter()
        .find(|path| path.ends_with("new.jsonl"))
        .expect("a log");
    let repo = imported(path).expect("messages");
    let tip = repo
        .head(&On::Head)
        .expect("a head")
        .commit()
        .expect("a commit");
    let context = repo.context(&tip).expect("a context");
    let target: EntryId = context.entries[4].id;
    let edit = Draft::edit(
        target,
        Message::text(Role::Assistant, "Heron, wren, and so on."),
    );
    let more = Draft::append(Message::text(Role::User, "Go on."));
    let done = repo.commit(Call::default(), &[edit, more], &CommitOptions::default());
    done.expect("commits");
    insta::assert_snapshot!(brief(&repo, Scope::All));
}
