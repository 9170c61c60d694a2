//! `TRACT_LOG`: a line of JSON for each command and each request.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use crate::sandbox::Sandbox;

struct Logged {
    sandbox: Sandbox,
    log: PathBuf,
}

impl Logged {
    fn new(sandbox: Sandbox) -> Self {
        let log = sandbox.work().join("log.jsonl");
        Self { sandbox, log }
    }

    /// Runs a command with a log; its exit code.
    fn run(&self, arguments: &[&str]) -> Option<i32> {
        let mut command = self.sandbox.command(arguments);
        let output = command.env("TRACT_LOG", &self.log).output().expect("runs");
        output.status.code()
    }

    /// The lines so far, each held to `docs/log.md`.
    fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).expect("a log");
        assert!(text.ends_with('\n'));
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        for line in &lines {
            is_described(line);
        }
        lines
    }
}

/// Each field of a line is in the table of its event in the document, and those that are always there are there.
fn is_described(line: &Value) {
    let document = include_str!("../../../docs/log.md");
    let event = line["event"].as_str().expect("an event");
    let fields = |heading: &str| -> Vec<(String, bool)> {
        let section = document
            .split("\n## ")
            .find(|section| section.starts_with(heading));
        let section = section.unwrap_or_else(|| panic!("no section on {heading}"));
        let rows = section.lines().filter_map(|row| row.strip_prefix("| `"));
        rows.map(|row| {
            let name = row.split('`').next().expect("a name");
            (
                name.to_owned(),
                !row.split('|').next().expect("a cell").ends_with("? "),
            )
        })
        .collect()
    };
    let mut known = fields("Every line");
    known.extend(match event {
        "command" | "request" => fields("`command` and `request`"),
        other => fields(&format!("`{other}`")),
    });
    let found = line.as_object().expect("an object");
    for name in found.keys() {
        assert!(
            known.iter().any(|(of, _)| of == name),
            "{name} of {line} is not described"
        );
    }
    for (name, _) in known.iter().filter(|(_, always)| *always) {
        assert!(found.contains_key(name), "{line} lacks {name}");
    }
}

#[test]
fn each_command_is_a_line() {
    let logged = Logged::new(Sandbox::empty());
    let run = |arguments: &[&str]| logged.run(arguments);
    assert_eq!(run(&["init"]), Some(0));
    assert_eq!(
        run(&["commit", "-r", "user", "-m", "the secret word is rhubarb"]),
        Some(0)
    );
    assert_eq!(run(&["log"]), Some(0));
    assert_eq!(run(&["show", "rhubarb"]), Some(1));
    assert_eq!(run(&["checkout", "rhubarb"]), Some(1));
    assert_eq!(run(&["commit", "--nonsense", "rhubarb"]), Some(2));
    assert_eq!(run(&["find", "nothing-of-this"]), Some(1));
    let hash = logged.sandbox.ok(&["rev-parse", "HEAD"]);
    assert_eq!(run(&["undo"]), Some(0));
    let lines = logged.lines();
    let told: Vec<String> = lines
        .iter()
        .map(|line| format!("{} {}", line["command"], line["exit"]))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    "init" 0
    "commit" 0
    "log" 0
    "show" 1
    "checkout" 1
    "commit" 2
    "find" 1
    "undo" 0
    "#);
    assert_eq!(lines[1]["moved"][0]["ref"], "refs/heads/main");
    assert_eq!(lines[1]["moved"][0]["to"], hash.trim());
    assert_eq!(lines[7]["moved"][0]["to"], Value::Null);
    assert!(lines[2].get("moved").is_none());
    assert_eq!(lines[3]["error"], "unknown_revision");
    assert_eq!(lines[4]["error"], "unknown_revision");
    assert_eq!(lines[5]["error"], "usage");
    assert!(lines[1]["statements"].as_u64() > Some(0));
    assert!(lines[1]["ms"].as_f64() > Some(0.0));
    let text = std::fs::read_to_string(&logged.log).expect("a log");
    assert!(!text.contains("rhubarb"), "{text}");
}

