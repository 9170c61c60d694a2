//! Anthropic's way among the chat formats.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::interop::chat::{Dialect, Reply};
use crate::model::{Message, Settings};
use crate::wire::json::Raw;
use crate::wire::{Notes, anthropic};

/// Anthropic's messages.
pub(super) struct AnthropicDialect;

impl Dialect for AnthropicDialect {
    fn message(&self, raw: &RawValue, notes: &mut Notes) -> Result<Message, String> {
        anthropic::message(raw, notes)
    }

    fn system(&self, raw: &RawValue, notes: &mut Notes) -> Option<Message> {
        anthropic::system(raw, notes)
    }

    fn reply(&self, raw: &RawValue) -> Option<Reply> {
        #[derive(Deserialize)]
        #[serde(bound(deserialize = "'de: 'a"))]
        struct Body<'a> {
            #[serde(rename = "role")]
            _role: String,
            #[serde(default)]
            model: Raw<'a>,
            #[serde(default)]
            usage: Raw<'a>,
        }
        let body: Body<'_> = serde_json::from_str(raw.get()).ok()?;
        let model = body
            .model
            .map(|model| ("model".to_owned(), model.get().to_owned()));
        Some(Reply {
            choices: None,
            settings: Settings::from_iter(model),
            time: None,
            usage: anthropic::usage(body.usage),
        })
    }
}
