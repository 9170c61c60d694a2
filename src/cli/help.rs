//! Help: which commands are listed, in which groups, and how it is laid out.
//!
//! Deliberately absent: what a command's own help says, which stands with its arguments.

use clap::{Command, CommandFactory};

use super::command::GROUPS;
use super::words;
use super::{Cli, example};

/// The commands that most people use, as `tract help` lists them.
pub const COMMON: [(&str, &[&str]); 4] = [
    (
        "Bring in, take out",
        &["import", "export", "resume", "setup"],
    ),
    (
        "Look",
        &[
            "status", "log", "show", "view", "web", "find", "diff", "cost", "audit",
        ],
    ),
    ("Make it smaller", &["prune", "truncate", "compact"]),
    ("Go back", &["undo", "restore", "checkout", "branch"]),
];

/// What stands below all commands.
const REVISIONS: &str = "\
REV names a commit: a hash or its first digits, a branch, a tag, a session,
HEAD, ORIG_HEAD, PREV_HEAD, REV~N, REV^, REF@{N}, REF@{2 hours ago}, :N or
REV:N for the Nth visible message, :/TEXT for the newest message with TEXT.";

/// All arguments, with the short list of commands as help.
pub fn root() -> Command {
    let command = Cli::command().mut_subcommands(words::spelled);
    let groups = listed(&command, &COMMON);
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}\n\
         `tract help COMMAND` explains a command, with examples.\n\
         `tract help --all` lists every command and the common options.\n"
    ))
}

/// The same with every command.
fn complete() -> Command {
    let command = Cli::command().mut_subcommands(words::spelled);
    let groups = listed(&command, GROUPS);
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}\nOptions of every command\n{{options}}\n\n\
         {REVISIONS}\n\n`tract help COMMAND` explains a command, with examples.\n"
    ))
}

/// A line for each command of these groups, but for the one without a title.
fn listed(command: &Command, groups: &[(&str, &[&str])]) -> String {
    let mut lines = String::new();
    for (title, names) in groups.iter().filter(|(title, _)| !title.is_empty()) {
        lines += &format!("{title}\n");
        for name in *names {
            let found = command.find_subcommand(name).and_then(Command::get_about);
            let about = found.map(ToString::to_string).unwrap_or_default();
            lines += &format!("  {name:<12} {about}\n");
        }
    }
    lines
}

/// All arguments, with help as it is shown in so many columns.
pub fn shown(cols: usize) -> Command {
    laid_out(root(), cols)
}

/// The same with every command in the list.
pub fn shown_complete(cols: usize) -> Command {
    laid_out(complete(), cols)
}

fn laid_out(command: Command, cols: usize) -> Command {
    let examples = |command: Command| match command.get_after_help() {
        Some(examples) => {
            let examples = example::laid_out(&examples.to_string(), cols);
            command.after_help(examples)
        }
        None => command,
    };
    command.term_width(cols).mut_subcommands(examples)
}
