//! The screen of Claude Code as text: a prompt is behind `>` or `❯`, what the agent says or calls behind `●` or `⏺`, what a
//! tool gave behind `⎿`.
//!
//! A line that the screen wrapped stays two lines. What the screen left out of a result is not there.

use crate::formats::shared::teller::Teller;
use crate::formats::shared::transcript::{Kind, Run, Transcript};
use crate::model::Role;

/// What the user typed stands behind one of these.
const PROMPT: [&str; 2] = ["> ", "❯ "];
/// What the agent says or calls.
const REPLY: [&str; 2] = ["● ", "⏺ "];
/// What a tool gave, or what a command of the client's said.
const GIVEN: &str = "⎿";
/// What the client tells of itself: a thought, a compaction, how long it took.
const NOTE: [&str; 6] = ["✻ ", "✽ ", "✢ ", "∴ ", "※ ", "· "];

/// How much of a file is looked at.
const FRONT_BYTES: usize = 4096;

/// Whether a text is such a screen: the client says its name above the first prompt.
pub(super) fn shows(front: &[u8]) -> bool {
    let front = String::from_utf8_lossy(&front[..front.len().min(FRONT_BYTES)]);
    let mut lines = front.lines();
    let is_named = lines.by_ref().take(5).any(|line| {
        line.contains("Claude Code v") && line.trim_start().starts_with(['▐', '╭', '✻', '*'])
    });
    is_named && lines.any(|line| behind(line, &PROMPT).is_some())
}

/// The screen.
#[derive(Default)]
pub(super) struct Screen;

impl Transcript for Screen {
    const LACKING: &'static [&'static str] = &[
        "system prompt",
        "tool definitions",
        "what the screen left out",
    ];

    fn begins(
        &mut self,
        line: &str,
        run: Option<&mut Run>,
        _: &mut Teller<'_>,
    ) -> Option<(Kind, String)> {
        if let Some(text) = behind(line, &PROMPT) {
            return Some((Kind::Says(Role::User), text.to_owned()));
        }
        let run = run?;
        if let Some(text) = behind(line, &REPLY) {
            // What is said in one turn is one reply.
            let is_users = matches!(run.kind, Kind::Says(Role::User));
            let kind = if is_users {
                Kind::Says(Role::Assistant)
            } else {
                Kind::GoesOn
            };
            return Some((kind, text.to_owned()));
        }
        if behind(line, &NOTE).is_some() {
            return Some((Kind::Aside("note of the client's"), line.to_owned()));
        }
        let given = line.trim_start().strip_prefix(GIVEN)?;
        let is_users = matches!(run.kind, Kind::Says(Role::User));
        if is_users || matches!(run.kind, Kind::Gives(..) | Kind::Aside(_)) {
            return Some((Kind::Aside("output of the client's"), given.to_owned()));
        }
        let (name, arguments) = called(run.text.trim());
        (run.kind, run.text) = (Kind::Calls(name), arguments);
        Some((Kind::Gives(None, false), given.trim_start().to_owned()))
    }

    /// Lines that go on are set in.
    fn goes_on<'l>(&self, line: &'l str, kind: &Kind) -> &'l str {
        let most = if matches!(kind, Kind::Gives(..)) {
            5
        } else {
            2
        };
        let set_in = line.bytes().take_while(|byte| *byte == b' ').count();
        &line[set_in.min(most)..]
    }
}

/// What of a line stands behind one of these marks.
fn behind<'l>(line: &'l str, marks: &[&str]) -> Option<&'l str> {
    marks.iter().find_map(|mark| line.strip_prefix(mark))
}

/// The tool of a call as the screen shows it, `Name(what it was given)`, and that.
fn called(text: &str) -> (String, String) {
    let split = text.strip_suffix(')').and_then(|text| text.split_once('('));
    match split {
        Some((name, given)) => (name.trim().to_owned(), given.to_owned()),
        None => (text.to_owned(), String::new()),
    }
}
