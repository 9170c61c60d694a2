//! How often a command waits for a server, connection apart.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::cluster;
use crate::sandbox::Sandbox;

/// What passed on a link since the server let somebody in.
#[derive(Default)]
struct Passed {
    is_in: bool,
    /// The questions that have no answer yet: whether anybody waits for it.
    open: VecDeque<bool>,
    is_asking: bool,
    trips: u64,
}

/// A link to the tests' server that counts how often whoever uses it waits for an answer.
struct Counting {
    folder: tempfile::TempDir,
    links: Arc<Mutex<Vec<Arc<Mutex<Passed>>>>>,
}

const SOCKET: &str = ".s.PGSQL.5432";
/// Nobody waits for the answer to this one.
const ROLLBACK: &[u8] = b"ROLLBACK\0";

impl Counting {
    fn new(server: &str) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("tract-trips-")
            .tempdir_in("/tmp");
        let folder = folder.expect("a folder");
        let listener = UnixListener::bind(folder.path().join(SOCKET)).expect("a socket");
        let links: Arc<Mutex<Vec<Arc<Mutex<Passed>>>>> = Arc::default();
        let (made, server) = (Arc::clone(&links), format!("{server}/{SOCKET}"));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let passed = Arc::default();
                made.lock().expect("whole").push(Arc::clone(&passed));
                let server = UnixStream::connect(&server).expect("the server");
                carry(client, server, passed);
            }
        });
        Self { folder, links }
    }

    /// How many connections were made so far.
    fn connections(&self) -> usize {
        self.links.lock().expect("whole").len()
    }

    /// How many round trips what is done takes.
    fn trips(&self, does: impl FnOnce()) -> u64 {
        let count = || {
            let links = self.links.lock().expect("whole");
            links
                .iter()
                .map(|link| link.lock().expect("whole").trips)
                .sum::<u64>()
        };
        let before = count();
        does();
        count() - before
    }
}

fn carry(client: UnixStream, server: UnixStream, passed: Arc<Mutex<Passed>>) {
    let (from, to) = (
        client.try_clone().expect("one"),
        server.try_clone().expect("one"),
    );
    let sent = Arc::clone(&passed);
    let mut has_begun = false;
    thread::spawn(move || {
        pass(from, to, move |bytes| {
            // The first message bears no letter.
            if !has_begun {
                let length = length_at(bytes, 0)?;
                has_begun = bytes.len() >= length;
                return has_begun.then_some(length);
            }
            let length = 1 + length_at(bytes, 1)?;
            let text = bytes.get(5..length)?;
            sent.lock().expect("whole").was_asked(bytes[0], text);
            Some(length)
        });
    });
    thread::spawn(move || {
        pass(server, client, move |bytes| {
            let length = 1 + length_at(bytes, 1)?;
            bytes.get(..length)?;
            if bytes[0] == b'Z' {
                passed.lock().expect("whole").was_answered();
            }
            Some(length)
        });
    });
}

impl Passed {
    fn was_asked(&mut self, kind: u8, text: &[u8]) {
        if !self.is_in || kind == b'X' {
            return;
        }
        let is_end = matches!(kind, b'Q' | b'S');
        let waits = text != ROLLBACK;
        let is_first = !self.is_asking && !self.open.contains(&true);
        self.trips += u64::from(waits && is_first);
        self.is_asking = !is_end;
        if is_end {
            self.open.push_back(waits);
        }
    }

    fn was_answered(&mut self) {
        self.open.pop_front();
        self.is_in = true;
    }
}

fn length_at(bytes: &[u8], at: usize) -> Option<usize> {
    let length = bytes.get(at..at + 4)?.try_into().expect("four bytes");
    Some(u32::from_be_bytes(length) as usize)
}

