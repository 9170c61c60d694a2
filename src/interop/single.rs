//! One message in a provider's form, as a person or a program hands it over.

use serde_json::value::RawValue;

use super::anthropic::ANTHROPIC;
use super::openai::OPENAI;
use super::records::json_error;
use super::{Action, ImportOptions, Problem, Sink, Step, sniff};
use crate::error::{Error, Result};
use crate::model::Message;

/// Reads one message object, OpenAI's or Anthropic's.
///
/// # Errors
///
/// [`Error::InvalidInput`] if it is no JSON object, or not one message in either form.
pub fn message(text: &str) -> Result<Message> {
    let bad = |detail: String| Error::input("message", detail);
    let text = text.trim();
    if let Err(error) = serde_json::from_str::<&RawValue>(text) {
        return Err(bad(json_error("not JSON", &error, 0)));
    }
    if !text.starts_with('{') {
        return Err(bad("not a JSON object".to_owned()));
    }
    let list = format!("[{text}]");
    let input = list.as_bytes();
    // What both providers could have written is read as OpenAI's.
    let format = match sniff::sniff(&input)? {
        Some(format) if *format == ANTHROPIC => format,
        _ => &OPENAI,
    };
    let mut found = Found::default();
    (format.read)(&input, ImportOptions::default(), &mut found)?;
    // Alone, a result has no call before it; what else is odd leaves no message.
    match (found.messages.pop(), found.problem) {
        (Some(message), _) if found.messages.is_empty() => Ok(message),
        (Some(_), _) => Err(bad("it holds several messages".to_owned())),
        (None, Some(reason)) => Err(bad(reason)),
        (None, None) => Err(bad("no message in it".to_owned())),
    }
}

#[derive(Default)]
struct Found {
    messages: Vec<Message>,
    problem: Option<String>,
}

impl Sink for Found {
    fn step(&mut self, step: Step) -> Result<()> {
        if let Action::Append(message) = step.action {
            self.messages.push(message);
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.problem.get_or_insert(problem.reason);
        Ok(())
    }
}
