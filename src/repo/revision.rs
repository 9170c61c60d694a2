//! What a person typed, to a commit; with the nearest name where there is none.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::hash::{CommitHash, HashPrefix};
use crate::model::pattern::Pattern;
use crate::model::{self, EntryId, Millis, Operation, RefName, RefValue};
use crate::repo::call::On;
use crate::repo::repository::{self, Repo};
use crate::repo::stretches::Outline;
use crate::repo::{calls, head, load, path};
use crate::store::{CommitRow, View};

/// How many commits an ambiguous prefix lists.
const CANDIDATES: usize = 5;

/// From which depth on a visible message is found by its number without a look at those before it, and up to how many commits
/// that are no appends.
const LONG: u64 = if cfg!(test) { 4 } else { 2_048 };
const CHANGES: usize = 256;
/// From how many digits on the number in `REF@{N}` is a moment, in milliseconds since 1970, and no count of moves.
const MOMENT_DIGITS: usize = 12;

/// What a person named of a context: a message, or one of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Named {
    /// A message.
    Entry(EntryId),
    /// A part of it, counted from 0.
    Part(EntryId, u32),
}

impl Repo {
    /// The commit that `text` names: a hash or its first digits (4 at least), which go before any
    /// name, a branch, tag or session (its id, or the beginning of it, 4 characters at least, `TOOL/`
    /// before it or not), `HEAD`, `@`, `ORIG_HEAD`, `PREV_HEAD`, `REV~N`, `REV^`, `REF@{N}`, `REF@{TIME}` (where it
    /// stood then: milliseconds since 1970, or what [`Repo::read_times`] reads), `[REV]:N` (the
    /// commit of the Nth visible message, from the end where N is negative), `:/TEXT` (the newest
    /// message that contains TEXT), `REV#I` (the commit that holds part I).
    ///
    /// # Errors
    ///
    /// [`Error::UnknownRevision`] with the nearest name, [`Error::AmbiguousRevision`] with up to
    /// five candidates, [`Error::NoSuchMessage`], [`Error::BeyondFirst`],
    /// [`Error::EmptyBranch`].
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// for text in ["one", "two"] {
    ///     let draft = Draft::append(Message::text(Role::User, text));
    ///     repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// }
    /// let one = repo.resolve(&On::Head, ":1")?;
    /// assert_eq!(repo.resolve(&On::Head, "HEAD^")?, one);
    /// assert_eq!(repo.resolve(&On::Head, ":/ONE")?, one);
    /// assert_eq!(repo.resolve(&On::Head, &one.short())?, one);
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn resolve(&self, on: &On, text: &str) -> Result<CommitHash> {
        self.with_moments(text, |text| resolve(&*self.store.read()?, on, text))
    }

    /// The same; none where nothing is named so. What would have been meant is not looked for, so this is cheap.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve`], but for a name that nothing bears.
    pub fn resolve_if_any(&self, on: &On, text: &str) -> Result<Option<CommitHash>> {
        self.with_moments(text, |text| named(&*self.store.read()?, on, text))
    }

    /// What `A..B` names: the commit B, and the one that the path from A to B begins after: A, or,
    /// where A is on another path, the last commit that both have. An end left out is HEAD. A text without `..` is B
    /// alone.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve`].
    pub fn resolve_range(&self, on: &On, text: &str) -> Result<(CommitHash, Option<CommitHash>)> {
        self.with_moments(text, |text| self.range(on, text))
    }

    fn range(&self, on: &On, text: &str) -> Result<(CommitHash, Option<CommitHash>)> {
        let view = self.store.read()?;
        // A text that is looked for may hold dots of its own.
        let ends = text.split_once("..").filter(|_| !text.starts_with(":/"));
        let Some((from, to)) = ends else {
            return Ok((resolve(&*view, on, text)?, None));
        };
        let end = |text: &str| resolve(&*view, on, or_head(text));
        let (from, to) = (end(from)?, end(to)?);
        Ok((to, path::last_shared(&*view, &from, &to)?))
    }

