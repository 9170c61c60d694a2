//! `tract tag`: names that stay where they are.

use tract::model::RefName;
use tract::render::{Label, table};
use tract::repo::TagRow;

use crate::cli::position::{self, place};
use crate::cli::{App, Result, Typed, typed};

/// List, make or delete tags
///
/// A tag names one commit, and no command moves it. With -m the tag also keeps a note and the time.
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
    /// A note to keep with the tag
    #[arg(short = 'm', long = "message", value_name = "TEXT", requires = "name")]
    note: Option<String>,
    /// The tag
    name: Option<String>,
    /// What to tag, instead of HEAD
    rev: Option<String>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
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
    let what = Typed::new("tag").word(name).word(typed::rev(rev));
    let what = what.text("-m", note.is_some()).line();
    let commit = repo.create_tag(app.call(&on, &what), &tag, rev, note)?;
    app.ui
        .status(Label::Branch.of(name) + " is " + place(&repo, &commit)?);
    Ok(())
}

fn list(app: &mut App) -> Result<()> {
    let repo = app.repo()?;
    let rows = repo.tags()?;
    if rows.is_empty() {
        app.ui.status("No tags");
    }
    let (calendar, room) = (app.calendar(), app.ui.width_cols());
    let cells = |row: &TagRow| {
        let (note, time) = match &row.note {
            Some((note, time)) => (note.as_str(), calendar.absolute(*time)),
            None => ("", String::new()),
        };
        vec![
            Label::Branch.of(row.name.short()),
            Label::Hash.of(row.commit.short()),
            Label::Time.of(time),
            note.into(),
        ]
    };
    let cells = rows.iter().map(cells).collect();
    Ok(app.ui.print_all(table::list(cells, &[], room))?)
}
