//! What holds of every stream of events, however odd.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::Value;

use super::*;
use crate::conditions::laws;
use crate::model::{HideKind, Part, Role};

/// What may happen, with a text that no other event has.
fn happening(number: usize) -> impl Strategy<Value = Happening> {
    let token = format!("<{number}>");
    let calls = select(vec!["a", "b", "c"]);
    let phase = select(vec![None, Some("commentary"), Some("final_answer")]);
    let ending = select(vec![Ending::Success, Ending::Error, Ending::Interrupted]);
    let of_call = (0..7_usize, calls, ending, any::<bool>());
    let other = (0..12_usize, phase, any::<bool>());
    let text = token.clone();
    let calls = of_call.prop_map(move |(which, call, ending, known)| {
        let (call, text) = (call.to_owned(), text.clone());
        let (name, arguments) = ("ls".to_owned(), format!("{{\"n\":\"{text}\"}}"));
        let offset = known.then_some(number as u64);
        let content = vec![Part::text(text.clone())];
        match which {
            0 => Happening::CallStart { call, name },
            1 => Happening::CallInput { call, text, offset },
            2 => Happening::Call {
                call,
                name,
                arguments,
            },
            3 => Happening::Output { call, text, offset },
            4 => Happening::Block(Part::ToolCall {
                id: call,
                name,
                arguments,
                kind: None,
            }),
            _ => Happening::Answer {
                call,
                content,
                ending,
            },
        }
    });
    let others = other.prop_map(move |(which, phase, flag)| {
        let (text, phase) = (token.clone(), phase.map(str::to_owned));
        let parts = vec![Part::text(text.clone())];
        match which {
            0 => Happening::TurnStart,
            1 => Happening::TurnEnd,
            2 | 3 => Happening::User { parts, from: None },
            4 => Happening::TextDone { text, phase },
            5 => Happening::Reply { text },
            6 => Happening::ThinkingDelta { text },
            7 => Happening::ThinkingDone { text },
            8 => Happening::Interrupt { said: Vec::new() },
            9 if flag => Happening::BlockEnd,
            9 => Happening::Block(Part::text(text)),
            10 if flag => {
                let (kind, role) = (HideKind::Compaction, Role::User);
                Happening::Marker {
                    kind,
                    role,
                    parts,
                    covers: true,
                }
            }
            _ => Happening::TextDelta { text, phase },
        }
    });
    prop_oneof![calls, others]
}

fn event(number: usize) -> impl Strategy<Value = Event> {
    let turn = select(vec![None, None, Some("t"), Some("u")]);
    let response = select(vec![None, None, Some("r"), Some("s")]);
    let parent = select(vec![None, None, None, None, Some("a")]);
    let owned = |id: Option<&str>| id.map(str::to_owned);
    (happening(number), turn, response, parent).prop_map(move |(what, turn, response, parent)| {
        Event {
            id: Some(format!("e{number}")),
            turn: owned(turn),
            response: owned(response),
            parent: owned(parent),
            ..Event::new(what)
        }
    })
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    (1..30_usize).prop_flat_map(|count| (0..count).map(event).collect::<Vec<_>>())
}

fn fold(events: &[Event]) -> Fold {
    let mut fold = Fold::live();
    for event in events {
        fold.feed(event.clone());
    }
    fold
}

/// Every node with an id, what it says itself, and where it stands. A group is no node of its own.
fn nodes(tree: &Tree) -> Vec<(u64, Value)> {
    fn below(node: &Value, found: &mut Vec<(u64, Value)>) {
        for item in node["items"].as_array().into_iter().flatten() {
            let mut own = item.as_object().expect("a node").clone();
            own.remove("items");
            if let (Some(id), true) = (item["id"].as_u64(), item["kind"] != "group") {
                found.push((id, own.into()));
            }
            below(item, found);
        }
    }
    let mut found = Vec::new();
    let root = serde_json::from_str(&json::text(tree)).expect("JSON");
    below(&root, &mut found);
    found
}

