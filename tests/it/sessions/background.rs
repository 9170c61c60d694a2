//! Agents and shells in the background: what has no end in the session is told, so that it is started once.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::programs::mcp::Client;
use crate::sandbox::Sandbox;

const ID: &str = "7f0d2c8e-2222-4222-8333-444455556666";

/// A session of Claude Code, record by record.
struct Session {
    sandbox: Sandbox,
    lines: Vec<Value>,
}

impl Session {
    fn new() -> Self {
        Self {
            sandbox: Sandbox::new(),
            lines: Vec::new(),
        }
    }

    fn say(&mut self, kind: &str, content: Value) -> &mut Self {
        let number = self.lines.len();
        // The queue's records stand beside the conversation.
        let mut names = self.lines.iter().rev().map(|line| line["uuid"].clone());
        let parent = names.find(|name| !name.is_null());
        self.lines.push(json!({
            "type": kind, "uuid": format!("r{number}"), "parentUuid": parent, "sessionId": ID,
            "cwd": self.sandbox.work(), "timestamp": format!("2026-03-14T{:02}:{:02}:00.000Z", 10 + number / 60 % 12, number % 60),
            "version": "2.1.330", "message": { "role": kind, "content": content },
        }));
        self
    }

    /// A call and its result.
    fn call(&mut self, id: &str, name: &str, input: Value, result: &str) -> &mut Self {
        let call = json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
        self.say("assistant", call);
        let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": result }]);
        self.say("user", result)
    }

    fn compact(&mut self) -> &mut Self {
        let last = self.lines.last().map(|line| line["uuid"].clone());
        let at = format!("2026-03-14T10:{:02}:00.000Z", self.lines.len());
        self.lines.push(json!({
            "type": "system", "subtype": "compact_boundary", "uuid": "cut", "parentUuid": null, "logicalParentUuid": last,
            "sessionId": ID, "cwd": self.sandbox.work(), "timestamp": at, "version": "2.1.330",
            "content": "Conversation compacted", "compactMetadata": { "trigger": "manual", "preTokens": 1000 },
        }));
        self.say(
            "user",
            json!("This session continues an earlier one. Summary: a server is tried."),
        );
        let summary = self.lines.last_mut().expect("just said");
        summary["isCompactSummary"] = true.into();
        self
    }

    fn ended(&mut self, id: &str) -> &mut Self {
        let notice = format!(
            "<task-notification>\n<task-id>{id}</task-id>\n<status>completed</status>\n<summary>It ended</summary>\n</task-notification>"
        );
        self.say("user", json!(notice))
    }

    /// Its file, where the client keeps it.
    fn file(&self) -> PathBuf {
        let work = self.sandbox.work().display().to_string();
        let folder = self.sandbox.home().join(".claude/projects");
        let folder = folder.join(work.replace(['/', '.'], "-"));
        std::fs::create_dir_all(&folder).expect("made");
        let path = folder.join(format!("{ID}.jsonl"));
        let text: Vec<String> = self.lines.iter().map(Value::to_string).collect();
        std::fs::write(&path, text.join("\n") + "\n").expect("written");
        path
    }

    fn status(&self) -> String {
        let file = self.file();
        self.sandbox
            .ok(&["-q", "import", file.to_str().expect("text")]);
        let status = self.sandbox.ok(&["status"]);
        let running = status.lines().filter(|line| line.starts_with("Open "));
        running.collect::<Vec<_>>().join("\n")
    }

    fn hook(&self, event: &str) -> String {
        let hook = json!({
            "session_id": ID, "transcript_path": self.file(), "cwd": self.sandbox.work(), "hook_event_name": event,
            "trigger": "manual", "source": "compact",
        });
        self.sandbox
            .tract_with(&["guard", "--hook"], hook.to_string())
    }
}

fn server(session: &mut Session) -> &mut Session {
    session.say("user", json!("Try the server.")).call(
        "t1",
        "Bash",
        json!({ "command": "npm run dev -- --port 3001", "run_in_background": true }),
        "Command running in background with ID: bq7x. Output is being written to: /tmp/bq7x.output.",
    )
}

