//! Transcripts in plain text: a line of its own says who speaks, another that a tool was called.
//!
//! What a tool was given is in the lines behind its name, and is kept as it stands. What a tool gave is mostly left out
//! of the file: a result without a text is none. Thoughts run on into the reply, so they stay text, with their mark.

use crate::formats::shared::teller::Teller;
use crate::formats::shared::transcript::{Kind, Run, Transcript};
use crate::model::Role;

/// The lines that say who speaks.
const SPEAKERS: [(&str, Role); 2] = [("user:", Role::User), ("assistant:", Role::Assistant)];

/// How lines begin that say that a tool was called, or has ended.
const CALL: &str = "[Tool call] ";
const RESULT: &str = "[Tool result] ";

/// Whether a text is a transcript: a user speaks first, and an agent answers.
pub(super) fn shows(front: &[u8]) -> bool {
    let mut lines = front.split(|byte| *byte == b'\n');
    lines.next() == Some(b"user:") && lines.any(|line| line == b"assistant:")
}

/// The transcript of an agent.
#[derive(Default)]
pub(super) struct Text;

impl Transcript for Text {
    const LACKING: &'static [&'static str] = &["system prompt", "tool definitions", "results"];

    fn begins(
        &mut self,
        line: &str,
        run: Option<&mut Run>,
        _: &mut Teller<'_>,
    ) -> Option<(Kind, String)> {
        // A user may quote anything.
        let is_users = run.is_some_and(|run| run.kind == Kind::Says(Role::User));
        if let Some((_, role)) = SPEAKERS.iter().find(|(mark, _)| *mark == line) {
            return Some((Kind::Says(*role), String::new()));
        }
        let line = Some(line).filter(|_| !is_users)?;
        if let Some(call) = line.strip_prefix(CALL) {
            // What is given may follow the name on its line.
            let end = call.find(|letter: char| !is_of_name(letter));
            let (name, rest) = call.split_at(end.unwrap_or(call.len()));
            return Some((Kind::Calls(name.to_owned()), rest.to_owned()));
        }
        let name = line.strip_prefix(RESULT)?.trim().to_owned();
        Some((Kind::Gives(Some(name), false), String::new()))
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.')
}
