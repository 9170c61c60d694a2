//! Recorded bodies as they come in: each request is given back where it was sent, whatever a client did to its
//! context in between.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::compile::Provider;
use crate::conditions::{laws, real_sessions};
use crate::ingest::tool_dirs::walk_directory;
use crate::ingest::{ImportReport, ImportRequest, Outcome, import, sent};
use crate::model::{Millis, RefValue};
use crate::repo::Repo;

const FILES: &str = include_str!("../../../tests/data/bodies/files.jsonl");

fn bring_in(repo: &Repo, path: &Path) -> ImportReport {
    let request = ImportRequest::at(Millis(7), "import");
    import(repo, path, &request, &mut |_| {}).expect("imports")
}

/// What is given back at all commits that any ref of a session leads to.
fn given_back(repo: &Repo, provider: Provider) -> BTreeSet<String> {
    let refs = repo.references("refs/sessions/").expect("refs");
    let tips = refs.into_iter().filter_map(|(_, value)| match value {
        RefValue::Commit(tip) => Some(tip),
        RefValue::Symbolic(_) => None,
    });
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    for tip in tips {
        let view = repo.store.read().expect("a view");
        let path = view.ancestors(&tip, None, usize::MAX).expect("a path");
        for row in path {
            if !seen.insert(row.hash) {
                continue;
            }
            let context = repo.context(&row.hash).expect("a context");
            let settings = repo.settings(&context).expect("settings");
            let body = sent(repo, &context, &row.hash, &settings, provider).expect("looks");
            found.extend(body.map(|body| sorted(&body)));
        }
    }
    found
}

/// JSON by its meaning.
fn sorted(text: &str) -> String {
    fn sort(value: Value) -> Value {
        match value {
            Value::Object(fields) => {
                let mut fields: Vec<_> = fields.into_iter().collect();
                fields.sort_by(|one, other| one.0.cmp(&other.0));
                fields
                    .into_iter()
                    .map(|(key, it)| (key, sort(it)))
                    .collect()
            }
            Value::Array(items) => items.into_iter().map(sort).collect(),
            value => value,
        }
    }
    sort(serde_json::from_str(text).expect("JSON")).to_string()
}

/// A folder with a file for each line, written a second after each other.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (number, line) in FILES.lines().enumerate() {
        put(folder.path(), number as u64, line);
    }
    folder
}

fn put(folder: &Path, number: u64, line: &str) -> PathBuf {
    let line: Value = serde_json::from_str(line).expect("JSON");
    let path = folder.join(line["file"].as_str().expect("a name"));
    // Some clients write it over several lines.
    let text = serde_json::to_string_pretty(&line["body"]).expect("JSON");
    written_at(&path, &text, number);
    path
}

fn written_at(path: &Path, text: &str, second: u64) {
    fs::write(path, text).expect("written");
    let file = fs::File::options().write(true).open(path);
    let time = UNIX_EPOCH + Duration::from_secs(1_770_000_000 + second);
    file.and_then(|file| file.set_modified(time)).expect("set");
}

#[test]
fn a_folder_of_bodies_is_one_source_and_goes_on() {
    let folder = folder();
    let (at, repo) = (folder.path(), Repo::ephemeral().expect("a repository"));
    assert_eq!(walk_directory(at), [at]);
    let late: Vec<&str> = FILES.lines().skip(6).collect();
    let later = [
        "00000007-0000-4000-8000-000000000000.request.json",
        "00000008-0000-4000-8000-000000000000.response.json",
    ];
    for name in later {
        fs::remove_file(at.join(name)).expect("gone");
    }
    let first = bring_in(&repo, at);
    assert_eq!(first.problem_count, 0, "{:?}", first.problems);
    let commits: Vec<u64> = first.sessions.iter().map(|it| it.new_commits).collect();
    assert_eq!(commits, [5, 2]);
    assert_eq!(given_back(&repo, Provider::Anthropic).len(), 3);

    let same = bring_in(&repo, at);
    assert!(
        same.sessions
            .iter()
            .all(|it| it.outcome == Outcome::Unchanged)
    );
    for (number, line) in (6..).zip(late) {
        put(at, number, line);
    }
    let grown = bring_in(&repo, at);
    let told: Vec<(u64, Outcome)> = grown
        .sessions
        .iter()
        .map(|it| (it.new_commits, it.outcome))
        .collect();
    assert_eq!(told, [(0, Outcome::Unchanged), (2, Outcome::Grown)]);
    assert_eq!(given_back(&repo, Provider::Anthropic).len(), 4);
}

#[test]
fn what_is_half_written_is_named_and_comes_in_later() {
    let folder = folder();
    let (at, repo) = (folder.path(), Repo::ephemeral().expect("a repository"));
    let torn = at.join("00000003-0000-4000-8000-000000000000.request.json");
    let whole = fs::read_to_string(&torn).expect("read");
    written_at(&torn, &whole[..whole.len() / 2], 9);
    written_at(&at.join("list.request.json"), "no JSON", 1);
    fs::create_dir(at.join("folder.request.json")).expect("made");
    let report = bring_in(&repo, at);
    let reasons = |problems: &[crate::formats::Problem]| -> Vec<String> {
        problems.iter().map(|it| it.reason.clone()).collect()
    };
    let damage = reasons(&report.problems);
    assert_eq!(damage.len(), 1, "{damage:?}");
    assert!(
        damage[0].starts_with("list.request.json: bad JSON"),
        "{damage:?}"
    );
    let notes = reasons(&report.notes);
    assert!(notes[0].starts_with("00000003-"), "{notes:?}");
    assert_eq!(given_back(&repo, Provider::Anthropic).len(), 3);

    written_at(&torn, &whole, 9);
    bring_in(&repo, at);
    assert_eq!(given_back(&repo, Provider::Anthropic).len(), 4);
}

