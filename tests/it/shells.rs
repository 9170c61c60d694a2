//! What shells and `man` are given.

use crate::sandbox::Sandbox;

/// What a shell would offer for the last of these words.
fn completed(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let mut command = sandbox.command(&["--", "tract"]);
    command.args(words).env("COMPLETE", "bash");
    command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    command
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_IFS", "\n");
    let output = command.output().expect("the program runs");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    let offered = String::from_utf8(output.stdout).expect("UTF-8");
    offered.lines().map(str::to_owned).collect()
}

#[test]
fn a_shell_completes_commands_branches_and_revisions() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    sandbox.ok(&["branch", "topic/parser"]);
    sandbox.ok(&["tag", "v1"]);
    assert_eq!(completed(&sandbox, &["check"]), ["checkout"]);
    assert_eq!(completed(&sandbox, &["checkout", "to"]), ["topic/parser"]);
    assert_eq!(completed(&sandbox, &["show", "v"]), ["v1"]);
    assert_eq!(completed(&sandbox, &["--on", "to"]), ["topic/parser"]);
    let head = sandbox.ok(&["rev-parse", "HEAD"]);
    assert_eq!(
        completed(&sandbox, &["log", &head[..3]]),
        [head[..7].to_owned()]
    );
    assert!(completed(&sandbox, &["log", "--one"]).contains(&"--oneline".to_owned()));
    // Without a repository there is nothing to name, and nothing goes wrong.
    assert_eq!(completed(&Sandbox::empty(), &["checkout", "to"]), [""; 0]);
}

#[test]
fn each_shell_gets_what_makes_it_ask() {
    let sandbox = Sandbox::empty();
    for (shell, word) in [
        ("bash", "complete "),
        ("zsh", "compdef"),
        ("fish", "complete "),
    ] {
        let script = sandbox.ok(&["completions", shell]);
        assert!(
            script.contains(word) && script.contains("COMPLETE"),
            "{shell}: {script}"
        );
    }
    insta::assert_snapshot!(sandbox.tract(&["completions", "tcsh"]), @r"
    exit code: 2
    --- stderr
    error: invalid value 'tcsh' for '<SHELL>' [possible values: bash, zsh, fish]
    hint: did you mean zsh?
    ");
}

#[test]
fn every_command_has_a_manual_page() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["man", "pages"]);
    let pages = sandbox.work().join("pages");
    let names = std::fs::read_dir(&pages).expect("a folder");
    let names: Vec<String> = names
        .map(|page| {
            page.expect("a page")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let help = sandbox.ok(&["help", "--all"]);
    let commands = help
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let commands: Vec<&str> = commands
        .filter(|name| name.starts_with(char::is_lowercase))
        .collect();
    assert!(commands.len() > 30, "{commands:?}");
    for command in &commands {
        assert!(names.contains(&format!("tract-{command}.1")), "{command}");
    }
    let log = std::fs::read_to_string(pages.join("tract-log.1")).expect("a page");
    assert!(
        log.starts_with(".ie") && log.contains("tract log "),
        "{log}"
    );
}

#[test]
fn what_other_tools_call_it_is_understood() {
    let sandbox = Sandbox::empty();
    for (typed, meant) in [
        ("ls", "branch"),
        ("list", "branch"),
        ("switch", "checkout"),
        ("revert", "undo"),
    ] {
        let said = sandbox.tract(&[typed]);
        assert!(
            said.ends_with(&format!("hint: did you mean {meant}?\n")),
            "{said}"
        );
    }
    let help = sandbox.ok(&["help", "undo"]);
    assert_eq!(help, sandbox.ok(&["undo", "--help"]));
    for list in [["help"].as_slice(), &["help", "--all"]] {
        for line in sandbox.ok(list).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
