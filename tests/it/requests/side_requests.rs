//! What clients sent while they ran, and what they send of the same session once it has ended.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A session of our own, each record below the one before it.
struct Session {
    entrypoint: &'static str,
    rows: Vec<Value>,
    path: Option<String>,
}

impl Session {
    fn of(entrypoint: &'static str) -> Self {
        Self {
            entrypoint,
            rows: Vec::new(),
            path: None,
        }
    }

    fn row(mut self, kind: &str, more: Value) -> Self {
        let uuid = format!("r{}", self.rows.len());
        let mut row = json!({
            "parentUuid": self.path, "isSidechain": false, "type": kind, "uuid": uuid,
            "sessionId": "33333333-2222-4333-8444-555555555555", "cwd": "/w",
            "version": "2.1.197", "entrypoint": self.entrypoint,
            "timestamp": format!("2026-01-05T10:00:{:02}.000Z", self.rows.len()),
        });
        let fields = more.as_object().expect("fields").clone();
        row.as_object_mut().expect("fields").extend(fields);
        self.rows.push(row);
        self.path = Some(uuid);
        self
    }

    fn user(self, content: Value) -> Self {
        self.row(
            "user",
            json!({"message": {"role": "user", "content": content}}),
        )
    }

    fn result(self, call: &str, content: Value) -> Self {
        self.user(json!([{"type": "tool_result", "tool_use_id": call, "content": content}]))
    }

    fn reply(self, model: &str, content: Value) -> Self {
        let id = format!("m{}", self.rows.len());
        let message = json!({"id": id, "role": "assistant", "model": model, "content": content});
        self.row("assistant", json!({"message": message}))
    }

    fn text(&self) -> String {
        self.rows.iter().map(|row| format!("{row}\n")).collect()
    }

    fn says(self, text: &str) -> Self {
        self.reply(OPUS, json!([{"type": "text", "text": text}]))
    }

    fn calls(self, id: &str, name: &str, input: Value) -> Self {
        self.reply(
            OPUS,
            json!([{"type": "tool_use", "id": id, "name": name, "input": input}]),
        )
    }

    /// A hook at a call, by its event.
    fn hook(self, event: &str, call: &str) -> Self {
        let attachment = json!({
            "type": "hook_additional_context", "content": [format!("seen at {event}")],
            "hookName": format!("{event}:Bash"), "toolUseID": call, "hookEvent": event,
        });
        self.row("attachment", json!({"attachment": attachment}))
    }

    /// The record of a hook that did not let it stop.
    fn stopped(self) -> Self {
        let attachment = json!({
            "type": "hook_blocking_error", "hookName": "Stop", "toolUseID": "s", "hookEvent": "Stop",
            "blockingError": {"blockingError": "One more.", "command": "c"},
        });
        self.row("attachment", json!({"attachment": attachment}))
    }

    /// What comes next stands beside the last record and not below it.
    fn aside(mut self, make: impl FnOnce(Self) -> Self) -> Self {
        let path = self.path.clone();
        self = make(self);
        self.path = path;
        self
    }

    /// The client writes down its last prompt, as it does when it ends.
    fn last_prompt(mut self) -> Self {
        self.rows
            .push(json!({"type": "last-prompt", "lastPrompt": "go"}));
        self
    }

    /// The messages that are compiled for the reply of this text, but for the first.
    fn sent_for(&self, text: &str) -> Vec<String> {
        let sandbox = Sandbox::empty();
        let lines = self.rows.iter().map(|row| format!("{row}\n"));
        sandbox.write("session.jsonl", lines.collect::<String>());
        sandbox.ok(&["import", "session.jsonl"]);
        let log = sandbox.ok(&["log", "-n", "0", "--format", "%H %s"]);
        let reply = log.lines().find(|line| line.ends_with(text)).expect("it");
        let (hash, _) = reply.split_once(' ').expect("a hash");
        let request = sandbox.ok(&["compile", "--for", hash, "--format", "anthropic"]);
        let request: Value = serde_json::from_str(&request).expect("JSON");
        let messages = request["messages"].as_array().expect("messages").iter();
        messages.skip(1).map(ToString::to_string).collect()
    }
}

