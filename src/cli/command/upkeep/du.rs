//! `tract du`: what takes the room.

use tract::deeds::DuParams;
use tract::model::RefName;
use tract::render::{Label, Line, bytes, grouped, percent, plural, table};
use tract::repo::FolderEntry;
use tract::upkeep::{Heap, NamedRoom, Needed, SessionRoom};

use crate::cli::drawing::listing;
use crate::cli::{App, Result, Ui};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract du
  tract du --all              every tool, branch and session
  tract gc --dry-run          what of it could go")]
pub struct Args {
    #[command(flatten)]
    deed: DuParams,
    /// Every tool, branch and session, not only the largest
    #[arg(short, long)]
    all: bool,
}

/// How many of each kind are listed.
const LARGEST: usize = 10;
/// The columns that a row takes beside its name.
const ROW_COLS: usize = 54;

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let repo = app.repo()?;
    let du = args.deed.carry_out(&repo)?;
    let asides = repo.asides().into_iter();
    let asides = asides.map(|aside| (app.short_path(&aside.path), bytes(aside.size_bytes)));
    let asides: Vec<(String, String)> = asides.collect();
    let entries = |entries: Vec<FolderEntry>| -> Vec<(String, String)> {
        let entries = entries.into_iter().filter(|entry| entry.size_bytes > 0);
        let entries = entries.map(|entry| (app.short_path(&entry.path), bytes(entry.size_bytes)));
        entries.collect()
    };
    let (killed, others) = (
        entries(repo.killed_backups()),
        entries(repo.folder_entries()),
    );
    let ui = &mut app.ui;
    let limit = if args.all { usize::MAX } else { LARGEST };
    let total = du.room.size_bytes();
    ui.print(Label::Strong.of("The files"))?;
    let kinds = du.room.0.iter().filter(|(_, size)| *size > 0);
    let mut rows: Vec<Vec<Line>> = kinds
        .map(|(of, size)| share(of.as_str(), *size, total, ui))
        .collect();
    rows.push(share("all", total, total, ui));
    ui.print_all(table::lines(rows, &[1, 2]))?;

    for (path, size) in killed {
        ui.print(format!("{path}, of a backup that was killed: {size}"))?;
    }
    for (path, size) in others {
        ui.print(format!("{path}: {size}"))?;
    }
    for (path, size) in asides {
        ui.print(format!("{path}, from before a restore: {size}"))?;
    }

    let rows = du.by_need.iter();
    let rows = rows.map(|(need, heap)| heaped(needed(*need).into(), heap, None, ui));
    section("Messages", rows.collect(), ui)?;

    let rows = du.by_role.iter().map(|(role, attached, heap)| {
        let name = match attached {
            true => format!("{role}, attached"),
            false => role.to_string(),
        };
        heaped(Label::role(*role).of(name), heap, None, ui)
    });
    section("By role", rows.collect(), ui)?;

    if du.by_tool.iter().any(|(tool, _)| tool.is_some()) {
        let name = |tool: &Option<String>| match tool {
            Some(tool) => Label::Tool.of(tool),
            None => "no tool".into(),
        };
        let (shown, rest) = du.by_tool.split_at(limit.min(du.by_tool.len()));
        let mut rows: Vec<Vec<Line>> = shown
            .iter()
            .map(|(tool, heap)| heaped(name(tool), heap, None, ui))
            .collect();
        if !rest.is_empty() {
            let mut others = Heap::default();
            rest.iter().for_each(|(_, heap)| others += *heap);
            rows.push(heaped(more(rest.len(), "tool"), &others, None, ui));
        }
        section("By tool", rows, ui)?;
    }

    let (shown, rest) = du.by_name.split_at(limit.min(du.by_name.len()));
    let rows = shown
        .iter()
        .map(|room| heaped(names(room, ui), &room.all, Some(&room.alone), ui));
    let mut rows: Vec<Vec<Line>> = rows.collect();
    if !rest.is_empty() {
        let mut row = vec![Line::new(); 7];
        row[0] = more(rest.len(), "place");
        rows.push(row);
    }
    section("By branch, tag and session", rows, ui)?;

    let (shown, rest) = du.sessions.split_at(limit.min(du.sessions.len()));
    let mut rows: Vec<Vec<Line>> = shown.iter().map(|room| kept(room, ui)).collect();
    if !rest.is_empty() {
        let mut others = SessionRoom {
            name: rest[0].name.clone(),
            files: 0,
            kept_bytes: 0,
            size_bytes: 0,
            older_bytes: 0,
        };
        for room in rest {
            others.files += room.files;
            others.kept_bytes += room.kept_bytes;
            others.size_bytes += room.size_bytes;
            others.older_bytes += room.older_bytes;
        }
        let mut row = kept(&others, ui);
        row[0] = more(rest.len(), "session");
        rows.push(row);
    }
    section("Kept session files", rows, ui)?;

    let needs = |of: Needed| {
        let found = du.by_need.iter().find(|(need, _)| *need == of);
        found.map_or(0, |(_, heap)| heap.kept_bytes)
    };
    if needs(Needed::Nothing) + needs(Needed::Logged) > 0 {
        ui.hint("tract gc --dry-run says what of it could go");
    }
    Ok(())
}

