//! A commit: parent, operation, time, request settings, note; with its canonical form.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash, as_text, canonical};
use crate::model::word::word;
use crate::model::{Message, Millis, Priority, Sealable, Sealed};

/// Request settings: provider key to JSON text (`"temperature"` to `0.7`, `"model"` to `"\"m\""`).
pub type Settings = BTreeMap<String, String>;

/// An immutable step of history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// The step before; none for a root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<CommitHash>,
    /// What this step does.
    pub operation: Operation,
    /// When, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Millis>,
    /// Request settings that hold from here on.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
    /// A remark for people; no model sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Who made it, where that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// The tip of the other path that this commit brings in: the second parent. The fold does not follow it; what
    /// it names, and all before that, is part of this history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<CommitHash>,
    /// The commit of another path of which this one is a copy. It need not be here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<CommitHash>,
}

/// Who made a commit. At least one of these is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Author {
    /// A person, or a program in their place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The program that committed, and its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// What it was about then: an id of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

impl Author {
    /// The same, if anything of it is known.
    pub fn known(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }

    /// Their texts.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let Self { name, client, run } = self;
        [name, client, run].into_iter().flatten()
    }
}

/// `Mara, by aider 0.86 (run 17)`.
impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.as_deref().unwrap_or("somebody"))?;
        if let Some(client) = &self.client {
            write!(f, ", by {client}")?;
        }
        if let Some(run) = &self.run {
            write!(f, " (run {run})")?;
        }
        Ok(())
    }
}

/// A commit that is not stored yet: it lacks a parent and a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// What it will do.
    pub operation: Operation,
    /// The messages whose hashes the operation names, and that may not be stored yet.
    pub messages: Vec<Sealed<Message>>,
    /// Request settings that hold from here on.
    pub settings: Settings,
    /// A remark for people.
    pub note: Option<String>,
    /// Who makes it, where that is said.
    pub author: Option<Author>,
    /// The tip of the other path that it brings in.
    pub merged: Option<CommitHash>,
    /// The commit of which it is a copy.
    pub origin: Option<CommitHash>,
}

impl Draft {
    /// Appends a message.
    pub fn append(message: impl Into<Sealed<Message>>) -> Self {
        let message = message.into();
        let content = message.hash();
        Self::new(Operation::Append { content }, vec![message])
    }

    /// Gives an entry a new content.
    pub fn edit(target: EntryId, message: impl Into<Sealed<Message>>) -> Self {
        let message = message.into();
        let content = message.hash();
        Self::new(Operation::Edit { target, content }, vec![message])
    }

    /// Changes no message, for it gives an entry the priority that it has: it is there for its settings or its note.
    pub fn idle(entry: EntryId, priority: Priority) -> Self {
        let operation = Operation::Annotate {
            targets: vec![entry],
            priority,
            reason: None,
        };
        Self::new(operation, Vec::new())
    }

    /// An operation with the messages that it names, and nothing more.
    pub fn new(operation: Operation, messages: Vec<Sealed<Message>>) -> Self {
        Self {
            operation,
            messages,
            settings: Settings::new(),
            note: None,
            author: None,
            merged: None,
            origin: None,
        }
    }
}

/// What a commit does to the order of entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum Operation {
    /// Adds an entry at the end, named by the commit's hash.
    Append {
        /// The message.
        content: ContentHash,
    },
    /// Gives an earlier entry a new content, whole.
    Edit {
        /// The entry.
        target: EntryId,
        /// The new message.
        content: ContentHash,
    },
    /// Takes entries or parts out of the context.
    Hide(Hide),
    /// Makes an earlier hide or edit inactive.
    Restore {
        /// The hide or edit.
        target: CommitHash,
        /// Only for these entries; empty: wholly.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        entries: Vec<EntryId>,
    },
    /// Sets priorities.
    Annotate {
        /// The entries.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        targets: Vec<EntryId>,
        /// The priority.
        priority: Priority,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// A hide: what it covers, what it spares, what it puts in place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hide {
    /// Why it was made.
    pub kind: HideKind,
    /// Spans of the total order, as it is at this commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<Interval>,
    /// Entries inside the intervals that stay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<EntryId>,
    /// Single parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartHide>,
    /// Messages put in place of what was hidden, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replacements: Vec<Replacement>,
}

impl Hide {
    /// Whether it moves messages: what a drop puts in place is what it drops.
    pub const fn is_move(&self) -> bool {
        matches!(self.kind, HideKind::Drop) && !self.replacements.is_empty()
    }
}

