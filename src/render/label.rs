//! What a piece of text is. How that looks is the painters' business.

use crate::model::{Role, Speaker};

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
    /// A piece of code.
    Code(Syntax),
}

/// What a piece of code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// A remark.
    Comment,
    /// A word of the language.
    Keyword,
    /// A text.
    String,
    /// A number, or another value with a name.
    Constant,
    /// The name of what is called.
    Function,
    /// The name of a type.
    Type,
    /// The name of a field, a key, an attribute.
    Property,
    /// The name of an element.
    Tag,
    /// What heads what follows.
    Heading,
    /// What came, in a diff.
    Inserted,
    /// What went, in a diff.
    Deleted,
}

impl Syntax {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Comment,
        Self::Keyword,
        Self::String,
        Self::Constant,
        Self::Function,
        Self::Type,
        Self::Property,
        Self::Tag,
        Self::Heading,
        Self::Inserted,
        Self::Deleted,
    ];

    /// What it is called, in a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Comment => "comment",
            Self::Keyword => "keyword",
            Self::String => "string",
            Self::Constant => "constant",
            Self::Function => "function",
            Self::Type => "type",
            Self::Property => "property",
            Self::Tag => "tag",
            Self::Heading => "heading",
            Self::Inserted => "inserted",
            Self::Deleted => "deleted",
        }
    }
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

    /// Who speaks, in a word, and its label. What a client says in the user's name is injected.
    pub fn speaker(role: Role, is_injected: bool) -> (Self, &'static str) {
        match is_injected {
            true => (Self::Dim, Speaker::INJECTED),
            false => (Self::role(role), role.as_str()),
        }
    }
}
