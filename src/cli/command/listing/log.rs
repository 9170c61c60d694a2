//! `tract log`: the commits of a path, newest first.

use std::io::Write;
use std::iter;

use tract::deeds::{At, LogParams, Method};
use tract::hash::{CommitHash, ContentHash};
use tract::model::{Head, Operation};
use tract::query::{LogOptions, LogRow, RunningWork};
use tract::render::chat::Chat;
use tract::render::{Calendar, Label, Line, part, plural, signed, tokens};
use tract::repo::Repo;

use crate::cli::conversation::OUTPUT_LINES;
use crate::cli::drawing::listing::Drawn;
use crate::cli::drawing::{file_edits, graph, listing, sent};
use crate::cli::{App, Exit, Failure, Listing, Result, Template, Ui};

/// List commits, newest first
///
/// Columns: hash, the message's number in the context (:12 names it), time, operation, role, this commit's tokens,
/// the context's tokens, and how the message begins; a tool's result follows its call. On a terminal, lines are cut
/// to its width, and each day has a line of its own. The first message has 3 tokens of the context itself, which
/// commit does not count. With less than 100 columns, a
/// message that was added says no operation; with less than 80, the context's tokens are left out. In a pipe, lines are whole, previews have at most 80 bytes, and times are absolute. The order is the order
/// of the commits, whatever their times say.
///
/// --file lists the edits of a file instead, under the prompts that they were made for, each with the assistant's
/// text before it; --files sums up what was done to every file. Hidden messages count as well. No call says which
/// files a shell command changed.
///
/// --requests lists what the client of the session sent to the provider instead, where its file says so.
///
/// --role, --tool and --grep select messages that a commit brings in: appended, edited, or put in place
/// of what it hides. A message must match all of them.
///
/// Fields of a template, which never change: %H full hash, %h short hash, %P parent, %r role, %o
/// operation, %k kind of a hide, %t change in tokens, %T the context's tokens, %s preview, %d time
/// (UTC), %i number among the visible messages at the first commit of the range, %c the call that a
/// result answers, %a author; %n a new line, %x00 a byte, %% a percent sign. %j before a letter gives the
/// field as a JSON string, as in {"hash": %jH, "text": %js}. A field that a commit does not have is empty.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract log                    the newest 20
  tract log -5                 the newest five
  tract log -n 0 | less        all
  tract log main~50..main      the newest 50 of main
  tract log --op compact       only compactions
  tract log -p -3              the newest three, with their texts
  tract log --tool bash -n 0   the input and output of bash
  tract log --prompts --since 2d --reverse
                               what the user asked in the last two days, oldest first
  tract log --running          agents and shells in the background without an end
  tract log --grep 'parse_conf(' main
  tract log --author mara -n 0 what Mara committed
  tract log --file src/parse.rs
                               each edit of a file, what it was for, and why
  tract log --files            which files were edited, with lines that came and went
  tract log --graph            with what was merged, and where branches parted
  tract log --graph main idea  of several branches
  tract log --requests -n 0    every request that the client sent
  tract log --format '%h %r %t %s' -n 0")]
pub struct Args {
    #[command(flatten)]
    deed: LogParams,
    /// What stands behind REV: -N; with --graph further revisions
    #[arg(hide = true, value_name = "REV", allow_negative_numbers = true)]
    behind: Vec<String>,
    /// One line for each commit (the default)
    #[arg(long, conflicts_with_all = ["verbose", "file", "files", "requests"])]
    oneline: bool,
    /// Two or three lines for each: full hash, parts, settings, note
    #[arg(short, long, overrides_with = "verbose", conflicts_with_all = ["file", "files", "requests"])]
    verbose: bool,
    /// As --verbose, with the text of each
    #[arg(short = 'p', long, conflicts_with_all = ["oneline", "file", "files", "requests"])]
    patch: bool,
    /// One record for each commit, by a template such as '%h %r %t %s'
    #[arg(long, value_name = "TEMPLATE", conflicts_with_all = ["oneline", "verbose", "patch", "file", "files", "requests"])]
    format: Option<String>,
    /// Along both parents of merges, with lines for where branches parted and met; of all REV
    #[arg(long, conflicts_with_all = [
        "verbose", "patch", "op", "role", "prompts", "tool", "grep", "since", "until", "author", "running",
        "reverse", "format", "requests", "file", "files",
    ])]
    graph: bool,
    /// End each record with a NUL byte instead of a new line
    #[arg(short = 'z', requires = "format")]
    zero: bool,
}

