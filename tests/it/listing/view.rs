//! Reading a conversation: the window, the transcript, and the tree.

use crate::sandbox::{Sandbox, THE_FILE, is_left_out};
use crate::sessions::import::with_demo;

/// So many messages, by turns the user's and the assistant's, committed at once.
fn with_count(count: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    if count > 0 {
        add(&sandbox, 1, count);
    }
    sandbox
}

fn add(sandbox: &Sandbox, from: usize, to: usize) {
    let row = |at: usize| {
        let role = if at % 2 == 1 { "user" } else { "assistant" };
        format!("{{\"role\":\"{role}\",\"content\":\"message {at}\"}}\n")
    };
    let rows: String = (from..=to).map(row).collect();
    sandbox.write("batch.jsonl", rows);
    sandbox.ok(&["commit", "--batch", "batch.jsonl"]);
}

/// The messages that a view shows, and its header.
fn seen(sandbox: &Sandbox, arguments: &[&str]) -> (Option<String>, Vec<String>) {
    let text = sandbox.ok(arguments);
    let header = text.lines().next().filter(|line| line.starts_with('↑'));
    let said = text.lines().filter_map(|line| {
        let at = line.find("message ")?;
        (!line.starts_with('↑')).then(|| line[at..].to_owned())
    });
    (header.map(str::to_owned), said.collect())
}

#[test]
fn a_window_shows_the_last_fifty_and_says_how_many_are_earlier() {
    for (count, header) in [
        (1, None),
        (49, None),
        (50, None),
        (51, Some("↑ 1 earlier message (--transcript shows them)")),
        (120, Some("↑ 70 earlier messages (--transcript shows them)")),
    ] {
        let sandbox = with_count(count);
        let (found, said) = seen(&sandbox, &["view"]);
        assert_eq!(found.as_deref(), header, "{count}");
        let first = count.saturating_sub(50) + 1;
        let wanted: Vec<String> = (first..=count).map(|at| format!("message {at}")).collect();
        assert_eq!(said, wanted, "{count}");
        let (none, all) = seen(&sandbox, &["transcript"]);
        assert_eq!((none, all.len()), (None, count));
    }
    insta::assert_snapshot!(with_count(0).tract(&["view"]));
}

#[test]
fn each_message_has_its_number() {
    let sandbox = with_count(120);
    let text = sandbox.ok(&["view", "--window", "3"]);
    insta::assert_snapshot!(text);
    for number in 118..=120 {
        let shown = sandbox.ok(&["show", &format!(":{number}")]);
        assert!(shown.contains(&format!("message {number}\n")), "{shown}");
    }
}

#[test]
fn the_setting_says_how_many_a_window_shows() {
    let sandbox = with_count(9);
    sandbox.ok(&["config", "window.size", "4"]);
    let (header, said) = seen(&sandbox, &["view"]);
    assert_eq!(
        header.as_deref(),
        Some("↑ 5 earlier messages (--transcript shows them)")
    );
    assert_eq!(said.len(), 4);
    assert_eq!(seen(&sandbox, &["view", "--window", "9"]).1.len(), 9);
    insta::assert_snapshot!(sandbox.tract(&["config", "window.size", "many"]));
}

#[test]
fn window_and_transcript_agree_with_what_is_compiled_after_each_command() {
    let sandbox = with_count(10);
    let compiled = || {
        let request = sandbox.ok(&["compile"]);
        let count = request.matches("message ").count();
        let visible = seen(&sandbox, &["view", "--window", "1000"]).1;
        assert_eq!(visible.len(), count, "{request}");
        count
    };
    let transcript = || seen(&sandbox, &["transcript"]).1.len();
    assert_eq!((compiled(), transcript()), (10, 10));
    sandbox.ok(&["truncate", "--keep", "3"]);
    assert_eq!((compiled(), transcript()), (4, 10));
    let (header, _) = seen(&sandbox, &["view"]);
    assert_eq!(
        header.as_deref(),
        Some("↑ 6 earlier messages (--transcript shows them)")
    );
    sandbox.ok(&["compact", "-m", "a summary of all"]);
    assert_eq!((compiled(), transcript()), (0, 0));
    add(&sandbox, 11, 12);
    assert_eq!((compiled(), transcript()), (2, 2));
    sandbox.ok(&["clear"]);
    assert_eq!((compiled(), transcript()), (0, 0));
    add(&sandbox, 13, 14);
    assert_eq!((compiled(), transcript()), (2, 2));
    let all = sandbox.ok(&["view", "--all"]);
    insta::assert_snapshot!(all);
}

