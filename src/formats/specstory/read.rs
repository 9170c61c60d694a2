//! The importer: what stands between two lines that say who speaks is what that one says.

use crate::error::Result;
use crate::formats::shared::lines::{Lines, SourceLine};
use crate::formats::shared::parts;
use crate::formats::shared::rows;
use crate::formats::shared::teller::Teller;
use crate::formats::shared::transcript::without_rules;
use crate::formats::{Source, Step};
use crate::model::{Message, Millis, Part, Role, Span};
use crate::wire::json::quoted;

/// What a file lacks of what the model was sent.
const LACKING: &[&str] = &["system prompt", "tool definitions", "arguments of calls"];

/// What the summary of a tool's use begins with where no tag names the tool.
const USED: &str = "Tool use:";

/// How often progress is told, in lines.
const PROGRESS_LINES: u64 = 4096;

pub(super) fn import(source: Source<'_>) -> Result<()> {
    let mut lines = Lines::new(source.input)?;
    let mut reader = Reader {
        teller: Teller::of(source.stem, LACKING, source.sink),
        run: None,
        runs: 0,
        calls: 0,
    };
    let mut bytes = 0;
    while let Some(line) = lines.next_line()? {
        bytes = line.span.offset + line.span.len;
        reader.line(&line)?;
        if line.number % PROGRESS_LINES == 0 {
            reader.teller.sink.progress(bytes, reader.runs);
        }
    }
    reader.flush()?;
    reader.teller.sink.progress(bytes, reader.runs);
    reader.teller.close()
}

/// Who speaks, and what is said of that.
#[derive(Debug, PartialEq, Eq)]
struct Heading {
    role: Role,
    model: Option<String>,
    time: Option<Millis>,
    is_sidechain: bool,
}

impl Heading {
    /// What a line says; none of what is no heading.
    fn of(line: &str) -> Option<Self> {
        let inner = line.trim_end().strip_prefix("_**")?.strip_suffix("**_")?;
        let is_sidechain = inner.contains("sidechain");
        let (who, about) = match inner.split_once(" (") {
            Some((who, about)) => (
                who,
                about.rsplit_once(')').map_or(about, |(about, _)| about),
            ),
            None => (inner, ""),
        };
        let role = match who.split(" - ").next().unwrap_or_default() {
            "User" => Role::User,
            "Agent" | "Assistant" => Role::Assistant,
            _ => return None,
        };
        let (rest, time) = timed(about);
        // Older versions name the model among others.
        let named = rest.split(", ").find_map(|it| it.strip_prefix("model "));
        let model = named.unwrap_or(rest).trim();
        let is_named = role == Role::Assistant && !model.is_empty();
        Some(Self {
            role,
            model: is_named.then(|| model.to_owned()),
            time,
            is_sidechain,
        })
    }
}

/// What stands in a heading beside a time at its end, and the time: by the second or by the minute, with a space or a `T`
/// before the hour.
fn timed(about: &str) -> (&str, Option<Millis>) {
    let spaces = about.rmatch_indices(' ').map(|(at, _)| at + 1);
    for at in spaces.take(2).chain([0]) {
        let word = &about[at..];
        let whole = word.strip_suffix('Z').unwrap_or(word);
        let by_minute = || rows::time(&format!("{whole}:00Z"));
        // A date alone is no time.
        let is_time = word.contains(':') && word.starts_with(|first: char| first.is_ascii_digit());
        if let Some(time) = is_time
            .then(|| rows::time(word).or_else(by_minute))
            .flatten()
        {
            return (&about[..at], Some(time));
        }
    }
    (about, None)
}

/// What somebody says.
struct Run {
    heading: Heading,
    text: String,
    span: Span,
}

struct Reader<'s> {
    teller: Teller<'s>,
    run: Option<Run>,
    runs: u64,
    /// How many calls were told.
    calls: u64,
}

