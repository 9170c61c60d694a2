//! What a view or a transaction has foreseen is taken in.

use std::sync::Arc;

use tokio_postgres::Row;

use super::ahead::{APPENDED, LISTED, PLACE, SUMS, usual};
use super::columns::get;
use super::driver::Told;
use super::link::{asked, rows};
use super::session::Session;
use super::usual::{PARTS, newest_sum};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::Encoding;
use crate::store::codec::encoding_number;
use crate::store::lineage::Place;
use crate::store::rows::place;

impl Session<'_> {
    /// Takes in what a view has foreseen, in the order of [`of_view`](super::ahead::of_view).
    pub(super) fn took_view(&self, told: Vec<Told>) -> Result<()> {
        let mut told = told.into_iter();
        self.ahead.saw_refs(&rows(told.next()))?;
        let path = self.took_path(&rows(told.next()))?;
        let found = rows(told.next());
        for (at, row) in found.iter().enumerate() {
            let (hash, place): (CommitHash, Place) = (get(row, LISTED)?, place(row, PLACE)?);
            self.known.saw(hash, place);
            let content: Option<ContentHash> = get(row, APPENDED + 2)?;
            self.ahead.saw_commit(at, (hash, place), content);
        }
        self.ahead.saw_commits(found);
        for table in SUMS {
            let found = rows(told.next());
            if let Some((lineages, lasts)) = &path {
                let encoding = encoding_number(Encoding::default());
                let newest = newest_sum(table, PARTS, "$3");
                self.keep(asked(newest, &[lineages, lasts, &encoding])?, found);
            }
        }
        for (asked, told) in usual()?.into_iter().zip(told) {
            self.keep(asked, rows(Some(told)));
        }
        Ok(())
    }

    /// The same of [`of_writer`](super::ahead::of_writer); whether nobody else goes on behind the tip in its lineage.
    pub(super) fn took_writer(&self, told: Vec<Told>, is_ours: bool) -> Result<()> {
        let mut told = told.into_iter();
        self.ahead.saw_refs(&rows(told.next()))?;
        self.took_path(&rows(told.next()))?;
        if let Some(row) = rows(told.next()).first() {
            let (hash, place): (CommitHash, Place) = (get(row, 3)?, place(row, 0)?);
            self.known.saw(hash, place);
            if is_ours && !get::<bool>(row, 4)? {
                self.known.ends_at(place.lineage, place.depth);
            }
            self.known.saw_checkpoint(hash, get(row, 5)?);
        }
        Ok(())
    }

    fn took_path(&self, rows: &[Row]) -> Result<Option<(Vec<i64>, Vec<i64>)>> {
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let path = rows.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?)));
        let path = path.collect::<Result<Vec<(i64, i64)>>>()?;
        let parts = path.iter().copied().unzip();
        self.known.saw_path(get(row, 2)?, &Arc::new(path));
        Ok(Some(parts))
    }
}
