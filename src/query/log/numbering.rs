//! Which number the messages of listed commits have among the visible ones.

use std::collections::HashMap;

use super::Headline;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::EntryId;
use crate::repo::load;
use crate::repo::stretches::Outline;
use crate::repo::totals::Sums;
use crate::store::{CommitRow, View};

/// How many rows are looked up one by one.
const LOOKED_UP: usize = if cfg!(test) { 3 } else { 64 };

/// Which number the message of each row has in the context at a tip, rows newest first.
///
/// While nothing but appends lies behind, a message that was appended has the last number that there
/// was then, and the context need not be read.
pub(crate) struct Numbering {
    tip: CommitHash,
    /// The row that nothing but appends lies behind, if it comes next.
    next: Option<CommitHash>,
    /// What few rows are looked up in.
    outline: Option<Outline>,
    /// The places of all visible messages, for many.
    places: Option<HashMap<EntryId, usize>>,
}

impl Numbering {
    pub(crate) fn at(tip: CommitHash) -> Self {
        Self {
            tip,
            next: Some(tip),
            outline: None,
            places: None,
        }
    }

    /// Those of the next rows; sums and headlines are of the same, oldest first.
    pub(super) fn of(
        &mut self,
        view: &dyn View,
        rows: &[CommitRow],
        sums: &[Sums],
        headlines: &[Headline],
    ) -> Result<Vec<Option<usize>>> {
        let facts = sums.iter().zip(headlines).rev();
        let number = |(row, (sums, headline)): (&CommitRow, (&Sums, &Headline))| {
            let is_append = row.appended().is_some();
            let is_plain = is_append && self.next == Some(row.hash);
            self.next = row.commit.parent.filter(|_| is_plain);
            let Some(entry) = headline.entry else {
                return Ok(None);
            };
            if is_plain {
                return Ok(Some(sums.at.messages as usize));
            }
            if self.places.is_none() && rows.len() <= LOOKED_UP {
                let outline = match &mut self.outline {
                    Some(outline) => outline,
                    none => none.insert(Outline::of(view, &self.tip)?),
                };
                return Ok(outline.visible_before(view, &entry)?.map(|at| at + 1));
            }
            let places = match &mut self.places {
                Some(places) => places,
                none => none.insert(load::context(view, &self.tip)?.positions()),
            };
            Ok(places.get(&entry).map(|at| at + 1))
        };
        rows.iter().zip(facts).map(number).collect()
    }
}