/// How many texts are read at once.
const TEXTS: usize = 64;
/// What stands before what is said of a commit, line by line.
const INDENT: &str = "    ";

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let template = args.format.as_deref().map(Template::parse).transpose()?;
    let (repo, on) = (app.repo()?, app.on()?);
    let head = repo.head(&on)?;
    let (deed, others) = asked(args)?;
    let mut at = At::new(&repo, on.clone(), app);
    if !deed.is_of_commits() {
        let answer = deed.clone().call(&mut at)?;
        drop(at);
        return match (&deed.file, deed.files) {
            (Some(_), _) => file_edits::list(&answer, app),
            (None, true) => file_edits::sum_up(&answer, app),
            (None, false) => sent::list(&answer, app),
        };
    }
    let (tip, options) = deed.commits(&at)?;
    let mut tips = vec![tip];
    for rev in &others {
        tips.push(at.resolve(Some(rev))?);
    }
    drop(at);
    let options = LogOptions {
        parts: args.verbose || args.patch,
        ..options
    };
    // What is turned around or drawn with lines is known whole before it is shown.
    let pages: Pages<'_> = if args.graph {
        Box::new(iter::once(repo.log_graph(&tips, &options)))
    } else if deed.reverse {
        Box::new(iter::once(repo.log(&tip, &options)))
    } else {
        Box::new(repo.log_pages(&tip, &options))
    };
    let drawing = Drawing {
        args,
        head: &head,
        template,
        repo: &repo,
    };
    let (listed, before) = drawing.draw(pages, app)?;
    if deed.running && listed > 0 {
        say_if_stale(&repo.running(&tip)?, app);
    }
    if listed == 0 {
        repo.check_names_of_log(&on, &tip, &options)?;
        if searches(&deed) {
            app.ui.status("No such commits");
            let is_of_some_time = options.since.is_some() || options.up_to.is_some();
            if is_of_some_time && repo.show(&tip, options.encoding)?.row.commit.time.is_none() {
                app.ui
                    .notice("left out: commits without a time, as those of recorded streams");
            }
            return Err(Failure::Quiet(Exit::NotAllowed));
        }
        app.ui.status(match deed.running {
            true => "Nothing without an end in the record",
            false => "No commits in this range",
        });
    }
    let merged = match args.graph {
        true => 0,
        false => repo.count_merged_prompts(&tip, &options)?,
    };
    if merged > 0 {
        let prompts = plural(merged as u64, "prompt");
        let verb = if merged == 1 { "is" } else { "are" };
        app.ui.notice(format!(
            "{prompts} of merged branches {verb} not listed; tract log --graph lists all"
        ));
    }
    // A list that nobody limited is not the whole: a program could not tell either.
    if deed.limit.is_none() && options.leaves_out(listed, before) {
        app.ui.hint("older ones: -n 0 lists all");
    }
    Ok(())
}

/// Of a session that has been silent for long nothing tells what still runs.
fn say_if_stale(open: &[RunningWork], app: &mut App) {
    let now = app.now();
    let mut stale = open.iter().filter(|work| work.is_stale(now));
    if let Some(last) = stale.find_map(|work| work.last_record) {
        let last = app.calendar().aged(last);
        app.ui.notice(format!(
            "no end in the record (last message {last}); whether they still run is not known"
        ));
    }
}

/// Whether only some commits of the path are asked for.
fn searches(deed: &LogParams) -> bool {
    // That nothing runs is an answer.
    let mut filters = deed.filters().into_iter();
    filters.any(|(name, is_given)| is_given && name != "running")
        || deed.since.is_some()
        || deed.until.is_some()
}

/// Rows to list, some at a time.
type Pages<'a> = Box<dyn Iterator<Item = tract::Result<Vec<LogRow>>> + 'a>;

/// How rows are shown.
struct Drawing<'a> {
    args: &'a Args,
    head: &'a Head,
    template: Option<Template>,
    repo: &'a Repo,
}

impl Drawing<'_> {
    /// Shows the rows page by page. Gives how many there were, and what comes before the oldest.
    fn draw(&self, pages: Pages<'_>, app: &mut App) -> Result<(usize, Option<CommitHash>)> {
        let args = self.args;
        let listing = Listing {
            head: self.head,
            calendar: app.calendar(),
            width_cols: app.ui.width_cols(),
            running: true,
            heading: app.ui.is_terminal(),
            indent: 0,
        };
        let verbose = Verbose {
            head: self.head,
            calendar: &listing.calendar,
            texts: args.patch.then_some(self.repo),
        };
        let mut drawn = Drawn::default();
        let (mut listed, mut before) = (0, None);
        for rows in pages {
            let mut rows = rows?;
            before = rows.last().and_then(|oldest| oldest.commit.parent);
            if args.deed.reverse {
                rows.reverse();
            }
            if let Some(template) = &self.template {
                let end = if args.zero { '\0' } else { '\n' };
                for row in &rows {
                    write!(app.ui.out(), "{}{end}", template.fill(row))?;
                }
            } else if args.verbose || args.patch {
                verbose.rows(&rows, listed > 0, &mut app.ui)?;
            } else if args.graph {
                graph(self.head, &rows, app)?;
            } else {
                app.ui.print_all(listing.page(&rows, &mut drawn))?;
            }
            listed += rows.len();
        }
        Ok((listed, before))
    }
}

