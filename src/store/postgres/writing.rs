//! How a transaction begins: its turn, and along with that what it most likely asks for first.

use std::time::{Duration, Instant};

use super::Postgres;
use super::address::LOCKED;
use super::ahead;
use super::columns::{damaged, get, keys};
use super::driver::Asked;
use super::link::{asked, busy, rows, texts};
use super::session::{CONTENTS, Session};
use super::trace::Trace;
use super::turn::{Turn, claim, lock_branch, lock_name};
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
        let begins = turn.begins(store.schema, wait.is_some(), foreseen.len());
        let mut all = vec![Asked::Text(format!("{begin}; {begins}"))];
        let on = store.on.borrow().clone().filter(|_| turn == Turn::OnBranch);
        let names = on.clone().map_or_else(|| store.names(), |on| vec![on]);
        match (turn, &on) {
            (Turn::OnBranch, Some(on)) => all.push(lock_name(on, store.schema)?),
            (Turn::OnBranch, None) => all.push(lock_branch(&names, store.schema)?),
            _ => {}
        }
        all.push(ahead::of_writer(&names, &claim(turn, store.schema))?);
        let newest = asked(LAST_PURGE, &[])?;
        let looked = asked(CONTENTS, &[&keys(&foreseen)])?;
        all.extend([newest, looked]);
        let from = Instant::now();
        let wait = wait.unwrap_or_default();
        let (link, told) = store.enter_transaction(true, wait, |link| {
            link.shares.set(turn != Turn::Alone);
            link.exchange(&all)
        })?;
        let mut told = told.into_iter();
        let begun = texts(told.next());
        let own = begun.last().map_or(&[][..], Vec::as_slice);
        let trace = match own {
            [Some(token), Some(number), ..] => number.parse().ok().map(|number| Trace {
                number,
                token: token.clone(),
            }),
            _ => None,
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
        session.numbers.took(turn, own.get(3..).unwrap_or_default());
        if turn == Turn::OnBranch {
            let locked = rows(told.next());
            let branch = locked.first().map(|row| get(row, 0)).transpose()?;
            session.branch.replace(branch);
            // Contents that others put meanwhile are not among those whose words are gathered here.
            session.gathering.replace(Gathering::Off);
        }
        session.took_writer(&rows(told.next()))?;
        let newest = rows(told.next());
        let newest = newest.first().map(|row| row.unsigned(0)).transpose()?;
        session.last_purge.set(Some(newest));
        for row in &rows(told.next()) {
            session.known.saw_content(get(row, 0)?, get(row, 1)?);
        }
        let is_new = |hash: &ContentHash| session.known.content(hash).is_none();
        session.known.saw_none(foreseen.into_iter().filter(is_new));
        Ok(session)
    }
}
