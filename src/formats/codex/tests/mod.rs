//! Rollouts of our own, and real ones where a folder of them is named.

mod reading;
mod real;
mod writing;

use super::CODEX;
use crate::error::Result;
use crate::formats::shared::contract;
use crate::formats::{
    Action, BranchStart, Document, HideStep, Outgoing, Problem, SessionEnd, SessionStart, Sink,
    Source, Step,
};
use crate::model::{Message, Role, Settings, Span};

/// Keeps all that an importer tells.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Collected {
    pub sessions: Vec<SessionStart>,
    pub steps: Vec<Step>,
    pub ends: Vec<SessionEnd>,
    pub problems: Vec<Problem>,
}

impl Sink for Collected {
    fn session(&mut self, session: SessionStart) -> Result<()> {
        assert!(self.steps.is_empty(), "the session is told first");
        self.sessions.push(session);
        Ok(())
    }

    fn branch(&mut self, branch: BranchStart) -> Result<()> {
        panic!("a rollout has no branches: {branch:?}");
    }

    fn step(&mut self, step: Step) -> Result<()> {
        assert_eq!(self.sessions.len(), 1);
        self.steps.push(step);
        Ok(())
    }

    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.ends.push(end);
        Ok(())
    }

    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.problems.push(problem);
        Ok(())
    }
}

impl Collected {
    fn of(bytes: &[u8]) -> Self {
        let mut collected = Self::default();
        let source = Source {
            stem: "stem",
            ..Source::of(&bytes, &mut collected)
        };
        (CODEX.read)(source).expect("bytes can be read");
        assert_eq!((collected.sessions.len(), collected.ends.len()), (1, 1));
        collected
    }

    fn messages(&self) -> Vec<&Message> {
        let appends = self.steps.iter().filter_map(|step| match &step.action {
            Action::Append(message) => Some(message),
            Action::Hide(_) => None,
        });
        appends.collect()
    }

    fn hides(&self) -> Vec<&HideStep> {
        let hides = self.steps.iter().filter_map(|step| match &step.action {
            Action::Append(_) => None,
            Action::Hide(hide) => Some(hide),
        });
        hides.collect()
    }
}

/// The text of a span.
fn slice(bytes: &[u8], span: Span) -> &str {
    let range = span.offset as usize..(span.offset + span.len) as usize;
    std::str::from_utf8(&bytes[range]).expect("a record's text")
}

/// A file of `tests/data/codex`.
fn data(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/codex");
    std::fs::read(format!("{folder}/{name}")).expect("a rollout of our own")
}

/// Without the steps of the last group, which more records may add to.
fn finished(steps: &[Step]) -> &[Step] {
    let role = |step: &Step| match &step.action {
        Action::Append(message) => Some(message.role),
        Action::Hide(_) => None,
    };
    let end = steps
        .iter()
        .rposition(|step| role(step) != Some(Role::Tool));
    match end {
        Some(end) if role(&steps[end]) == Some(Role::Assistant) => &steps[..end],
        _ => steps,
    }
}

/// The appended messages, ready to go out untouched.
fn outgoing(bytes: &[u8], collected: &Collected) -> Vec<Outgoing> {
    let mut settings = Settings::new();
    let mut messages = Vec::new();
    for step in &collected.steps {
        settings.extend(step.settings.clone());
        let Action::Append(message) = &step.action else {
            continue;
        };
        let records = step.records.iter();
        messages.push(Outgoing {
            message: message.clone(),
            time: step.time,
            settings: settings.clone().into(),
            usage: step.usage,
            records: records.map(|span| slice(bytes, *span).to_owned()).collect(),
            replaces: Vec::new(),
            dollars: None,
            cited: Vec::new(),
            is_summary: false,
        });
    }
    messages
}

fn export(messages: &[Outgoing], document: &Document) -> (String, Vec<String>) {
    let (out, remarks) = contract::written(&CODEX, messages, document);
    (String::from_utf8(out).expect("JSON is UTF-8"), remarks)
}
