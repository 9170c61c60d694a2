//! Amp: a thread as one object, whose blocks are Anthropic's but for the results.
//!
//! Deliberately absent: what the tool sends once a thread is summed up, and how it words a result that failed:
//! the tool is closed, and nobody has published either. Nothing is written for the same reason.
//!
//! # Source
//!
//! Threads of 2025 as their readers describe them, among them
//! <https://github.com/jonathan-kellerai/cross_agent_session_resumer> (`src/providers/amp.rs`).

mod read;
#[cfg(test)]
mod tests;

use serde::Deserialize;

use crate::formats::Descent;
use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::document;
use crate::formats::shared::foreign::is_amp;
use crate::formats::shared::head::Keys;
use crate::formats::shared::places;

/// The member that holds a thread's messages.
const MESSAGES: &str = "messages";

/// The format.
pub static AMP: Format = Format {
    tools: &["Amp"],
    seen: "one thread of 2025, cut; else what several readers of threads of 2025 agree on",
    sniff: |head| head.object().is_some_and(shows).then_some(0),
    home: Some(Home {
        belongs: |name, cwd, first_line| {
            let first = first_line().filter(|_| is_thread(name));
            let told = first.and_then(|line| serde_json::from_str::<Told>(&line).ok());
            told.and_then(|told| told.env.cwd()).as_deref() == Some(cwd)
        },
        descent: |first_line, _| {
            let told: Told = serde_json::from_str(first_line).ok()?;
            Some((told.id?, Descent::default()))
        },
        ..Home::of(".local/share/amp", "threads", 0, is_thread)
    }),
    ..Format::only_read("amp", Shape::Document, document::import::<read::Thread>)
};

/// Whether a document is a thread: by its id, by the counter of its messages, or by a result in it.
fn shows(thread: &Keys<'_>) -> bool {
    let mut messages = thread.list(MESSAGES).into_iter().flatten();
    let has_id = thread.text("id").is_some_and(|id| id.starts_with("T-"));
    if thread.list(MESSAGES).is_some() {
        has_id && thread.has_any(&["v", "env"])
            || thread.has("nextMessageId")
            || messages.any(is_amp)
    } else {
        false
    }
}

fn is_thread(name: &str) -> bool {
    name.starts_with("T-") && name.ends_with(".json")
}

/// What a thread says of itself.
#[derive(Deserialize)]
struct Told {
    id: Option<String>,
    #[serde(default)]
    env: Env,
}

/// Where a thread was begun.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Env {
    initial: Initial,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Initial {
    trees: Vec<Tree>,
    tags: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tree {
    uri: Option<String>,
}

impl Env {
    /// The working directory, where it is one.
    fn cwd(&self) -> Option<String> {
        let uri = self.initial.trees.first()?.uri.as_deref()?;
        uri.starts_with("file://").then(|| places::path(uri))
    }

    fn model(&self) -> Option<&str> {
        let mut tags = self.initial.tags.iter();
        tags.find_map(|tag| tag.strip_prefix("model:"))
    }
}
