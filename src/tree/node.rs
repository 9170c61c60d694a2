//! The names of nodes, and the trail that a fold leaves on them.

/// A node of a tree: a number, given in the order in which nodes came, which it keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u64);

/// What every node that people see has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub id: NodeId,
    /// What hid it: `truncation`, `compaction`, `clear`, `drop`, `skip`.
    pub hidden: Option<&'static str>,
}

impl From<NodeId> for Node {
    fn from(id: NodeId) -> Self {
        Self { id, hidden: None }
    }
}

/// Gives names, and notes which nodes changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    /// The last name given.
    pub(super) last: NodeId,
    /// What came or changed since someone took it.
    pub(super) changed: Vec<NodeId>,
}

impl Trail {
    /// A new name.
    pub(super) fn give(&mut self) -> NodeId {
        self.last.0 += 1;
        self.touch(self.last);
        self.last
    }

    /// A node changed.
    pub(super) fn touch(&mut self, id: NodeId) {
        if self.changed.last() != Some(&id) {
            self.changed.push(id);
        }
    }
}
