//! What a session says of itself, beside its messages.

use std::collections::HashSet;

use super::project_hash;
use super::record::Said;
use crate::formats::shared::parts::time;
use crate::formats::shared::spans::{members, skip_space};
use crate::formats::{Descent, SessionEnd, Step};
use crate::model::Part;
use crate::wire::json::{Raw, decode, string};

/// What the tool's note on the place where it runs begins with.
const CONTEXT: &str = "<session_context>";
/// What a directory's line in that note begins with.
const DIRECTORY: &str = "  - ";

/// The folder of a project's sessions.
const CHATS: &str = "chats";

/// What a session lacks of what the model was sent.
pub(super) const LACKING: [&str; 2] = ["system prompt", "tool definitions"];

/// What a session's beginning says of others, beside its id, by the name of the folder that it is in. Of a document it may
/// be cut.
pub(super) fn descent(beginning: &str, folder: &str) -> Option<(String, Descent)> {
    let bytes = beginning.as_bytes();
    let (found, _) = members(bytes, skip_space(bytes, 0));
    let raw = |key: &str| {
        let (_, at) = found.iter().find(|(known, _)| known == key)?;
        serde_json::from_str(beginning.get(at.clone())?).ok()
    };
    let id = string(raw("sessionId")).filter(|_| string(raw("projectHash")).is_some())?;
    let descent = descent_of(&id, string(raw("kind")), raw("startTime"), folder);
    Some((id, descent))
}

/// The descent of a session of this id and kind. A sub-agent's file is in a folder that is called as the session whose
/// agent started it. A document says its kind behind its messages, and older ones not at all: the folder tells it, too.
pub(super) fn descent_of(
    id: &str,
    kind: Option<String>,
    start_time: Raw<'_>,
    folder: &str,
) -> Descent {
    let is_id = || folder != id && uuid::Uuid::try_parse(folder).is_ok();
    let is_parent = match kind.as_deref() {
        // Older versions put them beside their parents.
        Some("subagent") => !folder.is_empty() && folder != CHATS,
        Some(_) => false,
        None => is_id(),
    };
    Descent {
        spawned_by: is_parent.then(|| folder.to_owned()),
        begun: time(start_time),
        ..Descent::default()
    }
}

/// What is known of a session once it has been read.
#[derive(Default)]
pub(super) struct About {
    /// The sessions that were started, which its end lists.
    started: HashSet<String>,
    /// By which the tool knows the working directory.
    hash: Option<String>,
    /// Directories that may be the working directory.
    directories: Vec<String>,
}

impl About {
    /// A member of what tells of the whole session; gives whether it is known.
    pub(super) fn member(&mut self, key: &str, value: Raw<'_>, end: &mut SessionEnd) -> bool {
        match key {
            "summary" => end.title = string(value).or(end.title.take()),
            "projectHash" => self.hash = string(value).or(self.hash.take()),
            "directories" => {
                let all: Vec<String> = decode(value).unwrap_or_default();
                self.directories.extend(all);
            }
            "sessionId" | "startTime" | "lastUpdated" | "kind" | "messages" => {}
            _ => return false,
        }
        true
    }

    /// A record of it.
    pub(super) fn record(&mut self, said: &Said, end: &mut SessionEnd) {
        if said.listed.steps.is_empty() {
            end.other(said.kind.as_str());
        }
        self.listed(said, end);
    }

    /// A message of a list, which may be that of a record.
    pub(super) fn listed(&mut self, said: &Said, end: &mut SessionEnd) {
        for id in &said.started {
            if self.started.insert(id.clone()) {
                end.started.push(id.clone());
            }
        }
        let first = said.listed.steps.first().and_then(Step::message);
        if let Some(Part::Text { text }) = first.and_then(|message| message.parts.first())
            && text.starts_with(CONTEXT)
            && self.directories.is_empty()
        {
            let found = text.lines().filter_map(|line| line.strip_prefix(DIRECTORY));
            self.directories.extend(found.map(str::to_owned));
        }
    }

    /// The working directory: the one that the tool knows by its hash.
    pub(super) fn cwd(self) -> Option<String> {
        let is_own = |directory: &String| self.hash.as_deref() == Some(&project_hash(directory));
        self.directories.into_iter().find(is_own)
    }
}
