//! The law of requests: what is typed for a request is read as that request, so that the line by which the log of operations
//! names it means the same, whichever door it came through.

use clap::error::ErrorKind;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};
use tract::deeds::{DeedEntry, deeds, described};

use crate::conditions;

/// What stands for a text: revisions, numbers, amounts, ages, what has spaces and what looks like an option.
const TEXTS: [&str; 13] = [
    "HEAD",
    ":2",
    ":1..:3",
    ":/a word",
    "2",
    "0.5",
    "80%",
    "40k",
    "2h",
    "user",
    "two words",
    "-x",
    "--",
];

/// A value that a schema allows, by what was drawn for it.
fn value(schema: &Value, drawn: (u8, Index)) -> Value {
    let types = &schema["type"];
    let is = |name: &str| {
        types == name
            || types
                .as_array()
                .is_some_and(|types| types.contains(&json!(name)))
    };
    let text = drawn.1.get(&TEXTS);
    match () {
        () if is("boolean") => json!(drawn.0.is_multiple_of(2)),
        () if is("array") => (0..drawn.0 % 3)
            .map(|_| value(&schema["items"], drawn))
            .collect(),
        () if is("string") => json!(text),
        // Any JSON is a message, and an object is of settings.
        () if is("object") || types.is_null() => json!({"role": "user", "content": text}),
        () => json!(drawn.0 % 50),
    }
}

/// The parameters of a deed, as its schema has them.
fn fields(deed: &DeedEntry) -> Map<String, Value> {
    let described = described();
    let methods = described["methods"].as_array().expect("methods");
    let method = methods
        .iter()
        .find(|method| method["name"] == deed.name)
        .expect("it is one");
    let name = method["params"]["$ref"].as_str().expect("a type");
    let schema = described.pointer(&name[1..]).expect("it is there");
    // A deed of which nothing is asked has none.
    schema["properties"]
        .as_object()
        .cloned()
        .unwrap_or_default()
}

#[test]
fn what_is_typed_for_a_request_is_the_request() {
    for deed in deeds() {
        let fields = fields(deed);
        let drawn = prop::collection::vec(
            prop::option::weighted(0.3, any::<(u8, Index)>()),
            fields.len(),
        );
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
            source_file: Some(file!()),
            ..conditions::laws(256)
        });
        let law = runner.run(&drawn, |drawn| {
            let given = fields.iter().zip(drawn);
            let given = given
                .filter_map(|((name, schema), drawn)| Some((name.clone(), value(schema, drawn?))));
            let params = Value::Object(given.collect()).to_string();
            let Ok(whole) = (deed.whole)(&params) else {
                return Ok(());
            };
            let words = (deed.written)(&params).expect("it was read").words;
            let name: Vec<&str> = deed.name.splitn(2, '_').collect();
            let (command, words) = words.split_at(name.len());
            prop_assert_eq!(command.join("_").replace('-', "_"), deed.name);
            match (deed.typed)(words) {
                Ok(typed) => prop_assert_eq!(typed, whole, "{:?}", words),
                Err(error) => prop_assert!(
                    matches!(
                        error.kind(),
                        ErrorKind::ArgumentConflict | ErrorKind::MissingRequiredArgument
                    ),
                    "{:?}: {}",
                    words,
                    error
                ),
            }
            Ok(())
        });
        law.unwrap_or_else(|error| panic!("{}: {error}", deed.name));
    }
}
