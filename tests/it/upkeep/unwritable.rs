//! Where the disk or whoever reads fails after a change was made, the word and the exit code say so.

use std::fs::{File, OpenOptions};
use std::process::{Output, Stdio};
use std::time::Duration;

use crate::sandbox::{Sandbox, THE_FILE, is_left_out};

/// A device that takes nothing.
fn full() -> File {
    let full = OpenOptions::new().write(true).open("/dev/full");
    full.expect("Linux has one")
}

fn session(sandbox: &Sandbox) -> String {
    let path = sandbox.write("session.json", r#"[{"role":"user","content":"hi"}]"#);
    path.to_str().expect("UTF-8").to_owned()
}

fn said(output: &Output) -> String {
    let code = output.status.code();
    format!("{code:?} {}", String::from_utf8_lossy(&output.stderr))
}

/// Every command that writes, in an order in which each has something to do.
fn writing(session: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["commit", "-r", "user", "-m", "four"],
        vec!["commit", "--edit", ":2", "-m", "two, mended"],
        vec!["annotate", ":1", "--pin"],
        vec!["pin", ":2"],
        vec!["unpin", ":2"],
        vec!["drop", ":2"],
        vec!["restore", "HEAD"],
        vec!["truncate", "--keep", "1"],
        vec!["undo"],
        vec!["redo"],
        vec!["undo"],
        vec!["compact", "-m", "summary"],
        vec!["undo"],
        vec!["compact", "--exec", "echo summary"],
        vec!["tag", "v1"],
        vec!["tag", "-d", "v1"],
        vec!["branch", "idea"],
        vec!["branch", "-m", "idea", "plan"],
        vec!["branch", "-d", "plan"],
        vec!["checkout", "-b", "other"],
        vec!["checkout", "HEAD^"],
        vec!["checkout", "-"],
        vec!["checkout", "main"],
        vec!["reset", "HEAD^"],
        vec!["reset", "--hard", "ORIG_HEAD"],
        vec!["config", "budget.max", "128k"],
        vec!["config", "--unset", "budget.max"],
        vec!["import", session],
        vec!["import", session, "--onto", "main"],
        vec!["clear"],
        vec!["clear", "--purge", "--force"],
        vec!["init"],
    ]
}

/// How many operations there are.
fn operations(sandbox: &Sandbox) -> usize {
    let listed = sandbox.ok(&["reflog", "-n", "1000"]);
    listed.lines().count()
}

