//! The laws of a diff, on generated conversations.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;
use crate::context::laws::history::{History, content, histories};
use crate::context::{Entry, Mask};
use crate::hash::{CommitHash, ContentHash};
use crate::model::tokens::{CONTEXT_OVERHEAD, Counter};
use crate::model::{Encoding, EntryId, Media, MediaSource, Message, Part, Priority, Role};

/// Numbers of which a message is made.
type Draw = (u8, u8, u8, u8);

fn word(number: u8) -> &'static str {
    [
        "parser",
        "lexer",
        "",
        "日本語",
        "a\nb\nc",
        "a\nB\nc",
        "{\"a\": [1, 2]}",
        "{\"a\":[1,2], \"b\":{\"c\":\"x\"}}",
        "\u{1b}[31m",
    ][number as usize % 9]
}

fn part((kind, a, b, _): Draw) -> Part {
    let id = format!("call_{b}");
    match kind % 6 {
        0 | 1 => Part::text(format!("{} {}", word(a), word(b))),
        2 => Part::ToolCall {
            id,
            name: ["read", "write"][a as usize % 2].into(),
            arguments: word(a).into(),
            kind: None,
        },
        3 => Part::ToolResult {
            call: id,
            content: vec![Part::text(word(a)); b as usize % 3],
            is_error: a % 2 == 0,
        },
        4 => Part::Thinking {
            text: word(a).into(),
            signature: (b % 2 == 0).then(|| word(b).into()),
            provider: Some("anthropic".into()),
        },
        _ => Part::Image(Media {
            media_type: Some("image/png".into()),
            name: None,
            detail: None,
            source: MediaSource::Base64(word(b).into()),
        }),
    }
}

fn message(draw: Draw) -> Message {
    let (kind, a, b, c) = draw;
    let count = usize::from(c % 3);
    let parts = (0..count as u8).map(|n| part((kind.wrapping_add(n), a, b.wrapping_add(n), c)));
    Message {
        attached: None,
        recipient: (c % 5 == 0).then(|| word(b).to_owned()),
        interrupted: false,
        role: Role::ALL[a as usize % 5],
        name: (b % 7 == 0).then(|| word(b).to_owned()),
        parts: parts.collect(),
    }
}

fn id(number: u16) -> EntryId {
    EntryId::of(CommitHash::of(&number.to_string()))
}

/// A context of these messages, named by the numbers before them.
fn side(counter: &Counter, messages: &[(u16, Message)], known: impl Fn(u16) -> bool) -> Side {
    let entry = |(number, message): &(u16, Message)| Entry {
        id: id(*number),
        content: message.hash(),
        mask: Mask::default(),
        priority: Priority::Normal,
        placed: None,
        edited: false,
    };
    let known = messages.iter().map(|(n, _)| *n).filter(|n| known(*n));
    Side {
        commit: None,
        entries: messages.iter().map(entry).collect(),
        messages: messages
            .iter()
            .map(|(_, message)| message.clone())
            .collect(),
        counts: messages.iter().map(|(_, m)| counter.message(m)).collect(),
        known: known.map(id).collect::<HashSet<_>>(),
        ..Side::default()
    }
}

/// Texts of two contexts, each named by a number; what the other one's history knows of them.
fn texts(counter: &Counter, texts: &[(u16, &str)], known: &[u16]) -> Side {
    let said = texts
        .iter()
        .map(|(n, text)| (*n, Message::text(Role::User, *text)));
    let said: Vec<(u16, Message)> = said.collect();
    side(counter, &said, |number| known.contains(&number))
}

fn kinds(before: Side, after: Side) -> Vec<String> {
    let diff = ContextDiff::new(before, after, &DiffOptions::default());
    let kind = |change: &Change| match change.kind {
        Kind::Hidden => "hidden",
        Kind::Removed => "removed",
        Kind::Returned => "returned",
        Kind::Added => "added",
        Kind::Modified(_) => "modified",
    };
    let place = |at: Option<usize>| at.map_or("-".to_owned(), |at| at.to_string());
    let line = |c: &Change| format!("{} {} {}", place(c.before), place(c.after), kind(c));
    diff.changes.iter().map(line).collect()
}

#[test]
fn a_hidden_message_is_hidden_even_if_its_text_is_typed_anew() {
    let counter = Counter::of(Encoding::O200K_BASE);
    let before = texts(&counter, &[(1, "one"), (2, "two")], &[1, 2]);
    let after = texts(&counter, &[(1, "one"), (3, "two")], &[1]);
    assert_eq!(kinds(before, after), ["1 - hidden", "- 1 added"]);
}

