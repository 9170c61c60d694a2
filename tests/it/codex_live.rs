//! What `compile --for` a reply gives beside the request that Codex itself sent for it, over sessions
//! that the client wrote while each of its requests was recorded. Every difference has a name here
//! (docs/fidelity.md); another one fails.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::conditions::real_sessions;
use crate::recorded::{refs, requests};
use crate::sandbox::Sandbox;

/// Of a hundred messages as sent, all but reasoning, which a request of another API cannot hold, and the
/// base prompt, which the client edits: so many are the same. Measured: 97.3 (1,854 of 1,905).
const SAME: f64 = 97.0;

/// The texts of a content.
fn texts(content: &Value) -> String {
    let Some(pieces) = content.as_array() else {
        return content.as_str().unwrap_or_default().to_owned();
    };
    let texts = pieces.iter().map(|piece| match piece["text"].as_str() {
        Some(text) => text.to_owned(),
        None => {
            let url = [&piece["image_url"]["url"], &piece["image_url"]];
            let url = url.into_iter().find_map(Value::as_str).unwrap_or("?");
            url.chars().take(80).collect()
        }
    });
    texts.collect::<Vec<_>>().join("\u{1}")
}

type Said = (String, String, String);

/// What the client sent: who or what, the call's id, the text.
fn theirs(input: &[Value]) -> Vec<Said> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let said = input.iter().map(|item| match item["type"].as_str() {
        Some("message") => (text(&item["role"]), String::new(), texts(&item["content"])),
        Some("function_call" | "custom_tool_call") => {
            let given = [&item["arguments"], &item["input"]];
            let given = given.into_iter().find_map(Value::as_str).unwrap_or("");
            (
                "call".into(),
                text(&item["call_id"]),
                format!("{} {given}", text(&item["name"])),
            )
        }
        Some("function_call_output" | "custom_tool_call_output") => (
            "result".into(),
            text(&item["call_id"]),
            texts(&item["output"]),
        ),
        other => (
            other.unwrap_or("?").to_owned(),
            String::new(),
            texts(&item["content"]),
        ),
    });
    said.collect()
}

/// What tract compiles, in the same words.
fn ours(body: &Value) -> Vec<Said> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut said = Vec::new();
    for message in body["messages"].as_array().expect("messages") {
        let role = text(&message["role"]);
        if role == "tool" {
            said.push((
                "result".into(),
                text(&message["tool_call_id"]),
                texts(&message["content"]),
            ));
            continue;
        }
        if !message["content"].is_null() {
            said.push((role, String::new(), texts(&message["content"])));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let what = [&call["function"], &call["custom"]];
            let what = what
                .into_iter()
                .find(|what| what.is_object())
                .unwrap_or(&Value::Null);
            let given = [&what["arguments"], &what["input"]];
            let given = given.into_iter().find_map(Value::as_str).unwrap_or("");
            said.push((
                "call".into(),
                text(&call["id"]),
                format!("{} {given}", text(&what["name"])),
            ));
        }
    }
    said
}

/// The differences of two requests by their names: the client's messages that tract lacks.
fn differences(theirs: &[Said], ours: &[Said]) -> BTreeMap<&'static str, usize> {
    let mut found = BTreeMap::new();
    let diff = similar::capture_diff_slices(similar::Algorithm::Lcs, theirs, ours);
    let mut left: Vec<usize> = Vec::new();
    let mut right: Vec<&Said> = Vec::new();
    for change in diff
        .iter()
        .filter(|change| change.tag() != similar::DiffTag::Equal)
    {
        left.extend(change.old_range());
        right.extend(&ours[change.new_range()]);
    }
    for at in left {
        let (what, id, text) = &theirs[at];
        let said = right.iter().any(|other| {
            let is_there = other.2.contains(text.as_str()) && !text.is_empty();
            other.0 == "user" && (what == "user" || what == "agent_message") && is_there
        });
        let name = match what.as_str() {
            "reasoning" => "reasoning",
            "developer" | "user" if at == 0 && !said => "base prompt",
            "compaction" => "sealed compaction",
            "agent_message" => "another agent's message",
            "result" if id.is_empty() => "a goal's objective",
            "result" if text == "aborted" => "the words of a call without result",
            _ if right.contains(&&theirs[at]) => "a result behind what came between",
            "user" | "assistant" if said || what == "assistant" => "neighbours joined",
            _ => "no known cause",
        };
        if name == "no known cause" {
            eprintln!(
                "      {what} {id} {}",
                text.chars().take(200).collect::<String>()
            );
        }
        *found.entry(name).or_default() += 1;
    }
    found
}

