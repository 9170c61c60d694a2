//! Parts as content blocks.

use serde_json::json;
use serde_json::value::RawValue;

use super::fields::Fields;
use super::write::Writer;
use crate::model::{Media, MediaSource, Part};

impl Writer<'_> {
    /// A part as a content block; none where this format's provider would not take it.
    pub(super) fn block(&mut self, part: &Part) -> Option<Box<RawValue>> {
        let text = match part {
            Part::Text { text } => json!({"type": "text", "text": text}).to_string(),
            Part::Thinking {
                text,
                signature: Some(signature),
                provider,
            } if provider.as_deref() == Some("anthropic") => {
                json!({"type": "thinking", "thinking": text, "signature": signature}).to_string()
            }
            Part::Thinking { .. } => {
                self.remark("thinking blocks without a signature were left out");
                return None;
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } => {
                let is_object = Fields::parse(arguments).is_some();
                let input = if is_object {
                    arguments.trim().to_owned()
                } else {
                    self.remark("calls' arguments that are no JSON object were wrapped");
                    json!({"_raw": arguments}).to_string()
                };
                let (id, name) = (json!(id), json!(name));
                format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input}}}"#)
            }
            Part::ToolResult {
                call,
                content,
                is_error,
            } => {
                let mut fields = Fields::default();
                fields.set("tool_use_id", call);
                fields.set("type", &"tool_result");
                match &content[..] {
                    [] => fields.set("content", &""),
                    [Part::Text { text }] => fields.set("content", text),
                    parts => {
                        let blocks = parts.iter().filter_map(|part| self.block(part));
                        fields.set("content", &blocks.collect::<Vec<_>>());
                    }
                }
                if *is_error {
                    fields.set("is_error", &true);
                }
                fields.line()
            }
            Part::Image(media) => {
                json!({"type": "image", "source": source(media, "image/png")}).to_string()
            }
            Part::File(media) => {
                let source = source(media, "application/pdf");
                match &media.name {
                    Some(title) => json!({"type": "document", "source": source, "title": title}),
                    None => json!({"type": "document", "source": source}),
                }
                .to_string()
            }
            Part::Opaque { provider, data } if provider == "anthropic" => data.clone(),
            Part::Opaque { .. } => {
                self.remark("blocks of other providers were left out");
                return None;
            }
        };
        raw(text)
    }
}

/// JSON text as it is; none if it is no JSON.
pub(super) fn raw(text: String) -> Option<Box<RawValue>> {
    RawValue::from_string(text).ok()
}

fn source(media: &Media, default_type: &str) -> serde_json::Value {
    let media_type = media.media_type.as_deref().unwrap_or(default_type);
    match &media.source {
        MediaSource::Base64(data) => {
            json!({"type": "base64", "media_type": media_type, "data": data})
        }
        MediaSource::Url(url) => json!({"type": "url", "url": url}),
        MediaSource::FileId(id) => json!({"type": "file", "file_id": id}),
    }
}
