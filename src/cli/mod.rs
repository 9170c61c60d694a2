//! The command line: the root of all arguments, and one match.
//!
//! The program owns every word that the user sees. A command's arguments, help and sentence are in
//! its file under `command/`; what it does is the library's.

mod answer;
mod app;
mod bisection;
mod budget;
mod command;
mod completion;
mod conversation;
mod door;
mod drawing;
mod duration;
mod example;
mod failure;
mod follow;
mod guard_record;
mod help;
mod in_memory;
mod interactive;
mod live;
mod machine;
mod mcp;
mod moment;
mod peer;
mod playback;
mod progress;
mod recorder;
mod runs;
mod setup;
mod talk;
mod tool_sessions;
mod trace;
mod typed_command;
mod ui;
mod watch;
mod web;
mod words;
mod work;

use std::any::TypeId;
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, FromArgMatches, Parser};
use serde_json::Value;
use tract::Error;
use tract::deeds::METHODS;
use tract::model::nearest;
use tract::render::shell_word;

use app::{App, Environment};
use drawing::listing::Listing;
use drawing::template::Template;
use failure::{Exit, Failure, Result};
use help::{root, shown};
use machine::summariser::Summariser;
use machine::wanted_pager::wanted_pager;
use typed_command::Typed;
use ui::{ColorChoice, Ui};

/// What people type who know other tools.
const SYNONYMS: [(&str, &str); 35] = [
    ("add", "commit"),
    ("amend", "commit --edit"),
    ("browse", "web"),
    ("cat", "show"),
    ("check", "fsck"),
    ("context", "status"),
    ("continue", "resume"),
    ("delete", "drop"),
    ("edit", "commit --edit"),
    ("fork", "branch"),
    ("grep", "find"),
    ("hide", "drop"),
    ("history", "log"),
    ("html", "export --format html"),
    ("list", "branch"),
    ("load", "import"),
    ("ls", "branch"),
    ("open", "view"),
    ("print", "show"),
    ("read", "view"),
    ("remove", "drop"),
    ("rm", "drop"),
    ("save", "commit"),
    ("search", "find"),
    ("sessions", "import"),
    ("share", "export --format html"),
    ("size", "du"),
    ("squash", "compact"),
    ("summarise", "compact"),
    ("summarize", "compact"),
    ("switch", "checkout"),
    ("tokens", "status"),
    ("unhide", "restore"),
    ("usage", "status"),
    ("verify", "fsck"),
];

/// Options that another command has, or git's of that name, with what does the like here.
const OTHER_OPTIONS: [(&str, &str, &str); 19] = [
    (
        "branch",
        "--contains",
        "tract blame REV says where a message came from",
    ),
    ("branch", "--list", "tract branch lists them"),
    ("compact", "--to-budget", "did you mean --to?"),
    (
        "commit",
        "--amend",
        "tract commit --edit REV replaces a message",
    ),
    (
        "diff",
        "--name-only",
        "tract diff --stat, or tract log --files",
    ),
    (
        "export",
        "--in",
        "--format names the form, and tract resume --in a tool",
    ),
    (
        "log",
        "--all",
        "tract log takes one, or several with --graph; tract find searches all",
    ),
    (
        "log",
        "--decorate",
        "branches and tags are shown without it",
    ),
    ("log", "--follow", "tract log --file PATH"),
    ("log", "--name-only", "tract log --files"),
    (
        "log",
        "--pretty",
        "tract log --format '%h %s', or --oneline",
    ),
    (
        "log",
        "--stat",
        "each line counts tokens; tract log --files lists edited files",
    ),
    ("log", "-S", "tract log --grep TEXT, or tract find TEXT"),
    ("resume", "--format", "--in names the tool"),
    ("show", "--stat", "tract diff --stat REV^ REV"),
    ("shrink", "--to-budget", "did you mean --to?"),
    ("status", "-s", "tract status is short; -v adds more"),
    ("status", "--short", "tract status is short; -v adds more"),
    ("tag", "-l", "tract tag lists them"),
];

/// What other tools do and no command does, though some are spelled alike.
const NOTHING_DOES: [&str; 4] = ["blame", "merge", "stash", "update"];