#[test]
fn a_chat_with_tools_is_drawn_with_calls_on_one_line_and_outputs_folded() {
    insta::assert_snapshot!(with_demo().tract(&["view"]));
    insta::assert_snapshot!(with_demo().tract(&["view", "--all", "HEAD~8"]));
}

#[test]
fn a_streams_tree_is_printed_with_and_without_a_repository() {
    let stream = std::fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/event-log/new.jsonl"
    ));
    let stream = stream.expect("readable");
    let sandbox = Sandbox::empty();
    sandbox.write("log.jsonl", &stream);
    let alone = sandbox.ok(&["view", "--format", "tree", "log.jsonl"]);
    sandbox.ok(&["init"]);
    sandbox.ok(&["import", "log.jsonl"]);
    assert_eq!(
        sandbox.ok(&["view", "--format", "tree", "log.jsonl"]),
        alone
    );
    assert_eq!(sandbox.ok(&["view", "--format", "tree"]), alone);
    insta::assert_snapshot!(sandbox.ok(&["view", "log.jsonl"]));
    insta::assert_snapshot!(sandbox.ok(&["view"]));
}

#[test]
fn what_cannot_be_viewed_says_why() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::empty();
    insta::assert_snapshot!(sandbox.tract(&["view"]));
    insta::assert_snapshot!(sandbox.tract(&["view", "missing.jsonl"]));
    sandbox.write("notes.txt", "no session\n");
    insta::assert_snapshot!(sandbox.tract(&["view", "notes.txt"]));
    sandbox.ok(&["init"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "hi"]);
    insta::assert_snapshot!(sandbox.tract(&["view", "mian"]));
    insta::assert_snapshot!(sandbox.tract(&["view", "--window", "3", "--all"]));
}

#[test]
fn hostile_text_is_shown_and_not_executed() {
    let sandbox = Sandbox::with_messages(&[("user", "a\u{1b}[31mb\u{202e}c")]);
    let text = sandbox.ok(&["view"]);
    assert!(text.contains("a␛[31mb\\u{202e}c"), "{text}");
}

#[test]
fn what_is_hidden_is_in_the_transcript_and_says_by_what() {
    let sandbox = with_count(8);
    sandbox.ok(&["drop", ":2"]);
    sandbox.ok(&["annotate", ":2", "--skip", "--reason", "no longer true"]);
    sandbox.ok(&["truncate", "--keep", "2"]);
    insta::assert_snapshot!(sandbox.ok(&["transcript"]));
    let (header, said) = seen(&sandbox, &["view"]);
    assert_eq!(said, ["message 1", "message 7", "message 8"]);
    assert_eq!(
        header.as_deref(),
        Some("↑ 5 earlier messages (--transcript shows them)")
    );
}

