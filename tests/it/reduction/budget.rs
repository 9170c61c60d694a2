//! A budget for the context, and what happens to a commit that goes beyond it.

use std::process::Stdio;

use crate::sandbox::{ITS_COMMANDS, Sandbox, is_left_out};
use crate::sessions::import::with_demo;

fn commit(sandbox: &Sandbox, role: &str, text: &str) -> String {
    sandbox.tract(&["commit", "-r", role, "-m", text])
}

/// A task, two exchanges, and a budget that the next reply goes beyond.
fn nearly_full(action: &str) -> Sandbox {
    let sandbox = Sandbox::with_messages(&[
        ("system", "You are helpful."),
        ("user", "Sort this list of names."),
        (
            "assistant",
            "Here they are, sorted by the last name, then by the first.",
        ),
        ("user", "And the cities?"),
        (
            "assistant",
            "The cities are sorted by country, then by their own name.",
        ),
        ("user", "Thanks. And the rivers?"),
    ]);
    sandbox.ok(&["config", "budget.max", "90"]);
    sandbox.ok(&["config", "budget.action", action]);
    sandbox
}

const REPLY: &str = "The rivers are sorted by their length, the longest first.";

#[test]
fn a_warning_follows_a_commit_that_goes_beyond() {
    let sandbox = nearly_full("warn");
    insta::assert_snapshot!(commit(&sandbox, "assistant", REPLY), @r"
    155da27 assistant 16 tokens
    --- stderr
    warning: 91 tokens, over the budget of 90
    hint: tract shrink --to 80%
    ");
    insta::assert_snapshot!(sandbox.tract(&["-q", "commit", "-r", "user", "-m", "Fine."]), @r"
    4f69c059ebf3a1439e0d40dab7925b176b3230b4d5376eefde4f06a17f77329f
    --- stderr
    warning: 97 tokens, over the budget of 90
    ");
}

#[test]
fn a_refused_commit_leaves_nothing_behind() {
    let sandbox = nearly_full("refuse");
    let before = sandbox.ok(&["log", "--verbose"]);
    insta::assert_snapshot!(commit(&sandbox, "assistant", REPLY), @r"
    exit code: 1
    --- stderr
    error: the context would have 91 tokens, over its budget of 90; nothing was committed
    hint: tract shrink --to 80%
    ");
    assert_eq!(sandbox.ok(&["log", "--verbose"]), before);
    // What makes it smaller is never refused, nor is an import.
    sandbox.write(
        "session.json",
        format!(r#"[{{"role":"user","content":"{}"}}]"#, "long ".repeat(200)),
    );
    sandbox.ok(&["import", "session.json"]);
    insta::assert_snapshot!(sandbox.tract(&["commit", "--edit", ":3", "-m", "Sorted."]), @"07cf701 assistant 6 tokens");
}

#[test]
fn advice_names_the_branch_that_the_command_was_given() {
    let sandbox = nearly_full("truncate");
    sandbox.ok(&["branch", "pl"]);
    let said = sandbox.tract(&["--on", "pl", "commit", "-r", "assistant", "-m", REPLY]);
    let hash = said.split("now 65; pl is ").nth(1).expect("said")[..7].to_owned();
    let hint = format!("hint: tract --on pl restore {hash} brings them back");
    assert!(said.contains(&hint), "{said}");
    // As it is printed it works.
    sandbox.ok(&["config", "budget.action", "warn"]);
    sandbox.ok(&["--on", "pl", "restore", &hash]);
    let said = sandbox.tract(&["--on", "pl", "commit", "-r", "user", "-m", "Fine."]);
    assert!(
        said.contains("hint: tract --on pl shrink --to 80%"),
        "{said}"
    );
    sandbox.ok(&["config", "budget.action", "refuse"]);
    let said = sandbox.tract(&["--on", "pl", "commit", "-r", "user", "-m", "Fine."]);
    assert!(
        said.contains("nothing was committed\nhint: tract --on pl shrink"),
        "{said}"
    );
}

#[test]
fn the_oldest_exchanges_make_room_for_a_new_message() {
    let sandbox = nearly_full("truncate");
    insta::assert_snapshot!(commit(&sandbox, "assistant", REPLY), @r"
    155da27 assistant 16 tokens
    --- stderr
    91 tokens, over the budget of 90: hid 3 messages, now 65; HEAD is 6cd8886
    hint: tract restore 6cd8886 brings them back
    ");
    insta::assert_snapshot!(sandbox.tract(&["compile", "--format", "text"]), @r"
    [1] system
      You are helpful.

    [2] user
      Sort this list of names.

    [3] user
      [Sliding window truncation: 3 messages hidden to reduce context]

    [4] user
      Thanks. And the rivers?

    [5] assistant
      The rivers are sorted by their length, the longest first.
    ");
    commit(
        &sandbox,
        "user",
        "What about the lakes, the seas and the oceans?",
    );
    commit(&sandbox, "assistant", "They are sorted by their surface.");
    insta::assert_snapshot!(commit(&sandbox, "user", "Good. Then print all of it, please."), @"a298f18 user 14 tokens");
    insta::assert_snapshot!(sandbox.tract(&["compile", "--format", "text"]), @r"
    [1] system
      You are helpful.

    [2] user
      Sort this list of names.

    [3] user
      [Sliding window truncation: 5 messages hidden to reduce context]

    [4] user
      What about the lakes, the seas and the oceans?

    [5] assistant
      They are sorted by their surface.

    [6] user
      Good. Then print all of it, please.
    ");
}

#[test]
fn where_truncating_cannot_help_the_message_stands() {
    let sandbox = nearly_full("truncate");
    let long = "A reply that is longer than all of the budget. ".repeat(10);
    insta::assert_snapshot!(commit(&sandbox, "assistant", &long), @r"
    exit code: 1
    698f678 assistant 115 tokens
    --- stderr
    warning: 190 tokens, over the budget of 90
    warning: hiding the oldest messages cannot make it fit
    the message was committed anyway, as 698f678
    hint: tract compact puts a summary in place of what is old
    ");
    assert_eq!(sandbox.ok(&["log"]).lines().count(), 7);
}

#[test]
fn one_long_turn_makes_room_within_itself() {
    let sandbox = crate::reduction::truncate::one_turn(1);
    sandbox.ok(&["config", "budget.max", "400"]);
    sandbox.ok(&["config", "budget.action", "truncate"]);
    let text = "the text of it ".repeat(25);
    let mut said = String::new();
    for n in 2..=6 {
        let call = format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"d{n}","type":"function","function":{{"name":"read_file","arguments":"{{}}"}}}}]}}"#
        );
        sandbox.write("call.json", call);
        sandbox.ok(&["commit", "--json", "call.json"]);
        said += &sandbox.tract(&["commit", "--call", &format!("d{n}"), "-m", &text]);
    }
    insta::assert_snapshot!(said, @r"
    a816696 tool 105 tokens
    cece5f5 tool 105 tokens
    2fddf27 tool 105 tokens
    --- stderr
    461 tokens, over the budget of 400: hid 4 messages, now 254; HEAD is 3bd7748
    hint: tract restore 3bd7748 brings them back
    cd7c17d tool 105 tokens
    9700a83 tool 105 tokens
    --- stderr
    478 tokens, over the budget of 400: hid 4 messages, now 254; HEAD is 5e4757d
    hint: tract restore 5e4757d brings them back
    ");
    insta::assert_snapshot!(sandbox.ok(&["log", "--oneline"]), @r"
    5e4757d  :2  2026-03-14 12:15:00  truncate  -5 +1 messages  -224 tokens  254  (HEAD -> main)  [Sliding window truncation: 8 messages hidden to reduce context]
    9700a83  :6  2026-03-14 12:15:00  append    tool            +105         478  read_file → the text of it the text of it the text of it the text of it the text of it th…
    93e82c7  :5  2026-03-14 12:14:00  append    assistant         +7         373  read_file
    cd7c17d  :4  2026-03-14 12:13:00  append    tool            +105         366  read_file → the text of it the text of it the text of it the text of it the text of it th…
    1c83d2e  :3  2026-03-14 12:12:00  append    assistant         +7         261  read_file
    3bd7748      2026-03-14 12:11:00  truncate  -4 +1 messages  -207 tokens  254  [Sliding window truncation: 4 messages hidden to reduce context]
    2fddf27      2026-03-14 12:11:00  append    tool            +105         461  read_file → the text of it the text of it the text of it the text of it the text of it th…
    4bea1f1      2026-03-14 12:10:00  append    assistant         +7         356  read_file
    cece5f5      2026-03-14 12:09:00  append    tool            +105         349  read_file → the text of it the text of it the text of it the text of it the text of it th…
    ad42200      2026-03-14 12:08:00  append    assistant         +7         244  read_file
    a816696      2026-03-14 12:07:00  append    tool            +105         237  read_file → the text of it the text of it the text of it the text of it the text of it th…
    a192d22      2026-03-14 12:06:00  append    assistant         +7         132  read_file
    e26196f      2026-03-14 12:03:00  append    tool            +106         125  read_file → 1 the text of it the text of it the text of it the text of it the text of it…
    78e9ba7      2026-03-14 12:03:00  append    assistant         +7          19  read_file
    dfc4852  :1  2026-03-14 12:02:00  append    user             +12          12  Read all of it.
    ");
    sandbox.ok(&["compile", "--strict"]);
}

#[test]
fn a_summary_is_made_once_the_commit_is() {
    if is_left_out(ITS_COMMANDS) {
        return;
    }
    let sandbox = nearly_full("compact:wc -w");
    insta::assert_snapshot!(commit(&sandbox, "assistant", REPLY), @r"
    155da27 assistant 16 tokens
    --- stderr
    91 tokens, over the budget of 90: asking wc -w
    Replaced 4 messages by a summary: 54 tokens became 5 (-49 tokens); HEAD is now 970d90a
    hint: the summary lacks 2 things that you said: tract audit
    ");
    insta::assert_snapshot!(sandbox.tract(&["compile", "--format", "text"]), @r"
    [1] system
      You are helpful.

    [2] user
      39

    [3] user
      Thanks. And the rivers?

    [4] assistant
      The rivers are sorted by their length, the longest first.
    ");
}

#[test]
fn a_commit_stands_where_no_summary_is_made() {
    if is_left_out(ITS_COMMANDS) {
        return;
    }
    let sandbox = nearly_full("compact:echo no network >&2; exit 7");
    insta::assert_snapshot!(commit(&sandbox, "assistant", REPLY), @r"
    exit code: 1
    155da27 assistant 16 tokens
    --- stderr
    91 tokens, over the budget of 90: asking echo no network >&2; exit 7
    no network
    warning: the context is still over budget
    error: 'echo no network >&2; exit 7' made no summary: it ended with exit code 7
    the message was committed anyway, as 155da27
    hint: tract shrink --to 80%
    ");
}

#[test]
fn where_no_summary_is_made_the_next_action_is_taken() {
    if is_left_out(ITS_COMMANDS) {
        return;
    }
    let sandbox = nearly_full("compact:echo no network >&2; exit 7,truncate");
    insta::assert_snapshot!(commit(&sandbox, "assistant", REPLY), @r"
    155da27 assistant 16 tokens
    --- stderr
    91 tokens, over the budget of 90: asking echo no network >&2; exit 7
    no network
    warning: 'echo no network >&2; exit 7' made no summary: it ended with exit code 7
    note: budget.action goes on: truncate
    91 tokens, over the budget of 90: hid 3 messages, now 65; HEAD is 6cd8886
    hint: tract restore 6cd8886 brings them back
    ");
    assert!(sandbox.ok(&["status"]).contains("1 truncation"));
    // A summary that is too long is one that does not keep the budget.
    let sandbox = nearly_full("compact:seq 1 200,truncate");
    insta::assert_snapshot!(commit(&sandbox, "assistant", REPLY), @r"
    exit code: 1
    155da27 assistant 16 tokens
    --- stderr
    91 tokens, over the budget of 90: asking seq 1 200
    Replaced 4 messages by a summary: 54 tokens became 403 (+349 tokens); HEAD is now 5202d8b
    note: the summary is not smaller than what it replaces: 403 tokens for 54
    hint: the summary lacks 2 things that you said: tract audit
    warning: the summary does not make it fit: 440 tokens, over the budget of 90
    note: budget.action goes on: truncate
    warning: 440 tokens, over the budget of 90
    warning: hiding the oldest messages cannot make it fit
    the message was committed anyway, as 155da27
    hint: tract compact puts a summary in place of what is old
    ");
    // And where nothing does, it is said as ever.
    let sandbox = nearly_full("compact:exit 7,warn");
    insta::assert_snapshot!(commit(&sandbox, "assistant", REPLY), @r"
    155da27 assistant 16 tokens
    --- stderr
    91 tokens, over the budget of 90: asking exit 7
    warning: 'exit 7' made no summary: it ended with exit code 7
    note: budget.action goes on: warn
    warning: 91 tokens, over the budget of 90
    hint: tract shrink --to 80%
    ");
}

#[test]
fn what_is_counted_and_hidden_is_logged_where_it_is_asked_for() {
    let sandbox = nearly_full("truncate");
    let run = |arguments: &[&str], log: &str| {
        let mut command = sandbox.command(arguments);
        let output = command.env("TRACT_LOG", log).output().expect("it runs");
        assert!(output.status.success());
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let lines = || {
        let log = std::fs::read_to_string(sandbox.work().join("log.jsonl")).expect("a log");
        let line = |line: &str| serde_json::from_str(line).expect("a line of JSON");
        let lines = log.lines().map(line);
        let told = lines.filter(|line: &serde_json::Value| line["event"] != "command");
        told.collect::<Vec<_>>()
    };
    run(&["commit", "-r", "assistant", "-m", REPLY], "log.jsonl");
    run(&["truncate", "--keep", "1"], "log.jsonl");
    run(&["reset", "HEAD^"], "log.jsonl");
    let log = lines();
    let told: Vec<String> = log
        .iter()
        .map(|line| format!("{} {}", line["command"], line["event"]))
        .collect();
    let wanted = [
        r#""commit" "counted""#,
        r#""commit" "changed""#,
        r#""truncate" "changed""#,
        r#""reset" "reset""#,
    ];
    assert_eq!(told, wanted);
    assert_eq!(log[0]["counter"], "o200k_base");
    assert_eq!(
        (&log[0]["max"], &log[0]["verdict"]),
        (&90.into(), &"truncated".into())
    );
    let hidden = log[1]["hidden"].as_array().expect("a list");
    assert!(
        !hidden.is_empty() && hidden[0]["tokens"].as_u64() > Some(0),
        "{log:?}"
    );
    assert!(
        log[1]["why"]
            .as_str()
            .is_some_and(|why| why.contains("over the budget of 90"))
    );
    assert!(
        log[2]["why"]
            .as_str()
            .is_some_and(|why| why.starts_with("Hid "))
    );
    assert!(log[3]["from"].is_string() && log[3]["to"].is_string());
    // No word of what was said is in it.
    assert!(!format!("{log:?}").contains("rivers"));
    // On standard error, and where it cannot be written.
    let said = run(&["truncate", "--keep", "1"], "-");
    assert!(
        said.starts_with('{') && said.contains("\"event\":\"changed\""),
        "{said}"
    );
    sandbox.ok(&["undo"]);
    let said = run(&["truncate", "--keep", "1"], "none/log");
    assert!(said.starts_with("warning: TRACT_LOG: none/log: "), "{said}");
    assert!(said.contains("Hid "), "{said}");
}

#[test]
fn a_log_counts_what_went_and_what_came_in_its_place() {
    let sandbox = nearly_full("warn");
    let said = sandbox.tract(&["truncate", "--keep", "2"]);
    assert!(said.contains("Hid 2 messages "), "{said}");
    let log = sandbox.ok(&["log", "--oneline", "-n", "1"]);
    assert!(log.contains(" -2 +1 messages "), "{log}");
    let show = sandbox.ok(&["show", "HEAD"]);
    assert!(show.contains("messages  -2 +1\n"), "{show}");
}

#[test]
fn a_budgets_settings_are_checked() {
    let sandbox = nearly_full("truncate");
    for (value, kept) in [("75%", "75%\n"), ("96k", "96000\n")] {
        sandbox.ok(&["config", "budget.target", value]);
        assert_eq!(sandbox.ok(&["config", "budget.target"]), kept);
    }
    insta::assert_snapshot!(sandbox.tract(&["config", "budget.target", "120%"]), @r"
    exit code: 2
    --- stderr
    error: budget.target: '120%' is neither 1% to 100% nor a number of tokens
    hint: tract config --help says what each setting takes
    ");
    insta::assert_snapshot!(sandbox.tract(&["config", "budget.target", "most"]), @r"
    exit code: 2
    --- stderr
    error: budget.target: 'most' is not an amount (5000, 128k, 1.5m), nor a percentage
    hint: tract config --help says what each setting takes
    ");
    insta::assert_snapshot!(sandbox.tract(&["config", "budget.action", "delete"]), @r"
    exit code: 2
    --- stderr
    error: budget.action: 'delete' is none of warn, refuse, truncate, prune, compact:CMD
    hint: tract config --help says what each setting takes
    ");
    insta::assert_snapshot!(sandbox.tract(&["config"]), @r"
    budget.action = truncate
    budget.max = 90
    budget.target = 96000
    ");
}

#[test]
fn a_script_gets_one_hash_that_expect_takes() {
    for action in ["truncate", "compact:wc -w"] {
        let sandbox = nearly_full(action);
        let quiet = ["-q", "commit", "-r", "assistant", "-m", REPLY];
        let hash = sandbox.ok(&quiet);
        assert_eq!(hash.lines().count(), 1, "{action}: {hash}");
        assert_eq!(hash, sandbox.ok(&["rev-parse", "HEAD"]), "{action}");
        let next = ["commit", "--expect", hash.trim(), "-r", "user", "-m", "On."];
        sandbox.ok(&next);
    }
}

#[test]
fn a_script_gets_the_hash_of_its_own_message_whoever_else_writes() {
    let sandbox = Sandbox::new();
    for round in 0..12 {
        let texts: Vec<String> = (0..6).map(|who| format!("{who} in {round}")).collect();
        let children = texts.iter().map(|text| {
            let mut command = sandbox.command(&["-q", "commit", "-r", "user", "-m", text]);
            command.stdout(Stdio::piped()).spawn().expect("it runs")
        });
        let children: Vec<_> = children.collect();
        for (child, text) in children.into_iter().zip(texts) {
            let output = child.wait_with_output().expect("it ends");
            assert!(output.status.success());
            let hash = String::from_utf8(output.stdout).expect("a hash");
            let said = sandbox.ok(&["log", "-n", "1", "--format", "%s", hash.trim()]);
            assert_eq!(said.trim_end(), text);
        }
    }
}

#[test]
fn a_summary_that_does_not_make_it_fit_is_told() {
    if is_left_out(ITS_COMMANDS) {
        return;
    }
    let sandbox = nearly_full("compact:seq 1 200");
    insta::assert_snapshot!(commit(&sandbox, "assistant", REPLY), @r"
    exit code: 1
    155da27 assistant 16 tokens
    --- stderr
    91 tokens, over the budget of 90: asking seq 1 200
    Replaced 4 messages by a summary: 54 tokens became 403 (+349 tokens); HEAD is now 5202d8b
    note: the summary is not smaller than what it replaces: 403 tokens for 54
    hint: the summary lacks 2 things that you said: tract audit
    warning: the summary does not make it fit: 440 tokens, over the budget of 90
    the message was committed anyway, as 155da27
    hint: tract shrink --to 80%
    ");
}

#[test]
fn a_shrink_is_seen_in_one_measure() {
    let sandbox = with_demo();
    sandbox.ok(&["config", "budget.max", "20k"]);
    let between = |text: &str, from: &str, to: &str| {
        let (_, rest) = text.split_once(from).expect(from);
        rest.split_once(to).expect(to).0.trim().to_owned()
    };
    let before = sandbox.ok(&["status", "-v"]);
    let would = sandbox.ok(&["truncate", "--keep", "4", "--dry-run"]);
    let foretold = between(&would, "   about ", " by the provider");
    let (were, are) = foretold.split_once(" → ").expect("both");
    assert_eq!(between(&before, "by the provider  ", " ±"), were);

    sandbox.ok(&["truncate", "--keep", "4"]);
    let after = sandbox.ok(&["status", "-v"]);
    assert_eq!(
        between(&after, "by the provider  about ", ": our count"),
        are
    );
    insta::assert_snapshot!(after.lines().take(4).collect::<Vec<_>>().join("\n"), @r#"
    On main, HEAD 4ce551c  (claude-code "Read the bank's amounts, and never in silence")
    Context  6 messages, 30 hidden (1 truncation, 1 compaction)
    Window   [===================>] about 19.9k of 20k (99%)
             user 4% · assistant 24% · tool 5% · injected by the client 67%
    "#);

    // A second shrink, an edit, and what is said after them are measured so as well.
    sandbox.ok(&["commit", "-r", "user", "-m", "And the rest?"]);
    sandbox.ok(&["commit", "--edit", ":-1", "-m", "And what is left?"]);
    let would = sandbox.ok(&["drop", ":-2", "--dry-run"]);
    let foretold = between(&would, "   about ", " by the provider");
    let status = sandbox.ok(&["status", "-v"]);
    let (were, are) = foretold.split_once(" → ").expect("both");
    assert_eq!(
        between(&status, "by the provider  about ", ": our count"),
        were
    );
    sandbox.ok(&["drop", ":-2"]);
    let status = sandbox.ok(&["status", "-v"]);
    assert_eq!(
        between(&status, "by the provider  about ", ": our count"),
        are
    );
}

#[test]
fn a_turn_that_is_all_there_is_leaves_nothing_to_summarise() {
    if is_left_out(ITS_COMMANDS) {
        return;
    }
    let sandbox = crate::reduction::truncate::one_turn(3);
    sandbox.ok(&["config", "budget.max", "300"]);
    sandbox.ok(&["config", "budget.action", "compact:wc -w"]);
    insta::assert_snapshot!(sandbox.tract(&["compact", "--keep", "9", "-m", "All is read."]), @r"
    exit code: 1
    --- stderr
    error: nothing to compact: the newest 9 messages stay, and no other can go
    hint: --keep N with a smaller number
    ");
    insta::assert_snapshot!(commit(&sandbox, "assistant", "All of it is read."), @r"
    exit code: 1
    0086c2c assistant 10 tokens
    --- stderr
    361 tokens, over the budget of 300: asking wc -w
    warning: the context is still over budget
    error: nothing to compact: the turn since the newest prompt stays, and nothing is before it
    the message was committed anyway, as 0086c2c
    hint: tract compact --keep 1 --exec 'wc -w' takes what is in the turn
    ");
    insta::assert_snapshot!(sandbox.tract(&["compact", "--keep", "1", "--exec", "wc -w"]), @r"
    --- stderr
    Replaced 7 messages by a summary: 348 tokens became 5 (-343 tokens); HEAD is now db97553
    hint: the summary lacks 1 thing that you said: tract audit
    ");
}

#[test]
fn a_script_can_tell_what_was_committed_from_what_was_not() {
    for (action, has_hash) in [("refuse", false), ("truncate", true)] {
        let sandbox = nearly_full(action);
        let long = "A reply that is longer than all of the budget. ".repeat(10);
        let said = sandbox.tract(&["-q", "commit", "-r", "assistant", "-m", &long]);
        let (stdout, _) = said.split_once("--- stderr").expect("an error");
        let head = sandbox.ok(&["rev-parse", "HEAD"]);
        assert!(said.starts_with("exit code: 1"), "{said}");
        assert_eq!(stdout.contains(head.trim()), has_hash, "{said}");
    }
    let help = sandbox_help(&["commit", "--help"]);
    assert!(help.contains("standard output holds its hash"), "{help}");
    let help = sandbox_help(&["config", "--help"]);
    assert!(
        help.contains("refuse (nothing is committed, exit code 1)"),
        "{help}"
    );
}

/// A help, its lines joined.
fn sandbox_help(arguments: &[&str]) -> String {
    let help = Sandbox::new().ok(arguments);
    help.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_first_message_over_the_budget_is_refused_with_a_way_out() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["config", "budget.max", "5"]);
    sandbox.ok(&["config", "budget.action", "refuse"]);
    let told = commit(
        &sandbox,
        "user",
        "One two three four five six seven eight nine ten.",
    );
    assert!(
        told.contains("hint: tract config budget.max N allows more"),
        "{told}"
    );
}
