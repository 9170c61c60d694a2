//! The log of operations, with the ways back where the pages may change anything.

use tract::model::{Millis, RefValue};
use tract::render::html::{MovedLine, OperationLine, OperationsPage, PageForm, operations};
use tract::render::{Calendar, Label, Line};
use tract::repo::{OperationEntry, Repo};
use tract::store::ReflogRow;

use super::{Answer, Asked, Site};
use crate::cli::drawing::position;
use crate::cli::{Failure, Result};

/// How many operations stand on a page, where nobody says.
const OPERATIONS: usize = 50;
/// How many refs are told of one operation.
const MOVES: usize = 12;

/// The page of what was done.
pub fn answer(site: &Site, asked: &Asked) -> Result<Answer> {
    let app = site.app();
    let Some(repo) = site.repo(&app)? else {
        return Err(Failure::refused("there is no repository here"));
    };
    let limit = asked.value("n").and_then(|n| n.parse().ok());
    let limit: usize = limit.unwrap_or(OPERATIONS).max(1);
    let mut entries = repo.operations(limit.saturating_add(1))?;
    let has_more = entries.len() > limit;
    entries.truncate(limit);
    let calendar = Calendar {
        ages: true,
        ..app.calendar()
    };
    let frame = site.frame(asked);
    let newest = if site.writes() {
        repo.newest_operation()?
    } else {
        None
    };
    let form = |deed: &'static str, to: Option<u64>, word, about: String| {
        let mut fields = vec![("deed", deed.to_owned())];
        fields.extend(newest.map(|newest| ("newest", newest.to_string())));
        fields.extend(to.map(|to| ("to", to.to_string())));
        PageForm {
            address: frame.address("act"),
            fields,
            word,
            about,
            ..PageForm::default()
        }
    };
    let mut forms = Vec::new();
    if newest.is_some() {
        if let Ok(Some(entry)) = repo.undoable() {
            let about = format!("#{} {}", entry.operation.id, entry.operation.what);
            forms.push(form("undo", None, "Undo the newest", about));
        }
        if repo.has_redo()? {
            forms.push(form("redo", None, "Redo", String::new()));
        }
    }
    let mut lines = Vec::new();
    for entry in &entries {
        let id = entry.operation.id;
        let is_back = newest.is_some_and(|newest| id < newest) && !entry.undone;
        let back = is_back.then(|| form("undo-to", Some(id), "Undo to here", format!("#{id}")));
        let moved = entry.moved();
        let mut moves: Vec<MovedLine> = moved.iter().take(MOVES).map(moved_line).collect();
        if moved.len() > MOVES {
            let more = format!("and {} more", moved.len() - MOVES);
            moves.push(MovedLine {
                words: Label::Dim.of(more),
                compare: None,
            });
        }
        lines.push(OperationLine {
            id,
            time: times(&calendar, entry.operation.time),
            what: entry.operation.what.clone(),
            who: who(&repo, entry),
            undone: entry.undone,
            moved: moves,
            form: back,
        });
    }
    let more = has_more.then(|| format!("reflog?n={}", limit.saturating_mul(4)));
    let page = OperationsPage {
        operations: &lines,
        more: more.as_deref(),
        forms: &forms,
    };
    Ok(Answer::page(operations(&frame, &page)))
}

/// A time as people read it, and as machines do.
fn times(calendar: &Calendar, time: Millis) -> [String; 2] {
    [calendar.ago(time), time.to_iso()]
}

/// A ref that moved, and where what it held and what it holds are compared.
fn moved_line(row: &ReflogRow) -> MovedLine {
    let commit = |value: &Option<RefValue>| value.as_ref().and_then(RefValue::commit);
    let both = commit(&row.old).zip(commit(&row.new));
    let compare = both.map(|(old, new)| format!("compare?a={}&b={}", old.short(), new.short()));
    MovedLine {
        words: Line::from(position::moved(row)),
        compare,
    }
}

/// Who did it, if that was somebody else; or else who made the newest commit that it moved something to, where that is
/// here still and says so.
fn who(repo: &Repo, entry: &OperationEntry) -> Option<String> {
    if let Some(by) = position::by(&entry.operation, repo) {
        return Some(by);
    }
    let commits = entry.moves.iter().rev().filter_map(|row| row.new.as_ref());
    let commit = commits.filter_map(RefValue::commit).next()?;
    let author = repo.commit_at(&commit).ok()?.author?;
    author.name.or(author.client)
}
