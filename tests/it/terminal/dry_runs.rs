//! A dry run says what would be done, and changes nothing.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::sessions::codex_files::{self, Rollout};
use crate::sessions::copies::newest_session;
use crate::sessions::import::SESSION;

const FOUR: [(&str, &str); 4] = [
    ("user", "Name a river."),
    ("assistant", "The Elbe."),
    ("user", "Name a lake."),
    ("assistant", "Lake Constance."),
];

/// The refs, and what was done.
fn state(sandbox: &Sandbox) -> (String, String) {
    (
        sandbox.ok(&["reflog", "-n", "0"]),
        sandbox.tract(&["rev-parse", "HEAD"]),
    )
}

#[test]
fn an_undo_says_which_command_it_would_take_and_which_refs_go_where() {
    let sandbox = Sandbox::with_messages(&FOUR);
    let before = state(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["undo", "--dry-run"]), @r"
    Would undo #4 (3 min ago): commit -r assistant -m …
      main 4ca8222 → 806fd39
    ");
    let refused = sandbox.tract(&["undo", "2", "--dry-run"]);
    assert!(refused.contains("'main' has moved since"), "{refused}");
    assert!(refused.contains("tract undo --to 1 "), "{refused}");
    assert_eq!(state(&sandbox), before);
}

#[test]
fn an_undo_goes_back_to_right_after_an_undo_too() {
    let sandbox = Sandbox::with_messages(&FOUR);
    sandbox.ok(&["undo"]); // 5
    sandbox.ok(&["commit", "-r", "assistant", "-m", "Lake Garda."]); // 6
    let there = sandbox.ok(&["rev-parse", "HEAD~1"]);
    sandbox.ok(&["undo", "--to", "5"]);
    assert_eq!(sandbox.ok(&["rev-parse", "HEAD"]), there);
    sandbox.ok(&["redo"]);
    // Where the fourth command was done, it is done again.
    insta::assert_snapshot!(sandbox.tract(&["undo", "--to", "4"]), @r#"
    --- stderr
    Undid 1 command
      #6  2026-03-14 12:07:00  commit -r assistant -m …  main 806fd39 → aa41628
    Did again 1 command
      #4  2026-03-14 12:05:00  commit -r assistant -m …  main 806fd39 → 4ca8222
    On main, at 4ca8222 ("Lake Constance.")
    hint: back: tract redo
    "#);
    sandbox.ok(&["redo"]);
    assert!(sandbox.ok(&["log", "-n", "1"]).contains("Garda"));
}

#[test]
fn an_undo_of_what_was_purged_names_no_redo() {
    let sandbox = Sandbox::with_messages(&FOUR);
    sandbox.ok(&["purge", ":4", "--force"]);
    let refused = sandbox.tract(&["undo"]);
    assert!(refused.contains("tract undo 4 "), "{refused}");
    let undone = sandbox.tract(&["undo", "4"]);
    assert!(!undone.contains("back: tract redo"), "{undone}");
    assert!(undone.contains("tract reset REV"), "{undone}");
}

#[test]
fn a_reset_and_a_resume_say_what_they_would_do() {
    let sandbox = Sandbox::with_messages(&FOUR);
    let before = state(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["reset", "--hard", "HEAD~3", "--dry-run"]), @r#"
    Would move main from 4ca8222 ("Lake Constance.") to 73ccde1 ("Name a river.")
    3 commits would be on no branch
    "#);
    let resumed = sandbox.ok(&["resume", "--in", "claude", "--dry-run"]);
    assert!(
        resumed.starts_with("Would write 4 messages, 35 tokens to "),
        "{resumed}"
    );
    assert!(!sandbox.home().join(".claude").exists());
    assert_eq!(state(&sandbox), before);
}

#[test]
fn an_import_says_what_would_come_in() {
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", SESSION);
    insta::assert_snapshot!(sandbox.tract(&["import", "session.jsonl", "--dry-run"]), @r#"
    Would import claude-code "Read the bank's amounts, and never in silence": 34 messages, 1 compaction
    --- stderr
    Would make a repository here
    "#);
    assert!(!sandbox.work().join(".tract").exists());
    let named = sandbox.ok(&["import", "session.jsonl", "--as", "bank", "--dry-run"]);
    assert!(named.ends_with(", 1 compaction, on bank\n"), "{named}");
    let beginning: String = SESSION.split_inclusive('\n').take(20).collect();
    sandbox.write("session.jsonl", beginning);
    sandbox.ok(&["import", "session.jsonl"]);
    sandbox.ok(&["remote", "add", "origin", "../elsewhere"]);
    sandbox.write("session.jsonl", SESSION);
    let before = state(&sandbox);
    let told = sandbox.ok(&["import", "session.jsonl", "--dry-run"]);
    assert!(told.starts_with("Would update claude-code "), "{told}");
    assert!(told.contains(" of 34 messages new"), "{told}");
    assert_eq!(state(&sandbox), before);
    sandbox.ok(&["import", "session.jsonl"]);
    let told = sandbox.ok(&["import", "session.jsonl", "--dry-run"]);
    assert!(told.starts_with("Nothing new in claude-code "), "{told}");
}

#[test]
fn a_dry_run_lists_as_many_messages_as_it_is_asked_for() {
    let sandbox = Sandbox::with_messages(&FOUR);
    for n in 0..30 {
        sandbox.ok(&["commit", "-r", "user", "-m", &format!("note {n}")]);
    }
    let lines = |words: &[&str]| {
        let told = sandbox.ok(&[&["truncate", "--keep", "1", "--dry-run"], words].concat());
        let listed = told.lines().filter(|line| line.starts_with("  :"));
        (listed.count(), told)
    };
    let (usual, told) = lines(&[]);
    assert_eq!(usual, 21, "{told}");
    assert!(told.contains("to list all: -n 0"), "{told}");
    assert_eq!(lines(&["-n", "3"]).0, 4);
    let (all, told) = lines(&["-n", "0"]);
    assert_eq!(all, 33, "{told}");
    assert!(!told.contains("to list all"), "{told}");
    let refused = sandbox.tract(&["truncate", "--keep", "1", "-n", "3"]);
    assert!(refused.starts_with("exit code: 2\n"), "{refused}");
}

#[test]
fn a_session_whose_secrets_were_left_out_has_nothing_new() {
    let key = format!("ghp_{}", "0001q7Zk2mWx9RtB4vLc8YpN3sHd6GfJ5uKe");
    let said = format!(r#"{{"messages": [{{"role": "user", "content": "The key is {key}."}}]}}"#);
    let sandbox = Sandbox::new();
    sandbox.write("talk.json", said);
    sandbox.ok(&["import", "--redact", "talk.json"]);
    assert!(sandbox.ok(&["log"]).contains("[redacted:"));
    let told = sandbox.ok(&["import", "talk.json", "--dry-run"]);
    assert!(told.starts_with("Nothing new in "), "{told}");
}

/// Of a session and its sub-agent, or of a file and a longer copy of it, a dry run tells what an import does: one session.
#[test]
fn a_session_that_several_files_tell_of_is_foretold_once() {
    let agent = "01a1f04f-11f9-7941-9c3c-4fe4330026bb";
    let parent = Rollout::new(codex_files::PARENT).turn("Count the sacks.", "Four.");
    let longer = parent.clone().turn("And the barrels?", "Two.");
    let agent = Rollout::with(agent, 100, json!({"parent_thread_id": codex_files::PARENT}))
        .turn("Look.", "I looked.");
    for files in [[&agent, &longer], [&longer, &agent], [&parent, &longer]] {
        let sandbox = Sandbox::new();
        let is_stages = files[0].text() == parent.text();
        let put = |(at, rollout): (usize, &&Rollout)| {
            // Both stages have one name.
            let name = rollout.name(0);
            let name = name.replace(
                "/02/",
                &format!("/0{}/", if is_stages { at + 2 } else { 2 }),
            );
            sandbox.write(&name, rollout.text()).display().to_string()
        };
        let paths: Vec<String> = files.iter().enumerate().map(put).collect();
        let words: Vec<&str> = paths.iter().map(String::as_str).collect();
        let told = sandbox.ok(&[&["import", "--dry-run"], &words[..]].concat());
        assert_eq!(told.matches("Would import").count(), 1, "{told}");
        let params = json!({"paths": words}).to_string();
        let answer = sandbox.ok(&["api", "import", &params]);
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let (sessions, agents) = (&answer["sessions"], &answer["agents"]);
        assert_eq!(sessions.as_array().map(Vec::len), Some(1), "{answer}");
        let messages = sessions[0]["messages"].as_u64().expect("a count");
        assert!(
            told.contains(&format!("{messages} messages")),
            "{told} {answer}"
        );
        let has_agent = !is_stages;
        let count = agents.as_array().map_or(0, Vec::len);
        assert_eq!(count, usize::from(has_agent), "{answer}");
        assert_eq!(told.contains("1 sub-agent"), has_agent, "{told}");
        assert_eq!(
            sandbox
                .ok(&["import", "--dry-run", words[0]])
                .matches("Would")
                .count(),
            0
        );
    }
}

/// What `resume` wrote is here in another form: what a dry run tells of it is what an import does.
#[test]
fn of_a_session_that_resume_wrote_only_what_follows_is_new() {
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", SESSION);
    sandbox.ok(&["import", "session.jsonl"]);
    sandbox.ok(&["drop", ":3"]);
    sandbox.ok(&["resume", "--in", "claude-code"]);
    let file = newest_session(&sandbox);
    let dry = || sandbox.tract(&["import", "--dry-run", &file.display().to_string()]);
    let import = || sandbox.tract(&["import", &file.display().to_string()]);
    let written = std::fs::read_to_string(&file).expect("a session");
    let records = written.lines().rev();
    let mut messages = records
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .filter(|record| record.get("message").is_some());
    let last = messages.next().expect("a message");
    let prompt = json!({
        "parentUuid": last["uuid"], "uuid": "9d1f2c60-0000-4000-8000-000000000001", "isSidechain": false,
        "sessionId": last["sessionId"], "cwd": last["cwd"], "version": last["version"],
        "timestamp": "2026-04-01T10:00:00.000Z", "type": "user",
        "message": {"role": "user", "content": "And the barrels?"},
    });
    std::fs::write(&file, format!("{written}{prompt}\n")).expect("written");
    for told in [dry(), import()] {
        assert!(told.contains("\": 12 messages"), "{told}");
    }
    for told in [dry(), import()] {
        assert!(told.contains("Nothing new in "), "{told}");
    }
}

/// A fork begins in its parent's file, which comes in with it.
#[test]
fn what_a_session_begins_with_is_foretold() {
    let parent = Rollout::new(codex_files::PARENT).turn("Count the sacks.", "Four.");
    let fork = "01a1fe4f-11f9-7941-9c3c-4fe4330026bc";
    let fork = Rollout::based(fork, &parent, parent.next()).turn("And the barrels?", "Two.");
    let sandbox = Sandbox::new();
    sandbox.write(&parent.name(0), parent.text());
    let file = sandbox
        .write(&fork.name(1), fork.text())
        .display()
        .to_string();
    let told = sandbox.ok(&["import", "--dry-run", &file]);
    assert_eq!(told.matches("Would import codex").count(), 2, "{told}");
    sandbox.ok(&["import", &file]);
    let told = sandbox.ok(&["import", "--dry-run", &file]);
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[test]
fn a_line_that_is_still_being_written_is_foretold() {
    let sandbox = Sandbox::new();
    let torn = &SESSION[..SESSION.trim_end().len() - 20];
    sandbox.write("session.jsonl", torn);
    let dry = sandbox.tract(&["import", "session.jsonl", "--dry-run"]);
    let told = sandbox.tract(&["import", "session.jsonl"]);
    let note = |told: &str| {
        let note = told.split("note: ").nth(1).unwrap_or_default();
        note.split_once(": ")
            .expect("a place")
            .1
            .lines()
            .next()
            .map(str::to_owned)
    };
    assert_eq!(note(&dry), note(&told), "{dry}\n{told}");
}

#[test]
fn a_folder_is_foretold_as_it_comes_in() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", SESSION);
    sandbox.write("settings.json", "{\"theme\": \"dark\"}");
    let told = sandbox.tract(&["import", ".", "--dry-run"]);
    assert!(told.contains("Would import claude-code "), "{told}");
    assert!(told.contains("Would skip 1 file: "), "{told}");
    let told = sandbox.tract(&["import", "."]);
    assert!(told.contains("Skipped 1 file: "), "{told}");
}
