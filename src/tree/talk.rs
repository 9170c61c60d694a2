//! Calls that talk to another agent.

use serde_json::Value;

use super::event::Ending;
use crate::model::Part;

/// The tool by which one agent writes to another.
///
/// # Source
///
/// The event log of <https://github.com/kcosr/assistant>.
const TOOL: &str = "agents_message";

/// A conversation with another agent, as one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Talk {
    /// With whom, where that is known.
    pub with: Option<String>,
    /// What its answer names.
    pub(super) exchange: Option<String>,
    /// Who answered.
    pub from: Option<String>,
    /// Whether the answer comes later, however the turn ends.
    pub(super) is_put_off: bool,
}

impl Talk {
    /// That of a call, if it is one.
    pub(super) fn of(name: &str, arguments: &str) -> Option<Self> {
        (name == TOOL).then(|| Self {
            with: partner(arguments),
            ..Self::default()
        })
    }
}

/// Whom the arguments of a call name.
fn partner(arguments: &str) -> Option<String> {
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    let keys = ["targetAgentId", "agentId", "agent", "targetSessionId"];
    let named = |key: &&str| arguments.get(*key)?.as_str().map(str::to_owned);
    keys.iter().find_map(named)
}

/// What the answer to a queued message will name: none if this is no result that says that a
/// message was queued, none within if it names nothing.
pub(super) fn queued(content: &[Part]) -> Option<Option<String>> {
    let [Part::Text { text }] = content else {
        return None;
    };
    let result: Value = serde_json::from_str(text).ok()?;
    let says = |key: &str, words: &[&str]| {
        let word = result.get(key).and_then(Value::as_str);
        word.is_some_and(|word| words.contains(&word))
    };
    if !says("mode", &["async"]) || !says("status", &["queued", "started", "async"]) {
        return None;
    }
    let keys = ["messageId", "agentExchangeId", "responseId"];
    let named = |key: &&str| result.get(*key)?.as_str().map(str::to_owned);
    Some(keys.iter().find_map(named))
}

/// Whether a result says no more than that its task was started, and that a notice will say how it ended.
///
/// # Source
///
/// Claude Code 2.1, what its tools give back that were called with `run_in_background`.
pub(super) fn is_started(content: &[Part]) -> bool {
    let [Part::Text { text }] = content else {
        return false;
    };
    let begins = |words: &&str| text.starts_with(*words);
    [
        "Command running in background with ID: ",
        "Async agent launched successfully",
    ]
    .iter()
    .any(begins)
        && text.contains("You will be notified")
}

/// The call that a notice names, and how what it started has ended.
///
/// # Source
///
/// Claude Code 2.1, the messages of origin `task-notification`.
pub(super) fn notice(text: &str) -> Option<(&str, Ending)> {
    let text = text.trim_start().strip_prefix("<task-notification>")?;
    let within = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        Some(rest.split_once(&format!("</{tag}>"))?.0.trim())
    };
    let ending = match within("status")? {
        "completed" => Ending::Success,
        "failed" => Ending::Error,
        "killed" | "stopped" => Ending::Interrupted,
        _ => return None,
    };
    Some((within("tool-use-id")?, ending))
}
