//! `tract log`: the commits of a path, newest first.

use std::io::Write;

use tract::history::{LogOptions, LogRow};
use tract::model::{Head, Message, Operation};
use tract::render::escape;

use crate::cli::app::App;
use crate::cli::failure::Failure;
use crate::cli::listing::{self, Listing};
use crate::cli::number::{signed, tokens};
use crate::cli::template::Template;
use crate::cli::ui::Label;
use crate::cli::when;

/// List commits, newest first
///
/// Columns: hash, time, operation, role, this commit's tokens, the context's tokens, preview. On a
/// terminal a line is cut to its width; in a pipe nothing is cut and times are absolute. The order
/// is the chain's, whatever the times say.
///
/// A template's fields, which never change: %H full hash, %h short hash, %P parent, %r role,
/// %o operation, %k kind of a hide, %t change in tokens, %T the context's tokens, %s preview,
/// %d time (UTC), %i number among the visible messages at the first commit listed; %n a new line, %x00 a byte,
/// %% a percent sign. A field that a commit doesn't have is empty.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract log                    the newest 20
  tract log -n 0 | less        all
  tract log main~50..main      the newest 50 of main
  tract log --op compact       only compactions
  tract log --format '%h %r %t %s' -n 0")]
pub struct Args {
    /// Where to begin, or A..B: what leads from A to B
    #[arg(value_name = "REV|A..B")]
    range: Option<String>,
    /// One line each (as without it)
    #[arg(long, conflicts_with = "verbose")]
    oneline: bool,
    /// Two or three lines each: full hash, parts, settings, note
    #[arg(short, long)]
    verbose: bool,
    /// At most N, 20 unless said otherwise; 0: all
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Only these: append, edit, hide, restore, annotate, or a kind of hide as listed
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    op: Vec<String>,
    /// One record a commit, by a template such as '%h %r %t %s'
    #[arg(long, value_name = "TEMPLATE", conflicts_with_all = ["oneline", "verbose"])]
    format: Option<String>,
    /// End each record with a NUL byte instead of a new line
    #[arg(short = 'z', requires = "format")]
    zero: bool,
}

/// How many are listed.
const LIMIT: usize = 20;

const OPERATIONS: [&str; 15] = [
    "append",
    "edit",
    "hide",
    "restore",
    "annotate",
    "truncate",
    "compact",
    "clear",
    "drop",
    "prune",
    "truncation",
    "compaction",
    "clear",
    "drop",
    "prune",
];

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    known_operations(&args.op)?;
    let template = args.format.as_deref().map(Template::parse).transpose()?;
    let (repo, on) = (app.repo()?, app.on()?);
    let head = repo.head(&on)?;
    let (tip, until) = match args.range.as_deref() {
        None => (repo.resolve(&on, "HEAD")?, None),
        Some(range) => repo.resolve_range(&on, range)?,
    };
    let options = LogOptions {
        limit: args.limit.unwrap_or(LIMIT),
        until,
        operations: args.op.clone(),
        encoding: app.encoding(&repo)?,
        parts: args.verbose,
        numbers: template.is_some(),
    };
    let rows = repo.log(&tip, &options)?;
    if rows.is_empty() {
        app.ui.status("No such commits");
    }
    if let Some(template) = template {
        let end = if args.zero { '\0' } else { '\n' };
        for row in &rows {
            write!(app.ui.out(), "{}{end}", template.fill(row))?;
        }
        return Ok(());
    }
    if args.verbose {
        return verbose(&rows, &head, app);
    }
    let listing = Listing {
        head: &head,
        now: app.now(),
        running: true,
        indent: 0,
    };
    for line in listing.lines(&rows, &app.ui) {
        writeln!(app.ui.out(), "{line}")?;
    }
    let cut = args.limit.is_none() && args.range.is_none() && rows.len() == LIMIT;
    if cut && app.ui.is_terminal() {
        app.ui.hint("older ones: tract log -n 0");
    }
    Ok(())
}

/// Refuses a word that no operation or kind of hide goes by.
pub(super) fn known_operations(words: &[String]) -> Result<(), Failure> {
    match words.iter().find(|op| !OPERATIONS.contains(&op.as_str())) {
        None => Ok(()),
        Some(wrong) => {
            let failure = Failure::usage(format!("unknown operation '{wrong}'"));
            Err(failure.with_hint(OPERATIONS[..10].join(", ")))
        }
    }
}

fn verbose(rows: &[LogRow], head: &Head, app: &mut App) -> Result<(), Failure> {
    let ui = &mut app.ui;
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            writeln!(ui.out())?;
        }
        let marks = listing::marks(&row.refs, head, ui.is_terminal());
        // The full hash leaves a narrow terminal little room.
        let room = ui.width_cols().map(|width| width.saturating_sub(64));
        let marks: Vec<String> = listing::fitting(&marks, room)
            .into_iter()
            .map(|(label, text)| ui.paint(label, &text))
            .collect();
        let marks = match marks.as_slice() {
            [] => String::new(),
            marks => format!("  ({})", marks.join(", ")),
        };
        let hash = ui.paint(Label::Hash, &row.hash.to_string());
        let verb = ui.paint(
            listing::verb_label(&row.commit.operation),
            listing::verb(&row.commit.operation),
        );
        let mut facts = vec![row.commit.time.map_or("-".to_owned(), when::full), verb];
        if let Some(role) = row.role {
            facts.push(ui.paint(Label::role(role), role.as_str()));
        }
        let brings = !matches!(row.commit.operation, Operation::Annotate { .. });
        if brings && !row.parts.is_empty() {
            facts.push(part_words(&row.parts));
        }
        if row.messages != 0 && !matches!(row.commit.operation, Operation::Append { .. }) {
            facts.push(format!("{} messages", signed(row.messages)));
        }
        facts.push(format!(
            "{} = {} tokens",
            signed(row.delta),
            tokens(row.running)
        ));
        writeln!(ui.out(), "{hash}{marks}\n    {}", facts.join("  "))?;
        let extra = extras(row);
        if !extra.is_empty() {
            writeln!(ui.out(), "    {}", escape::line(&extra))?;
        }
        let preview = listing::describe(row);
        if !preview.is_empty() {
            let room = ui.width_cols().map(|width| width.saturating_sub(4));
            let preview = room.map_or(preview.clone(), |room| {
                crate::cli::columns::cut(&preview, room)
            });
            let preview = ui.paint(Label::Dim, &preview);
            writeln!(ui.out(), "    {preview}")?;
        }
    }
    Ok(())
}

/// `thinking, text, 2 tool_call`.
pub fn part_types(message: &Message) -> String {
    part_words(&message.part_types())
}

fn part_words(types: &[(&str, usize)]) -> String {
    let word = |(name, count): &(&str, usize)| match count {
        1 => (*name).to_owned(),
        _ => format!("{count} {name}"),
    };
    types.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// `model=… temp=0.7`, and the note.
pub fn extras(row: &LogRow) -> String {
    let mut words: Vec<String> = row
        .commit
        .settings
        .iter()
        .map(|(key, value)| setting(key, value))
        .collect();
    if let Some(note) = &row.commit.note {
        words.push(format!("note: {note}"));
    }
    words.join("  ")
}

/// A setting on one line; a long one by its size.
fn setting(key: &str, value: &str) -> String {
    let key = if key == "temperature" { "temp" } else { key };
    let plain = serde_json::from_str::<String>(value).unwrap_or_else(|_| value.to_owned());
    match plain.len() {
        0..=60 => format!("{key}={plain}"),
        long => format!("{key}=… ({})", crate::cli::number::bytes(long as u64)),
    }
}
