//! Which commands have no method of their name, and which options and fields only one of the two has: each with its reason.

/// The commands without a method, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("api", "it is the door to the methods"),
    ("bisect bad", "a verdict of bisect, which holds them all"),
    ("bisect good", "a verdict of bisect, which holds them all"),
    ("bisect log", "whoever asks bisect has the verdicts"),
    ("bisect replay", "bisect takes all verdicts at once"),
    ("bisect reset", "bisect keeps nothing"),
    (
        "bisect run",
        "it runs a program; bisect gives the context to try next",
    ),
    ("bisect skip", "a verdict of bisect, which holds them all"),
    ("bisect start", "bisect without verdicts"),
    ("chat", "somebody types, and a model's program answers"),
    (
        "clone",
        "a method acts in a repository, and there is none yet",
    ),
    ("completions", "for a shell"),
    ("demo", "for somebody who looks around"),
    ("guard", "for a client's hook, which asks in its own form"),
    ("help", "the method describe lists the methods"),
    (
        "init",
        "a method acts in a repository, and there is none yet",
    ),
    ("man", "for man"),
    ("mcp", "a door of its own"),
    ("pin", "annotate pins"),
    ("record", "it reads events as they arrive"),
    ("remote", "remotes lists them"),
    ("replay", "it plays to a client, turn by turn"),
    (
        "rev-parse",
        "every method reads revisions, and show gives the hash",
    ),
    ("run", "it runs a client's program"),
    ("serve", "for a push or a pull from elsewhere"),
    ("setup", "it changes the settings of agents on this machine"),
    ("transcript", "for what a client shows while it works"),
    ("unpin", "annotate does it"),
    ("view", "a drawing, of what context gives"),
    ("watch", "it goes on until somebody ends it"),
    ("web", "it goes on until somebody ends it"),
];

/// What only draws, or says where what is drawn goes.
const DRAWING: [&str; 18] = [
    "color",
    "force",
    "format",
    "full",
    "graph",
    "interactive",
    "json",
    "no_open",
    "null",
    "oneline",
    "output",
    "patch",
    "reverse",
    "stat",
    "unified",
    "verbose",
    "web",
    "zero",
];

/// The options that no method has, for a reason.
const TYPED: &[(&str, &[&str], &str)] = &[
    (
        "attest",
        &["key", "verify"],
        "ssh-keygen signs and verifies, with somebody's own key",
    ),
    ("audit", &["judge", "timeout"], RUNS),
    (
        "backup",
        &["restore"],
        "a method acts in a repository, and would have it open",
    ),
    (
        "branch",
        &["all", "gone", "here", "limit", "remotes", "tool"],
        "branches lists them",
    ),
    ("commit", &["file", "stdin"], READS),
    ("compact", &["dash", "file"], READS),
    ("compact", &["exec", "exec_format", "timeout"], RUNS),
    (
        "config",
        &["global"],
        "what runs for somebody leaves their own settings alone",
    ),
    (
        "diff",
        &["exit_code"],
        "the answer says whether they differ",
    ),
    ("du", &["all"], "the method tells all"),
    (
        "import",
        &["all", "last", "limit", "list"],
        "sessions lists them, and whoever asks names them",
    ),
    ("find", &["words"], "the method takes them all as its text"),
    ("import", &["hook"], "for a client's hook"),
    ("log", &["behind"], "-N is the limit"),
    ("merge", &["exec", "exec_format", "timeout"], RUNS),
    (
        "push",
        &["create"],
        "a slash behind the address asks for it",
    ),
    ("resume", &["run"], RUNS),
];

/// The methods whose fields are options of the words behind their command, and why.
const BEHIND: &[(&str, &str)] = &[(
    "bisect",
    "bisect run and bisect start take them; bisect alone says where it stands",
)];

const RUNS: &str = "no method runs a program";
const READS: &str = "a program reads its own files, and gives the text";

/// What only the command has, and what only the method has, of one name.
#[test]
fn each_command_has_a_method_that_takes_the_same_or_a_reason() {
    use std::collections::BTreeSet;

    use clap::{Command, CommandFactory};
    use tract::deeds::{METHODS, described};

    use crate::cli::Cli;

    let described = described();
    let fields = |name: &str| -> BTreeSet<String> {
        let all = described["methods"].as_array().expect("methods");
        let method = all.iter().find(|method| method["name"] == name);
        let schema = &method.expect("it is one")["params"]["$ref"];
        let schema = schema.as_str().expect("a type");
        let schema = described.pointer(&schema[1..]).expect("it is there");
        let fields = schema["properties"].as_object();
        fields
            .map(|it| it.keys().cloned().collect())
            .unwrap_or_default()
    };
    let options = |command: &Command| -> BTreeSet<String> {
        let own = command.get_arguments().filter(|it| !it.is_global_set());
        let names = own.map(|it| match it.get_long() {
            Some(long) => long.replace('-', "_"),
            None => it.get_id().to_string(),
        });
        names.filter(|name| name != "help").collect()
    };
    let mut cli = Cli::command();
    cli.build();
    let (mut without, mut left) = (BTreeSet::new(), BTreeSet::new());
    let mut compare = |typed: String, command: &Command| {
        let name = typed.replace([' ', '-'], "_");
        if !METHODS.iter().any(|method| method.name == name) {
            without.insert(typed);
            return;
        }
        let (taken, asked) = (options(command), fields(&name));
        let own = TYPED.iter().filter(|(command, ..)| *command == typed);
        let own: Vec<&str> = own.flat_map(|(_, names, _)| *names).copied().collect();
        for name in &own {
            assert!(
                taken.contains(*name),
                "{typed} has no option {name} any more"
            );
        }
        let is_known = |name: &&String| own.contains(&name.as_str());
        let is_drawn = |name: &&String| DRAWING.contains(&name.as_str());
        let only_typed = taken
            .difference(&asked)
            .filter(|it| !is_known(it) && !is_drawn(it));
        let all = only_typed.map(|name| format!("--{name}"));
        let is_behind = BEHIND.iter().any(|(command, _)| *command == typed);
        let asked = asked.difference(&taken).filter(|_| !is_behind);
        let all = all.chain(asked.cloned());
        left.extend(all.map(|one| (typed.clone(), one)));
    };
    for command in cli.get_subcommands() {
        let name = command.get_name();
        // What is only typed with another word behind it has none of its own.
        if !command.is_subcommand_required_set() {
            compare(name.to_owned(), command);
        }
        for below in command
            .get_subcommands()
            .filter(|it| it.get_name() != "help")
        {
            compare(format!("{name} {}", below.get_name()), below);
        }
    }
    let named: BTreeSet<String> = WITHOUT.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(
        without, named,
        "commands without a method, and the table of their reasons"
    );
    assert_eq!(left, BTreeSet::new(), "what only one of the two has");
}
