//! `tract view --follow`: what another process commits is printed as it comes.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;

/// Long enough for a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// A view that goes on.
struct Following {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Following {
    fn of(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let mut child = sandbox
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let out = BufReader::new(child.stdout.take().expect("it is piped"));
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines() {
                let _ = tell.send(line.expect("UTF-8"));
            }
        });
        Self {
            child,
            lines,
            seen: Vec::new(),
        }
    }

    /// Waits until a line holds this.
    fn sees(&mut self, text: &str) {
        let from = Instant::now();
        while from.elapsed() < LONG {
            if let Ok(line) = self.lines.recv_timeout(Duration::from_millis(50)) {
                let found = line.contains(text);
                self.seen.push(line);
                if found {
                    return;
                }
            }
            assert_eq!(self.child.try_wait().expect("asked"), None, "it has ended");
        }
        panic!("no '{text}' in {:#?}", self.seen);
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Its exit code, and all that it has printed.
    fn ends(mut self) -> (Option<i32>, String) {
        let from = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("asked") {
                self.seen.extend(self.lines.iter());
                return (status.code(), self.seen.join("\n"));
            }
            assert!(from.elapsed() < LONG, "it goes on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn what_is_committed_elsewhere_is_printed_and_what_goes_is_told() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    let mut view = Following::of(&sandbox, &["view", "--follow"]);
    view.sees("two");
    sandbox.ok(&["commit", "-r", "user", "-m", "three"]);
    view.sees("three");
    sandbox.ok(&["undo"]);
    view.sees("1 message taken back");
    for text in ["four", "five", "six", "seven"] {
        sandbox.ok(&["commit", "-r", "assistant", "-m", text]);
    }
    view.sees("seven");
    sandbox.ok(&["truncate", "--keep", "2"]);
    view.sees("truncate");
    sandbox.ok(&["commit", "-r", "user", "-m", "eight"]);
    view.sees("eight");
    sandbox.ok(&["reset", "--hard", "HEAD~2"]);
    view.sees("now at");
    view.signal("INT");
    let (code, text) = view.ends();
    assert_eq!(code, Some(0));
    for word in [
        "one", "two", "three", "four", "five", "six", "seven", "eight",
    ] {
        assert_eq!(text.matches(word).count(), 1, "{word} in\n{text}");
    }
}

#[test]
fn a_repository_that_is_empty_yet_is_followed() {
    let sandbox = Sandbox::new();
    let mut view = Following::of(&sandbox, &["view", "--follow", "--window", "1"]);
    std::thread::sleep(Duration::from_millis(300));
    sandbox.write(
        "batch.jsonl",
        "{\"role\":\"user\",\"content\":\"first\"}\n{\"role\":\"assistant\",\"content\":\"second\"}\n",
    );
    sandbox.ok(&["commit", "--batch", "batch.jsonl"]);
    view.sees("first");
    view.sees("second");
    sandbox.ok(&["undo"]);
    view.sees("nothing is left");
    sandbox.ok(&["commit", "-r", "user", "-m", "afresh"]);
    view.sees("afresh");
    view.signal("TERM");
    assert_eq!(view.ends().0, Some(0));
}

#[test]
fn whoever_reads_no_more_ends_it_though_nothing_comes() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let mut view = Following::of(&sandbox, &["view", "--follow"]);
    view.sees("one");
    view.child.stdout.take();
    // The thread that reads holds the pipe: a shell's `head` closes it.
    view.signal("INT");
    view.ends();
    if cfg!(target_os = "linux") {
        let tract = env!("CARGO_BIN_EXE_tract");
        let line = format!("'{tract}' view --follow | head -n 1; echo ended");
        let mut shell = sandbox.command(&[]);
        let environment: Vec<_> = shell
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        shell = Command::new("timeout");
        let output = shell
            .args(["60", "sh", "-c", &line])
            .current_dir(sandbox.work())
            .env_clear()
            .envs(environment)
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.ends_with("ended\n"), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn waiting_costs_next_to_nothing() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let mut view = Following::of(&sandbox, &["view", "--follow"]);
    view.sees("one");
    let ticks = || -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", view.child.id()));
        let stat = stat.expect("it runs");
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .expect("fields")
            .split(' ')
            .collect();
        // Time in the program and in the system, in hundredths of a second.
        fields[12].parse::<u64>().expect("a number") + fields[13].parse::<u64>().expect("a number")
    };
    let before = ticks();
    std::thread::sleep(Duration::from_secs(3));
    let spent = ticks() - before;
    assert!(spent <= 3, "{spent} hundredths of a second in 3 s");
    view.signal("INT");
    assert_eq!(view.ends().0, Some(0));
}

#[test]
fn a_tree_is_not_followed() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    insta::assert_snapshot!(sandbox.tract(&["view", "--follow", "--format", "tree"]));
}
