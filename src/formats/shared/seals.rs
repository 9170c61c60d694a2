//! What a provider needs to accept its own part back, as the AI SDK has it: beside the part, by the provider's name.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::formats::shared::parts::{self, redacted, said};
use crate::model::Part;
use crate::wire::json::{Object, Raw, decode, string};
use crate::wire::{gemini, openai};

lazy! {
    /// What a provider says beside a part, by its own names.
    struct Seal {
        signature, redacted = "redactedData", encrypted = "reasoningEncryptedContent",
        of_google = "thoughtSignature", provider = "provider_name",
    }
}

/// What providers say beside a part, each with its name.
fn each(beside: Raw<'_>) -> impl Iterator<Item = (String, Seal<'_>)> {
    let beside: BTreeMap<String, &RawValue> = decode(beside).unwrap_or_default();
    let seal = |(provider, raw)| (provider, decode(Some(raw)).unwrap_or_default());
    beside.into_iter().map(seal)
}

/// What a model thought, with what its provider says beside it; nothing if neither is there.
pub(in crate::formats) fn thought(text: String, beside: Raw<'_>) -> Option<Part> {
    for (provider, seal) in each(beside) {
        if let Some(data) = said(seal.redacted) {
            return Some(redacted(&data));
        }
        let provider = string(seal.provider).unwrap_or(provider);
        let found = [
            (seal.encrypted, openai::PROVIDER),
            (seal.of_google, gemini::PROVIDER),
            (seal.signature, &provider),
        ];
        let mut found = found.into_iter();
        if let Some((signature, of)) = found.find_map(|(raw, of)| Some((said(raw)?, of))) {
            return Some(Part::thinking(text, Some(signature), Some(of)));
        }
    }
    (!text.is_empty()).then(|| parts::thought(text))
}

/// The signature that a text or a call of Gemini's came with: it stands before them.
pub(in crate::formats) fn of_gemini(beside: Raw<'_>) -> Option<Part> {
    let signature = each(beside).find_map(|(_, seal)| said(seal.of_google))?;
    let provider = Some(gemini::PROVIDER);
    Some(Part::thinking(String::new(), Some(signature), provider))
}

/// What a thought's provider needs to accept it back, as its part of the SDK names it; none where nothing is known.
pub(in crate::formats) fn beside(
    signature: Option<&str>,
    provider: Option<&str>,
) -> Option<String> {
    let (signature, provider) = (signature?, provider?);
    let (place, key) = match provider {
        openai::PROVIDER => (provider, "reasoningEncryptedContent"),
        gemini::PROVIDER => ("google", "thoughtSignature"),
        _ => (provider, "signature"),
    };
    let seal = Object::new().string(key, signature).finish();
    Some(Object::new().raw(place, &seal).finish())
}

/// The signature that the part behind this one came with, if this is nothing else.
pub(in crate::formats) fn of_next<'p>(part: &'p Part, next: Option<&Part>) -> Option<&'p str> {
    let bears_it = match next? {
        Part::Text { text } => !text.is_empty(),
        next => matches!(next, Part::ToolCall { .. }),
    };
    match part {
        Part::Thinking {
            text,
            signature: Some(signature),
            provider,
        } if text.is_empty() && provider.as_deref() == Some(gemini::PROVIDER) => {
            bears_it.then_some(signature)
        }
        _ => None,
    }
}
