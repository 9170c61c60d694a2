//! No plan splits a call from its result, whatever came before it.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::hash::ContentHash;
use crate::model::{Commit, Draft, Operation, Part, Settings};

/// A conversation that grows commit by commit, with the bodies of its messages.
#[derive(Clone, Default)]
struct Growing {
    order: Order,
    tip: Option<CommitHash>,
    bodies: HashMap<ContentHash, Message>,
}

impl Growing {
    fn apply(&mut self, draft: &Draft) -> Result<(), TestCaseError> {
        for message in &draft.messages {
            self.bodies.insert(message.hash(), message.clone());
        }
        let (hash, commit): (CommitHash, Commit) = commit_after(self.tip, draft);
        let applied = self.order.apply(hash, &commit);
        prop_assert!(applied.is_ok(), "{:?}: {:?}", draft.operation, applied);
        self.tip = Some(hash);
        Ok(())
    }

    fn conversation(&self) -> Conversation {
        Conversation::new(&self.order, |entry| {
            let body = self.bodies[&entry.content].clone();
            let message = entry
                .mask
                .apply(body, |stub| self.bodies.get(stub).cloned());
            Facts {
                role: message.role,
                links: Links::of(&message),
                tokens: TokenCount {
                    tokens: 10,
                    estimated: false,
                },
            }
        })
    }
}

/// A message from numbers: few ids, so that they repeat and cross.
fn message(kind: u8, number: u32) -> Message {
    let ids = ["a", "b", "c"];
    let chosen = |shift: u32| {
        ids.iter()
            .enumerate()
            .filter(move |(i, _)| number >> (*i as u32 + shift) & 1 == 1)
    };
    let result = |id: &str| Part::ToolResult {
        call: id.to_owned(),
        content: vec![Part::text(number.to_string())],
        is_error: false,
    };
    match kind % 8 {
        0 => Message::text(Role::User, number.to_string()),
        1..=3 => {
            let call = |id: &str| Part::ToolCall {
                id: id.to_owned(),
                name: "f".into(),
                arguments: number.to_string(),
                kind: None,
            };
            let mut parts: Vec<Part> = chosen(0).map(|(_, id)| call(id)).collect();
            if number.is_multiple_of(5) || parts.is_empty() {
                parts.insert(0, Part::text(number.to_string()));
            }
            Message {
                role: Role::Assistant,
                name: None,
                parts,
            }
        }
        4..=6 => {
            let mut parts: Vec<Part> = chosen(3).map(|(_, id)| result(id)).collect();
            if parts.is_empty() {
                parts.push(result("a"));
            }
            Message {
                role: Role::Tool,
                name: None,
                parts,
            }
        }
        _ if number.is_multiple_of(4) => Message::text(Role::System, number.to_string()),
        _ => Message {
            role: Role::User,
            name: None,
            parts: vec![result("a"), Part::text("more")],
        },
    }
}

/// A plan from numbers; none where it has nothing to do or refuses.
fn plan(conversation: &Conversation, kind: u8, number: u32) -> Vec<Draft> {
    let count = conversation.visible_count();
    if count == 0 {
        return Vec::new();
    }
    let (a, b) = (number as usize % count, number as usize / 7 % count);
    let fraction = |percent: u32| {
        format!("0.{percent:02}")
            .parse::<Fraction>()
            .expect("decimal")
    };
    match kind % 9 {
        0 => {
            let how = Truncate::Keep(number as usize % 6);
            let markers = [
                Marker::Standard,
                Marker::None,
                Marker::Custom("m".into(), Role::User),
            ];
            let marker = &markers[number as usize % 3];
            truncate(conversation, how, number.is_multiple_of(5), marker)
                .into_iter()
                .collect()
        }
        1 => {
            let how = Truncate::Fraction(fraction(number % 100));
            truncate(conversation, how, false, &Marker::Standard)
                .into_iter()
                .collect()
        }
        2 => compact(conversation, Span::AllBut(number as usize % 5), "summary")
            .into_iter()
            .collect(),
        3 => compact(conversation, Span::From(a.min(b), a.max(b)), "part")
            .into_iter()
            .collect(),
        4 => clear(conversation, number.is_multiple_of(2))
            .into_iter()
            .collect(),
        5 => drop_messages(conversation, &[a, b], number.is_multiple_of(2))
            .into_iter()
            .collect(),
        6 => {
            let options = Prune {
                turns: 1,
                protect_tokens: 10,
                min_tokens: 0,
                larger_than: 0,
            };
            prune(conversation, options, |at| format!("[stub {at}]"))
                .into_iter()
                .collect()
        }
        7 => {
            let hidden = conversation
                .entries
                .iter()
                .filter(|(e, _)| !e.hidden_by.is_empty());
            let hidden: Vec<EntryId> = hidden.map(|(entry, _)| entry.id).collect();
            let named = hidden.get(number as usize % hidden.len().max(1));
            named
                .and_then(|id| restore(conversation, &[*id]).ok())
                .unwrap_or_default()
        }
        _ => skip(conversation, &[a], None).into_iter().collect(),
    }
}

type Words = Vec<(u8, u32)>;

