//! What a plan is to be told.

use crate::context::plan::truncate::Fraction;
use crate::model::EntryId;

/// How many visible entries at an end mostly hold the task, or the newest prompt.
pub(super) const FIRST: usize = if cfg!(test) { 3 } else { 64 };

/// What a plan is to be told beyond the tool calls and results of the visible messages; each costs
/// reading. By default every entry stands by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The tool calls and results of hidden entries: for plans that reach over them.
    pub hidden_links: bool,
    /// The tokens of each tool result: for plans that take outputs out.
    pub part_tokens: bool,
    /// The parts of messages that use no tool: for plans that take single parts out.
    pub plain_parts: bool,
    /// No parts but of messages of which some are hidden: calls and results are told without a look at
    /// a body.
    pub no_parts: bool,
    /// Hidden entries that no plan tells apart may stand together
    /// ([`Together`](crate::context::plan::Together)).
    pub together: bool,
    /// The entries that stand by themselves all the same, for the plan names them.
    pub named: Vec<EntryId>,
    /// Visible entries that no plan tells apart may stand together as well, but for these. Then neither the context nor what
    /// each of them counts is told.
    pub apart: Option<Apart>,
}

/// Which visible entries stand by themselves where others stand together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Apart {
    /// As many of the first, the task among them.
    pub first: usize,
    /// As many of the last, the newest prompt among them.
    pub last: usize,
    /// Those around the border of this share of all.
    pub share: Option<Fraction>,
    /// Those around the border of this many of the last.
    pub keep: Option<usize>,
    /// Those around the ones that are named, with all calls and results that belong to these.
    pub around: bool,
    /// Whether what is hidden may come back, which may be more than what is visible.
    pub back: bool,
    /// All that a plan may have to tell apart by their roles, calls and results: it costs a look at a row of each.
    pub all: bool,
}

impl Needs {
    /// Of plans that take or leave messages whole.
    pub(crate) fn messages() -> Self {
        Self {
            no_parts: true,
            together: true,
            ..Self::default()
        }
    }

    /// The same where they reach over hidden entries.
    pub(super) fn hidden_too() -> Self {
        Self {
            hidden_links: true,
            ..Self::messages()
        }
    }

    /// What either asks for.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.named.extend(other.named);
        Self {
            hidden_links: self.hidden_links || other.hidden_links,
            part_tokens: self.part_tokens || other.part_tokens,
            plain_parts: self.plain_parts || other.plain_parts,
            no_parts: self.no_parts && other.no_parts,
            together: self.together && other.together,
            named: self.named,
            apart: None,
        }
    }
}
