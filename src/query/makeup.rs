//! What fills a context: which kinds of things, and which messages most.
//!
//! Bodies are read for it, one after the other: it is for those who ask, not for every status.

use std::collections::HashMap;

use crate::error::Result;
use crate::model::tokens::{CONTEXT_OVERHEAD, Counter};
use crate::model::{Encoding, Message, Part, TokenCount};
use crate::query::status::{Large, large};
use crate::repo::call::On;
use crate::repo::load;
use crate::repo::pictures;
use crate::repo::repository::Repo;

/// How many messages are held at once.
const BODIES: usize = 64;
/// How many of the largest are named.
const LARGEST: usize = 10;

/// What fills a context.
#[derive(Clone, Debug, Default)]
pub struct Makeup {
    /// Each kind of thing with its tokens and in how many parts of messages it is, the largest
    /// first. Together they are the context's total.
    pub stuffs: Vec<(Stuff, TokenCount, usize)>,
    /// The largest messages, the largest first.
    pub largest: Vec<Large>,
}

/// A kind of thing that fills a context.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stuff {
    /// What is said, and what frames each message and the whole.
    Text,
    /// What the model thought.
    Thinking,
    /// Calls of a tool and what it gave back. Hostile until escaped.
    Tool(String),
    /// What tools gave back to calls that are not there.
    Unasked,
    /// Pictures and files, those that tools gave back too: an estimate.
    Media,
    /// What a client attached or said in the user's name: reminders, files that were mentioned, notices.
    Attached,
}

impl Repo {
    /// What fills the context where `on` stands. Counts what has no count yet, and reads every visible
    /// message.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::query::Stuff;
    /// use tract::model::{Draft, Encoding, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "hello"));
    /// repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// let makeup = repo.makeup(&On::Head, Encoding::default())?;
    /// let (stuff, count, _) = &makeup.stuffs[0];
    /// assert_eq!((stuff, count.tokens), (&Stuff::Text, 8));
    /// # Ok::<(), tract::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn makeup(&self, on: &On, encoding: Encoding) -> Result<Makeup> {
        let Some(tip) = self.head(on)?.commit() else {
            return Ok(Makeup::default());
        };
        let context = self.context(&tip)?;
        let encoding = pictures::within(&*self.store.read()?, &context, encoding)?;
        let counts = self.counts_in(&context, encoding)?;
        let view = self.store.read()?;
        let mut stuffs = Stuffs {
            counter: Counter::of(encoding),
            called: HashMap::new(),
            found: HashMap::new(),
        };
        let entries: Vec<_> = context.entries.iter().collect();
        if !entries.is_empty() {
            stuffs.add(Stuff::Text, TokenCount::exact(CONTEXT_OVERHEAD), 0);
        }
        for (some, counts) in entries.chunks(BODIES).zip(counts.chunks(BODIES)) {
            let messages = load::messages(&*view, some.iter().copied())?;
            for (message, count) in messages.iter().zip(counts) {
                stuffs.take(message, *count);
            }
        }
        let mut places: Vec<usize> = (0..counts.len()).collect();
        places.sort_by_key(|at| std::cmp::Reverse(counts[*at].tokens));
        places.truncate(LARGEST);
        let contents: Vec<_> = entries.iter().map(|entry| entry.content).collect();
        let rows = view.content_rows(&contents)?;
        let largest = large(&*view, &context, &counts, &rows, &places)?;
        let stuffs = stuffs.found.into_iter();
        let mut stuffs: Vec<_> = stuffs
            .map(|(stuff, (sum, parts))| (stuff, sum, parts))
            .collect();
        stuffs.retain(|(_, sum, _)| sum.tokens > 0);
        stuffs.sort_by(|a, b| b.1.tokens.cmp(&a.1.tokens).then_with(|| a.0.cmp(&b.0)));
        Ok(Makeup { stuffs, largest })
    }
}

/// The kinds of things while messages are looked at.
struct Stuffs {
    counter: Counter,
    /// The tools of the calls so far, by their ids.
    called: HashMap<String, String>,
    found: HashMap<Stuff, (TokenCount, usize)>,
}

impl Stuffs {
    fn add(&mut self, stuff: Stuff, count: TokenCount, parts: usize) {
        let (sum, number) = self.found.entry(stuff).or_default();
        *sum = *sum + count;
        *number += parts;
    }

