//! What the tool sends of a message, a piece of a reply, or what a call gave.
//!
//! # Source
//!
//! `context/tool-result-render.ts`, `context/projector.ts` and `utils/tokens.ts` of the tool.

use serde_json::value::RawValue;

use super::record::{Call, Said};
use crate::formats::shared::parts;
use crate::model::Part;
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, string, word};
use crate::wire::media::attachment;

/// What is sent of a call that had failed, before what it gave.
const FAILED: &str = "<system>ERROR: Tool execution failed.</system>";
/// What is sent of a call that gave nothing.
const EMPTY: &str = "<system>Tool output is empty.</system>";
/// What is sent where it had failed, too.
const FAILED_EMPTY: &str = "<system>ERROR: Tool execution failed. Tool output is empty.</system>";
/// What a tool itself says where it gave nothing.
const SAYS_EMPTY: &str = "Tool output is empty.";
/// How the address of bytes begins that stand in a file of their own.
const ELSEWHERE: &str = "blobref:";
/// What the tool sends where it does not find them.
const MISSING: &str = "[media missing]";

/// What the tool counts for a picture, a sound or a film.
const MEDIA_TOKENS: u64 = 2000;

/// A list of parts.
#[derive(Default)]
pub(super) struct Content {
    /// What is sent of it: blank texts are not.
    pub(super) parts: Vec<Part>,
    /// By the tool's own estimate.
    pub(super) tokens: u64,
    /// How many pictures and the like stand in files beside the log.
    pub(super) elsewhere: u64,
}

lazy! {
    struct Item {
        r#type, text, think, encrypted, image_url = "imageUrl", audio_url = "audioUrl",
        video_url = "videoUrl",
    }
}

lazy! { struct Address { url } }

impl Content {
    /// Of a list, or of one text; what is neither is an error.
    pub(super) fn of(raw: Raw<'_>, provider: &str, notes: &mut Notes) -> Result<Self, String> {
        let mut content = Self::default();
        let Some(raw) = raw.filter(|raw| raw.get() != "null") else {
            return Ok(content);
        };
        if let Some(text) = string(Some(raw)) {
            content.text(text);
            return Ok(content);
        }
        let items: Vec<&RawValue> = decode(Some(raw)).ok_or("content that is no list")?;
        for item in items {
            content.push(item, provider, notes)?;
        }
        Ok(content)
    }

    /// One part more.
    pub(super) fn push(
        &mut self,
        raw: &RawValue,
        provider: &str,
        notes: &mut Notes,
    ) -> Result<(), String> {
        let item: Option<Item<'_>> = decode(Some(raw));
        let item = item.ok_or("a part that is no object")?;
        match word(item.r#type).as_deref() {
            Some("text") => self.text(string(item.text).unwrap_or_default()),
            Some("think") => {
                let text = string(item.think).unwrap_or_default();
                self.tokens += estimate(&text);
                let signature = string(item.encrypted);
                if signature.is_some() || !is_blank(&text) {
                    let provider = signature.is_some().then_some(provider);
                    self.parts.push(Part::thinking(text, signature, provider));
                }
            }
            Some("image_url") => self.media(item.image_url, true),
            Some("audio_url") => self.media(item.audio_url, false),
            Some("video_url") => self.media(item.video_url, false),
            kind => {
                let data = raw.get().to_owned();
                let kind = kind.unwrap_or_default();
                self.parts.push(parts::opaque(provider, kind, data, notes));
            }
        }
        Ok(())
    }

    fn text(&mut self, text: String) {
        self.tokens += estimate(&text);
        if !is_blank(&text) {
            self.parts.push(Part::Text { text });
        }
    }

    fn media(&mut self, raw: Raw<'_>, is_image: bool) {
        self.tokens += MEDIA_TOKENS;
        let address: Address<'_> = decode(raw).unwrap_or_default();
        let url = string(address.url).unwrap_or_default();
        if url.starts_with(ELSEWHERE) {
            self.elsewhere += 1;
            self.parts.push(Part::text(MISSING));
            return;
        }
        let part = attachment(url, None, None);
        self.parts
            .push(if is_image { parts::picture(part) } else { part });
    }
}

/// Whether a text is not sent: nothing is on it.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// What the tool takes a text to be long, in tokens: four of ASCII's characters are one, and each other is.
pub(super) fn estimate(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let others = text.chars().count() as u64 - ascii;
    ascii.div_ceil(4) + others
}

/// The text that is in a message, all of it.
pub(super) fn text_of(said: &Said<'_>) -> String {
    if let Some(text) = string(said.content) {
        return text;
    }
    let items: Vec<&RawValue> = decode(said.content).unwrap_or_default();
    let texts = items.into_iter().filter_map(|raw| {
        let item: Item<'_> = decode(Some(raw))?;
        string(item.text).filter(|_| word(item.r#type).as_deref() == Some("text"))
    });
    texts.collect()
}

/// Whether the model is told how long a call of a tool took.
///
/// # Source
///
/// `contextMemory/toolResultRender.ts` of 2.1.0.
pub(super) fn is_timed(tool: &str) -> bool {
    let timed = [
        "Agent",
        "AgentSwarm",
        "Bash",
        "FetchURL",
        "Glob",
        "Grep",
        "WebSearch",
    ];
    timed.contains(&tool) || tool.starts_with("mcp__")
}

/// What is sent of what a call gave: in the tool's words, how long it took in milliseconds, whether it failed, and its note.
pub(super) fn rendered(
    given: Vec<Part>,
    is_error: bool,
    note: Option<&str>,
    took: Option<f64>,
) -> Vec<Part> {
    let mut parts = given;
    match &mut parts[..] {
        [] if is_error => parts.push(Part::text(FAILED_EMPTY)),
        [] => parts.push(Part::text(EMPTY)),
        [Part::Text { text }] if is_error => *text = format!("{FAILED}\n{text}"),
        [Part::Text { text }] if text.trim() == SAYS_EMPTY => EMPTY.clone_into(text),
        _ if is_error => parts.insert(0, Part::text(FAILED)),
        _ => {}
    }
    if let Some(took) = took {
        let line = format!("Wall time: {:.3} seconds", took / 1000.0);
        match parts.first_mut() {
            Some(Part::Text { text }) => *text = format!("{line}\n{text}"),
            _ => parts.insert(0, Part::text(line)),
        }
    }
    let Some(note) = note.filter(|note| !note.is_empty()) else {
        return parts;
    };
    match &mut parts[..] {
        [Part::Text { text }] => {
            text.push('\n');
            text.push_str(note);
        }
        _ => parts.push(Part::text(note)),
    }
    parts
}

/// The calls of a message; what each is called with is as the model wrote it.
pub(super) fn calls(raw: Raw<'_>) -> Result<Vec<Part>, String> {
    let Some(raw) = raw.filter(|raw| raw.get() != "null") else {
        return Ok(Vec::new());
    };
    let all: Vec<&RawValue> = decode(Some(raw)).ok_or("calls that are no list")?;
    let calls = all.into_iter().map(|raw| {
        let found: Option<Call<'_>> = decode(Some(raw));
        let found = found.ok_or("a call that is no object")?;
        let inner: Call<'_> = decode(found.function).unwrap_or_default();
        let name = string(found.name.or(inner.name));
        let arguments = string(found.arguments.or(inner.arguments));
        Ok(parts::call(string(found.id), name, arguments))
    });
    calls.collect()
}
