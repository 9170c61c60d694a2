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
        let mut all = Vec::from_iter(self.objects_asked()?);
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

    /// What puts contents, commits and counts.
    fn objects_asked(&self) -> Result<Option<Asked>> {
        if !self.has_objects() && self.counts.is_empty() {
            return Ok(None);
        }
        let counts = || self.counts.iter();
        let (contents, commits) = (&self.contents, &self.commits);
        let numbers = |of: fn(&Content) -> i64| contents.iter().map(of).collect::<Vec<i64>>();
        let bytes = |of: fn(&Content) -> &[u8]| contents.iter().map(of).collect::<Vec<&[u8]>>();
        let places = |of: fn(&Append) -> i64| commits.iter().map(of).collect::<Vec<i64>>();
        let texts = |of: fn(&Append) -> &[u8]| commits.iter().map(of).collect::<Vec<&[u8]>>();
        let used = contents
            .iter()
            .filter_map(|one| Some((one.id, one.shown.uses.as_ref()?.as_bytes())));
        let (users, uses): (Vec<i64>, Vec<&[u8]>) = used.unzip();
        let all = asked(
            "SELECT put_objects($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                 $19, $20, $21, $22, $23)",
            &[
                &numbers(|one| one.id),
                &bytes(|one| one.hash.as_bytes()),
                &numbers(|one| one.shown.role),
                &bytes(|one| one.shown.preview.as_bytes()),
                &numbers(|one| one.shown.size_bytes),
                &numbers(|one| one.shown.calls),
                &numbers(|one| one.shown.results),
                &numbers(|one| one.encoding),
                &bytes(|one| &one.body),
                &users,
                &uses,
                &places(|one| one.id),
                &texts(|one| one.hash.as_bytes()),
                &places(|one| one.lineage),
                &places(|one| one.depth),
                &places(|one| one.parent),
                &places(|one| one.content),
                &texts(|one| &one.canonical),
                &counts().map(|((content, ..), _)| *content).collect::<Vec<i64>>(),
                &counts().map(|((_, encoding, _), _)| *encoding).collect::<Vec<i64>>(),
                &counts().map(|((.., mask), _)| mask.as_slice()).collect::<Vec<&[u8]>>(),
                &counts().map(|(_, count)| number(count.tokens)).collect::<Vec<i64>>(),
                &counts().map(|(_, count)| count.estimated).collect::<Vec<bool>>(),
            ],
        );
        all.map(Some)
    }
}
