//! `tract chat` on the whole screen, on a real terminal.

use std::process::Command;

use crate::sandbox::Sandbox;
use crate::terminal::screen::Screen;

/// Answers at once, or begins to and never ends.
const AGENT: &str = "\
last=$(tail -n 1 | sed 's/^  //')
case \"$last\" in
*slow*) for word in one two three; do printf '%s ' \"$word\"; sleep 0.2; done; sleep 1000;;
*calls*) cat call.jsonl; sleep 1000;;
*fails*) echo why >&2; exit 3;;
*) printf 'I heard: %s\\n' \"$last\";;
esac
";

fn texts(sandbox: &Sandbox, place: &[&str]) -> Vec<String> {
    let log = [place, &["log", "-n", "0", "--format", "%s"]].concat();
    let log = sandbox.ok(&log);
    log.lines().rev().map(str::to_owned).collect()
}

fn left(screen: &Screen) -> String {
    screen.waits("a prompt", |seen| seen.trim_end().ends_with('$'))
}

#[test]
fn a_talk_has_the_screen_and_escape_cancels_an_answer() {
    let sandbox = Sandbox::with_messages(&[("user", "what was before")]);
    sandbox.write("agent.sh", AGENT);
    let Some(screen) = Screen::open(&sandbox, 72, 20) else {
        return;
    };
    screen.line("echo before");
    screen.sees("\nbefore");
    screen.line("tract chat --format text --agent 'sh agent.sh'; echo code $?");
    screen.heads(&["main", "window", ":1–:1 of 1"]);
    screen.sees("what was before");

    // Drawn as it comes, below what was said; what is said meanwhile waits.
    screen.line("be slow");
    let seen = screen.sees("one two three");
    let (said, heard) = (seen.find("be slow"), seen.find("one two three"));
    assert!(said.is_some() && said < heard, "{seen}");
    assert!(seen.contains("answering · esc cancels"), "{seen}");
    assert_eq!(
        texts(&sandbox, &[]),
        ["what was before", "be slow"],
        "an answer is committed in the end"
    );
    screen.line("and then");
    screen.sees("an answer is on its way; esc cancels it");

    // Cancelled: what was said is kept, and says so.
    screen.keys(&["Escape"]);
    let seen = screen.sees("Cancelled; the answer so far is kept");
    assert!(
        seen.contains("one two three") && seen.contains("interrupted"),
        "{seen}"
    );
    assert!(!seen.contains('…'), "nothing is under way: {seen}");
    screen.heads(&["of 3"]);
    screen.sees("> and then");
    screen.keys(&["Enter"]);
    screen.heads(&["of 5"]);
    screen.sees("I heard: ");

    // Commands, and one that there is not.
    screen.line("/undo");
    screen.heads(&["of 4"]);
    screen.line("/undo");
    screen.heads(&["of 3"]);
    screen.line("/redo");
    screen.heads(&["of 4"]);
    screen.line("/no-such");
    screen.sees("error: there is no /no-such here");
    screen.line("it fails");
    screen.sees("'sh agent.sh' gave no whole answer: it ended with exit code 3");
    // Whoever goes on to type has read it.
    screen.line("//etc is a place");
    screen.heads(&["of 7"]);
    screen.sees("I heard: /etc is a place");

    // The keys of the view, and back to what is said.
    screen.keys(&["Escape"]);
    screen.sees("i says something");
    screen.keys(&["C-o"]);
    screen.heads(&["transcript"]);
    screen.keys(&["i"]);
    screen.sees("enter says it");
    screen.line("/quit");
    let after = left(&screen);
    assert!(after.contains("I heard: /etc is a place"), "{after}");
    assert!(
        after.contains("code 0") && !after.contains("transcript"),
        "{after}"
    );
    let all = screen.scrollback();
    assert!(all.contains("\nbefore\n"), "{all}");
    screen.line("echo and $((1+1)) after");
    screen.sees("\nand 2 after");
    assert_eq!(
        texts(&sandbox, &[]),
        [
            "what was before",
            "be slow",
            "(interrupted) one two three",
            "and then",
            "it fails",
            "/etc is a place",
            "I heard: /etc is a place"
        ]
    );
    insta::assert_snapshot!(sandbox.ok(&["reflog"]));
}

#[test]
fn a_talk_in_memory_has_the_same_commands_and_can_be_kept() {
    let sandbox = Sandbox::empty();
    sandbox.write("agent.sh", AGENT);
    let Some(screen) = Screen::open(&sandbox, 72, 20) else {
        return;
    };
    screen.line("tract --ephemeral chat --format text --agent 'sh agent.sh'");
    screen.sees("No messages yet; what you say is the first.");
    screen.line("hello");
    screen.heads(&["of 2"]);
    screen.line("again");
    screen.heads(&["of 4"]);
    screen.line("/compact it was about greetings");
    screen.heads(&["of 1"]);
    screen.sees("it was about greetings");
    screen.line("/undo");
    screen.heads(&["of 4"]);
    screen.line("/rewind :2");
    screen.heads(&["of 2"]);
    screen.line("/save kept");
    screen.sees("Kept 2 messages in kept/.tract, on main");
    // What is said after that is kept there, too.
    screen.line("more");
    screen.heads(&["of 4"]);
    screen.keys(&["C-d"]);
    let after = left(&screen);
    assert!(!after.contains("nothing of it was kept"), "{after}");
    assert_eq!(
        texts(&sandbox, &["--repo", "kept"]),
        ["hello", "I heard: hello", "more", "I heard: more"]
    );
    assert!(!sandbox.work().join(".tract").exists());
    screen.line("clear; tract --ephemeral chat --agent cat");
    screen.sees("No messages yet");
    screen.line("/quit");
    screen.sees("nothing of it was kept; /save keeps it");
}

