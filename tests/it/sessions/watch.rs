//! `tract watch`: what agents write comes in while they write it, and stays when they delete it.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

use crate::sandbox::{Sandbox, THE_FILE, is_left_out, on_servers};

const ID: &str = "2f6c1f0e-0000-4000-8000-000000000001";

/// A record of a session of Claude Code's that follows the one before it.
fn record(number: usize, role: &str, text: &str) -> String {
    let parent = match number {
        0 => "null".to_owned(),
        _ => format!("\"u{}\"", number - 1),
    };
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,\"sessionId\":\"{ID}\",\"cwd\":\"/w\",\
         \"type\":\"{role}\",\"uuid\":\"u{number}\",\"timestamp\":\"2026-03-01T10:00:{number:02}.000Z\",\
         \"message\":{{\"id\":\"m{number}\",\"role\":\"{role}\",\"model\":\"m\",\"content\":\"{text}\"}}}}\n"
    )
}

fn records(numbers: std::ops::Range<usize>) -> String {
    let role = |number: usize| ["user", "assistant"][number % 2];
    numbers
        .map(|number| record(number, role(number), &format!("said {number}")))
        .collect()
}

fn session_file(sandbox: &Sandbox) -> PathBuf {
    sandbox
        .home()
        .join(format!(".claude/projects/-w/{ID}.jsonl"))
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("it has one")).expect("made");
    std::fs::write(path, text).expect("written");
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).open(path).expect("opens");
    file.write_all(text.as_bytes()).expect("written");
}

fn with_repository() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    sandbox
}

/// A watch that is ended with the test, and the file that takes its words.
struct Watching {
    program: Child,
    words: NamedTempFile,
}

impl Watching {
    fn begin(sandbox: &Sandbox) -> Self {
        Self::of(sandbox.command(&["watch", "-v"]))
    }

    fn of(mut command: Command) -> Self {
        let words = NamedTempFile::new().expect("made");
        let program = command.stderr(words.reopen().expect("opens")).spawn();
        Self {
            program: program.expect("it runs"),
            words,
        }
    }

    /// What it said so far.
    fn said(&self) -> String {
        std::fs::read_to_string(&self.words).expect("text")
    }

    /// Asks it to end; what it said.
    fn end(mut self) -> String {
        let number = self.program.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &number]).status();
        assert!(asked.expect("kill runs").success());
        let status = self.program.wait().expect("it ends");
        assert!(status.success(), "{status}: {}", self.said());
        self.said()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// Waits until it is so; how long that took.