fn agent(session: &mut Session) -> &mut Session {
    session.call(
        "t2",
        "Agent",
        json!({ "description": "Reads all", "prompt": "Read every page of the manual.", "run_in_background": true }),
        "Async agent launched successfully.\nagentId: a66ffe (internal ID)\nThe agent is working in the background.",
    )
}

#[test]
fn what_was_started_in_the_background_is_told_until_it_ends() {
    let mut session = Session::new();
    agent(server(&mut session));
    insta::assert_snapshot!(session.status(), @r"
    Open     shell bq7x, no end in the record, started 2 h ago: npm run dev -- --port 3001
    Open     agent a66ffe, no end in the record, started 1 h ago: Read every page of the manual.
    ");
    // A compaction between changes nothing.
    session.compact();
    assert_eq!(session.status().lines().count(), 2);
    let told = session.hook("SessionStart");
    for piece in [
        "with no end in the record",
        "shell bq7x",
        "npm run dev",
        "agent a66ffe",
        "2026-03-14 10:02",
    ] {
        assert!(told.contains(piece), "{piece}: {told}");
    }
    let log = session.sandbox.ok(&["log", "--running", "--format", "%s"]);
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(log.contains("bq7x") && !log.contains("Summary"), "{log}");

    let mut client = session.sandbox.command(&["mcp"]);
    client
        .env("CLAUDE_CODE_SESSION_ID", ID)
        .env("CLAUDE_PROJECT_DIR", session.sandbox.work());
    let mut client = Client::of(client);
    let told = client.told("context", json!({}));
    assert!(
        told.contains("shell bq7x, since 2026-03-14 10:02"),
        "{told}"
    );

    session.ended("bq7x");
    let status = session.status();
    assert!(
        status.starts_with("Open     agent a66ffe, no end in the record, started ")
            && status.lines().count() == 1,
        "{status}"
    );
    session.call(
        "t3",
        "TaskStop",
        json!({ "task_id": "a66ffe" }),
        "{\"message\":\"Successfully stopped task: a66ffe\"}",
    );
    assert_eq!(session.status(), "");
    assert!(!session.hook("SessionStart").contains("with no end"));
    let log = session
        .sandbox
        .command(&["log", "--running"])
        .output()
        .expect("it runs");
    assert!(log.stdout.is_empty(), "{log:?}");
    assert_eq!(
        log.stderr, b"Nothing without an end in the record\n",
        "{log:?}"
    );
}

#[test]
fn a_guard_before_a_compaction_names_what_runs_without_its_secrets() {
    let mut session = Session::new();
    let secret = ["hunter", "Zq7", "K2vv"].concat();
    session.say("user", json!("Try it.")).call(
        "t1",
        "Bash",
        json!({ "command": format!("PGPASSWORD={secret} ./serve"), "run_in_background": true }),
        "Command running in background with ID: bq8y.",
    );
    let told = session.hook("PreCompact");
    assert!(
        told.contains("shell bq8y") && told.contains("./serve"),
        "{told}"
    );
    assert!(!told.contains(&secret), "{told}");
    let told = session.sandbox.ok(&["guard"]);
    assert!(
        told.contains("shell bq8y") && told.contains("./serve"),
        "{told}"
    );
    assert!(!told.contains(&secret), "{told}");
}

/// Lines, names and previews are pieces of messages, and nothing knows a secret by a piece.
#[test]
fn no_piece_of_a_secret_is_handed_to_a_model() {
    let mut session = Session::new();
    let secret = ["Zq7hunter4K", "2vvTeapot9Rk"].concat();
    let pieces = [&secret[..9], &secret[secret.len() - 9..]];
    let key: Vec<String> = (0..4)
        .map(|line| {
            format!(
                "{}{line}{}",
                "Qx7Kd9fLmZ3p".repeat(2),
                "w5Tr8YuB2nHs".repeat(2)
            )
        })
        .collect();
    let before = "It is so that the pump of the shop wants a token.";
    session
        .say("user", json!(format!("Look at the pump.\n{before} my_token={secret}")))
        .call(
            "t1",
            "Bash",
            json!({ "command": format!("{}; curl -H 'X-Auth-Token: {secret}' host", "true; ".repeat(40)) }),
            &format!("pump: password={secret} {}", "tight ".repeat(70)),
        )
        .say("assistant", json!([{ "type": "text", "text": format!("{before} The pump my_token={secret}") }]))
        .call(
            "t2",
            "Read",
            json!({ "file_path": "/w/pump.pem" }),
            &format!("the pump\n-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", key.join("\n")),
        );
    let file = session.file();
    session
        .sandbox
        .ok(&["-q", "import", file.to_str().expect("text")]);
    let is_clean = |told: &str, door: &str| {
        let all = pieces
            .iter()
            .copied()
            .chain(key.iter().map(|line| &line[..12]));
        all.for_each(|piece| assert!(!told.contains(piece), "{door}: {piece} in {told}"));
    };
    is_clean(&session.hook("PreCompact"), "guard");
    is_clean(&session.sandbox.ok(&["guard", "--chars", "10000"]), "guard");
    let mut client = Client::of(session.sandbox.command(&["mcp"]));
    let key = &key[1];
    for (tool, arguments) in [
        ("recall", json!({ "query": "pump" })),
        ("recall", json!({ "query": "my_token password" })),
        ("recall", json!({ "query": key })),
        ("read", json!({ "id": ":1..:6" })),
        ("did", json!({ "command": "true" })),
        ("did", json!({ "path": "pump.pem" })),
        ("did", json!({ "command": "curl" })),
        ("context", json!({})),
    ] {
        let result = client.result(tool, arguments);
        is_clean(&result.to_string(), tool);
    }
}

/// A rewind takes back what was said, not what runs.
#[test]
fn what_runs_on_a_path_that_goes_on_is_told_and_a_conversation_of_tracts_own_has_none() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "Command running in background with ID: b1."),
        ("assistant", "It runs in the background."),
    ]);
    assert!(!sandbox.ok(&["status"]).contains("Open "));
    let log = sandbox
        .command(&["log", "--running"])
        .output()
        .expect("it runs");
    assert!(log.stdout.is_empty(), "{log:?}");
    assert_eq!(
        log.stderr, b"Nothing without an end in the record\n",
        "{log:?}"
    );
}

