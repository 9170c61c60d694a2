//! What an agent's memory tells of which project: of its own alone, unless it asks for all.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::conditions::laws;
use crate::programs::mcp::Client;
use crate::sandbox::{Sandbox, is_left_out};

/// Directories of projects; one lies in another.
const PROJECTS: [&str; 5] = ["amber", "birch", "cedar", "cedar/inner", "dune"];

/// A session of a project.
#[derive(Clone, Debug)]
struct Session {
    project: Index,
    turns: usize,
    is_compacted: bool,
    /// It begins with the first turn of this one.
    fork_of: Option<Index>,
}

fn session() -> impl Strategy<Value = Session> {
    let fork = proptest::option::weighted(0.3, any::<Index>());
    (any::<Index>(), 1_usize..3, any::<bool>(), fork).prop_map(
        |(project, turns, is_compacted, fork_of)| Session {
            project,
            turns,
            is_compacted,
            fork_of,
        },
    )
}

/// A home with a repository, and what may be told of each project.
struct Home {
    sandbox: Sandbox,
    root: PathBuf,
    /// The words of each session, and the directory that it ran in.
    words: Vec<(String, &'static str)>,
    ids: Vec<String>,
}

impl Home {
    fn of(sessions: &[Session]) -> Self {
        let sandbox = Sandbox::empty();
        let root = std::fs::canonicalize(sandbox.home()).expect("it is there");
        for project in PROJECTS {
            std::fs::create_dir_all(root.join(project)).expect("made");
        }
        let mut home = Self {
            sandbox,
            root,
            words: Vec::new(),
            ids: Vec::new(),
        };
        home.run("", &["init"]);
        // What others may begin with: records, and the word in them.
        let mut firsts: Vec<(Vec<Value>, String)> = Vec::new();
        for (number, session) in sessions.iter().enumerate() {
            let project = PROJECTS[session.project.index(PROJECTS.len())];
            let id = format!("{number:08x}-aaaa-4000-8000-00000000000{}", number % 10);
            let of = session.fork_of.filter(|_| number > 0);
            let shared = of.map(|of| firsts[of.index(number)].clone());
            let mut lines = Vec::new();
            if let Some((first, word)) = &shared {
                lines.clone_from(first);
                for line in &mut lines {
                    line["sessionId"] = json!(id);
                    line["cwd"] = json!(home.root.join(project));
                }
                home.words.push((word.clone(), project));
            }
            for turn in 0..session.turns {
                let word = format!("zephyr{number}x{turn}q");
                home.words.push((word.clone(), project));
                home.turn(&mut lines, &id, number * 10 + turn, project, &word);
                if firsts.len() == number {
                    firsts.push(shared.clone().unwrap_or_else(|| (lines.clone(), word)));
                }
            }
            if session.is_compacted {
                home.compaction(&mut lines, &id, number, project);
            }
            home.keep(&id, project, &lines);
            home.ids.push(id);
        }
        home.run("", &["import", "--all"]);
        home
    }

    /// A prompt, a command that fails, an edit, an answer.
    fn turn(&self, lines: &mut Vec<Value>, id: &str, number: usize, project: &str, word: &str) {
        let call = |name: &str, input: Value| json!([{ "type": "tool_use", "id": format!("{name}{number}"), "name": name, "input": input }]);
        let result = |name: &str, text: String| json!([{ "type": "tool_result", "tool_use_id": format!("{name}{number}"), "content": text }]);
        let path = format!("/w/{word}.rs");
        let said = [
            ("user", json!(format!("Look at the pump, {word}."))),
            (
                "assistant",
                call("Bash", json!({ "command": format!("make pump {word}") })),
            ),
            (
                "user",
                result("Bash", format!("error: the pump leaks {word}")),
            ),
            (
                "assistant",
                call(
                    "Edit",
                    json!({ "file_path": path, "old_string": "a", "new_string": word }),
                ),
            ),
            ("user", result("Edit", format!("edited {word}"))),
            (
                "assistant",
                json!([{ "type": "text", "text": format!("The pump is tight, {word}.") }]),
            ),
        ];
        for (at, (kind, content)) in said.into_iter().enumerate() {
            let parent = lines.last().map(|line| line["uuid"].clone());
            lines.push(json!({
                "type": kind, "uuid": format!("{number}-{at}"), "parentUuid": parent, "sessionId": id,
                "cwd": self.root.join(project), "version": "2.1.100",
                "timestamp": format!("2026-03-{:02}T10:{:02}:0{at}.000Z", 1 + number / 60 % 28, number % 60),
                "message": { "role": kind, "content": content },
            }));
        }
    }

