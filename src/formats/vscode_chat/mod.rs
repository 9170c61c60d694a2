//! VS Code's chat (Copilot Chat): a session as one object with its requests, or as a log of changes
//! that make that object.
//!
//! A request is a prompt with all that followed. What the model was sent and said stands in the
//! metadata of its result: the rendered prompt, rounds of calls, what they gave back. What the screen
//! showed (`response`) counts only where a request was stopped and has no result. Deliberately absent:
//! the replay that the debug view exports, which is another object, and the index of sessions.
//!
//! # Source
//!
//! `src/vs/workbench/contrib/chat/common/model` of <https://github.com/microsoft/vscode>, and
//! `src/extension/prompt` and `prompts` of <https://github.com/microsoft/vscode-copilot-chat>.

mod log;
mod message;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::path::Path;

use crate::formats::format::{Format, Home, Shape};

/// Whose opaque blocks and sealed reasoning these are.
const PROVIDER: &str = "copilot";

/// The kinds of a part of a prompt.
const IMAGE: u64 = 0;
const TEXT: u64 = 1;
const CACHE_BREAKPOINT: u64 = 3;

/// The format.
pub static VSCODE_CHAT: Format = Format {
    aliases: &["vscode"],
    tools: &["VS Code's chat"],
    seen: "exports of a few users; the log of changes by its source",
    sniff: |head| {
        let is_chat = head.object().is_some_and(|object| {
            object.list("requests").is_some() && object.has_any(&["responderUsername", "sessionId"])
        });
        let is_log = || {
            head.first(|record| {
                let whole = record.inside("v").filter(|_| record.has("kind"));
                whole.is_some_and(|whole| whole.has("requests"))
            })
        };
        is_chat.then_some(0).or_else(is_log)
    },
    home: Some(Home {
        // Which folder it is of stands in a file beside it.
        beside: &["globalStorage/emptyWindowChatSessions"],
        ..Home::of(".config/Code/User", "workspaceStorage", 2, is_session)
    }),
    ..Format::of("vscode-chat", Shape::Document, read::import, write::export)
};

/// A session's file is called by its id; what else extensions keep there is not.
fn is_session(name: &str) -> bool {
    let stem = Path::new(name).file_stem().unwrap_or_default();
    uuid::Uuid::try_parse(&stem.to_string_lossy()).is_ok()
}
