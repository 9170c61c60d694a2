//! Everybody whom a history names, met before it is written without them.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::Span;
use crate::model::secret::People;
use crate::repo::ancestry;
use crate::repo::repository::Repo;
use crate::store::{CommitRow, View};
use crate::upkeep::notes::noted;

/// How many messages are read at once.
const SOME: usize = 256;
/// How much of a session file is read at once, in bytes.
const BLOCK_BYTES: u64 = 1 << 20;
/// What is longer, in bytes, and has no line's end is read in pieces.
const LINE_BYTES: usize = 32 << 20;

impl Repo {
    /// Meets everybody whom the paths to these commits name: in messages, hidden ones too, in notes and reasons, as their
    /// authors, and in the session files behind them.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn meet_people(&self, tips: &[CommitHash], people: &mut People) -> Result<()> {
        let view = self.store.read()?;
        let view = &*view;
        let mut rows: BTreeMap<CommitHash, CommitRow> = BTreeMap::new();
        for tip in tips {
            if !rows.contains_key(tip) {
                let new = ancestry::beyond(view, tip, &[])?;
                rows.extend(new.into_iter().map(|row| (row.hash, row)));
            }
        }
        let mut rows: Vec<CommitRow> = rows.into_values().collect();
        rows.sort_by_key(|row| (row.depth, row.hash));
        for row in &rows {
            if let Some(name) = row.commit.author.as_ref().and_then(|it| it.name.as_deref()) {
                people.meet_one([name]);
            }
            noted(&row.commit).for_each(|text| people.meet(text.as_bytes()));
        }
        let named = rows.iter().flat_map(|row| row.commit.operation.contents());
        let mut known = BTreeSet::new();
        let contents: Vec<ContentHash> = named.filter(|it| known.insert(*it)).collect();
        for some in contents.chunks(SOME) {
            view.each_body(some, &mut |_, body| {
                people.meet(body.as_bytes());
                Ok(())
            })?;
        }
        let commits: Vec<CommitHash> = rows.iter().map(|row| row.hash).collect();
        for id in view.sources_behind(&commits)? {
            let Some(source) = view.source(id)? else {
                continue;
            };
            if let Some(session) = view.session(&source.session)? {
                session.cwd.iter().for_each(|cwd| people.meet_home(cwd));
                session
                    .title
                    .iter()
                    .for_each(|it| people.meet(it.as_bytes()));
            }
            meet_in_file(view, id, source.size_bytes, people)?;
        }
        Ok(())
    }
}

/// Meets everybody whom a kept file names, by whole lines.
fn meet_in_file(view: &dyn View, id: u64, size_bytes: u64, people: &mut People) -> Result<()> {
    let (mut offset, mut rest) = (0, Vec::new());
    while offset < size_bytes {
        let len = BLOCK_BYTES.min(size_bytes - offset);
        rest.extend(view.source_bytes(id, Span { offset, len })?);
        offset += len;
        let whole = memchr::memrchr(b'\n', &rest).map_or(0, |at| at + 1);
        let whole = if whole == 0 && rest.len() > LINE_BYTES {
            rest.len()
        } else {
            whole
        };
        people.meet(&rest[..whole]);
        rest.drain(..whole);
    }
    people.meet(&rest);
    Ok(())
}
