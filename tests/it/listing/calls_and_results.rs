//! Reading what is in a session: log, show, status, diff and dry runs say of a tool's result what was
//! called, and one asks for what one wants to see.

use std::path::Path;

use crate::sandbox::Sandbox;

/// A reply with a text and calls: id, tool, arguments.
fn reply(text: &str, calls: &[(&str, &str, &str)]) -> String {
    let calls: Vec<serde_json::Value> = calls
        .iter()
        .map(|(id, name, arguments)| {
            serde_json::json!({"id": id, "type": "function",
                "function": {"name": name, "arguments": arguments}})
        })
        .collect();
    let content = (!text.is_empty()).then_some(text);
    serde_json::json!({"role": "assistant", "content": content, "tool_calls": calls}).to_string()
}

/// Two files are read at once, a command says nothing, and all is well.
fn session() -> Sandbox {
    let sandbox = Sandbox::new();
    let commit = |json: &str| sandbox.tract_with(&["commit", "--json", "-"], json);
    let result = |id: &str, text: &str| {
        sandbox.ok(&["commit", "-r", "tool", "--call", id, "-m", text]);
    };
    sandbox.ok(&["commit", "-r", "user", "-m", "Why does the build fail?"]);
    let reads = [
        ("a", "Read", r#"{"file_path":"src/lib.rs"}"#),
        ("b", "Read", r#"{"file_path":"Cargo.toml","limit":20}"#),
    ];
    commit(&reply("I look at both files.", &reads));
    result("b", "[package]\nname = \"tally\"");
    result("a", "//! A library.\nmod parse;");
    let touch =
        r#"{"command":"cd /home/mara/tally && touch src/parse.rs && git add src/parse.rs"}"#;
    commit(&reply("", &[("c", "Bash", touch)]));
    let nothing = r#"{"role":"tool","tool_call_id":"c","content":""}"#;
    commit(nothing);
    sandbox.ok(&["commit", "-r", "assistant", "-m", "A file was missing."]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Thanks. Why parse.rs?"]);
    sandbox
}

#[test]
fn a_result_is_listed_with_its_own_call_and_what_is_empty_says_so() {
    let sandbox = session();
    insta::assert_snapshot!(sandbox.tract(&["log"]), @r#"
    fe44841  :8  2026-03-14 12:09:00  append  user       +10  122  (HEAD -> main)  Thanks. Why parse.rs?
    c292bb7  :7  2026-03-14 12:08:00  append  assistant   +9  112  A file was missing.
    e3b417a  :6  2026-03-14 12:07:00  append  tool        +4  103  Bash cd /home/mara/tally && touch src/parse.rs && git add src/parse.rs → (empty)
    8dab839  :5  2026-03-14 12:06:00  append  assistant  +30   99  Bash cd /home/mara/tally && touch src/parse.rs && git add src/parse.rs
    5522c9d  :4  2026-03-14 12:05:00  append  tool       +11   69  Read src/lib.rs → //! A library. mod parse;
    c8f13eb  :3  2026-03-14 12:04:00  append  tool       +13   58  Read Cargo.toml limit=20 → [package] name = "tally"
    cc51099  :2  2026-03-14 12:03:00  append  assistant  +32   45  I look at both files.
    1ef844b  :1  2026-03-14 12:02:00  append  user       +13   13  Why does the build fail?
    "#);
    insta::assert_snapshot!(sandbox.tract(&["status"]), @r"
    On main, HEAD fe44841
    Context  8 messages
    Tokens   122 (no budget set)
             user 17% · assistant 60% · tool 24%
             largest: I look at both files. 32 (:2)

      fe44841  :8  2026-03-14 12:09:00  append  user       +10  Thanks. Why parse.rs?
      c292bb7  :7  2026-03-14 12:08:00  append  assistant   +9  A file was missing.
      e3b417a  :6  2026-03-14 12:07:00  append  tool        +4  Bash cd /home/mara/tally && touch src/parse.rs && git add src/parse.rs → (empty)
    ");
    insta::assert_snapshot!(sandbox.tract(&["log", "--format", "%i %r %c", "-n", "6"]), @r"
    8 user 
    7 assistant 
    6 tool Bash cd /home/mara/tally && touch src/parse.rs && git add src/parse.rs
    5 assistant 
    4 tool Read src/lib.rs
    3 tool Read Cargo.toml limit=20
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "library", "-C", "1"]), @r#"
    5522c9d  2026-03-14 12:05:00  tool  main:4  Read src/lib.rs
        :3      tool      Read Cargo.toml limit=20 → [package] name = "tally"
        //! A library.
        :5      assistant Bash cd /home/mara/tally && touch src/parse.rs && git add src/parse.rs
    "#);
}

#[test]
fn on_a_terminal_a_heading_says_what_the_columns_are() {
    let sandbox = session();
    let Some(narrow) = sandbox.on_terminal("80", &["log", "-3"]) else {
        return;
    };
    insta::assert_snapshot!(narrow, @r"
    commit   no.  time   who        tokens  context  message
    2026-03-14, today
    fe44841   :8  12:09  user          +10      122  (HEAD -> main)  Thanks. Why pa…
    c292bb7   :7  12:08  assistant      +9      112  A file was missing.
    e3b417a   :6  12:07  tool           +4      103  Bash cd /home/mara/t… → (empty)
    ");
    sandbox.ok(&["commit", "--edit", ":1", "-m", "Why does it fail?"]);
    sandbox.ok(&["drop", ":3"]);
    let wide = sandbox.on_terminal("120", &["log", "-4"]).expect("drawn");
    insta::assert_snapshot!(wide, @r"
    commit   no.  time      what    who             tokens  context  message
    2026-03-14, today
    130cb45       12:12:00  drop    -1 message  -26 tokens       95  (HEAD -> main)
    9cf57a6   :1  12:11:00  edit    user         -1             121  Why does it fail?
    fe44841   :7  12:09:00  append  user        +10             122  Thanks. Why parse.rs?
    c292bb7   :6  12:08:00  append  assistant    +9             112  A file was missing.
    ");
    let narrow = sandbox.on_terminal("80", &["log", "-4"]).expect("drawn");
    insta::assert_snapshot!(narrow, @r"
    commit   no.  time   who        tokens  context  message
    2026-03-14, today
    130cb45       12:12  drop          -26       95  (HEAD -> main)  -1 message
    9cf57a6   :1  12:11  edit user      -1      121  Why does it fail?
    fe44841   :7  12:09  user          +10      122  Thanks. Why parse.rs?
    c292bb7   :6  12:08  assistant      +9      112  A file was missing.
    ");
    for line in narrow.lines().chain(wide.lines()) {
        assert!(line.chars().count() <= 120, "{line}");
    }
    assert!(!sandbox.ok(&["log"]).contains("commit  "));
}

#[test]
fn what_a_summary_does_not_replace_of_its_range_is_said() {
    let sandbox = session();
    let told = sandbox.tract(&["compact", ":1..:2", "-m", "Asked.", "--dry-run"]);
    let said = "note: not replaced: 1 message of the range";
    assert!(told.contains(said), "{told}");
    let request = r#"{"range":":1..:2","message":"Asked.","dry_run":true}"#;
    let told = sandbox.ok(&["api", "compact", request]);
    assert!(told.contains(r#""staying":1"#), "{told}");
    let told = sandbox.tract(&["compact", ":2..:4", "-m", "Both files were read."]);
    assert!(!told.contains("not replaced"), "{told}");
    let told = sandbox.tract(&["compact", "-m", "All of it."]);
    assert!(!told.contains("not replaced"), "{told}");
}

#[test]
fn a_log_lists_what_is_asked_for() {
    let sandbox = session();
    let numbers = |arguments: &[&str]| {
        let all = [&["log", "--format", "%i"], arguments].concat();
        sandbox.ok(&all).lines().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(numbers(&["-3"]), "8 7 6");
    assert_eq!(numbers(&["HEAD~2", "-2"]), "6 5");
    assert_eq!(numbers(&["-2", "--reverse"]), "7 8");
    assert_eq!(numbers(&["--role", "user"]), "8 1");
    assert_eq!(numbers(&["--role", "tool", "-2"]), "6 4");
    assert_eq!(numbers(&["--tool", "read"]), "4 3 2");
    assert_eq!(numbers(&["--tool", "Bash", "--role", "tool"]), "6");
    assert_eq!(numbers(&["--grep", "PARSE"]), "8 5 4");
    assert_eq!(numbers(&["--grep", "^mod p", "-E"]), "4");
    assert_eq!(numbers(&["--grep", "parse", "HEAD~4..HEAD~1"]), "5");
    assert_eq!(numbers(&["--since", "2026-03-14 12:08"]), "8 7");
    assert_eq!(numbers(&["--until", "2026-03-14T12:04"]), "3 2 1");
    assert_eq!(numbers(&["--since", "1 hour ago", "-1"]), "8");
    let none = sandbox.tract(&["log", "--until", "2026-03-13"]);
    assert!(none.starts_with("exit code: 1\n"), "{none}");
    sandbox.ok(&["compact", ":2..:4", "-m", "Both files were read."]);
    assert_eq!(
        sandbox.ok(&["log", "--grep", "were read", "--format", "%k"]),
        "compaction\n"
    );
    insta::assert_snapshot!(sandbox.tract(&["log", "--role", "tool", "--reverse", "-2"]), @r"
    5522c9d      2026-03-14 12:05:00  append  tool  +11   69  Read src/lib.rs → //! A library. mod parse;
    e3b417a  :4  2026-03-14 12:07:00  append  tool   +4  103  Bash cd /home/mara/tally && touch src/parse.rs && git add src/parse.rs → (empty)
    ");
    for wrong in [
        &["log", "--role", "robot"][..],
        &["log", "--since", "some day"],
        &["log", "-3", "-n", "4"],
        &["log", "main", "HEAD~2"],
        &["log", "-E"],
    ] {
        let said = sandbox.tract(wrong);
        assert!(
            said.starts_with("exit code: 2\n--- stderr\nerror: "),
            "{said}"
        );
        assert_eq!(said.matches("hint: ").count(), 1, "{said}");
    }
}

#[test]
fn a_range_is_shown_in_its_order_and_a_part_alone() {
    let sandbox = session();
    let range = sandbox.ok(&["show", "HEAD~3..HEAD"]);
    let one_by_one: Vec<String> = ["HEAD~2", "HEAD~1", "HEAD"]
        .map(|rev| sandbox.ok(&["show", rev]))
        .into();
    assert_eq!(range, one_by_one.join("\n"));
    insta::assert_snapshot!(sandbox.tract(&["show", ":2#2"]), @r"
    append cc51099e214aadf714cc829fb748d46158388aa22a492f2aa7cfa4cbc5982068
    parent    1ef844b
    time      2026-03-14 12:03:00 +0000
    message   assistant (text, 2 tool_call)
    tokens    +32 = 45

    #2
        Read Cargo.toml limit=20  b
    ");
    insta::assert_snapshot!(sandbox.tract(&["show", ":2#3"]), @r"
    exit code: 1
    --- stderr
    error: there is no part #3: the last one is #2
    hint: parts are counted from 0, as tract show prints them
    ");
    insta::assert_snapshot!(sandbox.tract(&["show", "HEAD..HEAD"]), @r"
    --- stderr
    No commits in this range
    ");
    insta::assert_snapshot!(sandbox.tract(&["show", ":6"]), @r"
    append e3b417a52a80cec3fb3947ae66dc966e29c2a1e375e64262326f1ca5015717d6
    parent    8dab839
    time      2026-03-14 12:07:00 +0000
    message   tool (tool_result)
    answers   Bash cd /home/mara/tally && touch src/parse.rs && git add src/parse.rs
    tokens    +4 = 103

        result  c
          (empty)
    ");
    // A part of what a hide put in place.
    sandbox.ok(&["compact", ":2..:4", "-m", "Both files were read."]);
    assert!(
        sandbox
            .ok(&["show", "HEAD#0"])
            .ends_with("#0\n    Both files were read.\n")
    );
    assert!(
        sandbox
            .tract(&["show", "HEAD#1"])
            .contains("error: there is no part #1")
    );
}

#[test]
fn arguments_are_shown_with_their_own_line_breaks() {
    let sandbox = Sandbox::new();
    let shell = r#"{"command":["bash","-lc","cd src\nls -la"],"timeout":5}"#;
    let write = r#"{"path":"a.py","content":"def f():\n    return 1\n"}"#;
    let calls = [("1", "shell", shell), ("2", "save", write)];
    sandbox.tract_with(&["commit", "--json", "-"], reply("", &calls));
    insta::assert_snapshot!(sandbox.tract(&["show"]), @r#"
    append 9424308091924070a2faa75f90df61560eac7eefef1d60462c1b5740cd7842b2
    refs      HEAD -> main
    time      2026-03-14 12:02:00 +0000
    message   assistant (2 tool_call)
    tokens    +48 = 48

    #0
        shell timeout=5  1
          command:
          [
            "bash",
            "-lc",
            "cd src
            ls -la"
          ]

    #1
        save a.py  +2  2
          + def f():
          +     return 1
    "#);
}

/// What `file` says of the mode of a file.
#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().expect("it is there").permissions().mode() & 0o777
}

#[test]
fn a_picture_is_written_to_a_file_and_over_none_that_is_there() {
    let sandbox = Sandbox::new();
    let picture = "iVBORw0KGgoAAAANSUhEUg==";
    let look = serde_json::json!({"role": "user", "content": [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{picture}")}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
    ]});
    sandbox.tract_with(&["commit", "--json", "-"], look.to_string());
    insta::assert_snapshot!(sandbox.tract(&["show", "--image", "a.png"]), @r"
    exit code: 2
    --- stderr
    error: which one? there are 2
    hint: --which N, from 1 to 2
    ");
    insta::assert_snapshot!(sandbox.tract(&["show", "HEAD#1", "--image", "a.png"]), @r"
    --- stderr
    Wrote image/png, 16 B, to a.png
    ");
    let path = sandbox.work().join("a.png");
    let bytes = std::fs::read(&path).expect("written");
    assert_eq!(bytes, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    #[cfg(unix)]
    assert_eq!(mode(&path), 0o600);
    std::fs::write(&path, "mine").expect("written");
    let again = ["show", "--image", "a.png", "--which", "1"];
    insta::assert_snapshot!(sandbox.tract(&again), @r"
    exit code: 1
    --- stderr
    error: a.png exists already
    hint: --force writes over it
    ");
    assert_eq!(std::fs::read(&path).expect("there"), b"mine");
    sandbox.ok(&[&again[..], &["--force"]].concat());
    assert_eq!(std::fs::read(&path).expect("there"), bytes);
    insta::assert_snapshot!(sandbox.tract(&["show", "--image", "b.png", "--which", "2"]), @r"
    exit code: 1
    --- stderr
    error: it is not here: the message only says where it is
    hint: https://example.org/a.png
    ");
    insta::assert_snapshot!(sandbox.tract(&["show", "--image", "b.png", "--which", "3"]), @r"
    exit code: 1
    --- stderr
    error: there is no number 3 among 2
    hint: --which N, from 1 to 2
    ");
    insta::assert_snapshot!(sandbox.tract(&["show", ":1#0", "--image", "b.png"]), @r"
    exit code: 1
    --- stderr
    error: there is no picture and no file in it
    hint: tract show 033e3eb says what is in it
    ");
    assert!(!sandbox.work().join("b.png").exists());
}

#[test]
fn status_says_at_length_what_fills_the_context() {
    let sandbox = session();
    insta::assert_snapshot!(sandbox.tract(&["status", "-v"]), @r#"
    On main, HEAD fe44841
    Context  8 messages
    Tokens   122 (no budget set)
             user 17% · assistant 60% · tool 24%
             largest: I look at both files. 32 (:2)

      fe44841  :8  2026-03-14 12:09:00  append  user       +10  Thanks. Why parse.rs?
      c292bb7  :7  2026-03-14 12:08:00  append  assistant   +9  A file was missing.
      e3b417a  :6  2026-03-14 12:07:00  append  tool        +4  Bash cd /home/mara/tally && touch src/parse.rs && git add src/parse.rs → (empty)

    How tokens are counted
      by tract         122 (o200k_base)
      by the provider  not known: no reply says it

    What fills it
      Read  46  38%  4 calls and results
      text  42  34%  4 parts
      Bash  34  28%  2 calls and results

    The largest
      :2  assistant  32  26%  I look at both files.
      :5  assistant  30  25%  Bash cd /home/mara/tally && touch src/parse.rs && git add src/parse.rs
      :3  tool       13  11%  Read Cargo.toml limit=20 → [package] name = "tally"
      :4  tool       11   9%  Read src/lib.rs → //! A library. mod parse;
      :1  user       10   8%  Why does the build fail?
      :8  user       10   8%  Thanks. Why parse.rs?
      :7  assistant   9   7%  A file was missing.
      :6  tool        4   3%  Bash cd /home/mara/tally && touch src/parse.rs && git add src/parse.rs → (empty)

    A prune gives back
      nothing
    "#);
    let long = "line of output\n".repeat(9_000);
    let run = r#"{"command":"make"}"#;
    sandbox.tract_with(&["commit", "--json", "-"], reply("", &[("d", "Bash", run)]));
    let file = sandbox.write("long.txt", long);
    let file = file.to_string_lossy();
    for (id, next) in [("d", "e"), ("e", "f")] {
        sandbox.ok(&["commit", "-r", "tool", "--call", id, "-F", &file]);
        sandbox.tract_with(
            &["commit", "--json", "-"],
            reply("", &[(next, "Bash", run)]),
        );
    }
    sandbox.ok(&["commit", "-r", "tool", "--call", "f", "-m", "ok"]);
    for text in ["And now?", "And then?"] {
        sandbox.ok(&["commit", "-r", "user", "-m", text]);
    }
    let said = sandbox.ok(&["status", "-v"]);
    let prune = said.lines().last().expect("a line");
    insta::assert_snapshot!(prune, @"  35,982 tokens (50%): tract prune");
    let would = sandbox.ok(&["prune", "--dry-run"]);
    let saved = prune.split_whitespace().next().expect("a number");
    assert!(would.contains(saved), "{saved}\n{would}");
}

#[test]
fn of_very_many_messages_a_dry_run_tells_what_was_asked_for_alone() {
    let sandbox = Sandbox::new();
    let line = serde_json::json!({"role": "user", "content": "go on"}).to_string();
    sandbox.write("talk.jsonl", vec![line; 16_385].join("\n"));
    sandbox.ok(&["commit", "--batch", "talk.jsonl"]);
    let told = sandbox.ok(&["truncate", "--keep", "2", "--no-marker", "--dry-run"]);
    let (_, after) = told
        .split_once("Cache     ")
        .expect("a line about the cache");
    insta::assert_snapshot!(after, @r"
    the first message stays as it is: 9 tokens, <1%
    truncate would reach 21, cache kept <1%; for prune see tract prune --dry-run
    Facts     not looked for in so many messages
    ");
    let told = sandbox.ok(&["clear", "--dry-run"]);
    let (_, after) = told
        .split_once("Cache     ")
        .expect("a line about the cache");
    insta::assert_snapshot!(after, @r"
    nothing stays as it is from the beginning on
    clear would reach 0, cache kept 0%; truncate (the older half) 49,180, cache kept <1%; for prune see tract prune --dry-run
    Facts     not looked for in so many messages
    ");
    // A comparison shows the first and the last of what went, and all where it is asked for.
    sandbox.ok(&["truncate", "--keep", "2"]);
    let told = sandbox.ok(&["diff"]);
    for line in [
        "- :2 … :16383  16,382 messages hidden, -98,292 tokens",
        "      … 16,379 more (--full)",
        "1 message added, 16,382 hidden, tokens: -98,273 (98,313 → 40)",
    ] {
        assert!(told.lines().any(|told| told == line), "{told}");
    }
    assert_eq!(sandbox.ok(&["diff", "--oneline"]).lines().count(), 16_383);
}

#[test]
fn a_dry_run_ends_with_the_sum_and_says_how_to_see_all() {
    let sandbox = Sandbox::new();
    let lines: Vec<String> = (0..1_100)
        .map(|n| serde_json::json!({"role": "user", "content": format!("message {n}")}).to_string())
        .collect();
    sandbox.write("talk.jsonl", lines.join("\n"));
    sandbox.ok(&["commit", "--batch", "talk.jsonl"]);
    let dry_run = ["truncate", "--keep", "2", "--no-marker", "--dry-run"];
    let all = sandbox.ok(&dry_run);
    assert_eq!(
        all.lines().filter(|line| line.starts_with("  :")).count(),
        20
    );
    assert!(all.contains("Messages  1,100 → 3\n"), "{all}");
    let Some(some) = sandbox.on_terminal("80", &dry_run) else {
        return;
    };
    insta::assert_snapshot!(some, @r"
    Would hide 1,097 messages
      :2     user                7  message 1
      :3     user                7  message 2
      :4     user                7  message 3
      :5     user                7  message 4
      :6     user                7  message 5
      :7     user                7  message 6
      :8     user                7  message 7
      :9     user                7  message 8
      :10    user                7  message 9
      :11    user                7  message 10
      …      1,077 more      7,627  to list all: -n 0
      :1089  user                8  message 1088
      :1090  user                8  message 1089
      :1091  user                8  message 1090
      :1092  user                8  message 1091
      :1093  user                8  message 1092
      :1094  user                8  message 1093
      :1095  user                8  message 1094
      :1096  user                8  message 1095
      :1097  user                8  message 1096
      :1098  user                8  message 1097
      =      1,097 messages  7,777
    Messages  1,100 → 3
    Tokens    7,803 → 26 (-7,777)
    Cache     the first message stays as it is: 10 tokens, <1%
    truncate would reach 26, cache kept <1%
    Lost from view: 998 numbers
    ");
}

#[test]
fn an_import_that_brings_nothing_is_no_operation() {
    let sandbox = Sandbox::empty();
    let line = |n: u32| serde_json::json!({"role": "user", "content": format!("{n}")});
    let messages = serde_json::json!({"messages": [line(1), line(2)]});
    sandbox.write("talk.json", messages.to_string());
    sandbox.ok(&["import", "talk.json"]);
    sandbox.ok(&["import", "talk.json"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "3"]);
    sandbox.ok(&["import", "talk.json"]);
    insta::assert_snapshot!(sandbox.tract(&["reflog"]), @r"
    #2  2026-03-14 12:03:00  commit -r user -m …  main c0e611a → 553c889
    #1  2026-03-14 12:01:00  import talk.json     main none → c0e611a, sessions/openai/talk none → c0e611a
    ");
    // So the next undo takes back what was done last.
    insta::assert_snapshot!(sandbox.tract(&["undo"]), @r#"
    --- stderr
    Undid #2 (3 min ago): commit -r user -m …
    On main, at c0e611a ("2")
    hint: back: tract redo
    "#);
}

#[test]
fn a_diff_pairs_the_same_call_and_lines_its_columns_up() {
    let sandbox = Sandbox::new();
    let read = r#"{"file_path":"src/lib.rs"}"#;
    let run = |branch: &str, id: &str, said: &str, tool: &str, result: &str| {
        let on = |arguments: &[&'static str]| {
            let mut all = vec!["--on".to_owned(), branch.to_owned()];
            all.extend(arguments.iter().map(|word| (*word).to_owned()));
            all
        };
        let commit = |json: String| {
            let words = on(&["commit", "--json", "-"]);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            sandbox.tract_with(&words, json);
        };
        commit(r#"{"role":"user","content":"Read the library."}"#.to_owned());
        commit(reply(said, &[(id, "Read", read)]));
        let text = serde_json::json!("//! A library of numbers, and of words.");
        commit(
            serde_json::json!({"role": "tool", "tool_call_id": id, "content": text}).to_string(),
        );
        let other = format!("{id}2");
        commit(reply("", &[(&other, tool, r#"{"pattern":"mod"}"#)]));
        commit(
            serde_json::json!({"role": "tool", "tool_call_id": other, "content": result})
                .to_string(),
        );
    };
    run("one", "a", "", "Grep", "No files found");
    let said = "First I want to see how the library begins and which modules it has, so that we \
        can speak about the names of things afterwards, one after the other.";
    run("two", "b", said, "Glob", "No files found");
    insta::assert_snapshot!(sandbox.tract(&["diff", "one", "two", "--stat"]), @r#"
    comparing one with two

    ~ :2  assistant  First I want to see how the library begins…  | +32 ++++++++++
    ~ :4  assistant  Glob pattern="mod"                           |  -1 -
    - :5  tool       Grep mod → No files found                    |  -7 ---
    + :5  tool       Glob mod → No files found                    |  +7 +++

    2 messages modified, 1 added, 1 removed, tokens: +31 (56 → 87)
    cache   first 1 of 5 messages identical (11 tokens, 13%; 89 B for openai)
            first difference: :2 (one 880414f, two 40079fa)
    "#);
    insta::assert_snapshot!(sandbox.tract(&["diff", "one", "two", "--oneline"]), @r#"
    ~ :2  40079fa  modified  assistant  +32  First I want to see how the library begins and which modules it has, so that…
    ~ :4  9dc6cf6  modified  assistant   -1  Glob pattern="mod"
    - :5  9f4d239  removed   tool        -7  Grep mod → No files found
    + :5  8372c15  added     tool        +7  Glob mod → No files found
    "#);
}

#[test]
fn a_json_value_that_is_gone_is_folded_like_one_that_changed() {
    let sandbox = Sandbox::new();
    let lines: Vec<String> = (0..60).map(|n| format!("line {n}")).collect();
    let edit = |value: serde_json::Value| {
        let arguments = serde_json::json!({"path": "a.txt", "rest": value}).to_string();
        reply("", &[("1", "edit", &arguments)])
    };
    let whole = serde_json::json!({"lines": lines, "text": lines.join("\n")});
    sandbox.tract_with(&["commit", "--json", "-"], edit(whole));
    let gone = reply("", &[("1", "edit", r#"{"path":"a.txt"}"#)]);
    sandbox.tract_with(&["commit", "--edit", ":1", "--json", "-"], gone);
    let said = sandbox.ok(&["diff"]);
    assert!(said.contains("more lines (--full)"), "{said}");
    assert!(said.lines().count() < 40, "{said}");
}

#[test]
fn a_log_is_narrowed_by_note_model_setting_and_pin() {
    let sandbox = Sandbox::new();
    let say = |role: &str, text: &str, more: &[&str]| {
        let mut words = vec!["commit", "-r", role, "-m", text];
        words.extend(more);
        sandbox.ok(&words);
    };
    say(
        "user",
        "Name a river.",
        &["--model", "gpt-5", "--note", "First try"],
    );
    say("assistant", "The Elbe.", &[]);
    say(
        "user",
        "And a lake?",
        &["--model", "claude-opus-4-8", "--set", "temperature=0.5"],
    );
    say("assistant", "Lake Constance.", &["--note", "good answer"]);
    sandbox.ok(&["annotate", ":2", "--pin"]);
    let numbers = |filter: &[&str]| {
        let mut words = vec!["log", "--format", "%s"];
        words.extend(filter);
        sandbox
            .ok(&words)
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(numbers(&["--note", "TRY"]), ["Name a river."]);
    assert_eq!(numbers(&["--model", "opus"]), ["Lake Constance."]);
    assert_eq!(numbers(&["--model", "GPT"]), ["The Elbe."]);
    assert_eq!(numbers(&["--setting", "temperature"]), ["And a lake?"]);
    assert_eq!(numbers(&["--setting", "temperature=0.5"]), ["And a lake?"]);
    assert_eq!(numbers(&["--setting", "model=gpt-5"]), ["Name a river."]);
    assert_eq!(numbers(&["--pinned"]), ["The Elbe."]);
    let none = sandbox.tract(&["log", "--setting", "temperature=1"]);
    assert!(none.contains("exit code: 1"), "{none}");
    let found = sandbox.ok(&["find", "-F", "a", "--note", "first"]);
    assert!(
        found.contains("Name a river.") && !found.contains("lake"),
        "{found}"
    );
    let found = sandbox.ok(&["find", "-F", "a", "--setting", "temperature"]);
    assert!(
        found.contains("And a lake?") && !found.contains("river"),
        "{found}"
    );
}
