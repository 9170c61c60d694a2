//! What a person typed, to a commit; with the nearest name where there is none.

use crate::error::{Error, Result};
use crate::hash::{CommitHash, HashPrefix};
use crate::history::repo::{self, On, Repo};
use crate::history::walk;
use crate::model::{EntryId, Operation, RefName, RefValue};
use crate::store::View;

/// How many commits an ambiguous prefix lists.
const CANDIDATES: usize = 5;
/// How alike a name must be to be suggested, from 0 to 1.
const ALIKE: f64 = 0.6;

impl Repo {
    /// The commit that `text` names: a hash or its first digits, a ref, `HEAD`, `@`, `REV~N`,
    /// `REV^`, `REF@{N}`, `[REV]:N`.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownRevision`] with the nearest name, [`Error::AmbiguousRevision`] with up to
    /// five candidates, [`Error::EmptyBranch`].
    pub fn resolve(&self, on: &On, text: &str) -> Result<CommitHash> {
        resolve(&*self.store.read()?, on, text)
    }

    /// The entry that `text` names: what a commit appended, edited or put in place. `REV:N` is the
    /// Nth visible entry itself; `HASH#I` one of a hide's several replacements.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve`]; [`Error::NotOnPath`] for a commit that made no entry.
    pub fn resolve_entry(&self, on: &On, text: &str) -> Result<EntryId> {
        let view = self.store.read()?;
        if let Some(entry) = visible_entry(&*view, on, text)? {
            return Ok(entry);
        }
        let (base, index) = match text.rsplit_once('#') {
            Some((base, index)) => match index.parse::<u32>() {
                Ok(index) => (base, Some(index)),
                Err(_) => (text, None),
            },
            None => (text, None),
        };
        let hash = resolve(&*view, on, base)?;
        let none = || {
            Err(Error::NotOnPath {
                entry: text.to_owned(),
            })
        };
        match (walk::commit(&*view, &hash)?.commit.operation, index) {
            (Operation::Append { .. }, None) => Ok(EntryId::of(hash)),
            (Operation::Edit { target, .. }, None) => Ok(target),
            (Operation::Hide(hide), None) if hide.replacements.len() == 1 => Ok(EntryId::of(hash)),
            (Operation::Hide(hide), Some(index)) if (index as usize) < hide.replacements.len() => {
                Ok(EntryId::replacement(
                    hash,
                    index as usize,
                    hide.replacements.len(),
                ))
            }
            _ => none(),
        }
    }
}

/// The visible entry that `[REV]:N` names; none if `text` has another form or N is out of range.
fn visible_entry(view: &dyn View, on: &On, text: &str) -> Result<Option<EntryId>> {
    let Some((base, place)) = text.rsplit_once(':') else {
        return Ok(None);
    };
    let Ok(place) = place.parse::<i64>() else {
        return Ok(None);
    };
    let base = if base.is_empty() { "HEAD" } else { base };
    let context = walk::context(view, &resolve(view, on, base)?)?;
    let count = context.entries.len() as i64;
    let index = if place < 0 { count + place } else { place - 1 };
    let entry = usize::try_from(index)
        .ok()
        .and_then(|index| context.entries.get(index));
    Ok(entry.map(|entry| entry.id))
}

/// The commit that `text` names, inside a transaction.
pub(crate) fn resolve(view: &dyn View, on: &On, text: &str) -> Result<CommitHash> {
    let unknown = || -> Result<CommitHash> {
        Err(Error::UnknownRevision {
            text: text.to_owned(),
            nearest: nearest(view, text)?,
        })
    };
    if let Some(entry) = visible_entry(view, on, text)? {
        return Ok(entry.commit);
    }
    if let Some(base) = text.strip_suffix('^') {
        return match walk::commit(view, &resolve(view, on, base)?)?.commit.parent {
            Some(parent) => Ok(parent),
            None => unknown(),
        };
    }
    if let Some((base, back)) = text.rsplit_once('~')
        && let Ok(back) = (if back.is_empty() {
            Ok(1)
        } else {
            back.parse::<u64>()
        })
    {
        let tip = resolve(view, on, base)?;
        let depth = walk::commit(view, &tip)?.depth;
        return match depth.checked_sub(back) {
            Some(depth) => match view.ancestor_at(&tip, depth)? {
                Some(commit) => Ok(commit),
                None => unknown(),
            },
            None => unknown(),
        };
    }
    if let Some((base, back)) = text
        .strip_suffix('}')
        .and_then(|text| text.rsplit_once("@{"))
        && let Ok(back) = back.parse::<usize>()
    {
        return match earlier(view, on, base, back)? {
            Some(commit) => Ok(commit),
            None => unknown(),
        };
    }
    if matches!(text, "HEAD" | "@") {
        let head = repo::head(view, on)?;
        return match (head.commit(), head) {
            (Some(commit), _) => Ok(commit),
            (None, crate::model::Head::Attached { branch, .. }) => Err(Error::EmptyBranch {
                branch: branch.short().to_owned(),
            }),
            (None, crate::model::Head::Detached(_)) => unknown(),
        };
    }
    if let Some(name) = find_reference(view, text)?
        && let Some(commit) = target(view, &name)?
    {
        return Ok(commit);
    }
    if let Some(prefix) = HashPrefix::parse(text) {
        let found = view.commits_with_prefix(&prefix, CANDIDATES + 1)?;
        match found.as_slice() {
            [] => {}
            [only] => return Ok(only.hash),
            several => {
                let candidates = several
                    .iter()
                    .take(CANDIDATES)
                    .map(|row| describe(view, &row.hash))
                    .collect::<Result<_>>()?;
                return Err(Error::AmbiguousRevision {
                    text: text.to_owned(),
                    candidates,
                });
            }
        }
    }
    unknown()
}

