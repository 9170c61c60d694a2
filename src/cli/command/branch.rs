//! `tract branch`: lists, starts, renames and deletes branches.

use std::io::Write;

use tract::history::{BranchRow, On};
use tract::model::{Millis, RefName};
use tract::render::escape;

use crate::cli::app::App;
use crate::cli::columns;
use crate::cli::failure::Failure;
use crate::cli::number::{plural, tokens};
use crate::cli::position::{self, place, typed};
use crate::cli::table::{self, Cell};
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
    let (repo, on) = (app.repo()?, app.on()?);
    if args.rename {
        let (old, new) = match &args.rev {
            Some(new) => (name.clone(), new),
            None => (current(app)?, name),
        };
        let what = format!("branch -m {old} {new}");
        let (from, to) = (RefName::branch(&old)?, RefName::branch(new)?);
        repo.rename_branch(app.call(&on, &what), &from, &to)?;
        let new = app.ui.paint_err(Label::Branch, new);
        app.ui.status(&format!("{old} is now called {new}"));
        return Ok(());
    }
    let branch = RefName::branch(name)?;
    if args.delete {
        return position::delete(&repo, "branch", &branch, args.rev.as_deref(), app);
    }
    let rev = args.rev.as_deref().unwrap_or("HEAD");
    let what = format!("branch {name} {}", typed(rev));
    let made = repo.create_branch(app.call(&on, &what), &branch, rev)?;
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
    let cells: Vec<Vec<Cell>> = rows.iter().map(|row| cells(row, now, app)).collect();
    let (lines, width) = table::lines(&cells, &[SIZE], &app.ui);
    for (row, line) in rows.iter().zip(lines) {
        let tail = about(row);
        let tail = match app.ui.width_cols() {
            Some(room) => columns::cut(&tail, room.saturating_sub(width + 2)),
            None => tail,
        };
        writeln!(app.ui.out(), "{}", format!("{line}  {tail}").trim_end())?;
    }
    Ok(())
}

/// The column of the tokens.
const SIZE: usize = 3;

/// Name, hash, last activity, tokens.
fn cells(row: &BranchRow, now: Millis, app: &App) -> Vec<Cell> {
    let (mark, label) = match row.is_head {
        true => ("* ", Label::Head),
        false => ("  ", Label::Branch),
    };
    let name = format!("{mark}{}", row.name.short());
    let name = match app.ui.width_cols() {
        Some(room) => columns::cut(&name, room / 2),
        None => name,
    };
    vec![
        (label, name),
        (Label::Hash, row.tip.short()),
        (Label::Time, when::listed(row.last, now, &app.ui)),
        (Label::Tokens, format!("{} tokens", tokens(row.tokens))),
    ]
}

/// Tool, active compactions and title, safe to print.
fn about(row: &BranchRow) -> String {
    let compactions = match row.compactions {
        0 => String::new(),
        count => plural(u64::from(count), "compaction"),
    };
    let title = row.title.as_deref().unwrap_or_default();
    let words = [row.tool.clone().unwrap_or_default(), compactions];
    let mut words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.push(escape::line(title).into_owned());
    words.join("  ").trim_end().to_owned()
}
