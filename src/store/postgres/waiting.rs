//! Rows that nobody is told of when they are put: they wait, and go to the server together before it is
//! asked anything that they could change, and at the end.

use std::collections::BTreeMap;

use super::driver::Asked;
use super::link::asked;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{TokenCount, Usage};
use crate::store::codec::number;
use crate::store::rows::{Shown, USAGE};

/// How many rows wait at most, and how many bytes of bodies.
const MOST: usize = 4_096;
const MOST_BYTES: usize = 4 << 20;

/// A message that is not there yet.
pub(super) struct Content {
    pub(super) id: i64,
    pub(super) hash: ContentHash,
    pub(super) shown: Shown,
    pub(super) encoding: i64,
    pub(super) body: Vec<u8>,
}

/// The commit that appends it, behind another one on its lineage.
pub(super) struct Append {
    pub(super) id: i64,
    pub(super) hash: CommitHash,
    pub(super) lineage: i64,
    pub(super) depth: i64,
    pub(super) parent: i64,
    pub(super) content: i64,
    pub(super) canonical: Vec<u8>,
}

/// Rows by their keys; of one that is put twice the last counts.
#[derive(Default)]
pub(super) struct Waiting {
    contents: Vec<Content>,
    /// The bytes of their bodies.
    bytes: usize,
    pub(super) commits: Vec<Append>,
    /// By content, encoding and mask.
    pub(super) counts: BTreeMap<(i64, i64, Vec<u8>), TokenCount>,
    /// By commit.
    pub(super) usage: BTreeMap<i64, Usage>,
    /// By commit and source.
    pub(super) records: BTreeMap<(i64, i64), Vec<u8>>,
}

impl Waiting {
    pub(super) fn content(&mut self, content: Content) {
        self.bytes += content.body.len();
        self.contents.push(content);
    }

    /// Those that somebody else may put as well are put in one order by all, so that nobody waits in a circle.
    pub(super) fn sort(&mut self) {
        self.contents.sort_unstable_by_key(|content| content.hash);
    }

    pub(super) fn are_many(&self) -> bool {
        let rows = [
            self.contents.len(),
            self.commits.len(),
            self.counts.len(),
            self.usage.len(),
            self.records.len(),
        ];
        rows.iter().sum::<usize>() >= MOST || self.bytes >= MOST_BYTES
    }

    /// Whether messages or commits are among them.
    pub(super) fn has_objects(&self) -> bool {
        !self.contents.is_empty() || !self.commits.is_empty()
    }

    /// What puts them, each kind behind what it names.
    pub(super) fn asked(self) -> Result<Vec<Asked>> {
        let mut all = Vec::new();
        self.contents_asked(&mut all)?;
        self.commits_asked(&mut all)?;
        if !self.counts.is_empty() {
            let keys = || self.counts.keys();
            let counts = || self.counts.values();
            all.push(asked(
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
            )?);
        }
        if !self.usage.is_empty() {
            let keys: Vec<i64> = self.usage.keys().copied().collect();
            let column = |at: usize| -> Vec<i64> {
                let usage = self.usage.values();
                usage.map(|usage| number(usage.numbers()[at])).collect()
            };
            let [input, output, cached, written, hour, reasoning] = [0, 1, 2, 3, 4, 5].map(column);
            all.push(asked(
                format!(
                    "INSERT INTO usage (commit_id, {USAGE})
                     SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (commit_id)
                     DO UPDATE SET ({USAGE}) = ROW(excluded.{})",
                    USAGE.replace(", ", ", excluded."),
                ),
                &[&keys, &input, &output, &cached, &written, &hour, &reasoning],
            )?);
        }
        if !self.records.is_empty() {
            let keys = || self.records.keys();
            all.push(asked(
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
            )?);
        }
        Ok(all)
    }

    fn contents_asked(&self, all: &mut Vec<Asked>) -> Result<()> {
        if self.contents.is_empty() {
            return Ok(());
        }
        let contents = &self.contents;
        let numbers = |of: fn(&Content) -> i64| contents.iter().map(of).collect::<Vec<i64>>();
        let bytes = |of: fn(&Content) -> &[u8]| contents.iter().map(of).collect::<Vec<&[u8]>>();
        let ids = numbers(|one| one.id);
        all.push(asked(
            "INSERT INTO contents (id, hash, role, preview, size_bytes, calls, results)
             SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7)",
            &[
                &ids,
                &bytes(|one| one.hash.as_bytes()),
                &numbers(|one| one.shown.role),
                &bytes(|one| one.shown.preview.as_bytes()),
                &numbers(|one| one.shown.size_bytes),
                &numbers(|one| one.shown.calls),
                &numbers(|one| one.shown.results),
            ],
        )?);
        all.push(asked(
            "INSERT INTO bodies (content, encoding, body) SELECT * FROM unnest($1, $2, $3)",
            &[&ids, &numbers(|one| one.encoding), &bytes(|one| &one.body)],
        )?);
        let used = contents
            .iter()
            .filter_map(|one| Some((one.id, one.shown.uses.as_ref()?.as_bytes())));
        let (ids, uses): (Vec<i64>, Vec<&[u8]>) = used.unzip();
        if !ids.is_empty() {
            let sql = "INSERT INTO tool_uses (content, uses) SELECT * FROM unnest($1, $2)";
            all.push(asked(sql, &[&ids, &uses])?);
        }
        Ok(())
    }

    fn commits_asked(&self, all: &mut Vec<Asked>) -> Result<()> {
        if self.commits.is_empty() {
            return Ok(());
        }
        let numbers = |of: fn(&Append) -> i64| self.commits.iter().map(of).collect::<Vec<i64>>();
        let bytes = |of: fn(&Append) -> &[u8]| self.commits.iter().map(of).collect::<Vec<&[u8]>>();
        all.push(asked(
            "INSERT INTO commits (id, hash, lineage, depth, parent, content, canonical)
             SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7)",
            &[
                &numbers(|one| one.id),
                &bytes(|one| one.hash.as_bytes()),
                &numbers(|one| one.lineage),
                &numbers(|one| one.depth),
                &numbers(|one| one.parent),
                &numbers(|one| one.content),
                &bytes(|one| &one.canonical),
            ],
        )?);
        Ok(())
    }
}
