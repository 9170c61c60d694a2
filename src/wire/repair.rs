//! How what is written differs from the messages, as facts and in plain words.

use std::collections::BTreeMap;

use super::INTERRUPTED;

/// A difference between messages and what is written for a provider, in the order in which they
/// are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Repair {
    /// A result that answers no call was dropped.
    UnpairedResult,
    /// A result with an id of no call went to the free call in its place.
    StrayResult,
    /// A call without result got a synthetic one.
    MissingResult,
    /// A call without result was left out.
    OpenCall,
    /// A result moved up to its call.
    LateResult,
    /// A call outside an assistant message was dropped.
    MisplacedCall,
    /// Reasoning that the provider would not accept was left out.
    Thinking,
    /// A thought of a tool loop that still runs was left out, for another one of it is gone.
    LoopThinking,
    /// A block that the provider does not know there was left out.
    Opaque,
    /// A picture or file that the provider does not take there became a word in brackets.
    Media,
    /// Arguments that are no JSON object were wrapped in one.
    RawArguments,
    /// A call's id was changed: it occurs twice, or holds characters that are not allowed.
    CallId,
    /// A tool's name was changed: it holds characters that are not allowed, or too many.
    ToolName,
    /// A system message after the first other message became the user's text.
    SystemInPlace,
    /// Text beside tool results, in a tool message, became the user's.
    ToolText,
    /// A speaker's name was left out or changed.
    SpeakerName,
    /// What one agent sent to another became the user's.
    BetweenAgents,
    /// A text of nothing but white space was left out.
    BlankText,
    /// A failed tool without output got a fixed text.
    SilentFailure,
    /// A fixed line of the user's was put before the first message.
    OpeningLine,
    /// White space at the end of the last reply was cut.
    TrailingSpace,
}

impl Repair {
    /// What happened so often, in words; `first` is the number of the first message concerned,
    /// from 1.
    pub fn say(self, count: usize, first: usize) -> String {
        match count {
            1 => format!("1 {} (message {first})", self.words(true)),
            _ => format!("{count} {} (first: message {first})", self.words(false)),
        }
    }

    const fn words(self, one: bool) -> &'static str {
        let (singular, plural) = match self {
            Self::UnpairedResult => (
                "tool result without a call left out",
                "tool results without a call left out",
            ),
            Self::StrayResult => (
                "tool result with an id of no call taken for the call in its place",
                "tool results with ids of no calls taken for the calls in their places",
            ),
            Self::MissingResult => (
                "tool call without result answered as interrupted",
                "tool calls without result answered as interrupted",
            ),
            Self::OpenCall => (
                "tool call without result left out",
                "tool calls without result left out",
            ),
            Self::LateResult => (
                "late tool result moved to its call",
                "late tool results moved to their calls",
            ),
            Self::MisplacedCall => (
                "tool call outside a reply left out",
                "tool calls outside a reply left out",
            ),
            Self::Thinking => (
                "thinking part that the provider would refuse left out",
                "thinking parts that the provider would refuse left out",
            ),
            Self::LoopThinking => (
                "thinking part left out, for another one of its tool loop is gone: the provider takes all or none",
                "thinking parts left out, for another one of their tool loop is gone: the provider takes all or none",
            ),
            Self::Opaque => (
                "block that the provider does not take left out",
                "blocks that the provider does not take left out",
            ),
            Self::Media => (
                "image or file that the provider does not take there named in its place",
                "images or files that the provider does not take there named in their place",
            ),
            Self::RawArguments => (
                "tool call's arguments, no JSON object, sent as _raw",
                "tool calls' arguments, no JSON objects, sent as _raw",
            ),
            Self::CallId => ("tool call id changed", "tool call ids changed"),
            Self::ToolName => ("tool name changed", "tool names changed"),
            Self::SystemInPlace => (
                "later system message sent as the user's text",
                "later system messages sent as the user's text",
            ),
            Self::ToolText => (
                "tool message's text sent as the user's",
                "tool messages' texts sent as the user's",
            ),
            Self::SpeakerName => (
                "speaker's name left out or changed",
                "speakers' names left out or changed",
            ),
            Self::BetweenAgents => (
                "message of one agent to another sent as the user's",
                "messages of one agent to another sent as the user's",
            ),
            Self::BlankText => ("blank text left out", "blank texts left out"),
            Self::SilentFailure => (
                "failed tool's empty output filled in",
                "failed tools' empty outputs filled in",
            ),
            Self::OpeningLine => (
                "line of the user's put before the first message",
                "lines of the user's put before the first message",
            ),
            Self::TrailingSpace => (
                "reply cut of the white space at its end",
                "replies cut of the white space at their end",
            ),
        };
        if one { singular } else { plural }
    }
}

/// Repairs as they are made: a count and the first place of each kind.
#[derive(Clone, Debug, Default)]
pub struct Repairs {
    made: BTreeMap<Repair, (usize, usize)>,
    /// What stands in place of a result that never came, where a client has words of its own.
    pub unanswered: Option<&'static str>,
}

impl Repairs {
    /// One more `repair`, at the message numbered `message` from 1.
    pub fn add(&mut self, repair: Repair, message: usize) {
        let (count, first) = self.made.entry(repair).or_insert((0, message));
        *count += 1;
        *first = message.min(*first);
    }

    /// What stands in place of a result that never came.
    pub fn words_of_none(&self) -> &'static str {
        self.unanswered.unwrap_or(INTERRUPTED)
    }

    /// Each kind with its count and the first message concerned.
    pub fn iter(&self) -> impl Iterator<Item = (Repair, usize, usize)> {
        let all = self.made.iter();
        all.map(|(&repair, &(count, first))| (repair, count, first))
    }
}
