//! The messages of a context as the client sent them for a reply while it ran.

use std::collections::HashMap;

use crate::compile::{Contents, takes_system_messages};
use crate::context::Context;
use crate::error::Result;
use crate::formats::shared::running::Running;
use crate::hash::CommitHash;
use crate::model::{Message, Part, Role, Settings};
use crate::repo::Repo;
use crate::repo::kept::{KeptSource, format_of, spans};
use crate::store::View;

/// The messages and how their contents were written, as they were sent for `reply`; as they are where
/// that reply is no client's, or its client sends what its file says. Reads the file up to the reply.
///
/// # Errors
///
/// The store's.
pub fn as_running(
    repo: &Repo,
    context: &Context,
    reply: &CommitHash,
    settings: &Settings,
    (messages, mut contents): (Vec<Message>, Contents),
) -> Result<(Vec<Message>, Contents)> {
    let view = repo.store.read()?;
    let Some((source, running)) = read(&*view, reply, settings)? else {
        return Ok((messages, contents));
    };
    let mut sent = Sent {
        running,
        in_tags: takes_system_messages(settings),
        waiting: Vec::new(),
        messages: Vec::with_capacity(messages.len()),
        contents: Contents::with_capacity(messages.len()),
    };
    let commits: Vec<CommitHash> = context.entries.iter().map(|e| e.id.commit).collect();
    let places = places(&*view, &commits, source)?;
    contents.resize_with(messages.len(), Vec::new);
    let read = messages.into_iter().zip(contents);
    for ((message, said), entry) in read.zip(context.entries.iter()) {
        let place = places
            .get(&entry.id.commit)
            .filter(|_| entry.is_as_appended());
        sent.take(message, said, place.map_or(&[], Vec::as_slice));
    }
    sent.let_go();
    Ok((sent.messages, sent.contents))
}

/// The source of a reply, and what its client sent otherwise.
fn read(
    view: &dyn View,
    reply: &CommitHash,
    settings: &Settings,
) -> Result<Option<(u64, Running)>> {
    let model = settings.get("model");
    let model = model.and_then(|model| serde_json::from_str::<String>(model).ok());
    for (source, spans) in view.records(&[*reply])?.remove(0) {
        let format = format_of(view, source)?;
        let (Some(running), Some(first)) =
            (format.and_then(|format| format.running), spans.first())
        else {
            continue;
        };
        let input = KeptSource::new(view, source, first.offset);
        return Ok(Some((
            source,
            running(&input, first.offset, model.as_deref())?,
        )));
    }
    Ok(None)
}

/// Where the records of commits begin in a source.
fn places(
    view: &dyn View,
    commits: &[CommitHash],
    source: u64,
) -> Result<HashMap<CommitHash, Vec<u64>>> {
    let all = commits.iter().zip(spans(view, commits, source)?);
    let places = all.filter_map(|(commit, spans)| {
        let offsets = spans?.into_iter().map(|span| span.offset);
        Some((*commit, offsets.collect()))
    });
    Ok(places.collect())
}

/// Messages as they are sent.
struct Sent {
    running: Running,
    /// Whether the texts of hooks stand within tags, beside what has none.
    in_tags: bool,
    /// The ids of calls that were answered since the last reply.
    waiting: Vec<(String, Vec<String>)>,
    messages: Vec<Message>,
    contents: Contents,
}

impl Sent {
    fn take(&mut self, mut message: Message, said: Vec<String>, places: &[u64]) {
        let is_unsent = places
            .iter()
            .any(|place| self.running.unsent.contains(place));
        if message.is_attached() && (is_unsent || self.is_beside(places)) {
            return;
        }
        if message.role != Role::Tool && !message.is_attached() {
            self.let_go();
        }
        if message.role == Role::Assistant {
            let is_other = places
                .iter()
                .any(|place| self.running.of_other_models.contains(place));
            let before = message.parts.len();
            message.parts.retain(|part| match part {
                Part::Thinking { .. } => !is_other,
                Part::ToolCall { id, .. } => !self.running.left_out.contains(id),
                _ => true,
            });
            if message.parts.is_empty() && before > 0 {
                return;
            }
            for part in &mut message.parts {
                if let Part::ToolCall { id, arguments, .. } = part
                    && let Some(own) = self.running.arguments.get(id)
                {
                    arguments.clone_from(own);
                }
            }
        }
        let answered: Vec<String> = message.results().map(str::to_owned).collect();
        for call in answered {
            let mut texts = self.running.beside.remove(&call).unwrap_or_default();
            let is_hook = |text: &str| text.starts_with('<');
            texts.retain(|(_, text)| self.in_tags || !is_hook(text));
            // What is read as a message of its own is sent where that is found.
            let (own, texts): (Vec<_>, Vec<_>) =
                texts.into_iter().partition(|(place, _)| place.is_some());
            self.running.beside.insert(call.clone(), own);
            self.waiting
                .push((call, texts.into_iter().map(|(_, text)| text).collect()));
        }
        self.messages.push(message);
        self.contents.push(said);
    }

    /// Whether what is attached by the record at one of these places stands beside a result, which it
    /// then waits for.
    fn is_beside(&mut self, places: &[u64]) -> bool {
        if !self.in_tags {
            return false;
        }
        for (call, texts) in &mut self.waiting {
            let own = self.running.beside.get(call).into_iter().flatten();
            let found = own.filter(|(place, _)| place.is_some_and(|place| places.contains(&place)));
            let found: Vec<String> = found.map(|(_, text)| text.clone()).collect();
            if !found.is_empty() {
                texts.extend(found);
                return true;
            }
        }
        false
    }

    /// Puts what stands beside results behind them.
    fn let_go(&mut self) {
        for text in std::mem::take(&mut self.waiting)
            .into_iter()
            .flat_map(|(_, texts)| texts)
        {
            self.messages.push(Message::text(Role::User, text));
            self.contents.push(Vec::new());
        }
    }
}
