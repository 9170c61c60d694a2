//! What only this engine promises: schemas, locks, refusals, round trips.

use std::thread;
use std::time::{Duration, Instant};

use client::Client;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::*;
use crate::error::Interrupted;
use crate::hash::ContentHash;
use crate::model::{
    Commit, Encoding, Message, Millis, Operation, RefName, RefValue, Role, Span, TokenCount, Usage,
};
pub(super) use crate::store::contract::faults;
use crate::store::tables::{Only, TABLES};
use crate::store::{CountKey, contract};

#[path = "../../../tests/client.rs"]
pub(super) mod client;
#[path = "../../../tests/cluster.rs"]
pub(crate) mod cluster;

type Answer<T> = std::result::Result<T, tokio_postgres::Error>;

impl Client {
    pub(super) fn execute(&self, sql: &str, with: &[&(dyn ToSql + Sync)]) -> Answer<u64> {
        self.wait(async |client| client.execute(sql, with).await)
    }

    pub(super) fn query(&self, sql: &str, with: &[&(dyn ToSql + Sync)]) -> Answer<Vec<Row>> {
        self.wait(async |client| client.query(sql, with).await)
    }

    pub(super) fn query_one(&self, sql: &str, with: &[&(dyn ToSql + Sync)]) -> Answer<Row> {
        self.wait(async |client| client.query_one(sql, with).await)
    }

    /// Without a prepared statement, which is one server's.
    pub(super) fn query_typed(
        &self,
        sql: &str,
        with: &[(&(dyn ToSql + Sync), Type)],
    ) -> Answer<Vec<Row>> {
        self.wait(async |client| client.query_typed(sql, with).await)
    }
}

/// An address nobody has used, where there is a server.
macro_rules! address {
    () => {
        match cluster::address() {
            Some(address) => address,
            None => return,
        }
    };
}

pub(super) fn create(address: &str) -> Postgres {
    let (store, is_new) = Postgres::create(address).expect("a repository");
    assert!(is_new);
    store
}

/// A connection of nobody's, to the schema of an address.
pub(super) fn client(address: &str) -> Client {
    let address = parse(address);
    let client = address.client();
    let path = format!("SET search_path = {}", address.quoted_schema());
    client.batch_execute(&path).expect("SQL");
    client
}

fn parse(address: &str) -> Address {
    Address::parse(address, &Servers::default()).expect("an address")
}

pub(super) fn put(store: &Postgres, text: &str) -> Result<ContentHash> {
    let tx = store.write()?;
    let hash = tx.keep(&Message::text(Role::User, text))?;
    tx.commit()?;
    Ok(hash)
}

pub(super) fn is_here(store: &Postgres, hash: &ContentHash) -> bool {
    let found = store.read().and_then(|view| view.content(hash));
    found.expect("it reads").is_some()
}

#[test]
fn it_keeps_the_contract() {
    let _ = address!();
    contract::run(&|| Box::new(create(&cluster::address().expect("a server"))));
}

#[test]
fn reopening_keeps_everything() {
    let address = address!();
    let hash = put(&create(&address), "hello").expect("kept");
    assert!(is_here(&Postgres::open(&address).expect("opens"), &hash));
    let (again, is_new) = Postgres::create(&address).expect("opens");
    assert!(!is_new && is_here(&again, &hash));
}

#[test]
fn the_tables_are_those_that_are_described() {
    let address = address!();
    create(&address);
    let tables = "SELECT relname::text FROM pg_class
         WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'";
    let rows = client(&address).query(tables, &[]).expect("asked");
    let mut here: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    here.sort_unstable();
    let said = TABLES
        .iter()
        .filter(|table| table.only != Some(Only::Files));
    assert_eq!(here, said.map(|table| table.name).collect::<Vec<_>>());
}

#[test]
fn two_schemas_of_one_database_are_two_repositories() {
    let (one, other) = (address!(), address!());
    let (one, other) = (create(&one), create(&other));
    let hash = put(&one, "hello").expect("kept");
    assert!(!is_here(&other, &hash));
    // Nor does one wait for the other.
    let tx = one.write().expect("the lock");
    put(&other, "meanwhile").expect("kept");
    drop(tx);
}

