//! How a transaction begins: its turn, and along with that what it most likely asks for first.

use std::time::{Duration, Instant};

use tokio_postgres::Row;

use super::Postgres;
use super::address::LOCKED;
use super::ahead::{OWN, of_writer};
use super::columns::damaged;
use super::driver::Asked;
use super::link::{asked, busy, rows, texts};
use super::session::Session;
use super::trace::Trace;
use super::turn::{Turn, begin_on};
use super::usual::LAST_PURGE;
use crate::error::Result;
use crate::hash::ContentHash;
use crate::store::columns::Columns;
use crate::store::words::Gathering;

impl<'a> Session<'a> {
    /// A write transaction in its turn; where there is a wait, so long for others.
    pub(super) fn write(store: &'a Postgres, wait: Option<Duration>, turn: Turn) -> Result<Self> {
        store.let_go();
        let foreseen = store.foreseen.take();
        let begin = store
            .address
            .begin("READ COMMITTED", wait.unwrap_or(LOCKED));
        let all = match turn {
            Turn::OnBranch => {
                let on = store.on.borrow().clone();
                let names = on.clone().map_or_else(|| store.names(), |on| vec![on]);
                let begins = begin_on(on.as_ref(), &names, &foreseen, store.schema)?;
                vec![Asked::Text(begin), begins]
            }
            Turn::Alone | Turn::Aside => {
                let begins = turn.begins(store.schema, wait.is_some());
                let newest = asked(LAST_PURGE, &[])?;
                let begins = Asked::Text(format!("{begin}; {begins}"));
                vec![begins, of_writer(&store.names())?, newest]
            }
        };
        let from = Instant::now();
        let wait = wait.unwrap_or_default();
        let (link, told) = store.enter_transaction(true, wait, |link| {
            link.shares.set(turn != Turn::Alone);
            link.exchange(&all)
        })?;
        let mut told = told.into_iter();
        let begun = texts(told.next());
        let (seen, newest) = (rows(told.next()), rows(told.next()));
        let own = begun.last().map_or(&[][..], Vec::as_slice);
        let trace = match turn {
            Turn::OnBranch => own_of(&seen),
            Turn::Alone | Turn::Aside => trace_of(own.get(1), own.first()),
        };
        let is_known = trace.is_some();
        let session = Self::new(store, trace, turn);
        let _ = session.link.set(link);
        if !is_known {
            return Err(damaged("a transaction without a number"));
        }
        let is_refused = |row: &Vec<Option<String>>| row.as_slice() == [Some("f".to_owned())];
        if begun.first().is_some_and(is_refused) {
            return Err(busy(from));
        }
        store.ledger.begin();
        session.took_writer(&seen)?;
        if turn == Turn::OnBranch {
            // Contents that others put meanwhile are not among those whose words are gathered here.
            session.gathering.replace(Gathering::Off);
        } else {
            session.numbers.took(own.get(3..).unwrap_or_default());
            let newest = newest.first().map(|row| row.unsigned(0)).transpose()?;
            session.last_purge.set(Some(newest));
        }
        let is_new = |hash: &ContentHash| session.known.content(hash).is_none();
        session.known.saw_none(foreseen.into_iter().filter(is_new));
        Ok(session)
    }
}

/// What a transaction on a branch is known by.
fn own_of(rows: &[Row]) -> Option<Trace> {
    let row = rows.iter().find(|row| row.number(0).ok() == Some(OWN))?;
    Some(Trace {
        number: row.number(2).ok()?,
        token: row.text(5).ok()?.to_owned(),
    })
}

/// What any other is known by, as the server tells its number and its token.
fn trace_of(number: Option<&Option<String>>, token: Option<&Option<String>>) -> Option<Trace> {
    Some(Trace {
        number: number?.as_deref()?.parse().ok()?,
        token: token?.clone()?,
    })
}