const OPUS: &str = "claude-opus-4-8";

/// A turn with hooks before and after its call, and one after it.
fn hooked(entrypoint: &'static str) -> Session {
    Session::of(entrypoint)
        .user(json!("go"))
        .calls("t1", "Bash", json!({"command": "ls"}))
        .aside(|session| session.hook("PreToolUse", "t1"))
        .result("t1", json!("a.txt"))
        .hook("PostToolUse", "t1")
        .hook("PostToolBatch", "t1")
        .says("nearly")
        .user(json!("Stop hook feedback:\nOne more."))
        .stopped()
        .says("done")
}

#[test]
fn a_hook_at_a_tool_stands_beside_the_result_as_long_as_the_client_runs() {
    let session = hooked("sdk-cli");
    insta::assert_snapshot!(session.sent_for("done").join("\n"), @r#"
    {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a.txt"}]},{"type":"text","text":"<system-reminder>\nPreToolUse:Bash hook additional context: seen at PreToolUse\n</system-reminder>\n"},{"type":"text","text":"<system-reminder>\nPostToolUse:Bash hook additional context: seen at PostToolUse\n</system-reminder>"}]}
    {"role":"system","content":"PostToolBatch:Bash hook additional context: seen at PostToolBatch"}
    {"role":"assistant","content":[{"type":"text","text":"nearly"}]}
    {"role":"user","content":[{"type":"text","text":"Stop hook feedback:\nOne more."}]}
    "#);
    // The next prompt is another process's: the hook before the call is gone.
    let session = session.last_prompt().user(json!("on")).says("well");
    insta::assert_snapshot!(session.sent_for("well").join("\n"), @r#"
    {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a.txt"}]}]}
    {"role":"system","content":"PostToolUse:Bash hook additional context: seen at PostToolUse\n\nPostToolBatch:Bash hook additional context: seen at PostToolBatch"}
    {"role":"assistant","content":[{"type":"text","text":"nearly"}]}
    {"role":"user","content":[{"type":"text","text":"Stop hook feedback:\nOne more."}]}
    {"role":"system","content":"Stop hook blocking error from command: \"c\": One more."}
    {"role":"assistant","content":[{"type":"text","text":"done"}]}
    {"role":"user","content":[{"type":"text","text":"on"}]}
    "#);
    // What was sent for the reply before stays what it was.
    assert_eq!(session.sent_for("done"), hooked("sdk-cli").sent_for("done"));
    // On a terminal the same record says nothing of an end.
    let on = |session: Session| session.last_prompt().user(json!("on")).says("well");
    let session = on(hooked("cli"));
    assert!(session.sent_for("well")[1].contains("PreToolUse"));
    // The hook at the start of the next does.
    let resumed = json!({"type": "hook_success", "hookName": "SessionStart:resume", "hookEvent": "SessionStart",
        "toolUseID": "s", "content": ""});
    let session = hooked("cli").row("attachment", json!({"attachment": resumed}));
    let session = on(session);
    assert!(!session.sent_for("well")[1].contains("PreToolUse"));
}

#[test]
fn at_a_model_that_takes_no_system_messages_a_hook_stands_as_any_attachment() {
    let mut session = hooked("sdk-cli");
    for row in &mut session.rows {
        if row["type"] == "assistant" {
            row["message"]["model"] = json!("claude-sonnet-4-5");
        }
    }
    insta::assert_snapshot!(session.sent_for("done").join("\n"), @r#"
    {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt\n\n<system-reminder>\nPostToolUse:Bash hook additional context: seen at PostToolUse\n</system-reminder>\n\n<system-reminder>\nPostToolBatch:Bash hook additional context: seen at PostToolBatch\n</system-reminder>"}]}
    {"role":"assistant","content":[{"type":"text","text":"nearly"}]}
    {"role":"user","content":[{"type":"text","text":"Stop hook feedback:\nOne more."}]}
    "#);
}

#[test]
fn a_call_is_sent_as_the_model_made_it_as_long_as_the_client_runs() {
    let session = Session::of("sdk-cli")
        .user(json!("go"))
        .calls(
            "t1",
            "ExitPlanMode",
            json!({"plan": "A plan", "planFilePath": "/w/plan.md"}),
        )
        .result("t1", json!("approved"))
        .calls(
            "t2",
            "SendMessage",
            json!({"to": "a1", "message": "on", "type": "message", "recipient": "a1", "content": "on"}),
        )
        .result(
            "t2",
            json!([{"type": "tool_reference", "tool_name": "mcp__notes__add"}]),
        )
        .says("done");
    insta::assert_snapshot!(session.sent_for("done").join("\n"), @r#"
    {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ExitPlanMode","input":{}}]}
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"approved"}]}]}
    {"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"SendMessage","input":{"to":"a1","message":"on"}}]}
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"tool_reference","tool_name":"mcp__notes__add"}]},{"type":"text","text":"Tool loaded."}]}
    "#);
    let session = session.last_prompt().user(json!("on")).says("well");
    insta::assert_snapshot!(session.sent_for("well").join("\n"), @r#"
    {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ExitPlanMode","input":{"plan":"A plan","planFilePath":"/w/plan.md"}}]}
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"approved"}]}]}
    {"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"SendMessage","input":{"to":"a1","message":"on","type":"message","recipient":"a1","content":"on"}}]}
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"tool_reference","tool_name":"mcp__notes__add"}]}]}
    {"role":"assistant","content":[{"type":"text","text":"done"}]}
    {"role":"user","content":[{"type":"text","text":"on"}]}
    "#);
}

