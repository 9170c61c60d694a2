//! The law of resumed sessions: whatever client's form a session was written in, and once more from there, who takes all of
//! these files in pays for each reply once, in whatever order they come, and the original has made all of it.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::formats::Format;
use crate::ingest::{ImportRequest, NewSession, import, resume};
use crate::model::price::Prices;
use crate::model::secret::Leaving;
use crate::model::{EntryId, Millis, Usage};
use crate::repo::{Call, Named, On, Repo};
use crate::rewrite::SurgeryOptions;

/// Sessions of each client that `resume` writes for.
const ORIGINALS: [&str; 6] = [
    "claude-code/parallel.jsonl",
    "codex/plain.jsonl",
    "gemini/lines.jsonl",
    "opencode/plain.json",
    "pi/plain.jsonl",
    "qwen/plain.jsonl",
];

/// 2026-11-30.
const NOW: Millis = Millis(1_796_000_000_000);

fn bring_in(repo: &Repo, path: &Path) -> crate::model::RefName {
    let request = ImportRequest {
        secrets: None,
        ..ImportRequest::at(NOW, "import")
    };
    let report = import(repo, path, &request, &mut |_| {}).expect("imports");
    report.sessions[0].name.clone()
}

/// What `resume` writes at the end of the newest session of a repository, as a file.
fn written(repo: &Repo, client: &str, seed: u8, folder: &Path) -> PathBuf {
    let format = Format::named(client).expect("a format");
    let how = format.resume().expect("a way");
    let seed = [seed; 32];
    let id = (how.new_id)(NOW, &seed);
    let session = NewSession {
        format,
        cwd: "/home/ada/mill".to_owned(),
        now: NOW,
        seed,
        what: "resume".to_owned(),
        provider: None,
        leaving: Leaving::Allowed,
        id: id.clone(),
    };
    let tip = repo
        .head(&On::Head)
        .expect("a head")
        .commit()
        .expect("a commit");
    let resumed = resume(repo, &tip, &session).expect("resumed");
    let path = folder.join(format!(
        "{id}.{}",
        if client == "opencode" {
            "json"
        } else {
            "jsonl"
        }
    ));
    std::fs::write(&path, resumed.bytes).expect("written");
    path
}

/// Takes the name of the original out of what `resume` wrote.
fn unname(path: &Path) {
    let text = std::fs::read_to_string(path).expect("written");
    let (name, rest) = text.split_once(',').expect("it is the first member");
    assert!(name.starts_with(r#"{"resumedFrom":"#), "{name}");
    std::fs::write(path, format!("{{{rest}")).expect("written");
}

/// How many replies there are, what was counted for them, and what they cost in millionths of a dollar.
fn billed(repo: &Repo) -> (usize, Usage, i64) {
    let billed = repo.billed(None, &Prices::listed()).expect("a bill");
    let usage = billed
        .iter()
        .fold(Usage::default(), |sum, it| sum.plus(it.usage));
    let dollars: f64 = billed.iter().filter_map(|it| it.dollars).sum();
    (billed.len(), usage, (dollars * 1e6).round() as i64)
}

/// A copy of a fixture in which what was written to the cache is paid for by the hour: few forms have a place for that.
fn with_hours(original: &str, folder: &Path) -> PathBuf {
    const WRITTEN: &str = r#""cache_creation_input_tokens":20"#;
    let hours = format!(r#"{WRITTEN},"cache_creation":{{"ephemeral_1h_input_tokens":20}}"#);
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(original);
    let text = std::fs::read_to_string(&path).expect("a fixture");
    let copy = folder.join(path.file_name().expect("a name"));
    std::fs::write(&copy, text.replace(WRITTEN, &hours)).expect("written");
    copy
}

proptest! {
    #![proptest_config(crate::conditions::laws(48))]

    #[test]
    fn a_reply_is_paid_for_once_in_whatever_form_it_comes_again(
        original in prop::sample::select(&ORIGINALS[..]),
        clients in prop::collection::vec(prop::sample::select(&["claude-code", "codex", "gemini", "opencode", "pi", "qwen"][..]), 2),
        dropped in prop::option::of(any::<prop::sample::Index>()),
        is_named in any::<bool>(),
        order in Just(vec![0, 1, 2]).prop_shuffle(),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let source = with_hours(original, folder.path());
        let home = super::repository();
        let session = bring_in(&home, &source);
        let paid = billed(&home);
        if let Some(dropped) = dropped {
            let tip = home.head(&On::Head).expect("a head").commit().expect("a commit");
            let entries = home.context(&tip).expect("a context").entries;
            let entry: EntryId = entries[dropped.index(entries.len())].id;
            // The task and what somebody pinned stay.
            let _ = home.drop_named(Call::at(NOW, "drop"), &[Named::Entry(entry)], false, &SurgeryOptions::default());
        }
        let first = written(&home, clients[0], 1, folder.path());
        let between = super::repository();
        bring_in(&between, &first);
        let second = written(&between, clients[1], 2, folder.path());
        prop_assert_eq!(billed(&home), paid, "where it was written");
        if !is_named && original.starts_with(clients[0]) {
            // What a client's own database makes of it does not name the original.
            unname(&first);
        }

        let files = [source, first, second];
        let there = super::repository();
        let come: Vec<PathBuf> = order.iter().map(|at| files[*at].clone()).collect();
        for file in &come {
            bring_in(&there, file);
        }
        prop_assert_eq!(billed(&there), paid, "of {:?}", come);
        let replies = there.billed(None, &Prices::none()).expect("a bill");
        // Of some clients nothing else tells which one made them.
        for reply in replies.iter().filter(|_| is_named) {
            prop_assert_eq!(reply.session.as_ref(), Some(&session), "of {:?}", come);
        }
        there.second_reading()?;
    }
}
