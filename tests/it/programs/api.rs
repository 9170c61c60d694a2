//! Programs: what `tract api` answers, in which order, and what it makes of requests that are none.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tract::deeds::{METHODS, described};

use crate::sandbox::{Sandbox, on_servers};
use crate::sessions::import::SESSION;

/// The answers to some requests, line by line.
fn answers(sandbox: &Sandbox, requests: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = requests.iter().map(Value::to_string).collect();
    raw(sandbox, lines.join("\n") + "\n")
}

fn raw(sandbox: &Sandbox, input: impl AsRef<[u8]>) -> Vec<Value> {
    let mut command = sandbox.command(&["api"]);
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.as_ref().to_owned();
    let writing = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("it ends");
    // It may have ended before it has read all.
    let _ = writing.join().expect("written");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// The answer to one request of a method.
pub fn ask(sandbox: &Sandbox, method: &str, params: Value) -> Value {
    let mut found = answers(
        sandbox,
        &[json!({ "id": 1, "method": method, "params": params })],
    );
    let answer = found.pop().expect("an answer");
    assert!(answer.get("error").is_none(), "{method}: {answer}");
    answer["result"].clone()
}

/// A purge says what it has erased, and what stays.
#[test]
fn a_clear_that_erases_says_what_and_what_stays() {
    let sandbox = Sandbox::with_messages(&[("system", "rules"), ("user", "one"), ("user", "two")]);
    let refused = wrong(&sandbox, "clear", json!({ "purge": true }));
    assert_eq!(refused["kind"], "invalid_params", "{refused}");
    let erased = ask(&sandbox, "clear", json!({ "purge": true, "force": true }))["erased"].clone();
    assert_eq!(erased["messages"], 2, "{erased}");
    assert_eq!(erased["is_held"], false, "{erased}");
    assert!(ask(&sandbox, "clear", json!({})).get("erased").is_none());
}

/// What is wrong with one request.
pub fn wrong(sandbox: &Sandbox, method: &str, params: Value) -> Value {
    let found = answers(
        sandbox,
        &[json!({ "id": 1, "method": method, "params": params })],
    );
    found[0]["error"].clone()
}

fn of(answers: &[Value], id: u64) -> &Value {
    let mut own = answers.iter().filter(|answer| answer["id"] == id);
    own.next()
        .unwrap_or_else(|| panic!("no answer to {id}: {answers:?}"))
}

#[test]
fn requests_are_answered_as_if_each_had_waited() {
    let sandbox = Sandbox::new();
    let mut requests = Vec::new();
    for id in 0..40 {
        let text = format!("message {id}");
        requests.push(
            json!({ "id": 2 * id, "method": "commit", "params": { "role": "user", "message": text } }),
        );
        requests.push(json!({ "id": 2 * id + 1, "method": "log", "params": { "limit": 1 } }));
    }
    let found = answers(&sandbox, &requests);
    assert_eq!(found.len(), 80);
    for id in 0..40 {
        let made = &of(&found, 2 * id)["result"]["commits"][0]["hash"];
        assert_eq!(
            of(&found, 2 * id + 1)["result"]["commits"][0]["hash"],
            *made,
            "{id}"
        );
    }
    assert_eq!(ask(&sandbox, "status", json!({}))["messages"], 40);
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_answered() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let mut input = Vec::new();
    for line in [
        &b"no JSON"[..],
        b"{\"id\": 1}",
        b"{\"id\": 2, \"method\": \"log\", \"more\": 1}",
        b"[1, 2]",
        b"\xff\xfe",
        b"{\"id\": 3, \"method\": \"lug\"}",
        b"{\"id\": 4, \"method\": \"log\", \"params\": {\"limit\": -1}}",
        b"{\"id\": 5, \"method\": \"log\", \"params\": [1]}",
        b"{\"id\": 6, \"method\": \"cancel\", \"params\": {\"id\": 77}}",
        b"{\"id\": 7, \"method\": \"show\", \"params\": {\"rev\": \"deadbeef\"}}",
        b"{\"id\": 8, \"method\": \"status\", \"on\": \"-rf\"}",
        b"{\"id\": 9, \"method\": \"status\"}",
    ] {
        input.extend_from_slice(line);
        input.push(b'\n');
    }
    let found = raw(&sandbox, input);
    assert_eq!(found.len(), 12);
    let nobody: Vec<&Value> = found
        .iter()
        .filter(|answer| answer["id"].is_null())
        .collect();
    assert_eq!(nobody.len(), 3);
    assert!(
        nobody
            .iter()
            .all(|answer| answer["error"]["exit_code"] == 2)
    );
    // Whatever else is wrong, who asks is answered under the id.
    for (id, wanted) in [
        (1, "a request that cannot be read: 'method' is missing"),
        (
            2,
            "a request that cannot be read: there is no 'more'; known: id, method, params, on",
        ),
        (
            4,
            "parameters: 'limit': -1 where a whole number, 0 or more, is wanted",
        ),
        (5, "parameters: a list where an object is wanted"),
    ] {
        assert_eq!(of(&found, id)["error"]["message"], wanted);
    }
    assert_eq!(of(&found, 3)["error"]["hint"], "did you mean log?");
    assert_eq!(of(&found, 4)["error"]["kind"], "invalid_params");
    assert_eq!(of(&found, 5)["error"]["kind"], "invalid_params");
    assert_eq!(of(&found, 6)["error"]["exit_code"], 2);
    assert_eq!(of(&found, 7)["error"]["kind"], "unknown_revision");
    assert_eq!(of(&found, 7)["error"]["exit_code"], 1);
    assert_eq!(of(&found, 8)["error"]["kind"], "invalid_ref_name");
    assert_eq!(of(&found, 9)["result"]["messages"], 1);
}

#[test]
fn no_reader_breaks_an_answer_into_two_lines() {
    let sandbox = Sandbox::with_messages(&[("user", "one\u{2028}two\u{2029}three")]);
    let wanted = "one\\u2028two\\u2029three";
    let request = r#"{"id":1,"method":"read","params":{"rev":":1","around":null}}"#;
    for (door, request) in [
        ("api", request.to_owned()),
        (
            "mcp",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"id":":1"}}}"#.to_owned(),
        ),
    ] {
        let told = sandbox.tract_with(&[door], request + "\n");
        assert!(told.contains(wanted) || told.contains(&wanted.replace("two", "  two").replace("three", "  three")), "{told}");
        assert!(!told.contains(['\u{2028}', '\u{2029}']), "{told}");
    }
    let told = sandbox.tract(&["api", "read", r#"{"rev":":1"}"#]);
    assert!(told.contains(wanted), "{told}");
}

#[test]
fn a_request_that_is_too_long_costs_no_memory_and_no_other_request() {
    let sandbox = Sandbox::new();
    let mut input =
        b"{\"id\": 1, \"method\": \"commit\", \"params\": {\"role\": \"user\", \"text\": \""
            .to_vec();
    input.resize(input.len() + (65 << 20), b'x');
    input.extend_from_slice(b"\"}}\n{\"id\": 2, \"method\": \"status\"}\n");
    let found = raw(&sandbox, input);
    assert_eq!(
        found[0]["error"]["message"],
        "a request of more than 64 MiB"
    );
    assert_eq!(of(&found, 2)["result"]["messages"], 0);
}

#[test]
fn a_client_that_goes_away_leaves_whole_commits() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["api"]);
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    drop(child.stdout.take());
    for id in 0..50 {
        let request =
            json!({ "id": id, "method": "commit", "params": { "role": "user", "message": "x" } });
        if writeln!(stdin, "{request}").is_err() {
            break;
        }
    }
    drop(stdin);
    let end = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("it can be asked").is_none() {
        assert!(Instant::now() < end, "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    let checked = ask(&sandbox, "fsck", json!({}));
    assert_eq!(checked["is_damaged"], false);
}

#[test]
fn a_method_can_be_asked_for_once() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    let listed = sandbox.ok(&["api", "log", r#"{"limit": 1}"#]);
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed["commits"][0]["preview"], "two");
    let output = sandbox
        .command(&["api", "show", r#"{"rev": "nothing"}"#])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let error: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(error["error"]["kind"], "unknown_revision");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn an_import_tells_how_far_it_is_and_can_be_cancelled() {
    let sandbox = Sandbox::new();
    let record = |id: usize| {
        let text = "a word and another ".repeat(400);
        let parent = (id > 0).then(|| format!("u{}", id - 1));
        json!({
            "type": "user", "uuid": format!("u{id}"), "parentUuid": parent, "sessionId": "long", "cwd": "/w",
            "timestamp": "2026-03-01T10:00:00.000Z", "version": "2.1.0",
            "message": { "role": "user", "content": format!("{id} {text}") },
        })
        .to_string()
    };
    let lines: Vec<String> = (0..4_000).map(record).collect();
    let path = sandbox.write("long.jsonl", lines.join("\n") + "\n");
    let mut command = sandbox.command(&["api"]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let import = json!({ "id": 1, "method": "import", "params": { "paths": [path] } });
    writeln!(stdin, "{import}").expect("written");
    let stdout = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let (mut seen, mut last) = (false, None);
    for line in std::io::BufRead::lines(stdout) {
        let answer: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        if answer["id"] == 1 && answer.get("progress").is_some() && !seen {
            seen = true;
            assert!(answer["progress"]["total"].as_u64() > answer["progress"]["done"].as_u64());
            writeln!(
                stdin,
                "{}",
                json!({ "id": 2, "method": "cancel", "params": { "id": 1 } })
            )
            .expect("written");
        }
        if answer["id"] == 1 && answer.get("progress").is_none() {
            last = Some(answer);
            break;
        }
    }
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    let last = last.expect("an answer");
    assert!(seen, "no progress before {last}");
    assert_eq!(last["error"]["kind"], "cancelled", "{last}");
    assert_eq!(ask(&sandbox, "status", json!({}))["messages"], 0);
    assert_eq!(ask(&sandbox, "fsck", json!({}))["is_damaged"], false);
}

#[test]
fn a_move_by_somebody_else_is_an_event() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let mut command = sandbox.command(&["api"]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(
        child.stdout.take().expect("a pipe"),
    ));
    let mut next = || -> Value {
        serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("JSON")
    };
    writeln!(stdin, "{}", json!({ "id": 1, "method": "subscribe" })).expect("written");
    assert_eq!(next()["id"], 1);
    // What it has seen before is no news.
    std::thread::sleep(Duration::from_millis(500));
    sandbox.ok(&["commit", "-r", "assistant", "-m", "two"]);
    let event = next();
    assert_eq!(event["event"], "moved");
    let names: Vec<&Value> = event["refs"]
        .as_array()
        .expect("refs")
        .iter()
        .map(|row| &row["name"])
        .collect();
    assert_eq!(names, ["refs/heads/main"]);
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn an_import_takes_files_and_folders_and_can_be_strict() {
    let sandbox = Sandbox::new();
    sandbox.write("sessions/one.jsonl", SESSION);
    sandbox.write("sessions/none.json", "{}");
    let done = ask(
        &sandbox,
        "import",
        json!({ "paths": ["sessions"], "strict": true }),
    );
    assert_eq!(done["sessions"].as_array().map(Vec::len), Some(1), "{done}");
    assert_eq!(done["sessions"][0]["format"], "claude-code");
    assert_eq!(done["passed_over"], json!(["sessions/none.json"]));
    sandbox.write("broken.jsonl", format!("{SESSION}{{\n"));
    for (params, kind) in [
        (
            json!({ "paths": ["broken.jsonl"], "strict": true }),
            "strict_import",
        ),
        (
            json!({ "paths": ["sessions", "broken.jsonl"], "as": "one" }),
            "invalid_params",
        ),
        (
            json!({ "paths": ["broken.jsonl"], "as": "one", "onto": "main" }),
            "invalid_params",
        ),
        (json!({}), "invalid_params"),
    ] {
        let told = sandbox.tract(&["api", "import", &params.to_string()]);
        assert!(told.contains(kind), "{params}: {told}");
    }
    let done = ask(
        &sandbox,
        "import",
        json!({ "paths": ["sessions/one.jsonl", "broken.jsonl"] }),
    );
    assert_eq!(done["problem_count"], 1, "{done}");
    assert!(
        done["problems"][0]
            .as_str()
            .is_some_and(|it| it.starts_with("broken.jsonl: line"))
    );
}

#[test]
fn a_program_gets_the_page_that_people_get() {
    let sandbox =
        Sandbox::with_messages(&[("user", "How deep is the Rhine?"), ("assistant", "Deep.")]);
    for format in ["html", "markdown"] {
        let page = ask(&sandbox, "export", json!({ "format": format }));
        assert_eq!(page["content"], sandbox.ok(&["export", "--format", format]));
        assert_eq!(
            (&page["format"], &page["written"]),
            (&json!(format), &json!(2))
        );
    }
    sandbox.ok(&[
        "commit",
        "-r",
        "user",
        "-m",
        &format!("My key is {}", crate::upkeep::secrets::github(1)),
    ]);
    let told = sandbox.tract(&["api", "export", r#"{"format": "html"}"#]);
    assert!(told.contains("leaks"), "{told}");
    let page = ask(
        &sandbox,
        "export",
        json!({ "format": "html", "redact": true }),
    );
    assert!(
        page["content"]
            .as_str()
            .is_some_and(|it| it.contains("[redacted:"))
    );
}

/// What a program is told is what people are shown.
#[test]
fn both_doors_say_the_same() {
    let sandbox = Sandbox::new();
    let path = sandbox.write("session.jsonl", SESSION);
    let imported = ask(&sandbox, "import", json!({ "paths": [path] }));
    assert_eq!(imported["sessions"][0]["outcome"], "new");
    assert_eq!(imported["sessions"][0]["follows"], true);

    let listed = ask(&sandbox, "log", json!({ "limit": 0 }));
    let told = sandbox.ok(&["log", "-n", "0", "--format", "%H %r %t %T %s"]);
    let listed: Vec<String> = listed["commits"]
        .as_array()
        .expect("commits")
        .iter()
        .map(|row| {
            let role = row["role"].as_str().unwrap_or_default();
            format!(
                "{} {role} {} {} {}",
                row["hash"].as_str().expect("a hash"),
                row["delta_tokens"],
                row["context_tokens"]["tokens"],
                row["preview"].as_str().expect("a preview")
            )
        })
        .collect();
    assert_eq!(listed.len(), told.lines().count());
    for (listed, told) in listed.iter().zip(told.lines()) {
        assert_eq!(listed.split(' ').next(), told.split(' ').next());
    }

    let status = ask(&sandbox, "status", json!({}));
    let messages = status["messages"].as_u64().expect("a number");
    assert!(
        sandbox
            .ok(&["status"])
            .contains(&format!("Context  {messages} message"))
    );

    let context = ask(&sandbox, "context", json!({}));
    assert_eq!(context["total"].as_u64(), Some(messages));
    let sum: u64 = context["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .filter_map(|one| one["tokens"]["tokens"].as_u64())
        .sum();
    assert_eq!(status["tokens"]["tokens"].as_u64(), Some(sum + 3));
    let two = ask(&sandbox, "context", json!({ "from": -2 }));
    assert_eq!(two["messages"].as_array().map(Vec::len), Some(2));
    assert_eq!(two["messages"][1]["number"].as_u64(), Some(messages));

    for format in ["openai", "anthropic", "responses"] {
        let compiled = ask(
            &sandbox,
            "compile",
            json!({ "format": format, "request": true }),
        );
        let told: Value =
            serde_json::from_str(&sandbox.ok(&["compile", "--format", format, "--request"]))
                .expect("JSON");
        assert_eq!(compiled["payload"], told, "{format}");
    }
    let exported = ask(&sandbox, "export", json!({}));
    assert_eq!(
        exported["content"].as_str().map(str::as_bytes),
        Some(
            sandbox
                .command(&["export"])
                .output()
                .expect("it runs")
                .stdout
                .as_slice()
        )
    );

    let shown = ask(&sandbox, "show", json!({ "rev": ":1" }));
    assert!(
        sandbox
            .ok(&["show", ":1"])
            .contains(shown["commit"]["hash"].as_str().expect("a hash"))
    );
    let drop = ask(
        &sandbox,
        "drop",
        json!({ "revs": [":2"], "dry_run": true, "force": true }),
    );
    assert_eq!(drop["commits"], json!([]));
    let before = drop["before"]["tokens"]["tokens"].as_u64();
    assert_eq!(before, status["tokens"]["tokens"].as_u64());
}

/// Every change can be made through it, and be taken back.
#[test]
fn every_change_can_be_taken_back() {
    let sandbox = Sandbox::with_messages(&[
        ("system", "Be brief."),
        ("user", "the task"),
        ("assistant", "one"),
        ("user", "two"),
        ("assistant", "three"),
        ("user", "four"),
    ]);
    let before = ask(&sandbox, "context", json!({}));
    for (method, params) in [
        ("commit", json!({ "role": "assistant", "message": "five" })),
        (
            "commit",
            json!({ "batch": [{ "role": "assistant", "content": "five" }, { "role": "user", "content": "six" }] }),
        ),
        ("commit", json!({ "edit": ":3", "message": "another" })),
        (
            "annotate",
            json!({ "revs": [":3"], "skip": true, "reason": "why not" }),
        ),
        ("truncate", json!({ "keep": 2 })),
        ("truncate", json!({ "fraction": "0.5" })),
        ("drop", json!({ "revs": [":3"] })),
        ("compact", json!({ "message": "What was said.", "keep": 1 })),
        ("clear", json!({})),
        ("pick", json!({ "revs": [":3"] })),
        ("revert", json!({ "rev": ":3" })),
        ("rebase", json!({ "onto": "HEAD~2", "from": "HEAD~1" })),
        ("reset", json!({ "rev": "HEAD~2" })),
        ("branch", json!({ "name": "idea" })),
    ] {
        let done = ask(&sandbox, method, params);
        let after = ask(&sandbox, "context", json!({}));
        if method != "branch" {
            assert_ne!(after["messages"], before["messages"], "{method}: {done}");
        }
        let undone = ask(&sandbox, "undo", json!({}));
        assert_eq!(undone["undone"], true, "{method}: {undone}");
        assert_eq!(ask(&sandbox, "context", json!({})), before, "{method}");
    }
    let made = ask(&sandbox, "truncate", json!({ "keep": 1 }));
    let hide = made["commits"][0].as_str().expect("a hash").to_owned();
    ask(&sandbox, "restore", json!({ "revs": [hide] }));
    assert_eq!(
        ask(&sandbox, "context", json!({}))["messages"],
        before["messages"]
    );
    assert_eq!(
        ask(&sandbox, "undo", json!({}))["what"]
            .as_str()
            .map(|what| what.starts_with("restore")),
        Some(true)
    );
    assert_eq!(ask(&sandbox, "redo", json!({}))["undone"], false);
    let moved = ask(
        &sandbox,
        "checkout",
        json!({ "new_branch": "other", "rev": "HEAD~1" }),
    );
    assert_eq!(moved["to"]["branch"], "other");
    ask(&sandbox, "checkout", json!({ "rev": "-" }));
    assert_eq!(
        ask(&sandbox, "branches", json!({}))["branches"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    let operations = ask(&sandbox, "reflog", json!({ "limit": 3 }));
    assert_eq!(operations["operations"].as_array().map(Vec::len), Some(3));
}

#[test]
fn what_was_hidden_is_read_word_for_word() {
    let sandbox = Sandbox::new();
    let session = [
        json!({ "role": "user", "content": "Never touch src/old.rs." }),
        json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "c1", "type": "function", "function": {
            "name": "bash", "arguments": "{\"command\": \"cargo test --lib\"}" } }] }),
        json!({ "role": "tool", "tool_call_id": "c1", "content": "error[E0308]: mismatched types" }),
        json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "c2", "type": "function", "function": {
            "name": "edit", "arguments": "{\"file_path\": \"src/new.rs\", \"old_string\": \"a\", \"new_string\": \"b\"}" } }] }),
        json!({ "role": "tool", "tool_call_id": "c2", "content": "done" }),
        json!({ "role": "assistant", "content": "It compiles now." }),
    ];
    ask(&sandbox, "commit", json!({ "batch": session }));
    assert_eq!(ask(&sandbox, "dropped", json!({}))["messages"], 0);
    let compacted = ask(&sandbox, "compact", json!({ "message": "We fixed it." }));
    let dropped = ask(&sandbox, "dropped", json!({}));
    assert_eq!(dropped["commit"], compacted["commits"][0]);
    assert_eq!(dropped["prompts"][0]["text"], "Never touch src/old.rs.");
    assert_eq!(dropped["commands"][0]["text"], "cargo test --lib");
    assert_eq!(dropped["files"][0]["path"], "src/new.rs");
    assert_eq!(dropped["files"][0]["changed"], 1);
    let read = ask(
        &sandbox,
        "read",
        json!({ "rev": dropped["prompts"][0]["id"], "around": 1 }),
    );
    assert_eq!(
        read["messages"][0]["message"]["parts"][0]["text"],
        "Never touch src/old.rs."
    );
    assert!(read["messages"][0].get("number").is_none());
    assert_eq!(read["messages"].as_array().map(Vec::len), Some(2));
    let ran = ask(&sandbox, "did", json!({ "command": "cargo test" }));
    assert_eq!(ran["acts"][0]["result"], "error[E0308]: mismatched types");
    let file = ask(&sandbox, "did", json!({ "path": "src/new.rs" }));
    assert_eq!(file["acts"][0]["lines"], json!([1, 1]));
    assert_eq!(file["acts"][0]["next"], "It compiles now.");
    let error = ask(&sandbox, "did", json!({ "error": "E0308" }));
    assert_eq!(error["acts"][0]["call"], "bash cargo test --lib");
    let next = error["acts"][0]["next"].as_str().expect("what followed");
    assert!(next.starts_with("edit src/new.rs"), "{next}");
}

#[test]
fn who_made_a_commit_stands_in_it() {
    let sandbox = Sandbox::new();
    let said = json!({ "role": "user", "message": "x", "author": "Mara", "client": "aider 0.86", "run": "17" });
    ask(&sandbox, "commit", said);
    let shown = ask(&sandbox, "show", json!({}));
    let author = json!({ "name": "Mara", "client": "aider 0.86", "run": "17" });
    assert_eq!(shown["commit"]["author"], author);
    assert!(
        sandbox
            .ok(&["show"])
            .contains("author    Mara, by aider 0.86 (run 17)")
    );
    sandbox.name_people();
    // A server's repository is many people's, who each set their own.
    let of = if on_servers() { "--global" } else { "--" };
    sandbox.ok(&["config", of, "author.name", "Imke"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "y"]);
    ask(
        &sandbox,
        "commit",
        json!({ "role": "user", "message": "z" }),
    );
    sandbox.ok(&["commit", "-r", "user", "-m", "u", "--author", "Ole"]);
    let names = sandbox.ok(&["log", "--reverse", "--format", "%a"]);
    assert_eq!(
        names.trim_end(),
        "Mara, by aider 0.86 (run 17)\nImke\nImke\nOle"
    );
    assert!(sandbox.tract(&["fsck"]).contains("no damage"));
}

#[test]
fn a_result_of_nothing_is_a_message() {
    let sandbox = Sandbox::new();
    let call = json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "c1", "type": "function",
        "function": { "name": "true", "arguments": "{}" } }] });
    ask(&sandbox, "commit", json!({ "json": call }));
    ask(&sandbox, "commit", json!({ "call": "c1", "message": "" }));
    let one = ask(&sandbox, "show", json!({}));
    ask(&sandbox, "undo", json!({}));
    // By the command line it is the same message.
    sandbox.tract_with(&["commit", "--call", "c1", "-"], "");
    assert_eq!(ask(&sandbox, "show", json!({}))["message"], one["message"]);
    assert_eq!(ask(&sandbox, "status", json!({}))["messages"], 2);
    for params in [
        json!({}),
        json!({ "role": "user" }),
        json!({ "role": "user", "message": "  " }),
        json!({ "role": "nobody", "message": "x" }),
        json!({ "role": "user", "message": "x", "call": "c1" }),
        json!({ "role": "tool", "message": "x" }),
        json!({ "role": "user", "message": "x", "json": {} }),
        json!({ "json": {} }),
        json!({ "edit": "HEAD", "batch": [{ "role": "user", "content": "x" }] }),
        json!({ "edit": "HEAD", "message": "x", "after": "HEAD" }),
        json!({ "role": "user", "message": "x", "tools": {} }),
        json!({ "role": "user", "message": "x", "expect": "none" }),
    ] {
        let error = wrong(&sandbox, "commit", params.clone());
        assert!(error["exit_code"].as_u64() > Some(0), "{params}: {error}");
    }
    assert_eq!(ask(&sandbox, "status", json!({}))["messages"], 2);
}

