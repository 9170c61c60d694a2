//! A repository of many directories: each has a HEAD of its own, and nobody changes another's conversation.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rusqlite::Connection;
use serde_json::json;

use crate::sandbox::{Sandbox, is_left_out};

const DIRECTORIES: [&str; 3] = ["alpha", "beta", "gamma"];
const IDS: [&str; 4] = [
    "11111111-aaaa-4000-8000-000000000000",
    "22222222-bbbb-4000-8000-000000000000",
    "33333333-cccc-4000-8000-000000000000",
    "44444444-aaaa-4000-8000-000000000000",
];

/// A home with a repository, and sessions of three directories: one each, and a newer one of the first.
struct Home(Sandbox);

impl Home {
    fn new() -> Self {
        let home = Self(Sandbox::empty());
        for name in DIRECTORIES {
            std::fs::create_dir_all(home.at(name).join("src")).expect("made");
        }
        home.tract("", &["init"]);
        for (at, id) in IDS.into_iter().enumerate() {
            let path = home.session(id, DIRECTORIES[at % 3], at);
            home.tract("", &["import", path.to_str().expect("text")]);
        }
        home
    }

    fn at(&self, directory: &str) -> PathBuf {
        let home = std::fs::canonicalize(self.0.home()).expect("it is there");
        home.join(directory)
    }

    /// A session's file; later ones by their number.
    fn session(&self, id: &str, directory: &str, number: usize) -> PathBuf {
        let said = [
            ("user", "Look at it."),
            ("assistant", "It is fine."),
            ("user", "Then go on."),
            ("assistant", "Done."),
        ];
        let (mut lines, mut parent) = (String::new(), None);
        for (at, (role, text)) in said.into_iter().enumerate() {
            let uuid = format!("{}-{at}", &id[..8]);
            let text = format!("{text} ({directory} {number})");
            let content = match role {
                "user" => json!(text),
                _ => json!([{"type": "text", "text": text}]),
            };
            let line = json!({
                "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": id, "cwd": self.at(directory),
                "timestamp": format!("2026-03-01T1{number}:00:0{at}.000Z"),
                "message": {"role": role, "content": content, "model": "claude-opus-4-8", "id": uuid},
            });
            writeln!(lines, "{line}").expect("a string");
            parent = Some(uuid);
        }
        self.0.write(&format!("{id}.jsonl"), lines)
    }

    fn run(&self, directory: &str, arguments: &[&str]) -> std::process::Output {
        let mut command = self.0.command(arguments);
        command.current_dir(self.at(directory));
        command.output().expect("it runs")
    }

