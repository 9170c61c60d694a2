//! `tract stats`: what was done, and how long it took.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A record of Claude Code: a message at a time of one morning, in minutes and seconds.
fn record(session: &str, at: usize, time: &str, role: &str, content: Value) -> String {
    let uuid = |at: usize| format!("00000000-0000-4000-8000-{at:0>12}");
    let parent = at.checked_sub(1).map(uuid);
    let mut message = json!({"role": role, "content": content});
    if role == "assistant" {
        message["id"] = format!("msg_{session}_{at}").into();
        message["model"] = "claude-opus-4-8".into();
        message["usage"] = json!({"input_tokens": 100, "output_tokens": 10});
    }
    let record = json!({
        "parentUuid": parent, "uuid": uuid(at), "sessionId": session, "isSidechain": false, "type": role,
        "cwd": "/home/u/app", "version": "2.1.7", "timestamp": format!("2026-03-14T{time}.000Z"), "message": message,
    });
    format!("{record}\n")
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!([{"type": "tool_use", "id": id, "name": name, "input": input}])
}

fn result(id: &str, is_error: bool) -> Value {
    json!([{"type": "tool_result", "tool_use_id": id, "content": "\"is_error\":true", "is_error": is_error}])
}

/// Two prompts with a pause of hours between them, three calls of which one fails and one is interrupted.
fn session(id: &str) -> String {
    let edit =
        json!({"file_path": "/home/u/app/a.rs", "old_string": "one", "new_string": "one\ntwo"});
    let lines = [
        ("08:00:00", "user", json!("Make it two.")),
        ("08:00:30", "assistant", call("c1", "Edit", edit)),
        ("08:00:31", "user", result("c1", false)),
        (
            "08:01:00",
            "assistant",
            call("c2", "Bash", json!({"command": "cargo test"})),
        ),
        ("08:11:00", "user", result("c2", true)),
        (
            "08:11:30",
            "assistant",
            json!([{"type": "text", "text": "A test fails."}]),
        ),
        ("12:00:00", "user", json!("Mend it.")),
        (
            "12:00:20",
            "assistant",
            call("c3", "Bash", json!({"command": "sleep 9"})),
        ),
    ];
    let lines = lines.into_iter().enumerate();
    lines
        .map(|(at, (time, role, content))| record(id, at, time, role, content))
        .collect()
}

const ID: &str = "5e550000-0000-4000-8000-000000000001";

fn with_session() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("one.jsonl", session(ID));
    sandbox.ok(&["import", "one.jsonl"]);
    sandbox
}

#[test]
fn time_at_work_leaves_pauses_out_and_calls_say_what_came_of_them() {
    let sandbox = with_session();
    insta::assert_snapshot!(sandbox.tract(&["stats"]), @r"
                           at work  prompts  replies  calls  failed  edits  input  output
    claude-code/5e550000…      11m        2        4      3       2      1    400      40
    total                      11m        2        4      3       2      1    400      40
    --- stderr
    note: models 1m, tools 10m, you -; pauses are left out
    ");
    insta::assert_snapshot!(sandbox.tract(&["stats", "--by", "tool"]), @r"
    calls  failed       interrupted  prompts  sessions
        2       1  50%            1        2         1  Bash
        1       -                 -        1         1  Edit
        3       1  33%            1        2         1  total
    ");
    insta::assert_snapshot!(sandbox.tract(&["stats", "--by", "file"]), @r"
    edits  lines  failed  prompts  sessions
        1  +1 -0       -        1         1  /home/u/app/a.rs
    ");
    insta::assert_snapshot!(sandbox.tract(&["stats", "--by", "hour"]), @r"
           at work  prompts  replies  calls  failed  edits  input  output
    08:00      11m        1        3      2       1      1    300      30
    12:00      20s        1        1      1       1      -    100      10
    total      11m        2        4      3       2      1    400      40
    --- stderr
    note: models 1m, tools 10m, you -; pauses are left out
    ");
    insta::assert_snapshot!(sandbox.tract(&["stats", "--edits"]), @r"
    a07acfc  2026-03-14 08:00:30  +1 -0  /home/u/app/a.rs  Make it two.
    ");
    insta::assert_snapshot!(sandbox.tract(&["stats", "main", "HEAD~2"]), @r"
                        main           HEAD~2
    at work              11m              11m
      model               1m               1m
      tools              10m              10m
      you                  -                -
    prompts                2                1
    replies                4                3
    calls                  3                2
    failed                 2                1
    edits    +1 -0 in 1 file  +1 -0 in 1 file
    tokens    400 in, 40 out   300 in, 30 out
    ");
    insta::assert_snapshot!(sandbox.tract(&["stats", "--since", "2026-03-15"]), @r"
    --- stderr
    No messages
    ");
}

/// A copy repeats what its original said, whatever it is called.
#[test]
fn what_a_copy_repeats_is_counted_once() {
    let sandbox = with_session();
    let total = |sandbox: &Sandbox| {
        let answer: Value = serde_json::from_str(&sandbox.ok(&["api", "stats"])).expect("JSON");
        let total = &answer["total"];
        [
            "prompts",
            "replies",
            "calls",
            "edits",
            "active_ms",
            "output_tokens",
        ]
        .map(|name| total[name].as_u64().expect("a number"))
    };
    let before = total(&sandbox);
    let copy = "5e550000-0000-4000-8000-000000000002";
    let mut again = session(copy);
    again += &record(copy, 8, "12:05:00", "user", json!("And go on."));
    sandbox.write(
        "two.jsonl",
        again.replace(&format!("msg_{copy}"), &format!("msg_{ID}")),
    );
    sandbox.ok(&["import", "two.jsonl"]);
    let after = total(&sandbox);
    let more: Vec<u64> = after
        .iter()
        .zip(before)
        .map(|(after, before)| after - before)
        .collect();
    // One prompt more, and the four minutes and forty seconds before it.
    assert_eq!(more, [1, 0, 0, 0, 280_000, 0]);
}

#[test]
fn several_revisions_are_no_groups() {
    let sandbox = with_session();
    insta::assert_snapshot!(sandbox.tract(&["stats", "main", "HEAD~2", "--by", "tool"]), @r"
    exit code: 2
    --- stderr
    error: several revisions are rows of their own: without --by and --edits
    hint: tract stats --help
    ");
}