    fn compaction(&self, lines: &mut Vec<Value>, id: &str, number: usize, project: &str) {
        let last = lines.last().map(|line| line["uuid"].clone());
        let at = "2026-03-29T10:00:00.000Z";
        let cwd = self.root.join(project);
        lines.push(json!({
            "type": "system", "subtype": "compact_boundary", "uuid": format!("c{number}"), "parentUuid": null,
            "logicalParentUuid": last, "sessionId": id, "cwd": cwd, "timestamp": at, "version": "2.1.100",
            "content": "Conversation compacted", "compactMetadata": { "trigger": "manual", "preTokens": 1000 },
        }));
        lines.push(json!({
            "type": "user", "uuid": format!("d{number}"), "parentUuid": format!("c{number}"), "sessionId": id,
            "cwd": cwd, "timestamp": at, "version": "2.1.100", "isCompactSummary": true,
            "message": { "role": "user", "content": "Summary: work on a pump." },
        }));
    }

    fn keep(&self, id: &str, project: &str, lines: &[Value]) {
        let folder = self.root.join(project).display().to_string();
        let folder = folder.replace(['/', '.'], "-");
        let folder = self.root.join(".claude/projects").join(folder);
        std::fs::create_dir_all(&folder).expect("made");
        let text: Vec<String> = lines.iter().map(Value::to_string).collect();
        std::fs::write(folder.join(format!("{id}.jsonl")), text.join("\n") + "\n")
            .expect("written");
    }

    fn command(&self, directory: &str, words: &[&str]) -> Command {
        let mut command = self.sandbox.command(words);
        command.current_dir(self.root.join(directory));
        command
    }

    fn run(&self, directory: &str, words: &[&str]) {
        let output = self.command(directory, words).output().expect("it runs");
        let told = self.sandbox.told(&output);
        assert!(output.status.success(), "{words:?}: {told}");
    }

    /// The names of all commits.
    fn commits(&self) -> Vec<String> {
        let file = Connection::open(self.root.join(".tract/tract.db")).expect("opens");
        let mut statement = file
            .prepare("SELECT lower(hex(hash)) FROM commits")
            .expect("SQL");
        let rows = statement.query_map([], |row| row.get(0)).expect("reads");
        rows.map(|row| row.expect("a row")).collect()
    }

