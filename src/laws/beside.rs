//! The law of those who write at once: what is left is what one after the other would have left.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Barrier;
use std::thread;

use proptest::prelude::*;

use crate::error::Error;
use crate::model::{Draft, Message, Millis, RefName, RefValue, Role};
use crate::repo::{Call, CommitOptions, On, Repo, ResetMode};
use crate::rewrite::SurgeryOptions;
use crate::rewrite::{Reach, Truncate};
use crate::store::Reversal;
use crate::store::postgres::tests::cluster;

/// Something that one of them does on a branch; numbers pick among few, so that they often do the same.
#[derive(Clone, Debug)]
enum Step {
    Commit(u8, Vec<u8>),
    Truncate(u8),
    Branch(u8, u8),
    Reset(u8),
    Undo,
}

fn step() -> impl Strategy<Value = Step> {
    let texts = prop::collection::vec(0_u8..3, 1..4);
    prop_oneof![
        10 => (0_u8..3, texts).prop_map(|(on, texts)| Step::Commit(on, texts)),
        2 => (0_u8..3).prop_map(Step::Truncate),
        2 => (0_u8..3, 0_u8..3).prop_map(|(name, from)| Step::Branch(name, from)),
        1 => (0_u8..3).prop_map(Step::Reset),
        1 => Just(Step::Undo),
    ]
}

fn branch(n: u8) -> RefName {
    RefName::branch(["a", "b", "c"][usize::from(n)]).expect("a name")
}

/// Does it, as what it is called. All commits are of one moment: the same one is often made twice.
fn take(repo: &Repo, step: &Step, what: &str) -> Result<(), Error> {
    let on = |n: u8| On::Branch(branch(n));
    let call = Call::at(Millis(0), what);
    match step {
        Step::Commit(n, texts) => {
            let said = |text: &u8| Draft::append(Message::text(Role::User, text.to_string()));
            let drafts: Vec<Draft> = texts.iter().map(said).collect();
            let options = CommitOptions::default();
            repo.commit(call.on(&on(*n)), &drafts, &options).map(drop)
        }
        Step::Truncate(n) => {
            let (plan, options) = (Truncate::new(Reach::Keep(2)), SurgeryOptions::default());
            repo.carry_out(call.on(&on(*n)), &plan, &options).map(drop)
        }
        Step::Branch(name, from) => {
            let from = branch(*from);
            repo.create_branch(call, &branch(*name), from.short())
                .map(drop)
        }
        Step::Reset(n) => {
            let on = on(*n);
            let target = format!("{on}~1");
            repo.reset(call.on(&on), &target, ResetMode::Hard).map(drop)
        }
        Step::Undo => repo.undo(None, Millis(0)).map(drop),
    }
}

fn state(repo: &Repo) -> Vec<(RefName, RefValue)> {
    repo.references("").expect("read")
}

proptest! {
    #![proptest_config(crate::conditions::laws(160))]

    #[test]
    fn those_who_write_at_once_leave_what_one_after_the_other_leaves(
        sessions in prop::collection::vec(prop::collection::vec(step(), 1..8), 2..4),
    ) {
        let Some(address) = cluster::address() else {
            return Ok(());
        };
        let place = Path::new(&address);
        let (repo, _) = Repo::init(place).expect("a repository");
        let start = Barrier::new(sessions.len());
        thread::scope(|scope| {
            for (who, steps) in sessions.iter().enumerate() {
                let start = &start;
                scope.spawn(move || {
                    let repo = Repo::open(place).expect("opens");
                    start.wait();
                    for (at, step) in steps.iter().enumerate() {
                        let done = take(&repo, step, &format!("{who}.{at}"));
                        let is_told = !matches!(
                            done,
                            Err(Error::Overtaken { .. } | Error::Busy { .. } | Error::Store(_) | Error::Damaged { .. })
                        );
                        assert!(is_told, "{step:?}: {done:?}");
                    }
                });
            }
        });
        let whole = repo.fsck(false, &mut |_| Ok(())).expect("checked");
        prop_assert!(whole.faults.is_empty(), "{:?}", whole.faults);
        // The log says in which order it was as if they had come.
        let mut log = repo.operations(0).expect("a log");
        log.reverse();
        let alone = Repo::ephemeral().expect("a repository");
        let mut numbers = HashMap::new();
        for entry in &log {
            let operation = &entry.operation;
            let done = match operation.reversal {
                Reversal::Undo(id) => alone.undo(None, Millis(0)).map(|undone| {
                    assert_eq!(numbers.get(&id), Some(&undone.operation.id));
                }),
                _ => {
                    let (who, at) = operation.what.split_once('.').expect("its name");
                    let number = |text: &str| text.parse::<usize>().expect("a number");
                    take(&alone, &sessions[number(who)][number(at)], &operation.what)
                }
            };
            prop_assert!(done.is_ok(), "{}: {:?}", operation.what, done);
            let newest = alone.operations(1).expect("a log").pop();
            numbers.insert(operation.id, newest.expect("one").operation.id);
        }
        prop_assert_eq!(state(&repo), state(&alone));
    }
}
