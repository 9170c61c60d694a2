//! `tract branch`: lists, starts, renames and deletes branches.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use tract::deeds::{At, BranchParams, Branched, Deed, Still};
use tract::formats::Format;
use tract::ingest;
use tract::model::{Head, RefName, call};
use tract::render::{Calendar, Label, Line, columns, plural, table, tokens};
use tract::repo::{BranchRow, CopyOf, On, Repo};

use crate::cli::drawing::listing;
use crate::cli::drawing::position::{self, place};
use crate::cli::{App, Result};

/// How little room a name gets.
const LEAST_NAME_COLS: usize = 24;
/// Which column says what a branch is about.
const ABOUT: usize = 4;

/// List, start, rename or delete branches
///
/// Without a name, it lists every branch, the one with the newest commit first, with title, tool, last
/// activity, tokens and active compactions. It also says where a session ran, if sessions ran in
/// several directories, and whether a session's file has been deleted. With a name, it starts a branch
/// at REV; HEAD stays (tract checkout -b switches to it too).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract branch                 what there is
  tract branch -n 20           the twenty that were last worked on
  tract branch --here          those of sessions that ran in this directory or below it
  tract branch --gone          those of sessions whose files their tool has deleted since
  tract branch -v              with how far each is ahead of origin's, and behind it
  tract branch --remotes       where the refs of other repositories were last seen
  tract branch before :12      a name for where the 12th message was the last
  tract branch -m before idea  another name
  tract branch -d idea more    their commits stay: tract undo brings both back")]
pub struct Args {
    #[command(flatten)]
    deed: Option<BranchParams>,
    /// List only sessions that ran in this directory or below it
    #[arg(long, conflicts_with = "name")]
    here: bool,
    /// List at most N, the newest; 0, as without it: all
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "name")]
    limit: Option<usize>,
    /// List only this tool's sessions
    #[arg(long, value_name = "TOOL", value_parser = Format::named, conflicts_with = "name")]
    tool: Option<&'static Format>,
    /// List only sessions whose files are gone
    #[arg(long, conflicts_with = "name")]
    gone: bool,
    /// Also list where the refs of other repositories were last seen
    #[arg(short, long, conflicts_with_all = ["name", "remotes"])]
    all: bool,
    /// List where the refs of other repositories were last seen
    #[arg(short, long, conflicts_with_all = ["name", "here", "tool", "gone"])]
    remotes: bool,
    /// Also say how far each is ahead of the other side's branch, and behind it
    #[arg(short, long, overrides_with = "verbose", conflicts_with_all = ["name", "remotes"])]
    verbose: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    if args.remotes {
        return list_seen(args, app);
    }
    let Some(deed) = &args.deed else {
        list(args, app)?;
        if args.all && !app.repo()?.references(RefName::REMOTES)?.is_empty() {
            app.ui.print("")?;
            return list_seen(args, app);
        }
        return Ok(());
    };
    let (repo, on) = (app.repo()?, app.on()?);
    let (at, what) = (At::new(&repo, on.clone(), &Still), deed.line());
    match deed.carry_out(&at, app.call(&on, &what))? {
        Branched::Deleted(deleted) => {
            position::deleted(&repo, "branch", &deleted, app)?;
        }
        Branched::Renamed(old, new) => {
            let line = Line::from(format!("{} is now called ", old.short()));
            app.ui.status(line + Label::Branch.of(new.short()));
        }
        Branched::Made(made) => {
            let at = place(&repo, &made.commit)?;
            app.ui
                .status(Label::Branch.of(&deed.name) + " begins at " + at);
            position::open_call(made.open.as_ref(), "tract branch NAME", app);
            position::shared_name(&repo, &deed.name, app)?;
        }
    }
    Ok(())
}

