//! What plans look at: what changes the conversation, the visible entries, and what they count.

use crate::context::plan::PlanInput;
use crate::context::{Context, Entry};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::tokens::context_total;
use crate::model::{Author, Encoding, TokenCount, Total};
use crate::query::provider::{self, ProviderSays, Tail, TokenBudget};
use crate::repo::call::On;
use crate::repo::chain::{Chain, Foreseen};
use crate::repo::commit_rows::Making;
use crate::repo::counts::{self, Counting};
use crate::repo::load::{self, Fresh};
use crate::repo::repository::Repo;
use crate::repo::stretches::Outline;
use crate::repo::{pictures, totals};
use crate::rewrite::gather::Gather;
use crate::rewrite::needs::Needs;
use crate::store::View;

/// From how many entries on they are counted in the order of the path.
const MANY: usize = 1_024;

/// Up to how many visible entries each is told by itself.
const FEW: usize = if cfg!(test) { 6 } else { 2_048 };

/// A context in two figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Visible messages.
    pub messages: usize,
    /// Tokens, framing included.
    pub tokens: TokenCount,
}

impl Size {
    pub(crate) fn of(counts: &[TokenCount]) -> Self {
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
    /// The visible entries; none where some of them stand together.
    pub context: Context,
    /// Their tokens, in order; likewise.
    pub counts: Vec<TokenCount>,
    /// What the visible entries come to, where some of them stand together.
    together: Option<Total>,
    /// What they are counted in.
    encoding: Encoding,
    /// The newest purge that the counts know of.
    purge: Option<u64>,
    outline: Option<Outline>,
    /// Who makes what is committed here.
    signature: Option<Author>,
}

impl Scene {
    /// What the provider says there, as far as a budget asks for it.
    pub(super) fn says_for(&self, repo: &Repo, budget: TokenBudget) -> Result<ProviderSays> {
        if budget.as_counted {
            Ok(ProviderSays::Nothing)
        } else {
            self.says(&*repo.store.read()?)
        }
    }

    /// What the provider says there.
    pub(super) fn says(&self, view: &dyn View) -> Result<ProviderSays> {
        match &self.tip {
            Some(tip) => {
                let tail = match (self.together, &self.outline) {
                    (Some(total), Some(outline)) => {
                        Tail::of_outline(view, outline, total, self.encoding)?
                    }
                    _ => Tail::of(&self.context, &self.counts),
                };
                let says = provider::says_of(view, tip, &tail, self.encoding)?;
                says.with_shape(view, tip, self.encoding)
            }
            None => Ok(ProviderSays::Nothing),
        }
    }

    /// Keeps the context's total: what a hide is measured by is asked for by whoever looks next. Of a long context that
    /// which it becomes as well, so that nobody has to sum it up again.
    pub(super) fn keep_totals(&self, making: &Making<'_>, after: Total) -> Result<()> {
        let tx = making.tx;
        let Some(tip) = self.tip.filter(|_| self.total().messages > 0) else {
            return Ok(());
        };
        // Of what was purged since, the counts are others.
        if tx.last_purge()? != self.purge {
            return Ok(());
        }
        tx.put_total(&tip, self.encoding, self.total())?;
        match making.done.last() {
            Some(made) if self.is_together() => tx.put_total(&made.hash, self.encoding, after),
            _ => Ok(()),
        }
    }

    /// The same with another input.
    pub(super) fn with_input(&self, input: PlanInput) -> Self {
        Self {
            tip: self.tip,
            input,
            context: self.context.clone(),
            counts: self.counts.clone(),
            together: self.together,
            encoding: self.encoding,
            purge: self.purge,
            outline: self.outline.clone(),
            signature: self.signature.clone(),
        }
    }

    /// Whether visible entries stand together in it: then its context is not told.
    pub(super) fn is_together(&self) -> bool {
        self.together.is_some()
    }

    /// What became of each message; none in an empty repository.
    pub(super) fn outline(&self) -> Option<&Outline> {
        self.outline.as_ref()
    }

    /// What the entries are counted in.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The context's size.
    pub fn size(&self) -> Size {
        let total = self.total();
        Size {
            messages: total.messages as usize,
            tokens: total.count(),
        }
    }

    /// What the visible entries come to.
    pub(super) fn total(&self) -> Total {
        if let Some(total) = self.together {
            return total;
        }
        let mut total = Total::default();
        total.extend(self.counts.iter().copied());
        total
    }

    /// The path on from here.
    pub(super) fn chain(&self) -> Chain<'_> {
        self.chain_to(None)
    }

    /// The same where the context at a commit on it is known.
    pub(super) fn chain_to(&self, foreseen: Option<Foreseen>) -> Chain<'_> {
        Chain::outlined(
            self.tip,
            self.together.is_none().then(|| self.context.clone()),
            self.outline.as_ref(),
            foreseen,
        )
        .signed_by(self.signature.as_ref())
    }

    /// The tokens of the entries at these places of a context to which `outline` leads; `fresh` are
    /// messages that may not be stored yet. Where there are many, all are counted in the order of the
    /// path: to find each by its name costs more.
    pub(super) fn count(
        &self,
        view: &dyn View,
        outline: Option<Outline>,
        context: &Context,
        places: &[usize],
        fresh: &Fresh<'_>,
    ) -> Result<Vec<TokenCount>> {
        let entries: Vec<&Entry> = places.iter().map(|at| &context.entries[*at]).collect();
        let counting = Counting::new(self.encoding);
        let Some(outline) = outline.filter(|_| places.len() > MANY) else {
            return Ok(counting.fill(view, &entries, fresh)?.0);
        };
        let known = outline.counts(view, self.encoding)?;
        let known: Vec<Option<TokenCount>> = places.iter().map(|at| known[*at]).collect();
        let missing = entries
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none());
        let missing: Vec<&Entry> = missing.map(|(entry, _)| *entry).collect();
        let mut counted = counting.fill(view, &missing, fresh)?.0.into_iter();
        let counts = known
            .into_iter()
            .map(|known| known.or_else(|| counted.next()));
        Ok(counts.flatten().collect())
    }
}

