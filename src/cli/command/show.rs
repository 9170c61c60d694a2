//! `tract show`: one commit whole, or one after the other.

mod media;

use std::path::PathBuf;

use tract::error::Refusal;
use tract::hash::CommitHash;
use tract::ingest::{agents, remarked};
use tract::model::price::is_usual_tier;
use tract::model::{Head, Message, Operation, Part, Total};
use tract::query::{LogOptions, Shown};
use tract::render::chat::Chat;
use tract::render::{Label, Line, grouped, part, plural, signed, tokens};
use tract::repo::{On, Repo, TagRow};

use crate::cli::{App, Failure, Result, Ui, listing, outcome, position, prices};

/// Show one commit in full, or a range
///
/// Prints its header and its content. For a hide, it prints what stands in place of the hidden
/// messages, and what it hid; for an edit, the text before it; for a reply that its provider counted, its
/// model, what was counted, and what it cost by the list price of its day. REV#2 is one part of the
/// message, counted from 0. A..B prints the commits that lead from A to B, oldest first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract show               the newest commit
  tract show :1            the first visible message
  tract show a1b2c3d --full
  tract show :7#1          the second part of the 7th
  tract show HEAD~3..HEAD  the newest three, in their order
  tract show :7 --image shot.png")]
pub struct Args {
    /// The commit; REV#PART: a part of it
    #[arg(value_name = "REV|A..B", default_value = "HEAD")]
    rev: String,
    /// Do not shorten long texts and lists
    #[arg(long)]
    full: bool,
    /// Write the picture or file in it to FILE, and print nothing
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Which picture, if there are several, counted from 1
    #[arg(long, value_name = "N", requires = "image")]
    which: Option<usize>,
    /// Overwrite an existing file
    #[arg(long, requires = "image")]
    force: bool,
}

/// The columns of the names in a header.
const NAME_COLS: usize = 10;
/// How many lines of one part, and how many hidden messages, are shown without `--full`.
const LINES: usize = 40;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    if let Some(commits) = range(&repo, &on, &args.rev)? {
        if args.image.is_some() {
            return Err(Failure::usage("a picture is of one commit, not of a range"));
        }
        for (at, hash) in commits.iter().enumerate() {
            if at > 0 {
                app.ui.print("")?;
            }
            let shown = repo.show(hash, app.encoding(&repo)?)?;
            whole(&repo, &on, &shown, None, args.full, app)?;
        }
        if commits.is_empty() {
            app.ui.status("No such commits");
        }
        return Ok(());
    }
    let (hash, number) = repo.resolve_part(&on, &args.rev)?;
    let shown = repo.show(&hash, app.encoding(&repo)?)?;
    let part = number.map(|number| part_of(&shown, number)).transpose()?;
    match &args.image {
        Some(path) => media::save(&shown, part.as_ref(), path, args, app),
        None => whole(&repo, &on, &shown, part.as_ref(), args.full, app),
    }
}

/// The commits of a range, oldest first; none where the text is no range.
fn range(repo: &Repo, on: &On, text: &str) -> Result<Option<Vec<CommitHash>>> {
    // A text that is looked for may hold dots of its own.
    if text.starts_with(":/") || !text.contains("..") {
        return Ok(None);
    }
    let (tip, until) = repo.resolve_range(on, text)?;
    let options = LogOptions {
        until,
        ..LogOptions::default()
    };
    let rows = repo.commits_of(&tip, &options)?;
    Ok(Some(rows.into_iter().rev().collect()))
}

/// What `#N` of a commit is: one of several messages that it put in place, or a part of its one.
enum Piece {
    Message(usize),
    Part(usize),
}

