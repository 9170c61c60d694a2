//! What a compaction took away, and what of it is still said.

use std::path::Path;

use tract::hash::CommitHash;
use tract::ingest::{ImportRequest, import};
use tract::model::{EntryId, HideKind, Message, Millis, Operation};
use tract::query::LogOptions;
use tract::query::audit::{Audit, FactClass, FoundFact, HeldMessage, facts_of};
use tract::repo::Repo;

use serde_json::{Value, json};
use tract::render::edit::changed_files;

use crate::conditions::real_sessions;
use crate::sandbox::Sandbox;

/// How many findings are looked at.
const FIRST: usize = 20;

#[derive(Default)]
struct Measured {
    compactions: usize,
    /// HeldMessage and said, by class.
    tallies: [(usize, usize); 8],
    /// Asked for again: all, those still said, those lost, those among the first findings; of files and commands.
    again: [[usize; 4]; 2],
}

impl Measured {
    fn take(&mut self, audit: &Audit, after: &[FoundFact]) {
        self.compactions += 1;
        for (sum, class) in self.tallies.iter_mut().zip(FactClass::ALL) {
            let (held, said) = audit.tally(class);
            *sum = (sum.0 + held, sum.1 + said);
        }
        let first: Vec<_> = audit.lost().take(FIRST).collect();
        let classes = [FactClass::File, FactClass::Command];
        for (class, again) in classes.into_iter().zip(&mut self.again) {
            let held = audit.facts.iter().filter(|fact| fact.class == class);
            for fact in held {
                let is_same = |found: &&FoundFact| same(class, &fact.text, &found.fact.text);
                if !after
                    .iter()
                    .any(|found| found.fact.class == class && is_same(&found))
                {
                    continue;
                }
                let is_first = first.contains(&fact);
                again[0] += 1;
                again[1] += usize::from(fact.is_said);
                again[2] += usize::from(!fact.is_said);
                again[3] += usize::from(is_first);
            }
        }
    }
}

/// Whether two facts of a class are one: a path may be told from another place.
fn same(class: FactClass, a: &str, b: &str) -> bool {
    let ends =
        |a: &str, b: &str| a == b || a.ends_with(&format!("/{}", b.trim_start_matches("./")));
    match class {
        FactClass::File => ends(a, b) || ends(b, a),
        _ => a.trim() == b.trim(),
    }
}

/// The hides of a path, each with the messages that came in between it and the next one.
fn hides(repo: &Repo, tip: &CommitHash) -> Vec<(CommitHash, Vec<Message>)> {
    let options = LogOptions {
        limit: 0,
        ..LogOptions::default()
    };
    let mut rows = repo.log(tip, &options).expect("listed");
    rows.reverse();
    let mut found: Vec<(CommitHash, Vec<_>)> = Vec::new();
    for row in rows {
        match &row.commit.operation {
            Operation::Hide(hide)
                if matches!(hide.kind, HideKind::Compaction | HideKind::Clear) =>
            {
                found.push((row.hash, Vec::new()));
            }
            Operation::Append { content } => {
                if let Some((_, after)) = found.last_mut() {
                    after.push(*content);
                }
            }
            _ => {}
        }
    }
    let read = found.into_iter();
    let read = read.map(|(hash, after)| (hash, repo.contents(&after).expect("read")));
    read.collect()
}

fn measure(folder: &Path, measured: &mut Measured) {
    for path in tract::ingest::tool_dirs::walk_directory(folder) {
        let repo = Repo::ephemeral().expect("a repository");
        let request = ImportRequest::at(Millis(0), "import");
        let Ok(report) = import(&repo, &path, &request, &mut |_| {}) else {
            continue;
        };
        for tip in report.sessions.iter().filter_map(|session| session.tip) {
            for (hide, after) in hides(&repo, &tip) {
                let audit = repo.audit(&hide, &hide, changed_files).expect("audited");
                let held = after.iter().map(|message| HeldMessage {
                    entry: EntryId::of(hide),
                    message,
                    typed: false,
                });
                let found = facts_of(&held.collect::<Vec<_>>(), changed_files);
                measured.take(&audit, &found);
            }
        }
    }
}