impl Repo {
    /// What plans look at where `on` stands. Costs what is visible, what changed the conversation, and
    /// what the plan needs to know of the rest.
    pub fn scene(&self, on: &On, encoding: Encoding, needs: &Needs) -> Result<Scene> {
        let Some(tip) = self.head(on)?.commit() else {
            return Ok(Scene {
                signature: self.signature().cloned(),
                ..Scene::default()
            });
        };
        let view = self.store.read()?;
        let purge = view.last_purge()?;
        let outline = Outline::of(&*view, &tip)?.apart(&*view, &needs.named)?;
        let each = Needs {
            apart: None,
            ..needs.clone()
        };
        let gathered = Gather::of(&*view, &outline, &each, Some(encoding))?;
        let (mut input, known) = (gathered.input, gathered.counts);
        let visible = input.order.iter().map(|entry| &entry.entry);
        let visible = visible.filter(|entry| entry.visible).map(Entry::from);
        let context = outline.context_of(&*view, visible.collect())?;
        drop(view);
        let counts = counts::filled(&*self.store, &context, known, encoding)?;
        let is_estimated = pictures::are_among(&counts);
        let view = self.store.read()?;
        if let Some(by_rule) = pictures::other(&*view, &tip, encoding, is_estimated)? {
            drop(view);
            return self.scene(on, by_rule, needs);
        }
        drop(view);
        let visible = input.order.iter_mut().filter(|entry| entry.entry.visible);
        for (entry, count) in visible.zip(&counts) {
            entry.tokens = *count;
        }
        Ok(Scene {
            tip: Some(tip),
            input,
            context,
            counts,
            together: None,
            encoding,
            purge,
            outline: Some(outline),
            signature: self.signature().cloned(),
        })
    }

    /// Whether so many commits lead to where `on` stands that entries may stand together there.
    pub(super) fn is_long(&self, on: &On) -> Result<bool> {
        let Some(tip) = self.head(on)?.commit() else {
            return Ok(false);
        };
        Ok(load::commit(&*self.store.read()?, &tip)?.depth >= FEW as u64)
    }

    /// The same, where visible entries stand together, as far as the needs allow it and `is_enough` says that it is enough
    /// for the plan. Few are told one by one.
    pub(super) fn scene_together(
        &self,
        on: &On,
        encoding: Encoding,
        needs: &Needs,
        is_enough: &dyn Fn(&PlanInput) -> bool,
    ) -> Result<Scene> {
        let whole = || self.scene(on, encoding, needs);
        let (Some(apart), Some(tip)) = (needs.apart, self.head(on)?.commit()) else {
            return whole();
        };
        #[cfg(test)]
        if EACH.get() {
            return whole();
        }
        let view = self.store.read()?;
        if load::commit(&*view, &tip)?.depth < FEW as u64 {
            drop(view);
            return whole();
        }
        let purge = view.last_purge()?;
        let outline = Outline::of(&*view, &tip)?.apart(&*view, &needs.named)?;
        if outline.visible().len() < FEW && !(apart.back && outline.entries() >= FEW as u64) {
            drop(view);
            return whole();
        }
        let gathered = Gather::of(&*view, &outline, needs, None)?;
        drop(view);
        let input = gathered.input;
        let tells_task = apart.first == 0 || input.tells_task(gathered.is_typed);
        let tells_around = !apart.around || input.tells_around(&needs.named);
        if !(tells_task && tells_around && is_enough(&input)) {
            return whole();
        }
        #[cfg(test)]
        TOGETHER.set(TOGETHER.get() + 1);
        // What a hide put in place may have no count yet.
        counts::of_entries(&*self.store, &outline.visible_ones(), encoding)?;
        let total = totals::of_commit(self, &tip, encoding)?;
        let view = self.store.read()?;
        if let Some(by_rule) = pictures::other(&*view, &tip, encoding, total.estimates > 0)? {
            drop(view);
            return self.scene_together(on, by_rule, needs, is_enough);
        }
        drop(view);
        Ok(Scene {
            tip: Some(tip),
            input,
            together: Some(total),
            encoding,
            purge,
            outline: Some(outline),
            signature: self.signature().cloned(),
            ..Scene::default()
        })
    }
}

/// What plans look at at `tip`, where no more is asked for: `counts` are those of the visible entries, if
/// anybody wants them.
pub(crate) fn input(
    view: &dyn View,
    tip: &CommitHash,
    counts: &[TokenCount],
    needs: &Needs,
) -> Result<PlanInput> {
    let outline = Outline::of(view, tip)?.apart(view, &needs.named)?;
    let mut input = Gather::of(view, &outline, needs, None)?.input;
    let visible = input.order.iter_mut().filter(|entry| entry.entry.visible);
    for (entry, count) in visible.zip(counts) {
        entry.tokens = *count;
    }
    Ok(input)
}

#[cfg(test)]
thread_local! {
    /// Whether each visible entry is to be told by itself, however many there are.
    static EACH: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// How often visible entries stood together.
    pub(super) static TOGETHER: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Does something where each visible entry is told by itself.
#[cfg(test)]
pub(super) fn each_by_itself<T>(what: impl FnOnce() -> T) -> T {
    EACH.set(true);
    let done = what();
    EACH.set(false);
    done
}
