//! Old tool outputs become lines.

use crate::reduction::drop::{brief, with_calls};
use crate::sandbox::Sandbox;

const ALL: [&str; 4] = ["--protect", "0", "--min", "0"];

fn prune(sandbox: &Sandbox, more: &[&str]) -> String {
    sandbox.tract(&[&["prune"], more].concat())
}

#[test]
fn an_old_output_becomes_a_line_that_says_where_it_is() {
    let sandbox = with_calls();
    let before = sandbox.ok(&["compile"]);
    insta::assert_snapshot!(prune(&sandbox, &ALL), @r"
    --- stderr
    Pruned 2 tool outputs (-283 tokens); HEAD is now dc37532
    ");
    insta::assert_snapshot!(brief(&sandbox), @r#"
    [1] user
      Compare a and b.

    [2] assistant
      Reading both.
    → read_file {"path":"a"}
    → read_file {"path":"b"}

    [3] tool
    ← read_file
      [output of read_file hidden: 161 tokens; tract show f01d7f

    [4] tool
    ← read_file
      [output of read_file hidden: 161 tokens; tract show d3b831

    [5] assistant
      They differ.

    [6] user
      How?

    [7] assistant
      In one letter.

    [8] user
      Thanks. And c?
    "#);
    insta::assert_snapshot!(prune(&sandbox, &ALL), @r"
    --- stderr
    Nothing to prune
    ");
    sandbox.ok(&["restore", "HEAD"]);
    assert_eq!(sandbox.ok(&["compile"]), before);
}

#[test]
fn new_turns_new_outputs_and_small_savings_are_left_alone() {
    let sandbox = with_calls();
    insta::assert_snapshot!(prune(&sandbox, &[]), @r"
    --- stderr
    Nothing to prune that would save 20,000 tokens
    ");
    insta::assert_snapshot!(prune(&sandbox, &["--protect", "0", "--min", "1k"]), @r"
    --- stderr
    Nothing to prune that would save 1,000 tokens
    ");
    insta::assert_snapshot!(prune(&sandbox, &["--protect", "0", "--min", "0", "--turns", "3"]), @r"
    --- stderr
    Nothing to prune
    hint: all of it is in the newest 3 turns: tract prune --turns 0 --protect 0 --min 0
    ");
    let hinted = "--turns 0 --protect 0 --min 0 --dry-run";
    let hinted: Vec<&str> = hinted.split(' ').collect();
    let would = prune(&sandbox, &hinted);
    assert!(would.starts_with("Would change 2 messages"), "{would}");
    insta::assert_snapshot!(prune(&sandbox, &["--protect", "200", "--min", "0", "--dry-run"]), @r"
    Would change 1 message
      :3  tool       165  read_file a → the text of a the text of a the text of a the text of a the text of a the tex…
    Messages  8 → 8
    Tokens    393 → 252 (-141)
    Cache     the first 2 messages stay as they are: 33 tokens, 8%
    prune would reach 252, cache kept 8%
    ");
}

#[test]
fn only_the_outputs_that_are_meant() {
    let sandbox = with_calls();
    let some = |more: &[&str]| prune(&sandbox, &[&ALL, more].concat());
    insta::assert_snapshot!(some(&["--tool", "bash"]), @r"
    exit code: 2
    --- stderr
    error: no message calls the tool 'bash'
    hint: this conversation calls read_file
    ");
    insta::assert_snapshot!(some(&["--larger-than", "500"]), @r"
    --- stderr
    Nothing to prune
    ");
    insta::assert_snapshot!(some(&["--tool", "bash", "--tool", "read_file", "--larger-than", "100"]), @r"
    --- stderr
    Pruned 2 tool outputs (-283 tokens); HEAD is now 6914822
    ");
}

#[test]
fn a_budget_takes_the_oldest_and_no_more_than_it_must() {
    let sandbox = with_calls();
    insta::assert_snapshot!(prune(&sandbox, &["--protect", "0", "--to-budget", "1000"]), @r"
    --- stderr
    Nothing to prune: the context fits 1,000 tokens already
    ");
    insta::assert_snapshot!(prune(&sandbox, &["--protect", "0", "--to-budget", "300"]), @r"
    --- stderr
    Pruned 1 tool output (-141 tokens); HEAD is now d585511
    ");
    insta::assert_snapshot!(prune(&sandbox, &["--protect", "0", "--to-budget", "50"]), @r"
    --- stderr
    Pruned 1 tool output (-142 tokens); HEAD is now c52ab99
    hint: still 110 tokens, more than 50: tract truncate --to-budget 50
    ");
}

#[test]
fn a_pinned_output_stays() {
    let sandbox = with_calls();
    sandbox.ok(&["pin", ":3"]);
    prune(&sandbox, &ALL);
    let text = sandbox.ok(&["compile", "--format", "text"]);
    assert!(text.contains("the text of a"), "{text}");
    assert!(!text.contains("the text of b"), "{text}");
}

#[test]
fn a_hint_after_a_prune_names_what_would_work() {
    let sandbox = with_calls();
    insta::assert_snapshot!(prune(&sandbox, &["--turns", "0", "--protect", "0", "--to-budget", "30"]), @r"
    --- stderr
    Pruned 2 tool outputs (-283 tokens); HEAD is now da8e216
    hint: still 110 tokens, more than 30; no truncation reaches that either
    ");
    let least = sandbox.tract(&["truncate", "--to-budget", "30"]);
    assert!(least.starts_with("exit code: 1"), "{least}");
}

#[test]
fn what_keeps_a_budget_from_being_met_is_said() {
    let sandbox = with_calls();
    insta::assert_snapshot!(prune(&sandbox, &["--to-budget", "300"]), @r"
    --- stderr
    Nothing to prune
    hint: that is without the newest 40,000 tokens of tool output: tract prune --protect 0 --to-budget 300
    ");
    insta::assert_snapshot!(prune(&sandbox, &["--protect", "0", "--turns", "3", "--to-budget", "300"]), @r"
    --- stderr
    Nothing to prune
    hint: all of it is in the newest 3 turns: tract prune --turns 0 --protect 0 --to-budget 300
    ");
    insta::assert_snapshot!(prune(&sandbox, &["--turns", "3", "--to-budget", "300"]), @r"
    --- stderr
    Nothing to prune
    hint: that is without the newest 3 turns and the newest 40,000 tokens of tool output: tract prune --turns 0 --protect 0 --to-budget 300
    ");
    insta::assert_snapshot!(prune(&sandbox, &["--larger-than", "9k", "--to-budget", "300"]), @r"
    --- stderr
    Nothing to prune
    hint: still 393 tokens, more than 300: tract truncate --to-budget 300
    ");
    insta::assert_snapshot!(prune(&sandbox, &["--protect", "0", "--to-budget", "300", "--dry-run"]), @r"
    Would change 1 message
      :3  tool       165  read_file a → the text of a the text of a the text of a the text of a the text of a the tex…
    Messages  8 → 8
    Tokens    393 → 252 (-141)
    Cache     the first 2 messages stay as they are: 33 tokens, 8%
    prune would reach 252, cache kept 8%
    ");
}

#[test]
fn what_a_tool_for_skills_gave_out_is_kept_and_not_counted() {
    let sandbox = with_calls();
    sandbox.ok(&["config", "prune.keepTools", "other, read_file"]);
    let nothing = "--- stderr\nNothing to prune\n";
    assert_eq!(prune(&sandbox, &ALL), nothing);
    // What is named is meant.
    let named = [&ALL[..], &["--tool", "read_file", "--dry-run"]].concat();
    assert!(prune(&sandbox, &named).contains("Would change 2 messages"));
    sandbox.ok(&["config", "prune.keepTools", "none"]);
    assert!(prune(&sandbox, &ALL).contains("Pruned 2 tool outputs"));
}
