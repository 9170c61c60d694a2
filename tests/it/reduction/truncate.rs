//! The sliding window: what goes, what stays, what stands in between, and the way back.

use crate::sandbox::Sandbox;
use crate::sessions::import::with_demo;

/// A conversation of user messages `1` to `count`.
fn counted(count: usize) -> Sandbox {
    let lines = (1..=count).map(|n| format!("{{\"role\":\"user\",\"content\":\"{n}\"}}\n"));
    let sandbox = Sandbox::new();
    sandbox.write("lines.jsonl", lines.collect::<String>());
    sandbox.ok(&["commit", "--batch", "lines.jsonl"]);
    sandbox
}

/// The context's texts.
fn context(sandbox: &Sandbox) -> Vec<String> {
    let request = sandbox.ok(&["compile", "--format", "openai"]);
    let messages: serde_json::Value = serde_json::from_str(&request).expect("JSON");
    let messages = messages["messages"].as_array().expect("messages").clone();
    let text = |message: &serde_json::Value| message["content"].as_str().expect("text").to_owned();
    messages.iter().map(text).collect()
}

fn marker(hidden: usize) -> String {
    format!("[Sliding window truncation: {hidden} messages hidden to reduce context]")
}

#[test]
fn a_fraction_hides_an_even_number_of_the_oldest_after_the_task() {
    for (count, fraction, hidden) in [
        (11, "0.5", 4),
        (12, "0.5", 4),
        (5, "0.5", 2),
        (7, "0.3", 0),
        (3, "1", 2),
        (4, "1", 2),
    ] {
        let sandbox = counted(count);
        let before = sandbox.ok(&["log", "-n", "0"]);
        let said = sandbox.tract(&["truncate", "--fraction", fraction]);
        if hidden == 0 {
            assert_eq!(said, "--- stderr\nNothing to hide\n");
            assert_eq!(sandbox.ok(&["log", "-n", "0"]), before, "no commit");
            continue;
        }
        let kept = (hidden + 2..=count).map(|n| n.to_string());
        let expected: Vec<String> = ["1".to_owned(), marker(hidden)]
            .into_iter()
            .chain(kept)
            .collect();
        assert_eq!(context(&sandbox), expected, "{count} at {fraction}");
    }
}

#[test]
fn the_task_goes_only_where_that_is_asked_for() {
    let sandbox = counted(6);
    sandbox.ok(&[
        "truncate",
        "--fraction",
        "0.5",
        "--drop-first",
        "--no-marker",
    ]);
    assert_eq!(context(&sandbox), ["3", "4", "5", "6"]);
}

