//! A wrong value of any option of any command: one line says what is wrong, another says what to do, and nothing is changed.

use std::thread;

use crate::sandbox::Sandbox;

/// Commands that wait for input or serve, and those that run a command of the user's.
const OTHERS: [&str; 9] = [
    "api", "chat", "demo", "guard", "mcp", "record", "setup", "watch", "web",
];

/// Values that hardly any option takes.
const VALUES: [&str; 5] = ["nope", "", "(", "-1", "HEAD@{noon}"];

/// Commands that search: nothing found is no error, and ends with 1.
const SEARCHING: [&str; 3] = ["find", "log", "cost"];

/// A place or an option in a page of help.
#[derive(Clone, Debug)]
enum Argument {
    Place,
    Option(String),
}

/// The commands with what each takes: `remote add` is one.
fn commands(sandbox: &Sandbox) -> Vec<(Vec<String>, String)> {
    let list = sandbox.ok(&["help", "--all"]);
    let names = list
        .lines()
        .take_while(|line| !line.starts_with("Options"))
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && !OTHERS.contains(name));
    let mut found = Vec::new();
    for name in names {
        let help = sandbox.ok(&[name, "--help"]);
        let below = help
            .lines()
            .skip_while(|line| *line != "Commands:")
            .skip(1)
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
            .filter(|name| !name.is_empty() && *name != "help");
        for below in below {
            let path = vec![name.to_owned(), below.to_owned()];
            let help = sandbox.ok(&[name, below, "--help"]);
            found.push((path, help));
        }
        found.push((vec![name.to_owned()], help));
    }
    found
}

/// What takes a value.
fn arguments(help: &str) -> Vec<Argument> {
    let own = help
        .lines()
        .take_while(|line| !line.starts_with("Everywhere"));
    let option = |line: &str| {
        let line = line.trim_start();
        let long = line.split(", ").find_map(|part| part.strip_prefix("--"))?;
        let (name, value) = long.split_once(' ')?;
        value
            .starts_with('<')
            .then(|| Argument::Option(format!("--{name}")))
    };
    let mut found: Vec<Argument> = own.clone().filter_map(option).collect();
    if own.clone().any(|line| line == "Arguments:") {
        found.push(Argument::Place);
    }
    found
}

/// Whether what a hint says to type is there: the command behind `tract`, and options of it or of the one that failed.
fn is_there(hint: &str, failed: &str, all: &[(Vec<String>, String)]) -> bool {
    let of = |name: &str| {
        let name = name.to_owned();
        all.iter().filter(move |(path, _)| path[0] == name)
    };
    let mut command = failed;
    let mut words = hint
        .split([' ', ',', ';', ':', '(', ')', '\''])
        .filter(|it| !it.is_empty())
        .peekable();
    while let Some(word) = words.next() {
        if word == "tract" {
            match words.peek() {
                Some(next) if next.starts_with('-') => command = "",
                Some(next) => {
                    if of(next).next().is_none() && !OTHERS.contains(next) && *next != "help" {
                        return false;
                    }
                    command = next;
                }
                None => return false,
            }
        } else if let Some(option) = word.strip_prefix("--").filter(|it| !it.is_empty()) {
            let everywhere = ["help", "repo", "on", "all"];
            let name = option.split('=').next().unwrap_or(option);
            let has = |help: &str| help.contains(&format!("--{name}"));
            let known = command.is_empty()
                || OTHERS.contains(&command)
                || everywhere.contains(&name)
                || of(command).any(|(_, help)| has(help))
                || of(failed).any(|(_, help)| has(help));
            if !known {
                return false;
            }
        }
    }
    true
}

