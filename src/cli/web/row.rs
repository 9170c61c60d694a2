//! What lists say of a conversation.

use tract::ingest::tool_dirs::SessionFile;
use tract::model::Millis;

/// A conversation in a list.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// What it is called in addresses.
    pub id: String,
    /// Its title, or how its first prompt begins; none while that is not known. Hostile until escaped.
    pub title: Option<String>,
    /// The tool that wrote it.
    pub tool: Option<String>,
    /// The model in force at its end. Hostile until escaped.
    pub model: Option<String>,
    /// The directory that it ran in. Hostile until escaped.
    pub directory: Option<String>,
    /// How many messages were said, and how many are in the context, as far as that is known; none while nothing is.
    pub messages: Option<(usize, Option<usize>)>,
    /// The tokens of its context, as people read them.
    pub tokens: Option<String>,
    /// What it cost, as people read it.
    pub cost: Option<String>,
    /// The compactions that are active.
    pub compactions: u64,
    /// When it went on last.
    pub last: Option<Millis>,
    /// The id of what it belongs to, or was forked from.
    pub parent: Option<String>,
    /// What it is beside that and others.
    pub kind: Kind,
    /// The branch that ends there, where it has another name.
    pub branch: Option<String>,
    /// Whether HEAD is there.
    pub is_head: bool,
    /// Whether its file holds more than the repository.
    pub has_grown: bool,
}

/// What a conversation is beside others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A session.
    #[default]
    Session,
    /// A session that goes on where another ends.
    Resumed,
    /// A session that goes on where another was once, which has gone on since.
    Fork,
    /// A sub-agent of a session.
    Agent,
    /// A path that a session has left.
    Left,
    /// A branch with commits of its own.
    Branch,
    /// A session that nobody imported.
    File,
}

impl Kind {
    /// What a list calls it, where it is no session by itself.
    pub const fn mark(self) -> Option<&'static str> {
        match self {
            Self::Session => None,
            Self::Resumed => Some("resumed"),
            Self::Fork => Some("fork"),
            Self::Agent => Some("sub-agent"),
            Self::Left => Some("path left"),
            Self::Branch => Some("branch"),
            Self::File => Some("not imported"),
        }
    }

    /// Whether lists count it.
    pub const fn is_session(self) -> bool {
        matches!(
            self,
            Self::Session | Self::Resumed | Self::Fork | Self::File
        )
    }
}

/// All of them, and whether something of it is still being worked out.
pub struct Rows {
    /// The newest first.
    pub rows: Vec<Row>,
    /// Whether it will say more soon.
    pub is_pending: bool,
    /// The files of sessions that nobody imported, the newest first.
    pub unread: Vec<SessionFile>,
}
