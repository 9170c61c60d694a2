//! Bodies as they are stored: each alone, or leaning on a dictionary.
//!
//! A dictionary goes where a content is erased that it may hold pieces of, and the bodies that leant on it
//! stand alone again. A damaged one is still read with: a body is held against its name anyway, and most
//! do not need the byte that is wrong; but nothing new leans on it. Deliberately absent: what a body says.

use std::borrow::Cow;
use std::sync::Arc;

use rusqlite::params;

use super::codec::{self, Row, damaged, pack};
use super::dictionary::{Dictionary, Packing};
use super::session::Session;
use crate::error::{Error, Result};
use crate::hash::ContentHash;
use crate::store::columns::Columns;
use crate::store::{PressedBody, rows};

/// From which message of a transaction on the newest dictionary is used: to make one ready takes 0.1 ms,
/// which a single commit does not get back.
const MESSAGES_WORTH_ONE: u64 = 16;
/// How many are held at once: there are two while one takes the place of another.
const HELD: usize = 4;

impl Session<'_> {
    /// How a body of this encoding is unpacked.
    pub(super) fn packing(&self, encoding: i64) -> Result<Packing> {
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

    /// The dictionary that new bodies lean on, if there is one and it is sound.
    pub(super) fn newest_dictionary(&self) -> Result<Option<Arc<Dictionary>>> {
        let known = self.newest_dictionary.borrow().clone();
        if let Some(known) = known {
            return Ok(known);
        }
        let sql = "SELECT id FROM dictionaries
             WHERE seal = sealed(id, trained, offered, size_bytes, data) ORDER BY id DESC LIMIT 1";
        let newest = self.first(sql, [], |row| self.dictionary(row.get(0)?))?;
        let newest = newest.flatten();
        self.newest_dictionary.replace(Some(newest.clone()));
        Ok(newest)
    }

    /// A body as it is stored.
    pub(super) fn pack_body<'b>(&self, bytes: &'b [u8]) -> Result<(i64, Cow<'b, [u8]>)> {
        if self.memo.grown() < MESSAGES_WORTH_ONE {
            return Ok(pack(bytes));
        }
        Ok(match self.newest_dictionary()? {
            None => pack(bytes),
            Some(with) => match with.press(bytes) {
                Some(pressed) => (with.id, pressed.into()),
                None => (codec::RAW, bytes.into()),
            },
        })
    }

    /// The same of one that was packed ahead.
    pub(super) fn packed_body<'b>(
        &self,
        bytes: &'b [u8],
        pressed: Option<PressedBody>,
    ) -> Result<(i64, Cow<'b, [u8]>)> {
        let Some(pressed) = pressed else {
            return Ok((codec::RAW, bytes.into()));
        };
        match pressed.dictionary {
            None => Ok((codec::ZSTD, pressed.bytes.into())),
            Some(id) if self.newest_dictionary()?.is_some_and(|it| it.id == id) => {
                Ok((id, pressed.bytes.into()))
            }
            // It was dropped meanwhile, and whatever leant on it.
            Some(_) => self.pack_body(bytes),
        }
    }

    /// Drops the dictionaries where the erased content, which may be any from this number on, is one that
    /// they were made of.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] where a body that leans on one cannot be read: it could not be ever
    /// after.
    pub(super) fn forget_pieces_of(&self, first: i64) -> Result<()> {
        let holds = "SELECT 1 FROM dictionaries WHERE trained >= ?1
             OR seal IS NOT sealed(id, trained, offered, size_bytes, data) LIMIT 1";
        if self.first(holds, [first], |_| Ok(()))?.is_none() {
            return Ok(());
        }
        if self.stand_alone("encoding > 1")? > 0 {
            return Err(damaged(
                "a message that leans on a dictionary cannot be read",
            ));
        }
        // Freed pages are overwritten even before the file is rewritten.
        self.first("PRAGMA secure_delete = ON", [], |row| row.get::<i64>(0))?;
        self.execute("DELETE FROM dictionaries", [])?;
        self.newest_dictionary.replace(Some(None));
        Ok(())
    }

    /// Packs the bodies for which `condition` holds without a dictionary. Those that cannot be read stay
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