/// Codex says that a process has ended in an event that is no message.
#[test]
fn a_process_of_codex_runs_until_an_event_says_that_it_has_ended() {
    let sandbox = Sandbox::new();
    let line = |second: usize, kind: &str, payload: Value| {
        json!({ "timestamp": format!("2026-03-14T10:00:{second:02}.000Z"), "type": kind, "payload": payload }).to_string()
    };
    let mut lines = vec![
        line(
            0,
            "session_meta",
            json!({ "id": "01a0a017-0000-7000-8000-00000000000b", "timestamp": "2026-03-14T10:00:00.000Z",
            "cwd": sandbox.work(), "originator": "codex_cli_rs", "cli_version": "0.118.0" }),
        ),
        line(
            1,
            "response_item",
            json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Serve it." }] }),
        ),
    ];
    for (number, command) in ["npm run dev", "go test ./..."].into_iter().enumerate() {
        let call = format!("call_{number}");
        lines.push(line(
            2 + 2 * number,
            "response_item",
            json!({ "type": "function_call", "name": "exec_command",
            "arguments": json!({ "cmd": command }).to_string(), "call_id": call }),
        ));
        let output = format!(
            "Chunk ID: 8c{number}\nWall time: 1.0 seconds\nProcess running with session ID 496{number}\nOutput:\n"
        );
        lines.push(line(
            3 + 2 * number,
            "response_item",
            json!({ "type": "function_call_output", "call_id": call, "output": output }),
        ));
    }
    let running = |lines: &[String]| {
        let name = "rollout-2026-03-14T10-00-00-01a0a017-0000-7000-8000-00000000000b.jsonl";
        sandbox.write(name, lines.join("\n") + "\n");
        sandbox.ok(&["-q", "import", name]);
        let status = sandbox.ok(&["status"]);
        let running = status.lines().filter(|line| line.starts_with("Open "));
        running
            .map(|line| line.rsplit(": ").next().expect("a command").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(running(&lines), ["npm run dev", "go test ./..."]);
    lines.push(line(8, "event_msg", json!({ "type": "exec_command_end", "call_id": "call_1", "process_id": "4961", "exit_code": 0 })));
    lines.push(line(9, "response_item", json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "It is served." }] })));
    assert_eq!(running(&lines), ["npm run dev"]);
    // A short one has ended before the result that names it is written, in either form of the event.
    let call = |second: usize, id: &str, command: &str| {
        let arguments = json!({ "cmd": command }).to_string();
        line(
            second,
            "response_item",
            json!({ "type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": id }),
        )
    };
    let starts = |second: usize, id: &str, process: &str| {
        let output =
            format!("Wall time: 1.0 seconds\nProcess running with session ID {process}\nOutput:\n");
        line(
            second,
            "response_item",
            json!({ "type": "function_call_output", "call_id": id, "output": output }),
        )
    };
    let ends = [
        json!({ "type": "exec_command_end", "call_id": "c9", "process_id": "4968", "status": "completed" }),
        json!({ "type": "item_completed", "item": { "type": "CommandExecution", "id": "c10", "process_id": "4969" } }),
    ];
    for (at, (end, process)) in ends.into_iter().zip(["4968", "4969"]).enumerate() {
        let (id, second) = (format!("c{}", 9 + at), 20 + 10 * at);
        lines.push(call(second, &id, "git commit"));
        lines.push(line(second + 1, "event_msg", end));
        lines.push(starts(second + 9, &id, process));
        assert_eq!(running(&lines), ["npm run dev"], "form {at}");
    }
    // A later call whose process is given the same number runs.
    lines.push(call(40, "c11", "git push"));
    lines.push(starts(41, "c11", "4969"));
    assert_eq!(running(&lines), ["npm run dev", "git push"]);
}

