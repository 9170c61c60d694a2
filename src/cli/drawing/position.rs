//! How a place in history is said in a sentence: after a move, at a new branch, in a hint.

use tract::deeds::{At, Still};
use tract::hash::CommitHash;
use tract::model::{Head, RefName, RefValue};
use tract::render::{Label, Line, grouped, plural};
use tract::repo::{On, OpenCall, OperationEntry, Repo, same_command};
use tract::store::{OperationRow, ReflogRow};

use crate::cli::{App, Failure, Result};

/// The columns that a preview may take within a sentence.
const PREVIEW: usize = 40;

/// How many refs an undo names.
const MOVES: usize = 8;

/// `a1b2c3d ("Please use the streaming…")`.
pub fn place(repo: &Repo, commit: &CommitHash) -> Result<Line> {
    let hash = Label::Hash.of(commit.short());
    let preview = Line::from(repo.preview(commit)?).cut(PREVIEW);
    Ok(if preview.is_empty() {
        hash
    } else {
        hash + " (\"" + preview + "\")"
    })
}

/// Refuses a revision that names a part of a message where a commit is meant.
pub fn must_be_whole(repo: &Repo, on: &On, text: &str) -> Result<()> {
    Ok(At::new(repo, on.clone(), &Still).must_be_whole(text)?)
}

/// Where HEAD is, on a line of its own.
pub fn head(repo: &Repo, app: &mut App) -> Result<()> {
    let line = match repo.head(&On::Head)? {
        Head::Attached { branch, tip } => {
            let on = Line::from("On ") + Label::Branch.of(branch.short());
            match tip {
                Some(tip) => on + ", at " + place(repo, &tip)?,
                None => on + ", which has no commits",
            }
        }
        Head::Detached(commit) => Line::from("HEAD is detached at ") + place(repo, &commit)?,
    };
    app.ui.status(line);
    Ok(())
}

/// The branch that `on` names, where it has no commit: whoever commits there begins a history.
pub fn begun(repo: &Repo, on: &On) -> Result<Option<RefName>> {
    let On::Branch(branch) = on else {
        return Ok(None);
    };
    let tip = repo.head(on)?.commit();
    Ok(tip.is_none().then(|| branch.clone()))
}

/// Says that a branch is new, for its name may be a slip.
pub fn tell_begun(begun: Option<&RefName>, app: &mut App) {
    if let Some(branch) = begun {
        let line = Line::from("new branch ") + Label::Branch.of(branch.short());
        app.ui.notice(line + ", empty until now");
    }
}

/// `main a1b2c3d → 9f8e7d6`: one for each ref that an operation moved.
pub fn moves(entry: &OperationEntry) -> impl Iterator<Item = String> {
    entry.moved().into_iter().map(|row| moved(&row))
}

/// `main a1b2c3d → 9f8e7d6`.
pub fn moved(row: &ReflogRow) -> String {
    let (old, new) = (value(row.old.as_ref()), value(row.new.as_ref()));
    format!("{} {old} → {new}", position(&row.name))
}

/// A ref as people read it: a position of another directory with the end of that directory's name.
fn position(name: &RefName) -> String {
    let short = name.short();
    let apart = short
        .strip_prefix("at/")
        .and_then(|rest| rest.rsplit_once('/'));
    match apart {
        Some((place, position)) => {
            let last = place.rsplit('/').next().unwrap_or(place);
            // A name that could not be written as it is ends with a hash.
            let is_hash = |end: &str| end.len() == 16 && end.bytes().all(|b| b.is_ascii_hexdigit());
            let bare = last.rsplit_once('-').filter(|(_, end)| is_hash(end));
            format!("{position} in {}", bare.map_or(last, |(name, _)| name))
        }
        None => short.to_owned(),
    }
}

/// A short hash, a branch's name, or `none`.
pub fn value(value: Option<&RefValue>) -> String {
    match value {
        Some(RefValue::Commit(commit)) => commit.short(),
        Some(RefValue::Symbolic(name)) => name.short().to_owned(),
        None => "none".to_owned(),
    }
}

/// Refuses `--on`: an undo is of all refs. A branch that the environment names stays unsaid, for all
/// that is done in that shell would be done without it.
pub fn refuse_on(command: &str, hint: &str, app: &App) -> Result<()> {
    if app.globals.on.is_none() {
        return Ok(());
    }
    let what = format!("{command} is not of one branch, so --on has no meaning for it");
    Err(Failure::usage(what).with_hint(hint))
}

/// Says that what was undone of a push is undone here alone.
pub fn elsewhere(undone: &[&OperationEntry], app: &mut App) {
    // Of a push that came in, branches moved here.
    let is_seen = |row: &ReflogRow| row.name.as_str().starts_with(RefName::REMOTES);
    let is_push = |one: &&OperationEntry| {
        one.operation.what.split(' ').next() == Some("push") && one.moves.iter().all(is_seen)
    };
    if undone.iter().any(is_push) {
        app.ui
            .notice("the other repository keeps what was pushed (tract push REMOTE --delete NAME)");
    }
}

