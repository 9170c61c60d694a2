//! Choosing among the sessions that tools have left.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::importing::SESSION;
use crate::sandbox::Sandbox;

const ID: &str = "5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c70";

/// A session as Claude Code leaves it for the working directory, so many minutes old.
fn left(sandbox: &Sandbox, id: &str, text: &str, minutes: u64) {
    let cwd = fs::canonicalize(sandbox.work()).expect("it exists");
    let place = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let slug: String = cwd.to_string_lossy().chars().map(place).collect();
    let directory = sandbox.home().join(".claude/projects").join(slug);
    fs::create_dir_all(&directory).expect("made");
    let path = directory.join(format!("{id}.jsonl"));
    fs::write(&path, text.replace(ID, id)).expect("written");
    // Ages are told from the sandbox's clock, which stands in March.
    let clock = SystemTime::UNIX_EPOCH + Duration::from_secs(1_773_489_600);
    let file = fs::File::options().write(true).open(path).expect("opens");
    file.set_modified(clock - Duration::from_secs(60 * minutes))
        .expect("set");
}

const UNTITLED: &str = concat!(
    r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"x","timestamp":"2026-03-14T09:00:00.000Z","#,
    r#""message":{"role":"user","content":"Which rivers are there?"}}"#,
    "\n"
);

#[test]
fn sessions_are_listed_with_what_one_types_to_get_them() {
    let sandbox = Sandbox::empty();
    left(&sandbox, ID, SESSION, 3);
    let other = "77777777-7d42-4c8f-9e36-2f1d8a6b4c70";
    left(&sandbox, other, UNTITLED, 90);
    let listed = sandbox.tract(&["import", "-n", "1"]);
    let shown = listed
        .lines()
        .map(|line| line.split("  [").next().unwrap_or_default());
    let shown: Vec<&str> = shown.collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    5b0c9a1e  2026-03-14 11:57:00  claude-code  34 messages, 1 compaction    Read the bank's amounts, and never in silence
    --- stderr
    … and 1 older: tract import -n 0
    hint: tract import 5b0c9a1e takes that one, tract import --last the newest
    ");
    insta::assert_snapshot!(sandbox.tract(&["import", "7777"]), @r"
    --- stderr
    Made a repository in .tract
    Imported claude-code 77777777-7d42: 1 message, on main
      not in the file        system prompt, tool definitions
    ");
    let lines: Vec<&str> = SESSION.lines().collect();
    left(&sandbox, ID, &(lines[..58].join("\n") + "\n"), 3);
    sandbox.ok(&["import", "claude-code/5b0c9a1e"]);
    left(&sandbox, ID, SESSION, 1);
    let listed = sandbox.ok(&["import"]);
    let titles: Vec<&str> = listed
        .lines()
        .map(|line| line.split("  ").next().unwrap_or(""))
        .collect();
    assert_eq!(titles, ["5b0c9a1e", "77777777"]);
    assert!(
        listed.contains("4 new") && listed.contains("imported"),
        "{listed}"
    );
    assert!(listed.contains("Which rivers are there?"), "{listed}");
}

#[test]
fn from_below_the_repository_its_sessions_are_found_too() {
    let sandbox = Sandbox::new();
    left(&sandbox, ID, SESSION, 3);
    let below = sandbox.work().join("src/deep");
    fs::create_dir_all(&below).expect("made");
    let mut command = sandbox.command(&["import", "--last"]);
    let output = command
        .current_dir(below)
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{output:?}");
    assert!(sandbox.ok(&["log", "-n", "1"]).contains("Done: one line"));
}

#[test]
fn an_id_that_begins_several_is_asked_for_in_full() {
    let sandbox = Sandbox::empty();
    left(&sandbox, ID, SESSION, 3);
    left(
        &sandbox,
        "5b0c9a1e-0000-4c8f-9e36-2f1d8a6b4c70",
        UNTITLED,
        9,
    );
    insta::assert_snapshot!(sandbox.tract(&["import", "5b0c9a1e"]), @r"
    exit code: 1
    --- stderr
    error: '5b0c9a1e' begins the ids of 2 sessions
    hint: tract import lists them; type more of the id
    ");
    sandbox.ok(&["import", "5b0c9a1e-7"]);
    // What is neither a file nor an id is a file that is missing.
    insta::assert_snapshot!(sandbox.tract(&["import", "5b1"]), @r"
    exit code: 1
    --- stderr
    error: 5b1: no such file or directory
    ");
}

#[test]
fn of_many_files_the_newest_is_what_head_is_on() {
    let sandbox = Sandbox::empty();
    for (name, text, age) in [("a", "old", 300), ("b", "newest", 10), ("c", "older", 500)] {
        sandbox.write(
            &format!("all/{name}.json"),
            format!(
                r#"[{{"role":"user","content":"{text}"}},{{"role":"assistant","content":"ok"}}]"#
            ),
        );
        let file = fs::File::options()
            .write(true)
            .open(sandbox.work().join(format!("all/{name}.json")));
        let then = SystemTime::now() - Duration::from_secs(age);
        file.expect("opens").set_modified(then).expect("set");
    }
    sandbox.ok(&["import", "all"]);
    assert!(sandbox.ok(&["compile"]).contains("newest"));
}
