//! The bodies of contents: as many at once as one answer may hold.

use std::collections::HashMap;

use tokio_postgres::Row;

use super::columns::{damaged, get, keys};
use super::driver::Asked;
use super::link::asked;
use super::session::{Session, place_of};
use crate::error::Result;
use crate::hash::ContentHash;
use crate::store::columns::Columns;
use crate::store::compression::unpack_into;
use crate::store::rows;

/// How many bytes of bodies, packed, are asked for at once.
const BODIES_BYTES: i64 = 4 << 20;
/// Contents with their bodies, those of the first so many bytes; without encoding where there is none.
const BODIES_OF: &str = "SELECT n, hash, id, size_bytes, packed_bytes, encoding,
         CASE WHEN encoding IS NOT NULL THEN (SELECT body FROM bodies WHERE content = found.id) END
     FROM (
         SELECT n, hash, contents.id, size_bytes, coalesce(length(body), 0)::bigint AS packed_bytes,
             CASE WHEN sum(length(body)) OVER (ORDER BY n) <= $2 THEN encoding END AS encoding
         FROM unnest($1) WITH ORDINALITY AS keys (key, n) JOIN contents ON hash = key
         LEFT JOIN bodies ON content = contents.id
     ) AS found ORDER BY n";
/// How many of them at most.
const BODIES: usize = 4_096;

/// The first of these bodies.
pub(super) fn bodies_asked(hashes: &[ContentHash]) -> Result<Asked> {
    asked(BODIES_OF, &[&keys(hashes), &BODIES_BYTES])
}

/// Contents that were asked for: places among them, and where their bodies are.
struct Wanted {
    at: usize,
    hash: ContentHash,
    id: i64,
    size_bytes: u64,
    packed_bytes: i64,
}

impl Session<'_> {
    /// Tells the bodies of contents, unpacked.
    pub(super) fn each_packed(
        &self,
        hashes: &[ContentHash],
        visit: &mut dyn FnMut(usize, &str) -> Result<()>,
    ) -> Result<()> {
        // They come in batches, and none is under way while one is told.
        if hashes.is_empty() {
            return Ok(());
        }
        let mut buffer = Vec::new();
        let mut wanted = Vec::new();
        // As many as fit into one answer come with it.
        for row in self.ask(bodies_asked(hashes)?)?.iter() {
            let one = Wanted {
                at: place_of(row)?,
                hash: get(row, 1)?,
                id: get(row, 2)?,
                size_bytes: row.unsigned(3)?,
                packed_bytes: get(row, 4)?,
            };
            if !wanted.is_empty() || row.is_null(5)? {
                wanted.push(one);
                continue;
            }
            let body = unpack_into(&mut buffer, row.number(5)?, row.bytes(6)?, one.size_bytes)?;
            visit(one.at, rows::canonical(&one.hash, body)?)?;
        }
        while !wanted.is_empty() {
            let mut bytes = 0;
            let fits = wanted.iter().take(BODIES).take_while(|one| {
                let fits = bytes < BODIES_BYTES;
                bytes += one.packed_bytes;
                fits
            });
            let some = fits.count();
            let some: Vec<Wanted> = wanted.drain(..some).collect();
            let ids: Vec<i64> = some.iter().map(|one| one.id).collect();
            let sql = "SELECT content, encoding, body FROM bodies WHERE content = ANY ($1)";
            let rows = self.query(sql, &[&ids])?;
            let bodies = rows.iter().map(|row| Ok((get::<i64>(row, 0)?, row)));
            let bodies: HashMap<i64, &Row> = bodies.collect::<Result<_>>()?;
            for one in some {
                let hash = &one.hash;
                let row = bodies.get(&one.id);
                let row =
                    row.ok_or_else(|| damaged(format!("content {hash}: its body is missing")))?;
                let (encoding, stored) = (row.number(1)?, row.bytes(2)?);
                let body = unpack_into(&mut buffer, encoding, stored, one.size_bytes)?;
                visit(one.at, rows::canonical(hash, body)?)?;
            }
        }
        Ok(())
    }
}
