//! `tract show`: one commit whole, or one after the other.

use std::path::Path;

use tract::deeds::{At, CommitPiece, CommitWhole, ShowParams, WrittenMedia};
use tract::model::{Head, Message, Operation, Part, Total};
use tract::query::{Life, Shown};
use tract::render::chat::Chat;
use tract::render::{Label, Line, bytes, grouped, part, plural, signed, tokens};
use tract::repo::Repo;

use crate::cli::drawing::{listing, outcome, position, prices};
use crate::cli::{App, Result, Ui};

/// Show one commit in full, or a range
///
/// Prints its header and its content. For a hide, it prints the replacement and the hidden messages; for an edit, the
/// text before it; for a reply that its provider counted, its model, what was counted, and what it cost by the list
/// price of its day. REV#2 is one part of the message, counted from 0. A..B prints the commits that lead from A to B,
/// oldest first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract show               the newest commit
  tract show :1            the first visible message
  tract show a1b2c3d --full
  tract show :7#1          the second part of the 7th
  tract show HEAD~3..HEAD  the newest three, in their order
  tract show :7 --image shot.png
  tract show :7 --web      its page, in a browser")]
pub struct Args {
    #[command(flatten)]
    deed: ShowParams,
    /// Do not shorten long texts and lists
    #[arg(long)]
    full: bool,
    /// Open its page in a browser, as tract web does
    #[arg(long, conflicts_with_all = ["full", "image"])]
    web: bool,
    /// With --web, only say the address
    #[arg(long, requires = "web")]
    no_open: bool,
}

/// The columns of the names in a header.
const NAME_COLS: usize = 10;
/// How many lines of one part, and how many hidden messages, are shown without `--full`.
const LINES: usize = 40;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    if args.web {
        return super::web::at(
            args.deed.rev.as_deref().unwrap_or("HEAD"),
            !args.no_open,
            app,
        );
    }
    let (repo, on, deed) = (app.repo()?, app.on()?, &args.deed);
    let head = repo.head(&on)?;
    let commits = deed.named(&At::new(&repo, on.clone(), app))?;
    for (place, (hash, part)) in commits.iter().enumerate() {
        let at = At::new(&repo, on.clone(), app);
        let whole = CommitWhole::read(&at, hash, *part)?;
        let written = deed.write(&at, &whole)?;
        drop(at);
        if let Some(written) = written {
            return tell_written(&written, deed, app);
        }
        if place > 0 {
            app.ui.print("")?;
        }
        draw(&repo, &whole, &head, args.full, app)?;
    }
    if commits.is_empty() {
        app.ui.status("No commits in this range");
    }
    Ok(())
}

fn tell_written(written: &WrittenMedia, deed: &ShowParams, app: &mut App) -> Result<()> {
    let kind = written.media_type.as_deref().unwrap_or("a file");
    let path = app.path(deed.image.as_deref().unwrap_or(Path::new("")))?;
    let (size, place) = (bytes(written.bytes as u64), app.short_path(&path));
    app.ui.status(format!("Wrote {kind}, {size}, to {place}"));
    Ok(())
}

/// A commit with its header, or of its message one part.
fn draw(repo: &Repo, whole: &CommitWhole, head: &Head, full: bool, app: &mut App) -> Result<()> {
    let limit = if full { usize::MAX } else { LINES };
    let shown = &whole.shown;
    let row = &shown.row;
    let verb = Line::from(row.commit.operation.verb()) + " ";
    app.ui.print(verb + Label::Hash.of(row.hash.to_string()))?;
    for (name, value) in fields(repo, whole, head, app)? {
        let name = Label::Dim.of(format!("{name:<NAME_COLS$}"));
        app.ui.print(name + value)?;
    }
    match whole.piece {
        Some(CommitPiece::Message(at)) => body(&mut app.ui, &shown.replacements[at], limit),
        Some(CommitPiece::Part(at)) => {
            let message = shown.message.iter().chain(&shown.replacements).next();
            let parts = message.map_or(&[][..], |message| &message.parts[at..=at]);
            parts_of(&mut app.ui, parts, at, limit)
        }
        None => {
            content(shown, limit, &mut app.ui)?;
            lists(repo, shown, limit, &mut app.ui)?;
            life(&whole.life, limit, &mut app.ui)
        }
    }
}

