//! JSON read and written piece by piece, so that raw texts stay as they are.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Raw JSON where a field's shape varies between versions.
pub type Raw<'a> = Option<&'a RawValue>;

/// Decodes raw JSON; none where it is absent or has another shape.
pub fn decode<'a, T: Deserialize<'a>>(raw: Raw<'a>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// A string; none where it is absent or something else.
pub fn string(raw: Raw<'_>) -> Option<String> {
    word(raw).map(Cow::into_owned)
}

/// A string, borrowed where it has no escapes.
pub fn word(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    let text = raw?.get();
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(text).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// Whether a flag is there and set.
pub fn is_true(raw: Raw<'_>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// Whether a message's object has a member `content`, be it null: one that has none is not of this form.
///
/// # Errors
///
/// That it has none, in words.
pub fn has_content(message: &RawValue) -> Result<(), String> {
    let members: Option<HashMap<String, IgnoredAny>> = decode(Some(message));
    let is_there = members.is_some_and(|members| members.contains_key("content"));
    let reason = || "a message without content".to_owned();
    is_there.then_some(()).ok_or_else(reason)
}

/// The `type` of a block, if `text` is a JSON object that has one.
///
/// The whole text must be JSON that readers accept, not only its `type`.
pub fn type_of(text: &str) -> Option<String> {
    text_at(text, "type")
}

/// The text under a key, if `text` is a JSON object that has one there.
pub fn text_at(text: &str, key: &str) -> Option<String> {
    let block: Value = serde_json::from_str(text).ok()?;
    Some(block.get(key)?.as_str()?.to_owned())
}

/// A string as it is, any other value as its JSON; none of nothing.
pub fn text_or_json(raw: Raw<'_>) -> Option<String> {
    let raw = raw.filter(|raw| raw.get() != "null")?;
    Some(string(Some(raw)).unwrap_or_else(|| tight(raw.get())))
}

/// Whether `text` is a JSON object.
pub fn is_object(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

/// A JSON text without the white space between its tokens.
pub fn tight(json: &str) -> String {
    let (mut tight, mut is_string, mut is_escaped) =
        (String::with_capacity(json.len()), false, false);
    for letter in json.chars() {
        if is_string || !matches!(letter, ' ' | '\t' | '\r' | '\n') {
            tight.push(letter);
        }
        is_string ^= letter == '"' && !is_escaped;
        is_escaped = is_string && letter == '\\' && !is_escaped;
    }
    tight
}

/// A JSON object in the making.
#[derive(Debug, Default)]
pub struct Object(String);

impl Object {
    /// An object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// An object that begins with its type.
    pub fn typed(kind: &str) -> Self {
        Self::new().string("type", kind)
    }

    /// Adds a string.
    pub fn string(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        self.0 += &quoted(value);
        self
    }

    /// Adds a string, if there is one.
    pub fn optional(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.string(key, value),
            None => self,
        }
    }

    /// Adds a JSON text.
    pub fn raw(mut self, key: &str, json: &str) -> Self {
        self.key(key);
        self.0.push_str(json);
        self
    }

    /// Adds a JSON text, if there is one.
    pub fn optional_raw(self, key: &str, json: Option<&str>) -> Self {
        match json {
            Some(json) => self.raw(key, json),
            None => self,
        }
    }

    /// Adds a string, or `null` where there is none.
    pub fn nullable(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.string(key, value),
            None => self.raw(key, "null"),
        }
    }

    /// Adds a number.
    pub fn number(self, key: &str, value: impl std::fmt::Display) -> Self {
        self.raw(key, &value.to_string())
    }

    /// Adds a flag.
    pub fn flag(self, key: &str, is_set: bool) -> Self {
        self.raw(key, if is_set { "true" } else { "false" })
    }

    /// The text.
    pub fn finish(mut self) -> String {
        if self.0.is_empty() {
            self.0.push('{');
        }
        self.0.push('}');
        self.0
    }

    fn key(&mut self, key: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0 += &quoted(key);
        self.0.push(':');
    }
}

/// A JSON string.
pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("every string is JSON")
}

/// A JSON array of JSON texts.
pub fn array<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let mut out = String::from("[");
    push_list(&mut out, items);
    out.push(']');
    out
}

/// Writes JSON texts with commas between them.
pub fn push_list<T: AsRef<str>>(out: &mut String, items: impl IntoIterator<Item = T>) {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(item.as_ref());
    }
}
