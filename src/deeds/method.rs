//! Methods: a name, parameters, an answer.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::advice::Exit;
use super::at::At;
use super::error::ApiError;
use super::json::RawJson;
use super::mismatch::{meant, unfit};

/// Something that people do, by its parameters.
pub trait Method: DeserializeOwned + JsonSchema {
    /// Its name.
    const NAME: &'static str;
    /// What it does, in one sentence. A [`Deed`](super::Deed) has none: its type's first line says it.
    const ABOUT: &'static str = "";
    /// Whether it changes anything. Those that do not may run beside each other.
    const CHANGES: bool;
    /// The fields that mean another one where an object stands in them, with that one.
    const OBJECTS: &'static [(&'static str, &'static str)] = &[];
    /// What it gives.
    type Answer: Serialize + JsonSchema;

    /// Refuses what makes no sense together, or cannot be typed.
    ///
    /// # Errors
    ///
    /// What is wrong.
    fn check(&self) -> Result<(), ApiError> {
        Ok(())
    }

    /// Does it, once it was checked: by [`Method::call`].
    ///
    /// # Errors
    ///
    /// Each with its kind; nothing is changed then.
    fn act(self, at: &mut At<'_>) -> Result<Self::Answer, ApiError>;

    /// The exit code of an answer that says no: of a check that found damage, a push of which a ref was refused. The
    /// program ends with it, whoever asked.
    fn exit(_answer: &Self::Answer) -> Option<Exit> {
        None
    }

    /// Checks it, and does it.
    ///
    /// # Errors
    ///
    /// As [`Method::check`] and [`Method::act`].
    fn call(self, at: &mut At<'_>) -> Result<Self::Answer, ApiError> {
        self.check()?;
        self.act(at)
    }
}

/// An answer as JSON.
#[derive(Debug)]
pub struct Answered {
    /// It.
    pub json: RawJson,
    /// The exit code with which the program ends for it, where it says no.
    pub exit: Option<Exit>,
}

/// A method that takes and gives JSON.
pub struct MethodEntry {
    /// Its name.
    pub name: &'static str,
    about: &'static str,
    /// Whether it changes anything.
    pub changes: bool,
    /// Does it with parameters as JSON; its answer as JSON.
    pub call: fn(&str, &mut At<'_>) -> Result<Answered, ApiError>,
    pub(super) params: fn(&mut SchemaGenerator) -> Schema,
    pub(super) answer: fn(&mut SchemaGenerator) -> Schema,
}

impl MethodEntry {
    /// What it does, in one sentence.
    pub fn about(&self) -> String {
        if !self.about.is_empty() {
            return self.about.to_owned();
        }
        let mut schemas = SchemaSettings::default()
            .with(|it| it.inline_subschemas = true)
            .into_generator();
        let schema = (self.params)(&mut schemas);
        let said = schema
            .get("description")
            .and_then(|it| it.as_str())
            .unwrap_or_default();
        let first = said.split("\n\n").next().unwrap_or_default();
        first.replace('\n', " ") + "."
    }

    pub(super) const fn of<M: Method>() -> Self {
        Self {
            name: M::NAME,
            about: M::ABOUT,
            changes: M::CHANGES,
            call: |params, at| {
                let params: M = read(params)?;
                let answer = params.call(at)?;
                let json = serde_json::value::to_raw_value(&answer);
                let unwritten = |error: serde_json::Error| ApiError::refused(error.to_string());
                let json = RawJson(json.map_err(unwritten)?);
                let exit = M::exit(&answer);
                Ok(Answered { json, exit })
            },
            params: |schemas| schemas.subschema_for::<M>(),
            answer: |schemas| schemas.subschema_for::<M::Answer>(),
        }
    }
}

/// Parameters from JSON. One that is null is as if it were not there.
pub(super) fn read<M: Method>(text: &str) -> Result<M, ApiError> {
    let unfit = |error: serde_json::Error, text: &str| {
        let fault = ApiError::params(format!("parameters: {}", unfit(&error, text)));
        fault.with_hint(match meant(&error) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("the method describe says what {} takes", M::NAME),
        })
    };
    if text.trim_start().starts_with('[') {
        return Err(ApiError::params(
            "parameters: a list where an object is wanted",
        ));
    }
    let means_another = |name: &str, value: &RawValue| {
        let mut others = M::OBJECTS.iter().filter(|(field, _)| *field == name);
        let (_, other) = others.next()?;
        value.get().starts_with('{').then_some(*other)
    };
    let is_looked_at = text.contains("null") || !M::OBJECTS.is_empty();
    let given = is_looked_at.then(|| serde_json::from_str::<BTreeMap<String, &RawValue>>(text));
    let given = given.and_then(Result::ok).unwrap_or_default();
    let is_plain = |(name, value): (&String, &&RawValue)| {
        value.get() != "null" && means_another(name, value).is_none()
    };
    if given.iter().all(is_plain) {
        return serde_json::from_str(text).map_err(|error| unfit(error, text));
    }
    let mut meant: BTreeMap<&str, &RawValue> = BTreeMap::new();
    for (name, value) in given.iter().filter(|(_, value)| value.get() != "null") {
        let name = means_another(name, value).unwrap_or(name);
        if meant.insert(name, value).is_some() {
            return Err(ApiError::params(format!("'{name}' is given twice")));
        }
    }
    let text =
        serde_json::to_string(&meant).map_err(|error| ApiError::params(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| unfit(error, &text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deeds::{CommitParams, ReadParams};

    #[test]
    fn null_is_as_if_it_were_not_there() {
        let params: ReadParams = read(r#"{"rev":":1","around":null,"last":null}"#).expect("read");
        assert_eq!((params.around, params.last), (0, None));
        let fault = read::<ReadParams>(r#"{"rev":null}"#).expect_err("it must be there");
        assert_eq!(fault.message, "parameters: 'rev' is missing");
    }

    #[test]
    fn a_message_is_a_text_or_a_providers() {
        let text: CommitParams = read(r#"{"role":"user","message":"{}"}"#).expect("read");
        assert_eq!((text.message.as_deref(), text.json), (Some("{}"), None));
        let of_provider = r#"{"message":{"role":"user","content":"hello"}}"#;
        let of_provider: CommitParams = read(of_provider).expect("read");
        assert!(of_provider.message.is_none() && of_provider.json.is_some());
        let twice = r#"{"message":{"role":"user"},"json":{"role":"user"}}"#;
        let fault = read::<CommitParams>(twice).expect_err("which is it?");
        assert_eq!(fault.message, "'json' is given twice");
    }
}
