//! The sessions that tools have left for a directory: which there are, and which one is meant.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use tract::Error;
use tract::ingest::tool_dirs::SessionFile;
use tract::ingest::{self, called, namesakes};
use tract::model::{Millis, RefName, RefValue, as_title};
use tract::render::{Label, columns, grouped, plural};
use tract::repo::Repo;

use super::drawing::listing;
use super::{App, Failure, Result, progress};

/// How many a listing shows.
pub const LISTED: usize = 20;

/// The sessions of the working directory, of the repository's and of git's above it, or those of
/// every directory, newest first; at least one.
pub fn found(is_everywhere: bool, app: &App) -> Result<Vec<SessionFile>> {
    let found = if is_everywhere {
        app.tool_dirs()?.sessions()
    } else {
        here(app)?
    };
    if found.is_empty() && is_everywhere {
        return Err(none());
    }
    if found.is_empty() {
        let what = format!("no sessions of any known tool in {}", app.cwd()?.display());
        if !app.tool_dirs()?.sessions().is_empty() {
            let hint = "tract import --all --list shows those of every directory";
            return Err(Failure::refused(what).with_hint(hint));
        }
        let failure = Failure::refused(what);
        return Err(failure.with_hint("tract import PATH, or tract demo to look around first"));
    }
    Ok(found)
}

/// Every file in the tools' folders that may hold a session, those of sub-agents too: at least one, the sessions first, of
/// which the newest is the first.
pub fn everything(app: &App) -> Result<Vec<PathBuf>> {
    let found = app.tool_dirs()?.everything();
    if found.is_empty() {
        return Err(none());
    }
    Ok(found)
}

/// How to begin where there is no repository, and no session of this directory to take in; none where there is one.
pub fn way_to_begin(app: &App) -> Option<&'static str> {
    if here(app).is_ok_and(|found| !found.is_empty()) {
        return None;
    }
    let is_anywhere = (app.tool_dirs()).is_ok_and(|dirs| !dirs.sessions().is_empty());
    Some(match is_anywhere {
        true if needs_home(app) => {
            "tract init ~ && tract import --all takes in this machine's sessions, tract init makes an empty repository"
        }
        true => {
            "tract import --all takes in this machine's sessions, tract init makes an empty repository"
        }
        false => "tract demo shows what tract does, tract init makes an empty repository",
    })
}

/// Whether no repository is found from here, and one that is made here would be in one of the directories of the home: the
/// sessions of all of them go into one at home.
pub fn needs_home(app: &App) -> bool {
    let home = app.env.home.as_deref();
    let is_below = |cwd: &Path| home.is_some_and(|home| cwd != home && cwd.starts_with(home));
    let is_none = matches!(app.repo(), Err(Failure::Tract(Error::NoRepository { .. })));
    is_none && app.cwd().is_ok_and(|cwd| is_below(&cwd))
}

fn none() -> Failure {
    let failure = Failure::refused("no sessions of any known tool");
    failure.with_hint("tract import PATH, or tract demo to look around first")
}

/// The sessions of the working directory, of the repository's and of git's above it, newest first.
pub fn here(app: &App) -> Result<Vec<SessionFile>> {
    let cwd = app.cwd()?;
    let mut places = vec![cwd.clone()];
    // The shell knows by which link one came.
    let leads = |path: &PathBuf| std::fs::canonicalize(path).ok();
    let came = app.env.came_to.iter();
    places.extend(
        came.filter(|it| leads(it).is_some() && leads(it) == leads(&cwd))
            .cloned(),
    );
    let repo = app.repo().ok();
    let above = repo.as_ref().and_then(|repo| repo.directory()?.parent());
    places.extend(above.map(Path::to_owned));
    let git = cwd.ancestors().find(|above| above.join(".git").exists());
    places.extend(git.map(Path::to_owned));
    places.sort();
    places.dedup();
    let dirs = app.tool_dirs()?;
    let mut found: Vec<SessionFile> = Vec::new();
    for place in places {
        for session in dirs.sessions_of(&place) {
            if !found.iter().any(|other| other.path == session.path) {
                found.push(session);
            }
        }
    }
    found.sort_by(|a, b| (b.modified, &a.path).cmp(&(a.modified, &b.path)));
    Ok(found)
}