    /// The words that are told in a directory: its own, and those of directories below it. Where no session ran there,
    /// HEAD is that of the directory above.
    fn own(&self, directory: &str) -> BTreeSet<&str> {
        let of = |directory: &str| {
            let words = self.words.iter();
            let own = words.filter(|(_, of)| Path::new(of).starts_with(directory));
            own.map(|(word, _)| word.as_str()).collect::<BTreeSet<_>>()
        };
        match directory.rsplit_once('/') {
            Some((above, _)) if of(directory).is_empty() => of(above),
            _ => of(directory),
        }
    }
}

proptest! {
    #![proptest_config(laws(16))]

    /// Whatever an agent names or asks for, it is told no word of another project, unless it asks for all.
    #[test]
    fn no_word_of_another_project_is_told_unless_all_is_asked_for(
        sessions in proptest::collection::vec(session(), 2..7),
        directory in any::<Index>(),
        is_known in any::<bool>(),
    ) {
        if !is_left_out("the repository of a home directory") {
            let home = Home::of(&sessions);
            hold(&home, PROJECTS[directory.index(PROJECTS.len())], is_known);
        }
    }
}

fn hold(home: &Home, directory: &str, is_known: bool) {
    let mut command = home.command(directory, &["mcp"]);
    let session = home.ids.iter().find(|id| {
        let folder = home.root.join(directory).display().to_string();
        let folder = folder.replace(['/', '.'], "-");
        let path = home.root.join(".claude/projects").join(folder);
        path.join(format!("{id}.jsonl")).exists()
    });
    if let Some(session) = session.filter(|_| is_known) {
        command
            .env("CLAUDE_CODE_SESSION_ID", session)
            .env("CLAUDE_PROJECT_DIR", home.root.join(directory));
    }
    let mut client = Client::of(command);
    let own = home.own(directory);
    let all: BTreeSet<&str> = home.words.iter().map(|(word, _)| word.as_str()).collect();
    let others: Vec<&str> = all.difference(&own).copied().collect();
    let commits = home.commits();

    let mut calls: Vec<(&str, Value)> = Vec::new();
    for word in ["pump", "tight", "leaks"].iter().chain(&others) {
        for place in [None, Some("here"), Some("project")] {
            calls.push(("recall", json!({ "query": word, "where": place })));
            calls.push(("did", json!({ "command": word, "where": place })));
            calls.push(("did", json!({ "error": word, "where": place })));
            calls.push((
                "did",
                json!({ "path": format!("{word}.rs"), "where": place }),
            ));
        }
        calls.push(("read", json!({ "id": format!(":/{word}") })));
    }
    // Enough of them, from all sessions.
    for commit in commits.iter().step_by(1 + commits.len() / 32) {
        calls.push(("read", json!({ "id": commit, "around": 3 })));
        calls.push(("read", json!({ "id": &commit[..4], "where": "here" })));
        calls.push(("dropped", json!({ "compaction": &commit[..12] })));
    }
    let last = commits.last().expect("a commit");
    calls.push(("read", json!({ "id": format!("{}..{last}", commits[0]) })));
    for id in &home.ids {
        let session = format!("refs/sessions/claude-code/{id}");
        for named in [format!("{session}:1"), format!("{id}:2"), session] {
            calls.push(("read", json!({ "id": named, "around": 9 })));
            calls.push(("dropped", json!({ "compaction": named })));
            calls.push(("pin", json!({ "id": named })));
        }
    }
    calls.push(("context", json!({})));
    calls.push(("dropped", json!({})));
    for (tool, arguments) in calls {
        let (told, _) = client.call(tool, arguments.clone());
        for word in &others {
            // What the agent said itself comes back.
            let told = match arguments.to_string().contains(word) {
                true => told.replacen(word, "", 1),
                false => told.clone(),
            };
            assert!(
                !told.contains(word),
                "{directory}: {tool} {arguments}: {told}"
            );
        }
    }

    let mut told: BTreeMap<&str, String> = BTreeMap::new();
    for (word, of) in &home.words {
        if others.contains(&word.as_str()) {
            let name = of.rsplit('/').next().expect("a name");
            let found = client.told("recall", json!({ "query": word, "where": "all" }));
            assert!(
                found.contains(word) && found.contains("In project "),
                "{name}: {found}"
            );
            told.entry(word).or_default().push_str(&found);
        }
    }
}

/// What a client took back in its way, with what was said instead.
#[test]
fn what_was_taken_back_says_so_and_comes_last() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    for (file, words, left, instead) in [
        (
            "claude-code/rewind.jsonl",
            "draw cat",
            "Draw a cat.",
            "Draw a dog.",
        ),
        (
            "pi/tree.jsonl",
            "burn barrels",
            "Burn them.",
            "summary of a branch",
        ),
        (
            "gemini/changed.jsonl",
            "write read",
            "Write it.",
            "Read it again.",
        ),
        ("kimi/hidden.jsonl", "two three", "Two.", "Three."),
        (
            "copilot-cli/hidden.jsonl",
            "millstone roof",
            "A millstone.",
            "Begin anew",
        ),
    ] {
        let sandbox = Sandbox::new();
        sandbox.tract(&["import", &format!("{data}/{file}")]);
        let found = sandbox.ok(&["find", words]);
        let lines: Vec<&str> = found.lines().map(str::trim).collect();
        let at = lines.iter().position(|line| *line == left);
        let at = at.unwrap_or_else(|| panic!("{file}: {found}"));
        let marks: Vec<usize> = (0..lines.len())
            .filter(|at| lines[*at].starts_with("(taken back"))
            .collect();
        assert!(marks.contains(&(at - 1)), "{file}: {found}");
        let mark = lines[at - 1];
        assert!(
            mark.starts_with("(taken back on 2026-") && mark.contains("; chosen instead: "),
            "{file}: {mark}"
        );
        assert!(mark.contains(instead), "{file}: {mark}");
        // All that stands comes before all that does not.
        let heads = lines[..marks[0]].len();
        let stands = (1..lines.len()).rev().find(|at| {
            let is_marked = |at: usize| lines[at].starts_with("(taken back");
            lines[*at].contains(instead) && !is_marked(*at) && !is_marked(at - 1)
        });
        assert!(stands.is_none_or(|at| at < heads), "{file}: {found}");

        let mut client = Client::of(sandbox.command(&["mcp"]));
        let told = client.told("recall", json!({ "query": words }));
        let head = told.lines().find(|line| line.contains("taken back on "));
        let head = head.unwrap_or_else(|| panic!("{file}: {told}"));
        assert!(head.contains("; chosen instead: "), "{file}: {told}");
        let exact = sandbox.ok(&["find", "-F", left]);
        assert!(exact.contains("(taken back"), "{file}: {exact}");
    }
}

