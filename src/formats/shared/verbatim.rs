//! What records say where nothing stands beside them: whether they may stand for a message as they are.

use crate::error::Result;
use crate::formats::{Action, Format, Sink, Source, Step};
use crate::model::Message;

/// Whether these records, read by themselves, say just this message.
pub(in crate::formats) fn say(format: &Format, records: &[String], message: &Message) -> bool {
    let mut found = Found::default();
    let text = records.join("\n");
    // Bytes in memory can be read; what is wrong in them is told to the sink.
    let read = (format.read)(Source::of(&text.as_bytes(), &mut found));
    read.is_ok() && matches!(&found.0[..], [only] if only == message)
}

#[derive(Default)]
struct Found(Vec<Message>);

impl Sink for Found {
    fn step(&mut self, step: Step) -> Result<()> {
        match step.action {
            Action::Append(message) => self.0.push(message),
            Action::Hide(hide) => self.0.extend(hide.messages().cloned()),
        }
        Ok(())
    }
}
