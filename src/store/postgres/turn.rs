//! Beside whom somebody writes: the locks that a transaction takes, and where its rows get their numbers.
//!
//! Whoever writes alone has the schema's lock. Whoever commits on a branch, or takes in a session, shares it, and has that of the
//! ref: others write other refs meanwhile. What two of them write by the same name, a unique index finds; the second is overtaken then, and
//! does it again. Numbers are given under the schema's lock, whoever holds it: so all that is below one that somebody sees who is
//! alone has come, or never will.

use super::columns::keys;
use super::driver::Asked;
use super::link::asked;
use super::trace::OWN_LOCK;
use crate::error::Result;
use crate::hash::ContentHash;
use crate::model::RefName;

/// The first half of the lock's number, `TRCT` in ASCII; the second is the schema's.
pub(super) const LOCK: i32 = 0x5452_4354;

/// The tables whose rows get their numbers here, each of which has a sequence; first those whose numbers are reserved.
pub(super) const NUMBERED: [&str; 6] = [
    "contents",
    "commits",
    "lineages",
    "operations",
    "reflog",
    "adopted",
];

/// How many of them are asked for at once at most.
pub(super) const MANY: usize = 1_024;

/// Beside whom a transaction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nobody: what it has read stays so until its end.
    Alone,
    /// Those who commit on other branches than its own.
    OnBranch,
    /// Whoever does not write alone. It writes nothing but what follows from the rest.
    Aside,
}

impl Turn {
    /// What takes the schema's lock, and waits for it or not.
    fn lock(self, waits: bool) -> String {
        let tries = if waits { "" } else { "try_" };
        let shares = if self == Self::Alone { "" } else { "_shared" };
        format!("pg_{tries}advisory_xact_lock{shares}")
    }

    /// What begins a transaction in a schema that is not on a branch: the lock, then its token and its number, then those of
    /// rows. Each statement sees what was committed before it began, so the last one sees all that whoever was alone before
    /// has written.
    pub(super) fn begins(self, schema: i32, waits: bool) -> String {
        let numbered: &[&str] = if self == Self::Alone { &NUMBERED } else { &[] };
        let numbers = numbered.iter();
        let numbers = numbers.map(|table| format!(", (SELECT max(id) FROM {table})"));
        let (lock, all) = (self.lock(waits), numbers.collect::<String>());
        format!(
            "SELECT {lock}({LOCK}, {schema});
             SELECT token, (numbers('transactions', 1))[1], {OWN_LOCK}{all}
             FROM (SELECT gen_random_uuid() AS token OFFSET 0) AS own"
        )
    }
}

/// What begins one on a branch, that is named or to which the first of some names leads that leads to one, by somebody who may
/// put these contents: the locks, and all that whoever goes on there asks first (`migrations/postgres/0001_repository.sql`).
pub(super) fn begin_on(
    named: Option<&RefName>,
    names: &[RefName],
    contents: &[ContentHash],
    schema: i32,
) -> Result<Asked> {
    let (own, schema) = (i64::from(LOCK), i64::from(schema));
    let messages = contents.len() as i64;
    asked(
        "SELECT * FROM begin_on($1, $2, $3, $4, $5, $6)",
        &[
            &own,
            &schema,
            &named.cloned(),
            &keys(names),
            &keys(contents),
            &messages,
        ],
    )
}

/// How the lock of a branch is known, by its name.
const BRANCH: &str = "('x' || encode(substr(sha256(name), 1, 4), 'hex'))::bit(32)::int";

/// Takes the lock of a branch.
pub(super) fn lock_name(name: &RefName, schema: i32) -> Result<Asked> {
    let sql = format!(
        "SELECT name, pg_advisory_xact_lock({schema}, {BRANCH}) FROM (SELECT $1::bytea AS name) AS one"
    );
    asked(sql, &[name])
}

/// What tells whether one may go on behind the commit of a row in its lineage: nobody is waited for, for whoever is second
/// begins another.
pub(super) fn claim(turn: Turn, schema: i32, row: &str) -> String {
    match turn {
        Turn::OnBranch => format!("pg_try_advisory_xact_lock(({schema}::bigint << 32) # {row})"),
        Turn::Alone | Turn::Aside => "true".to_owned(),
    }
}
