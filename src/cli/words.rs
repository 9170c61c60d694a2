//! What stands in the words of a request as `name`, as a terminal spells it: an option with its dashes, what stands in its place
//! by the name that the usage gives it. Other doors show the words as they are.

use std::collections::BTreeMap;

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// A command whose help spells its options and places.
pub fn spelled(command: Command) -> Command {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for argument in command.get_arguments() {
        let Some(typed) = typed(argument) else {
            continue;
        };
        // JSON may call it by what is typed, where the field cannot be called so.
        let long = argument.get_long().map(|long| long.replace('-', "_"));
        for name in long.into_iter().chain([argument.get_id().to_string()]) {
            names.insert(name, typed.clone());
        }
    }
    let word = |text: Option<&StyledStr>| -> Option<String> {
        let text = text?.to_string();
        text.contains('`').then(|| replaced(&text, &names))
    };
    let (about, long) = (word(command.get_about()), word(command.get_long_about()));
    let mut command = command.mut_args(|argument| {
        let (help, long) = (word(argument.get_help()), word(argument.get_long_help()));
        let argument = match help {
            Some(help) => argument.help(help),
            None => argument,
        };
        match long {
            Some(long) => argument.long_help(long),
            None => argument,
        }
    });
    if let Some(about) = about {
        command = command.about(about);
    }
    if let Some(long) = long {
        command = command.long_about(long);
    }
    command
}

/// What is typed for an argument.
fn typed(argument: &Arg) -> Option<String> {
    match argument.get_long() {
        Some(long) => Some(format!("--{long}")),
        None => Some(argument.get_value_names()?.first()?.to_string()),
    }
}

fn replaced(text: &str, names: &BTreeMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quoted = text.split('`');
    out.extend(quoted.next());
    while let Some(word) = quoted.next() {
        let after = quoted.next().unwrap_or_default();
        match names.get(word) {
            Some(typed) => out.push_str(typed),
            None => out.extend(["`", word, "`"]),
        }
        out.push_str(after);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_their_dashes_and_places_their_names() {
        let dry_run = Arg::new("dry_run")
            .long("dry-run")
            .action(clap::ArgAction::SetTrue)
            .help("List what `onto` would get; reads `[purged]`");
        let onto = Arg::new("onto").value_name("ONTO");
        let command = Command::new("move")
            .about("Move to `onto`, unless `dry_run` is given")
            .arg(dry_run)
            .arg(onto);
        let help = spelled(command).render_long_help().to_string();
        assert!(
            help.contains("Move to ONTO, unless --dry-run is given"),
            "{help}"
        );
        assert!(
            help.contains("List what ONTO would get; reads `[purged]`"),
            "{help}"
        );
    }
}
