//! Where messages came from, and what was done to files for which prompt.

use crate::sandbox::Sandbox;

fn asked(sandbox: &Sandbox, text: &str) {
    sandbox.ok(&["commit", "-r", "user", "-m", text]);
}

fn said(sandbox: &Sandbox, message: &str) {
    let told = sandbox.tract_with(&["commit", "--json", "-"], message);
    assert!(told.contains("tokens"), "{told}");
}

/// A reply that edits a file, with what it says before that.
fn edit(sandbox: &Sandbox, id: &str, says: &str, path: &str, old: &str, new: &str) {
    let text = if says.is_empty() {
        String::new()
    } else {
        format!(r#"{{"type":"text","text":"{says}"}},"#)
    };
    said(
        sandbox,
        &format!(
            r#"{{"role":"assistant","content":[{text}{{"type":"tool_use","id":"{id}","name":"Edit",
                "input":{{"file_path":"{path}","old_string":"{old}","new_string":"{new}"}}}}]}}"#
        ),
    );
}

fn answer(sandbox: &Sandbox, id: &str, text: &str, failed: bool) {
    said(
        sandbox,
        &format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{text}","is_error":{failed}}}]}}"#
        ),
    );
}

/// Two prompts, five edits of three files, one of which fails and one of which has no result.
fn edited() -> Sandbox {
    let sandbox = Sandbox::new();
    asked(&sandbox, "Make the loop quicker");
    edit(
        &sandbox,
        "t1",
        "It sorts each time.",
        "/w/src/loop.rs",
        "a\\nb",
        "c",
    );
    answer(&sandbox, "t1", "edited", false);
    edit(&sandbox, "t2", "", "/w/src/loop.rs", "d", "e\\nf\\ng");
    answer(&sandbox, "t2", "edited", false);
    asked(&sandbox, "Now the words");
    edit(
        &sandbox,
        "t3",
        "A comment tells why.",
        "/w/src/loop.rs",
        "x",
        "y",
    );
    answer(&sandbox, "t3", "no such text", true);
    edit(
        &sandbox,
        "t4",
        "The page as well.",
        "/w/docs/loop.md",
        "one",
        "two",
    );
    answer(&sandbox, "t4", "edited", false);
    edit(&sandbox, "t5", "", "/w/src/not_the_loop.rs", "one", "two");
    sandbox
}

