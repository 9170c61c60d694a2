//! Sessions in and out.

use std::fs;

use crate::sandbox::Sandbox;

/// The demo's session.
pub const SESSION: &str = include_str!("../../../src/cli/command/sessions/demo-session.jsonl");
const ID: &str = "5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c70";

/// A repository with the demo's session in it.
pub fn with_demo() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("session.jsonl", SESSION);
    sandbox.ok(&["import", "session.jsonl"]);
    sandbox
}

/// Puts the session where Claude Code would have left it for the working directory.
fn left_by_claude_code(sandbox: &Sandbox) {
    let cwd = fs::canonicalize(sandbox.work()).expect("it exists");
    let slug: String = cwd
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let directory = sandbox.home().join(".claude/projects").join(slug);
    fs::create_dir_all(&directory).expect("made");
    fs::write(directory.join(format!("{ID}.jsonl")), SESSION).expect("written");
}

#[test]
fn an_import_makes_a_repository_and_says_so() {
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", SESSION);
    insta::assert_snapshot!(sandbox.tract(&["import", "session.jsonl"]), @r#"
    --- stderr
    Made a repository in .tract
    Imported claude-code "Read the bank's amounts, and never in silence": 34 messages, 1 compaction, on main
      records other than messages  2 records (-v lists them)
      not in the file              system prompt, tool definitions
    hint: before the last compaction: b99fda9, 2,965 tokens; tract resume b99fda9
    "#);
    let before = sandbox.ok(&["log", "-n", "0"]);
    insta::assert_snapshot!(sandbox.tract(&["import", "session.jsonl"]), @r#"
    --- stderr
    Nothing new in claude-code "Read the bank's amounts, and never in silence": 34 messages, 1 compaction
    "#);
    assert_eq!(sandbox.ok(&["log", "-n", "0"]), before);
}

#[test]
fn a_grown_file_gives_what_one_import_of_it_would() {
    let whole = with_demo();
    let grown = Sandbox::new();
    for cut in [9, 10, 30, 41, 63] {
        let lines: Vec<&str> = SESSION.lines().take(cut).collect();
        grown.write("session.jsonl", lines.join("\n") + "\n");
        grown.ok(&["import", "session.jsonl"]);
    }
    assert_eq!(grown.ok(&["log", "-n", "0"]), whole.ok(&["log", "-n", "0"]));
}

#[test]
fn an_untouched_session_comes_back_as_it_was() {
    let sandbox = with_demo();
    sandbox.ok(&["export", "-o", "back.jsonl"]);
    let back = fs::read_to_string(sandbox.work().join("back.jsonl")).expect("written");
    let values = |text: &str| -> Vec<serde_json::Value> {
        text.lines()
            .map(|l| serde_json::from_str(l).expect("JSON"))
            .collect()
    };
    assert_eq!(values(&back), values(SESSION));
    insta::assert_snapshot!(sandbox.tract(&["export", "-o", "back.jsonl"]), @r"
    exit code: 1
    --- stderr
    error: back.jsonl exists already
    hint: --force writes over it
    ");
}

#[test]
fn what_is_no_session_is_refused() {
    let sandbox = Sandbox::empty();
    sandbox.write("notes.txt", "buy milk\n");
    sandbox.write("empty.jsonl", "");
    insta::assert_snapshot!(sandbox.tract(&["import", "notes.txt"]), @r"
    exit code: 1
    --- stderr
    error: notes.txt: not a session in a known format
    hint: tract import --help lists the [N] formats that are known
    ");
    insta::assert_snapshot!(sandbox.tract(&["import", "empty.jsonl"]), @r"
    exit code: 1
    --- stderr
    error: empty.jsonl: the file is empty
    hint: tract import --help lists the [N] formats that are known
    ");
    insta::assert_snapshot!(sandbox.tract(&["import", "missing.jsonl"]), @r"
    exit code: 1
    --- stderr
    error: missing.jsonl: no such file or directory
    hint: check the path: its directories must exist, and a relative path begins at the current directory
    ");
    insta::assert_snapshot!(sandbox.tract(&["import"]), @r"
    exit code: 1
    --- stderr
    error: no sessions of any known tool in [SANDBOX]/work
    hint: tract import PATH, or tract demo to look around first
    ");
    assert!(!sandbox.work().join(".tract").exists());
}

#[test]
fn a_broken_line_is_named_and_the_rest_comes_in() {
    let sandbox = Sandbox::new();
    let mut lines: Vec<&str> = SESSION.lines().collect();
    lines.insert(12, "{\"type\":\"user\",\"uuid\":\"broken");
    sandbox.write("broken.jsonl", lines.join("\n") + "\n");
    insta::assert_snapshot!(sandbox.tract(&["import", "--strict", "broken.jsonl"]), @r"
    exit code: 3
    --- stderr
    problem: broken.jsonl:13: bad JSON at column 29: EOF while parsing a string
    error: 1 problem in broken.jsonl; nothing was imported
    hint: without --strict, the good part comes in and the problems are listed
    ");
    insta::assert_snapshot!(sandbox.tract(&["import", "broken.jsonl"]), @r#"
    exit code: 3
    --- stderr
    Imported claude-code "Read the bank's amounts, and never in silence": 34 messages, 1 compaction, on main
      records other than messages  2 records (-v lists them)
      not in the file              system prompt, tool definitions
    problem: broken.jsonl:13: bad JSON at column 29: EOF while parsing a string
    hint: before the last compaction: b99fda9, 2,965 tokens; tract resume b99fda9
    "#);
}

#[test]
fn the_sessions_of_this_directory_are_listed() {
    let sandbox = Sandbox::empty();
    left_by_claude_code(&sandbox);
    let listed = sandbox.ok(&["import"]);
    assert!(listed.contains("claude-code"), "{listed}");
    assert!(listed.contains("Read the bank's amounts"), "{listed}");
    assert!(!listed.contains("imported"), "{listed}");
    sandbox.ok(&["import", "--last"]);
    assert!(sandbox.ok(&["import"]).contains("imported"));
}

#[test]
fn a_hook_captures_its_transcript() {
    let sandbox = Sandbox::new();
    let path = sandbox.write("session.jsonl", SESSION);
    let hook = serde_json::json!({
        "session_id": ID,
        "transcript_path": path,
        "cwd": sandbox.work(),
        "hook_event_name": "PreCompact",
        "trigger": "auto",
    });
    insta::assert_snapshot!(sandbox.tract_with(&["import", "--hook"], hook.to_string()), @r#"
    --- stderr
    Imported claude-code "Read the bank's amounts, and never in silence": 34 messages, 1 compaction, on main
      records other than messages  2 records (-v lists them)
      not in the file              system prompt, tool definitions
    hint: before the last compaction: b99fda9, 2,965 tokens; tract resume b99fda9
    "#);
    assert!(sandbox.ok(&["log"]).lines().count() == 20);
    insta::assert_snapshot!(sandbox.tract_with(&["import", "--hook"], "{}"), @r"
    exit code: 1
    --- stderr
    error: the hook's JSON on standard input: it names no transcript
    hint: tract import --help
    ");
}

#[test]
fn a_resumed_session_lies_where_its_tool_looks() {
    let sandbox = with_demo();
    let line = sandbox.ok(&["log", "--op", "compact"]);
    let command = sandbox.ok(&["resume", &format!("{}^", &line[..7])]);
    let id = command
        .trim()
        .strip_prefix("claude --resume ")
        .expect("the command");
    let projects = sandbox.home().join(".claude/projects");
    let directory = fs::read_dir(projects)
        .expect("made")
        .next()
        .expect("one")
        .expect("readable");
    let file = directory.path().join(format!("{id}.jsonl"));
    let text = fs::read_to_string(&file).expect("the session");
    // The session that goes on there is named once.
    let (front, text) = text.split_once(',').expect("members");
    assert_eq!(front, format!(r#"{{"resumedFrom":"claude-code/{ID}""#));
    assert!(!text.contains(ID), "the old id is nowhere else in it");
    let before = sandbox.ok(&["log", "-n", "0"]);
    // Imported as it is, it adds nothing.
    sandbox.ok(&["import", &file.display().to_string()]);
    assert_eq!(
        sandbox.ok(&["log", "-n", "0"]).lines().count(),
        before.lines().count()
    );
}

#[test]
fn a_torn_last_line_is_normal_while_a_session_runs() {
    let sandbox = Sandbox::new();
    let cut = SESSION.trim_end().len() - 40;
    sandbox.write("session.jsonl", &SESSION[..cut]);
    insta::assert_snapshot!(sandbox.tract(&["import", "session.jsonl"]), @r#"
    --- stderr
    Imported claude-code "Read the bank's amounts, and never in silence": 33 messages, 1 compaction, on main
      records other than messages  2 records (-v lists them)
      not in the file              system prompt, tool definitions
    note: session.jsonl:63: the last line is torn
    hint: before the last compaction: b99fda9, 2,965 tokens; tract resume b99fda9
    "#);
    sandbox.write("session.jsonl", SESSION);
    sandbox.ok(&["import", "session.jsonl"]);
    assert_eq!(
        sandbox.ok(&["log", "-n", "0"]),
        with_demo().ok(&["log", "-n", "0"])
    );
}

#[test]
fn own_commits_stay_and_new_messages_go_after_them() {
    let sandbox = Sandbox::new();
    let lines: Vec<&str> = SESSION.lines().collect();
    sandbox.write("session.jsonl", lines[..58].join("\n") + "\n");
    sandbox.ok(&["import", "session.jsonl"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "a thought of my own"]);
    sandbox.write("session.jsonl", SESSION);
    insta::assert_snapshot!(sandbox.tract(&["import", "session.jsonl"]), @r#"
    --- stderr
    Updated claude-code "Read the bank's amounts, and never in silence": 4 new commits, now 34 messages, 1 compaction; main has commits of its own, so it stays
      records other than messages  2 records (-v lists them)
      not in the file              system prompt, tool definitions
    hint: before the last compaction: b99fda9, 2,965 tokens; tract resume b99fda9
    hint: to put the new messages after your commits: tract import --onto main session.jsonl
    "#);
    let head = sandbox.ok(&["status"]);
    insta::assert_snapshot!(head.lines().next().unwrap_or_default(), @r#"On main, HEAD 6117184  (claude-code "Read the bank's amounts, and never in silence", 4 new messages: tract import --onto main session.jsonl)"#);
    insta::assert_snapshot!(sandbox.tract(&["import", "--onto", "main", "session.jsonl"]), @r#"
    --- stderr
    Nothing new in claude-code "Read the bank's amounts, and never in silence": 34 messages, 1 compaction
    Appended 4 commits to main
    "#);
    insta::assert_snapshot!(sandbox.tract(&["import", "--onto", "main", "session.jsonl"]), @r#"
    --- stderr
    Nothing new in claude-code "Read the bank's amounts, and never in silence": 34 messages, 1 compaction
    main has all of it already
    "#);
    insta::assert_snapshot!(sandbox.tract(&["log", "-n", "5"]), @r"
    fff1a67  :13  2026-03-14 09:19:41  append  assistant  +22  1,091  (HEAD -> main)  Done: one line under *Unreleased*, worded for someone whose totals were wrong…
    d88f2ac  :12  2026-03-14 09:19:38  append  tool       +20  1,069  Edit /home/mara/tally/CHANGELOG.md → The file /home/mara/tally/CHANGELOG.md has been updated.
    45e67e6  :11  2026-03-14 09:19:38  append  assistant  +75  1,049  Edit /home/mara/tally/CHANGELOG.md
    c8f1092  :10  2026-03-14 09:19:35  append  user       +17    974  Nice. One line in the changelog, then we're done.
    6117184   :9  2026-03-14 12:03:00  append  user        +9    957  a thought of my own
    ");
    // The session has the originals: neither a merge nor a rebase brings them again.
    let session = sandbox.texts("SELECT name FROM refs WHERE name LIKE 'refs/sessions/%'");
    let whole = sandbox.ok(&["compile"]);
    sandbox.ok(&["merge", "--messages", &session[0]]);
    assert_eq!(sandbox.ok(&["compile"]), whole);
    sandbox.ok(&["undo"]);
    let told = sandbox.tract(&["rebase", &session[0]]);
    assert!(told.contains("Put 1 commit"), "{told}");
    assert_eq!(sandbox.ok(&["compile"]).len(), whole.len());
}

#[test]
fn what_is_exported_to_another_format_is_of_that_format() {
    let sandbox = Sandbox::empty();
    let request = r#"{"model":"m","max_tokens":9,"tools":[{"name":"f","description":"d","input_schema":{"type":"object"}}],
 "messages":[{"role":"user","content":"hi"},
 {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{"a":1.0}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}]}"#;
    sandbox.write("a.json", request);
    sandbox.ok(&["import", "a.json"]);
    sandbox.ok(&["export", "--format", "openai", "-o", "b.json"]);
    let text = std::fs::read_to_string(sandbox.work().join("b.json")).expect("written");
    let written: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(written["tools"][0]["function"]["name"], "f");
    assert_eq!(written["messages"][2]["role"], "tool");
    assert!(crate::check::check_openai(&written).is_empty(), "{text}");
    sandbox.ok(&["import", "b.json"]);
    let log = sandbox.ok(&["--on", "b", "log"]);
    assert_eq!(log.lines().count(), 3, "{log}");
}

#[test]
fn a_strict_import_of_several_takes_all_or_none() {
    let sandbox = Sandbox::empty();
    sandbox.write("good.json", r#"[{"role":"user","content":"hi"}]"#);
    sandbox.write(
        "bad.json",
        r#"[{"role":"user","content":"hi"},{"role":"nobody"}]"#,
    );
    let said = sandbox.tract(&["import", "--strict", "good.json", "bad.json"]);
    assert!(
        said.contains("problem: ") && said.contains("exit code: 3"),
        "{said}"
    );
    assert!(!sandbox.work().join(".tract").exists(), "nothing was made");
}

#[test]
fn a_wrong_format_is_refused() {
    let sandbox = Sandbox::empty();
    sandbox.write("chat.json", r#"[{"role":"user","content":"hi"}]"#);
    let said = sandbox.tract(&["import", "--format", "codex", "chat.json"]);
    assert!(said.contains("the content is openai, not codex"), "{said}");
}

#[test]
fn a_line_of_50_mb_comes_in_whole() {
    let sandbox = Sandbox::empty();
    let long = "a line of a log, and one more ".repeat(50_000_000 / 30);
    let rows = [
        r#"{"role":"user","content":"short"}"#.to_owned(),
        format!(r#"{{"role":"assistant","content":"{long}"}}"#),
        r#"{"role":"user","content":"after it"}"#.to_owned(),
    ];
    let rows = rows.map(|row| format!(r#"{{"messages":[{row}]}}"#));
    let path = sandbox.write("long.jsonl", rows.join("\n"));
    // On the library: counting the tokens of 50 MB takes long in a debug build.
    let repo = tract::repo::Repo::ephemeral().expect("a repository");
    let request = tract::ingest::ImportRequest::at(tract::model::Millis(0), "import");
    let report = tract::ingest::import(&repo, &path, &request, &mut |_| {}).expect("imports");
    assert_eq!((report.sessions.len(), report.problem_count), (3, 0));
    let context = repo
        .context(&report.sessions[1].tip.expect("a commit"))
        .expect("a context");
    let messages = repo.messages(&context).expect("its messages");
    assert_eq!(messages[0].parts, [tract::model::Part::text(long)]);
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_does_not_end_the_import_of_its_directory() {
    let sandbox = Sandbox::new();
    sandbox.write(&format!("there/{ID}.jsonl"), SESSION);
    let link = sandbox.work().join("there/gone.jsonl");
    std::os::unix::fs::symlink("nowhere.jsonl", link).expect("made");
    sandbox.ok(&["import", "there"]);
}

#[test]
fn copies_of_a_session_that_differ_in_what_was_taken_back_settle() {
    let data = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/claude-code/rewind.jsonl"
    );
    let session = std::fs::read_to_string(data).expect("read");
    let sandbox = Sandbox::empty();
    sandbox.write("one.jsonl", &session);
    sandbox.write("two.jsonl", session.replace("A cat.", "A dog."));
    let import = |name| sandbox.ok(&["-q", "import", name]);
    import("one.jsonl");
    import("two.jsonl");
    let branches = sandbox.ok(&["branch"]);
    insta::assert_snapshot!(branches, @r"
    * main         f822b43  2026-01-05 10:00:06  30 tokens  claude-code  Hello.
      main/leaf-1  13d1427  2026-01-05 10:00:04  30 tokens  claude-code  Hello.
      main/leaf-2  7af29ac  2026-01-05 10:00:04  30 tokens  claude-code  Hello.
    ");
    // In whichever order they come again, nothing moves.
    for name in ["one.jsonl", "two.jsonl", "two.jsonl", "one.jsonl"] {
        import(name);
        assert_eq!(sandbox.ok(&["branch"]), branches, "{name}");
    }
    assert_eq!(sandbox.ok(&["reflog"]).lines().count(), 2);
}

#[test]
fn a_history_of_aider_is_its_sessions_and_grows() {
    let sandbox = Sandbox::empty();
    let history = include_str!("../../data/aider/.aider.chat.history.md");
    fs::create_dir(sandbox.work().join("mill")).expect("made");
    sandbox.write("mill/.aider.chat.history.md", history);
    insta::assert_snapshot!(sandbox.tract(&["import", "mill"]));
    let more = "\n#### And a roof?  \n\nA roof.\n\n# aider chat started at 2026-03-03 09:00:00\n\n#### Hello  \n\nHi.\n";
    sandbox.write("mill/.aider.chat.history.md", format!("{history}{more}"));
    insta::assert_snapshot!(sandbox.tract(&["import", "mill/.aider.chat.history.md"]));
    insta::assert_snapshot!(sandbox.tract(&["branch"]));
    insta::assert_snapshot!(sandbox.tract(&["compile", "--format", "openai"]));
}

#[test]
fn a_session_of_pi_that_lost_its_first_line_is_still_one_of_pis() {
    let whole = include_str!("../../data/pi/tree.jsonl");
    let (_, headless) = whole.split_once('\n').expect("two lines");
    let sandbox = Sandbox::new();
    sandbox.write("headless.jsonl", headless);
    let said = sandbox.tract(&["import", "headless.jsonl"]);
    assert!(said.contains("Imported pi"), "{said}");
    let results = sandbox.ok(&["log", "-n", "0", "--role", "tool"]);
    assert!(!results.is_empty());
}

#[test]
fn the_format_that_somebody_names_is_tried_even_where_the_file_looks_like_anothers() {
    let sandbox = Sandbox::new();
    // Two records of Droid's, then a session of Codex.
    let first = r#"{"type":"session_start","id":"d","cwd":"/w"}"#;
    let codex = include_str!("../../data/codex/plain.jsonl");
    sandbox.write("mixed.jsonl", format!("{first}\n{codex}"));
    let said = sandbox.tract(&["import", "--format", "codex", "mixed.jsonl"]);
    assert!(said.contains("Imported codex"), "{said}");
    // What nothing comes of is refused as ever.
    let refused = sandbox.tract(&["import", "--format", "aider", "mixed.jsonl"]);
    assert!(
        refused.contains("the content is droid, not aider"),
        "{refused}"
    );
}

#[test]
fn a_chat_that_calls_its_texts_values_is_read() {
    let sandbox = Sandbox::new();
    let chat = r#"[{"role":"user","value":"How many sacks?"},
        {"role":"assistant","content":[{"type":"text","value":"Twelve."}]}]"#;
    sandbox.write("chat.json", chat);
    sandbox.ok(&["import", "chat.json"]);
    let text = sandbox.ok(&["compile", "--format", "text"]);
    assert!(
        text.contains("How many sacks?") && text.contains("Twelve."),
        "{text}"
    );
}

#[test]
fn a_result_of_geminis_with_output_and_error_keeps_both() {
    let sandbox = Sandbox::new();
    let session = r#"{"sessionId":"g1","projectHash":"p","startTime":"2026-03-02T08:00:00.000Z",
        "lastUpdated":"2026-03-02T08:00:09.000Z","messages":[
        {"id":"m1","timestamp":"2026-03-02T08:00:01.000Z","type":"user","content":"Count."},
        {"id":"m2","timestamp":"2026-03-02T08:00:02.000Z","type":"gemini","content":"","toolCalls":[
        {"id":"c1","name":"shell","args":{"command":"ls"},"status":"error","result":[{"functionResponse":
        {"id":"c1","name":"shell","response":{"output":"one sack","error":"the lamp went out"}}}]}]}]}"#;
    sandbox.write("session-g1.json", session);
    sandbox.ok(&["import", "session-g1.json"]);
    let text = sandbox.ok(&["compile", "--format", "text"]);
    assert!(
        text.contains("one sack") && text.contains("the lamp went out"),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_round_is_passed_over() {
    let sandbox = Sandbox::empty();
    let good = sandbox.write("s/good.json", r#"[{"role":"user","content":"hi"}]"#);
    let round = good.with_file_name("a.jsonl");
    std::os::unix::fs::symlink(&round, &round).expect("linked");
    std::os::unix::fs::symlink(".", good.with_file_name("loop")).expect("linked");
    let said = sandbox.tract(&["import", "s"]);
    assert!(
        said.contains("Skipped 1 file: 1 link that leads nowhere (-v names them)\n"),
        "{said}"
    );
    assert!(
        said.contains(": 1 message") && !said.contains("exit code"),
        "{said}"
    );
    // Whoever names it is told.
    let said = sandbox.tract(&["import", "s/a.jsonl"]);
    assert!(
        said.contains("error: s/a.jsonl: too many levels of symbolic links"),
        "{said}"
    );
}

/// A file of several sessions has a name of its own, which is none of theirs.
#[test]
fn sessions_of_one_file_are_told_by_their_own_names_and_titles() {
    let sandbox = Sandbox::new();
    let data = |path: &str| format!("{}/tests/data/{path}", env!("CARGO_MANIFEST_DIR"));
    sandbox.ok(&["import", &data("otel/conventions.json")]);
    sandbox.ok(&["import", &data("inspect/log.json")]);
    let said = |branch: &str| {
        let status = sandbox.ok(&["--on", branch, "status"]);
        status.lines().next().unwrap_or_default().to_owned()
    };
    assert!(said("main").ends_with("(otel/mill-7)"), "{}", said("main"));
    let of_sample = said("log/2");
    assert!(
        of_sample.ends_with("(inspect \"2, epoch 2\")"),
        "{of_sample}"
    );
    // In the midst of one, too, and to programs.
    let call = r#"{"id":1,"method":"status","params":{},"on":"log/2"}"#;
    let told = sandbox.tract_with(&["api"], format!("{call}\n"));
    assert!(
        told.contains(r#""session":{"name":"refs/sessions/inspect/log/2","title":"2, epoch 2""#),
        "{told}"
    );
    sandbox.ok(&["branch", "aside", "main~2"]);
    assert!(
        said("aside").ends_with("(otel/mill-7)"),
        "{}",
        said("aside")
    );
    let branches = sandbox.ok(&["branch"]);
    assert!(branches.contains("inspect  2, epoch 2"), "{branches}");
    let rows = sandbox.ok(&["dataset"]);
    assert!(
        rows.contains("otel/mill-7") && !rows.contains("conventions"),
        "{rows}"
    );
    let found = sandbox.ok(&["find", "--session", "mill-7", "sacks"]);
    assert!(found.contains("sacks"), "{found}");
}
