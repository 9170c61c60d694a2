//! `tract remote`: other repositories by name.

use tract::model::RefName;
use tract::render::{Label, Line};

use crate::cli::{App, Failure, Result, peer};

/// Name other repositories, to push to and pull from
///
/// Without a subcommand, it lists the remotes. A URL is a directory, ssh://HOST/PATH, HOST:PATH, or
/// s3://BUCKET/PREFIX. For ssh, tract must be installed on the other machine. For a bucket, set
/// AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Call the first remote
/// origin: push, pull and fetch use it where none is named.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract remote add origin ssh://build.example/srv/talk
  tract remote add laptop me@laptop:work
  tract remote add team s3://team-talks/parser
  tract remote -v
  tract remote set-url origin /mnt/share/talk
  tract remote rename laptop desk
  tract remote remove laptop")]
pub struct Args {
    /// Where each is fetched from and pushed to
    #[arg(short, long)]
    verbose: bool,
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    /// Add a remote
    Add {
        /// Its name here
        name: String,
        /// Where it is
        url: String,
    },
    /// Change the URL of a remote
    SetUrl {
        /// Its name here
        name: String,
        /// Where it is
        url: String,
    },
    /// Give a remote another name
    Rename {
        /// Its name here
        old: String,
        /// Its new name
        new: String,
    },
    /// Remove a remote, and forget where its refs were
    Remove {
        /// Its name here
        name: String,
    },
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let repo = app.repo()?;
    match &args.act {
        None => {
            let remotes = repo.remotes()?;
            if remotes.is_empty() {
                app.ui.status("No remotes yet");
                app.ui.hint("tract remote add origin URL");
            }
            let width = remotes.iter().map(|it| it.name.chars().count()).max();
            let width = width.unwrap_or(0);
            let ways: &[&str] = match args.verbose {
                true => &[" (fetch)", " (push)"],
                false => &[""],
            };
            let lines = remotes.iter().flat_map(|remote| {
                let line = move |way: &&str| {
                    let name = format!("{:<width$}", remote.name);
                    Label::Branch.of(name) + "  " + Line::from(remote.url.as_str()) + *way
                };
                ways.iter().map(line)
            });
            Ok(app.ui.print_all(lines)?)
        }
        Some(Act::Add { name, url }) => {
            repo.set_remote(name, &peer::kept(url, app)?, false)?;
            peer::tell_of_password(url, app);
            Ok(())
        }
        Some(Act::SetUrl { name, url }) => {
            known(&repo, name)?;
            repo.set_remote(name, &peer::kept(url, app)?, true)?;
            peer::tell_of_password(url, app);
            Ok(())
        }
        Some(Act::Rename { old, new }) => {
            known(&repo, old)?;
            let on = app.on()?;
            let what = format!("remote rename {old} {new}");
            repo.rename_remote(app.call(&on, &what), old, new)?;
            Ok(())
        }
        Some(Act::Remove { name }) => {
            // Of one that has no name of its own, git:origin, there is what was seen.
            let before = format!("{}{name}/", RefName::REMOTES);
            if repo.references(&before)?.is_empty() {
                known(&repo, name)?;
            }
            let on = app.on()?;
            repo.forget_remote(app.call(&on, &format!("remote remove {name}")), name)?;
            Ok(())
        }
    }
}

fn known(repo: &tract::repo::Repo, name: &str) -> Result<()> {
    if repo.remotes()?.iter().any(|remote| remote.name == name) {
        Ok(())
    } else {
        let failure = Failure::refused(format!("no remote '{name}'"));
        Err(failure.with_hint("tract remote lists what there is"))
    }
}
