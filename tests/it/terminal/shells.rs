//! What shells and `man` are given.

use std::process::Command;

use crate::sandbox::Sandbox;

/// What a shell would offer for the last of these words.
fn completed(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let mut command = sandbox.command(&["--", "tract"]);
    command.args(words).env("COMPLETE", "bash");
    command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    command
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_IFS", "\n");
    let output = command.output().expect("the program runs");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    let offered = String::from_utf8(output.stdout).expect("UTF-8");
    offered.lines().map(str::to_owned).collect()
}

#[test]
fn a_shell_completes_commands_branches_and_revisions() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    sandbox.ok(&["branch", "topic/parser"]);
    sandbox.ok(&["tag", "v1"]);
    assert_eq!(completed(&sandbox, &["check"]), ["checkout"]);
    assert_eq!(completed(&sandbox, &["checkout", "to"]), ["topic/parser"]);
    assert_eq!(completed(&sandbox, &["show", "v"]), ["v1"]);
    assert_eq!(completed(&sandbox, &["--on", "to"]), ["topic/parser"]);
    let head = sandbox.ok(&["rev-parse", "HEAD"]);
    assert_eq!(
        completed(&sandbox, &["log", &head[..3]]),
        [head[..7].to_owned()]
    );
    assert!(completed(&sandbox, &["log", "--one"]).contains(&"--oneline".to_owned()));
    // Without a repository there is nothing to name, and nothing goes wrong.
    assert_eq!(completed(&Sandbox::empty(), &["checkout", "to"]), [""; 0]);
}

/// Names that a shell would act on; git, and whoever is pulled from, may have named a branch so.
const STRANGE: [&str; 6] = [
    "sa;touch${IFS}trace",
    "sb$(id>trace)",
    "sc`id>trace`",
    "sd&id>trace",
    "se!id",
    "sf\"x",
];

/// What the shell makes of the command line that it has completed; none where it isn't installed.
fn taken(sandbox: &Sandbox, shell: &str, script: &str) -> Option<Vec<String>> {
    let registered = sandbox.ok(&["completions", shell]);
    let file = sandbox.write("registered", registered);
    sandbox.write("script", script);
    let mut command = Command::new(shell);
    if shell == "bash" {
        command.arg("--norc");
    }
    let env = sandbox.command(&[]);
    for (name, value) in env.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.current_dir(sandbox.work()).arg("script").arg(file);
    let Ok(output) = command.output() else {
        eprintln!("ignored: there is no {shell}");
        return None;
    };
    assert!(output.stderr.is_empty(), "{output:?}");
    let told = String::from_utf8(output.stdout).expect("UTF-8");
    Some(told.lines().map(str::to_owned).collect())
}

fn with_strange_names() -> Sandbox {
    let sandbox = Sandbox::with_messages(&[("user", "one")]);
    for name in STRANGE {
        sandbox.ok(&["branch", name]);
    }
    sandbox
}

#[test]
fn a_strange_name_is_one_word_to_bash() {
    let sandbox = with_strange_names();
    let script = r#"
source "$1"
for start in sa sb sc sd se sf; do
    COMP_WORDS=(tract checkout $start) COMP_CWORD=2 COMP_TYPE=9 COMPREPLY=()
    _clap_complete_tract tract $start checkout 2>/dev/null
    eval "words=( ${COMPREPLY[*]} )"
    printf '%s\n' "${words[@]}"
done
COMP_WORDS=(tract checkout '"sa') COMPREPLY=()
_clap_complete_tract tract sa checkout 2>/dev/null
echo "${#COMPREPLY[@]}"
"#;
    if let Some(taken) = taken(&sandbox, "bash", script) {
        let (inside_quotes, taken) = taken.split_last().expect("a number");
        assert_eq!(taken, STRANGE);
        assert_eq!(inside_quotes, "0", "double quotes protect from nothing");
    }
    assert!(!sandbox.work().join("trace").exists());
    // What is quoted ends no word early, and what can't be quoted isn't offered.
    sandbox.ok(&["branch", "it's"]);
    sandbox.ok(&["tag", "it;s"]);
    assert_eq!(completed(&sandbox, &["show", "it"]), ["'it;s'"]);
}