#[test]
fn what_is_no_repository_is_refused_and_left_as_it_is() {
    let address = address!();
    assert!(matches!(
        Postgres::open(&address),
        Err(Error::NoRepository { .. })
    ));
    let schema = parse(&address).quoted_schema();
    let client = client(&address);
    let theirs = format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.theirs (id bigint)");
    client.batch_execute(&theirs).expect("made");
    for made in [
        Postgres::open(&address),
        Postgres::create(&address).map(|made| made.0),
    ] {
        assert!(matches!(made, Err(Error::ForeignDatabase { .. })));
    }
    let tables =
        "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace";
    let tables: i64 = client.query_one(tables, &[]).expect("asked").get(0);
    assert_eq!(tables, 1);
    let empty = format!("DROP TABLE {schema}.theirs");
    client.batch_execute(&empty).expect("dropped");
    create(&address);
    let newer = "UPDATE tract_repository SET format = 99";
    client.batch_execute(newer).expect("changed");
    let found = Postgres::open(&address).err().expect("refused");
    assert!(
        matches!(found, Error::NewerDatabase { found: 99, known } if known == schema::FORMAT),
        "{found}"
    );
    let older = "UPDATE tract_repository SET format = 12";
    client.batch_execute(older).expect("changed");
    assert!(matches!(
        Postgres::open(&address),
        Err(Error::OlderDatabase { .. })
    ));
}

/// It has no table of what usage records say beyond tokens, nor of what clients say in the user's name, nor of who started agents.
#[test]
fn a_repository_of_the_format_before_gets_what_it_lacks() {
    let address = address!();
    let store = create(&address);
    contract::line(&store, 2);
    let tx = store.write().expect("the lock");
    tx.weigh(u64::MAX).expect("indexed");
    tx.commit().expect("kept");
    let client = client(&address);
    let before = "DROP TABLE usage_details, stated_usage, injected, starters;
         UPDATE tract_repository SET format = 13";
    client.batch_execute(before).expect("as it was");
    let store = Postgres::open(&address).expect("opens");
    let hash = put(&store, "hello").expect("kept");
    assert!(is_here(&store, &hash));
    let format = "SELECT format FROM tract_repository";
    let format: i32 = client.query_one(format, &[]).expect("asked").get(0);
    assert_eq!(format, 16);
    let view = store.read().expect("a view");
    assert!(view.all_usage_details().expect("read").is_empty());
    drop(view);
    let tx = store.write().expect("the lock");
    assert!(tx.weigh(u64::MAX).expect("indexed") > 0);
}

/// As a copy is put back.
#[test]
fn a_branch_is_moved_by_whoever_says_nothing_of_where_tables_are() {
    let address = address!();
    let store = create(&address);
    let tip = contract::line(&store, 2);
    let client = client(&address);
    let schema = address.rsplit_once("schema=").expect("a schema").1;
    let moved = format!(
        "SET search_path TO ''; INSERT INTO {schema}.refs (name, target)
         VALUES ('refs/heads/old', (SELECT max(id) FROM {schema}.commits))"
    );
    client.batch_execute(&moved).expect("moved");
    let branches = store.read().expect("a view").active_branches(None, 9);
    let branches = branches.expect("listed");
    assert_eq!((branches[0].0.last, branches[0].1), (Some(Millis(5)), tip));
}

/// As where its commit comes after it.
#[test]
fn a_branch_of_which_it_is_not_known_when_it_was_worked_on_is_listed_where_it_belongs() {
    let address = address!();
    let store = create(&address);
    let tx = store.write().expect("the lock");
    tx.begin_operation(Millis(0), "x").expect("open");
    for at in 0..6_i64 {
        let content = tx.keep(&Message::text(Role::User, at.to_string()));
        let commit = Commit {
            time: Some(Millis(at / 2)),
            ..contract::step(
                None,
                Operation::Append {
                    content: content.expect("kept"),
                },
            )
        };
        let tip = tx.keep_commit(&commit).expect("kept").0;
        let name = RefName::branch(&format!("b{at}")).expect("a name");
        tx.set_reference(&name, Some(&RefValue::Commit(tip)))
            .expect("moved");
    }
    tx.commit().expect("made");
    let pages = || {
        let view = store.read().expect("a view");
        let all = view.active_branches(None, 9).expect("listed");
        let behind = all.iter().map(|(one, _)| {
            let pages = [1, 2, 9].map(|most| view.active_branches(Some(one), most));
            pages.map(|page| page.expect("listed"))
        });
        (all.clone(), behind.collect::<Vec<_>>())
    };
    let wanted = pages();
    assert_eq!(wanted.0.len(), 6);
    let client = client(&address);
    for some in ["b3", "b0", "b5"] {
        let untold = format!(
            "ALTER TABLE refs DISABLE TRIGGER refs_activity;
             UPDATE refs SET active = NULL WHERE name = 'refs/heads/{some}';
             ALTER TABLE refs ENABLE TRIGGER refs_activity"
        );
        client.batch_execute(&untold).expect("changed");
        assert_eq!(pages(), wanted, "{some}");
        assert_eq!(faults(&store), []);
    }
    // A ref without its commit, and then with it, is as any other.
    let later = "INSERT INTO refs (name, target) VALUES ('refs/heads/later', 99);
         INSERT INTO refs (name, target, active) SELECT 'refs/heads/copied', target, active FROM refs WHERE name = 'refs/heads/b4'";
    client.batch_execute(later).expect("put");
    let told = client.query("SELECT active FROM refs WHERE name IN ('refs/heads/later', 'refs/heads/copied') ORDER BY name", &[]);
    let told: Vec<Option<i64>> = told.expect("asked").iter().map(|row| row.get(0)).collect();
    assert_eq!(told, [Some(2), None]);
}

