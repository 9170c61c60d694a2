//! Which commits of a path are listed: by what they do, who speaks, when, and what is said.
//!
//! A commit's own row is asked first, then the rows of what it brings, and a body only where a text
//! is looked for.

use std::collections::HashMap;

use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Author, Commit, Operation, Role, Speaker};
use crate::query::log::LogOptions;
use crate::repo::calls::Callers;
use crate::repo::{load, path, prompts};
use crate::store::{CommitRow, ContentRow, View};

/// How many commits are read at once while looking for those that match.
const PAGE: usize = 256;
/// How many texts.
const TEXTS: usize = 32;

/// Which commits to list.
pub(super) enum Matching {
    /// The newest `most` after `until`, whatever they are.
    All {
        until: Option<CommitHash>,
        most: usize,
    },
    /// These, newest first.
    Some(Vec<CommitRow>),
}

/// The commits to list: back from `tip` until there are enough.
pub(super) fn matching(
    view: &dyn View,
    tip: &CommitHash,
    options: &LogOptions,
) -> Result<Matching> {
    let until = match &options.until {
        None => None,
        // Where the paths have parted, what both have is left out.
        Some(until) => path::last_shared(view, until, tip)?,
    };
    let most = match options.limit {
        0 => usize::MAX,
        limit => limit,
    };
    if takes_all(options) {
        return Ok(Matching::All { until, most });
    }
    let until = until.as_ref();
    let (mut found, mut next) = (Vec::new(), Some(*tip));
    while let Some(from) = next.filter(|from| until != Some(from)) {
        let mut read = view.ancestors(&from, until, PAGE)?;
        next = read.last().and_then(|row| row.commit.parent);
        let full = read.len() == PAGE;
        let is_one = |row: &CommitRow| {
            options
                .only
                .as_ref()
                .is_none_or(|it| it.contains(&row.hash))
        };
        read.retain(|row| is_one(row) && fits(&row.commit, options));
        for some in read.chunks(TEXTS) {
            for row in speaking(view, some, options)? {
                found.push(row);
                if found.len() == most {
                    return Ok(Matching::Some(found));
                }
            }
        }
        if !full {
            break;
        }
    }
    Ok(Matching::Some(found))
}

fn takes_all(options: &LogOptions) -> bool {
    let LogOptions {
        operations,
        role,
        prompts,
        tool,
        since,
        up_to,
        pattern,
        author,
        note,
        setting,
        only,
        ..
    } = options;
    operations.is_empty()
        && (role.is_none() && !prompts && tool.is_none() && pattern.is_none())
        && (since.is_none() && up_to.is_none() && author.is_none() && only.is_none())
        && (note.is_none() && setting.is_none())
}

/// What a commit itself says.
fn fits(commit: &Commit, options: &LogOptions) -> bool {
    let time = commit.time;
    let early = options.since.is_some_and(|since| time < Some(since));
    let late = |up_to| time.is_none_or(|time| time > up_to);
    !early
        && !options.up_to.is_some_and(late)
        && wanted(&commit.operation, &options.operations)
        && options
            .author
            .as_ref()
            .is_none_or(|text| is_by(commit, text))
        && options.note.as_ref().is_none_or(|text| notes(commit, text))
        && options
            .setting
            .as_ref()
            .is_none_or(|(key, value)| sets(commit, key, value.as_deref()))
}

/// Whether a commit's note has this in it.
pub(crate) fn notes(commit: &Commit, text: &str) -> bool {
    let note = commit.note.as_ref();
    note.is_some_and(|note| note.to_lowercase().contains(&text.to_lowercase()))
}

/// Whether a commit gives a setting a value: any, or this one, as JSON or as the text in it.
pub(crate) fn sets(commit: &Commit, key: &str, value: Option<&str>) -> bool {
    let Some(set) = commit.settings.get(key) else {
        return false;
    };
    value.is_none_or(|value| {
        let text: Option<String> = serde_json::from_str(set).ok();
        set == value || text.as_deref() == Some(value)
    })
}

/// Whether the author's name, program or run has this in it.
fn is_by(commit: &Commit, text: &str) -> bool {
    let text = text.to_lowercase();
    let Some(Author { name, client, run }) = &commit.author else {
        return false;
    };
    let mut said = [name, client, run].into_iter().flatten();
    said.any(|said| said.to_lowercase().contains(&text))
}

