//! `tract show`: one commit whole.

use tract::history::{Repo, Shown, TagRow};
use tract::model::{Head, Message, Operation};
use tract::render::chat::Chat;
use tract::render::{Label, Line, grouped, part, plural, signed, tokens};

use crate::cli::{App, Failure, Ui, listing, outcome};

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
    let limit = if args.full { usize::MAX } else { LINES };
    let row = &shown.row;
    let verb = Line::from(row.commit.operation.verb()) + " ";
    app.ui.print(verb + Label::Hash.of(row.hash.to_string()))?;
    for (name, value) in fields(&repo, &shown, &head, app)? {
        let name = Label::Dim.of(format!("{name:<10}"));
        app.ui.print(name + value)?;
    }
    content(&shown, limit, &mut app.ui)?;
    lists(&shown, limit, &mut app.ui)?;
    life(&repo, &shown, &head, limit, app)
}

/// What the header says, line by line.
fn fields(
    repo: &Repo,
    shown: &Shown,
    head: &Head,
    app: &App,
) -> Result<Vec<(&'static str, Line)>, Failure> {
    let row = &shown.row;
    let operation = &row.commit.operation;
    let mut fields = Vec::new();
    let mut field = |name, value: Line| fields.push((name, value));
    let names = listing::names(&row.refs, head, false);
    if !names.is_empty() {
        field("refs", Line::join(names, ", "));
    }
    for (name, note) in tag_notes(repo, shown)? {
        field("tag", format!("{name}: {note}").into());
    }
    if let Some(parent) = row.commit.parent {
        field("parent", parent.short().into());
    }
    field("time", app.calendar().full(row.commit.time).into());
    if let Some(message) = &shown.message {
        let name = message.name.as_deref();
        let name = name.map_or(String::new(), |name| format!(" {name}"));
        let role = Label::role(message.role).of(message.role.as_str());
        let types = part::types_of(message);
        let cut = if message.interrupted {
            ", interrupted"
        } else {
            ""
        };
        field("message", role + format!("{name} ({types}{cut})"));
        if let Some(kind) = &message.attached {
            field("attached", kind.as_str().into());
        }
    }
    if let Operation::Edit { target, .. } = operation {
        field("edits", target.to_string()[..7].into());
    }
    if matches!(operation, Operation::Hide(_) | Operation::Restore { .. }) {
        field("messages", signed(row.messages).into());
    }
    let count = format!("{} = {}", signed(row.delta), tokens(row.running));
    field("tokens", count.into());
    let extras = listing::extras(row);
    if !extras.is_empty() {
        field("settings", extras.into());
    }
    if let Some((format, spans)) = &shown.source {
        let records = plural(spans.len() as u64, "record");
        field("source", format!("{format}, {records}").into());
    }
    if let Operation::Restore { .. } | Operation::Annotate { .. } = operation {
        field("what", listing::describe(row).into());
    }
    Ok(fields)
}

/// What it brought: a message, before and after an edit, or what stands in place of what it hid.
fn content(shown: &Shown, limit: usize, ui: &mut Ui) -> Result<(), Failure> {
    if let Some(replaced) = &shown.replaced {
        heading(ui, "Before")?;
        body(ui, replaced, limit)?;
        heading(ui, "After")?;
    }
    for message in shown.message.iter().chain(&shown.replacements) {
        if shown.message.is_none() {
            let role = Label::role(message.role).of(message.role.as_str());
            ui.print("")?;
            ui.print(Label::Strong.of("In its place: ") + role)?;
        }
        body(ui, message, limit)?;
    }
    Ok(())
}

/// What it hid, brought back or changed, one to a line.
fn lists(shown: &Shown, limit: usize, ui: &mut Ui) -> Result<(), Failure> {
    for part in shown.parts.iter().take(limit) {
        let number = part.number.map_or("-".to_owned(), |n| format!(":{n}"));
        let stub = part.stub.as_deref().unwrap_or_default();
        ui.print(format!("  {number}#{}  {stub}", part.part))?;
    }
    ui.print_all(part::rest(shown.parts.len(), limit))?;
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
            let (entry, hide, kind) = (entry.commit.short(), hide.short(), kind.as_str());
            ui.print(format!("  {entry} by the {kind} {hide}"))?;
        }
        ui.print_all(part::rest(shown.still_hidden.len(), limit))?;
    }
    Ok(())
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
            let priority = format!("  {priority}{}", reason.unwrap_or_default());
            ui.print(Line::from("  ") + Label::Hash.of(commit.short()) + priority)?;
        }
    }
    Ok(())
}

fn heading(ui: &mut Ui, title: &str) -> Result<(), Failure> {
    ui.print("")?;
    Ok(ui.print(Label::Strong.of(title))?)
}

/// As a message is drawn in a chat, of at most so many lines each.
fn chat(limit: usize, ui: &Ui) -> Chat<'static> {
    Chat {
        text_lines: limit,
        edit_lines: limit,
        more: " (--full)",
        ..Chat::new(limit, ui.width_cols())
    }
}

fn body(ui: &mut Ui, message: &Message, limit: usize) -> Result<(), Failure> {
    for (index, part) in message.parts.iter().enumerate() {
        ui.print("")?;
        if message.parts.len() > 1 {
            // As `tract drop REV#PART` names it.
            ui.print(Label::Dim.of(format!("#{index}")))?;
        }
        ui.print_all(chat(limit, ui).part(part))?;
    }
    Ok(())
}
