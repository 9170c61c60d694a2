//! `tract find`: messages by their text.

use std::collections::HashMap;
use std::time::Duration;

use indicatif::ProgressBar;
use tract::history::{FindOptions, FindProgress, Found, HiddenBy, Neighbour, Pattern, Repo};
use tract::model::{EntryId, HideKind, Operation, RefName, Role};
use tract::render::calendar::Edge;
use tract::render::{Calendar, Label, Line, excerpt, plural, row, table};

use crate::cli::listing::{self, known_operations};
use crate::cli::{App, Exit, Failure, Result, Ui, moment, progress};

/// Search all messages, hidden ones too
///
/// Searches the history of all branches, tags and sessions, newest first: text, thinking, tool calls
/// and their results, in hidden messages as well, and in what edits replaced. A message that several
/// branches share is listed once. Each match starts with its hash, time, role and place (main:12, or
/// what hides it); `tract show HASH` prints it in full. For a hidden message, the last line says what
/// brings it back. Matches are grouped by session, the one with the newest match first; the heading
/// says where the session ran, its title, and what it continued.
///
/// TEXT is searched for as it is, in upper or lower case; no character is special. With --regex it is a
/// regular expression, in which (?-i) makes case matter. The exit code is 1 if nothing matches, as with
/// grep.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract find parse_conf                     the newest 20 messages with it
  tract find 'read the config'              several words go in quotes
  tract find parse_conf main                only in main's history
  tract find parse_conf --here              only in this directory's sessions
  tract find 'fn \\w+_config' --regex -C 1  with a message before and after
  tract find error --tool bash --since 3w   in bash's input and output of the last three weeks
  tract find TODO --role user -n 0          in all that users wrote
  tract find -- --force                     a text that begins with a dash")]
pub struct Args {
    /// The text to find
    text: String,
    /// Only in the history of this commit or branch
    rev: Option<String>,
    /// TEXT is a regular expression
    #[arg(short = 'E', long)]
    regex: bool,
    /// Show N messages before and after each
    #[arg(short = 'C', long = "context", value_name = "N", default_value_t = 0)]
    #[arg(hide_default_value = true)]
    neighbours: usize,
    /// Only in sessions that ran in this directory or below it
    #[arg(long, conflicts_with = "rev")]
    here: bool,
    /// Only messages of this role
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Only what these brought: append, edit, hide, or a kind of hide as log lists it
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    op: Vec<String>,
    /// Only calls of this tool, and their results
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only from then on: a date, or an age such as 3w
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only up to then
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// At most N messages; by default 20; 0: all
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
}

/// How many messages are listed.
const LIMIT: usize = 20;
/// A search that takes no longer shows no progress.
const QUICK: Duration = Duration::from_millis(300);
/// How many lines of one message are listed.
const LINES: usize = 5;
/// What stands before a line.
const INDENT: &str = "    ";

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    known_operations(&args.op)?;
    let (repo, on) = (app.repo()?, app.on()?);
    let pattern = if args.regex {
        Pattern::regex(&args.text)?
    } else {
        Pattern::text(&args.text)?
    };
    let within = args.rev.as_deref().map(|rev| repo.resolve(&on, rev));
    let calendar = app.calendar();
    let limit = args.limit.unwrap_or(LIMIT);
    let options = FindOptions {
        within: within.transpose()?,
        directory: args.here.then(|| app.cwd()).transpose()?,
        role: args.role.as_deref().map(str::parse::<Role>).transpose()?,
        operations: args.op.clone(),
        tool: args.tool.clone(),
        since: moment::read(&calendar, args.since.as_deref(), Edge::Start)?,
        until: moment::read(&calendar, args.until.as_deref(), Edge::End)?,
        // One more tells whether there are more.
        limit: if limit == 0 { 0 } else { limit + 1 },
        neighbours: args.neighbours,
        ..FindOptions::new(pattern)
    };
    let bar = progress::bar(app, "[{bar:30}] {msg}");
    let found = repo.find_messages(&on, &options, &mut |progress| {
        if bar.elapsed() > QUICK {
            draw(&bar, progress);
        }
    });
    bar.finish_and_clear();
    let found = found?;
    if found.is_empty() {
        app.ui.status("No message matches");
        return Err(Failure::Quiet(Exit::NotAllowed));
    }
    let shown = if limit == 0 { found.len() } else { limit };
    let here = repo.head(&on)?.branch().cloned();
    list(&found[..shown.min(found.len())], here.as_ref(), args, app)?;
    if found.len() > shown {
        app.ui.hint("there are more, older ones: -n 0 lists all");
    }
    Ok(())
}

