//! Names of tools in their definitions and in what is chosen of them: the same as in calls.

use crate::compile::Provider;
use crate::model::call::Arguments;
use crate::wire::json::{Object, array, quoted};
use crate::wire::name::ToolNames;

/// Which names a provider takes; none of a form that nobody is sent.
pub(super) const fn rule(provider: Provider) -> Option<ToolNames> {
    match provider {
        Provider::OpenAi | Provider::Responses => Some(ToolNames::OPENAI),
        Provider::Anthropic => Some(ToolNames::ANTHROPIC),
        Provider::Gemini => Some(ToolNames::GEMINI),
        Provider::Text => None,
    }
}

/// A definition or a choice, or a list of them, with the names that are sent, and how many are others than before. What has
/// none of those goes as it is, byte for byte.
pub(super) fn renamed(value: String, provider: Provider) -> (String, usize) {
    let mut count = 0;
    let sent = rule(provider).and_then(|rule| with_names(&value, &rule, &mut count));
    (sent.unwrap_or(value), count)
}

/// None: nothing in it has another name.
fn with_names(value: &str, rule: &ToolNames, count: &mut usize) -> Option<String> {
    if let Ok(items) = serde_json::from_str::<Vec<&serde_json::value::RawValue>>(value) {
        let before = *count;
        let each = items.iter().map(|item| {
            let renamed = with_names(item.get(), rule, count);
            renamed.unwrap_or_else(|| item.get().to_owned())
        });
        let items: Vec<String> = each.collect();
        return (*count > before).then(|| array(items));
    }
    let Ok(Arguments(members)) = serde_json::from_str(value) else {
        return None;
    };
    // The names of a server's tools are the server's.
    let is_served = |(key, value): &(String, &serde_json::value::RawValue)| {
        key == "type" && value.get() == r#""mcp""#
    };
    if members.iter().any(is_served) {
        return None;
    }
    let before = *count;
    let put = |object: Object, (key, value): &(String, &serde_json::value::RawValue)| {
        let sent = match key.as_str() {
            "name" => named(value.get(), rule, count),
            "function" | "custom" | "allowed_tools" | "tools" | "functionDeclarations" => {
                with_names(value.get(), rule, count)
            }
            _ => None,
        };
        object.raw(key, sent.as_deref().unwrap_or(value.get()))
    };
    let object = members.iter().fold(Object::new(), put);
    (*count > before).then(|| object.finish())
}

fn named(value: &str, rule: &ToolNames, count: &mut usize) -> Option<String> {
    let name: String = serde_json::from_str(value).ok()?;
    let sent = rule.sent(&name);
    (sent != name).then(|| {
        *count += 1;
        quoted(&sent)
    })
}
