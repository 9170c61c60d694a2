//! What a provider's own tools did: a search of the web, code that ran at the provider.
//!
//! Such a call is kept as the block that came, for it goes back to its provider as it was. This says what a reader is
//! told of it, and a search finds. Left out: ids, and what is sealed or a picture.
//!
//! # Source
//!
//! The types of blocks in Anthropic's Messages API (`server_tool_use`, `mcp_tool_use`, `…_tool_result`), the types of items in
//! OpenAI's Responses API (`…_call`, `mcp_…`), `executableCode` and `codeExecutionResult` in Gemini's.

use serde_json::{Map, Value};

/// What a block says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosted {
    /// The tool and its arguments, as JSON; none in a block that is a result alone.
    pub call: Option<(String, String)>,
    /// What it gave, as lines.
    pub gave: Vec<String>,
}

/// What a block of a provider's own says, where it is a call, its result, or both.
///
/// ```
/// use tract::model::server_tools::hosted;
///
/// let block = r#"{"type":"web_search_call","id":"ws_1","action":{"type":"search","query":"the Rhine"}}"#;
/// let said = hosted(block).expect("a call");
/// assert_eq!(said.call.expect("its tool").0, "web_search");
/// ```
pub fn hosted(data: &str) -> Option<Hosted> {
    const SIGNS: [&str; 5] = ["tool_", "_call", "\"mcp_", "xecut", "\"stdout\""];
    if !SIGNS.iter().any(|sign| data.contains(sign)) {
        return None;
    }
    let Ok(Value::Object(block)) = serde_json::from_str(data) else {
        return None;
    };
    let said = of_block(&block)?;
    (said != Hosted::default()).then_some(said)
}

fn of_block(block: &Map<String, Value>) -> Option<Hosted> {
    let text = |key: &str| block.get(key).and_then(Value::as_str).map(str::to_owned);
    let call = |name: String, arguments: String| Some((name, arguments));
    let gave = |keys: &[&str]| {
        let found = keys.iter().filter_map(|key| block.get(*key));
        found.flat_map(lines).collect::<Vec<String>>()
    };
    let Some(kind) = text("type") else {
        return Some(untyped(block, &gave(&["stdout", "stderr"])));
    };
    Some(match kind.as_str() {
        "server_tool_use" | "mcp_tool_use" => Hosted {
            call: call(text("name")?, object(block.get("input"))),
            gave: Vec::new(),
        },
        // As LangChain says it of any provider.
        "server_tool_call" => Hosted {
            call: call(text("name")?, object(block.get("args"))),
            gave: Vec::new(),
        },
        "server_tool_result" => Hosted {
            call: None,
            gave: gave(&["output"]),
        },
        "mcp_call" | "mcp_approval_request" => Hosted {
            call: call(text("name")?, text("arguments").unwrap_or_default()),
            gave: gave(&["output", "error"]),
        },
        "mcp_list_tools" => Hosted {
            call: call(kind, object(only(block, &["server_label"]).as_ref())),
            gave: named(block.get("tools")),
        },
        kind if kind.ends_with("_tool_result") => Hosted {
            call: None,
            gave: gave(&["content"]),
        },
        kind => {
            let tool = kind.strip_suffix("_call")?;
            let name = text("name").unwrap_or_else(|| tool.to_owned());
            let given = ["action", "operation", "arguments"];
            let given = given.iter().find_map(|key| block.get(*key));
            let given = given.cloned();
            let given = given.or_else(|| only(block, &["code", "queries", "prompt"]));
            let given = match given {
                Some(Value::String(text)) => text,
                given => object(given.as_ref()),
            };
            Hosted {
                call: call(name, given),
                gave: gave(&["results", "outputs", "output", "error"]),
            }
        }
    })
}

/// What a command wrote in an item of the Responses API, or a part of Gemini's.
fn untyped(block: &Map<String, Value>, wrote: &[String]) -> Hosted {
    let asked = block.get("executableCode");
    let gave = block.get("codeExecutionResult");
    let gave = gave.and_then(|result| result.get("output"));
    let gave = gave.map(lines).unwrap_or_default();
    Hosted {
        call: asked.map(|asked| ("code_execution".to_owned(), object(Some(asked)))),
        gave: [gave, wrote.to_vec()].concat(),
    }
}

/// An object's JSON; an empty one where there is none.
fn object(value: Option<&Value>) -> String {
    let object = value.filter(|value| value.is_object());
    object.map_or_else(|| "{}".to_owned(), Value::to_string)
}

/// These fields of a block as an object; none where it has none of them.
fn only(block: &Map<String, Value>, keys: &[&str]) -> Option<Value> {
    let found = block.iter().filter(|(key, value)| {
        let is_said = !value.is_null();
        is_said && keys.contains(&key.as_str())
    });
    let found: Map<String, Value> = found
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    (!found.is_empty()).then_some(Value::Object(found))
}

