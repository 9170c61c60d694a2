//! Advice as a program takes it: methods and parameters in place of what is typed.
//!
//! A command line that a hint has is parsed as the terminal parses it, and each option is the parameter of its name.
//! Deliberately absent: commands without a method, which stay as they are typed.

use clap::{ArgMatches, Command, parser::ValueSource};
use serde_json::{Map, Value, json};
use tract::deeds::advice::worded;
use tract::deeds::{ApiError, described};
use tract::render::shell_words;

use crate::cli::Cli;

/// The same error with its hint in methods. The first method that would help stands in its facts, as `helps`.
pub fn in_methods(fault: ApiError) -> ApiError {
    let Some(hint) = &fault.hint else {
        return fault;
    };
    let mut helps = None;
    let said = worded(hint, |typed| {
        if let Some(option) = typed.strip_prefix("--") {
            let (name, value) = option.split_once(' ').unwrap_or((option, ""));
            let told = format!("'{}' {value}", name.replace('-', "_"));
            return Some(told.trim_end().to_owned());
        }
        let (method, params) = called(typed)?;
        let shown = match params.is_empty() {
            true => method.clone(),
            false => format!("{method} {}", Value::Object(params.clone())),
        };
        helps.get_or_insert_with(|| json!({ "method": method, "params": params }));
        Some(shown)
    });
    let mut fault = fault.with_hint(said);
    fault
        .facts
        .extend(helps.map(|helps| ("helps".to_owned(), helps)));
    fault
}

/// The method of a command line, and its parameters; none where there is none of its name.
fn called(line: &str) -> Option<(String, Map<String, Value>)> {
    let words = shell_words(line);
    let mut command = Cli::lean(|name| words.iter().any(|word| word == name));
    let typed = std::iter::once("tract").chain(words.iter().map(String::as_str));
    let matches = command.try_get_matches_from_mut(typed).ok()?;
    let (mut command, mut matches) = (&command, &matches);
    let mut names: Vec<&str> = Vec::new();
    while let Some((name, below)) = matches.subcommand() {
        command = command.find_subcommand(name)?;
        matches = below;
        names.push(name);
    }
    let method = names.join("_").replace('-', "_");
    // What lists where nothing is given is a method of its own: branches, remotes, tags.
    let lists = (words.len() == names.len())
        .then(|| ["s", "es"].map(|end| format!("{method}{end}")))
        .into_iter()
        .flatten()
        .find_map(|method| Some((parameters(&method)?, method)));
    let (schema, method) = match lists {
        Some(found) => found,
        None => (parameters(&method)?, method),
    };
    Some((method, params(command, matches, &schema)))
}

/// What a method takes, by name, as JSON Schema.
fn parameters(method: &str) -> Option<Value> {
    let described = described();
    let methods = described["methods"].as_array()?;
    let found = methods.iter().find(|it| it["name"] == method)?;
    let place = found["params"]["$ref"].as_str()?;
    let schema = described.pointer(place.get(1..)?)?;
    Some(schema["properties"].clone())
}

/// The parameters that were typed, but for those that only draw.
fn params(command: &Command, matches: &ArgMatches, schema: &Value) -> Map<String, Value> {
    let mut params = Map::new();
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let long = argument.get_long().map(|long| long.replace('-', "_"));
        let name = long.unwrap_or_else(|| id.to_owned());
        let Some(kind) = schema.get(&name) else {
            continue;
        };
        let value = if argument.get_action().takes_values() {
            let typed = matches.get_raw(id).into_iter().flatten();
            let typed: Vec<Value> = typed.map(|it| value(&it.to_string_lossy(), kind)).collect();
            match kind["type"].to_string().contains("array") {
                true => Value::Array(typed),
                false => typed.into_iter().next().unwrap_or_default(),
            }
        } else {
            Value::Bool(true)
        };
        params.insert(name, value);
    }
    params
}

/// What was typed, as a number where one is asked for.
fn value(typed: &str, kind: &Value) -> Value {
    let is_number = kind["type"].to_string().contains("integer");
    match typed.parse::<i64>() {
        Ok(number) if is_number => number.into(),
        _ => typed.into(),
    }
}

#[cfg(test)]
mod tests {
    use tract::deeds::advice::command;
    use tract::render::shell_word;

    use super::*;

    fn hint(text: &str) -> (String, Value) {
        let fault = in_methods(ApiError::refused("no").with_hint(text));
        let helps = fault.facts.get("helps").cloned().unwrap_or_default();
        (fault.hint.expect("a hint"), helps)
    }

    #[test]
    fn a_command_is_its_method_with_parameters() {
        assert_eq!(
            hint("`tract undo 5` reverses it; `--force` does it anyway"),
            (
                r#"undo {"operation":5} reverses it; 'force' does it anyway"#.to_owned(),
                json!({ "method": "undo", "params": { "operation": 5 } })
            )
        );
        assert_eq!(hint("`tract reflog` lists them").0, "reflog lists them");
        for (typed, method) in [
            ("remote", "remotes"),
            ("branch", "branches"),
            ("tag", "tags"),
        ] {
            let said = hint(&format!("`tract {typed}` lists them")).0;
            assert_eq!(said, format!("{method} lists them"));
        }
        assert_eq!(
            hint("`--in pi`, or `--to-budget 8k`").0,
            "'in' pi, or 'to_budget' 8k"
        );
        assert_eq!(
            hint("`tract config budget.max 128k`").0,
            r#"config {"key":"budget.max","value":"128k"}"#
        );
        assert_eq!(hint("`tract log --oneline -n 3`").0, r#"log {"limit":3}"#);
        assert_eq!(
            hint("`tract purge --match 'a``b c' --force`").1["params"],
            json!({ "match": "a`b c", "force": true })
        );
    }

    #[test]
    fn a_name_with_any_mark_in_it_is_that_name() {
        for name in ["a", "it's", "a`b", "two words", "\\", ""] {
            let typed = command(&format!("log {}", shell_word(name)));
            assert_eq!(hint(&typed).1["params"], json!({ "rev": name }), "{typed}");
        }
    }

    #[test]
    fn what_is_no_method_stays_as_it_is_typed() {
        assert_eq!(hint("`tract setup` does it").0, "tract setup does it");
        assert_eq!(hint("`nothing` of that").0, "`nothing` of that");
        assert_eq!(hint("a lone ` stays").0, "a lone ` stays");
        assert_eq!(hint("try again"), ("try again".to_owned(), Value::Null));
    }
}
