//! The laws of moving: whatever was done, undo leads back through every state of the refs, and redo
//! forward again.

use proptest::prelude::*;

use crate::error::Error;
use crate::model::{Draft, Message, Millis, RefName, RefValue, Role};
use crate::repo::{Call, CommitOptions, On, Repo, ResetMode, Target, UndoPoint, UndoTo};
use crate::store::Reversal;

/// Something that a person does; numbers pick among what is there.
#[derive(Clone, Debug)]
enum Step {
    Commit(u8),
    CommitOn(u8, u8),
    Reset(u8, bool),
    Checkout(u8),
    CheckoutBranch(u8),
    Previous,
    NewBranch(u8, Option<u8>),
    Branch(u8, u8),
    Delete(u8),
    Rename(u8, u8),
    Tag(u8, u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any::<u8>().prop_map(Step::Commit),
        1 => any::<(u8, u8)>().prop_map(|(a, b)| Step::CommitOn(a, b)),
        3 => any::<(u8, bool)>().prop_map(|(a, b)| Step::Reset(a, b)),
        1 => any::<u8>().prop_map(Step::Checkout),
        2 => any::<u8>().prop_map(Step::CheckoutBranch),
        2 => Just(Step::Previous),
        2 => any::<(u8, Option<u8>)>().prop_map(|(a, b)| Step::NewBranch(a, b)),
        1 => any::<(u8, u8)>().prop_map(|(a, b)| Step::Branch(a, b)),
        1 => any::<u8>().prop_map(Step::Delete),
        1 => any::<(u8, u8)>().prop_map(|(a, b)| Step::Rename(a, b)),
        1 => any::<(u8, u8)>().prop_map(|(a, b)| Step::Tag(a, b)),
    ]
}

fn branch(n: u8) -> RefName {
    let name = ["main", "a", "b", "c"][usize::from(n % 4)];
    RefName::branch(name).expect("a name")
}

type State = Vec<(RefName, RefValue)>;

fn state(repo: &Repo) -> State {
    repo.references("").expect("read")
}

/// Does it; what is refused must change nothing.
fn take(repo: &Repo, step: &Step, at: i64) -> Result<(), TestCaseError> {
    let before = state(repo);
    let now = Millis(at);
    let head = On::Head;
    let rev = |n: u8| match n % 3 {
        0 => format!("HEAD~{}", n % 7),
        1 => branch(n / 3).short().to_owned(),
        _ => format!(":{}", n % 5),
    };
    let commit = |on: &On, n: u8| {
        let draft = Draft::append(Message::text(Role::User, format!("message {n} at {at}")));
        let call = Call::at(now, "commit").on(on);
        repo.commit(call, &[draft], &CommitOptions::default())
            .map(|_| ())
    };
    let done = match step {
        Step::Commit(n) => commit(&head, *n),
        Step::CommitOn(n, on) => commit(&On::Branch(branch(*on)), *n),
        Step::Reset(n, hard) => {
            let mode = if *hard {
                ResetMode::Hard
            } else {
                ResetMode::Soft
            };
            repo.reset(Call::at(now, "reset"), &rev(*n), mode)
                .map(|_| ())
        }
        Step::Checkout(n) => {
            let target = Target::Named(format!("HEAD~{}", n % 4));
            repo.checkout(Call::at(now, "checkout"), &target)
                .map(|_| ())
        }
        Step::CheckoutBranch(n) => {
            let target = Target::Named(branch(*n).short().to_owned());
            repo.checkout(Call::at(now, "checkout"), &target)
                .map(|_| ())
        }
        Step::Previous => repo
            .checkout(Call::at(now, "checkout -"), &Target::Previous)
            .map(|_| ()),
        Step::NewBranch(name, start) => {
            let target = Target::NewBranch(branch(*name), start.map(rev));
            repo.checkout(Call::at(now, "checkout -b"), &target)
                .map(|_| ())
        }
        Step::Branch(name, start) => {
            let call = Call::at(now, "branch");
            let made = repo.create_branch(call, &branch(*name), &rev(*start));
            made.map(|_| ())
        }
        Step::Delete(name) => {
            let gone = repo.delete_reference(Call::at(now, "branch -d"), &branch(*name));
            gone.map(|_| ())
        }
        Step::Rename(old, new) => {
            repo.rename_branch(Call::at(now, "branch -m"), &branch(*old), &branch(*new))
        }
        Step::Tag(name, target) => {
            let name = RefName::tag(&format!("t{}", name % 3)).expect("a name");
            let made = repo.create_tag(Call::at(now, "tag"), &name, &rev(*target), Some("x"));
            made.map(|_| ())
        }
    };
    if let Err(error) = done {
        prop_assert!(
            !matches!(error, Error::Store(_) | Error::Damaged { .. }),
            "{error}"
        );
        prop_assert_eq!(state(repo), before, "a move that failed moved something");
    }
    Ok(())
}

