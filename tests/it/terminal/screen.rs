//! `tract view -i` on a real terminal: tmux holds the screen, types the keys and tells what is seen.

use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;

/// Long enough for a busy machine.
const LONG: Duration = Duration::from_secs(60);
/// How often the screen is looked at.
const POLL: Duration = Duration::from_millis(20);

/// A terminal in tmux, with a shell in a sandbox.
pub struct Screen {
    socket: String,
}

impl Screen {
    /// None, and a word about it, where there is no tmux.
    pub fn open(sandbox: &Sandbox, columns: u32, rows: u32) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let screen = Self {
            socket: format!("tract-test-{}-{number}", std::process::id()),
        };
        let tract = sandbox.command(&[]);
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &screen.socket, "-f", "/dev/null", "new-session", "-d"])
            .args(["-x", &columns.to_string(), "-y", &rows.to_string()])
            .args(["-e", "ENV=", "-c"])
            .arg(sandbox.work())
            .arg("sh")
            .env_clear()
            .env("TERM", "screen-256color")
            .env("LC_ALL", "C.UTF-8");
        let known = tract
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)));
        // The width is the terminal's own.
        tmux.envs(known.filter(|(name, _)| *name != "COLUMNS"));
        let Ok(output) = tmux.output() else {
            eprintln!("skipped: there is no tmux here to hold a screen");
            return None;
        };
        assert!(output.status.success(), "{output:?}");
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_tract"));
        let folder = program.parent().expect("it is in a folder");
        screen.line(&format!("PATH={}:$PATH PS1='$ '; clear", folder.display()));
        screen.waits("a prompt", |seen| seen.trim() == "$");
        Some(screen)
    }

    pub fn tmux(&self, arguments: &[&str]) -> Output {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &self.socket]).args(arguments);
        tmux.output().expect("tmux runs")
    }

    /// Types keys as tmux calls them.
    pub fn keys(&self, keys: &[&str]) {
        let mut arguments = vec!["send-keys"];
        arguments.extend(keys);
        assert!(self.tmux(&arguments).status.success());
    }

    /// Types a text as it is.
    pub fn text(&self, text: &str) {
        assert!(self.tmux(&["send-keys", "-l", text]).status.success());
    }

    /// Types a line.
    pub fn line(&self, text: &str) {
        self.text(text);
        self.keys(&["Enter"]);
    }

    /// What is on the screen.
    pub fn seen(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p"]);
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// The same with what has scrolled away.
    pub fn scrollback(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p", "-S", "-"]);
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Waits until this holds of the screen.
    pub fn waits(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let from = Instant::now();
        loop {
            let seen = self.seen();
            if holds(&seen) {
                return seen;
            }
            assert!(from.elapsed() < LONG, "{what} was not seen:\n{seen}");
            std::thread::sleep(POLL);
        }
    }

    pub fn sees(&self, text: &str) -> String {
        self.waits(text, |seen| seen.contains(text))
    }

    /// The first line, which says what is read, and where in it.
    pub fn heads(&self, parts: &[&str]) -> String {
        self.waits(&parts.join(" … "), |seen| {
            let first = seen.lines().next().unwrap_or_default();
            parts.iter().all(|part| first.contains(part))
        })
    }

    pub fn process(&self) -> String {
        let output = self.tmux(&["list-panes", "-F", "#{pane_pid}"]);
        let shell = String::from_utf8(output.stdout).expect("UTF-8");
        let children = Command::new("ps")
            .args(["-o", "pid=", "--ppid", shell.trim()])
            .output()
            .expect("ps runs");
        let children = String::from_utf8(children.stdout).expect("UTF-8");
        children.trim().to_owned()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// So many messages, by turns the user's and the assistant's, each of two lines.
fn add(sandbox: &Sandbox, from: usize, to: usize) {
    let row = |at: usize| {
        let role = if at % 2 == 1 { "user" } else { "assistant" };
        format!("{{\"role\":\"{role}\",\"content\":\"message {at}.\\nand more of {at}.\"}}\n")
    };
    let rows: String = (from..=to).map(row).collect();
    sandbox.write("batch.jsonl", rows);
    sandbox.ok(&["commit", "--batch", "batch.jsonl"]);
}

#[test]
fn a_conversation_is_chosen_read_searched_followed_compacted_and_left_as_it_was() {
    let sandbox = Sandbox::new();
    add(&sandbox, 1, 120);
    sandbox.ok(&["branch", "a-look-back", "HEAD~100"]);
    let Some(screen) = Screen::open(&sandbox, 80, 24) else {
        return;
    };
    screen.line("echo before");
    screen.sees("\nbefore");
    screen.line("tract view -i");

    // Chosen by typing.
    let first = screen.sees("conversations here");
    assert!(
        first.contains("main") && first.contains("a-look-back"),
        "{first}"
    );
    // Its keys, and back: what is typed then is no search.
    screen.text("?");
    let keys = screen.sees("any key goes back");
    assert!(keys.contains("takes back what is typed"), "{keys}");
    screen.text("x");
    let back = screen.sees("conversations here");
    assert!(
        back.contains("? keys") && back.contains("a-look-back"),
        "{back}"
    );
    screen.text("look");
    let one = screen.heads(&["1 of 1"]);
    assert!(!one.contains("main"), "{one}");
    screen.keys(&["C-u"]);
    screen.text("main");
    screen.heads(&["1 of 1"]);
    screen.keys(&["Enter"]);

    // Opened at its end, with the last four unfolded.
    let end = screen.heads(&["main · window", "–:120 of 120"]);
    assert!(
        end.contains("and more of 117.") && !end.contains("and more of 116."),
        "{end}"
    );

    // Beyond the window, up to the first message.
    screen.keys(&["g"]);
    let start = screen.heads(&[":1–:"]);
    assert!(
        start.contains("message 1.") && start.contains("message 9."),
        "{start}"
    );
    screen.keys(&["G"]);
    screen.heads(&["–:120 of 120"]);
    for _ in 0..3 {
        screen.keys(&["PPage"]);
    }
    screen.sees("↑ 70 earlier messages · ↓ the last 50, the window");

    // The transcript and back.
    screen.keys(&["C-o"]);
    screen.heads(&["main · transcript"]);
    screen.keys(&["C-o"]);
    screen.heads(&["main · window"]);

    // A search opens what is folded.
    screen.text("/and more of 23");
    screen.sees("/and more of 23");
    screen.keys(&["Enter"]);
    let found = screen.sees("and more of 23.");
    assert!(!found.contains("and more of 22."), "{found}");
    screen.text("/no such words");
    screen.keys(&["Enter"]);
    screen.sees("no earlier 'no such words'");

    // Somebody commits.
    screen.keys(&["G"]);
    screen.heads(&["–:120 of 120"]);
    sandbox.ok(&["commit", "-r", "user", "-m", "a question from elsewhere"]);
    screen.heads(&["–:121 of 121"]);
    screen.sees("a question from elsewhere");
    sandbox.ok(&["undo"]);
    screen.heads(&["of 120"]);
    screen.sees("1 message taken back");

    // A summary, and back.
    screen.text("/comp");
    screen.keys(&["Tab"]);
    screen.waits("/compact", |seen| seen.trim_end().ends_with("/compact"));
    screen.keys(&["Enter"]);
    screen.sees("summary:");
    screen.line("all of it was about sheds");
    screen.heads(&[":1–:1 of 1"]);
    screen.sees("all of it was about sheds");
    screen.keys(&["Enter"]);
    let inside = screen.heads(&["compaction: 120 messages hidden", "of 121"]);
    assert!(inside.contains("all of it was about sheds"), "{inside}");
    assert!(inside.contains("message 1."), "{inside}");
    screen.keys(&["Escape"]);
    screen.heads(&[":1–:1 of 1"]);
    screen.keys(&["z"]);
    screen.heads(&["of 120"]);
    screen.keys(&["o"]);
    let operations = screen.heads(&["operations"]);
    assert!(operations.contains("compact -m … (undone)"), "{operations}");
    // What is typed at once with it may come as one.
    screen.keys(&["Escape"]);
    screen.text("/redo");
    screen.keys(&["Enter"]);
    screen.heads(&[":1–:1 of 1"]);
    screen.text("/undo 99");
    screen.keys(&["Enter"]);
    screen.sees("error:");
    screen.text("/rewind");
    screen.keys(&["Enter"]);
    screen.sees("rewind to which message?");
    screen.keys(&["Escape"]);
    screen.keys(&["z"]);
    screen.heads(&["–:120 of 120"]);
    screen.keys(&["?"]);
    screen.sees("ctrl+o");
    screen.keys(&["q"]);
    screen.heads(&["–:120 of 120"]);

    // Left: the screen is as it was, and nothing was added to it.
    screen.keys(&["q"]);
    screen.waits("a prompt", |seen| seen.trim_end().ends_with('$'));
    let all = screen.scrollback();
    assert!(all.contains("\nbefore\n"), "what was there is there: {all}");
    assert!(!all.contains("and more of"), "{all}");
    assert!(!all.contains("conversations here"), "{all}");
    // The shell has its line as before: what is typed is seen.
    screen.line("echo and $((1+1)) after");
    screen.sees("\nand 2 after");
}

#[test]
fn a_session_whose_directory_is_not_known_is_not_here() {
    let sandbox = Sandbox::new();
    let here = sandbox.work().canonicalize().expect("it is there");
    for (id, cwd) in [("aaaa1111", Some(here)), ("bbbb2222", None)] {
        let record = |kind: &str, text: &str| {
            serde_json::json!({
                "type": kind, "uuid": format!("{id}-{kind}"), "parentUuid": null, "sessionId": id, "cwd": cwd, "version": "2.1.100",
                "timestamp": "2026-03-14T10:00:00.000Z", "message": { "role": kind, "content": text },
            })
        };
        let name = format!("{id}.jsonl");
        sandbox.write(
            &name,
            format!("{}\n", record("user", &format!("Paint shed {id}."))),
        );
        sandbox.ok(&["import", &name]);
    }
    let Some(screen) = Screen::open(&sandbox, 80, 8) else {
        return;
    };
    screen.line("tract view -i");
    screen.heads(&["conversations here", "1 of 1"]);
    screen.sees("tab 1 more elsewhere");
    screen.keys(&["Tab"]);
    screen.heads(&["conversations everywhere", "1 of 2"]);
}

#[test]
fn a_signal_gives_the_screen_back() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    let Some(screen) = Screen::open(&sandbox, 40, 8) else {
        return;
    };
    for (signal, code) in [("TERM", 143), ("INT", 130), ("HUP", 129), ("QUIT", 131)] {
        screen.line("clear; tract view -i; echo code $?");
        screen.heads(&["main · window"]);
        let process = screen.process();
        let sent = Command::new("kill").args(["-s", signal, &process]).status();
        assert!(sent.expect("kill runs").success());
        let after = screen.sees(&format!("code {code}"));
        assert!(!after.contains(":2     assistant"), "{after}");
        assert!(!after.contains("main · window"), "{after}");
    }
}

#[test]
fn where_the_terminal_is_gone_it_ends() {
    let sandbox = Sandbox::new();
    add(&sandbox, 1, 3);
    let Some(screen) = Screen::open(&sandbox, 80, 24) else {
        return;
    };
    screen.line("tract view -i");
    screen.sees("message 3.");
    let process = screen.process();
    assert!(!process.is_empty());
    screen.tmux(&["kill-server"]);
    let is_there = || {
        Command::new("kill")
            .args(["-0", &process])
            .output()
            .expect("kill runs")
    };
    let from = Instant::now();
    while is_there().status.success() {
        assert!(from.elapsed() < LONG, "it goes on without a terminal");
        std::thread::sleep(POLL);
    }
}

#[test]
fn it_works_on_the_smallest_screen_and_grows_with_it() {
    let sandbox = Sandbox::new();
    add(&sandbox, 1, 9);
    let Some(screen) = Screen::open(&sandbox, 20, 5) else {
        return;
    };
    screen.line("tract view -i");
    let small = screen.sees("? keys · q quit");
    assert!(
        small.lines().all(|line| line.chars().count() <= 20),
        "{small}"
    );
    assert!(small.contains("9."), "{small}");
    screen.tmux(&["resize-window", "-x", "60", "-y", "30"]);
    let large = screen.heads(&["main · window", ":1–:9 of 9"]);
    assert!(
        large.contains("message 1.") && large.contains("and more of 9."),
        "{large}"
    );
    screen.tmux(&["resize-window", "-x", "20", "-y", "5"]);
    screen.sees("? keys · q quit");
    screen.keys(&["q"]);
    screen.waits("a prompt", |seen| seen.trim_end().ends_with('$'));
}

#[test]
fn what_is_hostile_reaches_no_terminal() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "a\u{1b}[2Jb\u{1b}]0;owned\u{7}c\u{202e}d"),
        ("assistant", "tame"),
    ]);
    let Some(screen) = Screen::open(&sandbox, 60, 10) else {
        return;
    };
    screen.line("tract view -i");
    let seen = screen.sees("tame");
    assert!(seen.contains("a␛[2Jb␛]0;owned␇c\\u{202e}d"), "{seen}");
    screen.text("/\u{1b}");
    screen.keys(&["Escape"]);
    screen.keys(&["q"]);
    screen.waits("a prompt", |seen| seen.trim_end().ends_with('$'));
}