/// The rows behind lines that say where branches parted and met.
fn graph(head: &Head, rows: &[LogRow], app: &mut App) -> Result<()> {
    let beside = graph::beside(rows);
    let room = beside.iter().map(|one| one.own.len()).max().unwrap_or(0) + 2;
    let width_cols = app.ui.width_cols();
    let listing = Listing {
        head,
        calendar: app.calendar(),
        width_cols: width_cols.map(|width| width.saturating_sub(room)),
        running: true,
        heading: false,
        indent: 0,
    };
    for (line, beside) in listing.lines(rows).into_iter().zip(beside) {
        app.ui
            .print_all(beside.before.into_iter().map(|it| Label::Dim.of(it)))?;
        app.ui.print(Label::Dim.of(beside.own).left(room) + line)?;
        app.ui
            .print_all(beside.behind.into_iter().map(|it| Label::Dim.of(it)))?;
    }
    Ok(())
}

/// The request, in which `-5` is `-n 5`.
fn asked(args: &Args) -> Result<(LogParams, Vec<String>)> {
    let (mut deed, mut others) = (args.deed.clone(), Vec::new());
    let first = deed.rev.take();
    for word in first.into_iter().chain(args.behind.iter().cloned()) {
        let most = word.strip_prefix('-').and_then(|it| it.parse().ok());
        match (most, deed.limit, deed.rev.take()) {
            (Some(_), None, rev) => (deed.limit, deed.rev) = (most, rev),
            (Some(_), Some(_), _) => {
                let failure = Failure::usage("how many? two limits are given");
                return Err(failure.with_hint("-5 is short for -n 5"));
            }
            (None, _, None) => deed.rev = Some(word),
            (None, _, Some(a)) if args.graph => {
                deed.rev = Some(a);
                others.push(word);
            }
            (None, _, Some(a)) => {
                let what = format!("log starts at one revision, and '{a}' and '{word}' are two");
                let hint = format!("what leads from one to the other: tract log {a}..{word}");
                return Err(Failure::usage(what).with_hint(hint));
            }
        }
    }
    Ok((deed, others))
}

/// Commits in two or three lines each.
struct Verbose<'a> {
    head: &'a Head,
    calendar: &'a Calendar,
    /// Where their texts are, if these are asked for.
    texts: Option<&'a Repo>,
}

impl Verbose<'_> {
    /// `goes_on`: there are others above them.
    fn rows(&self, rows: &[LogRow], goes_on: bool, ui: &mut Ui) -> Result<()> {
        for (index, some) in rows.chunks(TEXTS).enumerate() {
            let says = |row: &LogRow| match row.commit.operation {
                Operation::Annotate { .. } => None,
                _ => row.content,
            };
            let mut texts = match self.texts {
                Some(repo) => {
                    let contents: Vec<ContentHash> = some.iter().filter_map(says).collect();
                    repo.contents(&contents)?.into_iter()
                }
                None => Vec::new().into_iter(),
            };
            for (place, row) in some.iter().enumerate() {
                if goes_on || index + place > 0 {
                    ui.print("")?;
                }
                let text = says(row).and_then(|_| texts.next());
                self.row(row, text.is_some(), ui)?;
                for part in text.iter().flat_map(|message| &message.parts) {
                    ui.print("")?;
                    ui.print_all(Chat::new(OUTPUT_LINES, ui.width_cols()).part(part))?;
                }
            }
        }
        Ok(())
    }

    /// A commit; with its preview, unless its text follows.
    fn row(&self, row: &LogRow, has_text: bool, ui: &mut Ui) -> Result<()> {
        let (head, calendar, width) = (self.head, self.calendar, ui.width_cols());
        let operation = &row.commit.operation;
        let hash = row.hash.to_string();
        // The full hash leaves a narrow terminal little room.
        let number = row
            .number
            .map_or(String::new(), |number| format!("  :{number}"));
        let marks = listing::marks(&row.refs, head, width, hash.len() + number.len());
        ui.print(Label::Hash.of(hash) + number + marks)?;
        let time = calendar.full(row.commit.time);
        let mut facts = vec![time.into(), listing::verb(&row.commit)];
        if let Some(role) = row.role {
            let (label, who) = Label::speaker(role, row.injected);
            facts.push(label.of(who));
        }
        if !row.parts.is_empty() && !matches!(operation, Operation::Annotate { .. }) {
            facts.push(part::types(&row.parts).into());
        }
        if row.messages != 0 && !matches!(operation, Operation::Append { .. }) {
            facts.push(format!("{} messages", listing::moved(row)).into());
        }
        let count = format!("{} = {} tokens", signed(row.delta), tokens(row.running));
        facts.push(count.into());
        ui.print_wrapped(Line::from(INDENT) + Line::join(facts, "  "))?;
        if let Some(origin) = row.commit.origin {
            ui.print(Line::from(INDENT) + "copy of " + Label::Hash.of(origin.short()))?;
        }
        let extra = listing::extras(row);
        if !extra.is_empty() {
            ui.print_wrapped(Line::from(INDENT) + extra)?;
        }
        if !has_text {
            let room = width.map(|width| width.saturating_sub(INDENT.len()));
            let said = listing::said(row, room);
            if !said.is_empty() {
                ui.print(Line::from(INDENT) + said)?;
            }
        }
        Ok(())
    }
}
