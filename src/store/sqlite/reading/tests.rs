//! Bodies in whatever order.

use proptest::prelude::*;

use super::*;
use crate::error::Error;
use crate::model::{Message, PURGED, Role, Sealed};
use crate::store::Store;
use crate::store::sqlite::Sqlite;

/// So many messages, of which two in three are packed.
fn said(count: usize) -> (Sqlite, Vec<Sealed<Message>>) {
    let store = Sqlite::in_memory().expect("a database");
    let text = |at: usize| format!("{at} ").repeat(1 + at % 3 * 200);
    let all = (0..count).map(|at| Sealed::new(Message::text(Role::User, text(at))));
    let all: Vec<_> = all.collect();
    let tx = store.write().expect("a transaction");
    for message in &all {
        tx.put_content(message).expect("kept");
    }
    tx.commit().expect("committed");
    (store, all)
}

fn told(store: &Sqlite, asked: &[ContentHash]) -> Result<Vec<(usize, String)>> {
    let mut told = Vec::new();
    store.read()?.each_body(asked, &mut |at, body| {
        told.push((at, body.to_owned()));
        Ok(())
    })?;
    Ok(told)
}

proptest! {
    #![proptest_config(crate::conditions::laws(64))]

    /// Be they in a row, with gaps, the other way round, said before or not here at all.
    #[test]
    fn bodies_are_told_in_the_order_in_which_they_are_asked_for(
        runs in prop::collection::vec((0..130_usize, 1..60_usize, 0..12_usize, any::<bool>()), 0..12),
    ) {
        let (store, all) = said(100);
        let nobodys = Sealed::new(Message::text(Role::User, "not here")).hash();
        let mut places = Vec::new();
        for (first, count, step, is_turned) in runs {
            let mut run: Vec<usize> = (0..count).map(|at| first + at * step).collect();
            if is_turned {
                run.reverse();
            }
            places.extend(run);
        }
        let asked = places.iter().map(|at| all.get(*at).map_or(nobodys, Sealed::hash));
        let asked: Vec<ContentHash> = asked.collect();
        let here = places.iter().enumerate();
        let here = here.filter_map(|(at, place)| Some((at, all.get(*place)?.canonical().to_owned())));
        prop_assert_eq!(told(&store, &asked).expect("reads"), here.collect::<Vec<_>>());
    }
}

#[test]
fn many_bodies_are_told_whoever_unpacks_them() {
    let (store, all) = said(WORTH_A_THREAD + 100);
    let asked: Vec<ContentHash> = all.iter().map(Sealed::hash).collect();
    let told = told(&store, &asked).expect("reads");
    let same = |((at, body), place): (&(usize, String), usize)| {
        *at == place && body == all[place].canonical()
    };
    assert!(told.len() == all.len() && told.iter().zip(0..).all(same));
    let mut seen = 0;
    let stopped = store
        .read()
        .expect("a view")
        .each_body(&asked, &mut |_, _| {
            seen += 1;
            let is_enough = seen == 7;
            (!is_enough).then_some(()).ok_or(Error::EmptyMessage)
        });
    assert!(matches!(stopped, Err(Error::EmptyMessage)) && seen == 7);
}

#[test]
fn a_damaged_row_harms_those_alone_who_ask_for_it() {
    for (damage, is_erased) in [
        ("UPDATE bodies SET body = x'00' WHERE content = 40", false),
        ("UPDATE bodies SET encoding = 77 WHERE content = 40", false),
        ("DELETE FROM bodies WHERE content = 40", false),
        ("UPDATE contents SET size_bytes = 7 WHERE id = 40", false),
        ("UPDATE contents SET size_bytes = -1 WHERE id = 40", false),
        ("UPDATE contents SET calls = 7 WHERE id = 40", true),
    ] {
        let (store, all) = said(60);
        let asked: Vec<ContentHash> = all.iter().map(Sealed::hash).collect();
        let hash = asked[39];
        if is_erased {
            let tx = store.write().expect("a transaction");
            tx.purge_content(&hash).expect("erased");
            tx.commit().expect("committed");
            let told = told(&store, &asked).expect("reads");
            assert!(told.len() == 60 && told[39].1.contains(PURGED));
        }
        let done = store.connection.execute(damage, []).expect("done");
        assert_eq!(done, 1, "{damage}");
        let mut seen = 0;
        let refused = store
            .read()
            .expect("a view")
            .each_body(&asked, &mut |_, _| {
                seen += 1;
                Ok(())
            });
        assert!(
            matches!(refused, Err(Error::Damaged { .. })),
            "{damage}: {refused:?}"
        );
        assert_eq!(seen, 39, "{damage}: those before it are told");
        let others: Vec<ContentHash> = asked.into_iter().filter(|one| *one != hash).collect();
        assert_eq!(told(&store, &others).expect("reads").len(), 59, "{damage}");
    }
}
