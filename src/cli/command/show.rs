//! `tract show`: one commit whole.

use std::io::Write;

use tract::history::{Repo, Shown, TagRow};
use tract::model::{Head, Media, MediaSource, Message, Operation, Part};
use tract::render::escape;

use super::log::{extras, part_types};
use crate::cli::app::App;
use crate::cli::failure::Failure;
use crate::cli::listing::{self, marks};
use crate::cli::number::{bytes, grouped, plural, signed, tokens};
use crate::cli::outcome;
use crate::cli::ui::{Label, Ui};
use crate::cli::when;

/// Show one commit whole
///
/// Its header and its content; of a hide, what it put in place and what it hid; of an edit, what
/// stood there before.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract show               the newest commit
  tract show :1            the first visible message
  tract show a1b2c3d --full")]
pub struct Args {
    /// Which commit
    #[arg(value_name = "REV", default_value = "HEAD")]
    rev: String,
    /// Long texts and lists whole
    #[arg(long)]
    full: bool,
}

/// How many lines of one part, and how many hidden messages, are shown without `--full`.
const LINES: usize = 40;

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let (repo, on) = (app.repo()?, app.on()?);
    let hash = repo.resolve(&on, &args.rev)?;
    let shown = repo.show(&hash, app.encoding(&repo)?)?;
    let head = repo.head(&on)?;
    let notes = tag_notes(&repo, &shown)?;
    let limit = if args.full { usize::MAX } else { LINES };
    let ui = &mut app.ui;
    let row = &shown.row;

    let verb = listing::verb(&row.commit.operation);
    let hash = ui.paint(Label::Hash, &row.hash.to_string());
    writeln!(ui.out(), "{verb} {hash}")?;
    let field = |ui: &mut Ui, name: &str, value: &str| -> Result<(), Failure> {
        let name = ui.paint(Label::Dim, &format!("{name:<10}"));
        Ok(writeln!(ui.out(), "{name}{value}")?)
    };
    let names: Vec<String> = marks(&row.refs, &head, false)
        .into_iter()
        .map(|(label, text)| ui.paint(label, &text))
        .collect();
    if !names.is_empty() {
        field(ui, "refs", &names.join(", "))?;
    }
    for (name, note) in &notes {
        let text = format!("{name}: {}", escape::line(note));
        field(ui, "tag", &text)?;
    }
    if let Some(parent) = row.commit.parent {
        field(ui, "parent", &parent.short())?;
    }
    field(
        ui,
        "time",
        &row.commit.time.map_or("-".to_owned(), when::full),
    )?;
    if let Some(message) = &shown.message {
        let role = ui.paint(Label::role(message.role), message.role.as_str());
        let name = message
            .name
            .as_deref()
            .map_or(String::new(), |name| format!(" {name}"));
        let text = format!("{role}{} ({})", escape::line(&name), part_types(message));
        field(ui, "message", &text)?;
    }
    if let Operation::Edit { target, .. } = &row.commit.operation {
        field(ui, "edits", &target.to_string()[..7])?;
    }
    if matches!(
        row.commit.operation,
        Operation::Hide(_) | Operation::Restore { .. }
    ) {
        field(ui, "messages", &signed(row.messages))?;
    }
    field(
        ui,
        "tokens",
        &format!("{} = {}", signed(row.delta), tokens(row.running)),
    )?;
    let extras = extras(row);
    if !extras.is_empty() {
        field(ui, "settings", &escape::line(&extras))?;
    }
    if let Some((format, spans)) = &shown.source {
        let records = plural(spans.len() as u64, "record");
        field(ui, "source", &format!("{format}, {records}"))?;
    }
    if !matches!(
        row.commit.operation,
        Operation::Append { .. } | Operation::Edit { .. } | Operation::Hide(_)
    ) {
        field(ui, "what", &listing::describe(row))?;
    }

    if let Some(replaced) = &shown.replaced {
        heading(ui, "Before")?;
        body(ui, replaced, limit)?;
        heading(ui, "After")?;
    }
    for message in shown.message.iter().chain(&shown.replacements) {
        if shown.message.is_none() {
            let label = Label::role(message.role);
            let title = format!("In its place: {}", ui.paint(label, message.role.as_str()));
            heading(ui, &title)?;
        }
        body(ui, message, limit)?;
    }
    for part in shown.parts.iter().take(limit) {
        let number = part.number.map_or("-".to_owned(), |n| format!(":{n}"));
        let stub = part.stub.as_deref().map_or("", |stub| stub);
        let line = format!("  {number}#{}  {}", part.part, escape::line(stub));
        writeln!(ui.out(), "{}", line.trim_end())?;
    }
    rest(ui, shown.parts.len(), limit)?;
    let lists = [
        ("Hid", &shown.hidden),
        ("Stayed in its midst:", &shown.survivors),
        ("Brought back", &shown.returned),
        ("Annotated", &shown.targets),
    ];
    for (title, touched) in lists {
        if !touched.is_empty() {
            let total: u64 = touched.iter().map(|one| one.tokens.tokens).sum();
            let count = plural(touched.len() as u64, "message");
            heading(ui, &format!("{title} {count}, {} tokens", grouped(total)))?;
            outcome::list(ui, touched, limit)?;
        }
    }
    if !shown.still_hidden.is_empty() {
        let count = plural(shown.still_hidden.len() as u64, "message");
        heading(ui, &format!("Still hidden: {count}"))?;
        for (entry, hide, kind) in shown.still_hidden.iter().take(limit) {
            let (entry, hide) = (entry.commit.short(), hide.short());
            writeln!(
                ui.out(),
                "  {entry} by the {kind} {hide}",
                kind = kind.as_str()
            )?;
        }
        rest(ui, shown.still_hidden.len(), limit)?;
    }
    life(&repo, &shown, &head, limit, app)
}