fn until(what: &str, is_so: impl Fn() -> bool) -> Duration {
    let began = Instant::now();
    while !is_so() {
        // A second is meant; a machine may be busy with a hundred other tests.
        assert!(began.elapsed() < Duration::from_secs(60), "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
    began.elapsed()
}

/// How many commits the session's ref leads to.
fn count(sandbox: &Sandbox) -> usize {
    let name = format!("refs/sessions/claude-code/{ID}");
    let output = sandbox
        .command(&["log", &name, "-n", "0", "--format", "%h"])
        .output();
    String::from_utf8_lossy(&output.expect("it runs").stdout)
        .lines()
        .count()
}

#[test]
fn what_is_written_comes_in_while_it_is_written() {
    let sandbox = with_repository();
    let path = session_file(&sandbox);
    let watching = Watching::begin(&sandbox);
    write(&path, &records(0..6));
    until("a new session", || count(&sandbox) == 6);
    append(&path, &records(6..9));
    until("what is appended", || count(&sandbox) == 9);
    // A line comes in once it is whole.
    let line = records(9..10);
    append(&path, &line[..40]);
    append(&path, &line[40..]);
    until("a line in two halves", || count(&sandbox) == 10);
    // Another file in its place, and then none.
    let other = path.with_extension("tmp");
    write(&other, &records(0..12));
    std::fs::rename(&other, &path).expect("renamed");
    until("another file", || count(&sandbox) == 12);
    std::fs::remove_file(&path).expect("removed");
    write(&path, &records(0..14));
    until("the file anew", || count(&sandbox) == 14);
    insta::assert_snapshot!(sandbox.tract(&["status"]), @r"
    On main, no commits yet
    Watched, something last came in 2026-03-14 12:02:00
    Sessions 1 (claude-code 1)

    Imported sessions have branches of their own: tract branch
    ");
    let said = watching.end();
    assert!(said.contains("Watching; Ctrl-C ends it\n"), "{said}");
    assert!(
        said.contains("claude-code/2f6c1f0e…: 6 new commits"),
        "{said}"
    );
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(count(&sandbox), 14, "what a tool deletes stays");
    insta::assert_snapshot!(sandbox.tract(&["status"]), @r"
    On main, no commits yet
    Not watched (tract watch), something last came in 2026-03-14 12:02:00
    Sessions 1 (claude-code 1); the file of 1 is gone: tract branch --gone

    Imported sessions have branches of their own: tract branch
    ");
}

#[test]
fn a_second_watch_says_that_there_is_one() {
    let sandbox = with_repository();
    let watching = Watching::begin(&sandbox);
    // Of a repository on a server it is where this machine keeps such.
    let folder = if !on_servers() {
        sandbox.work().join(".tract")
    } else {
        sandbox.home().join(".local/state/tract")
    };
    let number = watching.program.id().to_string();
    until("the lock", || {
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut locks = files.filter(|file| file.path().extension().is_some_and(|it| it == "lock"));
        locks.any(|lock| std::fs::read_to_string(lock.path()).is_ok_and(|text| text == number))
    });
    for command in [&["watch"][..], &["watch", "--once"]] {
        let said = sandbox.tract(command).replace(&number, "[NUMBER]");
        insta::allow_duplicates! {
            insta::assert_snapshot!(said, @r"
            exit code: 4
            --- stderr
            error: another tract watch (process [NUMBER]) is running here already
            hint: leave it running, or stop it and try again
            ");
        }
    }
    watching.end();
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]), @r"
    --- stderr
    Looked at 0 files: nothing new
    ");
}

#[test]
fn once_takes_in_what_is_new_and_ends() {
    let sandbox = with_repository();
    let path = session_file(&sandbox);
    write(&path, &records(0..20));
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]), @r"
    --- stderr
    claude-code/2f6c1f0e…: 20 new commits
    Looked at 1 file: 20 new commits in 1
    ");
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]), @r"
    --- stderr
    Looked at 1 file: nothing new
    ");
    append(&path, &records(20..22));
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]), @r"
    --- stderr
    claude-code/2f6c1f0e…: 2 new commits
    Looked at 1 file: 2 new commits in 1
    ");
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once", "--full"]), @r"
    --- stderr
    Looked at 1 file: nothing new
    ");
    assert_eq!(count(&sandbox), 22);
}

#[test]
fn what_comes_back_after_an_undo_is_told() {
    let sandbox = with_repository();
    let path = session_file(&sandbox);
    write(&path, &records(0..4));
    sandbox.ok(&["import", path.to_str().expect("UTF-8")]);
    sandbox.ok(&["undo"]);
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]), @r"
    --- stderr
    claude-code/2f6c1f0e…: here again
    Looked at 1 file: 1 here again
    ");
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]), @r"
    --- stderr
    Looked at 1 file: nothing new
    ");
    assert_eq!(count(&sandbox), 4);
}

#[test]
fn a_change_that_only_a_full_reading_finds_is_found_by_it() {
    let sandbox = with_repository();
    let path = session_file(&sandbox);
    // Longer than what is looked at.
    let text = records(0..600);
    write(&path, &text);
    sandbox.tract(&["watch", "--once"]);
    let changed = text.replace("said 40\"", "told 40\"");
    write(&path, &(changed.clone() + &records(600..602)));
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]), @r"
    --- stderr
    claude-code/2f6c1f0e…: 2 new commits
    Looked at 1 file: 2 new commits in 1
    ");
    assert_eq!(count(&sandbox), 602);
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once", "--full"]), @r"
    --- stderr
    claude-code/2f6c1f0e…: 562 new commits
    Looked at 1 file: 562 new commits in 1
    ");
    assert_eq!(count(&sandbox), 602, "what was here stays");
    assert!(sandbox.ok(&["find", "-F", "told 40"]).contains("told 40"));
}

