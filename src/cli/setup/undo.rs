//! Taking it back: each file to what it was before, to the byte, or without what is ours where it was changed since.

use std::fs;
use std::io::ErrorKind;

use tract::Error;
use tract::render::shell_word;

use super::place::Place;
use super::record::Written;
use super::{Part, Setup, repository};
use crate::cli::{App, Result};

/// Takes back what was set up.
pub fn undo(mut setup: Setup<'_>, app: &mut App) -> Result<()> {
    let is_nothing = setup.record.files.is_empty() && !setup.record.made_repository;
    if is_nothing {
        app.ui
            .status("Nothing was set up by tract setup, so nothing was taken back");
        return Ok(());
    }
    if setup.means(Part::Watch) && setup.record.started_watch {
        if let Some(Err(typed)) = setup.service().map(|service| service.stop()) {
            app.ui.notice("tract watch could not be stopped from here");
            app.ui
                .hint(format!("{typed} stops it, in a session of yours"));
        }
        setup.record.started_watch = false;
        setup.record.save()?;
    }
    let mut files = setup.record.files.clone();
    files.retain(|written| setup.means(written.part));
    for written in files.iter().rev() {
        match take_back(written, &setup) {
            Ok(told) => {
                app.ui
                    .status(format!("{}: {told}", app.short_path(&written.path)));
                setup.record.forget(&written.path)?;
            }
            Err(failure) => setup.complain(&written.path, failure, app),
        }
    }
    if setup.means(Part::Home) && setup.record.made_repository {
        remove_repository(&setup, app)?;
        setup.record.made_repository = false;
        setup.record.save()?;
    }
    setup.record.close()?;
    setup.done()
}

/// Takes one file back; what became of it.
fn take_back(written: &Written, setup: &Setup<'_>) -> Result<&'static str> {
    let place = Place::read(&written.path)?;
    let Some(content) = &place.content else {
        return Ok("gone already");
    };
    let before = setup.record.before(written)?;
    let is_as_left = written.is(content);
    let after = if is_as_left {
        before.clone()
    } else {
        written.without_ours(&place, before.as_deref())?
    };
    if after.as_ref() == Some(content) {
        return Ok("nothing of tract's is there any more");
    }
    place.may_be_written(setup.machine.user)?;
    match after {
        None => fs::remove_file(&place.path).map_err(Error::io(&place.path))?,
        Some(after) => place.write(&after)?,
    }
    Ok(match (is_as_left, before) {
        (true, Some(_)) => "as it was before",
        (true, None) => "removed",
        (false, _) => "changed since, so only what is tract's was taken out",
    })
}

/// What a repository's directory holds while nothing is in it.
const EMPTY: [&str; 6] = [
    ".gitignore",
    "guard.json",
    "tract.db",
    "tract.db-shm",
    "tract.db-wal",
    "watch.lock",
];

/// Removes the repository, unless something is in it.
fn remove_repository(setup: &Setup<'_>, app: &mut App) -> Result<()> {
    let directory = setup.machine.home.join(".tract");
    let stays = |app: &mut App| {
        let place = app.short_path(&directory);
        app.ui
            .notice(format!("{place} stays, for there is something in it"));
        let typed = shell_word(&directory.to_string_lossy());
        app.ui.hint(format!("rm -r {typed} erases it"));
    };
    let names = match fs::read_dir(&directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        names => names.map_err(Error::io(&directory))?,
    };
    let is_known = |entry: std::io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| EMPTY.iter().any(|name| entry.file_name() == *name))
    };
    let is_empty = repository(&setup.machine.home, app)
        .and_then(|repo| Ok(repo.references("")?.is_empty()))
        .unwrap_or(false);
    if !is_empty || !names.into_iter().all(is_known) {
        stays(app);
        return Ok(());
    }
    fs::remove_dir_all(&directory).map_err(Error::io(&directory))?;
    app.ui
        .status(format!("{}: removed", app.short_path(&directory)));
    Ok(())
}