/// The annotated tags at a commit: name and note.
fn tag_notes(repo: &Repo, shown: &Shown) -> Result<Vec<(String, String)>, Failure> {
    let mut tags = repo.tags()?;
    tags.retain(|tag| shown.row.refs.contains(&tag.name));
    let noted = |tag: TagRow| Some((tag.name.short().to_owned(), tag.note?.0));
    Ok(tags.into_iter().filter_map(noted).collect())
}

/// What became of a message since: its newest text, and its priorities over time.
fn life(
    repo: &Repo,
    shown: &Shown,
    head: &Head,
    limit: usize,
    app: &mut App,
) -> Result<(), Failure> {
    let (Operation::Append { .. }, Some(tip)) = (&shown.row.commit.operation, head.commit()) else {
        return Ok(());
    };
    let life = repo.life(&shown.row.hash, &tip)?;
    let ui = &mut app.ui;
    if let Some(current) = &life.current {
        let title = match life.edited {
            Some(edit) => format!("Edited since, by {}; it reads now", edit.short()),
            None => "Parts of it are hidden; it reads now".to_owned(),
        };
        heading(ui, &title)?;
        body(ui, current, limit)?;
    }
    if !life.priorities.is_empty() {
        heading(ui, "Priority over time")?;
        for (commit, priority, reason) in &life.priorities {
            let reason = reason.as_deref().map(|reason| format!(": {reason}"));
            let reason = reason.unwrap_or_default();
            let commit = ui.paint(Label::Hash, &commit.short());
            writeln!(ui.out(), "  {commit}  {priority}{}", escape::line(&reason))?;
        }
    }
    Ok(())
}

fn heading(ui: &mut Ui, title: &str) -> Result<(), Failure> {
    let title = ui.paint(Label::Strong, title);
    Ok(writeln!(ui.out(), "\n{title}")?)
}

fn rest(ui: &mut Ui, count: usize, limit: usize) -> Result<(), Failure> {
    if count > limit {
        let more = format!("  … {} more (--full)", count - limit);
        let more = ui.paint(Label::Dim, &more);
        writeln!(ui.out(), "{more}")?;
    }
    Ok(())
}

fn body(ui: &mut Ui, message: &Message, limit: usize) -> Result<(), Failure> {
    for (index, part) in message.parts.iter().enumerate() {
        writeln!(ui.out())?;
        if message.parts.len() > 1 {
            // As `tract drop REV#PART` names it.
            let number = ui.paint(Label::Dim, &format!("#{index}"));
            writeln!(ui.out(), "{number}")?;
        }
        show_part(ui, part, limit, "")?;
    }
    Ok(())
}

fn show_part(ui: &mut Ui, part: &Part, limit: usize, indent: &str) -> Result<(), Failure> {
    let head = |ui: &mut Ui, label: Label, text: String| -> Result<(), Failure> {
        let text = ui.paint(label, &escape::line(&text));
        Ok(writeln!(ui.out(), "{indent}{text}")?)
    };
    let inner = format!("{indent}    ");
    match part {
        Part::Text { text } => lines(ui, text, limit, &inner),
        Part::Thinking {
            text, signature, ..
        } => {
            let signed = if signature.is_some() { " (signed)" } else { "" };
            head(ui, Label::Dim, format!("  thinking{signed}"))?;
            lines(ui, text, limit, &inner)
        }
        Part::ToolCall {
            id,
            name,
            arguments,
            ..
        } => {
            head(ui, Label::Tool, format!("  call {name}  {id}"))?;
            let pretty = serde_json::from_str::<serde_json::Value>(arguments)
                .ok()
                .and_then(|value| serde_json::to_string_pretty(&value).ok());
            lines(ui, pretty.as_ref().unwrap_or(arguments), limit, &inner)
        }
        Part::ToolResult {
            call,
            content,
            is_error,
        } => {
            let (label, word) = if *is_error {
                (Label::Error, "failed")
            } else {
                (Label::Tool, "result")
            };
            head(ui, label, format!("  {word}  {call}"))?;
            content
                .iter()
                .try_for_each(|part| show_part(ui, part, limit, indent))
        }
        Part::Image(media) => head(ui, Label::Dim, format!("    [image {}]", describe(media))),
        Part::File(media) => head(ui, Label::Dim, format!("    [file {}]", describe(media))),
        Part::Opaque { provider, data } => {
            head(ui, Label::Dim, format!("  opaque block of {provider}"))?;
            lines(ui, data, limit, &inner)
        }
    }
}

fn lines(ui: &mut Ui, text: &str, limit: usize, indent: &str) -> Result<(), Failure> {
    let text = escape::block(text);
    for line in text.lines().take(limit) {
        writeln!(ui.out(), "{}", format!("{indent}{line}").trim_end())?;
    }
    rest(ui, text.lines().count(), limit)
}

fn describe(media: &Media) -> String {
    let source = match &media.source {
        MediaSource::Base64(data) => bytes(data.len() as u64 / 4 * 3),
        MediaSource::Url(address) => address.clone(),
        MediaSource::FileId(id) => id.clone(),
    };
    let words = [media.name.clone(), media.media_type.clone(), Some(source)];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
