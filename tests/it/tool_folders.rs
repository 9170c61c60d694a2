//! Tools that keep a session as a folder of files, or their folder under another name than before.

use crate::sandbox::Sandbox;

const EVENTS: &str = include_str!("../data/openhands/events.jsonl");
const CLAW: &str = include_str!("../data/openclaw/session.jsonl");
const MARKDOWN: &str = include_str!("../data/specstory/session.md");

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
