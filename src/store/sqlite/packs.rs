//! Packs as they are read and written. Deliberately absent: which bodies go into one later, see [`super::repack`].

use std::sync::{Arc, OnceLock};

use rusqlite::params;

use super::codec::{damaged, number};
use super::pack::{Held, LARGE_BYTES, OpenPack, PACK_BYTES, Pack};
use super::session::Session;
use crate::error::{Error, Result};
use crate::store::columns::Columns;
use crate::store::compression::compress;

/// The first messages of a transaction stand alone: a pack of so few is not worth its row.
const FEW: u64 = 16;
/// How many packs are held at once.
const HELD: usize = 4;

impl Session<'_> {
    /// A pack by its number, sound or not.
    pub(super) fn pack(&self, id: i64) -> Result<Arc<Pack>> {
        if let Some(open) = self.open_pack.borrow().as_ref().filter(|it| it.id == id) {
            return Ok(Arc::new(Pack {
                id,
                size_bytes: open.text.len() as u64,
                data: Vec::new(),
                text: OnceLock::from(Some(open.text.clone())),
            }));
        }
        let mut held = self.store.packs.0.borrow_mut();
        if let Some(known) = held.iter().find(|known| known.id == id) {
            return Ok(Arc::clone(known));
        }
        let sql = "SELECT size_bytes, data FROM packs WHERE id = ?1";
        let found = self.first(sql, [id], |row| {
            Ok(Arc::new(Pack {
                id,
                size_bytes: row.unsigned(0)?,
                data: row.get(1)?,
                text: OnceLock::new(),
            }))
        })?;
        let found = found.ok_or_else(|| damaged(format!("pack {id} is missing")))?;
        held.truncate(HELD - 1);
        held.insert(0, Arc::clone(&found));
        Ok(found)
    }

    /// Puts a new body into the open pack; what its row says. None: it stands alone.
    pub(super) fn put_in_pack(&self, content: i64, body: &[u8]) -> Result<Option<(i64, Vec<u8>)>> {
        if body.len() >= LARGE_BYTES || self.memo.grown() < FEW {
            return Ok(None);
        }
        let fits = |open: &OpenPack| open.text.len() + body.len() <= PACK_BYTES;
        if !self.open_pack.borrow().as_ref().is_some_and(fits) {
            self.close_pack()?;
            let id = self.next_id("packs")?;
            self.open_pack.replace(Some(OpenPack::of(id, content)));
        }
        let mut open = self.open_pack.borrow_mut();
        Ok(open.as_mut().map(|open| open.add(content, body)))
    }

    /// Writes the open pack, if there is one.
    pub(super) fn close_pack(&self) -> Result<()> {
        let Some(open) = self.open_pack.take() else {
            return Ok(());
        };
        let data = compress(&open.text).ok_or_else(|| Error::store("zstd gives no frame"))?;
        self.put_pack(&open, &data)
    }

    /// Writes a pack.
    pub(super) fn put_pack(&self, pack: &OpenPack, data: &[u8]) -> Result<()> {
        self.holders.0.take();
        let size_bytes = number(pack.text.len() as u64);
        self.execute(
            "INSERT INTO sealed!(packs)",
            params![pack.id, pack.first, pack.last, size_bytes, data],
        )
    }

    /// Takes the packs apart that may hold text of any of these contents: what else is in them stands alone.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] where a body in one cannot be read: it could not be ever after.
    pub(super) fn take_packs_apart(&self, contents: &[i64]) -> Result<()> {
        self.close_pack()?;
        let mut known = self.holders.0.borrow_mut();
        let all = match &mut *known {
            Some(all) => all,
            None => known.insert(self.all("SELECT id, first, last FROM packs", [], |row| {
                Ok(Held {
                    id: row.get(0)?,
                    first: row.get(1)?,
                    last: row.get(2)?,
                })
            })?),
        };
        let holds = |held: &Held| {
            let range = held.first..=held.last;
            contents.iter().any(|content| range.contains(content))
        };
        let (apart, others): (Vec<Held>, Vec<Held>) = all.iter().partition(|held| holds(held));
        for Held { id, first, last } in apart {
            let within = format!("encoding = -{id} AND content BETWEEN {first} AND {last}");
            if self.stand_alone(&within)? > 0 {
                return Err(damaged(format!("a message in pack {id} cannot be read")));
            }
            self.execute("DELETE FROM packs WHERE id = ?1", [id])?;
        }
        *all = others;
        Ok(())
    }

    /// Deletes the packs that no body stands in.
    pub(super) fn drop_empty_packs(&self) -> Result<usize> {
        let sql =
            "DELETE FROM packs WHERE id NOT IN (SELECT -encoding FROM bodies WHERE encoding < 0)";
        self.changed(sql, [])
    }
}
