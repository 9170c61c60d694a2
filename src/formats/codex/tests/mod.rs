//! Rollouts of our own, and real ones where a folder of them is named.

mod reading;
mod real;
mod writing;

use super::CODEX;
use crate::formats::shared::contract;
use crate::formats::{
    Action, Document, HideStep, Outgoing, Problem, SessionEnd, SessionStart, Step,
};
use crate::model::{Message, Role, Settings, Span};

/// What an importer tells of a rollout: one session, without branches.
#[derive(Debug, PartialEq)]
pub(super) struct Collected {
    pub start: SessionStart,
    pub steps: Vec<Step>,
    pub end: SessionEnd,
    pub problems: Vec<Problem>,
}

impl Collected {
    fn of(bytes: &[u8]) -> Self {
        let mut told = contract::read(&CODEX, bytes);
        assert_eq!(told.sessions.len(), 1);
        let session = told.sessions.remove(0);
        assert!(session.branches.is_empty());
        Self {
            start: session.start,
            steps: session.steps,
            end: session.end,
            problems: told.problems,
        }
    }

    fn messages(&self) -> Vec<&Message> {
        self.steps.iter().filter_map(Step::message).collect()
    }

    fn hides(&self) -> Vec<&HideStep> {
        contract::hides(&self.steps)
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
