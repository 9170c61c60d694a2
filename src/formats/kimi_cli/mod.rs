//! Kimi CLI, the tool before Kimi Code: a session's `context.jsonl`, which has each message of its context on a line, and
//! between them what the tool notes.
//!
//! The context is what is sent. Where the tool takes a session back, clears it or sums it up, it puts the file aside under
//! a number (`context_1.jsonl`) and writes another one. Deliberately absent: those files, the log of events beside them
//! (`wire.jsonl`), and any writing.
//!
//! # Source
//!
//! `src/kimi_cli/soul/context.py` and `packages/kosong/src/kosong/message.py` of
//! <https://github.com/MoonshotAI/kimi-cli>.

#[cfg(test)]
mod tests;

use serde_json::value::RawValue;

use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::linear::{Line, Linear};
use crate::formats::shared::parts;
use crate::model::{Message, Part, Role};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode, string, word};
use crate::wire::media::attachment;
use crate::wire::openai;

/// Whose thinking and opaque blocks these are.
const PROVIDER: &str = "kimi";

/// The name of every session's file.
const CONTEXT: &str = "context";

/// What the tool notes between messages, by the role that is said of it.
const SYSTEM: &str = "_system_prompt";
const NOTES: [&str; 3] = [SYSTEM, "_checkpoint", "_usage"];

/// The format.
pub static KIMI_CLI: Format = Format {
    tools: &["Kimi CLI"],
    seen: "its source of 2026",
    unproven: true,
    sniff: |head| {
        head.first(|record| {
            let role = record.text("role").unwrap_or_default();
            NOTES.contains(&&*role) && record.has_any(&["content", "id", "token_count"])
        })
    },
    go_on: Some(|source, from| LINES.go_on(source, from)),
    common_stem: Some(CONTEXT),
    home: Some(Home {
        variable: Some("KIMI_SHARE_DIR"),
        ..Home::of(".kimi", "sessions", 2, is_session)
    }),
    ..Format::only_read("kimi-cli", Shape::Lines, |source| LINES.import(source))
};

static LINES: Linear = Linear {
    line,
    lacking: &["tool definitions"],
};

fn is_session(name: &str) -> bool {
    name.strip_suffix(".jsonl") == Some(CONTEXT)
}

lazy! { struct Record { role, content } }

lazy! { struct Item { r#type, text, think, encrypted, image_url, audio_url, video_url } }

lazy! { struct Address { url } }

fn line(text: &str, notes: &mut Notes) -> Result<Line, String> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let record: Record<'_> = decode(Some(raw)).unwrap_or_default();
    let kind = string(record.role).unwrap_or_default();
    let mut line = Line::default();
    if kind == SYSTEM {
        let prompt = parts::said(record.content).map(Part::text);
        line.message = parts::message(Role::System, prompt.into_iter().collect());
    } else if !NOTES.contains(&kind.as_str()) {
        let mut message = openai::message(raw, &mut Notes::default())?;
        take_content(&mut message, content(record.content, notes)?);
        line.message = Some(message).filter(|it| !it.parts.is_empty());
    }
    parts::checked(&line.message)?;
    line.kind = kind;
    Ok(line)
}

/// Puts a content in the place of what OpenAI's reader makes of it; calls stay behind it.
fn take_content(message: &mut Message, content: Vec<Part>) {
    if let [Part::ToolResult { content: given, .. }] = &mut message.parts[..] {
        *given = content;
        return;
    }
    let is_call = |part: &Part| matches!(part, Part::ToolCall { .. });
    let calls = std::mem::take(&mut message.parts);
    let calls = calls.into_iter().filter(is_call);
    message.parts = content.into_iter().chain(calls).collect();
}

/// A content: a text, or parts.
fn content(raw: Raw<'_>, notes: &mut Notes) -> Result<Vec<Part>, String> {
    if let Some(text) = string(raw) {
        let text = Some(text).filter(|text| !text.is_empty());
        return Ok(text.map(Part::text).into_iter().collect());
    }
    let Some(raw) = raw.filter(|raw| raw.get() != "null") else {
        return Ok(Vec::new());
    };
    let items: Vec<&RawValue> = decode(Some(raw)).ok_or("content that is no list")?;
    let parts = items.into_iter().map(|raw| {
        let item: Item<'_> = decode(Some(raw)).ok_or("a part that is no object")?;
        Ok(part(&item, raw, notes))
    });
    let parts: Result<Vec<Option<Part>>, String> = parts.collect();
    Ok(parts?.into_iter().flatten().collect())
}

fn part(item: &Item<'_>, raw: &RawValue, notes: &mut Notes) -> Option<Part> {
    let media = |raw: Raw<'_>| {
        let address: Address<'_> = decode(raw).unwrap_or_default();
        attachment(string(address.url).unwrap_or_default(), None, None)
    };
    match word(item.r#type).as_deref() {
        Some("text") => parts::text(item.text),
        Some("think") => {
            let text = string(item.think).unwrap_or_default();
            Some(parts::sealed(text, string(item.encrypted), PROVIDER))
        }
        Some("image_url") => Some(parts::picture(media(item.image_url))),
        Some("audio_url") => Some(media(item.audio_url)),
        Some("video_url") => Some(media(item.video_url)),
        kind => {
            let kind = kind.unwrap_or_default();
            Some(parts::opaque(PROVIDER, kind, raw.get().to_owned(), notes))
        }
    }
}
