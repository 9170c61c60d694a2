//! The text of a message that a search looks at, and what a search must find in it.

use std::borrow::Cow;

use serde_json::Value;

use crate::model::server_tools::hosted;
use crate::model::{Message, Part};

/// A passage of a message's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage<'a> {
    /// The part that it stands in, from 0.
    pub part: usize,
    /// The text, lines and all.
    pub text: Cow<'a, str>,
}

/// The texts of a message that a search looks at, in order: text, thinking, calls of tools and their
/// results. A match never reaches from one into the next.
///
/// A call reads `name key="value", key=value`, with the values' escapes resolved, so that what a
/// tool was given is found as it looks in a file; arguments that are no JSON object stand as they
/// are. So does a call that the provider ran itself (`hosted`), with what it gave. Left out: ids, signatures, pictures,
/// files, other opaque blocks.
pub fn searched(message: &Message) -> Vec<Passage<'_>> {
    fn gather<'a>(part: usize, from: &'a Part, found: &mut Vec<Passage<'a>>) {
        let text = match from {
            Part::Text { text } | Part::Thinking { text, .. } => Cow::Borrowed(text.as_str()),
            Part::ToolCall {
                name, arguments, ..
            } => Cow::Owned(call(name, arguments)),
            Part::ToolResult { content, .. } => {
                content.iter().for_each(|inner| gather(part, inner, found));
                return;
            }
            Part::Opaque { data, .. } => {
                let said = hosted(data).unwrap_or_default();
                let asked = said.call.map(|(name, arguments)| call(&name, &arguments));
                let texts = asked.into_iter().chain(said.gave).map(Cow::Owned);
                return found.extend(texts.map(|text| Passage { part, text }));
            }
            Part::Image(_) | Part::File(_) => return,
        };
        found.push(Passage { part, text });
    }
    let mut found = Vec::with_capacity(message.parts.len());
    for (index, part) in message.parts.iter().enumerate() {
        gather(index, part, &mut found);
    }
    found
}

fn call(name: &str, arguments: &str) -> String {
    let mut text = name.to_owned();
    text.push(' ');
    match serde_json::from_str(arguments) {
        Ok(value @ Value::Object(_)) => spell(&value, &mut text),
        _ => text += arguments,
    }
    text
}

/// Writes a value without JSON's escapes.
fn spell(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => *text += string,
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                *text += if index == 0 { "" } else { ", " };
                spell_inner(value, text);
            }
        }
        Value::Object(pairs) => {
            for (index, (key, value)) in pairs.iter().enumerate() {
                *text += if index == 0 { "" } else { ", " };
                *text += key;
                text.push('=');
                spell_inner(value, text);
            }
        }
        other => *text += &other.to_string(),
    }
}

/// The same inside another value: with what marks its beginning and end.
fn spell_inner(value: &Value, text: &mut String) {
    let (open, close) = match value {
        Value::String(_) => ("\"", "\""),
        Value::Array(_) => ("[", "]"),
        Value::Object(_) => ("{", "}"),
        _ => ("", ""),
    };
    *text += open;
    spell(value, text);
    *text += close;
}

/// The texts without which nothing matches: what an index can look up. Case doesn't matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literals {
    /// Nothing is known: any text may match.
    Anything,
    /// This text.
    Text(String),
    /// All of these.
    All(Vec<Literals>),
    /// One of these, at least.
    Any(Vec<Literals>),
}

#[cfg(test)]
impl Literals {
    /// Whether `text` holds them, by the plainest means.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        let folded = |text: &str| text.chars().map(fold).collect::<String>();
        match self {
            Self::Anything => true,
            Self::Text(literal) => folded(text).contains(&folded(literal)),
            Self::All(all) => all.iter().all(|one| one.are_in(text)),
            Self::Any(any) => any.iter().any(|one| one.are_in(text)),
        }
    }
}

/// A character without its case: two that a search takes for the same are the same folded. A few
/// others are as well, so a match is to be checked.
pub fn fold(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    // There and back, which unites `ς` with `σ` and `ſ` with `s`; the first of several is enough to
    // unite those that share them.
    let lower = c.to_lowercase().next().unwrap_or(c);
    let upper = lower.to_uppercase().next().unwrap_or(lower);
    upper.to_lowercase().next().unwrap_or(upper)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Role;

    #[test]
    fn calls_are_searched_as_a_file_would_show_them() {
        let call = |arguments: &str| {
            let message = Message {
                attached: None,
                recipient: None,
                interrupted: false,
                role: Role::Assistant,
                name: None,
                parts: vec![Part::ToolCall {
                    id: "secret-id".to_owned(),
                    name: "Write".to_owned(),
                    arguments: arguments.to_owned(),
                    kind: None,
                }],
            };
            searched(&message)[0].text.to_string()
        };
        assert_eq!(
            call(
                r#"{"path":"a.rs","content":"fn \u6771() {\n  \"x\"\n}","n":1,"of":[{"k":null},"y"]}"#
            ),
            "Write path=\"a.rs\", content=\"fn 東() {\n  \"x\"\n}\", n=1, of=[{k=null}, \"y\"]"
        );
        assert_eq!(call("{}"), "Write ");
        assert_eq!(call("{broken \"json"), "Write {broken \"json");
    }

    #[test]
    fn results_are_searched_by_their_part() {
        let message = Message {
            attached: None,
            recipient: None,
            interrupted: false,
            role: Role::Tool,
            name: None,
            parts: vec![
                Part::text("one"),
                Part::ToolResult {
                    call: "id".to_owned(),
                    content: vec![Part::text("two"), Part::text("three")],
                    is_error: false,
                },
            ],
        };
        let found: Vec<_> = searched(&message)
            .into_iter()
            .map(|piece| (piece.part, piece.text.into_owned()))
            .collect();
        let text = |part, text: &str| (part, text.to_owned());
        assert_eq!(found, [text(0, "one"), text(1, "two"), text(1, "three")]);
    }

    /// The regex crate's idea of "the same but for case" is Unicode's simple folding.
    #[test]
    fn folding_unites_all_that_a_search_takes_for_the_same() {
        use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};
        for c in '\0'..=char::MAX {
            let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
            class.try_case_fold_simple().expect("tables are there");
            for range in class.iter() {
                for same in range.start()..=range.end() {
                    assert_eq!(fold(same), fold(c), "{same:?} and {c:?}");
                }
            }
        }
    }
}
