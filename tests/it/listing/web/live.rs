//! A page that grows while it is read, as the events that a browser gets.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Served;
use crate::conditions::{real_sessions, sample};
use crate::sandbox::Sandbox;

const ID: &str = "77777777-1111-4c8f-9e36-2f1d8a6b4c70";

/// A record of a session of Claude Code; each is a second after the one before it.
fn record(at: usize, text: &str) -> String {
    let parent = (at > 1).then(|| format!("live-{}", at - 1));
    let kind = if at % 2 == 1 { "user" } else { "assistant" };
    let time = format!("2026-03-14T10:00:{at:02}Z");
    let record = json!({
        "type": kind, "uuid": format!("live-{at}"), "parentUuid": parent, "sessionId": ID, "cwd": "/work/it",
        "timestamp": time, "version": "2.0.0",
        "message": {"role": kind, "model": "claude-opus-4-5", "content": text},
    });
    record.to_string() + "\n"
}

/// A session that the tool has left in the home, with so many records.
fn left(sandbox: &Sandbox, records: usize) -> PathBuf {
    let folder = sandbox.home().join(".claude/projects/-work-it");
    fs::create_dir_all(&folder).expect("made");
    let file = folder.join(format!("{ID}.jsonl"));
    let all: String = (1..=records)
        .map(|at| record(at, &format!("words {at}")))
        .collect();
    fs::write(&file, all).expect("written");
    file
}

fn append(file: &Path, text: &str) {
    let mut file = OpenOptions::new()
        .append(true)
        .open(file)
        .expect("it is there");
    file.write_all(text.as_bytes()).expect("written");
}

#[test]
fn a_session_that_was_just_made_is_found_by_its_address() {
    let sandbox = Sandbox::new();
    let served = Served::of(&sandbox, &[]);
    let address = format!("s/claude-code/{ID}/");
    // The files that there are have been listed a moment ago.
    assert_eq!(served.get(&address).status, 404);
    left(&sandbox, 2);
    let page = served.get(&address);
    assert!(page.body.contains("words 2"), "{}", page.body);
}

/// A browser that listens.
struct Listener(BufReader<TcpStream>);

impl Listener {
    /// To a conversation, with what its page says that stands there.
    fn to(served: &Served, id: &str, have: &str) -> Self {
        let mut connection = served.connection();
        let head = format!(
            "GET /{}/s/{id}/live?from=0&have={have} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n",
            served.token, served.port
        );
        connection.write_all(head.as_bytes()).expect("sent");
        Self(BufReader::new(connection))
    }

    /// Whether it was given a place, by the first line of the answer.
    fn is_taken(&mut self) -> bool {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a line");
        let status = line.split(' ').nth(1);
        assert!(matches!(status, Some("200" | "503")), "{line}");
        status == Some("200")
    }

    /// The next event: its name, and what it says.
    fn next(&mut self) -> (String, Value) {
        let mut name = None;
        loop {
            let mut line = String::new();
            assert!(
                self.0.read_line(&mut line).expect("a line") > 0,
                "the stream has ended"
            );
            if let Some(event) = line.trim_end().strip_prefix("event: ") {
                name = Some(event.to_owned());
            }
            if let (Some(name), Some(data)) = (&name, line.trim_end().strip_prefix("data: ")) {
                return (name.clone(), serde_json::from_str(data).expect("JSON"));
            }
        }
    }

    /// The next event of this name.
    fn expect(&mut self, wanted: &str) -> Value {
        let (name, value) = self.next();
        assert_eq!(name, wanted, "{value}");
        value
    }
}

/// What the page of a conversation says that stands at its end, and that itself.
fn end_of(served: &Served, id: &str) -> (String, String) {
    let page = served.get(&format!("s/{id}/")).body;
    let (_, live) = page
        .split_once("<div class=\"live\" data-from=\"0\">\n")
        .expect("it goes on");
    let (html, rest) = live
        .split_once("</div>\n<span class=\"live-end\" data-have=\"")
        .expect("it ends");
    (
        rest.split('"').next().unwrap_or_default().to_owned(),
        html.to_owned(),
    )
}