#[test]
fn edits_of_a_file_stand_under_the_prompts_that_they_were_made_for() {
    let sandbox = edited();
    insta::assert_snapshot!(sandbox.tract(&["log", "--file", "loop.rs"]), @r#"
    6b7164f  Now the words
      987373f  :7  2026-03-14 12:08:00  Edit  +1  −1  failed  A comment tells why.
    56a8963  Make the loop quicker
      d455091  :4  2026-03-14 12:05:00  Edit  +3  −1          It sorts each time.
      37d3c68  :2  2026-03-14 12:03:00  Edit  +1  −2          It sorts each time.
    "#);
    insta::assert_snapshot!(sandbox.tract(&["log", "--file", "src/loop.rs", "--reverse", "-n", "2"]), @r#"
    56a8963  Make the loop quicker
      d455091  :4  2026-03-14 12:05:00  Edit  +3  −1          It sorts each time.
    6b7164f  Now the words
      987373f  :7  2026-03-14 12:08:00  Edit  +1  −1  failed  A comment tells why.
    --- stderr
    hint: older ones: -n 0 lists all
    "#);
    insta::assert_snapshot!(sandbox.tract(&["log", "--file", "oop.rs"]), @r#"
    exit code: 2
    --- stderr
    error: no tool call names the file 'oop.rs'
    hint: the end of a path is enough: lib.rs; tract log --files lists what this conversation edited
    "#);
    insta::assert_snapshot!(sandbox.tract(&["log", "--files"]), @r#"
    +1  −1   1 edit            672fe3e  2026-03-14 12:10:00  /w/docs/loop.md
    +4  −3  2 edits  1 failed  987373f  2026-03-14 12:08:00  /w/src/loop.rs
    +1  −1   1 edit            5df1a8f  2026-03-14 12:12:00  /w/src/not_the_loop.rs
    --- stderr
    hint: tract log --file PATH lists the edits of one, and why they were made
    "#);
    // What was cleared away was edited all the same.
    sandbox.ok(&["clear"]);
    let after = sandbox.tract(&["log", "--file", "/home/me/w/src/loop.rs"]);
    assert!(after.contains("no tool call names the file"), "{after}");
    let after = sandbox.tract(&["log", "--file", "./src/loop.rs"]);
    assert_eq!(after.matches("Edit").count(), 3, "{after}");
    assert!(!after.contains(" :"), "{after}");
}

#[test]
fn what_is_asked_of_edits_goes_with_no_other_list() {
    let sandbox = edited();
    insta::assert_snapshot!(sandbox.tract(&["log", "--file", "loop.rs", "--oneline"]), @r#"
    exit code: 2
    --- stderr
    error: the argument '--file <PATH>' cannot be used with '--oneline'
    hint: tract log --help
    "#);
    insta::assert_snapshot!(sandbox.tract(&["log", "--files", "--requests"]), @r#"
    exit code: 2
    --- stderr
    error: the argument '--files' cannot be used with '--requests'
    hint: tract log --help
    "#);
    let empty = Sandbox::with_messages(&[("user", "Hi")]);
    insta::assert_snapshot!(empty.tract(&["log", "--files"]), @r#"
    exit code: 1
    --- stderr
    No edits of files
    "#);
}

#[test]
fn a_message_tells_where_it_came_from() {
    let sandbox = Sandbox::new();
    let fixture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/claude-code/compaction.jsonl"
    );
    sandbox.ok(&["import", fixture]);
    insta::assert_snapshot!(sandbox.tract(&["blame"]), @r#"
    c20be2d  :1  2026-01-05 10:00:02  compact  injected   claude-code/11111111…  The plan was read twice.
    d128895  :2  2026-01-05 10:00:03           assistant  claude-code/11111111…  Going on.
    "#);
    insta::assert_snapshot!(sandbox.tract(&["blame", ":1"]), @r#"
    :1          injected  The plan was read twice.
    text from   c20be2d  compact  2026-01-05 10:00:02 +0000
    session     claude-code/11111111…
    client      claude-code
    model       claude-opus-4-5-20251101
    prompt      c94a666  Read the plan.
    stands for  5 messages, by compaction: c94a666 to 1308a6b

    c94a666   The plan was read twice.
    --- stderr
    hint: tract show HASH prints the message that a line came from
    "#);
    // Its own words since, and in another place.
    sandbox.ok(&["checkout", "-b", "own"]);
    sandbox.ok(&[
        "commit",
        "--edit",
        ":2",
        "-m",
        "In other words.",
        "--author",
        "Mara",
    ]);
    insta::assert_snapshot!(sandbox.tract(&["blame", ":2"]), @r#"
    :2         assistant  In other words.
    text from  976e51d  edit  2026-03-14 12:06:00 +0000
    first in   d128895
    session    claude-code/11111111…
    client     claude-code
    model      claude-opus-4-5-20251101
    author     Mara
    prompt     c94a666  Read the plan.
    edited by  976e51d
    "#);
    insta::assert_snapshot!(sandbox.tract(&["blame", "--at", "main", ":2"]), @r#"
    :2         assistant  Going on.
    text from  d128895  append  2026-01-05 10:00:03 +0000
    session    claude-code/11111111…
    client     claude-code
    model      claude-opus-4-5-20251101
    prompt     c94a666  Read the plan.
    "#);
}

#[test]
fn what_is_no_message_has_no_origin() {
    let sandbox = Sandbox::with_messages(&[("user", "Hi"), ("assistant", "Hello")]);
    insta::assert_snapshot!(sandbox.tract(&["blame", ":9"]), @r#"
    exit code: 1
    --- stderr
    error: no message ':9'
    hint: there are 2 messages: :1 to :2, :-1 is the last
    "#);
    insta::assert_snapshot!(sandbox.tract(&["blame", "nothing"]), @r#"
    exit code: 1
    --- stderr
    error: nothing here is called 'nothing'
    hint: tract log --oneline lists them, tract branch the branches
    "#);
    sandbox.ok(&["annotate", "--pin", ":1"]);
    insta::assert_snapshot!(sandbox.tract(&["blame", "HEAD"]), @r#"
    exit code: 1
    --- stderr
    error: HEAD brings no message: its operation is annotate
    hint: tract show says what a commit does; tract log lists the messages
    "#);
    insta::assert_snapshot!(Sandbox::new().tract(&["blame"]), @r#"
    exit code: 1
    --- stderr
    error: 'main' has no commits yet
    hint: tract import, or tract commit -r user -m "…"
    "#);
}
