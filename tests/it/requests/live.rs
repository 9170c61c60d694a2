//! What `compile --for` gives beside the requests that the vendors' clients really sent: sessions that
//! they wrote while every request was recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::conditions::real_sessions;
use crate::requests::recorded::{Recorded, refs, requests};
use crate::sandbox::Sandbox;

/// The client's own context, which is made anew for each request and stands in no record.
const CONTEXT: &str = "As you answer the user's questions, you can use the following context:";

/// Messages in one shape of several that mean the same.
fn shapes(messages: &[Value], has_context: bool) -> Vec<Value> {
    let shaped = messages.iter().map(|message| {
        let blocks = match &message["content"] {
            Value::String(text) => vec![json!({"type": "text", "text": text})],
            Value::Array(blocks) => blocks.clone(),
            _ => Vec::new(),
        };
        let is_context = |block: &Value| {
            let text = block["text"].as_str().unwrap_or_default();
            !has_context && text.find(CONTEXT).is_some_and(|at| at < 100)
        };
        let blocks = blocks.into_iter().filter(|block| !is_context(block));
        let blocks: Vec<Value> = blocks.map(shape).collect();
        json!({"content": blocks, "role": message["role"]})
    });
    let is_said = |message: &Value| message["content"] != json!([]);
    shaped.filter(is_said).collect()
}

fn shape(mut block: Value) -> Value {
    block = plain(block);
    if block["type"] == "tool_result" {
        let content = match block["content"].take() {
            Value::Array(parts) if parts.len() == 1 && parts[0]["type"] == "text" => {
                parts[0]["text"].clone()
            }
            Value::Null => json!(""),
            Value::Array(parts) if parts.is_empty() => json!(""),
            content => content,
        };
        block["content"] = content;
        if block["is_error"] == json!(false) {
            block
                .as_object_mut()
                .expect("an object")
                .shift_remove("is_error");
        }
    }
    block
}

/// Keys in order, and no `cache_control`: it is about money, not meaning.
fn plain(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(key, _)| key != "cache_control");
            let sorted: BTreeMap<String, Value> =
                fields.map(|(key, value)| (key, plain(value))).collect();
            sorted.into_iter().collect()
        }
        Value::Array(values) => values.into_iter().map(plain).collect(),
        value => value,
    }
}

/// What differs, known by its story and by what the client sent: a closed list, which stands in
/// `docs/fidelity.md` with its counts.
fn cause(story: &str, client: &str) -> Option<&'static str> {
    let causes = [
        (
            "plan mode's instructions",
            client.contains("Plan mode is active.") || client.contains("## Re-entering Plan Mode"),
        ),
        (
            "a sub-agent's list of agents",
            client.contains("Available agent types for the Agent tool:"),
        ),
        (
            "a prompt of white space",
            client == r#"{"content":[{"text":"   ","type":"text"}],"role":"user"}"#,
        ),
        ("what a goal asks on the side", story == "slash"),
        (
            "a record that was edited after it was sent",
            story == "cache-miss" && client.contains("Begin. <<read"),
        ),
        (
            "the client's own view of its context",
            client.contains("## Context Usage"),
        ),
    ];
    let found = causes.into_iter().find(|(_, is)| *is);
    found.map(|(cause, _)| cause)
}

/// The session files of a story, sub-agents' included.
fn sessions(story: &Path) -> Vec<PathBuf> {
    let files = tract::ingest::tool_dirs::walk_directory(story);
    let is_session = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".jsonl") && name != "requests.jsonl" && name != "resumed.jsonl"
    };
    files.into_iter().filter(is_session).collect()
}

/// The commits of the replies, by the number that the canned server wrote into each.
fn replies(sandbox: &Sandbox) -> BTreeMap<u64, BTreeSet<String>> {
    let mut found: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    for name in refs(sandbox) {
        let log = sandbox.ok(&["log", &name, "-n", "0", "--format", "%H %r %s"]);
        for line in log.lines() {
            let mut words = line.splitn(3, ' ');
            let (hash, role, text) = (words.next(), words.next(), words.next());
            let (Some(hash), Some("assistant"), Some(text)) = (hash, role, text) else {
                continue;
            };
            let digits = |open: &str| {
                let digits = text.split(open).nth(1)?.get(..4)?;
                digits.parse::<u64>().ok()
            };
            if let Some(number) = digits("(").or_else(|| digits("answer, ")) {
                found.entry(number).or_default().insert(hash.to_owned());
            }
        }
    }
    found
}

