//! `tract show`: one commit whole.

use crate::sandbox::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["commit", "-r", "system", "-m", "Be brief."]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Name a river."]);
    sandbox.ok(&[
        "commit",
        "-r",
        "assistant",
        "-m",
        "The Elbe.",
        "--model",
        "m-1",
    ]);
    sandbox.ok(&[
        "commit",
        "-r",
        "user",
        "-m",
        "And a lake?",
        "--note",
        "asked twice",
    ]);
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look_up","arguments":"{\"kind\": \"lake\", \"deep\": true}"}}]}"#;
    sandbox.tract_with(&["commit", "--json", "-"], call);
    sandbox.ok(&[
        "commit",
        "-r",
        "tool",
        "--call",
        "c1",
        "-m",
        "Lake Constance\nLake Geneva",
    ]);
    sandbox.ok(&["commit", "-r", "assistant", "-m", "Lake Constance, 湖 🏞."]);
    sandbox
}

#[test]
fn a_message_a_call_and_its_result() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.ok(&["show", ":4"]), @r"
    append 90f9ba37b45392cc3352fcc170a5ef30340737a76d0ab2161d604a76ce2014de
    parent    7efa554
    time      2026-03-14 12:05:00 +0000
    message   user (text)
    tokens    +8 = 34
    settings  note: asked twice

        And a lake?
    ");
    insta::assert_snapshot!(sandbox.ok(&["show", ":5"]), @r#"
    append 4d13e3b1545de54ee0dbdb3f124562d416c17dab7be7a2ab9df40bee81f3a0c5
    parent    90f9ba3
    time      2026-03-14 12:06:00 +0000
    message   assistant (tool_call)
    tokens    +17 = 51

        look_up kind="lake", deep=true  c1
    "#);
    insta::assert_snapshot!(sandbox.ok(&["show", ":6"]), @r#"
    append 9c739b9acc65cef362e67ebc9b0f975c8a1ceb53b9617b274d89870e59a606e7
    parent    4d13e3b
    time      2026-03-14 12:07:00 +0000
    message   tool (tool_result)
    answers   look_up kind="lake", deep=true
    tokens    +10 = 61

        result  c1
          Lake Constance
          Lake Geneva
    "#);
}

#[test]
fn an_edit_and_what_it_replaced_and_the_other_way_round() {
    let sandbox = sandbox();
    sandbox.ok(&["commit", "--edit", ":2", "-m", "Name two rivers."]);
    insta::assert_snapshot!(sandbox.ok(&["show"]), @r"
    edit 21081ede7c5952bda42d1f74d88076ca946999e46d9a01ed80fdb5eb89fd7520
    refs      HEAD -> main
    parent    c26374c
    time      2026-03-14 12:09:00 +0000
    message   user (text)
    edits     f3f394d
    tokens    0 = 74

    Before

        Name a river.

    After

        Name two rivers.
    ");
    insta::assert_snapshot!(sandbox.ok(&["show", ":2"]), @r"
    append f3f394def76c19c186321519e5bdd26cd69a0bd189a1205948cbe73b171ad220
    parent    790ee60
    time      2026-03-14 12:03:00 +0000
    message   user (text)
    tokens    +8 = 18

        Name a river.

    Edited since, by 21081ed; it reads now

        Name two rivers.
    ");
}

#[test]
fn what_a_hide_hid_and_what_stayed() {
    let sandbox = sandbox();
    sandbox.ok(&["annotate", ":3", "--pin", "--reason", "the example"]);
    sandbox.ok(&["compact", ":2..:4", "-m", "We spoke of rivers."]);
    insta::assert_snapshot!(sandbox.ok(&["show"]), @r"
    compact be0045e1aca1cec26afd6d45b87f1bd0d68225439cfcf9c5954cb827061eee6f
    refs      HEAD -> main
    parent    caa1a29
    time      2026-03-14 12:10:00 +0000
    messages  -2 +1
    tokens    -7 = 67

    In its place: injected

        We spoke of rivers.

    Hid 2 messages, 16 tokens
      :2  user       8  Name a river.
      :4  user       8  And a lake?

    Stayed in between: 1 message, 8 tokens
      :2  assistant  8  The Elbe.
    ");
    insta::assert_snapshot!(sandbox.ok(&["show", "HEAD^"]), @r"
    annotate caa1a29fe0d825a582436c517ea50b1f65a2a0ca7060779a356d0e4e439c188a
    parent    c26374c
    time      2026-03-14 12:09:00 +0000
    tokens    0 = 74
    what      pinned, 1 message: the example

    Annotated 1 message, 8 tokens
      :3  assistant  8  The Elbe.
    ");
    sandbox.ok(&["truncate", "--fraction", "0.9"]);
    insta::assert_snapshot!(sandbox.ok(&["show"]), @r#"
    truncate a0867223fa9d217869490ed21a4f1797fdbb284d04a5f28b2f122aed1eb9a923
    refs      HEAD -> main
    parent    be0045e
    time      2026-03-14 12:13:00 +0000
    messages  -2 +1
    tokens    -9 = 58

    In its place: injected

        [Sliding window truncation: 2 messages hidden to reduce context]

    Hid 2 messages, 27 tokens
      :4  assistant  17  look_up kind="lake", deep=true
      :5  tool       10  look_up kind="lake", deep=true → Lake Constance Lake Geneva
    "#);
    sandbox.ok(&["annotate", ":3", "--normal"]);
    insta::assert_snapshot!(sandbox.ok(&["show", "HEAD~5:3"]), @r"
    append 7efa55440ca3eb92b76cd619f250a94ed7eda2041cf6aefbcec47e56152b1a87
    parent    f3f394d
    time      2026-03-14 12:04:00 +0000
    message   assistant (text)
    tokens    +8 = 26
    settings  model=m-1

        The Elbe.

    Priority over time
      caa1a29  pinned: the example
    ");
}

#[test]
fn what_a_restore_brought_back_and_what_still_hides_the_rest() {
    let sandbox = sandbox();
    sandbox.ok(&["drop", ":3"]);
    sandbox.ok(&["compact", "-m", "We spoke."]);
    sandbox.ok(&["restore", "HEAD^"]);
    insta::assert_snapshot!(sandbox.ok(&["show"]), @r"
    restore 74412be163a448f30084342487917ad6b45481602cc5ee2864195c3e75a03e82
    refs      HEAD -> main
    parent    f14182e
    time      2026-03-14 12:11:00 +0000
    messages  0
    tokens    0 = 17
    what      of c113b9a

    Still hidden: 1 message
      7efa554 by the compaction f14182e
    ");
    sandbox.ok(&["restore", "HEAD^"]);
    insta::assert_snapshot!(sandbox.ok(&["show"]), @r#"
    restore 9570f15981d57043bd168a7109fc11ad979bfdb3c403933b73b16fdbe3cebeaa
    refs      HEAD -> main
    parent    74412be
    time      2026-03-14 12:13:00 +0000
    messages  +5
    tokens    +57 = 74
    what      of f14182e

    Hid 1 message, 7 tokens
      :2  injected   7  We spoke.

    Brought back 6 messages, 64 tokens
      :2  user        8  Name a river.
      :3  assistant   8  The Elbe.
      :4  user        8  And a lake?
      :5  assistant  17  look_up kind="lake", deep=true
      :6  tool       10  look_up kind="lake", deep=true → Lake Constance Lake Geneva
      :7  assistant  13  Lake Constance, 湖 🏞.
    "#);
}

#[test]
fn status_in_every_position() {
    let sandbox = sandbox();
    sandbox.ok(&["config", "budget.max", "128k"]);
    insta::assert_snapshot!(sandbox.tract(&["status"]), @r#"
    On main, HEAD c26374c
    Context  7 messages
    Window   [>...................] 74 of 128k (<1%)
             system 10% · user 23% · assistant 54% · tool 14%
             largest: look_up kind="lake", deep=true 17 (:5)

      c26374c  :7  2026-03-14 12:08:00  append  assistant  +13  Lake Constance, 湖 🏞.
      9c739b9  :6  2026-03-14 12:07:00  append  tool       +10  look_up kind="lake", deep=true → Lake Constance Lake Geneva
      4d13e3b  :5  2026-03-14 12:06:00  append  assistant  +17  look_up kind="lake", deep=true
    "#);
    sandbox.ok(&["config", "budget.max", "40"]);
    insta::assert_snapshot!(sandbox.tract(&["status"]), @r#"
    On main, HEAD c26374c
    Context  7 messages
    Window   [====================] 74 of 40 (185%)
             system 10% · user 23% · assistant 54% · tool 14%
             largest: look_up kind="lake", deep=true 17 (:5)

      c26374c  :7  2026-03-14 12:08:00  append  assistant  +13  Lake Constance, 湖 🏞.
      9c739b9  :6  2026-03-14 12:07:00  append  tool       +10  look_up kind="lake", deep=true → Lake Constance Lake Geneva
      4d13e3b  :5  2026-03-14 12:06:00  append  assistant  +17  look_up kind="lake", deep=true
    --- stderr
    hint: over budget: tract compact puts a summary in place of what is old
    "#);
    sandbox.ok(&["truncate", "--keep", "2"]);
    sandbox.ok(&["checkout", "HEAD"]);
    sandbox.ok(&["checkout", ":-1"]);
    insta::assert_snapshot!(sandbox.tract(&["status"]), @r#"
    HEAD detached at c26374c
    Context  7 messages
    Window   [====================] 74 of 40 (185%)
             system 10% · user 23% · assistant 54% · tool 14%
             largest: look_up kind="lake", deep=true 17 (:5)

      c26374c  :7  2026-03-14 12:08:00  append  assistant  +13  Lake Constance, 湖 🏞.
      9c739b9  :6  2026-03-14 12:07:00  append  tool       +10  look_up kind="lake", deep=true → Lake Constance Lake Geneva
      4d13e3b  :5  2026-03-14 12:06:00  append  assistant  +17  look_up kind="lake", deep=true
    --- stderr
    hint: to return: tract checkout main; to go on from here: tract checkout -b NAME
    "#);
}

#[test]
fn a_template_can_be_json() {
    let sandbox = Sandbox::with_messages(&[("user", "say \"x\"\\ and more")]);
    let told = sandbox.ok(&[
        "log",
        "--format",
        r#"{"hash": %jH, "said": %js, "parent": %jP}"#,
    ]);
    let row: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(row["said"], "say \"x\"\\ and more");
    assert_eq!(row["hash"].as_str().map(str::len), Some(64));
    assert_eq!(row["parent"], "");
    insta::assert_snapshot!(sandbox.tract(&["log", "--format", "hash"]), @"
    exit code: 2
    --- stderr
    error: the template 'hash' has no field
    hint: such as '%h %r %s'; see tract log --help
    ");
}

#[test]
fn templates_are_stable() {
    let sandbox = sandbox();
    sandbox.ok(&["truncate", "--keep", "2"]);
    let all = "%H|%h|%P|%r|%o|%k|%t|%T|%s|%d|%i|%%";
    insta::assert_snapshot!(sandbox.tract(&["log", "-n", "3", "--format", all]), @r"
    61f15c6123eb17f2b9a221d7efb5f4814d0baaf09261447a9a2865086cd81567|61f15c6|c26374cd2dd96cfc9550ee073e8c42b3349da763715ee04ae56e56ec41f8b1b0|user|hide|truncation|2|76|[Sliding window truncation: 2 messages hidden to reduce context]|2026-03-14T12:09:00.000Z|3|%
    c26374cd2dd96cfc9550ee073e8c42b3349da763715ee04ae56e56ec41f8b1b0|c26374c|9c739b9acc65cef362e67ebc9b0f975c8a1ceb53b9617b274d89870e59a606e7|assistant|append||13|74|Lake Constance, 湖 🏞.|2026-03-14T12:08:00.000Z|6|%
    9c739b9acc65cef362e67ebc9b0f975c8a1ceb53b9617b274d89870e59a606e7|9c739b9|4d13e3b1545de54ee0dbdb3f124562d416c17dab7be7a2ab9df40bee81f3a0c5|tool|append||10|61|Lake Constance Lake Geneva|2026-03-14T12:07:00.000Z|5|%
    ");
    assert_eq!(
        sandbox.ok(&["log", "-n", "2", "-z", "--format", "%o%x09%i"]),
        "hide\t3\0append\t6\0"
    );
    insta::assert_snapshot!(sandbox.tract(&["log", "--format", "%q"]), @"
    exit code: 2
    --- stderr
    error: '%q' is not a field of a template
    hint: %H %h %P %r %o %k %t %T %s %d %i %c %a, %j before each, %n, %xNN and %%; see tract log --help
    ");
    insta::assert_snapshot!(sandbox.tract(&["log", "--op", "edit"]), @r"
    exit code: 1
    --- stderr
    No such commits
    ");
    insta::assert_snapshot!(sandbox.tract(&["log", "--op", "edits"]), @r"
    exit code: 2
    --- stderr
    error: unknown operation 'edits'
    hint: append, edit, hide, restore, annotate, move, truncate, compact, clear, drop, prune
    ");
}

#[test]
fn a_clock_that_runs_backwards_changes_no_order() {
    let sandbox = Sandbox::new();
    for (clock, text) in [("3000", "first"), ("2000", "second"), ("1000", "third")] {
        let mut command = sandbox.command(&["commit", "-r", "user", "-m", text]);
        assert!(
            command
                .env("TRACT_CLOCK", clock)
                .status()
                .expect("runs")
                .success()
        );
    }
    assert_eq!(
        sandbox.ok(&["log", "--format", "%s %d"]),
        "third 1970-01-01T00:00:01.000Z\nsecond 1970-01-01T00:00:02.000Z\nfirst 1970-01-01T00:00:03.000Z\n"
    );
}

#[test]
fn a_log_with_texts_draws_them_as_a_chat_does() {
    let sandbox = sandbox();
    let edit = r##"{"role":"assistant","content":"I write it down.","tool_calls":[{"id":"c2","type":"function","function":{"name":"Edit","arguments":"{\"file_path\": \"lakes.md\", \"old_string\": \"# Lakes\\n\", \"new_string\": \"# Lakes\\n\\n- Lake Constance\\n\"}"}}]}"##;
    sandbox.tract_with(&["commit", "--json", "-"], edit);
    sandbox.ok(&["annotate", ":2", "--pin"]);
    insta::assert_snapshot!(sandbox.tract(&["log", "-p", "-n", "5"]));
    insta::assert_snapshot!(sandbox.tract(&["show", ":8"]));
    sandbox.ok(&["compact", ":2..:4", "-m", "We spoke of rivers."]);
    insta::assert_snapshot!(sandbox.tract(&["log", "-p", "-n", "1"]));
}

#[test]
fn what_is_long_says_how_to_see_it_all() {
    let sandbox = Sandbox::new();
    let text: Vec<String> = (1..=50).map(|line| format!("line {line}")).collect();
    sandbox.ok(&["commit", "-r", "user", "-m", &text.join("\n")]);
    let shown = sandbox.ok(&["show"]);
    assert!(
        shown.ends_with("    line 40\n    … 10 more lines (--full)\n"),
        "{shown}"
    );
    assert!(sandbox.ok(&["show", "--full"]).ends_with("    line 50\n"));
}
