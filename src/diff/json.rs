//! JSON compared by keys, whatever its white space and the order of its keys.
//!
//! Numbers are compared by their text, so that `1.0`, `1` and ids of 64 bits stay apart.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::diff::Replaced;
use crate::diff::alike::{Sketch, most_alike};
use crate::diff::lines::LineDiff;
use crate::diff::list::{self, Edit, align_equal, fill_gaps};

/// How deep a value may be nested; what is deeper is compared as text.
const DEPTH_MAX: usize = 64;
/// From how many bytes on a text without line feeds is compared by words, not shown twice.
const LONG_TEXT_BYTES: usize = 80;
/// How alike two items of an array must be to be one item that changed.
const ALIKE: f64 = 0.5;

/// A JSON value, keys in order of their code points.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Json {
    /// `null`, `true`, `false`, or a number, as it was written.
    Scalar(String),
    /// A string, without quotes and escapes.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(BTreeMap<String, Json>),
}

/// How two values differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonDiff {
    /// One stands in the place of the other.
    Replaced(Replaced<Json>),
    /// Two strings, by lines.
    Text(LineDiff),
    /// Two objects: the keys that differ.
    Object(BTreeMap<String, JsonEdit>),
    /// Two arrays.
    Array(Vec<Edit<Json, JsonDiff>>),
}

/// What happened to a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonEdit {
    /// It is gone.
    Removed(Json),
    /// It is new.
    Added(Json),
    /// It has another value.
    Changed(JsonDiff),
}

/// One difference, with its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonChange<'a> {
    /// Where: `items[3].price`; empty at the top. An index counts from 0: in the array after, or,
    /// for what is gone, in the array before. Hostile until escaped.
    pub path: String,
    /// What.
    pub what: JsonChanged<'a>,
}

/// What happened at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonChanged<'a> {
    /// The value is gone.
    Removed(&'a Json),
    /// The value is new.
    Added(&'a Json),
    /// Another value stands there.
    Replaced(&'a Json, &'a Json),
    /// A text changed.
    Text(&'a LineDiff),
}

impl Json {
    /// Reads JSON text. None if it isn't JSON, nests too deep, or says a key twice.
    pub fn parse(text: &str) -> Option<Self> {
        Self::read(text, DEPTH_MAX)
    }

    /// Reads JSON text that is an object or an array.
    pub fn parse_structure(text: &str) -> Option<Self> {
        let structured = text.trim_start().starts_with(['{', '[']);
        structured.then(|| Self::parse(text)).flatten()
    }

    fn read(text: &str, depth: usize) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        let text = text.trim();
        Some(match text.as_bytes().first()? {
            b'{' => {
                let Pairs(pairs) = serde_json::from_str(text).ok()?;
                let mut object = BTreeMap::new();
                for (key, value) in pairs {
                    if object
                        .insert(key, Self::read(value.get(), depth)?)
                        .is_some()
                    {
                        return None;
                    }
                }
                Self::Object(object)
            }
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                let items = items.into_iter().map(|item| Self::read(item.get(), depth));
                Self::Array(items.collect::<Option<_>>()?)
            }
            b'"' => Self::String(serde_json::from_str(text).ok()?),
            _ => {
                let scalar: &RawValue = serde_json::from_str(text).ok()?;
                Self::Scalar(scalar.get().to_owned())
            }
        })
    }

    /// The value on several lines, two spaces for each level.
    pub fn pretty(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, Some(0));
        out
    }

    fn write(&self, out: &mut String, level: Option<usize>) {
        let line = |out: &mut String, more: usize| {
            if let Some(level) = level {
                out.push('\n');
                out.push_str(&"  ".repeat(level + more));
            }
        };
        let inner = level.map(|level| level + 1);
        match self {
            Self::Scalar(text) => out.push_str(text),
            Self::String(text) => out.push_str(&quoted(text)),
            Self::Array(items) if items.is_empty() => out.push_str("[]"),
            Self::Object(pairs) if pairs.is_empty() => out.push_str("{}"),
            Self::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    line(out, 1);
                    item.write(out, inner);
                }
                line(out, 0);
                out.push(']');
            }
            Self::Object(pairs) => {
                out.push('{');
                for (at, (key, value)) in pairs.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    line(out, 1);
                    out.push_str(&quoted(key));
                    out.push_str(if level.is_some() { ": " } else { ":" });
                    value.write(out, inner);
                }
                line(out, 0);
                out.push('}');
            }
        }
    }

    /// What kind of value it is; only values of one kind are one value that changed.
    fn kind(&self) -> u8 {
        match self {
            Self::Scalar(_) => 0,
            Self::String(_) => 1,
            Self::Array(_) => 2,
            Self::Object(_) => 3,
        }
    }
}

impl fmt::Display for Json {
    /// The value on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(&mut out, None);
        f.write_str(&out)
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string is always JSON")
}

