//! What one agent sends to another, and where an agent's own conversation is.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::sessions::codex_files::{PARENT, Rollout};

/// A session of our own: an agent was started, and it has answered twice.
const AGENTS: &str = include_str!("../../data/codex/agents.jsonl");

#[test]
fn what_one_agent_sends_to_another_is_kept_and_sent_as_that() {
    let sandbox = Sandbox::empty();
    sandbox.write("agents.jsonl", AGENTS);
    insta::assert_snapshot!(sandbox.tract(&["import", "agents.jsonl"]), @r"
    --- stderr
    Made a repository in .tract
    Imported codex 22222222-2222: 10 messages, on main
      records other than messages  1 record (-v lists them)
      not understood, kept         1 encrypted_content
      not in the file              tool definitions
    ");
    insta::assert_snapshot!(sandbox.tract(&["show", "HEAD~3"]), @r#"
    append 076f47fd7e44168508a002047c0920d263ba9a73aee590a1ff8175b7f77619bb
    parent    bab7ec1
    time      2026-03-01 10:00:07 +0000
    message   user /root/count → /root (text, opaque)
    tokens    +11 = 78
    source    codex, 1 record

    #0
        Payload:

    #1
        opaque block of openai
        {"type":"encrypted_content","encrypted_content":"c2VhbGVk"}
    "#);
    insta::assert_snapshot!(sandbox.tract(&["compile", "--for", "HEAD~2", "--format", "responses"]), @r#"
    {"instructions":"Be brief.","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Have the loaves counted."}]},{"type":"function_call","name":"spawn_agent","arguments":"{\"task_name\":\"count\"}","call_id":"c1"},{"type":"function_call_output","call_id":"c1","output":"/root/count"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Somebody counts."}]},{"type":"agent_message","author":"/root/count","recipient":"/root","content":[{"type":"input_text","text":"Sender: /root/count\nPayload:\n12 loaves."}]},{"type":"agent_message","author":"/root/count","recipient":"/root","content":[{"type":"input_text","text":"Payload:\n"},{"type":"encrypted_content","encrypted_content":"c2VhbGVk"}]}]}
    --- stderr
    note: not in the session file: tool definitions
    "#);
    insta::assert_snapshot!(sandbox.tract(&["compile", "--for", "HEAD~2", "--format", "openai"]), @r#"
    {"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Have the loaves counted."},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"spawn_agent","arguments":"{\"task_name\":\"count\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"/root/count"},{"role":"assistant","content":"Somebody counts."},{"role":"user","name":"_root_count","content":"Sender: /root/count\nPayload:\n12 loaves."},{"role":"user","name":"_root_count","content":"Payload:\n"}]}
    --- stderr
    note: 1 block that the provider does not take left out (message 7)
    note: 2 speakers' names left out or changed (first: message 6)
    note: 2 messages of one agent to another sent as the user's (first: message 6)
    note: not in the session file: tool definitions
    "#);
    insta::assert_snapshot!(sandbox.tract(&["compile", "--for", "HEAD~2", "--format", "text"]), @r#"
    [1] system
      Be brief.

    [2] user
      Have the loaves counted.

    [3] assistant
    → spawn_agent {"task_name":"count"}

    [4] tool
    ← spawn_agent
      /root/count

    [5] assistant
      Somebody counts.

    [6] user (/root/count → /root)
      Sender: /root/count
      Payload:
      12 loaves.

    [7] user (/root/count → /root)
      Payload:

    [openai encrypted_content]
    --- stderr
    note: not in the session file: tool definitions
    "#);
}

#[test]
fn what_one_agent_sends_to_another_is_that_again_in_a_session_that_goes_on() {
    let sandbox = Sandbox::empty();
    sandbox.write("agents.jsonl", AGENTS);
    sandbox.ok(&["import", "agents.jsonl"]);
    let messages = |text: &str| -> Vec<String> {
        let items = text
            .lines()
            .filter(|line| line.contains("\"agent_message\""));
        items
            .map(|line| {
                line.split("\"payload\":")
                    .nth(1)
                    .expect("a payload")
                    .to_owned()
            })
            .collect()
    };
    assert_eq!(sandbox.ok(&["export"]), AGENTS);
    // The context is another one, so the file is, too.
    sandbox.ok(&["drop", "HEAD"]);
    let exported = sandbox.ok(&["export"]);
    assert_eq!(messages(&exported), messages(AGENTS));

    // What was changed is written anew, as what it is.
    sandbox.ok(&["commit", "--edit", "HEAD~4", "-m", "Payload:\n13 loaves."]);
    let exported = sandbox.ok(&["export"]);
    let new = &messages(&exported)[1];
    insta::assert_snapshot!(new, @r#"{"type":"agent_message","author":"/root/count","recipient":"/root","content":[{"type":"input_text","text":"Payload:\n13 loaves."}]}}"#);
    sandbox.write("again.jsonl", &exported);
    insta::assert_snapshot!(sandbox.tract(&["import", "again.jsonl", "--as", "again"]), @r"
    --- stderr
    Imported codex 22222222-2222 as it went on elsewhere: 9 messages, on again; 4 commits of here are not in it
      records other than messages  1 record (-v lists them)
      not in the file              tool definitions
    hint: HEAD stayed where it was; to look: tract --on again status
    ");
}

#[test]
fn a_call_names_the_agent_that_it_began_and_so_does_its_result() {
    const CHILD: &str = "01a1fe4f-b943-7ec0-94c0-c69316822e36";
    let sandbox = Sandbox::empty();
    let mut session = Rollout::new(PARENT).turn("one", "first");
    let call = |id: &str, name: &str| json!({"type": "function_call", "name": name, "arguments": "{}", "call_id": id});
    let output = |id: &str, text: &str| json!({"type": "function_call_output", "call_id": id, "output": text});
    session.record("response_item", call("call_000001", "spawn_agent"));
    let item = json!({
        "type": "SubAgentActivity", "id": "call_000001", "kind": "started", "agent_thread_id": CHILD,
    });
    session.record(
        "event_msg",
        json!({"type": "item_completed", "thread_id": PARENT, "item": item}),
    );
    session.record("response_item", output("call_000001", "/root/count"));
    session.record("response_item", call("call_000002", "shell"));
    session.record("response_item", output("call_000002", "nobody"));
    let name = session.name(1);
    sandbox.write(&name, session.text());
    let more = json!({"parent_thread_id": PARENT});
    let mut child = Rollout::with(CHILD, 0, more).turn("count", "three");
    child.record("response_item", call("call_000003", "shell"));
    let item = json!({"type": "CommandExecution", "id": "call_000003"});
    child.record(
        "event_msg",
        json!({"type": "item_completed", "thread_id": CHILD, "item": item}),
    );
    child.record("response_item", output("call_000003", "12"));
    sandbox.write(&child.name(2), child.text());
    sandbox.ok(&["import", &name]);
    insta::assert_snapshot!(sandbox.tract(&["show", "HEAD~3"]), @r"
    append 118f4fcb87a2f99e3eb208924141641180dc74824d75c3fbb88a09572da4e84b
    parent    e984400
    time      2026-01-02 03:00:06 +0000
    message   assistant (tool_call)
    agent     tract view main/agent-01a1fe4f-b943-7ec0-94c0-c69316822e36
    tokens    +7 = 27
    source    codex, 1 record

        spawn_agent  call_000001
    ");
    insta::assert_snapshot!(sandbox.tract(&["show", "HEAD~2"]), @r"
    append 8b07f9fc504c351bf6f43bc34f246f64ce6038af13345029a0b15aeaf2464706
    parent    118f4fc
    time      2026-01-02 03:00:08 +0000
    message   tool (tool_result)
    answers   spawn_agent
    agent     tract view main/agent-01a1fe4f-b943-7ec0-94c0-c69316822e36
    tokens    +6 = 33
    source    codex, 1 record

        result  call_000001
          /root/count
    ");
    // What follows is said by the command that it names.
    let viewed = sandbox.ok(&["view", &format!("main/agent-{CHILD}")]);
    assert!(viewed.contains("three"), "{viewed}");
    // Neither another call of its session nor the agent's own calls are its beginning.
    for rev in ["HEAD~1", "HEAD", &format!("main/agent-{CHILD}")] {
        let shown = sandbox.ok(&["show", rev]);
        assert!(!shown.contains("agent     "), "{shown}");
    }
}

#[test]
fn a_task_of_claude_codes_names_its_agent() {
    let sandbox = Sandbox::empty();
    let row = |uuid: &str, parent: Value, kind: &str, more: Value| {
        let mut row = json!({
            "parentUuid": parent, "isSidechain": false, "type": kind, "uuid": uuid,
            "sessionId": "44444444-2222-4333-8444-555555555555", "cwd": "/w",
            "timestamp": "2026-01-05T10:00:01.000Z",
        });
        let fields = more.as_object().expect("fields").clone();
        row.as_object_mut().expect("fields").extend(fields);
        row.to_string() + "\n"
    };
    let says = |role: &str, content: Value| json!({"role": role, "content": content});
    let task = json!([{"type": "tool_use", "id": "toolu_000001", "name": "Agent", "input": {"prompt": "count"}}]);
    let given = json!([{"type": "tool_result", "tool_use_id": "toolu_000001", "content": "12"}]);
    let told = json!({"status": "completed", "agentId": "a3e2831f2807f060a"});
    let main = [
        row(
            "u1",
            Value::Null,
            "user",
            json!({"message": says("user", json!("go"))}),
        ),
        row(
            "a1",
            json!("u1"),
            "assistant",
            json!({"message": says("assistant", task)}),
        ),
        row(
            "u2",
            json!("a1"),
            "user",
            json!({"message": says("user", given), "toolUseResult": told}),
        ),
    ];
    let own = json!({"isSidechain": true, "agentId": "a3e2831f2807f060a"});
    let with = |more: Value| {
        let mut own = own.clone();
        let fields = more.as_object().expect("fields").clone();
        own.as_object_mut().expect("fields").extend(fields);
        own
    };
    let look = json!([{"type": "tool_use", "id": "toolu_000002", "name": "Bash", "input": {}}]);
    let agent = [
        row(
            "s1",
            Value::Null,
            "user",
            with(json!({"message": says("user", json!("count"))})),
        ),
        row(
            "s2",
            json!("s1"),
            "assistant",
            with(json!({"message": says("assistant", look)})),
        ),
    ];
    let folder = "p/44444444-2222-4333-8444-555555555555";
    sandbox.write(&format!("{folder}.jsonl"), main.concat());
    let path = sandbox.write(
        &format!("{folder}/subagents/agent-a3e2831f2807f060a.jsonl"),
        agent.concat(),
    );
    // An agent may be the last to say something; what HEAD is on is the session that started it.
    let file = std::fs::File::options().append(true).open(path);
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    file.expect("opens").set_modified(later).expect("set");
    sandbox.ok(&["import", "p"]);
    let branches = sandbox.ok(&["branch"]);
    let branches: Vec<&str> = branches
        .lines()
        .filter_map(|line| line.get(2..)?.split(' ').next())
        .collect();
    let agents = |rev: &str| -> Vec<String> {
        let shown = sandbox.ok(&["show", rev]);
        let lines = shown.lines().filter(|line| line.starts_with("agent "));
        lines.map(str::to_owned).collect()
    };
    let (main, agent): (Vec<&str>, Vec<&str>) =
        branches.iter().partition(|name| !name.contains("agent-"));
    let named = [format!("agent     tract view {}", agent[0])];
    assert_eq!(agents(main[0]), named);
    assert_eq!(agents(&format!("{}~1", main[0])), named);
    assert_eq!(agents(agent[0]), [""; 0]);
}
