//! What this engine promises where a pooler stands between: one that gives each transaction another server.

use std::thread;
use std::time::Instant;

use super::tests::client::Client;
use super::tests::cluster;
use super::*;
use crate::error::ServerTrouble;
use crate::hash::ContentHash;
use crate::model::{Message, Role};
use crate::store::contract;

#[path = "../../../tests/pooler.rs"]
mod pooler;

use pooler::Pooler;

/// Several servers, each transaction on the next.
const TURNS: &str = "pool_mode = transaction\ndefault_pool_size = 4\nmin_pool_size = 4";

fn put(store: &Postgres, text: &str) -> Result<ContentHash> {
    let tx = store.write()?;
    let hash = tx.keep(&Message::text(Role::User, text))?;
    tx.commit()?;
    Ok(hash)
}

fn client(address: &str) -> Client {
    let address = Address::parse(address, &Servers::default()).expect("an address");
    address.client()
}

#[test]
fn it_keeps_the_contract_whichever_server_a_transaction_gets() {
    let Some(pooler) = Pooler::new(TURNS) else {
        return;
    };
    // A database of its own, for a purge waits for whoever reads in the same one.
    let database = format!("pooled_{}", std::process::id());
    let direct = cluster::address().expect("a server");
    let make = format!("CREATE DATABASE {database}");
    client(&direct).batch_execute(&make).expect("made");
    let address = || {
        let direct = cluster::address().expect("a server");
        pooler.before(&direct.replace("/postgres?", &format!("/{database}?")))
    };
    contract::run(&|| Box::new(Postgres::create(&address()).expect("a repository").0));
    // Nothing of it is left on any of them for whoever comes next.
    let client = client(&address());
    let mut servers = std::collections::HashSet::new();
    for _ in 0..20 {
        let left = "SELECT pg_backend_pid(), current_setting('search_path'), current_setting('lock_timeout'),
             (SELECT count(*) FROM pg_prepared_statements),
             (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())";
        let left = client.query_typed(left, &[]).expect("SQL").remove(0);
        assert_eq!(left.get::<_, &str>(1), "\"$user\", public");
        assert_eq!(left.get::<_, &str>(2), "0");
        assert_eq!((left.get::<_, i64>(3), left.get::<_, i64>(4)), (0, 0));
        servers.insert(left.get::<_, i32>(0));
    }
    assert!(
        servers.len() > 1,
        "one server has them all: this proves nothing"
    );
}

#[test]
fn many_write_at_once_by_way_of_few_servers() {
    let Some(pooler) = Pooler::new(TURNS) else {
        return;
    };
    let address = pooler.before(&cluster::address().expect("a server"));
    let (store, _) = Postgres::create(&address).expect("a repository");
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let address = address.clone();
            thread::spawn(move || {
                let store = Postgres::open(&address).expect("opens");
                let wrote = (0..10).map(|at| put(&store, &format!("{writer} {at}")).expect("kept"));
                wrote.collect::<Vec<_>>()
            })
        })
        .collect();
    let wrote: Vec<ContentHash> = writers
        .into_iter()
        .flat_map(|writer| writer.join().expect("done"))
        .collect();
    let view = store.read().expect("a view");
    for hash in &wrote {
        assert!(view.content(hash).expect("reads").is_some());
    }
    assert_eq!(wrote.len(), 80);
    assert_eq!(
        store
            .operations_committed()
            .load(std::sync::atomic::Ordering::Relaxed),
        0
    );
}

#[test]
fn a_pooler_that_is_full_is_waited_for_and_one_that_parts_a_transaction_is_named() {
    let Some(pooler) = Pooler::new("pool_mode = session\nmax_client_conn = 1") else {
        return;
    };
    let address = pooler.before(&cluster::address().expect("a server"));
    let (store, _) = Postgres::create(&address).expect("a repository");
    put(&store, "in a session").expect("kept");
    let store = store.with_busy_timeout(Duration::from_millis(300));
    // A view begins with its first question.
    let ask = |view: &dyn View| view.last_purge();
    let view = store.read().expect("a view");
    ask(&*view).expect("it begins");
    let from = Instant::now();
    let Err(Error::Server { trouble, .. }) = store.read().and_then(|view| ask(&*view)) else {
        panic!("there is no second connection");
    };
    assert!(
        matches!(
            trouble,
            ServerTrouble::Full {
                waited_ms: 1..3_000
            }
        ),
        "{trouble}"
    );
    assert!(from.elapsed() < Duration::from_secs(3));
    drop(view);
    let Some(pooler) = Pooler::new("pool_mode = statement") else {
        return;
    };
    let address = pooler.before(&cluster::address().expect("a server"));
    let refused = Postgres::create(&address).map(drop);
    // Its last words may be lost with the connection, which it cuts at once.
    let is_told = match refused.expect_err("no transaction is possible") {
        Error::Server { trouble, .. } => trouble == ServerTrouble::StatementPooling,
        Error::Disconnected { during } => during == crate::error::Interrupted::Undone,
        _ => false,
    };
    assert!(is_told);
}
