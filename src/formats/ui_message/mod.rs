//! Messages of the AI SDK, which keep in one a whole run of the model: what it said, its calls, and what they gave.
//!
//! A program keeps them as it likes: a list, an object around it, or lines. Mastra keeps each in a row of its database
//! ([`rows`]), in the form of an older version. One message is as many here as the model was sent. Deliberately absent:
//! what is for the screen alone (`data-…`, `source-…`), memories that Mastra makes of threads, and writing into its database.
//!
//! # Source
//!
//! `packages/ai/src/ui/{ui-messages.ts,convert-to-model-messages.ts}` of <https://github.com/vercel/ai>, versions 4 to 7;
//! `packages/core/src/agent/message-list`, `stores/libsql` and `packages/cli/src/commands/{dev,start}` of
//! <https://github.com/mastra-ai/mastra>.

mod message;
mod part;
mod read;
mod rows;
#[cfg(test)]
mod tests;
mod write;

use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::document;
use crate::formats::shared::histories;
use read::{Chat, Thread};

/// Whose opaque blocks these are.
const PROVIDER: &str = "ai-sdk";

/// The members of a thread's object that hold its row, and those of its messages.
const THREAD: &str = "mastra_thread";
const MESSAGES: &str = "mastra_messages";
/// The thread in which this one was begun.
const PARENT: &str = "parent_thread";

/// The format.
pub static UI_MESSAGE: Format = Format {
    aliases: &["ai-sdk"],
    tools: &["AI SDK"],
    seen: "lists of 5.0, 6.0 and 7.0 that the package wrote, and of pydantic-ai 2.68; 4 by its source",
    sniff: histories::sniff::<Chat>,
    ..Format::of(
        "ui-message",
        Shape::Document,
        histories::import::<Chat>,
        write::export,
    )
};

/// The same as Mastra keeps them.
pub static MASTRA: Format = Format {
    tools: &["Mastra"],
    seen: "a database of 1.71 with LibSQL; that of Mastra Code by its source",
    sniff: |head| {
        let thread = head.object()?;
        let shows = thread.inside(THREAD).is_some() && thread.list(MESSAGES).is_some();
        shows.then_some(0)
    },
    home: Some(Home {
        // A program's own directory; that of `mastra dev`, today and with what older templates name; that of `mastra start`.
        in_projects: &["", "data", "src/mastra/public", ".mastra", ".mastra/output"],
        ..Home::database(".local/share/mastracode", rows::DATABASE)
    }),
    tables: Some(rows::TABLES),
    ..Format::only_read("mastra", Shape::Document, document::import::<Thread>)
};