/// The kind of a hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HideKind {
    /// A sliding window.
    Truncation,
    /// A summary in place of a span.
    Compaction,
    /// A fresh start.
    Clear,
    /// Named messages or parts.
    Drop,
    /// Old tool outputs.
    Prune,
}

/// `first..last` of the total order, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// The first covered entry.
    pub first: EntryId,
    /// The last covered entry.
    pub last: EntryId,
}

/// One part of one entry, taken out of the content that the entry has at this commit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartHide {
    /// The entry.
    pub entry: EntryId,
    /// The part's index in the entry's content, from 0.
    pub part: u32,
    /// A message whose parts stand where the part stood; none: nothing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stub: Option<ContentHash>,
}

/// A message that a hide puts in place of what it hid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// The entry that it stands before; none: at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<EntryId>,
    /// The message.
    pub content: ContentHash,
}

/// The name of an entry: `HASH` of the commit that made it, `HASH#i` where that commit is a hide
/// with several replacements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId {
    /// The append, or the hide.
    pub commit: CommitHash,
    /// Which of several replacements, from 0.
    pub index: Option<u32>,
}

impl EntryId {
    /// The entry that an append (or a hide with one replacement) made.
    pub const fn of(commit: CommitHash) -> Self {
        Self {
            commit,
            index: None,
        }
    }

    /// The name of the `index`th of `count` replacements of the hide `commit`.
    pub fn replacement(commit: CommitHash, index: usize, count: usize) -> Self {
        let index = (count > 1).then(|| u32::try_from(index).expect("replacements fit 32 bits"));
        Self { commit, index }
    }
}

impl From<CommitHash> for EntryId {
    fn from(commit: CommitHash) -> Self {
        Self::of(commit)
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            None => write!(f, "{}", self.commit),
            Some(index) => write!(f, "{}#{index}", self.commit),
        }
    }
}

impl fmt::Debug for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            None => write!(f, "{:.10}", self.commit),
            Some(index) => write!(f, "{:.10}#{index}", self.commit),
        }
    }
}

impl FromStr for EntryId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some((hash, index)) = text.split_once('#') else {
            return Ok(Self::of(text.parse()?));
        };
        let canonical = |digits: &str| digits == "0" || !digits.starts_with(['0', '+']);
        let index = index.parse().ok().filter(|_| canonical(index));
        match index {
            Some(index) => Ok(Self {
                commit: hash.parse()?,
                index: Some(index),
            }),
            None => Err(Error::InvalidHash {
                text: text.to_owned(),
            }),
        }
    }
}

as_text!(EntryId);

impl HideKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Truncation,
        Self::Compaction,
        Self::Clear,
        Self::Drop,
        Self::Prune,
    ];

    /// The word in the stored form: `truncation`, `compaction`, `clear`, `drop`, `prune`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Truncation => "truncation",
            Self::Compaction => "compaction",
            Self::Clear => "clear",
            Self::Drop => "drop",
            Self::Prune => "prune",
        }
    }

    /// Whether a message that such a hide puts in place stands for what it hides. One that a drop puts
    /// somewhere is a message like any other.
    pub const fn marks(self) -> bool {
        !matches!(self, Self::Drop)
    }

    /// The word that `log` prints: the command's name.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Truncation => "truncate",
            Self::Compaction => "compact",
            Self::Clear => "clear",
            Self::Drop => "drop",
            Self::Prune => "prune",
        }
    }
}

word!(HideKind, |detail| Error::Malformed {
    what: "hide kind",
    detail
});

as_text!(HideKind);

