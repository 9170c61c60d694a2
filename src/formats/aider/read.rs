//! The importer: lines of one kind that follow each other are a message, or nothing that is sent.

use super::HEADING;
use crate::error::Result;
use crate::formats::shared::conversations::Names;
use crate::formats::shared::lines::{Lines, SourceLine};
use crate::formats::{
    Action, Cover, HideStep, Problem, SessionEnd, SessionStart, Sink, Source, Step,
};
use crate::model::{HideKind, Message, Part, Role, Settings, Span};
use crate::wire::json::quoted;

/// What a session lacks of what the model was sent.
const LACKING: &[&str] = &[
    "system prompt",
    "files in the chat",
    "map of the repository",
];

/// The commands that take the chat away.
const CLEARING: [&str; 2] = ["/clear", "/reset"];

/// What the tool writes where nothing was asked.
const BLANK: &str = "<blank>";

/// What stands before the model's name in what the tool says of itself.
const MODEL: [&str; 2] = ["Main model: ", "Model: "];

/// How often progress is told, in lines.
const PROGRESS_LINES: u64 = 4096;

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let mut telling = Telling {
        sink: source.sink,
        stem: source.stem,
        names: Names::default(),
        // What stands before the first heading is of no known time.
        id: format!("{}/start", source.stem),
        run: Run::default(),
        session: Session::default(),
        messages: 0,
        is_told: false,
    };
    let mut lines = Lines::new(source.input)?;
    let mut bytes = 0;
    while let Some(line) = lines.next_line()? {
        bytes = line.span.offset + line.span.len;
        telling.line(&line)?;
        if line.number % PROGRESS_LINES == 0 {
            telling.sink.progress(bytes, telling.messages);
        }
    }
    telling.end_of_session()?;
    if !telling.is_told {
        telling.begin()?;
        telling.end_of_session()?;
    }
    telling.sink.progress(bytes, telling.messages);
    Ok(())
}

/// What a line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Reply,
    Prompt,
    Output,
}

/// Lines of one kind that follow each other.
#[derive(Default)]
struct Run {
    kind: Kind,
    text: String,
    /// From the first line with anything on it to the last.
    span: Option<Span>,
    /// Blank lines behind that one.
    blanks: usize,
}

/// What is known of the session that is read.
#[derive(Default)]
struct Session {
    /// Whether the sink knows of it.
    is_begun: bool,
    /// Whether anything was asked in it.
    is_asked: bool,
    /// Whether anything is visible.
    is_said: bool,
    settings: Settings,
    /// Settings that the next step brings.
    due: Settings,
    end: SessionEnd,
}

struct Telling<'a, 's> {
    sink: &'s mut dyn Sink,
    stem: &'a str,
    names: Names,
    /// The session's.
    id: String,
    run: Run,
    session: Session,
    messages: u64,
    /// Whether any session was told.
    is_told: bool,
}

impl Telling<'_, '_> {
    fn line(&mut self, line: &SourceLine<'_>) -> Result<()> {
        let (text, wrong) = line.plain();
        if let Some(reason) = wrong {
            self.sink.problem(Problem::new(line.number, reason))?;
        }
        let Some(text) = text else { return Ok(()) };
        if let Some(time) = line.bytes.strip_prefix(HEADING) {
            self.end_of_session()?;
            let time = String::from_utf8_lossy(time);
            self.id = self.names.of(format!("{}/{}", self.stem, compact(&time)));
            return Ok(());
        }
        let (kind, said) = match &*text {
            ">" => (Kind::Output, ""),
            other => match (other.strip_prefix("#### "), other.strip_prefix("> ")) {
                (Some(said), _) => (Kind::Prompt, said.strip_suffix("  ").unwrap_or(said)),
                (None, Some(said)) => (Kind::Output, said.trim_end()),
                (None, None) => (Kind::Reply, other),
            },
        };
        if kind != self.run.kind {
            self.end_of_run()?;
            self.run.kind = kind;
        }
        if kind == Kind::Output {
            self.output(said);
        }
        self.run.line(said, line.span);
        Ok(())
    }

