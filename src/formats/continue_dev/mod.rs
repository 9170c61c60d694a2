//! Continue: a session as one object, `sessions/ID.json`, with the items of its history.
//!
//! An item is a message with what the editor put before it, and a reply's with what its calls gave
//! back; that is a message of its own here, with the same item behind it. What a summary stands for is
//! hidden. Deliberately absent: the list of sessions beside them, the document of the editor, and the
//! prompts as they were rendered, which say the same once more.
//!
//! # Source
//!
//! `core/index.d.ts`, `core/util/history.ts`, `gui/src/redux/util/constructMessages.ts` and
//! `extensions/cli/src/compaction.ts` of <https://github.com/continuedev/continue>.

mod item;
mod read;
#[cfg(test)]
mod tests;
mod write;

use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::document;
use crate::formats::shared::places;
use crate::formats::shared::spans::{members, skip_space};
use crate::wire::json::string;

/// Whose opaque blocks these are, where they are not Anthropic's.
const PROVIDER: &str = "continue";

/// What the tool says before a summary, behind its system prompt.
const SUMMARY: &str = "Previous conversation summary:\n\n ";

/// The format.
pub static CONTINUE: Format = Format {
    tools: &["Continue"],
    seen: "sessions of two users, 2025, and of its command line 1.5.47; summaries by its source",
    sniff: |head| {
        let session = head.object()?;
        let mut items = session.list("history")?;
        let is_item = items.next().is_none_or(|item| item.has("message"));
        (session.has("sessionId") && is_item).then_some(0)
    },
    home: Some(Home {
        variable: Some("CONTINUE_GLOBAL_DIR"),
        belongs: |name, cwd, beginning| {
            let own = beginning().filter(|_| is_session(name));
            own.and_then(|text| directory(&text)).as_deref() == Some(cwd)
        },
        ..Home::of(".continue", "sessions", 0, is_session)
    }),
    ..Format::of(
        "continue",
        Shape::Document,
        document::import::<read::Session>,
        write::export,
    )
};

/// The list of sessions lies beside them.
fn is_session(name: &str) -> bool {
    name.ends_with(".json") && name != "sessions.json"
}

/// The working directory of the session that begins so.
fn directory(text: &str) -> Option<String> {
    let (found, _) = members(text.as_bytes(), skip_space(text.as_bytes(), 0));
    let own = found
        .into_iter()
        .find(|(key, _)| key == "workspaceDirectory");
    let own = serde_json::from_str(text.get(own?.1)?).ok();
    Some(places::path(&string(own)?))
}