/// The commands that hide or remove: nobody comes upon one by a slip of the finger.
const TAKING_AWAY: [&str; 9] = [
    "clear", "compact", "drop", "gc", "prune", "purge", "redact", "reset", "truncate",
];

/// Version control for the context of conversations with language models
#[derive(Debug, Parser)]
#[command(name = "tract", version, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Option<command::Command>,
    /// The command's name.
    #[arg(skip)]
    name: String,
}

impl Cli {
    /// All arguments, but those of a command only once it is typed, and no command that cannot be meant: each is given
    /// a copy of what every command takes.
    fn lean(may_be_meant: impl Fn(&str) -> bool) -> clap::Command {
        let root = Globals::augment_args(clap::Command::new("tract"));
        let root = root.version(env!("CARGO_PKG_VERSION"));
        command::below(root.disable_help_subcommand(true), may_be_meant)
    }

    /// What these arguments say.
    fn read<T: Into<OsString>>(
        arguments: impl IntoIterator<Item = T>,
    ) -> std::result::Result<Self, clap::Error> {
        let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        let read = |mut root: clap::Command| {
            let matches = root.try_get_matches_from_mut(&arguments);
            // To take it apart takes time, and whoever asks for it ends soon.
            std::mem::forget(root);
            matches
        };
        // Who asks what there is, is told of all.
        let first = arguments.get(1);
        let all = first.is_some_and(|first| first == "--help" || first == "-h");
        let is_meant = |name: &str| all || arguments.iter().any(|argument| argument == name);
        let matches = match read(Self::lean(is_meant)) {
            // What is wrong is said by a root that knows all commands.
            Err(error) if !all && error.kind() != ErrorKind::DisplayVersion => {
                read(Self::lean(|_| true))
            }
            matches => matches,
        }?;
        let name = matches.subcommand_name().unwrap_or_default().to_owned();
        Ok(Self {
            name,
            ..Self::from_arg_matches(&matches)?
        })
    }
}

/// Options that every command takes.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Globals {
    /// The repository, instead of the one here or above (also: TRACT_REPO)
    #[arg(long, global = true, value_name = "PATH")]
    repo: Option<PathBuf>,
    /// Act as if HEAD were this branch; HEAD stays (also: TRACT_BRANCH)
    #[arg(long, global = true, value_name = "BRANCH")]
    on: Option<String>,
    /// A repository in memory, gone when the command ends
    #[arg(long, global = true)]
    ephemeral: bool,
    /// Use colour: auto, always or never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    color: ColorChoice,
    /// Show long output without a pager
    #[arg(long, global = true)]
    no_pager: bool,
    /// Say only what is wrong
    #[arg(short, long, global = true)]
    quiet: bool,
}

/// Runs the program on these arguments.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if completion::answer(&arguments) {
        return ExitCode::SUCCESS;
    }
    let env = Environment::read();
    // Help is laid out where it is asked for.
    let parsed = Cli::read(&arguments).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp => {
            let shown = shown(env.surroundings.help_cols()).try_get_matches_from(&arguments);
            shown.err().unwrap_or(error)
        }
        _ => error,
    });
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, arguments, &env),
    };
    let globals = cli.globals;
    let ui = Ui::new(globals.color, &env.surroundings, globals.quiet);
    let mut app = App::new(ui, globals, env);
    app.command = cli.name;
    if app.ui.is_terminal() && !app.globals.no_pager && command::pages(cli.command.as_ref()) {
        let pager = wanted_pager(&app);
        app.ui.page(pager);
    }
    let span = trace::Measured::begin(&app);
    let done = command::run(cli.command, &mut app).map_err(|failure| in_vain(failure, &app));
    if done.is_ok() {
        app.tell_changed();
    }
    let flushed = app.ui.flush().map_err(Failure::from);
    let done = done.and(flushed);
    trace::command(span, done.as_ref().err(), &mut app);
    let code = match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let made = app.made();
            failure.report_of(&app.command, made.as_deref(), &mut app.ui)
        }
    };
    app.ui.end_paging();
    code
}

