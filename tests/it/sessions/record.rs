//! A stream that is recorded while it comes: drawn once, committed message by message, and kept
//! whatever ends it.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use signal_hook::consts::SIGQUIT;

use crate::sandbox::{Sandbox, THE_FILE, is_left_out};

fn data(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).expect("readable")
}

/// A recording under way.
struct Running(Child);

impl Running {
    fn of(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let mut command = sandbox.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.stderr(Stdio::piped()).spawn().expect("it runs"))
    }

    fn say(&mut self, text: impl AsRef<[u8]>) {
        let stdin = self.0.stdin.as_mut().expect("it is piped");
        stdin.write_all(text.as_ref()).expect("taken");
        stdin.flush().expect("taken");
    }

    /// Waits until signals no longer end it at once: the last one that it takes is SIGQUIT. Where the system does
    /// not say so, it gets some time.
    fn listen(&self) {
        let status = format!("/proc/{}/status", self.0.id());
        let is_caught = |text: String| {
            let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
            let caught = u64::from_str_radix(caught.trim(), 16).ok()?;
            Some(caught & (1 << (SIGQUIT - 1)) != 0)
        };
        if cfg!(target_os = "linux") {
            until("it takes signals", || {
                let text = std::fs::read_to_string(&status).expect("it runs");
                is_caught(text).expect("a mask")
            });
        }
        std::thread::sleep(Duration::from_millis(100));
    }

    fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.expect("kill").success());
    }

    /// Its end, and all that it said; its input stays open until then.
    fn end(mut self) -> (ExitStatus, String) {
        let stdin = self.0.stdin.take();
        let mut said = String::new();
        let out = self.0.stdout.as_mut().expect("it is piped");
        out.read_to_string(&mut said).expect("UTF-8");
        let err = self.0.stderr.as_mut().expect("it is piped");
        err.read_to_string(&mut said).expect("UTF-8");
        drop(stdin);
        (self.0.wait().expect("it ends"), said)
    }
}

/// Waits until something holds, which must be soon.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The first lines of what the messages say, the oldest first.
fn messages(sandbox: &Sandbox) -> Vec<String> {
    if !sandbox.is_made() {
        return Vec::new();
    }
    let mut log = sandbox.command(&["log", "-n", "0", "--format", "%s"]);
    let output = log.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().rev().map(str::to_owned).collect()
}

#[test]
fn a_stream_is_drawn_committed_and_there_again() {
    let sandbox = Sandbox::empty();
    insta::assert_snapshot!(sandbox.tract_with(&["record"], data("claude-stream/tools.jsonl")));
    insta::assert_snapshot!(sandbox.ok(&["log", "--oneline", "-n", "0"]));
    insta::assert_snapshot!(sandbox.tract_with(&["record"], data("claude-stream/tools.jsonl")));
    let file = sandbox.write("same.jsonl", data("claude-stream/tools.jsonl"));
    let said = sandbox.tract(&["import", &file.display().to_string()]);
    assert!(said.contains("Nothing new in claude-stream"), "{said}");
}

#[test]
fn what_is_drawn_in_a_pipe_is_what_a_view_of_the_file_shows() {
    for name in [
        "anthropic-stream/sent.sse",
        "openai-stream/sent.sse",
        "responses-stream/tools.jsonl",
        "claude-stream/partial.jsonl",
        "codex-exec/tools.jsonl",
        "event-log/new.jsonl",
    ] {
        let sandbox = Sandbox::new();
        let said = sandbox.tract_with(&["record"], data(name));
        let (drawn, told) = said
            .split_once("--- stderr\n")
            .expect("it says what it did");
        assert!(told.contains("Recorded "), "{name}: {told}");
        sandbox.write("file", data(name));
        assert_eq!(drawn, sandbox.ok(&["view", "./file"]), "{name}");
    }
}

