//! The law of bills: of sessions that begin alike, of their forks and of copies of them, every request is billed once, and
//! what all come to is what a count over the files makes of it, by the ids of messages and requests.

use std::collections::HashMap;
use std::io::Cursor;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::ingest::{ImportRequest, import};
use crate::model::price::Prices;
use crate::model::retention::Expire;
use crate::model::{Millis, RefName};
use crate::repo::{Call, Repo, Target};
use crate::rewrite::SurgeryOptions;
use crate::sync::BundleTip;

const WORDS: [&str; 2] = ["Hello.", "Go on."];
const ANSWERS: [&str; 2] = ["Hi, what is it about?", "Done."];

/// A session: which earlier one it is a copy of, up to where, and what is said then. Few words and counts, so that all of
/// them come again.
#[derive(Clone, Debug)]
struct Talk {
    copied: Option<(prop::sample::Index, prop::sample::Index)>,
    /// A word, an answer, which counts, and whether the answer is two records.
    turns: Vec<(usize, usize, u64, bool)>,
    /// Whether the provider names requests. Where it does not, messages of other sessions have the same ids.
    is_named: bool,
}

fn talks() -> impl Strategy<Value = Vec<Talk>> {
    let copied = prop::option::of(any::<(prop::sample::Index, prop::sample::Index)>());
    let turns = prop::collection::vec((0..2_usize, 0..2_usize, 0..2_u64, any::<bool>()), 1..4);
    let talk = (copied, turns, any::<bool>()).prop_map(|(copied, turns, is_named)| Talk {
        copied,
        turns,
        is_named,
    });
    prop::collection::vec(talk, 1..7)
}

fn id(session: usize) -> String {
    format!("5e551{session:03}-0000-4000-8000-000000000001")
}

/// The records of all sessions.
fn files(talks: &[Talk]) -> Vec<Vec<Value>> {
    let mut files: Vec<Vec<Value>> = Vec::new();
    let mut clock = 0;
    for (session, talk) in talks.iter().enumerate() {
        let copied = talk.copied.filter(|_| session > 0);
        let mut records: Vec<Value> = copied.map_or_else(Vec::new, |(of, up_to)| {
            let of = of.get(&files);
            of[..=up_to.index(of.len())].to_vec()
        });
        for (word, answer, counts, is_long) in &talk.turns {
            let turn = records.len();
            let mut say = |kind: &str, message: Value, request: Option<String>| {
                clock += 1;
                let mut record = json!({
                    "parentUuid": records.last().map(|record| record["uuid"].clone()),
                    "isSidechain": false, "cwd": "/home/ada/mill", "version": "2.1.332", "type": kind,
                    "uuid": format!("{session:08}-0000-4000-8000-{clock:012}"),
                    "timestamp": format!("2026-11-20T10:{:02}:{:02}.{:03}Z", clock / 60, clock % 60, clock % 1_000),
                    "message": message,
                });
                if let Some(request) = request {
                    record["requestId"] = request.into();
                }
                records.push(record);
            };
            say(
                "user",
                json!({"role": "user", "content": WORDS[*word]}),
                None,
            );
            let name = match talk.is_named {
                true => format!("msg_{session}_{turn}"),
                false => format!("msg_{turn}"),
            };
            let mut answer = vec![ANSWERS[*answer]];
            answer.extend(is_long.then_some("That is all."));
            for text in answer {
                let message = json!({
                    "id": name, "type": "message", "role": "assistant", "model": "claude-opus-4-8",
                    "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
                    "usage": {"input_tokens": 10 + counts, "output_tokens": 3, "cache_read_input_tokens": 50},
                });
                let request = format!("req_{session}_{turn}");
                say("assistant", message, talk.is_named.then_some(request));
            }
        }
        for record in &mut records {
            record["sessionId"] = id(session).into();
        }
        files.push(records);
    }
    files
}