#[test]
fn strange_histories_line_up_by_content_and_then_by_likeness() {
    let counter = Counter::of(Encoding::O200K_BASE);
    let before = [
        (1, "Look at the parser."),
        (2, "same"),
        (3, "Write a test for empty input."),
        (4, "gone"),
        (5, "end"),
    ];
    let after = [
        (11, "Look at the lexer, and at the parser."),
        (12, "same"),
        (13, "new"),
        (14, "Write a test for very long input."),
        (15, "end"),
    ];
    let kinds = kinds(texts(&counter, &before, &[]), texts(&counter, &after, &[]));
    assert_eq!(
        kinds,
        ["0 0 modified", "- 2 added", "2 3 modified", "3 - removed"]
    );
}

/// A conversation of one call and its result, with a text beside the call.
fn step(counter: &Counter, base: u16, said: &str, tool: &str, result: &str) -> Side {
    let call = Part::ToolCall {
        id: format!("id{base}"),
        name: tool.into(),
        arguments: r#"{"path":"src/lib.rs"}"#.into(),
        kind: None,
    };
    let text = (!said.is_empty()).then(|| Part::text(said));
    let calls = Message::new(Role::Assistant, text.into_iter().chain([call]).collect());
    let answer = Part::ToolResult {
        call: format!("id{base}"),
        content: vec![Part::text(result)],
        is_error: false,
    };
    let answer = Message::new(Role::Tool, vec![answer]);
    let ask = Message::text(Role::User, "Go on.");
    let end = Message::text(Role::User, "Thanks.");
    let all = [ask, calls, answer, end];
    let all: Vec<_> = (base..).zip(all).collect();
    side(counter, &all, |_| false)
}

#[test]
fn a_call_is_the_same_whatever_is_said_beside_it() {
    let counter = Counter::of(Encoding::O200K_BASE);
    let said = "First of all I want to see how this library begins, where its documentation is, \
        and which of its modules are public; afterwards we can speak about the names of things.";
    let before = step(&counter, 1, "", "read", "fn main() {}");
    let after = step(&counter, 101, said, "read", "fn main() {}");
    assert_eq!(kinds(before, after), ["1 1 modified"]);
}

#[test]
fn results_of_two_tools_are_never_one_message() {
    let counter = Counter::of(Encoding::O200K_BASE);
    // Alike, and even the same.
    for other in ["No files found here", "No files found"] {
        let before = step(&counter, 1, "", "glob", "No files found");
        let after = step(&counter, 101, "", "grep", other);
        let kinds = kinds(before, after);
        assert!(kinds.contains(&"2 - removed".to_owned()), "{kinds:?}");
        assert!(kinds.contains(&"- 2 added".to_owned()), "{kinds:?}");
    }
}

/// Two contexts of one history: what it holds, and for each entry what each side does with it.
fn contexts() -> impl Strategy<Value = (Side, Side)> {
    let step = (any::<Draw>(), any::<Draw>(), 0_u8..8);
    (prop::collection::vec(step, 0..14), any::<bool>()).prop_map(|(steps, related)| {
        let counter = Counter::of(Encoding::O200K_BASE);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (number, (a, b, what)) in steps.into_iter().enumerate() {
            let number = number as u16;
            let other = if related { number } else { number + 1_000 };
            let (old, new) = (message(a), message(b));
            match what {
                0 => before.push((number, old)),
                1 => after.push((number, old)),
                2 => {
                    before.push((number, old));
                    after.push((other, new));
                }
                // The other way round: contents that cross.
                3 => {
                    after.push((number, old.clone()));
                    after.push((number + 500, new.clone()));
                    before.push((number + 2_000, new));
                    before.push((number + 2_500, old));
                }
                _ => {
                    before.push((number, old.clone()));
                    after.push((other, old));
                }
            }
        }
        let known = |number: u16| related && number < 2_000 && !number.is_multiple_of(3);
        (
            side(&counter, &before, known),
            side(&counter, &after, known),
        )
    })
}

/// The context of a generated history's commit, as one side of a comparison with `other`.
fn side_of(counter: &Counter, history: &History, at: usize, other: usize) -> Side {
    let draw = |n: u32| (n as u8, (n * 3) as u8, (n * 5) as u8, 1 + n as u8);
    let contents: HashMap<ContentHash, Message> =
        (0..11).map(|n| (content(n), message(draw(n)))).collect();
    let context = history.order(at).context();
    let message = |entry: &Entry| {
        let own = contents[&entry.content].clone();
        entry.mask.apply(own, |stub| contents.get(stub).cloned())
    };
    let messages: Vec<Message> = context.entries.iter().map(message).collect();
    Side {
        commit: Some(history.0[at].0),
        entries: context.entries.iter().cloned().collect(),
        counts: messages.iter().map(|m| counter.message(m)).collect(),
        messages,
        known: history.order(other).entries().map(|e| e.id).collect(),
        ..Side::default()
    }
}