#[test]
fn files_that_cannot_be_read_are_named_and_keep_nobody_from_coming_in() {
    let sandbox = with_repository();
    let folder = sandbox.home().join(".claude/projects/-w");
    write(&session_file(&sandbox), &records(0..4));
    write(&folder.join("notes.json"), "{\"a\": 1}");
    write(&folder.join("empty.jsonl"), "");
    write(&folder.join("half.jsonl"), &records(0..1)[..30]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(folder.join("loop.jsonl"), folder.join("loop.jsonl")).expect("linked");
        symlink(&folder, folder.join("round")).expect("linked");
        symlink("/nowhere/at/all", folder.join("gone.jsonl")).expect("linked");
    }
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]), @r"
    exit code: 1
    --- stderr
    warning: ~/.claude/projects/-w/loop.jsonl: too many levels of symbolic links; it is tried again
    claude-code/2f6c1f0e…: 4 new commits
    Looked at 5 files: 4 new commits in 1
    ");
    assert_eq!(count(&sandbox), 4);
}

#[test]
fn who_watches_nothing_new_writes_nothing() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = with_repository();
    write(&session_file(&sandbox), &records(0..4));
    let watching = Watching::begin(&sandbox);
    until("it is here", || count(&sandbox) == 4);
    let looked = |sandbox: &Sandbox| {
        let files = std::fs::read_dir(sandbox.work().join(".tract")).expect("there");
        let facts = files.map(|file| {
            let file = file.expect("one");
            let facts = file.metadata().expect("facts");
            (
                file.file_name(),
                (facts.len(), facts.modified().expect("a time")),
            )
        });
        facts.collect::<BTreeMap<_, _>>()
    };
    let number = watching.program.id();
    // In hundredths of a second, where the system tells.
    let worked = || {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        let fields: Vec<&str> = stat.rsplit(") ").next()?.split(' ').collect();
        Some(fields[11].parse::<u64>().ok()? + fields[12].parse::<u64>().ok()?)
    };
    std::thread::sleep(Duration::from_millis(1_500));
    let (before, was) = (worked(), looked(&sandbox));
    std::thread::sleep(Duration::from_secs(3));
    if let (Some(before), Some(after)) = (before, worked()) {
        // One per cent of three seconds is three.
        assert!(after - before <= 3, "{before} to {after}");
    }
    assert_eq!(looked(&sandbox), was);
    watching.end();
}

