//! What a transaction leaves behind of itself, by which it is known whether its commit was made.

use std::thread;
use std::time::{Duration, Instant};

use super::Postgres;
use super::link::Link;
use crate::error::Result;

/// How long it is asked what became of a commit when the connection was lost.
const ASKING: Duration = Duration::from_secs(10);
/// How long whoever may still be at it is waited for before a look at what is there.
const LOOK: Duration = Duration::from_secs(1);
/// How many transactions' traces are kept, and how many go at once.
const TRACES: i64 = 20_000;
const GO: u32 = 256;

/// Takes the lock of a transaction's own, by its `token`, which whoever has lost sight of it can wait for: it ends with the
/// transaction, and with nothing else.
pub(super) const OWN_LOCK: &str =
    "pg_advisory_xact_lock(('x' || left(replace(token::text, '-', ''), 16))::bit(64)::bigint)";

/// What a transaction writes of itself as it is committed. Where the connection is lost just then, the trace is
/// looked for. Its number alone proves nothing: a server that has crashed, and a replica that takes its
/// place, gives the numbers of what it has lost to others.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    pub(super) number: i64,
    /// A random one, made by the server.
    pub(super) token: String,
}

impl Trace {
    /// What leaves it behind, and counts one more transaction. Nobody is waited for here.
    pub(super) fn left(&self) -> String {
        let Self { number, token } = self;
        // Now and then those go that are old; each time would be a search for nothing.
        let old = if token.starts_with("00") || cfg!(test) {
            format!(
                "DELETE FROM transactions WHERE number IN (
                     SELECT number FROM transactions WHERE number <= {number} - {TRACES}
                     ORDER BY number LIMIT {GO} FOR UPDATE SKIP LOCKED);"
            )
        } else {
            String::new()
        };
        format!("SELECT leave_trace({number}, '{token}'); {old}")
    }
}

impl Postgres {
    /// Whether a transaction was committed whose connection was lost; none where the server cannot be
    /// asked, or cannot tell.
    pub(super) fn is_made(&self, trace: &Trace) -> Option<bool> {
        let from = Instant::now();
        while from.elapsed() < ASKING {
            let link = self.connect(Duration::ZERO);
            if let Ok(Some(told)) = link.and_then(|link| self.look_for(trace, &link)) {
                return told;
            }
            thread::sleep(Duration::from_millis(100));
        }
        None
    }

    /// Looks for what a transaction's commit has left. The outer none: not to be told yet, for whoever made
    /// it may still be at it, or this server takes no writes; the inner one: not to be told any more.
    fn look_for(&self, trace: &Trace, link: &Link) -> Result<Option<Option<bool>>> {
        let Trace { number, token } = trace;
        let look = format!(
            "SELECT pg_is_in_recovery(), coalesce((SELECT max(number) FROM transactions), 0),
                 (SELECT token FROM transactions WHERE number = {number})"
        );
        let begin = self.address.begin("READ COMMITTED", LOOK);
        let ask = |sql: &str| Ok(link.batch(sql)?.pop().unwrap_or_default());
        let is_there = |row: &[Option<String>]| row.get(2).and_then(Option::as_ref) == Some(token);
        if is_there(&ask(&format!("{begin}; {look}; COMMIT"))?) {
            return Ok(Some(Some(true)));
        }
        // It has this lock until its end: once that is ours, what is not there never will be.
        let row = ask(&format!(
            "{begin}; SELECT {OWN_LOCK} FROM (SELECT '{token}'::uuid AS token) AS own; {look}; COMMIT"
        ))?;
        if is_there(&row) {
            return Ok(Some(Some(true)));
        }
        Ok(match &row[..] {
            [Some(recovers), ..] if recovers == "t" => None,
            // Its number is another one's, so it is lost.
            [_, _, Some(_)] => Some(Some(false)),
            [_, Some(newest), ..] => {
                let newest = newest.parse::<i64>();
                let is_kept = newest.is_ok_and(|newest| *number > newest - TRACES);
                Some(is_kept.then_some(false))
            }
            _ => None,
        })
    }
}
