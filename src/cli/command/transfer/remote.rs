//! `tract remote`: other repositories by name.

use std::collections::BTreeMap;

use tract::deeds::{
    At, Method, RemoteAddParams, RemoteRemoveParams, RemoteRenameParams, RemoteSetUrlParams,
    RemotesParams,
};
use tract::render::{Label, Line};

use crate::cli::{App, Result, peer};

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
    Add(RemoteAddParams),
    SetUrl(RemoteSetUrlParams),
    Rename(RemoteRenameParams),
    Remove(RemoteRemoveParams),
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let mut at = At::new(&repo, on, app);
    let url = match &args.act {
        None => {
            let remotes = RemotesParams {}.call(&mut at)?.remotes;
            drop(at);
            return list(&remotes, args.verbose, app);
        }
        Some(Act::Add(deed)) => deed.clone().call(&mut at).map(|_| Some(&deed.url)),
        Some(Act::SetUrl(deed)) => deed.clone().call(&mut at).map(|_| Some(&deed.url)),
        Some(Act::Rename(deed)) => deed.clone().call(&mut at).map(|_| None),
        Some(Act::Remove(deed)) => deed.clone().call(&mut at).map(|_| None),
    };
    drop(at);
    if let Some(url) = url? {
        peer::tell_of_password(url, app);
    }
    Ok(())
}

fn list(remotes: &BTreeMap<String, String>, verbose: bool, app: &mut App) -> Result<()> {
    if remotes.is_empty() {
        app.ui.status("No remotes yet");
        app.ui.hint("tract remote add origin URL");
    }
    let width = remotes.keys().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0);
    let ways: &[&str] = match verbose {
        true => &[" (fetch)", " (push)"],
        false => &[""],
    };
    let lines = remotes.iter().flat_map(|(name, url)| {
        let line = move |way: &&str| {
            let name = format!("{name:<width$}");
            Label::Branch.of(name) + "  " + Line::from(url.as_str()) + *way
        };
        ways.iter().map(line)
    });
    Ok(app.ui.print_all(lines)?)
}
