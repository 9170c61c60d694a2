//! Sessions as agents write them out for people to read: the text of Claude Code's `/export`, the Markdown of OpenCode's
//! `/export`, and of the task that Cline and Roo Code export.
//!
//! They have what was said and done, and not what was sent: where the agent's own session is there, that says more.
//! Deliberately absent: any writing.

mod claude_code;
mod cline;
mod opencode;
#[cfg(test)]
mod tests;

use crate::formats::format::{Format, Shape};
use crate::formats::shared::transcript;

/// Claude Code's.
pub static CLAUDE_CODE_TEXT: Format = Format {
    tools: &["Claude Code"],
    seen: "the text of 2.1.141 as it was committed; others by what users show of theirs",
    text: Some(claude_code::shows),
    ..Format::only_read(
        "claude-code-text",
        Shape::Lines,
        transcript::import::<claude_code::Screen>,
    )
};

/// OpenCode's.
pub static OPENCODE_TEXT: Format = Format {
    tools: &["OpenCode"],
    seen: "one file of 2026",
    text: Some(opencode::shows),
    ..Format::only_read(
        "opencode-text",
        Shape::Lines,
        transcript::import::<opencode::Markdown>,
    )
};

/// Cline's and Roo Code's.
pub static CLINE_TEXT: Format = Format {
    tools: &["Roo Code", "Cline"],
    seen: "its source of 2025",
    unproven: true,
    text: Some(cline::shows),
    ..Format::only_read(
        "cline-text",
        Shape::Lines,
        transcript::import::<cline::Markdown>,
    )
};