/// Says which operation was undone, or done again, when it was, and what went elsewhere, unless that
/// is where HEAD is, which is said anyway.
pub fn undone(verb: &str, done: &OperationEntry, repo: &Repo, app: &mut App) -> Result<()> {
    let line = reversal(verb, done, repo, app);
    app.ui.status(line);
    let head = repo.head(&On::Head)?;
    let here = head.branch();
    let is_own = |name: &RefName| {
        let own = [RefName::head(), RefName::orig_head(), RefName::prev_head()];
        own.contains(name)
    };
    let moved = done.moved();
    if moved
        .iter()
        .all(|row| Some(&row.name) == here || is_own(&row.name))
    {
        return Ok(());
    }
    let all = all_moves(done);
    let mut said = all[..all.len().min(MOVES)].join(", ");
    if all.len() > MOVES {
        said += &format!(
            ", and {} more: tract reflog",
            grouped((all.len() - MOVES) as u64)
        );
    }
    app.ui.status(said);
    Ok(())
}

/// Says which operation would be undone, or done again, and where what it moved would go.
pub fn would(verb: &str, done: &OperationEntry, repo: &Repo, app: &mut App) -> Result<()> {
    let line = reversal(verb, done, repo, app);
    app.ui.print(line)?;
    let all = all_moves(done);
    for moved in all.iter().take(MOVES) {
        app.ui.print(format!("  {moved}"))?;
    }
    if let Some(more) = all.len().checked_sub(MOVES).filter(|more| *more > 0) {
        app.ui
            .print(format!("  … and {} more", grouped(more as u64)))?;
    }
    Ok(())
}

/// `Undid #5 of Ann (2 min ago): drop :2`.
pub fn reversal(verb: &str, done: &OperationEntry, repo: &Repo, app: &App) -> String {
    let operation = &done.operation;
    let ago = app.calendar().ago(operation.time);
    let what = &operation.what;
    let by = by(operation, repo).map_or(String::new(), |by| format!(" of {by}"));
    match done.also.last() {
        Some(first) => {
            let command = same_command(what);
            let noun = match command.starts_with("import ") {
                true => "file",
                false => "operation",
            };
            let all = plural(done.also.len() as u64 + 1, noun);
            format!(
                "{verb} #{first} to #{}{by} ({ago}): {command}, {all}",
                operation.id
            )
        }
        None => format!("{verb} #{}{by} ({ago}): {what}", operation.id),
    }
}

/// The moves of an operation that is undone, the other way round, or of one that is done again.
fn all_moves(done: &OperationEntry) -> Vec<String> {
    if !done.undone {
        return moves(done).collect();
    }
    let mut done = done.clone();
    done.moves.reverse();
    for row in &mut done.moves {
        std::mem::swap(&mut row.old, &mut row.new);
    }
    moves(&done).collect()
}

/// Who did an operation, if that was somebody else than who asks.
pub fn by(operation: &OperationRow, repo: &Repo) -> Option<String> {
    let by = operation.by.as_ref()?;
    let is_own = by.name.is_none() || by.name.as_deref() == repo.worker();
    (!is_own).then(|| by.to_string())
}

/// Says so where a branch and a tag have one name now: as a revision, it is the branch.
pub fn shared_name(repo: &Repo, name: &str, app: &mut App) -> Result<()> {
    let both = [RefName::branch(name)?, RefName::tag(name)?];
    let all = both.map(|one| repo.references(one.as_str()).map(|found| (one, found)));
    for all in all {
        let (one, found) = all?;
        if !found.iter().any(|(name, _)| *name == one) {
            return Ok(());
        }
    }
    app.ui.notice(format!(
        "a branch and a tag are called {name}: {name} means the branch, refs/tags/{name} the tag"
    ));
    Ok(())
}

/// Says that a branch or a tag was deleted, and how it comes back.
pub fn deleted(
    repo: &Repo,
    command: &str,
    deleted: &[(RefName, CommitHash)],
    app: &mut App,
) -> Result<()> {
    for (name, was) in deleted {
        let line = Line::from(format!("Deleted {}, which was at ", name.short()));
        app.ui.status(line + place(repo, was)?);
    }
    app.ui.hint(match deleted {
        [(name, was)] => {
            let (name, was) = (name.short(), was.short());
            format!("back: tract undo, or tract {command} {name} {was}")
        }
        _ => "back: tract undo".to_owned(),
    });
    Ok(())
}

/// Says that a call waits for its result, and how `command` would take it along.
pub fn open_call(open: Option<&OpenCall>, command: &str, app: &mut App) {
    let Some(open) = open else { return };
    let number = open.number;
    app.ui.hint(match open.answered {
        Some((answered, commit)) => format!(
            "the tool call at :{number} has its result at :{answered}; to take it along: {command} {}",
            commit.short()
        ),
        None => format!("the tool call at :{number} has no result yet"),
    });
}