fn draw(bar: &ProgressBar, progress: FindProgress) {
    let (done, total, what) = match progress {
        FindProgress::Indexing { bytes, total_bytes } => {
            (bytes, total_bytes, "indexing what is new, once")
        }
        FindProgress::Reading { messages, total } => (messages as u64, total as u64, "reading"),
    };
    bar.set_length(total);
    bar.set_position(done);
    bar.set_message(what);
}

/// Draws the messages, each under a heading; those of several sessions by session, the one with the newest match
/// first.
fn list(found: &[Found], here: Option<&RefName>, args: &Args, app: &mut App) -> Result<()> {
    let calendar = app.calendar();
    let terminal = app.ui.is_terminal();
    let groups = groups(found);
    let is_of_many = groups.len() > 1;
    let in_order: Vec<&Found> = groups.iter().flatten().copied().collect();
    let cells: Vec<Vec<Line>> = in_order.iter().map(|one| cells(one, &calendar)).collect();
    let repo = app.repo()?;
    let entries: Vec<EntryId> = in_order.iter().map(|one| one.entry).collect();
    let calls = repo.calls_of(&entries)?;
    let ui = &mut app.ui;
    let room = ui.width_cols();
    let mut heads = table::lines(cells, &[]).zip(calls);
    for (at, group) in groups.iter().enumerate() {
        if is_of_many {
            if at > 0 {
                ui.print("")?;
            }
            ui.print(session(group[0], terminal).within(room))?;
        }
        for (one, (head, call)) in group.iter().zip(&mut heads) {
            // The place is of very different lengths and not lined up, to leave room for the title.
            let mut head = head + "  " + place(one, args, terminal) + "  ";
            if let Some(call) = call {
                head.fit(Line::from(call) + "  ", room);
            }
            if let Some(title) = one.session.title.as_ref().filter(|_| !is_of_many) {
                head.fit(Label::Dim.of(format!("\"{title}\"")), room);
            }
            ui.print(head.within(room))?;
            below(one, here, &repo, ui)?;
        }
    }
    Ok(())
}

/// What stands below the heading of a message: the lines that match, between its neighbours, and the way back.
fn below(one: &Found, here: Option<&RefName>, repo: &Repo, ui: &mut Ui) -> Result<()> {
    let room = ui.width_cols();
    let room = room.map(|width| width.saturating_sub(INDENT.len()));
    neighbours(repo, &one.before, ui)?;
    for line in one.lines.iter().take(LINES) {
        ui.print(Line::from(INDENT) + excerpt::of(&line.text, &line.matches, room))?;
    }
    if one.lines.len() > LINES {
        let more = plural((one.lines.len() - LINES) as u64, "more line");
        ui.print(Label::Dim.of(format!("{INDENT}… {more}")))?;
    }
    neighbours(repo, &one.after, ui)?;
    if let Some(back) = way_back(one, here) {
        ui.print_wrapped(Label::Hint.of(format!("{INDENT}back: {back}")))?;
    }
    Ok(())
}

/// What was found, by the session that it is of, or the branch, where that came from none.
fn groups(found: &[Found]) -> Vec<Vec<&Found>> {
    let key = |one: &Found| one.session.name.clone().or_else(|| one.branch.clone());
    let mut groups: Vec<Vec<&Found>> = Vec::new();
    let mut places: HashMap<Option<RefName>, usize> = HashMap::new();
    for one in found {
        let at = *places.entry(key(one)).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(one);
    }
    groups
}

