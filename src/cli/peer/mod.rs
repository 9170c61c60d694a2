//! Another repository, reached: by the name of a remote, or by its URL.

pub mod arrival;
#[cfg(feature = "s3")]
mod bucket;
pub mod git;
mod number;
#[cfg(feature = "s3")]
mod s3;
mod ssh;
mod url;

use tract::Error;
use tract::deeds::Elsewhere;
use tract::hash::CommitHash;
use tract::model::Millis;
use tract::render::{Label, Line, plural, shell_word};
use tract::repo::Repo;
pub use tract::sync::Peer;
use tract::sync::{Carried, Here, Landed, LandedRef, LeftOut};

use crate::cli::app::system_time;
use crate::cli::{App, Failure, Result, progress};

pub use url::{Place, kept, parse, tell_of_password};

/// Where a repository is that was typed as an address; none: it is none.
pub fn elsewhere(typed: &str, app: &App) -> Result<Option<Elsewhere>> {
    let (name, url) = match parse(typed, app)? {
        None => return Ok(None),
        // Who says git:origin has named it already.
        Some(Place::Git(remote)) if remote.chars().all(char::is_alphanumeric) => {
            (Some(format!("git-{remote}")), typed.to_owned())
        }
        Some(_) => (None, kept(typed, app)?),
    };
    let is_kept = false;
    Ok(Some(Elsewhere { name, url, is_kept }))
}

/// Lets `act` talk to the repository at `url`; `mine` is the one that is worked in.
pub fn with<T>(
    url: &str,
    mine: &Repo,
    app: &mut App,
    act: impl FnOnce(&mut dyn Peer, &mut App) -> Result<T>,
) -> Result<T> {
    match parse(url, app)? {
        Some(Place::Ssh(host)) => ssh::with(&host, mine, app, act),
        Some(Place::Git(remote)) => git::with(&remote, mine, app, act),
        #[cfg(feature = "s3")]
        Some(Place::Bucket(bucket)) => s3::with(&bucket, mine, app, act),
        #[cfg(not(feature = "s3"))]
        Some(Place::Bucket(_)) => Err(Error::NotBuilt { what: "S3" }.into()),
        Some(Place::Directory(path)) => {
            let there = Repo::open_as(&path, &app.visitor()?);
            let mut there = there.map_err(|error| match error {
                // A server's address is told without a password.
                Error::NoRepository { start } => {
                    let place = start.display().to_string();
                    let failure = Failure::refused(format!("no tract repository in {place}"));
                    let word = shell_word(&place);
                    failure.with_hint(format!("tract init {word} makes an empty one"))
                }
                error => error.into(),
            })?;
            app.sign_on(&mut there)?;
            let now = clock(app);
            let mut here = Here {
                repo: &there,
                now: &now,
            };
            act(&mut here, app)
        }
        None => Err(Failure::refused(format!(
            "tract does not understand '{url}'"
        ))),
    }
}

/// What time it is, for a repository that is not the one that is worked in.
pub fn clock(app: &App) -> impl Fn() -> Millis + use<> {
    let fixed = app.env.clock;
    move || fixed.unwrap_or_else(system_time)
}

/// Shows how far it has come while `act` is at it.
pub fn shown<T>(
    app: &App,
    act: impl FnOnce(&mut dyn FnMut(u64, u64) -> tract::Result<()>) -> T,
) -> T {
    let bar = progress::bar(app, "{bar:30} {msg}");
    let done = act(&mut |done, all| {
        bar.set_length(all);
        bar.set_position(done);
        bar.set_message(plural(all, "commit"));
        Ok(())
    });
    bar.finish_and_clear();
    done
}

/// The other side does what cannot be.
fn strange(detail: String) -> Error {
    Error::BrokenPeer { detail }
}

/// Says what the other side has that is passed over, and which session files did not go.
pub fn left_out(left: &[LeftOut], carried: &Carried, place: &str, app: &mut App) {
    for one in left.iter().take(LEFT_OUT) {
        app.ui
            .warn(format!("{} is left out there: {}", one.name, one.why));
    }
    if let Some(more) = left.len().checked_sub(LEFT_OUT).filter(|more| *more > 0) {
        app.ui
            .warn(format!("{} more left out", plural(more as u64, "ref")));
    }
    if carried.refused_files > 0 {
        let files = plural(carried.refused_files, "session file");
        app.ui.notice(format!(
            "{files} left out: they may hold what was erased {place}"
        ));
    }
}

/// How many refs that are passed over are named.
const LEFT_OUT: usize = 8;

/// What was carried, in words; none: nothing was.
pub fn carried(carried: &Carried) -> Option<String> {
    let brought = &carried.brought;
    if carried.size_bytes == 0 {
        return None;
    }
    let counts = [brought.commits, brought.contents, brought.sources];
    Some(match counts {
        [0, 0, 0] => "records of session files".to_owned(),
        [0, 0, files] => plural(files, "session file"),
        counts => contents(counts),
    })
}

/// What came in, in words: `3 commits, 4 messages`.
pub fn contents([commits, messages, sources]: [u64; 3]) -> String {
    let mut what = vec![plural(commits, "commit"), plural(messages, "message")];
    if sources > 0 {
        what.push(plural(sources, "session file"));
    }
    what.join(", ")
}

/// What became of a ref, on a line.
pub fn landed(row: &LandedRef) -> Line {
    let (name, landed) = (&row.name, row.landed);
    let short = |commit: Option<CommitHash>| commit.map(|commit| commit.short());
    let place = match (landed, row.old, row.new) {
        (Landed::Replaced, Some(old), Some(new)) => {
            Some(format!("{}...{}", old.short(), new.short()))
        }
        (Landed::Beside, old, _) => short(old),
        (landed, old, _) if landed.is_refused() => short(old),
        (_, old, new) => short(new.or(old)),
    };
    let became = if landed.is_refused() {
        "refused"
    } else {
        landed.as_str()
    };
    let place = place.unwrap_or_default();
    let line = Line::from(format!("  {became:<8} ")) + Label::Hash.of(place) + "  ";
    let line = line + Label::Branch.of(name.short());
    match landed {
        Landed::Beside => line + " (it leads elsewhere there, and stays)",
        _ => line,
    }
}