/// The contents that a commit brings.
fn brings(operation: &Operation) -> Vec<ContentHash> {
    match operation {
        Operation::Append { content } | Operation::Edit { content, .. } => vec![*content],
        Operation::Hide(hide) => hide.replacements.iter().map(|one| one.content).collect(),
        Operation::Restore { .. } | Operation::Annotate { .. } => Vec::new(),
    }
}

/// Those that bring a message which is asked for.
fn speaking(view: &dyn View, rows: &[CommitRow], options: &LogOptions) -> Result<Vec<CommitRow>> {
    let is_any = options.role.is_none() && options.tool.is_none() && options.pattern.is_none();
    let rows = if options.prompts {
        &typed(view, rows)?
    } else {
        rows
    };
    if is_any {
        return Ok(rows.to_vec());
    }
    let brought: Vec<ContentHash> = rows
        .iter()
        .flat_map(|row| brings(&row.commit.operation))
        .collect();
    let said = load::rows(view, &brought)?;
    let brought = rows.iter().flat_map(|row| {
        let contents = brings(&row.commit.operation).into_iter();
        contents.map(move |content| (row, content))
    });
    let brought = brought.map(|(row, content)| (row, &said[&content]));
    let brought: Vec<(&CommitRow, &ContentRow)> = brought.collect();
    let injected = match options.role.map(Speaker::role) {
        Some(Role::User) => {
            let brought = brought.iter();
            let brought = brought.map(|(row, said)| (row.hash, &row.commit.operation, *said));
            prompts::injected_rows(view, &brought.collect::<Vec<_>>())?
        }
        _ => vec![false; brought.len()],
    };
    let mut callers = Callers::new(view);
    let mut fits: HashMap<(CommitHash, ContentHash), bool> = HashMap::new();
    for ((row, said), is_injected) in brought.into_iter().zip(injected) {
        let speaks = options
            .role
            .is_none_or(|one| one.says(said.role, is_injected));
        let fit = speaks && has_to_do(row, said, &mut callers, options)?;
        fits.insert((row.hash, said.hash), fit);
    }
    if let Some(pattern) = &options.pattern {
        let left: Vec<(CommitHash, ContentHash)> = fits
            .iter()
            .filter(|(_, fit)| **fit)
            .map(|(key, _)| *key)
            .collect();
        let bodies: Vec<ContentHash> = left.iter().map(|(_, content)| *content).collect();
        for (key, message) in left.into_iter().zip(load::contents(view, &bodies)?) {
            fits.insert(key, pattern.is_in(&message));
        }
    }
    let is_asked = |row: &&CommitRow| {
        let mut contents = brings(&row.commit.operation).into_iter();
        contents.any(|content| fits.get(&(row.hash, content)) == Some(&true))
    };
    Ok(rows.iter().filter(is_asked).cloned().collect())
}

/// Those that append what the user typed.
fn typed(view: &dyn View, rows: &[CommitRow]) -> Result<Vec<CommitRow>> {
    let appends = rows.iter().filter_map(|row| Some((row, row.appended()?)));
    let appends: Vec<(&CommitRow, ContentHash)> = appends.collect();
    let said = appends.iter().map(|(row, content)| (row.hash, *content));
    let typed = prompts::typed_contents(view, &said.collect::<Vec<_>>())?;
    let rows = appends.into_iter().zip(typed).filter(|(_, typed)| *typed);
    Ok(rows.map(|((row, _), _)| row.clone()).collect())
}

/// Whether a message that a commit brings has to do with the tool.
fn has_to_do(
    row: &CommitRow,
    said: &ContentRow,
    callers: &mut Callers<'_>,
    options: &LogOptions,
) -> Result<bool> {
    match &options.tool {
        None => Ok(true),
        Some(_) if said.calls == 0 && said.results == 0 => Ok(false),
        Some(tool) => callers.has_to_do_with(tool, row.commit.parent, &said.hash),
    }
}

/// Whether an operation is one of those that these words name.
pub(crate) fn wanted(operation: &Operation, words: &[String]) -> bool {
    let kind =
        |word: &str| matches!(operation, Operation::Hide(hide) if word == hide.kind.as_str());
    let matches =
        |word: &String| kind(word) || word == operation.type_name() || word == operation.verb();
    words.is_empty() || words.iter().any(matches)
}
