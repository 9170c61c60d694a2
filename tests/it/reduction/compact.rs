//! Summaries in place of spans, and fresh starts.

use crate::sandbox::{Sandbox, dump};

/// A conversation of so many exchanges.
fn talk(exchanges: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["commit", "-r", "system", "-m", "Be brief."]);
    for n in 1..=exchanges {
        sandbox.ok(&[
            "commit",
            "-r",
            "user",
            "-m",
            &format!("Question number {n}, in some words?"),
        ]);
        sandbox.ok(&[
            "commit",
            "-r",
            "assistant",
            "-m",
            &format!("Answer number {n}, in some words."),
        ]);
    }
    sandbox
}

#[test]
fn a_span_is_replaced_and_what_follows_stays() {
    let sandbox = talk(4);
    insta::assert_snapshot!(sandbox.tract(&["compact", ":2..:5", "-m", "Two questions were answered."]), @r"
    --- stderr
    Replaced 4 messages by a summary: 52 tokens became 9 (-43 tokens); HEAD is now df47bb9
    ");
    insta::assert_snapshot!(sandbox.ok(&["compile", "--format", "text"]), @r"
    [1] system
      Be brief.

    [2] user
      Two questions were answered.

    [3] user
      Question number 3, in some words?

    [4] assistant
      Answer number 3, in some words.

    [5] user
      Question number 4, in some words?

    [6] assistant
      Answer number 4, in some words.
    ");
    insta::assert_snapshot!(sandbox.tract(&["compact", "--keep", "2", "--exec", "wc -l", "--dry-run"]), @r"
    Would hide 3 messages
      :2  injected     9  Two questions were answered.
      :3  user        13  Question number 3, in some words?
      :4  assistant   13  Answer number 3, in some words.
      =   3 messages  35
    Messages  6 → 3
    Tokens    71 → 36 (-35)
    Cache     the first message stays as it is: 10 tokens, 14%
    compact would reach 36, cache kept 14%; truncate (the older half) 63, cache kept 27%
    Lost from view: 1 instruction
    --- stderr
    note: without the summary, which nothing has made yet
    ");
    insta::assert_snapshot!(sandbox.tract(&["compact", "--keep", "2", "--exec", "wc -l"]), @r"
    --- stderr
    Replaced 3 messages by a summary: 35 tokens became 5 (-30 tokens); HEAD is now b91cafb
    hint: the summary lacks 3 things that you said: tract audit
    ");
    insta::assert_snapshot!(sandbox.ok(&["log", "-n", "3"]), @r"
    b91cafb  :2  2026-03-14 12:14:00  compact  -3 +1 messages  -30 tokens   41  (HEAD -> main)  16
    df47bb9      2026-03-14 12:11:00  compact  -4 +1 messages  -43 tokens   71  Two questions were answered.
    6329e4e  :4  2026-03-14 12:10:00  append   assistant       +13         114  Answer number 4, in some words.
    ");
    insta::assert_snapshot!(sandbox.tract(&["compact", "-m", &"far too long ".repeat(40)]), @r"
    --- stderr
    Replaced 3 messages by a summary: 31 tokens became 124 (+93 tokens); HEAD is now 77ab9bd
    note: the summary is not smaller than what it replaces: 124 tokens for 31
    ");
}

#[test]
fn a_summariser_can_be_interrupted_where_its_caller_ignores_that() {
    let sandbox = talk(2);
    let script = "trap '' INT; exec \"$0\" compact --exec 'kill -INT $$; echo not stopped'";
    let tract = sandbox.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script]).arg(tract.get_program());
    let environment = tract
        .get_envs()
        .map(|(name, value)| (name, value.unwrap_or_default()));
    shell.env_clear().envs(environment);
    shell.current_dir(tract.get_current_dir().expect("the sandbox"));
    let output = shell.output().expect("it runs");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: 'kill -INT $$; echo not stopped' made no summary: it was interrupted\n\
         hint: nothing was changed\n"
    );
}

#[test]
fn a_summariser_that_fails_changes_nothing() {
    let sandbox = talk(2);
    // So that every count is known.
    sandbox.ok(&["status"]);
    let before = dump(&sandbox);
    let mut told = String::new();
    for command in [
        "echo out of tokens >&2; exit 3",
        "true",
        "kill -INT $$",
        "printf '\\377'",
    ] {
        told += &sandbox.tract(&["compact", "--exec", command]);
    }
    told += &sandbox.tract(&["compact", "--exec", "sleep 30", "--timeout", "1"]);
    told += &sandbox.tract(&["compact", "-m", " "]);
    told += &sandbox.tract(&["compact", ":9..:10", "-m", "x"]);
    told += &sandbox.tract(&["compact", ":4..:2", "-m", "x"]);
    told += &sandbox.tract(&["compact"]);
    insta::assert_snapshot!(told, @r#"
    exit code: 1
    --- stderr
    out of tokens
    error: 'echo out of tokens >&2; exit 3' made no summary: it ended with exit code 3
    hint: nothing was changed
    exit code: 1
    --- stderr
    error: 'true' made no summary: it printed nothing
    hint: nothing was changed
    exit code: 1
    --- stderr
    error: 'kill -INT $$' made no summary: it was interrupted
    hint: nothing was changed
    exit code: 1
    --- stderr
    error: 'printf '\377'' made no summary: what it printed is not UTF-8
    hint: nothing was changed
    exit code: 1
    --- stderr
    error: 'sleep 30' made no summary: it took longer than 1 s
    hint: nothing was changed
    exit code: 1
    --- stderr
    error: the summary is empty
    hint: tract compact -m TEXT gives its text, tract compact --exec CMD lets a command write it
    exit code: 1
    --- stderr
    error: no message ':9'
    hint: there are 5 messages: :1 to :5, :-1 is the last
    exit code: 1
    --- stderr
    error: the span ends before it begins
    hint: the earlier message comes first: :4..:20
    exit code: 2
    --- stderr
    error: a summary is needed, from one place: -m, -F, - in a pipe, or --exec
    hint: tract compact -m "…"
    "#);
    assert_eq!(dump(&sandbox), before);
}

#[test]
fn an_interrupt_while_the_summary_is_made_changes_nothing() {
    let sandbox = talk(2);
    sandbox.ok(&["status"]);
    let before = dump(&sandbox);
    let started = sandbox.work().join("started");
    let exec = format!("touch {}; sleep 60", started.display());
    let mut child = sandbox
        .command(&["compact", "--exec", &exec])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it runs");
    while !started.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let kill = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.expect("kill").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    std::fs::remove_file(started).expect("it is there");
    assert_eq!(dump(&sandbox), before);
}

#[test]
fn what_is_said_while_the_summary_is_made_stays_after_it() {
    let sandbox = talk(2);
    let program = env!("CARGO_BIN_EXE_tract");
    let command = format!(
        "cat > /dev/null; {program} commit -q -r user -m 'Meanwhile.' > /dev/null; \
         echo All so far: Question number 1, in some words? Question number 2, in some words?"
    );
    insta::assert_snapshot!(sandbox.tract(&["compact", "--exec", &command]), @r"
    --- stderr
    Replaced 4 messages by a summary: 52 tokens became 26 (-26 tokens); HEAD is now 2db5596
    ");
    insta::assert_snapshot!(sandbox.ok(&["compile", "--format", "text"]), @r"
    [1] system
      Be brief.

    [2] user
      All so far: Question number 1, in some words? Question number 2, in some words?

    [3] user
      Meanwhile.
    ");
}

/// A summary is of what stood there: where somebody hides an end of the range meanwhile, it is refused, as it is
/// where the end was hidden before.
#[test]
fn an_end_that_is_hidden_while_the_summary_is_made_refuses_it() {
    let sandbox = talk(3);
    let program = env!("CARGO_BIN_EXE_tract");
    let command = format!("cat > /dev/null; {program} drop -q :4 > /dev/null; echo All so far.");
    let said = sandbox.tract(&["compact", ":2..:4", "--exec", &command]);
    let hidden = sandbox.tract(&["log", "-n", "1", "--format", "%s", "--op", "hide"]);
    assert!(
        said.starts_with("exit code: 1") && said.contains("error: "),
        "{said}"
    );
    assert!(!hidden.contains("All so far"), "{hidden}");
    assert!(!sandbox.ok(&["compile"]).contains("All so far"));
}

#[test]
fn a_summary_comes_from_one_place() {
    let sandbox = talk(3);
    let before = sandbox.ok(&["compile"]);
    let both = ["compact", "-m", "In short.", "--exec", "cat"];
    let told = sandbox.tract(&both);
    assert!(
        told.contains("a summary is needed, from one place"),
        "{told}"
    );
    assert_eq!(sandbox.ok(&["compile"]), before);
}

#[test]
fn nothing_to_compact_is_refused() {
    let sandbox = talk(0);
    sandbox.ok(&["status"]);
    let before = dump(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["compact", "-m", "x"]), @r"
    exit code: 1
    --- stderr
    error: nothing to compact: at most one message since the last summary
    hint: tract log shows the messages of the context; tract compact :4..:20 names some
    ");
    insta::assert_snapshot!(sandbox.tract(&["clear"]), @r"
    --- stderr
    Nothing to clear
    ");
    assert_eq!(dump(&sandbox), before);
    sandbox.ok(&["clear", "--all"]);
    insta::assert_snapshot!(sandbox.ok(&["compile"]), @r#"{"messages":[]}"#);
}

#[test]
fn after_ten_compactions_the_first_message_comes_back_by_every_way() {
    let sandbox = talk(1);
    let first = sandbox.ok(&["rev-parse", ":2"]);
    let mut compactions = Vec::new();
    let mut states = vec![sandbox.ok(&["compile"])];
    for n in 1..=10 {
        sandbox.ok(&["compact", "-m", &format!("Summary {n}.")]);
        compactions.push(sandbox.ok(&["rev-parse", "HEAD"]).trim().to_owned());
        sandbox.ok(&["commit", "-r", "user", "-m", &format!("Go on {n}.")]);
        sandbox.ok(&["commit", "-r", "assistant", "-m", &format!("Gone on {n}.")]);
        states.push(sandbox.ok(&["compile"]));
    }
    let now = states.last().expect("eleven");
    // Found where it is hidden.
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "question number 1"]), @r"
    f220a01  2026-03-14 12:03:00  user  main hidden (compacted by e1e11d3)
        Question number 1, in some words?
        back: tract restore f220a01, or go on from before: tract resume e1e11d3^
    ");
    // By going back to it.
    sandbox.ok(&["reset", first.trim()]);
    assert!(sandbox.ok(&["compile"]).contains("Question number 1"));
    sandbox.ok(&["reset", "ORIG_HEAD"]);
    assert_eq!(&sandbox.ok(&["compile"]), now);
    // By undoing the compactions alone, in any order; what came later stays.
    for order in [
        [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        [3, 9, 0, 6, 1, 8, 2, 7, 5, 4],
    ] {
        for at in order {
            sandbox.ok(&["restore", &compactions[at]]);
        }
        let whole = sandbox.ok(&["compile", "--format", "text"]);
        assert!(whole.contains("Question number 1") && whole.contains("Gone on 10."));
        assert!(!whole.contains("Summary"), "{whole}");
        for _ in order {
            sandbox.ok(&["undo"]);
        }
        assert_eq!(&sandbox.ok(&["compile"]), now);
    }
    // And the newest alone brings back exactly what it replaced.
    sandbox.ok(&["restore", &compactions[9]]);
    let both = sandbox.ok(&["compile"]);
    for text in ["Summary 9.", "Gone on 9.", "Gone on 10."] {
        assert!(both.contains(text), "{text}");
    }
    assert!(
        !both.contains("Summary 10.") && !both.contains("Gone on 8."),
        "{both}"
    );
}

#[test]
fn a_clear_keeps_the_system_messages_and_what_is_pinned() {
    let sandbox = talk(3);
    sandbox.ok(&["annotate", ":4", "--pin"]);
    insta::assert_snapshot!(sandbox.tract(&["clear", "--dry-run"]), @r"
    Would hide 5 messages
      :2  user        13  Question number 1, in some words?
      :3  assistant   13  Answer number 1, in some words.
      :5  assistant   13  Answer number 2, in some words.
      :6  user        13  Question number 3, in some words?
      :7  assistant   13  Answer number 3, in some words.
      =   5 messages  65
    Messages  7 → 2
    Tokens    88 → 23 (-65)
    Cache     the first message stays as it is: 10 tokens, 11%
    clear would reach 23, cache kept 11%; truncate (the older half) 80, cache kept 26%
    Lost from view: 2 instructions
    ");
    insta::assert_snapshot!(sandbox.tract(&["clear"]), @r"
    --- stderr
    Cleared 5 messages (-65 tokens); HEAD is now 5bfef29
    ");
    insta::assert_snapshot!(sandbox.ok(&["compile", "--format", "text"]), @r"
    [1] system
      Be brief.

    [2] user
      Question number 2, in some words?
    ");
    insta::assert_snapshot!(sandbox.tract(&["undo"]), @r#"
    --- stderr
    Undid #9 (2 min ago): clear
    On main, at 248f442 ("annotate")
    hint: back: tract redo
    "#);
}

#[test]
fn a_summary_is_made_of_what_was_said_and_not_of_an_earlier_summary() {
    let sandbox = talk(3);
    sandbox.ok(&["annotate", ":4", "--pin"]);
    sandbox.ok(&["drop", ":3"]);
    sandbox.ok(&["compact", "--keep", "2", "-m", "Two questions."]);
    sandbox.ok(&["compact", "-m", "Three questions."]);
    for n in 4..6 {
        sandbox.ok(&[
            "commit",
            "-r",
            "assistant",
            "-m",
            &format!("More of it, {n}."),
        ]);
    }
    sandbox.ok(&["compact", "--exec", "cat > given.txt; echo In short."]);
    let given = std::fs::read_to_string(sandbox.work().join("given.txt")).expect("written");
    // The last request for a summary: what was said, then what the first one lacks.
    insta::assert_snapshot!(given, @r"
    [1] user
      Question number 1, in some words?

    [2] assistant
      Answer number 2, in some words.

    [3] user
      Question number 3, in some words?

    [4] assistant
      Answer number 3, in some words.

    [5] assistant
      More of it, 4.

    [6] assistant
      More of it, 5.

    [7] assistant
      In short.

    [8] user
      This summary lacks what follows. Write it again, all of it, so that it holds this as well, in these words:
      The user said:
      - Question number 3, in some words?
      - Question number 1, in some words?
    ");
}

#[test]
fn a_summary_that_lacks_something_is_asked_for_once_more_and_may_be_refused() {
    let sandbox = talk(2);
    sandbox.ok(&[
        "commit",
        "-r",
        "user",
        "-m",
        "@pin Never push before Friday.",
    ]);
    sandbox.ok(&[
        "commit",
        "-r",
        "assistant",
        "-m",
        "I won't.\n- [ ] write a note",
    ]);
    sandbox.ok(&["status"]);
    let before = dump(&sandbox);
    // One that does as it is told: it says all that stands in the request.
    let obeys = "cat > all.txt; if grep -q 'lacks what follows' all.txt; then cat all.txt; else echo In short.; fi";
    let counts = "echo >> runs.txt; cat > /dev/null; echo In short.";
    let mut told = String::new();
    for arguments in [
        vec!["compact", "--strict", "--exec", counts],
        vec!["compact", "--strict", "-m", "In short."],
        vec!["compact", "--strict", "-m", "x", "--dry-run"],
    ] {
        told += &sandbox.tract(&arguments);
        told += "\n";
    }
    insta::assert_snapshot!(told, @r"
    exit code: 1
    --- stderr
    error: the summary lacks 1 pin, 2 things that you said, 1 open point
    hint: nothing was changed; tract guard lists what it must hold

    exit code: 1
    --- stderr
    error: the summary lacks 1 pin, 2 things that you said, 1 open point
    hint: nothing was changed; tract guard lists what it must hold

    exit code: 2
    --- stderr
    error: the argument '--strict' cannot be used with '--dry-run'
    hint: tract compact --help
    ");
    let runs = sandbox.work().join("runs.txt");
    assert_eq!(
        std::fs::read_to_string(&runs)
            .expect("written")
            .lines()
            .count(),
        2
    );
    assert_eq!(dump(&sandbox), before);
    insta::assert_snapshot!(sandbox.tract(&["compact", "--exec", counts]), @r"
    --- stderr
    Replaced 6 messages by a summary: 76 tokens became 7 (-69 tokens); HEAD is now 9990b78
    hint: the summary lacks 1 pin, 2 things that you said, 1 open point: tract audit
    ");
    sandbox.ok(&["undo"]);
    insta::assert_snapshot!(sandbox.tract(&["compact", "--strict", "--exec", obeys]), @r"
    --- stderr
    Replaced 6 messages by a summary: 76 tokens became 187 (+111 tokens); HEAD is now 500368b
    note: the summary is not smaller than what it replaces: 187 tokens for 76
    ");
    sandbox.ok(&["undo"]);
    let all = "Question number 1, in some words? Question number 2, in some words? Never push before Friday. write a note";
    insta::assert_snapshot!(sandbox.tract(&["compact", "--strict", "-m", all]), @r"
    --- stderr
    Replaced 6 messages by a summary: 76 tokens became 30 (-46 tokens); HEAD is now 0e41f55
    ");
}

#[test]
fn a_compaction_takes_as_little_as_brings_the_context_to_a_size() {
    let sandbox = Sandbox::new();
    for number in 1..=12 {
        let role = ["user", "assistant"][number % 2];
        sandbox.ok(&[
            "commit",
            "-r",
            role,
            "-m",
            &format!("{number} {}", "word ".repeat(100)),
        ]);
    }
    let total = |sandbox: &Sandbox| {
        let answer = sandbox.ok(&["api", "status"]);
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
        answer["tokens"]["tokens"].as_u64().expect("a number")
    };
    let before = total(&sandbox);
    sandbox.ok(&["compact", "--to", "800", "-m", "All of it in short."]);
    let after = total(&sandbox);
    // One message more would be too much.
    assert!(after <= 800 && after + 110 > 800, "{before} to {after}");
    sandbox.ok(&["undo"]);
    // Without a summary, room is left for one.
    insta::assert_snapshot!(sandbox.tract(&["compact", "--to", "2000", "--dry-run"]), @r"
    exit code: 1
    --- stderr
    error: nothing to compact
    hint: tract log shows the messages of the context; tract compact :4..:20 names some
    ");
    insta::assert_snapshot!(sandbox.tract(&["compact", "--to", "3", "-m", "short"]), @r"
    exit code: 1
    --- stderr
    error: hiding all that may go leaves 8 tokens, more than 3
    hint: tract prune takes old tool outputs out
    ");
    insta::assert_snapshot!(sandbox.tract(&["compact", "--to", "800", "--keep", "1", "-m", "short"]), @r"
    exit code: 2
    --- stderr
    error: the argument '--to <N|P%>' cannot be used with '--keep <N>'
    hint: tract compact --help
    ");
}
