//! Messages by their text.

use crate::sandbox::Sandbox;
use crate::sessions::import::with_demo;

#[test]
fn messages_are_found_by_a_piece_of_their_text() {
    let sandbox = with_demo();
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "decimal_M"]), @r#"
    7fdf293  2026-03-14 09:18:26  assistant  main:4  "Read the bank's amounts, and never in silence"
        fn decimal_mark<'a>(amounts: impl Iterator<Item = &'a str> + Clone) -> Option<char> {
    "#);
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "decimal mark", "-n", "4"]), @r#"
    3071a26  2026-03-14 09:18:43  assistant           main:8  "Read the bank's amounts, and never in silence"
        - `fixtures/old-bank.csv`: 5 entries, 1,657.60, and `1.204` is 1.20 there, because `-41.10` says that the point is the decimal mark
    a091f72  2026-03-14 09:18:13  injected (compact)  main:1  "Read the bank's amounts, and never in silence"
        3. Open: the decimal mark. The rule "last mark in the amount is decimal" fails on `1.204` (test `a_deposit_of_the_old_bank`, 7 of 8 pass).
        4. The user decided: per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point; if nothing decides it, report them as problems.
    b99fda9  2026-03-14 09:18:10  user                main hidden (compacted by a091f72)  "Read the bank's amounts, and never in silence"
        Per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point is. If nothing decides it, report them as problems.
        back: tract restore b99fda9, or go on from before: tract resume a091f72^
    8368cc6  2026-03-14 09:16:41  assistant           main hidden (compacted by a091f72)  "Read the bank's amounts, and never in silence"
        1.204 in the old bank's file. By itself nothing decides it. Per file it can be decided: if any amount of the file has a comma followed by exactly two digits at its end, the comma is the decimal mark. But what if a file has only whole amounts? That is the user's call, not mine.
        back: tract restore 8368cc6, or go on from before: tract resume a091f72^
    "#);
    assert_eq!(
        sandbox.ok(&["grep", "-F", "decimal_M"]),
        sandbox.ok(&["find", "-F", "decimal_M"])
    );
}

