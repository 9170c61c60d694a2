//! `tract push`: what is here, to another repository.

use tract::Error;
use tract::api::pushed_refs;
use tract::history::sync::{Landed, PushOptions, PushRef, Pushed};
use tract::history::{On, Repo};
use tract::model::RefName;
use tract::model::secret::Leaving;
use tract::render::{counted_secrets, plural};

use crate::cli::typed::Typed;
use crate::cli::{App, Failure, Result, peer};

/// Send commits to another repository
///
/// Without REF, it sends the branch that HEAD is on, and the session that it came from. Only what is
/// missing there is sent. Request settings, notes and titles go too; session files only with --sources.
/// A ref that would lose commits there is not moved, unless --force-with-lease is given and the ref is
/// where it was last seen. After an interruption, the same command continues where it stopped.
///
/// If there are secrets, in hidden messages too, nothing is sent. The other side is told what was
/// erased here; it erases that as well if it is set to (tract config receive.purge allow). What is kept
/// beside the code, or in a bucket, stays there until --delete removes its ref.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  tract push                       to origin, or the only remote there is
  tract push laptop main v1        a branch and a tag
  tract push --all --sources       everything, with the session files that were imported
  tract push ../other              to a repository without a name here
  tract push git:origin            to git's origin, beside the code, on refs of its own
  tract push origin --delete old   delete a branch there")]
pub struct Args {
    /// The remote, or a URL; by default origin, or the only one
    remote: Option<String>,
    /// Branches, tags, sessions
    #[arg(value_name = "REF")]
    refs: Vec<String>,
    /// All branches, tags and sessions
    #[arg(long, conflicts_with = "refs")]
    all: bool,
    /// Also send the session files that were imported
    #[arg(long)]
    sources: bool,
    /// Let a ref there lose commits, if it is where it was last seen
    #[arg(long)]
    force_with_lease: bool,
    /// Delete these refs there
    #[arg(long, requires = "refs")]
    delete: bool,
    /// Send secrets, too
    #[arg(long)]
    allow_secrets: bool,
}

pub fn run(args: &Args, app: &mut App) -> Result<()> {
    let (repo, on) = (app.repo()?, app.on()?);
    let place = peer::named(&repo, args.remote.as_deref(), app)?;
    let wanted = wanted(args, &repo, &on)?;
    let secrets = app.secrets()?;
    let options = PushOptions {
        remote: place.name.as_deref(),
        sources: args.sources,
        with_lease: args.force_with_lease,
        leaving: if args.allow_secrets {
            Leaving::Allowed
        } else {
            Leaving::Refused(&secrets)
        },
    };
    let refs = wanted.iter().map(|to| to.name.short());
    let what = Typed::new("push")
        .word(place.name.as_deref().unwrap_or("URL"))
        .flag("--delete", args.delete)
        .word(refs.collect::<Vec<_>>().join(" "))
        .line();
    let done = peer::with(&place.url, &repo, app, |there, app| {
        let call = app.call(&on, &what);
        let done = peer::shown(app, |told| repo.push(call, there, &wanted, &options, told));
        done.map_err(|error| match error {
            Error::Leaks { .. } => Failure::from(error).with_hint(
                "nothing has left; tract redact takes them out of the context, --allow-secrets lets them leave",
            ),
            error => error.into(),
        })
    })?;
    tell(&done, app);
    let typed = args.remote.as_deref().or(place.name.as_deref());
    refused(&done, typed.unwrap_or("REMOTE"))
}

/// What is to be where.
fn wanted(args: &Args, repo: &Repo, on: &On) -> Result<Vec<PushRef>> {
    if args.delete {
        let named = args.refs.iter().map(|text| {
            let name = match repo.reference_named(text) {
                Ok(name) if !name.as_str().starts_with(RefName::REMOTES) => name,
                _ => RefName::branch(text)?,
            };
            Ok(PushRef { name, commit: None })
        });
        return named.collect();
    }
    Ok(pushed_refs(repo, on, &args.refs, args.all)?)
}

fn tell(done: &Pushed, app: &mut App) {
    let is_known = |landed| matches!(landed, Landed::Known | Landed::Further);
    match peer::carried(&done.carried) {
        Some(what) => app.ui.status(format!("Sent {what}")),
        None if done.refs.iter().all(|row| is_known(row.landed)) => {
            app.ui.status("Nothing to send");
        }
        None => {}
    }
    for row in &done.refs {
        let place = if row.landed.is_refused() {
            row.old
        } else {
            row.new.or(row.old)
        };
        let place = place.map(|commit| commit.short());
        app.ui.status(peer::landed(&row.name, row.landed, place));
    }
    if !done.secrets.is_empty() {
        app.ui
            .notice(format!("{} left with it", counted_secrets(&done.secrets)));
    }
    peer::left_out(&done.left_out, &done.carried, "there", app);
    let erased = done.erased;
    if erased.listed > 0 {
        let messages = plural(erased.listed, "message");
        app.ui.notice(format!(
            "{messages} erased here: still there, and whoever pulls is told"
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