proptest! {
    #![proptest_config(crate::conditions::laws(256))]

    /// Undo and redo go through exactly the states that were, with rewrites of the end in between.
    #[test]
    fn undo_leads_back_through_every_state_and_redo_forward(
        steps in prop::collection::vec(step(), 1..30),
        turn in 0_usize..8,
        more in prop::collection::vec(step(), 0..4),
        point in any::<prop::sample::Index>(),
    ) {
        let repo = super::repository();
        let mut states = vec![state(&repo)];
        let mut clock = 0;
        let mut go = |repo: &Repo, states: &mut Vec<State>, step: &Step| {
            clock += 1;
            take(repo, step, clock)?;
            let now = state(repo);
            if states.last() != Some(&now) {
                states.push(now);
            }
            Ok::<(), TestCaseError>(())
        };
        for step in &steps {
            go(&repo, &mut states, step)?;
        }
        // Some way back, and on from there: what was undone is no more a part of the way.
        let mut left = Vec::new();
        for _ in 0..turn.min(states.len() - 1) {
            repo.undo(None, Millis(0)).expect("undone");
            left.extend(states.pop());
            prop_assert_eq!(Some(&state(&repo)), states.last());
        }
        let turned = states.len();
        for step in &more {
            go(&repo, &mut states, step)?;
        }
        if states.len() > turned {
            left.clear();
        }
        // Back to after one of them at once, and forward at once.
        let done: Vec<u64> = repo.operations(0).expect("listed").into_iter()
            .filter(|one| !one.undone && one.operation.reversal == Reversal::None && !one.moves.is_empty())
            .map(|one| one.operation.id)
            .collect();
        prop_assert_eq!(done.len(), states.len() - 1);
        if !done.is_empty() {
            let back = point.index(done.len());
            let undo = |dry_run| {
                let point = UndoTo::point(UndoPoint::After(done[back]));
                let undone = repo.undo_to(UndoTo { dry_run, ..point }, Millis(0))?;
                Ok(undone.operations)
            };
            if back == 0 {
                prop_assert!(matches!(undo(false), Err(Error::NothingToUndo)));
            } else {
                prop_assert_eq!(undo(true).expect("told").len(), back);
                prop_assert_eq!(Some(&state(&repo)), states.last(), "a dry run moved something");
                prop_assert_eq!(undo(false).expect("undone").len(), back);
                prop_assert_eq!(&state(&repo), &states[states.len() - 1 - back]);
                prop_assert_eq!(repo.redo(Millis(0)).expect("done again").len(), back);
                prop_assert_eq!(Some(&state(&repo)), states.last());
            }
        }
        for at in (0..states.len() - 1).rev() {
            repo.undo(None, Millis(0)).expect("undone");
            prop_assert_eq!(&state(&repo), &states[at]);
        }
        prop_assert!(matches!(repo.undo(None, Millis(0)), Err(Error::NothingToUndo)));
        for after in &states[1..] {
            repo.redo(Millis(0)).expect("done again");
            prop_assert_eq!(&state(&repo), after);
        }
        // Where nothing new was done, the way goes on to where the turn was.
        for after in left.into_iter().rev() {
            repo.redo(Millis(0)).expect("done again");
            prop_assert_eq!(&state(&repo), &after);
        }
        let refused = matches!(repo.redo(Millis(0)), Err(Error::NothingToRedo { .. }));
        prop_assert!(refused, "a redo beyond the end");
        repo.second_reading()?;
    }
}

