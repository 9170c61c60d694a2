//! `tract tag`: names that stay where they are.

use tract::deeds::{At, Deed, Still, TagParams};
use tract::render::{Label, table};
use tract::repo::TagRow;

use crate::cli::drawing::position::{self, place};
use crate::cli::{App, Result};

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
    #[command(flatten)]
    deed: Option<TagParams>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let Some(deed) = &args.deed else {
        return list(app);
    };
    let (repo, on) = (app.repo()?, app.on()?);
    let (at, what) = (At::new(&repo, on.clone(), &Still), deed.line());
    let (tag, commit) = deed.carry_out(&at, app.call(&on, &what))?;
    if deed.delete {
        return position::deleted(&repo, "tag", &[(tag, commit)], app);
    }
    app.ui
        .status(Label::Branch.of(tag.short()) + " is " + place(&repo, &commit)?);
    position::shared_name(&repo, tag.short(), app)
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