#[test]
fn a_session_that_goes_on_in_another_stream_goes_on() {
    let sandbox = Sandbox::new();
    for at in [1, 2] {
        let line = |kind: &str, body: &str| {
            format!(
                "{{\"type\":\"{kind}\",{body},\"parent_tool_use_id\":null,\
                 \"session_id\":\"s1\",\"uuid\":\"{kind}-{at}\"}}\n"
            )
        };
        let said = format!(
            "\"message\":{{\"id\":\"m{at}\",\"content\":[{{\"type\":\"text\",\"text\":\"reply {at}\"}}]}}"
        );
        let stream = line("system", "\"subtype\":\"init\"") + &line("assistant", &said);
        insta::assert_snapshot!(sandbox.tract_with(&["record"], stream));
    }
    assert_eq!(messages(&sandbox), ["reply 1", "reply 2"]);
}

#[test]
fn what_is_no_stream_is_refused_and_nothing_is_made() {
    let sandbox = Sandbox::empty();
    let session = data("claude-code/compaction.jsonl");
    insta::assert_snapshot!(sandbox.tract_with(&["record"], session));
    insta::assert_snapshot!(sandbox.tract_with(&["record"], "hello\nworld\n"));
    insta::assert_snapshot!(sandbox.tract_with(&["record"], ""));
    let stream = data("codex-exec/tools.jsonl");
    let asked = ["record", "--format", "event-log"];
    insta::assert_snapshot!(sandbox.tract_with(&asked, &stream));
    insta::assert_snapshot!(sandbox.tract_with(&["record", "--format", "codex"], &stream));
    insta::assert_snapshot!(sandbox.tract_with(&["record", "--as", "a b"], &stream));
    assert!(!sandbox.work().join(".tract").exists());
}

#[test]
fn what_is_wrong_in_a_stream_is_named_and_the_rest_is_recorded() {
    let sandbox = Sandbox::new();
    let lines = "{\"type\":\"user_message\",\"text\":\"go\",\"sessionId\":\"s\"}\n\
                 {\"type\":\"user_mess\n\
                 {\"type\":\"something_new\"}\n\
                 {\"type\":\"assistant_message\",\"text\":\"gone\"}\n";
    insta::assert_snapshot!(sandbox.tract_with(&["record", "--as", "talk"], lines));
    assert_eq!(sandbox.ok(&["log", "talk", "--format", "%s"]), "gone\ngo\n");
}

#[test]
fn a_line_without_an_end_is_not_waited_for() {
    let sandbox = Sandbox::new();
    let mut stream = b"{\"type\":\"user_message\",\"text\":\"go\",\"sessionId\":\"s\"}\n".to_vec();
    stream.resize(stream.len() + (65 << 20), b'x');
    insta::assert_snapshot!(sandbox.tract_with(&["record"], stream));
    assert_eq!(messages(&sandbox), ["go"]);
    let flood = vec![b'x'; 6 << 20];
    insta::assert_snapshot!(sandbox.tract_with(&["record"], flood));
}

#[test]
fn what_was_being_said_when_a_signal_came_is_kept_and_says_so() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let sandbox = Sandbox::new();
        let mut running = Running::of(&sandbox, &["record"]);
        running.say("data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"All of \"}}]}\n\n");
        running.listen();
        running.signal(signal);
        // What its writer says on the same signal still counts.
        running.say("data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a sudden\"}}]}\n\n");
        let (status, said) = running.end();
        assert_eq!(status.code(), Some(code), "{said}");
        let view = sandbox.ok(&["view"]);
        assert!(
            view.contains("All of a sudden\n           interrupted\n"),
            "{view}"
        );
        if signal == "INT" {
            insta::assert_snapshot!(said);
        }
    }
}

/// A turn of an event log: what the user says, a call, its result, and what the model says.
fn turn(at: usize) -> [String; 5] {
    let line = |kind: &str, body: &str| {
        format!("{{\"type\":\"{kind}\",\"sessionId\":\"s\",\"timestamp\":{at}000,{body}}}\n")
    };
    [
        line("user_message", &format!("\"text\":\"question {at}\"")),
        line(
            "tool_call",
            &format!("\"toolCallId\":\"c{at}\",\"toolName\":\"look\",\"args\":{{}}"),
        ),
        line(
            "tool_result",
            &format!("\"toolCallId\":\"c{at}\",\"result\":\"found {at}\""),
        ),
        line("text_delta", &format!("\"delta\":\"answer {at}\"")),
        line("text_done", &format!("\"text\":\"answer {at}\"")),
    ]
}

