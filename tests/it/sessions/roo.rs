//! Histories of Roo Code and Cline: what the tool hid by its tags, in and out.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const BEFORE: &str = include_str!("../../data/roo/before.json");
const TRUNCATED: &str = include_str!("../../data/roo/truncated.json");
const CONDENSED: &str = include_str!("../../data/roo/condensed.json");

const FILE: &str = "tasks/6a71/api_conversation_history.json";

/// Leaves the task's history as the tool would have.
fn leave(sandbox: &Sandbox, history: &str) {
    fs::create_dir_all(sandbox.work().join("tasks/6a71")).expect("made");
    sandbox.write(FILE, history);
    sandbox.write(
        "tasks/6a71/ui_messages.json",
        r#"[{"ts":1,"type":"say","say":"text","text":"a"}]"#,
    );
    sandbox.write(
        "tasks/6a71/task_metadata.json",
        r#"{"files_in_context":[]}"#,
    );
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_truncation_made_there_can_be_rewound() {
    let sandbox = Sandbox::empty();
    leave(&sandbox, TRUNCATED);
    insta::assert_snapshot!(sandbox.tract(&["import", "tasks"]), @r#"
    --- stderr
    Made a repository in .tract
    Skipped 2 files: 1 Cline display log, 1 file in no known format (-v names them)
    Imported roo "Mend the oven's timer": 8 messages, 1 truncation, on main
      not in the file              system prompt, tool definitions
    "#);
    insta::assert_snapshot!(sandbox.ok(&["log"]), @r"
    3239a4d  :7  2025-10-09 08:54:30  append    assistant        +8         120  (HEAD -> main, roo/6a71)  It rings now.
    98553c4  :6  2025-10-09 08:54:20  append    user             +9         112  Then make it ring.
    0e26888  :5  2025-10-09 08:54:10  append    assistant        +9         103  The timer never rings.
    824193b  :2  2025-10-09 08:53:49  truncate  -2 +1 messages  -26 tokens   94  [Sliding window truncation: 2 messages hidden to reduce context]
    99b61e8  :4  2025-10-09 08:54:00  append    user            +21         120  read_file src/oven.rs → struct Oven;
    e7e1d90  :3  2025-10-09 08:53:50  append    assistant       +21          99  Now the oven.
    9d8ae9b      2025-10-09 08:53:40  append    user            +22          78  read_file src/timer.rs → fn ring() {}
    e94d1ec      2025-10-09 08:53:30  append    assistant       +22          56  I read the timer.
    8778393  :1  2025-10-09 08:53:20  append    user            +34          34  <task> Mend the oven's timer </task>
    ");
    insta::assert_snapshot!(sandbox.ok(&["compile", "--format", "text"]), @r#"
    [1] user
      <task>
      Mend the oven's timer
      </task>
      <environment_details>
      # Current Mode
      code
      </environment_details>

    [2] user
      [Sliding window truncation: 2 messages hidden to reduce context]

    [3] assistant
    (thinking) Look first.
      Now the oven.
    → read_file {"path":"src/oven.rs"}

    [4] user
    ← read_file
      struct Oven;

      <environment_details>
      # Current Mode
      code
      </environment_details>

    [5] assistant
      The timer never rings.

    [6] user
      Then make it ring.

    [7] assistant
      It rings now.
    "#);
    insta::assert_snapshot!(sandbox.ok(&["compile", "HEAD~4", "--format", "text"]), @r#"
    [1] user
      <task>
      Mend the oven's timer
      </task>
      <environment_details>
      # Current Mode
      code
      </environment_details>

    [2] assistant
    (thinking) Look first.
      I read the timer.
    → read_file {"path":"src/timer.rs"}

    [3] user
    ← read_file
      fn ring() {}

      <environment_details>
      # Current Mode
      code
      </environment_details>

    [4] assistant
    (thinking) Look first.
      Now the oven.
    → read_file {"path":"src/oven.rs"}

    [5] user
    ← read_file
      struct Oven;

      <environment_details>
      # Current Mode
      code
      </environment_details>
    "#);
}

#[test]
fn a_grown_history_adds_what_is_new_and_the_truncation() {
    let sandbox = Sandbox::empty();
    leave(&sandbox, BEFORE);
    sandbox.ok(&["import", FILE]);
    let before = sandbox.ok(&["log", "-n", "0"]);
    leave(&sandbox, TRUNCATED);
    insta::assert_snapshot!(sandbox.tract(&["import", FILE]), @r#"
    --- stderr
    Updated roo "Mend the oven's timer": 2 new commits, now 8 messages, 1 truncation, on main
      not in the file              system prompt, tool definitions
    "#);
    let truncated = sandbox.ok(&["log", "-n", "0"]);
    assert_eq!(truncated.lines().count(), before.lines().count() + 2);
    insta::assert_snapshot!(sandbox.tract(&["import", FILE]), @r#"
    --- stderr
    Nothing new in roo "Mend the oven's timer": 8 messages, 1 truncation
    "#);
    leave(&sandbox, CONDENSED);
    insta::assert_snapshot!(sandbox.tract(&["import", FILE]), @r#"
    --- stderr
    Updated roo "Mend the oven's timer": 3 new commits, now 10 messages, 1 truncation, 1 compaction, on main
      not in the file              system prompt, tool definitions
    hint: before the last compaction: c6571f3, 128 tokens; tract export c6571f3
    "#);
    insta::assert_snapshot!(sandbox.ok(&["log"]), @r"
    1c39106  :2  2025-10-09 08:54:50  append    assistant        +12          33  (HEAD -> main, roo/6a71)  The light is mended, too.
    a8a76d7  :1  2025-10-09 08:54:40  compact   -8 +1 messages  -107 tokens   21  ## Conversation Summary The timer rings now; the light is next.
    c6571f3      2025-10-09 08:54:40  append    user              +8         128  And the light?
    2940ba7      2025-10-09 08:54:30  append    assistant         +8         120  It rings now.
    ed98b10      2025-10-09 08:53:49  truncate  -2 +1 messages   -26 tokens  112  [Sliding window truncation: 2 messages hidden to reduce context]
    d61f3a5      2025-10-09 08:54:20  append    user              +9         138  Then make it ring.
    bd8fe7a      2025-10-09 08:54:10  append    assistant         +9         129  The timer never rings.
    99b61e8      2025-10-09 08:54:00  append    user             +21         120  read_file src/oven.rs → struct Oven;
    e7e1d90      2025-10-09 08:53:50  append    assistant        +21          99  Now the oven.
    9d8ae9b      2025-10-09 08:53:40  append    user             +22          78  read_file src/timer.rs → fn ring() {}
    e94d1ec      2025-10-09 08:53:30  append    assistant        +22          56  I read the timer.
    8778393      2025-10-09 08:53:20  append    user             +34          34  <task> Mend the oven's timer </task>
    ");
}

#[test]
fn a_rewind_made_there_gets_a_name_of_its_own() {
    let sandbox = Sandbox::empty();
    leave(&sandbox, TRUNCATED);
    sandbox.ok(&["import", FILE]);
    let rewound = value(BEFORE).as_array().expect("a list")[..3].to_vec();
    leave(&sandbox, &Value::from(rewound).to_string());
    insta::assert_snapshot!(sandbox.tract(&["import", FILE]), @r#"
    --- stderr
    Imported roo "Mend the oven's timer" anew, for its file was rewritten: 3 messages, on 6a71-2; 6 commits of before are kept
      not in the file              system prompt, tool definitions
    hint: HEAD stayed where it was; to look: tract --on 6a71-2 status
    "#);
}

#[test]
fn a_session_goes_back_out_as_the_tool_would_send_it() {
    let sandbox = Sandbox::empty();
    leave(&sandbox, CONDENSED);
    sandbox.ok(&["import", FILE]);
    assert_eq!(sandbox.ok(&["export"]), CONDENSED);
    assert_eq!(sandbox.ok(&["export", "--format", "cline"]), CONDENSED);

    sandbox.ok(&["commit", "-r", "user", "-m", "And the door?"]);
    let out = value(&sandbox.ok(&["export"]));
    let all = value(CONDENSED);
    let all = all.as_array().expect("a list");
    let out = out.as_array().expect("a list");
    assert_eq!(out[..2], all[all.len() - 2..]);
    assert_eq!(out[2]["content"], "And the door?");
    assert_eq!(out.len(), 3);

    sandbox.ok(&["commit", "--edit", "HEAD~1", "-m", "The light works."]);
    let edited = value(&sandbox.ok(&["export"]));
    assert_eq!(edited[1]["content"], "The light works.");
    assert_eq!(edited[1]["ts"], out[1]["ts"]);
}

#[test]
fn another_tools_session_is_written_as_a_task() {
    let sandbox = crate::sessions::import::with_demo();
    let out = sandbox.tract(&["export", "--format", "roo", "-o", "tasks.json"]);
    insta::assert_snapshot!(out, @r"
    --- stderr
    Wrote 12 messages, 0 untouched, to tasks.json
    note: 23 hidden messages are not in the file
    ");
    let again = Sandbox::empty();
    let text = fs::read_to_string(sandbox.work().join("tasks.json")).expect("written");
    again.write("tasks.json", text);
    insta::assert_snapshot!(again.tract(&["import", "tasks.json"]), @r"
    --- stderr
    Made a repository in .tract
    Imported roo tasks: 12 messages, on main
      not in the file              system prompt, tool definitions
    ");
}

/// Cline puts nothing of its own beside a message.
#[test]
fn tasks_of_cline_are_sessions_by_their_folders() {
    let sandbox = Sandbox::empty();
    for (task, words) in [
        ("1747000000001", "Mend the oven"),
        ("1747000000002", "Paint the door"),
    ] {
        let folder = format!("tasks/{task}");
        fs::create_dir_all(sandbox.work().join(&folder)).expect("made");
        let history = json!([
            {"role": "user", "content": [{"type": "text", "text": format!("<task>\n{words}\n</task>")},
                {"type": "text", "text": "<environment_details>\n# Current Mode\nACT MODE\n</environment_details>"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "I do."}]}]);
        sandbox.write(
            &format!("{folder}/api_conversation_history.json"),
            history.to_string(),
        );
    }
    insta::assert_snapshot!(sandbox.tract(&["import", "tasks"]));
}