    /// What it answers to something on its standard input.
    fn given(&self, directory: &str, arguments: &[&str], input: &str) -> String {
        let mut command = self.0.command(arguments);
        command.current_dir(self.at(directory));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        let mut pipe = child.stdin.take().expect("a pipe");
        pipe.write_all(format!("{input}\n").as_bytes())
            .expect("it reads");
        drop(pipe);
        let output = child.wait_with_output().expect("it ends");
        assert!(
            output.status.success(),
            "{arguments:?} {}",
            self.0.told(&output)
        );
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn said(&self, directory: &str, arguments: &[&str]) -> String {
        self.0.told(&self.run(directory, arguments))
    }

    fn tract(&self, directory: &str, arguments: &[&str]) -> String {
        let output = self.run(directory, arguments);
        assert!(
            output.status.success(),
            "{arguments:?} {}",
            self.0.told(&output)
        );
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// All refs, with what they hold.
    fn refs(&self) -> BTreeMap<String, String> {
        let file = Connection::open(self.at(".tract/tract.db")).expect("opens");
        let sql = "SELECT name, coalesce(symbolic, hex(hash)) FROM refs
             LEFT JOIN commits ON commits.id = target";
        let mut statement = file.prepare(sql).expect("SQL");
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("reads");
        rows.map(|row| row.expect("a row")).collect()
    }

    fn log(&self, directory: &str) -> Vec<String> {
        let log = self.tract(directory, &["log", "-n", "0", "--format", "%s"]);
        log.lines().map(str::to_owned).collect()
    }
}

/// On a server there is no home directory.
fn home() -> Option<Home> {
    (!is_left_out("the repository of a home directory")).then(Home::new)
}

#[test]
fn each_directory_has_its_newest_session_until_another_is_chosen() {
    let Some(home) = home() else { return };
    assert_eq!(home.log("alpha")[0], "Done. (alpha 3)");
    assert_eq!(home.log("alpha/src")[0], "Done. (alpha 3)", "below it, too");
    assert_eq!(home.log("beta")[0], "Done. (beta 1)");

    // An id as lists show it goes to its branch; elsewhere HEAD stays.
    let said = home.said("alpha", &["checkout", "11111111"]);
    assert!(said.contains("On main, at"), "{said}");
    assert_eq!(home.log("alpha")[0], "Done. (alpha 0)");
    assert_eq!(home.log("beta")[0], "Done. (beta 1)");
    home.tract("alpha", &["checkout", "-"]);
    assert_eq!(home.log("alpha")[0], "Done. (alpha 3)");
    home.tract("gamma", &["checkout", "33333333"]);

    // What is newer does not take the place of what was chosen, but of what was not.
    for directory in ["alpha", "beta", "gamma"] {
        let id = format!("5555{directory:f<5}-dddd-4000-8000-000000000000");
        let path = home.session(&id, directory, 5);
        home.tract(directory, &["import", path.to_str().expect("text")]);
    }
    assert_eq!(home.log("alpha")[0], "Done. (alpha 3)");
    assert_eq!(home.log("beta")[0], "Done. (beta 5)");
    assert_eq!(home.log("gamma")[0], "Done. (gamma 2)");
}

/// A client that does not say in which conversation it is, is in that of the directory's HEAD.
#[test]
fn memory_has_no_word_of_another_project_unless_it_is_asked_for() {
    let Some(home) = home() else { return };
    std::fs::create_dir(home.at("new")).expect("made");
    let told = |directory: &str, calls: &[(&str, serde_json::Value)]| {
        let calls = calls.iter().zip(1..).map(|((name, arguments), id)| {
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name, "arguments": arguments } })
                .to_string()
        });
        let calls: Vec<String> = calls.collect();
        home.given(directory, &["mcp"], &calls.join("\n"))
    };
    let near = [
        ("recall", json!({ "query": "done" })),
        ("recall", json!({ "query": "done", "where": "project" })),
        ("did", json!({ "command": "go" })),
        ("dropped", json!({})),
        ("context", json!({})),
    ];
    let alpha = told("alpha", &near);
    assert!(
        alpha.contains("In the conversation that is checked out here"),
        "{alpha}"
    );
    assert!(
        alpha.contains("Done. (alpha 3)") && alpha.contains("Done. (alpha 0)"),
        "{alpha}"
    );
    for directory in ["alpha", "alpha/src", "new", ""] {
        let told = told(directory, &near);
        let others = ["(beta", "(gamma"];
        assert!(
            !others.iter().any(|it| told.contains(it)),
            "{directory}: {told}"
        );
        assert!(
            directory.starts_with("alpha") || !told.contains("(alpha"),
            "{directory}: {told}"
        );
    }
    let all = [("recall", json!({ "query": "done", "where": "all" }))];
    let told_all = told("alpha", &all);
    assert!(
        told_all.contains("In project beta") && told_all.contains("Done. (beta 1)"),
        "{told_all}"
    );

    home.tract("alpha", &["config", "--global", "recall.where", "project"]);
    let kept = told("alpha", &all);
    assert!(
        !kept.contains("(beta") && kept.contains("recall.where keeps this to project"),
        "{kept}"
    );
    let said = home.said(
        "alpha",
        &["config", "--global", "recall.where", "everywhere"],
    );
    assert!(said.contains("none of here, project, all"), "{said}");
}

