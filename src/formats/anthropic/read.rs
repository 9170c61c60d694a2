//! Anthropic's way among the chat formats.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::formats::shared::chat::{Dialect, Reply};
use crate::wire::anthropic;
use crate::wire::json::{Raw, decode};

/// Anthropic's messages.
pub(super) static DIALECT: Dialect = Dialect {
    message: anthropic::message,
    system: anthropic::system,
    reply,
};

fn reply(raw: &RawValue) -> Option<Reply> {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Body<'a> {
        #[serde(rename = "role")]
        _role: String,
        model: Raw<'a>,
        usage: Raw<'a>,
    }
    lazy! { struct Counted { service_tier } }
    let body: Body<'_> = serde_json::from_str(raw.get()).ok()?;
    let counted: Counted<'_> = decode(body.usage).unwrap_or_default();
    Some(Reply {
        choices: None,
        model: body.model.map(|model| model.get().to_owned()),
        tier: counted.service_tier.map(|tier| tier.get().to_owned()),
        time: None,
        usage: anthropic::usage_record(body.usage),
    })
}