/// How many requests these files tell of, and what was counted for them: by message and request, and where requests have
/// no names, by message and the time of its first record.
fn counted(files: &[&Vec<Value>]) -> (usize, u64) {
    let mut requests: HashMap<(String, String), u64> = HashMap::new();
    for records in files {
        let mut began: HashMap<String, String> = HashMap::new();
        let mut last = String::new();
        for record in *records {
            let message = record["message"]["id"].as_str().unwrap_or_default();
            if record["type"] == "assistant" {
                let time = record["timestamp"].as_str().expect("a time");
                if last != message {
                    began.insert(message.to_owned(), time.to_owned());
                }
                let request = record["requestId"].as_str().unwrap_or(&began[message]);
                let usage = &record["message"]["usage"];
                let tokens = usage["input_tokens"].as_u64().expect("a count");
                requests.insert((message.to_owned(), request.to_owned()), tokens);
            }
            message.clone_into(&mut last);
        }
    }
    (requests.len(), requests.values().sum())
}

/// The same by the bill.
fn billed(repo: &Repo) -> (usize, u64) {
    let billed = repo.billed(None, &Prices::none()).expect("a bill");
    let tokens = billed.iter().map(|reply| reply.usage.uncached_tokens());
    (billed.len(), tokens.sum())
}

fn bring_in(repo: &Repo, path: &Path, now: usize) -> Option<RefName> {
    let request = ImportRequest::at(Millis(now as i64), "import");
    let report = import(repo, path, &request, &mut |_| {}).expect("imports");
    report.sessions[0].branch.name().cloned()
}

proptest! {
    #![proptest_config(crate::conditions::laws(48))]

    #[test]
    fn every_request_is_billed_once(
        talks in talks(),
        order in prop::collection::vec(any::<prop::sample::Index>(), 7),
        which in any::<prop::sample::Index>(),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let files = files(&talks);
        let path = |session: usize| folder.path().join(id(session)).with_extension("jsonl");
        for (session, records) in files.iter().enumerate() {
            let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
            std::fs::write(path(session), lines.concat()).expect("written");
        }
        let mut left: Vec<usize> = (0..files.len()).collect();
        let mut order: Vec<usize> = order.iter().map_while(|at| {
            (!left.is_empty()).then(|| left.remove(at.index(left.len())))
        }).collect();
        order.extend(left);
        let all: Vec<&Vec<Value>> = files.iter().collect();

        let repo = super::repository();
        let mut branch = None;
        for (at, session) in order.iter().enumerate() {
            let before: Vec<&Vec<Value>> = order[..at].iter().map(|it| &files[*it]).collect();
            // Taken back, it is as if it never came; once more, it adds nothing.
            bring_in(&repo, &path(*session), at);
            repo.undo(None, Millis(at as i64)).expect("undone");
            prop_assert_eq!(billed(&repo), counted(&before), "before {} in {:?}", session, order);
            for _ in 0..2 {
                let made = bring_in(&repo, &path(*session), at);
                branch = made.filter(|_| at <= which.index(order.len())).or(branch);
                let now: Vec<&Vec<Value>> = before.iter().copied().chain([&files[*session]]).collect();
                prop_assert_eq!(billed(&repo), counted(&now), "with {} in {:?}", session, order);
            }
        }
        let now = order.len() as i64;
        repo.gc(Expire::Now, Millis(now), &mut |_| {}).expect("collected");
        prop_assert_eq!(billed(&repo), counted(&all), "after a collection");

        let sessions = repo.references(RefName::SESSIONS).expect("refs").into_iter();
        let tips = sessions.map(|(name, _)| BundleTip::of(&repo, &name).expect("reads").expect("a tip"));
        let tips: Vec<BundleTip> = tips.collect();
        for has_files in [true, false] {
            let (bundle, _) = repo.bundle(&tips, has_files).expect("bundled");
            let there = super::repository();
            let call = Call::at(Millis(now), "unbundle");
            there.unbundle(call, &mut Cursor::new(bundle), &mut |_| {}).expect("taken");
            prop_assert_eq!(billed(&there), counted(&all), "elsewhere, with files: {}", has_files);
        }

        if let Some(branch) = branch {
            let call = Call::at(Millis(now + 1), "purge");
            repo.checkout(call, &Target::Named(branch.short().to_owned())).expect("there");
            repo.clear(call, true, &SurgeryOptions::default()).expect("cleared");
            repo.purge(call).expect("purged");
            prop_assert_eq!(billed(&repo), counted(&all), "after a purge");
            for session in &order {
                bring_in(&repo, &path(*session), order.len() + 2);
            }
            prop_assert_eq!(billed(&repo), counted(&all), "after a purge, once more");
        }
        repo.second_reading()?;
    }
}