/// What is wrong with the answer to a wrong value, if anything is.
fn odd(told: &str, command: &str, all: &[(Vec<String>, String)]) -> Option<&'static str> {
    let rest = told.strip_prefix("exit code: ")?;
    let (code, _) = rest.split_once('\n').expect("a line");
    let lines = |start: &str| told.lines().filter(|line| line.starts_with(start)).count();
    if lines("error:") == 0 {
        let is_search = SEARCHING.contains(&command) && code == "1";
        return (!is_search).then_some("no error is named");
    }
    if !["1", "2", "3", "4"].contains(&code) {
        return Some("the exit code is none of those that are documented");
    }
    if lines("error:") != 1 || lines("hint:") == 0 {
        return Some("one line of error and a hint are wanted");
    }
    let error = told.lines().find(|line| line.starts_with("error:"));
    let error = error.unwrap_or_default();
    let mut quoted = error.split('\'').skip(1).step_by(2);
    let is_field = |text: &str| {
        text.contains('_') && text.bytes().all(|c| c == b'_' || c.is_ascii_lowercase())
    };
    if quoted.any(is_field) {
        return Some("the error names a parameter, not an option");
    }
    let mut hints = told.lines().filter_map(|line| line.strip_prefix("hint: "));
    (!hints.all(|hint| is_there(hint, command, all)))
        .then_some("the hint names a command or an option that is not there")
}

/// Runs a command with each wrong value; what was odd.
fn try_all(path: &[String], help: &str, all: &[(Vec<String>, String)]) -> (usize, Vec<String>) {
    let sandbox =
        Sandbox::with_messages(&[("user", "one"), ("assistant", "two"), ("user", "three")]);
    sandbox.ok(&["tag", "t1"]);
    let operations = |sandbox: &Sandbox| sandbox.ok(&["reflog", "-n", "0"]).lines().count();
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let (mut tried, mut found) = (0, Vec::new());
    let mut before = operations(&sandbox);
    for argument in arguments(help) {
        let mut all_refused = true;
        for value in VALUES {
            let typed = match &argument {
                Argument::Place => value.to_owned(),
                Argument::Option(name) => format!("{name}={value}"),
            };
            let line = [path.as_slice(), &[&typed]].concat();
            let told = sandbox.tract(&line);
            tried += 1;
            all_refused &= told.starts_with("exit code: ");
            if let Some(why) = odd(&told, path[0], all) {
                found.push(format!("{}: {why}\n{told}", line.join(" ")));
            }
        }
        let after = operations(&sandbox);
        if all_refused && after != before {
            found.push(format!("{path:?} {argument:?}: something was done"));
        }
        before = after;
    }
    (tried, found)
}

#[test]
fn every_wrong_value_is_refused_with_a_way_out() {
    let sandbox = Sandbox::empty();
    let all = commands(&sandbox);
    assert!(all.len() > 50, "{}", all.len());
    let halves = thread::scope(|scope| {
        let half = |which: usize| {
            let all = &all;
            scope.spawn(move || {
                let own = all.iter().skip(which).step_by(2);
                own.map(|(path, help)| try_all(path, help, all)).fold(
                    (0, Vec::new()),
                    |(tried, mut found), (more, odd)| {
                        found.extend(odd);
                        (tried + more, found)
                    },
                )
            })
        };
        [half(0), half(1)].map(|half| half.join().expect("no panic"))
    });
    let tried: usize = halves.iter().map(|(tried, _)| tried).sum();
    assert!(tried > 500, "{tried}");
    let odd: Vec<String> = halves.into_iter().flat_map(|(_, odd)| odd).collect();
    assert!(
        odd.is_empty(),
        "{} of {tried}:\n{}",
        odd.len(),
        odd.join("\n")
    );
}

/// Parameters are spelled as they are typed, and what contradicts itself says what to do instead.
#[test]
fn an_error_names_options_as_they_are_typed() {
    let sandbox = Sandbox::with_messages(&[("user", "one"), ("assistant", "two")]);
    for (words, error) in [
        (
            ["undo", "--captured"].as_slice(),
            "--captured goes with --to or --since",
        ),
        (
            &["truncate"],
            "how much? --fraction, --keep or --to-budget says it",
        ),
        (&["shrink"], "how much? --to says it"),
        (
            &["resolve", ":1"],
            "--ours or --theirs says whose change holds",
        ),
        (
            &["commit", "-r", "tool", "-m", "x"],
            "a tool's message must name the --call that it answers",
        ),
    ] {
        let told = sandbox.tract(words);
        assert!(told.contains(&format!("error: {error}\n")), "{told}");
        assert!(told.contains("\nhint: "), "{told}");
    }
}
