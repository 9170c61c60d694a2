//! Sessions in the databases of real tools: what is put together of their rows is what the tool says of them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::conditions::real_sessions;
use crate::formats::Input;
use crate::ingest::file::FileInput;
use crate::ingest::tool_dirs::walk_directory;
use crate::ingest::{ImportReport, ImportRequest, Reading, database, import, known_stamp};
use crate::model::Millis;
use crate::repo::Repo;

fn bring_in(repo: &Repo, path: &Path) -> ImportReport {
    let request = ImportRequest {
        reading: Reading::New,
        ..ImportRequest::at(Millis(7), "import")
    };
    import(repo, path, &request, &mut |_| {}).expect("imports")
}

fn document(path: &Path) -> Value {
    let input = FileInput::open(path).expect("it is put together");
    let bytes = input.front(u64::MAX).expect("read");
    serde_json::from_slice(&bytes).expect("JSON")
}

/// The files of the two folders of live sessions, with their databases.
fn live() -> impl Iterator<Item = PathBuf> {
    let live = real_sessions().join("../live/opencode");
    ["sessions", "wal"].into_iter().map(move |it| live.join(it))
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn every_session_of_a_real_database_is_what_its_export_says() {
    for (folder, count) in live().zip([10, 1]) {
        let files = |folder: &Path| -> Vec<PathBuf> {
            let files = std::fs::read_dir(folder).expect("a folder");
            files.map(|file| file.expect("one").path()).collect()
        };
        let before = files(&folder).len();
        let found = database::sessions(&folder.join("opencode.db"));
        let found = found.expect("it is read").expect("it is one");
        assert_eq!(found.len(), count);
        let exports = files(&folder.join("export"));
        assert_eq!(exports.len(), count);
        let (rows, exported) = (
            Repo::ephemeral().expect("a repository"),
            Repo::ephemeral().expect("a repository"),
        );
        for (path, session) in &found {
            let export = folder.join(format!("export/{}.json", session.id));
            let expected: Value =
                serde_json::from_slice(&std::fs::read(&export).expect("read")).expect("JSON");
            assert_eq!(document(path), expected, "{path:?}");
            bring_in(&rows, path);
            bring_in(&exported, &export);
            // What is told of all of them at once is what is told of the one.
            let stamp = database::stamp(session);
            assert_eq!(
                known_stamp(&rows, path).expect("looks"),
                Some(stamp),
                "{path:?}"
            );
        }
        let refs = |repo: &Repo| repo.references("refs/sessions/").expect("refs");
        assert_eq!(refs(&rows), refs(&exported));
        assert_eq!(refs(&rows).len(), count);
        assert_eq!(files(&folder).len(), before, "no file beside it");
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn a_folder_of_small_files_comes_in_whole() {
    let folder = real_sessions().join("opencode/jazzyalex-fixture-storage");
    let found = walk_directory(&folder);
    let repo = Repo::ephemeral().expect("a repository");
    let count = |path: &PathBuf| {
        let report = bring_in(&repo, path);
        assert_eq!(report.problem_count, 0, "{:?}", report.problems);
        let messages = document(path)["messages"].clone();
        let messages = messages.as_array().expect("some").iter();
        let parts = messages
            .clone()
            .map(|it| it["parts"].as_array().expect("some").len());
        (messages.count(), parts.sum::<usize>())
    };
    let counts: Vec<_> = found.iter().map(count).collect();
    assert_eq!(counts, [(4, 11), (2, 3)]);
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn databases_of_other_versions_come_in_whole() {
    let folder = real_sessions();
    let expected = [
        ("opencode/suhd550-v1.16.0.opencode.db", "opencode", 1, 35),
        ("opencode/local-v1.18.33/opencode.db", "opencode", 1, 2),
        ("kilo-code/mushushi-v7.0.46.kilo.db", "kilo", 3, 98),
        (
            "openai-agents/has1997.conversation_history.db",
            "openai-agents",
            1,
            6,
        ),
        ("cursor/slevin48-chat-keys.state.vscdb", "cursor", 31, 131),
        ("langgraph/guche02.checkpoints.sqlite", "langgraph", 2, 20),
        // Its graph keeps no messages.
        ("langgraph/sfelaco.checkpoints.sqlite", "langgraph", 2, 0),
        ("llm-logs/synthetic-llm-0.27.1.logs.db", "llm", 6, 85),
        ("llm-logs/synthetic-llm-0.36.logs.db", "llm", 6, 176),
    ];
    for (name, tool, sessions, messages) in expected {
        let repo = Repo::ephemeral().expect("a repository");
        let path = folder.join(name);
        let found = database::sessions(&path).expect("it is read");
        let found = found.expect("it is one");
        assert_eq!(found.len(), sessions, "{name}");
        let mut seen = 0;
        for (path, _) in &found {
            let report = bring_in(&repo, path);
            assert_eq!(report.problem_count, 0, "{:?}", report.problems);
            assert_eq!(report.format.name, tool);
            let document = document(path);
            let lists = ["messages", "agent_messages", "responses", "bubbles"]
                .map(|key| document[key].as_array());
            seen += lists.into_iter().flatten().map(Vec::len).sum::<usize>();
        }
        assert_eq!(seen, messages, "{name}");
    }
}
