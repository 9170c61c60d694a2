//! The law of people in one repository: each has a HEAD of their own, and takes back what they did and nothing else.

use proptest::prelude::*;

use crate::error::Error;
use crate::model::{Author, Draft, Head, Message, Millis, RefName, RefValue, Role};
use crate::repo::{Call, CommitOptions, On, Repo, Target};
use crate::store::{Reversal, Seat};

const PEOPLE: [&str; 3] = ["Mara", "Ben <ben@example.org>", "ci@runner-7"];

/// What somebody does.
#[derive(Clone, Copy, Debug)]
enum Step {
    Commit,
    NewBranch,
    Main,
    Previous,
    Undo,
    UndoOthers,
    Redo,
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let step = prop_oneof![
        4 => Just(Step::Commit),
        2 => Just(Step::NewBranch),
        2 => Just(Step::Main),
        1 => Just(Step::Previous),
        4 => Just(Step::Undo),
        1 => Just(Step::UndoOthers),
        2 => Just(Step::Redo),
    ];
    prop::collection::vec((0..PEOPLE.len(), step), 1..40)
}

fn become_(repo: &mut Repo, who: usize) {
    let name = PEOPLE[who];
    let author = Author {
        name: Some(name.to_owned()),
        ..Author::default()
    };
    repo.work_as(Some(author), false);
    // As it is on a server.
    repo.store.sit(Some(Seat::of_person(name)));
}

/// What each has under the names by which it is kept.
fn positions(repo: &Repo) -> Vec<(RefName, RefValue)> {
    let refs = repo.references("").expect("read").into_iter();
    refs.filter(|(name, _)| name.is_position()).collect()
}

/// What a person did that is not taken back, and what of theirs is, the newest last.
#[derive(Clone, Debug, Default)]
struct Did {
    done: Vec<u64>,
    undone: Vec<u64>,
}

proptest! {
    #![proptest_config(crate::conditions::laws(64))]

    #[test]
    fn nobody_moves_anothers_head_or_takes_back_what_another_did(steps in steps()) {
        let mut repo = super::repository();
        let mut did: Vec<Did> = vec![Did::default(); PEOPLE.len()];
        for (at, (who, step)) in steps.into_iter().enumerate() {
            let now = Millis(at as i64);
            become_(&mut repo, who);
            let others = |repo: &Repo| {
                let own = |name: &RefName| !name.is_elsewhere();
                positions(repo).into_iter().filter(|(name, _)| !own(name)).collect::<Vec<_>>()
            };
            let (before, newest) = (others(&repo), newest(&repo));
            let call = Call::at(now, "x");
            match step {
                Step::Commit => {
                    let draft = Draft::append(Message::text(Role::User, format!("{at}")));
                    repo.commit(call, &[draft], &CommitOptions::default()).expect("committed");
                }
                Step::NewBranch => {
                    let branch = RefName::branch(&format!("b{at}")).expect("a name");
                    repo.checkout(call, &Target::NewBranch(branch, None)).expect("moved");
                }
                // Whose main has no commit yet cannot go there from elsewhere.
                Step::Main => drop(repo.checkout(call, &Target::Named("main".into()))),
                Step::Previous => drop(repo.checkout(call, &Target::Previous)),
                Step::Undo => match repo.undo(None, now) {
                    Ok(undone) => {
                        prop_assert_eq!(Some(undone.operation.id), did[who].done.pop());
                        did[who].undone.push(undone.operation.id);
                    }
                    Err(Error::NothingToUndo) => prop_assert!(did[who].done.is_empty()),
                    Err(Error::OperationSuperseded { id, by, .. }) => {
                        prop_assert_eq!(Some(&id), did[who].done.last());
                        prop_assert!(by.is_some_and(|by| by != PEOPLE[who]));
                    }
                    Err(error) => prop_assert!(false, "{error}"),
                },
                Step::UndoOthers => {
                    let other = (who + 1) % PEOPLE.len();
                    let Some(id) = did[other].done.last().copied() else { continue };
                    match repo.undo(Some(id), now) {
                        Err(Error::NotYours { by, .. }) => prop_assert_eq!(by.as_deref(), Some(PEOPLE[other])),
                        told => prop_assert!(false, "{told:?}"),
                    }
                }
                Step::Redo => match repo.redo(now) {
                    Ok(redone) => {
                        prop_assert_eq!(Some(redone[0].operation.id), did[who].undone.pop());
                        did[who].done.push(redone[0].operation.id);
                    }
                    Err(Error::NothingToRedo { .. }) => prop_assert!(did[who].undone.is_empty()),
                    Err(Error::OperationSuperseded { id, .. }) => {
                        prop_assert_eq!(Some(&id), did[who].undone.last());
                    }
                    Err(error) => prop_assert!(false, "{error}"),
                },
            }
            prop_assert_eq!(others(&repo), before, "somebody else's HEAD has moved");
            let now_newest = self::newest(&repo);
            if now_newest != newest && !matches!(step, Step::Undo | Step::Redo) {
                did[who].done.extend(now_newest);
                did[who].undone.clear();
            }
            let by = repo.operations(1).expect("listed").pop().and_then(|one| one.operation.by?.name);
            prop_assert!(now_newest == newest || by.as_deref() == Some(PEOPLE[who]));
        }
        repo.second_reading()?;
    }
}

