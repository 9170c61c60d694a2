//! Messages written by hand or by a program.

use crate::sandbox::Sandbox;

#[test]
fn a_conversation_is_written_looked_at_and_compiled() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.tract(&["status"]), @r#"
    On main, no commits yet

    No messages yet.
      tract import                    this directory's sessions of your agents
      tract import FILE               one session
      tract commit -r user -m "…"     write the first message
    "#);
    sandbox.ok(&["commit", "-r", "system", "-m", "You are helpful."]);
    let user = ["commit", "-r", "user", "-m", "What is 6 × 7?"];
    insta::assert_snapshot!(sandbox.tract(&[&user[..], &["--note", "first try"]].concat()), @"0085213 user 12 tokens");
    let reply = ["commit", "-r", "assistant", "-m", "42", "--model", "gpt-5"];
    insta::assert_snapshot!(sandbox.tract(&[&reply[..], &["--temperature", "0.7"]].concat()), @"62724e7 assistant 5 tokens");
    insta::assert_snapshot!(sandbox.tract(&["log"]), @r"
    62724e7  :3  2026-03-14 12:05:00  append  assistant   +5  28  (HEAD -> main)  42
    0085213  :2  2026-03-14 12:04:00  append  user       +12  23  What is 6 × 7?
    4065293  :1  2026-03-14 12:03:00  append  system     +11  11  You are helpful.
    ");
    insta::assert_snapshot!(sandbox.tract(&["log", "--verbose", "-n", "2"]), @r"
    62724e76de3f6afde5ba7cf802329d9fe0bb686f9be73db556b6f5eb6ebd3e14  :3  (HEAD -> main)
        2026-03-14 12:05:00 +0000  append  assistant  text  +5 = 28 tokens
        model=gpt-5  temp=0.7
        42

    00852132ee4a52021f94f097155f97dac2730cb6c9f52a582e9e5772811c0a93  :2
        2026-03-14 12:04:00 +0000  append  user  text  +12 = 23 tokens
        note: first try
        What is 6 × 7?
    ");
    insta::assert_snapshot!(sandbox.tract(&["status"]), @r"
    On main, HEAD 62724e7
    Context  3 messages
    Tokens   28 (no budget set)
             system 32% · user 48% · assistant 20%
             largest: What is 6 × 7? 12 (:2)

      62724e7  :3  2026-03-14 12:05:00  append  assistant   +5  42
      0085213  :2  2026-03-14 12:04:00  append  user       +12  What is 6 × 7?
      4065293  :1  2026-03-14 12:03:00  append  system     +11  You are helpful.
    ");
    insta::assert_snapshot!(sandbox.tract(&["show"]), @r"
    append 62724e76de3f6afde5ba7cf802329d9fe0bb686f9be73db556b6f5eb6ebd3e14
    refs      HEAD -> main
    parent    0085213
    time      2026-03-14 12:05:00 +0000
    message   assistant (text)
    tokens    +5 = 28
    settings  model=gpt-5  temp=0.7

        42
    ");
    insta::assert_snapshot!(sandbox.tract(&["compile"]), @r#"{"messages":[{"role":"system","content":"You are helpful."},{"role":"user","content":"What is 6 × 7?"},{"role":"assistant","content":"42"}]}"#);
    insta::assert_snapshot!(sandbox.tract(&["compile", "--format", "anthropic", "--request"]), @r#"
    {"model":"gpt-5","max_tokens":4096,"temperature":0.7,"system":[{"type":"text","text":"You are helpful."}],"messages":[{"role":"user","content":[{"type":"text","text":"What is 6 × 7?"}]},{"role":"assistant","content":[{"type":"text","text":"42"}]}]}
    --- stderr
    note: the settings hold no max_tokens; the request says 4096
    "#);
    insta::assert_snapshot!(sandbox.tract(&["compile", "--for", "HEAD", "--format", "text"]), @r"
    [1] system
      You are helpful.

    [2] user
      What is 6 × 7?
    ");
}

#[test]
fn a_tools_call_and_its_result_come_as_json_and_text() {
    let sandbox = Sandbox::with_messages(&[("user", "list the files")]);
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{\"path\": \".\"}"}}]}"#;
    sandbox.write("call.json", call);
    insta::assert_snapshot!(sandbox.tract(&["commit", "--json", "call.json"]), @"6e4900e assistant 10 tokens");
    insta::assert_snapshot!(sandbox.tract_with(&["commit", "--call", "call_1", "-"], "a.txt\nb.txt\n"), @"77a21d1 tool 10 tokens");
    insta::assert_snapshot!(sandbox.tract(&["compile"]), @r#"{"messages":[{"role":"user","content":"list the files"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{\"path\": \".\"}"}}]},{"role":"tool","tool_call_id":"call_1","content":"a.txt\nb.txt\n"}]}"#);
    let anthropic = r#"{"role":"assistant","content":[{"type":"text","text":"Two."},{"type":"tool_use","id":"toolu_1","name":"read","input":{"n":1.0}}]}"#;
    insta::assert_snapshot!(sandbox.tract_with(&["commit", "--json", "-"], anthropic), @"2d33a80 assistant 14 tokens");
    insta::assert_snapshot!(sandbox.tract(&["show"]), @r#"
    append 2d33a809e957bbd49eb72cd02d61684e0ec1721f4ef3c165984e654cd3cd042d
    refs      HEAD -> main
    parent    77a21d1
    time      2026-03-14 12:06:00 +0000
    message   assistant (text, tool_call)
    tokens    +14 = 44

    #0
        Two.

    #1
        read n=1.0  toolu_1
    "#);
    insta::assert_snapshot!(sandbox.tract_with(&["commit", "--json", "-"], "not json"), @r"
    exit code: 2
    --- stderr
    error: standard input: not JSON at column 2: expected ident
    hint: tract commit --help
    ");
    insta::assert_snapshot!(sandbox.tract_with(&["commit", "-r", "user", "-"], "{\"not\": \"guessed\"}"), @"9ca2036 user 11 tokens");
    // A result of no call, or of one that has a result, is taken, and that is said.
    let result = |id: &str| sandbox.tract(&["commit", "--call", id, "-m", "done"]);
    let said = result("nope");
    assert!(
        said.ends_with("--- stderr\nnote: no call near here has the id nope\n"),
        "{said}"
    );
    assert!(!result("toolu_1").contains("note:"));
    let said = result("toolu_1");
    assert!(
        said.ends_with("note: the call toolu_1 has a result already\n"),
        "{said}"
    );
    // The whole response is taken for the message in it.
    let json = |body: &str| sandbox.tract_with(&["commit", "--json", "-"], body);
    let choice =
        r#"{"index":0,"message":{"role":"assistant","content":"Six."},"finish_reason":"stop"}"#;
    let completion = |choices: &str| {
        format!(
            r#"{{"id":"c","object":"chat.completion","created":1,"model":"gpt-5","choices":[{choices}],"usage":{{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}}}"#
        )
    };
    let said = json(&completion(choice));
    assert!(said.contains(" assistant"), "{said}");
    let item = r#"{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Seven.","annotations":[]}]}"#;
    for object in [r#""object":"response","instructions":"Be brief.","#, ""] {
        let said = json(&format!(
            r#"{{"id":"r",{object}"model":"gpt-5","output":[{item}]}}"#
        ));
        assert!(said.contains(" assistant"), "{said}");
    }
    let all = sandbox.ok(&["compile", "--format", "text"]);
    assert!(
        all.contains("Six.\n") && all.matches("Seven.").count() == 2,
        "{all}"
    );
    assert!(!all.contains("Be brief."), "{all}");
    insta::assert_snapshot!(json(&completion(&format!("{choice},{choice}"))), @r"
    exit code: 2
    --- stderr
    error: standard input: it holds several messages
    hint: for one message, give its JSON object alone; for all of them, on branches: tract import FILE
    ");
    // A command line may hold it itself.
    let said = sandbox.tract(&[
        "commit",
        "--json",
        r#"{"role":"assistant","content":"Eight."}"#,
    ]);
    assert!(said.contains(" assistant"), "{said}");
    insta::assert_snapshot!(sandbox.tract(&["commit", "--json", "{\"role\":"]), @r"
    exit code: 2
    --- stderr
    error: --json: that is no JSON, and no file is called so
    hint: --json takes a file, - for standard input, or the JSON itself
    ");
}

#[test]
fn a_stream_is_committed_from_its_events() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let event = |delta: &str| format!(r#"{{"choices":[{{"index":0,"delta":{{{delta}}}}}]}}"#);
    let events = [
        event(r#""role":"assistant","content":"All ""#),
        event(r#""content":"of a sudden""#),
    ];
    let said = sandbox.tract_with(&["commit", "--events", "-"], events.join("\n"));
    assert!(said.contains(" assistant"), "{said}");
    assert!(sandbox.ok(&["show"]).contains("All of a sudden"));
    let reflog = sandbox.ok(&["reflog", "-n", "1"]);
    assert!(reflog.contains("  commit --events …  "), "{reflog}");
}

#[test]
fn what_is_committed_behind_a_commit_is_on_no_branch() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    let head = sandbox.ok(&["rev-parse", "HEAD"]);
    let aside = ["commit", "-r", "user", "-m", "aside", "--after", "HEAD^"];
    let made = sandbox.ok(&[&["-q"][..], &aside].concat());
    assert_eq!(sandbox.ok(&["rev-parse", "HEAD"]), head);
    let parent = format!("{}^", made.trim());
    assert_eq!(
        sandbox.ok(&["rev-parse", &parent]),
        sandbox.ok(&["rev-parse", "HEAD^"])
    );
    let along = format!(
        r#"{{"branch":"idea","to":"{}","expect":"none"}}"#,
        made.trim()
    );
    sandbox.ok(&["commit", "-r", "user", "-m", "three", "--moves", &along]);
    assert_eq!(sandbox.ok(&["rev-parse", "idea"]), made);
    let reflog = sandbox.ok(&["reflog", "-n", "1"]);
    assert!(reflog.contains("commit -r user -m … --moves …"), "{reflog}");
}

#[test]
fn an_edit_keeps_its_place_and_role() {
    let sandbox = Sandbox::with_messages(&[("user", "old prompt"), ("assistant", "an answer")]);
    insta::assert_snapshot!(sandbox.tract(&["commit", "--edit", ":1", "-m", "better prompt"]), @"
    246e606 user 6 tokens
    --- stderr
    hint: later replies still answer the old text
    ");
    insta::assert_snapshot!(sandbox.tract(&["compile", "--format", "text"]), @r"
    [1] user
      better prompt

    [2] assistant
      an answer
    ");
    insta::assert_snapshot!(sandbox.tract(&["show"]), @r"
    edit 246e60615ba395dca22ec5867aac24206dad9bbe4112ef6fa6347d6f0838e6b4
    refs      HEAD -> main
    parent    89b2dad
    time      2026-03-14 12:04:00 +0000
    message   user (text)
    edits     d6ee2e5
    tokens    0 = 15

    Before

        old prompt

    After

        better prompt
    ");
    insta::assert_snapshot!(sandbox.tract(&["commit", "--edit", ":9", "-m", "x"]), @r"
    exit code: 1
    --- stderr
    error: no message ':9'
    hint: there are 2 messages: :1 to :2, :-1 is the last
    ");
}

#[test]
fn a_lost_expectation_is_exit_4_and_changes_nothing() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "user", "-m", "one", "--expect", "none"]), @"dbc1344 user 5 tokens");
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "user", "-m", "two", "--expect", "none"]), @r"
    exit code: 4
    --- stderr
    error: 'main' has moved: expected none, found dbc1344
    hint: someone else committed first: look at tract log, then try again
    ");
    let first = sandbox.ok(&["log"]);
    let first = &first[..7];
    sandbox.ok(&["commit", "-r", "assistant", "-m", "two", "--expect", first]);
    insta::assert_snapshot!(sandbox.tract(&["commit", "-r", "user", "-m", "late", "--expect", first]), @r"
    exit code: 4
    --- stderr
    error: 'main' has moved: expected dbc1344, found e47de13
    hint: someone else committed first: look at tract log, then try again
    ");
    assert_eq!(sandbox.ok(&["log"]).lines().count(), 2);
}

#[test]
fn a_batch_comes_in_whole_or_not_at_all() {
    let sandbox = Sandbox::new();
    let good =
        "{\"role\":\"user\",\"content\":\"one\"}\n\n{\"role\":\"assistant\",\"content\":\"two\"}\n";
    let bad = format!("{good}{{\"role\":\"wizard\",\"content\":\"three\"}}\n");
    sandbox.write("bad.jsonl", &bad);
    sandbox.write("good.jsonl", good);
    insta::assert_snapshot!(sandbox.tract(&["commit", "--batch", "bad.jsonl"]), @r"
    exit code: 2
    --- stderr
    error: bad.jsonl:4: unknown role 'wizard'
    hint: tract commit --help
    ");
    insta::assert_snapshot!(sandbox.tract(&["log"]), @r#"
    exit code: 1
    --- stderr
    error: 'main' has no commits yet
    hint: tract import, or tract commit -r user -m "…"
    "#);
    insta::assert_snapshot!(sandbox.tract(&["commit", "--batch", "good.jsonl"]), @"
    2bbfab0 user 5 tokens
    87ac14a assistant 5 tokens
    ");
    assert_eq!(sandbox.ok(&["log"]).lines().count(), 2);
}

#[test]
fn on_a_branch_head_stays() {
    let sandbox = Sandbox::with_messages(&[("user", "on main")]);
    sandbox.ok(&["--on", "side", "commit", "-r", "user", "-m", "on side"]);
    assert_eq!(sandbox.ok(&["log"]).lines().count(), 1);
    insta::assert_snapshot!(sandbox.tract(&["--on", "side", "status"]), @r"
    On side, HEAD 81704ce
    Context  1 message
    Tokens   9 (no budget set)
             user 100%   largest: on side 6 (:1)

      81704ce  :1  2026-03-14 12:03:00  append  user  +9  on side
    ");
}

#[test]
fn hostile_text_is_shown_and_never_executed() {
    let sandbox = Sandbox::new();
    let text = "\u{1b}[2J\u{7}wiped\u{202e}txt.exe\r\n\u{9b}31m";
    sandbox.ok(&[
        "commit",
        "-r",
        "user",
        "-m",
        text,
        "--note",
        "\u{1b}]0;title\u{7}",
    ]);
    for command in [&["log"][..], &["log", "-v"], &["status"], &["show"]] {
        let told = sandbox.ok(command);
        let leaked = told
            .chars()
            .find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(leaked, None, "{command:?}: {told:?}");
        assert!(told.contains('␛'), "{command:?}: {told:?}");
    }
}

#[test]
fn a_setting_is_checked_and_kept() {
    let sandbox = Sandbox::with_messages(&[("user", "hello")]);
    sandbox.ok(&["config", "budget.max", "128k"]);
    assert_eq!(sandbox.ok(&["config", "budget.max"]), "128000\n");
    insta::assert_snapshot!(sandbox.tract(&["status"]), @r"
    On main, HEAD 2298e0c
    Context  1 message
    Window   [>...................] 8 of 128k (<1%)
             user 100%   largest: hello 5 (:1)

      2298e0c  :1  2026-03-14 12:02:00  append  user  +8  hello
    ");
    insta::assert_snapshot!(sandbox.tract(&["config", "budget.maks", "5"]), @r"
    exit code: 2
    --- stderr
    error: unknown setting 'budget.maks'
    hint: did you mean budget.max?
    ");
    insta::assert_snapshot!(sandbox.tract(&["config", "budget.max", "much"]), @r"
    exit code: 2
    --- stderr
    error: budget.max: 'much' is not an amount (5000, 128k, 1.5m)
    hint: tract config --help says what each setting takes
    ");
    sandbox.ok(&["config", "--unset", "budget.max"]);
    insta::assert_snapshot!(sandbox.tract(&["config", "budget.max"]), @r"
    exit code: 1
    --- stderr
    error: budget.max is not set
    hint: tract config budget.max VALUE sets it; tract config --help lists the defaults
    ");
}

#[test]
fn a_result_in_json_needs_no_call_beside_it() {
    let sandbox = Sandbox::new();
    let rows = [
        r#"{"role":"user","content":"weather?"}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"k1","type":"function","function":{"name":"w","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"k1","content":"rain"}"#,
    ];
    sandbox.write("rows.jsonl", rows.join("\n"));
    sandbox.ok(&["commit", "--batch", "rows.jsonl"]);
    let text = sandbox.ok(&["compile", "--format", "text"]);
    assert!(text.contains("← rain") || text.contains("rain"), "{text}");
    sandbox.write(
        "result.json",
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"k2","content":"sun"}]}"#,
    );
    sandbox.ok(&["commit", "--json", "result.json"]);
    // Nothing given: the result that stands there is not emptied by accident.
    let refused = sandbox.tract_with(&["commit", "--edit", "HEAD"], "");
    assert!(refused.contains("the message is empty"), "{refused}");
}

#[test]
fn a_commit_counts_and_a_budget_is_held_against_it() {
    let sandbox = Sandbox::new();
    let said = sandbox.ok(&["commit", "-r", "user", "-m", "hello"]);
    assert!(said.trim_end().ends_with(" user 5 tokens"), "{said}");
    assert_eq!(sandbox.query("SELECT * FROM counts").len(), 1);
    sandbox.ok(&["config", "budget.max", "14"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "hello"]);
    let said = sandbox.tract(&["commit", "-r", "user", "-m", "hello"]);
    assert!(
        said.contains("warning: 18 tokens, over the budget of 14\nhint: tract compact"),
        "{said}"
    );
}
