//! Priorities: pinned, skipped, normal.

use crate::reduction::drop::{brief, with_calls};

#[test]
fn what_is_pinned_outlives_a_truncation() {
    let sandbox = with_calls();
    insta::assert_snapshot!(sandbox.tract(&["annotate", ":2", ":5", "--pin", "--reason", "the point"]), @r"
    --- stderr
    Pinned 2 messages; HEAD is now 79525a2
    ");
    insta::assert_snapshot!(sandbox.tract(&["pin", ":5"]), @r"
    --- stderr
    Nothing to do: pinned already
    ");
    sandbox.ok(&["truncate", "--keep", "1"]);
    insta::assert_snapshot!(brief(&sandbox), @r#"
    [1] user
      Compare a and b.

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

    [5] assistant
      They differ.

    [6] user
      [Sliding window truncation: 2 messages hidden to reduce co

    [7] user
      Thanks. And c?
    "#);
}

#[test]
fn a_skip_takes_a_calls_whole_group_and_gives_it_back() {
    let sandbox = with_calls();
    let before = sandbox.ok(&["compile"]);
    insta::assert_snapshot!(sandbox.tract(&["annotate", ":4", "--skip", "--dry-run"]), @r"
    Would hide 3 messages
      :2  assistant    21  Reading both.
      :3  tool        165  read_file a → the text of a the text of a the text of a the text of a the text of a the tex…
      :4  tool        165  read_file b → the text of b the text of b the text of b the text of b the text of b the tex…
      =   3 messages  351
    Messages  8 → 5
    Tokens    393 → 42 (-351)
    Cache     the first message stays as it is: 12 tokens, 3%
    annotate would reach 42, cache kept 3%
    --- stderr
    Would make 3 messages skip, tool partners included
    ");
    insta::assert_snapshot!(sandbox.tract(&["annotate", ":4", "--skip"]), @r"
    --- stderr
    Left out 3 messages, tool partners included (-351 tokens); HEAD is now 7637032
    ");
    insta::assert_snapshot!(sandbox.tract(&["unpin", "HEAD^:3"]), @r"
    --- stderr
    Made 3 messages normal, tool partners included (+351 tokens); HEAD is now a10d7d0
    ");
    assert_eq!(sandbox.ok(&["compile"]), before);
}

#[test]
fn a_skip_that_would_take_what_is_pinned_is_refused() {
    let sandbox = with_calls();
    sandbox.ok(&["pin", ":3"]);
    insta::assert_snapshot!(sandbox.tract(&["annotate", ":4", "--skip"]), @r"
    exit code: 1
    --- stderr
    error: f01d7f8, its tool partner, is pinned
    hint: tract annotate --normal REV takes the pin away
    ");
    insta::assert_snapshot!(sandbox.tract(&["annotate", ":4"]), @r"
    exit code: 2
    --- stderr
    error: the following required arguments were not provided: <--pin|--skip|--normal>
    hint: tract annotate --help
    ");
}