    /// The last of some commits of one path, and the commit before the first of them, if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownRevision`] where none of them is here.
    pub fn span_of(&self, commits: &[CommitHash]) -> Result<(CommitHash, Option<CommitHash>)> {
        let rows = self.store.read()?.commits(commits)?;
        let rows: Vec<CommitRow> = rows.into_iter().flatten().collect();
        let first = rows.iter().min_by_key(|row| row.depth);
        let last = rows.iter().max_by_key(|row| row.depth);
        let ends = first.zip(last);
        let (first, last) = ends.ok_or_else(|| Error::no_commit(""))?;
        Ok((last.hash, first.commit.parent))
    }

    /// The ref that `text` means: its full name, or a branch, tag or session by its short name.
    /// One that has been deleted answers too, as long as the log knows it.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownRevision`] with the nearest name.
    pub fn reference_named(&self, text: &str) -> Result<RefName> {
        let view = self.store.read()?;
        let text = if text == "@" { "HEAD" } else { text };
        if let Some(name) = find_reference(&*view, text)? {
            return Ok(name);
        }
        if let Some(name) = session_with_prefix(&*view, text)? {
            return Ok(name);
        }
        for name in names(text) {
            if name == RefName::head() || !view.reflog(&name, 1)?.is_empty() {
                return Ok(name);
            }
        }
        Err(unknown(&*view, text)?)
    }

    /// One line about a commit: of the message that it brings, else what it does. Hostile until
    /// escaped.
    pub fn preview(&self, commit: &CommitHash) -> Result<String> {
        preview(&*self.store.read()?, commit)
    }

    /// The entry that `text` names: what a commit appended, edited or put in place. `REV:N` is the
    /// Nth visible entry itself; `HASH#I` one of a hide's several replacements.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve`]; [`Error::NoMessage`] for a commit that made no entry, or several; [`Error::NotOnPath`] for a
    /// number of which it has none.
    pub fn resolve_entry(&self, on: &On, text: &str) -> Result<EntryId> {
        self.with_moments(text, |text| self.entry(on, text))
    }

    fn entry(&self, on: &On, text: &str) -> Result<EntryId> {
        let view = self.store.read()?;
        if let Some(entry) = visible_entry(&*view, on, text)? {
            return Ok(entry);
        }
        let (base, index) = match part(text) {
            Some((base, index)) => (base, Some(index)),
            None => (text, None),
        };
        let hash = resolve(&*view, on, base)?;
        match (load::commit(&*view, &hash)?.commit.operation, index) {
            (Operation::Append { .. }, None) => Ok(EntryId::of(hash)),
            (Operation::Edit { target, .. }, None) => path::entry_of(&*view, target),
            (Operation::Hide(hide), None) if hide.replacements.len() == 1 => Ok(EntryId::of(hash)),
            (Operation::Hide(hide), Some(index)) if (index as usize) < hide.replacements.len() => {
                Ok(EntryId::replacement(
                    hash,
                    index as usize,
                    hide.replacements.len(),
                ))
            }
            (_, Some(_)) => Err(Error::NotOnPath {
                entry: text.to_owned(),
            }),
            (operation, None) => Err(Error::NoMessage {
                entry: text.to_owned(),
                operation: operation.verb(),
                messages: match &operation {
                    Operation::Hide(hide) => hide.replacements.len(),
                    _ => 0,
                },
            }),
        }
    }

    /// The commit that `text` names, and with `#N` the number of one of its parts, from 0.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve`]; whether there is such a part is not looked at.
    pub fn resolve_part(&self, on: &On, text: &str) -> Result<(CommitHash, Option<u32>)> {
        let view = self.store.read()?;
        let hash = self.with_moments(text, |text| resolve(&*view, on, text))?;
        let number = match part(text) {
            // The text of a search, or a name, may hold such a sign of its own.
            Some(_) if text.starts_with(":/") || find_reference(&*view, text)?.is_some() => None,
            Some((_, number)) => Some(number),
            None => None,
        };
        Ok((hash, number))
    }

