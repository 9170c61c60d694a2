//! A session that a purge has erased, when it comes in again: its text stays erased where the
//! session has it already, and the same text anywhere else is a new message.
//!
//! So it goes by the session, not by the text: erased messages are followed only along the commits
//! that the session's own refs reach, and those of the sessions that it is a copy of. Deliberately absent: what becomes of text that people write
//! ([`crate::repo::reissue`]).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Step;
use crate::error::Result;
use crate::formats::Action;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Message, Millis, Operation, RefName, Role, Sealed};
use crate::repo::copies::Copies;
use crate::repo::{load, path, reissue};
use crate::store::View;
use crate::upkeep::purge::is_any_erased;

/// What a session's own refs reached before this import.
pub(super) struct Own {
    /// The commits by what they come after; none where nothing of them is erased.
    after: HashMap<Option<CommitHash>, Vec<CommitHash>>,
    /// All of these in the order of their times, where it is a copy of others: it may leave some of them out.
    copied: Vec<(Option<Millis>, CommitHash)>,
    /// What of that is erased, by the moment when it was said.
    erased: HashMap<Millis, Vec<ContentHash>>,
}

/// Where on the session's own paths the same has been said, message by message, as on the path so
/// far. The commits may be others: a chat that has grown bears its settings on another message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// Up to this commit; none: nothing has been said yet.
    After(Option<CommitHash>),
    /// Up to this commit, and no prompt yet: so far stands what a client says before the first one.
    Before(CommitHash),
    /// Nowhere: what comes is new.
    Nowhere,
}

impl Own {
    /// Of the session `id` of `tool`, and of those that it is a copy of: its file names `originals`. None where nothing
    /// is erased.
    pub(super) fn of(
        view: &dyn View,
        tool: &str,
        id: &str,
        originals: &dyn Fn() -> Result<Vec<RefName>>,
    ) -> Result<Option<Self>> {
        if !is_any_erased(view)? {
            return Ok(None);
        }
        let mut originals = originals()?;
        let is_copy = !originals.is_empty();
        if let Some(first) = originals.first() {
            originals.extend(Copies::of(view).parents(first)?);
        }
        let originals = originals.iter().filter_map(RefName::as_session);
        let mut tips = Vec::new();
        for (tool, id) in [(tool, id)].into_iter().chain(originals) {
            for (name, tip) in refs_of(view, tool, id)?.0 {
                tips.push(tip);
                let below = load::tips(view, &format!("{name}/"))?;
                tips.extend(below.into_iter().map(|(_, tip)| tip));
            }
            // What resume wrote is what stands at the commit that it was written of.
            tips.extend(view.resumed(tool, id)?.map(|resumed| resumed.commit));
        }
        let mut after: HashMap<_, Vec<CommitHash>> = HashMap::new();
        let mut copied = Vec::new();
        let mut said: BTreeMap<ContentHash, BTreeSet<Millis>> = BTreeMap::new();
        for tip in &tips {
            let shared = path::last_shared(view, tip, &tips[0])?;
            let shared = shared.filter(|_| *tip != tips[0]);
            for row in view.ancestors(tip, shared.as_ref(), usize::MAX)? {
                let next = after.entry(row.commit.parent).or_default();
                if !next.contains(&row.hash) {
                    next.push(row.hash);
                    copied.push((row.commit.time, row.hash));
                    for content in row.commit.operation.contents() {
                        said.entry(content).or_default().extend(row.commit.time);
                    }
                }
            }
        }
        let contents: Vec<ContentHash> = said.keys().copied().collect();
        let is_erased = view.purged(&contents)?;
        if !is_erased.contains(&true) {
            after.clear();
        }
        copied.retain(|_| is_copy && !after.is_empty());
        copied.sort_unstable();
        let mut erased: HashMap<Millis, Vec<ContentHash>> = HashMap::new();
        let all = said.into_iter().zip(is_erased);
        for ((content, moments), _) in all.filter(|(_, is)| *is && is_copy) {
            for moment in moments {
                erased.entry(moment).or_default().push(content);
            }
        }
        Ok(Some(Self {
            after,
            copied,
            erased,
        }))
    }

    /// The step with its messages in the form that they have here: as the session has them already
    /// after `beside`, or as they were said at that very moment behind `tip`, for that is a copy of a session that is not known
    /// as one, or else as they are not erased. And where that is on its own paths.
    pub(super) fn told(
        &self,
        view: &dyn View,
        (tip, beside): (Option<&CommitHash>, Beside),
        step: Step,
    ) -> Result<(Step, Beside)> {
        let messages: Vec<&Sealed<Message>> = match &step.action {
            Action::Append(message) => vec![message],
            Action::Hide(hide) => hide.messages().collect(),
        };
        let mut forms = Vec::with_capacity(messages.len());
        for message in messages {
            forms.push(reissue::forms(view, message)?);
        }
        let mut found = self.among(view, self.after(beside), &step, &forms)?;
        if found.is_none() {
            found = self.among(view, self.begins(view, beside)?, &step, &forms)?;
        }
        let (beside, said) = match found {
            Some((commit, said)) => {
                let beside = match is_before_talk(&step) && beside.has_no_prompt() {
                    true => Beside::Before(commit),
                    false => Beside::After(Some(commit)),
                };
                (beside, said.into_iter().map(Some).collect())
            }
            None => {
                let behind_it = said_then(view, tip, &step, &forms)?;
                let said = forms
                    .iter()
                    .map(|forms| behind_it.or(self.erased_then(&step, forms)));
                (Beside::Nowhere, said.collect::<Vec<_>>())
            }
        };
        let mut said = said.into_iter();
        let mut forms = forms.into_iter();
        let step = step.with(|message| {
            let mut forms = forms.next().unwrap_or_else(|| vec![message]);
            let said = said.next().flatten();
            let at = forms.iter().position(|form| Some(form.hash()) == said);
            forms.swap_remove(at.unwrap_or(forms.len() - 1))
        });
        Ok((step, beside))
    }

