//! What an answer to a model leaves out: secrets, as in exports. Names stay, values go, and a line says so.
//!
//! Texts are looked through whole, before they are cut for the answer: a piece of a secret is known by nothing.

use serde_json::Value;
use tract::deeds::{ApiError, At, DidAnswer, DroppedAnswer, FoundMessage, ReadAnswer};
use tract::model::secret::{SecretCounts, Secrets};
use tract::render::counted_secrets;

use super::telling::Told;

/// What looks through an answer, and what it has found so far.
pub struct Withheld {
    secrets: Secrets,
    counts: SecretCounts,
}

impl Withheld {
    pub fn of(at: &At<'_>) -> Result<Self, ApiError> {
        Ok(Self::with(at.host.secrets()?))
    }

    pub fn with(secrets: Secrets) -> Self {
        Self {
            secrets,
            counts: SecretCounts::new(),
        }
    }

    pub fn text(&mut self, text: &mut String) {
        if let Some(redacted) = self.secrets.redact_text(text, &mut self.counts) {
            *text = redacted;
        }
    }

    pub fn found(&mut self, found: &mut [FoundMessage]) {
        for one in found {
            one.lines.iter_mut().for_each(|line| self.text(line));
            let instead = one.taken_back.as_mut().and_then(|it| it.instead.as_mut());
            instead.into_iter().for_each(|text| self.text(text));
        }
    }

    pub fn read(&mut self, read: &mut ReadAnswer) {
        for one in &mut read.messages {
            let redacted = self.secrets.redact_message(&one.message, &mut self.counts);
            if let Some(message) = redacted {
                one.message = message;
            }
        }
    }

    pub fn dropped(&mut self, dropped: &mut DroppedAnswer) {
        let texts = dropped.prompts.iter_mut().chain(&mut dropped.commands);
        texts.for_each(|one| self.text(&mut one.text));
        for file in &mut dropped.files {
            self.text(&mut file.path);
        }
    }

    pub fn did(&mut self, did: &mut DidAnswer) {
        for act in &mut did.acts {
            self.text(&mut act.call);
            act.result.iter_mut().for_each(|text| self.text(text));
            act.next.iter_mut().for_each(|text| self.text(text));
        }
    }

    /// What is told in the end, once more looked through, with a line that says what was left out.
    pub fn told(mut self, mut told: Told) -> Told {
        self.text(&mut told.text);
        // What is in the data is in the text, and was counted there.
        let counts = self.counts.clone();
        told.data.values_mut().for_each(|value| self.value(value));
        self.counts = counts;
        if let Some(note) = self.note() {
            told.note(note);
        }
        told
    }

    fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// That something was left out; none where nothing was.
    pub fn note(&self) -> Option<String> {
        let is_any = !self.counts.is_empty();
        is_any.then(|| format!("(tract left out {})", counted_secrets(&self.counts)))
    }
}