#[test]
fn a_server_that_is_not_there_says_so_without_the_password() {
    let nowhere = "postgres://me:secret@/db?host=/nonexistent";
    let error = Postgres::open(nowhere).err().expect("refused").to_string();
    assert!(
        error.contains("/nonexistent") && !error.contains("secret"),
        "{error}"
    );
}

#[test]
fn several_make_one_repository() {
    let address = address!();
    let makers: Vec<_> = (0..4)
        .map(|_| {
            let address = address.clone();
            thread::spawn(move || Postgres::create(&address).expect("a repository").1)
        })
        .collect();
    let made = makers.into_iter().map(|maker| maker.join().expect("done"));
    assert_eq!(made.filter(|is_new| *is_new).count(), 1);
}

#[test]
fn who_waits_too_long_is_told_so() {
    let address = address!();
    let store = create(&address);
    let wait = Duration::from_millis(200);
    let other = Postgres::open(&address)
        .expect("opens")
        .with_busy_timeout(wait);
    let tx = store.write().expect("the lock");
    let from = Instant::now();
    let Err(Error::Busy { waited_ms }) = other.write().map(drop) else {
        panic!("two write at once");
    };
    assert!((200..5_000).contains(&waited_ms), "{waited_ms}");
    assert!(from.elapsed() >= wait);
    let busy = other.write_if_free().map(drop);
    assert!(matches!(busy, Err(Error::Busy { waited_ms: 0..200 })));
    drop(tx);
    put(&other, "now").expect("kept");
    // Whoever waits sees what the one before has written.
    let tx = store.write().expect("the lock");
    let wait = thread::spawn(move || {
        let other = other.with_busy_timeout(Duration::from_secs(20));
        put(&other, "same").expect("kept")
    });
    thread::sleep(Duration::from_millis(100));
    tx.keep(&Message::text(Role::User, "same")).expect("kept");
    tx.commit().expect("done");
    let same = wait.join().expect("done");
    assert!(is_here(&store, &same));
}

#[test]
fn a_view_stays_as_it_was_while_others_write() {
    let address = address!();
    let store = create(&address);
    let first = put(&store, "first").expect("kept");
    let view = store.read().expect("a view");
    assert!(view.content(&first).expect("reads").is_some());
    let version = store.version().expect("a number");
    // One store may hold a view and write.
    let second = put(&store, "second").expect("kept");
    assert!(view.content(&second).expect("reads").is_none());
    assert!(is_here(&store, &second));
    assert_ne!(store.version().expect("a number"), version);
}

/// Ends all connections to the schema but one's own.
fn cut(client: &Client) {
    let all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'tract' AND pid <> pg_backend_pid()
           AND query LIKE '%' || $1 || '%'";
    client.execute(all, &[&"cut here"]).expect("ended");
}