#[test]
fn what_is_dropped_skipped_or_edited_here_is_taken_back_and_what_makes_room_is_not() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "The valve opens left."),
        ("assistant", "The valve opens right."),
        ("user", "The valve opens twice."),
        ("assistant", "The valve opens."),
        ("user", "The valve is shut."),
    ]);
    let marked = || {
        let found = sandbox.ok(&["find", "valve"]);
        let lines: Vec<String> = found.lines().map(|line| line.trim().to_owned()).collect();
        let marked = lines
            .windows(2)
            .filter(|two| two[0].starts_with("(taken back"));
        let marked: Vec<String> = marked.map(|two| two[1].clone()).collect();
        (marked, found)
    };
    assert_eq!(marked().0, [""; 0]);
    sandbox.ok(&["drop", ":2"]);
    sandbox.ok(&["annotate", ":2", "--skip"]);
    sandbox.ok(&["commit", "--edit", ":1", "-m", "The valve opens slowly."]);
    let (told, found) = marked();
    assert_eq!(told.len(), 3, "{found}");
    assert!(
        found.contains("chosen instead") && found.contains("The valve opens slowly."),
        "{found}"
    );
    sandbox.ok(&["truncate", "--keep", "1"]);
    sandbox.ok(&["clear"]);
    let (told, found) = marked();
    assert_eq!(told.len(), 3, "what makes room takes nothing back: {found}");
    sandbox.ok(&["undo"]);
    sandbox.ok(&["undo"]);
    sandbox.ok(&["undo"]);
    sandbox.ok(&["undo"]);
    sandbox.ok(&["undo"]);
    assert_eq!(marked().0, [""; 0]);
}

