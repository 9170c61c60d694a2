//! One part of a message: a text, a thought, a file, or a call with what became of it.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::PROVIDER;
use crate::formats::shared::parts::{self, picture, redacted, said};
use crate::formats::shared::seals;
use crate::model::{Media, MediaSource, Part};
use crate::wire::json::{
    Object, Raw, decode, is_true, string, text_at, text_or_json, type_of, word,
};
use crate::wire::{anthropic, media, openai};

/// What stands for the result of a call that nobody let run, where no reason is given.
const DENIED: &str = "Tool call execution denied.";

/// Pieces of what a tool gave that are pictures or files: by their bytes, or by their addresses.
const MEDIA: [&str; 8] = [
    "image",
    "audio",
    "media",
    "file",
    "image-data",
    "file-data",
    "image-url",
    "file-url",
];

/// The type of a file of which none is known.
pub(super) const UNKNOWN_TYPE: &str = "application/octet-stream";
/// By which name OpenAI's provider takes how closely a model is to look at a picture.
pub(super) const DETAIL: &str = "imageDetail";
/// What of the input was written to a cache for an hour. The name is our own, beside those of the SDK.
pub(super) const HOUR_TOKENS: &str = "cacheWrite1hTokens";

lazy! {
    /// What of a part is looked at. The last three rows are of version 4.
    pub(super) struct Block {
        r#type, text, state, filename, url, media_type = "mediaType", reference = "providerReference",
        metadata = "providerMetadata", call_metadata = "callProviderMetadata", provider_executed = "providerExecuted", created_at = "createdAt", model, parts,
        tool_name = "toolName", tool_call_id = "toolCallId", input, raw_input = "rawInput", output, approval,
        error_text = "errorText",
        invocation = "toolInvocation", args, result, step,
        reasoning, details, data, mime_type = "mimeType",
        content_type = "contentType", name,
    }
}

