//! What compiling had to change or add, as facts and in plain words.

use std::collections::BTreeMap;
use std::fmt;

use crate::compile::Provider;

/// Something that the user should know about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The request differs from the context.
    Repaired {
        /// In what way.
        repair: Repair,
        /// How often.
        count: usize,
        /// The number of the first message concerned, from 1.
        first: usize,
    },
    /// The context holds no message that the provider would take.
    NothingToSend,
    /// The settings name no model, which a whole request needs.
    NoModel,
    /// The settings hold no limit, which Anthropic requires; this one was put in.
    DefaultMaxTokens {
        /// The limit.
        max_tokens: u32,
    },
    /// A setting that the provider knows in another form, or not at all, was left out.
    SettingLeftOut {
        /// Its key.
        key: &'static str,
        /// Whose form it lacks.
        provider: Provider,
    },
    /// Tools that only another provider can run were left out.
    ToolsLeftOut {
        /// How many.
        count: usize,
        /// Who was not sent them.
        provider: Provider,
    },
}

/// A difference between a context and its request, in the order in which they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Repair {
    /// A result that answers no call was dropped.
    UnpairedResult,
    /// A call without result got a synthetic one.
    MissingResult,
    /// A result moved up to its call.
    LateResult,
    /// A call outside an assistant message was dropped.
    MisplacedCall,
    /// Reasoning that the provider would not accept was left out.
    Thinking,
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
    /// A text of nothing but white space was left out.
    BlankText,
    /// A failed tool without output got a fixed text.
    SilentFailure,
    /// A fixed line of the user's was put before the first message.
    OpeningLine,
    /// White space at the end of the last reply was cut.
    TrailingSpace,
}

impl Notice {
    /// Whether the request differs from the context; a strict compile refuses these.
    pub const fn is_repair(&self) -> bool {
        matches!(self, Self::Repaired { .. })
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repaired {
                repair,
                count: 1,
                first,
            } => write!(f, "1 {} (message {first})", repair.words(true)),
            Self::Repaired {
                repair,
                count,
                first,
            } => write!(
                f,
                "{count} {} (first: message {first})",
                repair.words(false)
            ),
            Self::NothingToSend => f.write_str("the context has no message to send"),
            Self::NoModel => f.write_str("the settings name no model; the request has none"),
            Self::DefaultMaxTokens { max_tokens } => write!(
                f,
                "the settings hold no max_tokens; the request says {max_tokens}"
            ),
            Self::SettingLeftOut { key, provider } => write!(
                f,
                "the setting '{key}' is not in a form that {provider} takes; left out"
            ),
            Self::ToolsLeftOut { count: 1, provider } => {
                write!(f, "1 tool that {provider} cannot run left out")
            }
            Self::ToolsLeftOut { count, provider } => {
                write!(f, "{count} tools that {provider} cannot run left out")
            }
        }
    }
}

impl Repair {
    const fn words(self, one: bool) -> &'static str {
        let (singular, plural) = match self {
            Self::UnpairedResult => (
                "tool result without a call left out",
                "tool results without a call left out",
            ),
            Self::MissingResult => (
                "tool call without result answered as interrupted",
                "tool calls without result answered as interrupted",
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

/// Collects repairs while a request is made: a count and the first place of each kind.
#[derive(Debug, Default)]
pub(super) struct Tally(BTreeMap<Repair, (usize, usize)>);

impl Tally {
    /// One more `repair`, at the message numbered `message` from 1.
    pub(super) fn add(&mut self, repair: Repair, message: usize) {
        let (count, first) = self.0.entry(repair).or_insert((0, message));
        *count += 1;
        *first = message.min(*first);
    }

    /// One notice for each kind.
    pub(super) fn notices(&self) -> impl Iterator<Item = Notice> {
        self.0
            .iter()
            .map(|(&repair, &(count, first))| Notice::Repaired {
                repair,
                count,
                first,
            })
    }
}