/// A heading and what stands below it, if anything does.
fn section(heading: &str, rows: Vec<Vec<Line>>, ui: &mut Ui) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    ui.heading(heading)?;
    Ok(ui.print_all(table::lines(rows, &[1, 2, 3, 4, 5, 6]))?)
}

/// `messages  4.1 MB  33%`.
fn share(what: &str, part: u64, total: u64, ui: &Ui) -> Vec<Line> {
    let percent = percent(part, total);
    vec![
        Line::from("  ") + what,
        Label::Tokens.of(ui.size(part)),
        Label::Dim.of(percent),
    ]
}

/// `main  1,204 messages  kept 4.1 MB  of 9.9 MB  alone 1.2 MB`.
fn heaped(what: Line, heap: &Heap, alone: Option<&Heap>, ui: &Ui) -> Vec<Line> {
    let alone = alone.filter(|alone| alone.messages > 0);
    let alone = alone.map(|alone| ("alone", alone.kept_bytes));
    let sizes = [heap.kept_bytes, heap.size_bytes];
    sized(what, plural(heap.messages, "message"), sizes, alone, ui)
}

/// `claude-code/2f6c1f0e…  2 files  1.2 MB  of 9.9 MB  older 0.2 MB`.
fn kept(room: &SessionRoom, ui: &Ui) -> Vec<Line> {
    let is_cut = ui.width_cols().is_some();
    let older = (room.older_bytes > 0).then_some(("older", room.older_bytes));
    let name = Label::Session.of(listing::shown_name(&room.name, is_cut));
    let sizes = [room.kept_bytes, room.size_bytes];
    sized(name, plural(room.files, "file"), sizes, older, ui)
}

/// What it is, how much there is of it, its size as it is stored and its length; and another size under a name of its
/// own.
fn sized(
    what: Line,
    count: String,
    [kept, length]: [u64; 2],
    other: Option<(&str, u64)>,
    ui: &Ui,
) -> Vec<Line> {
    let (word, other) = other.map_or(("", String::new()), |(word, of)| (word, ui.size(of)));
    vec![
        Line::from("  ") + named(what, ui),
        count.into(),
        Label::Tokens.of(ui.size(kept)),
        Label::Dim.of("of"),
        Label::Dim.of(ui.size(length)),
        Label::Dim.of(word),
        Label::Tokens.of(other),
    ]
}

/// A name in as many columns as there are.
fn named(name: Line, ui: &Ui) -> Line {
    let room = |width: usize| width.saturating_sub(ROW_COLS).clamp(16, 60);
    name.within(ui.width_cols().map(room))
}

/// `12 more tools`.
fn more(count: usize, noun: &str) -> Line {
    let count = count as u64;
    let noun = plural(count, noun);
    let noun = noun.split_once(' ').map_or("", |(_, noun)| noun);
    Label::Dim.of(format!("{} more {noun}: --all", grouped(count)))
}

/// The names of a place, or the first of them.
fn names(room: &NamedRoom, ui: &Ui) -> Line {
    let is_cut = ui.width_cols().is_some();
    let name = |name: &RefName| match name.as_session() {
        Some(_) => Label::Session.of(listing::shown_name(name, is_cut)),
        None => Label::Branch.of(name.short()),
    };
    let (first, others) = room.names.split_first().expect("it is a name's");
    let line = name(first);
    match others {
        [] => line,
        [other] => line + ", " + name(other),
        _ => line + format!(" and {} others", grouped(others.len() as u64)),
    }
}

fn needed(need: Needed) -> &'static str {
    match need {
        Needed::Shown => "shown",
        Needed::Hidden => "hidden or replaced",
        Needed::Logged => "only undo and reflog lead to",
        Needed::Nothing => "nothing leads to",
    }
}
