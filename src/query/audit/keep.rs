//! What must survive a compaction: what is pinned, and the facts of a conversation, from its own messages.
//!
//! Summaries are no source: what an earlier one left out is looked for in what it stands for. Deliberately
//! absent: what is dropped, cleared or truncated on purpose.

use std::collections::HashSet;

use super::{Changes, FactClass, FoundFact, HeldMessage, Said, facts_of, rank};
use crate::context::Entry;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::searched::searched;
use crate::model::secret::{SecretCounts, Secrets};
use crate::model::{EntryId, HideKind, Message, Priority, Role};
use crate::repo::outline::Outline;
use crate::repo::repository::Repo;
use crate::repo::stretches::Stood;
use crate::repo::{load, prompts};
use crate::store::View;

/// How many messages are looked through, the newest.
const MOST: usize = 4_096;

/// What is known of the summary by which a compaction replaces a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard<'a> {
    /// Nothing: it is not written yet.
    Nothing,
    /// This is what it says.
    Summary(&'a str),
    /// What stands in the context, as far as its compaction is there.
    Context,
}

/// Something that is to survive word for word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The message that holds it.
    pub entry: EntryId,
    /// It. Hostile until escaped.
    pub text: String,
}

/// What a compaction must not lose.
#[derive(Clone, Debug, Default)]
pub struct Keep {
    /// What is pinned and nothing says, in the order of the conversation.
    pub pins: Vec<Pin>,
    /// What nothing says, what is most likely to be missed first.
    pub facts: Vec<FoundFact>,
    /// How many facts and pins there are, those included that something says.
    pub held: usize,
    /// Whether the compaction is in the history already.
    pub is_compacted: bool,
}

impl Repo {
    /// What a compaction of the conversation at `tip` must not lose, or has lost. What is pinned at `branch` is pinned
    /// as well: pins are commits of the branch that follows a session. Messages are looked at without `secrets`, where these are
    /// given: a fact is a piece of a message, and nothing knows a secret by a piece of it.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn keep(
        &self,
        tip: &CommitHash,
        branch: Option<&CommitHash>,
        heard: Heard<'_>,
        changes: Changes,
        secrets: Option<&Secrets>,
    ) -> Result<Keep> {
        let view = self.store.read()?;
        let outline = Outline::of(&*view, tip)?;
        let all = outline.uncompacted();
        let rows = all.read_in(&*view, all.len().saturating_sub(MOST)..all.len())?;
        let seen: Vec<&Entry> = rows
            .iter()
            .filter(|row| row.number.is_some())
            .map(|row| &row.entry)
            .collect();
        let visible = load::messages(&*view, seen.iter().copied())?;
        let is_compacted = is_compacted(&seen, &visible);
        let is_known = is_compacted && heard != Heard::Nothing;
        let mut said = Said::default();
        if is_known {
            said = Said::of(&visible);
        }
        if let Heard::Summary(text) = heard {
            said.add(text);
        }
        let own = rows.iter().filter(|row| row.hidden.is_some() || !is_known);
        let own: Vec<&Entry> = own.map(|row| &row.entry).collect();
        let mut pins = annotated(&*view, &outline, secrets)?;
        if let Some(branch) = branch.filter(|branch| *branch != tip) {
            pins.extend(annotated(&*view, &Outline::of(&*view, branch)?, secrets)?);
        }
        let keep = unsaid(&*view, &own, pins, &said, changes, secrets)?;
        Ok(Keep {
            is_compacted,
            ..keep
        })
    }
}

/// What nothing says of these messages of a path, and of these pins.
pub(crate) fn unsaid(
    view: &dyn View,
    entries: &[&Entry],
    mut pins: Vec<Pin>,
    said: &Said,
    changes: Changes,
    secrets: Option<&Secrets>,
) -> Result<Keep> {
    let own = entries.iter().copied();
    let own: Vec<&Entry> = own
        .filter(|entry| !entry.placed.is_some_and(HideKind::marks))
        .collect();
    let messages = contents(view, &own, secrets)?;
    let named: Vec<(CommitHash, ContentHash)> = own
        .iter()
        .map(|entry| (entry.id.commit, entry.content))
        .collect();
    let typed = prompts::typed_contents(view, &named)?;
    let held = own.iter().zip(&messages).zip(typed);
    let held = held.map(|((entry, message), typed)| HeldMessage {
        entry: entry.id,
        message,
        typed,
    });
    let held: Vec<HeldMessage<'_>> = held.collect();
    let mut facts = facts_of(&held, changes);
    rank::rank(&mut facts);
    pins.extend(by_hand(&held));
    let mut known = HashSet::new();
    pins.retain(|pin| known.insert(pin.text.clone()));
    facts.retain_mut(|found| {
        // What is pinned is said with the pins.
        if found.fact.class == FactClass::Instruction {
            found.fact.text = without_pins(&found.fact.text);
        }
        !found.fact.text.is_empty() && !known.contains(&found.fact.text)
    });
    let held = pins.len() + facts.len();
    pins.retain(|pin| !said.has(&pin.text));
    facts.retain(|fact| !said.says(fact));
    Ok(Keep {
        pins,
        facts,
        held,
        is_compacted: false,
    })
}