fn said(words: &Words) -> Result<Growing, TestCaseError> {
    let mut growing = Growing::default();
    for (at, (kind, number)) in words.iter().enumerate() {
        // Every message is one of its kind: a system message opens, pins come now and then.
        let kind = if at == 0 { 7 } else { *kind };
        growing.apply(&Draft::append(message(kind, *number)))?;
        if number % 11 == 0
            && let Some(tip) = growing.tip
        {
            let targets = vec![EntryId::of(tip)];
            let operation = Operation::Annotate {
                targets,
                priority: Priority::Pinned,
                reason: None,
            };
            growing.apply(&Draft {
                settings: Settings::new(),
                ..Draft::new(operation, vec![])
            })?;
        }
    }
    Ok(growing)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// After any plan, a call and its result are both in the context or both out of it; what is
    /// pinned or still being answered stays; and the system messages and the task stay where the
    /// plan says so.
    #[test]
    fn no_plan_splits_a_pair(
        words in prop::collection::vec((any::<u8>(), 0u32..4096), 1..30),
        plans in prop::collection::vec((any::<u8>(), any::<u32>()), 1..6),
    ) {
        let mut growing = said(&words)?;
        for (kind, number) in plans {
            let before = growing.conversation();
            let drafts = plan(&before, kind, number);
            for draft in &drafts {
                growing.apply(draft)?;
            }
            let after = growing.conversation();
            let stays = |place: usize| {
                let id = before.entry(place).id;
                (0..after.visible_count()).any(|at| after.entry(at).id == id)
            };
            for (call, result) in before.pairs().pairs() {
                prop_assert_eq!(stays(*call), stays(*result), "{} {:?}", kind % 9, drafts);
            }
            for place in 0..before.visible_count() {
                let protected = before.is_pinned(place)
                    || before.pairs().is_open(place)
                    || (before.is_system(place) && !matches!(kind % 9, 4 | 5 | 8))
                    || (before.task() == Some(place) && kind % 9 == 1);
                prop_assert!(!protected || stays(place), "{} {:?}", kind % 9, drafts);
            }
        }
    }

    /// What comes back by name comes back with its tool partners.
    #[test]
    fn no_restore_splits_a_pair(
        words in prop::collection::vec((any::<u8>(), 0u32..4096), 2..30),
        keep in 0usize..4,
        pick: prop::sample::Index,
    ) {
        let mut growing = said(&words)?;
        let before = growing.conversation();
        let Some(draft) = truncate(&before, Truncate::Keep(keep), true, &Marker::None) else {
            return Ok(());
        };
        growing.apply(&draft)?;
        let hidden = growing.conversation();
        let gone: Vec<EntryId> = hidden.entries.iter()
            .filter(|(entry, _)| !entry.visible).map(|(entry, _)| entry.id).collect();
        for draft in restore(&hidden, &[gone[pick.index(gone.len())]]).expect("it is hidden") {
            growing.apply(&draft)?;
        }
        let after = growing.conversation();
        let stays = |place: usize| {
            let id = before.entry(place).id;
            (0..after.visible_count()).any(|at| after.entry(at).id == id)
        };
        for (call, result) in before.pairs().pairs() {
            prop_assert_eq!(stays(*call), stays(*result));
        }
    }
}

#[test]
fn a_fraction_is_of_all_but_one_and_even() {
    for (count, share, hidden) in [
        (11, "0.5", 4),
        (12, "0.5", 4),
        (5, "0.5", 2),
        (7, "0.3", 0),
        (3, "1", 2),
        (4, "1", 2),
    ] {
        let mut growing = Growing::default();
        growing
            .apply(&Draft::append(Message::text(Role::System, "s")))
            .expect("applies");
        for at in 0..count {
            let role = if at % 2 == 0 {
                Role::User
            } else {
                Role::Assistant
            };
            growing
                .apply(&Draft::append(Message::text(role, at.to_string())))
                .expect("applies");
        }
        let before = growing.conversation();
        let how = Truncate::Fraction(share.parse().expect("a decimal"));
        match truncate(&before, how, false, &Marker::Standard) {
            None => assert_eq!(hidden, 0, "{count} at {share}"),
            Some(draft) => {
                growing.apply(&draft).expect("applies");
                let after = growing.conversation();
                assert_eq!(
                    after.visible_count(),
                    1 + count - hidden + 1,
                    "{count} at {share}"
                );
                assert_eq!(after.entry(1).id, before.entry(1).id, "the task stays");
                assert!(
                    after.is_marker(2),
                    "the marker stands before the first kept message"
                );
                if 2 + hidden < before.visible_count() {
                    assert_eq!(after.entry(3).id, before.entry(2 + hidden).id);
                }
            }
        }
    }
}

#[test]
fn a_fraction_is_read_as_a_decimal() {
    for bad in ["", ".", "1.1", "-0.5", "0,5", "1e-1", "2", "0.1234567890"] {
        assert!(bad.parse::<Fraction>().is_err(), "{bad}");
    }
    for good in ["0", "1", "1.0", ".5", "0.30", "0."] {
        assert!(good.parse::<Fraction>().is_ok(), "{good}");
    }
}