/// What the header says, line by line.
fn fields(
    repo: &Repo,
    whole: &CommitWhole,
    head: &Head,
    app: &App,
) -> Result<Vec<(&'static str, Line)>> {
    let shown = &whole.shown;
    let row = &shown.row;
    let operation = &row.commit.operation;
    let mut fields = Vec::new();
    let mut field = |name, value: Line| fields.push((name, value));
    let names = listing::names(&row.refs, head, false);
    if !names.is_empty() {
        field("refs", Line::join(names, ", "));
    }
    for tag in &whole.tags {
        let note = tag.note.as_ref().map_or("", |(note, _)| note);
        field("tag", format!("{}: {note}", tag.name.short()).into());
    }
    if let Some(parent) = row.commit.parent {
        field("parent", parent.short().into());
    }
    if let Some(merged) = row.commit.merged {
        field("merged", position::place(repo, &merged)?);
    }
    if let Some(origin) = row.commit.origin {
        field("copy of", origin.short().into());
    }
    field("time", app.calendar().full(row.commit.time).into());
    if let Some(author) = &row.commit.author {
        field("author", author.to_string().into());
    }
    if let Some(message) = &shown.message {
        let name = message.name.as_deref();
        let mut name = name.map_or(String::new(), |name| format!(" {name}"));
        if let Some(recipient) = &message.recipient {
            name.push_str(&format!(" → {recipient}"));
        }
        let (label, who) = Label::speaker(message.role, row.injected);
        let role = label.of(who);
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
    if let Some(call) = &row.call {
        let room = app.ui.width_cols().map(|width| width - NAME_COLS);
        field("answers", Line::from(call).within(room));
    }
    for agent in &whole.agents {
        field("agent", format!("tract view {}", agent.short()).into());
    }
    if let Operation::Edit { target, .. } = operation {
        field("edits", target.to_string()[..7].into());
    }
    if matches!(operation, Operation::Hide(_) | Operation::Restore { .. }) {
        field("messages", listing::moved(row).into());
    }
    let count = format!("{} = {}", signed(row.delta), tokens(row.running));
    field("tokens", count.into());
    let extras = listing::extras(row);
    if !extras.is_empty() {
        field("settings", extras.into());
    }
    fields.extend(billed(repo, whole, app)?);
    let mut field = |name, value: Line| fields.push((name, value));
    if let Some((format, spans)) = &shown.source {
        let records = plural(spans.len() as u64, "record");
        field("source", format!("{format}, {records}").into());
    }
    if let Operation::Restore { .. } | Operation::Annotate { .. } = operation {
        field("what", listing::describe(row).into());
    }
    Ok(fields)
}

/// Of a reply that its provider counted: its model, what was counted, what it cost, and how it ended.
fn billed(repo: &Repo, whole: &CommitWhole, app: &App) -> Result<Vec<(&'static str, Line)>> {
    let mut fields = Vec::new();
    // A list of prices takes its time to be read: most messages were not counted.
    if let Some(mut reply) = whole.reply.clone() {
        let (prices, list) = prices::prices(repo, app)?;
        reply.price(&prices);
        if let Some(model) = &reply.model {
            fields.push(("model", Label::Text.quote(model)));
        }
        fields.push(("usage", prices::usage_words(&reply.usage).into()));
        for iteration in &reply.detail.iterations {
            let mut line = Label::Text.quote(&iteration.kind);
            if let Some(model) = &iteration.model {
                line = line + " of " + Label::Text.quote(model);
            }
            let words = prices::usage_words(&iteration.usage());
            fields.push(("beside", line + format!(": {words}")));
        }
        let counts = reply.detail.counts.iter();
        let counts = counts.map(|(name, count)| {
            Line::from(format!("{} ", grouped(*count))) + Label::Text.quote(name)
        });
        let counts: Vec<Line> = counts.collect();
        if !counts.is_empty() {
            fields.push(("counts", Line::join(counts, ", ")));
        }
        let price = match reply.dollars {
            Some(dollars) => prices::money(dollars) + ", API-equivalent",
            None => "not known".to_owned(),
        };
        let mut price = format!("{price}, list prices of {list}");
        for said in prices::untiered(&[reply], &prices) {
            price += "; ";
            price += &said;
        }
        fields.push(("price", price.into()));
    }
    let said = &whole.said;
    let words = [
        ("", &said.stop),
        ("tier ", &said.tier),
        ("speed ", &said.speed),
    ];
    let words = words
        .into_iter()
        .filter_map(|(name, word)| Some(Line::from(name) + Label::Text.quote(word.as_ref()?)));
    let words: Vec<Line> = words.collect();
    if !words.is_empty() {
        fields.push(("ended", Line::join(words, ", ")));
    }
    Ok(fields)
}

/// What it brought: a message, before and after an edit, or what stands in place of what it hid.
fn content(shown: &Shown, limit: usize, ui: &mut Ui) -> Result<()> {
    if let Some(replaced) = &shown.replaced {
        ui.heading("Before")?;
        body(ui, replaced, limit)?;
        ui.heading("After")?;
    }
    for message in shown.message.iter().chain(&shown.replacements) {
        if shown.message.is_none() {
            let (label, who) = Label::speaker(message.role, shown.row.injected);
            let role = label.of(who);
            ui.print("")?;
            let title = match &shown.row.commit.operation {
                Operation::Hide(hide) if hide.is_move() => "Moved here: ",
                _ => "In its place: ",
            };
            ui.print(Label::Strong.of(title) + role)?;
        }
        body(ui, message, limit)?;
    }
    Ok(())
}

/// What it hid, brought back or changed, one to a line.
fn lists(repo: &Repo, shown: &Shown, limit: usize, ui: &mut Ui) -> Result<()> {
    for part in shown.parts.iter().take(limit) {
        let number = part.number.map_or("-".to_owned(), |n| format!(":{n}"));
        let stub = part.stub.as_deref().unwrap_or_default();
        ui.print(format!("  {number}#{}  {stub}", part.part))?;
    }
    ui.print_all(part::rest(shown.parts.len(), limit))?;
    let lists = [
        ("Hid", &shown.hidden),
        ("Stayed in between:", &shown.survivors),
        ("Brought back", &shown.returned),
        ("Annotated", &shown.targets),
    ];
    for (title, touched) in lists {
        if !touched.is_empty() {
            let mut all = Total::default();
            all.extend(touched.iter().map(|one| one.tokens));
            let count = plural(touched.len() as u64, "message");
            let tokens = grouped(all.tokens);
            ui.heading(&format!("{title} {count}, {tokens} tokens"))?;
            let list = outcome::List {
                limit,
                last: 0,
                others: "(--full)",
                sum: false,
            };
            outcome::list(repo, ui, touched, all, &list)?;
        }
    }
    if !shown.still_hidden.is_empty() {
        let count = plural(shown.still_hidden.len() as u64, "message");
        ui.heading(&format!("Still hidden: {count}"))?;
        for (entry, hide, kind) in shown.still_hidden.iter().take(limit) {
            let (entry, hide, kind) = (entry.commit.short(), hide.short(), kind.as_str());
            ui.print(format!("  {entry} by the {kind} {hide}"))?;
        }
        ui.print_all(part::rest(shown.still_hidden.len(), limit))?;
    }
    Ok(())
}

/// What became of a message since: its newest text, and its priorities over time.
fn life(life: &Life, limit: usize, ui: &mut Ui) -> Result<()> {
    if let Some(current) = &life.current {
        let title = match life.edited {
            Some(edit) => format!("Edited since, by {}; it reads now", edit.short()),
            None => "Parts of it are hidden; it reads now".to_owned(),
        };
        ui.heading(&title)?;
        body(ui, current, limit)?;
    }
    if !life.priorities.is_empty() {
        ui.heading("Priority over time")?;
        for (commit, priority, reason) in &life.priorities {
            let reason = reason.as_deref().map(|reason| format!(": {reason}"));
            let priority = format!("  {priority}{}", reason.unwrap_or_default());
            ui.print(Line::from("  ") + Label::Hash.of(commit.short()) + priority)?;
        }
    }
    Ok(())
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

fn body(ui: &mut Ui, message: &Message, limit: usize) -> Result<()> {
    if let [only] = message.parts.as_slice() {
        ui.print("")?;
        return Ok(ui.print_all(chat(limit, ui).part(only))?);
    }
    if message.parts.is_empty() {
        ui.print("")?;
        ui.print(Label::Dim.of("    (empty)"))?;
    }
    parts_of(ui, &message.parts, 0, limit)
}

/// Parts with their numbers, from `first` on, as `tract drop REV#PART` names them.
fn parts_of(ui: &mut Ui, parts: &[Part], first: usize, limit: usize) -> Result<()> {
    for (at, part) in parts.iter().enumerate() {
        ui.print("")?;
        ui.print(Label::Dim.of(format!("#{}", first + at)))?;
        ui.print_all(chat(limit, ui).part(part))?;
    }
    Ok(())
}
