//! The session in the README is a real one: its commands run, and say what it shows.

use std::process::Command;

use crate::importing::SESSION;
use crate::sandbox::Sandbox;

const README: &str = include_str!("../../README.md");

/// The commands of the README's console blocks, each with the lines shown under it.
fn commands() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut inside = false;
    for line in README.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => commands.push((command, Vec::new())),
                (None, Some((_, shown))) => shown.push(line),
                (None, None) => panic!("output before any command: {line}"),
            },
        }
    }
    commands
}

/// Whether a line is what the README shows; one that is cut there ends in `…`.
fn agrees(shown: &str, line: &str) -> bool {
    line == shown
        || shown
            .strip_suffix('…')
            .is_some_and(|start| line.starts_with(start))
}

#[test]
fn the_readme_shows_a_real_session() {
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", SESSION);
    let commands = commands();
    assert!(commands.len() >= 3);
    for (line, shown) in commands {
        let program = sandbox.command(&[]);
        let binary = program.get_program().to_string_lossy().into_owned();
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(line.replacen("tract ", &format!("'{binary}' "), 1) + " 2>&1");
        shell.current_dir(sandbox.work()).env_clear();
        for (key, value) in program.get_envs() {
            shell.env(key, value.unwrap_or_default());
        }
        let output = shell.output().expect("a shell");
        let told = String::from_utf8(output.stdout).expect("UTF-8");
        let told: Vec<&str> = told.trim_end().lines().collect();
        let end = shown.iter().rposition(|line| !line.is_empty());
        let shown = &shown[..end.map_or(0, |last| last + 1)];
        let same = told.len() == shown.len()
            && shown
                .iter()
                .zip(&told)
                .all(|(shown, line)| agrees(shown, line));
        assert!(
            same,
            "{line}\n--- shown\n{}\n--- told\n{}",
            shown.join("\n"),
            told.join("\n")
        );
    }
}