#[test]
fn a_lost_connection_leaves_nothing_half_done_and_says_so() {
    let address = address!();
    let store = create(&address);
    let other = client(&address);
    let message = Message::text(Role::User, "lost");
    let tx = Session::write(&store, Some(BUSY_TIMEOUT), Turn::Alone).expect("the lock");
    let hash = (&tx as &dyn Tx).keep(&message).expect("kept");
    tx.query("SELECT 'cut here'", &[]).expect("asked");
    cut(&other);
    let lost = Box::new(tx).commit().expect_err("it is lost");
    assert!(
        matches!(
            lost,
            Error::Disconnected {
                during: Interrupted::Undone
            }
        ),
        "{lost}"
    );
    // The next one takes another connection.
    assert!(!is_here(&store, &hash));
    let tx = Session::write(&store, Some(BUSY_TIMEOUT), Turn::Alone).expect("the lock");
    tx.query("SELECT 'cut here'", &[]).expect("asked");
    cut(&other);
    let lost = (&tx as &dyn Tx).keep(&message).expect_err("it is lost");
    assert!(
        matches!(
            lost,
            Error::Disconnected {
                during: Interrupted::Undone
            }
        ),
        "{lost}"
    );
    drop(tx);
    put(&store, "lost").expect("kept");
    // Nor does one that was kept and lost meanwhile matter.
    store.ask("SELECT 'cut here'").expect("asked");
    cut(&other);
    assert!(is_here(&store, &hash));
}

#[test]
fn what_became_of_a_transaction_is_found_out() {
    let address = address!();
    let store = create(&address);
    let begin = || Session::write(&store, Some(BUSY_TIMEOUT), Turn::Alone).expect("the lock");
    let tx = begin();
    let made = tx.trace();
    Box::new(tx).commit().expect("made");
    assert_eq!(store.is_made(&made), Some(true));
    let not_made = begin().trace();
    assert!(not_made.number > made.number);
    assert_eq!(store.is_made(&not_made), Some(false));
    // Should its number become another one's, that makes it no more than it was.
    let client = client(&address);
    let given = "INSERT INTO transactions VALUES ($1, gen_random_uuid())";
    client.execute(given, &[&not_made.number]).expect("given");
    assert_eq!(store.is_made(&not_made), Some(false));
    assert_eq!(store.is_made(&made), Some(true));
    // What was forgotten meanwhile cannot be told any more.
    client
        .execute(given, &[&(made.number + 20_001)])
        .expect("given");
    Box::new(begin()).commit().expect("made");
    assert_eq!(store.is_made(&made), Some(true));
    let late = "UPDATE transactions SET number = -number WHERE number = $1";
    client.execute(late, &[&made.number]).expect("gone");
    assert_eq!(store.is_made(&made), None);
}

#[test]
fn whoever_may_still_be_at_it_is_waited_for() {
    let address = address!();
    let store = create(&address);
    let tx = Session::write(&store, Some(BUSY_TIMEOUT), Turn::Alone).expect("the lock");
    let trace = tx.trace();
    let asked = thread::spawn(move || Postgres::open(&address).expect("opens").is_made(&trace));
    thread::sleep(Duration::from_millis(300));
    assert!(!asked.is_finished());
    Box::new(tx).commit().expect("made");
    assert_eq!(asked.join().expect("an answer"), Some(true));
}

#[test]
fn who_may_only_read_reads_and_is_told_when_writing() {
    let address = address!();
    let store = create(&address);
    let hash = put(&store, "hello").expect("kept");
    let schema = parse(&address).quoted_schema();
    let reader = format!("reader_{}", store.schema);
    client(&address)
        .batch_execute(&format!(
            "CREATE ROLE {reader} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {reader};
             GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}"
        ))
        .expect("made");
    let theirs = address.replace("tract@", &format!("{reader}@"));
    let store = Postgres::open(&theirs).expect("opens");
    assert!(is_here(&store, &hash));
    let refused = put(&store, "more").expect_err("refused");
    assert!(matches!(refused, Error::ReadOnly), "{refused}");
    assert!(matches!(store.scrub(), Err(Error::ReadOnly)));
}

#[test]
fn a_body_that_is_another_ones_is_refused() {
    let address = address!();
    let store = create(&address);
    let hash = put(&store, "hello").expect("kept");
    let mut checks = Vec::new();
    store
        .verify(&mut |_, fault| {
            checks.extend(fault);
            Ok(())
        })
        .expect("checked");
    assert_eq!(checks, []);
    let change = "UPDATE bodies SET body = set_byte(body, 0, 65); UPDATE contents SET calls = 7";
    client(&address).batch_execute(change).expect("changed");
    let read = store.read().and_then(|view| view.content(&hash));
    assert!(matches!(read, Err(Error::Damaged { .. })));
    store
        .verify(&mut |_, fault| {
            checks.extend(fault);
            Ok(())
        })
        .expect("checked");
    assert!(matches!(checks[..], [Fault::Content { .. }]), "{checks:?}");
}