    /// The message that `text` names, or with `#N` one of its parts, counted from 0 as the
    /// replacements of a hide are.
    ///
    /// # Errors
    ///
    /// As [`Repo::resolve_entry`].
    pub fn resolve_named(&self, on: &On, text: &str) -> Result<Named> {
        if let Some((base, part)) = part(text) {
            match self.resolve_entry(on, base) {
                // A hide with several replacements: the number names one of them.
                Err(Error::NotOnPath { .. }) => {}
                entry => return Ok(Named::Part(entry?, part)),
            }
        }
        self.resolve_entry(on, text).map(Named::Entry)
    }
}

/// `TEXT#N`.
fn part(text: &str) -> Option<(&str, u32)> {
    let (base, part) = text.rsplit_once('#')?;
    Some((base, part.parse().ok()?))
}

/// `HEAD` where no revision is named.
fn or_head(text: &str) -> &str {
    if text.is_empty() { "HEAD" } else { text }
}

/// The visible entry that `[REV]:N` names; none if `text` has another form.
///
/// # Errors
///
/// [`Error::NoSuchMessage`] if N is out of range.
fn visible_entry(view: &dyn View, on: &On, text: &str) -> Result<Option<EntryId>> {
    let Some((base, place)) = text.rsplit_once(':') else {
        return Ok(None);
    };
    let Ok(place) = place.parse::<i64>() else {
        return Ok(None);
    };
    let tip = resolve(view, on, or_head(base))?;
    let index = |count: usize| match usize::try_from(place) {
        Ok(place) => place.checked_sub(1),
        Err(_) => count.checked_sub(usize::try_from(place.unsigned_abs()).unwrap_or(usize::MAX)),
    };
    let outline = if load::commit(view, &tip)?.depth < LONG {
        None
    } else {
        Outline::of_few(view, &tip, CHANGES)?
    };
    let (count, found) = match outline {
        Some(outline) => {
            let visible = outline.visible();
            let at = index(visible.len()).filter(|at| *at < visible.len());
            let range = at.map_or(0..0, |at| at..at + 1);
            let found = visible.read_in(view, range)?.pop();
            (visible.len(), found.map(|one| one.entry.id))
        }
        None => {
            let entries = load::context(view, &tip)?.entries;
            let found = index(entries.len()).and_then(|at| entries.get(at));
            (entries.len(), found.map(|entry| entry.id))
        }
    };
    let text = text.to_owned();
    let messages = count;
    found
        .map(Some)
        .ok_or(Error::NoSuchMessage { text, messages })
}

/// The commit that `text` names, inside a transaction. Errors name `text` as it was typed.
pub(crate) fn resolve(view: &dyn View, on: &On, text: &str) -> Result<CommitHash> {
    if let Some(commit) = named(view, on, text)? {
        return Ok(commit);
    }
    Err(match text.starts_with(":/") {
        true => Error::no_commit(text),
        false => unknown(view, text)?,
    })
}

/// The same; none for one step before the first commit.
pub(crate) fn resolve_or_root(view: &dyn View, on: &On, text: &str) -> Result<Option<CommitHash>> {
    let error = match resolve(view, on, text) {
        Err(error @ Error::BeyondFirst { .. }) => error,
        found => return found.map(Some),
    };
    let Some((base, back)) = steps_back(text) else {
        return Err(error);
    };
    let base = resolve(view, on, or_head(base))?;
    if load::commit(view, &base)?.depth + 1 == back {
        Ok(None)
    } else {
        Err(error)
    }
}