/// What moves refs, and what takes moves back.
#[derive(Clone, Debug)]
enum Walk {
    Do(Step),
    Undo,
    Redo,
    To(prop::sample::Index),
}

fn walk() -> impl Strategy<Value = Walk> {
    prop_oneof![
        5 => step().prop_map(Walk::Do),
        3 => Just(Walk::Undo),
        2 => Just(Walk::Redo),
        2 => any::<prop::sample::Index>().prop_map(Walk::To),
    ]
}

proptest! {
    #![proptest_config(crate::conditions::laws(256))]

    /// Right after an operation is a place to go back to, whether it did something, undid it or did it again; and one
    /// redo leads from there to where one was.
    #[test]
    fn undo_leads_to_right_after_every_operation(walks in prop::collection::vec(walk(), 1..40)) {
        let repo = super::repository();
        // The state of the refs after each operation.
        let mut after: Vec<(u64, State)> = Vec::new();
        for (at, walk) in walks.iter().enumerate() {
            let now = Millis(at as i64);
            let before = state(&repo);
            match walk {
                Walk::Do(step) => take(&repo, step, now.0)?,
                Walk::Undo => match repo.undo(None, now) {
                    Ok(_) => {}
                    Err(Error::NothingToUndo) => continue,
                    Err(error) => return Err(TestCaseError::fail(error.to_string())),
                },
                Walk::Redo => match repo.redo(now) {
                    Ok(_) => {}
                    Err(Error::NothingToRedo { .. }) => continue,
                    Err(error) => return Err(TestCaseError::fail(error.to_string())),
                },
                Walk::To(_) if after.is_empty() => continue,
                Walk::To(point) => {
                    let (id, then) = &after[point.index(after.len())];
                    match repo.undo_to(UndoTo::point(UndoPoint::After(*id)), now) {
                        Ok(_) => {
                            prop_assert_eq!(&state(&repo), then, "after #{}", id);
                            repo.redo(now).expect("one redo takes it back");
                            prop_assert_eq!(&state(&repo), &before);
                            repo.undo_to(UndoTo::point(UndoPoint::After(*id)), now).expect("and once more");
                        }
                        Err(Error::NothingToUndo) => {}
                        Err(error) => return Err(TestCaseError::fail(error.to_string())),
                    }
                    prop_assert_eq!(&state(&repo), then, "after #{}", id);
                }
            }
            let newest = repo.operations(1).expect("listed");
            after.extend(newest.first().map(|one| (one.operation.id, state(&repo))));
        }
        repo.second_reading()?;
    }
}

#[test]
fn an_operation_by_its_number_only_while_its_refs_stay() {
    let repo = super::repository();
    let commit = |on: &On, text: &str| {
        let draft = Draft::append(Message::text(Role::User, text));
        let call = Call::at(Millis(0), "commit").on(on);
        let made = repo.commit(call, &[draft], &CommitOptions::default());
        made.expect("kept");
    };
    let other = On::Branch(branch(1));
    commit(&On::Head, "one");
    commit(&other, "two");
    commit(&On::Head, "three");
    let before = state(&repo);

    let refused = repo.undo(Some(1), Millis(0));
    assert!(matches!(
        refused,
        Err(Error::OperationSuperseded { id: 1, .. })
    ));
    assert_eq!(state(&repo), before);

    repo.undo(Some(2), Millis(0))
        .expect("nobody moved that branch");
    assert!(matches!(
        repo.undo(Some(2), Millis(0)),
        Err(Error::NotUndoable { id: 2, .. })
    ));
    assert!(matches!(
        repo.undo(Some(99), Millis(0)),
        Err(Error::UnknownOperation { id: 99 })
    ));
    // The plain undo passes over what is undone already.
    assert_eq!(repo.undo(None, Millis(0)).expect("undone").operation.id, 3);
    assert_eq!(repo.undo(None, Millis(0)).expect("undone").operation.id, 1);
    assert_eq!(state(&repo), vec![]);
}