/// Nothing in a record tells that a process outlives a session that has been silent for a day.
#[test]
fn of_a_session_of_long_ago_no_door_says_that_something_runs() {
    let mut session = Session::new();
    agent(server(&mut session));
    for line in &mut session.lines {
        let time = line["timestamp"].as_str().expect("a time");
        line["timestamp"] = time.replace("2026-03-14", "2026-03-01").into();
    }
    insta::assert_snapshot!(session.status(), @"Open     2 without an end in the record (last message 13 days ago): tract log --running");
    let log = session
        .sandbox
        .command(&["log", "--running"])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&log.stderr);
    assert!(
        said.contains("whether they still run is not known"),
        "{said}"
    );
    assert_eq!(String::from_utf8_lossy(&log.stdout).lines().count(), 2);
    let mut client = session.sandbox.command(&["mcp"]);
    client
        .env("CLAUDE_CODE_SESSION_ID", ID)
        .env("CLAUDE_PROJECT_DIR", session.sandbox.work());
    let told = Client::of(client).told("context", json!({}));
    for told in [told, session.hook("SessionStart")] {
        assert!(
            told.contains("whether they still run is not known"),
            "{told}"
        );
        assert!(!told.contains("look before you start it again"), "{told}");
    }
    let asked = json!({ "id": 1, "method": "status" }).to_string() + "\n";
    let status = session.sandbox.tract_with(&["api"], asked);
    assert_eq!(status.matches("\"is_stale\":true").count(), 2, "{status}");
}