/// What the ref held `back` moves ago.
fn earlier(view: &dyn View, on: &On, base: &str, back: usize) -> Result<Option<CommitHash>> {
    let name = match base {
        "" | "HEAD" | "@" => match repo::head(view, on)? {
            crate::model::Head::Attached { branch, .. } => Some(branch),
            crate::model::Head::Detached(_) => Some(RefName::head()),
        },
        name => find_reference(view, name)?,
    };
    let Some(name) = name else { return Ok(None) };
    if back == 0 {
        return target(view, &name);
    }
    let moves = view.reflog(&name, back)?;
    match moves.get(back - 1).and_then(|row| row.old.clone()) {
        Some(RefValue::Commit(commit)) => Ok(Some(commit)),
        Some(RefValue::Symbolic(name)) => target(view, &name),
        None => Ok(None),
    }
}

/// The ref that `text` means: its full name, or a branch, tag or session by its short name.
fn find_reference(view: &dyn View, text: &str) -> Result<Option<RefName>> {
    let prefixes = [
        "",
        RefName::HEADS,
        RefName::TAGS,
        "refs/",
        RefName::SESSIONS,
    ];
    for prefix in prefixes {
        if let Ok(name) = format!("{prefix}{text}").parse::<RefName>()
            && view.reference(&name)?.is_some()
        {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn target(view: &dyn View, name: &RefName) -> Result<Option<CommitHash>> {
    match view.reference(name)? {
        Some(RefValue::Commit(commit)) => Ok(Some(commit)),
        Some(RefValue::Symbolic(name)) => match view.reference(&name)? {
            Some(RefValue::Commit(commit)) => Ok(Some(commit)),
            _ => Ok(None),
        },
        None => Ok(None),
    }
}

/// A commit as a suggestion shows it: short hash and preview.
fn describe(view: &dyn View, hash: &CommitHash) -> Result<String> {
    let row = walk::commit(view, hash)?;
    let text = match &row.commit.operation {
        Operation::Append { content } | Operation::Edit { content, .. } => view
            .content_rows(&[*content])?
            .pop()
            .map(|row| row.preview)
            .unwrap_or_default(),
        Operation::Hide(hide) => hide.kind.verb().to_owned(),
        other => other.type_name().to_owned(),
    };
    Ok(format!("{} (\"{text}\")", hash.short()))
}

/// The name or hash closest to `text`, if any is close.
pub(super) fn nearest(view: &dyn View, text: &str) -> Result<Option<String>> {
    let names = view.references("refs/")?;
    let best = names
        .iter()
        .map(|(name, _)| (strsim::jaro_winkler(text, name.short()), name))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((alike, name)) = best
        && alike >= ALIKE + 0.15
    {
        return Ok(Some(name.short().to_owned()));
    }
    // A hash that is off near its end shares its first digits with the one meant.
    for digits in (2..text.len().min(64)).rev() {
        let Some(head) = text.get(..digits) else {
            continue;
        };
        if digits < HashPrefix::MIN_DIGITS {
            break;
        }
        let Some(prefix) = HashPrefix::parse(head) else {
            continue;
        };
        let found = view.commits_with_prefix(&prefix, 50)?;
        let best = found
            .iter()
            .map(|row| {
                (
                    strsim::normalized_levenshtein(
                        text,
                        &row.hash.to_string()[..text.len().min(64)],
                    ),
                    row,
                )
            })
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((alike, row)) = best
            && alike >= ALIKE
        {
            return Ok(Some(describe(view, &row.hash)?));
        }
    }
    Ok(None)
}
