//! The other path: what of it is not here yet, and which commits here stand for which of its own.

use std::collections::{HashMap, HashSet};

use crate::context::Order;
use crate::context::plan::carry::Counterparts;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::Operation;
use crate::model::pairs::{Links, Pairs};
use crate::repo::ancestry::{self, History};
use crate::repo::{load, path};
use crate::store::{CommitRow, View};

/// The other path, as it lies to this one.
pub(super) struct Other {
    /// Its commits that do not lead here, oldest first, each with whether all that it says is here anyhow: it, or
    /// what it is a copy of, was copied here.
    pub(super) rows: Vec<(CommitRow, bool)>,
    /// Its order before the first of them.
    pub(super) before: Order,
    /// What stands for what.
    pub(super) counterparts: Counterparts,
    /// Those of its own appends that cannot come: of a call without a result or a result without a call among
    /// them, with what is attached to these; and what was purged.
    pub(super) incomplete: HashSet<CommitHash>,
}

impl Other {
    /// The path to `theirs`, beside that to `ours`.
    pub(super) fn of(view: &dyn View, ours: &CommitHash, theirs: &CommitHash) -> Result<Self> {
        let here = History::of(view, &[*ours])?;
        let there = History::of(view, &[*theirs])?;
        let after = here.last_on(view, theirs)?;
        let mut rows = view.ancestors(theirs, after.as_ref(), usize::MAX)?;
        rows.reverse();
        let before = match &after {
            Some(after) => load::order(view, after)?,
            None => Order::default(),
        };

        // What here is a copy of something: on the path, and, of what else leads here, whatever it be.
        let shared = path::last_shared(view, ours, theirs)?;
        let own = view.ancestors(ours, shared.as_ref(), usize::MAX)?;
        let copies = ancestry::beyond(view, ours, &[*theirs])?;
        let copied: HashSet<CommitHash> = copies
            .iter()
            .filter(|row| row.commit.origin.is_some())
            .map(|row| first_origin(view, row))
            .collect::<Result<_>>()?;
        let mut stands_for = HashMap::new();
        for row in &own {
            stands_for.insert(first_origin(view, row)?, row.hash);
        }
        let origins: Vec<CommitHash> = rows
            .iter()
            .map(|row| first_origin(view, row))
            .collect::<Result<_>>()?;
        let merged = |row: &CommitRow| row.commit.merged.unwrap_or(row.hash);
        let tips: Vec<CommitHash> = rows.iter().map(merged).collect();
        let (origins_here, tips_here) = (here.holds(view, &origins)?, here.holds(view, &tips)?);
        let on_path = view.are_ancestors(&origins, ours)?;

        let mut counterparts = Counterparts::default();
        for row in own.iter().rev() {
            // A copy of what is on the other path stands for it.
            let origin = first_origin(view, row)?;
            if origin != row.hash && there.holds(view, &[origin])?[0] {
                counterparts.insert(origin, row.hash);
            }
        }
        let mut told = Vec::with_capacity(rows.len());
        for (at, row) in rows.into_iter().enumerate() {
            let origin = origins[at];
            // A summary of what is here says nothing new.
            let only_merges = row.commit.origin.is_none()
                && row.commit.merged.is_some()
                && tips_here[at]
                && is_of_a_merge(&row.commit.operation);
            if on_path[at] {
                counterparts.insert(row.hash, origin);
            } else if let Some(here) = stands_for.get(&origin) {
                counterparts.insert(row.hash, *here);
            }
            let is_here = origins_here[at] || copied.contains(&origin) || only_merges;
            told.push((row, is_here));
        }
        let incomplete = incomplete(view, &told)?;
        Ok(Self {
            rows: told,
            before,
            counterparts,
            incomplete,
        })
    }
}

/// The first of the commits of which one is a copy, as far as they are here; itself, where it is none.
fn first_origin(view: &dyn View, row: &CommitRow) -> Result<CommitHash> {
    Ok(path::origins(view, row)?.pop().unwrap_or(row.hash))
}

/// Whether it may be what a merge adds by itself: its one message, or nothing.
fn is_of_a_merge(operation: &Operation) -> bool {
    match operation {
        Operation::Append { .. } => true,
        Operation::Annotate { targets, .. } => targets.is_empty(),
        _ => false,
    }
}

/// Those of the appends that cannot come.
fn incomplete(view: &dyn View, rows: &[(CommitRow, bool)]) -> Result<HashSet<CommitHash>> {
    let appends = rows.iter().filter(|(_, is_here)| !is_here);
    let appends = appends.filter_map(|(row, _)| Some((row.hash, row.appended()?)));
    let (commits, contents): (Vec<CommitHash>, Vec<ContentHash>) = appends.unzip();
    let uses = view.tool_uses(&contents)?.into_iter();
    let links: Vec<Links> = uses
        .map(|uses| {
            let uses = uses.unwrap_or_default();
            Links {
                calls: uses.calls.into_iter().map(|call| call.id).collect(),
                results: uses.answers,
            }
        })
        .collect();
    let purged = view.purged(&contents)?;
    let listed = load::rows(view, &contents)?;
    let pairs = Pairs::new(&links);
    let mut answers = vec![0; links.len()];
    for pair in pairs.pairs() {
        answers[pair.result.0] += 1;
    }
    let mut gone = vec![false; links.len()];
    for at in 0..links.len() {
        if pairs.is_open(at) || answers[at] < links[at].results.len() || purged[at] {
            pairs.group_of(at).iter().for_each(|at| gone[*at] = true);
        }
    }
    let mut host_gone = false;
    for at in 0..links.len() {
        if listed[&contents[at]].attached {
            gone[at] |= host_gone;
        } else {
            host_gone = gone[at];
        }
    }
    let gone = commits.into_iter().zip(gone);
    Ok(gone
        .filter_map(|(commit, gone)| gone.then_some(commit))
        .collect())
}
