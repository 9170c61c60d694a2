//! Single messages and parts out of the context.

use crate::sandbox::Sandbox;
use crate::sessions::import::with_demo;

/// A conversation with two parallel calls.
pub fn with_calls() -> Sandbox {
    let sandbox = Sandbox::new();
    let call = |id: &str, path: &str| {
        serde_json::json!({"id": id, "type": "function",
            "function": {"name": "read_file", "arguments": format!("{{\"path\":\"{path}\"}}")}})
    };
    let messages = [
        serde_json::json!({"role": "user", "content": "Compare a and b."}),
        serde_json::json!({"role": "assistant", "content": "Reading both.",
            "tool_calls": [call("one", "a"), call("two", "b")]}),
        serde_json::json!({"role": "tool", "tool_call_id": "one", "content": "the text of a ".repeat(40)}),
        serde_json::json!({"role": "tool", "tool_call_id": "two", "content": "the text of b ".repeat(40)}),
        serde_json::json!({"role": "assistant", "content": "They differ."}),
        serde_json::json!({"role": "user", "content": "How?"}),
        serde_json::json!({"role": "assistant", "content": "In one letter."}),
        serde_json::json!({"role": "user", "content": "Thanks. And c?"}),
    ];
    let lines: String = messages
        .iter()
        .map(|message| format!("{message}\n"))
        .collect();
    sandbox.write("lines.jsonl", lines);
    sandbox.ok(&["commit", "--batch", "lines.jsonl"]);
    sandbox
}

