//! JSON compared by keys.

use std::collections::BTreeMap;
use std::mem::discriminant as kind;

use crate::diff::Replaced;
use crate::diff::alike::{Sketch, most_alike};
use crate::diff::json::Json;
use crate::diff::lines::LineDiff;
use crate::diff::list::{self, Edit, align_equal, fill_gaps};

/// From how many bytes on a text without line feeds is compared by words, not shown twice.
const LONG_TEXT_BYTES: usize = 80;
/// How alike two items of an array must be to be one item that changed.
const ALIKE: f64 = 0.5;

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
            _ => Self::Replaced(Replaced::unless_equal(before, after)?),
        })
    }

    /// Every difference with its path, from the top down.
    pub fn changes(&self) -> Vec<JsonChange<'_>> {
        let mut changes = Vec::new();
        self.collect(String::new(), &mut changes);
        changes
    }

    fn collect<'a>(&'a self, path: String, changes: &mut Vec<JsonChange<'a>>) {
        match self {
            Self::Replaced(Replaced { before, after }) => {
                tell(changes, path, JsonChanged::Replaced(before, after));
            }
            Self::Text(diff) => tell(changes, path, JsonChanged::Text(diff)),
            Self::Object(edits) => {
                for (key, edit) in edits {
                    let path = member(&path, key);
                    match edit {
                        JsonEdit::Removed(value) => {
                            tell(changes, path, JsonChanged::Removed(value))
                        }
                        JsonEdit::Added(value) => tell(changes, path, JsonChanged::Added(value)),
                        JsonEdit::Changed(diff) => diff.collect(path, changes),
                    }
                }
            }
            Self::Array(edits) => {
                for edit in edits {
                    let place = |at: &usize| format!("{path}[{at}]");
                    match edit {
                        Edit::Removed { before, item } => {
                            tell(changes, place(before), JsonChanged::Removed(item));
                        }
                        Edit::Added { after, item } => {
                            tell(changes, place(after), JsonChanged::Added(item));
                        }
                        Edit::Changed { after, change, .. } => {
                            change.collect(place(after), changes);
                        }
                    }
                }
            }
        }
    }
}

fn tell<'a>(changes: &mut Vec<JsonChange<'a>>, path: String, what: JsonChanged<'a>) {
    changes.push(JsonChange { path, what });
}

/// `path.key`, or `path["odd key"]`.
fn member(path: &str, key: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
    match !key.is_empty() && key.chars().all(plain) {
        true if path.is_empty() => key.to_owned(),
        true => format!("{path}.{key}"),
        false => format!("{path}[{}]", serde_json::Value::from(key)),
    }
}

fn by_lines(text: &str) -> bool {
    text.len() > LONG_TEXT_BYTES || text.contains('\n')
}

/// Which items between equal ones are one item that changed: the most alike, or, where as many
/// stand on one side as on the other, each with the one at its place.
fn items_in_gap(before: &[Json], after: &[Json]) -> list::Alignment {
    if before.iter().map(kind).eq(after.iter().map(kind)) {
        return (0..before.len()).map(|at| (at, at)).collect();
    }
    let sketch = |item: &Json| Sketch::of([item.to_string().as_str()]);
    let is_scalar = |item: &Json| matches!(item, Json::Scalar(_));
    let may_be_one = |old: &Json, new: &Json| kind(old) == kind(new) && !is_scalar(old);
    most_alike(before, after, ALIKE, sketch, may_be_one)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::diff::json::tests::{parse, values};

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

    proptest! {
        #![proptest_config(crate::conditions::laws(256))]

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
    }
}
