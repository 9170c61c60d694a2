//! What takes up space.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Deed, Method};
use crate::repo::Repo;
use crate::upkeep::{Du, Heap, NamedRoom, Needed, SessionRoom};

/// Show what takes up space
///
/// First the files, page by page, to the last byte. Then the messages: by what needs them, by role, by tool, and by
/// branch, tag and session; each with its stored (compressed) size and its length. Messages that several branches
/// share count for each of them; a column has the share that only one of them needs. Then the session files that
/// imports keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct DuParams {}

/// What takes up space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DuAnswer {
    /// All files of the database, or all that a server keeps of it, in bytes.
    pub size_bytes: u64,
    /// What is in them, by its kind.
    pub files: Vec<RoomFacts>,
    /// What lies beside them in the repository's folder: copies from before a restore, copies of a backup that was killed,
    /// and what is nobody's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<RoomFacts>,
    /// Messages by what needs them: shown, hidden (history has it), logged (only undo and reflog lead to it), or nothing.
    pub by_need: Vec<HeapFacts>,
    /// The same by who speaks; what a client attached by itself.
    pub by_role: Vec<HeapFacts>,
    /// The same by tool, the largest first; messages without one have no name.
    pub by_tool: Vec<HeapFacts>,
    /// Branches, tags and sessions, the largest first.
    pub by_name: Vec<NamedRoomFacts>,
    /// What is kept of sessions' files, the largest first.
    pub sessions: Vec<SessionRoomFacts>,
}

/// How much something takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RoomFacts {
    /// What it is: a kind, or the path of a file.
    pub name: String,
    /// In bytes.
    pub size_bytes: u64,
}

/// Messages together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HeapFacts {
    /// What they have in common. What somebody else may have written.
    pub name: String,
    /// How many.
    pub messages: u64,
    /// What is kept of them, in bytes.
    pub kept_bytes: u64,
    /// Their length, in bytes.
    pub size_bytes: u64,
}

/// What the path of some names holds that are in one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamedRoomFacts {
    /// The names, branches first.
    pub names: Vec<String>,
    /// How many messages.
    pub messages: u64,
    /// What is kept of them, in bytes.
    pub kept_bytes: u64,
    /// Their length, in bytes.
    pub size_bytes: u64,
    /// What is kept of those that no other name's path holds, in bytes.
    pub alone_bytes: u64,
}

/// What is kept of a session's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SessionRoomFacts {
    /// The session.
    pub name: String,
    /// How many files: the newest, and older ones that it is no longer the beginning of.
    pub files: u64,
    /// What is kept of them, in bytes.
    pub kept_bytes: u64,
    /// Their length, in bytes.
    pub size_bytes: u64,
    /// What is kept of all but the newest, in bytes.
    pub older_bytes: u64,
}

impl HeapFacts {
    fn of(name: impl Into<String>, heap: &Heap) -> Self {
        Self {
            name: name.into(),
            messages: heap.messages,
            kept_bytes: heap.kept_bytes,
            size_bytes: heap.size_bytes,
        }
    }
}

impl From<&NamedRoom> for NamedRoomFacts {
    fn from(room: &NamedRoom) -> Self {
        Self {
            names: room.names.iter().map(ToString::to_string).collect(),
            messages: room.all.messages,
            kept_bytes: room.all.kept_bytes,
            size_bytes: room.all.size_bytes,
            alone_bytes: room.alone.kept_bytes,
        }
    }
}

impl From<&SessionRoom> for SessionRoomFacts {
    fn from(room: &SessionRoom) -> Self {
        Self {
            name: room.name.to_string(),
            files: room.files,
            kept_bytes: room.kept_bytes,
            size_bytes: room.size_bytes,
            older_bytes: room.older_bytes,
        }
    }
}

const fn needed(need: Needed) -> &'static str {
    match need {
        Needed::Shown => "shown",
        Needed::Hidden => "hidden",
        Needed::Logged => "logged",
        Needed::Nothing => "nothing",
    }
}

impl DuParams {
    /// Measures it.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn carry_out(&self, repo: &Repo) -> Result<Du, ApiError> {
        Ok(repo.du()?)
    }
}

impl Method for DuParams {
    const NAME: &'static str = "du";
    const CHANGES: bool = false;
    type Answer = DuAnswer;

    fn act(self, at: &mut At<'_>) -> Result<DuAnswer, ApiError> {
        let repo = at.repo;
        let du = self.carry_out(repo)?;
        let role = |attached: bool, role: &str| match attached {
            true => format!("{role}, attached"),
            false => role.to_owned(),
        };
        let files = du.room.0.iter().filter(|(_, size_bytes)| *size_bytes > 0);
        let asides = repo.asides().into_iter();
        let asides = asides.map(|aside| (aside.path, aside.size_bytes));
        let others = [repo.killed_backups(), repo.folder_entries()];
        let others = others.into_iter().flatten();
        let others = others.map(|entry| (entry.path, entry.size_bytes));
        Ok(DuAnswer {
            size_bytes: du.room.size_bytes(),
            files: files
                .map(|(of, size_bytes)| RoomFacts {
                    name: of.as_str().to_owned(),
                    size_bytes: *size_bytes,
                })
                .collect(),
            beside: asides
                .chain(others)
                .filter(|(_, size_bytes)| *size_bytes > 0)
                .map(|(path, size_bytes)| RoomFacts {
                    name: path.display().to_string(),
                    size_bytes,
                })
                .collect(),
            by_need: du
                .by_need
                .iter()
                .map(|(need, heap)| HeapFacts::of(needed(*need), heap))
                .collect(),
            by_role: du
                .by_role
                .iter()
                .map(|(who, attached, heap)| HeapFacts::of(role(*attached, who.as_str()), heap))
                .collect(),
            by_tool: du
                .by_tool
                .iter()
                .map(|(tool, heap)| HeapFacts::of(tool.clone().unwrap_or_default(), heap))
                .collect(),
            by_name: du.by_name.iter().map(Into::into).collect(),
            sessions: du.sessions.iter().map(Into::into).collect(),
        })
    }
}

impl Deed for DuParams {}