#[test]
fn a_recorder_that_is_killed_loses_at_most_what_was_being_said() {
    for lines in [1, 2, 3, 5, 6, 7, 12, 14] {
        let sandbox = Sandbox::new();
        let mut running = Running::of(&sandbox, &["record"]);
        let all: Vec<String> = (1..=3).flat_map(turn).take(lines).collect();
        for line in &all {
            running.say(line);
        }
        running.say("{\"type\":\"text_del");
        let mut finished = Vec::new();
        for (at, _) in all.iter().enumerate() {
            let turn = at / 5 + 1;
            match at % 5 {
                0 => finished.push(format!("question {turn}")),
                1 => finished.push("look".to_owned()),
                2 => finished.push(format!("found {turn}")),
                4 => finished.push(format!("answer {turn}")),
                _ => {}
            }
        }
        until("what is complete is committed", || {
            messages(&sandbox) == finished
        });
        running.signal("KILL");
        let (status, _) = running.end();
        assert_eq!(status.code(), None);
        assert_eq!(messages(&sandbox), finished);
        let fsck = sandbox.tract(&["fsck"]);
        assert!(!fsck.contains("exit code"), "{fsck}");
        // The whole of it, later, is as if it had never stopped.
        let whole: String = (1..=3).flat_map(turn).collect();
        sandbox.tract_with(&["record"], &whole);
        let fresh = Sandbox::new();
        fresh.tract_with(&["record"], &whole);
        let tip = ["rev-parse", "HEAD"];
        assert_eq!(sandbox.ok(&tip), fresh.ok(&tip), "after {lines} lines");
    }
}

/// A message of the model's in a stream of Claude Code's, which is all that it says of it.
fn reply(at: usize) -> String {
    format!(
        "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m{at}\",\"content\":[{{\"type\":\"text\",\
         \"text\":\"reply {at}\"}}]}},\"parent_tool_use_id\":null,\"session_id\":\"s1\",\"uuid\":\"u{at}\"}}\n"
    )
}

#[test]
fn messages_without_a_silence_between_them_are_committed_as_they_come() {
    let sandbox = Sandbox::new();
    let mut running = Running::of(&sandbox, &["record"]);
    let mut stdin = running.0.stdin.take().expect("it is piped");
    let writer = std::thread::spawn(move || {
        for at in 1.. {
            if stdin.write_all(reply(at).as_bytes()).is_err() {
                return at;
            }
            std::thread::sleep(Duration::from_millis(40));
        }
        0
    });
    until("what is complete is committed", || {
        messages(&sandbox).len() >= 10
    });
    running.signal("KILL");
    running.end();
    let written = writer.join().expect("it writes");
    let kept = messages(&sandbox);
    let said: Vec<String> = (1..=kept.len()).map(|at| format!("reply {at}")).collect();
    assert_eq!(kept, said);
    assert!(written < 1_000, "{written} were written");
}

#[test]
fn a_message_that_goes_on_without_a_silence_is_committed_as_it_grows() {
    let sandbox = Sandbox::new();
    let mut running = Running::of(&sandbox, &["record"]);
    let mut stdin = running.0.stdin.take().expect("it is piped");
    let writer = std::thread::spawn(move || {
        for at in 1.. {
            let piece = reply(at).replace(&format!("\"m{at}\""), "\"m\"");
            if stdin.write_all(piece.as_bytes()).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(40));
        }
    });
    until("what is there of it is committed", || {
        messages(&sandbox) == ["reply 1"]
    });
    running.signal("KILL");
    running.end();
    writer.join().expect("it writes");
}

