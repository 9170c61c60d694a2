//! What is wrong with JSON that was read into a type, in words for whoever wrote the JSON.
//!
//! serde says it in the words of the type's own language: `invalid type: integer 5, expected struct Foo`.
//!
//! # Source
//!
//! The messages of serde 1.0, `serde::de::Error` and `serde::de::Unexpected`, and of serde_json 1.0.

use std::collections::BTreeMap;

use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::model::nearest;

/// What is wrong with `text`: which field, what stands there, what is wanted. The place in the text comes with it only
/// where the text is no JSON.
pub fn unfit(error: &serde_json::Error, text: &str) -> String {
    let said = error.to_string();
    if !matches!(error.classify(), Category::Data) {
        return said.replace("EOF while parsing", "it ends within");
    }
    let what = said
        .rsplit_once(" at line ")
        .map_or(&*said, |(what, _)| what);
    let path = path(text, offset(error, text));
    let named = |name: &str| {
        let path = path.iter().map(String::as_str).chain([name]);
        path.collect::<Vec<_>>().join(".")
    };
    let place = path.join(".");
    if let Some(name) = what.strip_prefix("missing field ") {
        return format!("'{}' is missing", named(bare(name)));
    }
    if let Some(name) = what.strip_prefix("duplicate field ") {
        return format!("'{}' is there twice", named(bare(name)));
    }
    if let Some((name, known)) = parted(what, "unknown field ") {
        let known = match known {
            "there are no fields" => "nothing is".to_owned(),
            known => choices(known),
        };
        return format!("there is no '{}'; known: {known}", named(bare(name)));
    }
    if let Some((name, known)) = parted(what, "unknown variant ") {
        let is = if place.is_empty() {
            String::new()
        } else {
            format!("'{place}': ")
        };
        return format!(
            "{is}'{}' is not known; known: {}",
            bare(name),
            choices(known)
        );
    }
    let begins = ["invalid type: ", "invalid value: ", "invalid "];
    let told = begins.iter().find_map(|begin| parted(what, begin));
    let told = told.map(|(found, wanted)| {
        format!(
            "{} where {} is wanted",
            self::found(found),
            self::wanted(wanted)
        )
    });
    let told = told.unwrap_or_else(
        || match what.starts_with("data did not match any variant") {
            true => "it has no form that is known".to_owned(),
            false => what.to_owned(),
        },
    );
    match place.is_empty() {
        true => told,
        false => format!("'{place}': {told}"),
    }
}

/// The field or word that was meant, where one is near to what stands there.
pub(super) fn meant(error: &serde_json::Error) -> Option<String> {
    let said = error.to_string();
    let begins = ["unknown field ", "unknown variant "];
    let (name, known) = begins.iter().find_map(|begin| parted(&said, begin))?;
    let known = known
        .rsplit_once(" at line ")
        .map_or(known, |(known, _)| known);
    let known = choices(known);
    nearest(bare(name), known.split(", ")).map(str::to_owned)
}

/// Where in the text the reader stopped.
fn offset(error: &serde_json::Error, text: &str) -> usize {
    let lines = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    lines.map(str::len).sum::<usize>() + error.column()
}

/// The names of the fields that hold a place of a text.
fn path(text: &str, offset: usize) -> Vec<String> {
    let (mut path, mut inner) = (Vec::new(), text);
    while let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(inner) {
        let holds = |value: &&RawValue| {
            let start = value.get().as_ptr().addr() - text.as_ptr().addr();
            start <= offset && offset <= start + value.get().len()
        };
        let Some((name, value)) = fields.into_iter().find(|(_, value)| holds(value)) else {
            break;
        };
        path.push(name);
        inner = value.get();
    }
    path
}

/// `x, expected y` behind a beginning.
fn parted<'t>(what: &'t str, begin: &str) -> Option<(&'t str, &'t str)> {
    let rest = what.strip_prefix(begin)?;
    rest.rsplit_once(", expected ")
        .or_else(|| rest.split_once(", "))
}

/// A name without its marks.
fn bare(name: &str) -> &str {
    name.trim_matches('`')
}

/// ``one of `a`, `b` `` and `` `a` or `b` `` as `a, b`.
fn choices(known: &str) -> String {
    let known = known.strip_prefix("one of ").unwrap_or(known);
    known.replace(" or ", ", ").replace('`', "")
}

fn found(found: &str) -> String {
    match found.split_once(' ').unwrap_or((found, "")) {
        ("null" | "unit", _) => "null".to_owned(),
        ("sequence", _) => "a list".to_owned(),
        ("length", count) => format!("a list of {count}"),
        ("map", _) => "an object".to_owned(),
        ("boolean" | "integer", value) => bare(value).to_owned(),
        ("floating", value) => bare(value.trim_start_matches("point ")).to_owned(),
        ("string", value) => format!("the text {value}"),
        _ => found.to_owned(),
    }
}

fn wanted(wanted: &str) -> &str {
    match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more,",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "a borrowed string" | "variant identifier" => "a text",
        "path string" => "a path",
        "a map" => "an object",
        "string or map" => "a text or an object",
        _ if wanted.starts_with("struct ") => "an object",
        _ if wanted.starts_with("a nonzero ") => "a whole number, 1 or more,",
        _ if wanted.starts_with("a sequence") || wanted.starts_with("a tuple") => "a list",
        _ if wanted.starts_with("enum ") => "a text",
        _ => wanted,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "it is only read")]
    struct Outer {
        id: String,
        #[serde(default)]
        around: usize,
        #[serde(default)]
        place: Option<Place>,
        #[serde(default)]
        inner: Option<Inner>,
        #[serde(default)]
        list: Vec<i64>,
        #[serde(default)]
        is: bool,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Place {
        Here,
        All,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "it is only read")]
    struct Inner {
        depth: f64,
    }

    #[test]
    fn what_is_wrong_is_said_in_plain_words() {
        let said = [
            r#"{"id":"a","around":"1"}"#,
            r#"{"id":"a","around":-1}"#,
            r#"{"id":"a","around":1.5}"#,
            r#"{"id":null}"#,
            r#"{"around":1}"#,
            r#"{"id":"a","more":1}"#,
            r#"{"id":"a","id":"b"}"#,
            "{\n \"id\": \"a\",\n \"place\": \"there\"}",
            r#"{"id":"a","inner":{"depth":"x"}}"#,
            r#"{"id":"a","inner":{}}"#,
            r#"{"id":"a","inner":5}"#,
            r#"{"id":"a","list":{}}"#,
            r#"{"id":"a","is":"yes"}"#,
            "[]",
            r#"{"id":"#,
        ]
        .map(|text| unfit(&serde_json::from_str::<Outer>(text).expect_err(text), text));
        insta::assert_snapshot!(said.join("\n"), @r#"
        'around': the text "1" where a whole number, 0 or more, is wanted
        'around': -1 where a whole number, 0 or more, is wanted
        'around': 1.5 where a whole number, 0 or more, is wanted
        'id': null where a text is wanted
        'id' is missing
        there is no 'more'; known: id, around, place, inner, list, is
        'id' is there twice
        'place': 'there' is not known; known: here, all
        'inner.depth': the text "x" where a number is wanted
        'inner.depth' is missing
        'inner': 5 where an object is wanted
        'list': an object where a list is wanted
        'is': the text "yes" where true or false is wanted
        a list of 0 where an object is wanted
        it ends within a value at line 1 column 6
        "#);
    }
}
