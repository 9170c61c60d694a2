//! What fetch, pull and clone have in common: what comes, and what is said of it.

use tract::deeds::{At, Elsewhere, Fetching};
use tract::render::{plural, shell_word};
use tract::sync::{Fetched, Landed};

use super::{carried, landed, left_out, shown, with};
use crate::cli::{App, Result};

/// How many refs are named.
const REFS: usize = 20;

/// Brings what there is, and says so.
pub fn run(deed: &impl Fetching, app: &mut App) -> Result<Fetched> {
    let (repo, on, line) = (app.repo()?, app.on()?, deed.line());
    let place = Elsewhere::of(deed.remote(), &At::new(&repo, on.clone(), app))?;
    place.named()?;
    let done = with(&place.url, &repo, app, |there, app| {
        let call = app.call(&on, &line);
        let done = shown(app, |told| {
            deed.carry_out(&repo, call, (&place, there), told)
        });
        Ok(done?)
    })?;
    tell(&done, deed.remote(), app);
    Ok(done)
}

/// What came, from the remote that was named, and which refs moved.
pub fn tell(done: &Fetched, remote: Option<&str>, app: &mut App) {
    let moved = done.refs.iter();
    let moved: Vec<_> = moved.filter(|it| it.landed != Landed::Known).collect();
    match carried(&done.carried) {
        Some(what) => app.ui.status(format!("Received {what}")),
        None if moved.is_empty() => app.ui.status("Nothing new"),
        None => {}
    }
    for row in moved.iter().take(REFS) {
        app.ui.status(landed(row));
    }
    if let Some(more) = moved.len().checked_sub(REFS).filter(|more| *more > 0) {
        app.ui
            .status(format!("  and {more} more: tract branch --remotes"));
    }
    let erased = done.carried.brought.erased;
    if erased > 0 {
        let messages = plural(erased, "message");
        app.ui
            .notice(format!("{messages} left out: erased here earlier"));
    }
    left_out(&done.left_out, &done.carried, "here", app);
    erased_there(done, app);
    for name in &done.nameless {
        app.ui.notice(format!(
            "{} is left out: here it would be taken for a tag or a session",
            name.short()
        ));
    }
    if let Some(gone) = &done.gone {
        app.ui.notice(format!(
            "{} is not there any more; your branch stays where it is",
            gone.short()
        ));
        app.ui.hint(
            "tract branch --remotes lists what is there; tract fetch --prune forgets what is gone",
        );
    }
    if done.without_file > 0 {
        let sessions = plural(done.without_file, "session");
        app.ui
            .notice(format!("{sessions} came without the session file"));
        let from = remote.map_or_else(String::new, |name| format!("{} ", shell_word(name)));
        app.ui.hint(format!(
            "tract fetch {from}--sources brings the files that are kept there; exports are then byte for byte"
        ));
    }
}

/// What became of messages that were erased on the other side.
fn erased_there(done: &Fetched, app: &mut App) {
    let told = &done.erased;
    if told.erased > 0 {
        let messages = plural(told.erased, "message");
        app.ui
            .notice(format!("{messages} erased there: now erased here, too"));
    }
    if told.kept > 0 {
        let messages = plural(told.kept, "message");
        app.ui
            .notice(format!("{messages} erased there: still here"));
        let commits: Vec<String> = told.commits.iter().map(|it| it.short()).collect();
        // Of many, some are named; to erase those alone would leave the rest.
        app.ui.hint(match told.kept > commits.len() as u64 {
            true => "tract config receive.purge allow lets the next pull erase them here, too".to_owned(),
            false => format!(
                "tract purge {} --force erases what these say; tract config receive.purge allow lets a pull do it",
                commits.join(" ")
            ),
        });
    }
}