#[test]
fn a_call_that_runs_is_committed_while_it_runs() {
    let sandbox = Sandbox::new();
    let mut running = Running::of(&sandbox, &["record"]);
    let stream = data("claude-stream/tools.jsonl");
    let lines: Vec<&[u8]> = stream.split_inclusive(|byte| *byte == b'\n').collect();
    let call = lines.iter().position(|line| {
        let line = String::from_utf8_lossy(line);
        line.contains("\"tool_use\"")
    });
    for line in &lines[..=call.expect("there is a call")] {
        running.say(line);
    }
    until("the call is there", || {
        messages(&sandbox)
            .last()
            .is_some_and(|last| !last.is_empty())
    });
    running.signal("KILL");
    running.end();
}

#[test]
fn a_full_disk_under_the_screen_stops_no_recording() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        eprintln!("skipped: there is no /dev/full");
        return;
    };
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["record"]);
    command.stdin(Stdio::piped()).stdout(full);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it runs");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin
        .write_all(&data("claude-stream/tools.jsonl"))
        .expect("taken");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr));
    let fresh = Sandbox::new();
    fresh.tract_with(&["record"], data("claude-stream/tools.jsonl"));
    assert_eq!(messages(&sandbox), messages(&fresh));
}

#[test]
fn nobody_reading_what_is_drawn_stops_no_recording() {
    let sandbox = Sandbox::new();
    let mut running = Running::of(&sandbox, &["record"]);
    drop(running.0.stdout.take());
    let all: Vec<String> = (1..=3).flat_map(turn).collect();
    for line in &all {
        running.say(line);
    }
    drop(running.0.stdin.take());
    let status = running.0.wait().expect("it ends");
    assert_eq!(status.code(), Some(0));
    assert_eq!(messages(&sandbox).len(), 12);
}

#[test]
fn what_cannot_be_committed_is_kept_in_a_file() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::new();
    let path = sandbox.work().join(".tract/tract.db");
    let database = rusqlite::Connection::open(path).expect("opens");
    database.execute_batch("BEGIN IMMEDIATE").expect("locked");
    let stream: String = turn(1).concat();
    let said = sandbox.tract_with(&["record"], &stream);
    database.execute_batch("ROLLBACK").expect("free");
    assert!(said.starts_with("exit code: 4\n"), "{said}");
    let name = said
        .split_once("what came is in ")
        .expect("it says where")
        .1;
    let name = name.split(';').next().expect("a name");
    let kept = sandbox.work().join(name);
    assert_eq!(std::fs::read_to_string(kept).expect("kept"), stream);
    sandbox.ok(&["import", name]);
    assert_eq!(messages(&sandbox).len(), 4);
}

#[test]
fn what_cannot_be_kept_in_a_file_either_is_said_to_be_lost() {
    if is_left_out(THE_FILE) || !cfg!(target_os = "linux") {
        return;
    }
    let sandbox = Sandbox::new();
    let stream: String = (1..=2_000).map(reply).collect();
    // No file may be longer than the database is: as a disk that is full.
    let record = sandbox.command(&["record"]);
    let mut shell = Command::new("sh");
    let limited = "trap '' XFSZ; ulimit -f 128; exec \"$0\" record";
    let mut child = shell
        .args(["-c", limited])
        .arg(record.get_program())
        .current_dir(sandbox.work())
        .env_clear()
        .envs(
            record
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(stream.as_bytes()).expect("taken");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("error: "), "{said}");
    assert!(
        lines[0].contains("what came since the last commit is lost: "),
        "{said}"
    );
    assert_eq!(
        lines[1..],
        ["hint: what was committed stays; make room, and ask again"]
    );
    let files = std::fs::read_dir(sandbox.work()).expect("listed");
    assert_eq!(files.count(), 1, "nothing but the repository is there");
}

/// What a view shows of the calls, at a time.
fn states_at(sandbox: &Sandbox, clock: &str) -> Vec<String> {
    let mut view = sandbox.command(&["view", "--format", "tree"]);
    let output = view.env("TRACT_CLOCK", clock).output().expect("it runs");
    let tree = String::from_utf8_lossy(&output.stdout).into_owned();
    let states = tree.split("\"state\":\"").skip(1);
    let state = |rest: &str| rest.split('"').next().unwrap_or_default().to_owned();
    states.map(state).collect()
}