/// While the model works, an end waits in the queue: the file has it before any message does.
#[test]
fn an_end_that_the_model_was_not_told_of_yet_is_known() {
    let mut session = Session::new();
    server(&mut session);
    agent(&mut session);
    assert_eq!(session.status().lines().count(), 2);
    let notice = "<task-notification>\n<task-id>a66ffe</task-id>\n<status>completed</status>\n</task-notification>";
    session.lines.push(json!({
        "type": "queue-operation", "operation": "enqueue", "timestamp": "2026-03-14T10:05:30.000Z",
        "sessionId": ID, "content": notice,
    }));
    let status = session.status();
    assert!(
        status.contains("bq7x") && status.lines().count() == 1,
        "{status}"
    );
    let told = session.hook("PreCompact");
    assert!(told.contains("bq7x") && !told.contains("a66ffe"), "{told}");
    // What was asked to go on since runs again.
    session.ended("a66ffe");
    session.call(
        "t3",
        "SendMessage",
        json!({ "to": "a66ffe", "message": "One page more." }),
        r#"{"success":true,"message":"resumed","resumedAgentId":"a66ffe"}"#,
    );
    assert_eq!(session.status().lines().count(), 2);
}

/// Of a long session the index says where to begin.
#[test]
fn what_was_started_long_ago_is_told_in_a_long_session() {
    let mut session = Session::new();
    for number in 0..300 {
        session.say("user", json!(format!("Count to {number}.")));
    }
    server(&mut session);
    for number in 300..900 {
        session.say("user", json!(format!("Count to {number}.")));
    }
    let status = session.status();
    assert!(
        status.contains("shell bq7x") && status.lines().count() == 1,
        "{status}"
    );
    assert_eq!(
        session.status(),
        status,
        "from what is kept of the first look"
    );
    session.ended("bq7x");
    assert_eq!(session.status(), "");
    let checked = session.sandbox.tract(&["fsck"]);
    assert!(checked.contains("no damage"), "{checked}");
}

