//! `tract stats`: what was done, and how long it took.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::sessions::codex_files::{self, Rollout};

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
    claude-code/5e550000…      11m        2        4      3       1      1    400      40
    total                      11m        2        4      3       1      1    400      40
    --- stderr
    note: models 1m, tools 10m, you -; pauses are left out
    note: 1 interrupted call is not among the failed: tract stats --by tool
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
    12:00      20s        1        1      1       -      -    100      10
    total      11m        2        4      3       1      1    400      40
    --- stderr
    note: models 1m, tools 10m, you -; pauses are left out
    note: 1 interrupted call is not among the failed: tract stats --by tool
    ");
    insta::assert_snapshot!(sandbox.tract(&["stats", "--edits"]), @r"
    a07acfc  2026-03-14 08:00:30  +1 -0  /home/u/app/a.rs  Make it two.
    ");
    insta::assert_snapshot!(sandbox.tract(&["stats", "main", "HEAD~2"]), @r"
                            main           HEAD~2
    at work                  11m              11m
      model                   1m               1m
      tools                  10m              10m
      you                      -                -
    prompts                    2                1
    replies                    4                3
    calls                      3                2
    failed                     1                1
    interrupted                1                -
    edits        +1 -0 in 1 file  +1 -0 in 1 file
    tokens        400 in, 40 out   300 in, 30 out
    ");
    insta::assert_snapshot!(sandbox.tract(&["stats", "--since", "2026-03-15"]), @r"
    --- stderr
    No messages
    ");
}

/// A copy repeats what its original said, whatever it is called.
#[test]
fn several_edits_of_one_call_count_once_each() {
    let edits = ["one", "two", "three"].map(|it| json!({"old_string": it, "new_string": "new"}));
    let input = json!({"file_path": "/home/u/app/a.rs", "edits": edits});
    let sandbox = Sandbox::new();
    let id = "5e551011-0000-4000-8000-00000000000e";
    let text = record(id, 0, "08:00:00", "user", json!("Edit it."))
        + &record(
            id,
            1,
            "08:00:10",
            "assistant",
            call("c1", "MultiEdit", input),
        )
        + &record(id, 2, "08:00:11", "user", result("c1", false));
    sandbox.write("session.jsonl", text);
    sandbox.ok(&["import", "session.jsonl"]);
    for by in ["file", "tool", "session"] {
        let told = sandbox.ok(&["api", "stats", &format!(r#"{{"by":"{by}"}}"#)]);
        let told: Value = serde_json::from_str(told.trim()).expect("JSON");
        let row = &told["rows"][0];
        let counts = ["calls", "edits", "files", "lines_added"].map(|it| row[it].clone());
        assert_eq!(counts, [1, 3, 1, 3].map(Value::from), "{by}: {told}");
    }
}

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

/// The totals of all, and of the path to a commit.
fn totals(sandbox: &Sandbox, revs: &[&str]) -> [u64; 6] {
    let asked = json!({ "revs": revs }).to_string();
    let answer = sandbox.ok(&["api", "stats", &asked]);
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let names = [
        "prompts",
        "replies",
        "calls",
        "edits",
        "active_ms",
        "model_ms",
    ];
    names.map(|name| answer["total"][name].as_u64().expect("a number"))
}

/// Whatever copies a message does no work: its original did it.
#[test]
fn what_a_command_copies_is_counted_with_the_original() {
    let sandbox = with_session();
    sandbox.ok(&["checkout", "-b", "other", "HEAD~4"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Another way."]);
    let before = totals(&sandbox, &[]);
    sandbox.ok(&["pick", "main:3..5"]);
    assert_eq!(totals(&sandbox, &[]), before);
    // On a path, too, each message counts once.
    assert_eq!(totals(&sandbox, &["other"])[..4], [2, 2, 2, 1]);
    sandbox.ok(&["checkout", "-b", "third", "main~5"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "A third way."]);
    let before = totals(&sandbox, &[]);
    sandbox.ok(&["merge", "other", "--messages"]);
    assert_eq!(totals(&sandbox, &[]), before);
    sandbox.ok(&["checkout", "other"]);
    sandbox.ok(&["rebase", "main~1"]);
    assert_eq!(totals(&sandbox, &[]), before);
}

#[test]
fn a_copy_stands_for_an_original_that_nothing_leads_to() {
    let sandbox = Sandbox::with_messages(&[("user", "One."), ("assistant", "Two.")]);
    sandbox.ok(&["checkout", "-b", "idea"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Three."]);
    sandbox.ok(&["checkout", "-b", "again", "main"]);
    sandbox.ok(&["pick", "idea"]);
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&["pick", "again"]);
    assert_eq!(totals(&sandbox, &[])[..2], [2, 1]);
    sandbox.ok(&["branch", "-d", "idea"]);
    assert_eq!(totals(&sandbox, &[])[..2], [2, 1]);
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

/// A prompt with its answer, of which the provider's count is known.
fn turn(mut rollout: Rollout, prompt: &str, answer: &str) -> Rollout {
    rollout.record("event_msg", json!({"type": "task_started", "turn_id": "t"}));
    let settings = json!({"turn_id": "t", "cwd": "/p", "model": "gpt-5.1-codex"});
    rollout.record("turn_context", settings);
    rollout.says("user", "input_text", prompt);
    rollout.says("assistant", "output_text", answer);
    let usage = json!({"input_tokens": 100, "cached_input_tokens": 0, "output_tokens": 5,
        "reasoning_output_tokens": 0, "total_tokens": 105});
    let info = json!({"total_token_usage": usage, "last_token_usage": usage});
    rollout.record("event_msg", json!({"type": "token_count", "info": info}));
    let complete = json!({"type": "task_complete", "turn_id": "t"});
    rollout.record("event_msg", complete);
    rollout
}

/// What its sessions' files say of all requests, of copies, and of who started whom goes where the commits go.
#[test]
fn whoever_has_the_commits_alone_counts_as_their_origin_does() {
    const PARENT: &str = "01a1fe4f-33f9-7941-9c3c-4fe4330026ba";
    const CHILD: &str = "01a1fe4f-b943-7ec0-94c0-c69316822e36";
    let sandbox = Sandbox::new();
    let import = |name: &str, text: &str| {
        sandbox.write(name, text);
        sandbox.ok(&["import", name]);
    };
    // It comes in first: no branch says who started it.
    let child = Rollout::with(CHILD, 0, json!({"parent_thread_id": PARENT}));
    let child = turn(child, "count", "forty-three");
    import(&child.name(0), &child.text());
    let parent = turn(Rollout::new(PARENT), "one", "first");
    import(&parent.name(1), &parent.text());
    let state = |input: u32| {
        let all = json!({"claude-opus-4-8": {"inputTokens": input, "outputTokens": 900}});
        format!(
            "{}\n",
            json!({"type": "cost-state", "sessionId": ID, "modelUsage": all})
        )
    };
    import("one.jsonl", &(session(ID) + &state(9000)));
    // Its name comes first, and it came in later.
    let copy = "5e550000-0000-4000-8000-000000000000";
    let again = session(copy).replace(&format!("msg_{copy}"), &format!("msg_{ID}"));
    let own = record(copy, 8, "12:05:00", "user", json!("And go on."));
    import("two.jsonl", &(again + &own));
    let asked: [&[&str]; 4] = [
        &["cost"],
        &["cost", "--by", "agent"],
        &["stats"],
        &["stats", "--by", "tool"],
    ];
    let counted = |here: &str| asked.map(|it| sandbox.ok(&[&["--repo", here], it].concat()));
    let before = counted(".");
    assert!(before[0].contains("(other requests)"), "{}", before[0]);
    sandbox.ok(&["clone", ".", "../clone"]);
    sandbox.ok(&["clone", "--sources", ".", "../files"]);
    sandbox.ok(&["--repo", "../clone", "clone", "../clone", "../again"]);
    sandbox.ok(&["bundle", "--all", "all.tract"]);
    for apart in ["../apart", "../pushed"] {
        sandbox.ok(&["--repo", apart, "init"]);
    }
    sandbox.ok(&["--repo", "../apart", "unbundle", "all.tract"]);
    sandbox.ok(&["push", "../pushed", "--all"]);
    for here in ["../clone", "../files", "../again", "../apart", "../pushed"] {
        assert_eq!(counted(here), before, "{here}");
        sandbox.ok(&["--repo", here, "fsck"]);
    }
    // What comes later says it, too.
    let more = record(ID, 8, "12:01:00", "user", json!("Thanks."));
    import(
        "one.jsonl",
        &(session(ID) + &state(9000) + &more + &state(19_000)),
    );
    let after = counted(".");
    assert_ne!(after[0], before[0]);
    for here in ["../clone", "../files"] {
        sandbox.ok(&["--repo", here, "pull"]);
        assert_eq!(counted(here), after, "{here}");
    }
    // So does what is left of a file that is erased.
    sandbox.ok(&["purge", "--match", "forty-three", "--force"]);
    assert_eq!(counted("."), after);
}

/// A sub-agent that its tool keeps as a session of its own.
#[test]
fn a_sub_agent_counts_with_the_session_that_started_it_and_asks_nothing() {
    const PARENT: &str = "01a1fe4f-33f9-7941-9c3c-4fe4330026ba";
    const CHILD: &str = "01a1fe4f-b943-7ec0-94c0-c69316822e36";
    const NESTED: &str = "01a1fe52-dec3-7ea3-a5bd-62ced9d54c8b";
    let below = |id: &str, parent: &str| Rollout::with(id, 0, json!({"parent_thread_id": parent}));
    let sessions = [
        turn(Rollout::new(PARENT), "one", "first"),
        turn(below(CHILD, PARENT), "count", "three"),
        turn(below(NESTED, CHILD), "look", "four"),
    ];
    // Whichever of them comes in first.
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let sandbox = Sandbox::new();
        for at in order {
            let name = sessions[at].name(at as u32);
            sandbox.write(&name, sessions[at].text());
            sandbox.ok(&["import", &name]);
        }
        let column = |command: &[&str], at: usize| -> Vec<String> {
            let told = sandbox.ok(command);
            // Without the headings.
            let rows = told
                .lines()
                .skip(1)
                .filter(|line| !line.starts_with("note"));
            let word = |line: &str| line.split_whitespace().nth(at).map(str::to_owned);
            rows.filter_map(word).collect()
        };
        // The session, and the sum: by replies, and by prompts. What is kept of the first answer gives the second.
        for _ in 0..2 {
            assert_eq!(column(&["cost"], 1), ["3", "3"], "{order:?}");
        }
        assert_eq!(column(&["cost", "--by", "agent"], 1), ["1", "1", "1", "3"]);
        assert_eq!(column(&["stats"], 2), ["1", "1"], "{order:?}");
        assert_eq!(column(&["stats"], 3), ["3", "3"], "{order:?}");
        sandbox.ok(&["branch", "look", &format!("codex/{PARENT}")]);
        let told = sandbox.ok(&["--on", "look", "status", "-v"]);
        assert!(told.contains(" for 3 replies\n"), "{order:?}: {told}");
    }
}

/// Codex has no flag for a call that failed, and says its exit code.
#[test]
fn a_call_fails_by_what_its_client_says_of_it() {
    let sandbox = Sandbox::new();
    let line = |second: usize, payload: Value| {
        let time = format!("2026-03-14T10:00:{second:02}.000Z");
        format!(
            "{}\n",
            json!({ "timestamp": time, "type": "response_item", "payload": payload })
        )
    };
    let meta = json!({ "id": "01a0a017-0000-7000-8000-00000000000b", "timestamp": "2026-03-14T10:00:00.000Z", "cwd": "/w",
        "originator": "codex_cli_rs", "cli_version": "0.118.0" });
    let mut text = format!(
        "{}\n",
        json!({ "timestamp": "2026-03-14T10:00:00.000Z", "type": "session_meta", "payload": meta })
    );
    text += &line(
        1,
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Test it." }] }),
    );
    let outputs = [
        "Wall time: 1.0 seconds\nProcess exited with code 1\nOutput:\nno\n",
        "Wall time: 1.0 seconds\nProcess exited with code 0\nOutput:\nProcess exited with code 1\n",
        "Exit code: 2\nWall time: 1 seconds\nOutput:\nno\n",
        "exec_command failed for `cargo test`: CreateProcess",
    ];
    for (at, output) in outputs.into_iter().enumerate() {
        let (id, second) = (format!("c{at}"), 2 + 2 * at);
        let arguments = json!({ "cmd": "cargo test" }).to_string();
        text += &line(
            second,
            json!({ "type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": id }),
        );
        text += &line(
            second + 1,
            json!({ "type": "function_call_output", "call_id": id, "output": output }),
        );
    }
    sandbox.write(
        "rollout-2026-03-14T10-00-00-01a0a017-0000-7000-8000-00000000000b.jsonl",
        text,
    );
    sandbox.ok(&[
        "import",
        "rollout-2026-03-14T10-00-00-01a0a017-0000-7000-8000-00000000000b.jsonl",
    ]);
    insta::assert_snapshot!(sandbox.tract(&["stats", "--by", "tool"]), @r"
    calls  failed       interrupted  prompts  sessions
        4       3  75%            -        1         1  exec_command
        4       3  75%            -        1         1  total
    ");
}

/// Codex puts the result of a review into the session that asked for it, as a reply. The reviewer's model wrote it.
#[test]
fn the_result_of_a_review_is_no_reply_of_the_session_that_asked_for_it() {
    const REVIEWER: &str = "01a1fe4f-b943-7ec0-94c0-c69316822e36";
    let mut asking = Rollout::new(codex_files::PARENT);
    let asked = "<user_action>\n  <context>User initiated a review task.</context>\n</user_action>";
    asking.says("user", "input_text", asked);
    asking.says("assistant", "output_text", "The sacks are not counted.");
    let reviewer = Rollout::with(
        REVIEWER,
        100,
        json!({"parent_thread_id": codex_files::PARENT}),
    );
    let reviewer = reviewer.turn("Review the changes.", "The sacks are not counted.");
    let sandbox = Sandbox::new();
    for (minute, rollout) in [&asking, &reviewer].into_iter().enumerate() {
        let name = rollout.name(minute as u32);
        sandbox.write(&name, rollout.text());
        sandbox.ok(&["import", &name]);
    }
    let stats = sandbox.ok(&["stats"]);
    let total = stats.lines().find(|line| line.starts_with("total"));
    let replies = total.and_then(|line| line.split_whitespace().nth(3));
    assert_eq!(replies, Some("1"), "{stats}");
}

#[test]
fn what_was_typed_while_the_model_worked_is_a_prompt() {
    let sandbox = Sandbox::new();
    let mut text = session(ID);
    let queued = json!({
        "parentUuid": "00000000-0000-4000-8000-000000000007", "uuid": "q1", "sessionId": ID, "isSidechain": false,
        "type": "attachment", "cwd": "/home/u/app", "version": "2.1.7", "timestamp": "2026-03-14T12:00:25.000Z",
        "attachment": {"type": "queued_command", "prompt": "And the other one.", "commandMode": "prompt"},
    });
    text += &format!("{queued}\n");
    sandbox.write("one.jsonl", text);
    sandbox.ok(&["import", "one.jsonl"]);
    let stats = sandbox.ok(&["stats"]);
    let total = stats.lines().find(|line| line.starts_with("total"));
    let prompts = total.and_then(|line| line.split_whitespace().nth(2));
    assert_eq!(prompts, Some("3"), "{stats}");
}

/// The time of its replies is that of their beginning, and each says when its calls began, or when it was whole.
#[test]
fn the_time_in_which_opencodes_model_writes_is_the_models() {
    let minute = 60_000;
    let message = |id: &str, role: &str, created: i64, completed: Option<i64>, parts: Value| {
        let time =
            json!({"created": created * minute, "completed": completed.map(|it| it * minute)});
        json!({"info": {"id": id, "sessionID": "ses_1", "role": role, "time": time, "modelID": "m", "providerID": "p"},
            "parts": parts})
    };
    let state = json!({"status": "completed", "input": {}, "output": "done", "title": "", "metadata": {},
        "time": {"start": 14 * minute, "end": 15 * minute}});
    let call =
        json!([{"id": "prt_2", "type": "tool", "callID": "c1", "tool": "bash", "state": state}]);
    let text = |text: &str| json!([{"id": format!("prt_{text}"), "type": "text", "text": text}]);
    let session = json!({
        "info": {"id": "ses_1", "slug": "s", "projectID": "p", "directory": "/d", "title": "T", "version": "1.18.33",
            "time": {"created": 0, "updated": 0}},
        "messages": [
            message("msg_1", "user", 10, None, text("go")),
            message("msg_2", "assistant", 10, Some(15), call),
            message("msg_3", "assistant", 15, Some(18), text("well")),
        ],
    });
    let sandbox = Sandbox::new();
    sandbox.write("one.json", session.to_string());
    sandbox.ok(&["import", "one.json"]);
    let said = sandbox.tract(&["stats"]);
    assert!(said.contains("models 7m, tools 1m"), "{said}");
}

/// Ids that begin alike are told apart, and so is what stands beside a session whose file was rewritten.
#[test]
fn sessions_of_a_list_are_called_so_that_they_are_told_apart() {
    let sandbox = Sandbox::new();
    let alike = [
        "5e550000-0000-4000-8000-000000000001",
        "5e550000-0000-4000-8111-000000000002",
    ];
    for (id, prompt) in alike.iter().zip(["Make it two.", "Make it four."]) {
        let text = session(id).replace("Make it two.", prompt);
        sandbox.write(&format!("{id}.jsonl"), text);
        sandbox.ok(&["import", &format!("{id}.jsonl")]);
    }
    let rewritten = session(alike[0]).replace("Make it two.", "Make it three.");
    let rewritten = rewritten.replace("08:", "09:");
    sandbox.write(&format!("{}.jsonl", alike[0]), rewritten);
    sandbox.ok(&["import", &format!("{}.jsonl", alike[0])]);
    let stats = sandbox.ok(&["stats"]);
    let mut names: Vec<&str> = stats
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    names.retain(|name| name.starts_with("claude-code"));
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "claude-code/5e550000-0000-4000-8000…",
            "claude-code/5e550000-0000-4000-8000…-2",
            "claude-code/5e550000-0000-4000-8111…",
        ]
    );
}

#[test]
fn of_days_a_limit_keeps_the_newest_in_the_order_of_time() {
    let sandbox = Sandbox::new();
    for day in [14, 15, 16] {
        let id = format!("5e5500{day}-0000-4000-8000-000000000001");
        let text = session(&id).replace("2026-03-14", &format!("2026-03-{day}"));
        sandbox.write("one.jsonl", text);
        sandbox.ok(&["import", "one.jsonl"]);
    }
    for command in ["stats", "cost"] {
        let told = sandbox.ok(&[command, "--by", "day", "-n", "2"]);
        let firsts = told.lines().filter_map(|line| line.split("  ").next());
        let days: Vec<&str> = firsts.filter(|it| it.starts_with("2026")).collect();
        assert_eq!(days, ["2026-03-15", "2026-03-16"], "{told}");
        let all = sandbox.ok(&[command, "--by", "day", "-n", "0"]);
        assert!(all.contains("2026-03-14"), "{all}");
    }
    // Hours of the day are no dates: none is newer than another.
    let told = sandbox.ok(&["stats", "--by", "hour", "-n", "1"]);
    assert!(told.contains("\n08"), "{told}");
}