/// A newer client says of each reply who made it, and how much effort it was asked for.
fn asked(session: Session, effort: Option<&str>, content: Value) -> Session {
    let mut session = session.reply(OPUS, content);
    let row = session.rows.last_mut().expect("a row");
    row["madeBy"] = json!("main");
    row["perTurnEffort"] = json!(effort);
    session
}

#[test]
fn how_much_effort_was_asked_for_is_said_where_it_changes() {
    let says = |session, effort, text: &str| {
        asked(
            session,
            Some(effort),
            json!([{"type": "text", "text": text}]),
        )
    };
    let session = says(Session::of("cli").user(json!("go")), "low", "one");
    let session = says(session.user(json!("on")), "low", "two");
    let session = says(session.user(json!("more")), "max", "three");
    let last = json!([{"type": "text", "text": "four"}]);
    let session = asked(session.user(json!("and")), None, last);
    insta::assert_snapshot!(session.sent_for("three").join("\n"), @r#"
    {"role":"system","content":[],"output_config":{"effort":"low"}}
    {"role":"assistant","content":[{"type":"text","text":"one"}]}
    {"role":"user","content":[{"type":"text","text":"on"}]}
    {"role":"assistant","content":[{"type":"text","text":"two"}]}
    {"role":"user","content":[{"type":"text","text":"more"}]}
    {"role":"system","content":[],"output_config":{"effort":"max"}}
    "#);
    // A request that asks for none leaves out what was asked for before.
    assert!(!session.sent_for("four").join("").contains("effort"));
}

#[test]
fn what_is_sent_beside_a_result_and_with_a_picture_is_sent_again() {
    let queued = |prompt: Value, text: Option<&str>| {
        let rendered = text.map(|text| json!([{"content": text}]));
        json!({"renderedRole": "system", "rendered": rendered,
            "attachment": {"type": "queued_command", "prompt": prompt, "commandMode": "prompt", "hostsOwnTurn": true}})
    };
    let picture = json!([
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
        {"type": "text", "text": "Look."},
    ]);
    let second = "<system-reminder>\nThe user sent a new message while you were working:\nSecond.\n</system-reminder>";
    let call = json!([{"type": "tool_use", "id": "t1", "name": "ToolSearch", "input": {}}]);
    let today = json!({"renderedRole": "system", "rendered": [{"content": "<system-reminder>\nToday.\n</system-reminder>"}],
        "attachment": {"type": "date", "date": "2026-11-30"}});
    let session = Session::of("cli")
        .user(json!("go"))
        .row("attachment", today);
    let session = asked(session, None, call)
        .result(
            "t1",
            json!([{"type": "tool_reference", "tool_name": "mcp__notes__add"}]),
        )
        .row("attachment", queued(json!("Second."), Some(second)))
        .row("attachment", queued(picture, None));
    let session = asked(session, None, json!([{"type": "text", "text": "done"}]));
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", session.text());
    sandbox.ok(&["import", "session.jsonl"]);
    let messages = |arguments: &[&str]| -> Vec<Value> {
        let sent = sandbox.ok(arguments);
        let sent: Value = serde_json::from_str(&sent).expect("JSON");
        sent["messages"].as_array().expect("a list").clone()
    };
    let sent = messages(&["compile", "--for", ":-1", "--format", "anthropic"]);
    let blocks = sent[3]["content"].as_array().expect("blocks");
    let texts: Vec<&Value> = blocks.iter().map(|block| &block["text"]).collect();
    assert_eq!(texts[1], "Tool loaded.\n");
    assert_eq!(
        texts[2],
        "The user sent a new message while you were working:\nSecond.\n"
    );
    assert!(texts[3].as_str().expect("a text").contains("Look."));
    assert_eq!(blocks[4]["type"], "image");
    assert_eq!((sent.len(), blocks.len()), (4, 5));
    let next = messages(&["compile", "--format", "anthropic"]);
    assert_eq!(next[..4], sent[..]);
}

#[test]
fn a_call_without_result_and_the_thinking_of_another_model_are_left_out() {
    let session = Session::of("sdk-cli")
        .user(json!("go"))
        .reply(
            "claude-sonnet-4-5",
            json!([
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "text", "text": "I look"},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "sleep 9"}},
            ]),
        )
        .user(json!("again"))
        .reply(
            OPUS,
            json!([
                {"type": "thinking", "thinking": "so", "signature": "c2ln"},
                {"type": "text", "text": "here"},
            ]),
        )
        .user(json!("on"))
        .says("done");
    insta::assert_snapshot!(session.sent_for("done").join("\n"), @r#"
    {"role":"assistant","content":[{"type":"text","text":"I look"}]}
    {"role":"user","content":[{"type":"text","text":"again"}]}
    {"role":"assistant","content":[{"type":"thinking","thinking":"so","signature":"c2ln"},{"type":"text","text":"here"}]}
    {"role":"user","content":[{"type":"text","text":"on"}]}
    "#);
}