/// A session with a prompt, a command that failed, and a change that mended it.
fn session(sandbox: &Sandbox) {
    let call = |id: &str, name: &str, input: Value| json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
    let result = |id: &str, text: &str, is_error: bool| json!([{ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error }]);
    let test = || json!({ "command": "cargo test parser" });
    let edit = json!({ "file_path": "/w/src/parser.rs", "old_string": "a", "new_string": "b" });
    let list = json!({ "todos": [
        { "content": "Close the brace", "status": "completed" },
        { "content": "Write a note for Imke", "status": "pending" },
    ] });
    let records = [
        (
            "user",
            json!("<local-command-stdout>Ready.</local-command-stdout>"),
        ),
        (
            "user",
            json!("Only Imke may rotate the heliotrope key ring.\nSee https://rings.test/47."),
        ),
        ("assistant", call("t0", "TodoWrite", list)),
        ("user", result("t0", "kept", false)),
        ("assistant", call("t1", "Bash", test())),
        (
            "user",
            result(
                "t1",
                "Exit code 101\nerror: unclosed brace \u{1b}[31m",
                true,
            ),
        ),
        ("assistant", call("t2", "Edit", edit)),
        ("user", result("t2", "edited", false)),
        ("assistant", call("t3", "Bash", test())),
        ("user", result("t3", "ok", false)),
        (
            "assistant",
            json!([{ "type": "text", "text": "The brace is closed in `parse_ring`." }]),
        ),
        ("user", json!("Thanks, now the other one.")),
    ];
    let lines = records.into_iter().enumerate().map(|(at, (kind, content))| {
        let parent = at.checked_sub(1).map(|at| format!("r{at}"));
        let record = json!({
            "type": kind, "uuid": format!("r{at}"), "parentUuid": parent, "cwd": "/w", "version": "2.1.100",
            "sessionId": "5a1d2c8e-1111-4222-8333-444455556666",
            "timestamp": format!("2026-03-14T10:{at:02}:00.000Z"),
            "message": { "role": kind, "content": content },
        });
        format!("{record}\n")
    });
    sandbox.write("session.jsonl", lines.collect::<String>());
    sandbox.ok(&["import", "session.jsonl"]);
}

