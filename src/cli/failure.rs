//! From a failure to what the user reads: one line of what is wrong, one of what to do, and the exit
//! code. What an error of the library means is said there ([`tract::deeds::advice`]).

use std::io;
use std::process::ExitCode;

use serde_json::Value;
use tract::Error;
use tract::deeds::ApiError;
pub use tract::deeds::advice::{Exit, STANDARD_INPUT, known_formats, reason, sentence};
use tract::deeds::advice::{exit, hint, no_room, plain};
use tract::error::Interrupted;
use tract::render::{Label, Line};

use super::{Ui, named_command as named};

/// How a command can fail.
#[derive(Debug)]
pub enum Failure {
    /// The library says why.
    Tract(Error),
    /// A deed says why.
    Deed(Box<ApiError>),
    /// The program says why: exit code, what is wrong, what to do.
    Said(Exit, String, Option<String>),
    /// Everything has been said already.
    Quiet(Exit),
    /// Standard output takes no more.
    Output(io::Error),
    /// Whoever read our output has stopped reading: silent success.
    ClosedPipe,
    /// A signal asked for the end, and all that could be done then is done.
    Stopped(i32),
}

/// What comes of something in the program that can fail.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// Wrong usage.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::Said(Exit::Usage, what.into(), None)
    }

    /// The repository doesn't allow it.
    pub fn refused(what: impl Into<String>) -> Self {
        Self::Said(Exit::NotAllowed, what.into(), None)
    }

    /// The same failure, with this advice and no other.
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        match self {
            Self::Said(exit, what, _) => Self::Said(exit, what, Some(hint.into())),
            Self::Deed(fault) => Self::Deed(Box::new(fault.with_hint(hint))),
            Self::Tract(error) => Self::Said(exit(&error), sentence(&error), Some(hint.into())),
            other => other,
        }
    }

    /// The same failure with an exit code that no client takes for a word against what it is about to do:
    /// Claude Code, for one, holds on where a hook ends with 2.
    ///
    /// # Source
    ///
    /// Claude Code's documentation of hooks, "Exit code 2 behavior".
    pub fn never_blocks(self) -> Self {
        match self {
            Self::Said(Exit::Usage, what, hint) => Self::Said(Exit::NotAllowed, what, hint),
            Self::Deed(fault) if fault.exit_code == Exit::Usage as u8 => {
                Self::Said(Exit::NotAllowed, fault.message, fault.hint)
            }
            Self::Quiet(Exit::Usage) => Self::Quiet(Exit::NotAllowed),
            Self::Tract(error) if exit(&error) == Exit::Usage => {
                Self::Said(Exit::NotAllowed, sentence(&error), hint(&error))
            }
            other => other,
        }
    }

    /// The exit code.
    pub fn number(&self) -> u8 {
        match self {
            Self::ClosedPipe => 0,
            Self::Quiet(exit) | Self::Said(exit, ..) => *exit as u8,
            Self::Deed(fault) => fault.exit_code,
            Self::Output(_) => Exit::NotAllowed as u8,
            // As a shell says it of a program that the signal ended.
            Self::Stopped(signal) => 128_i32.wrapping_add(*signal) as u8,
            Self::Tract(error) => exit(error) as u8,
        }
    }

    /// What is wrong.
    pub fn what(&self) -> String {
        match self {
            Self::Tract(error) => sentence(error),
            Self::Said(_, what, _) => what.clone(),
            Self::Deed(fault) => fault.message.clone(),
            Self::Output(error) => reason(error),
            Self::Quiet(_) | Self::Stopped(_) | Self::ClosedPipe => String::new(),
        }
    }

    /// The same, on one line.
    pub fn line(&self) -> Line {
        Label::Error.of("error:") + " " + self.what()
    }

    /// Says what is wrong and gives the exit code.
    pub fn report(self, ui: &mut Ui) -> ExitCode {
        self.report_of("", None, ui)
    }

    /// The same of a command, by its name, where a change may have been `made` before it failed: that is what matters
    /// most then.
    pub fn report_of(self, command: &str, made: Option<&str>, ui: &mut Ui) -> ExitCode {
        let is_output = matches!(self, Self::Output(_));
        // What the program says itself is said with what it has done in mind.
        let has_said = match &self {
            Self::Said(_, _, hint) => hint.is_some(),
            Self::Deed(fault) => fault.hint.is_some(),
            _ => false,
        };
        let made = made.filter(|_| !has_said);
        let candidates = match &self {
            Self::Tract(Error::AmbiguousRevision { candidates, .. }) => candidates.clone(),
            Self::Deed(fault) => {
                let candidates = fault.facts.get("candidates").and_then(Value::as_array);
                let candidates = candidates.into_iter().flatten().filter_map(Value::as_str);
                candidates.map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        let code = ExitCode::from(self.number());
        let (what, hint) = match self {
            Self::ClosedPipe | Self::Quiet(_) | Self::Stopped(_) => return code,
            Self::Said(_, what, hint) => (what, hint),
            Self::Deed(fault) if fault.kind == ApiError::PARAMS => {
                (in_options(&fault.message, command), fault.hint)
            }
            Self::Deed(fault) => (fault.message, fault.hint),
            Self::Output(error) => {
                let what = format!("standard output: {}", reason(&error));
                (what, no_room(&error))
            }
            // That nothing was written is true of the last transaction alone.
            Self::Tract(Error::Disconnected {
                during: Interrupted::Undone,
            }) if made.is_some() => {
                let during = Interrupted::Reading;
                let error = Error::Disconnected { during };
                (sentence(&error), hint(&error))
            }
            Self::Tract(error) => (sentence(&error), hint(&error)),
        };
        let hint = match made {
            None => hint,
            Some(made) if is_output => Some(format!("the change was made: {made}")),
            Some(made) => Some(format!(
                "what was done before that stays: {made}; tract reflog"
            )),
        };
        let help = (!command.is_empty()).then(|| format!("tract {command} --help"));
        let hint = hint.or(help);
        // Each is one line, whatever was typed or is called so; only a list of candidates has more.
        ui.complain(Label::Error.of("error:") + " " + what);
        if let Some(hint) = hint {
            ui.advise(plain(&hint));
        }
        for candidate in candidates {
            ui.complain(Line::from("  ") + candidate);
        }
        code
    }
}

/// A message of a deed in which the parameters of a command, in quotes, are spelled as they are typed.
fn in_options(message: &str, command: &str) -> String {
    let Some(command) = named(command) else {
        return message.to_owned();
    };
    let mut said = String::new();
    let mut rest = message;
    while let Some((before, behind)) = rest.split_once('\'') {
        let option = behind
            .split_once('\'')
            .and_then(|(name, after)| Some((as_typed(&command, name)?, after)));
        said += before;
        rest = match option {
            Some((option, after)) => {
                said += &option;
                after
            }
            None => {
                said.push('\'');
                behind
            }
        };
    }
    said + rest
}

/// An option of a command, or of one below it, or a place among its arguments.
fn as_typed(command: &clap::Command, parameter: &str) -> Option<String> {
    let long = parameter.replace('_', "-");
    let is_it = |argument: &&clap::Arg| {
        argument.get_long() == Some(&long) || argument.get_id().as_str() == parameter
    };
    let found = command.get_arguments().find(is_it).map(|argument| {
        match (argument.get_long(), argument.get_value_names()) {
            (Some(long), _) => format!("--{long}"),
            (None, Some([name, ..])) => name.to_string(),
            (None, _) => parameter.to_uppercase(),
        }
    });
    let mut below = command.get_subcommands();
    found.or_else(|| below.find_map(|below| as_typed(below, parameter)))
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
                Self::ClosedPipe
            }
            error => Self::Tract(error),
        }
    }
}

impl From<ApiError> for Failure {
    fn from(fault: ApiError) -> Self {
        Self::Deed(Box::new(fault))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Output(error),
        }
    }
}
