//! Sessions that a collection lets go: which, what they take, and how to get them back.

use std::collections::HashMap;

use tract::model::RefName;
use tract::render::{Label, Line, bytes, listed, plural, table};
use tract::repo::Repo;
use tract::upkeep::{Heap, LetGo};

use crate::cli::drawing::listing;
use crate::cli::{App, Result};

/// How many are named in a sentence.
const NAMED: usize = 3;
/// The columns that a title takes at most.
const TITLE: usize = 40;

/// What to know of what is let go and still on the disk.
pub const LATER: &str =
    "tract undo brings it back until the log forgets it; to delete it now: tract gc --expire now";

/// Lists what would go, with what only it needs.
pub fn list(gone: &[LetGo], repo: &Repo, app: &mut App) -> Result<()> {
    if gone.is_empty() {
        app.ui.status("Would let go of no session");
        return Ok(());
    }
    let du = repo.du()?;
    let mut rooms: HashMap<&RefName, (&Heap, u64)> = HashMap::new();
    for room in &du.by_name {
        rooms.extend(room.names.iter().map(|name| (name, (&room.alone, 0))));
    }
    for files in &du.sessions {
        if let Some((_, kept)) = rooms.get_mut(&files.name) {
            *kept = files.kept_bytes;
        }
    }
    let (calendar, width) = (app.calendar(), app.ui.width_cols());
    let mut all = 0;
    let mut rows = Vec::new();
    for one in gone {
        let sessions = [&one.session].into_iter().chain(&one.below);
        let (mut messages, mut kept) = (0, 0);
        for (alone, files) in sessions.filter_map(|name| rooms.get(name)) {
            messages += alone.messages;
            kept += alone.kept_bytes + files;
        }
        all += kept;
        rows.push(vec![
            Label::Session.of(listing::shown_name(&one.session, width.is_some())),
            Label::Time.of(calendar.listed(one.last)),
            plural(messages, "message").into(),
            Label::Tokens.of(app.ui.size(kept)),
            Line::from(one.title.as_deref().unwrap_or_default()).cut(TITLE),
        ]);
    }
    app.ui.print_all(table::list(rows, &[2, 3], width))?;
    let sessions = plural(gone.len() as u64, "session");
    let room = bytes(all);
    app.ui.status(format!(
        "Would let go of {sessions}: {room} that nothing else needs"
    ));
    Ok(())
}

/// Says what was let go.
pub fn tell(gone: &[LetGo], app: &mut App) {
    if gone.is_empty() {
        return;
    }
    let is_cut = app.ui.width_cols().is_some();
    let name = |one: &LetGo| listing::shown_name(&one.session, is_cut);
    let mut names: Vec<String> = gone.iter().take(NAMED).map(name).collect();
    if gone.len() > NAMED {
        names.push(plural((gone.len() - NAMED) as u64, "other"));
    }
    let sessions = plural(gone.len() as u64, "session");
    app.ui
        .status(format!("Let go of {sessions}: {}", listed(&names)));
}
