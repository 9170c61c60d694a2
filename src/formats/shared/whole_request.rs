//! A request that is all of a text, read by the format of its provider.

use crate::error::Result;
use crate::formats::shared::recorded::RecordedRequest;
use crate::formats::shared::spans::members;
use crate::formats::{Action, Format, Sink, Source, Step};
use crate::model::{Settings, Span};

/// The request that a whole text is, as its provider's format reads it; none where it is none.
pub(in crate::formats) fn alone(format: &Format, text: &str) -> Option<RecordedRequest> {
    if !asks(text.as_bytes()) {
        return None;
    }
    let mut found = Found::default();
    (format.read)(Source::of(&text.as_bytes(), &mut found)).ok()?;
    let mut settings = Settings::new();
    for step in &mut found.0 {
        settings.append(&mut step.settings);
    }
    Some(request(format.provider?, found.0, settings, text))
}

/// Whether a body is a request; else it is a reply.
pub(in crate::formats) fn asks(body: &[u8]) -> bool {
    let (keys, _) = members(body, 0);
    let mut keys = keys.iter().map(|(key, _)| key.as_str());
    keys.any(|key| ["messages", "input"].contains(&key))
}

/// A request of these steps, whose records are places in `text`.
pub(in crate::formats) fn request(
    provider: &'static str,
    steps: Vec<Step>,
    settings: Settings,
    text: &str,
) -> RecordedRequest {
    let said = steps.into_iter().filter_map(|step| match step.action {
        Action::Append(message) => {
            let place = |span: &Span| span.offset as usize..(span.offset + span.len) as usize;
            let records = step.records.iter().filter_map(|span| text.get(place(span)));
            Some((message, records.map(str::to_owned).collect()))
        }
        Action::Hide(_) => None,
    });
    let (messages, records) = said.unzip();
    RecordedRequest {
        provider,
        messages,
        records,
        settings,
    }
}

#[derive(Default)]
struct Found(Vec<Step>);

impl Sink for Found {
    fn step(&mut self, step: Step) -> Result<()> {
        self.0.push(step);
        Ok(())
    }
}
