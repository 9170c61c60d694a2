//! Codex's files as it keeps them now: compressed ones, forks that hold only what is new, sessions that
//! go on in a second file, sub-agents beside their parent.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Ids as the tool makes them: of one minute, so that they begin alike.
pub const PARENT: &str = "01a1fe4f-33f9-7941-9c3c-4fe4330026ba";

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
      no messages, kept      6 records (-v lists them)
      not in the file        tool definitions
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
      no messages, kept      9 records (-v lists them)
      not in the file        tool definitions
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
      no messages, kept      530 records (-v lists them)
      not in the file        tool definitions
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
      no messages, kept      2,706 records (-v lists them)
      not in the file        tool definitions
    ");
    assert_eq!(sent(&sandbox, "main").len(), 1 + 4 + 1800);
    // Of one that has not even a line there is nothing to read.
    sandbox.write("nothing.jsonl.zst", &whole[..6]);
    insta::assert_snapshot!(sandbox.tract(&["import", "nothing.jsonl.zst"]), @r"
    exit code: 3
    --- stderr
    error: nothing.jsonl.zst: nothing in the compressed file is whole
    hint: copy it again from where it was written: it ends in the middle
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
        listed[0].starts_with("01a1fe4f") && listed[0].contains("3 messages"),
        "{listed:?}"
    );
    assert!(sandbox.ok(&["import", "01a1fe4f"]).is_empty());
    assert_eq!(sent(&sandbox, "main"), ["Be brief.", "one", "first"]);
}
