//! Every method through every door: the library, `tract api`, the command line, and where an agent has it, `tract mcp`.
//!
//! `tests/doors/steps.jsonl` says of each step what a program asks, what a person types for the same, and
//! which facts of the answer must then be on the screen. Each door has a repository of its own; after every step all
//! three are at the same commit. The Python package walks the same list (`python/tests/test_doors.py`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Value, json};
use tract::deeds::{ApiError, At, Host, METHODS, deeds, method};
use tract::ingest::tool_dirs::ToolDirs;
use tract::model::Millis;
use tract::model::secret::Secrets;
use tract::repo::{On, Repo};
use tract::sync::{Here, Peer};

use crate::programs::mcp::Client;
use crate::sandbox::{Sandbox, on_servers};

/// 2026-03-14 12:00:00 UTC, at every step.
const NOW: i64 = 1_773_489_600_000;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
const DOORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doors");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    method: String,
    #[serde(default)]
    params: BTreeMap<String, Value>,
    /// What a person types.
    #[serde(default)]
    command: Vec<String>,
    /// Which tool an agent calls, and with what.
    #[serde(default)]
    mcp: Option<(String, Value)>,
    /// Why there is neither.
    #[serde(default)]
    without: Option<String>,
    /// What of the answer is told there as well.
    #[serde(default)]
    draws: Vec<String>,
    /// What of the answer is not the same twice.
    #[serde(default)]
    chance: Vec<String>,
}