#[test]
fn a_call_runs_for_every_reader_until_its_recorder_ends_or_is_not_heard_of() {
    let (clock, soon, later) = ("1773489660000", "1773489690000", "1773489960000");
    for how in ["KILL", "END"] {
        let sandbox = Sandbox::new();
        let mut record = sandbox.command(&["record"]);
        record.env("TRACT_CLOCK", clock).stdin(Stdio::piped());
        record.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = Running(record.spawn().expect("it runs"));
        for line in &turn(1)[..2] {
            running.say(line);
        }
        until("the call runs", || states_at(&sandbox, soon) == ["pending"]);
        assert_eq!(states_at(&sandbox, later), ["interrupted"]);
        let page = |clock| {
            let mut page = sandbox.command(&["view", "--format", "markdown"]);
            let output = page.env("TRACT_CLOCK", clock).output().expect("it runs");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        assert!(page(soon).contains("pending"), "{}", page(soon));
        if how == "KILL" {
            running.signal("KILL");
            running.end();
            assert_eq!(
                states_at(&sandbox, soon),
                ["pending"],
                "nobody has said that it ended"
            );
        } else {
            drop(running.0.stdin.take());
            assert!(running.0.wait().expect("it ends").success());
            assert_eq!(states_at(&sandbox, soon), ["interrupted"]);
        }
        assert_eq!(states_at(&sandbox, later), ["interrupted"]);
    }
}

#[test]
fn a_call_at_the_end_of_an_imported_session_runs_while_the_session_is_fresh() {
    let sandbox = Sandbox::new();
    let record = |id: &str, parent: &str, kind: &str, content: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"{id}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\"cwd\":\"/w\",\
             \"timestamp\":\"2026-03-14T12:00:00.000Z\",\"message\":{{\"role\":\"{kind}\",\"content\":{content}}}}}\n"
        )
    };
    let call = "[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{\"command\":\"make\"}}]";
    let session =
        record("u1", "null", "user", "\"build\"") + &record("u2", "\"u1\"", "assistant", call);
    sandbox.write("s.jsonl", session);
    sandbox.ok(&["import", "s.jsonl"]);
    let at = |minutes: i64| (1_773_489_600_000 + minutes * 60_000).to_string();
    assert_eq!(states_at(&sandbox, &at(14)), ["pending"]);
    assert_eq!(states_at(&sandbox, &at(16)), ["interrupted"]);
    // What stands on one's own branch behind it is one's own.
    sandbox.ok(&["commit", "-r", "user", "-m", "never mind"]);
    assert_eq!(states_at(&sandbox, &at(14)), ["interrupted"]);
}

/// What a terminal shows in the end, what has scrolled away included.
fn screen(written: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let mut row = 0;
    let mut rest = written;
    while let Some(letter) = rest.chars().next() {
        if let Some(escape) = rest.strip_prefix("\x1b[") {
            let end = escape
                .find(|c: char| c.is_ascii_alphabetic())
                .expect("an escape ends");
            match &escape[end..=end] {
                "A" => row -= escape[..end].parse::<usize>().expect("a number"),
                "J" => {
                    lines.truncate(row);
                    lines.push(String::new());
                }
                other => panic!("{other} is not expected"),
            }
            rest = &escape[end + 1..];
            continue;
        }
        match letter {
            '\r' => lines[row].clear(),
            '\n' => {
                row += 1;
                if row == lines.len() {
                    lines.push(String::new());
                }
            }
            letter => lines[row].push(letter),
        }
        rest = &rest[letter.len_utf8()..];
    }
    lines
}