#[test]
fn a_talk_that_a_signal_ends_keeps_what_was_said() {
    let sandbox = Sandbox::new();
    sandbox.write("agent.sh", AGENT);
    let Some(screen) = Screen::open(&sandbox, 72, 20) else {
        return;
    };
    screen.line("tract chat --format text --agent 'sh agent.sh'; echo code $?");
    screen.sees("No messages yet");
    screen.line("be slow");
    screen.sees("one two three");
    let process = screen.process();
    let sent = Command::new("kill").args(["-s", "TERM", &process]).status();
    assert!(sent.expect("kill runs").success());
    let after = screen.sees("code 143");
    assert!(after.contains("interrupted"), "{after}");
    assert_eq!(
        texts(&sandbox, &[]),
        ["be slow", "(interrupted) one two three"]
    );
    // Where the terminal goes, too.
    screen.line("clear; tract chat --format text --agent 'sh agent.sh'");
    screen.heads(&["of 2"]);
    screen.line("be slow, and alone");
    screen.waits("an answer", |seen| {
        seen.contains("alone") && seen.contains("answering") && seen.matches("three").count() == 2
    });
    screen.tmux(&["kill-server"]);
    let last = || texts(&sandbox, &[]);
    let from = std::time::Instant::now();
    while last().len() < 4 {
        assert!(from.elapsed().as_secs() < 60, "{:?}", last());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(last()[3], "(interrupted) one two three");
}

#[test]
fn on_a_terminal_that_cannot_go_back_a_line_is_a_prompt() {
    let sandbox = Sandbox::new();
    let Some(screen) = Screen::open(&sandbox, 72, 20) else {
        return;
    };
    screen.line("TERM=dumb tract chat --format text --agent 'tail -n 1'");
    screen.waits("a prompt", |seen| seen.trim_end().ends_with("\n>"));
    screen.line("hello there");
    screen.waits("the answer", |seen| {
        seen.matches("hello there").count() == 2
    });
    screen.line("/quit");
    left(&screen);
    assert_eq!(texts(&sandbox, &[]).len(), 2);
}

#[test]
fn a_call_that_ran_when_its_answer_was_cancelled_is_interrupted() {
    let sandbox = Sandbox::new();
    sandbox.write("agent.sh", AGENT);
    let call = r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"look","input":{}}]},"parent_tool_use_id":null,"session_id":"s1","uuid":"u1"}"#;
    let call = format!("{call}\n");
    sandbox.write("call.jsonl", call);
    let Some(screen) = Screen::open(&sandbox, 72, 20) else {
        return;
    };
    screen.line("tract chat --format text --agent 'sh agent.sh'");
    screen.sees("No messages yet");
    screen.line("it calls");
    screen.sees("pending");
    screen.keys(&["Escape"]);
    screen.sees("Cancelled; the answer so far is kept");
    let seen = screen.sees("interrupted");
    assert!(!seen.contains("pending"), "{seen}");
}

#[test]
fn a_rewind_goes_before_what_the_user_said_and_lets_it_be_said_otherwise() {
    let sandbox = Sandbox::with_messages(&[("system", "be brief")]);
    sandbox.write("agent.sh", AGENT);
    let Some(screen) = Screen::open(&sandbox, 72, 20) else {
        return;
    };
    screen.line("tract chat --format text --agent 'sh agent.sh'");
    screen.heads(&["of 1"]);
    screen.line("one");
    screen.heads(&["of 3"]);
    screen.line("two");
    screen.heads(&["of 5"]);
    screen.line("/rewind :4");
    screen.heads(&["of 3"]);
    screen.sees("> two");
    screen.line(" and a half");
    screen.heads(&["of 5"]);
    screen.sees("I heard: two and a half");
    // What the model said is gone back to.
    screen.line("/rewind :3");
    screen.heads(&["of 3"]);
    screen.line("three");
    screen.heads(&["of 5"]);
    screen.line("/quit");
    left(&screen);

    // Before the first of all, where nobody answers.
    screen.line("tract reset :2; tract drop :1; clear; tract view -i");
    screen.heads(&["of 1"]);
    screen.line("/rewind :1");
    screen.sees("user: one");
    screen.line(" more");
    screen.sees("one more");
    screen.keys(&["q"]);
    left(&screen);
    assert_eq!(texts(&sandbox, &[]), ["be brief", "one more"]);
}