#[test]
fn what_can_be_made_again_is() {
    let address = address!();
    let store = create(&address);
    contract::line(&store, 5);
    let tx = store.write().expect("the lock");
    tx.index(u64::MAX).expect("indexed");
    tx.commit().expect("done");
    let change = "UPDATE contents SET preview = 'x', calls = 7; UPDATE search SET terms = '{1}'";
    client(&address).batch_execute(change).expect("changed");
    let found = faults(&store);
    assert_eq!(found.len(), 6, "{found:?}");
    assert!(found.iter().all(Fault::mends));
    assert_eq!(store.rebuild().expect("made again"), []);
    assert_eq!(faults(&store), []);
}

#[test]
fn erased_bytes_are_in_no_table_after_a_scrub() {
    let address = address!();
    let store = create(&address);
    let secret = "hunter2 hunter2";
    let hash = put(&store, secret).expect("kept");
    let client = client(&address);
    let path = "SELECT current_setting('data_directory') || '/' || pg_relation_filepath('bodies')";
    let in_files = move || -> bool {
        client.batch_execute("CHECKPOINT").expect("written");
        let path: String = client.query_one(path, &[]).expect("asked").get(0);
        let bytes = std::fs::read(path).expect("the table's file");
        memchr::memmem::find(&bytes, secret.as_bytes()).is_some()
    };
    assert!(in_files());
    let tx = store.write().expect("the lock");
    tx.purge_content(&hash).expect("there");
    let operation = tx.begin_operation(Millis(1), "purge").expect("begun");
    tx.purge_operations(operation).expect("marked");
    tx.commit().expect("done");
    assert!(in_files(), "else this proves nothing");
    let owed = |store: &Postgres| {
        store
            .verify(&mut |_, _| Ok(()))
            .expect("checked")
            .unscrubbed
    };
    assert!(owed(&store));
    // While somebody sees what was there before, it stays owed.
    let other = Postgres::open(&address).expect("opens");
    let view = other.read().expect("a view");
    view.config().expect("reads");
    let hasty = Postgres::open(&address).expect("opens");
    let hasty = hasty.with_busy_timeout(Duration::from_millis(100));
    assert!(matches!(hasty.scrub(), Err(Error::Busy { .. })));
    drop(view);
    store.scrub().expect("rewritten");
    assert!(!in_files() && !owed(&store));
}

/// Nobody has counted the rows of what just came in: each count is found by its key all the same.
#[test]
fn counts_are_found_by_their_keys_before_there_are_statistics() {
    let address = address!();
    let store = create(&address);
    contract::line(&store, 3_000);
    let client = client(&address);
    let own = store.address.quoted_schema();
    client
        .batch_execute(&format!("SET search_path = {own}"))
        .expect("set");
    let typed = super::derived::COUNTS.replace("($1, $2)", "($1::bytea[], $2::bytea[])");
    let explain = format!("EXPLAIN {}", typed.replace("$3", "$3::bigint"));
    let keys: Vec<&[u8]> = vec![&[]; 3_000];
    let plan = client
        .query(&explain, &[&keys, &keys, &1_i64])
        .expect("planned");
    let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
    let plan = plan.join("\n");
    for index in ["contents_hash_key", "counts_pkey"] {
        assert!(plan.contains(index), "{plan}");
    }
    assert!(!plan.contains("Seq Scan"), "{plan}");
}