/// The command of this name, with its arguments.
fn named_command(name: &str) -> Option<clap::Command> {
    let mut root = Cli::lean(|other| other == name);
    // Until then it has no arguments.
    root.build();
    root.find_subcommand(name).cloned()
}

/// A repository that was named and is not there is missed by its name.
fn in_vain(failure: Failure, app: &App) -> Failure {
    let place = match &failure {
        Failure::Tract(error) => app.named_in_vain(error),
        _ => None,
    };
    let Some(place) = place.map(|place| place.display().to_string()) else {
        let way = match &failure {
            Failure::Tract(Error::NoRepository { .. }) => tool_sessions::way_to_begin(app),
            _ => None,
        };
        return match way {
            Some(way) => failure.with_hint(way),
            None => failure,
        };
    };
    let hint = format!("tract --repo {} init makes one", shell_word(&place));
    Failure::refused(format!("no tract repository in {place}")).with_hint(hint)
}

/// Help and version, which clap calls errors, and wrong usage, in the form of all our errors.
fn refuse(error: &clap::Error, arguments: Vec<OsString>, env: &Environment) -> ExitCode {
    let asked = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if asked {
        // A closed pipe is no error.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let is_hook = arguments.iter().any(|argument| argument == "--hook");
    let mut root = root();
    root.build();
    let for_program = asked_by_program(error, &root, &arguments);
    // Up to the mistake the arguments say which command it is.
    let read = root.clone().ignore_errors(true);
    let matches = read.try_get_matches_from(arguments).ok();
    let name = matches.as_ref().and_then(clap::ArgMatches::subcommand_name);
    let command = name.and_then(|name| root.find_subcommand(name));
    let text = error.to_string();
    let what = text.split("\n\n").next().unwrap_or(&text);
    let what = what.strip_prefix("error: ").unwrap_or(what);
    let mut what = what.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((said, wanted)) = number_wanted(error, command.unwrap_or(&root)) {
        what = what.replace(&said, wanted);
    }
    let hint = for_program.unwrap_or_else(|| usage_hint(error, command));
    let ui = Ui::new(ColorChoice::Auto, &env.surroundings, false);
    let mut app = App::new(ui, Globals::default(), env.clone());
    app.command = name.unwrap_or_default().to_owned();
    let span = trace::Measured::begin(&app);
    let mut failure = Failure::Said(Exit::Usage, what, Some(hint));
    if is_hook {
        failure = failure.never_blocks();
    }
    trace::command(span, Some(&failure), &mut app);
    let code = failure.report(&mut app.ui);
    if is_hook && app.command == "guard" {
        ExitCode::SUCCESS
    } else {
        code
    }
}

/// Options of other programs for what programs read.
const FOR_PROGRAMS: [&str; 3] = ["--json", "--csv", "--jsonl"];

/// The arguments but such options, also as `--format json`; none where there is none of them.
fn without_those_for_programs(arguments: &[OsString]) -> Option<Vec<&OsString>> {
    let names = |text: &str| FOR_PROGRAMS.iter().any(|it| it[2..] == *text);
    let mut kept = Vec::new();
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        let value = rest.peek().map(|next| next.to_string_lossy());
        let is_alone = text.strip_prefix("--").is_some_and(names);
        let is_joined = text.strip_prefix("--format=").is_some_and(names);
        let is_pair = text == "--format" && value.is_some_and(|value| names(&value));
        match is_alone || is_joined || is_pair {
            true if is_pair => _ = rest.next(),
            true => {}
            false => kept.push(argument),
        }
    }
    (kept.len() < arguments.len()).then_some(kept)
}