#[test]
fn what_is_told_live_is_what_a_page_says_that_is_read_anew() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two <b>")]);
    let served = Served::of(&sandbox, &[]);
    let (have, html) = end_of(&served, "main");
    let mut knows = Listener::to(&served, "main", &have);
    assert_eq!(knows.expect("here"), have.as_str());
    let mut new = Listener::to(&served, "main", "");
    let whole = new.expect("whole");
    assert_eq!(
        (&whole["html"], &whole["have"]),
        (&json!(html), &json!(have))
    );
    for (role, text) in [
        ("user", "three"),
        ("assistant", "four"),
        ("assistant", "five"),
    ] {
        let since = Instant::now();
        sandbox.ok(&["commit", "-r", role, "-m", text]);
        let change = knows.expect("change");
        let all = change["splices"].to_string();
        assert!(
            all.contains(text) && !all.contains("one"),
            "only what is new: {all}"
        );
        assert!(since.elapsed() < Duration::from_secs(5));
        assert_eq!(change["have"], end_of(&served, "main").0.as_str());
        assert_eq!(new.expect("change"), change);
    }
    // What takes something away, or hides it, is more than what comes at the end.
    sandbox.ok(&["undo"]);
    let words = knows.expect("anew");
    assert!(
        words
            .as_str()
            .is_some_and(|words| words.contains("taken back")),
        "{words}"
    );
    let (have, _) = end_of(&served, "main");
    let mut again = Listener::to(&served, "main", &have);
    again.expect("here");
    sandbox.ok(&["drop", ":2"]);
    let words = again.expect("anew");
    assert!(
        words.as_str().is_some_and(|words| words.contains("drop")),
        "{words}"
    );
}

#[test]
fn a_session_that_is_in_no_repository_grows_and_none_is_made() {
    let sandbox = Sandbox::new();
    let file = left(&sandbox, 3);
    let served = Served::of(&sandbox, &[]);
    let id = format!("claude-code/{ID}");
    let (have, _) = end_of(&served, &id);
    let mut listeners: Vec<Listener> = (0..10).map(|_| Listener::to(&served, &id, &have)).collect();
    for listener in &mut listeners {
        listener.expect("here");
    }
    for at in 4..=7 {
        append(&file, &record(at, &format!("fresh {at}")));
        for listener in &mut listeners {
            let change = listener.expect("change");
            assert!(
                change["splices"]
                    .to_string()
                    .contains(&format!("fresh {at}")),
                "{change}"
            );
        }
        let torn = record(at + 1, "torn");
        append(&file, &torn[..torn.len() / 2]);
        append(&file, &torn[torn.len() / 2..]);
        for listener in &mut listeners {
            listener.expect("change");
        }
        // The last record is taken back by the tool, which writes its file anew.
        let all: String = (1..=at)
            .map(|at| record(at, &format!("words {at}")))
            .collect();
        // In one go: between two steps it may be seen empty.
        let anew = file.with_extension("anew");
        fs::write(&anew, &all).expect("written");
        fs::rename(&anew, &file).expect("in its place");
        for listener in &mut listeners {
            listener.expect("anew");
        }
        let (have, html) = end_of(&served, &id);
        assert!(
            html.contains(&format!("words {at}")) && !html.contains("torn"),
            "{html}"
        );
        listeners = (0..10).map(|_| Listener::to(&served, &id, &have)).collect();
        listeners.iter_mut().for_each(|listener| {
            listener.expect("here");
        });
    }
    assert_eq!(sandbox.ok(&["reflog"]), "");
}

#[test]
fn an_imported_session_whose_file_grows_is_shown_and_not_taken_in() {
    let sandbox = Sandbox::new();
    let file = left(&sandbox, 3);
    let path = file.to_str().expect("UTF-8").to_owned();
    sandbox.ok(&["init"]);
    sandbox.ok(&["import", &path]);
    let id = format!("claude-code/{ID}");
    let before = sandbox.ok(&["reflog"]);
    let served = Served::of(&sandbox, &[]);
    let (have, _) = end_of(&served, &id);
    let mut listener = Listener::to(&served, &id, &have);
    listener.expect("here");
    append(&file, &record(4, "fresh"));
    let change = listener.expect("change");
    assert!(change["splices"].to_string().contains("fresh"), "{change}");
    assert_eq!(change["have"], end_of(&served, &id).0.as_str());
    assert_eq!(sandbox.ok(&["reflog"]), before);
    // A file that goes away is what it was.
    fs::remove_file(&file).expect("removed");
    assert_eq!(served.get(&format!("s/{id}/")).status, 200);
    drop(listener);
    // Whoever lets the pages write has it taken in.
    left(&sandbox, 5);
    let writes = Served::of(&sandbox, &["--write"]);
    assert!(end_of(&writes, &id).1.contains("words 5"));
    assert_ne!(sandbox.ok(&["reflog"]), before);
}

#[test]
fn a_purge_of_what_is_shown_is_told() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "the password is swordfish"),
        ("assistant", "Noted."),
    ]);
    let served = Served::of(&sandbox, &[]);
    let (have, html) = end_of(&served, "main");
    assert!(html.contains("swordfish"));
    let mut listener = Listener::to(&served, "main", &have);
    listener.expect("here");
    sandbox.ok(&["purge", ":1", "--force"]);
    let words = listener.expect("anew");
    assert!(!words.to_string().contains("swordfish"));
    assert!(!end_of(&served, "main").1.contains("swordfish"));
}

