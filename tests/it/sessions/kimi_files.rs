//! Sessions of Kimi Code where the tool keeps them, each in a folder with one for each of its agents.

use crate::sandbox::Sandbox;

const MAIN: &str = include_str!("../../data/kimi/plain.jsonl");
const OTHER: &str = include_str!("../../data/kimi/hidden.jsonl");

/// A session, `session_1`, with its agent, beside what else the tool keeps there.
fn home() -> Sandbox {
    let sandbox = Sandbox::empty();
    let session = ".kimi-code/sessions/wd_mill_0123456789ab/session_1";
    let files = [
        ("state.json", r#"{"title":"Count the sacks."}"#),
        ("agents/main/wire.jsonl", MAIN),
        ("agents/agent-0/wire.jsonl", OTHER),
    ];
    for (name, text) in files {
        let path = sandbox.home().join(session).join(name);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("made");
        std::fs::write(&path, text).expect("written");
    }
    sandbox
}

#[test]
fn a_session_is_called_by_its_folder_and_its_agents_come_with_it() {
    let sandbox = home();
    let told = sandbox.ok(&["import", "--all", "--list"]);
    assert!(told.contains("session_1"), "{told}");
    assert!(!told.contains("agent-0"), "{told}");
    let place = sandbox.home();
    let place =
        place.join(".kimi-code/sessions/wd_mill_0123456789ab/session_1/agents/main/wire.jsonl");
    let told = sandbox.tract(&["import", &place.display().to_string()]);
    assert!(told.contains("kimi session_1: 11 messages"), "{told}");
    let branches = sandbox.ok(&["branch"]);
    assert!(
        branches.contains("main/agent-session_1/agent-0"),
        "{branches}"
    );
    // What comes in again is the same.
    let told = sandbox.tract(&["import", "--all"]);
    assert!(!told.contains("Imported"), "{told}");
}