#[test]
fn a_terminal_sees_the_match_in_its_line() {
    let sandbox = with_demo();
    let arguments = ["find", "-F", "decimal mark", "-n", "3", "-C", "1"];
    let (Some(narrow), Some(wide)) = (
        sandbox.on_terminal("80", &arguments),
        sandbox.on_terminal("120", &arguments),
    ) else {
        eprintln!("skipped: no `script` here to make a terminal");
        return;
    };
    insta::assert_snapshot!(narrow, @r#"
    3071a26  2 h ago  assistant           main:8  "Read the bank's amounts, and nev…
        :7      tool      Bash cargo test --quiet 2>&1 | tail -… → running 10 tests…
        …04` is 1.20 there, because `-41.10` says that the point is the decimal mark
        :9      user      Nice. One line in the changelog, then we're done.
    a091f72  2 h ago  injected (compact)  main:1  "Read the bank's amounts, and nev…
        hidden  user      Per file. If any amount ends in a comma and two digits, t…
        3. Open: the decimal mark. The rule "last mark in the amount is decimal" fa…
        …igits, the comma is the decimal mark in that file, otherwise the point; if…
        :2      assistant The rule is clear. A quick look at where things stand, th…
    b99fda9  2 h ago  user                main hidden (compacted by a091f72)  "Read…
        hidden  assistant One case is left, and it is a question for you: `1.204` a…
        …igits, the comma is the decimal mark in that file, otherwise the point is.…
        :1      user      This session is being continued from a previous conversat…
        back: tract restore b99fda9, or go on from before: tract resume a091f72^
    hint: more matches, older: -n 0
    "#);
    insta::assert_snapshot!(wide, @r#"
    3071a26  2 h ago  assistant           main:8  "Read the bank's amounts, and never in silence"
        :7      tool      Bash cargo test --quiet 2>&1 | tail -n 20; for f in f… # Tests,… → running 10 tests .......... te…
        …bank.csv`: 5 entries, 1,657.60, and `1.204` is 1.20 there, because `-41.10` says that the point is the decimal mark
        :9      user      Nice. One line in the changelog, then we're done.
    a091f72  2 h ago  injected (compact)  main:1  "Read the bank's amounts, and never in silence"
        hidden  user      Per file. If any amount ends in a comma and two digits, the comma is the deci…
        3. Open: the decimal mark. The rule "last mark in the amount is decimal" fails on `1.204` (test `a_deposit_of_the_o…
        …mma and two digits, the comma is the decimal mark in that file, otherwise the point; if nothing decides it, report…
        :2      assistant The rule is clear. A quick look at where things stand, then I'll put it in.
    b99fda9  2 h ago  user                main hidden (compacted by a091f72)  "Read the bank's amounts, and never in silenc…
        hidden  assistant One case is left, and it is a question for you: `1.204` alone could be 1204 o…
        …mma and two digits, the comma is the decimal mark in that file, otherwise the point is. If nothing decides it, rep…
        :1      user      This session is being continued from a previous conversation that ran out of…
        back: tract restore b99fda9, or go on from before: tract resume a091f72^
    hint: more matches, older: -n 0
    "#);
}

#[test]
fn a_message_with_many_matching_lines_is_cut() {
    let lines: Vec<String> = (1..=8).map(|at| format!("  line {at}")).collect();
    let sandbox = Sandbox::with_messages(&[("user", &lines.join("\n"))]);
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "LINE"]), @r"
    dbb9a90  2026-03-14 12:02:00  user  main:1
        line 1
        line 2
        line 3
        line 4
        line 5
        … 3 more lines
    ");
}

#[test]
fn no_match_is_exit_code_1_and_nothing_on_standard_output() {
    let sandbox = with_demo();
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "no such words"]), @r"
    exit code: 1
    --- stderr
    No message matches
    ");
    insta::assert_snapshot!(sandbox.tract(&["-q", "find", "-F", "no such words"]), @"exit code: 1");
    insta::assert_snapshot!(Sandbox::new().tract(&["find", "-F", "anything"]), @r"
    exit code: 1
    --- stderr
    No message matches
    ");
}

/// "Nothing found" is an answer only of what exists; each name that a list shows is taken.
#[test]
fn names_that_lists_show_are_taken_and_unknown_ones_are_errors() {
    let sandbox = with_demo();
    let name = &sandbox.texts("SELECT name FROM refs WHERE name LIKE 'refs/sessions/%'")[0];
    let (tool, id) = name["refs/sessions/".len()..]
        .split_once('/')
        .expect("TOOL/ID");
    let find =
        |option: &str, name: &str| sandbox.tract(&["find", "decimal", "-n", "0", option, name]);
    let all = find("--session", name);
    assert!(all.lines().count() > 4, "{all}");
    for name in [
        &format!("{tool}/{id}"),
        id,
        &id[..8],
        &format!("{tool}/{}…", &id[..8]),
        "main",
    ] {
        assert_eq!(find("--session", name), all, "{name}");
    }
    insta::assert_snapshot!(find("--session", "61139999"), @r"
    exit code: 2
    --- stderr
    error: no session '61139999'
    hint: tract branch lists the sessions
    ");
    insta::assert_snapshot!(find("--directory", "/home/nobody"), @r"
    exit code: 2
    --- stderr
    error: no session ran in '/home/nobody'
    hint: sessions ran in /home/mara/tally
    ");
    insta::assert_snapshot!(find("--tool", "Bsh"), @r"
    exit code: 2
    --- stderr
    error: no message calls the tool 'Bsh'
    hint: did you mean Bash?
    ");
    insta::assert_snapshot!(find("--tool", "quarry"), @r"
    exit code: 2
    --- stderr
    error: no message calls the tool 'quarry'
    hint: this conversation calls Edit, Bash, Read, Grep
    ");
    insta::assert_snapshot!(find("--path", "src/prase.rs"), @r"
    exit code: 2
    --- stderr
    error: no tool call names the file 'src/prase.rs'
    hint: the end of a path is enough: lib.rs; tract log --files lists what this conversation edited
    ");
    // What exists, and has no such message.
    for (option, name) in [
        ("--session", id),
        ("--directory", "/home/mara"),
        ("--tool", "Bash"),
        ("--path", "src/parse.rs"),
    ] {
        let nothing = sandbox.tract(&["find", "-F", "no such words", option, name]);
        assert_eq!(
            nothing, "exit code: 1\n--- stderr\nNo message matches\n",
            "{option}"
        );
    }
    for command in [
        &["log"][..],
        &["prune"],
        &["prune", "--dry-run"],
        &["diff"],
        &["diff", "HEAD~3..HEAD", "--oneline"],
    ] {
        let said = sandbox.tract(&[command, &["--tool", "Bsh"]].concat());
        let wanted = "exit code: 2\n--- stderr\nerror: no message calls the tool 'Bsh'\n\
            hint: did you mean Bash?\n";
        assert_eq!(said, wanted, "{command:?}");
    }
    // What is called, and of which there is nothing to prune, and nothing in between.
    let pruned = sandbox.tract(&["prune", "--tool", "Grep", "--larger-than", "9000"]);
    assert!(pruned.contains("Nothing to prune"), "{pruned}");
    sandbox.ok(&["diff", "--tool", "Grep"]);
    for (method, asked, wanted) in [
        ("prune", r#"{"tool": ["Bsh"]}"#, "calls the tool 'Bsh'"),
        (
            "sessions",
            r#"{"directory": "/home/nobody"}"#,
            "no session ran in '/home/nobody'",
        ),
        ("sessions", r#"{"directory": "tally"}"#, name),
    ] {
        let said = sandbox.tract(&["api", method, asked]);
        assert!(said.contains(wanted), "{method} {asked}: {said}");
    }
}

#[test]
fn a_regular_expression_finds_with_its_neighbours() {
    let sandbox = with_demo();
    let arguments = ["find", "-E", r"fn \w+_mark\b", "-C", "1"];
    insta::assert_snapshot!(sandbox.tract(&arguments), @r#"
    7fdf293  2026-03-14 09:18:26  assistant  main:4  "Read the bank's amounts, and never in silence"
        :3      tool      Grep fn (records|fields|entry|parse_amount) /home/mara/tally/src/parse.rs (+1) → src/parse.rs:31:fn records(text: &str) -> impl Iterator<Item = (usize, &str)>…
        fn decimal_mark<'a>(amounts: impl Iterator<Item = &'a str> + Clone) -> Option<char> {
        :5      tool      Edit /home/mara/tally/src/parse.rs → The file /home/mara/tally/src/parse.rs has been updated.
    "#);
    insta::assert_snapshot!(sandbox.tract(&["find", "-E", "DECIMAL_mark", "-n", "1"]), @r#"
    7fdf293  2026-03-14 09:18:26  assistant  main:4  "Read the bank's amounts, and never in silence"
        fn decimal_mark<'a>(amounts: impl Iterator<Item = &'a str> + Clone) -> Option<char> {
    "#);
    insta::assert_snapshot!(sandbox.tract(&["find", "-E", "(?-i)DECIMAL_mark"]), @r"
    exit code: 1
    --- stderr
    No message matches
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "-E", "a(b"]), @r"
    exit code: 2
    --- stderr
    error: the regular expression: unclosed group
    hint: a backslash makes a special character plain: \( \[ \. \* \+ \?
    ");
}

#[test]
fn what_was_edited_is_found_and_what_it_was_before() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "open the red door"),
        ("assistant", "which door?"),
        ("user", "the red one"),
    ]);
    let edit = "open the green door";
    sandbox.ok(&["commit", "--edit", ":1", "-r", "user", "-m", edit]);
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "door"]), @r"
    75eed5b  2026-03-14 12:05:00  user (edit)  main:1
        open the green door
    b48c3e7  2026-03-14 12:03:00  assistant    main:2
        which door?
    a312e18  2026-03-14 12:02:00  user         main:1 (another text now)
        (taken back on 2026-03-14 12:05:00; chosen instead: 75eed5b open the green door)
        open the red door
    ");
    let shown = sandbox.ok(&["show", "75eed5b"]);
    assert!(shown.contains(edit), "{shown}");
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "RED", "--op", "append"]), @r"
    0919c9b  2026-03-14 12:04:00  user  main:3
        the red one
    a312e18  2026-03-14 12:02:00  user  main:1 (another text now)
        (taken back on 2026-03-14 12:05:00; chosen instead: 75eed5b open the green door)
        open the red door
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "e", "HEAD~2"]), @r"
    a312e18  2026-03-14 12:02:00  user  HEAD~2:1
        open the red door
    ");
    let found = sandbox.ok(&["find", "-F", "red door"]);
    assert!(
        sandbox
            .ok(&["show", &found[..7]])
            .contains("open the red door")
    );
}

#[test]
fn words_inside_chinese_and_japanese_text_are_found() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "明日は東京タワーへ行きたいです。"),
        ("assistant", "東京都は日本の首都です。京都ではありません。"),
        ("user", "那个配置文件在哪里?"),
    ]);
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "東京"]), @r"
    cf9a810  2026-03-14 12:03:00  assistant  main:2
        東京都は日本の首都です。京都ではありません。
    8a9af0a  2026-03-14 12:02:00  user       main:1
        明日は東京タワーへ行きたいです。
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "タワー"]), @r"
    8a9af0a  2026-03-14 12:02:00  user  main:1
        明日は東京タワーへ行きたいです。
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "配置"]), @r"
    96fd226  2026-03-14 12:04:00  user  main:3
        那个配置文件在哪里?
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "京"]), @r"
    cf9a810  2026-03-14 12:03:00  assistant  main:2
        東京都は日本の首都です。京都ではありません。
    8a9af0a  2026-03-14 12:02:00  user       main:1
        明日は東京タワーへ行きたいです。
    ");
}

#[test]
fn escape_sequences_in_what_is_found_are_shown() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "\u{1b}[31mred\u{7} alert\tnow"),
        ("assistant", "safe \u{202e}txet\u{9b}2J alert"),
    ]);
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "alert", "-C", "1"]), @r"
    1f1abf7  2026-03-14 12:03:00  assistant  main:2
        :1      user      ␛[31mred␇ alert now
        safe \u{202e}txet\u{9b}2J alert
    fb0ef8c  2026-03-14 12:02:00  user       main:1
        ␛[31mred␇ alert now
        :2      assistant safe \u{202e}txet\u{9b}2J alert
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "[31mred"]), @r"
    fb0ef8c  2026-03-14 12:02:00  user  main:1
        ␛[31mred␇ alert now
    ");
}

#[test]
fn options_narrow_what_is_found() {
    let sandbox = with_demo();
    let hashes = |arguments: &[&str]| -> Vec<String> {
        let lines = sandbox.ok(&[&["find", "-F", "decimal", "-n", "0"], arguments].concat());
        let heads = lines.lines().filter(|line| !line.starts_with(' '));
        heads.map(|head| head[..7].to_owned()).collect()
    };
    let all = hashes(&[]);
    // The summary is a client's.
    assert_eq!(hashes(&["--role", "user"]), ["b99fda9"]);
    assert_eq!(hashes(&["--role", "injected"]), ["a091f72"]);
    assert_eq!(hashes(&["--op", "compact"]), ["a091f72"]);
    assert_eq!(
        hashes(&["--tool", "Edit"]),
        ["f1b4ce2", "7fdf293", "50b4ce5"]
    );
    assert_eq!(hashes(&["main"]), all);
    assert_eq!(
        hashes(&["--since", "2026-03-14", "--until", "2026-03-14"]),
        all
    );
    let late = hashes(&["--since", "2026-03-14T09:18"]);
    let early = hashes(&["--until", "2026-03-14T09:17:59"]);
    assert_eq!([late.as_slice(), early.as_slice()].concat(), all);
    assert!(!early.is_empty() && !late.is_empty(), "{early:?} {late:?}");
    assert_eq!(hashes(&["--since", "1d"]), all);
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "decimal", "--since", "1h"]), @r"
    exit code: 1
    --- stderr
    No message matches
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "x", "--since", "soon"]), @r"
    exit code: 2
    --- stderr
    error: 'soon' is neither a date nor an age
    hint: 2026-01-31, 2026-01-31T14:00, yesterday, last week, or an age: 30min, 5h, 2d, 3w, 1mo, 1y
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "x", "--op", "squash"]), @r"
    exit code: 2
    --- stderr
    error: unknown operation 'squash'
    hint: append, edit, hide, restore, annotate, move, truncate, compact, clear, drop, prune
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "x", "--role", "usr"]), @r"
    exit code: 2
    --- stderr
    error: unknown role 'usr'
    hint: did you mean user?
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "x", "nowhere"]), @r"
    exit code: 1
    --- stderr
    error: nothing here is called 'nowhere'
    hint: tract log --oneline lists them, tract branch the branches
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", ""]), @r"
    exit code: 2
    --- stderr
    error: the text to find: it is empty
    hint: tract find --help
    ");
}

#[test]
fn a_search_reads_what_may_match_and_no_more_than_it_shows() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "one needle in the haystack"),
        ("user", "a second needle"),
        ("assistant", "nothing here"),
        ("user", "another needle, and newer"),
        ("assistant", "nothing there"),
    ]);
    let spoil = |preview: &str| {
        sandbox.change(&format!(
            "UPDATE bodies SET encoding = 9 WHERE content IN
             (SELECT id FROM contents WHERE preview LIKE '{preview}')"
        ));
    };
    let before = sandbox.ok(&["find", "-F", "needle"]);
    spoil("nothing%");
    assert_eq!(sandbox.ok(&["find", "-F", "needle"]), before);
    // One more than is shown is read, to tell whether there are more.
    spoil("one needle%");
    sandbox.ok(&["find", "-F", "needle", "-n", "1", "-C", "3"]);
    let spoilt = sandbox.tract(&["find", "-F", "needle"]);
    assert!(spoilt.starts_with("exit code: 3"), "{spoilt}");
}

#[test]
fn what_two_compactions_cover_was_hidden_by_the_first() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "The door is to be blue."),
        ("assistant", "Blue it is."),
        ("user", "And the roof?"),
    ]);
    sandbox.ok(&["compact", "-m", "A door was painted.", ":1..:2"]);
    let first = sandbox.ok(&["rev-parse", "HEAD"]);
    let first = &first[..7];
    for text in ["Red.", "And the wall?"] {
        sandbox.ok(&["commit", "-r", "user", "-m", text]);
    }
    sandbox.ok(&["compact", "-m", "A house was painted.", ":1..:2"]);
    let found = sandbox.ok(&["find", "-F", "is to be blue"]);
    let back = format!("tract resume {}^", first);
    assert!(found.contains(&back), "{found}");
    let there = ["compile", &format!("{}^", first), "--format", "text"];
    assert!(sandbox.ok(&there).contains("is to be blue"));
}

/// A session of Claude Code that ran in this directory; its records as text. What is said first is copied from the
/// session that it went on from.
fn session(id: &str, folder: &str, title: &str, said: &[(&str, &str)]) -> String {
    let mut lines =
        vec![serde_json::json!({"type": "ai-title", "aiTitle": title, "sessionId": id})];
    let mut parent = serde_json::Value::Null;
    for (at, (time, text)) in said.iter().enumerate() {
        let role = ["user", "assistant"][at % 2];
        let uuid = format!(
            "00000000-0000-4000-8000-{:0>12}",
            time.replace([':', '-', 'T'], "")
        );
        let mut message = serde_json::json!({"role": role, "content": text});
        if role == "assistant" {
            message["content"] = serde_json::json!([{"type": "text", "text": text}]);
            message["id"] = format!("msg_{time}").into();
            message["model"] = "claude-opus-4-8".into();
        }
        lines.push(serde_json::json!({
            "parentUuid": parent, "uuid": uuid, "sessionId": id, "isSidechain": false, "type": role,
            "cwd": folder, "version": "2.1.7", "timestamp": format!("2026-01-{time}:00.000Z"), "message": message,
        }));
        parent = uuid.into();
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    lines.concat()
}

#[test]
fn what_several_sessions_say_is_listed_by_session() {
    let sandbox = Sandbox::new();
    let plan = [
        ("05T10:00", "Plan the mill."),
        ("05T10:01", "The mill needs a wheel."),
    ];
    let wheel = [
        plan[0],
        plan[1],
        ("07T09:00", "Build the wheel."),
        ("07T09:01", "The wheel turns."),
    ];
    let river = [
        ("06T08:00", "Where is the river?"),
        ("06T08:01", "By the wheel of the old mill."),
    ];
    let id = |at: u32| format!("{at}{at}{at}{at}{at}{at}{at}{at}-2222-4333-8444-555555555555");
    for (at, folder, title, said) in [
        (1, "/home/ada/mill", "Plan of the mill", &plan[..]),
        (2, "/home/ada/river", "The river", &river[..]),
        (3, "/home/ada/mill", "The wheel", &wheel[..]),
    ] {
        sandbox.write(
            &format!("{}.jsonl", id(at)),
            session(&id(at), folder, title, said),
        );
        sandbox.ok(&["import", &format!("{}.jsonl", id(at))]);
    }
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "wheel"]));
    insta::assert_snapshot!(sandbox.tract(&["find", "-F", "river"]));
    let Some(drawn) = sandbox.on_terminal("80", &["find", "-F", "wheel"]) else {
        eprintln!("skipped: no `script` here to make a terminal");
        return;
    };
    insta::assert_snapshot!(drawn);
}

/// Two sessions of one tool, one of them with a sub-agent, and one that ran on Windows.
fn of_several() -> Sandbox {
    let sandbox = Sandbox::new();
    let record = |id: &str, agent: &str, cwd: &str, file: &str| {
        let envelope = |number: usize, role: &str, content: serde_json::Value| {
            let mut record = serde_json::json!({
                "type": role, "uuid": format!("{id}{agent}{number}"), "sessionId": id, "cwd": cwd,
                "parentUuid": (number > 0).then(|| format!("{id}{agent}{}", number - 1)),
                "timestamp": format!("2026-03-14T10:00:0{number}.000Z"), "isSidechain": !agent.is_empty(),
                "message": {"role": role, "content": content},
            });
            if !agent.is_empty() {
                record["agentId"] = agent.into();
            }
            format!("{record}\n")
        };
        let edit = serde_json::json!([{"type": "tool_use", "id": format!("t{id}{agent}"), "name": "Edit",
            "input": {"file_path": file, "old_string": "lint", "new_string": "none"}}]);
        envelope(0, "user", format!("Mend the lint of {id}.").into())
            + &envelope(1, "assistant", edit)
    };
    let (one, other) = (
        "6113e919-0000-4000-8000-000000000001",
        "7224fa20-0000-4000-8000-000000000002",
    );
    for (name, id, agent, cwd, file) in [
        (
            format!("{one}.jsonl"),
            one,
            "",
            "/p/shop",
            "/p/shop/src/lib.rs",
        ),
        (
            format!("{one}/subagents/agent-a01.jsonl"),
            one,
            "a01",
            "/p/shop",
            "/p/shop/src/lib.rs",
        ),
        (
            format!("{other}.jsonl"),
            other,
            "",
            r"C:\Users\Mara\mill",
            r"C:\Users\Mara\mill\src\main.rs",
        ),
    ] {
        sandbox.write(&name, record(id, agent, cwd, file));
    }
    sandbox.ok(&["import", "."]);
    sandbox
}

#[test]
fn a_session_goes_by_every_name_that_is_shown_and_an_unknown_one_is_an_error() {
    let sandbox = of_several();
    let branches = sandbox.ok(&["branch"]);
    let branch = branches
        .lines()
        .find(|line| line.contains("7224fa20"))
        .expect("it is there");
    let branch = branch
        .trim_start_matches(['*', ' '])
        .split(' ')
        .next()
        .expect("a name");
    for (name, cwd) in [
        ("6113e919", "/p/shop"),
        ("6113e919-0000-4000-8000-000000000001", "/p/shop"),
        ("claude-code/6113e919…", "/p/shop"),
        ("claude-code/6113e919…/agent-a01", "/p/shop"),
        (
            "refs/sessions/claude-code/6113e919-0000-4000-8000-000000000001",
            "/p/shop",
        ),
        ("7224", r"mill"),
        (branch, r"mill"),
    ] {
        let told = sandbox.ok(&["find", "lint", "--session", name]);
        assert!(
            told.contains(cwd.rsplit('/').next().expect("a name")),
            "{name}: {told}"
        );
    }
    for wrong in ["6113e91a", "nobody", "claude-code/6113e919…/agent-a02", ""] {
        let told = sandbox.tract(&["find", "lint", "--session", wrong]);
        assert!(told.starts_with("exit code: 2"), "{wrong}: {told}");
        assert!(!told.contains("No message matches"), "{wrong}: {told}");
    }
    insta::assert_snapshot!(sandbox.tract(&["find", "lint", "--session", "nobody"]), @r"
    exit code: 2
    --- stderr
    error: no session 'nobody'
    hint: tract branch lists the sessions
    ");
}

#[test]
fn what_narrows_a_search_is_there_or_it_is_an_error() {
    let sandbox = of_several();
    for known in [
        ["--directory", "/p/shop"],
        ["--directory", "/p"],
        ["--directory", "shop"],
        ["--directory", "mill"],
        ["--directory", r"C:\Users\Mara"],
        ["--directory", "c:/users/mara/mill"],
        ["--tool", "edit"],
        ["--path", "src/lib.rs"],
        ["--path", r"src\main.rs"],
        ["--path", r"C:\Users\Mara\mill\src\main.rs"],
    ] {
        sandbox.ok(&[&["find", "lint"], &known[..]].concat());
    }
    for unknown in [
        ["--directory", "/p/shops"],
        ["--directory", "elsewhere"],
        ["--tool", "Edits"],
        ["--path", "ain.rs"],
    ] {
        let told = sandbox.tract(&[&["find", "lint"], &unknown[..]].concat());
        assert!(told.starts_with("exit code: 2"), "{unknown:?}: {told}");
    }
    // What is there, and was looked through.
    let told = sandbox.tract(&["find", "nothing", "--tool", "Edit"]);
    assert!(
        told.starts_with("exit code: 1") && told.contains("No message matches"),
        "{told}"
    );
    let told = sandbox.tract(&["log", "--tool", "Edits"]);
    assert!(told.starts_with("exit code: 2"), "{told}");
    let told = sandbox.tract(&["find", "lint", "--here"]);
    insta::assert_snapshot!(told, @r"
    exit code: 1
    --- stderr
    error: no session here ran in [SANDBOX]/work or below it
    hint: without --here, all sessions are searched
    ");
}

#[test]
fn what_was_done_to_a_file_of_windows_is_told_by_its_path() {
    let sandbox = of_several();
    for path in [
        r"C:\Users\Mara\mill\src\main.rs",
        r"src\main.rs",
        "mill/src/main.rs",
        "main.rs",
    ] {
        let request = serde_json::json!({"id": 1, "method": "did", "params": {"path": path}});
        let told = sandbox.tract_with(&["api"], format!("{request}\n"));
        assert!(told.contains("Edit"), "{path}: {told}");
    }
}

#[test]
fn what_is_no_search_says_what_to_type() {
    let sandbox =
        Sandbox::with_messages(&[("user", "open the red door"), ("assistant", "which door?")]);
    insta::assert_snapshot!(sandbox.tract(&["find", "door", "-red"]), @r"
    exit code: 2
    --- stderr
    error: unexpected argument '-r' found
    hint: words to leave out stand behind --: tract find -- WORD -WORD
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "--", "door", "-red"]), @r"
    b48c3e7  2026-03-14 12:03:00  assistant  main:2
        which door?
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "x"]), @r"
    exit code: 2
    --- stderr
    error: the words to find: a word has two letters or more
    hint: tract find -F TEXT finds any text as it is
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "door", "HEAD~1..HEAD"]), @r"
    exit code: 2
    --- stderr
    error: HEAD~1..HEAD is a range; one commit says in whose history to look
    hint: tract find door HEAD
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "door", "--tool", "Bash"]), @r"
    exit code: 2
    --- stderr
    error: no message calls the tool 'Bash'
    hint: no tool is called in this conversation
    ");
    insta::assert_snapshot!(sandbox.tract(&["find", "door", "--directory", "/nowhere"]), @r"
    exit code: 2
    --- stderr
    error: no session ran in '/nowhere'
    hint: no session here says where it ran
    ");
}

/// With REV too: a restore where the conversation has it hidden, a copy where it does not have it, nothing where it
/// stands.
#[test]
fn the_way_back_leads_to_the_conversation_that_commands_act_on() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "open the red door"),
        ("assistant", "which door?"),
        ("user", "the red one"),
    ]);
    sandbox.ok(&["branch", "other"]);
    sandbox.ok(&["drop", ":1", "--force"]);
    let back = |rev: &[&str]| {
        let found = sandbox.ok(&[&["find", "-F", "the red door"], rev].concat());
        let back = found
            .lines()
            .filter_map(|line| line.trim().strip_prefix("back: "));
        back.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(back(&[]), ["tract restore a312e18"]);
    assert_eq!(back(&["main"]), ["tract restore a312e18"]);
    assert_eq!(back(&["HEAD"]), ["tract restore a312e18"]);
    sandbox.ok(&["checkout", "other"]);
    assert_eq!(back(&["main"]), [""; 0], "it stands here");
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&["restore", "a312e18"]);
    assert_eq!(back(&["HEAD~1"]), [""; 0], "it was brought back");
    sandbox.ok(&["checkout", "HEAD~1"]);
    assert_eq!(
        back(&[]),
        [""; 0],
        "nothing can be brought back to a detached HEAD"
    );
}
