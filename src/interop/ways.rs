//! The ways through a tree whose records each name the one before it: where one was left, and what of
//! each is new.
//!
//! Deliberately absent: what a record says, and which way is the main one.

/// A tree by the places of its records.
pub(super) struct Ways {
    parents: Vec<Option<usize>>,
    children: Vec<usize>,
    told: Vec<bool>,
}

impl Ways {
    /// The tree in which each record stands below its parent, and the records that stood in a circle: there
    /// the way begins anew.
    pub(super) fn of(mut parents: Vec<Option<usize>>) -> (Self, Vec<usize>) {
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

    /// The record before this one on its way.
    pub(super) fn parent(&self, at: usize) -> Option<usize> {
        self.parents[at]
    }

    /// How many records follow this one.
    pub(super) fn children(&self, at: usize) -> usize {
        self.children[at]
    }

    /// The records that none follows, in their order.
    pub(super) fn leaves(&self) -> Vec<usize> {
        let all = 0..self.children.len();
        all.filter(|at| self.children[*at] == 0).collect()
    }

    /// What of the way to a record was on no way yet, in its order.
    pub(super) fn new_to(&mut self, leaf: usize) -> Vec<usize> {
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
        assert_eq!(ways.parent(2), Some(1));
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