fn states(tree: &Tree) -> BTreeMap<u64, String> {
    let tools = nodes(tree).into_iter();
    let state = |(id, node): (u64, Value)| Some((id, node["state"].as_str()?.to_owned()));
    tools.filter_map(state).collect()
}

/// The newest answer to a call of a turn, by looking at every call.
fn newest_answer(turn: &Turn) -> Option<NodeId> {
    let responses = turn.items.iter().filter_map(|item| match item {
        TurnItem::Response(response) => Some(response),
        _ => None,
    });
    let blocks = responses.flat_map(|response| &response.blocks);
    let tools = blocks.filter_map(|block| match block {
        ResponseBlock::Tool(tool) => Some(tool),
        _ => None,
    });
    let answers = tools.flat_map(|tool| {
        let told = [&tool.answer, &tool.queued].into_iter().flatten();
        told.map(|(id, _)| *id).chain(tool.cancelled)
    });
    answers.max()
}

/// How often each token is seen in texts, thoughts, bubbles and markers.
fn seen(tree: &Tree) -> BTreeMap<String, usize> {
    let mut seen = BTreeMap::new();
    for (_, node) in nodes(tree) {
        let text = node["text"].as_str().unwrap_or_default();
        for token in text.split_inclusive('>') {
            *seen.entry(token.to_owned()).or_default() += 1;
        }
    }
    seen
}