/// With every JSON text in one spelling: a diff by keys has none of its own.
fn spelled(messages: &[Message]) -> Vec<Message> {
    fn spell(part: &mut Part) {
        match part {
            Part::Text { text }
            | Part::ToolCall {
                arguments: text, ..
            } => {
                if let Some(json) = Json::parse_structure(text) {
                    *text = json.to_string();
                }
            }
            Part::ToolResult { content, .. } => content.iter_mut().for_each(spell),
            _ => {}
        }
    }
    let mut messages = messages.to_vec();
    for message in &mut messages {
        message.parts.iter_mut().for_each(spell);
    }
    messages
}

fn without_ids(messages: &[Message]) -> Vec<Message> {
    let options = DiffOptions::default();
    let neutral = messages
        .iter()
        .map(|m| parts::neutral(m, &options).into_owned());
    neutral.collect()
}

proptest! {
    #![proptest_config(crate::conditions::laws(512))]

    #[test]
    fn applying_a_diff_gives_the_second_context((before, after) in contexts(), exact_ids: bool) {
        let options = DiffOptions { exact_ids, ..DiffOptions::default() };
        let (old, new) = (before.messages.clone(), after.messages.clone());
        let diff = ContextDiff::new(before, after, &options);
        let applied = spelled(&diff.apply(&old));
        if exact_ids { prop_assert_eq!(applied, spelled(&new)) } else { prop_assert_eq!(without_ids(&applied), without_ids(&spelled(&new))) }
    }

    #[test]
    fn any_two_commits_of_a_history_compare(history in histories(40), a: prop::sample::Index, b: prop::sample::Index) {
        let counter = Counter::of(Encoding::O200K_BASE);
        let (a, b) = (a.index(history.0.len()), b.index(history.0.len()));
        let (before, after) = (side_of(&counter, &history, a, b), side_of(&counter, &history, b, a));
        let options = DiffOptions { exact_ids: true, ..DiffOptions::default() };
        let diff = ContextDiff::new(before.clone(), after.clone(), &options);
        prop_assert_eq!(spelled(&diff.apply(&before.messages)), spelled(&after.messages));
        // What both show is one message: never gone on one side and new on the other.
        let alone = diff.changes.iter().filter(|change| !matches!(change.kind, Kind::Modified(_)));
        let alone: Vec<EntryId> = alone.map(|change| diff.entry(change).id).collect();
        for entry in &before.entries {
            let both = after.entries.iter().any(|other| other.id == entry.id);
            prop_assert!(!both || !alone.contains(&entry.id));
        }
        // One history compared with its own past: nothing is ever removed.
        if history.path(b).iter().any(|(hash, _)| *hash == history.0[a].0) {
            prop_assert!(diff.changes.iter().all(|change| change.kind != Kind::Removed));
        }
    }

    #[test]
    fn token_deltas_sum_to_the_difference_of_the_totals((before, after) in contexts()) {
        let framing = |side: &Side| if side.messages.is_empty() { 0 } else { CONTEXT_OVERHEAD as i64 };
        let framing = framing(&after) - framing(&before);
        let diff = ContextDiff::new(before, after, &DiffOptions::default());
        let sum: i64 = diff.changes.iter().map(|change| change.delta).sum();
        prop_assert_eq!(sum + framing, diff.delta());
    }

    #[test]
    fn messages_of_strange_histories_are_one_only_if_they_answer_the_same_tools((before, after) in contexts()) {
        let strange = before.known.is_empty() && after.known.is_empty()
            && !before.entries.iter().any(|one| after.entries.iter().any(|other| one.id == other.id));
        let (old, new) = (before.messages.clone(), after.messages.clone());
        let named = |messages: &[Message], at: usize| -> Vec<String> {
            let calls = answered(messages).swap_remove(at);
            calls.into_iter().filter_map(tools::name).map(str::to_owned).collect()
        };
        let diff = ContextDiff::new(before, after, &DiffOptions::default());
        for change in diff.changes.iter().filter(|_| strange) {
            if let (Some(b), Some(a)) = (change.before, change.after) {
                prop_assert_eq!(named(&old, b), named(&new, a));
            }
        }
    }

    #[test]
    fn a_context_does_not_differ_from_itself((side, _) in contexts()) {
        let diff = ContextDiff::new(side.clone(), side, &DiffOptions { exact_ids: true, ..DiffOptions::default() });
        prop_assert!(diff.is_empty());
    }

    #[test]
    fn changes_stand_in_the_conversations_order((before, after) in contexts()) {
        let diff = ContextDiff::new(before, after, &DiffOptions::default());
        let olds: Vec<usize> = diff.changes.iter().filter_map(|change| change.before).collect();
        let news: Vec<usize> = diff.changes.iter().filter_map(|change| change.after).collect();
        prop_assert!(olds.is_sorted() && news.is_sorted());
    }
}
