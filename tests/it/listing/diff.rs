//! What changed between two contexts, as a person asks for it.

use crate::sandbox::Sandbox;
use crate::sessions::import::with_demo;

fn with_an_edit() -> Sandbox {
    let sandbox = Sandbox::with_messages(&[
        ("system", "You are terse."),
        ("user", "Please use the batch parser."),
        ("assistant", "It reads the whole file."),
    ]);
    sandbox.ok(&[
        "commit",
        "--edit",
        ":2",
        "-m",
        "Please use the streaming parser.",
    ]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Thanks."]);
    sandbox
}

#[test]
fn without_arguments_it_is_what_the_last_commit_did() {
    let sandbox = with_an_edit();
    insta::assert_snapshot!(sandbox.tract(&["diff"]), @r#"
    comparing 347327a with HEAD

    + :4  baca771  user  +6 tokens
      + Thanks.

    1 message added, tokens: +6 (31 → 37)
    cache   first 3 of 4 messages identical (31 tokens, 84%; 176 B for openai)
            first difference: :4 (347327a ends before it, HEAD baca771)
    "#);
}

#[test]
fn one_argument_is_compared_with_head_and_two_with_each_other() {
    let sandbox = with_an_edit();
    insta::assert_snapshot!(sandbox.tract(&["diff", "HEAD~3"]), @r#"
    comparing HEAD~3 with HEAD

    ~ :2  5bdbf6b  user  0 tokens
      - Please use the batch parser.
      + Please use the streaming parser.

    + :3  b26403a  assistant  +10 tokens
      + It reads the whole file.

    + :4  baca771  user  +6 tokens
      + Thanks.

    1 message modified, 2 added, tokens: +16 (21 → 37)
    cache   first 1 of 4 messages identical (11 tokens, 30%; 99 B for openai)
            first difference: :2 (5bdbf6b)
    "#);
    assert_eq!(
        sandbox.tract(&["diff", "HEAD~3", "HEAD"]),
        sandbox.tract(&["diff", "HEAD~3"])
    );
    assert_eq!(
        sandbox.tract(&["diff", "HEAD~3..HEAD"]),
        sandbox.tract(&["diff", "HEAD~3"])
    );
    assert_eq!(
        sandbox.tract(&["diff", "HEAD~3.."]),
        sandbox.tract(&["diff", "HEAD~3"])
    );
    insta::assert_snapshot!(sandbox.tract(&["diff", "HEAD", "HEAD~1", "--oneline"]), @"- :4  baca771  removed   user       -6  Thanks.");
}

#[test]
fn an_edit_alone_is_compared_with_what_it_changed() {
    let sandbox = with_an_edit();
    sandbox.ok(&["commit", "-r", "assistant", "-m", "Done."]);
    insta::assert_snapshot!(sandbox.tract(&["diff", "HEAD~2"]), @r#"
    comparing b26403a with HEAD~2, an edit

    ~ :2  5bdbf6b  user  0 tokens
      - Please use the batch parser.
      + Please use the streaming parser.

    1 message modified, tokens: 0 (31 → 31)
    cache   first 1 of 3 messages identical (11 tokens, 35%; 99 B for openai)
            first difference: :2 (5bdbf6b)
    "#);
    assert!(
        sandbox
            .ok(&["diff", "HEAD~2", "--stat"])
            .contains("1 message modified, tokens")
    );
}

#[test]
fn an_edit_of_a_hidden_message_says_why_nothing_differs() {
    let sandbox = with_an_edit();
    sandbox.ok(&["annotate", ":3", "--skip"]);
    sandbox.ok(&["commit", "--edit", "HEAD~3", "-m", "It streams."]);
    insta::assert_snapshot!(sandbox.tract(&["diff"]), @r#"
    comparing 881a4df with HEAD, an edit of a message that is hidden
    no differences: 3 messages, 27 tokens
    cache   all 3 messages identical
    "#);
}

#[test]
fn the_first_commit_is_compared_with_nothing() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    insta::assert_snapshot!(sandbox.tract(&["diff"]), @r#"
    comparing the empty context with HEAD

    + :1  dbc1344  user  +5 tokens
      + one

    1 message added, tokens: +8 (0 → 8)
    "#);
}

#[test]
fn what_is_equal_is_said_to_be_equal() {
    let sandbox = with_an_edit();
    insta::assert_snapshot!(sandbox.tract(&["diff", "HEAD", "main", "--exit-code"]), @r#"
    comparing HEAD with main
    no differences: 4 messages, 37 tokens
    cache   all 4 messages identical
    "#);
}

#[test]
fn an_exit_code_is_given_only_where_it_is_asked_for() {
    let sandbox = with_an_edit();
    let said = sandbox.tract(&["diff", "HEAD~1", "--exit-code"]);
    let text = said.strip_prefix("exit code: 1\n").expect("they differ");
    assert_eq!(text, sandbox.tract(&["diff", "HEAD~1"]));
    assert!(!text.contains("stderr"));
    // What is not shown doesn't count.
    let tools = sandbox.tract(&["diff", "HEAD~1", "--exit-code", "--role", "tool"]);
    assert!(!tools.starts_with("exit code"), "{tools}");
}

#[test]
fn an_imported_compaction_is_seen_at_a_glance() {
    let sandbox = with_demo();
    let line = sandbox.ok(&["log", "--op", "compact"]);
    let compaction = &line[..7];
    let (before, after) = (format!("{compaction}^"), compaction);
    insta::assert_snapshot!(sandbox.tract(&["diff", &before, after]), @r#"
    comparing a091f72^ with a091f72

    - :1 … :23  23 messages hidden, -2,962 tokens
        - :1   6ba0565  user        -41  `tally fixtures/march.csv` prints a total of 0.00, and no problems either. Th…
        - :2   b107746  assistant  -114  I'll look at the parser and at the file side by side.
          … 20 more (--full)
        - :23  b99fda9  user        -43  Per file. If any amount ends in a comma and two digits, the comma is the deci…

    + :1  a091f72  injected  +257 tokens
      + This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:
      +
      + 1. Request: `tally fixtures/march.csv` printed 0.00 without any problem. Find out why and fix it. Then: exports of the old bank (fixtures/old-bank.csv, `1,204.50`, line breaks inside quoted payees) must work as well, without a flag.
      + 2. Done in src/parse.rs: separator from the header line, quotes respected; unreadable amounts become `Problem::BadAmount` (it was `unwrap_or_default`); `1.204,50` is read; the loop goes over `records(text)`, which end at a line feed outside quotes. March: 12 entries, total 1,539.43.
      + 3. Open: the decimal mark. The rule "last mark in the amount is decimal" fails on `1.204` (test `a_deposit_of_the_old_bank`, 7 of 8 pass).
      + 4. The user decided: per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point; if nothing decides it, report them as problems.

    1 message added, 23 hidden, tokens: -2,705 (2,965 → 260)
    cache   no message from the start is identical
            first difference: :1 (a091f72^ 6ba0565, a091f72 a091f72)
    "#);
    insta::assert_snapshot!(sandbox.tract(&["diff", &before, "HEAD", "--stat"]), @r#"
    comparing a091f72^ with HEAD

    - :1 … :23             23 messages hidden                  | -2,962 ----------
    + :1        injected   This session is being continued fr… |   +257 +
    + :2        assistant  The rule is clear. A quick look at… |    +94 +
    + :3        tool       Grep fn (records|field… → src/pars… |   +144 +
    + :4        assistant  Edit file_path="/home/mara/tally/s… |   +195 +
    + :5        tool       Edit /home/mara/tally/… → The file… |    +20 +
    + :6        assistant  Bash command="cargo test --quiet 2… |    +50 +
    + :7        tool       Bash cargo test --quie… → running…  |    +83 +
    + :8        assistant  Both banks work now, without a fla… |   +102 +
    + :9        user       Nice. One line in the changelog, t… |    +17 +
    + :10       assistant  Edit file_path="/home/mara/tally/C… |    +75 +
    + :11       tool       Edit /home/mara/tally/… → The file… |    +20 +
    + :12       assistant  Done: one line under *Unreleased*,… |    +22 +

    12 messages added, 23 hidden, tokens: -1,883 (2,965 → 1,082)
    cache   no message from the start is identical
            first difference: :1 (a091f72^ 6ba0565, HEAD a091f72)
    "#);
}

#[test]
fn two_runs_are_the_same_but_for_their_ids() {
    let sandbox = Sandbox::new();
    for (branch, id) in [("one", "call_1"), ("two", "call_2")] {
        let call = format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"ls","arguments":"{{}}"}}}}]}}"#
        );
        let batch = format!(
            "{{\"role\":\"user\",\"content\":\"Look around.\"}}\n{call}\n{{\"role\":\"tool\",\"tool_call_id\":\"{id}\",\"content\":\"{branch}.txt\"}}\n"
        );
        sandbox.write(&format!("{branch}.jsonl"), batch);
        sandbox.ok(&[
            "--on",
            branch,
            "commit",
            "--batch",
            &format!("{branch}.jsonl"),
        ]);
    }
    insta::assert_snapshot!(sandbox.tract(&["diff", "one", "two"]), @r#"
    comparing one with two

    ~ :3  174de65  tool  ls  0 tokens
      - one.txt
      + two.txt

    1 message modified, tokens: 0 (22 → 22)
    cache   first 1 of 3 messages identical (10 tokens, 45%; 115 B for openai); same but for ids: first 2
            first difference: :2 (one f285b83, two d492032)
    "#);
    insta::assert_snapshot!(sandbox.tract(&["diff", "one..two", "--exact-ids", "--format", "anthropic"]), @r"
    comparing one with two

    ~ :2  d492032  assistant  ls  0 tokens
      id: call_1 → call_2

    ~ :3  174de65  tool  ls  0 tokens
      id: call_1 → call_2
      - one.txt
      + two.txt

    2 messages modified, tokens: 0 (22 → 22)
    cache   first 1 of 3 messages identical (10 tokens, 45%; 140 B for anthropic); same but for ids: first 2
            first difference: :2 (one f285b83, two d492032)
    ");
    insta::assert_snapshot!(sandbox.tract(&["diff", "one..two", "--tool", "ls", "--oneline"]), @"~ :3  174de65  modified  tool       0  ls → two.txt");
}

#[test]
fn what_cannot_be_compared_is_said() {
    let sandbox = with_an_edit();
    insta::assert_snapshot!(sandbox.tract(&["diff", "mian"]), @r#"
    exit code: 1
    --- stderr
    error: nothing here is called 'mian'
    hint: did you mean main?
    "#);
    insta::assert_snapshot!(sandbox.tract(&["diff", "--role", "usr"]), @r#"
    exit code: 2
    --- stderr
    error: unknown role 'usr'
    hint: did you mean user?
    "#);
    insta::assert_snapshot!(sandbox.tract(&["diff", "--stat", "--oneline"]), @r#"
    exit code: 2
    --- stderr
    error: the argument '--stat' cannot be used with '--oneline'
    hint: tract diff --help
    "#);
    insta::assert_snapshot!(Sandbox::new().tract(&["diff"]), @r#"
    exit code: 1
    --- stderr
    error: 'main' has no commits yet
    hint: tract import, or tract commit -r user -m "…"
    "#);
}
