//! Laws of what plans are told: it changes no plan how much of it stands together, and what a plan does
//! not ask for is not read.

use proptest::prelude::*;

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use crate::context::Context;
use crate::context::plan::restore::Lost;
use crate::context::plan::truncate::{Marker, Window};
use crate::context::plan::{PlanEntry, PlanInput};
use crate::context::plan::{clear, compact, drop, pick, prune, restore, skip, truncate};
use crate::hash::CommitHash;
use crate::history::laws::commands::{Draw, command};
use crate::history::load::work;
use crate::history::surgery::{
    Clear, Needs, Plan, Reach, Surgery, SurgeryOptions, Truncate, scene,
};
use crate::history::{Call, CommitOptions, Named, On, Repo};
use crate::model::{Draft, Message, Millis, Priority};
use crate::model::{Encoding, EntryId, Part, Role};

/// A message that may be attached, may speak for the system, or uses tools.
pub(in crate::history) fn message((kind, number): (u8, u8)) -> Message {
    let id = (number % 4).to_string();
    let (role, part) = match kind % 8 {
        0 => (Role::System, Part::text("rules")),
        1..=3 => (Role::User, Part::text("so")),
        4 | 5 => (
            Role::Assistant,
            Part::ToolCall {
                id,
                name: "read".into(),
                arguments: "{}".into(),
                kind: None,
            },
        ),
        _ => (
            Role::Tool,
            Part::ToolResult {
                call: id,
                content: vec![Part::text("found")],
                is_error: false,
            },
        ),
    };
    Message {
        attached: (kind % 8 == 3).then(|| "file".parse().expect("a word")),
        ..Message::new(role, vec![part])
    }
}

/// What each plan says of an input.
fn planned(input: &PlanInput, of: &[EntryId], lost: &[Lost]) -> Vec<(Needs, String)> {
    let mut said = Vec::new();
    let mut say =
        |needs: Needs, plan: &dyn std::fmt::Debug| said.push((needs, format!("{plan:?}")));
    for keep in [0, 1, 3, 7] {
        for window in [
            Window::Keep(keep),
            Window::Fraction("0.5".parse().expect("a half")),
        ] {
            let plan = truncate::truncate(input, window, keep == 1, &Marker::Default);
            say(Needs::messages(), &plan);
        }
        let plan = compact::compact(input, &compact::Extent::KeepLast(keep), "in short");
        say(Needs::hidden_too(), &plan);
    }
    say(Needs::messages(), &Marker::Default.longest(input));
    say(Needs::messages(), &pick::refuse_open(input));
    for all in [false, true] {
        say(Needs::hidden_too(), &clear::clear(input, all));
    }
    let limits = prune::Limits {
        turns: 0,
        protect: 0,
        min: 0,
        ..prune::Limits::default()
    };
    let parts = Needs {
        together: true,
        ..Needs::default()
    };
    let stub = |_: &PlanEntry, _: usize| Some((String::new(), 0));
    let tokens = Needs {
        part_tokens: true,
        ..parts.clone()
    };
    say(
        tokens,
        &prune::prune(input, limits, true, |_, _| false, stub),
    );
    for id in of {
        let named = vec![*id];
        let needs = Needs {
            named: named.clone(),
            ..parts.clone()
        };
        say(needs, &drop::drop(input, &named, &[], true));
        let needs = Needs {
            named: named.clone(),
            ..Needs::hidden_too()
        };
        for priority in [Priority::Pinned, Priority::Skip, Priority::Normal] {
            say(
                needs.clone(),
                &skip::annotate(input, &named, priority, None),
            );
        }
        say(needs.clone(), &pick::chosen(input, &named));
        say(needs, &restore::restore(input, &[Lost::Entry(*id)]));
    }
    for lost in lost {
        say(Needs::hidden_too(), &restore::restore(input, &[*lost]));
    }
    said
}

