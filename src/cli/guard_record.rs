//! What became of the hooks of `tract guard`, for who asks later: the last of each event, in a small file beside the
//! repository.
//!
//! The file has its whole length from the beginning on and is written over in place, so that a full disk does not
//! keep what went wrong from being told. One that cannot be read tells nothing. Deliberately absent: locks; of two
//! hooks that end at once, the later one is told.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tract::Error;
use tract::model::Millis;
use tract::render::{Label, Line};
use tract::repo::Repo;

use super::watch::lock;
use super::{App, Failure};

const NAME: &str = "guard.json";
/// The events that something is done at.
const EVENTS: [&str; 3] = ["PreCompact", "PostCompact", "SessionStart"];
/// How long the file is.
const FILE_BYTES: usize = 4_096;
/// How much is told of an event.
const TOLD_CHARS: usize = 200;

/// What became of a hook.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Ended {
    time_ms: i64,
    failed: bool,
    what: String,
    /// The directory that it was called in.
    #[serde(default)]
    directory: Option<String>,
}

/// Each event's last one, by its name.
type Events = BTreeMap<String, Ended>;

/// Keeps what became of a hook that was called for a directory; false where there is no repository. Where it cannot be written, it was said on standard
/// error.
pub fn keep(
    (event, directory): (&str, Option<&Path>),
    done: Result<&str, &str>,
    app: &App,
) -> bool {
    let path = match app.repo() {
        Ok(repo) => app.beside(&repo, NAME),
        Err(Failure::Tract(Error::NoRepository { .. })) => return false,
        // One that cannot be opened now has its place all the same, if that is a directory.
        Err(_) => app.named_repo().ok().flatten().and_then(|place| {
            let place = place.is_dir().then(|| Repo::seek(&place).ok())?;
            place.map(|place| place.join(NAME))
        }),
    };
    let Some(path) = path else {
        return true;
    };
    let mut events = read(&path);
    let directory = directory.map(|it| it.display().to_string());
    let ended = Ended {
        time_ms: app.now().0,
        failed: done.is_err(),
        what: done
            .unwrap_or_else(|why| why)
            .chars()
            .take(TOLD_CHARS)
            .collect(),
        directory: directory.map(|it| it.chars().take(TOLD_CHARS).collect()),
    };
    if done.is_ok() {
        // Of an event that is none of these no hook will go well.
        events.retain(|event, _| EVENTS.contains(&event.as_str()));
    }
    events.insert(event.chars().take(TOLD_CHARS / 4).collect(), ended);
    let text = serde_json::to_string(&events).unwrap_or_default();
    if text.len() >= FILE_BYTES {
        return true;
    }
    if lock::make_folder_of(&path).is_err() {
        return true;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // There is nobody left to tell.
    let _ = options.open(&path).and_then(|mut file| {
        let rest = " ".repeat(FILE_BYTES - 1 - text.len());
        file.write_all(format!("{text}{rest}\n").as_bytes())
    });
    true
}

fn read(path: &Path) -> Events {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// For a status: the events that failed, or else what the last one did.
pub fn lines(repo: &Repo, app: &App) -> Vec<Line> {
    let events = app.beside(repo, NAME).map(|path| read(&path));
    let events = events.unwrap_or_default();
    let line = |(event, ended): (&String, &Ended)| {
        let when = app.calendar().listed(Some(Millis(ended.time_ms)));
        let head = if ended.failed {
            Label::Warning.of("Guard") + "    failed at "
        } else {
            Line::from("Guard    ")
        };
        let place = ended.directory.as_deref().filter(|_| ended.failed);
        let place = match place.map(|place| app.short_path(Path::new(place))) {
            Some(place) if place.is_empty() => " in this directory".to_owned(),
            Some(place) => format!(" in {place}"),
            None => String::new(),
        };
        head + event.as_str() + " " + Label::Time.of(when) + place + ": " + ended.what.as_str()
    };
    let failed: Vec<Line> = events
        .iter()
        .filter(|(_, it)| it.failed)
        .map(line)
        .collect();
    if !failed.is_empty() {
        return failed;
    }
    let last = events.iter().max_by_key(|(_, ended)| ended.time_ms);
    last.map(line).into_iter().collect()
}
