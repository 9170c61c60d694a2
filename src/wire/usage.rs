//! The numbers of a usage record, each taken once, so that none is lost.
//!
//! Deliberately absent: how a provider calls them; its reader takes those that it knows by name, and the rest keeps its own.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use crate::model::UsageDetail;

/// The numbers of a record that nobody has taken yet, by their paths. A zero says nothing.
#[derive(Debug, Default)]
pub struct Numbers(BTreeMap<String, Number>);

impl Numbers {
    /// Those of a JSON value.
    pub fn of(value: &Value) -> Self {
        let mut numbers = Self::default();
        numbers.walk(value, &mut String::new());
        numbers
    }

    fn walk(&mut self, value: &Value, path: &mut String) {
        let length = path.len();
        let mut below = |step: &str, value: &Value| {
            if length > 0 {
                path.push('.');
            }
            path.push_str(step);
            self.walk(value, path);
            path.truncate(length);
        };
        match value {
            Value::Number(number) if number.as_f64() != Some(0.0) => {
                self.0.insert(path.clone(), number.clone());
            }
            Value::Object(members) => {
                for (key, value) in members {
                    below(key, value);
                }
            }
            Value::Array(items) => {
                for (at, value) in items.iter().enumerate() {
                    below(&at.to_string(), value);
                }
            }
            _ => {}
        }
    }

    /// Takes a count; none where there is no such number, or none that counts.
    pub fn take(&mut self, path: &str) -> Option<u64> {
        let count = self.0.get(path)?.as_u64()?;
        self.0.remove(path);
        Some(count)
    }

    /// The same of the first of these paths that has one.
    pub fn first(&mut self, paths: &[&str]) -> Option<u64> {
        paths.iter().find_map(|path| self.take(path))
    }

    /// Drops what other numbers say as well.
    pub fn drop(&mut self, paths: &[&str]) {
        for path in paths {
            self.0.remove(*path);
        }
    }

    /// Keeps the rest in a detail: counts and amounts by their paths, where `named` has no better name. A count of
    /// which the name is empty is said elsewhere.
    pub fn rest(self, detail: &mut UsageDetail, named: impl Fn(&str) -> Option<String>) {
        for (path, number) in self.0 {
            let name = named(&path).unwrap_or_else(|| path.clone());
            match number.as_u64() {
                _ if name.is_empty() => {}
                Some(count) => detail.count(name, count),
                None => {
                    detail.amounts.insert(path, number.to_string());
                }
            }
        }
    }
}

/// Gemini's lists of counts by modality, such as `promptTokensDetails`, as counts of the input or of the output:
/// `input_image_tokens`. What is text is the rest of all.
pub fn by_modality(list: Option<&Value>, of: &str, detail: &mut UsageDetail) {
    for item in list.and_then(Value::as_array).into_iter().flatten() {
        let modality = item["modality"].as_str().unwrap_or("unknown");
        let modality = modality.to_ascii_lowercase();
        if modality != "text" {
            let count = item["tokenCount"].as_u64().unwrap_or(0);
            detail.count(format!("{of}_{modality}_tokens"), count);
        }
    }
}
