//! What an event says, as the parts of a message.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::assets::Assets;
use super::record::{Binary, Data, Given, Request};
use super::{ASKED, CUT_OFF, PROVIDER, SUMMARY, SUMMED_UP};
use crate::formats::shared::parts;
use crate::model::{Media, MediaSource, Part};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, string, word};

/// The objects of a list, each by itself; of what is none the reason is noted.
fn objects<'a, T: Deserialize<'a>>(list: Raw<'a>, name: &str, damage: &mut Vec<String>) -> Vec<T> {
    let Some(list) = list else { return Vec::new() };
    let Some(list) = decode::<Vec<&RawValue>>(Some(list)) else {
        damage.push(format!("{name} is not a list"));
        return Vec::new();
    };
    let mut found = Vec::with_capacity(list.len());
    for (at, raw) in list.into_iter().enumerate() {
        match decode(Some(raw)) {
            Some(object) => found.push(object),
            None => damage.push(format!("{name}[{at}] is not an object")),
        }
    }
    found
}

/// A prompt, with what is sent beside it.
pub(super) fn prompt(
    data: &Data<'_>,
    assets: &mut Assets<'_>,
    damage: &mut Vec<String>,
) -> Vec<Part> {
    let sent = parts::said(data.transformed_content);
    let text = sent.or_else(|| string(data.content)).unwrap_or_default();
    let mut parts = vec![Part::Text { text }];
    // What is not sent natively is named in the text.
    for binary in objects::<Binary<'_>>(data.attachments, "attachments", damage) {
        if let Some(part) = media(&binary, assets) {
            parts.extend(string(binary.display_name).map(Part::text));
            parts.push(part);
        }
    }
    parts
}

/// A reply, or one piece of it.
pub(super) fn reply(data: &Data<'_>, notes: &mut Notes, damage: &mut Vec<String>) -> Vec<Part> {
    let seal = parts::said(data.reasoning_opaque).or_else(|| parts::said(data.encrypted_content));
    let reasoning = parts::said(data.reasoning_text);
    let is_thought = reasoning.is_some() || seal.is_some();
    let thought = || parts::sealed(reasoning.unwrap_or_default(), seal, PROVIDER);
    let mut said: Vec<Part> = is_thought.then(thought).into_iter().collect();
    said.extend(parts::text(data.content));
    if let Some(block) = data.server_tools.filter(|raw| raw.get().starts_with('{')) {
        let block = block.get().to_owned();
        said.push(parts::opaque(PROVIDER, "serverTools", block, notes));
    }
    let requests = objects::<Request<'_>>(data.tool_requests, "toolRequests", damage);
    said.extend(requests.iter().map(call));
    said
}

fn call(request: &Request<'_>) -> Part {
    let kind = string(request.r#type).filter(|kind| kind != "function");
    // The text of a tool that takes no JSON stands as a string.
    let arguments = string(request.arguments);
    let arguments = arguments.or_else(|| Some(request.arguments?.get().to_owned()));
    let arguments = arguments.unwrap_or_else(|| "{}".to_owned());
    let id = string(request.tool_call_id).unwrap_or_default();
    let name = string(request.name).unwrap_or_default();
    Part::call(id, name, arguments, kind.as_deref())
}

/// What a tool gave back: to the model, not to the screen.
pub(super) fn result(data: &Data<'_>, assets: &mut Assets<'_>, damage: &mut Vec<String>) -> Part {
    let is_error = decode::<bool>(data.success) == Some(false);
    let given = decode::<Given<'_>>(data.result);
    let failure = decode::<Given<'_>>(data.error);
    let text = given.as_ref().and_then(|given| string(given.content));
    let text = text.or_else(|| {
        let failure = failure?;
        let is_resumed = word(data.model).is_some_and(|model| model == "resumed");
        match word(failure.code).as_deref() {
            Some("interrupted") if is_resumed => Some(CUT_OFF.to_owned()),
            _ => string(failure.message),
        }
    });
    let text = text.filter(|text| !text.is_empty());
    let mut content: Vec<Part> = text.map(Part::text).into_iter().collect();
    let binaries = given.and_then(|given| given.binary_results_for_llm);
    let binaries: Vec<Binary<'_>> = objects(binaries, "binaryResultsForLlm", damage);
    content.extend(binaries.iter().filter_map(|binary| media(binary, assets)));
    parts::result(string(data.tool_call_id), content, is_error)
}

/// A picture or a file; none where its bytes are not in the session.
fn media(binary: &Binary<'_>, assets: &mut Assets<'_>) -> Option<Part> {
    let said = string(binary.mime_type);
    let (media_type, data) = match string(binary.data) {
        Some(data) => (said, data),
        None => {
            let (kept, data) = assets.find(&word(binary.asset_id)?)?;
            (said.or(kept), data)
        }
    };
    let media = Media::new(media_type, MediaSource::Base64(data));
    Some(Part::media(media))
}

/// What is sent in place of what was summed up: what the user had asked for, and the summary.
///
/// # Source
///
/// A compaction in the conversations that the tool's maker has recorded for tests.
pub(super) fn summed_up(asked: &str, summary: &str) -> String {
    format!("{SUMMED_UP}\n\n{ASKED}\n{asked}\n{SUMMARY}\n<summary>\n{summary}\n</summary>")
}

/// One of the prompts that stand there.
pub(super) fn user_message(prompt: &str) -> String {
    format!("<user_message>\n{prompt}\n</user_message>\n")
}
