//! What the other path has said: its own messages, as one message, as prompts, or for whoever sums them up.

use crate::context::plan::carry::Clash;
use crate::context::{Entry, OrderEntry};
use crate::error::{Error, Refusal, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Draft, EntryId, Message, Operation, Part, Role};
use crate::repo::{load, path, prompts};
use crate::rewrite::merge::MergeConflict;
use crate::rewrite::merge::other::Other;
use crate::store::View;

/// How the one message begins; [`crate::model::reads_as_typed`] knows it.
const MARK: &str = "[Merged from ";

/// How much of a session's id says which one it is.
const SHORT_ID: usize = 8;

/// The visible messages at the end of the other path that are its own and not here.
pub(super) fn own(view: &dyn View, other: &Other) -> Result<Vec<Entry>> {
    let mut order = other.before.clone();
    let mut made = Vec::new();
    for (row, is_here) in &other.rows {
        order.apply(row.hash, &row.commit)?;
        if !is_here && !other.incomplete.contains(&row.hash) {
            made.push(row.hash);
        }
    }
    let made: std::collections::HashSet<CommitHash> = made.into_iter().collect();
    let is_own = |entry: &OrderEntry| entry.visible && made.contains(&entry.id.commit);
    let own: Vec<Entry> = order
        .entries()
        .filter(is_own)
        .map(|entry| Entry::from(&entry))
        .collect();
    let contents: Vec<ContentHash> = own.iter().map(|entry| entry.content).collect();
    let purged = view.purged(&contents)?.into_iter();
    let told = own.into_iter().zip(purged);
    Ok(told
        .filter_map(|(entry, purged)| (!purged).then_some(entry))
        .collect())
}

/// They, as a model is sent them.
pub(super) fn messages(view: &dyn View, own: &[Entry]) -> Result<Vec<Message>> {
    load::messages(view, own)
}

/// What they end with: the last answer that has a text, else the last text.
pub(super) fn last_answer(messages: &[Message]) -> Option<String> {
    let text = |message: &Message| {
        let texts: Vec<&str> = message.parts.iter().filter_map(Part::as_text).collect();
        let text = texts.join("\n\n");
        (!text.trim().is_empty()).then_some(text)
    };
    let answers = messages.iter().rev();
    let mut answers = answers.filter(|message| message.role == Role::Assistant);
    let last = answers.find_map(text);
    last.or_else(|| messages.iter().rev().find_map(text))
}

/// Where a message comes from that stands for others.
pub(super) struct From {
    name: String,
    session: Option<String>,
    messages: usize,
    tip: CommitHash,
}

impl From {
    pub(super) fn of(
        view: &dyn View,
        tip: &CommitHash,
        name: &str,
        messages: usize,
    ) -> Result<Self> {
        let session = path::session_of(view, tip)?;
        let session = session.as_ref().and_then(|(name, _)| name.as_session());
        let session = session.map(|(tool, id)| {
            let begin: String = id.chars().take(SHORT_ID).collect();
            format!("{tool}/{begin}")
        });
        Ok(Self {
            name: name.to_owned(),
            session: session.filter(|session| !name.starts_with(session)),
            messages,
            tip: *tip,
        })
    }
}

/// The one message that stands for all of them.
pub(super) fn told(from: &From, text: Option<&str>) -> Result<Message> {
    let From {
        name,
        session,
        messages,
        tip,
    } = from;
    let session = session
        .as_ref()
        .map(|session| format!(", session {session}"));
    let session = session.unwrap_or_default();
    let ending = if *messages == 1 { "" } else { "s" };
    let head = format!(
        "{MARK}{name}{session}: {messages} message{ending} up to {}]",
        tip.short()
    );
    let text = match text.map(str::trim) {
        Some("") => return Err(Error::Refused(Refusal::EmptySummary)),
        Some(text) => format!("{head}\n\n{text}"),
        None => head,
    };
    Ok(Message::text(Role::User, text))
}

/// Copies of what a user typed there, with what is attached to it.
pub(super) fn prompts(view: &dyn View, other: &Other) -> Result<Vec<Draft>> {
    let own = own(view, other)?;
    let said: Vec<(CommitHash, ContentHash)> = own
        .iter()
        .map(|entry| (entry.id.commit, entry.content))
        .collect();
    let typed = prompts::typed_contents(view, &said)?;
    let contents: Vec<ContentHash> = said.iter().map(|(_, content)| *content).collect();
    let rows = load::rows(view, &contents)?;
    let (mut drafts, mut with) = (Vec::new(), false);
    for (at, entry) in own.iter().enumerate() {
        let is_placed = entry.placed.is_some_and(crate::model::HideKind::marks);
        let is_typed = typed[at] && !is_placed;
        if !rows[&entry.content].attached {
            with = is_typed;
        }
        if is_typed || with {
            let message = load::message(view, entry)?;
            drafts.push(Draft {
                origin: Some(entry.id.commit),
                ..Draft::append(message)
            });
        }
    }
    Ok(drafts)
}

/// What people are told of messages that both paths changed.
pub(super) fn conflicts(
    view: &dyn View,
    ours: &CommitHash,
    clashes: &[Clash],
) -> Result<Vec<MergeConflict>> {
    let order = load::order(view, ours)?;
    let visible: Vec<EntryId> = order
        .entries()
        .filter(|entry| entry.visible)
        .map(|entry| entry.id)
        .collect();
    let mut conflicts = Vec::new();
    for clash in clashes {
        // A message that the merge itself would bring is told as it is there.
        let content = match order.entry(&clash.here) {
            Ok(entry) => Some(entry.content),
            Err(_) => match load::commit(view, &clash.there.commit)?.commit.operation {
                Operation::Append { content } => Some(content),
                _ => None,
            },
        };
        let rows = load::told_rows(view, content.as_slice())?;
        let preview = content.map(|content| rows[&content].preview.clone());
        let number = visible.iter().position(|id| *id == clash.here);
        conflicts.push(MergeConflict {
            clash: *clash,
            number: number.map(|at| at + 1),
            preview: preview.unwrap_or_default(),
        });
    }
    conflicts.sort_by_key(|conflict| (conflict.number.is_none(), conflict.number));
    Ok(conflicts)
}
