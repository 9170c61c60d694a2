//! What plans cost: the engine's steps and the bodies that are read, counted.

use std::sync::atomic::Ordering;

use crate::context::plan::restore::Lost;
use crate::hash::CommitHash;
use crate::model::{Draft, Encoding, Message, Millis, Part, Priority, Role};
use crate::repo::load::work;
use crate::repo::{Call, CommitOptions, On, Repo};
use crate::rewrite::laws::look;
use crate::rewrite::{Clear, Plan, Prune, Reach, SurgeryOptions, Truncate, scene};

/// What a command costs where so many messages are hidden and few are visible: the engine's steps, its
/// statements, and bodies; `looks`: where somebody has looked before they were hidden.
fn cost(hidden: usize, looks: bool, command: impl Fn(&Repo)) -> (u64, u64) {
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
    look(&repo, looks);
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
        let (short, long) = (cost(300, false, command), cost(6_000, false, command));
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
    let (short, long) = (cost(300, false, clear), cost(6_000, false, clear));
    // The marker has no count yet.
    assert_eq!((short.1, long.1), (1, 1));
    let each = (long.0 - short.0) / 5_700;
    assert!(each <= 100, "{each} steps a message");
    // Where it is known what stands out, nothing else is looked at.
    let (short, long) = (cost(300, true, clear), cost(6_000, true, clear));
    assert_eq!((short.1, long.1), (1, 1));
    assert!(long.0 <= short.0 * 3 / 2, "{short:?}, then {long:?}");
}

/// The engine's steps and the bodies read for a command where so many messages are visible; `looks`: where somebody has
/// looked before.
fn cost_of_visible(
    visible: usize,
    looks: bool,
    command: &dyn Fn(&Repo, &CommitHash),
) -> (u64, u64) {
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
    look(&repo, looks);
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

/// Holds a command to the same cost where few messages are visible and where many are.
fn costs_no_more_of_many(looks: bool, command: &dyn Fn(&Repo, &CommitHash)) {
    let [short, long] = [300, 6_000].map(|visible| cost_of_visible(visible, looks, command));
    assert!(long.0 <= short.0 * 3 / 2, "{short:?}, then {long:?}");
    assert_eq!(long.1, short.1);
}

/// Says what would come back of a hide.
fn foretell_restore(repo: &Repo, hide: &CommitHash, options: SurgeryOptions) {
    // A checkpoint, which a restore of so few brings, would name each.
    let options = SurgeryOptions {
        dry_run: true,
        ..options
    };
    let done = repo.restore(Call::default(), &[Lost::Whole(*hide)], &options);
    assert!(done.expect("foretold").surgery.shown.len() > 280);
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
        costs_no_more_of_many(false, command);
    }
    let restore = |repo: &Repo, hide: &CommitHash| {
        repo.redo(Millis(0)).expect("hidden again");
        foretell_restore(repo, hide, options);
    };
    costs_no_more_of_many(false, &restore);
}

#[test]
fn a_truncation_reads_a_row_of_each_visible_message_and_no_body() {
    let options = SurgeryOptions {
        told: 1,
        ..SurgeryOptions::default()
    };
    for (looks, dry_run) in [(false, false), (true, true), (true, false)] {
        let options = SurgeryOptions { dry_run, ..options };
        let truncate = |repo: &Repo, _: &CommitHash| {
            let done = repo.carry_out(Call::default(), &Truncate::new(Reach::Keep(9)), &options);
            assert!(done.expect("hidden").hidden.len() > 280);
        };
        let clear = |repo: &Repo, _: &CommitHash| {
            let done = repo.clear(Call::default(), false, &options);
            assert_eq!(done.expect("cleared").after.messages, 0);
        };
        for command in [&truncate as &dyn Fn(&Repo, &CommitHash), &clear] {
            let cost = |visible| cost_of_visible(visible, looks, command);
            let (short, long) = (cost(300), cost(6_000));
            if looks {
                // Somebody has looked before, so it is known what stands out and which settings are in force, for a commit's
                // checkpoint, and nothing else is read.
                assert!(long.0 <= short.0 * 3 / 2, "{short:?}, then {long:?}");
            } else {
                let each = (long.0 - short.0) / 5_700;
                assert!(each <= 80, "{each} steps a message");
            }
            assert_eq!(long.1, short.1);
        }
    }
    // So it is with what comes back where more stays hidden.
    let restore = |repo: &Repo, hide: &CommitHash| {
        repo.redo(Millis(0)).expect("hidden again");
        let named = repo.resolve_named(&On::Head, ":-1").expect("it is there");
        let done = repo.drop_named(Call::default(), &[named], true, &options);
        done.expect("dropped");
        foretell_restore(repo, hide, options);
    };
    costs_no_more_of_many(true, &restore);
}

#[test]
fn what_nobody_asked_for_is_told_where_few_messages_are_visible_alone() {
    let options = SurgeryOptions::default();
    let (clear, half) = (Clear { all: false }, "0.5".parse().expect("a half"));
    let (half, prune) = (Truncate::new(Reach::Fraction(half)), Prune::default());
    let changes = |_: &str, _: &str| Vec::new();
    for (messages, is_told) in [(8, true), (9, false)] {
        let repo = Repo::ephemeral().expect("a repository");
        let said = |at: usize| Draft::append(Message::text(Role::User, at.to_string()));
        let talk: Vec<Draft> = (0..messages).map(said).collect();
        let done = repo.commit(Call::default(), &talk, &CommitOptions::default());
        done.expect("commits");
        let plans: [&dyn Plan; 3] = [&clear, &half, &prune];
        let each = repo.compare(Call::default(), &options, &plans);
        let each = each.expect("compared").into_iter();
        let each: Vec<String> = each.map(|would| format!("{would:?}")).collect();
        let told = repo.foretell(Call::default(), &options, &clear, &[&half, &prune]);
        let (first, others) = told.expect("foretold");
        assert_eq!(format!("{first:?}"), each[0]);
        let others: Vec<_> = others
            .into_iter()
            .map(|would| would.map(|would| format!("{would:?}")))
            .collect();
        let last = is_told.then(|| each[2].clone());
        assert_eq!(others, [Some(each[1].clone()), last]);
        let lost = repo.would_lose(Call::default(), &clear, &options, changes);
        assert_eq!(lost.expect("looked for").is_some(), is_told);
    }
}