/// An object's pairs as they were written.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

impl JsonDiff {
    /// Compares two values; none if they are equal. `context_lines` is for texts of several lines.
    pub fn new(before: &Json, after: &Json, context_lines: usize) -> Option<Self> {
        if before == after {
            return None;
        }
        Some(match (before, after) {
            (Json::Object(old), Json::Object(new)) => {
                let mut edits = BTreeMap::new();
                for (key, value) in old {
                    let edit = match new.get(key) {
                        None => Some(JsonEdit::Removed(value.clone())),
                        Some(now) => Self::new(value, now, context_lines).map(JsonEdit::Changed),
                    };
                    edits.extend(edit.map(|edit| (key.clone(), edit)));
                }
                for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                    edits.insert(key.clone(), JsonEdit::Added(value.clone()));
                }
                Self::Object(edits)
            }
            (Json::Array(old), Json::Array(new)) => {
                let pairs = fill_gaps(align_equal(old, new), old, new, items_in_gap);
                let change = |a: &Json, b: &Json| Self::new(a, b, context_lines);
                Self::Array(list::edits(old, new, &pairs, change))
            }
            (Json::String(old), Json::String(new)) if by_lines(old) || by_lines(new) => {
                Self::Text(LineDiff::new(old, new, context_lines))
            }
            _ => Self::Replaced(Replaced {
                before: before.clone(),
                after: after.clone(),
            }),
        })
    }

    /// The value after, from the value before.
    pub fn apply(&self, before: &Json) -> Json {
        match (self, before) {
            (Self::Replaced(Replaced { after, .. }), _) => after.clone(),
            (Self::Text(diff), Json::String(text)) => Json::String(diff.apply(text)),
            (Self::Array(edits), Json::Array(items)) => {
                Json::Array(list::apply(items, edits, |item, diff| diff.apply(item)))
            }
            (Self::Object(edits), Json::Object(pairs)) => {
                let mut pairs = pairs.clone();
                for (key, edit) in edits {
                    let value = match edit {
                        JsonEdit::Removed(_) => None,
                        JsonEdit::Added(value) => Some(value.clone()),
                        JsonEdit::Changed(diff) => pairs.get(key).map(|value| diff.apply(value)),
                    };
                    pairs.remove(key);
                    pairs.extend(value.map(|value| (key.clone(), value)));
                }
                Json::Object(pairs)
            }
            // A diff of other values changes nothing here.
            (_, other) => other.clone(),
        }
    }

    /// Every difference with its path, from the top down.
    pub fn changes(&self) -> Vec<JsonChange<'_>> {
        let mut changes = Vec::new();
        self.collect(String::new(), &mut changes);
        changes
    }

    fn collect<'a>(&'a self, path: String, changes: &mut Vec<JsonChange<'a>>) {
        match self {
            Self::Replaced(Replaced { before, after }) => changes.push(JsonChange {
                path,
                what: JsonChanged::Replaced(before, after),
            }),
            Self::Text(diff) => changes.push(JsonChange {
                path,
                what: JsonChanged::Text(diff),
            }),
            Self::Object(edits) => {
                for (key, edit) in edits {
                    let path = member(&path, key);
                    match edit {
                        JsonEdit::Removed(value) => changes.push(JsonChange {
                            path,
                            what: JsonChanged::Removed(value),
                        }),
                        JsonEdit::Added(value) => changes.push(JsonChange {
                            path,
                            what: JsonChanged::Added(value),
                        }),
                        JsonEdit::Changed(diff) => diff.collect(path, changes),
                    }
                }
            }
            Self::Array(edits) => {
                for edit in edits {
                    match edit {
                        Edit::Removed { before, item } => changes.push(JsonChange {
                            path: format!("{path}[{before}]"),
                            what: JsonChanged::Removed(item),
                        }),
                        Edit::Added { after, item } => changes.push(JsonChange {
                            path: format!("{path}[{after}]"),
                            what: JsonChanged::Added(item),
                        }),
                        Edit::Changed { after, change, .. } => {
                            change.collect(format!("{path}[{after}]"), changes);
                        }
                    }
                }
            }
        }
    }
}

/// `path.key`, or `path["odd key"]`.
fn member(path: &str, key: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
    match !key.is_empty() && key.chars().all(plain) {
        true if path.is_empty() => key.to_owned(),
        true => format!("{path}.{key}"),
        false => format!("{path}[{}]", quoted(key)),
    }
}

fn by_lines(text: &str) -> bool {
    text.len() > LONG_TEXT_BYTES || text.contains('\n')
}