fn agrees(repo: &Repo) -> std::result::Result<(), TestCaseError> {
    let Some(tip) = repo.head(&On::Head).expect("a head").commit() else {
        return Ok(());
    };
    let scene = |needs: &Needs| {
        let scene = repo.scene(&On::Head, Encoding::default(), needs);
        scene.expect("a scene")
    };
    // Each entry by itself, with all its parts, in the order of the fold.
    let each = |needs: &Needs| Needs {
        part_tokens: true,
        plain_parts: true,
        no_parts: false,
        together: false,
        named: Vec::new(),
        ..needs.clone()
    };
    let order = repo.order(&tip).expect("an order");
    let whole = scene(&each(&Needs::hidden_too()));
    let entries = whole.input.order.iter().map(|entry| &entry.entry);
    prop_assert!(entries.cloned().eq(order.entries()));
    prop_assert_eq!(&whole.context, &order.context());
    let ids: Vec<EntryId> = order.entries().map(|entry| entry.id).collect();
    let hides = order.entries().flat_map(|entry| entry.hidden_by);
    let hides: BTreeSet<_> = hides.collect();
    let hides: Vec<Lost> = hides.into_iter().map(Lost::Whole).collect();

    let without = scene(&each(&Needs::messages())).input;
    let without = planned(&without, &ids, &hides).into_iter();
    let among = planned(&whole.input, &ids, &hides).into_iter();
    for (at, ((needs, said), without)) in among.zip(without).enumerate() {
        let lean = scene(&needs).input;
        prop_assert_eq!(lean.entries(), ids.len());
        let all = if needs.hidden_links { said } else { without.1 };
        let lean = planned(&lean, &ids, &hides).swap_remove(at).1;
        prop_assert_eq!(lean, all, "{:?}", needs);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        source_file: Some(file!()),
        ..crate::conditions::laws(24)
    })]

    /// What stands together, and what is told without a body, changes no plan.
    #[test]
    fn a_plan_over_stretches_is_the_plan_over_all_entries(
        steps in prop::collection::vec(
            (any::<Draw>(), prop::collection::vec(any::<(u8, u8)>(), 0..8)),
            1..10,
        ),
    ) {
        let repo = Repo::ephemeral().expect("a repository");
        for (at, (draw, said)) in steps.into_iter().enumerate() {
            let drafts: Vec<Draft> = said.into_iter().map(message).map(Draft::append).collect();
            let done = repo.commit(Call::default(), &drafts, &CommitOptions::default());
            prop_assert!(done.is_ok() || drafts.is_empty());
            // What is not allowed here changes nothing.
            let _ = command(&repo, draw, Millis(at as i64));
        }
        agrees(&repo)?;
    }
}

/// All that is said of a plan that was carried out, and what it left.
fn said(repo: &Repo, done: crate::error::Result<Surgery>) -> (String, Option<Context>) {
    let tip = repo.head(&On::Head).expect("a head").commit();
    let context = tip.map(|tip| repo.context(&tip).expect("a context"));
    (format!("{done:?}"), context)
}

/// The same command at two copies of a repository, at one of which every visible message is told by itself.
fn is_carried_out_alike(
    make: &dyn Fn() -> Repo,
    options: &SurgeryOptions,
    command: &dyn Fn(&Repo) -> crate::error::Result<Surgery>,
) -> std::result::Result<(), TestCaseError> {
    let (together, each) = (make(), make());
    let one = said(&together, command(&together));
    let other = scene::each_by_itself(|| said(&each, command(&each)));
    prop_assert_eq!(one, other, "{:?}", options);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        source_file: Some(file!()),
        ..crate::conditions::laws(192)
    })]

    /// What a command does and says where visible messages stand together is what it does and says where each is looked
    /// at: the commits, their hashes, the sums, the lists.
    #[test]
    fn a_plan_carried_out_over_stretches_is_the_plan_over_all_messages(
        steps in prop::collection::vec(
            (any::<Draw>(), prop::collection::vec(any::<(u8, u8)>(), 0..12)),
            1..8,
        ),
        (which, a, b) in any::<(u8, u8, u8)>(),
        (told, told_last, dry_run) in (0_usize..4, 0_usize..3, any::<bool>()),
    ) {
        let make = || {
            let repo = Repo::ephemeral().expect("a repository");
            for (at, (draw, said)) in steps.iter().enumerate() {
                let drafts: Vec<Draft> = said.iter().copied().map(message).map(Draft::append).collect();
                let done = repo.commit(Call::default(), &drafts, &CommitOptions::default());
                assert!(done.is_ok() || drafts.is_empty());
                // What is not allowed here changes nothing.
                let _ = command(&repo, *draw, Millis(at as i64));
            }
            repo
        };
        let options = SurgeryOptions { told, told_last, dry_run, ..SurgeryOptions::default() };
        let call = Call::default();
        let repo = make();
        let Some(tip) = repo.head(&On::Head).expect("a head").commit() else {
            return Ok(());
        };
        let order = repo.order(&tip).expect("an order");
        let ids: Vec<EntryId> = order.entries().map(|entry| entry.id).collect();
        prop_assume!(!ids.is_empty());
        let id = |number: u8| ids[number as usize % ids.len()];
        let hides: BTreeSet<_> = order.entries().flat_map(|entry| entry.hidden_by).collect();
        let hide = hides.iter().nth(a as usize % hides.len().max(1));
        let lost = match (hide, b % 4) {
            (Some(hide), 0..=2) => Lost::Whole(*hide),
            _ => Lost::Entry(id(a)),
        };
        let keep = Truncate {
            drop_first: b.is_multiple_of(5),
            ..Truncate::new(Reach::Keep(a as usize % 7))
        };
        let half = Truncate::new(Reach::Fraction(["0.5", "0.3", "0.9"][b as usize % 3].parse().expect("a share")));
        let priority = [Priority::Pinned, Priority::Normal, Priority::Skip][b as usize % 3];
        let parts: Vec<Named> = match b % 3 {
            0 => vec![Named::Part(id(a), 0)],
            1 => vec![Named::Entry(id(a))],
            _ => vec![Named::Entry(id(a)), Named::Entry(id(b))],
        };
        is_carried_out_alike(&make, &options, &|repo| match which % 6 {
            0 => repo.carry_out(call, &keep, &options),
            1 => repo.carry_out(call, &half, &options),
            2 => repo.clear(call, b > 200, &options),
            3 => repo.restore(call, &[lost], &options).map(|done| done.surgery),
            4 => repo.annotate(call, &[id(a)], priority, None, &options).map(|done| done.surgery),
            _ => repo.drop_named(call, &parts, b > 100, &options),
        })?;
    }
}

