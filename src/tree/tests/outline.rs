//! A tree in brief, one node to a line, from its JSON form.

use serde_json::Value;

use crate::tree::{Tree, json};

pub(super) fn outline(tree: &Tree) -> String {
    let mut lines = String::new();
    let root = serde_json::from_str(&json::text(tree)).expect("JSON");
    below(&root, 0, &mut lines);
    lines
}

fn below(node: &Value, depth: usize, lines: &mut String) {
    for item in node["items"].as_array().into_iter().flatten() {
        let word = |key: &str| item[key].as_str().filter(|word| !word.is_empty());
        let mut words = vec![word("kind").expect("every node has one").to_owned()];
        let keys: &[&str] = match item["kind"].as_str() {
            Some("tool") => &["line", "state", "output"],
            Some("group") => &["text", "state", "line"],
            _ => &["turn", "response", "role", "marker", "phase", "text"],
        };
        words.extend(keys.iter().filter_map(|key| word(key).map(str::to_owned)));
        words.extend(word("from").map(|from| format!("from {from}")));
        words.extend(word("hidden").map(|by| format!("hidden by {by}")));
        words.extend((item["unknown"] == true).then(|| "unknown".to_owned()));
        let line = words.join(" | ").replace('\n', "⏎");
        *lines += &format!("{}{line}\n", "  ".repeat(depth));
        below(item, depth + 1, lines);
    }
}