/// Passes all that comes on, when its messages were looked at.
fn pass(mut from: UnixStream, mut to: UnixStream, mut look: impl FnMut(&[u8]) -> Option<usize>) {
    let (mut buffer, mut open) = (vec![0; 1 << 20], Vec::new());
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        open.extend_from_slice(&buffer[..count]);
        while let Some(length) = look(&open) {
            open.drain(..length);
        }
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// A session of so many messages, as Claude Code writes it, with what its replies were counted with or without.
fn session(name: &str, messages: usize, is_counted: bool) -> String {
    let lines = (0..messages).map(|at| {
        let role = ["user", "assistant"][at % 2];
        let parent = match at {
            0 => "null".to_owned(),
            _ => format!("\"u{}\"", at - 1),
        };
        let counted = match role {
            "assistant" if is_counted => format!(
                r#""id":"m{at}","model":"a-model","usage":{{"input_tokens":5,"cache_read_input_tokens":{},"cache_creation_input_tokens":40,"output_tokens":12}},"#,
                3_000 + at * 20
            ),
            _ => String::new(),
        };
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{role}","uuid":"u{at}","sessionId":"{name}","cwd":"/w","timestamp":"2026-01-05T10:{:02}:{:02}.000Z","message":{{"role":"{role}",{counted}"content":"sentence number {at} of {name}"}}}}"#,
            at / 60,
            at % 60
        ) + "\n"
    });
    lines.collect()
}

/// A repository behind a link that counts.
struct Counted {
    counting: Counting,
    sandbox: Sandbox,
    link: String,
}

impl Counted {
    fn new() -> Option<Self> {
        let address = cluster::address()?;
        let server = cluster::socket().expect("a server");
        let counting = Counting::new(server);
        let link = counting.folder.path().to_str().expect("UTF-8");
        let link = address.replace(server, link);
        let counted = Self {
            sandbox: Sandbox::empty(),
            counting,
            link,
        };
        counted.on(&["init"]);
        Some(counted)
    }

    fn on(&self, arguments: &[&str]) -> String {
        self.sandbox
            .ok(&[&["--repo", &self.link], arguments].concat())
    }

    fn trips(&self, arguments: &[&str]) -> u64 {
        self.counting.trips(|| drop(self.on(arguments)))
    }

    fn import(&self, name: &str, session: &str) {
        let file = self.sandbox.write(name, session);
        self.on(&["import", file.to_str().expect("UTF-8")]);
    }

    /// Holds each command to the most that it may take.
    fn holds(&self, commands: &[(&[&str], u64)]) {
        // What is counted for the first time is written down once.
        for (command, _) in commands {
            self.trips(command);
        }
        // A machine that is busy only adds some: what is asked for too often is so each time.
        let least = |command: &[&str], most| {
            let tries = (0..9).map(|_| self.trips(command));
            let mut least = u64::MAX;
            for count in tries {
                least = least.min(count);
                if least <= most {
                    break;
                }
            }
            least
        };
        let counts = commands.iter();
        let counts = counts.map(|(command, most)| (command[0], least(command, *most), *most));
        let counts: Vec<(&str, u64, u64)> = counts.collect();
        let are_few = counts.iter().all(|(_, count, most)| count <= most);
        assert!(are_few, "{counts:?}");
    }
}

#[test]
fn commands_wait_for_a_server_a_few_times() {
    let Some(counted) = Counted::new() else {
        return;
    };
    counted.import("counted.jsonl", &session("counted", 400, false));
    counted.holds(&[
        (&["commit", "-r", "user", "-m", "one more"], COMMIT),
        (&["log", "-n", "20"], LOG),
        (&["status"], STATUS),
        (&["show"], SHOW),
        (&["find", "number 377"], FIND),
        (&["branch"], BRANCH),
    ]);
    // Nor does it matter how many branches there are.
    for at in 0..20 {
        counted.on(&["branch", &format!("b{at}"), "HEAD~3"]);
    }
    counted.holds(&[
        (&["branch"], BRANCH),
        (
            &["commit", "-r", "user", "-m", "beside many branches"],
            COMMIT,
        ),
        (&["find", "number 377"], FIND),
        (&["status"], STATUS),
    ]);
}

