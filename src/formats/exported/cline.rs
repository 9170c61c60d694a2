//! A task that Cline or Roo Code exported: `**User:**` and `**Assistant:**`, rules between them, calls as `[Tool Use: NAME]`
//! with what they were given, results as `[NAME]` or `[Tool]`.
//!
//! Tools that are called by tags in the text stay text, as they were sent.
//!
//! # Source
//!
//! `src/integrations/misc/export-markdown.ts` of <https://github.com/cline/cline>.

use crate::formats::shared::teller::Teller;
use crate::formats::shared::transcript::{Kind, Run, Transcript, without_rules};
use crate::model::Role;

const SPEAKERS: [(&str, Role); 2] = [
    ("**User:**", Role::User),
    ("**Assistant:**", Role::Assistant),
];

const CALL: &str = "[Tool Use: ";
const ERROR: &str = " (Error)";

/// Whether a text is such a task: a user speaks first, and an agent answers.
pub(super) fn shows(front: &[u8]) -> bool {
    let mut lines = front.split(|byte| *byte == b'\n');
    lines.next() == Some(SPEAKERS[0].0.as_bytes())
        && lines.any(|line| line == SPEAKERS[1].0.as_bytes())
}

/// The Markdown.
#[derive(Default)]
pub(super) struct Markdown {
    /// The calls that results may name.
    called: Vec<String>,
    /// Whether the results of calls are read, with which a user's message begins.
    is_answered: bool,
}

impl Transcript for Markdown {
    const LACKING: &'static [&'static str] = &["system prompt", "tool definitions"];

    fn begins(
        &mut self,
        line: &str,
        run: Option<&mut Run>,
        _: &mut Teller<'_>,
    ) -> Option<(Kind, String)> {
        if let Some((_, role)) = SPEAKERS.iter().find(|(mark, _)| *mark == line) {
            self.is_answered = *role == Role::User && !self.called.is_empty();
            return Some((Kind::Says(*role), String::new()));
        }
        let run = run?;
        let inner = line.strip_prefix('[')?.strip_suffix(']')?;
        let is_users = matches!(run.kind, Kind::Says(Role::User) | Kind::Gives(..));
        if is_users {
            let (name, is_error) = match inner.strip_suffix(ERROR) {
                Some(name) => (name, true),
                None => (inner, false),
            };
            let is_its = |called: &String| name == "Tool" || name == called;
            let at = self.called.iter().position(is_its);
            let at = at.filter(|_| self.is_answered)?;
            let name = self.called.remove(at);
            return Some((Kind::Gives(Some(name), is_error), String::new()));
        }
        let name = line.strip_prefix(CALL)?.strip_suffix(']')?;
        self.called.push(name.to_owned());
        Some((Kind::Calls(name.to_owned()), String::new()))
    }

    fn text<'r>(&self, run: &'r Run) -> &'r str {
        without_rules(&run.text)
    }
}