/// Whether the newest compaction of what is visible is the one that was last made: nobody has answered since.
fn is_compacted(seen: &[&Entry], messages: &[Message]) -> bool {
    let is_summary = |entry: &&Entry| entry.placed == Some(HideKind::Compaction);
    let Some(last) = seen.iter().rposition(is_summary) else {
        return false;
    };
    let since = seen.iter().zip(messages).skip(last + 1);
    !since
        .filter(|(entry, _)| entry.placed.is_none())
        .any(|(_, message)| message.role == Role::Assistant)
}

/// The messages as they were said, whatever is hidden of them, without secrets where these are given.
fn contents(
    view: &dyn View,
    entries: &[&Entry],
    secrets: Option<&Secrets>,
) -> Result<Vec<Message>> {
    let names: Vec<ContentHash> = entries.iter().map(|entry| entry.content).collect();
    let mut messages = load::contents(view, &names)?;
    if let Some(secrets) = secrets {
        for message in &mut messages {
            if let Some(redacted) = secrets.redact_message(message, &mut SecretCounts::new()) {
                *message = redacted;
            }
        }
    }
    Ok(messages)
}

/// The messages with the priority of a pin, but for those that were taken out on purpose.
fn annotated(view: &dyn View, outline: &Outline, secrets: Option<&Secrets>) -> Result<Vec<Pin>> {
    let pinned = outline.stretches.iter().filter(|stretch| {
        let is_there = stretch.fate.visible || stretch.is_compacted;
        stretch.stands && is_there && stretch.fate.priority == Priority::Pinned
    });
    let entries = pinned.filter_map(|stretch| match &stretch.what {
        Stood::One(entry) => Some(&**entry),
        Stood::From(_) => None,
    });
    let entries: Vec<&Entry> = entries.collect();
    let messages = contents(view, &entries, secrets)?;
    let pins = entries.iter().zip(&messages).map(|(entry, message)| {
        let passages = searched(message);
        let texts: Vec<&str> = passages.iter().map(|passage| &*passage.text).collect();
        Pin {
            entry: entry.id,
            text: texts.join("\n").trim().to_owned(),
        }
    });
    Ok(pins.filter(|pin| !pin.text.is_empty()).collect())
}

/// What the user marked with `@pin` while typing.
fn by_hand(held: &[HeldMessage<'_>]) -> Vec<Pin> {
    let typed = held.iter().filter(|held| held.typed);
    let pins = typed.flat_map(|held| {
        let texts = held.message.typed_texts();
        let marked = texts.into_iter().filter_map(|text| pinned_text(&text));
        marked.map(|text| Pin {
            entry: held.entry,
            text,
        })
    });
    pins.collect()
}

/// The lines that a person pinned: those that begin with `@pin`, or all, where that stands on a line by itself.
///
/// ```
/// use tract::query::audit::pinned_text;
///
/// assert_eq!(pinned_text("Go on.\n@pin Ask before a release.").as_deref(), Some("Ask before a release."));
/// assert_eq!(pinned_text("@pin\nAsk first.\nThen go.").as_deref(), Some("Ask first.\nThen go."));
/// assert_eq!(pinned_text("Write to me@pin.example."), None);
/// ```
pub fn pinned_text(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().filter_map(marked).collect();
    let pinned = if lines.contains(&"") {
        let whole = text.lines().filter(|line| marked(line) != Some(""));
        let whole = whole.map(|line| marked(line).unwrap_or(line));
        whole.collect::<Vec<_>>().join("\n")
    } else {
        lines.join("\n")
    };
    (!pinned.trim().is_empty()).then(|| pinned.trim().to_owned())
}

/// What stands behind the mark of a pin; none: the line has none.
fn marked(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("@pin")?;
    let is_word = rest.chars().next().is_none_or(char::is_whitespace);
    is_word.then(|| rest.trim())
}

/// A prompt without the lines that are pinned.
fn without_pins(text: &str) -> String {
    if text.lines().any(|line| marked(line) == Some("")) {
        return pinned_text(text).unwrap_or_default();
    }
    let rest = text.lines().filter(|line| marked(line).is_none());
    rest.collect::<Vec<_>>().join("\n").trim().to_owned()
}