#[test]
fn a_directory_without_sessions_begins_a_conversation_of_its_own() {
    let Some(home) = home() else { return };
    std::fs::create_dir(home.at("new")).expect("made");
    let said = home.said("new", &["log"]);
    assert!(said.contains("'new' has no commits yet"), "{said}");
    let before = home.refs();
    home.tract("new", &["commit", "-r", "user", "-m", "begun"]);
    home.tract("new", &["commit", "-r", "user", "-m", "gone on"]);
    assert_eq!(home.log("new"), ["gone on", "begun"]);
    let mut after = home.refs();
    after.retain(|name, _| !before.contains_key(name));
    let names: Vec<&String> = after.keys().collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].starts_with("at/") && names[0].ends_with("/HEAD"));
    assert_eq!(names[1], "refs/heads/new");
    home.tract("new", &["undo"]);
    home.tract("new", &["undo"]);
    assert_eq!(home.refs(), before);
    let said = home.said("new", &["undo"]);
    assert!(
        said.contains("nothing to undo"),
        "what others did is not taken back: {said}"
    );
}

#[test]
fn undo_and_redo_are_of_what_was_done_here() {
    let Some(home) = home() else { return };
    home.tract("alpha", &["clear"]);
    home.tract("beta", &["truncate", "--keep", "2"]);
    let both = home.refs();
    let said = home.said("alpha", &["undo"]);
    assert!(said.contains("clear"), "{said}");
    assert_eq!(home.log("alpha")[0], "Done. (alpha 3)");
    home.tract("beta", &["undo"]);
    home.tract("alpha", &["redo"]);
    home.tract("beta", &["redo"]);
    assert_eq!(home.refs(), both);
}

/// What changes anything, typed in one directory: it is what an `undo` there takes back, whatever it changed, and whatever
/// was typed elsewhere since.
#[test]
fn an_undo_takes_back_what_was_typed_here_last_whatever_it_changed() {
    let Some(home) = home() else { return };
    let branches = home.tract("", &["branch"]);
    let others = branches.lines().find_map(|line| {
        let name = line.trim_start_matches(['*', ' ']).split(' ').next()?;
        name.contains("33333333").then_some(name)
    });
    let gammas = others.unwrap_or_else(|| panic!("{branches}")).to_owned();
    let file = home.session("66666666-cccc-4000-8000-000000000000", "gamma", 6);
    let file = file.to_str().expect("text");
    home.tract("beta", &["branch", "spare", &gammas]);
    home.tract("beta", &["tag", "v0", &gammas]);
    let typed: Vec<Vec<&str>> = vec![
        vec!["branch", "-d", "spare"],
        vec!["branch", "-m", "spare", "other"],
        vec!["branch", "thought", &gammas],
        vec!["tag", "v1", &gammas],
        vec!["tag", "-d", "v0"],
        vec!["--on", "spare", "commit", "-r", "user", "-m", "said"],
        vec!["--on", "spare", "truncate", "--keep", "1"],
        vec!["--on", "spare", "annotate", "HEAD", "--pin"],
        vec!["--on", "spare", "reset", "HEAD~1"],
        vec![
            "--on",
            "spare",
            "merge",
            "main",
            "--allow-unrelated-histories",
        ],
        vec!["import", file],
        vec!["checkout", "spare"],
        vec!["checkout", "-b", "idea"],
        vec!["checkout", "HEAD~1"],
        vec!["commit", "-r", "user", "-m", "mine"],
        vec!["reset", "HEAD~1"],
        vec!["merge", "spare", "--allow-unrelated-histories"],
    ];
    home.tract("beta", &["tag", "bottom"]);
    for (at, words) in typed.iter().enumerate() {
        let before = home.refs();
        home.tract("beta", words);
        let after = home.refs();
        assert_ne!(after, before, "{words:?}");
        let elsewhere = [("alpha", "a"), ("", "h")];
        for (directory, name) in elsewhere {
            home.tract(directory, &["tag", &format!("{name}{at}")]);
        }
        let without = |mut refs: BTreeMap<String, String>| {
            let names = elsewhere.map(|(_, name)| format!("refs/tags/{name}{at}"));
            refs.retain(|name, _| !names.contains(name));
            refs
        };
        home.tract("beta", &["undo"]);
        assert_eq!(without(home.refs()), before, "{words:?}");
        home.tract("beta", &["redo"]);
        assert_eq!(without(home.refs()), after, "{words:?}");
        home.tract("beta", &["undo"]);
        assert_eq!(without(home.refs()), before, "{words:?}");
        // Elsewhere what was typed there goes, and no more.
        for (directory, _) in elsewhere {
            home.tract(directory, &["undo"]);
        }
        assert_eq!(home.refs(), before, "{words:?}");
    }
    // The same back to a point, and by a program.
    let log = home.tract("beta", &["reflog", "-n", "0"]);
    let bottom = log.lines().find(|line| line.contains("tag bottom"));
    let number = bottom.and_then(|line| line.split_whitespace().next());
    let number = number.unwrap_or_else(|| panic!("{log}")).to_owned();
    let before = home.refs();
    home.tract("beta", &["branch", "-d", "spare"]);
    home.tract("alpha", &["tag", "alphas"]);
    home.tract("beta", &["tag", "betas"]);
    home.tract("beta", &["undo", "--to", &number]);
    home.tract("alpha", &["undo"]);
    assert_eq!(home.refs(), before);
    home.tract("beta", &["branch", "-d", "spare"]);
    home.tract("alpha", &["tag", "alphas"]);
    let request = r#"{"id": 1, "method": "undo"}"#;
    let said = home.given("beta", &["api"], request);
    assert!(said.contains("branch -d spare"), "{said}");
    home.tract("alpha", &["undo"]);
    assert_eq!(home.refs(), before);
    // Nothing was typed in a directory that is new.
    std::fs::create_dir(home.at("new")).expect("made");
    let said = home.said("new", &["undo"]);
    assert!(said.contains("nothing to undo"), "{said}");
}

