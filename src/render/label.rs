//! What a piece of text is. How that looks is the painters' business.

use crate::model::Role;

/// What a piece of text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Label {
    /// Nothing in particular.
    #[default]
    Text,
    /// A commit's hash, or another number that names something.
    Hash,
    /// A time.
    Time,
    /// Of the system or a developer.
    System,
    /// Of the user.
    User,
    /// Of the model.
    Assistant,
    /// Of a tool.
    Tool,
    /// What hides.
    Hide,
    /// What brings back.
    Restore,
    /// A count of tokens.
    Tokens,
    /// Of less weight than what stands beside it.
    Dim,
    /// Where HEAD is.
    Head,
    /// The name of a branch or a tag.
    Branch,
    /// The name of a session.
    Session,
    /// As it should be.
    Good,
    /// As it might not be wanted.
    Warning,
    /// What is wrong.
    Error,
    /// The word before an advice.
    Hint,
    /// What can be typed.
    Command,
    /// Of more weight than what stands beside it.
    Strong,
    /// What a search found.
    Match,
    /// What both sides of a diff have.
    Unchanged,
    /// What came.
    Added,
    /// What is new in a line that changed.
    AddedWord,
    /// What went.
    Removed,
    /// What was there in a line that changed.
    RemovedWord,
}

impl Label {
    /// The label of a role.
    pub fn role(role: Role) -> Self {
        match role {
            Role::System | Role::Developer => Self::System,
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
            Role::Tool => Self::Tool,
        }
    }
}
