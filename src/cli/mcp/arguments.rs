//! What tools take: as a client lists it, and as a model gives it, which is read with good will.

use serde_json::{Map, Value, json};
use tract::deeds::ApiError;

/// An argument of a tool.
pub struct Argument {
    pub name: &'static str,
    pub kind: Kind,
    /// What it means, for whoever calls.
    pub about: &'static str,
    pub is_required: bool,
}

/// What an argument is.
#[derive(Clone, Copy)]
pub enum Kind {
    Text,
    /// A whole number, 0 or more.
    Number,
    OneOf(&'static [&'static str]),
}

impl Argument {
    pub const fn of(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self {
            name,
            kind,
            about,
            is_required: false,
        }
    }

    pub const fn required(name: &'static str, about: &'static str) -> Self {
        Self {
            is_required: true,
            ..Self::of(name, Kind::Text, about)
        }
    }

    fn schema(&self) -> Value {
        let about = self.about;
        match self.kind {
            Kind::Text => json!({ "type": "string", "description": about }),
            Kind::Number => json!({ "type": "integer", "minimum": 0, "description": about }),
            Kind::OneOf(words) => json!({ "type": "string", "enum": words, "description": about }),
        }
    }

    /// What is given for it, as what it is. Null, and nothing where it may be left out, are as if it were not there; a
    /// number may be a text, and may have `.0` behind it.
    fn read(&self, given: &Value) -> Result<Option<Value>, ApiError> {
        let name = self.name;
        let wrong = |wanted: &str| Err(ApiError::params(format!("'{name}' is {wanted}")));
        match (self.kind, given) {
            (_, Value::Null) => Ok(None),
            (_, Value::String(text)) if text.trim().is_empty() && !self.is_required => Ok(None),
            (Kind::Text, Value::String(_)) => Ok(Some(given.clone())),
            (Kind::Text, _) => wrong("a text"),
            (Kind::Number, given) => match whole(given) {
                Some(number) => Ok(Some(number.into())),
                None => wrong("a whole number, 0 or more"),
            },
            (Kind::OneOf(words), given) => match given.as_str().map(str::trim) {
                Some(word) if words.contains(&word) => Ok(Some(word.into())),
                _ => wrong(&format!("one of {}", words.join(", "))),
            },
        }
    }
}

/// A whole number, however it is written.
fn whole(given: &Value) -> Option<u64> {
    let number = match given {
        Value::Number(number) => number.clone(),
        Value::String(text) => serde_json::from_str(text.trim()).ok()?,
        _ => return None,
    };
    let is_whole =
        |number: &f64| number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(number);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole, and in the range that floating numbers have whole"
    )]
    let floating = || number.as_f64().filter(is_whole).map(|number| number as u64);
    number.as_u64().or_else(floating)
}

/// What a tool takes, as JSON Schema.
pub fn schema(takes: &[Argument]) -> Value {
    let properties = takes.iter().map(|it| (it.name.to_owned(), it.schema()));
    let required = takes.iter().filter(|it| it.is_required).map(|it| it.name);
    json!({
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "required": required.collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

/// What is given to a tool, by what it takes.
pub fn read(tool: &str, takes: &[Argument], given: &Value) -> Result<Value, ApiError> {
    let nothing = Map::new();
    let given = match given {
        Value::Null => &nothing,
        Value::Object(given) => given,
        _ => return Err(ApiError::params("the arguments are an object")),
    };
    if let Some(name) = given
        .keys()
        .find(|name| !takes.iter().any(|it| it.name == **name))
    {
        let known: Vec<&str> = takes.iter().map(|it| it.name).collect();
        let known = if known.is_empty() {
            "nothing".to_owned()
        } else {
            known.join(", ")
        };
        return Err(ApiError::params(format!(
            "there is no argument '{name}'; {tool} takes {known}"
        )));
    }
    let mut read = Map::new();
    for argument in takes {
        let value = argument.read(given.get(argument.name).unwrap_or(&Value::Null))?;
        match value {
            Some(value) => {
                read.insert(argument.name.to_owned(), value);
            }
            None if argument.is_required => {
                return Err(ApiError::params(format!("'{}' is missing", argument.name)));
            }
            None => {}
        }
    }
    Ok(Value::Object(read))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKES: &[Argument] = &[
        Argument::required("id", "which"),
        Argument::of("page", Kind::Number, "which"),
        Argument::of("where", Kind::OneOf(&["here", "all"]), "which"),
    ];

    #[test]
    fn arguments_are_read_with_good_will() {
        let read = |given: Value| read("read", TAKES, &given);
        let whole = json!({ "id": ":1", "page": 1 });
        for page in [json!(1), json!(1.0), json!("1"), json!(" 1.0 ")] {
            let given = json!({ "id": ":1", "page": page, "where": null });
            assert_eq!(read(given).expect("it fits"), whole);
        }
        let given = json!({ "id": ":1", "page": "", "where": " all" });
        assert_eq!(
            read(given).expect("it fits"),
            json!({ "id": ":1", "where": "all" })
        );
        let wrong = [
            json!({ "id": null }),
            json!({ "id": 5 }),
            json!({ "id": ":1", "page": -1 }),
            json!({ "id": ":1", "page": 1.5 }),
            json!({ "id": ":1", "page": "two" }),
            json!({ "id": ":1", "page": 1e300 }),
            json!({ "id": ":1", "where": "there" }),
            json!({ "id": ":1", "more": 1 }),
            json!([":1"]),
        ];
        let said = wrong.map(|given| read(given).expect_err("it does not fit").message);
        insta::assert_snapshot!(said.join("\n"), @"
        'id' is missing
        'id' is a text
        'page' is a whole number, 0 or more
        'page' is a whole number, 0 or more
        'page' is a whole number, 0 or more
        'page' is a whole number, 0 or more
        'where' is one of here, all
        there is no argument 'more'; read takes id, page, where
        the arguments are an object
        ");
    }
}