fn steps() -> Vec<Step> {
    let list = std::fs::read_to_string(format!("{DOORS}/steps.jsonl")).expect("the list");
    list.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// A door's own repository, and another one that it is pushed to.
struct Place {
    sandbox: Sandbox,
    there: PathBuf,
    /// The commit that a step before made, and one at which a branch was begun.
    last: String,
    begun: String,
    /// The newest operation, by its number.
    newest: Option<u64>,
}

impl Place {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let there = sandbox.work().join("there");
        sandbox.ok(&["init", "there"]);
        let (last, begun, newest) = Default::default();
        Self {
            sandbox,
            there,
            last,
            begun,
            newest,
        }
    }

    /// What stands in a step for what this door has in its place.
    fn names(&self) -> [(&'static str, String); 6] {
        [
            ("{data}", DATA.to_owned()),
            ("{doors}", DOORS.to_owned()),
            ("{there}", self.there.display().to_string()),
            ("{work}", self.sandbox.work().display().to_string()),
            ("{last}", self.last.clone()),
            ("{begun}", self.begun.clone()),
        ]
    }

    fn filled(&self, text: &str) -> String {
        let names = self.names().into_iter();
        names.fold(text.to_owned(), |text, (name, value)| {
            text.replace(name, &value)
        })
    }

    /// An answer as it would be elsewhere.
    fn told(&mut self, answer: &str, chance: &[String]) -> Value {
        let root = self.sandbox.home().with_file_name("").display().to_string();
        let answer = answer.replace(&root, "/");
        let mut answer: Value =
            serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{answer}"));
        assert!(answer.get("error").is_none(), "{answer}");
        for pointer in chance {
            *answer
                .pointer_mut(pointer)
                .unwrap_or_else(|| panic!("no {pointer}")) = json!("*");
        }
        for (kept, pointer) in [
            (&mut self.last, "/commits/0/hash"),
            (&mut self.begun, "/commit"),
        ] {
            if let Some(hash) = answer.pointer(pointer).and_then(Value::as_str) {
                *kept = hash.to_owned();
            }
        }
        answer
    }

    /// What the program says, and whether it did what it was to do.
    fn said(&self, arguments: &[&str]) -> (String, bool) {
        let mut command = self.sandbox.command(arguments);
        let output = command.env("TRACT_CLOCK", NOW.to_string()).output();
        let output = output.expect("it runs");
        let told = [output.stdout, output.stderr].concat();
        (
            String::from_utf8(told).expect("text"),
            output.status.success(),
        )
    }

    fn output(&self, arguments: &[&str]) -> String {
        let (told, is_done) = self.said(arguments);
        assert!(is_done, "{arguments:?}: {told}");
        told
    }

    /// How the log of operations names the newest one, if it is newer than when this was asked last.
    fn done(&mut self) -> Option<Value> {
        let (told, _) = self.said(&["api", "reflog", r#"{"limit": 1}"#]);
        let root = self.sandbox.home().with_file_name("").display().to_string();
        let told = told.replace(&root, "/");
        let told: Value = serde_json::from_str(&told).expect("JSON");
        let newest = &told["operations"][0];
        let is_new = newest["operation"].as_u64() > self.newest;
        self.newest = newest["operation"].as_u64();
        is_new.then(|| newest["what"].clone())
    }

    fn head(&self) -> String {
        self.said(&["log", "-n", "1", "--format", "%H %d"]).0
    }
}

/// What a program brings along that uses the library.
struct Program(PathBuf);

impl Host for Program {
    fn now(&self) -> Millis {
        Millis(NOW)
    }

    fn tool_dirs(&self) -> Result<ToolDirs, ApiError> {
        Ok(ToolDirs::of(Some(&self.0), &BTreeMap::new()))
    }

    fn secrets(&self) -> Result<Secrets, ApiError> {
        Ok(Secrets::default())
    }

    fn seed(&self) -> Result<[u8; 32], ApiError> {
        Ok([7; 32])
    }

    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }

    fn with_peer(
        &self,
        url: &str,
        _: &Repo,
        work: &mut dyn FnMut(&mut dyn Peer) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        let there = Repo::open(Path::new(url))?;
        let now = || self.now();
        work(&mut Here {
            repo: &there,
            now: &now,
        })
    }
}

/// Whether people are told a fact: a hash by its beginning, a text by its first line, an object as JSON.
fn is_told(fact: &Value, seen: &str) -> bool {
    match fact {
        Value::String(text) if text.len() == 64 => seen.contains(&text[..7]),
        Value::String(text) => seen.contains(text.lines().next().unwrap_or_default()),
        Value::Object(_) => {
            let mut lines = seen.lines().map(serde_json::from_str::<Value>);
            lines.any(|line| line.is_ok_and(|line| line == *fact))
        }
        other => seen.contains(&other.to_string()),
    }
}

#[test]
fn every_method_says_the_same_at_every_door() {
    if on_servers() {
        return;
    }
    let [mut by_library, mut by_api, mut people] = [(); 3].map(|()| Place::new());
    let repo = Repo::open(&by_library.sandbox.work()).expect("opens");
    let program = Program(by_library.sandbox.home());
    let mut walked = BTreeSet::new();
    for (number, step) in steps().iter().enumerate() {
        let Step { method: name, .. } = step;
        let at = format!("step {}, {name}", number + 1);
        walked.insert(name.clone());
        let params = json!(step.params).to_string();

        let entry = method(name).expect("a method");
        let asked = by_library.filled(&params);
        let answer = (entry.call)(&asked, &mut At::new(&repo, On::Head, &program));
        let answer = answer.unwrap_or_else(|fault| panic!("{at}: {fault:?}"));
        let says_no = answer.exit.is_some();
        let answer = json!(answer.json).to_string();
        let answer = by_library.told(&answer, &step.chance);

        let asked = by_api.filled(&params);
        let (told, is_done) = by_api.said(&["api", name, &asked]);
        assert_eq!(is_done, !says_no, "{at}: {told}");
        let told = by_api.told(&told, &step.chance);
        assert_eq!(told, answer, "{at}");

        let seen = match (&step.mcp, step.command.as_slice()) {
            (Some((tool, arguments)), []) => {
                let mut command = people.sandbox.command(&["mcp"]);
                command.env("TRACT_CLOCK", NOW.to_string());
                Client::of(command).told(tool, arguments.clone())
            }
            (None, [_, ..]) => {
                let command: Vec<String> = step
                    .command
                    .iter()
                    .map(|word| people.filled(word))
                    .collect();
                people.output(&command.iter().map(String::as_str).collect::<Vec<_>>())
            }
            _ => {
                assert!(step.without.is_some(), "{at}: nobody else does it");
                String::new()
            }
        };
        for pointer in &step.draws {
            let fact = answer.pointer(pointer);
            let fact = fact.unwrap_or_else(|| panic!("{at}: no {pointer} in {answer}"));
            assert!(
                is_told(fact, &seen),
                "{at}: {pointer} is {fact}, and not in:\n{seen}"
            );
        }
        // What is committed behind a commit is on no branch yet.
        let is_aside = step.params.contains_key("after");
        let done = [&mut by_library, &mut by_api, &mut people].map(Place::done);
        if deeds().any(|deed| deed.name == name) && !is_aside && !step.command.is_empty() {
            assert!(done.iter().all(|what| *what == done[0]), "{at}: {done:#?}");
        }
        if !is_aside {
            let heads = [&by_library, &by_api, &people].map(Place::head);
            assert!(
                heads.iter().all(|head| *head == heads[0]),
                "{at}: {heads:#?}"
            );
        }
    }
    let all: BTreeSet<String> = METHODS
        .iter()
        .map(|method| method.name.to_owned())
        .collect();
    assert_eq!(walked, all);
}

#[test]
fn long_work_that_nobody_waits_for_ends() {
    if on_servers() {
        return;
    }
    let place = Place::new();
    place.output(&["commit", "-r", "user", "-m", "How deep is the Rhine?"]);
    place.output(&[
        "remote",
        "add",
        "origin",
        &place.there.display().to_string(),
    ]);
    let repo = Repo::open(&place.sandbox.work()).expect("opens");
    let program = Program(place.sandbox.home());
    for (name, params) in [
        ("find", json!({ "text": "rhine" })),
        ("find", json!({ "text": "Rhine", "exact": true })),
        ("push", json!({})),
    ] {
        let entry = method(name).expect("a method");
        let mut at = At::new(&repo, On::Head, &program);
        at.goes_on = Box::new(|_| false);
        let ended = (entry.call)(&params.to_string(), &mut at).expect_err("it ends");
        assert_eq!(ended.kind, "cancelled", "{name}");
        let mut at = At::new(&repo, On::Head, &program);
        (entry.call)(&params.to_string(), &mut at).expect("it is done");
    }
}

/// Two repositories that both went on from one, and know each other as `origin`; and a branch with another edit of the
/// same message.
fn parted() -> Place {
    let place = Place::new();
    let there = place.there.display().to_string();
    for command in [
        &["commit", "-r", "user", "-m", "How deep is the Rhine?"][..],
        &["remote", "add", "origin", &there],
        &["push", "-u", "origin"],
        &["checkout", "-b", "idea"],
        &["commit", "--edit", ":1", "-m", "How deep is the Main?"],
        &["checkout", "main"],
        &["commit", "--edit", ":1", "-m", "How deep is the Elbe?"],
        &["--repo", &there, "checkout", "main"],
        &[
            "--repo",
            &there,
            "commit",
            "-r",
            "user",
            "-m",
            "And how wide?",
        ],
    ] {
        place.output(command);
    }
    place
}

#[test]
fn an_answer_that_says_no_has_the_exit_code_of_the_command() {
    if on_servers() {
        return;
    }
    let damage = |place: &Place| {
        place.sandbox.change("UPDATE bodies SET body = x'00'");
    };
    let over_budget = |place: &Place| {
        for (key, value) in [("budget.max", "8"), ("budget.action", "truncate")] {
            place.output(&["config", key, value]);
        }
    };
    type Prepare<'a> = &'a dyn Fn(&Place);
    let nothing: Prepare<'_> = &|_| {};
    let cases: [(&str, Value, &[&str], Prepare<'_>, i32); 7] = [
        ("push", json!({}), &["push"], nothing, 1),
        (
            "pull",
            json!({"no_merge": true}),
            &["pull", "--no-merge"],
            nothing,
            1,
        ),
        (
            "pull",
            json!({"merge": true}),
            &["pull", "--merge"],
            nothing,
            0,
        ),
        (
            "merge",
            json!({"rev": "idea"}),
            &["merge", "idea"],
            nothing,
            1,
        ),
        (
            "commit",
            json!({"role": "user", "message": "And the Danube, from its two springs on?"}),
            &[
                "commit",
                "-r",
                "user",
                "-m",
                "And the Danube, from its two springs on?",
            ],
            &over_budget,
            1,
        ),
        (
            "find",
            json!({"text": "Vistula"}),
            &["find", "Vistula"],
            nothing,
            1,
        ),
        ("fsck", json!({}), &["fsck"], &damage, 3),
    ];
    for (name, params, command, prepare, exit) in cases {
        let codes = [&["api", name, &params.to_string()], command].map(|arguments| {
            let place = parted();
            prepare(&place);
            let mut command = place.sandbox.command(arguments);
            command.output().expect("it runs").status.code()
        });
        assert_eq!(codes, [Some(exit); 2], "{name} {params}");
    }
}
