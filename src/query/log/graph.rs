//! A log along both parents: forks, and where branches met again.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{Role, Speaker};
use crate::query::log::{LogOptions, LogRow};
use crate::repo::ancestry::History;
use crate::repo::repository::Repo;

impl Repo {
    /// Lists what leads to any of `tips` by either parent, each commit before its parents: what was merged stands right behind
    /// the commit that merged it, before what that goes on from. Numbers are told of the path to the first tip alone. What
    /// selects single commits is not asked.
    ///
    /// # Errors
    ///
    /// Those of [`Repo::log`].
    pub fn log_graph(&self, tips: &[CommitHash], options: &LogOptions) -> Result<Vec<LogRow>> {
        let view = self.store.read()?;
        let mut known = History::of(&*view, options.until.as_slice())?;
        drop(view);
        let mut rows: HashMap<CommitHash, LogRow> = HashMap::new();
        let mut open: Vec<CommitHash> = tips.iter().rev().copied().collect();
        while let Some(end) = open.pop() {
            let view = self.store.read()?;
            if known.holds(&*view, &[end])?[0] {
                continue;
            }
            let until = known.last_on(&*view, &end)?;
            known.put(&*view, end)?;
            drop(view);
            let options = LogOptions {
                until,
                numbers: options.numbers && tips.first() == Some(&end),
                ..options.clone()
            };
            let found = self.log(&end, &options)?;
            open.extend(found.iter().filter_map(|row| row.commit.merged));
            rows.extend(found.into_iter().map(|row| (row.hash, row)));
        }
        let limit = if options.limit == 0 {
            usize::MAX
        } else {
            options.limit
        };
        Ok(children_first(tips, rows, limit))
    }

    /// How many of the user's messages such a log leaves out, for they are on paths that merges brought in: the path to
    /// `tip` has a message that stands for them, or none. Zero where it does not list what the user says alone.
    ///
    /// # Errors
    ///
    /// Those of [`Repo::log`].
    pub fn count_merged_prompts(&self, tip: &CommitHash, options: &LogOptions) -> Result<usize> {
        let view = self.store.read()?;
        let asks_user = options.role == Some(Speaker::Role(Role::User));
        if !(options.prompts || asks_user) || view.merges(tip)?.is_empty() {
            return Ok(0);
        }
        let path = view.ancestors(tip, None, usize::MAX)?;
        let copied: HashSet<CommitHash> = path.iter().filter_map(|row| row.commit.origin).collect();
        let mut known = History::of(&*view, options.until.as_slice())?;
        let (mut open, mut count) = (vec![*tip], 0);
        while let Some(end) = open.pop() {
            if known.holds(&*view, &[end])?[0] {
                continue;
            }
            let until = known.last_on(&*view, &end)?;
            known.put(&*view, end)?;
            let merges = view.merges(&end)?;
            open.extend(merges.iter().filter_map(|row| row.commit.merged));
            if end != *tip {
                let options = LogOptions {
                    until,
                    limit: 0,
                    numbers: false,
                    prompts: true,
                    ..options.clone()
                };
                let found = self.log(&end, &options)?;
                count += found
                    .iter()
                    .filter(|row| !copied.contains(&row.hash))
                    .count();
            }
        }
        Ok(count)
    }
}

fn children_first(
    tips: &[CommitHash],
    mut rows: HashMap<CommitHash, LogRow>,
    limit: usize,
) -> Vec<LogRow> {
    let parents = |row: &LogRow| [row.commit.parent, row.commit.merged].into_iter().flatten();
    let mut children: HashMap<CommitHash, usize> = HashMap::new();
    for parent in rows.values().flat_map(parents) {
        *children.entry(parent).or_default() += 1;
    }
    // One that leads to another comes with that.
    let ends = tips.iter().rev().filter(|tip| !children.contains_key(tip));
    let (mut told, mut open) = (Vec::new(), ends.copied().collect::<Vec<_>>());
    while let Some(next) = open.pop()
        && told.len() < limit
    {
        let Some(row) = rows.remove(&next) else {
            continue;
        };
        for parent in parents(&row) {
            let left = children.entry(parent).or_default();
            *left = left.saturating_sub(1);
            if *left == 0 {
                open.push(parent);
            }
        }
        told.push(row);
    }
    told
}
