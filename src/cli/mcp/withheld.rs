//! What an answer to a model leaves out: secrets, as in exports. Names stay, values go, and a line says so.
//!
//! Texts are looked through whole, before they are cut for the answer: a piece of a secret is known by nothing. What was
//! left out is counted by the marks that an answer shows.

use serde_json::Value;
use tract::deeds::Method;
use tract::deeds::{
    ApiError, At, DroppedAnswer, FoundMessage, ReadAnswer, ReadMessage, ReadParams, RunningFacts,
    StatusAnswer,
};
use tract::model::call::Brief;
use tract::model::searched::searched;
use tract::model::secret::{SecretCounts, Secrets};
use tract::model::{Operation, PREVIEW_BYTES, Part, uses};
use tract::render::counted_secrets;

use super::text::Told;

/// What looks through an answer.
pub struct Withheld {
    secrets: Secrets,
}

/// How far before a result its call is looked for.
const BEFORE: usize = 16;

impl Withheld {
    pub fn of(at: &At<'_>) -> Result<Self, ApiError> {
        Ok(Self::with(at.host.secrets()?))
    }

    pub fn with(secrets: Secrets) -> Self {
        Self { secrets }
    }

    /// What finds secrets.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    pub fn text(&self, text: &mut String) {
        let redacted = self.secrets.redact_text(text, &mut SecretCounts::new());
        if let Some(redacted) = redacted {
            *text = redacted;
        }
    }

    /// Lines of messages, which are looked through whole.
    pub fn found(&self, found: &mut [FoundMessage], at: &At<'_>) -> Result<(), ApiError> {
        for one in found {
            let brought = at.repo.commit_at(&one.commit.parse()?)?.operation;
            if let Operation::Append { content } | Operation::Edit { content, .. } = brought {
                let messages = at.repo.contents(&[content])?;
                let whole = messages.iter().flat_map(searched);
                for passage in whole {
                    for line in &mut one.lines {
                        if let Some(redacted) = self.secrets.redact_piece(&passage.text, line) {
                            *line = redacted;
                        }
                    }
                }
            }
            one.lines.iter_mut().for_each(|line| self.text(line));
            let instead = one.taken_back.as_mut().and_then(|it| it.instead.as_mut());
            instead.into_iter().for_each(|text| self.text(text));
        }
        Ok(())
    }

    pub fn read(&self, read: &mut ReadAnswer) {
        read.messages.iter_mut().for_each(|one| self.message(one));
    }

    pub fn message(&self, one: &mut ReadMessage) {
        let redacted = self
            .secrets
            .redact_message(&one.message, &mut SecretCounts::new());
        if let Some(message) = redacted {
            one.message = message;
        }
    }

    pub fn running(&self, running: &mut [RunningFacts]) {
        running
            .iter_mut()
            .for_each(|work| self.text(&mut work.what));
    }

    /// The lines of a status that were cut: they are made anew, of messages without secrets.
    pub fn status(&self, status: &mut StatusAnswer, at: &mut At<'_>) -> Result<(), ApiError> {
        self.running(&mut status.running);
        let Some(largest) = &mut status.largest else {
            return Ok(());
        };
        let params = ReadParams {
            rev: format!(":{}", largest.number),
            last: None,
            around: BEFORE,
            within: None,
            directory: None,
        };
        let mut read = params.call(at)?;
        self.read(&mut read);
        let is_it = |one: &&ReadMessage| one.number == Some(largest.number);
        let Some(one) = read.messages.iter().find(is_it) else {
            return Ok(());
        };
        largest.preview = uses::line(&one.message);
        if let (Some(answers), Some(first)) = (&mut largest.answers, one.message.results().next()) {
            let parts = read.messages.iter().flat_map(|one| &one.message.parts);
            let mut calls = parts.filter_map(|part| match part {
                Part::ToolCall {
                    id,
                    name,
                    arguments,
                    ..
                } if id == first => Some(Brief::of(name, arguments).line(Some(PREVIEW_BYTES))),
                _ => None,
            });
            let call = calls
                .next_back()
                .unwrap_or_else(|| "a tool call".to_owned());
            *answers = match one.message.results().count() {
                1 => call,
                some => format!("{call} (+{})", some - 1),
            };
        }
        Ok(())
    }

    pub fn dropped(&self, dropped: &mut DroppedAnswer) {
        let texts = dropped.prompts.iter_mut().chain(&mut dropped.commands);
        texts.for_each(|one| self.text(&mut one.text));
        for file in &mut dropped.files {
            self.text(&mut file.path);
        }
    }

    /// What is told in the end, once more looked through, with a line that says what was left out.
    pub fn told(self, mut told: Told) -> Told {
        self.text(&mut told.text);
        told.data.values_mut().for_each(|value| self.value(value));
        if let Some(note) = self.note(&[&told.text]) {
            told.note(note);
        }
        told
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// That something was left out of these texts; none where nothing was.
    pub fn note(&self, texts: &[&str]) -> Option<String> {
        let mut counts = SecretCounts::new();
        let texts = texts.iter();
        texts.for_each(|text| self.secrets.count_marks(text, &mut counts));
        let is_any = !counts.is_empty();
        is_any.then(|| format!("(tract left out {})", counted_secrets(&counts)))
    }
}
