//! `tract init`: makes a repository.

use std::path::{Path, PathBuf};

use tract::repo::Repo;

use crate::cli::{App, Result};

/// Make a repository here
///
/// Makes `.tract/` in DIR; without DIR, in the working directory. A repository that is there already
/// stays as it is. `tract init ~` keeps one repository for all of your sessions.
///
/// A tract built with `--features postgres` takes the address of a PostgreSQL server in place of a directory. So do
/// `--repo` and `TRACT_REPO`. psql's variables give the rest: PGHOST, PGUSER, PGDATABASE, PGPASSWORD,
/// PGSSLMODE and so on; so does `~/.pgpass`. Another host is reached by TLS, unless the address says
/// `?sslmode=disable`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract init                           a repository for this project
  tract init ~                         one for everything below your home
  tract init 'postgres://me@host/db'   one on a server, for several machines")]
pub struct Args {
    /// Where to make `.tract/`
    dir: Option<PathBuf>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let dir = match &args.dir {
        Some(dir) => app.path(dir)?,
        None => match app.named_repo()? {
            Some(dir) => dir,
            None => app.cwd()?,
        },
    };
    let (repo, created) = Repo::init_as(&dir, &app.visitor()?)?;
    let place = app.short_path(repo.place().unwrap_or(Path::new("memory")));
    let is_homes = repo.place().and_then(Path::parent) == app.env.home.as_deref();
    let ui = &mut app.ui;
    if created {
        ui.status(format!("Made an empty repository in {place}"));
        ui.hint(match is_homes {
            true => "tract import --all brings in all sessions of this machine",
            false => "tract import brings in a session; tract commit -r user -m \"…\" writes one",
        });
    } else {
        ui.status(format!(
            "There is a repository already in {place}; nothing changed"
        ));
    }
    Ok(())
}
