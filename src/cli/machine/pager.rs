//! What shows long output page by page: `less`, or what the user prefers. None is built in.
//!
//! It is started at the first word of output, so that an error alone never meets it, and it is waited for before the
//! program ends. Deliberately absent: which commands have one ([`crate::cli::command::Command::pages`]).

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use signal_hook::consts::{SIGINT, SIGQUIT};
use signal_hook::flag;
use tract::render::shell_words;

use crate::cli::machine::shell::shell;

/// The setting that says which one.
pub const CORE_PAGER: &str = "core.pager";
/// What stands for none, as well as an empty text.
const NONE: &str = "cat";
/// What a pager is told unless the variable is set: to end where all fits on the screen, to let colours through, and
/// to leave what was read on the screen.
///
/// # Source
///
/// git-config(1), `core.pager`.
const TOLD: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];
/// The characters that only a shell understands.
const SHELL: &str = "|&;<>()$`\\\"'*?[#~=%\t\n";

/// A pager that is to be started.
#[derive(Clone, Debug)]
pub struct Pager {
    /// A command line.
    command: String,
    /// The variables that it has to be told.
    variables: Vec<(&'static str, &'static str)>,
    /// Where programs are.
    programs: OsString,
}

impl Pager {
    /// One of this command line, where `set` are those of its variables that the user has set and `programs` is where programs
    /// are; none where the line says that there is to be none.
    pub fn of(command: &str, set: &[&'static str], programs: Option<&OsStr>) -> Option<Self> {
        let command = command.trim().to_owned();
        let is_one = !command.is_empty() && command != NONE;
        let unset = |(name, _): &(&str, &str)| !set.contains(name);
        is_one.then(|| Self {
            command,
            variables: TOLD.into_iter().filter(unset).collect(),
            programs: programs.unwrap_or_default().to_owned(),
        })
    }

    /// The names of the variables that one is told by.
    pub fn variables() -> impl Iterator<Item = &'static str> {
        TOLD.into_iter().map(|(name, _)| name)
    }

    /// Starts it; what is written to it is shown. None: it cannot be started.
    pub fn start(self) -> Option<Paging> {
        let mut command = self.line()?;
        command.envs(self.variables.iter().copied());
        command.stdin(Stdio::piped());
        let interrupted = Arc::new(AtomicBool::new(false));
        // An interrupt is meant for the pager: it is the one that has the terminal.
        for signal in [SIGINT, SIGQUIT] {
            flag::register(signal, Arc::clone(&interrupted)).ok()?;
        }
        let mut child = command.spawn().ok()?;
        let input = child.stdin.take();
        let reading = thread::spawn({
            let interrupted = Arc::clone(&interrupted);
            move || {
                let _ = child.wait();
                // Who interrupts waits for nothing more; but as long as the pager is there, the terminal is its own.
                if interrupted.load(Ordering::Relaxed) {
                    std::process::exit(128 + SIGINT);
                }
            }
        });
        Some(Paging {
            input,
            reading: Some(reading),
            interrupted,
        })
    }

    /// What is run: a program with its words, where that is all; else a shell.
    fn line(&self) -> Option<Command> {
        let words = shell_words(&self.command);
        let program = words.first()?;
        if self.command.contains(|c| SHELL.contains(c)) {
            return Some(shell(&self.command));
        }
        is_there(program, &self.programs).then(|| {
            let mut command = Command::new(program);
            command.args(&words[1..]);
            command
        })
    }
}

/// Whether there is a program of this name.
fn is_there(program: &str, programs: &OsStr) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    let mut folders = std::env::split_paths(programs);
    folders.any(|folder| {
        folder.join(program).is_file() || folder.join(format!("{program}.exe")).is_file()
    })
}

/// A pager at work.
#[derive(Debug)]
pub struct Paging {
    input: Option<ChildStdin>,
    /// Lasts as long as the pager does.
    reading: Option<JoinHandle<()>>,
    interrupted: Arc<AtomicBool>,
}

impl Paging {
    /// Waits until whoever reads has read.
    pub fn end(&mut self) {
        drop(self.input.take());
        if let Some(reading) = self.reading.take() {
            let _ = reading.join();
        }
    }
}

impl io::Write for Paging {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_over = self.interrupted.load(Ordering::Relaxed);
        match self.input.as_mut().filter(|_| !is_over) {
            Some(input) => input.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.input.as_mut().map_or(Ok(()), io::Write::flush)
    }
}
