//! The same laws over real rollouts.

use std::collections::HashMap;
use std::fs;

use serde_json::Value;

use crate::conditions::real_sessions;

use super::{Collected, finished, slice};

pub(super) fn real() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(real_sessions().join("codex"))
        .expect("the folder of real sessions")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            (name.into_owned(), fs::read(&path).expect("a file"))
        })
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Every value of every line, by a reader of its own.
fn values(bytes: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(bytes);
    let stream = serde_json::Deserializer::from_str(&text).into_iter();
    stream.map_while(Result::ok).collect()
}

/// Appended messages and hides, counted with a letter a record.
fn count(bytes: &[u8]) -> (usize, usize) {
    let mut letters = String::new();
    let mut total = Value::Null;
    let (mut system, mut hides) = (false, 0);
    for value in values(bytes) {
        let payload = value.get("payload").unwrap_or(&value);
        let (outer, inner) = (value["type"].as_str(), payload["type"].as_str());
        if value.get("payload").is_none() || outer == Some("response_item") {
            letters.push(match (inner, payload["role"].as_str()) {
                (Some("message"), Some("assistant")) => 'a',
                (Some("message"), _) => 'u',
                (Some(kind), _) if kind.ends_with("_output") => 'o',
                (Some(_), _) => 'a',
                (None, _) => ' ',
            });
        }
        let prompt = &payload["base_instructions"]["text"];
        system |= prompt.is_string() || payload["instructions"].is_string();
        match (outer, inner) {
            (Some("compacted"), _) => hides += 1,
            (Some("turn_context"), _) => letters.push('|'),
            (_, Some("task_started" | "task_complete" | "turn_aborted")) => letters.push('|'),
            (_, Some("token_count")) => {
                let now = &payload["info"]["total_token_usage"];
                if !now.is_null() && *now != total {
                    total = now.clone();
                    letters.push('|');
                }
            }
            _ => {}
        }
    }
    let letters = letters.replace(' ', "");
    let single = letters.matches(['u', 'o']).count();
    let replies = letters
        .split(['u', 'o', '|'])
        .filter(|run| !run.is_empty())
        .count();
    (single + replies + usize::from(system), hides)
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn message_counts_agree_with_an_independent_count() {
    for (name, bytes) in real() {
        let collected = Collected::of(&bytes);
        let found = (collected.messages().len(), collected.hides().len());
        eprintln!("{name}: {found:?} {:?}", collected.problems);
        assert_eq!(found, count(&bytes), "{name}");
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn every_item_is_behind_one_step() {
    for (name, bytes) in real() {
        let collected = Collected::of(&bytes);
        let mut behind: HashMap<u64, usize> = HashMap::new();
        let mut items = 0;
        for step in &collected.steps {
            assert!(!step.records.is_empty(), "{name}");
            assert!(step.records.is_sorted(), "{name}");
            for span in &step.records {
                *behind.entry(span.offset).or_default() += 1;
                let value: Value = serde_json::from_str(slice(&bytes, *span)).expect("JSON");
                let payload = value.get("payload").unwrap_or(&value);
                let bare = value.get("payload").is_none() && payload["type"].is_string();
                items += usize::from(bare || value["type"] == "response_item");
            }
        }
        assert!(behind.values().all(|count| *count == 1), "{name}");
        let expected = values(&bytes).into_iter().filter(|value| {
            value["type"] == "response_item"
                || value.get("payload").is_none() && value["type"].is_string()
        });
        assert_eq!(items, expected.count(), "{name}");
        let others: u64 = collected.end.other_records.values().sum();
        let records = behind.len() as u64 + others;
        assert_eq!(records, values(&bytes).len() as u64, "{name}");
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn only_damage_is_a_problem() {
    for (name, bytes) in real() {
        let lines: Vec<u64> = Collected::of(&bytes)
            .problems
            .iter()
            .map(|problem| problem.line)
            .collect();
        let glued = name.starts_with("gitsync-fb72ba1a");
        assert_eq!(lines, if glued { vec![1837] } else { vec![] }, "{name}");
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn growth_only_adds() {
    let files = real();
    for (name, bytes) in &files {
        let whole = Collected::of(bytes);
        for part in 1..12 {
            let first_line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0);
            let cut = (bytes.len() * part / 12).max(first_line);
            let before = Collected::of(&bytes[..cut]);
            let steps = finished(&before.steps);
            assert_eq!(steps, &whole.steps[..steps.len()], "{name} at {cut}");
            assert_eq!(before.start, whole.start, "{name} at {cut}");
        }
    }
    let by_name: HashMap<_, _> = files.iter().map(|(n, b)| (n.as_str(), b)).collect();
    let (Some(one), Some(two)) = (
        by_name.get("agentv-019ed50c-growth-1.jsonl"),
        by_name.get("agentv-019ed50c-growth-2.jsonl"),
    ) else {
        return;
    };
    let (one, two) = (Collected::of(one), Collected::of(two));
    let steps = finished(&one.steps);
    assert_eq!(steps, &two.steps[..steps.len()]);
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn a_fork_shares_its_parents_prefix() {
    let files: HashMap<_, _> = real().into_iter().collect();
    let (Some(parent), Some(fork)) = (
        files.get("gitsync-019d7d08-parent.jsonl"),
        files.get("gitsync-019d7e2f-subagent-fork.jsonl"),
    ) else {
        return;
    };
    let (parent, fork) = (Collected::of(parent), Collected::of(fork));
    assert_eq!(fork.start.forked_from, Some(parent.start.id.clone()));
    let pairs = parent.steps.iter().zip(&fork.steps);
    let shared = pairs.take_while(|(a, b)| a.action == b.action && a.settings == b.settings);
    let shared = shared.count();
    eprintln!("shared {shared} of {}", fork.steps.len());
    assert!(shared > 100, "{shared}");
}
