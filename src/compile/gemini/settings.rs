//! Settings as the API has them: most stand in `generationConfig`, and some in other words.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, from_str};

use crate::wire::json::{Object, Raw, array, quoted, string};
use crate::wire::name::ToolNames;

/// Where a setting stands: in the request, or in its `generationConfig`, as members with their JSON texts.
pub(in crate::compile) enum Placed {
    InRequest(&'static str, String),
    InGeneration(Vec<(&'static str, String)>),
}

/// Where the setting `key` stands; `value` is a JSON text of its form.
pub(in crate::compile) fn placed(key: &'static str, value: &str) -> Placed {
    let value = value.to_owned();
    let name = match key {
        "tool_choice" => return Placed::InRequest("toolConfig", value),
        "response_format" => return Placed::InGeneration(response_members(&value)),
        "max_output_tokens" => "maxOutputTokens",
        "top_p" => "topP",
        "top_k" => "topK",
        "frequency_penalty" => "frequencyPenalty",
        "presence_penalty" => "presencePenalty",
        "stop_sequences" => "stopSequences",
        "temperature" | "seed" | "thinkingConfig" | "responseModalities" => key,
        key => return Placed::InRequest(key, value),
    };
    Placed::InGeneration(vec![(name, value)])
}

/// Which tools are to be called, in the API's words, of any provider's; none if it says something else.
pub(in crate::compile) fn tool_config(choice: &Value) -> Option<String> {
    let of_mode = |mode: &str, name: Option<&str>| {
        let config = Object::new().string("mode", mode);
        let names = name.map(|name| array([quoted(&ToolNames::GEMINI.sent(name))]));
        let config = config.optional_raw("allowedFunctionNames", names.as_deref());
        let config = config.finish();
        Some(Object::new().raw("functionCallingConfig", &config).finish())
    };
    let kind = choice["type"].as_str().or(choice.as_str())?;
    let name = choice["function"]["name"].as_str();
    let name = name.or(choice["name"].as_str());
    match (kind, name) {
        ("auto", None) => of_mode("AUTO", None),
        ("none", None) => of_mode("NONE", None),
        ("any" | "required", None) => of_mode("ANY", None),
        ("tool" | "function", Some(name)) => of_mode("ANY", Some(name)),
        _ => None,
    }
}

/// Whether the API has a form of answers: a text, or JSON by a schema or by none.
pub(in crate::compile) fn is_response_format(format: &Value) -> bool {
    match format["type"].as_str() {
        Some("text" | "json_object") => true,
        Some("json_schema") => format["json_schema"]["schema"].is_object(),
        _ => false,
    }
}

fn response_members(format: &str) -> Vec<(&'static str, String)> {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Format<'a> {
        r#type: Raw<'a>,
        json_schema: Option<Schema<'a>>,
    }
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Schema<'a> {
        schema: &'a RawValue,
    }
    let Ok(format) = from_str::<Format<'_>>(format) else {
        return Vec::new();
    };
    if string(format.r#type).as_deref() == Some("text") {
        return vec![("responseMimeType", quoted("text/plain"))];
    }
    let schema = format.json_schema.map(|it| it.schema.get().to_owned());
    let schema = schema.map(|schema| ("responseJsonSchema", schema));
    let json = ("responseMimeType", quoted("application/json"));
    std::iter::once(json).chain(schema).collect()
}