/// A rollout of Codex whose model starts a command that goes on: of an agent, the id of the thread that started it.
fn rollout(id: &str, parent: Option<&str>, command: &str, work: &Path) -> Vec<Value> {
    let mut meta = json!({
        "id": id, "timestamp": "2026-03-14T10:00:00.000Z", "cwd": work, "originator": "codex_exec", "cli_version": "0.171.0",
        "source": "exec", "history_mode": "paginated",
    });
    if let Some(parent) = parent {
        meta["parent_thread_id"] = parent.into();
        meta["source"] =
            json!({ "subagent": { "thread_spawn": { "parent_thread_id": parent, "depth": 1 } } });
    }
    let process = &id[id.len() - 4..];
    let arguments = json!({ "cmd": command }).to_string();
    let output =
        format!("Wall time: 1.0 seconds\nProcess running with session ID {process}\nOutput:\n");
    [
        ("session_meta", meta),
        ("response_item", json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": format!("Do {command}.") }] })),
        ("response_item", json!({ "type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": format!("call_{process}") })),
        ("response_item", json!({ "type": "function_call_output", "call_id": format!("call_{process}"), "output": output })),
    ]
    .into_iter()
    .enumerate()
    .map(|(second, (kind, payload))| rolled(second, kind, payload))
    .collect()
}

fn rolled(second: usize, kind: &str, payload: Value) -> Value {
    let time = format!("2026-03-14T10:00:{second:02}.000Z");
    json!({ "timestamp": time, "type": kind, "payload": payload })
}

/// The sub-agents of Codex are sessions of their own, which begin with their own or with their parent's history.
#[test]
fn what_the_agents_of_codex_started_is_told_with_the_session_that_began_them() {
    let sandbox = Sandbox::new();
    let [main, agent, agents] =
        ["1111", "2222", "3333"].map(|end| format!("01a0a017-0000-7000-8000-00000000{end}"));
    let write = |id: &str, lines: &[Value]| {
        let folder = sandbox.home().join(".codex/sessions/2026/03/14");
        std::fs::create_dir_all(&folder).expect("made");
        let path = folder.join(format!("rollout-2026-03-14T10-00-00-{id}.jsonl"));
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        std::fs::write(&path, lines.join("\n") + "\n").expect("written");
        path
    };
    let mut of_main = rollout(&main, None, "npm run dev", &sandbox.work());
    of_main.push(rolled(5, "world_state", json!({ "full": false, "state": { "environments": { "subagents": format!("- {agent}: Ada") } } })));
    let mut of_agent = rollout(&agent, Some(&main), "go test ./...", &sandbox.work());
    let mut of_agents = rollout(&agents, Some(&agent), "cargo watch", &sandbox.work());
    write(&agents, &of_agents);
    write(&agent, &of_agent);
    let path = write(&main, &of_main);
    let folder = path.parent().expect("a folder").to_path_buf();
    let running = || {
        for path in [&path, &folder] {
            sandbox.ok(&["-q", "import", path.to_str().expect("text")]);
        }
        let status = sandbox.ok(&["status"]);
        let running = status.lines().filter(|line| line.starts_with("Open "));
        running.map(str::to_owned).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(running(), @r"
    Open     shell 1111, no end in the record, started 2 h ago: npm run dev
    Open     shell 2222 of agent 01a0a017-0000-7000-8000-000000002222, no end in the record, started 2 h ago: go test ./...
    Open     shell 3333 of agent 01a0a017-0000-7000-8000-000000003333, no end in the record, started 2 h ago: cargo watch
    ");
    let log = sandbox.ok(&["log", "--running", "--format", "%s"]);
    assert_eq!(log.lines().count(), 3, "{log}");

    // Its turn is over, and its processes live on.
    of_agent.push(rolled(9, "event_msg", json!({ "type": "task_complete" })));
    write(&agent, &of_agent);
    assert_eq!(running().lines().count(), 3);
    // The process of an agent ends.
    let ends = json!({ "type": "exec_command_end", "process_id": "3333" });
    of_agents.push(rolled(10, "event_msg", ends));
    write(&agents, &of_agents);
    assert!(
        running().lines().count() == 2 && !running().contains("cargo watch"),
        "{}",
        running()
    );
    // An agent that is no more has no process.
    let none = json!({ "full": false, "state": { "environments": { "subagents": null } } });
    of_main.push(rolled(12, "world_state", none));
    write(&main, &of_main);
    assert!(!running().contains("go test"), "{}", running());
}

/// The agents of Claude Code have files beside that of their session.
#[test]
fn what_an_agent_of_claude_code_started_is_told_with_its_session() {
    let mut session = Session::new();
    agent(&mut session);
    let mut own = Session {
        sandbox: Sandbox::new(),
        lines: Vec::new(),
    };
    server(&mut own);
    for line in &mut own.lines {
        line["isSidechain"] = true.into();
        line["agentId"] = "a66ffe".into();
        line["cwd"] = session.sandbox.work().display().to_string().into();
    }
    let folder = session.file().with_extension("").join("subagents");
    std::fs::create_dir_all(&folder).expect("made");
    let lines: Vec<String> = own.lines.iter().map(Value::to_string).collect();
    std::fs::write(folder.join("agent-a66ffe.jsonl"), lines.join("\n") + "\n").expect("written");
    insta::assert_snapshot!(session.status(), @r"
    Open     agent a66ffe, no end in the record, started 2 h ago: Read every page of the manual.
    Open     shell bq7x of agent a66ffe, no end in the record, started 2 h ago: npm run dev -- --port 3001
    ");
    for event in ["PreCompact", "SessionStart"] {
        let told = session.hook(event);
        assert!(
            told.contains("shell bq7x of agent a66ffe, since 2026-03-14 10:02:00: npm run dev"),
            "{told}"
        );
    }
    let mut client = session.sandbox.command(&["mcp"]);
    client
        .env("CLAUDE_CODE_SESSION_ID", ID)
        .env("CLAUDE_PROJECT_DIR", session.sandbox.work());
    let told = Client::of(client).told("context", json!({}));
    assert!(told.contains("shell bq7x of agent a66ffe"), "{told}");
    // An agent that has ended leaves no shell.
    session.ended("a66ffe");
    session.lines.push(json!({
        "type": "queue-operation", "operation": "enqueue", "timestamp": "2026-03-14T10:09:00.000Z", "sessionId": ID,
        "content": "<task-notification>\n<task-id>a66ffe</task-id>\n<status>completed</status>\n</task-notification>",
    }));
    assert_eq!(session.status(), "");
}
