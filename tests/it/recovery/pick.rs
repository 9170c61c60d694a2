//! Bringing back what is hidden or lies elsewhere.

use crate::reduction::drop::{brief, with_calls};
use crate::sandbox::Sandbox;
use crate::sessions::import::with_demo;

#[test]
fn a_hit_in_hidden_text_says_the_way_back() {
    let sandbox = with_demo();
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "Per file. If any"]), @r#"
    a091f72  2026-03-14 09:18:13  injected (compact)  main:1  "Read the bank's amounts, and never in silence"
        4. The user decided: per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point; if nothing decides it, report them as problems.
    b99fda9  2026-03-14 09:18:10  user                main hidden (compacted by a091f72)  "Read the bank's amounts, and never in silence"
        Per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point is. If nothing decides it, report them as problems.
        back: tract restore b99fda9, or go on from before: tract resume a091f72^
    "#);
    // It is one that works.
    sandbox.ok(&["restore", "b99fda9"]);
    assert!(sandbox.ok(&["compile"]).contains("Per file. If any"));
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "Per file. If any"]), @r#"
    a091f72  2026-03-14 09:18:13  injected (compact)  main:2  "Read the bank's amounts, and never in silence"
        4. The user decided: per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point; if nothing decides it, report them as problems.
    b99fda9  2026-03-14 09:18:10  user                main:1  "Read the bank's amounts, and never in silence"
        Per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point is. If nothing decides it, report them as problems.
    "#);
    sandbox.ok(&["undo"]);
    sandbox.ok(&["checkout", "-b", "other", ":1^"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Something else."]);
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "Per file. If any"]), @r#"
    a091f72  2026-03-14 09:18:13  injected (compact)  main:1  "Read the bank's amounts, and never in silence"
        4. The user decided: per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point; if nothing decides it, report them as problems.
    b99fda9  2026-03-14 09:18:10  user                other:23  "Read the bank's amounts, and never in silence"
        Per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point is. If nothing decides it, report them as problems.
    "#);
    insta::assert_snapshot!(sandbox.tract(&["pick", "b99fda9"]), @r"
    --- stderr
    Copied 1 message to the end (+43 tokens); HEAD is now 84fdb73
    ");
    assert!(sandbox.ok(&["compile"]).contains("Per file. If any"));
}

#[test]
fn a_skipped_message_and_a_pruned_part_have_their_way_back() {
    let sandbox = with_calls();
    sandbox.ok(&["drop", ":2#1"]);
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "the text of a the text of a", "-n", "1"]), @r"
    f01d7f8  2026-03-14 12:02:00  tool  main hidden (dropped by 497e740)  read_file a
        (taken back on 2026-03-14 12:03:00)
        the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a
        back: tract restore f01d7f8
    ");
    sandbox.ok(&["annotate", "--skip", ":4"]);
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "They differ"]), @r"
    eaff61e  2026-03-14 12:02:00  assistant  main hidden (skipped)
        (taken back)
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
    Copied 3 messages to the end (+351 tokens); HEAD is now e7b8d52
    Cache: the first 7 messages stay as they are: 221 tokens, 100%
    ");
    let after = brief(&sandbox);
    assert!(after.starts_with(&before), "{after}");
    assert!(after[before.len()..].contains("the text of a"), "{after}");
    insta::assert_snapshot!(sandbox.tract(&["restore", "--at-end", ":1"]), @r"
    exit code: 1
    --- stderr
    error: that message is not hidden
    hint: tract log --op hide lists what was hidden
    ");
    sandbox.ok(&["undo"]);
    assert_eq!(brief(&sandbox), before);
}

