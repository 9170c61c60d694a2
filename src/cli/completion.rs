//! What a shell completes: clap's words, and the names that this repository knows.
//!
//! The shell runs the program with `COMPLETE` set (`tract completions` prints what makes it do so);
//! that variable is clap_complete's to read. Whatever fails on the way completes nothing.
//!
//! Names may be a stranger's. zsh and fish quote what they insert; bash inserts it as it is.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use clap::{Arg, Command, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{Bash, CompleteEnv, EnvCompleter, Fish, Shells, Zsh};
use tract::model::RefName;
use tract::query::LogOptions;
use tract::render::shell_word;
use tract::repo::On;

use super::app::{App, Environment};
use super::ui::{ColorChoice, Ui};
use super::{Globals, root};

/// How many of the newest commits are offered.
const COMMITS: usize = 10;

/// Answers a shell, if one asks.
pub fn answer(arguments: &[OsString]) -> bool {
    let cwd = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(|| with_names(root()));
    asked
        .shells(Shells(&[&Quoted, &Fish, &Zsh]))
        .try_complete(arguments, cwd.as_deref())
        .unwrap_or(true)
}

/// bash, which is given each candidate as the one word that it is to read.
pub struct Quoted;

/// Stands in bash's script where the words typed so far are taken up.
const WORDS: &str = "    local words=";
/// Within double quotes the quotes of a candidate would be letters, so nothing is completed there.
const NOT_IN_DOUBLE_QUOTES: &str =
    "    [[ ${COMP_WORDS[COMP_CWORD]} == *\\\"* ]] && { COMPREPLY=(); return; }\n";

impl EnvCompleter for Quoted {
    fn name(&self) -> &'static str {
        Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        Bash.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let mut script = Vec::new();
        Bash.write_registration(var, name, bin, completer, &mut script)?;
        let script = String::from_utf8_lossy(&script);
        let guarded = script.replacen(WORDS, &format!("{NOT_IN_DOUBLE_QUOTES}{WORDS}"), 1);
        out.write_all(guarded.as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        cwd: Option<&Path>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let said = |name: &str| std::env::var(name).ok();
        let index = said("_CLAP_COMPLETE_INDEX").and_then(|index| index.parse().ok());
        let between = said("_CLAP_IFS").unwrap_or_else(|| "\n".to_owned());
        let found = clap_complete::engine::complete(command, words, index.unwrap_or(0), cwd)?;
        let found = found.iter().filter_map(|one| bash_word(one.get_value()));
        out.write_all(found.collect::<Vec<_>>().join(&between).as_bytes())
    }
}

/// A candidate as bash reads it; none for one that bash would still make something else of: its script
/// takes what looks like a pattern for one, in quotes or not.
fn bash_word(name: &OsStr) -> Option<String> {
    let name = name.to_str()?;
    let is_plain = |letter: char| !letter.is_control() && !"'\\*?[".contains(letter);
    // `--name=` goes on behind it.
    let (option, value) = match name.split_once('=') {
        Some((option, value)) if option.starts_with("--") => (Some(option), value),
        _ => (None, name),
    };
    if !name.chars().all(is_plain) {
        return None;
    }
    let value = if value.is_empty() {
        String::new()
    } else {
        shell_word(value)
    };
    Some(match option {
        Some(option) => format!("{}={value}", shell_word(option)),
        None => value,
    })
}

/// The command with completers wherever an argument names something of the repository.
fn with_names(command: Command) -> Command {
    let complete = |arg: Arg| {
        let names = arg.get_value_names().into_iter().flatten();
        let names: Vec<String> = names
            .map(|name| name.trim_end_matches('…').to_owned())
            .collect();
        let is = |what: &str| {
            names
                .iter()
                .any(|name| name.split('|').any(|name| name == what))
        };
        match () {
            () if is("REV") || is("A..B") => arg.add(ArgValueCompleter::new(revisions)),
            () if is("BRANCH") || is("REF") => arg.add(ArgValueCompleter::new(branches)),
            () if is("COMMAND") => arg.add(ArgValueCompleter::new(commands)),
            () if is("FILE") || is("PATH") => arg.value_hint(ValueHint::AnyPath),
            () if is("DIR") => arg.value_hint(ValueHint::DirPath),
            () => arg,
        }
    };
    command.mut_args(complete).mut_subcommands(with_names)
}

fn app() -> App {
    let env = Environment::read();
    let ui = Ui::new(ColorChoice::Never, &env.surroundings, true);
    App::new(ui, Globals::default(), env)
}

fn candidate(name: &str, current: &OsStr, help: String) -> Option<CompletionCandidate> {
    // What begins with a dash would be an option, quoted or not.
    let fits = name.starts_with(current.to_str()?) && !name.starts_with('-');
    fits.then(|| CompletionCandidate::new(name).help(Some(help.into())))
}

/// Branches, tags and sessions, HEAD and the newest commits.
fn revisions(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = names("refs/", current);
    found.extend(candidate("HEAD", current, "where one is".to_owned()));
    let app = app();
    let newest = || {
        let repo = app.repo().ok()?;
        let tip = repo.head(&On::Head).ok()?.commit()?;
        let options = LogOptions {
            limit: COMMITS,
            ..LogOptions::default()
        };
        repo.log(&tip, &options).ok()
    };
    // Only once something was typed: hashes tell nobody anything.
    if !current.is_empty() {
        let rows = newest().unwrap_or_default();
        found.extend(rows.iter().filter_map(|row| {
            let what = row.preview.clone();
            candidate(&row.hash.short(), current, what)
        }));
    }
    found
}

/// Commands, for help.
fn commands(current: &OsStr) -> Vec<CompletionCandidate> {
    let root = root();
    let shown = root.get_subcommands().filter(|one| !one.is_hide_set());
    let named = shown.filter_map(|one| {
        let about = one.get_about().map(ToString::to_string);
        candidate(one.get_name(), current, about.unwrap_or_default())
    });
    named.collect()
}

/// Branches.
fn branches(current: &OsStr) -> Vec<CompletionCandidate> {
    names(RefName::HEADS, current)
}

fn names(prefix: &str, current: &OsStr) -> Vec<CompletionCandidate> {
    let references = app().repo().and_then(|repo| Ok(repo.references(prefix)?));
    let names = references.unwrap_or_default().into_iter();
    let kind = |name: &RefName| match name.as_str() {
        name if name.starts_with(RefName::HEADS) => "branch",
        name if name.starts_with(RefName::TAGS) => "tag",
        _ => "session",
    };
    names
        .filter_map(|(name, _)| candidate(name.short(), current, kind(&name).to_owned()))
        .collect()
}