/// What a command costs where so many messages are hidden and few are visible: the engine's steps, its
/// statements, and bodies.
fn cost(hidden: usize, command: impl Fn(&Repo)) -> (u64, u64) {
    let said = |at: usize| {
        let id = at.to_string();
        let part = match at % 3 {
            0 => Part::text(format!("so {at}")),
            1 => Part::ToolCall {
                id,
                name: "read".into(),
                arguments: "{}".into(),
                kind: None,
            },
            _ => Part::ToolResult {
                call: (at - 1).to_string(),
                content: vec![Part::text(format!("found {at}"))],
                is_error: false,
            },
        };
        let role = [Role::User, Role::Assistant, Role::Tool][at % 3];
        Draft::append(Message::new(role, vec![part]))
    };
    let (repo, steps) = Repo::counted();
    let talk: Vec<Draft> = (0..hidden + 30).map(said).collect();
    let done = repo.commit(Call::default(), &talk, &CommitOptions::default());
    done.expect("commits");
    let keep = Truncate::new(Reach::Keep(30));
    let done = repo.carry_out(Call::default(), &keep, &SurgeryOptions::default());
    assert_eq!(done.expect("done").hidden.len(), hidden - 1);
    let before = steps.load(Ordering::Relaxed);
    let (work, ()) = work::of(|| command(&repo));
    assert_eq!(work.orders, 0);
    (steps.load(Ordering::Relaxed) - before, work.bodies)
}

#[test]
fn a_plan_over_what_is_visible_costs_what_is_visible() {
    let call = || Call::default();
    let options = SurgeryOptions::default();
    let truncate = |repo: &Repo| {
        let done = repo.carry_out(call(), &Truncate::new(Reach::Keep(12)), &options);
        assert_eq!(done.expect("done").hidden.len(), 18);
    };
    let drop = |repo: &Repo| {
        let named = repo.resolve_named(&On::Head, ":-1").expect("it is there");
        let done = repo.drop_named(call(), &[named], true, &options);
        assert!(!done.expect("done").is_nothing());
    };
    for command in [&truncate as &dyn Fn(&Repo), &drop] {
        let (short, long) = (cost(300, command), cost(6_000, command));
        assert!(long.0 <= short.0 * 3 / 2, "{short:?}, then {long:?}");
        assert_eq!(long.1, short.1);
    }
}

#[test]
fn a_plan_over_all_reads_a_row_of_each_hidden_message_and_no_body() {
    let options = SurgeryOptions::default();
    let clear = |repo: &Repo| {
        let done = repo.carry_out(
            Call::default(),
            &Clear { all: false } as &dyn Plan,
            &options,
        );
        assert_eq!(done.expect("done").after.messages, 0);
    };
    let (short, long) = (cost(300, clear), cost(6_000, clear));
    // The marker has no count yet.
    assert_eq!((short.1, long.1), (1, 1));
    let each = (long.0 - short.0) / 5_700;
    assert!(each <= 100, "{each} steps a message");
}