#[test]
fn without_a_terminal_it_says_so() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    insta::assert_snapshot!(sandbox.tract(&["view", "-i"]));
}

#[test]
fn where_nothing_is_visible_the_way_back_is_said_and_the_mode_stays() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    let Some(screen) = Screen::open(&sandbox, 80, 16) else {
        return;
    };
    screen.line("tract view -i");
    screen.heads(&["main · window"]);
    screen.keys(&["C-o"]);
    screen.heads(&["main · transcript"]);
    screen.line("/clear");
    screen.heads(&["main · transcript", "nothing visible"]);
    let hide = sandbox.ok(&["rev-parse", "HEAD"])[..7].to_owned();
    let back = format!("2 messages hidden. /restore {hide} brings them back.");
    screen.sees(&back);
    screen.line(&format!("/restore {hide}"));
    screen.heads(&["main · transcript", "of 2"]);
    screen.line("/clear");
    screen.heads(&["nothing visible"]);
    screen.keys(&["q"]);
    screen.waits("a prompt", |seen| seen.trim_end().ends_with('$'));
    screen.line("clear; tract view -i");
    screen.heads(&["main · window", "nothing visible"]);
    screen.sees(" brings them back.");
}

#[test]
fn what_is_done_by_a_key_is_undone_by_one_on_any_branch() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    sandbox.ok(&["branch", "side"]);
    let Some(screen) = Screen::open(&sandbox, 80, 12) else {
        return;
    };
    for (line, branch) in [
        ("clear; tract view -i main", "main"),
        ("clear; tract view -i side", "side"),
    ] {
        screen.line(line);
        screen.heads(&[branch, "of 2"]);
        screen.keys(&["d"]);
        screen.sees("Hid 1 message");
        screen.heads(&[branch, "of 1"]);
        screen.keys(&["z"]);
        screen.sees("Undid");
        screen.heads(&[branch, "of 2"]);
        screen.keys(&["e"]);
        screen.sees("export to:");
        screen.line(&format!("{branch}.md"));
        screen.sees("Wrote 2 messages");
        screen.keys(&["q"]);
        screen.sees("$");
    }
    let page = |name: &str| std::fs::read_to_string(sandbox.work().join(name)).expect("written");
    assert!(page("side.md").contains("two") && page("main.md").contains("two"));
}
