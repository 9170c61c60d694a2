//! Transcripts of lines: a line says who speaks, that a tool was called, or what it gave, and the lines behind it belong to
//! that. What an agent says and calls up to what is no part of it is one message.
//!
//! Deliberately absent: which lines say so, and what of the text between them is sent; the format knows.

use crate::error::Result;
use crate::formats::shared::lines::{Lines, SourceLine};
use crate::formats::shared::parts;
use crate::formats::shared::teller::Teller;
use crate::formats::{Source, Step};
use crate::model::{Message, Part, Role, Span};

/// How often progress is told, in lines.
const PROGRESS_LINES: u64 = 4096;

/// What lines that follow each other are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::formats) enum Kind {
    /// Somebody says it.
    Says(Role),
    /// The agent goes on saying it.
    GoesOn,
    /// The agent calls a tool of this name with it.
    Calls(String),
    /// The first open call, or the first one of this tool, gave it; and whether that failed.
    Gives(Option<String>, bool),
    /// Nobody sends it.
    Aside(&'static str),
}

/// Lines that belong together.
#[derive(Clone, Debug)]
pub(in crate::formats) struct Run {
    pub(in crate::formats) kind: Kind,
    pub(in crate::formats) text: String,
    span: Span,
}

/// How a transcript is written.
pub(in crate::formats) trait Transcript: Default {
    /// What its files lack of what the model was sent.
    const LACKING: &'static [&'static str];

    /// What begins on a line, and what of the line belongs to it; none: the line goes on with `run`, whose kind may turn
    /// out to be another by it. Before anything has begun, a line may tell of the session.
    fn begins(
        &mut self,
        line: &str,
        run: Option<&mut Run>,
        teller: &mut Teller<'_>,
    ) -> Option<(Kind, String)>;

    /// What of a line that goes on belongs to it.
    fn goes_on<'l>(&self, line: &'l str, _kind: &Kind) -> &'l str {
        line
    }

    /// The model that speaks from here on, as JSON, where that is said.
    fn model(&self) -> Option<String> {
        None
    }

    /// The text of a run without what its format puts around it.
    fn text<'r>(&self, run: &'r Run) -> &'r str {
        run.text.trim()
    }
}

/// Reads a transcript.
pub(in crate::formats) fn import<T: Transcript>(source: Source<'_>) -> Result<()> {
    let mut reader = Reader {
        form: T::default(),
        teller: Teller::of(source.stem, T::LACKING, source.sink),
        run: None,
        reply: None,
        open: Vec::new(),
        calls: 0,
        model: None,
    };
    let mut lines = Lines::new(source.input)?;
    let (mut bytes, mut number) = (0, 0);
    while let Some(line) = lines.next_line()? {
        (bytes, number) = (line.span.offset + line.span.len, line.number);
        reader.line(&line)?;
        if number % PROGRESS_LINES == 0 {
            reader.teller.sink.progress(bytes, number);
        }
    }
    reader.flush()?;
    reader.end_of_reply()?;
    reader.teller.sink.progress(bytes, number);
    reader.teller.close()
}

/// What an agent said and called, with its lines, and the model that did.
struct Reply {
    message: Message,
    records: Vec<Span>,
    model: Option<String>,
}

struct Reader<'s, T> {
    form: T,
    teller: Teller<'s>,
    run: Option<Run>,
    /// What is not told yet.
    reply: Option<Reply>,
    /// The calls that were not answered yet, with their tools.
    open: Vec<(String, String)>,
    calls: u64,
    /// The model that speaks now.
    model: Option<String>,
}

impl<T: Transcript> Reader<'_, T> {
    fn line(&mut self, line: &SourceLine<'_>) -> Result<()> {
        let (text, wrong) = line.plain();
        if let Some(reason) = wrong {
            self.teller.problem_on(line.number, reason)?;
        }
        let Some(text) = text else { return Ok(()) };
        let begins = self.form.begins(&text, self.run.as_mut(), &mut self.teller);
        if let Some((kind, text)) = begins {
            self.flush()?;
            self.model = self.form.model();
            let span = line.span;
            self.run = Some(Run { kind, text, span });
        } else if let Some(run) = &mut self.run {
            run.text.push('\n');
            run.text += self.form.goes_on(&text, &run.kind);
            if !text.trim().is_empty() {
                run.span.len = line.span.offset + line.span.len - run.span.offset;
            }
        }
        Ok(())
    }

    /// Tells of the lines that end here.
    fn flush(&mut self) -> Result<()> {
        let Some(run) = self.run.take() else {
            return Ok(());
        };
        self.teller.open()?;
        let text = self.form.text(&run);
        let message = match &run.kind {
            Kind::Says(Role::Assistant) => {
                self.end_of_reply()?;
                self.replies(said(text), run.span);
                return Ok(());
            }
            Kind::GoesOn => {
                self.replies(said(text), run.span);
                return Ok(());
            }
            Kind::Says(role) => parts::message(*role, said(text)),
            Kind::Calls(name) => {
                self.calls += 1;
                let id = format!("call-{}", self.calls);
                self.open.push((id.clone(), name.clone()));
                let kind = (!text.starts_with('{')).then_some("custom");
                let call = Part::call(id, name.clone(), text.to_owned(), kind);
                self.replies(vec![call], run.span);
                return Ok(());
            }
            Kind::Gives(name, is_error) => {
                let is_its = |tool: &String| name.as_ref().is_none_or(|name| name == tool);
                let at = self.open.iter().position(|(_, tool)| is_its(tool));
                let call = at.map(|at| self.open.remove(at).0);
                let call = call.filter(|_| !text.is_empty());
                call.map(|call| {
                    let result = parts::result(Some(call), said(text), *is_error);
                    Message::new(Role::Tool, vec![result])
                })
            }
            Kind::Aside(what) => {
                self.teller.end.other(*what);
                return Ok(());
            }
        };
        self.end_of_reply()?;
        let Some(message) = message else {
            self.teller.end.other("without a text");
            return Ok(());
        };
        self.teller.step(Step::append(message, run.span)).map(drop)
    }

    fn replies(&mut self, more: Vec<Part>, span: Span) {
        let reply = self.reply.get_or_insert_with(|| Reply {
            message: Message::new(Role::Assistant, Vec::new()),
            records: Vec::new(),
            model: self.model.clone(),
        });
        reply.message.parts.extend(more);
        reply.records.push(span);
    }

    /// Tells of what an agent said and called, if it did.
    fn end_of_reply(&mut self) -> Result<()> {
        let Some(reply) = self.reply.take() else {
            return Ok(());
        };
        if reply.message.parts.is_empty() {
            self.teller.end.other("without a text");
            return Ok(());
        }
        self.teller.set("model", reply.model);
        let step = Step::append(reply.message, reply.records[0]).by(reply.records);
        self.teller.step(step).map(drop)
    }
}

fn said(text: &str) -> Vec<Part> {
    let text = Some(text).filter(|text| !text.is_empty());
    text.map(Part::text).into_iter().collect()
}

/// A text without the rules (`---`) that stand around it: they part those who speak, and nobody says them.
pub(in crate::formats) fn without_rules(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let before = text;
        for rest in [text.strip_suffix("---"), text.strip_prefix("---")] {
            let is_line =
                |rest: &&str| rest.is_empty() || rest.starts_with('\n') || rest.ends_with('\n');
            if let Some(rest) = rest.filter(is_line) {
                text = rest.trim();
                break;
            }
        }
        if text == before {
            return text;
        }
    }
}