/// A path that was left and is worked on again is nothing that was taken back.
#[test]
fn what_goes_on_elsewhere_was_not_taken_back() {
    let data = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/claude-code/rewind.jsonl"
    );
    let sandbox = Sandbox::new();
    sandbox.tract(&["import", data]);
    let back = |sandbox: &Sandbox| sandbox.ok(&["find", "cat"]).contains("(taken back");
    assert!(back(&sandbox));
    sandbox.ok(&["checkout", "main/leaf-1"]);
    assert!(!back(&sandbox), "HEAD is there");
    sandbox.ok(&["checkout", "main"]);
    assert!(back(&sandbox));
    sandbox.ok(&["checkout", "main/leaf-1^"]);
    let found = sandbox.ok(&["find", "cat"]);
    let prompt = found.lines().skip_while(|line| !line.contains("HEAD:"));
    let prompt: Vec<&str> = prompt.take(2).collect();
    assert_eq!(
        prompt.get(1),
        Some(&"    Draw a cat."),
        "a detached HEAD has it: {found}"
    );
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&["branch", "zebra", "main/leaf-1"]);
    assert!(!back(&sandbox), "a branch goes on with it");
}

/// What one branch takes back, and another one has: HEAD decides where it has it.
#[test]
fn what_another_branch_has_was_not_taken_back() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "The sluice opens left."),
        ("assistant", "The sluice opens right."),
    ]);
    sandbox.ok(&["branch", "other"]);
    sandbox.ok(&["drop", ":2"]);
    let mark = || {
        let found = sandbox.ok(&["find", "sluice right"]);
        let right = found.find("The sluice opens right.").expect("it is found");
        (found[..right].contains("(taken back"), found)
    };
    let (is_marked, found) = mark();
    assert!(is_marked, "HEAD has dropped it: {found}");
    sandbox.ok(&["checkout", "HEAD~2"]);
    let (is_marked, found) = mark();
    assert!(!is_marked && found.contains("other:2"), "{found}");
    sandbox.ok(&["checkout", "main"]);
    sandbox.ok(&["branch", "-d", "other"]);
    sandbox.ok(&["checkout", "HEAD~1"]);
    let (is_marked, found) = mark();
    assert!(!is_marked && found.contains("HEAD:2"), "{found}");
}

/// An id of another project is missed in the words in which one is that is nowhere.
#[test]
fn an_error_does_not_say_whether_another_project_has_it() {
    if is_left_out("the repository of a home directory") {
        return;
    }
    let mut runner = TestRunner::deterministic();
    let mut of = |project: usize| {
        let mut indices = std::iter::repeat_with(|| {
            let tree = any::<Index>().new_tree(&mut runner);
            tree.expect("made").current()
        });
        let index = indices.find(|index| index.index(PROJECTS.len()) == project);
        Session {
            project: index.expect("one of them"),
            turns: 2,
            is_compacted: true,
            fork_of: None,
        }
    };
    let home = Home::of(&[of(0), of(1)]);
    let mut client = Client::of(home.command("amber", &["mcp"]));
    let told = client.told("recall", json!({ "query": "zephyr1x0q", "where": "all" }));
    let line = told.lines().nth(1).expect("a message");
    let theirs = line.split(' ').next().expect("an id");
    let nowhere = "0123456789ab";
    for form in [
        "", "~1", "~999", "^", ":2", ":999", "#0", "#99", "..:1", "@{1}",
    ] {
        for (tool, key) in [("read", "id"), ("dropped", "compaction"), ("pin", "id")] {
            let mut missed = |id: &str| {
                let named = format!("{id}{form}");
                let (told, is_error) = client.call(tool, json!({ key: named }));
                assert!(is_error, "{tool} {named}: {told}");
                told.replace(id, "ID")
            };
            assert_eq!(missed(theirs), missed(nowhere), "{tool} {form}");
        }
    }
}

