//! What is no ordinary file, has no end, or is nobody else's business.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::{ITS_COMMANDS, Sandbox, is_left_out};
use crate::sessions::import::{SESSION, with_demo};

fn mode(path: &Path) -> u32 {
    let facts = fs::metadata(path).expect("it is there");
    facts.permissions().mode() & 0o7777
}

fn pipe(sandbox: &Sandbox, name: &str) {
    let path = sandbox.work().join(name);
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo runs").success());
}

/// Runs it, but no longer than 20 seconds; what it says, and its exit code.
fn ends(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let begin = Instant::now();
    let mut child = sandbox
        .command(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    while child.try_wait().expect("it can be asked").is_none() {
        if begin.elapsed() > Duration::from_secs(20) {
            child.kill().expect("it is there");
            child.wait().expect("it ends");
            panic!("{arguments:?} does not end");
        }
        thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("it has ended");
    let told = String::from_utf8_lossy(&output.stderr);
    format!("exit code: {:?}\n{told}", output.status.code())
}

#[test]
fn what_is_exported_and_resumed_is_for_its_owner_alone() {
    let sandbox = with_demo();
    sandbox.ok(&["export", "-o", "new.jsonl"]);
    assert_eq!(mode(&sandbox.work().join("new.jsonl")), 0o600);

    // Written over, a file is made anew: where a link leads, and not beside it.
    let old = sandbox.write("old.jsonl", "old");
    fs::set_permissions(&old, fs::Permissions::from_mode(0o644)).expect("set");
    symlink("old.jsonl", sandbox.work().join("link.jsonl")).expect("linked");
    sandbox.ok(&["export", "--force", "-o", "link.jsonl"]);
    assert_eq!(mode(&old), 0o600);
    assert!(fs::symlink_metadata(sandbox.work().join("link.jsonl")).is_ok_and(|f| f.is_symlink()));
    assert_eq!(fs::read_to_string(&old).expect("there"), SESSION);
    sandbox.ok(&["export", "--force", "-o", "/dev/null"]);
    let names = fs::read_dir(sandbox.work()).expect("it is there");
    let drafts = names
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().contains(".tract."));
    assert_eq!(drafts.count(), 0);

    sandbox.ok(&["resume", "--in", "claude-code"]);
    let mut folders = vec![sandbox.home()];
    let mut sessions = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("it is there").flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path())
            } else {
                assert_eq!(mode(&entry.path()), 0o600, "{entry:?}");
                sessions += 1;
            }
        }
    }
    assert_eq!(sessions, 1);
}

#[test]
fn an_export_that_fails_leaves_the_file_that_was_there() {
    let sandbox = with_demo();
    sandbox.write("sub/old.jsonl", "old");
    let folder = sandbox.work().join("sub");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).expect("set");
    let told = ends(&sandbox, &["export", "--force", "-o", "sub/old.jsonl"]);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("set");
    // Whoever is root writes anyway.
    let kept = fs::read_to_string(folder.join("old.jsonl")).expect("there");
    assert!(
        told.contains("exit code: Some(0)") || kept == "old",
        "{told}"
    );
}

#[test]
fn a_pipe_that_nobody_writes_to_is_no_reason_to_wait() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.work().join("sessions")).expect("made");
    for name in ["pipe.jsonl", "sessions/pipe.jsonl"] {
        pipe(&sandbox, name);
    }
    for arguments in [
        &["import", "pipe.jsonl"][..],
        &["commit", "-r", "user", "-F", "pipe.jsonl"],
    ] {
        let told = ends(&sandbox, arguments);
        assert!(
            told.starts_with("exit code: Some(1)\nerror: pipe.jsonl is a pipe that nobody"),
            "{told}"
        );
        assert!(told.contains("hint: "), "{told}");
    }
    let told = ends(&sandbox, &["import", "sessions"]);
    assert!(
        told.starts_with("exit code: Some(1)\nerror: no session files"),
        "{told}"
    );
    sandbox.write("sessions/session.jsonl", SESSION);
    let told = ends(&sandbox, &["import", "sessions"]);
    assert!(told.starts_with("exit code: Some(0)\nImported"), "{told}");
}