    /// Takes a message in, whose tokens are `count`: what no part of it takes frames it.
    fn take(&mut self, message: &Message, count: TokenCount) {
        if message.is_attached() || message.is_injected() {
            return self.add(Stuff::Attached, count, 1);
        }
        let mut frame = count.tokens;
        let mut main = None;
        for part in &message.parts {
            for (stuff, count) in self.of(part) {
                frame = frame.saturating_sub(count.tokens);
                main.get_or_insert_with(|| stuff.clone());
                self.add(stuff, count, 1);
            }
        }
        self.add(main.unwrap_or(Stuff::Text), TokenCount::exact(frame), 0);
    }

    /// What a part is, with its tokens: a tool's output may hold pictures.
    fn of(&mut self, part: &Part) -> Vec<(Stuff, TokenCount)> {
        let count = self.counter.part(part);
        match part {
            Part::Text { .. } => vec![(Stuff::Text, count)],
            Part::Thinking { .. } => vec![(Stuff::Thinking, count)],
            Part::Image(_) | Part::File(_) => vec![(Stuff::Media, count)],
            Part::Opaque { .. } => Vec::new(),
            Part::ToolCall { id, name, .. } => {
                self.called.insert(id.clone(), name.clone());
                vec![(Stuff::Tool(name.clone()), count)]
            }
            Part::ToolResult { call, content, .. } => {
                let is_media = |part: &&Part| matches!(part, Part::Image(_) | Part::File(_));
                let media = content.iter().filter(is_media);
                let media: TokenCount = media.map(|part| self.counter.part(part)).sum();
                let told = TokenCount::exact(count.tokens - media.tokens);
                let tool = self.called.get(call).cloned();
                let tool = tool.map_or(Stuff::Unasked, Stuff::Tool);
                let media = (media.tokens > 0).then_some((Stuff::Media, media));
                [(tool, told)].into_iter().chain(media).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Draft, Media, MediaSource, Role};
    use crate::repo::{Call, CommitOptions};

    #[test]
    fn what_fills_a_context_adds_up_to_its_total() {
        let call = |id: &str, name: &str| Part::ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: r#"{"path":"a"}"#.into(),
            kind: None,
        };
        let picture = Part::Image(Media {
            media_type: Some("image/png".into()),
            name: None,
            detail: None,
            source: MediaSource::Base64("AAAA".into()),
        });
        let result = |id: &str, content: Vec<Part>| {
            let call = id.to_owned();
            let part = Part::ToolResult {
                call,
                content,
                is_error: false,
            };
            Message::new(Role::Tool, vec![part])
        };
        let thought = Part::Thinking {
            text: "Which one is it?".into(),
            signature: None,
            provider: None,
        };
        let said = [
            Message::text(Role::System, "Be brief."),
            Message::new(Role::User, vec![Part::text("Look:"), picture.clone()]),
            Message::attached("todo_reminder", vec![Part::text("Do not forget.")]),
            Message::new(
                Role::Assistant,
                vec![
                    thought,
                    Part::text("I look."),
                    call("1", "read"),
                    call("2", "shot"),
                ],
            ),
            result("1", vec![Part::text("one two three four five six seven")]),
            result("2", vec![Part::text("done"), picture]),
            result("3", vec![Part::text("nobody asked")]),
            Message::new(Role::User, Vec::new()),
        ];
        let repo = Repo::ephemeral().expect("opens");
        let drafts = said.map(Draft::append);
        let made = repo.commit(Call::default(), &drafts, &CommitOptions::default());
        made.expect("commits");
        let makeup = repo.makeup(&On::Head, Encoding::default()).expect("made");
        let status = repo.status(&On::Head, Encoding::default()).expect("told");
        let sum: TokenCount = makeup.stuffs.iter().map(|(_, count, _)| *count).sum();
        assert_eq!(sum, status.total);
        let parts = |stuff: Stuff| {
            let found = makeup.stuffs.iter().find(|(other, ..)| *other == stuff);
            found.map(|(_, _, parts)| *parts)
        };
        assert_eq!(parts(Stuff::Media), Some(2));
        assert_eq!(parts(Stuff::Attached), Some(1));
        assert_eq!(parts(Stuff::Tool("read".into())), Some(2));
        assert_eq!(parts(Stuff::Tool("shot".into())), Some(2));
        assert_eq!(parts(Stuff::Unasked), Some(1));
        assert_eq!(parts(Stuff::Thinking), Some(1));
        assert_eq!(makeup.largest.len(), 8);
        let largest = [0, 1].map(|at| makeup.largest[at].number);
        assert_eq!(largest, [2, 6]);
        assert_eq!(makeup.largest[1].call.as_deref(), Some("shot a"));
        assert_eq!(
            status.largest.as_ref().map(|one| one.tokens),
            Some(makeup.largest[0].tokens)
        );
    }
}
