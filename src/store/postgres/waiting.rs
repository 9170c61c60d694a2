//! Rows that nobody is told of when they are put: they wait, and go to the server together before it is
//! asked anything that they could change, and at the end.

use std::collections::BTreeMap;

use super::link::Link;
use crate::error::Result;
use crate::model::{TokenCount, Usage};
use crate::store::codec::number;

/// How many rows wait at most.
const MOST: usize = 4_096;

/// Rows by their keys; of one that is put twice the last counts.
#[derive(Default)]
pub(super) struct Waiting {
    /// By content, encoding and mask.
    pub(super) counts: BTreeMap<(i64, i64, Vec<u8>), TokenCount>,
    /// By commit.
    pub(super) usage: BTreeMap<i64, Usage>,
    /// By commit and source.
    pub(super) records: BTreeMap<(i64, i64), Vec<u8>>,
}

impl Waiting {
    pub(super) fn are_many(&self) -> bool {
        self.counts.len() + self.usage.len() + self.records.len() >= MOST
    }

    /// Sends them.
    pub(super) fn send(self, link: &Link) -> Result<()> {
        if !self.counts.is_empty() {
            let keys = || self.counts.keys();
            let counts = || self.counts.values();
            link.query(
                "INSERT INTO counts (content, encoding, mask, tokens, estimated)
                 SELECT * FROM unnest($1, $2, $3, $4, $5) ON CONFLICT (content, encoding, mask)
                 DO UPDATE SET tokens = excluded.tokens, estimated = excluded.estimated",
                &[
                    &keys().map(|(content, ..)| *content).collect::<Vec<i64>>(),
                    &keys()
                        .map(|(_, encoding, _)| *encoding)
                        .collect::<Vec<i64>>(),
                    &keys()
                        .map(|(.., mask)| mask.as_slice())
                        .collect::<Vec<&[u8]>>(),
                    &counts()
                        .map(|count| number(count.tokens))
                        .collect::<Vec<i64>>(),
                    &counts().map(|count| count.estimated).collect::<Vec<bool>>(),
                ],
            )?;
        }
        if !self.usage.is_empty() {
            let usage = || self.usage.values();
            link.query(
                "INSERT INTO usage (commit_id, input_tokens, output_tokens)
                 SELECT * FROM unnest($1, $2, $3) ON CONFLICT (commit_id) DO UPDATE
                 SET input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens",
                &[
                    &self.usage.keys().copied().collect::<Vec<i64>>(),
                    &usage()
                        .map(|usage| number(usage.input_tokens))
                        .collect::<Vec<i64>>(),
                    &usage()
                        .map(|usage| number(usage.output_tokens))
                        .collect::<Vec<i64>>(),
                ],
            )?;
        }
        if !self.records.is_empty() {
            let keys = || self.records.keys();
            link.query(
                "INSERT INTO commit_records (commit_id, source, spans)
                 SELECT * FROM unnest($1, $2, $3) ON CONFLICT (commit_id, source)
                 DO UPDATE SET spans = excluded.spans",
                &[
                    &keys().map(|(commit, _)| *commit).collect::<Vec<i64>>(),
                    &keys().map(|(_, source)| *source).collect::<Vec<i64>>(),
                    &self
                        .records
                        .values()
                        .map(Vec::as_slice)
                        .collect::<Vec<&[u8]>>(),
                ],
            )?;
        }
        Ok(())
    }
}