/// The line to type for whoever wants an answer that programs read, where a command with a method lacks such an option.
fn asked_by_program(
    error: &clap::Error,
    root: &clap::Command,
    arguments: &[OsString],
) -> Option<String> {
    let Some(ContextValue::String(odd)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let is_meant = FOR_PROGRAMS.contains(&odd.as_str()) || odd == "--format";
    if error.kind() != ErrorKind::UnknownArgument || !is_meant {
        return None;
    }
    let others = without_those_for_programs(arguments)?;
    let read = root.clone().ignore_errors(true);
    let matches = read.try_get_matches_from(others).ok()?;
    let (name, given) = matches.subcommand()?;
    let command = root.find_subcommand(name)?;
    let method = name.replace('-', "_");
    if !METHODS.iter().any(|it| it.name == method) {
        return None;
    }
    let mut params = serde_json::Map::new();
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        let is_given = given.try_contains_id(id).unwrap_or(false)
            && given.value_source(id) == Some(clap::parser::ValueSource::CommandLine);
        if argument.is_global_set() || !is_given {
            continue;
        }
        let field = argument
            .get_long()
            .map_or(id.to_owned(), |it| it.replace('-', "_"));
        let numbers = [TypeId::of::<usize>(), TypeId::of::<u64>()];
        let is_number = numbers
            .iter()
            .any(|it| argument.get_value_parser().type_id() == *it);
        let values = given.get_raw(id).into_iter().flatten();
        let values = values.map(|it| it.to_string_lossy());
        let value = |it: Cow<'_, str>| match it.parse::<u64>() {
            Ok(number) if is_number => number.into(),
            _ => Value::from(&*it),
        };
        let mut values: Vec<Value> = values.map(value).collect();
        let value = match argument.get_action() {
            clap::ArgAction::SetTrue => Value::Bool(true),
            clap::ArgAction::Append => Value::Array(values),
            _ if values.len() == 1 => values.remove(0),
            _ => Value::Array(values),
        };
        params.insert(field, value);
    }
    let line = match params.is_empty() {
        true => String::new(),
        false => format!(" {}", shell_word(&Value::Object(params).to_string())),
    };
    Some(format!("programs ask with: tract api {method}{line}"))
}

/// What the language says of a text that is no number, and what is wanted.
fn number_wanted(error: &clap::Error, command: &clap::Command) -> Option<(String, &'static str)> {
    use std::num::{IntErrorKind, NonZeroU64, NonZeroUsize, ParseIntError};
    let cause = std::error::Error::source(error)?.downcast_ref::<ParseIntError>()?;
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let is_meant = |argument: &&clap::Arg| argument.to_string() == *name;
    let argument = command.get_arguments().find(is_meant)?;
    let parser = argument.get_value_parser().type_id();
    let is_positive =
        parser == TypeId::of::<NonZeroUsize>() || parser == TypeId::of::<NonZeroU64>();
    let wanted = match cause.kind() {
        IntErrorKind::PosOverflow => "a smaller number",
        _ if is_positive => "a number of at least 1",
        _ => "a whole number, such as 0 or 20",
    };
    Some((cause.to_string(), wanted))
}

/// What to do about wrong usage of the command with this name, if it was understood.
fn usage_hint(error: &clap::Error, command: Option<&clap::Command>) -> String {
    let options = command.into_iter().flat_map(clap::Command::get_arguments);
    let options = options.filter(|option| !option.is_hide_set());
    let options: Vec<&str> = options.filter_map(clap::Arg::get_long).collect();
    let command = command.map(clap::Command::get_name);
    // Our own search knows which slips people make; clap's thinks `comit` is meant to be `config`.
    // Below a command it's that command's help that lists what there is.
    if let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) {
        return match command {
            Some(command) => format!("tract {command} --help"),
            None => meant(typed),
        };
    }
    // What is to be left out of a search begins as an option does.
    if command == Some("find")
        && let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg)
        && error.kind() == ErrorKind::UnknownArgument
        && typed.starts_with('-')
        && !typed.starts_with("--")
    {
        return "words to leave out stand behind --: tract find -- WORD -WORD".to_owned();
    }
    if let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg)
        && let Some(of) = OTHER_OPTIONS
            .iter()
            .find(|of| Some(of.0) == command && of.1 == typed)
    {
        return of.2.to_owned();
    }
    let typed = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(typed)) if error.kind() == ErrorKind::UnknownArgument => {
            typed.strip_prefix("--")
        }
        _ => None,
    };
    let suggested = match typed {
        Some(typed) => nearest(typed, options).map(|near| format!("--{near}")),
        None => [
            ContextKind::SuggestedSubcommand,
            ContextKind::SuggestedValue,
        ]
        .into_iter()
        .find_map(|kind| match error.get(kind)? {
            ContextValue::String(text) => Some(text.clone()),
            ContextValue::Strings(texts) => texts.first().cloned(),
            _ => None,
        }),
    };
    if let Some(suggested) = suggested {
        return format!("did you mean {suggested}?");
    }
    // The usage line begins with the command's name; of a wrong value there is none.
    let usage = error.to_string();
    let usage = usage.lines().find_map(|line| line.strip_prefix("Usage: "));
    if let (None, Some(command)) = (usage, command) {
        return format!("tract {command} --help");
    }
    let name: Vec<&str> = usage
        .unwrap_or("tract")
        .split(' ')
        .take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
        .collect();
    format!("{} --help", name.join(" "))
}