/// The newest operation that moved something and reverses nothing.
fn newest(repo: &Repo) -> Option<u64> {
    let mut all = repo.operations(0).expect("listed").into_iter();
    let plain = all.find(|one| one.operation.reversal == Reversal::None && !one.moves.is_empty());
    plain.map(|one| one.operation.id)
}

fn say(repo: &Repo, text: &str) {
    let draft = Draft::append(Message::text(Role::User, text));
    let call = Call::at(Millis(1), "commit");
    repo.commit(call, &[draft], &CommitOptions::default())
        .expect("committed");
}

/// By force, what another did is undone, and whose that was is not forgotten: they find nothing of it left to undo.
#[test]
fn what_another_did_is_undone_by_force_alone() {
    let mut repo = super::repository();
    become_(&mut repo, 0);
    say(&repo, "one");
    become_(&mut repo, 1);
    assert!(matches!(
        repo.undo(None, Millis(2)),
        Err(Error::NothingToUndo)
    ));
    assert!(matches!(
        repo.undo(Some(1), Millis(2)),
        Err(Error::NotYours { id: 1, .. })
    ));
    repo.undo_of_anybody(1, Millis(2)).expect("undone");
    become_(&mut repo, 0);
    assert!(matches!(
        repo.undo(None, Millis(3)),
        Err(Error::NothingToUndo)
    ));
    assert!(matches!(
        repo.redo(Millis(3)),
        Err(Error::NothingToRedo { .. })
    ));
    become_(&mut repo, 1);
    repo.redo(Millis(4)).expect("who undid it does it again");
}

/// Whoever was not here before is on main, or where the HEAD is that is nobody's; and stays when that moves.
#[test]
fn who_comes_first_sees_what_there_is() {
    let mut repo = super::repository();
    let other = RefName::branch("talk").expect("a name");
    repo.checkout(
        Call::at(Millis(0), "x"),
        &Target::NewBranch(other.clone(), None),
    )
    .expect("moved");
    say(&repo, "one");
    become_(&mut repo, 0);
    let head = |repo: &Repo| match repo.head(&On::Head).expect("read") {
        Head::Attached { branch, .. } => branch,
        Head::Detached(commit) => panic!("at {commit}"),
    };
    assert_eq!(head(&repo), other);
    let main = RefName::branch("main").expect("a name");
    repo.create_branch(Call::at(Millis(0), "x"), &main, "HEAD")
        .expect("made");
    assert_eq!(head(&repo), main);
}
