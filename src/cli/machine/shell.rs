//! What a shell reads.

use std::process::Command;

/// A command line that a shell runs.
pub fn shell(line: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(line);
    shell
}