/// How many of the client's messages are the same, and the others, each with what stands there here.
fn compared(client: &[Value], tract: &[Value]) -> (usize, Vec<(String, String)>) {
    let text =
        |messages: &[Value]| -> Vec<String> { messages.iter().map(ToString::to_string).collect() };
    let (client, tract) = (text(client), text(tract));
    let (mut same, mut others) = (0, Vec::new());
    for op in capture_diff_slices(Algorithm::Myers, &client, &tract) {
        match op {
            DiffOp::Equal { len, .. } => same += len,
            op => {
                let theirs = tract[op.new_range()].join("\n");
                let ours = &client[op.old_range()];
                others.extend(ours.iter().map(|one| (one.clone(), theirs.clone())));
                if ours.is_empty() {
                    others.push((String::new(), theirs));
                }
            }
        }
    }
    (same, others)
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn what_claude_code_sent_for_a_reply_is_what_compile_says() {
    compare("claude-code", false, (3_000, 986));
}

/// Its files hold what it attaches as it is sent, its own context included.
#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn what_a_newer_claude_code_sent_for_a_reply_is_what_compile_says() {
    compare("claude-code-2.1.330", true, (3_000, 995));
}

/// What a body has that its client writes down nowhere.
const UNRECORDED: [&str; 5] = ["metadata", "stream", "safeguards", "thread", "diagnostics"];

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn a_recorded_request_is_what_was_sent_byte_for_byte() {
    let (mut same, mut proved) = (0, 0);
    for story in stories("claude-code-2.1.330") {
        let sandbox = Sandbox::new();
        for file in sessions(&story) {
            let file = file.display().to_string();
            let import = sandbox.command(&["import", "-q", &file]).output();
            import.expect("runs");
        }
        let sent: BTreeSet<String> = requests(&story, "messages")
            .into_iter()
            .map(|mut request| {
                let body = request.body.as_object_mut().expect("an object");
                body.retain(|key, _| !UNRECORDED.contains(&key.as_str()));
                if let Some(system) = body.get_mut("system").and_then(Value::as_array_mut) {
                    system.retain(|block| {
                        let text = block["text"].as_str().unwrap_or_default();
                        !text.starts_with("x-anthropic-billing-header:")
                    });
                }
                request.body.to_string()
            })
            .collect();
        // All are proved by their hashes below; some are held against the bytes themselves.
        for hash in replies(&sandbox).into_values().flatten().step_by(5) {
            let done = sandbox.command(&["compile", "--for", &hash]).output();
            let done = done.expect("runs");
            if !String::from_utf8_lossy(&done.stderr).contains("sent with the header") {
                continue;
            }
            let request = String::from_utf8(done.stdout).expect("UTF-8");
            let request = request.trim_end().to_owned();
            // What its user put into a request stands in no record.
            let withheld = story.ends_with("extra-body");
            assert!(
                sent.contains(&request) || withheld,
                "{story:?} {hash}: {request:.300}"
            );
            same += usize::from(sent.contains(&request));
        }
        let told = sandbox.tract(&["fsck", "--requests"]);
        let count = told.split_once(" request").map(|(before, _)| before);
        let count = count.and_then(|before| before.rsplit('\n').next()?.parse::<usize>().ok());
        proved += count.unwrap_or_else(|| panic!("{story:?}: {told}"));
        assert!(!told.contains("exit code"), "{story:?}: {told}");
    }
    println!("{same} replies with the bytes that were sent, {proved} requests proved");
    assert!(same > 40 && proved > 260, "{same}, {proved}");
}

/// The stories of a folder; none where it is not at hand.
fn stories(folder: &str) -> Vec<PathBuf> {
    let stories = real_sessions().join("../live").join(folder);
    let Ok(stories) = std::fs::read_dir(&stories) else {
        eprintln!("skipped: no recorded requests beside TRACT_REAL_SESSIONS");
        return Vec::new();
    };
    let mut stories: Vec<PathBuf> = stories
        .map(|entry| entry.expect("an entry").path())
        .collect();
    stories.retain(|path| path.join("requests.jsonl").is_file());
    stories.sort();
    stories
}