/// The commit that `text` names, if there is such a one.
fn named(view: &dyn View, on: &On, text: &str) -> Result<Option<CommitHash>> {
    if let Some(words) = text.strip_prefix(":/") {
        let tip = resolve(view, on, "HEAD")?;
        return newest_containing(view, &tip, words);
    }
    if let Some(entry) = visible_entry(view, on, text)? {
        return Ok(Some(entry.commit));
    }
    if let Some((base, back)) = steps_back(text) {
        let base = or_head(base);
        let tip = match resolve(view, on, base) {
            // The whole that was typed is what people recognise.
            Err(Error::UnknownRevision {
                text: inner,
                nearest,
                nothing_yet,
            }) if inner == base => {
                return Err(Error::UnknownRevision {
                    text: text.to_owned(),
                    nearest,
                    nothing_yet,
                });
            }
            found => found?,
        };
        let depth = load::commit(view, &tip)?.depth;
        let Some(depth) = depth.checked_sub(back) else {
            let first = view.ancestor_at(&tip, 0)?.unwrap_or(tip);
            return Err(Error::BeyondFirst {
                text: text.to_owned(),
                first: describe(view, &first)?,
            });
        };
        return view.ancestor_at(&tip, depth);
    }
    let moved = text.strip_suffix('}');
    if let Some((base, back)) = moved.and_then(|text| text.rsplit_once("@{"))
        && let Ok(number) = back.parse::<usize>()
    {
        if back.len() < MOMENT_DIGITS {
            return earlier(view, on, base, number);
        }
        let time = i64::try_from(number).map_or(Millis(i64::MAX), Millis);
        return at_moment(view, on, base, time).map(Some);
    }
    if matches!(text, "HEAD" | "@") {
        let head = repository::head(view, on)?;
        return match (head.commit(), head.branch()) {
            (None, Some(branch)) => Err(head::without_commits(view, branch)?),
            (commit, _) => Ok(commit),
        };
    }
    // Whatever else bears it as a name: a commit's hash, or what only its hash begins with, means
    // that commit. What several hashes begin with may still be a name.
    let hashed = match by_hash(view, text) {
        Ok(Some(commit)) => return Ok(Some(commit)),
        Err(error @ Error::AmbiguousRevision { .. }) => Err(error),
        none => none,
    };
    if let Some(name) = find_reference(view, text)?
        && let Some(commit) = target(view, &name)?
    {
        return Ok(Some(commit));
    }
    hashed?;
    if let Some(name) = session_with_prefix(view, text)? {
        return target(view, &name);
    }
    // A part: the commit that holds it.
    match part(text) {
        Some((base, _)) if !base.is_empty() => resolve(view, on, base).map(Some),
        _ => Ok(None),
    }
}

/// `REV^`, `REV^^`, `REV~`, `REV~N`: what stands before the last such step, and how far it goes.
fn steps_back(text: &str) -> Option<(&str, u64)> {
    let base = text.trim_end_matches('^');
    if base.len() < text.len() {
        return Some((base, (text.len() - base.len()) as u64));
    }
    let (base, back) = text.rsplit_once('~')?;
    match back {
        "" => Some((base, 1)),
        back => Some((base, back.parse().ok()?)),
    }
}

/// The branch that `text` means, by its full or its short name, or by the id of the session that it follows, where it
/// means no commit by its hash and no other ref.
pub(crate) fn branch(view: &dyn View, text: &str) -> Result<Option<RefName>> {
    if matches!(by_hash(view, text), Ok(Some(_))) {
        return Ok(None);
    }
    match find_reference(view, text)? {
        Some(name) if name.is_branch() => Ok(Some(name)),
        Some(name) if name.as_session().is_none() => Ok(None),
        _ => match session_with_prefix(view, text)? {
            Some(session) => followed_by(view, &session),
            None => Ok(None),
        },
    }
}

/// The branch that follows a session, if it is there.
pub(crate) fn followed_by(view: &dyn View, session: &RefName) -> Result<Option<RefName>> {
    let Some(branch) = view.follower(session)? else {
        return Ok(None);
    };
    Ok(view.reference(&branch)?.map(|_| branch))
}