/// The command that somebody means who typed one that there is not.
fn meant(typed: &str) -> String {
    let known = SYNONYMS.iter().find(|(other, _)| *other == typed);
    if let Some((_, ours)) = known {
        return format!("did you mean {ours}?");
    }
    let root = root();
    let shown = root.get_subcommands().filter(|one| !one.is_hide_set());
    let names = shown.map(clap::Command::get_name);
    let near = nearest(typed, names).filter(|_| !NOTHING_DOES.contains(&typed));
    match near {
        Some(name) if !TAKING_AWAY.contains(&name) => format!("did you mean {name}?"),
        _ => "tract help --all lists every command".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// The program reads its arguments by a root that builds the one command that was typed; help, completions and the
    /// manual by one that has built all.
    #[test]
    fn a_command_that_is_built_when_it_is_typed_is_the_same() {
        let told = |mut root: clap::Command| -> Vec<(String, Vec<String>)> {
            root.build();
            let commands = root.get_subcommands_mut();
            let told = commands.map(|command| {
                let aliases: Vec<_> = command.get_all_aliases().collect();
                let head = format!(
                    "{} {aliases:?} {}",
                    command.get_name(),
                    command.is_hide_set()
                );
                // The order of groups differs, and is only seen in help.
                let help = command.render_long_help().to_string();
                let mut lines: Vec<String> = help.lines().map(str::to_owned).collect();
                lines.sort_unstable();
                (head, lines)
            });
            told.collect()
        };
        let (lean, whole) = (told(Cli::lean(|_| true)), told(Cli::command()));
        assert_eq!(lean.len(), whole.len());
        for (lean, whole) in lean.into_iter().zip(whole) {
            assert_eq!(lean, whole);
        }
    }

    #[test]
    fn arguments_are_well_formed_and_every_command_has_an_example() {
        let mut root = root();
        root.build();
        root.clone().debug_assert();
        let groups = command::GROUPS.iter();
        let groups = groups.filter(|(title, _)| !title.is_empty());
        let grouped: Vec<&str> = groups.flat_map(|(_, names)| *names).copied().collect();
        let is_grouped = |name: &&str| grouped.contains(name);
        let mut common = help::COMMON.iter().flat_map(|(_, names)| *names);
        assert!(common.all(is_grouped));
        // What is hidden is short for another command, or for programs alone.
        let shown = root
            .get_subcommands()
            .filter(|command| !command.is_hide_set());
        for command in shown {
            let name = command.get_name();
            let times = grouped.iter().filter(|other| **other == name).count();
            assert_eq!(times, 1, "{name} is in no group of the help, or in two");
            let help = command.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            let has_example = help.contains(&format!("tract {name}"));
            assert!(has_example, "{name} lacks an example");
        }
        for (command, option, _) in OTHER_OPTIONS {
            let command = root.find_subcommand(command).expect("there is");
            let is_here = |it: &clap::Arg| {
                it.get_long().is_some_and(|it| option == format!("--{it}"))
                    || it.get_short().is_some_and(|it| option == format!("-{it}"))
            };
            assert!(!command.get_arguments().any(is_here), "{option}");
        }
        for (other, ours) in SYNONYMS {
            let ours = ours.split(' ').next().expect("a name");
            assert!(
                grouped.contains(&ours) && !grouped.contains(&other),
                "{other}"
            );
        }
    }
}
