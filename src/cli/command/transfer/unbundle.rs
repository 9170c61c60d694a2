//! `tract unbundle`: takes in what `tract bundle` wrote.

use tract::Error;
use tract::deeds::{Deed, UnbundleParams};
use tract::render::{Label, Line, plural};
use tract::repo::{Call, Repo};
use tract::sync::{Arrival, ArrivedRef};

use crate::cli::{App, Failure, Result, peer, progress};

/// Read in a file that tract bundle wrote
///
/// Every message and every commit is checked against its name; if anything is wrong, nothing is written. Commits that
/// are here already are not brought in twice. Messages that were erased here stay erased. If another history here has
/// a branch of the same name, the new branch gets a number. tract undo takes it all back.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract unbundle talk.tract
  tract unbundle talk.tract && tract resume    go on with a session that somebody handed over")]
pub struct Args {
    #[command(flatten)]
    deed: UnbundleParams,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (path, line) = (app.path(&args.deed.file)?, args.deed.line());
    let bar = progress::bar(app, "{spinner} {msg}");
    let mut told = |commits| {
        bar.set_message(plural(commits as u64, "commit"));
        bar.tick();
    };
    if let Err(Failure::Tract(Error::NoRepository { .. })) = app.repo() {
        // What is not whole makes no repository either.
        UnbundleParams::carry_out(&path, &Repo::ephemeral()?, Call::default(), &mut told)?;
    }
    let (repo, is_new) = app.repo_or_init()?;
    if is_new {
        app.tell_made(&repo);
    }
    let on = app.on()?;
    let done = UnbundleParams::carry_out(&path, &repo, app.call(&on, &line), &mut told)?;
    bar.finish_and_clear();
    let is_known = |arrived: &ArrivedRef| arrived.arrival == Arrival::Known;
    if done.commits == 0 && done.refs.iter().all(is_known) {
        app.ui.status("Nothing new");
    } else {
        let what = peer::contents([done.commits, done.contents, done.sources]);
        app.ui.status(format!("Received {what}"));
    }
    for arrived in &done.refs {
        let became = arrived.arrival.as_str();
        let name = Label::Branch.of(arrived.ours.short());
        let mut line = Line::from(format!("  {became:<6} "))
            + Label::Hash.of(arrived.commit.short())
            + "  "
            + name;
        if arrived.ours != arrived.theirs {
            line = line + ", for " + arrived.theirs.short().to_owned() + " is another history here";
        }
        app.ui.status(line);
    }
    if done.erased > 0 {
        let messages = plural(done.erased, "message");
        app.ui
            .notice(format!("{messages} left out: erased here earlier"));
    }
    if done.left_out > 0 {
        let files = plural(done.left_out, "session file");
        app.ui.notice(format!(
            "{files} left out: what was erased here may be in them"
        ));
    }
    Ok(())
}