#[test]
fn a_second_truncation_hides_what_is_visible_and_each_can_be_gone_back_past() {
    let sandbox = counted(11);
    let whole = context(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--keep", "8"]), @r"
    --- stderr
    Hid 2 messages (+8 tokens); HEAD is now e7f9ffd
    ");
    let once = context(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--keep", "3"]), @r"
    --- stderr
    Hid 5 messages (-7 tokens); HEAD is now 5bf24a1
    ");
    assert_eq!(
        context(&sandbox),
        ["1", &marker(2), &marker(5), "9", "10", "11"]
    );
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--keep", "3"]), @r"
    --- stderr
    Nothing to hide
    ");

    sandbox.ok(&["reset", "HEAD~1"]);
    assert_eq!(context(&sandbox), once);
    sandbox.ok(&["reset", "HEAD~1"]);
    assert_eq!(context(&sandbox), whole);
    sandbox.ok(&["reset", "ORIG_HEAD"]);
    sandbox.ok(&["undo"]);
    assert_eq!(context(&sandbox), whole);
}

#[test]
fn a_dry_run_says_what_would_go_and_changes_nothing() {
    let sandbox = counted(11);
    let before = sandbox.ok(&["log", "-n", "0"]);
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--fraction", "0.5", "--dry-run"]), @r"
    Would hide 4 messages
      :2  user         5  2
      :3  user         5  3
      :4  user         5  4
      :5  user         5  5
      =   4 messages  20
    Would bring in 1 message
      :2  user       18  [Sliding window truncation: 4 messages hidden to reduce context]
    Messages  11 → 8
    Tokens    58 → 56 (-2)
    Cache     the first message stays as it is: 8 tokens, 14%
    truncate would reach 56, cache kept 14%
    ");
    assert_eq!(sandbox.ok(&["log", "-n", "0"]), before);
}

#[test]
fn the_marker_is_what_one_says_it_is() {
    let role = |arguments: &[&str]| {
        let sandbox = counted(5);
        sandbox.ok(&[&["truncate", "--keep", "2"], arguments].concat());
        let request = sandbox.ok(&["compile", "--format", "openai"]);
        let messages: serde_json::Value = serde_json::from_str(&request).expect("JSON");
        messages["messages"][1].to_string()
    };
    insta::assert_snapshot!(role(&["--marker", "Cut."]), @r#"{"role":"user","content":"Cut."}"#);
    insta::assert_snapshot!(role(&["--marker-role", "system"]), @r#"{"role":"system","content":"[Sliding window truncation: 2 messages hidden to reduce context]"}"#);
    insta::assert_snapshot!(role(&["--no-marker"]), @r#"{"role":"user","content":"4"}"#);
    let sandbox = counted(5);
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--keep", "2", "--marker-role", "tool"]), @r"
    exit code: 2
    --- stderr
    error: a marker answers no call: it cannot be a tool's
    hint: tract truncate --help
    ");
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--keep", "2", "--marker-role", "usr"]), @r"
    exit code: 2
    --- stderr
    error: unknown role 'usr'
    hint: did you mean user?
    ");
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--keep", "2", "--marker", ""]), @r"
    exit code: 2
    --- stderr
    error: the marker is empty
    hint: --no-marker: none
    ");
    sandbox.ok(&["truncate", "--keep", "2", "--marker", "a secret"]);
    let log = sandbox.ok(&["reflog"]);
    assert!(log.contains("truncate --keep 2 --marker …"), "{log}");
}

#[test]
fn without_an_option_the_budget_says_how_much() {
    let sandbox = counted(11);
    insta::assert_snapshot!(sandbox.tract(&["truncate"]), @r"
    exit code: 2
    --- stderr
    error: how much? --fraction, --keep or --to-budget says it
    hint: with tract config budget.max 128k, tract truncate alone fits that
    ");
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--to-budget", "50%"]), @r"
    exit code: 2
    --- stderr
    error: 50% of what? budget.max is not set
    hint: tract config budget.max 128k
    ");
    sandbox.ok(&["config", "budget.max", "70"]);
    insta::assert_snapshot!(sandbox.tract(&["truncate"]), @r"
    --- stderr
    Nothing to hide: the context fits 70 tokens already
    ");
    insta::assert_snapshot!(sandbox.tract(&["truncate"]), @r"
    --- stderr
    Nothing to hide: the context fits 70 tokens already
    ");
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--to-budget", "80%"]), @r"
    --- stderr
    Hid 4 messages (-2 tokens); HEAD is now 3965417
    ");
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--to-budget", "10"]), @r"
    exit code: 1
    --- stderr
    error: hiding all that may go leaves 49 tokens, more than 10
    hint: tract compact puts a summary in place of what is old
    ");
}

#[test]
fn after_a_compaction_the_summary_is_the_task() {
    let sandbox = with_demo();
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--keep", "4", "--dry-run"]), @r"
    Would hide 7 messages
      :2  assistant    94  The rule is clear. A quick look at where things stand, then I'll put it in.
      :3  tool        144  Grep fn (records|fields|entry|parse_amount) /home/mara/tally/src/parse.rs (+1) → src/parse.rs:31:fn records(text: &str) -> impl Iterator<Item = (usize, &str)>…
      :4  assistant   195  Edit /home/mara/tally/src/parse.rs
      :5  tool         20  Edit /home/mara/tally/src/parse.rs → The file /home/mara/tally/src/parse.rs has been updated.
      :6  assistant    50  Bash cargo test --quiet 2>&1 | tail -n 20; for f in f… # Tests, then both f…
      :7  tool         83  Bash cargo test --quiet 2>&1 | tail -n 20; for f in f… # Tests, then both f… → running 10 tests .......... test result: ok. 10 passed; 0 failed; 0 ignored;…
      :8  assistant   102  Both banks work now, without a flag: - `fixtures/march.csv`: 12 entries, 1,53…
      =   7 messages  688
    Would bring in 1 message
      :2  user       18  [Sliding window truncation: 7 messages hidden to reduce context]
    Messages  12 → 6
    Tokens    1,082 → 412 (-670)
              about 20,679 → 19,866 by the provider's count
    Cache     the first message stays as it is: 260 tokens, 24%
    truncate would reach 412, cache kept 24%
    Next      request (cold cache): 19,866 tokens written, $0.0051 cheaper
              over the next 20 replies truncate saves $0.01; cheapest: truncate
    Lost from view: 2 commands, 3 numbers
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
    sandbox.ok(&["truncate", "--keep", "4"]);
    let text = sandbox.ok(&["compile", "--format", "text"]);
    assert!(text.contains("This session is being continued"), "{text}");
}

#[test]
fn a_budget_leaves_room_for_what_the_provider_counts_on_top() {
    let sandbox = with_demo();
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--to-budget", "19k"]), @r"
    exit code: 1
    --- stderr
    error: hiding all that may go leaves 19,751 tokens, more than 19,000; the provider's count is our count × 1.21 + 19,366
    hint: tract compact puts a summary in place of what is old; --by-our-count leaves out what the provider counts on top
    ");
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--to-budget", "1000", "--by-our-count"]), @r"
    --- stderr
    Hid 7 messages (-670 tokens); HEAD is now 2c5f8ac
    ");
}

#[test]
fn an_empty_repository_has_nothing_to_hide() {
    insta::assert_snapshot!(Sandbox::new().tract(&["truncate", "--keep", "3"]), @r"
    --- stderr
    Nothing to hide
    ");
}

#[test]
fn nothing_is_hidden_where_one_only_looks() {
    let sandbox = counted(6);
    sandbox.ok(&["checkout", "HEAD~1"]);
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--keep", "2"]), @r"
    exit code: 1
    --- stderr
    error: Cannot commit in detached HEAD. Use 'tract checkout main' to return to your branch.
    hint: to go on from here and keep both: tract checkout -b NAME
    ");
}

#[test]
fn harsher_commands_say_what_gentler_ones_would_reach() {
    let sandbox = crate::reduction::drop::with_calls();
    let reach = |sandbox: &Sandbox, arguments: &[&str]| {
        let said = sandbox.ok(arguments);
        let line = said.lines().find(|line| line.contains("would reach"));
        line.expect("a line").to_owned()
    };
    insta::assert_snapshot!(reach(&sandbox, &["clear", "--dry-run"]), @"clear would reach 0, cache kept 0%; truncate (the older half) 60, cache kept 3%");
    sandbox.ok(&["config", "budget.max", "100"]);
    insta::assert_snapshot!(reach(&sandbox, &["compact", "-m", "in short", "--dry-run"]), @"compact would reach 9, cache kept 0%; truncate 53, cache kept 3%");
}

/// One long turn: the task, and calls with their results; each result has 100 tokens and more.
pub fn one_turn(calls: usize) -> Sandbox {
    let sandbox = Sandbox::with_messages(&[("user", "Read all of it.")]);
    for n in 1..=calls {
        let call = format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{n}","type":"function","function":{{"name":"read_file","arguments":"{{}}"}}}}]}}"#
        );
        let text = "the text of it ".repeat(25);
        let result = format!(r#"{{"role":"tool","tool_call_id":"c{n}","content":"{n} {text}"}}"#);
        sandbox.write("turn.jsonl", format!("{call}\n{result}\n"));
        sandbox.ok(&["commit", "--batch", "turn.jsonl"]);
    }
    sandbox
}

#[test]
fn a_long_turn_is_cut_where_whole_turns_are_not_enough() {
    let sandbox = one_turn(5);
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--to-budget", "400"]), @r"
    --- stderr
    Hid 4 messages (-208 tokens); HEAD is now c3a1f71
    ");
    let cut = sandbox.ok(&["log", "--oneline"]);
    insta::assert_snapshot!(cut, @r"
    c3a1f71  :2  2026-03-14 12:08:00  truncate  -4 +1 messages  -208 tokens  369  (HEAD -> main)  [Sliding window truncation: 4 messages hidden to reduce context]
    00c7025  :8  2026-03-14 12:07:00  append    tool            +106         577  read_file → 5 the text of it the text of it the text of it the text of it the text of it…
    2fc657c  :7  2026-03-14 12:07:00  append    assistant         +7         471  read_file
    f36ff13  :6  2026-03-14 12:06:00  append    tool            +106         464  read_file → 4 the text of it the text of it the text of it the text of it the text of it…
    441ccda  :5  2026-03-14 12:06:00  append    assistant         +7         358  read_file
    3cea10a  :4  2026-03-14 12:05:00  append    tool            +106         351  read_file → 3 the text of it the text of it the text of it the text of it the text of it…
    48b74e3  :3  2026-03-14 12:05:00  append    assistant         +7         245  read_file
    2c83d96      2026-03-14 12:04:00  append    tool            +106         238  read_file → 2 the text of it the text of it the text of it the text of it the text of it…
    c2f0ad6      2026-03-14 12:04:00  append    assistant         +7         132  read_file
    e26196f      2026-03-14 12:03:00  append    tool            +106         125  read_file → 1 the text of it the text of it the text of it the text of it the text of it…
    78e9ba7      2026-03-14 12:03:00  append    assistant         +7          19  read_file
    dfc4852  :1  2026-03-14 12:02:00  append    user             +12          12  Read all of it.
    ");
    // Each result has its call still, and nothing had to be mended.
    sandbox.ok(&["compile", "--strict"]);
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--to-budget", "100"]), @r"
    exit code: 1
    --- stderr
    error: hiding all that may go leaves 161 tokens, more than 100
    hint: tract compact puts a summary in place of what is old
    ");
}

#[test]
fn a_prompt_that_is_too_long_itself_goes_only_where_one_asks_for_that() {
    let sandbox = Sandbox::with_messages(&[("user", "Hello."), ("assistant", "Hello!")]);
    sandbox.ok(&["commit", "-r", "user", "-m", &"long ".repeat(200)]);
    sandbox.ok(&["commit", "-r", "assistant", "-m", "Long indeed."]);
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--to-budget", "100"]), @r"
    exit code: 1
    --- stderr
    error: hiding all that may go leaves 227 tokens, more than 100
    hint: tract truncate --keep 1 does fit: it hides the newest prompt as well
    ");
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--keep", "1"]), @r"
    --- stderr
    Hid 2 messages (-193 tokens); HEAD is now 12a2df0
    ");
    insta::assert_snapshot!(sandbox.tract(&["truncate", "--to-budget", "100"]), @r"
    --- stderr
    Nothing to hide: the context fits 100 tokens already
    ");
}

#[test]
fn after_a_hide_a_range_is_told_and_no_range_is_over_budget() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["config", "budget.max", "100k"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Count.", "--model", "m-1"]);
    for at in 1..=9_u64 {
        // What is sent beside the messages grows, or the messages are sent as more than they are.
        let input = 30_000 + 1_500 * at * at;
        let reply = format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"{at} and so on"}}],"usage":{{"input_tokens":{input},"output_tokens":5}}}}"#
        );
        sandbox.tract_with(&["commit", "--json", "-"], reply);
        sandbox.ok(&["commit", "-r", "user", "-m", "Go on."]);
    }
    let told = sandbox.tract(&["status"]);
    assert!(told.contains("over budget"), "{told}");
    sandbox.ok(&["truncate", "--keep", "4"]);
    let told = sandbox.tract(&["status"]);
    let window = told.lines().find(|line| line.starts_with("Window"));
    let window = window.expect("a bar");
    assert!(
        window.contains(" to 1") && window.contains(" of 100k ("),
        "{told}"
    );
    assert!(!told.contains("over budget"), "{told}");
}
