//! What `compile --for` a reply gives beside the request that Codex itself sent for it, over sessions
//! that the client wrote while each of its requests was recorded. One difference is known, its base prompt
//! (docs/fidelity.md); another one fails.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::conditions::real_sessions;
use crate::requests::recorded::{refs, requests};
use crate::sandbox::Sandbox;

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

/// The items of a request, the client's or the compiled one: who or what, the call's id or whom it is
/// for, the text.
fn said(input: &[Value]) -> Vec<Said> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let said = input.iter().map(|item| match item["type"].as_str() {
        Some("message") => (text(&item["role"]), String::new(), texts(&item["content"])),
        Some("agent_message") => {
            let (from, to) = (text(&item["author"]), text(&item["recipient"]));
            let sealed = item["content"].as_array().into_iter().flatten();
            let sealed = sealed.filter_map(|piece| piece["encrypted_content"].as_str());
            let sealed: String = sealed.collect();
            let said = texts(&item["content"]) + &sealed;
            ("agent_message".into(), format!("{from} {to}"), said)
        }
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
            text(&item["call_id"]) + &text(&item["namespace"]) + &text(&item["name"]),
            texts(&item["output"]),
        ),
        Some(other) => (
            other.to_owned(),
            text(&item["encrypted_content"]),
            texts(&item["content"]),
        ),
        None => ("?".to_owned(), String::new(), item.to_string()),
    });
    said.collect()
}

/// What the client sent and tract lacks, but for its base prompt, which the client edits; and whether
/// that is among it.
fn differences(theirs: &[Said], ours: &[Said]) -> (Vec<Said>, bool) {
    let diff = similar::capture_diff_slices(similar::Algorithm::Lcs, theirs, ours);
    let others = diff
        .iter()
        .filter(|change| change.tag() != similar::DiffTag::Equal);
    let mut lacking: Vec<usize> = others.flat_map(|change| change.old_range()).collect();
    let edits_base = lacking.first() == Some(&0);
    if edits_base {
        lacking.remove(0);
    }
    let lacking = lacking.into_iter().map(|at| theirs[at].clone());
    (lacking.collect(), edits_base)
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
    let (mut sent, mut same, mut prompts, mut unanswered) = (0, 0, 0, 0);
    let mut unknown = Vec::new();
    for story in stories {
        let sandbox = Sandbox::new();
        let sessions = story.join("sessions");
        sandbox.ok(&["import", sessions.to_str().expect("a path")]);
        let replies = replies(&sandbox);
        let name = story.file_name().expect("a name").to_string_lossy();
        let (mut of_story, mut same_here) = (0, 0);
        for request in requests(&story, "input") {
            let theirs = said(&request.messages);
            let replies = replies.get(&request.number).into_iter().flatten();
            let tries = replies.map(|reply| {
                let text = sandbox.ok(&["compile", "--for", reply, "--format", "responses"]);
                let ours: Value = serde_json::from_str(&text).expect("JSON");
                differences(&theirs, &said(ours["input"].as_array().expect("items")))
            });
            let Some((lacking, edits_base)) = tries.min_by_key(|(lacking, _)| lacking.len()) else {
                unanswered += 1;
                continue;
            };
            prompts += usize::from(edits_base);
            of_story += theirs.len() - usize::from(edits_base);
            same_here += theirs.len() - usize::from(edits_base) - lacking.len();
            let lacking = lacking.into_iter();
            unknown.extend(lacking.map(|(what, id, text)| {
                format!("{name} {}: {what} {id} {text:.200}", request.number)
            }));
        }
        eprintln!("{name:18} {same_here:5} of {of_story:5}");
        sent += of_story;
        same += same_here;
    }
    eprintln!(
        "together {same} of {sent}, and {prompts} base prompts; no reply to {unanswered} requests"
    );
    assert!(unknown.is_empty(), "{unknown:#?}");
    assert!(sent >= 1_994, "{sent}");
    // Cut off before the reply had a text, by a kill or a steer.
    assert!(unanswered <= 3, "{unanswered}");
}