/// What a schema says of a type, in a word.
fn type_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap_or(name);
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(any) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let words: Vec<String> = any
            .iter()
            .map(type_of)
            .filter(|word| word != "null")
            .collect();
        return words.join(" or ");
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("`{word}`");
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words
            .iter()
            .filter_map(|word| Some(format!("`{}`", word.as_str()?)))
            .collect();
        return words.join(", ");
    }
    match &schema["type"] {
        Value::String(word) if word == "array" => match schema["prefixItems"].as_array() {
            Some(items) => format!(
                "[{}]",
                items.iter().map(type_of).collect::<Vec<_>>().join(", ")
            ),
            None => format!("list of {}", type_of(&schema["items"])),
        },
        Value::String(word) => word.clone(),
        Value::Array(words) => {
            let words: Vec<&str> = words
                .iter()
                .filter_map(Value::as_str)
                .filter(|word| *word != "null")
                .collect();
            if words == ["array"] {
                return match schema["prefixItems"].as_array() {
                    Some(items) => format!(
                        "[{}]",
                        items.iter().map(type_of).collect::<Vec<_>>().join(", ")
                    ),
                    None => format!("list of {}", type_of(&schema["items"])),
                };
            }
            words.join(" or ")
        }
        _ => "any JSON".to_owned(),
    }
}