fn list(args: &Args, app: &mut App) -> Result<()> {
    let repo = app.repo()?;
    let most = most(args);
    let filter = Filter::of(args, app)?;
    // Those that a filter leaves out do not count: then as many are looked at as it takes.
    let at_once = if filter.is_none() { most } else { usize::MAX };
    let mut pages = repo.branch_pages(None, at_once, app.encoding(&repo)?)?;
    let (mut is_any, mut left, mut listing) = (false, most, Listed::default());
    while left > 0
        && let Some(rows) = pages.next()
    {
        let mut rows = rows?;
        is_any = true;
        let sessions: Vec<RefName> = rows.iter().filter_map(|row| row.session.clone()).collect();
        let gone = ingest::gone_sessions(&repo, &sessions)?;
        listing.saw(&rows);
        if let Some(filter) = &filter {
            rows.retain(|row| filter.takes(row, &gone));
        }
        let are_older = rows.len() > left || filter.is_none() && pages.has_more();
        rows.truncate(left);
        left -= rows.len();
        listing.page(&rows, &gone, args.verbose, &repo, app)?;
        if left == 0 && are_older {
            app.ui.hint("older ones: -n 0 lists all");
        } else if left == 0 && pages.has_more() {
            app.ui.hint("there may be older ones: -n 0 looks at all");
        }
    }
    if !is_any {
        app.ui.status("No branch has a commit yet");
        if let Head::Attached { branch, .. } = repo.head(&On::Head)? {
            app.ui.hint(format!(
                "the first commit makes '{}': tract import, or tract commit -r user -m \"…\"",
                branch.short()
            ));
        }
    } else if left == most {
        app.ui.status("No branch belongs to such a session");
    }
    Ok(())
}

/// Which branches are asked for.
struct Filter {
    below: Option<PathBuf>,
    tool: Option<&'static Format>,
    gone: bool,
}

impl Filter {
    fn of(args: &Args, app: &App) -> Result<Option<Self>> {
        let below = args.here.then(|| app.cwd()).transpose()?;
        let (tool, gone) = (args.tool, args.gone);
        let is_any = below.is_some() || tool.is_some() || gone;
        Ok(is_any.then_some(Self { below, tool, gone }))
    }

    fn takes(&self, row: &BranchRow, gone: &BTreeSet<RefName>) -> bool {
        let cwd = row.cwd.as_deref();
        // By a link it may be called otherwise.
        let leads = |cwd: &str| std::fs::canonicalize(cwd).ok();
        let is_below = |below: &PathBuf| {
            let is_below = |cwd: &str| call::is_below(cwd, below);
            let leads = |cwd| leads(cwd).is_some_and(|it| is_below(&it.to_string_lossy()));
            cwd.is_some_and(|cwd| is_below(cwd) || leads(cwd))
        };
        self.below.as_ref().is_none_or(is_below)
            && self.tool.is_none_or(|tool| tool_of(row) == Some(tool.name))
            && (!self.gone || is_gone(row, gone))
    }
}

/// Whether the file of the session that a branch came from is one of those that are gone.
fn is_gone(row: &BranchRow, gone: &BTreeSet<RefName>) -> bool {
    row.session.as_ref().is_some_and(|it| gone.contains(it))
}

/// What of the list stands there already, which comes page by page.
#[derive(Default)]
struct Listed {
    columns: table::Columns,
    /// The directories that sessions ran in.
    directories: BTreeSet<String>,
    /// Names as they are cut, with the first that was cut so.
    cut: HashMap<String, String>,
    is_begun: bool,
}

impl Listed {
    /// Takes note of where these ran, those that are left out, too.
    fn saw(&mut self, rows: &[BranchRow]) {
        let directories = rows.iter().filter_map(|row| row.cwd.clone());
        self.directories.extend(directories);
    }

    fn page(
        &mut self,
        rows: &[BranchRow],
        gone: &BTreeSet<RefName>,
        is_verbose: bool,
        repo: &Repo,
        app: &mut App,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let room = app.ui.width_cols();
        let names = self.names(rows, room);
        let calendar = app.calendar();
        let mut cells: Vec<Vec<Line>> = Vec::new();
        for (row, name) in rows.iter().zip(names) {
            let about = About {
                tells_directory: self.directories.len() > 1,
                is_gone: is_gone(row, gone),
                is_cut: room.is_some(),
            };
            let mut cells_of = self::cells(row, &name, &calendar, &about);
            if is_verbose {
                let upstream = repo.upstream(&row.name)?;
                let told = upstream.map(|it| Line::from(format!("[{}]", listing::apart(&it))));
                cells_of.insert(ABOUT, told.unwrap_or_default());
            }
            cells.push(cells_of);
        }
        if room.is_some() && !self.is_begun {
            let mut heads = vec!["  BRANCH", "COMMIT", "LAST", "TOKENS", "ABOUT"];
            if is_verbose {
                heads.insert(ABOUT, "REMOTE");
            }
            cells.insert(
                0,
                heads.into_iter().map(|head| Label::Dim.of(head)).collect(),
            );
        }
        self.is_begun = true;
        Ok(app.ui.print_all(self.columns.list(cells, &[3], room))?)
    }

