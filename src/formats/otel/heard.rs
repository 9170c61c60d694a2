//! Messages that were read: each request repeats those before it, and what is repeated is read once.

use std::collections::HashMap;
use std::rc::Rc;

use crate::formats::bodies::settle;
use crate::formats::shared::parts;
use crate::formats::shared::requests::Said;
use crate::model::{Message, Part};

/// So many bytes are held, and as many of those that were asked for before them.
const HELD_BYTES: usize = 4 << 20;
/// What a table and the allocator take of each entry, in bytes.
const ENTRY_BYTES: usize = 160;

/// The messages of newer requests, by their JSON.
#[derive(Default)]
pub(super) struct Heard {
    newer: HashMap<String, Vec<Said>>,
    older: HashMap<String, Vec<Said>>,
    newer_bytes: usize,
}

impl Heard {
    /// What a JSON was read as, if it is held.
    pub(super) fn find(&mut self, json: &str) -> Option<Vec<Said>> {
        if let Some(said) = self.newer.get(json) {
            return Some(said.clone());
        }
        let (json, said) = self.older.remove_entry(json)?;
        self.hold(json, said.clone());
        Some(said)
    }

    /// Holds what a JSON was read as, and lets go of what nobody has asked for.
    pub(super) fn hold(&mut self, json: String, said: Vec<Said>) {
        self.newer_bytes += held_bytes(&json, &said);
        self.newer.insert(json, said);
        if self.newer_bytes > HELD_BYTES {
            self.older = std::mem::take(&mut self.newer);
            self.newer_bytes = 0;
        }
    }
}

/// About how many bytes of memory an entry takes. Of a short message most of them are not its text.
fn held_bytes(json: &str, said: &[Said]) -> usize {
    let parts = |said: &Said| said.message.parts.capacity() * size_of::<Part>();
    let message = |said: &Said| size_of::<Said>() + size_of::<Message>() + parts(said);
    // What a message says is about as long as its JSON.
    ENTRY_BYTES + 2 * json.len() + said.iter().map(message).sum::<usize>()
}

/// Messages as they are told.
///
/// # Errors
///
/// Where one is more than tract takes.
pub(super) fn told(mut messages: Vec<Message>) -> Result<Vec<Said>, String> {
    messages
        .iter_mut()
        .flat_map(|message| &mut message.parts)
        .for_each(settle);
    parts::checked(&messages)?;
    let said = messages.into_iter().map(|message| Said {
        key: message.hash(),
        message: Rc::new(message),
    });
    Ok(said.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Role;

    #[test]
    fn short_messages_are_held_by_what_they_take() {
        let mut heard = Heard::default();
        for number in 0..100_000 {
            let text = number.to_string();
            heard.hold(
                text.clone(),
                told(vec![Message::text(Role::User, text)]).expect("sound"),
            );
            let held = heard.newer.len() + heard.older.len();
            assert!(
                held * size_of::<Message>() < 2 * HELD_BYTES,
                "{held} messages are held"
            );
        }
    }

    #[test]
    fn what_is_asked_for_stays_and_memory_has_an_end() {
        let mut heard = Heard::default();
        let said = |text: &str| told(vec![Message::text(Role::User, text)]).expect("sound");
        heard.hold("asked".to_owned(), said("asked"));
        for number in 0..40 {
            let json = format!("{number}{}", " ".repeat(HELD_BYTES / 4));
            heard.hold(json, said("other"));
            let found = heard.find("asked").expect("it is asked for each time");
            assert_eq!(found[0].key, said("asked")[0].key);
            assert!(
                heard.newer.len() + heard.older.len() < 12,
                "memory has an end"
            );
        }
        assert!(
            heard
                .find(&format!("0{}", " ".repeat(HELD_BYTES / 4)))
                .is_none()
        );
    }
}
