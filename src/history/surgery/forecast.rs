//! What drafts would change, before they are committed.

use std::collections::HashMap;

use crate::context::Entry;
use crate::error::Result;
use crate::history::append::Committed;
use crate::history::audit::{Changes, Keep, Said, unsaid};
use crate::history::call::Call;
use crate::history::chain::Foreseen;
use crate::history::change::{Difference, TouchedList, told_some};
use crate::history::load::{self, Fresh};
use crate::history::provider::ProviderSays;
use crate::history::repo::Repo;
use crate::history::surgery::Plan;
use crate::history::surgery::options::SurgeryOptions;
use crate::history::surgery::scene::{Scene, Size};
use crate::model::{Draft, Millis, Operation, TokenCount};

/// What a plan changed or, in a dry run, would change.
#[derive(Clone, Debug, Default)]
pub struct Surgery {
    /// The commits, oldest first; none in a dry run, or where nothing was to be done.
    pub commits: Vec<Committed>,
    /// The context before.
    pub before: Size,
    /// The context after.
    pub after: Size,
    /// What goes, oldest first.
    pub hidden: TouchedList,
    /// What comes back or is put in place, oldest first.
    pub shown: TouchedList,
    /// What stays with other parts or another text, oldest first.
    pub changed: TouchedList,
    /// How much of the beginning stays as it is: what a provider's prompt cache can still use.
    pub kept: Size,
    /// What the provider says of the context before.
    pub provider: ProviderSays,
}

impl Surgery {
    /// Whether there was anything to do.
    pub fn is_nothing(&self) -> bool {
        self.hidden.is_empty() && self.shown.is_empty() && self.changed.is_empty()
    }

    /// How many single parts it hid.
    pub fn parts(&self) -> usize {
        let hidden = |made: &Committed| match &made.commit.operation {
            Operation::Hide(hide) => hide.parts.len(),
            _ => 0,
        };
        self.commits.iter().map(hidden).sum()
    }

    /// How much of the context before stays as it is from the beginning on, in percent.
    pub fn kept_percent(&self) -> u64 {
        self.kept.tokens.tokens * 100 / self.before.tokens.tokens.max(1)
    }

    /// The change in tokens.
    pub fn delta(&self) -> i64 {
        self.after.tokens.tokens as i64 - self.before.tokens.tokens as i64
    }
}

impl Repo {
    /// What `drafts` would change, made at `now`, without committing them.
    ///
    /// # Errors
    ///
    /// [`Error::NotOnPath`](crate::Error::NotOnPath) and
    /// [`Error::NotRestorable`](crate::Error::NotRestorable) by the rules of the fold.
    pub fn forecast(
        &self,
        scene: &Scene,
        drafts: &[Draft],
        now: Millis,
        options: &SurgeryOptions,
    ) -> Result<Surgery> {
        Ok(self.foresee(scene, drafts, now, options)?.0)
    }

    /// Which facts nothing would say any more after a plan, where the call is on.
    ///
    /// # Errors
    ///
    /// What the plan refuses, and the store's.
    pub fn would_lose(
        &self,
        call: Call<'_>,
        plan: &dyn Plan,
        options: &SurgeryOptions,
        changes: Changes,
    ) -> Result<Keep> {
        let scene = self.scene(call.on, options.encoding, &plan.needs())?;
        let drafts = plan.drafts(self, &scene, options.encoding)?;
        let view = self.store.read()?;
        let mut chain = scene.chain();
        let drafts = drafts
            .iter()
            .map(|draft| chain.try_draft(&*view, draft, Some(call.now)));
        let drafts = drafts.collect::<Result<Vec<_>>>()?;
        let messages = drafts.iter().flat_map(|draft| &draft.messages);
        let fresh: Fresh<'_> = messages
            .map(|message| (message.hash(), &**message))
            .collect();
        let after = chain.context(&*view)?;
        let differ = Difference::between(&scene.context, after);
        let changed = differ.changed.iter().map(|(at, _)| at);
        let gone: Vec<&Entry> = differ
            .hidden
            .iter()
            .chain(changed)
            .map(|at| &scene.context.entries[*at])
            .collect();
        let said = Said::of(&load::messages_with(&*view, &after.entries, &fresh)?);
        unsaid(&*view, &gone, Vec::new(), &said, changes)
    }

    /// The same, with the last commit and its context.
    pub(super) fn foresee(
        &self,
        scene: &Scene,
        drafts: &[Draft],
        now: Millis,
        options: &SurgeryOptions,
    ) -> Result<(Surgery, Option<Foreseen>)> {
        let view = self.store.read()?;
        let mut chain = scene.chain();
        let drafts = drafts
            .iter()
            .map(|draft| chain.try_draft(&*view, draft, Some(now)));
        let drafts = drafts.collect::<Result<Vec<_>>>()?;
        let messages = drafts.iter().flat_map(|draft| &draft.messages);
        let fresh: Fresh<'_> = messages
            .map(|message| (message.hash(), &**message))
            .collect();
        let after = chain.context(&*view)?.clone();
        let differ = Difference::between(&scene.context, &after);

        // Of what stays as it is the tokens are known; what is not stored yet is counted.
        let altered = differ.changed.iter().map(|(_, at)| *at);
        let gained: Vec<usize> = differ.shown.iter().copied().chain(altered).collect();
        let counts = scene.count(&*view, chain.outline(&*view)?, &after, &gained, &fresh)?;
        let new: HashMap<usize, TokenCount> = gained.iter().copied().zip(counts).collect();
        let mut total = scene.total();
        for at in &differ.hidden {
            total.remove(scene.counts[*at]);
        }
        for (at, _) in &differ.changed {
            total.remove(scene.counts[*at]);
        }
        total.extend(new.values().copied());

        let (was, is) = (|at: usize| scene.counts[at], |at: usize| new[&at]);
        let told = |context, places: &[usize], count: &dyn Fn(usize) -> TokenCount| {
            told_some(&*view, context, places, count, options.told, &fresh)
        };
        let changed: Vec<usize> = differ.changed.iter().map(|(at, _)| *at).collect();
        let surgery = Surgery {
            commits: Vec::new(),
            before: scene.size(),
            after: Size {
                messages: after.entries.len(),
                tokens: total.count(),
            },
            hidden: told(&scene.context, &differ.hidden, &was)?,
            shown: told(&after, &differ.shown, &is)?,
            changed: told(&scene.context, &changed, &was)?,
            kept: Size::of(&scene.counts[..differ.kept]),
            provider: scene.says(&*view)?,
        };
        drop(after);
        Ok((surgery, chain.foreseen()))
    }
}
