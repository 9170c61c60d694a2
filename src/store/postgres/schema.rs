//! The schema: recognising it, refusing it untouched, and making its tables.

use std::cmp::Ordering;

use tokio_postgres::Row;

use super::address::{Address, LOCKED};
use super::columns::{damaged, get};
use super::driver::{Asked, Told};
use super::link::{Link, asked, rows, texts};
use super::turn::LOCK;
use crate::error::{Error, Result};

/// All tables, as [`UPGRADED`] has them.
const TABLES: &str = include_str!("../../../migrations/postgres/0001_repository.sql");

/// What each format after that has beyond the one before it.
const ADDED: [&str; 3] = [
    include_str!("../../../migrations/postgres/0002_usage_details.sql"),
    include_str!("../../../migrations/postgres/0003_injected.sql"),
    include_str!("../../../migrations/postgres/0004_starters.sql"),
];

/// The format that this program reads and writes.
pub(super) const FORMAT: u32 = UPGRADED + ADDED.len() as u32;

/// The oldest that becomes [`FORMAT`] where it is opened.
const UPGRADED: u32 = 13;

/// What is in a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing, or there is no such schema.
    Nothing,
    /// A repository of this older format, which becomes the newest where it is opened.
    Older(u32),
    /// A repository.
    Repository {
        /// The schema's number.
        schema: i32,
        owes_scrub: bool,
    },
}

/// In what a schema is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    Nothing,
    Transaction,
}

/// What is in a schema. A table of this name with these columns is ours.
const LOOK: &str = "SELECT n.oid::bigint,
         EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = n.oid),
         (SELECT count(*) FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
          WHERE c.relnamespace = n.oid AND c.relname = 'tract_repository' AND c.relkind = 'r'
            AND a.attname IN ('is_only', 'format', 'collected'))
     FROM pg_namespace AS n WHERE n.nspname = convert_from($1, 'UTF8')::name";

fn is_ours(found: &[Row]) -> Result<bool> {
    let columns: Option<i64> = found.first().map(|row| get(row, 2)).transpose()?;
    Ok(columns == Some(3))
}

/// Looks at a schema.
///
/// # Errors
///
/// [`Error::ForeignDatabase`] where something else is in it, [`Error::OlderDatabase`],
/// [`Error::NewerDatabase`].
pub(super) fn inspect(link: &Link, address: &Address, within: Within) -> Result<Found> {
    Ok(inspect_along(link, address, within, Vec::new())?.0)
}

/// The same with what else is asked outside of any transaction, in the same round trip: each answer of that, or its error.
pub(super) fn inspect_along(
    link: &Link,
    address: &Address,
    within: Within,
    more: Vec<Asked>,
) -> Result<(Found, Vec<Result<Told>>)> {
    let mut along = Vec::new();
    let own = address.qualified("tract_repository");
    let own = format!("SELECT format, owes_scrub FROM {own}");
    let (rows, told) = match within {
        Within::Nothing => {
            let mut all = vec![asked(LOOK, &[&address.schema])?, Asked::Text(own)];
            all.extend(more);
            let mut both = link.each(&all)?;
            along = both.split_off(2);
            let told = both.pop();
            (rows(both.pop().transpose()?), told.transpose())
        }
        // There an error would end it.
        Within::Transaction => {
            let found = link.query(LOOK, &[&address.schema])?;
            let told = match is_ours(&found)? {
                true => link.exchange(&[Asked::Text(own)])?.pop(),
                false => None,
            };
            (found, Ok(told))
        }
    };
    Ok((judge(&rows, told, address)?, along))
}

fn judge(rows: &[Row], told: Result<Option<Told>>, address: &Address) -> Result<Found> {
    let Some(row) = rows.first() else {
        return Ok(Found::Nothing);
    };
    let (schema, is_used): (i64, bool) = (get(row, 0)?, get(row, 1)?);
    if !is_ours(rows)? {
        return if is_used {
            Err(Error::ForeignDatabase {
                path: address.to_string().into(),
            })
        } else {
            Ok(Found::Nothing)
        };
    }
    let told: Vec<String> = texts(told?).into_iter().flatten().flatten().collect();
    let format = told.first().and_then(|format| format.parse().ok());
    let found: u32 = format.ok_or_else(|| damaged("the format is missing"))?;
    let known = FORMAT;
    match found.cmp(&known) {
        Ordering::Less if found >= UPGRADED => Ok(Found::Older(found)),
        Ordering::Less => Err(Error::OlderDatabase { found, known }),
        Ordering::Greater => Err(Error::NewerDatabase { found, known }),
        Ordering::Equal => Ok(Found::Repository {
            // Half of a lock's number; the sign is nobody's.
            schema: schema as i32,
            owes_scrub: told.len() > 1,
        }),
    }
}

/// Makes the tables that are missing, all in one transaction. Whether the repository is new.
pub(super) fn make(link: &Link, address: &Address) -> Result<bool> {
    link.writes.set(true);
    let done = link
        .batch(&format!(
            "{}; SELECT pg_advisory_xact_lock({LOCK}, 0)",
            address.begin("READ COMMITTED", LOCKED)
        ))
        .and_then(|_| apply(link, address));
    if done.is_err() {
        link.roll_back();
    }
    link.writes.set(false);
    done
}

/// Brings a repository of the format before up to date.
///
/// # Errors
///
/// [`Error::AwaitsUpgrade`] where one may not.
pub(super) fn upgrade(link: &Link, address: &Address, found: u32) -> Result<()> {
    let known = FORMAT;
    match make(link, address) {
        Err(Error::ReadOnly) => Err(Error::AwaitsUpgrade { found, known }),
        made => made.map(drop),
    }
}

fn apply(link: &Link, address: &Address) -> Result<bool> {
    // Another process may have done it while this one waited.
    let found = inspect(link, address, Within::Transaction)?;
    let format = match found {
        Found::Repository { .. } => {
            link.batch("ROLLBACK")?;
            return Ok(false);
        }
        Found::Older(format) => format,
        Found::Nothing => {
            make_all(link, address)?;
            UPGRADED
        }
    };
    for added in &ADDED[(format - UPGRADED) as usize..] {
        link.batch(added)?;
    }
    link.batch("COMMIT")?;
    Ok(found == Found::Nothing)
}

fn make_all(link: &Link, address: &Address) -> Result<()> {
    let name = address.quoted_schema();
    let is_there = "SELECT 1 FROM pg_namespace WHERE nspname = convert_from($1, 'UTF8')::name";
    if link.query(is_there, &[&address.schema])?.is_empty() {
        link.batch(&format!("CREATE SCHEMA {name}"))?;
    }
    link.batch(TABLES).map(drop)
}