#[test]
fn a_commit_whose_output_fails_says_that_it_was_made() {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let mut command = sandbox.command(&["commit", "-r", "user", "-m", "two"]);
    let output = command.stdout(full()).output().expect("it runs");
    insta::assert_snapshot!(said(&output), @r"
    Some(1) error: standard output: no space left on device
    hint: the change was made: HEAD is now 4aadb6b
    ");
    insta::assert_snapshot!(sandbox.ok(&["log"]), @r"
    4aadb6b  :2  2026-03-14 12:03:00  append  user  +5  13  (HEAD -> main)  two
    dbc1344  :1  2026-03-14 12:02:00  append  user  +8   8  one
    ");
    // Nothing was changed here.
    let output = sandbox.command(&["log"]).stdout(full()).output();
    insta::assert_snapshot!(said(&output.expect("it runs")), @r"
    Some(1) error: standard output: no space left on device
    hint: make room, then try again
    ");
    let output = sandbox.command(&["compile"]).stdout(full()).output();
    insta::assert_snapshot!(said(&output.expect("it runs")), @r"
    Some(1) error: standard output: no space left on device
    hint: make room, then try again
    ");
    let mut command = sandbox.command(&["export", "--format", "openai"]);
    let output = command.stdout(full()).output();
    insta::assert_snapshot!(said(&output.expect("it runs")), @r"
    Some(1) error: standard output: no space left on device
    hint: make room, then try again
    ");
}

#[test]
fn a_resume_whose_output_fails_says_how_the_session_goes_on() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    let mut command = sandbox.command(&["resume", "--in", "codex"]);
    let output = command.stdout(full()).output().expect("it runs");
    let said = said(&output);
    assert!(said.starts_with("Some(1) Wrote "), "{said}");
    assert!(
        said.contains("\nerror: standard output: no space left on device\n"),
        "{said}"
    );
    let hint = "\nhint: the session was written; it goes on with: codex resume 0";
    assert!(said.contains(hint), "{said}");
}

#[test]
fn every_command_that_writes_tells_a_full_output_from_a_change_not_made() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two"), ("user", "3")]);
    let session = session(&sandbox);
    for command in writing(&session) {
        let before = operations(&sandbox);
        let output = sandbox.command(&command).stdout(full()).output();
        let output = output.expect("it runs");
        let text = said(&output);
        let made = operations(&sandbox) > before;
        match output.status.code() {
            Some(0) => {}
            Some(1) => {
                assert!(
                    text.contains("error: standard output: no space left"),
                    "{command:?} {text}"
                );
                assert_eq!(
                    text.contains("hint: the change was made: HEAD is now"),
                    made,
                    "{command:?} {text}"
                );
            }
            _ => panic!("{command:?} {text}"),
        }
        let is_config = command[0] == "config" || command[0] == "init";
        assert_eq!(made, !is_config, "{command:?} {text}");
    }
}

#[test]
fn a_remark_that_nobody_can_read_changes_no_outcome() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two"), ("user", "3")]);
    let session = session(&sandbox);
    for command in writing(&session) {
        let before = operations(&sandbox);
        let status = sandbox
            .command(&command)
            .stderr(full())
            .stdout(full())
            .status();
        let code = status.expect("it runs").code();
        let made = operations(&sandbox) > before;
        let is_config = command[0] == "config" || command[0] == "init";
        assert_eq!(made, !is_config, "{command:?}");
        assert!(code == Some(0) || code == Some(1), "{command:?} {code:?}");
        sandbox.ok(&["config"]);
    }
    for (command, code) in [
        (&["log", "nowhere"][..], 1),
        (&["log", "--nonsense"], 2),
        (&["commit", "-r", "nobody", "-m", "x"], 2),
        (&["status"], 0),
    ] {
        let status = sandbox.command(command).stderr(full()).status();
        assert_eq!(status.expect("it runs").code(), Some(code), "{command:?}");
    }
    // Closed altogether.
    let tract = sandbox.command(&[]);
    let environment = tract.get_envs();
    let status = std::process::Command::new("sh")
        .args(["-c", "exec \"$0\" commit -r user -m four >&- 2>&-"])
        .arg(env!("CARGO_BIN_EXE_tract"))
        .current_dir(sandbox.work())
        .env_clear()
        .envs(environment.filter_map(|(name, value)| Some((name, value?))))
        .status();
    assert!(
        status
            .expect("it runs")
            .code()
            .is_some_and(|code| code <= 1)
    );
    assert!(sandbox.ok(&["log", "-n", "1"]).contains("four"));
}

#[test]
fn a_commit_after_which_the_database_fails_is_told_of() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let database = sandbox.work().join(".tract/tract.db");
    let database = rusqlite::Connection::open(database).expect("opens");
    sandbox.ok(&["config", "budget.max", "1"]);
    let waits = "compact:touch asked; while [ -e asked ]; do sleep 0.01; done; echo summed up";
    sandbox.ok(&["config", "budget.action", waits]);
    let mut command = sandbox.command(&["commit", "-r", "user", "-m", "two"]);
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = piped.spawn().expect("it runs");
    let asked = sandbox.work().join("asked");
    while !asked.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let rename = |sql: &str| database.execute_batch(sql).expect("SQL");
    rename("ALTER TABLE bodies RENAME TO away");
    std::fs::remove_file(asked).expect("it is there");
    let output = running.wait_with_output().expect("it ends");
    rename("ALTER TABLE away RENAME TO bodies");
    insta::assert_snapshot!(said(&output), @"
    Some(1) 13 tokens, over the budget of 1: asking touch asked; while [ -e asked ]; do sleep 0.01; done; echo summed up
    warning: the context is still over budget
    error: the repository is damaged: no such table: bodies
    the message was committed anyway, as 8e8701e
    hint: tract compact puts a summary in place of what is old
    ");
    assert!(sandbox.ok(&["log", "-n", "1"]).contains("two"));
}

/// The program where no file may grow beyond so many blocks of 512 bytes.
fn limited(sandbox: &Sandbox, blocks: u64, command: &[&str]) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let tract = sandbox.command(&[]);
    let environment = tract.get_envs();
    let output = std::process::Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_tract")])
        .args(command)
        .current_dir(sandbox.work())
        .env_clear()
        .envs(environment.filter_map(|(name, value)| Some((name, value?))))
        .output();
    output.expect("it runs")
}

#[test]
fn a_disk_that_is_full_loses_nothing_and_hides_nothing() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    let journal = sandbox.work().join(".tract/tract.db-wal");
    let (mut failed, mut done) = (0, 0);
    for step in 0..24 {
        let blocks = std::fs::metadata(&journal).expect("it is there").len() / 512 + step * 8;
        let text = format!("message {step}");
        let output = limited(&sandbox, blocks, &["commit", "-r", "user", "-m", &text]);
        let said = said(&output);
        let is_there = sandbox.ok(&["log", "-n", "1"]).contains(&text);
        let is_told = output.status.success() || said.contains("stays: HEAD is now");
        assert_eq!(is_told, is_there, "{said}");
        assert!(
            !said.contains("panicked") && output.status.code().is_some(),
            "{said}"
        );
        if output.status.success() {
            done += 1
        } else {
            failed += 1
        }
        // Looking needs no room but for the engine's shared memory, of 32 KiB.
        for look in [
            &["log"][..],
            &["status"],
            &["compile"],
            &["show"],
            &["find", "-F", "one"],
        ] {
            let output = limited(&sandbox, 64, look);
            assert!(output.status.success(), "{look:?} {}", self::said(&output));
        }
    }
    assert!(failed > 2 && done > 2, "{failed} failed, {done} done");
}

/// A file that an export could not finish would be in the way of the next try.
#[test]
fn an_export_that_fails_leaves_no_file() {
    let sandbox = Sandbox::with_messages(&[("user", &"long ".repeat(2_000))]);
    let command = ["export", "--format", "openai", "-o", "out.json"];
    let failed = limited(&sandbox, 4, &command);
    assert_eq!(failed.status.code(), Some(1), "{}", said(&failed));
    assert!(!sandbox.work().join("out.json").exists());
    sandbox.ok(&command);
}
