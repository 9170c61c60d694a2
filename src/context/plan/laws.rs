//! The laws of plans, on generated conversations.

mod carries;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use proptest::prelude::*;

use super::truncate::{Marker, Window, truncate};
use super::*;
use crate::context::Order;
use crate::hash::{CommitHash, ContentHash};
use crate::model::tokens::context_total;
use crate::model::{Commit, Settings};

/// A conversation under way.
#[derive(Clone, Default)]
struct World {
    order: Order,
    parent: Option<CommitHash>,
    path: Vec<(CommitHash, Commit)>,
    messages: HashMap<ContentHash, Message>,
    serial: i64,
}

fn tokens(tokens: u64) -> TokenCount {
    TokenCount {
        tokens,
        estimated: false,
    }
}

impl World {
    fn total(&self) -> u64 {
        let input = self.input();
        context_total(input.visible().map(|at| input.order[at].tokens)).tokens
    }

    fn commit(&mut self, draft: Draft) -> Result<()> {
        for message in draft.messages {
            self.messages.insert(message.hash(), message.into_inner());
        }
        self.serial += 1;
        let commit = Commit {
            parent: self.parent,
            operation: draft.operation,
            time: None,
            settings: Settings::new(),
            note: Some(self.serial.to_string()),
            author: None,
            merged: None,
            origin: None,
        };
        let hash = commit.hash();
        self.order.apply(hash, &commit)?;
        self.parent = Some(hash);
        self.path.push((hash, commit));
        Ok(())
    }

    fn input(&self) -> PlanInput {
        let entry = |entry: OrderEntry| {
            let own = self.messages[&entry.content].clone();
            let parts = own.parts.iter().map(|part| PlanPart {
                link: PartLink::of(part),
                tokens: 10,
            });
            let parts = parts.collect();
            let seen = entry
                .mask
                .apply(own, |stub| self.messages.get(stub).cloned());
            PlanEntry {
                run: None,
                attached: false,
                injected: false,
                role: seen.role,
                links: Links::of(&seen),
                tokens: tokens(10 * seen.parts.len() as u64),
                parts,
                entry,
            }
        };
        PlanInput {
            order: self.order.entries().map(entry).collect(),
            edits: self.order.edits().collect(),
        }
    }

    /// The pairs of which one end is in the context and the other isn't.
    fn split(&self) -> HashSet<(EntryId, EntryId)> {
        let input = self.input();
        let present = |at: usize, nth: usize, call: bool| {
            let linked = input.order[at]
                .parts
                .iter()
                .enumerate()
                .filter(|(_, part)| {
                    matches!(
                        (&part.link, call),
                        (PartLink::Call { .. }, true) | (PartLink::Result(_), false)
                    )
                });
            let (index, _) = linked.clone().nth(nth).expect("it is paired");
            input.order[at].visible() && !input.order[at].lacks(index)
        };
        let id = |at: usize| input.order[at].entry.id;
        let pairs = input.pairs_of_contents();
        let split = pairs.pairs().iter().filter(|pair| {
            present(pair.call.0, pair.call.1, true) != present(pair.result.0, pair.result.1, false)
        });
        split
            .map(|pair| (id(pair.call.0), id(pair.result.0)))
            .collect()
    }

    fn say(&mut self, (kind, a, b): (u8, u8, u8)) {
        let id = |n: u8| format!("c{}", n % 4);
        let call = |n| Part::ToolCall {
            id: id(n),
            name: "read".into(),
            arguments: "{}".into(),
            kind: None,
        };
        let result = |n| Part::ToolResult {
            call: id(n),
            content: vec![Part::text("out")],
            is_error: false,
        };
        let (role, parts) = match kind % 8 {
            0 => (Role::System, vec![Part::text("rules")]),
            1 | 2 => (Role::User, vec![Part::text("ask")]),
            3 => (Role::Assistant, vec![call(a), call(b)]),
            4 => (Role::Assistant, vec![call(a)]),
            5 => (Role::Tool, vec![result(a), result(b)]),
            _ => (Role::Tool, vec![result(a)]),
        };
        let name = None;
        let message = Message {
            attached: None,
            recipient: None,
            interrupted: false,
            role,
            name,
            parts,
        };
        self.commit(Draft::append(message)).expect("an append");
    }