#[test]
fn a_few_round_trips_whatever_there_is() {
    let address = address!();
    let store = create(&address);
    let tip = contract::line(&store, 3_000);
    let trips = |work: &dyn Fn(&Postgres)| {
        let store = Postgres::open(&address).expect("opens");
        let counted = store.trips();
        let before = counted.load(std::sync::atomic::Ordering::Relaxed);
        work(&store);
        counted.load(std::sync::atomic::Ordering::Relaxed) - before
    };
    let reading = |work: &dyn Fn(&dyn View)| trips(&|store| work(&*store.read().expect("a view")));
    // A view begins with its first question, and nobody waits for its end.
    let walk = |limit| {
        reading(&|view| {
            view.ancestors(&tip, None, limit).expect("reads");
        })
    };
    assert_eq!((walk(20), walk(3_000)), (2, 2));
    let all = store.read().and_then(|view| view.all_contents());
    let all = all.expect("reads");
    let bodies = reading(&|view| {
        view.contents(&all).expect("reads");
    });
    assert_eq!(bodies, 1);
    // The lock, the message, what it stands on, the commit, the end.
    let commits = trips(&|store| {
        put(store, "one more").expect("kept");
    });
    assert_eq!(commits, 3);
    // One for each of many messages that nobody foresaw: what stands on them goes together.
    let many = trips(&|store| {
        let tx = store.write().expect("the lock");
        let source = tx
            .put_source(&RefName::session("x", "1"), "x", None)
            .expect("kept");
        let mut parent = None;
        for at in 0..200 {
            let content = tx
                .keep(&Message::text(Role::User, format!("many {at}")))
                .expect("kept");
            let commit = contract::step(parent, Operation::Append { content });
            let commit = tx.keep_commit(&commit).expect("kept").0;
            let mask = None;
            let count = TokenCount::default();
            let encoding = Encoding::default();
            tx.put_count(CountKey { content, mask }, encoding, count)
                .expect("kept");
            tx.put_usage(&commit, Usage::default()).expect("kept");
            let span = Span { offset: at, len: 1 };
            tx.put_records(&commit, source, &[span]).expect("kept");
            parent = Some(commit);
        }
        tx.commit().expect("done");
        let view = store.read().expect("a view");
        let last = [parent.expect("a commit")];
        assert_eq!(view.usage(&last).expect("reads"), [Some(Usage::default())]);
        assert_eq!(view.records(&last).expect("reads")[0].len(), 1);
    });
    assert!(many < 200 + 30, "{many}");
}

/// What is foreseen to be new goes together, whatever stands between: a fork, an erased message, one that is
/// there, one that comes twice.
#[test]
fn what_is_foreseen_is_as_what_comes_one_by_one() {
    let _ = address!();
    let said = |text: &str| Message::text(Role::User, text);
    let write = |foresees: bool| {
        let store = create(&cluster::address().expect("a server"));
        let old = put(&store, "old").expect("kept");
        let tx = store.write().expect("the lock");
        tx.begin_operation(Millis(0), "purge").expect("begun");
        tx.purge_content(&put_in(&*tx, "erased")).expect("erased");
        tx.commit().expect("done");
        let before = store.trips().load(std::sync::atomic::Ordering::Relaxed);
        let tx = store.write().expect("the lock");
        let mut texts: Vec<String> = (0..300).map(|at| format!("said {at}")).collect();
        texts.insert(100, "old".to_owned());
        texts.insert(190, "said 120".to_owned());
        texts.insert(220, "erased".to_owned());
        if foresees {
            let hashes = texts
                .iter()
                .map(|text| crate::model::Sealed::new(said(text)).hash());
            tx.foresee(&mut || hashes.clone().collect())
                .expect("looked");
        }
        let mut made = Vec::new();
        let mut parent = None;
        for (at, text) in texts.iter().enumerate() {
            let content = put_in(&*tx, text);
            let commit = contract::step(parent, Operation::Append { content });
            let (commit, is_new) = tx.keep_commit(&commit).expect("kept");
            assert!(is_new);
            made.push(commit);
            // A second child now and then, and once the first one goes on.
            parent = match at {
                60 | 250 => made[at - 20..].first().copied(),
                _ => Some(commit),
            };
        }
        assert!(tx.content(&old).expect("reads").is_some());
        tx.commit().expect("done");
        let trips = store.trips().load(std::sync::atomic::Ordering::Relaxed) - before;
        let view = store.read().expect("a view");
        let rows = view.commits(&made).expect("reads");
        let paths = [60, 190, 302].map(|at| {
            let path = view.ancestors(&made[at], None, usize::MAX).expect("a path");
            path.iter().map(|row| row.hash).collect::<Vec<_>>()
        });
        drop(view);
        let mut faults = Vec::new();
        store
            .verify(&mut |_, fault| {
                faults.extend(fault.map(|fault| format!("{fault:?}")));
                Ok(())
            })
            .expect("checked");
        assert_eq!(faults, Vec::<String>::new());
        ((rows, paths), trips)
    };
    let ((one_by_one, many), (together, few)) = (write(false), write(true));
    assert_eq!(one_by_one, together);
    assert!(many > 300 && few < 60, "{many} and {few}");
}

fn put_in(tx: &dyn Tx, text: &str) -> ContentHash {
    tx.keep(&Message::text(Role::User, text)).expect("kept")
}