/// Which items between equal ones are one item that changed: the most alike, or, where as many
/// stand on one side as on the other, each with the one at its place.
fn items_in_gap(before: &[Json], after: &[Json]) -> list::Alignment {
    let same_kinds = before
        .iter()
        .map(Json::kind)
        .eq(after.iter().map(Json::kind));
    if same_kinds {
        return (0..before.len()).map(|at| (at, at)).collect();
    }
    let sketch = |item: &Json| Sketch::of([item.to_string().as_str()]);
    let old: Vec<Sketch> = before.iter().map(sketch).collect();
    let new: Vec<Sketch> = after.iter().map(sketch).collect();
    most_alike(before.len(), after.len(), ALIKE, |b, a| {
        match before[b].kind() == after[a].kind() && before[b].kind() > 0 {
            true => old[b].likeness(&new[a]),
            false => 0.0,
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Json {
        Json::parse(text).unwrap_or_else(|| panic!("{text} is JSON"))
    }

    fn shown(before: &str, after: &str) -> String {
        let Some(diff) = JsonDiff::new(&parse(before), &parse(after), 1) else {
            return "equal".into();
        };
        let line = |change: &JsonChange<'_>| match change.what {
            JsonChanged::Removed(value) => format!("- {}: {value}", change.path),
            JsonChanged::Added(value) => format!("+ {}: {value}", change.path),
            JsonChanged::Replaced(old, new) => format!("{}: {old} → {new}", change.path),
            JsonChanged::Text(diff) => format!("{}: {} hunks", change.path, diff.hunks.len()),
        };
        let lines: Vec<String> = diff.changes().iter().map(line).collect();
        lines.join("\n")
    }

    #[test]
    fn each_difference_has_its_path() {
        let before = r#"{"items": [{"n": "a", "price": 1}, {"n": "b", "price": 12.5}], "old": true, "to": {"odd key": 1}}"#;
        let after = r#"{"to": {"odd key": 2}, "items": [{"n": "new"}, {"n": "a", "price": 1}, {"n": "b", "price": 13}], "new": [1]}"#;
        insta::assert_snapshot!(shown(before, after), @r#"
        + items[0]: {"n":"new"}
        items[2].price: 12.5 → 13
        + new: [1]
        - old: true
        to["odd key"]: 1 → 2
        "#);
    }

    #[test]
    fn spelling_is_no_difference_and_number_text_is() {
        assert_eq!(
            shown(r#"{"a":1,"b":"é"}"#, "{\"b\" : \"\\u00e9\", \"a\": 1}"),
            "equal"
        );
        assert_eq!(shown("[1.0]", "[1]"), "[0]: 1.0 → 1");
        let ids = shown("[12345678901234567890]", "[12345678901234567891]");
        assert_eq!(ids, "[0]: 12345678901234567890 → 12345678901234567891");
        assert_eq!(shown(r#"{"t":"a\nb"}"#, r#"{"t":"a\nc"}"#), "t: 1 hunks");
        assert_eq!(shown(r#"{"t":"a"}"#, r#"{"t":["a"]}"#), r#"t: "a" → ["a"]"#);
    }

    #[test]
    fn what_is_no_plain_json_is_none() {
        for text in [
            "",
            "{",
            "{\"a\":1,\"a\":2}",
            "not json",
            "\"\\ud800\"",
            "1 2",
        ] {
            assert_eq!(Json::parse(text), None, "{text}");
        }
        assert_eq!(
            Json::parse(&format!("{}1{}", "[".repeat(100), "]".repeat(100))),
            None
        );
        assert_eq!(Json::parse_structure("12"), None);
        assert_eq!(parse(" [ ] ").pretty(), "[]");
        insta::assert_snapshot!(parse(r#"{"b":[1,{}],"a":"x"}"#).pretty(), @r#"
        {
          "a": "x",
          "b": [
            1,
            {}
          ]
        }
        "#);
    }

    fn values() -> impl Strategy<Value = Json> {
        let leaf = prop::sample::select(vec!["1", "2", "null", r#""a""#, r#""a\nb""#, r#""a\nc""#]);
        leaf.prop_map(parse).prop_recursive(3, 24, 4, |inner| {
            let key = prop::sample::select(vec!["a", "b", "c c"]).prop_map(str::to_owned);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
                prop::collection::btree_map(key, inner, 0..4).prop_map(Json::Object),
            ]
        })
    }

    proptest! {
        #[test]
        fn applying_a_diff_gives_the_value_after(a in values(), b in values()) {
            match JsonDiff::new(&a, &b, 1) {
                None => prop_assert_eq!(a, b),
                Some(diff) => {
                    prop_assert_eq!(diff.apply(&a), b);
                    prop_assert!(!diff.changes().is_empty());
                }
            }
        }

        #[test]
        fn a_value_is_what_it_is_written_as(value in values()) {
            prop_assert_eq!(Json::parse(&value.to_string()), Some(value.clone()));
            prop_assert_eq!(Json::parse(&value.pretty()), Some(value));
        }
    }
}