    /// Takes what the tool says of the model.
    fn output(&mut self, said: &str) {
        let named = MODEL.iter().find_map(|before| said.strip_prefix(before));
        let Some(named) = named else { return };
        let model = named.split_once(" with ").map_or(named, |(model, _)| model);
        let model = quoted(model.trim());
        let held = &mut self.session.settings;
        if held.get("model") != Some(&model) {
            held.insert("model".to_owned(), model.clone());
            self.session.due.insert("model".to_owned(), model);
        }
    }

    /// Tells of the lines of one kind that end here.
    fn end_of_run(&mut self) -> Result<()> {
        let run = std::mem::take(&mut self.run);
        let Some(span) = run.span else { return Ok(()) };
        match run.kind {
            Kind::Output => {
                self.session.end.other("output");
                Ok(())
            }
            Kind::Prompt => {
                self.session.is_asked = true;
                self.prompt(run.text, span)
            }
            // What stands before anything was asked is nobody's reply.
            Kind::Reply if !self.session.is_asked => {
                self.session.end.other("output");
                Ok(())
            }
            Kind::Reply => self.append(Role::Assistant, run.text, span),
        }
    }

    fn prompt(&mut self, text: String, span: Span) -> Result<()> {
        if text == BLANK {
            self.session.end.other("blank");
            return Ok(());
        }
        if !text.starts_with(['/', '!']) {
            return self.append(Role::User, text, span);
        }
        self.session.end.other("command");
        let command = text.split_whitespace().next().unwrap_or_default();
        if !CLEARING.contains(&command) || !self.session.is_said {
            return Ok(());
        }
        self.session.is_said = false;
        self.step(
            Action::Hide(HideStep::of(HideKind::Drop, Cover::Everything)),
            span,
        )
    }

    fn append(&mut self, role: Role, text: String, span: Span) -> Result<()> {
        self.session.is_said = true;
        self.messages += 1;
        let message = Message::new(role, vec![Part::text(text)]);
        self.step(Action::Append(message), span)
    }

    fn step(&mut self, action: Action, span: Span) -> Result<()> {
        if !self.session.is_begun {
            self.begin()?;
        }
        self.sink
            .step(Step::new(action, span).setting(std::mem::take(&mut self.session.due)))
    }

    fn begin(&mut self) -> Result<()> {
        self.session.is_begun = true;
        self.is_told = true;
        self.sink.session(SessionStart::new(self.id.clone()))
    }

    /// Ends the session; one in which nothing was said is none.
    fn end_of_session(&mut self) -> Result<()> {
        self.end_of_run()?;
        let session = std::mem::take(&mut self.session);
        if !session.is_begun {
            return Ok(());
        }
        self.sink.end(SessionEnd {
            other_records: session.end.other_records,
            ..SessionEnd::lacking(LACKING)
        })
    }
}

impl Run {
    /// Takes a line; blank ones count where more follows.
    fn line(&mut self, said: &str, at: Span) {
        let is_blank = self.kind == Kind::Reply && said.trim().is_empty();
        let Some(span) = &mut self.span else {
            if !is_blank {
                self.text.push_str(said);
                self.span = Some(at);
            }
            return;
        };
        if is_blank {
            self.blanks += 1;
            return;
        }
        for _ in 0..=std::mem::take(&mut self.blanks) {
            self.text.push('\n');
        }
        self.text.push_str(said);
        span.len = at.offset + at.len - span.offset;
    }
}

/// A time without what stands between its digits, as far as it is one: `20250602-114749`.
fn compact(time: &str) -> String {
    let mut compact = String::new();
    for letter in time.trim().chars().take(19) {
        match letter {
            '0'..='9' => compact.push(letter),
            ' ' => compact.push('-'),
            _ => {}
        }
    }
    compact
}
