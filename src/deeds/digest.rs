//! What must survive a compaction, as a text of a given length: what is pinned first, then what is most likely to
//! be missed.
//!
//! Deliberately absent: what the reader is told around it.

use crate::model::EntryId;
use crate::model::quote::{folded, headed, unframed};
use crate::query::audit::{FactClass, FoundFact, Keep, Pin, Said};
use crate::render::escape;

/// How long a line is at most; the message behind a longer one is named.
const LINE_CHARS: usize = 300;
/// How much of a pin is worth beginning, where not all of it has room.
const PIN_CHARS: usize = 80;
/// What stands before what is pinned.
const PINNED: &str = "Pinned, word for word:";

/// The classes in the order of the text, each with what stands before it.
const HEADS: [(FactClass, &str); 8] = [
    (FactClass::Task, "Open points:"),
    (FactClass::Instruction, "The user said:"),
    (FactClass::File, "Files:"),
    (FactClass::Command, "Commands that ran:"),
    (FactClass::Error, "What went wrong:"),
    (FactClass::Url, "Addresses:"),
    (FactClass::Name, "Names:"),
    (FactClass::Number, "Numbers:"),
];

/// What must survive, or as much of it as has room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// The text, without a line feed at its end. Control characters in what is quoted are shown, each of its lines but the
    /// first of a pin is behind a margin, and a tag that frames a prompt is none ([`crate::model::quote`]).
    pub text: String,
    /// How many pins and facts it says.
    pub given: usize,
    /// How many had no room.
    pub left: usize,
}

/// As much as has room in so many characters: what is pinned, then by rank. What one line says, no other
/// repeats. The same for the same messages.
///
/// ```
/// use tract::deeds::digest;
/// use tract::query::audit::Heard;
/// use tract::repo::{Call, CommitOptions, On, Repo};
/// use tract::model::{Draft, Message, Role};
/// use tract::render::edit::changed_files;
///
/// let repo = Repo::ephemeral()?;
/// let say = |role, text| Draft::append(Message::text(role, text));
/// let talk = [say(Role::User, "Never touch the ledger of 1998."), say(Role::Assistant, "I won't.")];
/// repo.commit(Call::default(), &talk, &CommitOptions::default())?;
/// let tip = repo.resolve(&On::Head, "HEAD")?;
/// let keep = repo.keep(&tip, None, Heard::Nothing, changed_files, None)?;
/// assert_eq!(digest(&keep, 80).text, "The user said:\n- Never touch the ledger of 1998.");
/// # Ok::<(), tract::Error>(())
/// ```
pub fn digest(keep: &Keep, budget_chars: usize) -> Digest {
    let mut sheet = Sheet::of(budget_chars);
    for pin in &keep.pins {
        sheet.pin(pin);
    }
    for fact in &keep.facts {
        sheet.fact(fact);
    }
    sheet.done()
}

/// A text that is being filled.
struct Sheet {
    room: usize,
    pins: Vec<String>,
    lines: [Vec<String>; 8],
    said: Said,
    given: usize,
    left: usize,
}

impl Sheet {
    fn of(room: usize) -> Self {
        Self {
            // The last line has no end.
            room: room + 1,
            pins: Vec::new(),
            lines: Default::default(),
            said: Said::default(),
            given: 0,
            left: 0,
        }
    }

    /// Takes up so much room, if there is as much.
    fn fits(&mut self, chars: usize) -> bool {
        let fits = chars <= self.room;
        if fits {
            self.room -= chars;
            self.given += 1;
        }
        fits
    }

    fn pin(&mut self, pin: &Pin) {
        let head = if self.pins.is_empty() {
            PINNED.len() + 1
        } else {
            0
        };
        let text = headed("-", &unframed(&escape::block(&pin.text)));
        let whole = text.chars().count() + 1;
        if self.fits(head + whole) {
            self.said.add(&pin.text);
            self.pins.push(text);
            return;
        }
        let rest = rest_at(&pin.entry);
        let room = self.room.saturating_sub(head + rest.chars().count() + 1);
        self.left += 1;
        if room >= PIN_CHARS && whole > room {
            let cut: String = text.chars().take(room).collect();
            self.room = 0;
            self.pins.push(cut + &rest);
        }
    }

    fn fact(&mut self, found: &FoundFact) {
        if self.said.repeats(found) {
            self.given += 1;
            return;
        }
        let of = |(class, _): &(FactClass, &str)| *class == found.fact.class;
        let at = HEADS.iter().position(of).expect("every class has a head");
        let is_listed = matches!(found.fact.class, FactClass::Name | FactClass::Number);
        let line = line_of(found);
        let first = self.lines[at].is_empty();
        let head = if first { HEADS[at].1.len() + 1 } else { 0 };
        // `, ` before it, or `- ` before and the end of the line behind it; a list is one line behind its head.
        let around = if is_listed { 2 } else { 3 };
        if self.fits(head + line.chars().count() + around) {
            self.said.add(&found.fact.text);
            self.lines[at].push(line);
        } else {
            self.left += 1;
        }
    }

