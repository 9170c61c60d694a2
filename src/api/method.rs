//! Methods: a name, parameters, an answer.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::at::At;
use super::error::ApiError;
use super::json::RawJson;

/// Something that people do, by its parameters.
pub trait Method: DeserializeOwned + JsonSchema {
    /// Its name.
    const NAME: &'static str;
    /// What it does, in one sentence.
    const ABOUT: &'static str;
    /// Whether it changes anything. Those that do not may run beside each other.
    const CHANGES: bool;
    /// What it gives.
    type Answer: Serialize + JsonSchema;

    /// Does it.
    ///
    /// # Errors
    ///
    /// Each with its kind; nothing is changed then.
    fn call(self, at: &mut At<'_>) -> Result<Self::Answer, ApiError>;
}

/// A method that takes and gives JSON.
pub struct MethodEntry {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Whether it changes anything.
    pub changes: bool,
    /// Does it with parameters as JSON; its answer as JSON.
    pub call: fn(&str, &mut At<'_>) -> Result<RawJson, ApiError>,
    pub(super) params: fn(&mut SchemaGenerator) -> Schema,
    pub(super) answer: fn(&mut SchemaGenerator) -> Schema,
}

impl MethodEntry {
    pub(super) const fn of<M: Method>() -> Self {
        Self {
            name: M::NAME,
            about: M::ABOUT,
            changes: M::CHANGES,
            call: |params, at| {
                let params: M = serde_json::from_str(params).map_err(|error| unfit(&error))?;
                let answer = params.call(at)?;
                let answer = serde_json::value::to_raw_value(&answer);
                let unwritten = |error: serde_json::Error| ApiError::refused(error.to_string());
                Ok(RawJson(answer.map_err(unwritten)?))
            },
            params: |schemas| schemas.subschema_for::<M>(),
            answer: |schemas| schemas.subschema_for::<M::Answer>(),
        }
    }
}

/// What is wrong with parameters, without the place in a text that nobody sees.
fn unfit(error: &serde_json::Error) -> ApiError {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    ApiError::params(format!("parameters: {what}"))
}