/// The context, its lines cut short.
pub fn brief(sandbox: &Sandbox) -> String {
    let text = sandbox.ok(&["compile", "--format", "text"]);
    let cut = |line: &str| line.chars().take(60).collect::<String>();
    text.lines().map(cut).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_message_that_calls_takes_its_results_along() {
    let sandbox = with_calls();
    let said = sandbox.tract(&["drop", ":2"]);
    assert!(
        said.contains("Hid 3 messages, tool partners included"),
        "{said}"
    );
    insta::assert_snapshot!(brief(&sandbox), @r"
    [1] user
      Compare a and b.

    [2] assistant
      They differ.

    [3] user
      How?

    [4] assistant
      In one letter.

    [5] user
      Thanks. And c?
    ");
}

#[test]
fn a_result_takes_its_own_call_along_and_no_more() {
    let sandbox = with_calls();
    insta::assert_snapshot!(sandbox.tract(&["drop", ":3"]), @r"
    --- stderr
    Hid 1 message and parts of 1 message, tool partners included (-172 tokens); HEAD is now 497e740
    ");
    insta::assert_snapshot!(brief(&sandbox), @r#"
    [1] user
      Compare a and b.

    [2] assistant
      Reading both.
    → read_file {"path":"b"}

    [3] tool
    ← read_file
      the text of b the text of b the text of b the text of b th

    [4] assistant
      They differ.

    [5] user
      How?

    [6] assistant
      In one letter.

    [7] user
      Thanks. And c?
    "#);
    // The other one, too: what is left of the reply is what it said.
    sandbox.ok(&["drop", ":3"]);
    let left = brief(&sandbox);
    assert!(left.contains("Reading both."), "{left}");
    assert!(!left.contains("read_file"), "{left}");
    sandbox.ok(&["undo"]);
    sandbox.ok(&["undo"]);
    assert!(sandbox.ok(&["compile"]).contains("the text of a"));
}

#[test]
fn one_of_several_calls_goes_with_its_own_result() {
    let sandbox = with_calls();
    insta::assert_snapshot!(sandbox.tract(&["show", ":2"]), @r"
    append 21c72a41aee83f24f92f1349f9478ac82f9dde420a84da5f819dabbc8a4c51f2
    parent    456fe83
    time      2026-03-14 12:02:00 +0000
    message   assistant (text, 2 tool_call)
    tokens    +21 = 33

    #0
        Reading both.

    #1
        read_file a  one

    #2
        read_file b  two
    ");
    insta::assert_snapshot!(sandbox.tract(&["drop", ":2#1"]), @r"
    --- stderr
    Hid 1 message and parts of 1 message, tool partners included (-172 tokens); HEAD is now c8dc4dc
    ");
    insta::assert_snapshot!(brief(&sandbox), @r#"
    [1] user
      Compare a and b.

    [2] assistant
      Reading both.
    → read_file {"path":"b"}

    [3] tool
    ← read_file
      the text of b the text of b the text of b the text of b th

    [4] assistant
      They differ.

    [5] user
      How?

    [6] assistant
      In one letter.

    [7] user
      Thanks. And c?
    "#);
    insta::assert_snapshot!(sandbox.tract(&["restore", ":2#1"]), @r"
    --- stderr
    Brought back 1 message and changed 1 message back (+172 tokens); HEAD is now d4dd716
    Cache: the first message stays as it is: 12 tokens, 5%
    ");
    assert!(sandbox.ok(&["compile"]).contains("the text of a"));
}

#[test]
fn a_message_whose_parts_are_all_dropped_is_hidden() {
    let sandbox = with_calls();
    insta::assert_snapshot!(sandbox.tract(&["drop", ":2#0", ":2#1", ":2#2"]), @r"
    --- stderr
    Hid 3 messages, tool partners included (-351 tokens); HEAD is now 7512da5
    ");
}

#[test]
fn what_a_conversation_needs_is_dropped_by_force_alone() {
    let sandbox = with_calls();
    insta::assert_snapshot!(sandbox.tract(&["drop", ":1"]), @r"
    exit code: 1
    --- stderr
    error: the task cannot be dropped
    hint: --force drops it anyway
    ");
    insta::assert_snapshot!(sandbox.tract(&["drop", ":-1"]), @r"
    exit code: 1
    --- stderr
    error: the last user message cannot be dropped
    hint: --force drops it anyway
    ");
    insta::assert_snapshot!(sandbox.tract(&["drop", ":-1", "--force"]), @r"
    --- stderr
    Hid 1 message (-9 tokens); HEAD is now ffc7dfe
    ");
}

#[test]
fn it_is_all_or_nothing() {
    let sandbox = with_calls();
    let before = sandbox.ok(&["log", "-n", "0"]);
    insta::assert_snapshot!(sandbox.tract(&["drop", ":5", ":1"]), @r"
    exit code: 1
    --- stderr
    error: the task cannot be dropped
    hint: --force drops it anyway
    ");
    insta::assert_snapshot!(sandbox.tract(&["drop", ":5", ":2#7"]), @r"
    exit code: 1
    --- stderr
    error: there is no part #7: the last one is #2
    hint: parts are counted from 0, as tract show prints them
    ");
    insta::assert_snapshot!(sandbox.tract(&["drop", ":5", ":99"]), @r"
    exit code: 1
    --- stderr
    error: no message ':99'
    hint: there are 8 messages: :1 to :8, :-1 is the last
    ");
    assert_eq!(sandbox.ok(&["log", "-n", "0"]), before);
    sandbox.ok(&["pin", ":3"]);
    insta::assert_snapshot!(sandbox.tract(&["drop", ":2"]), @r"
    exit code: 1
    --- stderr
    error: f01d7f8 is pinned
    hint: tract annotate --normal REV takes the pin away
    ");
}

#[test]
fn what_is_dropped_already_cannot_be_dropped_again() {
    let sandbox = with_calls();
    sandbox.ok(&["drop", ":5"]);
    insta::assert_snapshot!(sandbox.tract(&["drop", "HEAD^:5"]), @r"
    --- stderr
    Nothing to drop: it is hidden already
    ");
}

#[test]
fn a_dry_run_says_what_would_go() {
    let sandbox = with_demo();
    insta::assert_snapshot!(sandbox.tract(&["drop", ":3", "--dry-run"]), @r"
    Would hide 1 message
      :3  tool       144  Grep fn (records|fields|entry|parse_amount) /home/mara/tally/src/parse.rs (+1) → src/parse.rs:31:fn records(text: &str) -> impl Iterator<Item = (usize, &str)>…
    Would change 1 message
      :2  assistant  94  The rule is clear. A quick look at where things stand, then I'll put it in.
    Messages  12 → 11
    Tokens    1,082 → 885 (-197)
              about 20,679 → 20,441 by the provider's count
    Cache     the first message stays as it is: 260 tokens, 24%
    drop would reach 885, cache kept 24%
    Next      request (cold cache): 20,441 tokens written, $0.0015 cheaper
              over the next 20 replies drop saves $0.0037; cheapest: drop
    --- stderr
    note: list prices of genai-prices 0.2.1 of 2026-10-30
    ");
}

#[test]
fn a_range_of_numbers_names_each_message_in_it() {
    let sandbox = Sandbox::with_messages(&[
        ("system", "Be brief."),
        ("user", "One."),
        ("user", "Two."),
        ("user", "Three."),
        ("user", "Four."),
    ]);
    let left = |words: &[&str]| {
        sandbox.ok(words);
        let log = sandbox.ok(&["compile", "--format", "text"]);
        sandbox.ok(&["undo"]);
        log.lines()
            .filter(|line| line.starts_with("  "))
            .map(|line| line.trim().to_owned())
            .collect::<Vec<_>>()
    };
    let rest = ["Be brief.", "Four."];
    for range in [":2..4", ":2..:4", ":-4..-2"] {
        assert_eq!(left(&["drop", "--force", range]), rest, "{range}");
    }
    let each = [":2", ":3", ":4"].map(|number| sandbox.ok(&["show", number]));
    assert_eq!(sandbox.ok(&["show", ":2..4"]), each.join("\n"));
    // Wherever they were said: what a compaction brought along is there as well.
    sandbox.ok(&["compact", ":2..3", "-m", "One, two."]);
    let each = [":1", ":2", ":3"].map(|number| sandbox.ok(&["show", number]));
    assert_eq!(sandbox.ok(&["show", ":1..3"]), each.join("\n"));
    sandbox.ok(&["undo"]);
    for words in [["drop", ":4..9"], ["show", ":4..9"]] {
        let told = sandbox.tract(&words);
        assert!(told.contains("hint: there are 5 messages"), "{told}");
    }
    // However far it goes, what is not there is named as it was typed.
    for command in ["drop", "show"] {
        let far = sandbox.tract(&[command, ":1..999999999999"]);
        assert!(far.contains("':999999999999'"), "{far}");
        assert!(far.contains("hint: there are 5 messages"), "{far}");
        let back = sandbox.tract(&[command, ":4..2"]);
        assert!(back.starts_with("exit code: 2"), "{back}");
        assert!(back.contains("hint: :2..4 is the range"), "{back}");
    }
}