/// The one commit whose hash is `text` or begins with it.
fn by_hash(view: &dyn View, text: &str) -> Result<Option<CommitHash>> {
    let Some(prefix) = HashPrefix::parse(text) else {
        return Ok(None);
    };
    let found = view.commits_with_prefix(&prefix, CANDIDATES + 1)?;
    match found.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(only.hash)),
        several => {
            let candidates = several.iter().take(CANDIDATES);
            let candidates = candidates.map(|row| describe(view, &row.hash));
            Err(Error::AmbiguousRevision {
                text: text.to_owned(),
                candidates: candidates.collect::<Result<_>>()?,
            })
        }
    }
}

/// What the ref held `back` moves ago.
fn earlier(view: &dyn View, on: &On, base: &str, back: usize) -> Result<Option<CommitHash>> {
    let name = match (base, on) {
        ("", _) => match repository::head(view, on)?.branch() {
            Some(branch) => branch.clone(),
            None => return head_earlier(view, back),
        },
        ("HEAD" | "@", On::Head) => return head_earlier(view, back),
        ("HEAD" | "@", On::Branch(branch)) => branch.clone(),
        (name, _) => match find_reference(view, name)? {
            Some(name) => name,
            None => match session_with_prefix(view, name)? {
                Some(name) => name,
                None => return Ok(None),
            },
        },
    };
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

/// Where a ref stood at a moment: the log is read from its end, each later move taken back.
///
/// # Errors
///
/// [`Error::BeforeItsFirst`] where it held nothing yet; [`Error::UnknownRevision`] for no ref.
fn at_moment(view: &dyn View, on: &On, base: &str, time: Millis) -> Result<CommitHash> {
    let name = match (base, on) {
        ("" | "HEAD" | "@", On::Branch(branch)) => branch.clone(),
        ("HEAD" | "@", On::Head) => RefName::head(),
        ("", On::Head) => repository::head(view, on)?
            .branch()
            .cloned()
            .unwrap_or_else(RefName::head),
        (name, _) => match find_reference(view, name)? {
            Some(name) => name,
            None => match session_with_prefix(view, name)? {
                Some(session) => session,
                None => return Err(unknown(view, name)?),
            },
        },
    };
    let mut values: HashMap<RefName, Option<RefValue>> = HashMap::new();
    for operation in load::operations(view, None) {
        let operation = operation?;
        if operation.time <= time {
            break;
        }
        let moves = view.moves(operation.id)?.into_iter().rev();
        values.extend(moves.map(|row| (row.name, row.old)));
    }
    let held = |name: &RefName| match values.get(name) {
        Some(old) => Ok(old.clone()),
        None => view.reference(name),
    };
    let mut value = held(&name)?;
    if value.is_none() && name == RefName::head() {
        value = Some(RefValue::Symbolic(head::first_branch(view)?));
    }
    if let Some(RefValue::Symbolic(branch)) = &value {
        value = held(branch)?;
    }
    let commit = value.and_then(|value| value.commit());
    commit.ok_or_else(|| Error::BeforeItsFirst {
        name: name.short().to_owned(),
    })
}

/// Where HEAD stood `back` moves ago, whether it moved itself or the branch below it did. The log
/// is read from its end, each move taken back.
fn head_earlier(view: &dyn View, back: usize) -> Result<Option<CommitHash>> {
    let mut held = view.reference(&RefName::head())?;
    let mut stood = repository::head(view, &On::Head)?.commit();
    let mut values: HashMap<RefName, Option<RefValue>> = HashMap::new();
    let mut moves = 0;
    if back == 0 {
        return Ok(stood);
    }
    for operation in load::operations(view, None) {
        for row in view.moves(operation?.id)?.into_iter().rev() {
            if row.name == RefName::head() {
                held = row.old;
            } else {
                values.insert(row.name, row.old);
            }
        }
        let held = held.clone();
        let held = match held {
            Some(held) => held,
            None => RefValue::Symbolic(head::first_branch(view)?),
        };
        let was = match held {
            RefValue::Commit(commit) => Some(commit),
            RefValue::Symbolic(branch) => match values.get(&branch) {
                Some(Some(RefValue::Commit(commit))) => Some(*commit),
                Some(_) => None,
                None => target(view, &branch)?,
            },
        };
        if was != stood {
            moves += 1;
            stood = was;
        }
        if moves == back {
            return Ok(stood);
        }
    }
    Ok(None)
}

/// The ref that `text` means: its full name, or a branch, tag or session by its short name.
pub(crate) fn find_reference(view: &dyn View, text: &str) -> Result<Option<RefName>> {
    for name in names(text) {
        if view.reference(&name)?.is_some() {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// The one session whose id begins so: the id alone, or `TOOL/` before it, as lists show it.
///
/// # Errors
///
/// [`Error::AmbiguousRevision`] where several begin so.
pub(crate) fn session_with_prefix(view: &dyn View, text: &str) -> Result<Option<RefName>> {
    let typed = text.strip_prefix("refs/").unwrap_or(text);
    let typed = typed.strip_prefix("sessions/").unwrap_or(typed);
    // Lists show what they cut off.
    let typed = typed.strip_suffix('…').unwrap_or(typed);
    let (tool, id) = match typed.split_once('/') {
        Some((tool, id)) => (Some(tool), id),
        None => (None, typed),
    };
    if id.len() < HashPrefix::MIN_DIGITS {
        return Ok(None);
    }
    let mut found: Vec<RefName> = Vec::new();
    for (name, _) in view.references(RefName::SESSIONS)? {
        let begins = name.as_session().is_some_and(|(other, own)| {
            tool.is_none_or(|tool| tool == other) && own.starts_with(id)
        });
        // What is below one that is found, its sub-agents, is not meant.
        let is_below = |above: &RefName| {
            let rest = name.as_str().strip_prefix(above.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        if begins && !found.iter().any(is_below) {
            found.push(name);
        }
    }
    // Of ids that repeat, each further one begins with the first.
    let is_whole = |name: &&RefName| name.as_session().is_some_and(|(_, own)| own == id);
    let mut whole = found.iter().filter(is_whole);
    if let (Some(name), None) = (whole.next(), whole.next()) {
        return Ok(Some(name.clone()));
    }
    match found.as_slice() {
        [] => Ok(None),
        [_] => Ok(found.pop()),
        several => Err(Error::AmbiguousRevision {
            text: text.to_owned(),
            candidates: several
                .iter()
                .take(CANDIDATES)
                .filter_map(|name| name.as_session())
                .map(|(tool, id)| format!("{tool}/{id}"))
                .collect(),
        }),
    }
}

/// The full names that `text` may stand for, in the order in which they are tried.
fn names(text: &str) -> impl Iterator<Item = RefName> {
    let prefixes = [
        "",
        RefName::HEADS,
        RefName::TAGS,
        "refs/",
        RefName::SESSIONS,
        RefName::REMOTES,
    ];
    prefixes
        .into_iter()
        .filter_map(move |prefix| format!("{prefix}{text}").parse().ok())
}

fn target(view: &dyn View, name: &RefName) -> Result<Option<CommitHash>> {
    match view.reference(name)? {
        Some(RefValue::Commit(commit)) => Ok(Some(commit)),
        Some(RefValue::Symbolic(name)) => load::tip(view, &name),
        None => Ok(None),
    }
}

/// A commit as a suggestion shows it: short hash and preview.
fn describe(view: &dyn View, hash: &CommitHash) -> Result<String> {
    Ok(format!("{} (\"{}\")", hash.short(), preview(view, hash)?))
}

/// One line about a commit. A tool's result is told by its call.
fn preview(view: &dyn View, hash: &CommitHash) -> Result<String> {
    let row = load::commit(view, hash)?;
    Ok(match &row.commit.operation {
        Operation::Append { content } | Operation::Edit { content, .. } => {
            let said = load::told_row(view, content)?;
            let call = if said.as_ref().is_some_and(|said| said.results > 0) {
                calls::lines(view, &[EntryId::of(*hash)])?.pop().flatten()
            } else {
                None
            };
            let said = said.map(|said| said.preview);
            call.or(said).unwrap_or_default()
        }
        operation @ Operation::Hide(_) => operation.verb().to_owned(),
        other => other.type_name().to_owned(),
    })
}

/// The error for a text that names nothing.
fn unknown(view: &dyn View, text: &str) -> Result<Error> {
    let references = view.references("")?;
    let nearest = nearest(view, &references, text)?;
    let mut names = references.iter().map(|(name, _)| name);
    Ok(Error::UnknownRevision {
        text: text.to_owned(),
        nothing_yet: nearest.is_none() && names.all(RefName::is_position),
        nearest,
    })
}

/// The nearest name of a ref, or the commit whose hash was meant.
fn nearest(
    view: &dyn View,
    references: &[(RefName, RefValue)],
    text: &str,
) -> Result<Option<String>> {
    let names = references.iter().map(|(name, _)| name.short());
    if let Some(name) = model::nearest(text, names.chain(["HEAD"])) {
        return Ok(Some(name.to_owned()));
    }
    nearest_hash(view, text)
}

/// The commit whose hash `text` may have meant: one digit off, missing or too many, anywhere but
/// in the first digits alone.
fn nearest_hash(view: &dyn View, text: &str) -> Result<Option<String>> {
    // Another sign in place of a digit is one that is off; which one was meant, the scan tells.
    let is_slip = |c: char| !c.is_ascii_hexdigit();
    let slips = text.chars().filter(|c| is_slip(*c)).count();
    let is_word = text.chars().all(|c| c.is_ascii_alphanumeric());
    if !is_word || slips > 1 {
        return Ok(None);
    }
    let text = text.replace(is_slip, "0").to_ascii_lowercase();
    let digits = text.len();
    let least = HashPrefix::MIN_DIGITS + 2 * slips;
    if !(least..=HASH_DIGITS).contains(&digits) {
        return Ok(None);
    }
    let half = (digits / 2).max(HashPrefix::MIN_DIGITS);
    // What is one digit off shares either its first half or, found by trying each other digit in
    // the first half, the second: a few range scans either way.
    let mut tries = vec![text[..half].to_owned()];
    for at in 0..half {
        for digit in "0123456789abcdef".chars() {
            tries.push(format!("{}{digit}{}", &text[..at], &text[at + 1..]));
        }
    }
    let mut best: Option<(usize, CommitHash)> = None;
    for prefix in tries {
        let Some(prefix) = HashPrefix::parse(&prefix) else {
            continue;
        };
        for row in view.commits_with_prefix(&prefix, NEAR)? {
            let hash = row.hash.to_string();
            let off = strsim::damerau_levenshtein(&text, &hash[..digits]);
            if off <= OFF && best.is_none_or(|(least, _)| off < least) {
                best = Some((off, row.hash));
            }
        }
    }
    best.map(|(_, hash)| describe(view, &hash)).transpose()
}

/// How many digits a whole hash has.
const HASH_DIGITS: usize = 64;
/// How many commits with one beginning are compared.
const NEAR: usize = 50;
/// How many changes turn what was typed into a suggested hash. Two, for a digit left out shifts
/// another one in at the end.
const OFF: usize = 2;

/// The newest commit on the path to `tip` with `text` in a message that it brings: what `:/TEXT`
/// names. Whether that message is visible doesn't matter.
///
/// # Errors
///
/// [`crate::Error::InvalidInput`] for an empty text.
pub(crate) fn newest_containing(
    view: &dyn View,
    tip: &CommitHash,
    text: &str,
) -> Result<Option<CommitHash>> {
    let pattern = Pattern::text(text)?;
    for hit in view.search(pattern.literals(), &[*tip])? {
        let content = match hit.content {
            Some(content) => Some(content),
            None => load::commit(view, &hit.commit)?.appended(),
        };
        let message = match content {
            Some(content) => view.content(&content)?,
            None => None,
        };
        if message.is_some_and(|message| pattern.is_in(&message)) {
            return Ok(Some(hit.commit));
        }
    }
    Ok(None)
}
