//! Sessions that the vendors' clients wrote while each of their requests was recorded.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use crate::sandbox::Sandbox;

/// A request of a conversation, not of the client's own on the side.
pub struct Recorded {
    /// Its number in the story, from 1.
    pub number: u64,
    /// Its messages, or items.
    pub messages: Vec<Value>,
    /// All of it.
    pub body: Value,
}

/// The requests of a story, written out: what is said once is put back wherever it was sent. `key` is
/// what a body's list is called.
pub fn requests(story: &Path, key: &str) -> Vec<Recorded> {
    let text = std::fs::read_to_string(story.join("requests.jsonl")).expect("the requests");
    let parts = parts(story);
    let mut all: Vec<Vec<Value>> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let row = whole(row, &parts);
        let mut messages: Vec<Value> = Vec::new();
        let same = row["body"][key].as_str();
        if let Some(number) = same.and_then(|same| same.strip_prefix("same as ")) {
            let number: usize = number.parse().expect("a number");
            messages.clone_from(&all[number - 1]);
        }
        for message in row["body"][key].as_array().into_iter().flatten() {
            let place = |at: usize| message["same_as"][at].as_u64().map(|at| at as usize);
            let whole = match (place(0), place(1)) {
                (Some(number), Some(at)) => all.get(number - 1).unwrap_or(&messages)[at].clone(),
                _ => message.clone(),
            };
            messages.push(whole);
        }
        if let Some("main" | "subagent") = row["kind"].as_str() {
            found.push(Recorded {
                number: row["n"].as_u64().expect("a number"),
                messages: messages.clone(),
                body: row["body"].clone(),
            });
        }
        all.push(messages);
    }
    found
}

/// What the stories beside one another have in common, by name; nothing where each is whole.
fn parts(story: &Path) -> HashMap<String, Value> {
    let Ok(text) = std::fs::read_to_string(story.with_file_name("parts.jsonl")) else {
        return HashMap::new();
    };
    let rows = text.lines().map(|line| {
        let mut row: Value = serde_json::from_str(line).expect("JSON");
        let name = row["part"].as_str().expect("a name").to_owned();
        (name, row["value"].take())
    });
    rows.collect()
}

/// A value with the parts that it names put in.
fn whole(value: Value, parts: &HashMap<String, Value>) -> Value {
    match value {
        Value::Object(fields) => match fields.get("$part").and_then(Value::as_str) {
            Some(name) => whole(parts[name].clone(), parts),
            None => {
                let fields = fields.into_iter();
                fields
                    .map(|(key, value)| (key, whole(value, parts)))
                    .collect()
            }
        },
        Value::Array(values) => values
            .into_iter()
            .map(|value| whole(value, parts))
            .collect(),
        value => value,
    }
}

/// The refs of a repository that point at a commit, by name.
pub fn refs(sandbox: &Sandbox) -> Vec<String> {
    sandbox.texts("SELECT name FROM refs WHERE target IS NOT NULL ORDER BY name")
}
