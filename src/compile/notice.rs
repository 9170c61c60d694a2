//! What compiling had to change or add, as facts and in plain words.

use std::fmt;

use crate::compile::Provider;
use crate::wire::Repair;

/// Something that the user should know about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The request differs from the context; a strict compile refuses these.
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
    /// Calls of which nobody has a thought signature go with the provider's word for that.
    Unsealed {
        /// How many.
        count: usize,
    },
    /// A setting that the provider knows in another form, or not at all, was left out.
    SettingLeftOut {
        /// Its key.
        key: String,
        /// Whose form it lacks.
        provider: Provider,
    },
    /// The settings say something by two words and not the same; a request has room for one.
    SetTwice {
        /// The word that the request has.
        used: &'static str,
        /// The other.
        left_out: &'static str,
    },
    /// Definitions of tools bear other names, as their calls do: the provider refuses their own.
    ToolsRenamed {
        /// How many.
        count: usize,
        /// Who refuses them.
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

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repaired {
                repair,
                count,
                first,
            } => f.write_str(&repair.say(*count, *first)),
            Self::NothingToSend => f.write_str("the context has no message to send"),
            Self::NoModel => f.write_str("the settings name no model; the request has none"),
            Self::DefaultMaxTokens { max_tokens } => write!(
                f,
                "the settings hold no max_tokens; the request says {max_tokens}"
            ),
            Self::Unsealed { count: 1 } => f.write_str(
                "1 tool call has no thought signature; the request has the provider's word for none",
            ),
            Self::Unsealed { count } => write!(
                f,
                "{count} tool calls have no thought signature; the request has the provider's word for none"
            ),
            Self::SettingLeftOut { key, provider } => write!(
                f,
                "the setting '{key}' is not in a form that {provider} takes; left out"
            ),
            Self::SetTwice { used, left_out } => write!(
                f,
                "the settings hold '{used}' and '{left_out}'; '{left_out}' left out"
            ),
            Self::ToolsRenamed { count: 1, provider } => {
                write!(f, "1 tool defined by another name, for {provider} refuses its own")
            }
            Self::ToolsRenamed { count, provider } => {
                write!(f, "{count} tools defined by other names, for {provider} refuses their own")
            }
            Self::ToolsLeftOut { count: 1, provider } => {
                write!(f, "1 tool that {provider} cannot run left out")
            }
            Self::ToolsLeftOut { count, provider } => {
                write!(f, "{count} tools that {provider} cannot run left out")
            }
        }
    }
}
