//! What the keys are, in as many words as there is room for.

use tract::render::{Label, Line};

/// As many of the keys as there is room for.
pub fn keys(is_window: bool, width: usize) -> String {
    let other = if is_window { "transcript" } else { "window" };
    let lines = [
        format!(
            "? keys · / search or command · ctrl+o {other} · enter opens · o operations · z undo · q quit"
        ),
        format!("? keys · / search, commands · ctrl+o {other} · enter opens · q quit"),
        "? keys · / search · ctrl+o · q quit".to_owned(),
        "? keys · q quit".to_owned(),
    ];
    let fits = |line: &String| line.chars().count() <= width;
    lines
        .into_iter()
        .find(fits)
        .unwrap_or_else(|| "?".to_owned())
}

/// The keys of the first screen.
pub fn of_chooser() -> Vec<Line> {
    let keys = [
        (
            "words",
            "find: names, titles, prompts, tools and directories with all of them",
        ),
        ("↓ ↑", "the next, the one before; page down, page up"),
        ("enter", "opens it"),
        ("tab", "only those of this directory, or all"),
        ("ctrl+u", "takes back what is typed"),
        ("esc ctrl+c", "leaves"),
        ("", ""),
        ("?", "these keys, where nothing is typed; any key goes back"),
    ];
    keys.iter().map(line).collect()
}

fn line((key, what): &(&str, &str)) -> Line {
    Label::Command.of(*key).left(14) + *what
}

/// All keys and commands, a line each; with those of a talk.
pub fn all(is_talk: bool) -> Vec<Line> {
    let keys = [
        ("j k  ↓ ↑", "a line down, up"),
        ("space b", "a page down, up; ctrl+d ctrl+u half of one"),
        ("g G", "the first, the last message"),
        ("J K", "the next message, the one before"),
        ("] [", "the next turn of the user, the one before"),
        (
            "enter",
            "opens and closes the message; a marker opens to what it hid",
        ),
        ("ctrl+o", "window or transcript"),
        (
            "/text",
            "searches upwards and opens what is folded; n N again, up and down",
        ),
        (
            "/word",
            "a command, tab completes it; //word searches for it",
        ),
        ("t T", "calls off, short, full; thoughts off and on"),
        ("y", "copies the message as it is"),
        ("d", "hides the message; z brings it back"),
        (
            "r",
            "writes a session for the tool, and says how it goes on",
        ),
        ("e", "writes a file: .html or .md to read, else the session"),
        (
            "a",
            "what a compaction took away: of the chosen marker, or the newest",
        ),
        ("o", "the operations"),
        ("z ctrl+z", "undoes the last command"),
        ("Z ctrl+y", "does it again"),
        ("s", "another branch or session"),
        ("q", "leaves"),
        ("", ""),
        ("/clear", "starts over from the system messages"),
        (
            "/compact",
            "a summary in place of all; it is asked for, or typed behind it",
        ),
        ("/truncate 9", "all but the newest 9 are hidden"),
        ("/undo /redo", "as z and Z"),
        (
            "/rewind",
            "back to a message that is picked, or :12; before one of yours, to say it in other words",
        ),
        (
            "/restore",
            "brings back what is picked: a hidden message, a marker",
        ),
        (
            "/drop",
            "hides a message that is picked, or those that are named",
        ),
        ("/resume", "as r; --in and a tool writes one for that tool"),
        ("/export FILE", "as e; --redact leaves secrets out"),
        ("/quit", "leaves"),
    ];
    let talk = [
        ("i", "says something; esc goes back to these keys"),
        ("esc ctrl+c", "cancels the answer; what was said is kept"),
        ("ctrl+d", "leaves, where nothing is typed"),
        ("/save DIR", "keeps a conversation that is in memory alone"),
        ("", ""),
    ];
    let talk = talk.iter().filter(|_| is_talk);
    talk.chain(&keys).map(line).collect()
}
