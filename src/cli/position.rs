//! How a place in history is said in a sentence: after a move, at a new branch, in a hint.

use tract::hash::CommitHash;
use tract::history::{On, OpenCall, OperationEntry, Repo};
use tract::model::{Head, RefName};
use tract::render::{Label, Line};

use super::{App, Failure};

/// The columns that a preview may take within a sentence.
const PREVIEW: usize = 40;

/// `a1b2c3d ("Please use the streaming…")`.
pub fn place(repo: &Repo, commit: &CommitHash) -> Result<Line, Failure> {
    let hash = Label::Hash.of(commit.short());
    let preview = Line::from(repo.preview(commit)?).cut(PREVIEW);
    Ok(match preview.is_empty() {
        true => hash,
        false => hash + " (\"" + preview + "\")",
    })
}

/// Where HEAD is, on a line of its own.
pub fn head(repo: &Repo, app: &mut App) -> Result<(), Failure> {
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
pub fn begun(repo: &Repo, on: &On) -> Result<Option<RefName>, Failure> {
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

/// Says which operation was undone, or done again, and when it was.
pub fn undone(verb: &str, done: &OperationEntry, app: &mut App) {
    let operation = &done.operation;
    let ago = app.calendar().ago(operation.time);
    let what = &operation.what;
    app.ui
        .status(format!("{verb} #{} ({ago}): {what}", operation.id));
}

/// Deletes a branch or a tag, and says how it comes back.
pub fn delete(
    repo: &Repo,
    command: &str,
    reference: &RefName,
    more: Option<&str>,
    app: &mut App,
) -> Result<(), Failure> {
    if let Some(rev) = more {
        let what = format!("-d takes one name, not '{rev}' too");
        return Err(Failure::usage(what));
    }
    let name = reference.short();
    let what = format!("{command} -d {name}");
    let was = repo.delete_reference(app.call(&On::Head, &what), reference)?;
    let deleted = Line::from(format!("Deleted {name}, which was at "));
    app.ui.status(deleted + place(repo, &was)?);
    app.ui.hint(format!(
        "back: tract undo, or tract {command} {name} {}",
        was.short()
    ));
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
