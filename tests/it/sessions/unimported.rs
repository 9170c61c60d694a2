//! A session is read without being imported: from its file, or by the id that a tool gave it. Nothing is written.

use std::path::Path;

use crate::sandbox::Sandbox;
use crate::sessions::import::SESSION;
use crate::terminal::screen::Screen;

/// The id of the session of the demo.
const ID: &str = "5b0c9a1e";

/// A sandbox with the session where Claude Code keeps it for this directory, and no repository.
fn with_session() -> Sandbox {
    let sandbox = Sandbox::empty();
    let work = sandbox.work().canonicalize().expect("it is there");
    let folder: String = work
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let folder = sandbox.home().join(".claude/projects").join(folder);
    std::fs::create_dir_all(&folder).expect("made");
    let first: serde_json::Value = SESSION
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .find(|record: &serde_json::Value| record["sessionId"].is_string())
        .expect("a record");
    let id = first["sessionId"].as_str().expect("an id");
    std::fs::write(folder.join(format!("{id}.jsonl")), SESSION).expect("written");
    sandbox
}

/// Every file below a directory, with what is in it.
fn files(directory: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).expect("readable") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push((path.clone(), std::fs::read(&path).expect("readable")));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_file_reads_as_it_would_once_imported_and_nothing_is_written() {
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", SESSION);
    let before = (files(&sandbox.work()), files(&sandbox.home()));
    let alone = sandbox.ok(&["view", "session.jsonl"]);
    let all = sandbox.ok(&["view", "./session.jsonl", "--all"]);
    assert_eq!((files(&sandbox.work()), files(&sandbox.home())), before);
    assert!(!sandbox.is_made());
    sandbox.ok(&["import", "session.jsonl"]);
    assert_eq!(sandbox.ok(&["view"]), alone);
    assert_eq!(sandbox.ok(&["view", "--all"]), all);
    assert!(
        all.len() > alone.len() && all.contains("hidden: compaction"),
        "{all}"
    );
    // In a repository it is another conversation all the same.
    sandbox.ok(&["commit", "-r", "user", "-m", "More."]);
    let log = sandbox.ok(&["log"]);
    assert_eq!(sandbox.ok(&["view", "session.jsonl"]), alone);
    assert_eq!(sandbox.ok(&["log"]), log);
}

#[test]
fn a_session_of_a_tool_is_read_by_its_id() {
    let sandbox = with_session();
    let listed = sandbox.ok(&["import"]);
    assert!(listed.contains(ID), "{listed}");
    let read = sandbox.ok(&["view", ID]);
    assert!(read.contains(":12"), "{read}");
    assert_eq!(sandbox.ok(&["view", &format!("claude-code/{ID}")]), read);
    assert!(!sandbox.is_made());
}

#[test]
fn a_revision_goes_before_a_file_of_its_name() {
    let sandbox = Sandbox::with_messages(&[("user", "said here")]);
    sandbox.write("main", SESSION);
    assert!(sandbox.ok(&["view", "main"]).contains("said here"));
    assert!(sandbox.ok(&["view", "./main"]).contains("bank"));
}

#[test]
fn what_is_no_session_is_refused_in_one_line() {
    let sandbox = Sandbox::empty();
    sandbox.write("notes.txt", "no session\n");
    sandbox.write("empty.jsonl", "");
    sandbox.write("torn.jsonl", &SESSION[..40]);
    sandbox.write("folder/a.jsonl", SESSION);
    sandbox.write("bytes", [0xff, 0xfe, 0, 1]);
    for what in [
        "notes.txt",
        "empty.jsonl",
        "torn.jsonl",
        "folder",
        "bytes",
        "nosuch.jsonl",
        "nosuch",
        "12345678",
    ] {
        let told = sandbox.tract(&["view", what]);
        let lines: Vec<&str> = told
            .lines()
            .skip_while(|line| !line.starts_with("error: "))
            .collect();
        assert_eq!(lines.len(), 2, "{what}: {told}");
        assert!(lines[1].starts_with("hint: "), "{what}: {told}");
        assert!(!sandbox.is_made());
    }
}

#[test]
fn outside_of_a_repository_a_session_is_chosen_from_what_the_tools_have_left() {
    let sandbox = with_session();
    let before = files(&sandbox.home());
    let Some(screen) = Screen::open(&sandbox, 80, 24) else {
        return;
    };
    screen.line("tract view -i");
    let first = screen.sees("claude-code");
    assert!(first.contains("conversations here"), "{first}");
    screen.text("bank");
    screen.heads(&["1 of 1"]);
    screen.keys(&["Enter"]);
    // There is room for what is read, and how much of it.
    screen.heads(&["claude-code/", "… · window", "of 12"]);
    // An audit keeps nothing: it is for every session.
    screen.text("a");
    screen.heads(&["tract audit"]);
    let audit = screen.sees("still said");
    assert!(
        audit.contains("compaction") && audit.contains("instruction"),
        "{audit}"
    );
    screen.text("a");
    screen.heads(&["claude-code/", "of 12"]);
    screen.text("g");
    screen.keys(&["a"]);
    screen.sees("23 messages hidden");
    screen.keys(&["Escape"]);
    // What would be lost is not done.
    screen.text("/truncate 2");
    screen.keys(&["Enter"]);
    screen.sees("nothing is kept");
    screen.text("s");
    screen.sees("conversations here");
    screen.keys(&["Enter"]);
    screen.heads(&["of 12"]);
    screen.text("q");
    screen.sees("$");
    screen.line(&format!("clear; tract view -i {ID}"));
    screen.heads(&["claude-code/", "of 12"]);
    screen.text("q");
    let after = screen.waits("a prompt", |seen| seen.trim_end().ends_with('$'));
    assert!(!after.contains(":12"), "{after}");
    assert_eq!(files(&sandbox.home()), before);
    assert!(!sandbox.is_made());
}
