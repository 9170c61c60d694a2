//! A command that says whether something went well: exit code 0 is good, 1 to 124 bad, 125 that it cannot tell.
//!
//! Deliberately absent: what becomes of the verdict.
//!
//! # Source
//!
//! git-bisect(1), "Bisect run": the same codes.

use std::path::Path;
use std::time::Duration;

use tract::rewrite::bisect::Judged;

use crate::cli::machine::exec::{Agent, Failed, Finished};
use crate::cli::machine::pause::Pause;
use crate::cli::machine::shell::shell;
use crate::cli::{App, Failure, Result};

/// The most that a judge may print: nobody reads it.
const PRINTED_MAX: usize = 16 << 20;

/// A judge.
pub struct Judge<'a> {
    /// The command line.
    pub command: &'a str,
    /// How long it may take.
    pub timeout: Duration,
    /// Where it runs; none: here.
    pub directory: Option<&'a Path>,
}

/// A verdict, and why it could not tell where it did not say so itself.
pub struct Ruling {
    /// The verdict.
    pub judged: Judged,
    /// Why there is none.
    pub reason: Option<String>,
}

impl Judge<'_> {
    /// Asks it about a text, with these variables in its environment. One that takes too long or prints too much cannot
    /// tell.
    ///
    /// # Errors
    ///
    /// Where it cannot be run, and where a signal asks for the end.
    pub fn ask(&self, input: &str, env: &[(&str, &str)], pause: &Pause) -> Result<Ruling> {
        let mut shell = shell(self.command);
        shell.envs(env.iter().copied());
        if let Some(directory) = self.directory {
            shell.current_dir(directory);
        }
        let done = Agent::of(shell, input)
            .map_err(|failed| Failure::refused(format!("'{}': {}", self.command, failed.reason)))?;
        let (agent, stdout) = done;
        let done = agent.finish(stdout, self.timeout, PRINTED_MAX, || pause.is_over());
        pause.obey()?;
        self.ruling(done)
    }

    fn ruling(&self, done: Result<Finished, Failed>) -> Result<Ruling> {
        let judged = |judged| Ruling {
            judged,
            reason: None,
        };
        let (code, stderr) = match done {
            Ok(Finished { code, stderr, .. }) => (code, stderr),
            Err(failed) => {
                return Ok(Ruling {
                    judged: Judged::Skip,
                    reason: Some(failed.reason),
                });
            }
        };
        match code {
            Some(0) => Ok(judged(Judged::Good)),
            Some(125) => Ok(judged(Judged::Skip)),
            Some(1..=124) => Ok(judged(Judged::Bad)),
            code => {
                let how = match code {
                    Some(code) => format!("ended with exit code {code}"),
                    None => "was ended by a signal".to_owned(),
                };
                let said = stderr.lines().rfind(|line| !line.trim().is_empty());
                let said = said.map(|line| format!(": {}", line.trim()));
                let what = format!("'{}' {how}{}", self.command, said.unwrap_or_default());
                let hint = "exit code 0 is good, 1 to 124 bad, 125 that it cannot tell";
                Err(Failure::refused(what).with_hint(hint))
            }
        }
    }
}

/// What a verdict is called.
pub fn word(judged: Judged) -> &'static str {
    match judged {
        Judged::Good => "good",
        Judged::Bad => "bad",
        Judged::Skip => "skip",
    }
}

/// Words as one line for a shell: a single one is a command line already.
pub fn command_line(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => {
            let words = words.iter().map(|word| tract::render::shell_word(word));
            words.collect::<Vec<_>>().join(" ")
        }
    }
}

/// Says why there is no verdict.
pub fn tell(ruling: &Ruling, app: &mut App) {
    if let Some(reason) = &ruling.reason {
        app.ui.notice(format!("it could not be judged: {reason}"));
    }
}
