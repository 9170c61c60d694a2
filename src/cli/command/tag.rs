//! `tract tag`: names that stay where they are.

use std::io::Write;

use tract::model::RefName;
use tract::render::escape;

use crate::cli::app::App;
use crate::cli::columns;
use crate::cli::failure::Failure;
use crate::cli::position::{self, place, typed};
use crate::cli::ui::Label;
use crate::cli::when;

/// List, make or delete tags
///
/// A tag is a name for one commit that no command moves. With -m it is an annotated one: it
/// keeps the note and the time.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract tag                              what there is
  tract tag v1                           here
  tract tag before-refactor :12 -m \"all tests pass\"
  tract tag -d v1")]
pub struct Args {
    /// Delete the tag NAME
    #[arg(short, long, requires = "name", conflicts_with = "note")]
    delete: bool,
    /// What to remember with it, for people
    #[arg(short = 'm', long = "message", value_name = "TEXT", requires = "name")]
    note: Option<String>,
    /// The tag
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// What to tag, instead of HEAD
    #[arg(value_name = "REV")]
    rev: Option<String>,
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let Some(name) = &args.name else {
        return list(app);
    };
    let (repo, on) = (app.repo()?, app.on()?);
    let tag = RefName::tag(name)?;
    if args.delete {
        return position::delete(&repo, "tag", &tag, args.rev.as_deref(), app);
    }
    let rev = args.rev.as_deref().unwrap_or("HEAD");
    let note = args.note.as_deref();
    let what = format!("tag {name} {}{}", typed(rev), note.map_or("", |_| " -m …"));
    let commit = repo.create_tag(app.call(&on, &what), &tag, rev, note)?;
    let at = place(&repo, &commit, app)?;
    let name = app.ui.paint_err(Label::Branch, name);
    app.ui.status(&format!("{name} is {at}"));
    Ok(())
}

fn list(app: &mut App) -> Result<(), Failure> {
    let repo = app.repo()?;
    let rows = repo.tags()?;
    if rows.is_empty() {
        app.ui.status("No tags");
    }
    let widths = rows.iter().map(|row| columns::width_cols(row.name.short()));
    let width = widths.max().unwrap_or(0);
    for row in &rows {
        let name = columns::left(row.name.short(), width);
        let mut line = format!(
            "{}  {}",
            app.ui.paint(Label::Branch, &name),
            app.ui.paint(Label::Hash, &row.commit.short())
        );
        let mut used = width + 2 + row.commit.short().len();
        if let Some((note, time)) = &row.note {
            let time = when::absolute(*time);
            used += 2 + time.len() + 2;
            line += &format!("  {}", app.ui.paint(Label::Time, &time));
            let note = escape::line(note).into_owned();
            let note = match app.ui.width_cols() {
                Some(room) => columns::cut(&note, room.saturating_sub(used)),
                None => note,
            };
            line += &format!("  {note}");
        }
        writeln!(app.ui.out(), "{line}")?;
    }
    Ok(())
}
