//! Open WebUI: chats as its users export them, many in one file or one alone, each a tree of messages with the one where
//! it stands; and those of its database (`webui.db`), each put together to what an export has of it ([`rows`]).
//!
//! Each chat is a session. The way to its current message is the main one; prompts that were edited, replies that were
//! made again and those of other models are branches. Deliberately absent: writing, and the
//! files.
//!
//! # Source
//!
//! `src/lib/components/chat`, `backend/open_webui/{models/chats.py,utils/misc.py,utils/middleware.py}` of
//! <https://github.com/open-webui/open-webui>.

mod message;
mod read;
mod rows;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Shape};
use crate::formats::shared::conversations;
use crate::formats::shared::head::Keys;
use read::Chat;

/// Whose blocks these are.
const PROVIDER: &str = "open-webui";

/// The format.
pub static OPEN_WEBUI: Format = Format {
    tools: &["Open WebUI"],
    seen: "the database of 0.12.4, with its requests; exports, files and compactions within a run of tools by its source",
    sniff: |head| {
        let is_chat = |item: &Keys<'_>| {
            let chat = item.inside("chat");
            let shows =
                chat.is_some_and(|chat| chat.has("history") || chat.list("messages").is_some());
            // A row in which it is broken: what it is a row of is known.
            let is_broken = || item.text("chat").is_some() && item.has("user_id");
            shows || is_broken() && item.has("updated_at")
        };
        let shows = head.object().is_some_and(is_chat) || head.lists(is_chat);
        shows.then_some(0)
    },
    tables: Some(rows::TABLES),
    ..Format::only_read("open-webui", Shape::Document, conversations::import::<Chat>)
};