/// Requests of one session, each with its messages by number: odd ones are the model's.
fn requests(lists: &[Vec<usize>]) -> Vec<Value> {
    let message = |number: &usize| match number % 4 {
        0 | 2 => json!({"role": "user", "content": format!("prompt {number}")}),
        1 => json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "so", "signature": "s"},
            {"type": "text", "text": format!("reply {}", number / 4)}]}),
        _ => json!({"role": "assistant", "content": [
            {"type": "text", "text": format!("reply {}", number / 4)}]}),
    };
    let body = |list: &Vec<usize>| {
        let messages: Vec<Value> = list.iter().map(message).collect();
        json!({"model": "m", "max_tokens": list.len() % 3, "system": "Be brief.",
            "tools": [{"name": "look", "input_schema": {"type": "object"}}],
            "metadata": {"user_id": "user_0_session_s1"}, "messages": messages})
    };
    lists.iter().map(body).collect()
}

fn come_back(
    bodies: &[Value],
    line: impl Fn(&Value) -> Value,
    provider: Provider,
) -> (usize, usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("recorded.jsonl");
    let lines: Vec<String> = bodies.iter().map(|body| line(body).to_string()).collect();
    fs::write(&path, lines.join("\n") + "\n").expect("written");
    let repo = Repo::ephemeral().expect("a repository");
    bring_in(&repo, &path);
    let found = given_back(&repo, provider);
    let is_found = |body: &&Value| found.contains(&sorted(&body.to_string()));
    (bodies.iter().filter(is_found).count(), bodies.len())
}

proptest! {
    #![proptest_config(laws(64))]

    /// Whatever a client takes out, puts in or says otherwise between two requests, each is given back.
    #[test]
    fn whatever_lists_are_sent_each_is_given_back(
        lists in prop::collection::vec(prop::collection::vec(0_usize..9, 1..7), 1..7)
    ) {
        let bodies = requests(&lists);
        let (found, all) = come_back(&bodies, |body| json!({"body": body}), Provider::Anthropic);
        prop_assert_eq!(found, all);
    }
}

/// The recorded requests of a story, written out: what is said once is put back wherever it was sent.
fn recorded(story: &Path) -> Vec<Value> {
    let text = fs::read_to_string(story.join("requests.jsonl")).expect("the requests");
    let mut rows: Vec<Value> = Vec::new();
    for line in text.lines() {
        let mut row: Value = serde_json::from_str(line).expect("JSON");
        let body = row["body"].as_object_mut().expect("an object");
        for (key, value) in body.iter_mut() {
            let same = value
                .as_str()
                .and_then(|text| text.strip_prefix("same as "));
            if let Some(number) = same {
                let number: usize = number.parse().expect("a number");
                *value = rows[number - 1]["body"][key].clone();
            }
            if !["messages", "input"].contains(&key.as_str()) {
                continue;
            }
            let mine = value.clone();
            for message in value.as_array_mut().into_iter().flatten() {
                let place = |at: usize| message["same_as"][at].as_u64().map(|it| it as usize);
                if let (Some(number), Some(at)) = (place(0), place(1)) {
                    let list = rows.get(number - 1).map_or(&mine, |row| &row["body"][key]);
                    *message = list[at].clone();
                }
            }
        }
        rows.push(row);
    }
    rows
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn every_recorded_request_is_given_back() {
    let live = real_sessions().join("../live");
    let clients = [
        ("claude-code", Provider::Anthropic),
        ("codex", Provider::Responses),
        ("opencode", Provider::Anthropic),
    ];
    let (mut found, mut all) = (0, 0);
    for (client, provider) in clients {
        let Ok(stories) = fs::read_dir(live.join(client)) else {
            eprintln!("skipped: no recorded requests of {client} beside TRACT_REAL_SESSIONS");
            continue;
        };
        let (mut here, mut total) = (0, 0);
        for story in stories {
            let story = story.expect("a story").path();
            if !story.join("requests.jsonl").is_file() {
                continue;
            }
            let rows = recorded(&story);
            let bodies: Vec<Value> = rows.iter().map(|row| row["body"].clone()).collect();
            let headers = |body: &Value| {
                let row = rows
                    .iter()
                    .find(|row| row["body"] == *body)
                    .expect("its row");
                json!({"headers": row["headers"], "body": body})
            };
            let (with, count) = come_back(&bodies, headers, provider);
            // What headers say the bodies show as well.
            let (without, _) = come_back(&bodies, |body| json!({"body": body}), provider);
            assert_eq!((with, without), (count, count), "{}", story.display());
            (here, total) = (here + with, total + count);
        }
        println!("{client}: {here} of {total} requests");
        (found, all) = (found + here, all + total);
    }
    println!("together {found} of {all}");
    assert!(all > 500 && found == all, "{found} of {all}");
}