/// Compares the requests of a folder's stories as they are made of the messages alone; `least`: how many messages there are, and how many of a
/// thousand are the same.
fn compare(folder: &str, has_context: bool, least: (usize, usize)) {
    let stories = stories(folder);
    let (mut all, mut same, mut unanswered) = (0, 0, 0);
    let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unknown = Vec::new();
    for story in &stories {
        let name = story.file_name().unwrap_or_default().to_string_lossy();
        let sandbox = Sandbox::new();
        for file in sessions(story) {
            let text = std::fs::read_to_string(&file).expect("a session");
            let lines = text
                .lines()
                .filter(|line| !line.contains(r#""type":"api-request"#));
            let name = file.file_name().expect("a name").to_string_lossy();
            sandbox.write(&name, lines.collect::<Vec<_>>().join("\n"));
            // Odd lines are part of some stories.
            sandbox
                .command(&["import", "-q", &name])
                .output()
                .expect("runs");
        }
        let mut sent = requests(story, "messages");
        for request in &mut sent {
            request.messages = shapes(&request.messages, has_context);
        }
        let replies = replies(&sandbox);
        let compiled = |hash: &String| -> Vec<Value> {
            let done = sandbox.command(&["compile", "--for", hash, "--format", "anthropic"]);
            let done = { done }.output().expect("runs");
            let request: Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
            let messages = request["messages"].as_array();
            shapes(messages.map_or(&[][..], Vec::as_slice), has_context)
        };
        let (mut here, mut total) = (0, 0);
        for (request, hashes) in paired(&sent, &replies, &compiled) {
            let Some(hashes) = hashes else {
                unanswered += 1;
                continue;
            };
            let tries = hashes
                .iter()
                .map(|hash| compared(&request.messages, &compiled(hash)));
            let best = tries.max_by_key(|(same, _)| *same).expect("one at least");
            total += request.messages.len();
            here += best.0;
            for (client, tract) in best.1 {
                match cause(&name, &client) {
                    Some(cause) => *causes.entry(cause).or_default() += 1,
                    None => unknown.push(format!(
                        "{name} {}: {client:.200} | {tract:.200}",
                        request.number
                    )),
                }
            }
        }
        println!("{name:22} {:3} requests, {here:4} of {total:4}", sent.len());
        (all, same) = (all + total, same + here);
    }
    println!("together {same} of {all}; {unanswered} requests without a reply in the file");
    for (cause, count) in &causes {
        println!("  {cause}: {count}");
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    let (messages, thousandths) = least;
    assert!(
        all > messages && same * 1_000 >= all * thousandths,
        "{same} of {all}"
    );
}

/// Each request with the commits of its reply. Where the client asked on the side the numbers are not
/// those of the requests: then by their order, or by what fits best.
fn paired<'a>(
    sent: &'a [Recorded],
    replies: &'a BTreeMap<u64, BTreeSet<String>>,
    compiled: &dyn Fn(&String) -> Vec<Value>,
) -> Vec<(&'a Recorded, Option<&'a BTreeSet<String>>)> {
    let known = |request: &Recorded| replies.get(&request.number);
    if sent.iter().all(|request| known(request).is_some()) {
        return sent
            .iter()
            .map(|request| (request, known(request)))
            .collect();
    }
    if sent.len() == replies.len() {
        return sent.iter().zip(replies.values().map(Some)).collect();
    }
    let mut fits = Vec::new();
    for hashes in replies.values() {
        let messages = hashes.iter().next().map(compiled).unwrap_or_default();
        for (at, request) in sent.iter().enumerate() {
            let (same, others) = compared(&request.messages, &messages);
            fits.push((same as i64 - others.len() as i64, at, hashes));
        }
    }
    fits.sort_by_key(|(fit, at, _)| (-fit, *at));
    let mut pairs: Vec<_> = sent.iter().map(|request| (request, None)).collect();
    for (_, at, hashes) in fits {
        let is_used = pairs.iter().any(|(_, used)| *used == Some(hashes));
        if !is_used && pairs[at].1.is_none() {
            pairs[at].1 = Some(hashes);
        }
    }
    pairs
}
