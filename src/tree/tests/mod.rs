//! Every rule of the fold by an example.

mod calls;
mod outline;
mod talking;
mod text;
mod turns;

use super::*;
use crate::model::{HideKind, Part, Role};
use outline::outline;

fn user(text: &str) -> Event {
    let parts = vec![Part::text(text)];
    Happening::User { parts, from: None }.into()
}

fn delta(text: &str) -> Event {
    let text = text.to_owned();
    Happening::TextDelta { text, phase: None }.into()
}

fn done(text: &str) -> Event {
    let text = text.to_owned();
    Happening::TextDone { text, phase: None }.into()
}

fn reply(text: &str) -> Event {
    Happening::Reply { text: text.into() }.into()
}

fn thought(text: &str) -> Event {
    Happening::ThinkingDelta { text: text.into() }.into()
}

fn call(id: &str, name: &str) -> Event {
    let (call, name, arguments) = (id.into(), name.into(), r#"{"n":1}"#.into());
    Happening::Call {
        call,
        name,
        arguments,
    }
    .into()
}

fn output(id: &str, text: &str, offset: u64) -> Event {
    let (call, text, offset) = (id.into(), text.into(), Some(offset));
    Happening::Output { call, text, offset }.into()
}

fn ended(id: &str, text: &str, ending: Ending) -> Event {
    let (call, content) = (id.into(), vec![Part::text(text)]);
    Happening::Answer {
        call,
        content,
        ending,
    }
    .into()
}

fn answer(id: &str, text: &str) -> Event {
    ended(id, text, Ending::Success)
}

fn interrupt() -> Event {
    Happening::Interrupt { said: Vec::new() }.into()
}

impl Event {
    fn of(mut self, response: &str) -> Self {
        self.response = Some(response.into());
        self
    }

    fn in_turn(mut self, turn: &str) -> Self {
        self.turn = Some(turn.into());
        self
    }

    fn inside(mut self, call: &str) -> Self {
        self.parent = Some(call.into());
        self
    }

    fn numbered(mut self, revision: u64, sequence: u64, id: &str) -> Self {
        self.place = Some(EventPlace { revision, sequence });
        self.id = Some(id.into());
        self
    }
}

/// The tree of these events while they come, drawn in brief.
fn live(events: impl IntoIterator<Item = Event>) -> String {
    let mut fold = Fold::live();
    for event in events {
        fold.feed(event);
    }
    outline(fold.tree())
}

/// The tree when nothing more will come.
fn settled(events: impl IntoIterator<Item = Event>) -> String {
    let mut fold = Fold::live();
    for event in events {
        fold.feed(event);
    }
    outline(&fold.settle())
}

#[track_caller]
fn check(found: String, wanted: &[&str]) {
    let found: Vec<&str> = found.lines().collect();
    assert_eq!(found, wanted);
}
