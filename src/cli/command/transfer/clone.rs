//! `tract clone`: another repository, as a new one here.

use std::fs;
use std::path::{Path, PathBuf};

use tract::model::RefName;
use tract::repo::{Call, Repo};
use tract::store::without_password;
use tract::sync::{FetchOptions, Fetched, Follow};

use crate::cli::peer::{self, arrival};
use crate::cli::{App, Failure, Result};

/// Copy a repository from somewhere else
///
/// Makes a repository in DIR; without DIR, it gets the name of the other one. The branch of its HEAD,
/// its tags and its sessions come in; its other branches are origin/NAME. The other repository is
/// called origin from then on, so that tract pull and tract push find it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract clone ssh://build.example/srv/talk
  tract clone me@laptop:work talk --sources && cd talk && tract resume
  tract clone s3://team-talks/parser          from a bucket
  tract clone /srv/talk --branch idea         HEAD on idea")]
pub struct Args {
    /// The other repository: a directory, ssh://HOST/PATH, HOST:PATH, or s3://BUCKET/PREFIX
    url: String,
    /// Where to make the new repository
    dir: Option<PathBuf>,
    /// Also get the session files that are kept there: an export writes them again as they were
    #[arg(long)]
    sources: bool,
    /// The branch that HEAD goes to, instead of the one where it is there
    #[arg(short, long, value_name = "NAME")]
    branch: Option<String>,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let url = peer::kept(&args.url, app)?;
    let dir = match &args.dir {
        Some(dir) => app.path(dir)?,
        None => PathBuf::from(name(&without_password(&url))?),
    };
    let is_new = !dir.exists();
    let (mut repo, is_made) = Repo::init_as(&dir, &app.visitor()?)?;
    app.sign_on(&mut repo)?;
    if !is_made {
        let failure = Failure::refused(format!(
            "there is a repository in {} already",
            dir.display()
        ));
        return Err(failure.with_hint("tract remote add NAME URL, and tract pull NAME, inside it"));
    }
    let done = brought(args, &url, &repo, app);
    let done = done.inspect_err(|_| take_away(&dir, is_new))?;
    let place = app.short_path(&dir);
    app.ui.status(format!("Made a repository in {place}"));
    peer::tell_of_password(&url, app);
    arrival::tell(&done, None, app);
    Ok(())
}

/// Brings what there is into a repository that was just made.
fn brought(args: &Args, url: &str, repo: &Repo, app: &mut App) -> Result<Fetched> {
    repo.add_remote("origin", url)?;
    let head = args.branch.as_deref().map(RefName::branch).transpose()?;
    let options = FetchOptions {
        remote: "origin",
        is_named: true,
        sources: args.sources,
        follow: Follow::Head,
        head: head.as_ref(),
        ..FetchOptions::default()
    };
    peer::with(url, repo, app, |there, app| {
        let call = Call::at(app.now(), "clone");
        let done = peer::shown(app, |told| repo.fetch(call, there, &options, told));
        Ok(done?)
    })
}

/// What the last piece of a URL is called.
fn name(url: &str) -> Result<String> {
    let path = url.trim_end_matches('/').trim_end_matches("/.tract");
    let name = path.rsplit(['/', ':']).next().unwrap_or_default();
    match name {
        "" | "." | ".." | "~" => {
            let failure = Failure::usage(format!(
                "'{url}' does not give a name for the new repository"
            ));
            Err(failure.with_hint("tract clone URL DIR"))
        }
        name => Ok(name.to_owned()),
    }
}

/// Leaves nothing behind of what could not be made whole.
fn take_away(dir: &Path, is_new: bool) {
    let _ = fs::remove_dir_all(dir.join(".tract"));
    if is_new {
        let _ = fs::remove_dir(dir);
    }
}