/// A session's heading: where it ran and what it is called; its name; what it went on from.
fn session(found: &Found, terminal: bool) -> Line {
    let origin = &found.session;
    let name = |name: &RefName| listing::shown_name(name, terminal);
    let Some(own) = &origin.name else {
        return Label::Branch.of(found.branch.as_ref().map_or_else(String::new, name));
    };
    let quoted = |title: &String| format!("\"{title}\"");
    let title = origin.title.as_ref().map(quoted);
    let said = listing::titled(origin.directory.as_deref(), title.as_deref());
    let gap = if said.is_empty() { "" } else { "  " };
    let mut line = Label::Strong.of(said) + gap;
    line += Label::Branch.of(name(own));
    if let Some((before, title)) = &origin.before {
        let title = title.as_ref().map_or_else(|| name(before), quoted);
        line += Label::Dim.of(format!("  went on from {title}"));
    }
    line
}

/// What brings a hidden text back: into the context that one is in, where that has it hidden, and
/// with all that a summary stands for.
fn way_back(found: &Found, here: Option<&RefName>) -> Option<String> {
    let is_here = here.is_some() && found.branch.as_ref() == here;
    let is_message = matches!(found.commit.operation, Operation::Append { .. });
    let hash = found.hash.short();
    let message = is_message.then(|| match (found.hidden_by, is_here) {
        (Some(HiddenBy::Hide { .. } | HiddenBy::Part), true) => {
            Some(format!("tract restore {hash}"))
        }
        (Some(HiddenBy::Skip), true) => Some(format!("tract annotate {hash} --normal")),
        (Some(HiddenBy::Hide { .. } | HiddenBy::Part | HiddenBy::Skip), false) => {
            Some(format!("tract pick {hash}"))
        }
        _ => None,
    });
    let all = match found.hidden_by {
        Some(HiddenBy::Hide {
            commit,
            kind: HideKind::Compaction | HideKind::Clear,
        }) => Some(format!("tract resume {}^", commit.short())),
        _ => None,
    };
    match (message.flatten(), all) {
        (Some(message), Some(all)) => Some(format!("{message}, or go on from before: {all}")),
        (message, all) => message.or(all),
    }
}

/// Hash, time and role.
fn cells(found: &Found, calendar: &Calendar) -> Vec<Line> {
    let role = match &found.commit.operation {
        Operation::Append { .. } => found.role.to_string(),
        other => format!("{} ({})", found.role, other.verb()),
    };
    vec![
        Label::Hash.of(found.hash.short()),
        Label::Time.of(calendar.listed(found.commit.time)),
        Label::role(found.role).of(role),
    ]
}

/// `main:12`, or what hides it.
fn place(found: &Found, args: &Args, terminal: bool) -> Line {
    let name = match (&found.branch, &args.rev) {
        (Some(branch), _) => listing::shown_name(branch, terminal),
        (None, Some(rev)) => rev.clone(),
        (None, None) => String::new(),
    };
    let place = match (found.number, found.hidden_by) {
        (Some(number), None) => format!("{name}:{number}"),
        (Some(number), Some(why)) => format!("{name}:{number} ({})", reason(why)),
        (None, why) => format!("{name} hidden ({})", why.map_or_else(String::new, reason)),
    };
    match found.hidden_by {
        Some(_) => Label::Hide.of(place),
        None => Label::Branch.of(place),
    }
}

/// Why a text is not in the context, as a mark.
fn reason(why: HiddenBy) -> String {
    match why {
        HiddenBy::Hide { commit, kind } => {
            let done = match kind {
                HideKind::Truncation => "truncated",
                HideKind::Compaction => "compacted",
                HideKind::Clear => "cleared",
                HideKind::Drop => "dropped",
                HideKind::Prune => "pruned",
            };
            format!("{done} by {}", commit.short())
        }
        HiddenBy::Part => "this part is hidden".to_owned(),
        HiddenBy::Edit => "another text now".to_owned(),
        HiddenBy::Skip => "skipped".to_owned(),
        HiddenBy::Restore => "taken back".to_owned(),
    }
}

fn neighbours(repo: &Repo, all: &[Neighbour], ui: &mut Ui) -> Result<()> {
    let entries: Vec<EntryId> = all.iter().map(|one| one.entry).collect();
    for (one, call) in all.iter().zip(repo.calls_of(&entries)?) {
        let number = one.number.map_or("hidden".to_owned(), |n| format!(":{n}"));
        let line = Line::from(INDENT) + Label::Dim.of(format!("{number:<7} {:<9} ", one.role));
        let width = ui.width_cols();
        ui.print(row::after(line, call.as_deref(), &one.preview, width))?;
    }
    Ok(())
}