    /// What a plan gives for these numbers; nothing where it refuses.
    fn plan(&self, kind: u8, a: u8, b: u8) -> Vec<Draft> {
        let input = self.input();
        let id = |n: u8| input.order[n as usize % input.order.len()].entry.id;
        let made = match kind % 8 {
            0 if a >= 128 => {
                let tokens = 10 * u64::from(a - 128);
                let window = Window::Budget {
                    tokens,
                    whole: tokens,
                    marker: 10,
                };
                truncate(&input, window, b > 200, &Marker::Default)
            }
            0 => truncate(
                &input,
                Window::Keep(a as usize % 8),
                b > 200,
                &Marker::Default,
            ),
            1 => {
                let fraction = format!("0.{}", a % 10).parse().expect("a fraction");
                truncate(
                    &input,
                    Window::Fraction(fraction),
                    b > 200,
                    &Marker::Default,
                )
            }
            2 => compact::compact(
                &input,
                &compact::Extent::KeepLast(a as usize % 8),
                "summary",
            ),
            3 => compact::compact(&input, &compact::Extent::Range(id(a), id(b)), "summary"),
            4 if b > 160 => Ok(clear::clear(&input, b > 230)),
            4 if b % 4 == 3 => skip::annotate(&input, &[id(a)], Priority::Normal, None),
            4 => skip::annotate(&input, &[id(a)], Priority::Skip, None),
            5 => drop::drop(&input, &[id(a)], &[(id(b), 0)], b > 200),
            6 => {
                let limits = prune::Limits {
                    turns: 1,
                    protect: 0,
                    min: 0,
                    enough: u64::MAX,
                };
                Ok(prune::prune(
                    &input,
                    limits,
                    b > 100,
                    |_, _| false,
                    |_, _| Some(("gone".into(), 1)),
                ))
            }
            _ => {
                let id = id(a);
                let entry = &input.order[input.place(&id).expect("in range")].entry;
                let parts = entry.parts_hidden_by.iter().map(|(hide, _)| *hide);
                let mut hides = parts.chain(entry.hidden_by.iter().copied());
                let lost = match (b % 3, hides.next()) {
                    (0, _) => restore::Lost::Entry(id),
                    (1, Some(hide)) => restore::Lost::Whole(hide),
                    _ => restore::Lost::Part(id, u32::from(b % 2)),
                };
                return restore::restore(&input, &[lost]).unwrap_or_default();
            }
        };
        made.ok().flatten().into_iter().collect()
    }
}

