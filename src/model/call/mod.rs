//! What a tool call says.
//!
//! [`Brief`] is the one rule for what a line says of a call; every painter takes it. What is kept of a message in a
//! line (`model::preview`) is a [`summary`], whose words the format of a repository fixes.

mod brief;
mod command;
mod keys;
mod path;

pub use brief::{Brief, BriefPiece};
pub use path::{ends_in, is_below, last_name, one_spelling, plain_path, relative, within};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// How many characters of arguments that don't parse are shown.
const RAW_CHARS: usize = 80;

/// All arguments of a call: `name key="value", key=value`; if they are no JSON object, `name` and
/// the raw text, cut at 80 characters with a `…`. Control characters are kept.
pub fn summary(name: &str, arguments: &str) -> String {
    let mut line = name.to_owned();
    match serde_json::from_str::<Arguments<'_>>(arguments) {
        Ok(Arguments(pairs)) => {
            for (index, (key, value)) in pairs.into_iter().enumerate() {
                line += if index == 0 { " " } else { ", " };
                line += &key;
                line.push('=');
                match serde_json::from_str::<String>(value.get()) {
                    Ok(text) => line += &format!("\"{text}\""),
                    Err(_) => line += value.get(),
                }
            }
        }
        Err(_) => {
            let raw: String = arguments.chars().take(RAW_CHARS).collect();
            line.push(' ');
            line += &raw;
            if raw.len() < arguments.len() {
                line.push('…');
            }
        }
    }
    line
}

/// The command that a call runs, by the key of its argument.
pub fn command(arguments: &str) -> Option<String> {
    argument(arguments, &["command", "cmd", "script"])
}

/// The file that a call names, by the key of its argument.
pub fn path(arguments: &str) -> Option<String> {
    argument(
        arguments,
        &[
            "file_path",
            "filePath",
            "path",
            "notebook_path",
            "absolute_path",
        ],
    )
}

/// The argument of a call under one of these keys.
fn argument(arguments: &str, keys: &[&str]) -> Option<String> {
    let Value::Object(all) = serde_json::from_str(arguments).ok()? else {
        return None;
    };
    keys.iter().find_map(|key| match all.get(*key)? {
        Value::String(text) => Some(text.clone()),
        // Codex gives a command word by word; the last word is what a shell is to run.
        Value::Array(words) => Some(words.last()?.as_str()?.to_owned()),
        _ => None,
    })
}

/// A JSON object's pairs in the order in which they were written.
pub(crate) struct Arguments<'a>(pub(crate) Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Arguments<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Arguments<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Arguments<'de>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Arguments(pairs))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_call_reads_like_one() {
        let summed = |arguments| summary("read_file", arguments);
        assert_eq!(
            summed(r#"{"path": "src/lib.rs", "lines": [1, 20], "n": 1.0}"#),
            r#"read_file path="src/lib.rs", lines=[1, 20], n=1.0"#
        );
        assert_eq!(summed("{}"), "read_file");
        assert_eq!(summed("not json"), "read_file not json");
        assert_eq!(
            summed(&"é".repeat(81)),
            format!("read_file {}…", "é".repeat(80))
        );
    }
}
