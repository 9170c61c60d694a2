//! What can be made again from the rest, and the rewriting that a purge owes.

use std::thread;
use std::time::{Duration, Instant};

use super::Postgres;
use super::columns::get;
use super::link::busy;
use super::session::Session;
use super::verify::{CONTENTS, body};
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::store::check::message;
use crate::store::columns::Columns;
use crate::store::rows::Shown;
use crate::store::tables::{self, Only};

/// How many contents are read at once.
const BATCH: i64 = 512;
/// How often it is looked whether a transaction has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Makes again what listings show, and puts each ref where the last move in its log has put it; what else
/// is derived is dropped.
pub(super) fn rebuild(tx: &Session<'_>) -> Result<()> {
    let mut after = 0_i64;
    loop {
        let rows = tx.query(CONTENTS, &[&after, &BATCH])?;
        for row in rows.iter() {
            after = get(row, 0)?;
            let hash: ContentHash = get(row, 1)?;
            let body = body(row)?.flatten();
            if let Some((message, size_bytes)) = body.and_then(|body| message(&hash, &body)) {
                show_again(tx, after, &Shown::of_size(&message, size_bytes))?;
            }
        }
        if (rows.len() as i64) < BATCH {
            break;
        }
    }
    let anew = ["checkpoints", "search"]
        .into_iter()
        .filter_map(tables::named);
    tx.empty(tables::dropped(Only::Files).chain(anew))?;
    let last = "SELECT DISTINCT ON (name) name, new_target, new_symbolic FROM reflog
         ORDER BY name, id DESC";
    tx.execute("DELETE FROM refs", &[])?;
    tx.execute(
        &format!(
            "INSERT INTO refs (name, target, symbolic) SELECT * FROM ({last}) AS last
             WHERE new_target IS NOT NULL OR new_symbolic IS NOT NULL"
        ),
        &[],
    )
}

fn show_again(tx: &Session<'_>, id: i64, shows: &Shown) -> Result<()> {
    tx.execute(
        "WITH used AS (
             INSERT INTO tool_uses (content, uses) SELECT $1, $7 WHERE $7 IS NOT NULL
             ON CONFLICT (content) DO UPDATE SET uses = excluded.uses
         ), unused AS (DELETE FROM tool_uses WHERE content = $1 AND $7 IS NULL)
         UPDATE contents
         SET role = $2, preview = $3, size_bytes = $4, calls = $5, results = $6 WHERE id = $1",
        &[
            &id,
            &shows.role,
            &shows.preview,
            &shows.size_bytes,
            &shows.calls,
            &shows.results,
            &shows.uses,
        ],
    )
}

/// Rewrites every table that may hold what was erased, so that it is in none of their files any more. It
/// may still be in what the server has logged, archived or copied elsewhere, which is not ours to rewrite.
///
/// # Errors
///
/// [`Error::Busy`] while somebody reads what was there before; [`Error::ReadOnly`] for whoever does not own
/// the tables.
pub(super) fn scrub(store: &Postgres, wait: Duration) -> Result<()> {
    let link = store.connect(wait)?;
    link.writes.set(true);
    let tables = "SELECT quote_ident(c.relname)::bytea, pg_has_role(c.relowner, 'USAGE'),
             quote_ident(key.relname)::bytea
         FROM pg_class AS c JOIN pg_index ON indrelid = c.oid AND indisprimary
         JOIN pg_class AS key ON key.oid = indexrelid
         WHERE c.relkind = 'r' AND c.relnamespace = (
             SELECT oid FROM pg_namespace WHERE nspname = convert_from($1, 'UTF8')::name)";
    let rows = link.query(tables, &[&store.address.schema])?;
    let own = store.address.qualified("tract_repository");
    let owed = format!("SELECT owes_scrub FROM {own}");
    let owed = link.query(&owed, &[])?.first().map(|row| get(row, 0));
    let owed: Option<i64> = owed.transpose()?.flatten();
    // What a transaction that began before the purge still sees is not taken out, whatever is rewritten.
    // Nor is what our own snapshot could see, because of a transaction in any database.
    let seen = "SELECT 1 WHERE txid_snapshot_xmin(txid_current_snapshot()) <= $1
         UNION ALL SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
         AND pid <> pg_backend_pid() AND backend_type = 'client backend'
         AND greatest(age(backend_xmin), age(backend_xid)) >= age(($1 % 4294967296)::text::xid)";
    let from = Instant::now();
    while !link.query(seen, &[&owed])?.is_empty() {
        if from.elapsed() >= wait {
            return Err(busy(from));
        }
        thread::sleep(LOOK);
    }
    for row in rows.iter() {
        if !get::<bool>(row, 1)? {
            return Err(Error::ReadOnly);
        }
        // As VACUUM (FULL) does it, but in a transaction, where it waits as long as is said there.
        let (table, key) = (row.text(0)?, row.text(2)?);
        link.batch(&format!(
            "{}; CLUSTER {table} USING {key}; ALTER TABLE {table} SET WITHOUT CLUSTER; COMMIT",
            store.address.begin("READ COMMITTED", wait)
        ))?;
    }
    // A purge that came in between is not among them.
    let done = format!("UPDATE {own} SET owes_scrub = NULL WHERE owes_scrub = $1");
    link.query(&done, &[&owed])?;
    store.owes_scrub.set(false);
    Ok(())
}
