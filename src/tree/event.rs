//! What happens in a conversation, in one form for every source.
//!
//! A reader of a live stream, of a session file or of stored messages makes these; the fold takes
//! them. Deliberately absent: how any source spells them. When something happened changes no tree; it
//! is for whoever plays it again.

use crate::model::{HideKind, Millis, Part, Role};

/// One thing that happened, and where it belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The source's id of it. One that was seen is not taken again.
    pub id: Option<String>,
    /// Its place among events that are numbered.
    pub place: Option<EventPlace>,
    /// The turn that it belongs to.
    pub turn: Option<String>,
    /// The response that it belongs to.
    pub response: Option<String>,
    /// The message of the model's that it is part of, where a response holds several.
    pub message: Option<String>,
    /// The call that started the sub-agent which it happened in.
    pub parent: Option<String>,
    /// When, by the source.
    pub time: Option<Millis>,
    /// What happened.
    pub what: Happening,
}

/// The number of an event: a revision of the whole, and the place in that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventPlace {
    /// A higher one starts over.
    pub revision: u64,
    /// Counts up by one.
    pub sequence: u64,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A turn begins.
    TurnStart,
    /// A turn is complete.
    TurnEnd,
    /// The user said something.
    User {
        /// What.
        parts: Vec<Part>,
        /// The agent that speaks in the user's place.
        from: Option<String>,
    },
    /// A message that nobody typed and no model made: instructions, a reminder.
    Note {
        /// Whose it is.
        role: Role,
        /// What it says.
        parts: Vec<Part>,
    },
    /// More of a text.
    TextDelta {
        /// What came.
        text: String,
        /// What kind of text it is: `commentary`, `final_answer`.
        phase: Option<String>,
    },
    /// A text is complete; this is all of it.
    TextDone {
        /// The whole text.
        text: String,
        /// What kind of text it is.
        phase: Option<String>,
    },
    /// What a response says in all, told beside its stream or in place of it.
    Reply {
        /// The whole text.
        text: String,
    },
    /// A thought begins.
    ThinkingStart,
    /// More of a thought.
    ThinkingDelta {
        /// What came.
        text: String,
    },
    /// A thought is complete; this is all of it.
    ThinkingDone {
        /// The whole thought.
        text: String,
    },
    /// Whatever was streaming in its response is complete.
    BlockEnd,
    /// What was said last in its response is not all of it: it was cut.
    Cut,
    /// A whole piece of a response, as a message holds it: it ends what streamed before it, or is
    /// the final form of that.
    Block(Part),
    /// A call of a tool begins; its arguments come in pieces.
    CallStart {
        /// Its id.
        call: String,
        /// The tool.
        name: String,
    },
    /// More of a call's arguments.
    CallInput {
        /// The call.
        call: String,
        /// What came.
        text: String,
        /// How much has come in all, in the source's own units.
        offset: Option<u64>,
    },
    /// A call of a tool.
    Call {
        /// Its id.
        call: String,
        /// The tool.
        name: String,
        /// The arguments, as they were written.
        arguments: String,
    },
    /// More of what a tool gives out.
    Output {
        /// The call.
        call: String,
        /// What came.
        text: String,
        /// How much has come in all, in the source's own units.
        offset: Option<u64>,
    },
    /// A call is answered.
    Answer {
        /// The call.
        call: String,
        /// What the tool gave back.
        content: Vec<Part>,
        /// How it ended.
        ending: Ending,
    },
    /// A message goes to another agent.
    Sent {
        /// What the answer will name.
        exchange: String,
        /// To whom.
        to: String,
        /// What.
        text: String,
        /// Whether the answer is waited for.
        waits: bool,
    },
    /// Another agent answers.
    Callback {
        /// What it answers: an exchange, or a call.
        exchange: Option<String>,
        /// From whom.
        from: Option<String>,
        /// What it says.
        content: Vec<Part>,
        /// Whether it failed.
        is_error: bool,
    },
    /// Someone cancelled what was under way.
    Interrupt {
        /// What the model is told of that, where the source has a message for it.
        said: Vec<Part>,
    },
    /// The program that talks to the model failed.
    Fault {
        /// What it says.
        text: String,
    },
    /// Messages were hidden; this stands in their place.
    Marker {
        /// By what.
        kind: HideKind,
        /// Who says it.
        role: Role,
        /// What it says.
        parts: Vec<Part>,
        /// Whether it covers all that came before.
        covers: bool,
    },
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As it should.
    Success,
    /// The tool failed.
    Error,
    /// Someone cancelled it.
    Interrupted,
}

impl Event {
    /// What a client says in the user's name is a note.
    pub fn inject(&mut self) {
        if let Happening::User { parts, from: None } = &mut self.what {
            let parts = std::mem::take(parts);
            let role = Role::User;
            self.what = Happening::Note { role, parts };
        }
    }

    /// Something that happened, and nothing known of where it belongs.
    pub fn new(what: Happening) -> Self {
        Self {
            id: None,
            place: None,
            turn: None,
            response: None,
            message: None,
            parent: None,
            time: None,
            what,
        }
    }
}

impl From<Happening> for Event {
    fn from(what: Happening) -> Self {
        Self::new(what)
    }
}

impl Ending {
    /// That of a result which says no more than whether it failed.
    pub const fn of(is_error: bool) -> Self {
        if is_error { Self::Error } else { Self::Success }
    }
}
