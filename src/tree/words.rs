//! What parts say to a reader.

use crate::model::call::Brief;
use crate::model::server_tools::{Hosted, hosted};
use crate::model::{Media, MediaSource, Part};

/// What parts say, one below the other.
pub fn words(parts: &[Part]) -> String {
    let words: Vec<String> = parts.iter().map(word).collect();
    words.join("\n")
}

/// What a part says; of what is no text, what it is.
pub fn word(part: &Part) -> String {
    match part {
        Part::Text { text } | Part::Thinking { text, .. } => text.clone(),
        Part::ToolCall { name, .. } => format!("[call {name}]"),
        Part::ToolResult { content, .. } => words(content),
        Part::Image(media) => format!("[image{}]", described(media)),
        Part::File(media) => format!("[file{}]", described(media)),
        Part::Opaque { provider, data } => match hosted(data) {
            Some(Hosted { call: asked, gave }) => {
                let asked = asked.map(|(name, arguments)| {
                    format!("[call {}]", Brief::of(&name, &arguments).line(None))
                });
                let texts: Vec<String> = asked.into_iter().chain(gave).collect();
                texts.join("\n")
            }
            None => format!("[{provider} block]"),
        },
    }
}

fn described(media: &Media) -> String {
    let mut words = String::new();
    for word in [&media.media_type, &media.name].into_iter().flatten() {
        words = words + " " + word;
    }
    match &media.source {
        MediaSource::Url(address) => words + " " + address,
        MediaSource::FileId(id) => words + " " + id,
        MediaSource::Base64(_) => words,
    }
}
