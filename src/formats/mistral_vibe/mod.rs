//! Mistral Vibe: a session in `logs/session/unified/ID/`, whose `CURRENT` names the newest of its generations; a
//! generation is a state of the context, and a journal has what was asked of the model since, request by request.
//!
//! The tool keeps two generations and their journals, so a session is what the older of them holds, what each request
//! after it sent, and what stands now. These are put together to one object ([`files`]): each message once, and which
//! of them were sent when. Deliberately absent: hashes of chunks and records, which only the tool needs; what its
//! screen shows, but for the times; sessions of versions before 3; any writing.
//!
//! # Source
//!
//! Sessions of 3.0.2 with their requests, and `mistralai_vibe_local_harness/vibe/_storage.py` of that version.

mod files;
mod history;
mod read;
#[cfg(test)]
mod tests;

use crate::formats::Descent;
use crate::formats::format::{Format, Home, Shape};
use crate::formats::shared::document;
use crate::formats::shared::head::Keys;
use crate::formats::shared::states::Conversation;

/// The members of a session's object: what is known of it, its messages, and which were sent when.
const SESSION: &str = "vibe_session";
const MESSAGES: &str = "messages";
const STATES: &str = "states";

/// The file that names the newest generation.
const CURRENT: &str = "CURRENT";

/// The format.
pub static MISTRAL_VIBE: Format = Format {
    tools: &["Mistral Vibe"],
    seen: "sessions of 3.0.2, with their requests; sub-agents and forks by its source",
    sniff: |head| {
        let session = head.object()?;
        let shows = session.inside(SESSION).is_some() && session.list(MESSAGES).is_some();
        shows.then_some(0)
    },
    common_stem: Some(CURRENT),
    home: Some(Home {
        variable: Some("VIBE_HOME"),
        belongs: |name, cwd, first_line| {
            let told = || {
                let first = first_line()?;
                Keys::of(first.as_bytes(), 0).inside(SESSION)?.text("cwd")
            };
            name == CURRENT && told().as_deref() == Some(cwd)
        },
        names_starters: true,
        descent: |first_line, _| {
            let session = Keys::of(first_line.as_bytes(), 0).inside(SESSION)?;
            let is_agents = session.is("kind", read::SUBAGENT);
            let by = session.text("parent").filter(|_| is_agents);
            Some((session.text("id")?, Descent::spawned_by(by)))
        },
        ..Home::of(".vibe", "logs/session/unified", 1, |name| name == CURRENT)
    }),
    joined_files: Some(files::FILES),
    ..Format::only_read(
        "mistral-vibe",
        Shape::Document,
        document::import::<Conversation<read::Session>>,
    )
};