/// How many sessions of the working directory have not come in.
pub fn not_imported(repo: &Repo, app: &App) -> Result<u64> {
    not_in(repo, &here(app)?)
}

/// How many of these sessions have not come in.
pub fn not_in(repo: &Repo, found: &[SessionFile]) -> Result<u64> {
    if found.is_empty() {
        return Ok(0);
    }
    let names = repo.references(RefName::SESSIONS)?.into_iter();
    let names: HashSet<RefName> = names.map(|(name, _)| name).collect();
    let files = ingest::followed_files(repo)?.into_iter();
    let files = files.filter(|(_, name)| names.contains(name));
    let files: HashSet<String> = files.map(|(path, _)| path).collect();
    let is_here = |session: &&SessionFile| {
        let id = session.named_id();
        let is_named =
            id.is_some_and(|id| names.contains(&RefName::session(session.format.name, &id)));
        is_named
            || session
                .path
                .to_str()
                .is_some_and(|path| files.contains(path))
    };
    Ok(found.iter().filter(|session| !is_here(session)).count() as u64)
}

/// The session whose id begins so, `TOOL/` before it or not; none if nothing is called like that.
///
/// # Errors
///
/// Where several are.
pub fn named(typed: &Path, app: &App) -> Result<Option<SessionFile>> {
    let Some(typed) = typed.to_str() else {
        return Ok(None);
    };
    let mut all = here(app)?;
    let mut found = called(typed, all.clone());
    if found.is_empty() {
        all = app.tool_dirs()?.sessions();
        found = called(typed, all.clone());
    }
    if let [one] = &found[..]
        && let others @ 1.. = namesakes(one, &all)
    {
        let count = plural(others as u64 + 1, "conversation");
        let failure = Failure::refused(format!("'{typed}' is the id of {count}"));
        return Err(
            failure.with_hint("tract import FILE; tract import --all --list names the files")
        );
    }
    match found.len() {
        0 | 1 => Ok(found.pop()),
        count => {
            let what = format!(
                "'{typed}' fits the ids of {}",
                plural(count as u64, "session")
            );
            Err(Failure::refused(what).with_hint("tract import lists them; type more of the id"))
        }
    }
}

