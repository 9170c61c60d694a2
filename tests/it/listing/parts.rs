//! A conversation that is read a part at a time shows what the whole shows.

use proptest::prelude::*;
use tract::ingest::{Conversation, PartSize, Replay, Scope, Start};
use tract::model::{Draft, Message, Part, Role};
use tract::render::chat::{Chat, ChatMessage, Pen};
use tract::repo::{Call, CommitOptions, On, Repo};
use tract::rewrite::SurgeryOptions;
use tract::rewrite::{Extent, Reach, Summary, Truncate};
use tract::tree::NodeId;

use crate::conditions::laws;

fn message(kind: u8, number: u8, at: usize) -> Message {
    let id = format!("call {}", number % 5);
    let said = Part::text(format!("{at} says\n\nsomething"));
    let call = |id: &str| Part::ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments: format!("{{\"path\":\"{at}\"}}"),
        kind: None,
    };
    let (role, parts) = match kind % 8 {
        0 | 1 => (Role::User, vec![said]),
        2 => (Role::System, vec![said]),
        3 => (Role::Assistant, vec![said]),
        4 => (Role::Assistant, vec![said, call(&id)]),
        5 => (Role::Assistant, vec![call(&id), call("more")]),
        6 => {
            let content = vec![Part::text(
                format!("{at} came of it\n").repeat(number.into()),
            )];
            let is_error = number.is_multiple_of(7);
            let call = id;
            let result = Part::ToolResult {
                call,
                content,
                is_error,
            };
            (Role::Tool, vec![result])
        }
        _ => {
            let thought = Part::Thinking {
                text: format!("{at} thinks"),
                signature: None,
                provider: None,
            };
            (Role::Assistant, vec![thought, said])
        }
    };
    Message {
        attached: None,
        recipient: None,
        interrupted: false,
        role,
        name: None,
        parts,
    }
}

fn lines(found: &Replay, pen: &mut Pen) -> Vec<String> {
    let message_of = |node: NodeId| {
        let (at, entry) = found.entry_of(node)?;
        let number = entry.number;
        Some(ChatMessage { at, number })
    };
    let chat = Chat {
        message_of: &message_of,
        ..Chat::new(3, Some(60))
    };
    pen.begin_tree();
    let items = found.tree.items.iter();
    items
        .flat_map(|item| pen.item(&chat, item))
        .map(|line| line.line.text())
        .collect()
}

fn repo(kinds: &[(u8, u8)], hides: &[(u8, u8)]) -> Repo {
    let repo = Repo::ephemeral().expect("made");
    let (mut at, mut waits) = (0, std::collections::BTreeSet::new());
    let step = kinds.len() / (hides.len() + 1) + 1;
    for (round, some) in kinds.chunks(step).enumerate() {
        let drafts: Vec<Draft> = some
            .iter()
            .map(|(kind, number)| {
                at += 1;
                // A result that nothing waits for is filled by a call of its id, however late.
                let kind = match kind % 8 {
                    6 if !waits.remove(&(number % 5)) => 3,
                    kind => kind,
                };
                if matches!(kind, 4 | 5) {
                    waits.insert(number % 5);
                }
                Draft::append(message(kind, *number, at))
            })
            .collect();
        repo.commit(Call::default(), &drafts, &CommitOptions::default())
            .expect("commits");
        let (call, options) = (Call::default(), SurgeryOptions::default());
        // What cannot be hidden here changes nothing.
        match hides.get(round) {
            Some((0, keep)) => {
                let reach = Reach::Keep(usize::from(*keep).max(1));
                let _ = repo.carry_out(call, &Truncate::new(reach), &options);
            }
            Some((1, _)) => {
                let _ = repo.compact(call, &Extent::All, Summary::Text("in short"), &options);
            }
            Some((_, _)) => {
                let _ = repo.clear(call, false, &options);
            }
            None => {}
        }
    }
    repo
}

