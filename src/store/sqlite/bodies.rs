//! Bodies as they are stored: each alone, in a pack, or, from an older program, leaning on a dictionary.
//!
//! A pack or a dictionary goes where a content is erased of which it may hold anything, and the other bodies in it
//! stand alone again. A damaged one is still read: a body is held against its name anyway, and most
//! do not need the byte that is wrong. Deliberately absent: what a body says.

use std::borrow::Cow;
use std::sync::Arc;

use rusqlite::params;

use super::codec::{self, Row, damaged, pack, packed};
use super::dictionary::{Dictionary, Packing};
use super::session::Session;
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::store::columns::Columns;
use crate::store::rows;

/// How many are held at once: there are two while one takes the place of another.
const HELD: usize = 4;

impl Session<'_> {
    /// How a body of this encoding is unpacked.
    pub(super) fn packing(&self, encoding: i64) -> Result<Packing> {
        if encoding < codec::RAW {
            return self.pack(encoding.saturating_neg()).map(Packing::In);
        }
        if encoding <= codec::ZSTD {
            return Ok(Packing::Alone(encoding));
        }
        let found = self.dictionary(encoding)?;
        let missing = || damaged(format!("dictionary {encoding} is missing"));
        found.map(Packing::With).ok_or_else(missing)
    }

    /// A body in two columns, its encoding and its bytes; none where it is not here.
    pub(super) fn packed(&self, row: &Row<'_>, first: usize) -> Result<Option<(Packing, Vec<u8>)>> {
        match row.get::<Option<i64>>(first)? {
            Some(encoding) => Ok(Some((self.packing(encoding)?, row.get(first + 1)?))),
            None => Ok(None),
        }
    }

    /// A dictionary by its number, sound or not.
    fn dictionary(&self, id: i64) -> Result<Option<Arc<Dictionary>>> {
        let mut held = self.store.dictionaries.borrow_mut();
        if let Some(known) = held.iter().find(|known| known.id == id) {
            return Ok(Some(known.clone()));
        }
        let sql = "SELECT data FROM dictionaries WHERE id = ?1";
        let Some(data) = self.first(sql, [id], |row| row.get(0))? else {
            return Ok(None);
        };
        held.truncate(HELD - 1);
        held.insert(0, Arc::new(Dictionary { id, data }));
        Ok(held.first().cloned())
    }

    /// A new body as it is stored; `pressed`, if that was worked out ahead.
    pub(super) fn pack_body<'b>(
        &self,
        content: i64,
        bytes: &'b [u8],
        pressed: Option<Vec<u8>>,
    ) -> Result<(i64, Cow<'b, [u8]>)> {
        if pressed.is_some() {
            return Ok(packed(bytes, pressed));
        }
        Ok(match self.put_in_pack(content, bytes)? {
            Some((encoding, place)) => (encoding, place.into()),
            None => pack(bytes),
        })
    }

    /// Takes what these contents say out of all that holds pieces of it, or cannot be read without it: packs,
    /// dictionaries, and the blocks of session files that lean on them. To be called before they are erased.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] where what else is there cannot be read: it could not be ever after.
    pub(super) fn forget_pieces_of(&self, contents: &[i64]) -> Result<()> {
        // Freed pages are overwritten even before the file is rewritten.
        self.first("PRAGMA secure_delete = ON", [], |row| row.get::<i64>(0))?;
        self.free_blocks_of(contents)?;
        self.take_packs_apart(contents)?;
        let holds = "SELECT 1 FROM dictionaries WHERE trained >= ?1
             OR seal IS NOT sealed(id, trained, offered, size_bytes, data) LIMIT 1";
        let first = contents.iter().min();
        if self.first(holds, [first], |_| Ok(()))?.is_none() {
            return Ok(());
        }
        if self.stand_alone("encoding > 1")? > 0 {
            return Err(damaged(
                "a message that leans on a dictionary cannot be read",
            ));
        }
        self.execute("DELETE FROM dictionaries", [])
    }

    /// Packs each of the bodies for which `condition` holds alone. Those that cannot be read stay
    /// as they are; gives how many.
    pub(super) fn stand_alone(&self, condition: &str) -> Result<u64> {
        let sql = format!("SELECT content FROM bodies WHERE {condition}");
        let leaning: Vec<i64> = self.all(&sql, [], |row| row.get(0))?;
        let mut unread = 0;
        for id in leaning {
            let sql = "SELECT hash, encoding, body, size_bytes
                 FROM bodies JOIN contents ON id = content WHERE content = ?1";
            let body = self.first(sql, [id], |row| {
                let hash: ContentHash = row.get(0)?;
                let packing = self.packing(row.get(1)?)?;
                let body: Vec<u8> = packing.unpack(row.get(2)?, row.unsigned(3)?)?;
                rows::canonical(&hash, &body)?;
                Ok(body)
            });
            match body {
                Ok(None) => {}
                Err(Error::Damaged { .. }) => unread += 1,
                Err(error) => return Err(error),
                Ok(Some(body)) => {
                    let (encoding, body) = pack(&body);
                    self.execute(
                        "UPDATE bodies SET encoding = ?2, body = ?3 WHERE content = ?1",
                        params![id, encoding, body.as_ref()],
                    )?;
                }
            }
        }
        Ok(unread)
    }
}
