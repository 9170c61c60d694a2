//! Choosing among the sessions that tools have left.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::sandbox::{Sandbox, THE_FILE, is_left_out};
use crate::sessions::import::SESSION;

const ID: &str = "5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c70";

/// A session as Claude Code leaves it for the working directory, so many minutes old.
fn left(sandbox: &Sandbox, id: &str, text: &str, minutes: u64) {
    let cwd = fs::canonicalize(sandbox.work()).expect("it exists");
    left_for(&cwd, sandbox, id, text, minutes);
}

/// The same for another directory.
fn left_for(cwd: &std::path::Path, sandbox: &Sandbox, id: &str, text: &str, minutes: u64) {
    let place = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let slug: String = cwd.to_string_lossy().chars().map(place).collect();
    let directory = sandbox.home().join(".claude/projects").join(slug);
    fs::create_dir_all(&directory).expect("made");
    let path = directory.join(format!("{id}.jsonl"));
    fs::write(&path, text.replace(ID, id)).expect("written");
    // Ages are told from the sandbox's clock, which stands in March.
    let clock = SystemTime::UNIX_EPOCH + Duration::from_secs(1_773_489_600);
    let file = fs::File::options().write(true).open(path).expect("opens");
    file.set_modified(clock - Duration::from_secs(60 * minutes))
        .expect("set");
}

const UNTITLED: &str = concat!(
    r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"x","timestamp":"2026-03-14T09:00:00.000Z","#,
    r#""message":{"role":"user","content":"Which rivers are there?"}}"#,
    "\n"
);

#[test]
fn sessions_are_listed_with_what_one_types_to_get_them() {
    let sandbox = Sandbox::empty();
    left(&sandbox, ID, SESSION, 3);
    let other = "77777777-7d42-4c8f-9e36-2f1d8a6b4c70";
    left(&sandbox, other, UNTITLED, 90);
    let listed = sandbox.tract(&["import", "-n", "1"]);
    let shown = listed
        .lines()
        .map(|line| line.split("  [").next().unwrap_or_default());
    let shown: Vec<&str> = shown.collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    ID        WHEN                 TOOL                MESSAGES  HERE  ABOUT  FILE
    5b0c9a1e  2026-03-14 11:57:00  claude-code  34, 1 compacted        Read the bank's amounts, and never in silence
    --- stderr
    … and 1 older: tract import -n 0
    hint: tract import 5b0c9a1e takes that one, tract import --last the newest
    ");
    insta::assert_snapshot!(sandbox.tract(&["import", "7777"]), @r"
    --- stderr
    Made a repository in .tract
    Imported claude-code 77777777-7d42: 1 message, on main
      not in the file              system prompt, tool definitions
    ");
    let lines: Vec<&str> = SESSION.lines().collect();
    left(&sandbox, ID, &(lines[..58].join("\n") + "\n"), 3);
    sandbox.ok(&["import", "claude-code/5b0c9a1e"]);
    left(&sandbox, ID, SESSION, 1);
    let listed = sandbox.ok(&["import"]);
    let titles: Vec<&str> = listed
        .lines()
        .map(|line| line.split("  ").next().unwrap_or(""))
        .collect();
    assert_eq!(titles, ["ID", "5b0c9a1e", "77777777"]);
    assert!(
        listed.contains("4 new") && listed.contains("imported"),
        "{listed}"
    );
    // What is here already is no example of what to take.
    let hint = |said: String| {
        said.split("hint: ")
            .nth(1)
            .map(|hint| hint[..21].to_owned())
    };
    let wanted = Some("tract import 5b0c9a1e".to_owned());
    left(
        &sandbox,
        "77777777-7d42-4c8f-9e36-2f1d8a6b4c70",
        UNTITLED,
        0,
    );
    assert_eq!(hint(sandbox.tract(&["import"])), wanted);
    sandbox.ok(&["import", "5b0c9a1e"]);
    assert_eq!(hint(sandbox.tract(&["import"])), None);
    assert!(listed.contains("Which rivers are there?"), "{listed}");
}

#[test]
fn from_below_the_repository_its_sessions_are_found_too() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::new();
    left(&sandbox, ID, SESSION, 3);
    let below = sandbox.work().join("src/deep");
    fs::create_dir_all(&below).expect("made");
    let mut command = sandbox.command(&["import", "--last"]);
    let output = command
        .current_dir(below)
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{output:?}");
    assert!(sandbox.ok(&["log", "-n", "1"]).contains("Done: one line"));
}

