//! A repository on another machine: ssh starts tract there, and the two talk through its pipes.

use std::io::{BufReader, BufWriter};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tract::Error;
use tract::render::shell_word;
use tract::repo::Repo;
use tract::sync::{Peer, Wired};

use super::url::Host;
use crate::cli::machine::exec::{self, Drain};
use crate::cli::machine::shell::shell;
use crate::cli::{App, Failure, Result};

/// How much of what is said there on standard error is kept.
const STDERR_KEPT: usize = 16 << 10;
/// How many lines of it are shown.
const SHOWN: usize = 8;
/// How long the other end may take to go once nobody asks any more.
const LINGER: Duration = Duration::from_secs(2);
/// What a shell ends with where there is no such command.
const NO_COMMAND: i32 = 127;

/// Lets `act` talk to the repository there.
pub fn with<T>(
    host: &Host,
    mine: &Repo,
    app: &mut App,
    act: impl FnOnce(&mut dyn Peer, &mut App) -> Result<T>,
) -> Result<T> {
    let mut child = start(host, app)?;
    let stderr = Drain::of(child.stderr.take().expect("it is piped"), STDERR_KEPT);
    let input = BufReader::new(child.stdout.take().expect("it is piped"));
    let output = BufWriter::new(child.stdin.take().expect("it is piped"));
    let mut is_reached = false;
    let done = Wired::new(input, output).map_err(Failure::from);
    let done = done.and_then(|wired| {
        is_reached = true;
        act(&mut wired.by(mine.signature()), app)
    });
    // The pipes are closed: there is nothing more to ask.
    let code = end(child);
    let Err(Failure::Tract(Error::BrokenPeer { detail })) = done else {
        return done;
    };
    exec::wait_for(LINGER, || stderr.is_done());
    let said = String::from_utf8_lossy(&stderr.take()).into_owned();
    // What to do there is no advice to who is here.
    let is_told = |line: &&str| !line.trim().is_empty() && !line.starts_with("hint:");
    let said = said.lines().filter(is_told);
    for line in said.take(SHOWN) {
        app.ui.complain(format!("{}: {line}", host.name));
    }
    if is_reached {
        return Err(Error::BrokenPeer { detail }.into());
    }
    let (what, hint) = match code {
        Some(NO_COMMAND) => (
            format!("there is no tract on {}", host.name),
            "install it there, where a shell that ssh starts finds it".to_owned(),
        ),
        // What stands before tract's own words is a shell's.
        _ if detail.starts_with("said") => (
            format!("{} {detail}", host.name),
            "a shell that ssh starts there must print nothing before it".to_owned(),
        ),
        _ => (
            format!("tract could not be started at {}:{}", host.name, host.path),
            format!(
                "ssh {} tract serve {} says why",
                shell_word(&host.name),
                place(&host.path)
            ),
        ),
    };
    Err(Failure::refused(what).with_hint(hint))
}

/// Waits for the end, and not for long; its exit code.
fn end(mut child: Child) -> Option<i32> {
    let ended = exec::wait(&mut child, LINGER, || None);
    if ended.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    ended.ok()?.code()
}

fn start(host: &Host, app: &App) -> Result<Child> {
    let port = host.port.map(|port| port.to_string());
    let there = format!("tract serve {}", place(&host.path));
    let mut arguments = Vec::new();
    if let Some(port) = &port {
        arguments.extend(["-p", port]);
    }
    arguments.extend([host.name.as_str(), &there]);
    let mut command = match &app.env.ssh_command {
        Some(ssh) => {
            let mut shell = shell(&format!("{ssh} \"$@\""));
            shell.arg("ssh");
            shell
        }
        None => Command::new("ssh"),
    };
    command.args(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().map_err(|error| {
        let failure = Failure::refused(format!("ssh could not be started: {error}"));
        failure.with_hint("TRACT_SSH_COMMAND names another command")
    })
}

/// The directory as the shell there reads it: `~` is its home.
fn place(path: &str) -> String {
    match path.strip_prefix("~/") {
        Some(below) => format!("~/{}", shell_word(below)),
        None if path == "~" => "~".to_owned(),
        None => shell_word(path),
    }
}
