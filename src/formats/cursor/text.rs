//! The importer of transcripts in plain text: a line of its own says who speaks, another that a tool was called.
//!
//! What a tool was given is in the lines behind its name, and is kept as it stands. What a tool gave is mostly left out
//! of the file: a result without a text is none. Thoughts run on into the reply, so they stay text, with their mark.

use crate::error::Result;
use crate::formats::shared::lines::{Lines, SourceLine};
use crate::formats::shared::parts;
use crate::formats::shared::teller::Teller;
use crate::formats::{Source, Step};
use crate::model::{Message, Part, Role, Span};

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

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let lacking = &["system prompt", "tool definitions", "results"];
    let mut reader = Reader {
        teller: Teller::of(source.stem, lacking, source.sink),
        run: None,
        reply: None,
        open: Vec::new(),
        calls: 0,
    };
    reader.teller.open()?;
    let mut lines = Lines::new(source.input)?;
    let mut bytes = 0;
    while let Some(line) = lines.next_line()? {
        bytes = line.span.offset + line.span.len;
        reader.line(&line)?;
    }
    reader.flush()?;
    reader.end_of_reply()?;
    reader.teller.sink.progress(bytes, reader.calls);
    reader.teller.close()
}

/// What lines that follow each other are.
enum Kind {
    Says(Role),
    Calls(String),
    Gives(String),
}

/// Lines that belong together.
struct Run {
    kind: Kind,
    text: String,
    span: Span,
}

struct Reader<'s> {
    teller: Teller<'s>,
    run: Option<Run>,
    /// What an agent said and called, with its lines.
    reply: Option<(Message, Vec<Span>)>,
    /// The calls that were not answered yet, with their tools.
    open: Vec<(String, String)>,
    calls: u64,
}

impl Reader<'_> {
    fn line(&mut self, line: &SourceLine<'_>) -> Result<()> {
        let (text, wrong) = line.plain();
        if let Some(reason) = wrong {
            self.teller.problem_on(line.number, reason)?;
        }
        let Some(text) = text else { return Ok(()) };
        let speaker = SPEAKERS.iter().find(|(mark, _)| *mark == text);
        let kind = match (speaker, text.strip_prefix(CALL), text.strip_prefix(RESULT)) {
            (Some((_, role)), ..) => Some((Kind::Says(*role), "")),
            (None, Some(call), _) if !self.is_users() => {
                // What is given may follow the name on its line.
                let end = call.find(|letter: char| !is_of_name(letter));
                let (name, rest) = call.split_at(end.unwrap_or(call.len()));
                Some((Kind::Calls(name.to_owned()), rest))
            }
            (None, None, Some(name)) if !self.is_users() => {
                Some((Kind::Gives(name.trim().to_owned()), ""))
            }
            _ => None,
        };
        if let Some((kind, text)) = kind {
            self.flush()?;
            self.run = Some(Run {
                kind,
                text: text.to_owned(),
                span: line.span,
            });
        } else if let Some(run) = &mut self.run {
            run.text.push('\n');
            run.text += &text;
            if !text.trim().is_empty() {
                run.span.len = line.span.offset + line.span.len - run.span.offset;
            }
        }
        Ok(())
    }

    /// Whether a user speaks, who may quote anything.
    fn is_users(&self) -> bool {
        let run = self.run.as_ref();
        run.is_some_and(|run| matches!(run.kind, Kind::Says(Role::User)))
    }

    /// Tells of the lines that end here.
    fn flush(&mut self) -> Result<()> {
        let Some(run) = self.run.take() else {
            return Ok(());
        };
        let text = run.text.trim();
        let message = match run.kind {
            Kind::Says(Role::Assistant) => {
                self.end_of_reply()?;
                self.replies(said(text), run.span);
                return Ok(());
            }
            Kind::Says(role) => parts::message(role, said(text)),
            Kind::Calls(name) => {
                self.calls += 1;
                let id = format!("call-{}", self.calls);
                self.open.push((id.clone(), name.clone()));
                let call = Part::call(id, name, text.to_owned(), Some("custom"));
                self.replies(vec![call], run.span);
                return Ok(());
            }
            Kind::Gives(name) => {
                let at = self.open.iter().position(|(_, tool)| *tool == name);
                let call = at.map(|at| self.open.remove(at).0);
                let call = call.filter(|_| !text.is_empty());
                call.map(|call| {
                    let result = parts::result(Some(call), said(text), false);
                    Message::new(Role::Tool, vec![result])
                })
            }
        };
        self.end_of_reply()?;
        let Some(message) = message else {
            self.teller.end.other("without a text");
            return Ok(());
        };
        self.teller.step(Step::append(message, run.span)).map(drop)
    }
}

impl Reader<'_> {
    fn replies(&mut self, more: Vec<Part>, span: Span) {
        let begun = || (Message::new(Role::Assistant, Vec::new()), Vec::new());
        let (reply, records) = self.reply.get_or_insert_with(begun);
        reply.parts.extend(more);
        records.push(span);
    }

    /// Tells of what an agent said and called, if it did.
    fn end_of_reply(&mut self) -> Result<()> {
        let Some((reply, records)) = self.reply.take() else {
            return Ok(());
        };
        if reply.parts.is_empty() {
            self.teller.end.other("without a text");
            return Ok(());
        }
        let step = Step::append(reply, records[0]).by(records);
        self.teller.step(step).map(drop)
    }
}

fn said(text: &str) -> Vec<Part> {
    let text = Some(text).filter(|text| !text.is_empty());
    text.map(Part::text).into_iter().collect()
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.')
}
