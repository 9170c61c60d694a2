//! Repositories on a server: what names one, and whether this program knows servers at all.
//!
//! A server asks by itself who may enter. But those who may are several, so the commands that such a
//! repository's configuration names are not its visitor's own.

use std::path::Path;

use crate::error::Result;
use crate::store::Store;

/// The address, if a repository's place is one.
pub(super) fn address(place: &Path) -> Option<&str> {
    let is_address =
        |text: &&str| text.starts_with("postgres://") || text.starts_with("postgresql://");
    place.to_str().filter(is_address)
}

/// A repository on a server: its engine, its address without a password, and whether it is new.
type Entered = (Box<dyn Store>, String, bool);

/// Opens a repository on a server, or makes it if `makes`.
///
/// # Errors
///
/// Those of [`crate::store::postgres::Postgres`].
#[cfg(feature = "postgres")]
pub(super) fn enter(address: &str, makes: bool) -> Result<Entered> {
    use crate::store::postgres::Postgres;
    let (store, is_new) = match makes {
        true => Postgres::create(address)?,
        false => (Postgres::open(address)?, false),
    };
    let address = store.address();
    Ok((Box::new(store), address, is_new))
}

/// Refuses, since no server is known here.
///
/// # Errors
///
/// [`Error::NotBuilt`](crate::Error::NotBuilt).
#[cfg(not(feature = "postgres"))]
pub(super) fn enter(_: &str, _: bool) -> Result<Entered> {
    Err(crate::Error::NotBuilt { what: "PostgreSQL" })
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use std::sync::atomic::Ordering;

    use crate::history::{Call, CommitOptions, LogOptions, On, Repo};
    use crate::model::{Draft, Encoding, Message, Role};
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
        (log(), status());
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
        println!("{short:?} {long:?} {batch}");
    }
}
