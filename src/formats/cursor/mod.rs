//! Cursor: its agents' transcripts, a line for each message, and the chats in the editor's databases, each put
//! together to one object ([`rows`]). Beside some transcripts lies the same session in plain text ([`text`]).
//!
//! A transcript has calls without ids and no results: none are made up. What the editor puts around a prompt, and
//! from when on it sends a summary instead of what was said, it does not keep. Deliberately absent: the stores of its
//! command line (`cursor_cli`), and any writing: the tool is closed.
//!
//! # Source
//!
//! Transcripts of 2026 and a database of 2025; of newer databases what their readers agree on, among them
//! <https://github.com/michaeldhood/chatrxiv> (`docs/cursor/storage-reference.md`).

mod chat;
mod lines;
mod rows;
#[cfg(test)]
mod tests;
mod text;

use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::document;
use crate::formats::shared::head::{Keys, first_line};
use crate::formats::shared::transcript;

/// The members of a chat's object: what is known of it, and its bubbles.
const CHAT: &str = "cursor_chat";
const BUBBLES: &str = "bubbles";

/// The format.
pub static CURSOR: Format = Format {
    tools: &["Cursor"],
    seen: "transcripts of 2026 and a database of 2025; newer databases by what their readers agree on",
    sniff: |head| {
        let is_chat = |keys: &Keys<'_>| keys.inside(CHAT).is_some() && keys.list(BUBBLES).is_some();
        if head.object().is_some_and(is_chat) {
            return Some(0);
        }
        head.first(|record| {
            let is_bare = record.has("role") && !record.has_any(&["type", "content", "uuid", "id"]);
            is_bare
                && record
                    .inside("message")
                    .is_some_and(|it| it.list("content").is_some())
        })
    },
    is_document: Some(is_document),
    home: Some(Home {
        of_directory: Some((|cwd| format!("projects/{}/agent-transcripts", slug(cwd)), 1)),
        belongs: |name, _, _| is_transcript(name),
        ..Home::of(".cursor", "projects", 3, is_transcript)
    }),
    tables: Some(rows::TABLES),
    ..Format::only_read("cursor", Shape::Lines, |source| {
        if source.begins(is_document)? {
            document::import::<chat::Chat>(source)
        } else {
            lines::import(source)
        }
    })
};

/// The format of transcripts in plain text.
pub static CURSOR_TEXT: Format = Format {
    tools: &["Cursor"],
    seen: "two transcripts of 2026",
    text: Some(text::shows),
    ..Format::only_read(
        "cursor-text",
        Shape::Lines,
        transcript::import::<text::Text>,
    )
};

fn is_transcript(name: &str) -> bool {
    name.ends_with(".jsonl")
}

/// The name of a working directory's folder.
fn slug(cwd: &str) -> String {
    let letters = cwd.trim_start_matches('/').chars();
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '-'
        }
    };
    letters.map(plain).collect()
}

/// Whether a source that begins so is a chat: its first value holds the bubbles, or does not end with its line.
fn is_document(front: &[u8]) -> bool {
    let (keys, is_whole) = first_line(front);
    if is_whole {
        keys.iter().any(|key| key == CHAT)
    } else {
        keys.first().is_some_and(|key| key == CHAT)
    }
}