/// A table of the fields of an object.
fn table(schema: &Value) -> String {
    let Some(fields) = schema["properties"]
        .as_object()
        .filter(|fields| !fields.is_empty())
    else {
        return String::new();
    };
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut table = "| field | type | |\n| --- | --- | --- |\n".to_owned();
    for (name, field) in fields {
        let about = field["description"]
            .as_str()
            .unwrap_or_default()
            .replace('\n', " ");
        let must = if required.contains(&name.as_str()) {
            ""
        } else {
            "?"
        };
        table += &format!("| `{name}`{must} | {} | {about} |\n", type_of(field));
    }
    table + "\n"
}

/// The part of the page that is made of the types.
fn reference() -> String {
    let all = described();
    let types = &all["$defs"];
    let own = |schema: &Value| {
        let name = schema["$ref"].as_str().unwrap_or_default();
        name.rsplit('/').next().unwrap_or_default().to_owned()
    };
    let mut page = String::new();
    let mut told = Vec::new();
    for method in all["methods"].as_array().expect("methods") {
        let (params, result) = (own(&method["params"]), own(&method["result"]));
        let changes = if method["changes"] == true {
            " Changes the repository."
        } else {
            ""
        };
        page += &format!(
            "## {}\n\n{}{changes}\n\n",
            method["name"].as_str().expect("a name"),
            method["about"].as_str().expect("words")
        );
        let takes = table(&types[&params]);
        page += if takes.is_empty() {
            "Takes nothing.\n\n"
        } else {
            "Takes:\n\n"
        };
        page += &takes;
        if told.contains(&result) {
            page += &format!("Gives [{result}](#{}).\n\n", result.to_lowercase());
        } else {
            page += &format!(
                "Gives <a id=\"{}\"></a>{result}:\n\n{}",
                result.to_lowercase(),
                table(&types[&result])
            );
        }
        told.extend([params, result]);
    }
    page += "## Types\n\n";
    for (name, schema) in types.as_object().expect("types") {
        if told.contains(name) {
            continue;
        }
        let about = schema["description"]
            .as_str()
            .unwrap_or_default()
            .replace('\n', " ");
        page += &format!("### {name}\n\n{about}\n\n");
        let fields = table(schema);
        if fields.is_empty() {
            page += &format!("{}\n\n", type_of(schema));
        }
        page += &fields;
    }
    page.trim_end().to_owned() + "\n"
}

