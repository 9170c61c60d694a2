//! How often a server is asked.

use std::sync::atomic::Ordering;

use crate::model::{Author, Draft, Encoding, Message, Role};
use crate::query::LogOptions;
use crate::repo::{Call, CommitOptions, On, Repo};
use crate::store::postgres::tests::cluster;

/// How often the server is asked by a commit, a short log, a status and a compile of all there is.
fn asked(repo: &Repo, trips: &std::sync::atomic::AtomicU64) -> [u64; 4] {
    let count = |work: &dyn Fn()| {
        let before = trips.load(Ordering::Relaxed);
        work();
        trips.load(Ordering::Relaxed) - before
    };
    let tip = || repo.head(&On::Head).expect("a head").commit().expect("one");
    let log = || {
        let options = LogOptions {
            limit: 20,
            ..LogOptions::default()
        };
        assert_eq!(repo.log(&tip(), &options).expect("a log").len(), 20);
    };
    let status = || drop(repo.status(&On::Head, Encoding::default()).expect("one"));
    // What nobody has counted yet is counted once.
    log();
    status();
    let commit = || {
        let draft = Draft::append(Message::text(Role::User, "one more"));
        let done = repo.commit(Call::default(), &[draft], &CommitOptions::default());
        done.expect("kept");
    };
    let compile = || {
        let context = repo.context(&tip()).expect("a context");
        let messages = repo.messages(&context).expect("its messages");
        assert_eq!(messages.len(), context.entries.len());
    };
    [count(&commit), count(&log), count(&status), count(&compile)]
}

/// A HEAD of one's own and a name in the log are found and written by the same statements.
#[test]
fn whoever_is_named_asks_no_more_often() {
    let Some(address) = cluster::address() else {
        return;
    };
    let (mut repo, trips) = Repo::counting_trips(&address);
    let said = |at| Draft::append(Message::text(Role::User, format!("said {at}")));
    let drafts: Vec<Draft> = (0..30).map(said).collect();
    repo.commit(Call::default(), &drafts, &CommitOptions::default())
        .expect("kept");
    // What is asked for the first time is looked up once.
    asked(&repo, &trips);
    let nobody = asked(&repo, &trips);
    let mara = Author {
        name: Some("Mara".into()),
        ..Author::default()
    };
    repo.work_as(Some(mara), true);
    let named = asked(&repo, &trips);
    for (named, nobody) in named.iter().zip(nobody) {
        assert!(*named <= nobody, "{named} and {nobody}");
    }
}

#[test]
fn a_long_history_is_asked_for_as_often_as_a_short_one() {
    let Some(address) = cluster::address() else {
        return;
    };
    let (repo, trips) = Repo::counting_trips(&address);
    let say = |from: usize, to: usize| {
        let said = |at| Draft::append(Message::text(Role::User, format!("said {at}")));
        let drafts: Vec<Draft> = (from..to).map(said).collect();
        let before = trips.load(Ordering::Relaxed);
        let done = repo.commit(Call::default(), &drafts, &CommitOptions::default());
        done.expect("kept");
        trips.load(Ordering::Relaxed) - before
    };
    say(0, 30);
    let short = asked(&repo, &trips);
    let batch = say(30, 10_000);
    let long = asked(&repo, &trips);
    assert!(batch <= 70, "{batch}");
    let [commit, log, status, compile] = long;
    assert!(commit <= 20 && log <= 30 && status <= 50, "{long:?}");
    assert!(compile <= 30, "{long:?}");
    for (short, long) in short.iter().zip(long).take(3) {
        assert!(long <= short + 4, "{short} and {long}");
    }
}
