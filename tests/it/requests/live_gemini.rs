//! What is compiled for each reply beside the request that Gemini CLI itself sent for it, over sessions
//! that the client wrote while each of its requests was recorded: the same parts in the same order.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::conditions::real_sessions;
use crate::requests::recorded::{refs, requests};
use crate::sandbox::Sandbox;

/// A part: who says it, or what it is; its call; its text.
type Said = (String, String, String);

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The call that an id is of: the client sends it without the function's name before it.
fn call(id: &str) -> String {
    id.split_once("__").map_or(id, |(_, id)| id).to_owned()
}

/// The parts of a request of the client's, and how many results it says a second time.
fn theirs(contents: &[Value]) -> (Vec<Said>, usize) {
    let (mut found, mut twice): (Vec<Said>, usize) = (Vec::new(), 0);
    for content in contents {
        let role = match content["role"].as_str() {
            Some("model") => "assistant",
            _ => "user",
        };
        let mut answered: Vec<Said> = Vec::new();
        for part in content["parts"].as_array().into_iter().flatten() {
            let (made, given) = (&part["functionCall"], &part["functionResponse"]);
            let said = if made.is_object() {
                let arguments = format!("{} {}", made["name"], made["args"]);
                ("call".to_owned(), call(&text(&made["id"])), arguments)
            } else if given.is_object() {
                let words = [&given["response"]["output"], &given["response"]["error"]];
                let words = words.into_iter().find_map(Value::as_str).unwrap_or("?");
                ("result".into(), call(&text(&given["id"])), words.to_owned())
            } else if part["inlineData"].is_object() {
                (
                    "media".into(),
                    String::new(),
                    text(&part["inlineData"]["data"]),
                )
            } else {
                (role.to_owned(), String::new(), text(&part["text"]))
            };
            if said.0 == "result" && answered.contains(&said) {
                twice += 1;
                continue;
            }
            answered.push(said.clone());
            found.push(said);
        }
    }
    (found, twice)
}

/// Contents without what the client says twice, and with ids as it sends them.
fn plain(contents: &[Value]) -> Vec<Value> {
    let mut contents = contents.to_vec();
    for content in &mut contents {
        let mut kept: Vec<Value> = Vec::new();
        for mut part in content["parts"].as_array().cloned().unwrap_or_default() {
            for key in ["functionCall", "functionResponse"] {
                if let Some(id) = part.get(key).and_then(|it| it["id"].as_str()) {
                    part[key]["id"] = call(id).into();
                }
            }
            let is_answer = part.get("functionResponse").is_some();
            if !is_answer || !kept.contains(&part) {
                kept.push(part);
            }
        }
        content["parts"] = kept.into();
    }
    contents
}

/// The parts of a compiled request.
fn ours(messages: &Value) -> Vec<Said> {
    let mut found = Vec::new();
    for message in messages.as_array().into_iter().flatten() {
        let content = &message["content"];
        let whole = content
            .as_str()
            .map(|text| serde_json::json!({"type": "text", "text": text}));
        let blocks = content.as_array().cloned().unwrap_or_default();
        for block in whole.into_iter().chain(blocks) {
            match block["type"].as_str() {
                Some("tool_use") => {
                    let arguments = format!("{} {}", block["name"], block["input"]);
                    found.push(("call".into(), call(&text(&block["id"])), arguments));
                }
                Some("tool_result") => {
                    let inner = &block["content"];
                    let parts = inner.as_array().cloned().unwrap_or_default();
                    let words: String = parts.iter().map(|part| text(&part["text"])).collect();
                    let words = text(inner) + &words;
                    found.push(("result".into(), call(&text(&block["tool_use_id"])), words));
                    let media = parts.iter().filter(|part| part["source"].is_object());
                    found.extend(media.map(|part| {
                        ("media".into(), String::new(), text(&part["source"]["data"]))
                    }));
                }
                Some("image") => {
                    let data = text(&block["source"]["data"]);
                    found.push(("media".into(), String::new(), data));
                }
                _ => found.push((text(&message["role"]), String::new(), text(&block["text"]))),
            }
        }
    }
    found
}

/// The replies of all refs, by the number that the recording server gave each.
fn replies(sandbox: &Sandbox) -> BTreeMap<u64, String> {
    let number = regex::Regex::new(r"(?:I go on \(|A canned answer, )(\d{4})").expect("a pattern");
    let mut found = BTreeMap::new();
    for name in refs(sandbox) {
        let told = sandbox.ok(&["log", &name, "-n", "0", "--format", "%H %r"]);
        let replies = told
            .lines()
            .filter_map(|line| line.strip_suffix(" assistant"));
        for hash in replies {
            let text = sandbox.ok(&["show", hash]);
            if let Some(named) = number.captures(&text) {
                let number = named[1].parse().expect("digits");
                found.insert(number, hash.to_owned());
            }
        }
    }
    found
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS with the folder live beside it"]
fn what_gemini_cli_sent_is_what_is_compiled() {
    let story = real_sessions().join("../live/gemini-cli/sessions");
    let sandbox = Sandbox::new();
    let chats = story.join("tmp/project/chats");
    sandbox.ok(&["import", chats.to_str().expect("a path")]);
    let replies = replies(&sandbox);
    let requests = requests(&story, "contents");
    // The server counted requests that are not among them: those that count tokens.
    assert_eq!(replies.len(), requests.len());
    let (mut sent, mut same, mut twice) = (0, 0, 0);
    let (mut contents_sent, mut contents_same) = (0, 0);
    for (request, (number, reply)) in requests.iter().zip(&replies) {
        let text = sandbox.ok(&["compile", "--for", reply, "--format", "anthropic"]);
        let compiled: Value = serde_json::from_str(&text).expect("JSON");
        let messages = compiled.get("messages").unwrap_or(&compiled);
        let text = sandbox.ok(&["compile", "--for", reply, "--format", "gemini"]);
        let own: Value = serde_json::from_str(&text).expect("JSON");
        let (wanted, made) = (
            plain(&request.messages),
            plain(own["contents"].as_array().expect("a list")),
        );
        let equal = wanted.iter().zip(&made).filter(|(a, b)| a == b).count();
        for (wanted, made) in wanted.iter().zip(&made).filter(|(a, b)| a != b).take(2) {
            let [wanted, made] = [wanted, made].map(Value::to_string);
            eprintln!("{number:04}\n  {wanted:.600}\n  {made:.600}");
        }
        contents_sent += wanted.len().max(made.len());
        contents_same += equal;
        let (theirs, again) = theirs(&request.messages);
        let ours = ours(messages);
        let equal = theirs.iter().zip(&ours).filter(|(a, b)| a == b).count();
        eprintln!(
            "{number:04}: {equal} of {} and {}",
            theirs.len(),
            ours.len()
        );
        for (theirs, ours) in theirs.iter().zip(&ours).filter(|(a, b)| a != b).take(2) {
            eprintln!("  {theirs:.200?}\n  {ours:.200?}");
        }
        sent += theirs.len().max(ours.len());
        same += equal;
        twice += again;
    }
    eprintln!("contents {contents_same} of {contents_sent}");
    eprintln!("together {same} of {sent}; {twice} results that were said a second time");
    assert_eq!(same, sent);
    assert_eq!(contents_same, contents_sent);
    assert!(requests.len() >= 16 && sent >= 150, "{sent}");
}
