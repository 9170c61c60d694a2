//! Imports of one growing file by several processes at once.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::conditions;
use crate::sandbox::{Sandbox, dump};

const PROCESSES: usize = 4;

fn record(at: usize) -> String {
    let kind = ["user", "assistant"][at % 2];
    let parent = match at.checked_sub(1) {
        Some(parent) => format!("\"00000000-0000-4000-8000-{parent:012}\""),
        None => "null".to_owned(),
    };
    let padding = "y".repeat(at % 7 * 1_000);
    format!(
        "{{\"type\":\"{kind}\",\"parentUuid\":{parent},\"uuid\":\"00000000-0000-4000-8000-{at:012}\",\
         \"isSidechain\":false,\"sessionId\":\"s\",\"cwd\":\"/{padding}\",\"timestamp\":\"2026-01-02T03:04:05Z\",\
         \"message\":{{\"role\":\"{kind}\",\"content\":\"message {at}.\"}}}}\n"
    )
}

fn grow(file: &mut File, messages: std::ops::Range<usize>) {
    for at in messages {
        // In two pieces, so that an import may see a torn line.
        let (one, two) = (record(at), 40);
        file.write_all(&one.as_bytes()[..two]).expect("written");
        file.write_all(&one.as_bytes()[two..]).expect("written");
    }
}

/// Runs imports at once, each again and again while the file grows by so many messages, and once
/// more in the end.
fn at_once(sandbox: &Sandbox, arguments: &[&str], from: usize, to: usize) {
    let path = sandbox.write("session.jsonl", "");
    let mut file = OpenOptions::new()
        .append(true)
        .open(path)
        .expect("it is there");
    grow(&mut file, 0..from.max(1));
    let grown = AtomicBool::new(false);
    // The clock of a sandbox is for one at a time.
    let commands: Vec<Vec<_>> = (0..PROCESSES)
        .map(|_| (0..200).map(|_| sandbox.command(arguments)).collect())
        .collect();
    thread::scope(|scope| {
        for commands in commands {
            let grown = &grown;
            scope.spawn(move || {
                for mut command in commands {
                    let is_last = grown.load(Ordering::SeqCst);
                    let output = command.output().expect("the program runs");
                    let told = String::from_utf8_lossy(&output.stderr);
                    assert!(output.status.success(), "{:?}: {told}", output.status);
                    if is_last {
                        break;
                    }
                }
            });
        }
        for at in from.max(1)..to {
            grow(&mut file, at..at + 1);
            thread::sleep(std::time::Duration::from_millis(10));
        }
        grown.store(true, Ordering::SeqCst);
    });
}

/// That one session and one source came of it, which say what the file does.
fn is_whole(sandbox: &Sandbox, on: &str, messages: usize) {
    let log = sandbox.ok(&["--on", on, "log", "-n", "0"]);
    assert_eq!(log.lines().count(), messages, "{log}");
    for at in 0..messages {
        let said = format!("message {at}.");
        assert_eq!(log.matches(&said).count(), 1, "{said}\n{log}");
    }
    let tables = dump(sandbox);
    let count = |name: &str, is_like: fn(&str) -> bool| {
        let (_, rows) = tables.iter().find(|(table, _)| table == name).expect(name);
        let names = rows
            .iter()
            .filter(|row| format!("{row:?}").split('"').any(is_like));
        names.count()
    };
    assert_eq!(count("refs", |name| name.starts_with("refs/sessions/")), 1);
    assert_eq!(count("sources", |_| true), 1);
    let _ = std::fs::remove_file(sandbox.work().join("back.jsonl"));
    sandbox.ok(&["export", "sessions/claude-code/s", "-o", "back.jsonl"]);
    let read = |name: &str| std::fs::read_to_string(sandbox.work().join(name)).expect("there");
    assert!(read("back.jsonl") == read("session.jsonl"), "another file");
}

fn rounds() -> usize {
    conditions::laws(8).cases as usize
}

#[test]
fn a_growing_session_comes_in_once_however_many_import_it() {
    for _ in 0..rounds() {
        let sandbox = Sandbox::new();
        at_once(&sandbox, &["import", "session.jsonl"], 0, 40);
        is_whole(&sandbox, "main", 40);
    }
}

#[test]
fn what_is_new_is_appended_once_however_many_append_it() {
    for _ in 0..rounds() {
        let sandbox = Sandbox::new();
        at_once(
            &sandbox,
            &["import", "--onto", "mine", "session.jsonl"],
            4,
            30,
        );
        is_whole(&sandbox, "mine", 30);
    }
}

#[test]
fn strict_imports_of_a_growing_file_are_whole_as_well() {
    for _ in 0..rounds() {
        let sandbox = Sandbox::new();
        at_once(&sandbox, &["import", "--strict", "session.jsonl"], 2, 30);
        is_whole(&sandbox, "main", 30);
    }
}
