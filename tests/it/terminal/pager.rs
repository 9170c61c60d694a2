//! Long output on a terminal is shown by a pager, as git does it: whose is asked, and when there is none.

use std::process::Command;

use crate::sandbox::{Sandbox, on_servers};
use crate::sessions::import::with_demo;
use crate::terminal::screen::Screen;

/// A pager that leaves its mark before each line.
const MARKED: &str = "sed s/^/P:/";

/// What a command writes to a terminal with this environment; nothing where no terminal can be made.
fn drawn(sandbox: &Sandbox, arguments: &[&str], more: &[(&str, &str)]) -> Option<String> {
    // An empty value takes the one of all tests out.
    let told = sandbox.drawn("80", arguments, &[&[("TRACT_PAGER", "")], more].concat());
    if told.is_none() {
        eprintln!("skipped: no `script` here to make a terminal");
    }
    told
}

fn is_marked(told: &str) -> bool {
    !told.is_empty() && told.lines().all(|line| line.starts_with("P:"))
}

#[test]
fn the_one_that_is_wanted_shows_what_is_long() {
    let sandbox = with_demo();
    let Some(plain) = drawn(&sandbox, &["log", "-n", "3"], &[("PAGER", "cat")]) else {
        return;
    };
    assert!(plain.contains("commit") && !plain.contains("P:"), "{plain}");
    for arguments in [
        &["log", "-n", "3"][..],
        &["show", "HEAD"],
        &["diff", "HEAD~3"],
        &["find", "bank"],
        &["view"],
        &["help"],
        &["help", "log"],
        &["reflog"],
        &["blame", ":1"],
        &["transcript"],
    ] {
        let told = drawn(&sandbox, arguments, &[("PAGER", MARKED)]).expect("drawn");
        assert!(is_marked(&told), "{arguments:?}: {told}");
        let unpaged = [arguments, &["--no-pager"]].concat();
        let told = drawn(&sandbox, &unpaged, &[("PAGER", MARKED)]).expect("drawn");
        assert!(!told.contains("P:"), "{arguments:?}: {told}");
    }
    // What is short, or is for a program, has none.
    for arguments in [&["status"][..], &["rev-parse", "HEAD"], &["branch"]] {
        let told = drawn(&sandbox, arguments, &[("PAGER", MARKED)]).expect("drawn");
        assert!(!told.contains("P:"), "{arguments:?}: {told}");
    }
}

#[test]
fn tracts_own_goes_first_and_the_repositorys_before_the_users() {
    // A server's settings name no program.
    if on_servers() {
        return;
    }
    let sandbox = with_demo();
    let log = |more: &[(&str, &str)]| drawn(&sandbox, &["log", "-n", "1"], more);
    sandbox.ok(&["config", "--global", "core.pager", "sed s/^/G:/"]);
    let Some(told) = log(&[("PAGER", MARKED)]) else {
        return;
    };
    assert!(told.starts_with("G:"), "{told}");
    sandbox.ok(&["config", "core.pager", "sed s/^/R:/"]);
    let told = log(&[("PAGER", MARKED)]).expect("drawn");
    assert!(told.starts_with("R:"), "{told}");
    let told = log(&[("TRACT_PAGER", "sed s/^/T:/")]).expect("drawn");
    assert!(told.starts_with("T:"), "{told}");
    // An empty text is none, whatever stands behind it.
    sandbox.ok(&["config", "core.pager", ""]);
    let told = log(&[("PAGER", MARKED)]).expect("drawn");
    assert!(told.starts_with("commit"), "{told}");
    sandbox.ok(&["config", "--unset", "core.pager"]);
    sandbox.ok(&["config", "--global", "core.pager", ""]);
    assert_eq!(sandbox.ok(&["config", "--global"]), "core.pager =\n");
    let told = log(&[("PAGER", MARKED)]).expect("drawn");
    assert!(told.starts_with("commit"), "{told}");
}

#[test]
fn a_pipe_has_none_and_one_that_is_not_there_is_passed_over() {
    let sandbox = with_demo();
    let plain = sandbox.ok(&["log", "-n", "3"]);
    let mut piped = sandbox.command(&["log", "-n", "3"]);
    let output = piped.env("TRACT_PAGER", MARKED).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), plain);
    for pager in ["no-such-pager-anywhere", "/no/such/pager -x"] {
        let Some(told) = drawn(&sandbox, &["log", "-n", "1"], &[("TRACT_PAGER", pager)]) else {
            return;
        };
        assert!(told.starts_with("commit"), "{told}");
    }
    // What a shell alone understands is a shell's.
    let told = drawn(
        &sandbox,
        &["log", "-n", "9"],
        &[("TRACT_PAGER", "head -n 1 | sed s/^/P:/")],
    );
    let told = told.expect("drawn");
    assert!(
        told.starts_with("P:commit") && told.lines().count() == 1,
        "{told}"
    );
}

#[test]
fn another_users_repository_names_no_pager() {
    // A server's settings name no program.
    if on_servers() {
        return;
    }
    let sandbox = with_demo();
    sandbox.ok(&["config", "core.pager", MARKED]);
    let is_root = Command::new("id")
        .arg("-u")
        .output()
        .expect("id runs")
        .stdout
        == b"0\n";
    if !is_root {
        eprintln!("skipped: only root can give a repository to somebody else");
        return;
    }
    let place = sandbox.work().join(".tract");
    let given = Command::new("chown")
        .args(["-R", "12345"])
        .arg(&place)
        .status();
    assert!(given.expect("chown runs").success());
    sandbox.ok(&["config", "--global", "safe.directory", "*"]);
    if let Some(told) = drawn(&sandbox, &["log", "-n", "1"], &[("PAGER", "cat")]) {
        assert!(told.contains("commit") && !told.contains("P:"), "{told}");
    }
}

#[test]
fn less_is_left_early_and_the_exit_code_is_the_commands() {
    let sandbox = Sandbox::new();
    let rows = (1..=200).map(|at| format!("{{\"role\":\"user\",\"content\":\"message {at}\"}}\n"));
    sandbox.write("batch.jsonl", rows.collect::<String>());
    sandbox.ok(&["commit", "--batch", "batch.jsonl"]);
    if Command::new("less").arg("-V").output().is_err() {
        eprintln!("skipped: there is no less here");
        return;
    }
    let Some(screen) = Screen::open(&sandbox, 80, 24) else {
        return;
    };
    screen.line("unset TRACT_PAGER; clear");
    screen.line("tract log -n 0; echo code $?");
    let first = screen.waits("less", |seen| seen.trim_end().ends_with(':'));
    assert!(
        first.contains("message 200") && !first.contains("code"),
        "{first}"
    );
    screen.text("q");
    screen.sees("code 0");
    // Interrupted in it, it stays there; what ends it then is the interrupt.
    screen.line("clear; tract log -n 0; echo code $?");
    screen.waits("less", |seen| seen.trim_end().ends_with(':'));
    screen.keys(&["C-c"]);
    screen.text("q");
    screen.sees("code 130");
    // What fits on the screen needs no key, and what fails says so without a pager.
    screen.line("clear; tract log -n 2; echo code $?");
    let short = screen.sees("code 0");
    assert!(short.contains("message 199"), "{short}");
    screen.line("clear; tract show nosuch; echo code $?");
    let failed = screen.sees("code 1");
    assert!(
        failed.contains("error: nothing here is called 'nosuch'"),
        "{failed}"
    );
    screen.line("clear; tract view -i");
    screen.heads(&["main", "200 of 200"]);
    screen.text("q");
}