fn part_of(shown: &Shown, number: u32) -> Result<Piece> {
    let number = number as usize;
    let (count, piece) = match (&shown.message, shown.replacements.as_slice()) {
        (None, [_, _, ..]) => (shown.replacements.len(), Piece::Message(number)),
        (Some(one), _) | (None, [one]) => (one.parts.len(), Piece::Part(number)),
        (None, []) => (0, Piece::Part(number)),
    };
    match count.checked_sub(1) {
        None => Err(Failure::refused("it has no parts").with_hint("tract show shows all of it")),
        Some(last) if number > last => {
            let refusal = Refusal::NoSuchPart { part: number, last };
            Err(tract::Error::Refused(refusal).into())
        }
        Some(_) => Ok(piece),
    }
}

/// A commit with its header, or of its message one part.
fn whole(
    repo: &Repo,
    on: &On,
    shown: &Shown,
    part: Option<&Piece>,
    full: bool,
    app: &mut App,
) -> Result<()> {
    let head = repo.head(on)?;
    let limit = if full { usize::MAX } else { LINES };
    let row = &shown.row;
    let verb = Line::from(row.commit.operation.verb()) + " ";
    app.ui.print(verb + Label::Hash.of(row.hash.to_string()))?;
    for (name, value) in fields(repo, shown, &head, app)? {
        let name = Label::Dim.of(format!("{name:<NAME_COLS$}"));
        app.ui.print(name + value)?;
    }
    match part {
        Some(Piece::Message(at)) => body(&mut app.ui, &shown.replacements[*at], limit),
        Some(Piece::Part(at)) => {
            let message = shown.message.iter().chain(&shown.replacements).next();
            let parts = message.map_or(&[][..], |message| &message.parts[*at..=*at]);
            parts_of(&mut app.ui, parts, *at, limit)
        }
        None => {
            content(shown, limit, &mut app.ui)?;
            lists(repo, shown, limit, &mut app.ui)?;
            life(repo, shown, &head, limit, app)
        }
    }
}

/// What the header says, line by line.
fn fields(repo: &Repo, shown: &Shown, head: &Head, app: &App) -> Result<Vec<(&'static str, Line)>> {
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
    if let Some(call) = &row.call {
        let room = app.ui.width_cols().map(|width| width - NAME_COLS);
        field("answers", Line::from(call).within(room));
    }
    if let (Some(message), Operation::Append { .. }) = (&shown.message, operation) {
        for agent in agents(repo, &row.hash, message)? {
            field("agent", format!("tract view {}", agent.short()).into());
        }
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
    if let (Some(_), Operation::Append { .. }) = (&shown.message, operation) {
        fields.extend(billed(repo, &row.hash, app)?);
    }
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
fn billed(repo: &Repo, reply: &CommitHash, app: &App) -> Result<Vec<(&'static str, Line)>> {
    let mut fields = Vec::new();
    let said = remarked(repo, reply)?;
    // A list of prices takes its time to be read: most messages were not counted.
    if let Some(mut reply) = repo.counted_reply(reply)? {
        let (prices, list) = prices::prices(repo, app)?;
        let tier = said.tier.clone().filter(|tier| !is_usual_tier(tier));
        reply.tier = tier.or(reply.tier);
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
    let words = [
        ("", said.stop),
        ("tier ", said.tier),
        ("speed ", said.speed),
    ];
    let words = words
        .into_iter()
        .filter_map(|(name, word)| Some(Line::from(name) + Label::Text.quote(&word?)));
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
            let role = Label::role(message.role).of(message.role.as_str());
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

/// The annotated tags at a commit: name and note.
fn tag_notes(repo: &Repo, shown: &Shown) -> Result<Vec<(String, String)>> {
    let mut tags = repo.tags()?;
    tags.retain(|tag| shown.row.refs.contains(&tag.name));
    let noted = |tag: TagRow| Some((tag.name.short().to_owned(), tag.note?.0));
    Ok(tags.into_iter().filter_map(noted).collect())
}

/// What became of a message since: its newest text, and its priorities over time.
fn life(repo: &Repo, shown: &Shown, head: &Head, limit: usize, app: &mut App) -> Result<()> {
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
