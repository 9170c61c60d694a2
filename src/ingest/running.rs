//! The messages of a context as the client sent them for a reply while it ran.

use std::collections::HashMap;

use crate::compile::{Contents, takes_system_messages};
use crate::context::Context;
use crate::error::Result;
use crate::formats::attachments::{OUTPUT_CONFIG, SYSTEM_BLOCKS, untagged};
use crate::formats::shared::running::Running;
use crate::hash::CommitHash;
use crate::model::{Message, Part, Role, Settings};
use crate::repo::Repo;
use crate::repo::kept::{KeptSource, format_of, spans};
use crate::store::View;

/// The messages and how their contents were written, as they were sent for `reply`, or are sent for the next one where none
/// is given; as they are where no client made them, or its client sends what its file says. Reads the file up to the reply.
///
/// # Errors
///
/// The store's.
pub fn as_running(
    repo: &Repo,
    context: &Context,
    reply: Option<&CommitHash>,
    settings: &Settings,
    (messages, mut contents): (Vec<Message>, Contents),
) -> Result<(Vec<Message>, Contents)> {
    let view = repo.store.read()?;
    let found = match reply {
        Some(reply) => read(&*view, reply, settings)?,
        None => next(&*view, context)?,
    };
    let Some((source, at, running)) = found else {
        return Ok((messages, contents));
    };
    let mut sent = Sent {
        running,
        in_tags: takes_system_messages(settings),
        waiting: Vec::new(),
        effort: None,
        messages: Vec::with_capacity(messages.len()),
        contents: Contents::with_capacity(messages.len()),
    };
    let commits: Vec<CommitHash> = context.entries.iter().map(|e| e.id.commit).collect();
    let places = places(&*view, &commits, source)?;
    contents.resize_with(messages.len(), Vec::new);
    let mut replies = context.entries.iter().zip(&messages);
    let first = replies.find(|(_, message)| message.role == Role::Assistant);
    if let Some((entry, _)) = first
        && !places.contains_key(&entry.id.commit)
    {
        // What a fork's parent was asked for stands in its own file, and the fork goes on with it.
        let own = sent.running.efforts.iter();
        let own = own.min_by_key(|(place, _)| **place);
        sent.effort = own.map(|(_, effort)| effort.clone());
    }
    let read = messages.into_iter().zip(contents);
    for ((mut message, said), entry) in read.zip(context.entries.iter()) {
        let place = places
            .get(&entry.id.commit)
            .filter(|_| entry.is_as_appended());
        let places = place.map_or(&[][..], Vec::as_slice);
        if places
            .iter()
            .any(|place| sent.running.own_turn.contains(place))
        {
            message = as_users(message);
        }
        sent.take(message, said, places);
        sent.offer(places);
    }
    sent.let_go();
    sent.ask(&[at]);
    Ok((sent.messages, sent.contents))
}

/// The source of a reply, where the reply begins in it, and what its client sent otherwise.
fn read(
    view: &dyn View,
    reply: &CommitHash,
    settings: &Settings,
) -> Result<Option<(u64, u64, Running)>> {
    let model = settings.get("model");
    let model = model.and_then(|model| serde_json::from_str::<String>(model).ok());
    for (source, spans) in view.records(&[*reply])?.remove(0) {
        let format = format_of(view, source)?;
        let (Some(running), Some(first)) =
            (format.and_then(|format| format.running), spans.first())
        else {
            continue;
        };
        let input = KeptSource::new(view, source, first.offset + first.len);
        let mut running = running(&input, first.offset, model.as_deref())?;
        // Where the client asks for no effort in the messages, it leaves out what it asked for before.
        if !running.efforts.contains_key(&first.offset) {
            running.efforts.clear();
        }
        return Ok(Some((source, first.offset, running)));
    }
    Ok(None)
}

/// The source of the newest message that came from one, with its length, and what its client sends otherwise for the next
/// reply.
fn next(view: &dyn View, context: &Context) -> Result<Option<(u64, u64, Running)>> {
    let commits: Vec<CommitHash> = context.entries.iter().map(|it| it.id.commit).collect();
    let newest = view.records(&commits)?.into_iter().rev().flatten().next();
    let Some((source, _)) = newest else {
        return Ok(None);
    };
    let running = format_of(view, source)?.and_then(|format| format.running);
    let (Some(running), Some(row)) = (running, view.source(source)?) else {
        return Ok(None);
    };
    let input = KeptSource::new(view, source, row.size_bytes);
    let running = running(&input, row.size_bytes, None)?;
    Ok(Some((source, row.size_bytes, running.next())))
}

/// What a client attached, as the user's own text: words first.
fn as_users(message: Message) -> Message {
    let parts = message.parts.into_iter().map(|part| match part {
        Part::Text { text } => match untagged(&text) {
            Some(own) => Part::text(own),
            None => Part::text(text),
        },
        part => part,
    });
    let (words, others): (Vec<_>, Vec<_>) = parts.partition(|part| part.as_text().is_some());
    Message {
        attached: None,
        parts: words.into_iter().chain(others).collect(),
        ..message
    }
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
    /// How much effort was asked for last.
    effort: Option<String>,
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
            self.ask(places);
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

    /// Says what the system message has beside the text of what was attached by the record at one of these places.
    fn offer(&mut self, places: &[u64]) {
        let mut known = places.iter();
        let blocks = known.find_map(|place| self.running.system_blocks.get(place));
        let Some(blocks) = blocks.filter(|_| self.in_tags) else {
            return;
        };
        let parts = blocks.iter().map(Part::text).collect();
        let mut message = Message::new(Role::User, parts);
        message.attached = Some(SYSTEM_BLOCKS.to_owned());
        self.messages.push(message);
        self.contents.push(Vec::new());
    }

    /// Says how much effort is asked of the reply at these places, where that is other than before.
    fn ask(&mut self, places: &[u64]) {
        let mut known = places.iter();
        let effort = known.find_map(|place| self.running.efforts.get(place));
        if effort.is_none() || effort == self.effort.as_ref() {
            return;
        }
        self.effort = effort.cloned();
        let config = self.effort.clone().unwrap_or_default();
        let mut message = Message::text(Role::User, config);
        message.attached = Some(OUTPUT_CONFIG.to_owned());
        self.messages.push(message);
        self.contents.push(Vec::new());
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
