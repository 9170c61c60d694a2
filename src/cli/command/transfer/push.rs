//! `tract push`: what is here, to another repository.

use std::path::PathBuf;

use tract::Error;
use tract::deeds::{At, Deed, PushParams, went};
use tract::model::RefName;
use tract::render::{counted_secrets, plural};
use tract::repo::Repo;
use tract::sync::{Landed, Pushed};

use crate::cli::{App, Failure, Result, peer};

/// Send commits to another repository
///
/// Without REF, it sends the branch that HEAD is on, and the session that it came from. Only what is
/// missing there is sent; branches with new commits that stay here are named. Request settings, notes and titles go too; session files only with --sources.
/// A ref that would lose commits there is not moved, unless --force-with-lease is given and the ref is
/// where it was last seen. A session that an import has rewritten replaces what you sent of it.
/// After an interruption, the same command continues where it stopped.
///
/// If there are secrets, in hidden messages too, nothing is sent. The other side learns what was erased here; it
/// erases that as well if it is set to (tract config receive.purge allow). It is taken out of a bucket, and out of
/// bundles in a git repository.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract push                       to origin, or the only remote there is
  tract push laptop main v1        a branch and a tag
  tract push --all --sources       everything, with the session files that were imported
  tract push -u team               and from now on push and pull this branch there
  tract push ../other              to a repository without a name here
  tract push ../new/               the same, made if it is not there: the slash asks for that
  tract push git:origin            to git's origin, beside the code, on refs of its own
  tract push origin --delete old   delete a branch there")]
pub struct Args {
    #[command(flatten)]
    deed: PushParams,
    /// Make the repository, if the directory has none
    #[arg(long, conflicts_with = "delete")]
    create: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on, deed) = (app.repo()?, app.on()?, &args.deed);
    let place = deed.there(&At::new(&repo, on.clone(), app))?;
    let wanted = deed.wanted(&repo, &on)?;
    let (secrets, line) = (app.secrets()?, deed.line());
    let typed = deed.remote.as_deref();
    let is_folder = |url: &str| url.ends_with('/') && !url.contains("://");
    let asks = args.create || typed.is_some_and(is_folder);
    let made = match asks && !deed.dry_run {
        true => made(&place.url, app)?,
        false => None,
    };
    let done = peer::with(&place.url, &repo, app, |there, app| {
        let call = app.call(&on, &line);
        let what = (&wanted[..], &secrets);
        let done = peer::shown(app, |told| {
            deed.carry_out(&repo, call, (&place, there), what, told)
        });
        done.map_err(|error| match error {
            Error::Leaks { ref commits, .. } => {
                let hint = secret_hint(commits);
                Failure::from(error).with_hint(hint)
            }
            error => error.into(),
        })
    });
    if let (Some(dir), Err(_)) = (&made, &done) {
        // Nothing is left behind of what was made for nothing.
        let _ = std::fs::remove_dir_all(dir.join(".tract"));
        let _ = std::fs::remove_dir(dir);
    }
    let done = done?;
    if let Some(dir) = &made {
        let dir = app.short_path(dir);
        app.ui.status(format!("Made a repository in {dir}"));
    }
    tell(&done, deed.dry_run, app);
    if let (true, false, Some(name)) = (deed.set_upstream, deed.dry_run, &place.name) {
        for branch in went(&done).iter().take(NAMED) {
            let line = format!("{} goes to {name} from now on", branch.short());
            app.ui.status(line);
        }
    }
    let typed = typed.or(place.name.as_deref());
    refused(&done, typed.unwrap_or("REMOTE"))
}

/// The directory in which a repository was made for what is pushed; none where one is.
fn made(url: &str, app: &App) -> Result<Option<PathBuf>> {
    let Some(peer::Place::Directory(dir)) = peer::parse(url, app)? else {
        let failure = Failure::usage("only a directory on this machine is made by a push");
        return Err(failure.with_hint("tract init there, then push"));
    };
    let (_, is_made) = Repo::init_as(&dir, &app.visitor()?)?;
    Ok(is_made.then_some(dir))
}