#[test]
fn a_pipe_that_somebody_writes_to_is_read() {
    for arguments in [
        &["import", "chat.json"][..],
        &["import", "--strict", "chat.json"],
    ] {
        let sandbox = Sandbox::empty();
        pipe(&sandbox, "chat.json");
        let path = sandbox.work().join("chat.json");
        let chat = r#"[{"role":"user","content":"from a pipe"}]"#;
        let writes = thread::spawn(move || fs::write(path, chat));
        let told = ends(&sandbox, arguments);
        writes.join().expect("it ends").expect("written");
        assert!(told.starts_with("exit code: Some(0)\n"), "{told}");
        // The session is called as the pipe is.
        assert!(
            sandbox
                .ok(&["log", "sessions/openai/chat"])
                .contains("from a pipe")
        );
    }
    let sandbox = Sandbox::empty();
    let told = sandbox.tract_with(&["import", "/dev/stdin"], SESSION);
    assert!(told.contains("34 messages"), "{told}");
}

#[test]
fn a_device_is_no_session() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.work().join("devices")).expect("made");
    for device in ["/dev/zero", "/dev/urandom", "/dev/null"] {
        let told = ends(&sandbox, &["import", device]);
        let wanted = format!("exit code: Some(1)\nerror: {device} is a device");
        assert!(told.starts_with(&wanted), "{told}");
        let name = format!("devices{}.json", device.trim_start_matches("/dev"));
        symlink(device, sandbox.work().join(name)).expect("linked");
    }
    let told = ends(&sandbox, &["import", "devices"]);
    assert!(
        told.starts_with("exit code: Some(1)\nerror: no session files"),
        "{told}"
    );
    let told = ends(&sandbox, &["commit", "-r", "user", "-F", "/dev/zero"]);
    assert!(
        told.starts_with("exit code: Some(2)\nerror: /dev/zero: longer than 256 MiB"),
        "{told}"
    );
}

#[test]
fn a_line_without_end_is_kept_and_said_to_be_too_long() {
    let sandbox = Sandbox::new();
    let path = sandbox.write("session.jsonl", SESSION);
    let mut file = fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .expect("opened");
    file.write_all(b"{\"type\":\"").expect("written");
    file.set_len(SESSION.len() as u64 + (257 << 20))
        .expect("set");
    let told = sandbox.tract(&["import", "session.jsonl"]);
    assert!(told.starts_with("exit code: 3\n"), "{told}");
    assert!(told.contains("34 messages"), "{told}");
    assert!(told.contains("the line is too long"), "{told}");
    sandbox.ok(&["export", "-o", "back.jsonl"]);
    let back = fs::metadata(sandbox.work().join("back.jsonl")).expect("there");
    assert_eq!(back.len(), SESSION.len() as u64 + (257 << 20));
}

#[test]
fn a_document_that_is_too_long_to_be_held_is_refused() {
    let sandbox = Sandbox::new();
    let path = sandbox.write("chat.json", "[{\"role\":\"user\",\"content\":\"one\"},\n");
    let file = fs::OpenOptions::new()
        .append(true)
        .open(path)
        .expect("opened");
    file.set_len((1 << 30) + 1).expect("set");
    let told = ends(&sandbox, &["import", "--format", "openai", "chat.json"]);
    assert!(told.starts_with("exit code: Some(2)\nerror: "), "{told}");
    assert!(told.contains("1024 MiB"), "{told}");
}

#[test]
fn the_command_of_a_budget_has_its_time() {
    if is_left_out(ITS_COMMANDS) {
        return;
    }
    let sandbox =
        Sandbox::with_messages(&[("user", "one"), ("assistant", "two"), ("user", "three")]);
    sandbox.ok(&["config", "budget.max", "10"]);
    sandbox.ok(&["config", "budget.timeout", "1"]);
    sandbox.ok(&[
        "config",
        "budget.action",
        "compact:sleep 60 & echo early; wait",
    ]);
    let told = ends(&sandbox, &["commit", "-r", "assistant", "-m", "four"]);
    assert!(told.contains("it took longer than 1 s"), "{told}");
    let told = sandbox.tract(&["config", "budget.timeout", "0"]);
    assert!(told.starts_with("exit code: 2\n"), "{told}");
}