#[test]
fn what_a_restore_brings_back_is_hidden_no_more() {
    let log = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/event-log/agents.jsonl"
    );
    let sandbox = Sandbox::new();
    sandbox.ok(&["import", log]);
    let tree = || -> String { sandbox.ok(&["view", "--format", "tree"]) };
    assert!(tree().contains(r#""hidden":"compaction""#));
    let hide = sandbox.ok(&["log", "--op", "compact"]);
    sandbox.ok(&["restore", &hide[..7]]);
    assert!(!tree().contains("hidden"), "{}", tree());
    let (_, all) = (0, sandbox.ok(&["view"]));
    assert!(all.contains("The shed is green."), "{all}");
}

#[test]
fn a_window_that_begins_with_a_result_names_its_call() {
    let sandbox = with_demo();
    let text = sandbox.ok(&["view", "--window", "2"]);
    insta::assert_snapshot!(text);
}

#[test]
fn a_file_that_is_not_there_is_missed_as_a_file() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    sandbox.write("folder/a.jsonl", "");
    insta::assert_snapshot!(sandbox.tract(&["view", "nosuch.jsonl"]), @r"
    exit code: 1
    --- stderr
    error: nosuch.jsonl: no such file, and no such commit
    hint: tract import lists this directory's sessions, tract log the commits
    ");
    insta::assert_snapshot!(sandbox.tract(&["view", "ideas/one"]), @r"
    exit code: 1
    --- stderr
    error: ideas/one: no such file, and no such commit
    hint: tract import lists this directory's sessions, tract log the commits
    ");
    insta::assert_snapshot!(sandbox.tract(&["view", "./folder"]), @r"
    exit code: 1
    --- stderr
    error: ./folder is a directory
    hint: tract import ./folder takes the sessions in it
    ");
    insta::assert_snapshot!(sandbox.tract(&["view", "nosuch"]), @r"
    exit code: 1
    --- stderr
    error: nothing here is called 'nosuch'
    hint: tract log --oneline lists them, tract branch the branches
    ");
    insta::assert_snapshot!(sandbox.tract(&["view", ":/a.json"]), @r"
    exit code: 1
    --- stderr
    error: no commit ':/a.json'
    hint: tract find TEXT searches all branches and sessions
    ");
}

/// A session with a coloured output of a progress bar, and with thinking of which no text is kept.
fn coloured(sandbox: &Sandbox) {
    let printed = "\u{1b}[31mred\u{1b}[0m\n10%\r50%\r100%\nend";
    let rows = [
        ("user", serde_json::json!("Run it.")),
        (
            "assistant",
            serde_json::json!([
                {"type": "thinking", "thinking": "", "signature": "c2ln"},
                {"type": "text", "text": "I run it."},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}},
            ]),
        ),
        (
            "user",
            serde_json::json!([{"type": "tool_result", "tool_use_id": "t1", "content": printed}]),
        ),
    ];
    let record = |(at, (kind, content)): (usize, (&str, serde_json::Value))| {
        let parent = at.checked_sub(1).map(|at| format!("r{at}"));
        let record = serde_json::json!({
            "type": kind, "uuid": format!("r{at}"), "parentUuid": parent, "cwd": "/w", "version": "2.1.100",
            "sessionId": "5a1d2c8e-1111-4222-8333-444455556677",
            "timestamp": format!("2026-03-14T10:0{at}:00.000Z"),
            "message": {"role": kind, "content": content},
        });
        format!("{record}\n")
    };
    let lines: String = rows.into_iter().enumerate().map(record).collect();
    sandbox.write("session.jsonl", lines);
    sandbox.ok(&["import", "session.jsonl"]);
}

#[test]
fn colours_of_an_output_are_no_text_and_empty_thinking_is_marked() {
    let sandbox = Sandbox::new();
    coloured(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["view"]), @r"
    :1     user
               Run it.

    :2     assistant
               thinking  (empty)
               I run it.
               Bash make
    :3           red
                 100%
                 end
    ");
    for format in ["html", "markdown"] {
        let page = sandbox.ok(&["export", "--format", format]);
        assert!(
            !page.contains("[31m") && !page.contains("50%\r"),
            "{format}: {page}"
        );
        assert!(page.contains("empty"), "{format}: {page}");
    }
    // What stays as it came is what is sent, and what is kept.
    let sent = sandbox.ok(&["compile", "--format", "anthropic"]);
    assert!(sent.contains("[31mred"), "{sent}");
}
