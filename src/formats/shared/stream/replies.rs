//! Which reply of a provider's stream is under way: each is a turn of its own, for the stream holds
//! nobody else's words. Deliberately absent: any provider's spelling.

use super::reader::Telling;
use crate::model::{Millis, Part, UsageRecord};
use crate::tree::{Event, Happening};

/// The reply under way, and what is known of it before it says anything.
#[derive(Default)]
pub(in crate::formats) struct Replies {
    /// The provider's id of it.
    pub(in crate::formats) id: Option<String>,
    /// Whether its end was not told yet.
    is_open: bool,
    /// Whether it has said anything.
    spoke: bool,
    /// What made it and when: told with its first words, which its message begins with.
    model: Option<String>,
    time: Option<Millis>,
}

impl Replies {
    /// A reply begins. One before it whose end nobody told was cut.
    pub(in crate::formats) fn begin(
        &mut self,
        id: Option<String>,
        model: Option<String>,
        time: Option<Millis>,
    ) -> Vec<Event> {
        let mut events = self.cut();
        *self = Self {
            id,
            is_open: true,
            spoke: false,
            model,
            time,
        };
        events.push(Happening::TurnStart.into());
        events
    }

    /// Whether a reply is under way whose id is this.
    pub(in crate::formats) fn is(&self, id: &Option<String>) -> bool {
        self.is_open && self.id == *id
    }

    /// Whether a reply is under way.
    pub(in crate::formats) fn is_open(&self) -> bool {
        self.is_open
    }

    /// What happens in it.
    pub(in crate::formats) fn say(
        &mut self,
        what: impl IntoIterator<Item = Happening>,
        told: &mut Telling,
    ) {
        for what in what {
            if speaks(&what) {
                self.spoke = true;
                told.model = self.model.take().or(told.model.take());
                told.time = self.time.take().or(told.time.take());
            }
            told.events.push(Event {
                message: self.id.clone(),
                ..Event::new(what)
            });
        }
    }

    /// It is complete.
    pub(in crate::formats) fn end(&mut self, usage: Option<UsageRecord>, told: &mut Telling) {
        self.is_open = false;
        told.usage = usage;
        told.events.push(Happening::TurnEnd.into());
    }

    /// It failed, and the provider says why, or not.
    pub(in crate::formats) fn fail(&mut self, why: Option<&str>, told: &mut Telling) {
        let text = why.unwrap_or("the provider failed").to_owned();
        told.events.extend(self.cut());
        told.events.push(Happening::Fault { text }.into());
        if std::mem::take(&mut self.is_open) {
            told.events.push(Happening::TurnEnd.into());
        }
    }

    /// What was said of it so far is all there will be.
    pub(in crate::formats) fn cut(&mut self) -> Vec<Event> {
        let cut = self.is_open && self.spoke;
        self.spoke = false;
        let what = Happening::Interrupt { said: Vec::new() };
        cut.then(|| what.into()).into_iter().collect()
    }
}

/// Whether a message may begin with this.
fn speaks(what: &Happening) -> bool {
    match what {
        Happening::TextDelta { text, .. } | Happening::ThinkingDelta { text } => !text.is_empty(),
        Happening::CallStart { .. } => true,
        Happening::Block(Part::Text { text }) => !text.is_empty(),
        Happening::Block(_) => true,
        _ => false,
    }
}