impl Operation {
    /// The word in the stored form: `append`, `edit`, `hide`, `restore`, `annotate`.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Append { .. } => "append",
            Self::Edit { .. } => "edit",
            Self::Hide(_) => "hide",
            Self::Restore { .. } => "restore",
            Self::Annotate { .. } => "annotate",
        }
    }

    /// The word that listings print: the command's name for a hide, else as in the stored form.
    pub const fn verb(&self) -> &'static str {
        match self {
            Self::Hide(hide) if hide.is_move() => "move",
            Self::Hide(hide) => hide.kind.verb(),
            other => other.type_name(),
        }
    }

    /// The entries that it names.
    pub fn entries(&self) -> Vec<EntryId> {
        let mut own = self.clone();
        own.entries_mut().into_iter().map(|entry| *entry).collect()
    }

    /// The entries that it names, to be named otherwise.
    pub fn entries_mut(&mut self) -> Vec<&mut EntryId> {
        match self {
            Self::Append { .. } => Vec::new(),
            Self::Edit { target, .. } => vec![target],
            Self::Hide(hide) => {
                let intervals = hide.intervals.iter_mut();
                let ends = intervals.flat_map(|of| [&mut of.first, &mut of.last]);
                let parts = hide.parts.iter_mut().map(|part| &mut part.entry);
                let placed = hide.replacements.iter_mut();
                let slots = placed.filter_map(|placed| placed.before.as_mut());
                ends.chain(&mut hide.keep)
                    .chain(parts)
                    .chain(slots)
                    .collect()
            }
            Self::Restore { entries, .. } => entries.iter_mut().collect(),
            Self::Annotate { targets, .. } => targets.iter_mut().collect(),
        }
    }

    /// The same operation about other contents: each as `renamed` gives it.
    #[must_use]
    pub fn with_contents(&self, renamed: impl Fn(&ContentHash) -> ContentHash) -> Self {
        let mut operation = self.clone();
        match &mut operation {
            Self::Append { content } | Self::Edit { content, .. } => *content = renamed(content),
            Self::Hide(hide) => {
                let stubs = hide.parts.iter_mut().filter_map(|part| part.stub.as_mut());
                let placed = hide
                    .replacements
                    .iter_mut()
                    .map(|placed| &mut placed.content);
                stubs
                    .chain(placed)
                    .for_each(|content| *content = renamed(content));
            }
            Self::Restore { .. } | Self::Annotate { .. } => {}
        }
        operation
    }

    /// The contents that this operation refers to, in order, repeats included.
    pub fn contents(&self) -> Vec<ContentHash> {
        match self {
            Self::Append { content } | Self::Edit { content, .. } => vec![*content],
            Self::Hide(hide) => {
                let stubs = hide.parts.iter().filter_map(|part| part.stub);
                stubs
                    .chain(hide.replacements.iter().map(|r| r.content))
                    .collect()
            }
            Self::Restore { .. } | Self::Annotate { .. } => Vec::new(),
        }
    }
}

impl Commit {
    /// The canonical bytes (`docs/object-format.md`, "Commit").
    pub fn canonical(&self) -> String {
        self.plain_append().unwrap_or_else(|| canonical(self))
    }