proptest! {
    #![proptest_config(laws(512))]

    /// The same events give the same tree, and each node has a name of its own.
    #[test]
    fn the_fold_is_deterministic(events in events()) {
        let tree = fold(&events).settle();
        prop_assert_eq!(json::text(&tree), json::text(&fold(&events).settle()));
        let names: Vec<u64> = nodes(&tree).into_iter().map(|(id, _)| id).collect();
        let distinct: BTreeSet<&u64> = names.iter().collect();
        prop_assert_eq!(names.len(), distinct.len());
    }

    /// No text is drawn twice. What streamed is never dropped, and what is told whole is drawn
    /// unless the same was streamed; only a bubble may be replaced by another of its turn.
    #[test]
    fn nothing_is_drawn_twice_and_nothing_dropped(events in events()) {
        let seen = seen(&fold(&events).settle());
        for (token, times) in &seen {
            prop_assert_eq!(*times, 1, "{} in {:?}", token, events);
        }
        for event in &events {
            let text = match &event.what {
                Happening::TextDelta { text, .. } | Happening::ThinkingDelta { text } => text,
                Happening::Block(Part::Text { text }) => text,
                Happening::Marker { parts, .. } if event.parent.is_none() => match &parts[..] {
                    [Part::Text { text }] => text,
                    _ => continue,
                },
                Happening::User { parts, .. } if event.turn.is_none() => match &parts[..] {
                    [Part::Text { text }] => text,
                    _ => continue,
                },
                _ => continue,
            };
            prop_assert!(seen.contains_key(text), "{text} of {events:?}");
        }
    }

    /// A call that was told, and a result that is the first of its call, are there at the end.
    #[test]
    fn every_call_is_there(events in events()) {
        let tree = fold(&events).settle();
        let calls: BTreeSet<String> = nodes(&tree)
            .into_iter()
            .filter_map(|(_, node)| node["call"].as_str().map(str::to_owned))
            .collect();
        for event in &events {
            let call = match &event.what {
                Happening::CallStart { call, .. } | Happening::Call { call, .. } => call,
                Happening::Block(Part::ToolCall { id, .. }) => id,
                Happening::Answer { call, .. } => call,
                _ => continue,
            };
            prop_assert!(calls.contains(call), "{call}");
        }
    }

    /// What became of a call only moves forward: from pending to streaming to an end that stays.
    #[test]
    fn states_only_move_forward(events in events()) {
        let rank = |state: &str| match state {
            "pending" => 0,
            "streaming" => 1,
            _ => 2,
        };
        let mut running = Fold::live();
        let mut before: BTreeMap<u64, String> = BTreeMap::new();
        for event in events {
            running.feed(event);
            let now = states(running.tree());
            for (id, old) in &before {
                let new = now.get(id).expect("a call does not go away");
                prop_assert!(rank(new) >= rank(old), "{old} became {new}");
                prop_assert!(rank(old) < 2 || new == old, "{old} became {new}");
            }
            before = now;
        }
        let end = states(&running.settle());
        for (id, old) in before {
            prop_assert!(rank(&old) < 2 || end[&id] == old);
            prop_assert_eq!(rank(&end[&id]), 2, "something still runs at the end");
        }
    }

    /// While live there is at most one typing indicator, and it stands last; at the end none.
    #[test]
    fn a_turn_knows_its_newest_answer(events in events()) {
        let mut fold = Fold::live();
        for event in &events {
            fold.feed(event.clone());
            for item in &fold.tree().items {
                let TreeItem::Turn(turn) = item else { continue };
                prop_assert_eq!(turn.answered, newest_answer(turn));
            }
        }
    }

    #[test]
    fn the_typing_indicator_stands_last(events in events()) {
        let fold = fold(&events);
        let text = json::text(fold.tree());
        let typing = r#"{"kind":"typing"}"#;
        prop_assert!(text.matches(typing).count() <= 1);
        if let Some((_, after)) = text.split_once(typing) {
            prop_assert!(after.chars().all(|c| "]}".contains(c)), "{}", after);
        }
        prop_assert!(!json::text(&fold.settle()).contains(typing));
    }

    /// An event that comes again, at once or later, changes nothing.
    #[test]
    fn what_comes_again_changes_nothing(events in events(), again in any::<u64>()) {
        let mut doubled = Vec::new();
        for (at, event) in events.iter().enumerate() {
            doubled.push(event.clone());
            doubled.push(events[again as usize % (at + 1)].clone());
        }
        let (once, twice) = (fold(&events).settle(), fold(&doubled).settle());
        prop_assert_eq!(json::text(&once), json::text(&twice));
    }

    /// Numbered events give the same tree in whatever order they come.
    #[test]
    fn numbers_decide_the_order(
        (events, late) in events().prop_flat_map(|events| {
            let count = events.len();
            (Just(events), subsequence((0..count).collect::<Vec<_>>(), 0..=count))
        })
    ) {
        let number = |(at, event): (usize, &Event)| {
            let place = EventPlace { revision: 1, sequence: at as u64 };
            Event { place: Some(place), ..event.clone() }
        };
        let ordered: Vec<Event> = events.iter().enumerate().map(number).collect();
        let (late, early): (Vec<usize>, Vec<usize>) =
            (0..events.len()).partition(|at| late.contains(at));
        let shuffled: Vec<Event> =
            early.iter().chain(late.iter().rev()).map(|at| ordered[*at].clone()).collect();
        let (one, other) = (fold(&ordered).settle(), fold(&shuffled).settle());
        prop_assert_eq!(json::text(&one), json::text(&other));
        prop_assert_eq!(json::text(&one), json::text(&fold(&events).settle()));
    }

    /// What an event is told to have touched is all that changed.
    #[test]
    fn what_changed_is_told(events in events()) {
        let mut running = Fold::live();
        let mut before: BTreeMap<u64, Value> = BTreeMap::new();
        for event in events {
            let touched: BTreeSet<u64> =
                running.feed(event.clone()).nodes.into_iter().map(|id| id.0).collect();
            let now: BTreeMap<u64, Value> = nodes(running.tree()).into_iter().collect();
            for (id, node) in &now {
                let same = before.get(id) == Some(node);
                // A bubble that is empty is seen only while someone types in it.
                let container = node["kind"] == "response" || node["kind"] == "turn";
                prop_assert!(same || container || touched.contains(id), "{node} by {event:?}");
            }
            before = now;
        }
    }
}
