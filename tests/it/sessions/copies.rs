//! A copy of a session, by a fork or a resume, owns nothing of what it shares: cost, name and requests are the original's.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::sessions::codex_files::Rollout;

const REQUESTS: &str = include_str!("../../data/claude-code/requests.jsonl");

/// Ids of which each copy's stands before its original's, by name.
const ORIGINAL: &str = "9e2434f3-0000-4000-8000-000000000001";
const FORK: &str = "1f2434f3-0000-4000-8000-000000000002";

/// A conversation of Claude Code's in the session `id`.
struct Claude {
    id: &'static str,
    lines: Vec<Value>,
}

impl Claude {
    fn new(id: &'static str) -> Self {
        Self {
            id,
            lines: Vec::new(),
        }
    }

    /// So many turns more; each reply was counted.
    fn turns(mut self, count: usize) -> Self {
        for _ in 0..2 * count {
            let number = self.lines.len();
            let is_user = number.is_multiple_of(2);
            let role = if is_user { "user" } else { "assistant" };
            let parent = self.lines.last().map(|last| last["uuid"].clone());
            let content = json!([{"type": "text", "text": format!("{} says {number}", self.id)}]);
            let mut message = json!({"role": role, "content": content});
            if !is_user {
                message["id"] = json!(format!("msg_{}_{number}", self.id));
                message["model"] = json!("claude-opus-4-5-20251101");
                message["usage"] = json!({"input_tokens": 1_000 + number, "output_tokens": 100});
            }
            self.lines.push(json!({
                "type": role, "uuid": format!("{}-{number}", self.id), "parentUuid": parent, "sessionId": self.id,
                "cwd": "/p/shop", "version": "2.1.332", "isSidechain": false,
                "timestamp": format!("2026-11-28T10:00:{number:02}.000Z"), "message": message,
            }));
        }
        self
    }

    /// The client's own fork of it: each record says of which it is a copy.
    fn branched(&self, id: &'static str) -> Self {
        let copy = |line: &Value| {
            let mut line = line.clone();
            line["forkedFrom"] = json!({"sessionId": self.id, "messageUuid": line["uuid"]});
            line["sessionId"] = json!(id);
            line
        };
        let lines = self.lines.iter().map(copy).collect();
        Self { id, lines }
    }

    /// The same by `--fork-session`, which says nothing, and begins with a record of its own.
    fn forked(&self, id: &'static str) -> Self {
        let mut fork = self.branched(id);
        for line in &mut fork.lines {
            line.as_object_mut()
                .expect("an object")
                .remove("forkedFrom");
        }
        fork
    }

    fn title(&self, title: &str) -> String {
        let titled = json!({"type": "custom-title", "customTitle": title, "sessionId": self.id});
        format!("{}{titled}\n", self.text())
    }