/// What nobody typed is not taken back by who wants back what they typed.
#[test]
fn an_undo_to_a_point_leaves_what_was_taken_in() {
    let Some(home) = home() else { return };
    let log = home.tract("beta", &["reflog", "-n", "1"]);
    let last = log.split_whitespace().next().expect("a number").to_owned();
    let before = home.refs();
    home.tract("beta", &["tag", "mine"]);
    let hooked = home.session("77777777-bbbb-4000-8000-000000000000", "beta", 7);
    let hook = json!({"transcript_path": hooked, "cwd": home.at("beta")}).to_string();
    home.given("beta", &["import", "--hook"], &hook);
    let typed = home.session("88888888-bbbb-4000-8000-000000000000", "beta", 8);
    home.tract("beta", &["import", typed.to_str().expect("text")]);
    let sessions = |home: &Home| {
        let refs = home.refs().into_keys();
        refs.filter(|name| name.starts_with("refs/sessions/"))
            .count()
    };
    assert_eq!(sessions(&home), IDS.len() + 2);

    let said = home.said("beta", &["undo", "--to", &last]);
    assert!(said.contains("Undid 1 command"), "{said}");
    assert!(said.contains("2 imports and recordings stay"), "{said}");
    assert_eq!(sessions(&home), IDS.len() + 2);
    assert!(!home.refs().contains_key("refs/tags/mine"));
    let said = home.said("beta", &["undo", "--to", &last]);
    assert!(
        said.contains("nothing to undo") && said.contains("--captured"),
        "{said}"
    );
    let said = home.said("beta", &["undo", "--to", &last, "--captured"]);
    assert!(said.contains("Undid 2 commands"), "{said}");
    assert_eq!(home.refs(), before);
    home.tract("beta", &["redo"]);
    assert_eq!(sessions(&home), IDS.len() + 2);

    // A hook's import is nothing that was typed, an import is.
    let said = home.said("beta", &["undo"]);
    assert!(said.contains("import "), "{said}");
    assert_eq!(sessions(&home), IDS.len() + 1);
    let said = home.said("beta", &["undo"]);
    assert!(!said.contains("hook"), "{said}");
    assert_eq!(sessions(&home), IDS.len() + 1);
}

