//! What several promise each other who write at once: nobody waits but for whoever has the same branch, and nothing is
//! put twice.

use std::sync::Barrier;
use std::sync::atomic::AtomicUsize;
use std::thread;

use super::tests::{client, cluster, create, faults};
use super::*;
use crate::error::Error;
use crate::hash::CommitHash;
use crate::model::{Commit, Message, Operation, RefValue, Role, Sealed};
use crate::store::contract;

/// Long enough for whoever need not wait.
const SOON: Duration = Duration::from_millis(300);

fn named(name: &str) -> RefName {
    RefName::branch(name).expect("a name")
}

fn said(text: &str) -> Message {
    Message::text(Role::User, text)
}

/// A transaction on a branch that has kept a message, and the commit that appends it there.
fn kept<'a>(store: &'a Postgres, branch: &str, text: &str) -> (Box<dyn Tx + 'a>, Commit) {
    let (name, message) = (named(branch), Sealed::new(said(text)));
    let tx = store
        .begin_on(Some(&name), &mut || vec![message.hash()])
        .expect("a turn");
    tx.begin_moves(Millis(0), "commit").expect("open");
    let parent = tx.reference(&name).expect("it reads");
    let content = tx.keep(&said(text)).expect("kept");
    let parent = parent.as_ref().and_then(RefValue::commit);
    let commit = contract::step(parent, Operation::Append { content });
    (tx, commit)
}

/// One that has put it, too, and told the server so.
fn begun<'a>(store: &'a Postgres, branch: &str, text: &str) -> (Box<dyn Tx + 'a>, CommitHash) {
    let (tx, commit) = kept(store, branch, text);
    let hash = moved(&*tx, branch, &commit).expect("moved");
    // What waits is sent before a question.
    tx.config().expect("it reads");
    (tx, hash)
}

/// Puts a commit and moves the branch there.
fn moved(tx: &dyn Tx, branch: &str, commit: &Commit) -> Result<CommitHash> {
    let (hash, _) = tx.keep_commit(commit)?;
    tx.set_reference(&named(branch), Some(&RefValue::Commit(hash)))?;
    Ok(hash)
}

fn tip(store: &Postgres, branch: &str) -> Option<CommitHash> {
    let view = store.read().expect("a view");
    let found = view.reference(&named(branch)).expect("it reads");
    found.as_ref().and_then(RefValue::commit)
}

fn again(store: &Postgres, address: &str) -> Postgres {
    assert!(store.read().is_ok());
    Postgres::open(address)
        .expect("opens")
        .with_busy_timeout(SOON)
}

/// Branches that all are at one commit.
fn forked(store: &Postgres, branches: &[&str]) -> CommitHash {
    let tip = contract::line(store, 3);
    let tx = store.write().expect("the lock");
    tx.begin_operation(Millis(0), "branch").expect("open");
    for branch in branches {
        tx.set_reference(&named(branch), Some(&RefValue::Commit(tip)))
            .expect("moved");
    }
    tx.commit().expect("made");
    tip
}

#[test]
fn who_commits_waits_for_whoever_has_the_same_branch_and_for_nobody_else() {
    let Some(address) = cluster::address() else {
        return;
    };
    let store = create(&address);
    forked(&store, &["a", "b"]);
    let other = again(&store, &address);
    let (tx, first) = begun(&store, "a", "on one");
    // One that comes second on this branch, and whoever wants to be alone, are refused after a while.
    let second = other.begin_on(Some(&named("a")), &mut Vec::new).map(drop);
    assert!(matches!(second, Err(Error::Busy { .. })), "{second:?}");
    let alone = other.write().map(drop);
    assert!(matches!(alone, Err(Error::Busy { .. })), "{alone:?}");
    // On another one it is done to its end, and so is what follows from the rest.
    let (beside, hash) = begun(&other, "b", "on another");
    beside.commit().expect("made");
    assert_eq!(tip(&other, "b"), Some(hash));
    let aside = other.write_if_free().expect("nobody is alone");
    assert!(aside.begin_operation(Millis(0), "no").is_err());
    aside.commit().expect("made");
    tx.commit().expect("made");
    assert_eq!(tip(&other, "a"), Some(first));
    // Who is alone is so for all.
    let tx = store.write().expect("the lock");
    let beside = other.begin_on(Some(&named("b")), &mut Vec::new).map(drop);
    assert!(matches!(beside, Err(Error::Busy { .. })), "{beside:?}");
    assert!(matches!(
        other.write_if_free().map(drop),
        Err(Error::Busy { .. })
    ));
    drop(tx);
    assert_eq!(faults(&store), []);
}

