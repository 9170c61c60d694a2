//! The ways through a tree whose records each name the one before it: where one was left, and what of
//! each is new.
//!
//! Deliberately absent: what a record says, and which way is the main one.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::Result;
use crate::formats::StepId;
use crate::formats::shared::document::ObjectTeller;

/// How things stand on a way behind a record.
#[derive(Clone, Default)]
pub(in crate::formats) struct Behind<S> {
    /// The last step up to it.
    pub(in crate::formats) last: Option<StepId>,
    /// What else its format knows there.
    pub(in crate::formats) state: S,
}

/// Tells what records say.
pub(in crate::formats) trait Walker {
    /// What a record is called.
    const RECORD: &'static str;
    /// What is known on a way.
    type State: Clone + Default;

    /// Where a record stands.
    fn place(&self, at: usize) -> &Range<usize>;

    /// What the way to a leaf is called, where the source says it.
    fn name(&self, _leaf: usize) -> Option<String> {
        None
    }

    /// Tells of the next records of a way; returns how many they are, at least one.
    fn tell(
        &mut self,
        way: &[usize],
        ways: &Ways,
        behind: &mut Behind<Self::State>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<usize>;
}

/// Where the record stands that is named so at a place; that there is none is a problem.
pub(in crate::formats) fn found(
    named: Option<&str>,
    what: &str,
    by_id: &HashMap<&str, usize>,
    at: &Range<usize>,
    teller: &mut ObjectTeller<'_, '_>,
) -> Result<Option<usize>> {
    let found = named.and_then(|id| by_id.get(id)).copied();
    if let (Some(id), None) = (named, found) {
        teller.problem(at, format!("{what} {id} is not in the conversation"))?;
    }
    Ok(found)
}

/// Tells of the way to a record, or to the last leaf, then of those that leave it. Each record stands below its
/// parent.
pub(in crate::formats) fn walk<W: Walker>(
    parents: Vec<Option<usize>>,
    stands: Option<usize>,
    walker: &mut W,
    teller: &mut ObjectTeller<'_, '_>,
) -> Result<()> {
    let (mut ways, circles) = Ways::of(parents);
    for at in circles {
        let reason = format!("a {} that stands below itself", W::RECORD);
        teller.problem(walker.place(at), reason)?;
    }
    let mut behind = vec![Behind::default(); ways.parents.len()];
    let leaves = ways.leaves();
    if let Some(leaf) = stands.or(leaves.last().copied()) {
        to_leaf(&mut ways, leaf, &mut behind, walker, teller)?;
    }
    let mut number = 1;
    for leaf in leaves {
        let name = walker.name(leaf);
        let is_named = name.is_some();
        teller.branch = name.or_else(|| Some(format!("leaf-{number}")));
        to_leaf(&mut ways, leaf, &mut behind, walker, teller)?;
        let is_told = teller.branch.take().is_none();
        number += usize::from(is_told && !is_named);
    }
    Ok(())
}

/// Tells of what of the way to a leaf was not told yet.
fn to_leaf<W: Walker>(
    ways: &mut Ways,
    leaf: usize,
    behind: &mut [Behind<W::State>],
    walker: &mut W,
    teller: &mut ObjectTeller<'_, '_>,
) -> Result<()> {
    let way = ways.new_to(leaf);
    let mut rest = &way[..];
    while let [at, ..] = rest {
        let parent = ways.parents[*at];
        let mut here = parent.map_or_else(Behind::default, |at| behind[at].clone());
        let count = walker.tell(rest, ways, &mut here, teller)?;
        let (done, more) = rest.split_at(count);
        for at in done {
            behind[*at] = here.clone();
        }
        rest = more;
    }
    Ok(())
}

/// A tree by the places of its records.
pub(in crate::formats) struct Ways {
    parents: Vec<Option<usize>>,
    children: Vec<usize>,
    told: Vec<bool>,
}

impl Ways {
    /// The tree in which each record stands below its parent, and the records that stood in a circle: there
    /// the way begins anew.
    fn of(mut parents: Vec<Option<usize>>) -> (Self, Vec<usize>) {
        let mut circles = Vec::new();
        // On which walk each was met first; each is met by one walk alone.
        let mut met: Vec<Option<usize>> = vec![None; parents.len()];
        for start in 0..parents.len() {
            let mut at = start;
            while met[at].is_none() {
                met[at] = Some(start);
                let Some(parent) = parents[at] else { break };
                if met[parent] == Some(start) {
                    parents[at] = None;
                    circles.push(at);
                    break;
                }
                at = parent;
            }
        }
        let mut children = vec![0; parents.len()];
        for parent in parents.iter().flatten() {
            children[*parent] += 1;
        }
        let ways = Self {
            told: vec![false; parents.len()],
            parents,
            children,
        };
        (ways, circles)
    }

    /// How many records follow this one.
    pub(in crate::formats) fn children(&self, at: usize) -> usize {
        self.children[at]
    }

    /// The records that none follows, in their order.
    fn leaves(&self) -> Vec<usize> {
        let all = 0..self.children.len();
        all.filter(|at| self.children[*at] == 0).collect()
    }

    /// What of the way to a record was on no way yet, in its order.
    fn new_to(&mut self, leaf: usize) -> Vec<usize> {
        let mut way = Vec::new();
        let mut next = Some(leaf);
        while let Some(at) = next.filter(|at| !self.told[*at]) {
            self.told[at] = true;
            way.push(at);
            next = self.parents[at];
        }
        way.reverse();
        way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_record_is_on_one_way() {
        // 0 - 1 - 2, 1 - 3, and a way of its own.
        let (mut ways, circles) = Ways::of(vec![None, Some(0), Some(1), Some(1), None]);
        assert!(circles.is_empty());
        assert_eq!(ways.leaves(), [2, 3, 4]);
        assert_eq!(ways.new_to(3), [0, 1, 3]);
        assert_eq!(ways.new_to(2), [2]);
        assert!(ways.new_to(2).is_empty());
        assert_eq!(ways.new_to(4), [4]);
    }

    #[test]
    fn a_circle_is_cut_and_nothing_is_lost() {
        // 0 - 1 - 2 - 0, with 3 below it, and one that follows itself.
        let (mut ways, circles) = Ways::of(vec![Some(2), Some(0), Some(1), Some(1), Some(4)]);
        assert_eq!(circles, [1, 4]);
        let all: Vec<usize> = ways
            .leaves()
            .into_iter()
            .flat_map(|leaf| ways.new_to(leaf))
            .collect();
        assert_eq!(all.len(), 5, "{all:?}");
    }
}
