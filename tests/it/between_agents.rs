//! What one agent sends to another, and where an agent's own conversation is.

use crate::sandbox::Sandbox;

/// A session of our own: an agent was started, and it has answered twice.
const AGENTS: &str = include_str!("../data/codex/agents.jsonl");

#[test]
fn what_one_agent_sends_to_another_is_kept_and_sent_as_that() {
    let sandbox = Sandbox::empty();
    sandbox.write("agents.jsonl", AGENTS);
    insta::assert_snapshot!(sandbox.tract(&["import", "agents.jsonl"]), @r"
    --- stderr
    Made a repository in .tract
    Imported codex 22222222-2222: 10 messages, on main
      no messages, kept      1 record (-v lists them)
      kept opaque            1 encrypted_content
      not in the file        tool definitions
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
    insta::assert_snapshot!(new, @r#"
    {"type":"agent_message","author":"/root/count","recipient":"/root","content":[{"type":"input_text","text":"Payload:\n13 loaves."}]}}
    "#);
    sandbox.write("again.jsonl", &exported);
    insta::assert_snapshot!(sandbox.tract(&["import", "again.jsonl", "--as", "again"]), @r"
    --- stderr
    Imported codex 22222222-2222 anew, for its file was rewritten: 9 messages, on again
      no messages, kept      1 record (-v lists them)
      not in the file        tool definitions
    hint: HEAD stayed; tract --on again status
    ");
}