#[test]
fn what_was_hidden_is_moved_to_before_a_message_and_is_there_once() {
    let sandbox = with_calls();
    let before = brief(&sandbox);
    sandbox.ok(&["truncate", "--keep", "2"]);
    let short = brief(&sandbox);
    insta::assert_snapshot!(short, @r"
    [1] user
      Compare a and b.

    [2] user
      [Sliding window truncation: 5 messages hidden to reduce co

    [3] assistant
      In one letter.

    [4] user
      Thanks. And c?
    ");
    // The two calls come with their results, right before the last message.
    insta::assert_snapshot!(sandbox.tract(&["restore", "HEAD^:4", "--before", ":-1", "--dry-run"]), @r"
    Would bring in 3 messages
      :4  assistant    21  Reading both.
      :5  tool        165  the text of a the text of a the text of a the text of a the text of a the tex…
      :6  tool        165  the text of b the text of b the text of b the text of b the text of b the tex…
      =   3 messages  351
    Messages  4 → 7
    Tokens    47 → 398 (+351)
    Cache     the first 3 messages stay as they are: 38 tokens, 81%
    restore would reach 398, cache kept 81%
    ");
    insta::assert_snapshot!(sandbox.tract(&["restore", "HEAD^:4", "--before", ":-1"]), @r"
    --- stderr
    Moved 3 messages to :4 (+351 tokens); HEAD is now 7a23c18
    Cache: the first 3 messages stay as they are: 38 tokens, 81%
    ");
    insta::assert_snapshot!(brief(&sandbox), @r#"
    [1] user
      Compare a and b.

    [2] user
      [Sliding window truncation: 5 messages hidden to reduce co

    [3] assistant
      In one letter.

    [4] assistant
      Reading both.
    → read_file {"path":"a"}
    → read_file {"path":"b"}

    [5] tool
    ← read_file
      the text of a the text of a the text of a the text of a th

    [6] tool
    ← read_file
      the text of b the text of b the text of b the text of b th

    [7] user
      Thanks. And c?
    "#);
    insta::assert_snapshot!(sandbox.tract(&["log", "-n", "2"]), @r"
    7a23c18  :4  2026-03-14 12:07:00  move      +3 messages     +351 tokens  398  (HEAD -> main)  Reading both.
    f6d573f  :2  2026-03-14 12:04:00  truncate  -5 +1 messages  -346 tokens   47  [Sliding window truncation: 5 messages hidden to reduce context]
    ");
    insta::assert_snapshot!(sandbox.tract(&["show"]), @r"
    move 7a23c18ba09af31b66d1329472a37deba8d2a24b3c76c146c6f1e4f9487ad00f
    refs      HEAD -> main
    parent    f6d573f
    time      2026-03-14 12:07:00 +0000
    messages  +3
    tokens    +351 = 398

    Moved here: assistant

    #0
        Reading both.

    #1
        read_file a  one

    #2
        read_file b  two

    Moved here: tool

        result  one
          the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a

    Moved here: tool

        result  two
          the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b
    ");
    insta::assert_snapshot!(sandbox.tract(&["status"]), @r#"
    On main, HEAD 7a23c18
    Context  7 messages, 5 hidden (1 truncation, 1 move)
    Tokens   398 (no budget set)
             user 5% · assistant 7% · tool 84% · injected by the client 5%
             largest: the text of a the text of a the text of a the text o… 165 (:5)

      7a23c18  :4  2026-03-14 12:07:00  move      +3 messages     +351 tokens  Reading both.
      f6d573f  :2  2026-03-14 12:04:00  truncate  -5 +1 messages  -346 tokens  [Sliding window truncation: 5 messages hidden to reduce context]
      f150189  :7  2026-03-14 12:02:00  append    user              +9         Thanks. And c?
    "#);
    insta::assert_snapshot!(sandbox.tract(&["view"]), @r"
    ↑ 5 earlier messages (--transcript shows them)

    :1     user
               Compare a and b.

    :2     truncation
               [Sliding window truncation: 5 messages hidden to reduce context]

    :3     assistant
               In one letter.
    :4         Reading both.
               2 calls, done
               read_file a
    :5           the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a the text of a
    :4         read_file b
    :6           the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b the text of b

    :7     user
               Thanks. And c?
    ");
    insta::assert_snapshot!(sandbox.tract(&["diff", "--stat"]), @r"
    comparing f6d573f with HEAD

    + :4  assistant  Reading both.                               |  +21 ++
    + :5  tool       read_file a → the text of a the text of a…  | +165 ++++++++++
    + :6  tool       read_file b → the text of b the text of b…  | +165 ++++++++++

    3 messages added, tokens: +351 (47 → 398)
    cache   first 3 of 7 messages identical (38 tokens, 10%; 208 B for openai)
            first difference: :4 (f6d573f f150189, HEAD 7a23c18)
    ");
    // The truncation undone, it is where it was put, and nowhere twice.
    sandbox.ok(&["restore", "HEAD^"]);
    let whole = brief(&sandbox);
    assert_eq!(whole.matches("Reading both.").count(), 1, "{whole}");
    // The move undone too, all is as it was.
    sandbox.ok(&["restore", "HEAD^"]);
    assert_eq!(brief(&sandbox), before);
    insta::assert_snapshot!(sandbox.tract(&["log", "--oneline", "--op", "move"]), @"7a23c18  2026-03-14 12:07:00  move  +3 messages  +351 tokens  398  Reading both.");
    // Two steps back, and it is not among what can be seen.
    sandbox.ok(&["undo"]);
    sandbox.ok(&["undo"]);
    sandbox.ok(&["undo"]);
    assert_eq!(brief(&sandbox), short);
    // No place, and nothing to move.
    insta::assert_snapshot!(sandbox.tract(&["restore", "HEAD^:4", "--before", "HEAD^:5"]), @r"
    exit code: 1
    --- stderr
    error: nothing can be put before that message: it is not in the context, or was itself moved there
    hint: name a visible message, such as :5; tract log shows the numbers
    ");
    insta::assert_snapshot!(sandbox.tract(&["restore", ":1", "--before", ":2"]), @r"
    exit code: 1
    --- stderr
    error: that message is not hidden
    hint: tract log --op hide lists what was hidden
    ");
    insta::assert_snapshot!(sandbox.tract(&["restore", "HEAD^:4", "--before", ":2", "--at-end"]), @r"
    exit code: 2
    --- stderr
    error: the argument '--before <REV>' cannot be used with '--at-end'
    hint: tract restore --help
    ");
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
    Copied 4 messages to the end, tool partners included (+357 tokens); HEAD is now f674f13
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
      the text of a the text of a the text of a the text of a th

    [4] tool
    ← read_file
      the text of b the text of b the text of b the text of b th

    [5] user
      How?
    "#);
    insta::assert_snapshot!(sandbox.tract(&["pick", "nowhere"]), @r"
    exit code: 1
    --- stderr
    error: nothing here is called 'nowhere'
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
    error: a tool call of 9969c33 still waits for its result
    hint: tract commit --call ID -m TEXT writes the result
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
    error: HEAD is detached, so it must stay on a commit
    hint: tract checkout BRANCH goes back to a branch
    ");
}

#[test]
fn one_part_is_picked_and_a_call_with_its_result() {
    let sandbox = with_calls();
    let before = brief(&sandbox);
    sandbox.ok(&["pick", ":2#0"]);
    let text = brief(&sandbox);
    insta::assert_snapshot!(text[before.len()..], @r"
    [9] assistant
      Reading both.
    ");
    sandbox.ok(&["undo"]);
    // The second call, without the first; and the same by its result.
    sandbox.ok(&["pick", ":2#2"]);
    let by_call = brief(&sandbox);
    insta::assert_snapshot!(by_call[before.len()..], @r#"
    [9] assistant
    → read_file {"path":"b"}

    [10] tool
    ← read_file
      the text of b the text of b the text of b the text of b th
    "#);
    sandbox.ok(&["undo"]);
    sandbox.ok(&["pick", ":4#0"]);
    assert_eq!(brief(&sandbox), by_call);
    sandbox.ok(&["undo"]);
    insta::assert_snapshot!(sandbox.tract(&["pick", ":2#7"]), @r"
    exit code: 1
    --- stderr
    error: there is no part #7: the last one is #2
    hint: parts are counted from 0, as tract show prints them
    ");
    assert_eq!(brief(&sandbox), before);
}

/// A revert of a drop brings back what that drop took, and nothing that an earlier one took: its tool partners come along only
/// where what comes back needs them.
#[test]
fn a_revert_leaves_hidden_what_was_hidden_before() {
    let sandbox = Sandbox::with_messages(&[("user", "the task")]);
    let calls = concat!(
        r#"{"role":"assistant","content":"call","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}},"#,
        r#"{"id":"d","type":"function","function":{"name":"g","arguments":"{}"}}]}"#,
        "\n",
        r#"{"role":"tool","tool_call_id":"c","content":"OUTPUT C"}"#,
        "\n",
        r#"{"role":"tool","tool_call_id":"d","content":"OUTPUT D"}"#,
        "\n"
    );
    let said = sandbox.tract_with(&["commit", "--batch", "-"], calls);
    assert!(!said.contains("exit code"), "{said}");
    sandbox.ok(&["commit", "-r", "user", "-m", "end"]);
    let compiled = |sandbox: &Sandbox| sandbox.ok(&["compile"]);
    sandbox.ok(&["drop", ":3"]);
    let one_hidden = compiled(&sandbox);
    assert!(!one_hidden.contains("OUTPUT C") && one_hidden.contains("OUTPUT D"));
    // The call's message whole, and with it the result that it has still.
    sandbox.ok(&["drop", ":2"]);
    let both_hidden = compiled(&sandbox);
    assert!(!both_hidden.contains("call") && !both_hidden.contains("OUTPUT"));
    sandbox.ok(&["revert", "HEAD"]);
    assert_eq!(compiled(&sandbox), one_hidden);
    // And the revert of that, and its own.
    sandbox.ok(&["revert", "HEAD"]);
    assert_eq!(compiled(&sandbox), both_hidden);
    sandbox.ok(&["revert", "HEAD"]);
    assert_eq!(compiled(&sandbox), one_hidden);
    // The earlier one brings its own back, the call with its result.
    sandbox.ok(&["revert", "HEAD~4"]);
    let all = compiled(&sandbox);
    assert!(
        all.contains("OUTPUT C") && all.contains("OUTPUT D"),
        "{all}"
    );
}