/// What helps against secrets that are found: what hides them leaves them in the history, which is what leaves.
fn secret_hint(commits: &[String]) -> String {
    let purge = match commits {
        [] => "--match REGEX".to_owned(),
        some if some.len() > NAMED => "REV…".to_owned(),
        some => some.join(" "),
    };
    format!(
        "nothing has left; tract purge {purge} --force erases them for good, --allow-secrets lets them leave"
    )
}

/// How many branches, or commits with secrets, are named.
const NAMED: usize = 4;

/// Which branches have commits that did not go.
fn stayed(done: &Pushed, app: &mut App) {
    let (branches, sessions): (Vec<&RefName>, Vec<&RefName>) =
        done.stayed.iter().partition(|name| name.is_branch());
    let ways = [
        (branches, "tract push --all"),
        (sessions, "tract import --onto BRANCH FILE, then push"),
    ];
    for (stayed, way) in ways {
        if stayed.is_empty() {
            continue;
        }
        let names = stayed.iter().take(NAMED).map(|name| name.short());
        let mut names = names.collect::<Vec<_>>().join(", ");
        if let Some(more) = stayed.len().checked_sub(NAMED).filter(|more| *more > 0) {
            names += &format!(" and {more} more");
        }
        app.ui.notice(format!(
            "not pushed, with commits that are not there: {names} ({way})"
        ));
    }
}

fn tell(done: &Pushed, is_dry: bool, app: &mut App) {
    let is_known = |landed| matches!(landed, Landed::Known | Landed::Further | Landed::Beside);
    match peer::carried(&done.carried) {
        None if is_dry && done.would_send > 0 => {
            let what = plural(done.would_send, "commit");
            app.ui.status(format!("Would send {what}"));
        }
        Some(what) => app.ui.status(format!("Sent {what}")),
        None if done.refs.iter().all(|row| is_known(row.landed)) => {
            app.ui.status("Nothing to send");
        }
        None => {}
    }
    for row in &done.refs {
        app.ui.status(peer::landed(row));
    }
    stayed(done, app);
    if !done.secrets.is_empty() {
        app.ui
            .notice(format!("{} left with it", counted_secrets(&done.secrets)));
    }
    peer::left_out(&done.left_out, &done.carried, "there", app);
    let erased = done.erased;
    if erased.listed > 0 {
        let messages = plural(erased.listed, "message");
        app.ui.notice(format!(
            "{messages} erased here: taken out of the bundles there, and the next pull reports it"
        ));
        app.ui.hint("what was pushed there goes with its ref: tract push REMOTE --delete NAME, then push again");
    }
    if erased.erased > 0 {
        let messages = plural(erased.erased, "message");
        app.ui
            .notice(format!("{messages} erased here: now erased there, too"));
    }
    if erased.kept > 0 {
        let messages = plural(erased.kept, "message");
        app.ui
            .notice(format!("{messages} erased here: still there"));
        app.ui.hint("tract purge erases them there; tract config receive.purge allow, there, lets a push do it");
    }
}

/// The failure of what stayed where it was.
fn refused(done: &Pushed, remote: &str) -> Result<()> {
    let mut refused = done.refs.iter().filter(|row| row.landed.is_refused());
    let Some(first) = refused.next() else {
        return Ok(());
    };
    let others = match refused.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let name = first.name.short();
    let is_tag = first.name.as_str().starts_with(RefName::TAGS);
    let (why, hint) = match first.landed {
        Landed::Unseen => (
            "has moved since it was last seen",
            format!("tract fetch {remote} shows where it is now"),
        ),
        Landed::Denied(denial) => (
            match first.new {
                None => "may not be deleted there",
                Some(_) => "may not lose commits there",
            },
            format!(
                "{} is set there, by whoever keeps that repository",
                denial.setting()
            ),
        ),
        _ if is_tag => (
            "is another commit there",
            "tags do not move; give it another name".to_owned(),
        ),
        _ => (
            "has commits there that are not here",
            format!(
                "tract pull {remote} brings them; or push under another name: tract branch NAME"
            ),
        ),
    };
    Err(Failure::refused(format!("{name} {why}{others}")).with_hint(hint))
}