    /// The same of what [`Self::from_plain_append`] reads, likewise.
    fn plain_append(&self) -> Option<String> {
        let Self {
            parent,
            operation: Operation::Append { content },
            time,
            settings,
            note: None,
            author: None,
            merged: None,
            origin: None,
        } = self
        else {
            return None;
        };
        settings.is_empty().then_some(())?;
        let mut text = String::with_capacity(256);
        let content = content.to_string();
        text.extend([
            r#"{"operation":{"content":""#,
            content.as_str(),
            r#"","type":"append"}"#,
        ]);
        if let Some(parent) = parent {
            text.extend([r#","parent":""#, parent.to_string().as_str(), "\""]);
        }
        if let Some(Millis(time)) = time {
            text.extend([r#","time":"#, time.to_string().as_str()]);
        }
        text.push('}');
        Some(text)
    }

    /// The commit hash.
    pub fn hash(&self) -> CommitHash {
        CommitHash::of(&self.canonical())
    }

    /// Reads canonical bytes back.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if `canonical` isn't a commit's canonical form.
    pub fn from_canonical(canonical: &str) -> Result<Self> {
        if let Some(append) = Self::from_plain_append(canonical) {
            return Ok(append);
        }
        serde_json::from_str(canonical).map_err(|error| Error::malformed("commit", error))
    }

    /// The same for the form that nearly all commits have, a twentieth of the time: a message is
    /// appended, without settings or note. None for any other form.
    fn from_plain_append(canonical: &str) -> Option<Self> {
        let rest = canonical.strip_prefix(r#"{"operation":{"content":""#)?;
        let (content, rest) = rest.split_at_checked(64)?;
        let mut rest = rest.strip_prefix(r#"","type":"append"}"#)?;
        let mut parent = None;
        if let Some(after) = rest.strip_prefix(r#","parent":""#) {
            let (hash, after) = after.split_at_checked(64)?;
            parent = Some(hash.parse().ok()?);
            rest = after.strip_prefix('"')?;
        }
        let mut time = None;
        if let Some(after) = rest.strip_prefix(r#","time":"#) {
            let digits = after.strip_suffix('}')?;
            let number = digits.strip_prefix('-').unwrap_or(digits);
            let is_plain = digits == "0" || number.starts_with(|c| matches!(c, '1'..='9'));
            is_plain.then_some(())?;
            time = Some(Millis(digits.parse().ok()?));
            rest = "}";
        }
        (rest == "}").then_some(())?;
        Some(Self {
            parent,
            operation: Operation::Append {
                content: content.parse().ok()?,
            },
            time,
            settings: Settings::new(),
            note: None,
            author: None,
            merged: None,
            origin: None,
        })
    }
}

impl Sealable for Commit {
    type Name = CommitHash;

    fn canonical(&self) -> String {
        Commit::canonical(self)
    }

    fn name(canonical: &str) -> CommitHash {
        CommitHash::of(canonical)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_survives_its_canonical_form() {
        let content = ContentHash::of("c");
        let commit = CommitHash::of("x");
        let entry = EntryId {
            commit,
            index: Some(2),
        };
        let operations = [
            Operation::Append { content },
            Operation::Edit {
                target: entry,
                content,
            },
            Operation::Hide(Hide {
                kind: HideKind::Compaction,
                intervals: vec![Interval {
                    first: commit.into(),
                    last: entry,
                }],
                keep: vec![entry],
                parts: vec![
                    PartHide {
                        entry,
                        part: 3,
                        stub: Some(content),
                    },
                    PartHide {
                        entry,
                        part: 0,
                        stub: None,
                    },
                ],
                replacements: vec![
                    Replacement {
                        before: None,
                        content,
                    },
                    Replacement {
                        before: Some(entry),
                        content,
                    },
                ],
            }),
            Operation::Restore {
                target: commit,
                entries: vec![],
            },
            Operation::Restore {
                target: commit,
                entries: vec![entry],
            },
            Operation::Annotate {
                targets: vec![entry],
                priority: Priority::Skip,
                reason: Some("why".into()),
            },
        ];
        for operation in operations {
            let commit = Commit {
                parent: Some(commit),
                operation,
                time: Some(Millis(-1)),
                settings: Settings::from([("temperature".into(), "0.70".into())]),
                note: Some("note".into()),
                author: Author {
                    client: Some("c 1".into()),
                    ..Author::default()
                }
                .known(),
                merged: Some(CommitHash::of("m")),
                origin: Some(CommitHash::of("o")),
            };
            assert_eq!(
                Commit::from_canonical(&commit.canonical()).expect("reads back"),
                commit
            );
        }
    }

    #[test]
    fn a_plain_append_is_read_as_any_other_commit_is() {
        let content = ContentHash::of("c");
        let parents = [None, Some(CommitHash::of("x"))];
        let times = [
            None,
            Some(0),
            Some(-1),
            Some(1_769_178_108_710),
            Some(i64::MIN),
        ];
        for (parent, time) in parents
            .into_iter()
            .flat_map(|parent| times.map(|time| (parent, time)))
        {
            let commit = Commit {
                parent,
                operation: Operation::Append { content },
                time: time.map(Millis),
                settings: Settings::new(),
                note: None,
                author: None,
                merged: None,
                origin: None,
            };
            let text = canonical(&commit);
            assert_eq!(commit.plain_append().as_ref(), Some(&text));
            assert_eq!(
                Commit::from_plain_append(&text),
                Some(commit.clone()),
                "{text}"
            );
            // Whatever else it is, both say the same of it, or only the other takes it.
            for at in 0..text.len() {
                for byte in ["", "0", "-", "x", "\"", "}", ",", "\u{e9}"] {
                    let mut other = text.clone();
                    other.replace_range(at..=at, byte);
                    let short = Commit::from_plain_append(&other);
                    let long = serde_json::from_str::<Commit>(&other).ok();
                    assert!(short.is_none() || short == long, "{other}");
                }
            }
            let other = Commit {
                note: Some("n".into()),
                ..commit
            };
            assert_eq!(other.plain_append(), None);
            assert_eq!(Commit::from_plain_append(&other.canonical()), None);
        }
    }

    #[test]
    fn an_entry_has_one_spelling() {
        let hash = CommitHash::of("x").to_string();
        assert!(format!("{hash}#0").parse::<EntryId>().is_ok());
        for bad in ["#", "#01", "#+1", "#-1", "#1x"] {
            assert!(format!("{hash}{bad}").parse::<EntryId>().is_err(), "{bad}");
        }
    }
}