#[test]
fn what_replies_were_counted_with_costs_no_trip() {
    let Some(counted) = Counted::new() else {
        return;
    };
    counted.import("used.jsonl", &session("used", 400, true));
    counted.holds(&[
        (&["status"], STATUS),
        (&["find", "number 377"], FIND),
        (&["branch"], BRANCH),
    ]);
    counted.on(&["truncate", "--keep", "20"]);
    counted.holds(&[(&["branch"], BRANCH)]);
}

/// More than a table may have that is asked for whole.
#[test]
fn hundreds_of_sessions_take_no_more_trips_than_one() {
    let Some(counted) = Counted::new() else {
        return;
    };
    for at in 0..300 {
        let (name, messages) = (format!("s{at}"), if at < 20 { 12 } else { 2 });
        let text = session(&name, messages, at % 2 == 0);
        counted.sandbox.write(&format!("many/{name}.jsonl"), text);
    }
    counted.on(&["import", "many"]);
    counted.on(&["--on", "s7", "truncate", "--keep", "4"]);
    counted.on(&["--on", "s8", "commit", "-r", "user", "-m", "one more"]);
    counted.holds(&[
        (&["branch"], BRANCH),
        (&["branch", "-n", "500"], BRANCH + 1),
        (&["branch", "-n", "5"], BRANCH + 1),
    ]);
}

/// A process that answers requests, each of which is sent when the one before was answered.
struct Answering {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Answering {
    fn new(counted: &Counted) -> Self {
        let mut command = counted
            .sandbox
            .command(&["--repo", &counted.link, "--on", "one", "api"]);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, answers }
    }

    fn send(&mut self, id: usize, method: &str, params: &Value) {
        let request = json!({ "id": id, "method": method, "params": params });
        let stdin = self.child.stdin.as_mut().expect("a pipe");
        writeln!(stdin, "{request}").expect("sent");
    }

    fn answer(&mut self) -> Value {
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("an answer");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        assert!(answer.get("result").is_some(), "{answer}");
        answer
    }

    fn ask(&mut self, id: usize, method: &str, params: &Value) {
        self.send(id, method, params);
        self.answer();
    }

    fn commit(&mut self, id: usize) {
        self.ask(
            id,
            "commit",
            &json!({ "role": "user", "message": format!("number {id}") }),
        );
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().expect("it ends").success());
    }
}

#[test]
fn a_process_that_only_commits_has_one_connection() {
    let Some(counted) = Counted::new() else {
        return;
    };
    let before = counted.counting.connections();
    let mut answering = Answering::new(&counted);
    answering.commit(0);
    let trips = counted
        .counting
        .trips(|| (1..40).for_each(|id| answering.commit(id)));
    assert_eq!(trips, 39 * STAYING);
    // Nor does it need another where they are sent at once, nor to look in between.
    (40..80).for_each(|id| {
        let text = format!("number {id}");
        answering.send(id, "commit", &json!({ "role": "user", "message": text }));
    });
    (40..80).for_each(|_| drop(answering.answer()));
    for id in 80..120 {
        answering.ask(id, "log", &json!({ "limit": 1 }));
    }
    (120..130).for_each(|id| answering.commit(id));
    assert_eq!(counted.counting.connections() - before, 1);
    answering.end();
    assert_eq!(
        counted
            .on(&["--on", "one", "log", "-n", "0", "--format", "%h"])
            .lines()
            .count(),
        90
    );
}

/// What is configured; the lock and what a commit stands on; all that is written, and its end.
const STAYING: u64 = 3;
/// Opening and what is foreseen; the lock and what a commit stands on; all that is written, and its end.
const COMMIT: u64 = 3;
// The others are one more than what there is: on a busy machine the server may have answered the first part of a long message before
// the rest has gone, which counts as two.
/// Opening; what is asked first, with all that may be asked beside it.
const LOG: u64 = 3;
const STATUS: u64 = 4;
const SHOW: u64 = 4;
/// The branches with all that is told of them, and the files that came in, where these are many.
const BRANCH: u64 = 4;
/// What is in no segment; paths and words; the contents that have them; these contents.
const FIND: u64 = 6;