/// The replies of all refs, by the request that each names in its text.
fn replies(sandbox: &Sandbox) -> BTreeMap<u64, Vec<String>> {
    let mut commits: Vec<String> = Vec::new();
    for name in refs(sandbox) {
        let told = sandbox.ok(&["log", &name, "-n", "0", "--format", "%H %r"]);
        let replies = told
            .lines()
            .filter_map(|line| line.strip_suffix(" assistant"));
        for hash in replies {
            if !commits.iter().any(|known| known == hash) {
                commits.push(hash.to_owned());
            }
        }
    }
    let number = regex::Regex::new(r"(?:\(|answer, )(\d{4})").expect("a pattern");
    let mut found: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for hash in commits {
        let text = sandbox.ok(&["show", &hash]);
        for named in number.captures_iter(&text) {
            let of = found.entry(named[1].parse().expect("digits")).or_default();
            if of.last() != Some(&hash) {
                of.push(hash.clone());
            }
        }
    }
    found
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS with the folder live beside it"]
fn what_codex_sent_is_what_is_compiled() {
    let live = real_sessions().join("../live/codex");
    let mut stories: Vec<_> = fs::read_dir(&live)
        .expect("the folder of sessions with their requests")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("requests.jsonl").exists())
        .collect();
    stories.sort();
    assert!(stories.len() >= 15, "{stories:?}");
    let (mut sent, mut same, mut unanswered) = (0, 0, 0);
    let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
    for story in stories {
        let sandbox = Sandbox::new();
        let sessions = story.join("sessions");
        sandbox.ok(&["import", sessions.to_str().expect("a path")]);
        let replies = replies(&sandbox);
        let (mut of_story, mut same_here) = (0, 0);
        for request in requests(&story, "input") {
            let theirs = theirs(&request.messages);
            let best = replies
                .get(&request.number)
                .into_iter()
                .flatten()
                .map(|reply| {
                    let text = sandbox.ok(&["compile", "--for", reply, "--format", "openai"]);
                    differences(&theirs, &ours(&serde_json::from_str(&text).expect("JSON")))
                });
            let Some(found) = best.min_by_key(|found| found.values().sum::<usize>()) else {
                unanswered += 1;
                continue;
            };
            let apart = |name| found.get(name).copied().unwrap_or(0);
            let counted = theirs.len() - apart("reasoning") - apart("base prompt");
            let differ = found.values().sum::<usize>() - apart("reasoning") - apart("base prompt");
            of_story += counted;
            same_here += counted - differ;
            for (name, count) in found {
                *causes.entry(name).or_default() += count;
            }
        }
        let name = story
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        eprintln!("{name:18} {same_here:5} of {of_story:5}");
        sent += of_story;
        same += same_here;
    }
    let share = 100.0 * f64::from(same as u32) / f64::from(sent as u32);
    eprintln!(
        "together {same} of {sent}, {share:.1} %, no reply to {unanswered}; {}",
        json!(causes)
    );
    assert_eq!(causes.get("no known cause"), None);
    assert!(share >= SAME, "{share}");
    // Cut off before the reply had a text, by a kill or a steer.
    assert!(unanswered <= 3, "{unanswered}");
}
