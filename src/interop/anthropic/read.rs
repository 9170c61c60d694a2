//! An Anthropic message to a [`Message`].

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::interop::blocks;
use crate::interop::chat::{Dialect, Notes, Reply};
use crate::model::{Message, Part, Role, Settings, Usage};

/// Anthropic's messages, also where other tools keep them in files of their own.
pub(in crate::interop) struct AnthropicDialect;

#[derive(Deserialize)]
struct Wire<'a> {
    role: String,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

/// The parts of a `content` or `system` value.
fn parts_of_content(raw: &RawValue, notes: &mut Notes) -> Result<Vec<Part>, String> {
    let read = blocks::parts_of_content(raw);
    let (parts, opaque) = read.map_err(|error| format!("its content: {error}"))?;
    for (kind, count) in opaque {
        *notes.opaque_blocks.entry(kind).or_default() += count;
    }
    Ok(parts)
}

impl Dialect for AnthropicDialect {
    fn message(&self, raw: &RawValue, notes: &mut Notes) -> Result<Message, String> {
        let wire: Wire<'_> =
            serde_json::from_str(raw.get()).map_err(|error| format!("a message: {error}"))?;
        let role = match wire.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            other => return Err(format!("unknown role '{other}'")),
        };
        let parts = match wire.content {
            Some(content) => parts_of_content(content, notes)?,
            None => Vec::new(),
        };
        let results = !parts.is_empty()
            && parts
                .iter()
                .all(|part| matches!(part, Part::ToolResult { .. }));
        Ok(Message {
            role: if results && role == Role::User {
                Role::Tool
            } else {
                role
            },
            name: None,
            parts,
        })
    }

    fn system(&self, raw: &RawValue, notes: &mut Notes) -> Option<Message> {
        let text = raw.get();
        (text.starts_with('"') || text.starts_with('[')).then_some(())?;
        let parts = parts_of_content(raw, notes).ok()?;
        (!parts.is_empty()).then_some(Message {
            role: Role::System,
            name: None,
            parts,
        })
    }

    fn reply(&self, raw: &RawValue) -> Option<Reply> {
        #[derive(Deserialize)]
        struct Body<'a> {
            #[serde(rename = "role")]
            _role: String,
            #[serde(borrow, default)]
            model: Option<&'a RawValue>,
            #[serde(borrow, default)]
            usage: Option<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Counts {
            #[serde(default)]
            input_tokens: u64,
            #[serde(default)]
            output_tokens: u64,
            #[serde(default)]
            cache_creation_input_tokens: Option<u64>,
            #[serde(default)]
            cache_read_input_tokens: Option<u64>,
        }
        let body: Body<'_> = serde_json::from_str(raw.get()).ok()?;
        let model = body
            .model
            .map(|model| ("model".to_owned(), model.get().to_owned()));
        let counts = body
            .usage
            .and_then(|usage| serde_json::from_str::<Counts>(usage.get()).ok());
        Some(Reply {
            choices: None,
            settings: Settings::from_iter(model),
            time: None,
            usage: counts.map(|counts| Usage {
                input_tokens: counts.input_tokens
                    + counts.cache_creation_input_tokens.unwrap_or(0)
                    + counts.cache_read_input_tokens.unwrap_or(0),
                output_tokens: counts.output_tokens,
            }),
        })
    }
}
