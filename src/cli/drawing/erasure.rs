//! What a purge has erased, and what not.

use tract::hash::CommitHash;
use tract::model::RefName;
use tract::render::{bytes, grouped, plural};
use tract::repo::Repo;
use tract::upkeep::{Purged, Unfinished};

use crate::cli::peer::git;
use crate::cli::{App, Exit, Failure, Result, Ui};

/// Says what is gone and what is not.
pub fn tell(purged: &Purged, repo: &Repo, app: &mut App) -> Result<()> {
    let beside = purged.sources + purged.words + purged.notes;
    let messages = match (purged.contents, beside) {
        (0, 1..) => None,
        (count, _) => {
            let size = bytes(purged.size_bytes);
            Some(format!("{} ({size})", plural(count, "message")))
        }
    };
    let notes = (purged.notes > 0).then(|| plural(purged.notes, "commit note"));
    let files = (purged.sources > 0).then(|| plural(purged.sources, "kept session file"));
    let words = (purged.words > 0).then(|| plural(purged.words, "title or note"));
    let all: Vec<String> = [messages, files, notes, words]
        .into_iter()
        .flatten()
        .collect();
    let all = all.join(" and ");
    let whence = match purged.unfinished {
        None => "for good",
        Some(_) => "from history",
    };
    let asides = purged.asides.iter().filter(|aside| aside.messages > 0);
    let asides: Vec<String> = asides
        .map(|aside| {
            let messages = plural(aside.messages, "message");
            format!("Erased {messages} in {}", app.short_path(&aside.path))
        })
        .collect();
    let held = purged.asides.iter().find(|aside| aside.failed.is_some());
    let held = held.map(|aside| (app.short_path(&aside.path), aside.failed.clone()));
    let is_shared = repo.remotes().is_ok_and(|remotes| !remotes.is_empty());
    let folders = repo.folder_entries();
    let folders = folders.iter().filter(|entry| entry.path.is_dir());
    let folders: Vec<String> = folders.map(|entry| app.short_path(&entry.path)).collect();
    let ui = &mut app.ui;
    if !all.is_empty() && (purged.contents + beside > 0) {
        ui.status(format!("Erased {all} {whence}"));
    }
    asides.into_iter().for_each(|told| ui.status(told));
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
    names(&purged.names, ui);
    quoting(&purged.quoting, ui);
    if git::kept() > 0 {
        ui.notice("git keeps what push git: and pull git: left here until it collects it");
        ui.hint("git gc --prune=now does it at once");
    }
    if purged.renamed > 0 {
        let (commits, have) = match purged.renamed {
            1 => ("1 commit".to_owned(), "has"),
            more => (plural(more, "commit"), "have"),
        };
        ui.notice(format!(
            "{commits} {have} another name now, for a note is hashed with its commit; undo reaches back no further"
        ));
        ui.notice("clones and bundles from before keep the note; a fetch from one brings it back");
        if is_shared {
            ui.hint(
                "where the branch was pushed it is another history now: delete it there, then push",
            );
        }
    }
    for place in folders {
        ui.notice(format!("{place} was not looked through"));
    }
    ui.hint("session files outside of .tract are not touched");
    match &purged.unfinished {
        None => match held {
            None => Ok(()),
            Some((place, why)) => {
                let what = format!("{place} may still hold it: {}", why.unwrap_or_default());
                let failure = Failure::refused(what);
                Err(failure
                    .with_hint("it is from before a restore; delete it when nothing is missing"))
            }
        },
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

/// Which names of refs say it: those stay, for a purge moves no ref.
pub fn names(names: &[RefName], ui: &mut Ui) {
    for name in names.iter().take(NAMES) {
        ui.notice(format!("the name of {} says it, and stays", name.short()));
    }
    if let Some(more) = names.len().checked_sub(NAMES).filter(|more| *more > 0) {
        ui.notice(format!("and {} more", plural(more as u64, "name")));
    }
    if !names.is_empty() {
        ui.hint("tract branch -m OLD NEW, tract branch -d NAME, tract tag -d NAME");
    }
}

/// Which messages say all that an erased one said: those that were not named stay.
pub fn quoting(commits: &[CommitHash], ui: &mut Ui) {
    if commits.is_empty() {
        return;
    }
    let shown: Vec<String> = commits.iter().take(NAMES).map(CommitHash::short).collect();
    let shown = shown.join(" ");
    let more = match commits.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(" and {} more", grouped(more as u64)),
    };
    ui.notice(format!("the same text stays in {shown}{more}"));
    ui.hint(format!(
        "tract purge {shown} --dry-run, or --match TEXT for all"
    ));
}

/// How many names are told.
const NAMES: usize = 8;
