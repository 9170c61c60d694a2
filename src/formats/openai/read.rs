//! OpenAI's way among the chat formats.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::formats::shared::chat::{Dialect, Reply};
use crate::model::Millis;
use crate::wire::json::Raw;
use crate::wire::openai;

/// OpenAI's messages.
pub(super) static DIALECT: Dialect = Dialect {
    message: openai::message,
    system: |_, _| None,
    reply,
};

fn reply(raw: &RawValue) -> Option<Reply> {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Body<'a> {
        choices: &'a RawValue,
        model: Raw<'a>,
        service_tier: Raw<'a>,
        created: Option<f64>,
        usage: Raw<'a>,
    }
    let body: Body<'_> = serde_json::from_str(raw.get()).ok()?;
    body.choices.get().starts_with('[').then_some(())?;
    Some(Reply {
        choices: Some("choices"),
        model: body.model.map(|model| model.get().to_owned()),
        tier: body.service_tier.map(|tier| tier.get().to_owned()),
        time: body
            .created
            .map(|seconds| Millis((seconds * 1000.0) as i64)),
        usage: openai::usage_record(body.usage),
    })
}