#[test]
fn a_terminal_shows_in_the_end_what_a_view_shows_and_goes_back_no_further_than_it_is_high() {
    if !cfg!(target_os = "linux") {
        return;
    }
    for (columns, rows) in [(20, 6), (80, 10)] {
        let sandbox = Sandbox::new();
        sandbox.write("stream", data("claude-stream/partial.jsonl"));
        let tract = sandbox.command(&[]);
        let program = tract.get_program().to_string_lossy().into_owned();
        let slow = format!(
            "stty rows {rows} cols {columns}; while IFS= read -r line; do printf '%s\\n' \"$line\"; \
             sleep 0.02; done < stream | {program} record -q"
        );
        let output = Command::new("script")
            .args(["-qec", &slow, "/dev/null"])
            .stdin(Stdio::null())
            .current_dir(sandbox.work())
            .env_clear()
            .envs(
                tract
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .env("COLUMNS", columns.to_string())
            .output();
        let Ok(output) = output else {
            eprintln!("skipped: there is no script");
            return;
        };
        let written = String::from_utf8(output.stdout).expect("UTF-8");
        let back = written.match_indices("\x1b[").filter_map(|(at, _)| {
            let number = written[at + 2..].split('A').next()?;
            number.parse::<usize>().ok()
        });
        let back: Vec<usize> = back.collect();
        assert!(!back.is_empty(), "it draws in place: {written:?}");
        assert!(back.iter().all(|lines| *lines < rows), "{back:?}");
        let shown = screen(&written.replace("\r\n", "\n"));
        let shown: Vec<&str> = shown.iter().map(|line| line.trim_end()).collect();
        let view = sandbox.on_terminal(&columns.to_string(), &["view", "./stream"]);
        let view = view.expect("a terminal");
        let view: Vec<&str> = view.lines().map(str::trim_end).collect();
        assert_eq!(shown.join("\n").trim_end(), view.join("\n").trim_end());
    }
}

#[test]
fn a_terminal_that_cannot_go_back_gets_each_line_once() {
    let sandbox = Sandbox::new();
    sandbox.write("stream", data("claude-stream/partial.jsonl"));
    let tract = sandbox.command(&[]);
    let program = tract.get_program().to_string_lossy().into_owned();
    let line = format!("stty rows 9 cols 40; {program} record -q < stream");
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .stdin(Stdio::null())
        .current_dir(sandbox.work())
        .env_clear()
        .envs(
            tract
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env("COLUMNS", "40")
        .env("TERM", "dumb")
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no script");
        return;
    };
    let written = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(!written.contains('\x1b'), "{written:?}");
    assert_eq!(written.matches("I water.").count(), 1, "{written}");
}

#[test]
fn a_replay_shows_in_the_end_what_a_view_shows_and_takes_its_time() {
    for name in [
        "claude-stream/tools.jsonl",
        "claude-stream/compact.jsonl",
        "event-log/new.jsonl",
        "event-log/old.jsonl",
        "claude-code/parallel.jsonl",
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("file", data(name));
        sandbox.tract(&["import", "./file"]);
        let view = sandbox.ok(&["view"]);
        assert_eq!(sandbox.ok(&["replay"]), view, "{name}: at once");
        let fast = ["replay", "--speed", "1000000000"];
        assert_eq!(sandbox.ok(&fast), view, "{name}: played");
        sandbox.ok(&["truncate", "--keep", "2"]);
        let all = ["view", "--all", "--speed", "1000000000"];
        assert_eq!(sandbox.ok(&all), sandbox.ok(&["view", "--all"]), "{name}");
    }
    let sandbox = Sandbox::new();
    let log: String = [1, 3].into_iter().flat_map(turn).collect();
    sandbox.tract_with(&["record"], log);
    let start = Instant::now();
    let played = sandbox.ok(&["replay", "--speed", "10x"]);
    assert!(
        start.elapsed() >= Duration::from_millis(200),
        "two seconds, ten times as fast"
    );
    assert_eq!(played, sandbox.ok(&["view"]));
    insta::assert_snapshot!(sandbox.tract(&["replay", "--speed", "fast"]));
}

#[test]
fn a_replay_ends_where_a_signal_or_its_reader_ends_it() {
    let sandbox = Sandbox::new();
    let log: String = [1, 3, 5, 9].into_iter().flat_map(turn).collect();
    sandbox.tract_with(&["record"], log);
    let mut playing = Running::of(&sandbox, &["replay", "--speed", "0.5"]);
    let mut first = [0; 4];
    let out = playing.0.stdout.as_mut().expect("it is piped");
    out.read_exact(&mut first).expect("it begins");
    playing.signal("INT");
    let (status, said) = playing.end();
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(!said.contains("answer 9"), "{said}");
    let mut playing = Running::of(&sandbox, &["replay", "--speed", "0.5"]);
    let out = playing.0.stdout.as_mut().expect("it is piped");
    out.read_exact(&mut first).expect("it begins");
    drop(playing.0.stdout.take());
    let status = playing.0.wait().expect("it ends");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn what_was_cut_says_so_wherever_it_is_shown_and_is_sent_without_a_word_of_it() {
    let sandbox = Sandbox::new();
    sandbox.tract_with(&["record"], data("openai-stream/cut.sse"));
    let log = sandbox.ok(&["log", "--oneline", "-n", "0"]);
    insta::assert_snapshot!(log);
    insta::assert_snapshot!(sandbox.ok(&["show", ":-1"]));
    assert!(
        sandbox
            .ok(&["view"])
            .contains("It goes on and\n           interrupted\n")
    );
    let sent = sandbox.ok(&["compile"]);
    let last = r#"{"role":"assistant","content":"It goes on and"}]}"#;
    assert!(sent.trim_end().ends_with(last), "{sent}");
    // Without its records it is told from the message alone.
    let chat = ["chat", "--agent", "printf 'half a'; exit 1"];
    sandbox.tract_with(&chat, "go\n");
    sandbox.ok(&["commit", "-r", "user", "-m", "on"]);
    assert!(
        sandbox
            .ok(&["view"])
            .contains("half a\n           interrupted\n")
    );
    // An edit is all of it.
    sandbox.ok(&["commit", "--edit", ":-2", "-m", "a whole one"]);
    assert!(
        !sandbox
            .ok(&["view", "--window", "2"])
            .contains("interrupted")
    );
}

#[test]
fn a_part_of_a_session_that_comes_once_more_is_nothing_new() {
    let sandbox = Sandbox::new();
    let part = |number: u32| {
        format!(
            "{{\"type\":\"thread.started\",\"thread_id\":\"t1\"}}\n\
             {{\"type\":\"turn.started\"}}\n\
             {{\"type\":\"item.completed\",\"item\":{{\"id\":\"item_0\",\"type\":\"agent_message\",\"text\":\"answer {number}\"}}}}\n\
             {{\"type\":\"turn.completed\",\"usage\":{{\"input_tokens\":{number},\"cached_input_tokens\":0,\"output_tokens\":5}}}}\n"
        )
    };
    let record = |number| sandbox.tract_with(&["record"], part(number));
    for number in [1, 2, 3] {
        assert!(record(number).contains("Recorded"));
    }
    let before = sandbox.ok(&["log", "-n", "0"]);
    assert_eq!(before.lines().count(), 3, "{before}");
    for number in [2, 3, 1] {
        let said = record(number);
        assert!(said.contains("Nothing new in"), "{number}: {said}");
        assert_eq!(sandbox.ok(&["log", "-n", "0"]), before, "{number}");
    }
    // A line that is no record in front of it changes nothing.
    let broken = sandbox.tract_with(&["record"], format!("garbage\n{}", part(2)));
    assert!(broken.contains("problem: "), "{broken}");
    assert_eq!(sandbox.ok(&["log", "-n", "0"]), before);
    assert!(record(4).contains("Recorded"));
    assert_eq!(messages(&sandbox).len(), 4);
    // What goes on behind the last lines that are kept is new, and those are not.
    for (again, front) in [(4, ""), (5, "garbage\n")] {
        let stream = format!("{front}{}{}", part(again), part(again + 1));
        sandbox.tract_with(&["record"], stream);
        assert_eq!(messages(&sandbox).len(), again as usize + 1, "{again}");
    }
    // A part from the middle is no such thing: it was said again.
    sandbox.tract_with(&["record"], part(5) + &part(8));
    assert_eq!(messages(&sandbox).len(), 8);
}
