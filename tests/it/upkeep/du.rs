//! What takes the room.

use std::fs;

use crate::sandbox::{Sandbox, THE_FILE, is_left_out};
use crate::upkeep::damage::repository;

/// The lines of one section, without its heading.
fn section<'a>(told: &'a str, heading: &str) -> Vec<&'a str> {
    let lines = told.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| !line.is_empty()).collect()
}

/// The first number behind what a line begins with, after so many others.
fn number(line: &str, at: usize) -> u64 {
    let words = line.split_whitespace();
    let mut numbers = words.filter_map(|word| word.replace(',', "").parse().ok());
    numbers.nth(at).expect("a number")
}

#[test]
fn what_takes_the_room_adds_up_to_the_files() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = repository();
    let told = sandbox.ok(&["du", "--all"]);
    let size = |name: &str| {
        let file = fs::metadata(sandbox.work().join(".tract").join(name));
        file.map_or(0, |file| file.len())
    };
    let files = section(&told, "The files");
    let (all, kinds) = files.split_last().expect("some");
    assert_eq!(number(all, 0), size("tract.db") + size("tract.db-wal"));
    assert_eq!(
        kinds.iter().map(|line| number(line, 0)).sum::<u64>(),
        number(all, 0)
    );
    assert!(kinds.iter().any(|line| line.contains("session files")));

    // Messages are the same however they are told apart.
    let sum = |heading: &str, at: usize| -> u64 {
        let lines = section(&told, heading);
        lines.iter().map(|line| number(line, at)).sum()
    };
    for at in 0..3 {
        assert_eq!(sum("Messages", at), sum("By role", at), "{told}");
        assert_eq!(sum("Messages", at), sum("By tool", at), "{told}");
    }
    assert!(section(&told, "By branch, tag and session").len() > 1);
    assert!(!section(&told, "Kept session files").is_empty());
}

#[test]
fn it_says_what_only_undo_leads_to() {
    let sandbox = Sandbox::with_messages(&[
        ("system", "Be brief."),
        ("user", "one"),
        ("assistant", "two"),
        ("user", "three"),
    ]);
    sandbox.ok(&["branch", "other", "HEAD~1"]);
    sandbox.ok(&["reset", "HEAD~2"]);
    sandbox.ok(&["reset", "HEAD~1"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "four"]);
    sandbox.ok(&["drop", ":2", "--force"]);
    let told = sandbox.tract(&["du"]);
    let told = &told[told.find("Messages").expect("a section")..];
    insta::assert_snapshot!(told, @r"
    Messages
      shown                         3 messages  175  of  175
      hidden or replaced             1 message   55  of   55
      only undo and reflog lead to   1 message   56  of   56

    By role
      user       3 messages  165  of  165
      system      1 message   62  of   62
      assistant   1 message   59  of   59

    By branch, tag and session
      other                 3 messages  175  of  175  alone  59
      main                  2 messages  117  of  117  alone  55
      ORIG_HEAD, PREV_HEAD  2 messages  116  of  116
    --- stderr
    hint: tract gc --dry-run says what of it could go
    ");
    let nothing = Sandbox::new();
    assert!(nothing.ok(&["du"]).starts_with("The files\n"));
}

#[test]
fn on_a_terminal_sizes_are_for_people() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    let Some(told) = sandbox.on_terminal("80", &["du"]) else {
        return;
    };
    assert!(told.contains("kB"), "{told}");
    let told = &told[told.find("Messages").expect("a section")..];
    insta::assert_snapshot!(told, @r"
    Messages
      shown  2 messages  113 B  of  113 B

    By role
      assistant  1 message  59 B  of  59 B
      user       1 message  54 B  of  54 B

    By branch, tag and session
      main  2 messages  113 B  of  113 B  alone  113 B
    ");
}