    fn done(self) -> Digest {
        let mut text: Vec<String> = Vec::new();
        if !self.pins.is_empty() {
            text.push(PINNED.to_owned());
            text.extend(self.pins);
        }
        for ((class, head), lines) in HEADS.into_iter().zip(self.lines) {
            if lines.is_empty() {
                continue;
            }
            if matches!(class, FactClass::Name | FactClass::Number) {
                text.push(format!("{head} {}", lines.join(", ")));
            } else {
                text.push(head.to_owned());
                text.extend(lines.into_iter().map(|line| format!("- {line}")));
            }
        }
        Digest {
            text: text.join("\n"),
            given: self.given,
            left: self.left,
        }
    }
}

/// A fact on one line, with what came of it.
fn line_of(found: &FoundFact) -> String {
    let quoted = |text: &str| unframed(&escape::line(&folded(text))).into_owned();
    let mut line = quoted(&found.fact.text);
    if let Some((at, _)) = line.char_indices().nth(LINE_CHARS) {
        line.truncate(at);
        line += &rest_at(&found.fact.entry);
    }
    match &found.fact.outcome {
        Some(outcome) => line += &format!(" ({})", quoted(outcome)),
        None if found.is_changed => line += " (changed)",
        None => {}
    }
    line
}

/// Where the rest of what was cut can be read.
fn rest_at(entry: &EntryId) -> String {
    let index = entry.index.map(|index| format!("#{index}"));
    format!(
        "… (id {:.12}{})",
        entry.commit.to_string(),
        index.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::conditions::laws;
    use crate::hash::CommitHash;
    use crate::query::audit::Fact;

    fn entry() -> EntryId {
        EntryId::of(CommitHash::from_bytes([7; 32]))
    }

    fn found(class: FactClass, text: String) -> FoundFact {
        FoundFact {
            fact: Fact {
                class,
                text,
                outcome: None,
                entry: entry(),
                count: 1,
                is_said: false,
            },
            names: Vec::new(),
            first: 0,
            last: 0,
            is_changed: class == FactClass::File,
        }
    }

    fn keep(pins: Vec<String>, facts: Vec<(usize, String)>) -> Keep {
        let pin = |text| Pin {
            entry: entry(),
            text,
        };
        let facts = facts.into_iter();
        Keep {
            pins: pins.into_iter().map(pin).collect(),
            facts: facts
                .map(|(class, text)| found(FactClass::ALL[class], text))
                .collect(),
            ..Keep::default()
        }
    }

    proptest! {
        #![proptest_config(laws(256))]

        /// It is never longer than it may be, the same each time, says nothing twice, and begins with what is pinned.
        #[test]
        fn a_digest_keeps_within_its_room(
            pins in prop::collection::btree_set("[a-e]{1,4}( [a-e\u{e9}\u{1b}]{1,60}){0,3}", 0..4),
            facts in prop::collection::vec((0..8_usize, "[a-e]{1,3}( [a-z]{1,40}){0,12}"), 0..30),
            budget in 0..1_500_usize,
        ) {
            let keep = keep(pins.into_iter().collect(), facts);
            let once = digest(&keep, budget);
            prop_assert!(once.text.chars().count() <= budget, "{} of {budget}", once.text.chars().count());
            prop_assert_eq!(&once, &digest(&keep, budget));
            prop_assert_eq!(once.given + once.left, keep.pins.len() + keep.facts.len());
            let has_control = once.text.contains('\u{1b}');
            prop_assert!(!has_control);
            let lines: Vec<&str> = once.text.lines().filter(|line| line.starts_with("- ")).collect();
            prop_assert_eq!(lines.iter().collect::<HashSet<_>>().len(), lines.len());
            if !keep.pins.is_empty() && budget > 1_000 {
                prop_assert!(once.text.starts_with(PINNED), "{}", once.text);
            }
            let whole = digest(&keep, usize::MAX / 2);
            prop_assert_eq!(whole.left, 0);
            for fact in &keep.facts {
                let mut said = Said::default();
                said.add(&whole.text);
                let is_long = fact.fact.text.chars().count() > LINE_CHARS;
                prop_assert!(is_long || said.has(&fact.fact.text), "{:?} in {}", fact, whole.text);
            }
        }
    }

    #[test]
    fn what_has_no_room_makes_room_for_what_follows_and_is_counted() {
        let facts = vec![
            (0, "Never touch the ledger.".to_owned()),
            (2, format!("cargo test {}", "very_long_name ".repeat(20))),
            (6, "ledger_of_1998".to_owned()),
            (7, "1998".to_owned()),
            (7, "2026".to_owned()),
        ];
        let keep = keep(vec!["Ask first.".to_owned()], facts);
        let digest = digest(&keep, 120);
        let text = "Pinned, word for word:\n- Ask first.\nThe user said:\n- Never touch the ledger.\n\
                    Names: ledger_of_1998\nNumbers: 1998, 2026";
        assert_eq!(digest.text, text);
        assert_eq!((digest.given, digest.left), (5, 1));
    }

    #[test]
    fn a_pin_that_is_too_long_is_begun_and_says_where_the_rest_is() {
        let keep = keep(vec!["a rule ".repeat(100)], Vec::new());
        let digest = digest(&keep, 200);
        assert!(
            digest.text.ends_with("… (id 070707070707)"),
            "{}",
            digest.text
        );
        assert!(digest.text.chars().count() <= 200);
        assert_eq!((digest.given, digest.left), (0, 1));
    }
}