#[test]
fn undo_passes_over_what_came_in_by_itself() {
    let sandbox = with_repository();
    sandbox.ok(&["commit", "-r", "user", "-m", "mine"]);
    write(&session_file(&sandbox), &records(0..4));
    sandbox.ok(&["watch", "--once"]);
    insta::assert_snapshot!(sandbox.tract(&["undo"]), @r"
    --- stderr
    Undid #1 (2 min ago): commit -r user -m …
    On main, which has no commits
    hint: back: tract redo
    ");
    append(&session_file(&sandbox), &records(4..6));
    sandbox.ok(&["watch", "--once"]);
    insta::assert_snapshot!(sandbox.tract(&["redo"]), @r#"
    --- stderr
    Did again #1 (4 min ago): commit -r user -m …
    On main, at cc07460 ("mine")
    "#);
    assert_eq!(count(&sandbox), 6);
}

#[test]
fn a_hook_says_nothing_that_a_client_takes_for_no() {
    let sandbox = Sandbox::new();
    for input in [
        "",
        "{}",
        "no JSON",
        "{\"transcript_path\":\"~nobody/x\"}",
        "[1]",
    ] {
        let said = sandbox.tract_with(&["import", "--hook"], input);
        assert!(said.starts_with("exit code: 1\n"), "{input}: {said}");
        assert!(!said.contains("--- stdout"), "{said}");
    }
    let said = sandbox.tract_with(&["import", "--hook", "--nonsense"], "{}");
    assert!(said.starts_with("exit code: 1\n"), "{said}");
    let path = sandbox.write("session.jsonl", records(0..4));
    let hook = serde_json::json!({"transcript_path": path}).to_string();
    let output = {
        let mut command = sandbox.command(&["import", "--hook"]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        let mut stdin = child.stdin.take().expect("it is piped");
        stdin.write_all(hook.as_bytes()).expect("written");
        drop(stdin);
        child.wait_with_output().expect("it ends")
    };
    assert!(output.status.success() && output.stdout.is_empty());
}

#[test]
fn a_repository_in_memory_is_not_watched() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::empty();
    insta::assert_snapshot!(sandbox.tract(&["--ephemeral", "watch"]), @r"
    exit code: 2
    --- stderr
    error: a repository in memory would be gone when the watch ends
    hint: tract init makes one that stays
    ");
    insta::assert_snapshot!(sandbox.tract(&["watch"]), @r"
    exit code: 1
    --- stderr
    error: no tract repository here or above
    hint: tract demo shows what tract does, tract init makes an empty repository
    ");
}

/// A short run of `tests/reliability/home.py`; its long run is in `docs/reliability.md`.
#[test]
fn whatever_becomes_of_a_home_what_stood_for_a_second_is_here() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reliability/home.py");
    let mut python = Command::new("python3");
    python.args([script, "--tract", env!("CARGO_BIN_EXE_tract")]);
    // A second is longer where a hundred tests run at once.
    python.args(["--second", "3", "--steps", "14", "--sessions", "6"]);
    let output = python.output().expect("Python runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complaint}");
}

/// A session of another one's id and directory.
fn other_session(sandbox: &Sandbox, id: &str, directory: &str) -> PathBuf {
    let path = sandbox.home().join(format!(
        ".claude/projects/{}/{id}.jsonl",
        directory.replace('/', "-")
    ));
    let text = records(0..4)
        .replace(ID, id)
        .replace("said", &format!("{} said", &id[..1]));
    write(&path, &text.replace("\"/w\"", &format!("\"{directory}\"")));
    path
}

#[test]
fn a_home_is_told_by_tool_directory_and_what_is_gone() {
    let sandbox = with_repository();
    let here = sandbox.work().display().to_string();
    other_session(&sandbox, "aaaaaaaa-0000-4000-8000-000000000001", &here);
    let gone = other_session(
        &sandbox,
        "bbbbbbbb-0000-4000-8000-000000000002",
        "/home/mara/oven",
    );
    sandbox.ok(&["watch", "--once"]);
    std::fs::remove_file(gone).expect("removed");
    sandbox.ok(&["watch", "--once"]);
    insta::assert_snapshot!(sandbox.tract(&["status"]));
    for (name, args) in [
        ("all", &["branch"][..]),
        ("here", &["branch", "--here"]),
        ("gone", &["branch", "--gone"]),
        ("of another tool", &["branch", "--tool", "codex"]),
        ("found", &["find", "-F", "SAID 2"]),
        ("found here", &["find", "-F", "SAID 2", "--here"]),
    ] {
        insta::assert_snapshot!(name, sandbox.tract(args).replace(&here, "[WORK]"));
    }
}

#[test]
fn a_status_names_what_could_not_be_read_until_it_was() {
    let sandbox = with_repository();
    sandbox.ok(&["commit", "-r", "user", "-m", "mine"]);
    let folder = sandbox.home().join(".claude/projects/-w");
    let number = |number: usize| folder.join(format!("{number}\u{1b}[31m.jsonl"));
    for at in 0..7 {
        write(&number(at), "{\"type\":\"us");
    }
    let database = sandbox.home().join(".local/share/opencode/opencode.db");
    write(
        &database,
        &format!("SQLite format 3\0{}", "x".repeat(5_000)),
    );
    let said = sandbox.tract(&["watch", "--once"]);
    assert!(
        said.contains("opencode.db") && said.contains("it is tried again"),
        "{said}"
    );
    insta::assert_snapshot!("unread", sandbox.tract(&["status"]));
    // What is gone is none of them, nor what can be read.
    for at in 1..7 {
        std::fs::remove_file(number(at)).expect("removed");
    }
    write(&number(0), &records(0..4));
    insta::assert_snapshot!("unread, fewer", sandbox.tract(&["status"]));
    sandbox.ok(&["import", number(0).to_str().expect("UTF-8")]);
    let status = sandbox.tract(&["status"]);
    assert!(status.contains("Unread   1 file,"), "{status}");
    std::fs::remove_file(&database).expect("removed");
    assert!(!sandbox.tract(&["status"]).contains("Unread"));
    // It does not come back with another file of that name.
    sandbox.ok(&["watch", "--once"]);
    write(&database, "");
    assert!(!sandbox.tract(&["status"]).contains("Unread"));
}

#[test]
fn an_import_of_everything_says_later_what_it_could_not_read() {
    let sandbox = with_repository();
    write(&session_file(&sandbox), &records(0..4));
    other_session(&sandbox, "aaaaaaaa-0000-4000-8000-000000000001", "/w");
    let broken = sandbox.home().join(".claude/projects/-w/broken.jsonl");
    write(&broken, "{\"type\":\"us");
    sandbox.tract(&["import", "--all"]);
    let status = sandbox.tract(&["status"]);
    assert!(status.contains("broken.jsonl: broken JSON"), "{status}");
    // A reason may quote what is erased.
    sandbox.ok(&["purge", "--match", "said 3", "--force"]);
    let status = sandbox.tract(&["status"]);
    assert!(!status.contains("broken.jsonl"), "{status}");
}

#[test]
fn a_session_whose_records_lose_each_other_is_here_all_the_same() {
    let sandbox = with_repository();
    let text = records(0..12).replace("\"parentUuid\":\"u7\"", "\"parentUuid\":\"nowhere\"");
    sandbox.write("s.jsonl", text);
    insta::assert_snapshot!(sandbox.tract(&["import", "s.jsonl"]));
}

#[cfg(feature = "postgres")]
#[test]
fn a_server_that_goes_away_ends_no_watch() {
    let Some(socket) = crate::cluster::socket() else {
        return;
    };
    let admin = |sql: &str| {
        let address = format!("postgres://tract@/postgres?host={socket}");
        let client = crate::client::Client::connect(&address.parse().expect("one"));
        client.batch_execute(sql).expect("SQL");
    };
    admin("CREATE DATABASE away");
    let sandbox = Sandbox::empty();
    let address = format!("postgres://tract@/away?host={socket}");
    let on = |arguments: &[&'static str]| [&["--repo", address.as_str()], arguments].concat();
    sandbox.ok(&on(&["init"]));
    let path = session_file(&sandbox);
    write(&path, &records(0..4));
    let watching = Watching::of(sandbox.command(&on(&["watch", "-v"])));
    let session = format!("sessions/claude-code/{ID}");
    let log = [&on(&["log", "-n", "0", "--format", "%s"])[..], &[&session]].concat();
    let has = |messages: usize| sandbox.tract(&log).lines().count() == messages;
    until("it has come in", || has(4));
    let status = sandbox.ok(&on(&["status"]));
    assert!(status.contains("Watched, "), "{status}");

    admin("ALTER DATABASE away ALLOW_CONNECTIONS false");
    admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'away'");
    append(&path, &records(4..8));
    until("it says that it asked in vain", || {
        watching.said().contains("; it is tried again\n")
    });
    admin("ALTER DATABASE away ALLOW_CONNECTIONS true");
    until("what grew meanwhile has come in", || has(8));
    let told = watching.end();
    assert!(told.contains("The server is there again\n"), "{told}");
}
