//! OpenCode's session as Markdown: a heading for each who speaks, a bold line for each call, and fences around what a tool
//! was given and gave.
//!
//! Thoughts run on into the reply, so they stay text, with their mark. Times are local and bear no zone: none is told.

use crate::formats::shared::teller::Teller;
use crate::formats::shared::transcript::{Kind, Run, Transcript, without_rules};
use crate::model::Role;
use crate::wire::json::quoted;

const SESSION: &str = "**Session ID:** ";
const FENCE: &str = "```";

/// Whether a text is such a session: a title, and behind it whose session it is.
pub(super) fn shows(front: &[u8]) -> bool {
    let mut lines = front.split(|byte| *byte == b'\n');
    let is_titled = lines.next().is_some_and(|line| line.starts_with(b"# "));
    is_titled
        && lines
            .take(4)
            .any(|line| line.starts_with(SESSION.as_bytes()))
}

/// The Markdown.
#[derive(Default)]
pub(super) struct Markdown {
    /// Whether what is read stands in a fence.
    is_fenced: bool,
    model: Option<String>,
}

impl Transcript for Markdown {
    const LACKING: &'static [&'static str] = &["system prompt", "tool definitions"];

    fn begins(
        &mut self,
        line: &str,
        run: Option<&mut Run>,
        teller: &mut Teller<'_>,
    ) -> Option<(Kind, String)> {
        let Some(run) = run else {
            about(line, teller);
            return self.heading(line);
        };
        let is_of_tool = matches!(run.kind, Kind::Calls(_) | Kind::Gives(..));
        if is_of_tool && line.starts_with(FENCE) {
            self.is_fenced = !self.is_fenced || line != FENCE;
            // What stands behind the fence is the agent's again.
            return None;
        }
        if self.is_fenced {
            return None;
        }
        if let Some(begins) = self.heading(line) {
            return Some(begins);
        }
        if run.kind == Kind::Says(Role::User) {
            return None;
        }
        let tool = line.strip_prefix("**Tool: ");
        if let Some(name) = tool.and_then(|line| line.strip_suffix("**")) {
            return Some((Kind::Calls(name.to_owned()), String::new()));
        }
        match line {
            "**Input:**" if is_of_tool => None,
            "**Output:**" if is_of_tool => Some((Kind::Gives(None, false), String::new())),
            "**Error:**" if is_of_tool => Some((Kind::Gives(None, true), String::new())),
            _ if is_of_tool && !line.trim().is_empty() => Some((Kind::GoesOn, line.to_owned())),
            _ => None,
        }
    }

    fn model(&self) -> Option<String> {
        self.model.clone()
    }

    fn text<'r>(&self, run: &'r Run) -> &'r str {
        match run.kind {
            Kind::Calls(_) | Kind::Gives(..) => fenced(&run.text),
            _ => without_rules(&run.text),
        }
    }
}

/// What stands before anybody speaks: the title, and whose session it is.
fn about(line: &str, teller: &mut Teller<'_>) {
    if let Some(title) = line.strip_prefix("# ") {
        teller.end.title = Some(title.trim().to_owned());
    }
    if let Some(id) = line.strip_prefix(SESSION) {
        teller.name(Some(id.trim().to_owned()).filter(|id| !id.is_empty()));
    }
}

impl Markdown {
    /// Who speaks, and of an agent the model: `## Assistant (Build · MODEL · 3.1s)`.
    fn heading(&mut self, line: &str) -> Option<(Kind, String)> {
        let role = match line.strip_prefix("## ")? {
            "User" => Role::User,
            who => {
                let about = who.strip_prefix("Assistant")?;
                let about = about.trim().strip_prefix('(').unwrap_or_default();
                let model = about.trim_end_matches(')').split(" · ").nth(1);
                self.model = model.map(quoted).or(self.model.take());
                Role::Assistant
            }
        };
        Some((Kind::Says(role), String::new()))
    }
}

/// What a fence holds, or all of a text without one.
fn fenced(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix("**Input:**").unwrap_or(text).trim();
    let inner = text.strip_prefix(FENCE).and_then(|text| {
        let (_, behind) = text.split_once('\n')?;
        Some(behind.strip_suffix(FENCE).unwrap_or(behind))
    });
    inner.unwrap_or(text).trim()
}