/// A session of pi in which a call never got its result.
fn open_in_pi() -> String {
    let message = |id: &str, parent: &str, message: &Value| {
        let stamp = "2026-03-02T08:00:00.000Z";
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": stamp, "message": message})
    };
    let call =
        json!({"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}});
    let lines = [
        json!({"type": "session", "version": 3, "id": "5e551000-0000-4000-8000-0000000000c1", "cwd": "/home/ada/mill",
            "timestamp": "2026-03-02T08:00:00.000Z"}),
        message("a1", "", &json!({"role": "user", "content": "Look."})),
        message(
            "a2",
            "a1",
            &json!({"role": "assistant", "content": [call], "provider": "anthropic",
            "model": "claude-opus-4-5", "stopReason": "toolUse"}),
        ),
        message("a3", "a2", &json!({"role": "user", "content": "Go on."})),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

/// A session of OpenCode in which a call never got its result.
fn open_in_opencode() -> String {
    let text = include_str!("../../data/opencode/plain.json");
    let mut session: Value = serde_json::from_str(text).expect("JSON");
    let messages = session["messages"].as_array_mut().expect("messages");
    let parts = messages
        .iter_mut()
        .flat_map(|message| message["parts"].as_array_mut().expect("parts"));
    for part in parts.filter(|part| part["callID"] == "c1") {
        part["state"] =
            json!({"status": "running", "input": {"command": "ls"}, "time": {"start": 1}});
    }
    session.to_string()
}

#[test]
fn a_call_without_a_result_is_answered_in_its_clients_words() {
    for (name, session, words) in [
        ("pi.jsonl", open_in_pi(), "No result provided"),
        (
            "opencode.json",
            open_in_opencode(),
            "[Tool execution was interrupted]",
        ),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(name, session);
        sandbox.ok(&["import", name]);
        for format in ["anthropic", "openai"] {
            let told = sandbox.tract(&["compile", "--format", format]);
            assert!(told.contains(words), "{name}, {format}: {told}");
        }
    }
}