    /// The erased form of a message that was said at the step's moment in what this is a copy of: it may begin in the
    /// middle of that, with what a compaction left.
    fn erased_then(&self, step: &Step, forms: &[Sealed<Message>]) -> Option<ContentHash> {
        let then = self.erased.get(&step.time?)?;
        let mut forms = forms.iter().map(Sealed::hash);
        forms.find(|form| then.contains(form))
    }

    /// The first of these commits that says the same, one that says it at the same moment before others.
    fn among(
        &self,
        view: &dyn View,
        commits: impl IntoIterator<Item = CommitHash>,
        step: &Step,
        forms: &[Vec<Sealed<Message>>],
    ) -> Result<Option<(CommitHash, Vec<ContentHash>)>> {
        let mut found = None;
        for hash in commits {
            let commit = load::commit(view, &hash)?.commit;
            let contents = commit.operation.contents();
            if !is_like(&commit.operation, step) || !are_among(&contents, forms) {
                continue;
            }
            if commit.time == step.time && commit.settings == step.settings {
                return Ok(Some((hash, contents)));
            }
            found = found.or(Some((hash, contents)));
        }
        Ok(found)
    }

    /// Where a copy may begin that has no prompt yet: what a compaction left out before it was made, it has no copies
    /// of. What is said behind its prompts is its own.
    fn begins(&self, view: &dyn View, beside: Beside) -> Result<Vec<CommitHash>> {
        let first = match beside {
            _ if self.copied.is_empty() => return Ok(Vec::new()),
            Beside::After(None) => 0,
            Beside::Before(commit) => {
                let time = load::commit(view, &commit)?.commit.time;
                self.copied.partition_point(|(other, _)| *other <= time)
            }
            Beside::After(Some(_)) | Beside::Nowhere => return Ok(Vec::new()),
        };
        Ok(self.copied[first..]
            .iter()
            .map(|(_, commit)| *commit)
            .collect())
    }

    fn after(&self, beside: Beside) -> Vec<CommitHash> {
        let next = match beside {
            Beside::After(commit) => self.after.get(&commit),
            Beside::Before(commit) => self.after.get(&Some(commit)),
            Beside::Nowhere => None,
        };
        next.cloned().unwrap_or_default()
    }
}

impl Beside {
    const fn has_no_prompt(self) -> bool {
        matches!(self, Self::After(None) | Self::Before(_))
    }
}

/// Whether a step is what a client says before anybody talks: instructions, and what it attaches.
fn is_before_talk(step: &Step) -> bool {
    match &step.action {
        Action::Append(message) => {
            matches!(message.role, Role::System | Role::Developer) || message.attached.is_some()
        }
        Action::Hide(_) => false,
    }
}

/// The refs that a session has: its own, and those beside it that it got where its history was
/// rewritten. And the next one that is free.
pub(in crate::ingest) fn refs_of(
    view: &dyn View,
    tool: &str,
    id: &str,
) -> Result<(Vec<(RefName, CommitHash)>, RefName)> {
    let mut known = Vec::new();
    let first = RefName::session(tool, id);
    let mut name = first.clone();
    for number in 2.. {
        let Some(tip) = load::tip(view, &name)? else {
            break;
        };
        known.push((name, tip));
        name = first.numbered(number);
    }
    Ok((known, name))
}

/// The erased form of the message that a step appends, where the commit that appends it behind `tip` at that moment is here.
fn said_then(
    view: &dyn View,
    tip: Option<&CommitHash>,
    step: &Step,
    forms: &[Vec<Sealed<Message>>],
) -> Result<Option<ContentHash>> {
    // What bears no time says nothing of when it was said.
    let (Action::Append(_), [forms], Some(_)) = (&step.action, forms, step.time) else {
        return Ok(None);
    };
    let erased = forms.iter().take(forms.len() - 1);
    for content in erased.map(Sealed::hash) {
        let appends = view.appends_after(tip, &content, usize::MAX)?;
        for row in view.commits(&appends)?.into_iter().flatten() {
            if row.commit.time == step.time && row.commit.settings == step.settings {
                return Ok(Some(content));
            }
        }
    }
    Ok(None)
}

/// Whether an operation is of the kind that a step makes.
fn is_like(operation: &Operation, step: &Step) -> bool {
    match (operation, &step.action) {
        (Operation::Append { .. }, Action::Append(_)) => true,
        (Operation::Hide(made), Action::Hide(told)) => made.kind == told.kind,
        _ => false,
    }
}

/// Whether each of these contents is one of the forms of its message.
fn are_among(contents: &[ContentHash], forms: &[Vec<Sealed<Message>>]) -> bool {
    let is_among = |(content, forms): (&ContentHash, &Vec<Sealed<Message>>)| {
        forms.iter().any(|form| form.hash() == *content)
    };
    contents.len() == forms.len() && contents.iter().zip(forms).all(is_among)
}