proptest! {
    #![proptest_config(ProptestConfig {
        source_file: Some(file!()),
        ..laws(256)
    })]

    /// Drawn in parts, each of which begins where a user speaks, a conversation is what it is drawn
    /// whole, from above and from below.
    #[test]
    fn what_is_drawn_in_parts_is_what_is_drawn_whole(
        kinds in prop::collection::vec(any::<(u8, u8)>(), 1..48),
        hides in prop::collection::vec((0_u8..3, 0_u8..6), 0..4),
        messages in 1_usize..8,
        scope in prop_oneof![Just(Scope::All), Just(Scope::Transcript), Just(Scope::Window(10_000))],
    ) {
        let repo = repo(&kinds, &hides);
        let tip = repo.head(&On::Head).expect("a head").commit().expect("a commit");
        let talk = Conversation::open(&repo, &tip, scope).expect("opens");
        let whole = talk.read(&repo, 0..talk.len(), Start::Alone).expect("reads");
        let whole = lines(&whole, &mut Pen::default());
        let size = PartSize { messages, bytes: u64::MAX, more: 1_000 };

        let (mut at, mut pen, mut drawn) = (0, Pen::default(), Vec::new());
        let mut parts = Vec::new();
        while at < talk.len() {
            let part = talk.part_from(&repo, at, size).expect("a part");
            prop_assert!(part.start == at && part.end > at);
            at = part.end;
            parts.push(part.clone());
            let found = talk.read(&repo, part, Start::Seen).expect("reads");
            drawn.extend(lines(&found, &mut pen));
        }
        prop_assert_eq!(&drawn, &whole, "{:?}", parts);

        let (mut at, mut parts) = (talk.len(), Vec::new());
        while at > 0 {
            let part = talk.part_to(&repo, at, size).expect("a part");
            prop_assert!(part.end == at && part.start < at);
            at = part.start;
            parts.insert(0, part);
        }
        let mut pen = Pen::default();
        let drawn: Vec<String> = parts
            .iter()
            .flat_map(|part| {
                let found = talk.read(&repo, part.clone(), Start::Seen).expect("reads");
                lines(&found, &mut pen)
            })
            .collect();
        prop_assert_eq!(&drawn, &whole, "{:?}", parts);
    }
}

#[test]
fn a_part_ends_where_it_is_too_long() {
    let kinds = [(3, 0); 20];
    let repo = repo(&kinds, &[]);
    let tip = repo
        .head(&On::Head)
        .expect("a head")
        .commit()
        .expect("a commit");
    let talk = Conversation::open(&repo, &tip, Scope::All).expect("opens");
    let size = PartSize {
        messages: 3,
        bytes: u64::MAX,
        more: 4,
    };
    assert_eq!(talk.part_from(&repo, 2, size).expect("a part"), 2..9);
    assert_eq!(talk.part_to(&repo, 20, size).expect("a part"), 13..20);
    let size = PartSize {
        messages: 100,
        bytes: 1,
        more: 100,
    };
    let part = talk.part_from(&repo, 2, size).expect("a part");
    assert_eq!(part, 2..3, "a message of more than eight bytes is too much");
}

/// The most memory in KiB that a view of so many messages has taken when it is nearly through.
#[cfg(target_os = "linux")]
fn peak(count: usize) -> u64 {
    use std::io::{BufRead, BufReader};

    let sandbox = crate::sandbox::Sandbox::new();
    let row = |at: usize| {
        let role = if at % 2 == 1 { "user" } else { "assistant" };
        let said = "words ".repeat(200);
        format!("{{\"role\":\"{role}\",\"content\":\"message {at}. {said}\"}}\n")
    };
    let rows: String = (1..=count).map(row).collect();
    sandbox.write("batch.jsonl", rows);
    sandbox.ok(&["commit", "--batch", "batch.jsonl"]);
    let mut view = sandbox.command(&["view", "--all"]);
    let mut view = view
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut lines = BufReader::new(view.stdout.take().expect("it is piped")).lines();
    // What is left fills the pipe, so that it waits to be read.
    let near = format!("message {}.", count - 300);
    assert!(lines.any(|line| line.expect("UTF-8").contains(&near)));
    let status = std::fs::read_to_string(format!("/proc/{}/status", view.id()));
    let status = status.expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB"));
    let peak = peak.and_then(|peak| peak.parse().ok()).expect("a number");
    assert_eq!(
        lines
            .filter(|line| line.as_ref().is_ok_and(|line| line.contains("message ")))
            .count(),
        300
    );
    assert!(view.wait().expect("it ends").success());
    peak
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_conversation_is_drawn_in_the_memory_of_a_short_one() {
    let (short, long) = (peak(1_000), peak(8_000));
    // Held whole, the long one is ten megabytes of text alone.
    assert!(long < short + (4 << 10), "{short} KiB, then {long}");
}