/// Lists so many of them; 0: all.
pub fn list(is_everywhere: bool, limit: usize, app: &mut App) -> Result<()> {
    let found = found(is_everywhere, app)?;
    let repo = match app.repo() {
        Ok(repo) => Some(repo),
        Err(Failure::Tract(Error::NoRepository { .. })) => None,
        Err(failure) => return Err(failure),
    };
    let limit = if limit == 0 { found.len() } else { limit };
    let mut rows = Vec::new();
    let bar = progress::bar(app, "[{bar:30}] {pos} of {len} sessions");
    bar.set_length(found.len().min(limit) as u64);
    for session in found.iter().take(limit) {
        rows.push(row(session, is_everywhere, repo.as_deref(), app)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let ids: Vec<String> = rows.iter().map(|row| row[0].clone()).collect();
    for row in &mut rows {
        row[0] = listing::shortened(&row[0], &ids);
    }
    let is_terminal = app.ui.width_cols().is_some();
    // One that is here already is no example of what to take.
    let is_new = |row: &&[String; 7]| row[4] != HERE;
    let first = rows.iter().find(is_new).map(|row| row[0].clone());
    let is_here = rows.iter().any(|row| !row[4].is_empty());
    // Where there is a heading, a number says no noun.
    for row in &mut rows {
        row[3] = without_nouns(&row[3]);
    }
    let when = if app.calendar().ages { "AGE" } else { "WHEN" };
    let heads = ["ID", when, "TOOL", "MESSAGES", "HERE", "ABOUT", "FILE"];
    rows.insert(0, heads.map(str::to_owned));
    let widths = [0, 1, 2, 3, 4].map(|at| columns::widest(rows.iter().map(|row| &row[at])));
    for (number, [id, age, tool, size, here, title, file]) in rows.iter().enumerate() {
        let is_head = number == 0;
        let label = |label: Label| if is_head { Label::Dim } else { label };
        let mut line = label(Label::Hash).of(id).left(widths[0]) + "  ";
        line += label(Label::Time).of(age).left(widths[1]) + "  ";
        line += label(Label::Session).of(tool).left(widths[2]) + "  ";
        line += label(Label::Tokens).of(size).right(widths[3]) + "  ";
        if is_here || !is_terminal {
            line += label(Label::Good).of(here).left(widths[4]) + "  ";
        }
        let least = line.width_cols() + 10;
        match app.ui.width_cols() {
            Some(width) if is_head => line.fit(Label::Dim.of(title), Some(width.max(least))),
            Some(width) => line.fit(title, Some(width.max(least))),
            None => line += format!("{title}  {file}"),
        }
        app.ui.print(line)?;
    }
    if found.len() > limit {
        let more = grouped((found.len() - limit) as u64);
        app.ui.status(if is_everywhere {
            format!("… and {more} older: tract import --all --list -n 0")
        } else {
            format!("… and {more} older: tract import -n 0")
        });
    }
    let Some(first) = first else {
        return Ok(());
    };
    app.ui.hint(if is_everywhere {
        format!("tract import {first} takes that one, tract import --all takes all")
    } else {
        format!("tract import {first} takes that one, tract import --last the newest")
    });
    Ok(())
}

/// What is said of a session that has nothing new.
const HERE: &str = "imported";

/// `370 messages, 2 compactions` as `370, 2 compacted`.
fn without_nouns(size: &str) -> String {
    let number = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
    match size.split_once(", ") {
        None => number(size),
        Some((messages, compactions)) => {
            format!("{}, {} compacted", number(messages), number(compactions))
        }
    }
}

/// Id, age, tool, what is in it, what of it is new, title, and the file.
fn row(
    session: &SessionFile,
    is_everywhere: bool,
    repo: Option<&Repo>,
    app: &App,
) -> Result<[String; 7]> {
    let since = session.modified.duration_since(UNIX_EPOCH);
    let modified = Millis(since.unwrap_or(Duration::ZERO).as_millis() as i64);
    let age = app.calendar().listed(Some(modified));
    let file = session.path.display().to_string();
    let tool = session.format.to_string();
    let found = match ingest::inspect(&session.path) {
        Ok(found) => found,
        Err(error) => {
            let id = session.id().unwrap_or_default();
            let title = format!("({error})");
            return Ok([id, age, tool, String::new(), String::new(), title, file]);
        }
    };
    let mut size = plural(found.messages, "message");
    if found.compactions > 0 {
        size += &format!(", {}", plural(found.compactions, "compaction"));
    }
    let name = RefName::session(session.format.name, &found.id);
    let here = match repo
        .map(|repo| messages(repo, &name))
        .transpose()?
        .flatten()
    {
        None => String::new(),
        Some(known) if known < found.messages => format!("{} new", grouped(found.messages - known)),
        Some(_) => HERE.to_owned(),
    };
    let title = found
        .title
        .or(found.prompt.as_deref().map(as_title))
        .unwrap_or_else(|| "(no prompt)".to_owned());
    let cwd = found.cwd.as_deref().filter(|_| is_everywhere);
    let title = listing::titled(cwd, Some(&title));
    Ok([found.id, age, tool, size, here, title, file])
}

/// How many messages of a session are here; none if it is not.
fn messages(repo: &Repo, name: &RefName) -> Result<Option<u64>> {
    let references = repo.references(name.as_str())?;
    let own = references.into_iter().find(|(other, _)| other == name);
    let Some((_, RefValue::Commit(tip))) = own else {
        return Ok(None);
    };
    let order = repo.order(&tip)?;
    let said = order.entries().filter(|entry| entry.placed.is_none());
    Ok(Some(said.count() as u64))
}
