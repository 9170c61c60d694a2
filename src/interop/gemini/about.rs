//! What a session says of itself, beside its messages.

use std::collections::HashSet;

use super::project_hash;
use super::record::Said;
use crate::interop::{SessionEnd, Step};
use crate::model::Part;
use crate::wire::json::{Raw, decode, string};

/// What the tool's note on the place where it runs begins with.
const CONTEXT: &str = "<session_context>";
/// What a directory's line in that note begins with.
const DIRECTORY: &str = "  - ";

/// What is known of a session once it has been read.
pub(super) struct About {
    pub(super) end: SessionEnd,
    /// The sessions that were started, which `end` lists.
    started: HashSet<String>,
    /// By which the tool knows the working directory.
    hash: Option<String>,
    /// Directories that may be the working directory.
    directories: Vec<String>,
}

impl About {
    pub(super) fn new() -> Self {
        Self {
            end: SessionEnd::lacking(&["system prompt", "tool definitions"]),
            started: HashSet::new(),
            hash: None,
            directories: Vec::new(),
        }
    }

    /// A member of what tells of the whole session; gives whether it is known.
    pub(super) fn member(&mut self, key: &str, value: Raw<'_>) -> bool {
        match key {
            "summary" => self.end.title = string(value).or(self.end.title.take()),
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
    pub(super) fn record(&mut self, said: &Said) {
        if said.listed.steps.is_empty() {
            self.end.other(said.kind.as_str());
        }
        self.listed(said);
    }

    /// A message of a list, which may be that of a record.
    pub(super) fn listed(&mut self, said: &Said) {
        for id in &said.started {
            if self.started.insert(id.clone()) {
                self.end.started.push(id.clone());
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

    /// All of it: the working directory is the one that the tool knows by its hash.
    pub(super) fn finish(mut self) -> SessionEnd {
        let is_own = |directory: &String| self.hash.as_deref() == Some(&project_hash(directory));
        self.end.cwd = self.directories.iter().find(|it| is_own(it)).cloned();
        self.end
    }
}
