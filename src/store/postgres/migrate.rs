//! The schema: recognising it, refusing it untouched, and bringing its tables up to date.

use super::address::Address;
use super::link::Link;
use super::session::LOCK;
use crate::error::{Error, Result};

/// In their order; a file that has landed is never edited.
const MIGRATIONS: [&str; 2] = [
    include_str!("../../../migrations/postgres/0001_repository.sql"),
    include_str!("../../../migrations/postgres/0002_unread.sql"),
];

/// The format that this program writes: the number of migrations.
pub(super) const KNOWN: u32 = MIGRATIONS.len() as u32;

/// What is in a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing, or there is no such schema.
    Nothing,
    /// A repository of an earlier format.
    Older,
    /// A repository.
    Repository {
        /// The schema's number.
        schema: i32,
        owes_scrub: bool,
    },
}

/// Looks at a schema.
///
/// # Errors
///
/// [`Error::ForeignDatabase`] where something else is in it, [`Error::NewerDatabase`].
pub(super) fn inspect(link: &Link, address: &Address) -> Result<Found> {
    // A table of this name with these columns is ours.
    let rows = link.query(
        "SELECT n.oid::bigint,
             EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = n.oid),
             (SELECT count(*) FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
              WHERE c.relnamespace = n.oid AND c.relname = 'tract_repository' AND c.relkind = 'r'
                AND a.attname IN ('is_only', 'format', 'writes'))
         FROM pg_namespace AS n WHERE n.nspname = convert_from($1, 'UTF8')::name",
        &[&address.schema],
    )?;
    let Some(row) = rows.first() else {
        return Ok(Found::Nothing);
    };
    let (schema, is_used, columns): (i64, bool, i64) = (
        super::columns::get(row, 0)?,
        super::columns::get(row, 1)?,
        super::columns::get(row, 2)?,
    );
    if columns != 3 {
        return match is_used {
            false => Ok(Found::Nothing),
            true => Err(Error::ForeignDatabase {
                path: address.to_string().into(),
            }),
        };
    }
    let told = link.batch("SELECT format, owes_scrub FROM tract_repository")?;
    let told: Vec<String> = told.into_iter().flatten().flatten().collect();
    let format = told.first().and_then(|format| format.parse().ok());
    let found: u32 = format.ok_or_else(|| super::columns::damaged("the format is missing"))?;
    let known = KNOWN;
    if found > known {
        return Err(Error::NewerDatabase { found, known });
    }
    Ok(match found < known {
        true => Found::Older,
        false => Found::Repository {
            // Half of a lock's number; the sign is nobody's.
            schema: schema as i32,
            owes_scrub: told.len() > 1,
        },
    })
}

/// Applies what is missing, all in one transaction. Whether the repository is new.
pub(super) fn migrate(link: &Link, address: &Address) -> Result<bool> {
    link.writes.set(true);
    let done = link
        .batch(&format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock({LOCK}, 0)"
        ))
        .and_then(|_| apply(link, address));
    if done.is_err() {
        let _ = link.batch("ROLLBACK");
    }
    link.writes.set(false);
    done
}

fn apply(link: &Link, address: &Address) -> Result<bool> {
    // Another process may have done it while this one waited.
    let done = match inspect(link, address)? {
        Found::Repository { .. } => {
            link.batch("ROLLBACK")?;
            return Ok(false);
        }
        Found::Nothing => 0,
        Found::Older => {
            let told = link.batch("SELECT format FROM tract_repository")?;
            let format = told.into_iter().flatten().flatten().next();
            format.and_then(|format| format.parse().ok()).unwrap_or(0)
        }
    };
    if done == 0 {
        let name = address.quoted_schema();
        let is_there = "SELECT 1 FROM pg_namespace WHERE nspname = convert_from($1, 'UTF8')::name";
        if link.query(is_there, &[&address.schema])?.is_empty() {
            link.batch(&format!("CREATE SCHEMA {name}"))?;
        }
    }
    for sql in &MIGRATIONS[done..] {
        link.batch(sql)?;
    }
    link.batch(&format!(
        "UPDATE tract_repository SET format = {KNOWN}; COMMIT"
    ))?;
    Ok(done == 0)
}
