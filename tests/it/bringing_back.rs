//! Bringing back what is hidden or lies elsewhere.

use crate::dropping::{brief, with_calls};
use crate::importing::with_demo;
use crate::sandbox::Sandbox;

#[test]
fn a_hit_in_hidden_text_says_the_way_back() {
    let sandbox = with_demo();
    insta::assert_snapshot!(sandbox.tract(&["find", "Per file. If any"]), @r#"
    a091f72  2026-03-14 09:18:13  user (compact)  main:1  "Read the bank's amounts, and never in silence"
        4. The user decided: per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point; if nothing decides it, report them as problems.
    b99fda9  2026-03-14 09:18:10  user            main hidden (compacted by a091f72)  "Read the bank's amounts, and never in silence"
        Per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point is. If nothing decides it, report them as problems.
        back: tract restore b99fda9, or go on from before: tract resume a091f72^
    "#);
    // It is one that works.
    sandbox.ok(&["restore", "b99fda9"]);
    assert!(sandbox.ok(&["compile"]).contains("Per file. If any"));
    insta::assert_snapshot!(sandbox.tract(&["find", "Per file. If any"]), @r#"
    a091f72  2026-03-14 09:18:13  user (compact)  main:2  "Read the bank's amounts, and never in silence"
        4. The user decided: per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point; if nothing decides it, report them as problems.
    b99fda9  2026-03-14 09:18:10  user            main:1  "Read the bank's amounts, and never in silence"
        Per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point is. If nothing decides it, report them as problems.
    "#);
    sandbox.ok(&["undo"]);
    sandbox.ok(&["checkout", "-b", "other", ":1^"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Something else."]);
    insta::assert_snapshot!(sandbox.tract(&["find", "Per file. If any"]), @r#"
    a091f72  2026-03-14 09:18:13  user (compact)  main:1  "Read the bank's amounts, and never in silence"
        4. The user decided: per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point; if nothing decides it, report them as problems.
    b99fda9  2026-03-14 09:18:10  user            other:23  "Read the bank's amounts, and never in silence"
        Per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point is. If nothing decides it, report them as problems.
    "#);
    insta::assert_snapshot!(sandbox.tract(&["pick", "b99fda9"]), @r"
    --- stderr
    Copied 1 message to the end (+43 tokens); HEAD is now cd13c30
    ");
    assert!(sandbox.ok(&["compile"]).contains("Per file. If any"));
}

#[test]
fn a_skipped_message_and_a_pruned_part_have_their_way_back() {
    let sandbox = with_calls();
    sandbox.ok(&["drop", ":2#1"]);
    insta::assert_snapshot!(sandbox.tract(&["find", "the text of a the text of a", "-n", "1"]), @r#"
    f01d7f8  2026-03-14 12:02:00  tool  main hidden (dropped by 497e740)  read_file path="a"
        the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a
        back: tract restore f01d7f8
    "#);
    sandbox.ok(&["annotate", "--skip", ":4"]);
    insta::assert_snapshot!(sandbox.tract(&["find", "They differ"]), @r"
    eaff61e  2026-03-14 12:02:00  assistant  main hidden (skipped)
        They differ.
        back: tract annotate eaff61e --normal
    ");
}

#[test]
fn a_copy_at_the_end_keeps_what_stands_before_it() {
    let sandbox = with_calls();
    sandbox.ok(&["drop", ":3"]);
    let before = brief(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["restore", "--at-end", "HEAD", "--dry-run"]), @r"
    Would bring in 3 messages
      :8   assistant    21  Reading both.
      :9   tool        165  the text of a the text of a the text of a the text of a the text of a the tex…
      :10  tool        165  the text of b the text of b the text of b the text of b the text of b the tex…
      =    3 messages  351
    Messages  7 → 10
    Tokens    221 → 572 (+351)
    Cache     the first 7 messages stay as they are: 221 tokens, 100%
    restore would reach 572, cache kept 100%
    ");
    insta::assert_snapshot!(sandbox.tract(&["restore", "--at-end", "HEAD"]), @r"
    --- stderr
    Copied 3 messages to the end (+351 tokens); HEAD is now 3d97982
    Cache: the first 7 messages stay as they are: 221 tokens, 100%
    ");
    let after = brief(&sandbox);
    assert!(after.starts_with(&before), "{after}");
    assert!(after[before.len()..].contains("the text of a"), "{after}");
    insta::assert_snapshot!(sandbox.tract(&["restore", "--at-end", ":1"]), @r"
    exit code: 1
    --- stderr
    error: no hide covers that message
    ");
    sandbox.ok(&["undo"]);
    assert_eq!(brief(&sandbox), before);
}

#[test]
fn messages_are_picked_from_anywhere_with_their_tool_partners() {
    let sandbox = with_calls();
    sandbox.ok(&["checkout", "-b", "other", ":1^"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "A new task."]);
    insta::assert_snapshot!(sandbox.tract(&["pick", "main:4", "main:6", "--dry-run"]), @r"
    Would bring in 4 messages
      :2  assistant    21  Reading both.
      :3  tool        165  the text of a the text of a the text of a the text of a the text of a the tex…
      :4  tool        165  the text of b the text of b the text of b the text of b the text of b the tex…
      :5  user          6  How?
      =   4 messages  357
    Messages  1 → 5
    Tokens    11 → 368 (+357)
    Cache     the first message stays as it is: 11 tokens, 100%
    pick would reach 368, cache kept 100%
    ");
    insta::assert_snapshot!(sandbox.tract(&["pick", "main:4", "main:6"]), @r"
    --- stderr
    Copied 4 messages to the end, tool partners included (+357 tokens); HEAD is now 3637c8c
    ");
    insta::assert_snapshot!(brief(&sandbox), @r#"
    [1] user
    A new task.

    [2] assistant
    Reading both.
    → read_file {"path":"a"}
    → read_file {"path":"b"}

    [3] tool
    ← read_file
    the text of a the text of a the text of a the text of a the 

    [4] tool
    ← read_file
    the text of b the text of b the text of b the text of b the 

    [5] user
    How?
    "#);
    insta::assert_snapshot!(sandbox.tract(&["pick", "nowhere"]), @r"
    exit code: 1
    --- stderr
    error: no commit 'nowhere'
    hint: did you mean other?
    ");
    // Nothing comes between a call and its result.
    sandbox.write(
        "call.json",
        r#"{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#,
    );
    sandbox.ok(&["commit", "--json", "call.json"]);
    insta::assert_snapshot!(sandbox.tract(&["pick", "main:1"]), @r"
    exit code: 1
    --- stderr
    error: a tool call of 5f473ec still waits for its result
    ");
}

#[test]
fn a_branch_goes_back_to_before_its_first_message() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    insta::assert_snapshot!(sandbox.tract(&["reset", "--root"]), @r#"
    --- stderr
    main is now before its first commit
    hint: it was at 8822737 ("two"); back: tract reset ORIG_HEAD
    "#);
    assert!(
        sandbox
            .ok(&["status"])
            .starts_with("On main, no commits yet")
    );
    insta::assert_snapshot!(sandbox.tract(&["reset", "--root"]), @r"
    --- stderr
    main has no commits
    ");
    sandbox.ok(&["commit", "-r", "user", "-m", "another one"]);
    assert_eq!(sandbox.ok(&["log", "-n", "0"]).lines().count(), 1);
    insta::assert_snapshot!(sandbox.tract(&["reset", "ORIG_HEAD"]), @r#"
    --- stderr
    main is now at 8822737 ("two")
    hint: it was at 35bac22 ("another one"); back: tract reset ORIG_HEAD
    "#);
    // One step before the first is the same, and a branch may begin there.
    insta::assert_snapshot!(sandbox.tract(&["reset", ":1^"]), @r#"
    --- stderr
    main is now before its first commit
    hint: it was at 8822737 ("two"); back: tract reset ORIG_HEAD
    "#);
    sandbox.ok(&["undo"]);
    insta::assert_snapshot!(sandbox.tract(&["checkout", "-b", "anew", ":1^"]), @r"
    --- stderr
    On a new branch anew, which has no commits yet
    ");
    sandbox.ok(&["commit", "-r", "user", "-m", "from another prompt"]);
    assert_eq!(sandbox.ok(&["log", "-n", "0"]).lines().count(), 1);
    // Two steps are too many, and a detached HEAD has to be somewhere.
    insta::assert_snapshot!(sandbox.tract(&["reset", ":1~2"]), @r#"
    exit code: 1
    --- stderr
    error: ':1~2' goes back beyond the first commit
    hint: the first is 1da2105 ("from another prompt")
    "#);
    let tip = sandbox.ok(&["rev-parse", "main"]);
    sandbox.ok(&["checkout", tip.trim()]);
    insta::assert_snapshot!(sandbox.tract(&["reset", "--root"]), @r"
    exit code: 1
    --- stderr
    error: HEAD is detached, and has to be on a commit
    ");
}