/// What no plan may do, checked after each of them.
fn no_plan_splits(
    talk: Vec<(u8, u8, u8)>,
    plans: Vec<(u8, u8, u8)>,
) -> std::result::Result<(), TestCaseError> {
    let mut world = World::default();
    world.say((1, 0, 0));
    for said in talk {
        world.say(said);
    }
    for (kind, a, b) in plans {
        if b % 5 == 0 {
            let at = a as usize % world.order.len();
            let id = world.order.entries().nth(at).expect("in range").id;
            let split = world.split();
            if let Ok(Some(pin)) = skip::annotate(&world.input(), &[id], Priority::Pinned, None) {
                world.commit(pin).expect("a pin");
            }
            prop_assert!(
                world.split().is_subset(&split),
                "what a pin brings back lacks its partner"
            );
        }
        let (before, split) = (world.input(), world.split());
        for draft in world.plan(kind, a, b) {
            prop_assert!(world.commit(draft).is_ok());
        }
        let after = world.input();
        if kind % 8 == 7 || (kind % 8 == 4 && b <= 160) {
            prop_assert!(
                world.split().is_subset(&split),
                "what comes back lacks its partner"
            );
        }
        let visible: BTreeSet<EntryId> =
            after.visible().map(|at| after.order[at].entry.id).collect();
        let seen = |at: usize| visible.contains(&before.order[at].entry.id);
        let pairs = before.pairs();
        let present = |end: (usize, usize), call: bool| {
            let part = before.part_of(end, call).expect("it is paired");
            let id = before.order[end.0].entry.id;
            let entry = &after.order[after.place(&id).expect("it was there before")];
            entry.visible() && !entry.lacks(part)
        };
        for pair in pairs.pairs() {
            let ends = (present(pair.call, true), present(pair.result, false));
            prop_assert_eq!(ends.0, ends.1, "a pair is split");
        }
        for at in before.visible() {
            let entry = &before.order[at];
            // A marker goes with its hide, pinned or not, where that hide is restored.
            let restored = kind % 8 == 7 && entry.entry.placed.is_some();
            let skipped = kind % 8 == 4 && b <= 160;
            prop_assert!(
                !entry.pinned() || seen(at) || skipped || restored,
                "a pin is gone"
            );
            prop_assert!(!pairs.is_open(at) || seen(at), "an open call is gone");
            let clears = kind % 8 == 4 && (161..=230).contains(&b);
            let leading = (clears || kind % 8 < 4) && entry.role.is_system();
            prop_assert!(!leading || seen(at), "a system message is gone");
            if matches!(kind % 8, 0 | 1) && b <= 200 && before.task() == Some(at) {
                prop_assert!(seen(at), "the task is gone");
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(crate::conditions::laws(256))]

    #[test]
    fn no_plan_splits_a_pair_or_takes_what_is_protected(
        talk in prop::collection::vec(any::<(u8, u8, u8)>(), 4..30),
        plans in prop::collection::vec(any::<(u8, u8, u8)>(), 1..8),
    ) {
        no_plan_splits(talk, plans)?;
    }
}

/// What the law found once in some 30,000 conversations.
#[test]
fn a_skip_takes_what_hangs_together_by_either_pairing() {
    let talk = vec![
        (187, 70, 7),
        (228, 107, 0),
        (84, 11, 0),
        (5, 4, 20),
        (78, 32, 0),
        (125, 160, 44),
        (0, 0, 0),
        (149, 3, 60),
        (6, 30, 0),
        (0, 0, 0),
        (85, 83, 0),
        (253, 0, 151),
    ];
    let plans = vec![(85, 144, 94), (200, 65, 0), (164, 124, 0)];
    no_plan_splits(talk, plans).expect("the law holds");
}

proptest! {
    #![proptest_config(crate::conditions::laws(256))]

    #[test]
    fn a_truncation_to_a_budget_fits_and_hides_no_more_than_it_must(
        talk in prop::collection::vec(any::<(u8, u8, u8)>(), 1..30),
        budget in 0_u64..400,
        pin in any::<u8>(),
    ) {
        let mut world = World::default();
        for said in talk {
            world.say(said);
        }
        let input = world.input();
        let pinned = input.order[pin as usize % input.order.len()].entry.id;
        if pin < 64 && let Ok(Some(pin)) = skip::annotate(&input, &[pinned], Priority::Pinned, None) {
            world.commit(pin).expect("a pin");
        }
        let before = world.input();
        let plan = |tokens| {
            let window = Window::Budget { tokens, whole: tokens, marker: 10 };
            truncate(&before, window, false, &Marker::Default)
        };
        let fits_already = world.total() <= budget;
        match plan(budget) {
            Err(Error::CannotFit { least, tokens }) => {
                prop_assert!(least > tokens && tokens == budget);
                let draft = plan(least).expect("the least can be had");
                if let Some(draft) = draft {
                    world.commit(draft).expect("a plan");
                }
                prop_assert_eq!(world.total(), least);
            }
            Err(other) => prop_assert!(false, "{}", other),
            Ok(None) => prop_assert!(fits_already),
            Ok(Some(draft)) => {
                prop_assert!(!fits_already);
                world.commit(draft).expect("a plan");
                let after = world.input();
                prop_assert!(world.total() <= budget);
                let gone = |at: &usize| {
                    let id = before.order[*at].entry.id;
                    !after.order.iter().any(|entry| entry.entry.id == id && entry.visible())
                };
                let pairs = before.pairs();
                let user = |at: &usize| before.order[*at].role == Role::User;
                let newest = before.visible().rfind(user);
                let hidden: Vec<usize> = before.visible().filter(gone).collect();
                let newest_stays = newest.is_none_or(|newest| !hidden.contains(&newest));
                prop_assert!(newest_stays, "the newest prompt is gone");
                let end = hidden.iter().copied().max().expect("something is hidden");
                if newest.is_none_or(|newest| end > newest) {
                    // Without the current turn, or its last message that went, it would not have fitted.
                    let reaches = |at: &usize, end| pairs.group_of(*at).iter().any(|at| *at >= end);
                    for end in [newest.unwrap_or(0), end] {
                        let spared = hidden.iter().filter(|at| reaches(at, end));
                        let spared = spared.map(|at| before.order[*at].tokens.tokens).sum::<u64>();
                        prop_assert!(world.total() + spared > budget, "the turn is cut in vain");
                    }
                    return Ok(());
                }
                // Without what came with the last exchange it would not have fitted.
                let last = hidden.iter().copied().rfind(user);
                if let Some(last) = last.filter(|last| hidden[0] < *last) {
                    let with_it = |at: &&usize| pairs.group_of(**at).iter().any(|at| *at >= last);
                    let spared = hidden.iter().filter(with_it);
                    let spared = spared.map(|at| before.order[*at].tokens.tokens).sum::<u64>();
                    prop_assert!(world.total() + spared > budget);
                }
            }
        }
    }
}

#[test]
fn the_current_turn_is_cut_only_where_whole_turns_will_not_do() {
    use Role::{Assistant, User};
    // Ten for each message, three for the context, ten for the marker.
    let turns = [User, Assistant, User, Assistant, Assistant, Assistant];
    for (tokens, whole, left) in [
        (63, 63, vec!["0", "1", "2", "3", "4", "5"]),
        (62, 62, vec!["0", "2", "4", "5"]),
        (43, 43, vec!["0", "2", "5"]),
        (43, 63, vec!["0", "2", "3", "4", "5"]),
        (42, 42, vec![]),
    ] {
        let mut world = said(&turns);
        let window = Window::Budget {
            tokens,
            whole,
            marker: 10,
        };
        let planned = truncate(&world.input(), window, false, &Marker::Default);
        if left.is_empty() {
            assert!(matches!(planned, Err(Error::CannotFit { least: 43, .. })));
            continue;
        }
        if let Some(draft) = planned.expect("it fits") {
            world.commit(draft).expect("a plan");
        }
        let mut texts = texts(&world);
        texts.retain(|text| text.len() == 1);
        assert_eq!(texts, left, "{tokens}, {whole}");
    }
}

/// A conversation whose messages have ten tokens each.
fn said(roles: &[Role]) -> World {
    let mut world = World::default();
    for (at, role) in roles.iter().enumerate() {
        let message = Message::text(*role, at.to_string());
        world.commit(Draft::append(message)).expect("an append");
    }
    world
}

/// The visible texts, in order.
fn texts(world: &World) -> Vec<String> {
    let input = world.input();
    let message = |at: usize| &world.messages[&input.order[at].entry.content];
    let text = |at| match &message(at).parts[0] {
        Part::Text { text } => text.clone(),
        other => format!("{other:?}"),
    };
    input.visible().map(text).collect()
}

#[test]
fn an_automatic_marker_takes_the_place_of_the_one_before_it() {
    use Role::{Assistant, System, User};
    let mut world = said(&[
        System, User, Assistant, User, Assistant, User, Assistant, User,
    ]);
    let window = |tokens| Window::Budget {
        tokens,
        whole: tokens,
        marker: 10,
    };
    let plan = truncate(
        &world.input(),
        window(73),
        false,
        &Marker::Sum(BTreeMap::new()),
    );
    world
        .commit(plan.expect("it fits").expect("too much"))
        .expect("a plan");
    assert_eq!(
        texts(&world),
        ["0", "1", &truncate::marker_text(3), "5", "6", "7"]
    );
    assert_eq!(world.total(), 63);

    let marker = world
        .input()
        .order
        .iter()
        .find(|e| e.entry.placed.is_some())
        .map(|e| e.entry.id);
    let markers = BTreeMap::from([(marker.expect("placed"), 3)]);
    let plan = truncate(&world.input(), window(53), false, &Marker::Sum(markers));
    world
        .commit(plan.expect("it fits").expect("too much"))
        .expect("a plan");
    assert_eq!(texts(&world), ["0", "1", &truncate::marker_text(5), "7"]);
    assert_eq!(world.total(), 43);
}

#[test]
fn a_fraction_hides_an_even_number_after_the_task() {
    for (count, fraction, hidden) in [
        (11, "0.5", 4),
        (12, "0.5", 4),
        (5, "0.5", 2),
        (7, "0.3", 0),
        (3, "1", 2),
        (4, "1", 2),
    ] {
        let mut world = World::default();
        for at in 0..count {
            world
                .commit(Draft::append(Message::text(Role::User, at.to_string())))
                .expect("an append");
        }
        let window = Window::Fraction(fraction.parse().expect("a fraction"));
        let draft = truncate(&world.input(), window, false, &Marker::Default).expect("no refusal");
        assert_eq!(draft.is_some(), hidden > 0);
        if let Some(draft) = draft {
            assert_eq!(
                draft.messages,
                [Message::text(Role::User, truncate::marker_text(hidden as u64)).into()]
            );
            world.commit(draft).expect("a plan");
        }
        let seen: Vec<bool> = world
            .input()
            .order
            .iter()
            .filter(|e| e.entry.placed.is_none())
            .map(PlanEntry::visible)
            .collect();
        let expected: Vec<bool> = (0..count).map(|at| at == 0 || at > hidden).collect();
        assert_eq!(seen, expected);
    }
}

proptest! {
    #![proptest_config(crate::conditions::laws(256))]

    /// A clear and a compaction of everything set one baseline: what the transcript holds from
    /// then on is what the context holds, and what was protected, with its groups.
    #[test]
    fn after_a_fresh_start_transcript_and_context_agree(
        talk in prop::collection::vec(any::<(u8, u8, u8)>(), 4..30),
        plans in prop::collection::vec(any::<(u8, u8, u8)>(), 0..6),
        summary in any::<bool>(),
    ) {
        let mut world = World::default();
        for said in talk {
            world.say(said);
        }
        for (kind, a, b) in plans {
            for draft in world.plan(kind, a, b) {
                prop_assert!(world.commit(draft).is_ok());
            }
        }
        let before = world.input();
        let made = if summary { compact::compact(&before, &compact::Extent::All, "summary") } else { Ok(clear::clear(&before, false)) };
        let Ok(Some(draft)) = made else { return Ok(()) };
        world.commit(draft).expect("a plan's draft");
        let (now, all) = (before.pairs(), before.pairs_of_all());
        // What hangs together, in the context or in the whole order, stays or goes together.
        let groups = before.groups(&[&now, &all]);
        for entry in world.order.transcript().filter(|entry| !entry.visible) {
            let at = before.place(&entry.id).expect("only the summary is new");
            let stays = |at: &usize| {
                let entry = &before.order[*at];
                entry.role.is_system() || entry.pinned() || now.is_open(*at)
            };
            prop_assert!(stays(&at) || groups.of(at).iter().any(stays), "{} is neither", entry.id);
        }
        let transcript: Vec<EntryId> = world.order.transcript().map(|entry| entry.id).collect();
        for entry in world.order.context().entries {
            prop_assert!(transcript.contains(&entry.id));
        }
    }
}

proptest! {
    #![proptest_config(crate::conditions::laws(256))]

    /// A result that is dropped takes its own call along, part for part: all other parts of what
    /// called it, text and parallel calls, stay, and so do their results.
    #[test]
    fn a_dropped_result_takes_its_own_call_and_no_more(
        talk in prop::collection::vec(any::<(u8, u8, u8)>(), 4..30),
        plans in prop::collection::vec(any::<(u8, u8, u8)>(), 0..4),
        chosen in any::<u8>(),
    ) {
        let mut world = World::default();
        for said in talk {
            world.say(said);
        }
        for (kind, a, b) in plans {
            for draft in world.plan(kind, a, b) {
                prop_assert!(world.commit(draft).is_ok());
            }
        }
        let before = world.input();
        let results: Vec<usize> = before
            .visible()
            .filter(|at| before.order[*at].role == Role::Tool)
            .collect();
        let Some(at) = results.get(chosen as usize % results.len().max(1)).copied() else {
            return Ok(());
        };
        let id = before.order[at].entry.id;
        let Ok(Some(draft)) = drop::drop(&before, &[id], &[], true) else { return Ok(()) };
        world.commit(draft).expect("a plan's draft");
        let after = world.input();
        let own: HashSet<(usize, usize)> = before
            .pairs()
            .pairs()
            .iter()
            .filter(|pair| pair.result.0 == at)
            .map(|pair| (pair.call.0, before.part_of(pair.call, true).expect("it is paired")))
            .collect();
        let shows = |input: &PlanInput, at: usize, part: usize| {
            input.order[at].visible() && !input.order[at].lacks(part)
        };
        for other in before.visible().filter(|other| *other != at) {
            for part in 0..before.order[other].parts.len() {
                let stays = shows(&before, other, part) && !own.contains(&(other, part));
                prop_assert_eq!(shows(&after, other, part), stays, "part {} of {}", part, other);
            }
        }
        prop_assert!(!after.order[at].visible(), "it is gone");
    }
}

#[test]
fn a_pair_is_sure_only_where_nothing_unread_stands_between() {
    let call = Part::ToolCall {
        id: "a".into(),
        name: "read".into(),
        arguments: "{}".into(),
        kind: None,
    };
    let result = Part::ToolResult {
        call: "a".into(),
        content: vec![Part::text("found")],
        is_error: false,
    };
    let mut world = World::default();
    let user = |text: &str| Message::text(Role::User, text);
    for message in [
        user("one"),
        user("two"),
        Message::new(Role::Assistant, vec![call]),
        user("three"),
        user("four"),
        Message::new(Role::Tool, vec![result]),
        user("five"),
    ] {
        world.commit(Draft::append(message)).expect("an append");
    }
    let input = world.input();
    let named = [input.order[5].entry.id];
    let together = |first: usize| {
        let mut input = input.clone();
        let last = input.order.remove(first + 1).entry.id;
        input.order[first].run = Some(Together { last, len: 2 });
        input
    };

    assert!(input.tells_around(&named));
    assert!(together(0).tells_around(&named), "before the call");
    // Among the two there may be a call of the same id, which is nearer.
    assert!(!together(3).tells_around(&named), "between them");
}