impl Reader<'_> {
    fn line(&mut self, line: &SourceLine<'_>) -> Result<()> {
        let (text, wrong) = line.plain();
        if let Some(reason) = wrong {
            self.teller.problem_on(line.number, reason)?;
        }
        let Some(text) = text else { return Ok(()) };
        if let Some(heading) = Heading::of(&text) {
            self.flush()?;
            self.run = Some(Run {
                heading,
                text: String::new(),
                span: line.span,
            });
            return Ok(());
        }
        let Some(run) = &mut self.run else {
            self.about(&text);
            return Ok(());
        };
        run.text += &text;
        run.text.push('\n');
        if !text.trim().is_empty() {
            run.span.len = line.span.offset + line.span.len - run.span.offset;
        }
        Ok(())
    }

    /// Takes what stands before anybody speaks: the title, and whose session it is.
    fn about(&mut self, line: &str) {
        if let Some(title) = line.strip_prefix("# ") {
            // In newer versions it is the time.
            let is_time = rows::time(title.trim()).is_some();
            self.teller.end.title = (!is_time).then(|| title.trim().to_owned());
        }
        let session = line
            .strip_prefix("<!-- ")
            .and_then(|it| it.split_once(" Session "));
        let id = session.and_then(|(_, behind)| behind.split([' ', ')']).next());
        if let Some(id) = id.filter(|id| uuid::Uuid::try_parse(id).is_ok()) {
            self.teller.start.id = id.to_owned();
        }
    }

    /// Tells of what was said last.
    fn flush(&mut self) -> Result<()> {
        let Some(run) = self.run.take() else {
            return Ok(());
        };
        self.runs += 1;
        self.teller.open()?;
        let text = without_rules(&run.text);
        let heading = run.heading;
        if heading.is_sidechain {
            self.teller.end.other("sidechain");
            return Ok(());
        }
        if text.is_empty() {
            self.teller.end.other(format!("{} (empty)", heading.role));
            return Ok(());
        }
        self.teller
            .set("model", heading.model.as_deref().map(quoted));
        let messages = if heading.role == Role::Assistant {
            self.reply(text)
        } else {
            vec![Message::new(heading.role, vec![Part::text(text)])]
        };
        for message in messages {
            self.teller
                .step(Step::append(message, run.span).at(heading.time))?;
        }
        Ok(())
    }

    /// What an agent said, thought, and used.
    fn reply(&mut self, text: &str) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::new();
        let mut add = |role: Role, part: Part| match messages.last_mut() {
            Some(last) if last.role == role => last.parts.push(part),
            _ => messages.push(Message::new(role, vec![part])),
        };
        let mut rest = text;
        while !rest.is_empty() {
            let Some((at, tag)) = next_tag(rest) else {
                add(Role::Assistant, Part::text(rest.trim()));
                break;
            };
            let before = without_rules(&rest[..at]);
            if !before.is_empty() {
                add(Role::Assistant, Part::text(before));
            }
            match tag.tool {
                None => add(Role::Assistant, parts::thought(tag.body.to_owned())),
                Some(name) => {
                    self.calls += 1;
                    let id = format!("call-{}", self.calls);
                    let call = Part::call(
                        id.clone(),
                        name.to_owned(),
                        tag.summary.to_owned(),
                        Some("custom"),
                    );
                    add(Role::Assistant, call);
                    let given = Some(tag.body).filter(|body| !body.is_empty());
                    let given = given.map(Part::text).into_iter().collect();
                    add(Role::Tool, parts::result(Some(id), given, false));
                }
            }
            rest = without_rules(&rest[at + tag.len..]);
        }
        messages
    }
}

/// What holds a summary and what is behind it.
const DETAILS: &str = "<details>";

/// The use of a tool without a tag of its own: its summary names it, `Tool use: **NAME** • …`.
fn details(text: &str) -> Option<Tag<'_>> {
    let close = "</details>";
    let end = text.find(close)?;
    let inner = text[DETAILS.len()..end].trim_start();
    let (summary, body) = inner.strip_prefix("<summary>")?.split_once("</summary>")?;
    let summary = summary.trim();
    let named = summary
        .strip_prefix(USED)?
        .trim_start()
        .strip_prefix("**")?;
    let (name, _) = named.split_once("**")?;
    Some(Tag {
        tool: Some(name),
        summary,
        body: body.trim(),
        len: end + close.len(),
    })
}

/// A thought or the use of a tool.
struct Tag<'t> {
    /// None of a thought.
    tool: Option<&'t str>,
    summary: &'t str,
    body: &'t str,
    len: usize,
}

/// The next tag that begins a line and has an end, and where it stands.
fn next_tag(text: &str) -> Option<(usize, Tag<'_>)> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find('<')?;
        from = at + 1;
        let begins = at == 0 || text[..at].ends_with('\n');
        if let Some(tag) = tag(&text[at..]).filter(|_| begins) {
            return Some((at, tag));
        }
    }
}

fn tag(text: &str) -> Option<Tag<'_>> {
    let (open, close) = if text.starts_with("<tool-use ") {
        (text.find('>')?, "</tool-use>")
    } else if text.starts_with("<think>") {
        (text.find('>')?, "</think>")
    } else if text.starts_with(DETAILS) {
        // Earlier versions put no tag around it.
        return details(text);
    } else {
        return None;
    };
    let end = text.find(close)?;
    let inner = text.get(open + 1..end)?.trim();
    let inner = inner.strip_prefix(DETAILS).unwrap_or(inner).trim();
    let inner = inner.strip_suffix("</details>").unwrap_or(inner).trim();
    let summed = inner
        .strip_prefix("<summary>")
        .and_then(|it| it.split_once("</summary>"));
    let (summary, body) = summed.unwrap_or(("", inner));
    let (_, name) = text[..open]
        .split_once("data-tool-name=\"")
        .unwrap_or_default();
    let name = name.split('"').next().unwrap_or_default();
    Some(Tag {
        tool: text.starts_with("<tool-use ").then_some(name),
        summary: summary.trim(),
        body: body.trim(),
        len: end + close.len(),
    })
}
