//! Codex's files as it keeps them now: compressed ones, forks that hold only what is new, sessions that
//! go on in a second file, sub-agents beside their parent.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Ids as the tool makes them: of one minute, so that they begin alike.
pub const PARENT: &str = "01a1fe4f-33f9-7941-9c3c-4fe4330026ba";
pub const FORK: &str = "01a1fe4f-5dc7-7792-ac9d-9868cb0e7a01";

/// A rollout of our own, as the tool writes it: every line has its ordinal.
#[derive(Clone)]
pub struct Rollout {
    id: String,
    next: u64,
    lines: Vec<String>,
}

impl Rollout {
    /// Of a session that begins here.
    pub fn new(id: &str) -> Self {
        Self::with(id, 0, json!({}))
    }

    /// Of one that goes on from the first records of another, or of its own first file.
    pub fn based(id: &str, base: &Rollout, records: u64) -> Self {
        let offset: usize = base.lines[..base.count_below(records)]
            .iter()
            .map(|line| line.len() + 1)
            .sum();
        let history = json!({
            "thread_id": base.id, "end_ordinal_exclusive": records, "end_byte_offset": offset,
        });
        let mut more = json!({"history_base": history});
        if id != base.id {
            more["forked_from_id"] = json!(base.id);
        }
        Self::with(id, records, more)
    }

    /// With more in its first record.
    pub fn with(id: &str, first: u64, more: Value) -> Self {
        let mut rollout = Self {
            id: id.to_owned(),
            next: first,
            lines: Vec::new(),
        };
        let mut meta = json!({
            "id": id, "timestamp": rollout.time(), "cwd": "/p", "originator": "codex_exec",
            "cli_version": "0.169.0", "source": "exec", "model_provider": "openai",
            "base_instructions": {"text": "Be brief."}, "history_mode": "paginated",
        });
        let fields = more.as_object().expect("fields").clone();
        meta.as_object_mut().expect("fields").extend(fields);
        rollout.record("session_meta", meta);
        rollout
    }

    /// How many of its lines have an ordinal below this one.
    fn count_below(&self, records: u64) -> usize {
        let first = self.next - self.lines.len() as u64;
        usize::try_from(records.saturating_sub(first))
            .expect("few")
            .min(self.lines.len())
    }

    /// Of which ordinal its next record is.
    pub fn next(&self) -> u64 {
        self.next
    }

    fn time(&self) -> String {
        format!(
            "2026-01-02T03:{:02}:{:02}.000Z",
            self.next / 60,
            self.next % 60
        )
    }

    pub fn record(&mut self, kind: &str, payload: Value) {
        let record = json!({
            "timestamp": self.time(), "ordinal": self.next, "type": kind, "payload": payload,
        });
        self.lines.push(record.to_string());
        self.next += 1;
    }

    /// A prompt with its answer, a turn of the model's.
    pub fn turn(mut self, prompt: &str, answer: &str) -> Self {
        self.record("event_msg", json!({"type": "task_started", "turn_id": "t"}));
        self.record(
            "turn_context",
            json!({"turn_id": "t", "cwd": "/p", "model": "gpt-5.1-codex"}),
        );
        self.says("user", "input_text", prompt);
        self.says("assistant", "output_text", answer);
        self.record(
            "event_msg",
            json!({"type": "task_complete", "turn_id": "t"}),
        );
        self
    }

    /// A message.
    pub fn says(&mut self, role: &str, kind: &str, text: &str) {
        let content = json!([{"type": kind, "text": text}]);
        let message = json!({"type": "message", "role": role, "content": content});
        self.record("response_item", message);
    }

    /// The whole file.
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The name of a file of it, at a minute of the day.
    pub fn name(&self, minute: u32) -> String {
        format!(
            "sessions/2026/01/02/rollout-2026-01-02T03-{minute:02}-00-{}.jsonl",
            self.id
        )
    }
}