    /// The branches' names as there is room for them: cut in the middle, but for those that would be
    /// alike then.
    fn names(&mut self, rows: &[BranchRow], room: Option<usize>) -> Vec<String> {
        let whole = rows.iter().map(|row| row.name.short().to_owned());
        let whole: Vec<String> = whole.collect();
        let Some(room) = room else { return whole };
        let most = (room / 3).max(LEAST_NAME_COLS);
        let cut: Vec<String> = whole
            .iter()
            .map(|name| columns::cut_inside(name, most))
            .collect();
        let mut alike: HashSet<&String> = HashSet::new();
        for (whole, cut) in whole.iter().zip(&cut) {
            if self.cut.entry(cut.clone()).or_insert_with(|| whole.clone()) != whole {
                alike.insert(cut);
            }
        }
        let told = whole.iter().zip(&cut);
        told.map(|(whole, cut)| {
            if alike.contains(cut) {
                whole.clone()
            } else {
                cut.clone()
            }
        })
        .collect()
    }
}

/// Where the refs of other repositories were last seen.
fn list_seen(args: &Args, app: &mut App) -> Result<()> {
    let repo = app.repo()?;
    let most = most(args);
    let room = app.ui.width_cols();
    let mut cells: Vec<Vec<Line>> = Vec::new();
    let mut seen = repo.seen()?;
    let left_out = seen.len().saturating_sub(most) as u64;
    seen.truncate(most);
    for row in seen {
        // A session's name says which tool it is of.
        let title = row.session.and_then(|(_, known)| known.title);
        let about = match title {
            Some(title) => listing::titled(None, Some(&title)),
            None => repo.preview(&row.commit)?,
        };
        cells.push(vec![
            Label::Branch.of(row.name.short()),
            Label::Hash.of(row.commit.short()),
            about.into(),
        ]);
    }
    if cells.is_empty() {
        app.ui.status("Nothing has been fetched yet");
        app.ui.hint("tract remote add origin URL, and tract fetch");
    }
    app.ui.print_all(table::list(cells, &[], room))?;
    if left_out > 0 {
        let more = plural(left_out, "more ref");
        app.ui.hint(format!("{more}: tract branch --remotes -n 0"));
    }
    Ok(())
}

/// How many a list has at most.
fn most(args: &Args) -> usize {
    let limit = args.limit.filter(|limit| *limit > 0);
    limit.unwrap_or(usize::MAX)
}

/// Name, hash, last activity, tokens, and what it is about.
fn cells(row: &BranchRow, name: &str, calendar: &Calendar, about: &About) -> Vec<Line> {
    let (mark, label) = if row.is_head {
        ("* ", Label::Head)
    } else {
        ("  ", Label::Branch)
    };
    let tokens = if about.is_cut {
        tokens(row.tokens)
    } else {
        format!("{} tokens", tokens(row.tokens))
    };
    vec![
        label.of(format!("{mark}{name}")),
        Label::Hash.of(row.tip.short()),
        Label::Time.of(calendar.listed(row.last)),
        Label::Tokens.of(tokens),
        about.of(row).into(),
    ]
}

/// The tool of the session that a branch came from.
fn tool_of(row: &BranchRow) -> Option<&str> {
    Some(row.session.as_ref()?.as_session()?.0)
}

/// `resumed from 9e2434f3`.
fn copied(of: &CopyOf) -> String {
    let how = if of.is_resumed { "resumed" } else { "forked" };
    let id = of.session.as_session().map_or("", |(_, id)| id);
    format!("{how} from {}", listing::shortened(id, &[]))
}

/// What is said of a branch besides its name and size.
struct About {
    /// Sessions of other directories are listed as well.
    tells_directory: bool,
    /// Its session's file is gone.
    is_gone: bool,
    /// The line may be cut, and stands under a heading.
    is_cut: bool,
}

impl About {
    /// Tool, unless the name says it, active compactions, and title or first prompt, with the directory; that comes
    /// first where the line may be cut.
    fn of(&self, row: &BranchRow) -> String {
        let compactions = match row.compactions {
            0 => String::new(),
            count => plural(u64::from(count), "compaction"),
        };
        let tool = tool_of(row).unwrap_or_default();
        let is_said = row.name.short().starts_with(tool);
        let cwd = row.cwd.as_deref().filter(|_| self.tells_directory);
        let title = listing::titled(cwd, Some(row.called()));
        let copy = row.copy_of.as_ref().map(copied).unwrap_or_default();
        let tool = if is_said { "" } else { tool };
        let mut words = vec![tool, &compactions, &title, &copy];
        if self.is_cut {
            words.reverse();
        }
        if self.is_gone {
            words.insert(0, "file gone");
        }
        words.retain(|word| !word.is_empty());
        words.join("  ")
    }
}
