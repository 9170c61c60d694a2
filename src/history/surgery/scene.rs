//! What plans look at: gathered in one fold of the path, with bodies only where a plan needs them.

use std::collections::HashSet;

use crate::context::plan::{PartLink, PlanEntry, PlanInput, PlanPart};
use crate::context::{Context, Order, OrderEntry};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::history::call::On;
use crate::history::chain::Chain;
use crate::history::load::{self, Fresh};
use crate::history::provider::{self, ProviderSays, TokenBudget};
use crate::history::repo::Repo;
use crate::model::pairs::Links;
use crate::model::tokens::{Counter, context_total};
use crate::model::{Encoding, EntryId, Part, TokenCount, Total};
use crate::store::{Tx, View};

/// What a plan is to be told beyond the tool calls and results of the visible messages; each costs
/// reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The tool calls and results of hidden entries: for plans that reach over them.
    pub hidden_links: bool,
    /// The tokens of each tool result: for plans that take outputs out.
    pub part_tokens: bool,
    /// The parts of messages that use no tool: for plans that take single parts out.
    pub plain_parts: bool,
}

impl Needs {
    /// Of plans that reach over hidden entries.
    pub(super) const HIDDEN_LINKS: Self = Self {
        hidden_links: true,
        part_tokens: false,
        plain_parts: false,
    };

    /// What either asks for.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            hidden_links: self.hidden_links || other.hidden_links,
            part_tokens: self.part_tokens || other.part_tokens,
            plain_parts: self.plain_parts || other.plain_parts,
        }
    }
}

/// A context in two figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Visible messages.
    pub messages: usize,
    /// Tokens, framing included.
    pub tokens: TokenCount,
}

impl Size {
    pub(super) fn of(counts: &[TokenCount]) -> Self {
        Self {
            messages: counts.len(),
            tokens: context_total(counts.iter().copied()),
        }
    }
}

/// What plans look at: the facts about every entry.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// Where; none in an empty repository.
    pub tip: Option<CommitHash>,
    /// The plan's input.
    pub input: PlanInput,
    /// The visible entries.
    pub context: Context,
    /// Their tokens, in order.
    pub counts: Vec<TokenCount>,
    /// What they are counted in.
    encoding: Encoding,
    /// The newest purge that the counts know of.
    purge: Option<u64>,
    order: Order,
}

impl Scene {
    /// What the provider says there, as far as a budget asks for it.
    pub(super) fn says_for(&self, repo: &Repo, budget: TokenBudget) -> Result<ProviderSays> {
        match budget.as_counted {
            true => Ok(ProviderSays::Nothing),
            false => self.says(&*repo.store.read()?),
        }
    }

    /// What the provider says there.
    pub(super) fn says(&self, view: &dyn View) -> Result<ProviderSays> {
        match &self.tip {
            Some(tip) => provider::says(view, tip, &self.context, &self.counts, self.encoding),
            None => Ok(ProviderSays::Nothing),
        }
    }

    /// From what is known at `tip` already; `counts` are those of the context.
    pub(in crate::history) fn new(
        view: &dyn View,
        tip: CommitHash,
        order: Order,
        context: Context,
        counts: Vec<TokenCount>,
        encoding: Encoding,
        needs: Needs,
    ) -> Result<Self> {
        let entries: Vec<OrderEntry> = order.entries().collect();
        let contents: Vec<ContentHash> = entries.iter().map(|entry| entry.content).collect();
        let rows = load::rows(view, &contents)?;
        let is_read = |entry: &OrderEntry| {
            let row = &rows[&entry.content];
            let uses_tools = row.calls + row.results > 0;
            match entry.visible {
                true => uses_tools || needs.plain_parts || !entry.mask.is_empty(),
                false => uses_tools && needs.hidden_links,
            }
        };
        let read: Vec<&OrderEntry> = entries.iter().filter(|entry| is_read(entry)).collect();
        let contents: Vec<ContentHash> = read.iter().map(|entry| entry.content).collect();
        let stubs = load::stubs(view, read.iter().map(|entry| &entry.mask), &Fresh::new())?;
        let read: HashSet<EntryId> = read.iter().map(|entry| entry.id).collect();
        let mut messages = load::contents(view, &contents)?.into_iter();
        let counter = needs.part_tokens.then(|| Counter::load(encoding));
        let mut seen = counts.iter();
        let mut input = PlanInput {
            order: Vec::with_capacity(entries.len()),
            edits: order.edits().collect(),
        };
        for entry in entries {
            let whole = read.contains(&entry.id).then(|| messages.next()).flatten();
            let parts = whole.iter().flat_map(|message| &message.parts);
            let parts = parts.map(|part| PlanPart {
                link: PartLink::of(part),
                tokens: match (&counter, part) {
                    (Some(counter), Part::ToolResult { .. }) => counter.part(part).tokens,
                    _ => 0,
                },
            });
            let parts = parts.collect();
            let shown = whole.map(|whole| entry.mask.apply(whole, |stub| stubs.get(stub).cloned()));
            let tokens = entry.visible.then(|| seen.next().copied()).flatten();
            input.order.push(PlanEntry {
                role: rows[&entry.content].role,
                attached: rows[&entry.content].attached,
                links: shown.as_ref().map(Links::of).unwrap_or_default(),
                tokens: tokens.unwrap_or_default(),
                parts,
                entry,
            });
        }
        Ok(Self {
            tip: Some(tip),
            input,
            context,
            counts,
            encoding,
            purge: None,
            order,
        })
    }

    /// Keeps the context's total: what a hide is measured by is asked for by whoever looks next.
    pub(super) fn keep_total(&self, tx: &dyn Tx) -> Result<()> {
        let Some(tip) = self.tip.filter(|_| !self.counts.is_empty()) else {
            return Ok(());
        };
        // Of what was purged since, the counts are others.
        if tx.last_purge()? != self.purge {
            return Ok(());
        }
        let mut total = Total::default();
        total.extend(self.counts.iter().copied());
        tx.put_total(&tip, self.encoding, total)
    }

    /// The context's size.
    pub fn size(&self) -> Size {
        Size::of(&self.counts)
    }

    /// The path on from here.
    pub(super) fn chain(&self) -> Chain<'_> {
        Chain::folded(self.tip, self.context.clone(), &self.order)
    }
}

impl Repo {
    /// What plans look at where `on` stands. Folds the whole order, so it grows with history.
    pub fn scene(&self, on: &On, encoding: Encoding, needs: Needs) -> Result<Scene> {
        let Some(tip) = self.head(on)?.commit() else {
            return Ok(Scene::default());
        };
        let purge = self.store.read()?.last_purge()?;
        let order = self.order(&tip)?;
        let context = order.context();
        let counts = self.counts(&context, encoding)?;
        let view = self.store.read()?;
        let scene = Scene::new(&*view, tip, order, context, counts, encoding, needs)?;
        Ok(Scene { purge, ..scene })
    }
}