#[test]
fn undo_to_a_point_needs_one_that_is_there() {
    let repo = super::repository();
    for (at, text) in ["one", "two", "three"].into_iter().enumerate() {
        let draft = Draft::append(Message::text(Role::User, text));
        let call = Call::at(Millis(10 * at as i64), "commit");
        repo.commit(call, &[draft], &CommitOptions::default())
            .expect("kept");
    }
    let three = state(&repo);
    let to = |point| repo.undo_to(UndoTo::point(point), Millis(99));
    assert!(matches!(
        to(UndoPoint::After(9)),
        Err(Error::UnknownOperation { id: 9 })
    ));
    assert_eq!(
        to(UndoPoint::Before(Millis(10)))
            .expect("undone")
            .operations
            .len(),
        2
    );
    // Back to where the second was done, by doing it again.
    let again = to(UndoPoint::After(2)).expect("done again").operations;
    let again: Vec<_> = again
        .iter()
        .map(|one| (one.operation.id, one.undone))
        .collect();
    assert_eq!(again, [(2, false)]);
    assert!(matches!(to(UndoPoint::After(2)), Err(Error::NothingToUndo)));
    repo.redo(Millis(99)).expect("taken back");
    // One more undo goes further back; the redoes take both back, each at once.
    repo.undo(None, Millis(99)).expect("undone");
    assert_eq!(repo.redo(Millis(99)).expect("done again").len(), 1);
    assert_eq!(repo.redo(Millis(99)).expect("done again").len(), 2);
    assert_eq!(state(&repo), three);
}

/// A history of so many commits, of which the newest 200 messages and a system message are visible.
fn long_history(commits: usize) -> (Repo, std::sync::Arc<std::sync::atomic::AtomicU64>) {
    let (repo, steps) = Repo::counted();
    let draft =
        |role, at: usize| Draft::append(Message::text(role, format!("message {}", at % 50)));
    let append = |drafts: &[Draft]| {
        let options = CommitOptions::default();
        repo.commit(Call::default(), drafts, &options)
            .expect("kept");
    };
    append(&[draft(Role::System, 0)]);
    let before: Vec<Draft> = (0..commits - 202).map(|at| draft(Role::User, at)).collect();
    append(&before);
    let cleared = repo.clear(Call::default(), false, &Default::default());
    cleared.expect("cleared");
    let after: Vec<Draft> = (0..200).map(|at| draft(Role::User, at)).collect();
    append(&after);
    (repo, steps)
}

#[test]
fn looking_at_the_newest_commits_walks_no_history_however_long() {
    use std::sync::atomic::Ordering::Relaxed;
    let work = |commits: usize| {
        let (repo, steps) = long_history(commits);
        let tip = repo.resolve(&On::Head, "HEAD").expect("there");
        let options = crate::query::LogOptions {
            limit: 20,
            ..crate::query::LogOptions::default()
        };
        let log = || drop(repo.log(&tip, &options).expect("listed"));
        let status = || {
            drop(
                repo.status(&On::Head, Default::default())
                    .expect("summed up"),
            )
        };
        let prefix = || {
            let found = repo.resolve(&On::Head, &tip.to_string()[..12]);
            assert_eq!(found.expect("found"), tip);
        };
        // Once before, so that every count is known.
        log();
        let counted = |what: &dyn Fn()| {
            let before = steps.load(Relaxed);
            what();
            steps.load(Relaxed) - before
        };
        [counted(&log), counted(&status), counted(&prefix)]
    };
    let many = crate::conditions::size(20_000, 100_000);
    let (short, long) = (work(1_000), work(many));
    for (short, long) in short.into_iter().zip(long) {
        assert!(
            long <= short * 3 / 2,
            "{long} steps after {many} commits, {short} after 1,000"
        );
    }
}
