//! Laws of what plans are told: it changes no plan how much of it stands together, and what a plan does
//! not ask for is not read.

use proptest::prelude::*;

use std::collections::BTreeSet;

use crate::context::Context;
use crate::context::plan::restore::Lost;
use crate::context::plan::truncate::{Marker, Window};
use crate::context::plan::{PlanEntry, PlanInput};
use crate::context::plan::{clear, compact, drop, pick, prune, restore, skip, truncate};
use crate::laws::commands::{Draw, command};
use crate::model::{Draft, Message, Millis, Priority};
use crate::model::{Encoding, EntryId, Part, Role};
use crate::repo::{Call, CommitOptions, Named, On, Repo};
use crate::rewrite::{Needs, Reach, Surgery, SurgeryOptions, Truncate, scene};

/// A message that may be attached, may speak for the system, or uses tools.
pub(crate) fn message(of: (u8, u8)) -> Message {
    message_among(4, of)
}

/// The same where calls have so many ids: the more there are, the further stands a result from its call.
fn message_among(ids: u8, (kind, number): (u8, u8)) -> Message {
    let id = (number % ids).to_string();
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

/// Has a status sum up what is there, if somebody looks: from then on it is known what stands out.
pub(super) fn look(repo: &Repo, looks: bool) {
    if looks {
        let status = repo.status(&On::Head, Encoding::default());
        status.expect("summed up");
    }
}

/// What each plan says of an input, or that one alone which stands at a place of the list: each is worked out for itself, and there are
/// hundreds.
fn planned(
    input: &PlanInput,
    of: &[EntryId],
    lost: &[Lost],
    only: Option<usize>,
) -> Vec<(Needs, String)> {
    let mut said = Vec::new();
    let mut place = 0;
    let mut say = |needs: &Needs, plan: &dyn Fn() -> String| {
        if only.is_none_or(|only| only == place) {
            said.push((needs.clone(), plan()));
        }
        place += 1;
    };
    let messages = Needs::messages();
    let hidden_too = Needs::hidden_too();
    for keep in [0, 1, 3, 7] {
        for window in [
            Window::Keep(keep),
            Window::Fraction("0.5".parse().expect("a half")),
        ] {
            say(&messages, &|| {
                let plan = truncate::truncate(input, window, keep == 1, &Marker::Default);
                format!("{plan:?}")
            });
        }
        say(&hidden_too, &|| {
            let plan = compact::compact(input, &compact::Extent::KeepLast(keep), "in short");
            format!("{plan:?}")
        });
    }
    say(&messages, &|| {
        format!("{:?}", Marker::Default.longest(input))
    });
    say(&messages, &|| format!("{:?}", pick::refuse_open(input)));
    for all in [false, true] {
        say(&hidden_too, &|| format!("{:?}", clear::clear(input, all)));
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
    say(&tokens, &|| {
        let plan = prune::prune(input, limits, true, |_, _| false, stub);
        format!("{plan:?}")
    });
    for id in of {
        let named = vec![*id];
        let needs = Needs {
            named: named.clone(),
            ..parts.clone()
        };
        say(&needs, &|| {
            format!("{:?}", drop::drop(input, &named, &[], true))
        });
        let needs = Needs {
            named: named.clone(),
            ..Needs::hidden_too()
        };
        for priority in [Priority::Pinned, Priority::Skip, Priority::Normal] {
            say(&needs, &|| {
                format!("{:?}", skip::annotate(input, &named, priority, None))
            });
        }
        say(&needs, &|| format!("{:?}", pick::chosen(input, &named)));
        say(&needs, &|| {
            let plan = restore::restore(input, &[Lost::Entry(*id)]);
            format!("{plan:?}")
        });
    }
    for lost in lost {
        say(&hidden_too, &|| {
            format!("{:?}", restore::restore(input, &[*lost]))
        });
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
    let without = planned(&without, &ids, &hides, None).into_iter();
    let among = planned(&whole.input, &ids, &hides, None).into_iter();
    for (at, ((needs, said), without)) in among.zip(without).enumerate() {
        let lean = scene(&needs).input;
        prop_assert_eq!(lean.entries(), ids.len());
        let all = if needs.hidden_links { said } else { without.1 };
        let lean = planned(&lean, &ids, &hides, Some(at)).swap_remove(0).1;
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
        looked in 0_usize..12,
    ) {
        let repo = Repo::ephemeral().expect("a repository");
        for (at, (draw, said)) in steps.into_iter().enumerate() {
            look(&repo, at == looked);
            let drafts: Vec<Draft> = said.into_iter().map(message).map(Draft::append).collect();
            let done = repo.commit(Call::default(), &drafts, &CommitOptions::default());
            prop_assert!(done.is_ok() || drafts.is_empty());
            // What is not allowed here changes nothing.
            let _ = command(&repo, draw, Millis(at as i64));
        }
        agrees(&repo)?;
        repo.second_reading()?;
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
        looked in 0_usize..8,
    ) {
        let make = || {
            let repo = Repo::ephemeral().expect("a repository");
            for (at, (draw, said)) in steps.iter().enumerate() {
                let drafts: Vec<Draft> = said.iter().copied().map(message).map(Draft::append).collect();
                let done = repo.commit(Call::default(), &drafts, &CommitOptions::default());
                assert!(done.is_ok() || drafts.is_empty());
                look(&repo, at == looked);
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
        repo.second_reading()?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        source_file: Some(file!()),
        ..crate::conditions::laws(1_024)
    })]

    /// Nor is it told otherwise by what a status has kept of what stands out, where results stand far from their calls.
    #[test]
    fn a_plan_by_what_stands_out_is_the_plan_over_all_messages(
        said in prop::collection::vec(any::<(u8, u8)>(), 14..60),
        more in prop::collection::vec(any::<(u8, u8)>(), 0..6),
        (which, at, kept, keep) in (any::<u8>(), any::<usize>(), 0_usize..60, 0_usize..30),
    ) {
        let options = SurgeryOptions::default();
        let make = || {
            let repo = Repo::ephemeral().expect("a repository");
            for (said, looks) in [(&said, true), (&more, false)] {
                let drafts = said.iter().map(|of| Draft::append(message_among(9, *of)));
                let drafts: Vec<Draft> = drafts.collect();
                let done = repo.commit(Call::default(), &drafts, &CommitOptions::default());
                assert!(done.is_ok() || drafts.is_empty());
                look(&repo, looks);
            }
            let _ = repo.carry_out(Call::default(), &Truncate::new(Reach::Keep(kept)), &options);
            repo
        };
        let repo = make();
        let tip = repo.head(&On::Head).expect("a head").commit().expect("a commit");
        let order = repo.order(&tip).expect("an order");
        let hidden: Vec<EntryId> =
            order.entries().filter(|entry| !entry.visible).map(|entry| entry.id).collect();
        let lost = hidden.get(at % hidden.len().max(1)).map(|id| Lost::Entry(*id));
        let call = Call::default();
        let keep = Truncate::new(Reach::Keep(keep));
        is_carried_out_alike(&make, &options, &|repo| match (lost, which % 4) {
            (Some(lost), 0 | 1) => repo.restore(call, &[lost], &options).map(|done| done.surgery),
            (_, 2) => repo.clear(call, which > 200, &options),
            _ => repo.carry_out(call, &keep, &options),
        })?;
        repo.second_reading()?;
    }
}
