//! The law of usage records: no number of one is without a home.

use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::json::Raw;
use super::{anthropic, openai};
use crate::model::{Usage, UsageRecord};

/// A count that is said.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![1..9_u64, 1..200_000_u64]
}

/// A name that no reader knows.
fn unknown() -> impl Strategy<Value = String> {
    "[a-z]{1,9}_x"
}

/// Numbers that no reader knows, in any depth.
fn unknowns() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        count().prop_map(Value::from),
        (0.1..9.0_f64).prop_map(Value::from),
        Just(Value::Null),
        Just(json!("a word")),
    ];
    let nested = leaf.prop_recursive(3, 9, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(unknown(), inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    prop::collection::btree_map(unknown(), nested, 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

fn both(mut one: Value, more: Value) -> Value {
    let (Some(members), Value::Object(more)) = (one.as_object_mut(), more) else {
        unreachable!("both are objects");
    };
    members.extend(more);
    one
}

prop_compose! {
    /// The tokens of a request to Anthropic's models.
    fn request()(counts in prop::array::uniform5(count()), hour in count(), thinking in count()) -> Value {
        let [new, read, minutes, hours, output] = counts;
        let hours = hours.min(hour);
        json!({
            "input_tokens": new,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": minutes + hours,
            "cache_creation": { "ephemeral_5m_input_tokens": minutes, "ephemeral_1h_input_tokens": hours },
            "output_tokens": output + thinking,
            "output_tokens_details": { "thinking_tokens": thinking },
        })
    }
}

prop_compose! {
    /// A usage record of Anthropic's of one request.
    fn plain()(tokens in request(), searches in count(), fetches in count(), more in unknowns()) -> Value {
        let tools = json!({ "server_tool_use": { "web_search_requests": searches, "web_fetch_requests": fetches } });
        both(both(tokens, tools), more)
    }
}

prop_compose! {
    /// One of several requests; the whole is said as the sum of the model's own.
    fn iterated()(
        own in prop::collection::vec(request(), 2..4),
        others in prop::collection::vec((request(), any::<bool>(), unknowns()), 0..3),
        more in unknowns(),
    ) -> Value {
        let sum = |path: &str| -> u64 {
            own.iter().filter_map(|it| it.pointer(path)?.as_u64()).sum()
        };
        let whole = json!({
            "input_tokens": sum("/input_tokens"),
            "cache_read_input_tokens": sum("/cache_read_input_tokens"),
            "cache_creation_input_tokens": sum("/cache_creation_input_tokens"),
            "output_tokens": sum("/output_tokens"),
        });
        let own = own.into_iter().map(|it| both(it, json!({ "type": "message" })));
        let others = others.into_iter().map(|(it, is_adviser, more)| {
            let kind = match is_adviser {
                true => json!({ "type": "advisor_message", "model": "claude-opus-4-6" }),
                false => json!({ "type": "compaction" }),
            };
            both(both(it, kind), more)
        });
        let iterations: Vec<Value> = others.chain(own).collect();
        both(both(whole, json!({ "iterations": iterations })), more)
    }
}

prop_compose! {
    /// A usage record of OpenAI's.
    fn chat()(counts in prop::array::uniform7(count()), more in unknowns(), deeper in unknowns()) -> Value {
        let [input, cached, output, reasoning, sound, picture, rejected] = counts;
        let details = json!({ "cached_tokens": cached, "audio_tokens": sound, "image_tokens": picture });
        let said = json!({ "reasoning_tokens": reasoning, "audio_tokens": sound, "rejected_prediction_tokens": rejected });
        let counts = json!({
            "prompt_tokens": input + cached,
            "prompt_tokens_details": both(details, deeper),
            "completion_tokens": output + reasoning,
            "completion_tokens_details": said,
        });
        both(counts, more)
    }
}

/// The paths to all numbers of a value.
fn numbers(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(path.to_owned()),
        Value::Object(members) => {
            for (key, value) in members {
                numbers(value, &format!("{path}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                numbers(value, &format!("{path}/{at}"), found);
            }
        }
        _ => {}
    }
}

/// Each number of a record changes what is read of it. `is_repeated`: the record says this number otherwise, too.
fn each_counts(
    record: &Value,
    read: impl Fn(Raw<'_>) -> Option<UsageRecord>,
    is_repeated: impl Fn(&str) -> bool,
) -> Result<(), TestCaseError> {
    let of = |value: &Value| {
        let raw = RawValue::from_string(value.to_string()).expect("JSON");
        read(Some(&raw)).expect("a record")
    };
    let (before, mut paths) = (of(record), Vec::new());
    numbers(record, "", &mut paths);
    for path in paths.iter().filter(|path| !is_repeated(path)) {
        let mut changed = record.clone();
        let number = changed.pointer_mut(path).expect("it is there");
        *number = match number.as_u64() {
            Some(count) => (count + 1).into(),
            None => (number.as_f64().expect("a number") + 0.5).into(),
        };
        prop_assert_ne!(of(&changed), before.clone(), "{}", path);
    }
    Ok(())
}

proptest! {
    #![proptest_config(crate::conditions::laws(256))]

    #[test]
    fn no_number_of_a_record_of_anthropics_is_without_a_home(record in plain()) {
        // What was written is said once more by how long it is kept.
        each_counts(&record, anthropic::usage_record, |path| path.starts_with("/cache_creation/ephemeral_5m"))?;
    }

    #[test]
    fn nor_one_of_its_iterations(record in iterated()) {
        let whole = ["/input_tokens", "/cache_read_input_tokens", "/cache_creation_input_tokens", "/output_tokens"];
        each_counts(&record, anthropic::usage_record, |path| {
            whole.contains(&path) || path.ends_with("ephemeral_5m_input_tokens")
        })?;
        let raw = RawValue::from_string(record.to_string()).expect("JSON");
        let read = anthropic::usage_record(Some(&raw)).expect("a record");
        // The context is that of the last own request; all together is the sum of all.
        let iterations = record["iterations"].as_array().expect("a list");
        let of = |it: &Value| {
            let raw = RawValue::from_string(it.to_string()).expect("JSON");
            anthropic::usage(Some(&raw)).expect("a record")
        };
        prop_assert_eq!(read.usage, of(&iterations[iterations.len() - 1]));
        let sum = iterations.iter().map(of).fold(Usage::default(), Usage::plus);
        prop_assert_eq!(read.usage.plus(read.detail.iterated()), sum);
    }

    #[test]
    fn no_number_of_a_record_of_openais_is_without_a_home(record in chat()) {
        each_counts(&record, openai::usage_record, |_| false)?;
    }
}
