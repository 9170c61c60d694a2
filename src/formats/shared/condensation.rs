//! A conversation of events that a condensation takes out by their ids, as steps: messages, replies in pieces, and what
//! the model is sent no more.
//!
//! Deliberately absent: what an event says.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::error::Result;
use crate::formats::shared::records::Text;
use crate::formats::shared::teller::Teller;
use crate::formats::{Action, Cover, HideStep, Step, StepEntry};
use crate::model::{HideKind, Message, Millis, Part, Role, Span, UsageRecord};

/// What an event says.
pub(in crate::formats) enum Said {
    Message(Message),
    /// A piece of a reply, by what the reply is called.
    Piece(String, Message),
    Forget(Forget),
    /// Nothing that is sent; what it is.
    Nothing(String),
}

/// Events that the model is sent no more, and what it is sent in their place.
#[derive(Default)]
pub(in crate::formats) struct Forget {
    pub(in crate::formats) ids: HashSet<String>,
    pub(in crate::formats) summary: Option<String>,
    /// How many of the events that are left stand before the summary.
    pub(in crate::formats) offset: Option<usize>,
}

/// Where an event stands.
pub(in crate::formats) struct Placed<'a> {
    pub(in crate::formats) id: String,
    /// The reply that it is of, where events name it.
    pub(in crate::formats) reply: Option<String>,
    pub(in crate::formats) time: Option<Millis>,
    pub(in crate::formats) text: Text<'a>,
    pub(in crate::formats) at: Range<usize>,
}

/// A reply that more may be said of.
struct Open {
    reply: String,
    message: Message,
    ids: Vec<String>,
    time: Option<Millis>,
    records: Vec<Span>,
}

/// Tells of a conversation.
pub(in crate::formats) struct Talk<'s> {
    pub(in crate::formats) teller: Teller<'s>,
    /// The events that are sent, each with the entry that it is in.
    view: Vec<(String, StepEntry)>,
    open: Option<Open>,
    /// What was counted for replies that are still to come.
    pub(in crate::formats) counted: HashMap<String, UsageRecord>,
}

impl<'s> Talk<'s> {
    pub(in crate::formats) fn of(teller: Teller<'s>) -> Self {
        Self {
            teller,
            view: Vec::new(),
            open: None,
            counted: HashMap::new(),
        }
    }

    /// Takes what an event says.
    pub(in crate::formats) fn take(&mut self, said: Said, placed: Placed<'_>) -> Result<()> {
        if let Said::Message(message) | Said::Piece(_, message) = &said {
            self.teller.pair(message, placed.text, &placed.at)?;
        }
        let record = placed.text.span(&placed.at);
        match said {
            Said::Nothing(kind) => self.teller.end.other(kind),
            Said::Message(message) => {
                self.flush()?;
                let is_reply = message.role == Role::Assistant;
                let reply = placed.reply.filter(|_| is_reply);
                let counted = reply.and_then(|reply| self.counted.remove(&reply));
                let step = Step::append(message, record).at(placed.time);
                let step = step.recorded(counted);
                let entry = self.teller.step(step)?;
                self.view.push((placed.id, entry));
            }
            Said::Piece(reply, message) => {
                if let Some(open) = self.open.as_mut().filter(|open| open.reply == reply) {
                    open.message.parts.extend(message.parts);
                    open.ids.push(placed.id);
                    open.records.push(record);
                    return Ok(());
                }
                self.flush()?;
                self.open = Some(Open {
                    reply,
                    message,
                    ids: vec![placed.id],
                    time: placed.time,
                    records: vec![record],
                });
            }
            Said::Forget(forget) => {
                self.flush()?;
                self.forget(forget, &placed, record)?;
            }
        }
        Ok(())
    }

    /// Tells of the reply that is open.
    fn flush(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let step = Step::new(Action::Append(open.message), open.records[0]);
        let step = step.recorded(self.counted.remove(&open.reply));
        let entry = self.teller.step(step.at(open.time).by(open.records))?;
        self.view.extend(open.ids.into_iter().map(|id| (id, entry)));
        Ok(())
    }

    /// Hides what is sent no more. A reply goes with the last of its events.
    fn forget(&mut self, forget: Forget, placed: &Placed<'_>, record: Span) -> Result<()> {
        let is_gone = |id: &String| forget.ids.contains(id);
        let kept = self.view.iter().filter(|(id, _)| !is_gone(id));
        let kept: Vec<StepEntry> = kept.map(|(_, entry)| *entry).collect();
        let goes = |entry: &StepEntry| !kept.contains(entry);
        let first = self.view.iter().position(|(_, entry)| goes(entry));
        let last = self.view.iter().rposition(|(_, entry)| goes(entry));
        let span = first.zip(last);
        let covered = span.map(|(first, last)| {
            let (from, to) = (self.view[first].1, self.view[last].1);
            let mut stays: Vec<StepEntry> = Vec::new();
            let inside = self.view[first..=last].iter().map(|(_, entry)| *entry);
            for entry in inside.filter(|entry| !goes(entry)) {
                if stays.last() != Some(&entry) {
                    stays.push(entry);
                }
            }
            (Cover::Range(from, to), stays)
        });
        self.view.retain(|(_, entry)| !goes(entry));
        let summary = forget.summary.filter(|text| !text.is_empty());
        let summary = summary.filter(|_| forget.offset.is_some());
        let message = summary.map(|text| Message::new(Role::User, vec![Part::text(text)]));
        let has_summary = message.is_some();
        let offset = forget.offset.unwrap_or_default();
        let mut at = offset.min(self.view.len());
        let action = match (covered, message) {
            (None, None) => {
                self.teller.end.other("condensation of nothing");
                return Ok(());
            }
            (None, Some(message)) => {
                at = self.view.len();
                Action::Append(message)
            }
            (Some((cover, stays)), message) => {
                let before = self.view.get(at).map(|(_, entry)| *entry);
                let put = message.into_iter().map(|message| (before, message));
                let hide = HideStep::of(HideKind::Compaction, cover).keeping(stays);
                Action::Hide(hide.putting(put.collect()))
            }
        };
        let step = Step::new(action, record).at(placed.time);
        let entry = self.teller.step(step)?;
        if has_summary {
            let id = format!("{}-summary", placed.id);
            self.view.insert(at, (id, entry));
        }
        Ok(())
    }

    /// Tells that the conversation ends.
    pub(in crate::formats) fn close(mut self) -> Result<()> {
        self.teller.open()?;
        self.flush()?;
        self.teller.close()
    }
}