/// Where the page goes over to what is made.
const MADE: &str = "<!-- What follows is made of the types: TRACT_WRITE_DOCS=1 cargo test --test it api_page -->\n\n";

#[test]
fn the_api_page_says_what_the_types_say() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/api.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (head, made) = page.split_once(MADE).expect("where it begins");
    let wanted = reference();
    if std::env::var_os("TRACT_WRITE_DOCS").is_some() {
        std::fs::write(path, format!("{head}{MADE}{wanted}")).expect("written");
    } else {
        assert!(
            made == wanted,
            "docs/api.md says something else than the types"
        );
    }
    assert_eq!(
        METHODS.len(),
        described()["methods"].as_array().map_or(0, Vec::len)
    );
}

/// What the command line would not take is refused, and nothing is done.
#[test]
fn what_goes_with_nothing_else_is_refused_by_json() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("user", "two"), ("user", "three")]);
    let head = sandbox.ok(&["rev-parse", "HEAD"]);
    for (method, params) in [
        ("merge", r#"{"abort":true,"dry_run":true}"#),
        ("merge", r#"{"abort":true,"continue":true}"#),
        ("resolve", r#"{"ours":true}"#),
        ("truncate", r#"{"keep":1,"marker":"x","no_marker":true}"#),
        ("truncate", r#"{"keep":1,"by_our_count":true}"#),
        ("clear", r#"{"force":true}"#),
        ("prune", r#"{"by_our_count":true}"#),
        ("push", r#"{"delete":true}"#),
        ("pull", r#"{"merge":true,"no_merge":true}"#),
        ("log", r#"{"regex":true}"#),
        ("log", r#"{"file":"a.rs","files":true}"#),
        ("log", r#"{"files":true,"role":"user"}"#),
        ("log", r#"{"requests":true,"since":"2d"}"#),
        ("log", r#"{"op":["squash"]}"#),
        ("find", r#"{"text":"one","exact":true,"regex":true}"#),
        ("find", r#"{"text":"one","rev":"HEAD","here":true}"#),
        ("show", r#"{"which":2}"#),
        ("show", r#"{"rev":"HEAD~1..","image":"a.png"}"#),
        ("diff", r#"{"after":"HEAD"}"#),
        ("diff", r#"{"sent":true}"#),
        ("diff", r#"{"before":"HEAD","sent":true,"role":"user"}"#),
    ] {
        let told = sandbox
            .command(&["api", method, params])
            .output()
            .expect("it runs");
        assert_eq!(told.status.code(), Some(2), "{method} {params}: {told:?}");
    }
    assert_eq!(sandbox.ok(&["rev-parse", "HEAD"]), head);
}
