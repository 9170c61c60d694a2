//! SWE-agent and mini-swe-agent: a run as one object, `ID.traj` and `ID.traj.json`, with the messages of its model.
//!
//! SWE-agent's history holds all that was said; what each request held of it stands beside, step by step, so
//! that outputs which were left out of later requests are hidden here. Attempts, and agents that speak in the same
//! history, are branches. Deliberately absent: the steps of the run, which say the same once more, its patch, its
//! costs, and any writing: neither tool goes on with such a file.
//!
//! # Source
//!
//! `sweagent/agent/agents.py`, `models.py` and `history_processors.py` of <https://github.com/SWE-agent/SWE-agent>;
//! `src/minisweagent/agents/default.py` and `src/minisweagent/models` of
//! <https://github.com/SWE-agent/mini-swe-agent>.

mod entry;
mod mini;
mod read;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Shape};
use crate::formats::shared::document;
use crate::formats::shared::head::Keys;

/// The format of SWE-agent.
pub static SWE_AGENT: Format = Format {
    tools: &["SWE-agent"],
    seen: "one run before 1.0, two of 1.x; attempts by its source",
    sniff: |head| {
        let run = head.object()?;
        let mut attempts = run.list("attempts").into_iter().flatten();
        let is_one = is_run(run) || attempts.any(|attempt| is_run(&attempt));
        is_one.then_some(0)
    },
    ..Format::only_read("swe-agent", Shape::Document, read::import)
};

/// The format of mini-swe-agent. Its earliest files are bare lists of messages, and are read as such.
pub static MINI_SWE_AGENT: Format = Format {
    tools: &["mini-swe-agent"],
    seen: "its source, 1.0 to 2.2, and files of 1.13 and 2.4.6; the earliest files are read as `openai`",
    sniff: |head| {
        let run = head.object().filter(|run| run.has("messages"))?;
        let named = run.text("trajectory_format");
        let is_named = named.is_some_and(|name| name.starts_with("mini-swe-agent"));
        let info = run.inside("info");
        let is_older = info.is_some_and(|info| info.has("mini_version"));
        (is_named || is_older).then_some(0)
    },
    ..Format::only_read(
        "mini-swe-agent",
        Shape::Document,
        document::import::<mini::Run>,
    )
};

/// Whether an object is a run, or a demonstration, which is one without its steps.
fn is_run(run: &Keys<'_>) -> bool {
    let first = run.list("history").and_then(|mut entries| entries.next());
    first.is_some_and(|entry| {
        entry.has("role") && (entry.has_any(&["agent", "message_type"]) || run.has("trajectory"))
    })
}