    /// What the client writes first.
    fn begun(&self, time: &str) -> String {
        let begun = json!({"type": "queue-operation", "operation": "enqueue", "timestamp": time, "sessionId": self.id});
        format!("{begun}\n{}", self.text())
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn put(&self, sandbox: &Sandbox, text: &str) -> PathBuf {
        let path = sandbox
            .home()
            .join(format!(".claude/projects/-p-shop/{}.jsonl", self.id));
        fs::create_dir_all(path.parent().expect("it has one")).expect("made");
        fs::write(&path, text).expect("written");
        path
    }
}

/// What a session has cost, by how many replies.
fn replies(sandbox: &Sandbox, session: &str) -> Option<String> {
    let cost = sandbox.ok(&["cost"]);
    let line = cost.lines().find(|line| line.contains(session))?;
    line.split_whitespace().nth(1).map(str::to_owned)
}

/// Imports files, the first one first, in both orders; then asks.
fn in_both_orders(files: [(&Claude, String); 2], ask: &dyn Fn(&Sandbox)) {
    for is_turned in [false, true] {
        let sandbox = Sandbox::new();
        let mut paths = files
            .each_ref()
            .map(|(session, text)| session.put(&sandbox, text));
        if is_turned {
            paths.reverse();
        }
        for path in paths {
            sandbox.ok(&["import", &path.display().to_string()]);
        }
        ask(&sandbox);
    }
}

#[test]
fn a_resumed_session_takes_no_cost_from_its_original() {
    let sandbox = Sandbox::new();
    let original = Claude::new(ORIGINAL).turns(3);
    original.put(&sandbox, &original.title("Count the sacks"));
    sandbox.ok(&["import", "--all"]);
    // Whatever ids are drawn, some stand before the original's and some behind.
    for _ in 0..4 {
        sandbox.ok(&["resume", "--in", "claude-code"]);
        sandbox.ok(&["resume", "--in", "codex"]);
    }
    sandbox.ok(&["import", "--all"]);
    assert_eq!(replies(&sandbox, "9e2434f3").as_deref(), Some("3"));
    assert_eq!(replies(&sandbox, "total").as_deref(), Some("3"));
    let clients = sandbox.ok(&["cost", "--by", "client"]);
    assert!(!clients.contains("codex"), "{clients}");
    let branches = sandbox.ok(&["branch"]);
    assert_eq!(
        branches.matches("resumed from 9e2434f3").count(),
        8,
        "{branches}"
    );
    let own = branches
        .lines()
        .find(|line| line.starts_with("* main"))
        .expect("it is there");
    assert!(
        own.contains("Count the sacks") && !own.contains("from"),
        "{own}"
    );
}

#[test]
fn a_fork_leaves_its_parent_its_name_and_its_cost() {
    let parent = Claude::new(ORIGINAL).turns(2);
    let side = parent.branched(FORK).turns(1);
    let files = [
        (&parent, parent.title("The parent")),
        (&side, side.title("The fork")),
    ];
    in_both_orders(files, &|sandbox| {
        let branches = sandbox.ok(&["branch"]);
        assert!(branches.contains("The parent"), "{branches}");
        assert!(branches.contains("The fork"), "{branches}");
        assert_eq!(replies(sandbox, "9e2434f3").as_deref(), Some("2"));
        assert_eq!(replies(sandbox, "1f2434f3").as_deref(), Some("1"));
    });
    // Where both are called alike, the list says which one is the copy.
    let files = [
        (&parent, parent.title("One name")),
        (&side, side.title("One name")),
    ];
    in_both_orders(files, &|sandbox| {
        let branches = sandbox.ok(&["branch"]);
        assert_eq!(
            branches.matches("forked from 9e2434f3").count(),
            1,
            "{branches}"
        );
    });
}

#[test]
fn what_was_taken_back_before_a_fork_is_its_parents() {
    let before = Claude::new(ORIGINAL).turns(2);
    let mut parent = before.turns(1);
    // The last turn is another one than that which stands before it.
    let again = parent.lines[0]["uuid"].clone();
    let last = parent.lines.len() - 2;
    parent.lines[last]["parentUuid"] = again;
    let side = parent.branched(FORK).turns(1);
    let files = [(&parent, parent.text()), (&side, side.text())];
    in_both_orders(files, &|sandbox| {
        assert_eq!(replies(sandbox, "total").as_deref(), Some("4"));
        assert_eq!(replies(sandbox, "1f2434f3").as_deref(), Some("1"));
    });
}

#[test]
fn of_two_sessions_that_say_nothing_of_each_other_the_older_one_made_it() {
    let parent = Claude::new(ORIGINAL).turns(2);
    let side = parent.forked(FORK).turns(1);
    let files = [
        (&parent, parent.begun("2026-11-28T09:59:59.000Z")),
        (&side, side.begun("2026-11-28T11:00:00.000Z")),
    ];
    in_both_orders(files, &|sandbox| {
        assert_eq!(replies(sandbox, "9e2434f3").as_deref(), Some("2"));
        assert_eq!(replies(sandbox, "1f2434f3").as_deref(), Some("1"));
    });
}

#[test]
fn a_fork_of_a_compacted_session_pays_for_its_own_replies_alone() {
    let parent = Claude::new(ORIGINAL).turns(3);
    let mut side = parent.branched(FORK);
    // Of what was before the compaction it has no copies.
    side.lines.drain(..2);
    side.lines[0]["parentUuid"] = Value::Null;
    let side = side.turns(1);
    let files = [(&parent, parent.text()), (&side, side.text())];
    in_both_orders(files, &|sandbox| {
        assert_eq!(replies(sandbox, "total").as_deref(), Some("4"));
        assert_eq!(replies(sandbox, "9e2434f3").as_deref(), Some("3"));
        assert_eq!(replies(sandbox, "1f2434f3").as_deref(), Some("1"));
        // What messages have cost comes to the same.
        let messages = sandbox.ok(&["cost", "--by", "message", "-n", "0"]);
        let (all, own) = (total(&sandbox.ok(&["cost"])), total(&messages));
        assert_eq!(all, own);
    });
}

/// A fork of Codex's whose parent was compacted: it holds copies of what was kept, with times of its own.
#[test]
fn a_copy_with_times_of_its_own_is_paid_for_once() {
    const PARENT: &str = "01a1fe4f-33f9-7941-9c3c-4fe4330026ba";
    const SIDE: &str = "01a1f04f-11f9-7941-9c3c-4fe4330026bb";
    let turn = |rollout: &mut Rollout, prompt: &str, answer: &str, input: u64| {
        rollout.record("event_msg", json!({"type": "task_started", "turn_id": "t"}));
        let settings = json!({"turn_id": "t", "cwd": "/p", "model": "gpt-5.1-codex"});
        rollout.record("turn_context", settings);
        rollout.says("user", "input_text", prompt);
        rollout.says("assistant", "output_text", answer);
        let usage = json!({"input_tokens": input, "cached_input_tokens": 0, "output_tokens": 50,
            "reasoning_output_tokens": 0, "total_tokens": input + 50});
        let info = json!({"total_token_usage": usage, "last_token_usage": usage});
        rollout.record("event_msg", json!({"type": "token_count", "info": info}));
        let complete = json!({"type": "task_complete", "turn_id": "t"});
        rollout.record("event_msg", complete);
    };
    let mut parent = Rollout::new(PARENT);
    turn(&mut parent, "one", "first", 1_000);
    turn(&mut parent, "two", "second", 2_000);
    // Of the first turn it has no copy.
    let mut side = Rollout::with(SIDE, 100, json!({"forked_from_id": PARENT}));
    turn(&mut side, "two", "second", 2_000);
    turn(&mut side, "else", "third", 3_000);
    for order in [[&parent, &side], [&side, &parent]] {
        let sandbox = Sandbox::new();
        for (number, rollout) in order.into_iter().enumerate() {
            let name = sandbox.write(&rollout.name(number as u32), rollout.text());
            sandbox.ok(&["import", &name.display().to_string()]);
        }
        let cost = sandbox.ok(&["cost"]);
        let counts: Vec<&str> = cost
            .lines()
            .skip(1)
            .filter_map(|line| line.split_whitespace().nth(1))
            .collect();
        assert_eq!(counts, ["2", "1", "3"], "{cost}");
    }
}

/// Sessions whose replies were counted, each with a message that can be dropped and some that can be summed up.
const COUNTED: [(&str, &str); 6] = [
    (
        "claude.jsonl",
        include_str!("../../data/claude-code/parallel.jsonl"),
    ),
    ("codex.jsonl", include_str!("../../data/codex/plain.jsonl")),
    (
        "gemini.jsonl",
        include_str!("../../data/gemini/lines.jsonl"),
    ),
    (
        "opencode.json",
        include_str!("../../data/opencode/hidden.json"),
    ),
    ("pi.jsonl", include_str!("../../data/pi/plain.jsonl")),
    ("qwen.jsonl", include_str!("../../data/qwen/plain.jsonl")),
];

/// A repository that takes in what `resume` wrote in another one does not know whose copy that is. What the copy says
/// of its replies, whether all, some or nothing, leaves each to be paid for once, whichever of the files comes in first.
#[test]
fn what_resume_wrote_is_paid_for_once_where_nobody_knows_it() {
    let summed_up = &["compact", ":1..:2", "-m", "A summary."][..];
    for (name, text) in COUNTED {
        let mut changed = 0;
        for change in [&["drop", ":2"][..], summed_up, &["status"]] {
            let mine = Sandbox::new();
            mine.write(name, text);
            mine.ok(&["import", name]);
            let cost = total(&mine.ok(&["cost"]));
            let tip = mine.ok(&["log", "-n", "1", "--format", "%H"]);
            mine.tract(change);
            changed += u32::from(mine.ok(&["log", "-n", "1", "--format", "%H"]) != tip);
            mine.ok(&["resume"]);
            let copy = fs::read(newest_session(&mine)).expect("it wrote one");
            let copied = format!("copy-of-{name}");
            for order in [[name, &copied], [&copied, name]] {
                let yours = Sandbox::new();
                yours.write(name, text);
                yours.write(&copied, &copy);
                for file in order {
                    yours.ok(&["import", file]);
                }
                let both = total(&yours.ok(&["cost"]));
                assert_eq!(both, cost, "{change:?} {order:?}");
            }
        }
        assert!(changed > 0, "{name}");
    }
}

/// What `cost` says of each model of the only session of a repository of its own.
fn cost_alone(name: &str, text: &str) -> String {
    let sandbox = Sandbox::new();
    sandbox.write(name, text);
    sandbox.ok(&["import", name]);
    sandbox.ok(&["cost", "--by", "model"])
}

/// A session of Gemini CLI's whose replies were by these models, a turn in each list. The first prompt is told of before
/// any model.
fn by_models(turns: &[&[&str]]) -> String {
    let mut messages = Vec::new();
    let mut put = |mut message: Value| {
        let number = messages.len();
        message["id"] = json!(format!("m{number}"));
        message["timestamp"] = json!(format!("2026-03-01T10:00:{number:02}.000Z"));
        messages.push(message);
    };
    for (turn, models) in turns.iter().enumerate() {
        put(json!({"type": "user", "content": format!("Prompt {turn}.")}));
        for (number, model) in models.iter().enumerate() {
            let input = 1_000 * (turn + 1) + number;
            put(
                json!({"type": "gemini", "content": format!("Answer {turn}.{number}."), "model": model,
                "tokens": {"input": input, "output": 100, "cached": 0, "thoughts": 0, "tool": 0, "total": input + 100}}),
            );
        }
    }
    let session = json!({"sessionId": "7a1d2c3b-0000-4000-8000-000000000021", "projectHash": "aa",
        "startTime": "2026-03-01T10:00:00.000Z", "lastUpdated": "2026-03-01T11:00:00.000Z", "messages": messages});
    // The client writes a document over several lines.
    serde_json::to_string_pretty(&session).expect("JSON")
}

/// Gemini CLI and Claude Code say of a reply which model it is by; Codex says it before the turn.
#[test]
fn a_copy_in_codexs_form_has_each_replys_model() {
    const PRO: &str = "gemini-2.5-pro";
    const FLASH: &str = "gemini-2.5-flash";
    let gemini = by_models(&[&[PRO], &[FLASH], &[PRO, FLASH, PRO], &[FLASH]]);
    let mut claude = Claude::new(ORIGINAL).turns(3);
    claude.lines[3]["message"]["model"] = json!("claude-haiku-4-5-20251001");
    for line in claude.lines.iter_mut().skip(1).step_by(2) {
        let usage = &mut line["message"]["usage"];
        usage["cache_creation_input_tokens"] = json!(20_000);
        usage["cache_read_input_tokens"] = json!(3_000);
    }
    for (name, text) in [("gemini.json", gemini), ("claude.jsonl", claude.text())] {
        let cost = cost_alone(name, &text);
        assert!(cost.lines().count() == 4 && cost.contains('$'), "{cost}");
        let mine = Sandbox::new();
        mine.write(name, &text);
        mine.ok(&["import", name]);
        mine.ok(&["export", "--format", "codex", "-o", "copy.jsonl"]);
        let copy = fs::read_to_string(mine.work().join("copy.jsonl")).expect("it wrote one");
        assert_eq!(cost_alone("copy.jsonl", &copy), cost);
        for order in [[name, "copy.jsonl"], ["copy.jsonl", name]] {
            let yours = Sandbox::new();
            yours.write(name, &text);
            yours.write("copy.jsonl", &copy);
            for file in order {
                yours.ok(&["import", file]);
            }
            assert_eq!(yours.ok(&["cost", "--by", "model"]), cost, "{order:?}");
            if order[0] == name {
                assert_eq!(yours.ok(&["cost"]), mine.ok(&["cost"]));
            }
        }
    }
}

/// Where no file of the session is at hand, its records are written by what is known of each reply.
#[test]
fn a_count_that_is_written_anew_is_whole() {
    let mut original = Claude::new(ORIGINAL).turns(2);
    original.lines[1]["message"]["usage"] = json!({
        "input_tokens": 3, "cache_read_input_tokens": 2_000, "cache_creation_input_tokens": 60_000,
        "cache_creation": {"ephemeral_5m_input_tokens": 20_000, "ephemeral_1h_input_tokens": 40_000},
        "output_tokens": 700, "output_tokens_details": {"thinking_tokens": 400},
    });
    let cost = cost_alone("claude.jsonl", &original.text());
    let sandbox = Sandbox::new();
    sandbox.write("claude.jsonl", original.text());
    sandbox.ok(&["import", "claude.jsonl"]);
    let other = Sandbox::empty();
    let work = sandbox.work();
    other.ok(&["clone", work.to_str().expect("UTF-8"), "."]);
    other.ok(&["export", "-o", "copy.jsonl"]);
    let copy = fs::read_to_string(other.work().join("copy.jsonl")).expect("it wrote one");
    assert_eq!(cost_alone("copy.jsonl", &copy), cost);
    let usages = |text: &str| -> Vec<Value> {
        let records = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let usages = records.map(|record: Value| record["message"]["usage"].clone());
        usages.filter(Value::is_object).collect()
    };
    let [first, second] = &usages(&copy)[..] else {
        panic!("two replies: {copy}");
    };
    assert_eq!(*first, original.lines[1]["message"]["usage"]);
    for key in ["cache_creation", "output_tokens_details"] {
        assert!(second.get(key).is_none(), "{second}");
    }
}

/// The session file that a resume wrote into the folders of a tool.
pub fn newest_session(sandbox: &Sandbox) -> PathBuf {
    let mut folders = vec![sandbox.home()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.retain(|path| !path.ends_with("projects.json"));
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

/// Only the count of the newest reply is one by which a client makes room. Where something was hidden since, the copy
/// says nothing of that one, and all that is known of the others, under the names that they were paid by.
#[test]
fn a_resumed_session_says_what_its_replies_took_but_for_the_newest() {
    let sandbox = Sandbox::new();
    let mut original = Claude::new(ORIGINAL).turns(3);
    for (number, line) in original.lines.iter_mut().enumerate() {
        line["requestId"] = json!(format!("req_{number}"));
    }
    original.put(&sandbox, &original.text());
    sandbox.ok(&["import", "--all"]);
    sandbox.ok(&["drop", ":3"]);
    sandbox.ok(&["resume", "--in", "claude-code"]);
    let (_, text) = resumed(&sandbox);
    let records = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let replies: Vec<Value> = records
        .filter(|record: &Value| record["type"] == "assistant")
        .map(|record| record["message"].clone())
        .collect();
    let ids: Vec<&Value> = replies.iter().map(|reply| &reply["id"]).collect();
    let own = |number: usize| &original.lines[number]["message"]["id"];
    assert_eq!(ids, [own(1), own(3), own(5)]);
    let input: Vec<&Value> = replies
        .iter()
        .map(|reply| &reply["usage"]["input_tokens"])
        .collect();
    assert_eq!(input, [&json!(1_001), &json!(1_003), &json!(0)]);
}

/// The last three columns of the sum.
fn total(cost: &str) -> Vec<String> {
    let line = cost
        .lines()
        .find(|line| line.starts_with("total"))
        .expect("a sum");
    line.split_whitespace().skip(2).map(str::to_owned).collect()
}

#[test]
fn a_copys_reply_has_its_request_in_the_session_that_it_names() {
    let mut lines: Vec<Value> = Vec::new();
    for line in REQUESTS.lines() {
        // Half of a pair is no text to everybody.
        let Ok(mut record) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let is_copied = matches!(record["type"].as_str(), Some("user" | "assistant"));
        if !is_copied {
            continue;
        }
        if !record["requestRef"].is_null() {
            record["requestSessionId"] = record["sessionId"].clone();
        }
        record["sessionId"] = json!(FORK);
        lines.push(record);
    }
    // It begins in the middle: no commit of it is one of its parent's.
    let first = lines
        .iter()
        .rposition(|record| record["type"] == "user")
        .expect("a prompt");
    let mut lines = lines.split_off(first);
    lines[0]["parentUuid"] = Value::Null;
    let text: String = lines.iter().map(|record| format!("{record}\n")).collect();
    let sandbox = Sandbox::new();
    sandbox.write("parent.jsonl", REQUESTS);
    sandbox.write(&format!("{FORK}.jsonl"), text);
    sandbox.tract(&["import", "parent.jsonl"]);
    let sent = sandbox.ok(&["compile", "--for", ":-1"]);
    sandbox.tract(&["import", &format!("{FORK}.jsonl")]);
    let copied = sandbox.ok(&["compile", "--for", "claude-code/1f2434f3:-1"]);
    assert_eq!(copied, sent);
}

/// What was said in a session that `resume` wrote is its own, though a fork of it begins with that.
#[test]
fn a_fork_of_a_resumed_session_leaves_it_what_it_made() {
    let sandbox = Sandbox::new();
    let original = Claude::new(ORIGINAL).turns(3);
    original.put(&sandbox, &original.text());
    sandbox.ok(&["import", "--all"]);
    sandbox.ok(&["resume", "--in", "claude-code"]);
    let (path, text) = resumed(&sandbox);
    let mut resumed = Claude::new(FORK);
    resumed.lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .filter(|line: &Value| line["uuid"].is_string())
        .collect();
    let id = id_of(&path);
    // Whoever goes on there, and the fork of that.
    let mut fork = Claude::new(FORK);
    fork.lines.clone_from(&resumed.lines);
    let copied = fork.lines.len();
    let fork = fork.turns(2);
    let mut own = text;
    for (at, line) in fork.lines.iter().enumerate().skip(copied).take(2) {
        let mut line = line.clone();
        line["sessionId"] = json!(id);
        line["uuid"] = json!(format!("{id}-{at}"));
        line["parentUuid"] = match at == copied {
            true => resumed.lines[copied - 1]["uuid"].clone(),
            false => json!(format!("{id}-{}", at - 1)),
        };
        own += &format!("{line}\n");
    }
    fs::write(&path, &own).expect("written");
    let mut forked = Claude::new(FORK);
    forked.lines = own
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .filter(|line: &Value| line["uuid"].is_string())
        .map(|mut line: Value| {
            line["forkedFrom"] = json!({"sessionId": id, "messageUuid": line["uuid"]});
            line["sessionId"] = json!(FORK);
            line
        })
        .collect();
    forked.put(&sandbox, &forked.text());
    sandbox.ok(&["import", "--all"]);
    assert_eq!(replies(&sandbox, "total").as_deref(), Some("4"));
    assert_eq!(replies(&sandbox, &ORIGINAL[..8]).as_deref(), Some("3"));
    assert_eq!(replies(&sandbox, &id[..8]).as_deref(), Some("1"));
    assert_eq!(replies(&sandbox, &FORK[..8]), None);
}

/// A session that was resumed from a fork began with what the fork made, however many forks that one is behind; also
/// after a purge has erased the fork's file, and once more from there.
#[test]
fn a_session_resumed_from_a_fork_leaves_it_what_it_made() {
    for is_purged in [false, true] {
        let sandbox = Sandbox::new();
        let original = Claude::new(ORIGINAL).turns(1);
        let fork = original.branched(FORK).turns(1);
        let third = "2a2434f3-0000-4000-8000-000000000003";
        let second = fork.branched(third).turns(2);
        for session in [&original, &fork, &second] {
            session.put(&sandbox, &session.text());
        }
        sandbox.ok(&["import", "--all"]);
        if is_purged {
            sandbox.ok(&["purge", "--match", &format!("{third} says 4"), "--force"]);
        }
        sandbox.ok(&[
            "resume",
            &format!("sessions/claude-code/{third}"),
            "--in",
            "claude-code",
        ]);
        sandbox.ok(&["import", "--all"]);
        let written = sandbox.texts("SELECT session FROM resumes");
        let session = format!("sessions/claude-code/{}", written[0]);
        sandbox.ok(&["resume", &session, "--in", "claude-code"]);
        sandbox.ok(&["import", "--all"]);
        for (session, count) in [(ORIGINAL, "1"), (FORK, "1"), (third, "2"), ("total", "4")] {
            let session = &session[..session.len().min(8)];
            assert_eq!(
                replies(&sandbox, session).as_deref(),
                Some(count),
                "{session} {is_purged}"
            );
        }
        for id in sandbox.texts("SELECT session FROM resumes") {
            assert_eq!(replies(&sandbox, &id[..8]), None, "{is_purged}");
        }
    }
}

/// A session that `resume` wrote begins with a summary, where its branch here begins with what was summed up. Whoever
/// pulls it knows that, too, and goes on with the file from there.
#[test]
fn a_resumed_session_that_was_pulled_goes_on_where_it_stood() {
    let (mine, yours) = (Sandbox::new(), Sandbox::new());
    let original = Claude::new(ORIGINAL).turns(3);
    original.put(&mine, &original.text());
    mine.ok(&["import", "--all"]);
    mine.ok(&["compact", ":1..:4", "-m", "A summary of it."]);
    mine.ok(&["resume", "--in", "claude-code"]);
    let (path, text) = resumed(&mine);
    let id = id_of(&path);
    let grown = |times: usize| {
        let mut text = text.clone();
        let lines = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        let mut ids = lines
            .map(|line: Value| line["uuid"].clone())
            .filter(Value::is_string);
        let mut parent = ids.next_back().expect("a message");
        for at in 0..times {
            let uuid = json!(format!("{id}-{at}"));
            let line = json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": id, "cwd": "/p/shop",
                "version": "2.1.332", "isSidechain": false, "timestamp": format!("2026-11-28T11:00:{at:02}.000Z"),
                "message": {"role": "user", "content": format!("More {at}.")}});
            text += &format!("{line}\n");
            parent = uuid;
        }
        text
    };
    let take_in = |sandbox: &Sandbox, times: usize| {
        sandbox.write(&format!("{id}.jsonl"), grown(times));
        sandbox.tract(&["import", &format!("{id}.jsonl")])
    };
    take_in(&mine, 1);
    yours.ok(&["remote", "add", "origin", &mine.place()]);
    yours.ok(&["pull", "--sources"]);
    let said = take_in(&yours, 2);
    assert!(said.contains("1 new commit,"), "{said}");
    let session = format!("sessions/claude-code/{id}");
    let before = format!("origin/{session}");
    let log = |rev: &str| yours.ok(&["log", rev, "--format", "%H"]);
    assert_eq!(log(&format!("{session}~1")), log(&before));
    assert_eq!(replies(&yours, &id[..8]), None);
}

/// The file of the session that `resume` wrote for Claude Code, the only one but the original, and its text.
fn resumed(sandbox: &Sandbox) -> (PathBuf, String) {
    let written = fs::read_dir(sandbox.home().join(".claude/projects")).expect("folders");
    let files =
        written.flat_map(|folder| fs::read_dir(folder.expect("a folder").path()).expect("files"));
    let path = files
        .map(|file| file.expect("a file").path())
        .find(|path| !path.display().to_string().contains(ORIGINAL))
        .expect("it wrote one");
    let text = fs::read_to_string(&path).expect("there");
    (path, text)
}

fn id_of(path: &std::path::Path) -> String {
    let name = path.file_stem().expect("a name").to_string_lossy();
    name.into_owned()
}

fn is_found(sandbox: &Sandbox, text: &str) -> bool {
    // What is like it is found, too.
    let found = sandbox.command(&["find", text]).output();
    String::from_utf8_lossy(&found.expect("it runs").stdout).contains(text)
}

/// What was erased in a session stays so in whatever began as a copy of it, and each keeps what it has paid for, though
/// nothing is left of the files that said whose copy it is.
#[test]
fn what_was_erased_stays_so_in_copies_and_leaves_each_its_cost() {
    let parent = Claude::new(ORIGINAL).turns(2);
    let side = parent.branched(FORK).turns(1);
    let erased = format!("{ORIGINAL} says 2");
    let is_found = |sandbox: &Sandbox| is_found(sandbox, &erased);
    for is_here_before in [false, true] {
        let sandbox = Sandbox::new();
        parent.put(&sandbox, &parent.text());
        sandbox.ok(&["import", "--all"]);
        sandbox.ok(&["resume", "--in", "claude-code"]);
        if is_here_before {
            side.put(&sandbox, &side.text());
            sandbox.ok(&["import", "--all"]);
        }
        assert!(is_found(&sandbox));
        sandbox.ok(&["purge", "--match", &erased, "--force"]);
        side.put(&sandbox, &side.text());
        let longer = parent.branched(FORK).turns(2);
        for side in [&side, &longer] {
            side.put(&sandbox, &side.text());
            sandbox.ok(&["import", "--all"]);
            assert!(!is_found(&sandbox));
        }
        assert_eq!(replies(&sandbox, "9e2434f3").as_deref(), Some("2"));
        assert_eq!(replies(&sandbox, "1f2434f3").as_deref(), Some("2"));
        assert_eq!(replies(&sandbox, "total").as_deref(), Some("4"));
        // A session of another kin says it anew.
        let other = Claude::new("77777777-0000-4000-8000-000000000003").turns(1);
        let text = other
            .text()
            .replace("77777777-0000-4000-8000-000000000003 says 0", &erased);
        other.put(&sandbox, &text);
        sandbox.ok(&["import", "--all"]);
        assert!(is_found(&sandbox));
    }
}

/// A fork of a fork names only that one. Where that never came in, the same message at the same moment behind the same
/// ones is the original's all the same.
#[test]
fn what_was_erased_stays_so_in_a_fork_of_what_never_came_in() {
    let sandbox = Sandbox::new();
    let original = Claude::new(ORIGINAL).turns(2);
    original.put(&sandbox, &original.text());
    sandbox.ok(&["import", "--all"]);
    let secret = format!("{ORIGINAL} says 2");
    sandbox.ok(&["purge", "--match", &secret, "--force"]);
    let never = original.branched(FORK).turns(1);
    let third = never
        .branched("2a2434f3-0000-4000-8000-000000000003")
        .turns(1);
    third.put(&sandbox, &third.text());
    sandbox.ok(&["import", "--all"]);
    assert!(!is_found(&sandbox, &secret));
    assert!(is_found(&sandbox, &format!("{ORIGINAL} says 3")));
}

/// A fork of a compacted session begins in the middle of it: what stands before a message there is another one.
#[test]
fn what_was_erased_stays_so_in_a_fork_that_begins_in_the_middle() {
    let sandbox = Sandbox::new();
    let parent = Claude::new(ORIGINAL).turns(3);
    parent.put(&sandbox, &parent.text());
    sandbox.ok(&["import", "--all"]);
    let secrets = [2, 4].map(|number| format!("{ORIGINAL} says {number}"));
    for secret in &secrets {
        sandbox.ok(&["purge", "--match", secret, "--force"]);
    }
    let mut side = parent.branched(FORK);
    side.lines.drain(..2);
    side.lines[0]["parentUuid"] = Value::Null;
    // What is said once more in the fork is its own.
    let side = side.turns(1);
    side.put(&sandbox, &side.text());
    sandbox.ok(&["import", "--all"]);
    for secret in &secrets {
        assert!(!is_found(&sandbox, secret), "{secret}");
    }
    assert!(is_found(&sandbox, &format!("{ORIGINAL} says 3")));
    assert!(is_found(&sandbox, &format!("{FORK} says")));
}

/// The same of Codex, which writes other times into a copy, and of a copy whose own original never came in.
#[test]
fn what_was_erased_stays_so_in_copies_with_times_of_their_own() {
    const PARENT: &str = "01a1fe4f-33f9-7941-9c3c-4fe4330026ba";
    const SIDE: &str = "01a1f04f-11f9-7941-9c3c-4fe4330026bb";
    const LAST: &str = "01a1f05f-11f9-7941-9c3c-4fe4330026bc";
    let talk = |rollout: &mut Rollout, more: &[&str]| {
        for prompt in ["one", "the sack of rye", "two"].iter().chain(more) {
            rollout.says("user", "input_text", prompt);
            rollout.says("assistant", "output_text", &format!("{prompt}, then"));
        }
    };
    let mut parent = Rollout::new(PARENT);
    talk(&mut parent, &[]);
    let mut side = Rollout::with(SIDE, 100, json!({"forked_from_id": PARENT}));
    talk(&mut side, &["three"]);
    let mut last = Rollout::with(LAST, 200, json!({"forked_from_id": SIDE}));
    // A copy of a copy has the records of both.
    last.record(
        "session_meta",
        json!({"id": SIDE, "forked_from_id": PARENT}),
    );
    talk(&mut last, &["three", "four"]);
    // Of a session that was compacted, a fork has no copy of the first messages.
    let mut middle = Rollout::with(SIDE, 100, json!({"forked_from_id": PARENT}));
    for prompt in ["the sack of rye", "two", "four"] {
        middle.says("user", "input_text", prompt);
        middle.says("assistant", "output_text", &format!("{prompt}, then"));
    }
    for copies in [vec![&side, &last], vec![&last], vec![&middle]] {
        let sandbox = Sandbox::new();
        let bring = |number: u32, rollout: &Rollout| {
            let name = sandbox.write(&rollout.name(number), rollout.text());
            sandbox.ok(&["import", &name.display().to_string()])
        };
        bring(0, &parent);
        sandbox.ok(&["purge", "--match", "sack of rye", "--force"]);
        for (number, copy) in copies.into_iter().enumerate() {
            bring(number as u32 + 1, copy);
        }
        assert!(!is_found(&sandbox, "sack of rye"));
        sandbox.ok(&["find", "four"]);
    }
    // What is said anew behind the copies is the fork's own, though its parent has said it later, too.
    let mut parent = Rollout::new(PARENT);
    for prompt in ["one", "two", "the sack of rye"] {
        parent.says("user", "input_text", prompt);
        parent.says("assistant", "output_text", &format!("{prompt}, then"));
    }
    let mut side = Rollout::with(SIDE, 100, json!({"forked_from_id": PARENT}));
    for prompt in ["one", "the sack of rye"] {
        side.says("user", "input_text", prompt);
        side.says("assistant", "output_text", &format!("{prompt}, then"));
    }
    let sandbox = Sandbox::new();
    for (number, rollout) in [&parent, &side].into_iter().enumerate() {
        let name = sandbox.write(&rollout.name(number as u32), rollout.text());
        sandbox.ok(&["import", &name.display().to_string()]);
        if number == 0 {
            sandbox.ok(&["purge", "--match", "sack of rye", "--force"]);
        }
    }
    assert!(is_found(&sandbox, "sack of rye"));
}

/// What a copy holds stays its original's after a purge that erased what the original said later.
#[test]
fn a_copy_of_a_session_that_was_purged_stays_one() {
    const PARENT: &str = "01a1fe4f-33f9-7941-9c3c-4fe4330026ba";
    const SIDE: &str = "01a1f04f-11f9-7941-9c3c-4fe4330026bb";
    let talk = |rollout: &mut Rollout, prompts: &[&str]| {
        for prompt in prompts {
            rollout.says("user", "input_text", prompt);
            rollout.says("assistant", "output_text", &format!("{prompt}, then"));
        }
    };
    let mut parent = Rollout::new(PARENT);
    talk(&mut parent, &["one", "two", "the sack of rye"]);
    let mut side = Rollout::with(SIDE, 100, json!({"forked_from_id": PARENT}));
    talk(&mut side, &["one", "two", "three"]);
    for is_known in [false, true] {
        let sandbox = Sandbox::empty();
        let bring = |number: u32, rollout: &Rollout| {
            let name = sandbox.write(&rollout.name(number), rollout.text());
            sandbox.ok(&["import", &name.display().to_string()])
        };
        sandbox.ok(&["init"]);
        bring(0, &parent);
        if is_known {
            bring(1, &side);
        }
        sandbox.ok(&["purge", "--match", "sack of rye", "--force"]);
        let mut grown = Rollout::with(SIDE, 100, json!({"forked_from_id": PARENT}));
        talk(&mut grown, &["one", "two", "three", "four"]);
        bring(1, &grown);
        let first = |session: &str| {
            let log = sandbox.ok(&["log", "-n", "0", &format!("refs/sessions/codex/{session}")]);
            log.lines().last().map(str::to_owned)
        };
        assert_eq!(first(SIDE), first(PARENT), "{is_known}");
    }
}

/// Times of whole seconds are shared by several replies, and short ones have equal counts.
#[test]
fn replies_of_one_second_are_as_many_after_their_export_came_back() {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/pi/plain.jsonl");
    let file = fs::read_to_string(data).expect("a fixture");
    let mut lines: Vec<Value> = file
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    for line in &mut lines {
        line["timestamp"] = json!("2026-03-02T08:00:01.000Z");
        if line["message"].is_object() {
            line["message"]["timestamp"] = json!(1_772_438_401_000_i64);
        }
    }
    let file: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let replies = |sandbox: &Sandbox| {
        let told = sandbox.ok(&["api", "cost", "{}"]);
        let told: Value = serde_json::from_str(told.trim()).expect("JSON");
        told["total"]["replies"].clone()
    };
    for format in ["opencode", "kilo", "ui-message", "otel", "gemini", "codex"] {
        let sandbox = Sandbox::new();
        sandbox.write("plain.jsonl", &file);
        sandbox.ok(&["import", "plain.jsonl"]);
        let before = replies(&sandbox);
        sandbox.ok(&["export", "--format", format, "-o", "other.json"]);
        sandbox.ok(&["import", "other.json"]);
        assert_eq!(replies(&sandbox), before, "{format}");
        sandbox.ok(&["import", "plain.jsonl"]);
        assert_eq!(replies(&sandbox), before, "{format}");
    }
}

/// A fork of pi's has the lines of its parent, those of requests that no reply shows among them.
#[test]
fn what_no_reply_shows_is_paid_for_once_though_a_fork_has_it() {
    let line = |at: u32, what: Value| {
        let mut line = json!({"id": format!("e{at}"), "parentId": (at > 1).then(|| format!("e{}", at - 1)),
            "timestamp": format!("2026-03-02T08:00:{at:02}.000Z")});
        let more = what.as_object().expect("fields").clone();
        line.as_object_mut().expect("fields").extend(more);
        format!("{line}\n")
    };
    let usage = |input: u32| json!({"input": input, "output": 5, "cacheRead": 0, "cacheWrite": 0});
    let said = |at: u32, role: &str, input: u32| {
        let content = json!([{"type": "text", "text": format!("{role} {at}")}]);
        let mut message = json!({"role": role, "content": content});
        if role == "assistant" {
            message["model"] = json!("claude-opus-4-5");
            message["usage"] = usage(input);
        }
        line(at, json!({"type": "message", "message": message}))
    };
    let other = |at: u32, input: u32| {
        let more = json!({"type": "usage", "model": "claude-opus-4-5", "usage": usage(input)});
        line(at, more)
    };
    let header = |id: &str, at: u32, parent: Option<&str>| {
        let header = json!({"type": "session", "version": 3, "id": id, "cwd": "/p",
            "timestamp": format!("2026-03-02T08:00:{at:02}.000Z"), "parentSession": parent});
        format!("{header}\n")
    };
    let [one, fork] = [ORIGINAL, FORK].map(|id| format!("2026-03-02T08-00-00-000Z_{id}.jsonl"));
    let shared = [said(1, "user", 0), said(2, "assistant", 10), other(3, 100)].concat();
    let own = [
        said(21, "user", 0),
        said(22, "assistant", 20),
        other(23, 1_000),
    ]
    .concat();
    let files = [
        (&one, header(ORIGINAL, 0, None) + &shared),
        (
            &fork,
            header(FORK, 20, Some(&format!("/s/{one}"))) + &shared + &own.replace("e20", "e3"),
        ),
    ];
    let input = |sandbox: &Sandbox, here: &str| {
        let told = sandbox.ok(&["--repo", here, "api", "cost", "{}"]);
        let told: Value = serde_json::from_str(told.trim()).expect("JSON");
        told["total"]["counted"]["input_tokens"].clone()
    };
    for order in [&[0, 1][..], &[1, 0], &[1]] {
        let sandbox = Sandbox::new();
        for at in order {
            let (name, text) = &files[*at];
            sandbox.write(name, text);
            sandbox.ok(&["import", name]);
        }
        assert_eq!(input(&sandbox, "."), 1_130, "{order:?}");
        sandbox.ok(&["clone", ".", "../clone"]);
        assert_eq!(input(&sandbox, "../clone"), 1_130, "{order:?}");
    }
}