#[test]
fn who_changes_a_conversation_is_told_which() {
    let Some(home) = home() else { return };
    let said = home.said("beta", &["clear"]);
    let last = said
        .trim_end()
        .lines()
        .last()
        .unwrap_or_default()
        .to_owned();
    let status = home.said("beta", &["status"]);
    let branch = last.strip_prefix("On ").unwrap_or_else(|| panic!("{said}"));
    let branch = branch.split(':').next().unwrap_or_default();
    assert!(status.contains(branch), "{branch}: {status}");
    // Where a repository has one HEAD, that is no news.
    home.tract("", &["config", "head.of", "repository"]);
    let said = home.said("beta", &["commit", "-r", "user", "-m", "one HEAD"]);
    assert!(!said.contains("On "), "{said}");
    assert_eq!(home.log("")[0], "one HEAD");
    assert_eq!(home.log("alpha")[0], "one HEAD");
}

#[test]
fn a_branch_that_another_directory_is_on_stays_and_takes_it_along() {
    let Some(home) = home() else { return };
    home.tract("alpha", &["checkout", "-b", "idea"]);
    let said = home.said("beta", &["branch", "-d", "idea"]);
    assert!(said.contains("HEAD is on 'idea'"), "{said}");
    home.tract("beta", &["branch", "-m", "idea", "plan"]);
    let status = home.said("alpha", &["status"]);
    assert!(status.contains("plan"), "{status}");
}