/// The names in a list.
fn named(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    let names = list.filter_map(|one| one.get("name")?.as_str());
    names.map(str::to_owned).collect()
}

/// What a result's value says: a line for each of its elements, a text as it is.
fn lines(value: &Value) -> Vec<String> {
    match value {
        Value::Array(all) => all.iter().flat_map(lines).collect(),
        value => {
            let mut texts = Vec::new();
            gather(value, &mut texts);
            let is_text = |text: &&String| !text.trim().is_empty();
            let texts: Vec<&str> = texts
                .iter()
                .filter(is_text)
                .map(|text| text.trim_end())
                .collect();
            let glue = if texts.iter().any(|text| text.contains('\n')) {
                "\n"
            } else {
                "  "
            };
            (!texts.is_empty())
                .then(|| texts.join(glue))
                .into_iter()
                .collect()
        }
    }
}

/// The texts in a value, without what is for programs alone.
fn gather(value: &Value, texts: &mut Vec<String>) {
    const MUTE: [&str; 8] = [
        "type",
        "id",
        "data",
        "media_type",
        "signature",
        "status",
        "image_url",
        "outcome",
    ];
    let is_mute =
        |key: &str| MUTE.contains(&key) || key.ends_with("_id") || key.starts_with("encrypted_");
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(all) => all.iter().for_each(|one| gather(one, texts)),
        Value::Object(fields) => {
            let told = fields.iter().filter(|(key, _)| !is_mute(key));
            told.for_each(|(_, one)| gather(one, texts));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(data: &str) -> (Option<(String, String)>, Vec<String>) {
        let hosted = hosted(data).unwrap_or_else(|| panic!("{data}"));
        (hosted.call, hosted.gave)
    }

    fn call(name: &str, arguments: &str) -> Option<(String, String)> {
        Some((name.to_owned(), arguments.to_owned()))
    }

    #[test]
    fn a_call_that_the_provider_ran_says_its_tool_and_what_was_asked() {
        let cases = [
            (
                r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"Rhine"}}"#,
                call("web_search", r#"{"query":"Rhine"}"#),
            ),
            (
                r#"{"type":"web_search_call","id":"w","status":"completed","action":{"type":"search","query":"Rhine"}}"#,
                call("web_search", r#"{"type":"search","query":"Rhine"}"#),
            ),
            (
                r#"{"type":"file_search_call","id":"f","queries":["Rhine"],"results":null}"#,
                call("file_search", r#"{"queries":["Rhine"]}"#),
            ),
            (
                r#"{"type":"mcp_approval_request","name":"rivers","arguments":"{\"of\":1}","server_label":"geo"}"#,
                call("rivers", r#"{"of":1}"#),
            ),
            (
                r#"{"type":"image_generation_call","id":"i","result":"aGk="}"#,
                call("image_generation", "{}"),
            ),
        ];
        for (data, expected) in cases {
            assert_eq!(said(data), (expected, Vec::new()), "{data}");
        }
    }

    #[test]
    fn what_it_gave_is_told_without_ids_and_what_is_sealed() {
        let cases = [
            (
                r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[
                    {"type":"web_search_result","title":"Rhine","url":"https://r.example","encrypted_content":"eA=="},
                    {"type":"web_search_result","title":"Main","url":"https://m.example","page_age":null}]}"#,
                None,
                vec!["Rhine  https://r.example", "Main  https://m.example"],
            ),
            (
                r#"{"type":"code_interpreter_call","id":"c","code":"1+1","outputs":[{"type":"logs","logs":"2\n"}]}"#,
                call("code_interpreter", r#"{"code":"1+1"}"#),
                vec!["2"],
            ),
            (
                r#"{"type":"mcp_list_tools","id":"m","server_label":"geo","tools":[{"name":"rivers","input_schema":{}}]}"#,
                call("mcp_list_tools", r#"{"server_label":"geo"}"#),
                vec!["rivers"],
            ),
            (
                r#"{"stdout":"a.txt\n","stderr":"","outcome":{"type":"exit","exit_code":0}}"#,
                None,
                vec!["a.txt"],
            ),
            (
                r#"{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"2"}}"#,
                None,
                vec!["2"],
            ),
        ];
        for (data, asked, gave) in cases {
            let gave = gave.into_iter().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(said(data), (asked, gave), "{data}");
        }
    }

    #[test]
    fn other_blocks_say_nothing() {
        for data in [
            r#"{"type":"redacted_thinking","data":"tool_"}"#,
            r#"{"type":"image","source":{"type":"url","url":"https://a.example/_call.png"}}"#,
            r#"["tool_"]"#,
            "tool_ and no JSON",
            r#"{"codeExecutionResult":{}}"#,
        ] {
            assert_eq!(hosted(data), None, "{data}");
        }
    }
}
