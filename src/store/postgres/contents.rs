//! The rows of contents: which of them are here, and their numbers.

use std::collections::HashMap;

use tokio_postgres::Row;

use super::columns::{damaged, get, keys};
use super::driver::Asked;
use super::link::{asked, rows, texts};
use super::pending::Content;
use super::session::Session;
use super::turn::Turn;
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::store::columns::missing;
use crate::store::rows::Shown;

/// Those of some contents that are here.
const CONTENTS: &str = "SELECT hash, id FROM contents WHERE hash = ANY ($1)";

impl Session<'_> {
    /// The rows of contents, of which all must be here.
    pub(super) fn must_contents(&self, hashes: &[ContentHash]) -> Result<Vec<i64>> {
        let known = hashes
            .iter()
            .filter_map(|hash| Some((*hash, self.known.content(hash)?)));
        let mut known: HashMap<ContentHash, i64> = known.collect();
        let mut open: Vec<ContentHash> = hashes.to_vec();
        open.retain(|hash| !known.contains_key(hash));
        if !open.is_empty() {
            known.extend(self.look_for(&open)?);
        }
        let found = hashes.iter().map(|hash| {
            let id = known.get(hash).copied();
            id.ok_or_else(|| missing("content", hash))
        });
        found.collect()
    }

    /// Those of these contents that are here. Of many, not all may be remembered.
    fn look_for(&self, hashes: &[ContentHash]) -> Result<HashMap<ContentHash, i64>> {
        self.saw_contents(&self.query(CONTENTS, &[&keys(hashes)])?)
    }

    fn saw_contents(&self, rows: &[Row]) -> Result<HashMap<ContentHash, i64>> {
        let found = rows.iter().map(|row| {
            let (hash, id) = (get(row, 0)?, get(row, 1)?);
            self.known.saw_content(hash, id);
            Ok((hash, id))
        });
        found.collect()
    }

    /// Keeps a content's row with its body, if there is none by that name; whether there was none.
    pub(super) fn insert_content(
        &self,
        hash: &ContentHash,
        shown: Shown,
        (encoding, body): (i64, &[u8]),
    ) -> Result<bool> {
        let id = self.next_id("contents")?;
        if self.known.is_first(hash) {
            self.known.saw_content(*hash, id);
            self.put(|waiting| {
                waiting.content(Content {
                    id,
                    hash: *hash,
                    shown,
                    encoding,
                    body: body.to_vec(),
                });
            })?;
            return Ok(true);
        }
        let found = self.first_aside(
            "WITH put AS (
                 INSERT INTO contents (id, hash, role, preview, size_bytes, calls, results)
                 VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (hash) DO NOTHING RETURNING id
             ), packed AS (
                 INSERT INTO bodies (content, encoding, body) SELECT id, $8, $9 FROM put
             ), used AS (
                 INSERT INTO tool_uses (content, uses) SELECT id, $10 FROM put WHERE $10 IS NOT NULL
             )
             SELECT id FROM put UNION ALL SELECT id FROM contents WHERE hash = $2",
            &[
                &id,
                hash,
                &shown.role,
                &shown.preview,
                &shown.size_bytes,
                &shown.calls,
                &shown.results,
                &encoding,
                &body,
                &shown.uses,
            ],
            |row| get::<i64>(row, 0),
        )?;
        let found = found.ok_or_else(|| match self.turn {
            Turn::Alone => damaged("a content was neither put nor here"),
            // Somebody else has put it since this statement began.
            Turn::OnBranch | Turn::Aside => Error::overtaken("the repository"),
        })?;
        self.known.saw_content(*hash, found);
        Ok(found == id)
    }

    /// Looks for contents that are about to be put, and asks for the numbers that they need.
    pub(super) fn foresee_contents(&self, mut open: Vec<ContentHash>) -> Result<()> {
        let messages = open.len();
        open.retain(|hash| self.known.content(hash).is_none() && !self.known.is_absent(hash));
        let numbers = match self.turn {
            Turn::OnBranch => self.numbers.ahead(messages),
            Turn::Alone | Turn::Aside => None,
        };
        if open.is_empty() && numbers.is_none() {
            return Ok(());
        }
        self.send()?;
        let mut all = vec![asked(CONTENTS, &[&keys(&open)])?];
        all.extend(numbers.map(Asked::Text));
        let mut told = self.exchange(all)?.into_iter();
        let found = self.saw_contents(&rows(told.next()))?;
        if let Some(numbers) = texts(told.next()).first() {
            self.numbers.took_ahead(numbers);
        }
        open.retain(|hash| !found.contains_key(hash));
        self.known.saw_none(open);
        Ok(())
    }
}