#[test]
fn a_hook_makes_no_repository() {
    let sandbox = Sandbox::empty();
    if is_left_out("the repository of a home directory") {
        return;
    }
    let path = sandbox.write(
        "session.jsonl",
        include_str!("../../data/claude-code/failed.jsonl"),
    );
    let hook = json!({"transcript_path": path, "cwd": sandbox.work()}).to_string();
    insta::assert_snapshot!(sandbox.tract_with(&["import", "--hook"], &hook), @r"
    exit code: 1
    --- stderr
    error: no repository here or at home takes the session
    hint: tract init ~ makes one for all sessions
    ");
    assert!(!sandbox.is_made());
    let home = sandbox.home();
    sandbox.ok(&["init", home.to_str().expect("text")]);
    let said = sandbox.tract_with(&["import", "--hook"], &hook);
    assert!(
        said.contains("Imported"),
        "it is not below home, and comes there: {said}"
    );
    assert!(!sandbox.is_made());
}

/// Each command as somebody would type it who names no conversation; those that change one, first to last, in an order in
/// which each has something to do.
const TYPED: &[&[&str]] = &[
    &["commit", "-r", "user", "-m", "said"],
    &["annotate", "HEAD", "--pin"],
    &["compact", "-m", "all of it"],
    &["restore", "HEAD"],
    &["drop", ":2"],
    &["undo"],
    &["redo"],
    &["prune"],
    &["truncate", "--keep", "1"],
    &["clear"],
    &["reset", "HEAD~1"],
    &["checkout", "-b", "idea"],
    &["branch", "thought"],
    &["tag", "v1"],
    &["pick", "HEAD"],
    &["rebase", "HEAD~2", "--from", "HEAD~1"],
    &["revert", "HEAD", "--force"],
    &["redact"],
    &["purge", ":1", "--force"],
    &["branch", "-m", "notion"],
    &["merge", "thought"],
    &["resolve"],
    &["resume", "--in", "codex"],
    &["record"],
    &["chat", "--agent", "cat"],
    &["run", "--exec", "cat"],
    &["bisect", "start"],
    &["bisect", "run", "--", "false"],
    &["import", "--all"],
    &["watch", "--once"],
    &["remote", "add", "origin", "../hub"],
    &["push"],
    &["fetch"],
    &["pull"],
    &["clone", "../hub"],
    &["bundle", "all.tract"],
    &["unbundle", "all.tract"],
    &["gc"],
    &["fsck", "--repair"],
    &["config", "window.size", "9"],
    &["backup", "copy.db"],
    &["init", "another"],
    &["demo"],
    &["export", "--format", "html", "-o", "page.html"],
    &["dataset", "-o", "rows.jsonl"],
    &["shrink", "--to", "100k"],
    &["status"],
    &["log"],
    &["show"],
    &["view"],
    &["web", "--out", "pages"],
    &["find", "fine"],
    &["diff", "HEAD~1"],
    &["cost"],
    &["stats"],
    &["audit"],
    &["blame"],
    &["attest"],
    &["setup"],
    &["guard"],
    &["guard", "--hook"],
    &["reflog"],
    &["compile"],
    &["du"],
    &["doctor"],
    &["api", "status"],
    &["mcp"],
    &["completions", "bash"],
    &["man", "pages"],
    &["help"],
];
/// How many of them, from the first, must succeed at first.
const CHANGING: usize = 20;

#[test]
fn no_command_without_a_name_changes_a_conversation_of_another_directory() {
    let Some(home) = home() else { return };
    // All commands are tried.
    let help = home.tract("", &["help", "--all"]);
    let listed = help
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let listed: Vec<&str> = listed
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let tried: Vec<&str> = TYPED.iter().map(|typed| typed[0]).collect();
    let missing: Vec<&&str> = listed
        .iter()
        .filter(|name| !tried.contains(name) && !name.starts_with('-'))
        .collect();
    assert!(
        missing.is_empty(),
        "{missing:?} stand in help and are not tried"
    );

    home.tract("", &["init", "hub"]);
    // Their sessions, the branches of these, and the HEADs.
    let refs = home.refs();
    let ends = [IDS[1], IDS[2]].map(|id| refs[&format!("refs/sessions/claude-code/{id}")].clone());
    let theirs = |(name, on): (&String, &String)| ends.contains(on).then(|| name.clone());
    let names: Vec<String> = refs.iter().filter_map(theirs).collect();
    let of_others = |home: &Home| -> BTreeMap<String, String> {
        let mut refs = home.refs();
        refs.retain(|name, _| {
            let is_head = name == "HEAD" || name.contains("/beta") || name.contains("/gamma");
            is_head || names.contains(name)
        });
        refs
    };
    home.tract("beta", &["checkout", "22222222"]);
    home.tract("gamma", &["truncate", "--keep", "2"]);
    home.tract("gamma", &["checkout", "33333333"]);
    let before = of_others(&home);
    assert_eq!(before.len(), 6, "{before:?}");
    for round in 0..2 {
        for (at, typed) in TYPED.iter().enumerate() {
            let output = home.run("alpha", typed);
            let said = home.0.told(&output);
            assert_eq!(of_others(&home), before, "{round} {typed:?}: {said}");
            let is_done = output.status.success() || round > 0 || at >= CHANGING;
            assert!(is_done, "{typed:?}: {said}");
        }
        // Once more where somebody else has been meanwhile.
        home.tract("alpha", &["checkout", "44444444"]);
        home.tract("beta", &["truncate", "--keep", "1"]);
        home.tract("beta", &["undo"]);
    }
}

#[test]
fn a_session_is_resumed_in_the_directory_of_its_own() {
    let Some(home) = home() else { return };
    let said = home.said("gamma", &["resume"]);
    assert!(said.contains("gamma"), "{said}");
    let written = |directory: &str| {
        let name = home
            .at(directory)
            .to_string_lossy()
            .replace(['/', '.'], "-");
        let folder = home.at(".claude/projects").join(name);
        Path::new(&folder).read_dir().map_or(0, Iterator::count)
    };
    assert_eq!(
        (written("gamma"), written("alpha"), written("beta")),
        (1, 0, 0)
    );
}

#[test]
fn a_hook_leaves_the_head_of_the_home_alone() {
    let Some(all) = home() else { return };
    drop(all);
    let home = Home(Sandbox::empty());
    std::fs::create_dir_all(home.at("alpha")).expect("made");
    home.tract("", &["init"]);
    let path = home.session(IDS[0], "alpha", 0);
    let hook = json!({ "hook_event_name": "PreCompact", "transcript_path": path, "cwd": home.at("alpha") });
    let mut command = home.0.command(&["guard", "--hook"]);
    command.current_dir(home.at("alpha"));
    let output = crate::programs::guard::fed(command, hook.to_string().as_bytes());
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("- Look at it. (alpha 0)"), "{told}");
    assert!(!home.refs().contains_key("HEAD"), "{:?}", home.refs());
    assert!(
        home.said("alpha", &["log"])
            .contains("Look at it. (alpha 0)")
    );
}