/// The answer stands before the questions, whoever asked them and a memory's results beside them.
#[test]
fn an_answer_comes_before_the_questions_that_were_asked_again() {
    let sandbox = Sandbox::new();
    let asked = "how does the mill weigh flour at the gate? which scale was chosen?";
    let session = |id: &str, day: usize, said: &[(&str, Value)]| {
        let mut parent = Value::Null;
        let lines = said.iter().enumerate().map(|(at, (kind, content))| {
            let uuid = format!("{id}-{at}");
            let line = json!({
                "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": format!("{id}-0000-4000-8000-000000000000"),
                "cwd": "/w", "timestamp": format!("2026-02-{day:02}T10:00:{at:02}.000Z"), "version": "2.1.100",
                "message": { "role": kind, "content": content },
            });
            parent = line["uuid"].clone();
            line.to_string()
        });
        let lines: Vec<String> = lines.collect();
        sandbox.write(&format!("{id}.jsonl"), lines.join("\n") + "\n");
        sandbox.ok(&["-q", "import", &format!("{id}.jsonl")]);
    };
    session(
        "0000aaaa",
        1,
        &[
            (
                "user",
                json!("We have to choose how the mill weighs flour at the gate"),
            ),
            (
                "assistant",
                json!([{ "type": "text", "text": "Decided: the old beam at the gate stays, for it was sealed in spring." }]),
            ),
        ],
    );
    for number in 2..6 {
        let tool = [
            "mcp__deja-vu__deja_recall",
            "mcp__tract__recall",
            "mcp__plugin_claude-mem_mcp-search__search",
            "Bash",
        ][number - 2];
        session(
            &format!("0000bbb{number}"),
            number,
            &[
                ("user", json!(asked)),
                (
                    "assistant",
                    json!([{ "type": "tool_use", "id": "t1", "name": tool, "input": { "command": format!("deja search \"{asked}\"") } }]),
                ),
                (
                    "user",
                    json!([{ "type": "tool_result", "tool_use_id": "t1", "content": format!("0 matches for {asked}") }]),
                ),
                (
                    "assistant",
                    json!([{ "type": "text", "text": format!("Nobody knows, says {tool}.") }]),
                ),
            ],
        );
    }
    let found = sandbox.ok(&["find", asked.trim_end_matches('?')]);
    let at = |text: &str| {
        found
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {found}"))
    };
    assert!(
        at("Decided: the old beam") < at("how does the mill weigh"),
        "{found}"
    );
    assert!(
        at("We have to choose") < at("how does the mill weigh"),
        "{found}"
    );
    assert!(
        at("how does the mill weigh") < at("(told by a memory)"),
        "{found}"
    );
    assert!(
        !found[..at("how does the mill weigh")].contains("0 matches"),
        "{found}"
    );
}

#[test]
fn of_equal_answers_the_newest_comes_first_and_what_was_done_before_what_was_asked() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "Which turbine feeds the north hall?"),
        ("assistant", "The turbine of the north hall is number four."),
        (
            "assistant",
            "The turbine of the north hall is number seven.",
        ),
    ]);
    let found = sandbox.ok(&["find", "turbine north hall"]);
    let at = |text: &str| {
        found
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {found}"))
    };
    assert!(at("number seven") < at("number four"), "{found}");
    assert!(at("number four") < at("Which turbine"), "{found}");
}

#[test]
fn scripts_of_south_east_asia_are_found_within_a_text() {
    let sandbox = Sandbox::with_messages(&[
        ("user", "ระบบฐานข้อมูลเชื่อมต่อแล้ว"),
        ("user", "ຖານຂໍ້ມູນເຊື່ອມຕໍ່ແລ້ວ"),
        ("user", "មូលដ្ឋានទិន្នន័យ"),
        ("user", "ဒေတာဘေ့စ်ချိတ်ဆက်"),
    ]);
    for word in ["ข้อมูล", "ฐานข้อมูล", "เชื่อม", "ຂໍ້ມູນ", "ទិន្នន័យ", "ချိတ်ဆက်"]
    {
        let found = sandbox.ok(&["find", word]);
        assert!(found.contains(word), "{word}: {found}");
    }
}