/// The engine's steps and the bodies read for a command where so many messages are visible.
fn cost_of_visible(visible: usize, command: &dyn Fn(&Repo, &CommitHash)) -> (u64, u64) {
    let said = |at: usize| match at % 3 {
        0 => Message::text(Role::User, format!("so {at}")),
        1 => {
            let (id, name, arguments) = (at.to_string(), "read".into(), "{}".into());
            let kind = None;
            let call = Part::ToolCall {
                id,
                name,
                arguments,
                kind,
            };
            Message::new(Role::Assistant, vec![call])
        }
        _ => {
            let (call, is_error) = ((at - 1).to_string(), false);
            let content = vec![Part::text(format!("found {at}"))];
            let result = Part::ToolResult {
                call,
                content,
                is_error,
            };
            Message::new(Role::Tool, vec![result])
        }
    };
    let (repo, steps) = Repo::counted();
    let talk: Vec<Draft> = (0..visible).map(|at| Draft::append(said(at))).collect();
    let done = repo.commit(Call::default(), &talk, &CommitOptions::default());
    done.expect("commits");
    // What the context comes to is known from here on.
    repo.branches(Encoding::default()).expect("summed up");
    let (options, keep) = (SurgeryOptions::default(), Truncate::new(Reach::Keep(9)));
    let hide = repo.carry_out(
        Call::default(),
        &keep,
        &SurgeryOptions { told: 1, ..options },
    );
    let hide = hide.expect("hidden").commits[0].hash;
    let undone = repo.undo(None, Millis(0));
    undone.expect("undone");
    let before = steps.load(Ordering::Relaxed);
    let together = scene::TOGETHER.get();
    let (work, ()) = work::of(|| command(&repo, &hide));
    assert!(scene::TOGETHER.get() > together, "each was told by itself");
    assert_eq!((work.orders, work.contexts), (0, 0));
    (steps.load(Ordering::Relaxed) - before, work.bodies)
}

#[test]
fn what_a_command_does_not_touch_costs_it_nothing() {
    let options = SurgeryOptions {
        told: 1,
        ..SurgeryOptions::default()
    };
    let pin = |repo: &Repo, _: &CommitHash| {
        let entry = repo.resolve_entry(&On::Head, ":-40").expect("it is there");
        let done = repo.annotate(Call::default(), &[entry], Priority::Pinned, None, &options);
        assert_eq!(done.expect("pinned").entries, [entry]);
    };
    let drop = |repo: &Repo, _: &CommitHash| {
        let named = repo.resolve_named(&On::Head, ":-40").expect("it is there");
        let done = repo.drop_named(Call::default(), &[named], false, &options);
        assert!(!done.expect("dropped").is_nothing());
    };
    for command in [&pin as &dyn Fn(&Repo, &CommitHash), &drop] {
        let (short, long) = (
            cost_of_visible(300, command),
            cost_of_visible(6_000, command),
        );
        assert!(long.0 <= short.0 * 3 / 2, "{short:?}, then {long:?}");
        assert_eq!(long.1, short.1);
    }
    let restore = |repo: &Repo, hide: &CommitHash| {
        repo.redo(Millis(0)).expect("hidden again");
        // A checkpoint, which a restore of so few brings, would name each.
        let options = SurgeryOptions {
            dry_run: true,
            ..options
        };
        let done = repo.restore(Call::default(), &[Lost::Whole(*hide)], &options);
        assert!(done.expect("foretold").surgery.shown.len() > 280);
    };
    let (short, long) = (
        cost_of_visible(300, &restore),
        cost_of_visible(6_000, &restore),
    );
    assert!(long.0 <= short.0 * 3 / 2, "{short:?}, then {long:?}");
    assert_eq!(long.1, short.1);
}

#[test]
fn a_truncation_reads_a_row_of_each_visible_message_and_no_body() {
    let options = SurgeryOptions {
        told: 1,
        ..SurgeryOptions::default()
    };
    let truncate = |repo: &Repo, _: &CommitHash| {
        let done = repo.carry_out(Call::default(), &Truncate::new(Reach::Keep(9)), &options);
        assert!(done.expect("hidden").hidden.len() > 280);
    };
    let clear = |repo: &Repo, _: &CommitHash| {
        let done = repo.clear(Call::default(), false, &options);
        assert_eq!(done.expect("cleared").after.messages, 0);
    };
    for command in [&truncate as &dyn Fn(&Repo, &CommitHash), &clear] {
        let (short, long) = (
            cost_of_visible(300, command),
            cost_of_visible(6_000, command),
        );
        let each = (long.0 - short.0) / 5_700;
        assert!(each <= 80, "{each} steps a message");
        assert_eq!(long.1, short.1);
    }
}
