//! Methods: a name, parameters, an answer; and the list of all.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;

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
    params: fn(&mut SchemaGenerator) -> Schema,
    answer: fn(&mut SchemaGenerator) -> Schema,
}

impl MethodEntry {
    const fn of<M: Method>() -> Self {
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

macro_rules! methods {
    ($($method:ty),* $(,)?) => {
        /// All methods, in the order in which people learn of them.
        pub const METHODS: &[MethodEntry] = &[$(MethodEntry::of::<$method>()),*];
    };
}

methods![
    ImportParams,
    SessionsParams,
    ExportParams,
    ResumeParams,
    StatusParams,
    LogParams,
    ShowParams,
    ContextParams,
    FindParams,
    ReadParams,
    DroppedParams,
    DidParams,
    DiffParams,
    CostParams,
    CacheParams,
    CompileParams,
    CommitParams,
    AdvanceParams,
    EditParams,
    AnnotateParams,
    PruneParams,
    DropParams,
    TruncateParams,
    CompactParams,
    ClearParams,
    UndoParams,
    RedoParams,
    RestoreParams,
    PickParams,
    ResetParams,
    CheckoutParams,
    BranchParams,
    BranchesParams,
    ReflogParams,
    PushParams,
    PullParams,
    FsckParams,
    ConfigParams,
    RemoteParams,
];

/// The method of a name.
///
/// # Errors
///
/// Where there is none; with the nearest, if one is near.
pub fn method(name: &str) -> Result<&'static MethodEntry, ApiError> {
    if let Some(found) = METHODS.iter().find(|method| method.name == name) {
        return Ok(found);
    }
    let fault = ApiError::new(
        "unknown_method",
        advice::Exit::Usage,
        format!("no method '{name}'"),
    );
    let near = crate::model::nearest(name, METHODS.iter().map(|method| method.name));
    Err(match near {
        Some(near) => fault.with_hint(format!("did you mean {near}?")),
        None => fault.with_hint("the method 'describe' lists them"),
    })
}

/// The interface as data: its version, and of each method what it does, takes and gives, as JSON Schema.
pub fn described() -> serde_json::Value {
    // A field that may be left out of an answer is another thing than one that may be left out of a request.
    let mut taken = SchemaSettings::draft2020_12().into_generator();
    let mut given = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let methods: Vec<_> = METHODS
        .iter()
        .map(|method| {
            serde_json::json!({
                "name": method.name,
                "about": method.about,
                "changes": method.changes,
                "params": (method.params)(&mut taken),
                "result": (method.answer)(&mut given),
            })
        })
        .collect();
    let error = given.subschema_for::<ApiError>();
    let mut types = taken.take_definitions(true);
    types.append(&mut given.take_definitions(true));
    serde_json::json!({
        "version": VERSION,
        "methods": methods,
        "error": error,
        "$defs": types,
    })
}
