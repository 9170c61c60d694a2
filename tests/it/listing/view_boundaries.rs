//! Window and transcript at the borders: for each number of messages, after each command that hides.

use crate::sandbox::Sandbox;

/// So many messages, by turns the user's and the assistant's.
fn add(sandbox: &Sandbox, from: usize, to: usize) {
    let row = |at: usize| {
        let role = if at % 2 == 1 { "user" } else { "assistant" };
        format!("{{\"role\":\"{role}\",\"content\":\"message {at}.\"}}\n")
    };
    let rows: String = (from..=to).map(row).collect();
    if !rows.is_empty() {
        sandbox.write("batch.jsonl", rows);
        sandbox.ok(&["commit", "--batch", "batch.jsonl"]);
    }
}

/// What is said of each message that a text holds, in its order.
fn said(text: &str) -> Vec<String> {
    let found = text.match_indices("message ").map(|(at, _)| &text[at..]);
    let found = found.filter_map(|rest| rest.split_once('.'));
    let is_number = |(said, _): &(&str, &str)| said[8..].bytes().all(|b| b.is_ascii_digit());
    let found = found.filter(is_number);
    found.map(|(said, _)| said.to_owned()).collect()
}

/// How many messages a view says are earlier.
fn earlier(text: &str) -> usize {
    let header = text.lines().next().filter(|line| line.starts_with('↑'));
    header.map_or(0, |header| {
        let number = header.split(' ').nth(1).expect("a number");
        let expected = match number {
            "1" => "↑ 1 earlier message (--transcript shows them)".to_owned(),
            number => format!("↑ {number} earlier messages (--transcript shows them)"),
        };
        assert_eq!(header, expected);
        number.replace(',', "").parse().expect("a number")
    })
}

/// The lines that bear a number or a dash: one for each message.
fn entries(text: &str) -> usize {
    let is_one = |line: &&str| {
        let number = line.split_whitespace().next().unwrap_or_default();
        !line.starts_with(' ') && (number.starts_with(':') || number == "-")
    };
    text.lines().filter(is_one).count()
}

/// That compile, window and transcript agree; the messages of each that were appended.
fn agree(sandbox: &Sandbox, window: usize) -> (usize, usize) {
    if sandbox.tract(&["view"]).contains("has no commits yet") {
        for command in ["transcript", "compile"] {
            assert!(sandbox.tract(&[command]).contains("has no commits yet"));
        }
        return (0, 0);
    }
    let compiled = said(&sandbox.ok(&["compile", "--format", "openai"]));
    let whole = sandbox.ok(&["view", "--window", "100000"]);
    assert_eq!(said(&whole), compiled);
    let transcript = sandbox.ok(&["transcript"]);
    let (visible, all) = (entries(&whole), entries(&transcript));
    assert_eq!(earlier(&whole), all - visible);
    let view = sandbox.ok(&["view", "--window", &window.to_string()]);
    let shown = visible.min(window);
    assert_eq!((entries(&view), earlier(&view)), (shown, all - shown));
    assert!(compiled.ends_with(&said(&view)));
    // A transcript holds all that is visible, in the same order.
    let everything = said(&transcript);
    let mut rest = everything.iter();
    assert!(compiled.iter().all(|one| rest.any(|other| other == one)));
    (compiled.len(), everything.len())
}

#[test]
fn compile_window_and_transcript_agree_at_every_border_and_after_every_command() {
    for count in [0, 1, 49, 50, 51, 120] {
        for commands in [
            vec!["truncate", "--keep", "3"],
            vec!["compact", "-m", "in short"],
            vec!["compact", "--keep", "2", "-m", "in short"],
            vec!["clear"],
        ] {
            let sandbox = Sandbox::new();
            add(&sandbox, 1, count);
            assert_eq!(agree(&sandbox, 50), (count, count));
            // An empty branch has nothing to hide, and says so.
            let _ = sandbox.tract(&commands);
            let (visible, all) = agree(&sandbox, 50);
            let expected = match commands[..] {
                ["truncate", ..] if count > 4 => (4, count),
                ["compact", "--keep", ..] if count > 2 => (2, 2),
                ["compact", "-m", ..] if count > 1 => (0, 0),
                ["clear"] => (0, 0),
                // One message is no summary's worth.
                _ => (count, count),
            };
            assert_eq!((visible, all), expected, "{commands:?} of {count}");
            add(&sandbox, count + 1, count + 51);
            assert_eq!(agree(&sandbox, 50), (visible + 51, all + 51));
            if count > 4 {
                for _ in 0..2 {
                    sandbox.ok(&["undo"]);
                }
                assert_eq!(agree(&sandbox, 50), (count, count));
            }
        }
    }
}

#[test]
fn chat_transcript_compact_transcript_clear_transcript() {
    let sandbox = Sandbox::new();
    add(&sandbox, 1, 120);
    let transcript = || sandbox.ok(&["transcript"]);
    let all: Vec<String> = (1..=120).map(|at| format!("message {at}")).collect();
    assert_eq!(agree(&sandbox, 50), (120, 120));
    assert_eq!(said(&transcript()), all);

    sandbox.ok(&["compact", "--keep", "2", "-m", "what came before, in short"]);
    let after = transcript();
    assert_eq!(said(&after), all[118..]);
    assert!(after.contains("what came before, in short"), "{after}");
    assert_eq!(agree(&sandbox, 50), (2, 2));
    add(&sandbox, 121, 123);
    assert_eq!(agree(&sandbox, 50), (5, 5));
    sandbox.ok(&["truncate", "--keep", "2"]);
    assert_eq!(
        agree(&sandbox, 50).1,
        5,
        "a truncation leaves the transcript whole"
    );
    insta::assert_snapshot!(transcript());

    sandbox.ok(&["clear"]);
    assert_eq!(agree(&sandbox, 50), (0, 0));
    insta::assert_snapshot!(sandbox.tract(&["transcript"]));
    add(&sandbox, 124, 125);
    assert_eq!(agree(&sandbox, 50), (2, 2));
    assert_eq!(said(&transcript()), ["message 124", "message 125"]);
    // Across the baselines everything is there, once, in its order.
    let everything = said(&sandbox.ok(&["view", "--all"]));
    let wanted: Vec<String> = (1..=125).map(|at| format!("message {at}")).collect();
    assert_eq!(everything, wanted);
    // And it all comes back.
    for _ in 0..5 {
        sandbox.ok(&["undo"]);
    }
    assert_eq!(said(&transcript()), all);
    assert_eq!(agree(&sandbox, 50), (120, 120));
}