#[test]
fn who_names_a_branch_learns_how_its_last_compaction_is_audited() {
    let sandbox = Sandbox::with_messages(&[("user", "One."), ("assistant", "Two.")]);
    insta::assert_snapshot!(sandbox.tract(&["audit", "main"]), @r"
    exit code: 2
    --- stderr
    error: main is the commit 98b73d7, which hides nothing itself
    hint: tract audit --within main is of the newest compaction, truncation or clear there
    ");
    insta::assert_snapshot!(sandbox.tract(&["audit", "HEAD"]), @r"
    exit code: 2
    --- stderr
    error: HEAD is the commit 98b73d7, which hides nothing itself
    hint: tract audit is of the newest compaction, truncation or clear on this branch
    ");
}

#[test]
fn what_a_compaction_took_away_is_listed_with_its_messages() {
    let sandbox = Sandbox::new();
    session(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["audit"]), @r#"
    --- stderr
    No compaction, truncation or clear on this branch
    "#);
    sandbox.ok(&[
        "compact",
        "--keep",
        "1",
        "-m",
        "The brace in src/parser.rs is closed; cargo test parser passes.",
    ]);
    let told = sandbox.tract(&["audit"]);
    insta::assert_snapshot!(told, @r#"
    compaction 7ec2861, 11 messages hidden
                 held  still said  lost
    instruction     1           0     1
    task            1           0     1
    command         1           1     0
    file            1           1     0
    error           1           0     1
    url             1           0     1
    name            1           0     1

    f0b5492  task         Write a note for Imke
    2722c90  instruction  Only Imke may rotate the heliotrope key ring. See https://rings.test/47.
    2722c90  url          https://rings.test/47
    9293459  name         parse_ring
    9aaaec4  error        error: unclosed brace ␛[31m  (mended by a change of /w/src/parser.rs)
    --- stderr
    hint: tract restore HASH brings a message back
    "#);
    insta::assert_snapshot!(sandbox.tract(&["audit", "HEAD", "-n", "2"]), @r#"
    compaction 7ec2861, 11 messages hidden
                 held  still said  lost
    instruction     1           0     1
    task            1           0     1
    command         1           1     0
    file            1           1     0
    error           1           0     1
    url             1           0     1
    name            1           0     1

    f0b5492  task         Write a note for Imke
    2722c90  instruction  Only Imke may rotate the heliotrope key ring. See https://rings.test/47.
    --- stderr
    hint: 3 more: -n 0 lists all
    "#);
    insta::assert_snapshot!(sandbox.tract(&["audit", ":2"]), @r#"
    exit code: 2
    --- stderr
    error: :2 is the commit 91cd3b0, which hides nothing itself
    hint: tract log --op hide lists what hides
    "#);
    // A message that is brought back is lost no more; nor is what it says.
    let line = told.lines().find(|line| line.contains("instruction  Only"));
    let hash = line
        .and_then(|line| line.split_whitespace().next())
        .expect("a finding");
    sandbox.ok(&["restore", hash]);
    let told = sandbox.tract(&["audit"]);
    assert!(
        !told.contains("heliotrope") && !told.contains("rings.test"),
        "{told}"
    );
    sandbox.ok(&["undo"]);
    sandbox.ok(&["restore", "HEAD"]);
    insta::assert_snapshot!(sandbox.tract(&["audit"]), @r#"
    compaction 7ec2861, 0 messages hidden
    --- stderr
    Nothing of it is lost
    "#);
}

#[test]
fn a_truncation_is_audited_as_well_and_by_programs() {
    let sandbox = Sandbox::new();
    session(&sandbox);
    sandbox.ok(&["truncate", "--keep", "2"]);
    let asked = "{\"id\":1,\"method\":\"audit\",\"params\":{\"limit\":1}}\n";
    let answer = sandbox.tract_with(&["api"], asked);
    let line = answer
        .lines()
        .find(|line| line.starts_with('{'))
        .expect("an answer");
    let answer: Value = serde_json::from_str(line).expect("JSON");
    let result = &answer["result"];
    assert_eq!(result["kind"], "truncation", "{answer}");
    assert_eq!(
        result["findings"].as_array().map(Vec::len),
        Some(1),
        "{answer}"
    );
    assert_eq!(
        result["findings"][0]["text"], "Write a note for Imke",
        "{answer}"
    );
    for class in result["classes"].as_array().expect("classes") {
        let count = |what: &str| class[what].as_u64().expect("a count");
        assert_eq!(count("held"), count("said") + count("lost"), "{answer}");
    }
}

/// Prints what was held, what is still said, and how much of what was asked for again is among the first findings.
#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn what_was_asked_for_again_is_among_the_first_findings() {
    let mut measured = Measured::default();
    measure(&real_sessions(), &mut measured);
    measure(&real_sessions().join("../live"), &mut measured);
    eprintln!("{} compactions", measured.compactions);
    eprintln!("| | held | still said | lost |\n| --- | ---: | ---: | ---: |");
    for (class, (held, said)) in FactClass::ALL.iter().zip(measured.tallies) {
        eprintln!("| {} | {held} | {said} | {} |", class.as_str(), held - said);
    }
    eprintln!(
        "| | asked for again | still said | lost | among the first {FIRST} |\n| --- | ---: | ---: | ---: | ---: |"
    );
    for (what, again) in ["files", "commands"].iter().zip(measured.again) {
        let [all, said, lost, first] = again;
        eprintln!("| {what} | {all} | {said} | {lost} | {first} |");
    }
    let lost: usize = measured.again.iter().map(|again| again[2]).sum();
    let first: usize = measured.again.iter().map(|again| again[3]).sum();
    assert!(first * 10 >= lost * 8, "{first} of {lost}");
}

/// A conversation of which a summary keeps one of two things.
fn shortened() -> Sandbox {
    let sandbox = Sandbox::with_messages(&[
        (
            "user",
            "Never touch the <ledger> of 1998, whatever else you do.",
        ),
        ("assistant", "I read src/parse.rs and leave the rest alone."),
        ("user", "Then go on."),
    ]);
    sandbox.ok(&["compact", "-m", "They talked about src/parse.rs."]);
    sandbox
}

#[test]
fn a_page_says_with_a_compaction_what_it_took_away() {
    let sandbox = shortened();
    let page = sandbox.ok(&["export", "--format", "html"]);
    let lost = page
        .split_once("<details class=\"lost\">")
        .expect("it says so")
        .1;
    let lost = lost.split_once("</details>").expect("it ends").0;
    insta::assert_snapshot!(lost, @r##"
    <summary>Not said any more: 3</summary>
    <ul>
    <li><b class="class">instruction</b><a href="#cf6a0ec0550e1">Then go on.</a></li>
    <li><b class="class">instruction</b><a href="#c218fc14f2d30">Never touch the &lt;ledger&gt; of 1998, whatever else you do.</a></li>
    <li><b class="class">number</b><a href="#c218fc14f2d30">1998</a></li>
    </ul>
    "##);
}

#[cfg(unix)]
#[test]
fn a_judge_gets_what_was_and_what_is_and_its_word_comes_last() {
    let sandbox = shortened();
    let said = sandbox.tract(&["audit", "--judge", "cat"]);
    insta::assert_snapshot!(said, @r"
    compaction c30c98d, 3 messages hidden
                 held  still said  lost
    instruction     2           0     2
    number          1           0     1

    f6a0ec0  instruction  Then go on.
    218fc14  instruction  Never touch the <ledger> of 1998, whatever else you do.
    218fc14  number       1998

    A conversation was made shorter. Below it stands as it was, then as it is now, then what was found in the first and not in the second. Say what of it will be missed, and what else is missing.

    # Before

    [1] user
      Never touch the <ledger> of 1998, whatever else you do.

    [2] assistant
      I read src/parse.rs and leave the rest alone.

    [3] user
      Then go on.

    # Now

    [1] user
      They talked about src/parse.rs.

    # Not said any more

    - instruction: Then go on.
    - instruction: Never touch the <ledger> of 1998, whatever else you do.
    - number: 1998
    --- stderr
    hint: tract restore HASH brings a message back
    ");
    let said = sandbox.tract(&["audit", "--judge", "echo why >&2; exit 3"]);
    insta::assert_snapshot!(said, @r"
    exit code: 1
    compaction c30c98d, 3 messages hidden
                 held  still said  lost
    instruction     2           0     2
    number          1           0     1

    f6a0ec0  instruction  Then go on.
    218fc14  instruction  Never touch the <ledger> of 1998, whatever else you do.
    218fc14  number       1998
    --- stderr
    hint: tract restore HASH brings a message back
    why
    error: 'echo why >&2; exit 3' gave no answer: it ended with exit code 3
    hint: tract audit --help
    ");
}