#[test]
fn a_strange_name_is_one_word_to_fish() {
    let sandbox = with_strange_names();
    let script = r#"
source $argv[1]
for start in sa sb sc sd se sf
    set offered (complete --escape --do-complete "tract checkout $start")
    eval printf "'%s\n'" (string split -f1 \t -- $offered)
end
"#;
    if let Some(taken) = taken(&sandbox, "fish", script) {
        assert_eq!(taken, STRANGE);
    }
    assert!(!sandbox.work().join("trace").exists());
}

#[test]
fn a_strange_name_is_one_word_to_zsh() {
    let sandbox = with_strange_names();
    // A shell in a terminal of its own completes, and tells its line.
    let script = r#"
zmodload zsh/zpty
zpty shell zsh -f -i
say() { zpty -w -n shell "$1"; sleep ${2:-0.2}; while zpty -r -t shell heard; do :; done }
say "PS1=; HISTFILE=; autoload -U compinit; compinit -u -d ./dump; source $1"$'\n' 2
say 'told() { print -r -- $BUFFER >> told; BUFFER= }; zle -N told; bindkey "^T" told'$'\n' 0.5
for start in sa sb sc sd se sf; do
    say "tract checkout $start"$'\t' 0.4
    say $'\x14' 0.1
done
zpty -d shell
while read -r line; do
    eval "words=( $line )"
    print -rl -- ${words[3,-1]}
done < told
"#;
    if let Some(taken) = taken(&sandbox, "zsh", script) {
        assert_eq!(taken, STRANGE);
    }
    assert!(!sandbox.work().join("trace").exists());
}

#[test]
fn each_shell_gets_what_makes_it_ask() {
    let sandbox = Sandbox::empty();
    for (shell, word) in [
        ("bash", "complete "),
        ("zsh", "compdef"),
        ("fish", "complete "),
    ] {
        let script = sandbox.ok(&["completions", shell]);
        assert!(
            script.contains(word) && script.contains("COMPLETE"),
            "{shell}: {script}"
        );
    }
    insta::assert_snapshot!(sandbox.tract(&["completions", "tcsh"]), @r"
    exit code: 2
    --- stderr
    error: invalid value 'tcsh' for '<SHELL>' [possible values: bash, zsh, fish]
    hint: did you mean zsh?
    ");
}

#[test]
fn every_command_has_a_manual_page() {
    let sandbox = Sandbox::empty();
    let told = sandbox.tract(&["man", "pages"]);
    let pages = sandbox.work().join("pages");
    let names = std::fs::read_dir(&pages).expect("a folder");
    let names: Vec<String> = names
        .map(|page| {
            page.expect("a page")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let count = format!("Wrote {} pages", names.len());
    assert!(told.contains(&count), "{count}: {told}");
    let help = sandbox.ok(&["help", "--all"]);
    let commands = help
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let commands: Vec<&str> = commands
        .filter(|name| name.starts_with(char::is_lowercase))
        .collect();
    assert!(commands.len() > 30, "{commands:?}");
    for command in &commands {
        assert!(names.contains(&format!("tract-{command}.1")), "{command}");
    }
    let log = std::fs::read_to_string(pages.join("tract-log.1")).expect("a page");
    assert!(
        log.starts_with(".ie") && log.contains("tract log "),
        "{log}"
    );
}

#[test]
fn what_other_tools_call_it_is_understood() {
    let sandbox = Sandbox::empty();
    for (typed, meant) in [
        ("ls", "branch"),
        ("list", "branch"),
        ("switch", "checkout"),
        ("amend", "commit --edit"),
        ("browse", "web"),
        ("share", "export --format html"),
        ("tokens", "status"),
    ] {
        let said = sandbox.tract(&[typed]);
        assert!(
            said.ends_with(&format!("hint: did you mean {meant}?\n")),
            "{said}"
        );
    }
    // What nothing does, or what would take something away, isn't guessed.
    for typed in [
        "update", "trunkate", "purgr", "dorp", "clera", "pruen", "stash",
    ] {
        let said = sandbox.tract(&[typed]);
        assert!(
            said.ends_with("hint: tract help --all lists every command\n"),
            "{said}"
        );
    }
    let said = sandbox.tract(&["remote", "delete"]);
    assert!(said.ends_with("hint: tract remote --help\n"), "{said}");
    let help = sandbox.ok(&["help", "undo"]);
    assert_eq!(help, sandbox.ok(&["undo", "--help"]));
    for list in [["help"].as_slice(), &["help", "--all"]] {
        for line in sandbox.ok(list).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