/// All of them are open at once, else those that wait would be refused.
#[test]
fn as_many_commit_at_once_as_there_are_branches() {
    let Some(address) = cluster::address() else {
        return;
    };
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let store = create(&address);
    forked(&store, &names);
    let (all, done) = (Barrier::new(names.len()), AtomicUsize::new(0));
    thread::scope(|scope| {
        for name in names {
            let (all, done, address) = (&all, &done, &address);
            scope.spawn(move || {
                let store = Postgres::open(address).expect("opens");
                for at in 0..3 {
                    let (tx, _) = begun(&store, name, &format!("{at} on {name}"));
                    all.wait();
                    tx.commit().expect("made");
                    done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(done.into_inner(), names.len() * 3);
    assert_eq!(faults(&store), []);
    // Each made one lineage of its own at most, and one of them needed none.
    let lineages = "SELECT count(*) FROM lineages";
    let lineages: i64 = client(&address)
        .query_one(lineages, &[])
        .expect("asked")
        .get(0);
    assert_eq!(lineages, names.len() as i64);
}

/// Puts a message on one branch, and one on another before that is visible.
fn meet(address: &str, first: (&str, &str), second: (&str, &str)) -> [Result<()>; 2] {
    let (is_begun, may_end) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        let one = scope.spawn(|| {
            let store = Postgres::open(address).expect("opens");
            let (tx, _) = begun(&store, first.0, first.1);
            is_begun.wait();
            may_end.wait();
            tx.commit()
        });
        let store = Postgres::open(address).expect("opens");
        is_begun.wait();
        let (tx, commit) = kept(&store, second.0, second.1);
        may_end.wait();
        let put = moved(&*tx, second.0, &commit).and_then(|_| tx.commit());
        [one.join().expect("it ends"), put]
    })
}

#[test]
fn who_puts_the_same_at_the_same_moment_is_overtaken_and_finds_it_then() {
    let Some(address) = cluster::address() else {
        return;
    };
    let store = create(&address);
    let base = forked(&store, &["a", "b", "c"]);
    // The same message and the same commit, from one commit on.
    let [first, second] = meet(&address, ("a", "same"), ("b", "same"));
    first.expect("made");
    assert!(matches!(second, Err(Error::Overtaken { .. })), "{second:?}");
    assert_eq!(tip(&store, "b"), Some(base));
    let (tx, hash) = begun(&store, "b", "same");
    tx.commit().expect("made");
    assert_eq!(tip(&store, "a"), Some(hash));
    // The same message behind another commit.
    let [first, second] = meet(&address, ("a", "again"), ("c", "again"));
    first.expect("made");
    assert!(matches!(second, Err(Error::Overtaken { .. })), "{second:?}");
    assert_eq!(tip(&store, "c"), Some(base));
    assert_eq!(faults(&store), []);
}

#[test]
fn a_ref_that_is_elsewhere_by_now_is_not_moved() {
    let Some(address) = cluster::address() else {
        return;
    };
    let store = create(&address);
    let base = forked(&store, &["a", "b"]);
    let (tx, made) = begun(&store, "b", "elsewhere");
    tx.commit().expect("made");
    let message = Sealed::new(said("too late"));
    let tx = store.begin_on(Some(&named("a")), &mut || vec![message.hash()]);
    let tx = tx.expect("a turn");
    tx.begin_moves(Millis(0), "commit").expect("open");
    assert_eq!(
        tx.reference(&named("a")).expect("read"),
        Some(RefValue::Commit(base))
    );
    // Whatever has come past the locks.
    let moved =
        "UPDATE refs SET target = (SELECT target FROM refs WHERE name = $2) WHERE name = $1";
    let names = [named("a"), named("b")];
    let [a, b] = names.each_ref().map(|name| name.as_str().as_bytes());
    client(&address).execute(moved, &[&a, &b]).expect("moved");
    tx.set_reference(&named("a"), None).expect("asked");
    let lost = tx.commit();
    assert!(matches!(lost, Err(Error::Overtaken { .. })), "{lost:?}");
    assert_eq!(tip(&store, "a"), Some(made));
}

/// Numbers are given before anybody knows who ends first.
#[test]
fn whatever_becomes_visible_is_another_version() {
    let Some(address) = cluster::address() else {
        return;
    };
    let store = create(&address);
    forked(&store, &["a", "b"]);
    let other = again(&store, &address);
    let (first, _) = begun(&store, "a", "begun first");
    let (second, _) = begun(&other, "b", "begun second");
    let versions = [
        other.version().expect("a number"),
        {
            second.commit().expect("made");
            other.version().expect("a number")
        },
        {
            first.commit().expect("made");
            other.version().expect("a number")
        },
    ];
    assert!(
        versions.is_sorted_by(|one, next| one < next),
        "{versions:?}"
    );
    let operations = store.read().and_then(|view| view.operations(None, 9));
    let operations = operations.expect("a log");
    assert!(operations.is_sorted_by(|one, next| one.id > next.id));
    assert_eq!(operations.len(), 3);
}

#[test]
fn what_became_of_one_is_found_out_while_others_are_at_it() {
    let Some(address) = cluster::address() else {
        return;
    };
    let store = create(&address);
    forked(&store, &["a", "b"]);
    let other = Postgres::open(&address).expect("opens");
    let (held, _) = begun(&store, "a", "held");
    let turn = Some(BUSY_TIMEOUT);
    let lost = Session::write(&other, turn, Turn::OnBranch)
        .expect("a turn")
        .trace();
    assert_eq!(other.is_made(&lost), Some(false));
    let tx = Session::write(&other, turn, Turn::Aside).expect("a turn");
    let made = tx.trace();
    // It is at it still.
    let asked = thread::spawn(move || Postgres::open(&address).expect("opens").is_made(&made));
    thread::sleep(SOON);
    assert!(!asked.is_finished());
    Box::new(tx).commit().expect("made");
    assert_eq!(asked.join().expect("an answer"), Some(true));
    held.commit().expect("made");
}

/// An index that has passed a number never comes back to it.
#[test]
fn what_comes_late_is_found() {
    let Some(address) = cluster::address() else {
        return;
    };
    let store = create(&address);
    forked(&store, &["a", "b"]);
    let other = again(&store, &address);
    let (first, _) = begun(&store, "a", "number one");
    let (second, _) = begun(&other, "b", "number two");
    second.commit().expect("made");
    let index = |store: &Postgres| {
        let tx = store.write()?;
        tx.index(u64::MAX)?;
        tx.weigh(u64::MAX)?;
        tx.commit()
    };
    assert!(matches!(index(&other), Err(Error::Busy { .. })));
    first.commit().expect("made");
    index(&other).expect("made");
    let view = store.read().expect("a view");
    assert_eq!(view.unindexed_bytes().expect("read"), 0);
    assert_eq!(view.unweighed_bytes().expect("read"), 0);
    drop(view);
    assert_eq!(faults(&store), []);
}
