//! Definitions of tools in a provider's form.
//!
//! One in the provider's own form goes in byte for byte; of another's only the frame changes. Those that
//! only another provider can run are left out and told.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::compile::tool_names::renamed;
use crate::compile::{Notice, Provider};
use crate::model::call::Arguments;
use crate::wire::json::{Object, array};

/// A tool's definition in any of the known forms.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Tool<'a> {
    r#type: Option<String>,
    function: Option<&'a RawValue>,
    custom: Option<&'a RawValue>,
    name: Option<&'a RawValue>,
    description: Option<&'a RawValue>,
    parameters: Option<&'a RawValue>,
    input_schema: Option<&'a RawValue>,
    strict: Option<bool>,
}

/// The list of tools in the provider's form; none if nothing of it can be sent. Single tools that
/// only another provider can run are left out.
pub(super) fn tools(value: &str, provider: Provider, remarks: &mut Vec<Notice>) -> Option<String> {
    let definitions: Vec<&RawValue> = serde_json::from_str(value).ok()?;
    let mut names_changed = 0;
    let written: Vec<String> = definitions
        .iter()
        .filter_map(|definition| tool(definition.get(), provider))
        .map(|definition| {
            let (definition, count) = renamed(definition, provider);
            names_changed += count;
            definition
        })
        .collect();
    let left_out = definitions.len() - written.len();
    if left_out > 0 && !written.is_empty() {
        remarks.push(Notice::ToolsLeftOut {
            count: left_out,
            provider,
        });
    }
    if names_changed > 0 {
        remarks.push(Notice::ToolsRenamed {
            count: names_changed,
            provider,
        });
    }
    if provider == Provider::Gemini && !written.is_empty() {
        return Some(declared(written));
    }
    // Chat completions refuse an empty list.
    if written.is_empty() && (!definitions.is_empty() || provider == Provider::OpenAi) {
        return None;
    }
    Some(array(written))
}

/// Gemini's list of tools: what declares functions as one, its own tools behind it.
fn declared(tools: Vec<String>) -> String {
    let (own, functions): (Vec<String>, Vec<String>) =
        tools.into_iter().partition(|tool| is_of_gemini(tool));
    let functions = (!functions.is_empty()).then(|| {
        let functions = array(functions);
        Object::new()
            .raw("functionDeclarations", &functions)
            .finish()
    });
    array(functions.into_iter().chain(own))
}

/// Whether a tool is in Gemini's form: no name, and its members those that a tool has there.
fn is_of_gemini(tool: &str) -> bool {
    let Ok(Arguments(members)) = serde_json::from_str(tool) else {
        return false;
    };
    let is_known = |(key, _): &(String, &RawValue)| {
        matches!(
            key.as_str(),
            "functionDeclarations"
                | "googleSearch"
                | "googleSearchRetrieval"
                | "googleMaps"
                | "codeExecution"
                | "urlContext"
                | "fileSearch"
                | "computerUse"
                | "enterpriseWebSearch"
                | "retrieval"
        )
    };
    !members.is_empty() && members.iter().all(is_known)
}

/// Whether a tool's type ends in a date, as those of Anthropic's own tools do.
fn is_dated(kind: &str) -> bool {
    let date = kind.rsplit('_').next().unwrap_or_default();
    date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit())
}

fn tool(text: &str, provider: Provider) -> Option<String> {
    let tool: Tool<'_> = serde_json::from_str(text).ok()?;
    let kind = tool.r#type.as_deref();
    let is_function = matches!(kind, None | Some("function"));
    let native = match provider {
        Provider::Responses => {
            let is_framed = tool.function.is_some() || tool.custom.is_some();
            let is_own = |kind: &str| kind != "function" || tool.name.is_some();
            kind.is_some_and(|kind| is_own(kind) && !is_dated(kind))
                && !is_framed
                && tool.input_schema.is_none()
        }
        Provider::Gemini => is_of_gemini(text),
        // A tool of Anthropic's own has a dated type and a name.
        Provider::Anthropic => {
            tool.input_schema.is_some()
                || !is_function && kind != Some("custom") && tool.name.is_some()
        }
        _ => {
            is_function && tool.function.is_some() && kind.is_some()
                || kind == Some("custom") && tool.custom.is_some()
        }
    };
    if native {
        return Some(text.to_owned());
    }
    if let (Provider::Responses, Some(custom)) = (provider, tool.custom) {
        let Arguments(members) = serde_json::from_str(custom.get()).ok()?;
        let put = |object: Object, (key, value): &(String, &RawValue)| object.raw(key, value.get());
        let object = members.iter().fold(Object::typed("custom"), put);
        return Some(object.finish());
    }
    if !is_function && tool.input_schema.is_none() {
        return None;
    }
    // Functions within a frame (chat completions) or without one (responses).
    let bare: Tool<'_> = match tool.function {
        Some(function) => serde_json::from_str(function.get()).ok()?,
        None => tool,
    };
    let name = bare.name?.get();
    let schema = bare
        .parameters
        .or(bare.input_schema)
        .map_or(r#"{"type":"object","properties":{}}"#, RawValue::get);
    let description = bare
        .description
        .map(|description| format!(r#","description":{}"#, description.get()))
        .unwrap_or_default();
    match provider {
        Provider::Anthropic => Some(format!(
            r#"{{"name":{name}{description},"input_schema":{schema}}}"#
        )),
        Provider::Gemini => Some(format!(
            r#"{{"name":{name}{description},"parametersJsonSchema":{schema}}}"#
        )),
        // Where nothing is said of it, the API holds a model to the schema, the others do not.
        Provider::Responses => Some(format!(
            r#"{{"type":"function","name":{name}{description},"parameters":{schema},"strict":{}}}"#,
            bare.strict.unwrap_or(false)
        )),
        _ => Some(format!(
            r#"{{"type":"function","function":{{"name":{name}{description},"parameters":{schema}}}}}"#
        )),
    }
}