/// What is sent at a revision.
fn sent(sandbox: &Sandbox, rev: &str) -> Vec<String> {
    let text = sandbox.ok(&["compile", rev, "--format", "openai"]);
    let body: Value = serde_json::from_str(&text).expect("JSON");
    let messages = body["messages"].as_array().expect("messages").iter();
    messages
        .map(|message| message["content"].as_str().expect("text").to_owned())
        .collect()
}

fn parent() -> Rollout {
    Rollout::new(PARENT)
        .turn("one", "first")
        .turn("two", "second")
}

fn packed(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 3).expect("packed")
}

#[test]
fn a_compressed_file_is_the_same_session_and_plain_again_it_goes_on() {
    let sandbox = Sandbox::empty();
    let session = parent();
    let name = session.name(1);
    sandbox.write(&name, session.text());
    insta::assert_snapshot!(sandbox.tract(&["import", &name]), @r"
    --- stderr
    Made a repository in .tract
    Imported codex 01a1fe4f-33f9: 5 messages, on main
      records other than messages  6 records (-v lists them)
      not in the file              tool definitions
    ");
    // The client compresses what nobody has touched for a week.
    std::fs::remove_file(sandbox.work().join(&name)).expect("removed");
    let cold = format!("{name}.zst");
    sandbox.write(&cold, packed(&session.text()));
    insta::assert_snapshot!(sandbox.tract(&["import", &cold]), @r"
    --- stderr
    Nothing new in codex 01a1fe4f-33f9: 5 messages
    ");
    insta::assert_snapshot!(sandbox.tract(&["import", "sessions"]), @r"
    --- stderr
    Nothing new in codex 01a1fe4f-33f9: 5 messages
    ");
    // It goes on in a plain file again, and the compressed one beside it no longer counts.
    sandbox.write(&name, session.turn("three", "third").text());
    insta::assert_snapshot!(sandbox.tract(&["import", "sessions"]), @r"
    --- stderr
    Updated codex 01a1fe4f-33f9: 2 new commits, now 7 messages, on main
      records other than messages  9 records (-v lists them)
      not in the file              tool definitions
    ");
    assert_eq!(
        sent(&sandbox, "main").last().map(String::as_str),
        Some("third")
    );
}

#[test]
fn a_compressed_file_that_ends_early_brings_in_what_is_whole() {
    let sandbox = Sandbox::empty();
    let mut session = parent();
    // Enough that some of it is whole: a frame is made of blocks.
    for at in 0..900 {
        session = session.turn(&format!("question {at}"), &format!("answer {at}"));
    }
    let name = format!("{}.zst", session.name(1));
    let whole = packed(&session.text());
    sandbox.write(&name, &whole[..whole.len() / 2]);
    insta::assert_snapshot!(sandbox.tract(&["import", &name]), @r"
    exit code: 3
    --- stderr
    Made a repository in .tract
    Imported codex 01a1fe4f-33f9: 355 messages, on main
      records other than messages  530 records (-v lists them)
      not in the file              tool definitions
    note: sessions/2026/01/02/rollout-2026-01-02T03-01-00-01a1fe4f-33f9-7941-9c3c-4fe4330026ba.jsonl.zst:886: the last line is torn
    problem: sessions/2026/01/02/rollout-2026-01-02T03-01-00-01a1fe4f-33f9-7941-9c3c-4fe4330026ba.jsonl.zst: the compressed file ends early or is damaged (incomplete frame); what is whole of it is read
    ");
    let strict = Sandbox::empty();
    strict.write(&name, &whole[..whole.len() / 2]);
    insta::assert_snapshot!(strict.tract(&["import", "--strict", &name]), @r"
    exit code: 3
    --- stderr
    problem: sessions/2026/01/02/rollout-2026-01-02T03-01-00-01a1fe4f-33f9-7941-9c3c-4fe4330026ba.jsonl.zst: the compressed file ends early or is damaged (incomplete frame); what is whole of it is read
    error: 1 problem in sessions/2026/01/02/rollout-2026-01-02T03-01-00-01a1fe4f-33f9-7941-9c3c-4fe4330026ba.jsonl.zst; nothing was imported
    hint: without --strict, the good part comes in and the problems are listed
    ");
    // Once it is whole, what was missing comes in.
    sandbox.write(&name, &whole);
    insta::assert_snapshot!(sandbox.tract(&["import", &name]), @r"
    --- stderr
    Updated codex 01a1fe4f-33f9: 1,450 new commits, now 1,805 messages, on main
      records other than messages  2,706 records (-v lists them)
      not in the file              tool definitions
    ");
    assert_eq!(sent(&sandbox, "main").len(), 1 + 4 + 1800);
    // Of one that has not even a line there is nothing to read.
    sandbox.write("nothing.jsonl.zst", &whole[..6]);
    insta::assert_snapshot!(sandbox.tract(&["import", "nothing.jsonl.zst"]), @r"
    exit code: 3
    --- stderr
    error: nothing.jsonl.zst: nothing in the compressed file is whole
    hint: the file ends in the middle: copy it again from where it was written
    ");
}

#[test]
fn compressed_sessions_of_this_directory_are_listed_and_named_by_their_ids() {
    let sandbox = Sandbox::new();
    let mut session = Rollout::with(PARENT, 0, json!({"cwd": sandbox.work()}));
    session = session.turn("one", "first");
    let folder = sandbox.home().join(".codex/sessions/2026/01/02");
    std::fs::create_dir_all(&folder).expect("made");
    let name = format!("rollout-2026-01-02T03-04-05-{PARENT}.jsonl.zst");
    std::fs::write(folder.join(name), packed(&session.text())).expect("written");
    let listed = sandbox.tract(&["import"]);
    let listed: Vec<&str> = listed
        .lines()
        .filter(|line| !line.contains("hint"))
        .collect();
    assert!(
        listed[1].starts_with("01a1fe4f") && listed[1].contains(" 3 "),
        "{listed:?}"
    );
    assert!(sandbox.ok(&["import", "01a1fe4f"]).is_empty());
    assert_eq!(sent(&sandbox, "main"), ["Be brief.", "one", "first"]);
}

/// A fork of the parent after its first turn.
fn fork() -> Rollout {
    Rollout::based(FORK, &parent(), 6).turn("else", "otherwise")
}

const FORKED: [&str; 5] = ["Be brief.", "one", "first", "else", "otherwise"];

#[test]
fn a_fork_starts_at_its_parents_commit() {
    let sandbox = Sandbox::empty();
    sandbox.write("parent.jsonl", parent().text());
    sandbox.write("fork.jsonl", fork().text());
    sandbox.ok(&["import", "parent.jsonl"]);
    insta::assert_snapshot!(sandbox.tract(&["import", "fork.jsonl"]), @r"
    --- stderr
    Imported codex 01a1fe4f-5dc7: 5 messages, on codex-01a1fe4f-5dc7
      records other than messages  3 records (-v lists them)
      not in the file              tool definitions
    hint: HEAD stayed where it was; to look: tract --on codex-01a1fe4f-5dc7 status
    ");
    assert_eq!(sent(&sandbox, "codex-01a1fe4f-5dc7"), FORKED);
    insta::assert_snapshot!(sandbox.tract(&["diff", "--stat", "main", "codex-01a1fe4f-5dc7"]), @r"
    comparing main with codex-01a1fe4f-5dc7

    - :4  user       two       | -5 -----
    - :5  assistant  second    | -5 -----
    + :4  user       else      | +5 +++++
    + :5  assistant  otherwise | +5 +++++

    2 messages added, 2 removed, tokens: 0 (30 → 30)
    cache   first 3 of 5 messages identical (20 tokens, 67%; 150 B for openai)
            first difference: :4 (main d27e79f, codex-01a1fe4f-5dc7 052a6ca)
    ");
    let shared = sandbox.ok(&["log", "main", "--format", "%H"]);
    let of_fork = sandbox.ok(&["log", "codex-01a1fe4f-5dc7", "--format", "%H"]);
    let shared: Vec<&str> = shared.lines().collect();
    let of_fork: Vec<&str> = of_fork.lines().collect();
    assert_eq!(shared[2..], of_fork[2..]);
    insta::assert_snapshot!(sandbox.tract(&["import", "fork.jsonl"]), @r"
    --- stderr
    Nothing new in codex 01a1fe4f-5dc7: 5 messages
    ");
    let told = sandbox.tract(&["resume"]);
    assert!(
        told.contains("hint: codex resume --last and its list show it once"),
        "{told}"
    );
    insta::assert_snapshot!(sandbox.tract(&["fsck"]), @r"
    --- stderr
    Checked 7 messages, 7 commits, 2 session files and 4 refs: no damage
    ");
}

/// The id by which the client knows the second file of the parent, in which it goes on after a revert.
const SEGMENT: &str = "01a1fe4f-7c46-78b2-8365-f01f6a2ed6f7";

#[test]
fn a_fork_of_a_reverted_session_names_one_of_its_files() {
    let segment = Rollout::based(PARENT, &parent(), 6).turn("again", "anew");
    let name = segment
        .name(2)
        .replace(PARENT, &format!("{PARENT}_{SEGMENT}"));
    let fork = Rollout::based(FORK, &segment, segment.next()).turn("else", "otherwise");
    let named = |id: &str| format!(r#""thread_id":"{id}""#);
    let text = fork.text().replace(&named(PARENT), &named(SEGMENT));
    assert!(text.contains(SEGMENT), "{text}");
    let whole = [
        "Be brief.",
        "one",
        "first",
        "again",
        "anew",
        "else",
        "otherwise",
    ];
    // Alone it says which session to import, and has its past once that is here.
    let sandbox = Sandbox::empty();
    sandbox.write("fork.jsonl", &text);
    let told = sandbox.tract(&["import", "fork.jsonl"]);
    let hint = format!("hint: its beginning is in session {PARENT}: import that one");
    assert!(told.contains(&hint), "{told}");
    sandbox.write(&parent().name(1), parent().text());
    sandbox.write(&name, segment.text());
    sandbox.ok(&["import", "sessions"]);
    sandbox.ok(&["import", "fork.jsonl"]);
    assert_eq!(sent(&sandbox, "main"), whole);
    // Beside the session's files it takes them along, in whatever order.
    let sandbox = Sandbox::empty();
    sandbox.write(&parent().name(1), parent().text());
    sandbox.write(&name, segment.text());
    sandbox.write(&fork.name(3), &text);
    sandbox.ok(&["import", &fork.name(3)]);
    let branches = sandbox.ok(&["branch"]);
    let of_fork = if branches.contains("codex-01a1fe4f-5dc7") {
        "codex-01a1fe4f-5dc7"
    } else {
        "sessions/codex/01a1fe4f-5dc7-7792-ac9d-9868cb0e7a01"
    };
    assert_eq!(sent(&sandbox, of_fork), whole, "{branches}");
}

#[test]
fn a_fork_without_its_parent_says_so_and_has_its_beginning_once_that_is_here() {
    let sandbox = Sandbox::empty();
    sandbox.write("fork.jsonl", fork().text());
    insta::assert_snapshot!(sandbox.tract(&["import", "fork.jsonl"]), @r"
    --- stderr
    Made a repository in .tract
    Imported codex 01a1fe4f-5dc7: 3 messages, on main
      records other than messages  3 records (-v lists them)
      not in the file              its first 6 records, of session 01a1fe4f-33f9-7941-9c3c-4fe4330026ba, which is not here, tool definitions
    hint: its beginning is in session 01a1fe4f-33f9-7941-9c3c-4fe4330026ba: import that one, then this one again
    ");
    assert_eq!(sent(&sandbox, "main"), ["Be brief.", "else", "otherwise"]);
    sandbox.write("parent.jsonl", parent().text());
    sandbox.ok(&["import", "parent.jsonl"]);
    insta::assert_snapshot!(sandbox.tract(&["import", "fork.jsonl"]), @r"
    --- stderr
    Updated codex 01a1fe4f-5dc7: 2 new commits, now 5 messages, on main
      records other than messages  3 records (-v lists them)
      not in the file              tool definitions
    ");
    assert_eq!(sent(&sandbox, "main"), FORKED);
    insta::assert_snapshot!(sandbox.tract(&["import", "fork.jsonl"]), @r"
    --- stderr
    Nothing new in codex 01a1fe4f-5dc7: 5 messages
    ");
}

#[test]
fn a_fork_from_beyond_its_parents_end_says_what_is_missing() {
    let sandbox = Sandbox::empty();
    let whole = parent();
    let fork = Rollout::based(FORK, &whole, whole.next()).turn("else", "otherwise");
    sandbox.write(
        "parent.jsonl",
        Rollout::new(PARENT).turn("one", "first").text(),
    );
    sandbox.write("fork.jsonl", fork.text());
    sandbox.ok(&["import", "parent.jsonl"]);
    insta::assert_snapshot!(sandbox.tract(&["import", "fork.jsonl"]), @r"
    --- stderr
    Imported codex 01a1fe4f-5dc7: 5 messages, on codex-01a1fe4f-5dc7
      records other than messages  3 records (-v lists them)
      not in the file              records 6 to 10 of session 01a1fe4f-33f9-7941-9c3c-4fe4330026ba, which is here only so far, tool definitions
    hint: where the file of session 01a1fe4f-33f9-7941-9c3c-4fe4330026ba has grown, import it, then this one again
    hint: HEAD stayed where it was; to look: tract --on codex-01a1fe4f-5dc7 status
    ");
    assert_eq!(sent(&sandbox, "codex-01a1fe4f-5dc7"), FORKED);
    // The parent's file was a copy, taken too early.
    sandbox.write("parent.jsonl", whole.text());
    sandbox.ok(&["import", "parent.jsonl"]);
    insta::assert_snapshot!(sandbox.tract(&["import", "fork.jsonl"]), @r"
    --- stderr
    Updated codex 01a1fe4f-5dc7: 2 new commits, now 7 messages, on codex-01a1fe4f-5dc7
      records other than messages  3 records (-v lists them)
      not in the file              tool definitions
    hint: HEAD stayed where it was; to look: tract --on codex-01a1fe4f-5dc7 status
    ");
    let all = [
        "Be brief.",
        "one",
        "first",
        "two",
        "second",
        "else",
        "otherwise",
    ];
    assert_eq!(sent(&sandbox, "codex-01a1fe4f-5dc7"), all);
}

#[test]
fn forks_of_forks_come_in_in_any_order() {
    const THIRD: &str = "01a1fe4f-9c5b-78b2-9ec5-3f1a68e173f6";
    let fork = fork();
    let third = Rollout::based(THIRD, &fork, fork.next()).turn("more", "still");
    let texts = [parent().text(), fork.text(), third.text()];
    let names = ["1.jsonl", "2.jsonl", "3.jsonl"];
    let mut tips = Vec::new();
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
        let sandbox = Sandbox::new();
        sandbox.ok(&["commit", "-r", "user", "-m", "before"]);
        for (name, text) in names.iter().zip(&texts) {
            sandbox.write(name, text);
        }
        let mut words = vec!["import"];
        words.extend(order.map(|at| names[at]));
        sandbox.ok(&words);
        let mut lines = sandbox.ok(&["log", &format!("codex/{THIRD}"), "--format", "%H %s"]);
        lines.retain(|c| c != '"');
        assert_eq!(lines.lines().count(), 7, "{order:?} {lines}");
        tips.push(lines);
    }
    assert!(tips.iter().all(|tip| *tip == tips[0]), "{tips:?}");
}

#[test]
fn a_session_that_goes_on_in_a_second_file_leaves_what_was_taken_back_beside_it() {
    let first = parent();
    let second = Rollout::based(PARENT, &first, 6).turn("instead", "done");
    let kept = ["Be brief.", "one", "first", "instead", "done"];
    for order in [["1.jsonl", "2.jsonl"], ["2.jsonl", "1.jsonl"]] {
        let sandbox = Sandbox::empty();
        sandbox.write("1.jsonl", first.text());
        sandbox.write("2.jsonl", second.text());
        sandbox.ok(&["import", order[0]]);
        let told = sandbox.tract(&["import", order[1]]);
        if order[0] == "1.jsonl" {
            insta::assert_snapshot!(told, @r"
            --- stderr
            Updated codex 01a1fe4f-33f9: 2 new commits, now 5 messages, on main
              further branches             main/leaf-1
              records other than messages  3 records (-v lists them)
              not in the file              tool definitions
            ");
            insta::assert_snapshot!(sandbox.tract(&["branch"]), @r"
            * main         18bdd9a  2026-01-02 03:00:10  30 tokens  codex  one
              main/leaf-1  a9f169c  2026-01-02 03:00:09  30 tokens  codex  one
            ");
        } else {
            insta::assert_snapshot!(told, @r"
            --- stderr
            Updated codex 01a1fe4f-33f9: 5 new commits, now 5 messages, on main
              further branches             main/leaf-1
              records other than messages  6 records (-v lists them)
              not in the file              tool definitions
            ");
            sandbox.ok(&["import", "2.jsonl"]);
        }
        assert_eq!(sent(&sandbox, "main"), kept, "{order:?}");
        let taken_back = ["Be brief.", "one", "first", "two", "second"];
        assert_eq!(sent(&sandbox, "main/leaf-1"), taken_back, "{order:?}");
        // Again, nothing moves.
        let before = sandbox.tract(&["branch"]);
        for name in ["1.jsonl", "2.jsonl", "1.jsonl"] {
            assert!(
                sandbox.tract(&["import", name]).contains("Nothing new"),
                "{order:?} {name}"
            );
        }
        assert_eq!(sandbox.tract(&["branch"]), before, "{order:?}");
        // And it goes on.
        sandbox.write("2.jsonl", second.clone().turn("and", "on").text());
        sandbox.ok(&["import", "2.jsonl"]);
        assert_eq!(
            sent(&sandbox, "main").last().map(String::as_str),
            Some("on")
        );
        assert_eq!(sent(&sandbox, "main/leaf-1"), taken_back);
    }
}

#[test]
fn a_fork_made_before_its_parent_was_taken_back_has_what_was_taken_back() {
    let sandbox = Sandbox::empty();
    let first = parent();
    let second = Rollout::based(PARENT, &first, 6)
        .turn("instead", "done")
        .turn("and", "on");
    // Of both files there is a record of this number.
    let before = Rollout::based(FORK, &first, first.next()).turn("else", "otherwise");
    let after = Rollout::based(
        "01a1fe4f-9c5b-78b2-9ec5-3f1a68e173f6",
        &second,
        first.next(),
    );
    let after = after.turn("else", "otherwise");
    for (name, rollout) in [("1", &first), ("2", &second), ("3", &before), ("4", &after)] {
        sandbox.write(&format!("{name}.jsonl"), rollout.text());
        sandbox.ok(&["import", &format!("{name}.jsonl")]);
    }
    let old = sent(&sandbox, "codex/01a1fe4f-5dc7-7792-ac9d-9868cb0e7a01");
    assert_eq!(old[3..], ["two", "second", "else", "otherwise"]);
    let new = sent(&sandbox, "codex/01a1fe4f-9c5b-78b2-9ec5-3f1a68e173f6");
    assert_eq!(new[3..], ["instead", "done", "else", "otherwise"]);
}

/// A folder as the tool keeps its sessions, below the working directory.
fn keeps(sandbox: &Sandbox, minute: u32, rollout: &Rollout) -> String {
    let name = rollout.name(minute);
    sandbox.write(&name, rollout.text());
    name
}

#[test]
fn a_fork_brings_the_files_that_it_begins_with_and_head_is_on_the_fork() {
    let sandbox = Sandbox::empty();
    let first = parent();
    let second = Rollout::based(PARENT, &first, 6).turn("instead", "done");
    keeps(&sandbox, 1, &first);
    let segment = second
        .name(2)
        .replace(".jsonl", "_01a1fe4f-7c46-78b2-8365-f01f6a2ed6f7.jsonl");
    sandbox.write(&segment, second.text());
    let fork = Rollout::based(FORK, &second, second.next()).turn("else", "otherwise");
    let name = keeps(&sandbox, 3, &fork);
    insta::assert_snapshot!(sandbox.tract(&["import", &name]), @r"
    --- stderr
    Made a repository in .tract
    Imported codex 01a1fe4f-33f9: 5 messages, on codex-01a1fe4f
    Updated codex 01a1fe4f-33f9: 2 new commits, now 5 messages, on codex-01a1fe4f
    Imported codex 01a1fe4f-5dc7: 7 messages, on main
      records other than messages  3 records (-v lists them)
      not in the file              tool definitions
    ");
    insta::assert_snapshot!(sandbox.tract(&["branch"]), @r"
    * main                   c8ca0ca  2026-01-02 03:00:16  40 tokens  codex  one  forked from 01a1fe4f-33f9
      codex-01a1fe4f         18bdd9a  2026-01-02 03:00:10  30 tokens  one
      codex-01a1fe4f/leaf-1  a9f169c  2026-01-02 03:00:09  30 tokens  one
    ");
    assert_eq!(
        sent(&sandbox, "HEAD")[3..],
        ["instead", "done", "else", "otherwise"]
    );
    insta::assert_snapshot!(sandbox.tract(&["import", &name]), @r"
    --- stderr
    Nothing new in codex 01a1fe4f-5dc7: 7 messages
    ");
}

#[test]
fn sub_agents_come_in_with_their_parent_below_its_branch() {
    const CHILD: &str = "01a1fe4f-b943-7ec0-94c0-c69316822e36";
    const REVIEW: &str = "01a1fe52-dec3-7ea3-a5bd-62ced9d54c8b";
    let sandbox = Sandbox::empty();
    let mut session = parent();
    let call =
        json!({"type": "function_call", "name": "spawn_agent", "arguments": "{}", "call_id": "c1"});
    session.record("response_item", call);
    let item = json!({"type": "CollabAgentToolCall", "id": "c1", "receiver_thread_ids": [CHILD]});
    session.record(
        "event_msg",
        json!({"type": "item_completed", "thread_id": PARENT, "item": item}),
    );
    let output = json!({"agent_id": CHILD}).to_string();
    let output = json!({"type": "function_call_output", "call_id": "c1", "output": output});
    session.record("response_item", output);
    let item = json!({"type": "UserMessage", "id": "i"});
    session.record(
        "event_msg",
        json!({"type": "item_completed", "thread_id": REVIEW, "item": item}),
    );
    let name = keeps(&sandbox, 1, &session);
    let more = json!({"parent_thread_id": PARENT, "source": {"subagent": "review"}});
    keeps(
        &sandbox,
        2,
        &Rollout::with(REVIEW, 0, more.clone()).turn("review", "fine"),
    );
    keeps(
        &sandbox,
        3,
        &Rollout::with(CHILD, 0, more).turn("count", "three"),
    );
    insta::assert_snapshot!(sandbox.tract(&["import", &name]), @r"
    --- stderr
    Made a repository in .tract
    Imported codex 01a1fe4f-33f9: 7 messages, 2 sub-agents, on main
      records other than messages  8 records (-v lists them)
      not in the file              tool definitions
    ");
    insta::assert_snapshot!(sandbox.tract(&["branch"]), @r"
    * main                                             321ceba  2026-01-02 03:00:13  68 tokens  codex  one
      main/agent-01a1fe4f-b943-7ec0-94c0-c69316822e36  9ff058d  2026-01-02 03:00:04  20 tokens  codex  count
      main/agent-01a1fe52-dec3-7ea3-a5bd-62ced9d54c8b  72287a0  2026-01-02 03:00:04  20 tokens  codex  review
    ");
    assert_eq!(
        sent(&sandbox, &format!("main/agent-{CHILD}"))[1..],
        ["count", "three"]
    );
    // Where all of a folder comes in, too: HEAD is on no sub-agent.
    let other = Sandbox::empty();
    keeps(&other, 1, &session);
    for (minute, id) in [(2, REVIEW), (3, CHILD)] {
        let more = json!({"parent_thread_id": PARENT});
        keeps(
            &other,
            minute,
            &Rollout::with(id, 0, more).turn("count", "three"),
        );
    }
    other.ok(&["import", "sessions"]);
    insta::assert_snapshot!(other.tract(&["branch"]), @r"
    * main                                             321ceba  2026-01-02 03:00:13  68 tokens  codex  one
      main/agent-01a1fe4f-b943-7ec0-94c0-c69316822e36  9ff058d  2026-01-02 03:00:04  20 tokens  codex  count
      main/agent-01a1fe52-dec3-7ea3-a5bd-62ced9d54c8b  9ff058d  2026-01-02 03:00:04  20 tokens  codex  count
    ");
}

/// Sessions of one minute begin alike. Where one is, its branch may not be: on a clone's side, or under another name.
#[test]
fn a_session_takes_no_branch_that_is_called_like_another() {
    let sandbox = Sandbox::with_messages(&[("user", "Hello.")]);
    let [one, other] = [PARENT, FORK].map(|id| Rollout::new(id).turn(id, "first"));
    for session in [&one, &other] {
        sandbox.write(&session.name(1), session.text());
        sandbox.ok(&["import", &session.name(1)]);
    }
    let branches = |here: &str| -> Vec<String> {
        let told = sandbox.ok(&["--repo", here, "branch"]);
        let names = told.lines().filter_map(|line| line[2..].split(' ').next());
        names.map(str::to_owned).collect()
    };
    let [short, more] = ["codex-01a1fe4f", "codex-01a1fe4f-5dc7"].map(str::to_owned);
    let named = branches(".");
    assert!(named.contains(&short), "{named:?}");
    assert!(named.contains(&more), "{named:?}");
    sandbox.ok(&["clone", ".", "../clone"]);
    let grown = other.turn("more", "second");
    sandbox.write(&grown.name(1), grown.text());
    sandbox.ok(&["--repo", "../clone", "import", &grown.name(1)]);
    let cloned = branches("../clone");
    assert!(cloned.contains(&more), "{cloned:?}");
    sandbox.ok(&["branch", "-m", "codex-01a1fe4f", "mine"]);
    let third = Rollout::new("01a1fe4f-7777-7792-ac9d-9868cb0e7a01").turn("three", "third");
    sandbox.write(&third.name(1), third.text());
    sandbox.ok(&["import", &third.name(1)]);
    let named = branches(".");
    assert!(named.contains(&short.replace("4f", "4f-7777")), "{named:?}");
    assert!(!named.contains(&short), "{named:?}");
}
