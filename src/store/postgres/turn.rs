//! Beside whom somebody writes: the locks that a transaction takes, and where its rows get their numbers.
//!
//! Whoever writes alone has the schema's lock. Whoever commits on a branch shares it, and has the branch's: others commit on
//! other branches meanwhile. What two of them write by the same name, a unique index finds; the second is overtaken then, and
//! does it again. Numbers are given under the schema's lock, whoever holds it: so all that is below one that somebody sees who is
//! alone has come, or never will.

use super::ahead::TIP;
use super::columns::keys;
use super::driver::Asked;
use super::link::asked;
use super::trace::OWN_LOCK;
use crate::error::Result;
use crate::model::RefName;

/// The first half of the lock's number, `TRCT` in ASCII; the second is the schema's.
pub(super) const LOCK: i32 = 0x5452_4354;

/// The tables whose rows get their numbers here.
pub(super) const NUMBERED: [&str; 6] = [
    "contents",
    "commits",
    "lineages",
    "operations",
    "reflog",
    "adopted",
];

/// Those of them that have a sequence, first those whose numbers are reserved.
pub(super) const SHARED: [&str; 5] = ["contents", "commits", "lineages", "operations", "reflog"];

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

    /// What begins a transaction in a schema: the lock, then its token and its number, then those of rows, for about so many
    /// messages. Each statement sees what was committed before it began, so the last one sees all that whoever was alone
    /// before has written.
    pub(super) fn begins(self, schema: i32, waits: bool, messages: usize) -> String {
        let numbers: Vec<String> = match self {
            Self::Alone => NUMBERED
                .iter()
                .map(|table| format!("(SELECT max(id) FROM {table})"))
                .collect(),
            Self::OnBranch => [("contents", messages), ("commits", messages.max(1))]
                .iter()
                .map(|(table, many)| format!("numbers('{table}', {})", (*many).min(MANY)))
                .collect(),
            Self::Aside => Vec::new(),
        };
        let lock = self.lock(waits);
        let all: String = numbers.iter().map(|one| format!(", {one}")).collect();
        format!(
            "SELECT {lock}({LOCK}, {schema});
             SELECT token, (numbers('transactions', 1))[1], {OWN_LOCK}{all}
             FROM (SELECT gen_random_uuid() AS token OFFSET 0) AS own"
        )
    }
}

/// How the lock of a branch is known, by its name.
const BRANCH: &str = "('x' || encode(substr(sha256(name), 1, 4), 'hex'))::bit(32)::int";

/// Takes the lock of the branch to which the first of some names leads that leads to one, and tells which that is.
pub(super) fn lock_branch(names: &[RefName], schema: i32) -> Result<Asked> {
    let sql = format!(
        "{TIP}, branch AS (
             SELECT name FROM chain WHERE substr(name, 1, 5) = 'refs/'
                 AND NOT EXISTS (SELECT 1 FROM refs AS r WHERE r.name = chain.name AND r.symbolic IS NOT NULL)
             ORDER BY at, hops LIMIT 1
         ) SELECT name, pg_advisory_xact_lock({schema}, {BRANCH}) FROM branch"
    );
    asked(sql, &[&keys(names)])
}

/// The same of one branch.
pub(super) fn lock_name(name: &RefName, schema: i32) -> Result<Asked> {
    let sql = format!(
        "SELECT name, pg_advisory_xact_lock({schema}, {BRANCH}) FROM (SELECT $1::bytea AS name) AS one"
    );
    asked(sql, &[name])
}

/// What tells whether one may go on behind the tip `c` in its lineage: nobody is waited for, for whoever is second begins
/// another.
pub(super) fn claim(turn: Turn, schema: i32) -> String {
    match turn {
        Turn::OnBranch => format!("pg_try_advisory_xact_lock(({schema}::bigint << 32) # c.id)"),
        Turn::Alone | Turn::Aside => "true".to_owned(),
    }
}
