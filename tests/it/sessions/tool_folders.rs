//! Tools that keep a session as a folder of files, or their folder under another name than before.

use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;

const EVENTS: &str = include_str!("../../data/openhands/events.jsonl");
const CLAW: &str = include_str!("../../data/openclaw/session.jsonl");
const MARKDOWN: &str = include_str!("../../data/specstory/session.md");

#[test]
fn a_conversation_of_openhands_is_its_folder_of_events() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    let folder = sandbox.home().join(".openhands/conversations/mill-1");
    let events: Vec<(usize, &str)> = EVENTS.lines().enumerate().collect();
    std::fs::create_dir_all(folder.join("events")).expect("made");
    std::fs::write(folder.join("base_state.json"), "{}").expect("written");
    // A copy is not written in the order of what was said.
    let write = |(number, event): &(usize, &str)| {
        let name = format!("events/event-{number:05}-0a1b2c3d.json");
        std::fs::write(folder.join(name), event).expect("written");
    };
    events[..8].iter().rev().for_each(write);
    let first = sandbox.tract(&["watch", "--once"]);
    assert!(first.contains("openhands/mill-1: 6 new commits"), "{first}");
    events[8..].iter().for_each(write);
    let more = sandbox.tract(&["watch", "--once"]);
    assert!(more.contains("openhands/mill-1: 3 new commits"), "{more}");
}

#[test]
fn openclaw_is_looked_for_under_its_former_name_too() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    for (name, id) in [(".openclaw", "7"), (".clawdbot", "8")] {
        let folder = sandbox.home().join(name).join("agents/main/sessions");
        std::fs::create_dir_all(&folder).expect("made");
        let text = CLAW.replace("000000000007\"", &format!("00000000000{id}\""));
        std::fs::write(folder.join(format!("{id}.jsonl")), text).expect("written");
    }
    let said = sandbox.tract(&["watch", "--once"]);
    // Both say the same, so that the second brings no new commits.
    assert!(said.contains("openclaw/5e551000"), "{said}");
    assert!(said.contains("Looked at 2 files"), "{said}");
}

#[test]
fn a_history_of_specstory_is_found_in_a_project() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    sandbox.write("mill/.specstory/history/2026-03-02_08-00-00Z.md", MARKDOWN);
    sandbox.write("mill/README.md", MARKDOWN);
    let said = sandbox.tract(&["import", "mill"]);
    assert!(
        said.contains("Imported specstory c0ffee00-0001: 5 messages"),
        "{said}"
    );
    assert_eq!(said.matches("Imported").count(), 1, "{said}");
}

/// Copies a folder of `tests/data` to a place below the home.
fn put(sandbox: &Sandbox, folder: &str, place: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let from = from.join(folder);
    let to = sandbox.home().join(place);
    fs::create_dir_all(&to).expect("made");
    for entry in fs::read_dir(&from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("it has one").to_string_lossy();
        if path.is_dir() {
            put(
                sandbox,
                &format!("{folder}/{name}"),
                &format!("{place}/{name}"),
            );
        } else {
            fs::copy(&path, to.join(&*name)).expect("copied");
        }
    }
}

#[test]
fn a_session_in_several_files_is_listed_watched_and_paid_for_once() {
    const CLINE: &str = ".cline/data/sessions/1793000000000_mill1";
    const VIBE: &str = ".vibe/logs/session/unified/5e0f0c1e-0000-4000-8000-00000000001b";
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    put(&sandbox, "cline-cli/1793000000000_mill1", CLINE);
    put(&sandbox, "mistral-vibe/store", VIBE);
    let listed = sandbox.ok(&["import", "--all", "--list"]);
    for shown in [
        " 12, 1 compacted        mill: Sacks  ",
        " 9, 1 compacted        mill: Sacks and carts  ",
    ] {
        assert_eq!(listed.matches(shown).count(), 1, "{listed}");
    }
    // The agent's own file is its session.
    let first = sandbox.tract(&["watch", "--once"]);
    assert!(
        first.contains("Looked at 3 files: 25 new commits in 3"),
        "{first}"
    );
    let again = sandbox.tract(&["watch", "--once"]);
    assert!(again.contains("Looked at 3 files: nothing new"), "{again}");
    let bill = sandbox.ok(&["cost"]);
    for line in [
        // With what its agent took, which has a session of its own.
        "6  5,450  60% cached      92",
        "3    780  53% cached      26",
    ] {
        assert!(bill.contains(line), "{bill}");
    }
    // What is sent is what the newest compaction left, and what came since.
    let sent = sandbox.ok(&[
        "compile",
        "cline-cli/1793000000000_mill1",
        "--format",
        "openai",
    ]);
    assert!(
        !sent.contains("I look.") && sent.contains("Ground."),
        "{sent}"
    );
}

#[test]
fn sessions_of_strands_are_found_where_it_keeps_them_by_default() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    put(
        &sandbox,
        "strands/session_mill",
        ".strands/sessions/session_mill",
    );
    let listed = sandbox.ok(&["import", "--all", "--list"]);
    assert_eq!(listed.matches("  strands  ").count(), 1, "{listed}");
    let first = sandbox.tract(&["watch", "--once"]);
    assert!(first.contains("Looked at 1 file"), "{first}");
    assert!(first.contains("strands/"), "{first}");
    assert!(
        sandbox
            .tract(&["watch", "--once"])
            .contains("Looked at 1 file: nothing new")
    );
}

#[test]
fn a_part_of_a_session_is_called_so_where_it_is_named() {
    let sandbox = Sandbox::empty();
    put(&sandbox, "mistral-vibe/store/chunks", "chunks");
    put(&sandbox, "cline-cli/1793000000000_mill1", "cline");
    let chunks = fs::read_dir(sandbox.home().join("chunks")).expect("a folder");
    let compaction = sandbox
        .home()
        .join("cline/1793000000000_mill1.compaction.json");
    let paths = chunks.map(|chunk| (chunk.expect("one").path(), "Mistral Vibe"));
    for (path, tool) in paths.chain([(compaction, "Cline CLI")]) {
        let said = sandbox.tract(&["import", &path.display().to_string()]);
        let known = format!("a {tool} session part, which tract does not read");
        assert!(said.contains(&known), "{said}");
        assert!(said.contains("hint: import the session's folder"), "{said}");
    }
}
