//! Writes JSON objects piece by piece, so that raw texts stay as they are.

use crate::hash::write_string;

/// A JSON object in the making.
pub(crate) struct Object(String);

impl Object {
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    /// An object that begins with its type.
    pub(crate) fn typed(kind: &str) -> Self {
        Self::new().string("type", kind)
    }

    /// Adds a string.
    pub(crate) fn string(self, key: &str, value: &str) -> Self {
        self.raw(key, &quoted(value))
    }

    /// Adds a string, if there is one.
    pub(crate) fn optional(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.string(key, value),
            None => self,
        }
    }

    /// Adds a JSON text.
    pub(crate) fn raw(mut self, key: &str, json: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        write_string(&mut self.0, key);
        self.0.push(':');
        self.0.push_str(json);
        self
    }

    /// The text.
    pub(crate) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_string(&mut out, text);
    out
}

/// A JSON array of JSON texts.
pub(crate) fn array(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}