#[test]
fn who_it_was_and_for_which_run_is_told_and_names_cannot_break_a_line() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let logged = Logged::new(sandbox);
    let hostile = "Eve\"}\n{\"event\":\"forged\" \u{1b}[31m";
    let mut command = logged
        .sandbox
        .command(&["commit", "-r", "user", "-m", "two"]);
    let command = command
        .env("TRACT_AUTHOR", hostile)
        .env("TRACT_RUN", "r".repeat(10_000));
    let done = command
        .env("TRACT_LOG", &logged.log)
        .status()
        .expect("runs");
    assert!(done.success());
    let lines = logged.lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["who"], hostile.trim());
    assert_eq!(
        lines[0]["run"].as_str().map(|run| run.chars().count()),
        Some(301)
    );
}

#[test]
fn each_request_of_a_program_is_a_line() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let logged = Logged::new(sandbox);
    let requests = r#"{"id": 1, "method": "log"}
{"id": 2, "method": "commit", "params": {"batch": [{"role": "user", "content": "rhubarb"}]}}
{"id": 3, "method": "show", "params": {"rev": "rhubarb"}}
"#;
    let mut command = logged.sandbox.command(&["api"]);
    let mut child = command
        .env("TRACT_LOG", &logged.log)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("runs");
    let mut input = child.stdin.take().expect("input");
    std::io::Write::write_all(&mut input, requests.as_bytes()).expect("asked");
    drop(input);
    assert!(child.wait().expect("ends").success());
    let lines = logged.lines();
    let told = |line: &Value| format!("{} {} {}", line["event"], line["method"], line["exit"]);
    let told: BTreeSet<String> = lines.iter().map(told).collect();
    let wanted = [
        r#""command" null 0"#,
        r#""request" "commit" 0"#,
        r#""request" "log" 0"#,
        r#""request" "show" 1"#,
    ];
    assert_eq!(told, wanted.map(str::to_owned).into());
    let commit = lines
        .iter()
        .find(|line| line["method"] == "commit")
        .expect("one");
    assert_eq!(commit["moved"][0]["ref"], "refs/heads/main");
    let text = std::fs::read_to_string(&logged.log).expect("a log");
    assert!(!text.contains("rhubarb"), "{text}");
}

#[test]
fn a_log_that_was_moved_away_is_begun_anew_and_one_that_cannot_be_written_is_a_warning() {
    let logged = Logged::new(Sandbox::with_messages(&[("user", "one")]));
    assert_eq!(logged.run(&["status"]), Some(0));
    std::fs::rename(&logged.log, logged.log.with_extension("1")).expect("moved");
    assert_eq!(logged.run(&["status"]), Some(0));
    assert_eq!(logged.lines().len(), 1);
    let nowhere = Logged {
        log: logged.sandbox.work().join("none/log"),
        ..logged
    };
    let mut command = nowhere.sandbox.command(&["truncate", "--keep", "1"]);
    let output = command
        .env("TRACT_LOG", &nowhere.log)
        .output()
        .expect("runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.matches("warning: TRACT_LOG").count(), 1, "{said}");
    assert!(output.status.success());
}

#[cfg(feature = "postgres")]
#[test]
fn a_server_is_told_without_its_password_and_why_it_is_not_reached() {
    let Some(address) = crate::cluster::address() else {
        return;
    };
    let logged = Logged::new(Sandbox::empty());
    let secret = address.replace("//tract@", "//tract:hunter2@");
    assert_eq!(logged.run(&["init", &secret]), Some(0));
    assert_eq!(
        logged.run(&["--repo", &secret, "commit", "-r", "user", "-m", "one"]),
        Some(0)
    );
    let nowhere = "postgres://me:hunter2@/db?host=/nonexistent";
    assert_eq!(logged.run(&["--repo", nowhere, "status"]), Some(1));
    let lines = logged.lines();
    assert_eq!(lines[1]["repository"], address.as_str());
    assert_eq!(lines[1]["moved"][0]["ref"], "refs/heads/main");
    assert!(lines[1]["statements"].as_u64() > Some(2));
    assert_eq!(lines[2]["error"], "unreachable");
    assert!(
        lines[2]["detail"]
            .as_str()
            .is_some_and(|it| it.contains("No such file")),
        "{:?}",
        lines[2]
    );
    let text = std::fs::read_to_string(&logged.log).expect("a log");
    assert!(!text.contains("hunter2"), "{text}");
}