#[test]
fn an_id_that_begins_several_is_asked_for_in_full() {
    let sandbox = Sandbox::empty();
    left(&sandbox, ID, SESSION, 3);
    left(
        &sandbox,
        "5b0c9a1e-0000-4c8f-9e36-2f1d8a6b4c70",
        UNTITLED,
        9,
    );
    insta::assert_snapshot!(sandbox.tract(&["import", "5b0c9a1e"]), @r"
    exit code: 1
    --- stderr
    error: '5b0c9a1e' fits the ids of 2 sessions
    hint: tract import lists them; type more of the id
    ");
    sandbox.ok(&["import", "5b0c9a1e-7"]);
    // What is neither a file nor an id is a file that is missing.
    insta::assert_snapshot!(sandbox.tract(&["import", "5b1"]), @r"
    exit code: 1
    --- stderr
    error: 5b1: no such file or directory
    hint: tract import lists them
    ");
}

#[test]
fn of_many_files_the_newest_is_what_head_is_on() {
    let sandbox = Sandbox::empty();
    for (name, text, age) in [("a", "old", 300), ("b", "newest", 10), ("c", "older", 500)] {
        sandbox.write(
            &format!("all/{name}.json"),
            format!(
                r#"[{{"role":"user","content":"{text}"}},{{"role":"assistant","content":"ok"}}]"#
            ),
        );
        let file = fs::File::options()
            .write(true)
            .open(sandbox.work().join(format!("all/{name}.json")));
        let then = SystemTime::now() - Duration::from_secs(age);
        file.expect("opens").set_modified(then).expect("set");
    }
    sandbox.ok(&["import", "all"]);
    assert!(sandbox.ok(&["compile"]).contains("newest"));
}

#[test]
fn the_sessions_of_every_directory_are_listed_and_taken() {
    let sandbox = Sandbox::empty();
    left(&sandbox, ID, SESSION, 3);
    let other = "77777777-7d42-4c8f-9e36-2f1d8a6b4c70";
    let elsewhere = std::path::Path::new("/home/ada/rivers");
    let there = UNTITLED.replacen(
        "\"sessionId\"",
        "\"cwd\":\"/home/ada/rivers\",\"sessionId\"",
        1,
    );
    left_for(elsewhere, &sandbox, other, &there, 90);

    let listed = sandbox.ok(&["import", "--all", "--list"]);
    let ids: Vec<&str> = listed
        .lines()
        .filter_map(|l| l.split("  ").next())
        .collect();
    assert_eq!(ids, ["ID", "5b0c9a1e", "77777777"]);
    assert!(
        listed.contains("rivers: Which rivers are there?"),
        "{listed}"
    );
    assert!(
        !sandbox.ok(&["import"]).contains("rivers"),
        "here means here"
    );
    assert!(
        !sandbox.work().join(".tract").exists(),
        "a list takes nothing"
    );

    // What is listed may be typed.
    sandbox.ok(&["import", "77777777"]);
    insta::assert_snapshot!(sandbox.tract(&["import", "--all"]), @r#"
    --- stderr
    Imported claude-code "Read the bank's amounts, and never in silence": 34 messages, 1 compaction, on claude-code-5b0c9a1e
      records other than messages  2 records (-v lists them)
      not in the file              system prompt, tool definitions
    hint: before the last compaction: b99fda9, 2,965 tokens; tract resume b99fda9
    hint: HEAD stayed where it was; to look: tract --on claude-code-5b0c9a1e status
    1 other file is as it was when it came in
    "#);
}

#[test]
fn a_branch_is_called_by_as_much_of_an_id_as_tells_it_from_other_sessions() {
    // HEAD's own branch would be free for the first session.
    let sandbox = Sandbox::with_messages(&[("user", "mine")]);
    let ids = [
        "77777777-7d42-4c8f-9e36-2f1d8a6b4c70",
        "77777777-2000-4c8f-9e36-2f1d8a6b4c70",
        "77777777-7d42-4c8f-9e36-2f1d8a6b4c71",
    ];
    for id in ids {
        left(&sandbox, id, &UNTITLED.replace("rivers", id), 90);
        sandbox.ok(&["import", id]);
    }
    // The second history of an id has the name of its first, and a number.
    for id in &ids[..2] {
        left(&sandbox, id, UNTITLED, 1);
        sandbox.ok(&["import", id]);
    }
    let listed = sandbox.ok(&["branch"]);
    let names = listed
        .lines()
        .filter_map(|line| line.get(2..)?.split(' ').next());
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "claude-code-77777777",
            "claude-code-77777777-2",
            "claude-code-77777777-2000",
            "claude-code-77777777-2000-2",
            "claude-code-77777777-7d42-4c8f-9e36-2f1d8a6b4c71",
            "main",
        ]
    );
    // What a list calls it is the end of its branch's name, and both lead there.
    for id in ["77777777-2000", "77777777-7d42-4c8f-9e36-2f1d8a6b4c71"] {
        let stats = sandbox.ok(&["stats"]);
        assert!(stats.contains(&format!("claude-code/{id}")), "{stats}");
    }
    let by_branch = sandbox.ok(&["log", &format!("claude-code-{}", ids[2]), "-n", "1"]);
    assert!(
        by_branch.contains("7d42-4c8f-9e36-2f1d8a6b4c71"),
        "{by_branch}"
    );
}

#[test]
fn of_all_sessions_only_those_are_read_that_have_changed() {
    let sandbox = Sandbox::empty();
    let other = "77777777-7d42-4c8f-9e36-2f1d8a6b4c70";
    left(&sandbox, ID, SESSION, 3);
    left(&sandbox, other, UNTITLED, 90);
    sandbox.ok(&["import", "--all"]);
    // What looks as it did is not read: another message of the same length, at the same time.
    left(&sandbox, other, &UNTITLED.replace("rivers", "lakes?"), 90);
    insta::assert_snapshot!(sandbox.tract(&["import", "--all"]), @r"
    --- stderr
    2 files are as they were when they came in
    ");
    assert!(!sandbox.ok(&["branch"]).contains("lakes"));
    // What is named is.
    sandbox.ok(&["import", other]);
    assert!(sandbox.ok(&["branch"]).contains("lakes"));
    // What has grown comes.
    let more = UNTITLED.replace("u1", "u2").replace("null", "\"u1\"");
    left(
        &sandbox,
        other,
        &(UNTITLED.replace("rivers", "lakes?") + &more),
        1,
    );
    insta::assert_snapshot!(sandbox.tract(&["import", "--all"]), @r"
    --- stderr
    Updated claude-code 77777777-7d42: 1 new commit, now 2 messages, on claude-code-77777777-2
      not in the file              system prompt, tool definitions
    hint: HEAD stayed where it was; to look: tract --on claude-code-77777777-2 status
    1 other file is as it was when it came in
    ");
}

#[test]
fn of_a_directory_without_sessions_it_is_said_where_there_are_some() {
    let sandbox = Sandbox::empty();
    let elsewhere = std::path::Path::new("/home/ada/rivers");
    left_for(elsewhere, &sandbox, ID, UNTITLED, 90);
    insta::assert_snapshot!(sandbox.tract(&["import"]), @r"
    exit code: 1
    --- stderr
    error: no sessions of any known tool in [SANDBOX]/work
    hint: tract import --all --list shows those of every directory
    ");
}

#[test]
fn many_files_are_told_of_in_one_sentence_and_what_was_passed_over_is_counted() {
    let sandbox = Sandbox::empty();
    for number in 0..30 {
        sandbox.write(
            &format!("all/{number}.json"),
            format!(
                r#"[{{"role":"user","content":"{number}"}},{{"role":"assistant","content":"ok"}}]"#
            ),
        );
    }
    sandbox.write("all/notes.json", r#"{"a":1}"#);
    sandbox.write("all/package.json", r#"{"name":"x"}"#);
    sandbox.write("all/empty.jsonl", "");
    sandbox.write("all/cline.json", r#"[{"ts":1,"say":"text"}]"#);
    insta::assert_snapshot!(sandbox.tract(&["import", "all"]), @r"
    --- stderr
    Made a repository in .tract
    Skipped 4 files: 1 Cline display log, 2 files in no known format, 1 empty file (-v names them)
    Read 30 sessions in 30 files: 30 new; 60 messages
    hint: tract branch lists them; -v reports each one
    ");
    sandbox.write("few/notes.json", r#"{"a":1}"#);
    sandbox.write("few/one.json", r#"[{"role":"user","content":"one"}]"#);
    insta::assert_snapshot!(sandbox.tract(&["import", "-v", "few"]), @r"
    --- stderr
    Skipped 1 file: 1 file in no known format
      few/notes.json: a file in no known format
    Imported openai one: 1 message, on one
    hint: HEAD stayed where it was; to look: tract --on one status
    ");
}

#[test]
fn a_known_format_that_is_not_read_is_called_by_its_name() {
    let sandbox = Sandbox::empty();
    sandbox.write("antigravity.jsonl", r#"{"step_index":0,"source":"MODEL"}"#);
    sandbox.write("old.jsonl.gz", b"\x1f\x8b\x08\x00\x00");
    insta::assert_snapshot!(sandbox.tract(&["import", "antigravity.jsonl"]), @r"
    exit code: 1
    --- stderr
    error: antigravity.jsonl: an Antigravity session, which tract does not read
    hint: tract import --help lists the [N] formats that are known
    ");
    insta::assert_snapshot!(sandbox.tract(&["import", "old.jsonl.gz"]), @r"
    exit code: 1
    --- stderr
    error: old.jsonl.gz: a gzip archive, which tract does not read
    hint: gunzip -c old.jsonl.gz | tract import -
    ");
    assert!(!sandbox.work().join(".tract").exists());
}

#[test]
fn a_stream_is_read_from_standard_input() {
    let sandbox = Sandbox::empty();
    insta::assert_snapshot!(sandbox.tract_with(&["import", "-"], SESSION), @r#"
    --- stderr
    Made a repository in .tract
    Imported claude-code "Read the bank's amounts, and never in silence": 34 messages, 1 compaction, on main
      records other than messages  2 records (-v lists them)
      not in the file              system prompt, tool definitions
    hint: before the last compaction: b99fda9, 2,965 tokens; tract resume b99fda9
    "#);
    // The same conversation, one message longer: the session goes on.
    let first = r#"{"messages":[{"role":"user","content":"one"}"#;
    let grown = format!("{first},{{\"role\":\"assistant\",\"content\":\"two\"}}]}}");
    sandbox.tract_with(&["import", "--as", "talk", "-"], format!("{first}]}}"));
    let told = sandbox.tract_with(&["import", "-"], grown);
    assert!(told.contains("2 messages"), "{told}");
    assert!(sandbox.ok(&["compile"]).contains("bank"), "HEAD stayed");
    // What is wrong with it is never said of the file that it is kept in meanwhile.
    for option in [&["import", "-"][..], &["import", "--strict", "-"]] {
        let empty = sandbox.tract_with(option, "");
        assert!(
            empty.contains("error: standard input: the file is empty\n"),
            "{empty}"
        );
        let packed = sandbox.tract_with(option, b"\x1f\x8b\x08\0\0\0\0\0");
        assert!(
            packed.contains("error: standard input: a gzip archive"),
            "{packed}"
        );
        assert!(
            packed.contains("hint: gunzip -c FILE | tract import -"),
            "{packed}"
        );
    }
    let empty = Sandbox::empty().tract_with(&["import", "-"], "");
    assert!(
        empty.contains("error: standard input: the file is empty\n"),
        "{empty}"
    );
}

#[cfg(unix)]
#[test]
fn what_a_shell_hands_over_as_a_pipe_is_read_to_its_end() {
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", SESSION);
    let tract = sandbox.command(&[]);
    let line = format!(
        "'{}' import <(cat session.jsonl)",
        tract.get_program().to_string_lossy()
    );
    let mut shell = std::process::Command::new("bash");
    let environment = tract
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    shell
        .args(["-c", &line])
        .current_dir(sandbox.work())
        .env_clear()
        .envs(environment);
    let Ok(output) = shell.output() else { return };
    assert!(output.status.success(), "{output:?}");
    assert!(sandbox.ok(&["log", "-n", "1"]).contains("Done: one line"));
}

#[test]
fn a_head_without_commits_goes_to_the_branch_that_an_import_makes() {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", SESSION);
    insta::assert_snapshot!(sandbox.tract(&["import", "--as", "bank", "session.jsonl"]), @r#"
    --- stderr
    Imported claude-code "Read the bank's amounts, and never in silence": 34 messages, 1 compaction, on bank
      records other than messages  2 records (-v lists them)
      not in the file              system prompt, tool definitions
    hint: before the last compaction: b99fda9, 2,965 tokens; tract resume b99fda9
    Now on bank (main had no messages)
    "#);
    assert!(sandbox.ok(&["status"]).starts_with("On bank,"));
    // It is one command: undone at once, HEAD is back on what it left.
    sandbox.ok(&["undo"]);
    assert!(
        sandbox
            .ok(&["status"])
            .starts_with("On main, no commits yet")
    );

    // The branch that one has named and that is empty is what the first session is on.
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", SESSION);
    sandbox.ok(&["checkout", "-b", "mine"]);
    sandbox.ok(&["import", "session.jsonl"]);
    assert!(sandbox.ok(&["status"]).starts_with("On mine,"));

    // Who acts on a branch of their own moves nobody's HEAD.
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", SESSION);
    sandbox.ok(&["--on", "agent", "import", "--as", "bank", "session.jsonl"]);
    assert!(
        sandbox
            .ok(&["status"])
            .starts_with("On main, no commits yet")
    );
}

#[test]
fn a_branch_that_is_named_for_a_session_that_is_here_is_told_of() {
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", SESSION);
    sandbox.ok(&["import", "session.jsonl"]);
    let again = || sandbox.tract(&["import", "--as", "second", "session.jsonl"]);
    let told = again();
    assert!(told.contains("\nsecond follows the session\n"), "{told}");
    sandbox.ok(&["--on", "second", "commit", "-r", "user", "-m", "And mine."]);
    let told = again();
    let stays = "\nsecond has commits of its own, so it stays\n";
    assert!(told.contains(stays), "{told}");
    let id = "5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c70";
    sandbox.write(
        "other.jsonl",
        SESSION.replace(id, "6c1d0b2f-7d42-4c8f-9e36-2f1d8a6b4c70"),
    );
    let told = sandbox.tract(&["import", "--as", "second", "other.jsonl"]);
    let stays = "second follows another session, so it stays";
    assert!(told.contains(stays), "{told}");
}

#[test]
fn what_is_no_message_is_one_line_and_its_list_under_v() {
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", SESSION);
    sandbox.ok(&["import", "session.jsonl"]);
    insta::assert_snapshot!(sandbox.tract(&["import", "-v", "session.jsonl"]), @r#"
    --- stderr
    Nothing new in claude-code "Read the bank's amounts, and never in silence": 34 messages, 1 compaction
      records other than messages  1 ai-title, 1 file-history-snapshot
      not in the file              system prompt, tool definitions
    "#);
}

#[test]
fn on_a_terminal_the_title_gets_the_room_and_what_a_tool_put_first_is_no_prompt() {
    let sandbox = Sandbox::empty();
    left(&sandbox, ID, SESSION, 3);
    let wrapped = UNTITLED.replace(
        "Which rivers",
        "<local-command-caveat>Caveat: the messages below were made by the user</local-command-caveat>",
    );
    let second = UNTITLED
        .replace("\"u1\"", "\"u2\"")
        .replace("null", "\"u1\"");
    let other = "77777777-7d42-4c8f-9e36-2f1d8a6b4c70";
    left(&sandbox, other, &(wrapped + &second), 90);
    let Some(drawn) = sandbox.on_terminal("80", &["import"]) else {
        eprintln!("skipped: no `script` here to make a terminal");
        return;
    };
    insta::assert_snapshot!(drawn, @r"
    ID        AGE        TOOL                MESSAGES  ABOUT
    5b0c9a1e  4 min ago  claude-code  34, 1 compacted  Read the bank's amounts, and…
    77777777  1 h ago    claude-code                2  Which rivers are there?
    hint: tract import 5b0c9a1e takes that one, tract import --last the newest
    ");
}

#[test]
fn a_dry_run_of_all_says_what_the_import_then_does() {
    let sandbox = Sandbox::new();
    left(&sandbox, ID, SESSION, 3);
    let other = "77777777-7d42-4c8f-9e36-2f1d8a6b4c70";
    left(&sandbox, other, UNTITLED, 90);
    let none = "99999999-7d42-4c8f-9e36-2f1d8a6b4c70";
    left(&sandbox, none, "{\"state\": \"idle\"}\n", 20);
    let skipped = |told: &str, before: &str| {
        let mut lines = told.lines();
        let line = lines.find_map(|line| line.strip_prefix(before));
        line.unwrap_or_else(|| panic!("{before} in {told}"))
            .to_owned()
    };
    for strict in [&[][..], &["--strict"]] {
        let dry = [&["import", "--all", "--dry-run"][..], strict].concat();
        let dry = sandbox.tract(&dry);
        assert!(!dry.contains("exit code"), "{dry}");
        assert_eq!(dry.matches("Would import claude-code").count(), 2, "{dry}");
        assert!(skipped(&dry, "Would skip ").starts_with("1 file"), "{dry}");
    }
    let verbose = sandbox.tract(&["import", "--all", "--dry-run", "-v"]);
    assert!(verbose.contains(&format!("{none}.jsonl: ")), "{verbose}");
    let dry = sandbox.tract(&["import", "--all", "--dry-run"]);
    let told = sandbox.tract(&["import", "--all"]);
    assert_eq!(
        skipped(&dry, "Would skip "),
        skipped(&told, "Skipped "),
        "{told}"
    );
    // What has come in is not read again, and the rest is.
    left(&sandbox, other, &UNTITLED.replace("rivers", "seas"), 1);
    let dry = sandbox.tract(&["import", "--all", "--dry-run"]);
    let told = sandbox.tract(&["import", "--all"]);
    let same = "1 other file is as it was when it came in";
    assert!(dry.contains(same) && told.contains(same), "{dry}\n{told}");
    assert_eq!(dry.matches("claude-code").count(), 1, "{dry}");
    let dry = sandbox.tract(&["import", "--all", "--dry-run"]);
    let told = sandbox.tract(&["import", "--all"]);
    assert_eq!(
        dry.replace("Would skip", "Skipped"),
        told,
        "nothing is left to do"
    );
}