lazy! {
    struct Approval { approved, reason }

    /// A piece of a thought of version 4.
    struct Detail { r#type, text, signature, data }
}

/// A call, and what became of it.
pub(super) struct Called {
    pub(super) call: Part,
    pub(super) result: Option<Part>,
}

/// The call that a part is; none: the model was stopped while it wrote it.
pub(super) fn called(block: &Block<'_>) -> Option<Called> {
    let inner: Option<Block<'_>> = decode(block.invocation);
    let is_old = inner.is_some();
    let for_model = for_model(block.metadata);
    let block = inner.as_ref().unwrap_or(block);
    let kind = string(block.r#type).unwrap_or_default();
    let name = string(block.tool_name);
    let name = name.or_else(|| Some(kind.strip_prefix("tool-")?.to_owned()));
    let state = string(block.state).unwrap_or_default();
    if ["input-streaming", "partial-call"].contains(&state.as_str()) {
        return None;
    }
    let id = string(block.tool_call_id);
    let input = [block.input, block.args, block.raw_input];
    let input = input.into_iter().flatten().next();
    let result = |content, is_error| Some(parts::result(id.clone(), content, is_error));
    let words = |text: Option<String>| text.map(Part::text).into_iter().collect();
    let approval: Approval<'_> = decode(block.approval).unwrap_or_default();
    let reason = || Some(said(approval.reason).unwrap_or_else(|| DENIED.to_owned()));
    let result = match state.as_str() {
        "output-available" | "result" => {
            let given = match is_old {
                true => within(for_model.or(block.result)),
                false => block.output,
            };
            result(given.map_or_else(Vec::new, self::given), false)
        }
        "output-error" => result(words(string(block.error_text)), true),
        "output-denied" => result(words(reason()), true),
        "approval-responded" if approval.approved.is_some_and(|it| it.get() == "false") => {
            result(words(reason()), true)
        }
        _ => None,
    };
    let call = parts::call(id, name, text_or_json(input));
    Some(Called { call, result })
}

/// The value in an object that frames it, as Mastra keeps what some tools gave.
fn within(raw: Raw<'_>) -> Raw<'_> {
    lazy! { struct Frame { r#type, value } }
    let frame: Frame<'_> = decode(raw).unwrap_or_default();
    let is_content = word(frame.r#type).as_deref() == Some("content");
    frame.value.filter(|_| !is_content).or(raw)
}

/// What a model is told in place of what a tool gave, as Mastra keeps it beside the call.
fn for_model<'a>(beside: Raw<'a>) -> Raw<'a> {
    lazy! {
        struct Beside { mastra }
        struct Own { output = "modelOutput" }
    }
    let beside: Beside<'a> = decode(beside)?;
    decode::<Own<'a>>(beside.mastra)?.output
}

/// What a tool gave: blocks where it gave them as such with pictures among them, else a text or JSON.
fn given(raw: &RawValue) -> Vec<Part> {
    lazy! {
        struct Given { r#type, value, content }
        struct Piece { r#type, text, data, url, media_type = "mediaType", mime_type = "mimeType", filename }
        struct Held { data, url }
    }
    let given: Given<'_> = decode(Some(raw)).unwrap_or_default();
    let is_content = word(given.r#type).as_deref() == Some("content");
    let list = if is_content {
        given.value
    } else {
        given.content
    };
    let pieces: Option<Vec<&RawValue>> = decode(list);
    let read = |raw: &RawValue| {
        let piece: Piece<'_> = decode(Some(raw)).unwrap_or_default();
        let kind = word(piece.r#type)?;
        if kind == "text" {
            return string(piece.text).map(Part::text);
        }
        if !MEDIA.contains(&&*kind) {
            return None;
        }
        let held: Held<'_> = decode(piece.data).unwrap_or_default();
        let data = string(piece.data).or_else(|| string(held.data));
        let address = || string(piece.url).or_else(|| string(held.url));
        let media_type = string(piece.media_type).or_else(|| string(piece.mime_type));
        let name = said(piece.filename);
        let part = match data {
            Some(data) => Part::media(parts::media(MediaSource::Base64(data), media_type, name)),
            None => media::attachment(address()?, media_type, name),
        };
        Some(match kind.starts_with("image") {
            true => picture(part),
            false => part,
        })
    };
    let blocks: Option<Vec<Part>> =
        pieces.and_then(|pieces| pieces.into_iter().map(read).collect());
    let has_media = |blocks: &Vec<Part>| blocks.iter().any(|block| block.as_text().is_none());
    match blocks.filter(|blocks| is_content || has_media(blocks)) {
        Some(blocks) => blocks,
        None => text_or_json(Some(raw))
            .map(Part::text)
            .into_iter()
            .collect(),
    }
}

/// What a model thought, with what its provider needs to accept it back.
pub(super) fn thoughts(block: &Block<'_>) -> Vec<Part> {
    let details: Vec<Detail<'_>> = decode(block.details).unwrap_or_default();
    // Where its signature stands beside it, the one detail is the text once more.
    let is_sealed_beside = match &details[..] {
        [detail] => detail.signature.is_none() && detail.data.is_none() && block.metadata.is_some(),
        _ => false,
    };
    if !details.is_empty() && !is_sealed_beside {
        let part = |detail: Detail<'_>| match word(detail.r#type).as_deref() {
            Some("redacted") => redacted(&string(detail.data).unwrap_or_default()),
            _ => {
                let text = string(detail.text).unwrap_or_default();
                parts::sealed(text, string(detail.signature), anthropic::PROVIDER)
            }
        };
        return details.into_iter().map(part).collect();
    }
    let of_detail = || string(details.first()?.text);
    let text = [block.text, block.reasoning].into_iter().find_map(said);
    let text = text.or_else(of_detail).unwrap_or_default();
    seals::thought(text, block.metadata).into_iter().collect()
}

/// A picture or a file: by its address, its bytes, or the id that a provider gave it.
pub(super) fn file(block: &Block<'_>) -> Option<Part> {
    let types = [block.media_type, block.mime_type, block.content_type];
    let media_type = types.into_iter().find_map(said);
    let name = said(block.filename).or_else(|| said(block.name));
    let ids: BTreeMap<String, String> = decode(block.reference).unwrap_or_default();
    if let Some(id) = ids.into_values().next() {
        let source = MediaSource::FileId(id);
        return Some(Part::media(parts::media(source, media_type, name)));
    }
    let at = said(block.url).or_else(|| said(block.data))?;
    let is_picture = media_type
        .as_deref()
        .is_some_and(|it| it.starts_with("image/"));
    let media_type = media_type.filter(|it| !it.ends_with("/*"));
    let part = if at.contains(':') {
        media::attachment(at, media_type, name)
    } else {
        Part::media(parts::media(MediaSource::Base64(at), media_type, name))
    };
    Some(match if is_picture { picture(part) } else { part } {
        Part::Image(media) => Part::Image(Media {
            detail: detail(block),
            ..media
        }),
        part => part,
    })
}

/// How closely a model is to look at a picture, where OpenAI's is told so.
fn detail(block: &Block<'_>) -> Option<String> {
    let beside: BTreeMap<String, &RawValue> = decode(block.metadata).unwrap_or_default();
    let of_openai: BTreeMap<String, &RawValue> =
        decode(beside.get(openai::PROVIDER).copied()).unwrap_or_default();
    said(of_openai.get(DETAIL).copied())
}

/// The media type and the address of a picture or a file; none where only a provider has it.
pub(super) fn address(media: &Media, is_picture: bool) -> Option<(String, String)> {
    let url = match is_picture {
        true => media::image_url(media).or_else(|| media::address(media)),
        false => media::address(media),
    };
    let url = url?;
    let of_data = url.strip_prefix("data:").and_then(|it| it.split_once(';'));
    let of_data = of_data.map(|(media_type, _)| media_type.to_owned());
    let known = media.media_type.clone().or(of_data);
    let media_type = known.filter(|it| !it.is_empty()).unwrap_or_else(|| {
        let unknown = if is_picture { "image/*" } else { UNKNOWN_TYPE };
        unknown.to_owned()
    });
    Some((media_type, url))
}

/// A block as a part: one that was a part, or what nobody is to read of a thought.
pub(super) fn opaque(provider: &str, data: &str) -> Option<String> {
    if provider == PROVIDER && type_of(data).is_some() {
        return Some(data.to_owned());
    }
    let kind = type_of(data).filter(|_| provider == anthropic::PROVIDER)?;
    let hidden = text_at(data, "data").filter(|_| kind == "redacted_thinking")?;
    let seal = Object::new().string("redactedData", &hidden).finish();
    let beside = Object::new().raw(provider, &seal).finish();
    let part = Object::typed("reasoning").string("text", "");
    Some(part.raw("providerMetadata", &beside).finish())
}

/// Whether the provider ran a call itself, and says in the same reply what it gave.
pub(super) fn is_hosted(block: &Block<'_>) -> bool {
    is_true(block.provider_executed)
}

/// Whether two thoughts are pieces of one, which its provider has sealed once.
pub(super) fn is_same_thought(one: &Part, other: &Part) -> bool {
    let seal = |part: &Part| match part {
        Part::Thinking {
            signature,
            provider,
            ..
        } if provider.as_deref() == Some(openai::PROVIDER) => signature.clone(),
        _ => None,
    };
    seal(one).is_some_and(|own| seal(other) == Some(own))
}
