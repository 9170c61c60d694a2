//! Commands as a page shows them, run as it says.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::sandbox::{Sandbox, on_servers};

/// The commands of a page's console blocks, each with the lines shown under it.
pub fn commands(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
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

/// Whether a line is what the page shows; one that is cut there ends in `…`.
fn agrees(shown: &str, line: &str) -> bool {
    line == shown
        || shown
            .strip_suffix('…')
            .is_some_and(|start| line.starts_with(start))
}

/// Runs each command of a page, which must say what is shown under it.
pub fn run(page: &str, sandbox: &Sandbox) {
    let place = sandbox.home().join("bin");
    std::fs::create_dir_all(&place).expect("made");
    symlink(env!("CARGO_BIN_EXE_tract"), place.join("tract")).expect("linked");
    for (line, shown) in commands(page) {
        let program = sandbox.command(&[]);
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{line} 2>&1"));
        shell.current_dir(sandbox.work()).env_clear();
        for (key, value) in program.get_envs() {
            shell.env(key, value.unwrap_or_default());
        }
        let path = std::env::var("PATH").unwrap_or_default();
        shell.env("PATH", format!("{}:{path}", place.display()));
        let output = shell.output().expect("a shell");
        let told = String::from_utf8(output.stdout).expect("UTF-8");
        // A page shows a directory.
        let told = if on_servers() {
            told.replace(&sandbox.place(), ".tract")
        } else {
            told
        };
        let told: Vec<&str> = told.trim_end().lines().collect();
        let end = shown.iter().rposition(|line| !line.is_empty());
        let shown = &shown[..end.map_or(0, |last| last + 1)];
        let pairs = shown.iter().zip(&told);
        let same = told.len() == shown.len() && pairs.into_iter().all(|(s, t)| agrees(s, t));
        assert!(
            same,
            "{line}\n--- shown\n{}\n--- told\n{}",
            shown.join("\n"),
            told.join("\n")
        );
    }
}