#[test]
fn browsers_that_vanish_leave_their_places() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let mut served = Served::of(&sandbox, &[]);
    // More than may listen at once: those that are too many are told so, and the pages are answered all the same. Which
    // those are, is a matter of who comes first.
    let mut listeners: Vec<Listener> = (0..80).map(|_| Listener::to(&served, "main", "")).collect();
    let listening: Vec<bool> = listeners.iter_mut().map(Listener::is_taken).collect();
    let first = listening.iter().position(|is_taken| *is_taken);
    assert!(listening.contains(&false), "there is no end of places");
    listeners[first.expect("somebody listens")].expect("whole");
    assert!(served.lives(), "pages are answered while others listen");
    assert_eq!(served.get("s/main/live?from=0").status, 503);
    drop(listeners);
    let since = Instant::now();
    loop {
        if Listener::to(&served, "main", "").is_taken() {
            return;
        }
        assert!(
            since.elapsed() < Duration::from_secs(20),
            "nobody gave a place back"
        );
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let served = Served::of(&sandbox, &[]);
    assert_eq!(served.get("s/nobody/live?from=0").status, 404);
    assert_eq!(served.get("s/main/live?from=x").status, 400);
    // A place behind the end is the end.
    let mut far = Listener::to(&served, "main", "&from=99");
    far.expect("whole");
}

/// Has a session's file grow piece by piece, and holds what is told live to what a page says that is read anew; how
/// often something was told.
fn grows_alike(session: &Path, pieces: usize) -> usize {
    let Ok(text) = fs::read_to_string(session) else {
        return 0;
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let sandbox = Sandbox::new();
    let name = session
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a name");
    let first = lines.len() / 2;
    sandbox.write(name, lines[..first].concat());
    sandbox.ok(&["init"]);
    sandbox.tract(&["import", name]);
    let served = Served::of(&sandbox, &[]);
    let list = served.get("").body;
    let Some(id) = list
        .split("href=\"s/")
        .nth(1)
        .and_then(|rest| rest.split("/\"").next())
    else {
        return 0;
    };
    let page = |id: &str| served.get(&format!("s/{id}/?end=1")).body;
    let state = |page: &str| {
        let (_, rest) = page.split_once("data-have=\"")?;
        rest.split('"').next().map(str::to_owned)
    };
    let known = page(id);
    // A long one is shown from elsewhere on when it is read anew.
    if !known.contains("data-from=\"0\"") {
        return 0;
    }
    let have = state(&known).expect("it goes on");
    let mut listener = Listener::to(&served, id, &have);
    listener.expect("here");
    let (mut told, mut last) = (0, have);
    for piece in lines[first..].chunks((lines.len() - first).div_ceil(pieces).max(1)) {
        append(&sandbox.work().join(name), &piece.concat());
        let fresh = page(id);
        if !fresh.contains("data-from=\"0\"") {
            break;
        }
        let now = state(&fresh).expect("it goes on");
        if now == last {
            continue;
        }
        let (event, value) = listener.next();
        told += 1;
        match event.as_str() {
            "change" => assert_eq!(value["have"], now.as_str(), "{name}"),
            "anew" | "lost" => break,
            other => panic!("{name}: {other} {value}"),
        }
        last = now;
    }
    told
}

/// A sample of these sessions, at most so many, and of the others as many as it takes until one has grown: of some nothing can
/// be told.
fn some_grow(files: Vec<PathBuf>, most: usize, pieces: usize) {
    let sampled = sample(files.clone()).take(most);
    let mut told: usize = sampled.map(|file| grows_alike(&file, pieces)).sum();
    for file in files {
        if told > 0 {
            return;
        }
        told = grows_alike(&file, pieces);
    }
    assert!(told > 0, "nothing grew");
}

#[test]
fn sessions_of_all_tools_that_grow_are_told_as_they_are_read() {
    for format in ["claude-code", "codex", "pi", "droid", "gemini", "qwen"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data")
            .join(format);
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = files.map(|file| file.path()).collect();
        files.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
        files.sort();
        some_grow(files, 6, 3);
    }
}

#[test]
#[ignore = "reads the folder that TRACT_REAL_SESSIONS names"]
fn real_sessions_that_grow_are_told_as_they_are_read() {
    let mut folders = vec![
        real_sessions().join("claude-code"),
        real_sessions().join("codex"),
    ];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if entry.metadata().is_ok_and(|it| it.len() < 400_000) {
                files.push(path);
            }
        }
    }
    files.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    some_grow(files, 100, 4);
}
