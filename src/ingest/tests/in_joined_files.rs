//! Sessions in several files: they are found by the one that shows them, no part is a session of its own, and what they
//! grow by comes in.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::formats::Format;
use crate::ingest::database::Listings;
use crate::ingest::tool_dirs::{ToolDirs, changed_by, walk_directory};
use crate::ingest::{
    ImportReport, ImportRequest, Outcome, has_changed, import, known_stamp, stamp,
};
use crate::model::Millis;
use crate::repo::Repo;

const CLINE: &str = "1793000000000_mill1";

fn bring_in(repo: &Repo, path: &Path) -> ImportReport {
    let request = ImportRequest::at(Millis(7), "import");
    import(repo, path, &request, &mut |_| {}).expect("imports")
}

/// A copy of a folder of `tests/data`.
fn copy_of(folder: &str, to: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(folder);
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("it has one");
        if path.is_dir() {
            let inside = format!("{folder}/{}", name.to_string_lossy());
            copy_of(&inside, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).expect("copied");
        }
    }
}

fn names(paths: &[PathBuf], root: &Path) -> Vec<String> {
    let names = paths
        .iter()
        .map(|path| path.strip_prefix(root).expect("it is inside"));
    names
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

#[test]
fn the_file_that_shows_a_session_stands_for_all_of_them() {
    let home = tempfile::tempdir().expect("a directory");
    let cline = home.path().join("cline/data/sessions").join(CLINE);
    let vibe = home.path().join("vibe/logs/session/unified/5e0f");
    copy_of(&format!("cline-cli/{CLINE}"), &cline);
    copy_of("mistral-vibe/store", &vibe);
    fs::write(vibe.join("notes.json"), "{}").expect("written");
    let found = walk_directory(home.path());
    let (own, agents) = (
        format!("{CLINE}.messages.json"),
        "agent_1793000004100_scout.messages.json",
    );
    let below = |name: &str| format!("cline/data/sessions/{CLINE}/{name}");
    assert_eq!(
        names(&found, home.path()),
        [
            below(&own),
            below(agents),
            "vibe/logs/session/unified/5e0f/CURRENT".to_owned(),
            "vibe/logs/session/unified/5e0f/notes.json".to_owned(),
        ]
    );
    for (path, shown) in [
        (
            cline.join(format!("{CLINE}.compaction.json")),
            cline.join(&own),
        ),
        (cline.join(agents), cline.join(agents)),
        (
            vibe.join("journal/0000000000000013.jsonl"),
            vibe.join("CURRENT"),
        ),
        (
            vibe.join("generations/1/manifest.json"),
            vibe.join("CURRENT"),
        ),
        (vibe.join("notes.json"), vibe.join("notes.json")),
    ] {
        assert_eq!(changed_by(&path), Some(shown), "{path:?}");
    }
    // Those that one would go on with, wherever they ran.
    let of = |name, folder: &str| {
        (
            Format::named(name).expect("known"),
            home.path().join(folder),
        )
    };
    let dirs = ToolDirs(vec![of("cline-cli", "cline"), of("mistral-vibe", "vibe")]);
    let shown = [cline.join(&own), vibe.join("CURRENT")];
    let mut sessions: Vec<PathBuf> = dirs.sessions().into_iter().map(|it| it.path).collect();
    sessions.sort();
    assert_eq!(sessions, shown);
    let mut here: Vec<PathBuf> = dirs
        .sessions_of(Path::new("/home/mara/mill"))
        .into_iter()
        .map(|it| it.path)
        .collect();
    here.sort();
    assert_eq!(here, shown);
    assert!(dirs.sessions_of(Path::new("/elsewhere")).is_empty());
}

#[test]
fn what_a_session_in_several_files_grows_by_comes_in() {
    let home = tempfile::tempdir().expect("a directory");
    let (repo, folder) = (
        Repo::ephemeral().expect("a repository"),
        home.path().join(CLINE),
    );
    copy_of(&format!("cline-cli/{CLINE}"), &folder);
    let shown = folder.join(format!("{CLINE}.messages.json"));
    let beside = folder.join(format!("{CLINE}.compaction.json"));
    let compaction = fs::read_to_string(&beside).expect("read");
    let whole = fs::read_to_string(&shown).expect("read");
    // Before it was compacted.
    let end = whole
        .find(",\n    {\n      \"id\": \"n1\"")
        .expect("it is there");
    let rest = whole
        .find("\n  ],\n  \"system_prompt\"")
        .expect("it is there");
    fs::write(&shown, format!("{}{}", &whole[..end], &whole[rest..])).expect("written");
    fs::remove_file(&beside).expect("removed");
    let first = bring_in(&repo, &shown);
    assert_eq!((first.problem_count, first.sessions[0].messages), (0, 10));
    assert_eq!(
        known_stamp(&repo, &shown).expect("looks"),
        Some(stamp(&shown).expect("looks"))
    );
    // A compaction alone is a change.
    fs::write(&beside, &compaction).expect("written");
    assert_eq!(
        has_changed(&repo, &shown, &mut Listings::default()).expect("looks"),
        Some(true)
    );
    let second = bring_in(&repo, &shown);
    let session = &second.sessions[0];
    assert_eq!(
        (session.outcome, session.new_commits, session.hides.len()),
        (Outcome::Grown, 1, 1)
    );
    fs::write(&shown, whole).expect("written");
    let third = bring_in(&repo, &shown);
    let session = &third.sessions[0];
    assert_eq!((session.outcome, session.new_commits), (Outcome::Grown, 2));
    assert_eq!(
        bring_in(&repo, &shown).sessions[0].outcome,
        Outcome::Unchanged
    );
}

#[test]
fn a_store_that_has_moved_on_goes_on_in_the_same_commits() {
    let home = tempfile::tempdir().expect("a directory");
    let (repo, store) = (
        Repo::ephemeral().expect("a repository"),
        home.path().join("5e0f"),
    );
    copy_of("mistral-vibe/store", &store);
    let current = store.join("CURRENT");
    let newest = fs::read_to_string(&current).expect("read");
    // As it was before the newest turn, when the journal of the one before was still there.
    fs::write(
        &current,
        newest.replace("0000000000000030", "0000000000000012"),
    )
    .expect("written");
    let journal = store.join("journal/0000000000000013.jsonl");
    let lines = fs::read_to_string(&journal).expect("read");
    let records = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let mut request = records
        .filter(|record: &Value| record["type"] == "action_intent")
        .find(|record| record["payload"]["request"]["purpose"] == "compaction")
        .expect("it is there");
    let asked = &mut request["payload"]["request"];
    asked["purpose"] = json!("agent");
    let messages = &mut asked["model_input"]["messages"]["messages"];
    let system = messages[0].clone();
    let prompt = json!({"content": [{"text": "How many sacks?", "type": "text"}], "role": "user"});
    *messages = json!([system, prompt]);
    request["sequence"] = json!(4);
    request["previous_record_sha256"] = Value::Null;
    let before = store.join("journal/0000000000000001.jsonl");
    fs::write(&before, format!("{request}\n")).expect("written");
    fs::write(&journal, "").expect("written");
    let first = bring_in(&repo, &current);
    assert_eq!((first.problem_count, first.sessions[0].messages), (0, 5));
    fs::remove_file(&before).expect("removed");
    fs::write(&journal, lines).expect("written");
    fs::write(&current, newest).expect("written");
    assert_eq!(
        has_changed(&repo, &current, &mut Listings::default()).expect("looks"),
        Some(true)
    );
    let second = bring_in(&repo, &current);
    assert_eq!(second.problem_count, 0, "{:?}", second.problems);
    let session = &second.sessions[0];
    assert_eq!((session.outcome, session.new_commits), (Outcome::Grown, 5));
    assert_eq!((session.messages, session.hides.len()), (9, 1));
    assert_eq!(
        bring_in(&repo, &current).sessions[0].outcome,
        Outcome::Unchanged
    );
}
