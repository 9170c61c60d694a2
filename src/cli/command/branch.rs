//! `tract branch`: lists, starts, renames and deletes branches.

use std::io::Write;

use tract::history::{BranchRow, On};
use tract::model::RefName;
use tract::render::escape;

use crate::cli::app::App;
use crate::cli::columns;
use crate::cli::failure::Failure;
use crate::cli::number::{plural, tokens};
use crate::cli::position::{self, place, typed};
use crate::cli::ui::Label;
use crate::cli::when;

/// List, start, rename or delete branches
///
/// Alone: every branch, the one with the newest commit first, with title, tool, last activity,
/// tokens and active compactions. With a name: a new branch at REV, HEAD stays (tract checkout -b
/// goes there too).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract branch                 what there is
  tract branch before :12      a name for where the 12th message was the last
  tract branch -m before idea  another name
  tract branch -d idea         its commits stay: tract undo brings it back")]
pub struct Args {
    /// Delete the branch NAME
    #[arg(short, long, requires = "name", conflicts_with = "rename")]
    delete: bool,
    /// Rename the branch NAME to REV, or the one that HEAD is on to NAME
    #[arg(short = 'm', long, requires = "name")]
    rename: bool,
    /// The branch
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Where the branch starts, instead of HEAD
    #[arg(value_name = "REV")]
    rev: Option<String>,
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let Some(name) = &args.name else {
        return list(app);
    };
    let (repo, on, now) = (app.repo()?, app.on()?, app.now());
    if args.rename {
        let (old, new) = match &args.rev {
            Some(new) => (name.clone(), new),
            None => (current(app)?, name),
        };
        let what = format!("branch -m {old} {new}");
        let (from, to) = (RefName::branch(&old)?, RefName::branch(new)?);
        repo.rename_branch(&from, &to, now, &what)?;
        let new = app.ui.paint_err(Label::Branch, new);
        app.ui.status(&format!("{old} is now called {new}"));
        return Ok(());
    }
    let branch = RefName::branch(name)?;
    if args.delete {
        if let Some(rev) = &args.rev {
            return Err(Failure::usage(format!(
                "-d takes one name, not '{rev}' too"
            )));
        }
        let tip = repo.delete_reference(&branch, now, &format!("branch -d {name}"))?;
        let tip_shown = place(&repo, &tip, app)?;
        app.ui
            .status(&format!("Deleted {name}, which was at {tip_shown}"));
        app.ui.hint(&format!(
            "back: tract undo, or tract branch {name} {}",
            tip.short()
        ));
        return Ok(());
    }
    let rev = args.rev.as_deref().unwrap_or("HEAD");
    let what = format!("branch {name} {}", typed(rev));
    let made = repo.create_branch(&on, &branch, rev, now, &what)?;
    let name = app.ui.paint_err(Label::Branch, name);
    let at = place(&repo, &made.commit, app)?;
    app.ui.status(&format!("{name} begins at {at}"));
    position::open_call(made.open.as_ref(), "tract branch NAME", app);
    Ok(())
}

/// The branch that a rename without an old name means.
fn current(app: &App) -> Result<String, Failure> {
    match app.repo()?.head(&app.on()?)? {
        tract::model::Head::Attached { branch, .. } => Ok(branch.short().to_owned()),
        tract::model::Head::Detached(_) => {
            Err(Failure::refused("HEAD is on no branch").with_hint("tract branch -m OLD NEW"))
        }
    }
}

fn list(app: &mut App) -> Result<(), Failure> {
    let repo = app.repo()?;
    let rows = repo.branches(app.encoding(&repo)?)?;
    if rows.is_empty() {
        app.ui.status("No branch has a commit yet");
        if let tract::model::Head::Attached { branch, .. } = repo.head(&On::Head)? {
            app.ui.hint(&format!(
                "the first commit makes '{}': tract import, or tract commit -r user -m \"…\"",
                branch.short()
            ));
        }
        return Ok(());
    }
    let now = app.now();
    let cells: Vec<[String; 6]> = rows.iter().map(|row| cells(row, now, app)).collect();
    let width = |column: usize| {
        let widths = cells.iter().map(|row| columns::width_cols(&row[column]));
        widths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..5).map(width).collect();
    let room = app.ui.width_cols();
    for (row, [name, hash, time, size, tool, title]) in rows.iter().zip(&cells) {
        let mark = if row.is_head { "* " } else { "  " };
        let label = if row.is_head {
            Label::Head
        } else {
            Label::Branch
        };
        let mut line = format!(
            "{mark}{}  {}  {}  {}",
            app.ui.paint(label, &columns::left(name, widths[0])),
            app.ui.paint(Label::Hash, hash),
            app.ui.paint(Label::Time, &columns::left(time, widths[2])),
            columns::right(size, widths[3]),
        );
        let used = 2 + widths[0] + 2 + widths[1] + 2 + widths[2] + 2 + widths[3];
        if widths[4] > 0 {
            line += "  ";
            line += &app
                .ui
                .paint(Label::Session, &columns::left(tool, widths[4]));
        }
        let used = used + 2 + widths[4] + 2;
        let title = match room {
            Some(room) => columns::cut(title, room.saturating_sub(used)),
            None => title.clone(),
        };
        if !title.is_empty() {
            line += "  ";
            line += &title;
        }
        writeln!(app.ui.out(), "{}", line.trim_end())?;
    }
    Ok(())
}

/// Name, hash, last activity, size, tool, title.
fn cells(row: &BranchRow, now: tract::model::Millis, app: &App) -> [String; 6] {
    let time = match row.last {
        None => "-".to_owned(),
        Some(time) if app.ui.is_terminal() => when::ago(time, now),
        Some(time) => when::absolute(time),
    };
    let compactions = match row.compactions {
        0 => String::new(),
        count => format!(", {}", plural(u64::from(count), "compaction")),
    };
    let title = row.title.as_deref().unwrap_or_default();
    [
        row.name.short().to_owned(),
        row.tip.short(),
        time,
        format!("{} tokens", tokens(row.tokens)),
        row.tool.clone().unwrap_or_default(),
        format!("{}{compactions}", escape::line(title))
            .trim_start_matches(", ")
            .to_owned(),
    ]
}
