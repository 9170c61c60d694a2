//! What a purge has erased, and what not.

use tract::history::{Purged, Unfinished};
use tract::render::{bytes, plural};

use super::{App, Exit, Failure, Result};

/// Says what is gone and what is not.
pub fn tell(purged: &Purged, app: &mut App) -> Result<()> {
    let messages = match (purged.contents, purged.sources + purged.words) {
        (0, 1..) => None,
        (count, _) => {
            let size = bytes(purged.size_bytes);
            Some(format!("{} ({size})", plural(count, "message")))
        }
    };
    let files = (purged.sources > 0).then(|| plural(purged.sources, "kept session file"));
    let words = (purged.words > 0).then(|| plural(purged.words, "title or note"));
    let all: Vec<String> = [messages, files, words].into_iter().flatten().collect();
    let all = all.join(" and ");
    let whence = match purged.unfinished {
        None => "for good",
        Some(_) => "from history",
    };
    let ui = &mut app.ui;
    ui.status(format!("Erased {all} {whence}"));
    if purged.shared > 0 {
        let shared = plural(purged.shared, "message");
        ui.notice(format!(
            "kept from before: {shared} that the context, another branch, a tag or a session needs"
        ));
    }
    for session in &purged.kept_sessions {
        let name = session.short();
        ui.notice(format!(
            "the file of {name} stays: that session has commits of its own"
        ));
    }
    ui.hint("session files outside of .tract are not touched");
    match &purged.unfinished {
        None => Ok(()),
        Some(Unfinished::Busy) => {
            let what = "the files still hold it, because another process reads or writes them";
            let failure = Failure::Said(Exit::Lost, what.to_owned(), None);
            Err(failure.with_hint("when it has ended, the next command that writes erases it"))
        }
        Some(Unfinished::Failed(why)) => {
            let failure = Failure::refused(format!("the files still hold it: {why}"));
            Err(failure.with_hint("once that is mended, the next command that writes erases it"))
        }
    }
}
