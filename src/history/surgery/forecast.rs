//! What drafts would change, before they are committed.

use crate::context::Entry;
use crate::error::Result;
use crate::history::append::Committed;
use crate::history::change::{Change, Touched, told};
use crate::history::counts::{Counting, Counts};
use crate::history::load::Fresh;
use crate::history::provider::ProviderSays;
use crate::history::repo::Repo;
use crate::history::surgery::scene::{Scene, Size};
use crate::model::{Draft, Encoding, Millis, Operation, TokenCount};

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
    pub hidden: Vec<Touched>,
    /// What comes back or is put in place, oldest first.
    pub shown: Vec<Touched>,
    /// What stays with other parts or another text, oldest first.
    pub changed: Vec<Touched>,
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
        encoding: Encoding,
    ) -> Result<Surgery> {
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
        let after = chain.context(&*view)?;
        let change = Change::between(&scene.context, after);

        // Most are known; what isn't stored yet is counted.
        let mut known = Counts::default();
        known.add(&scene.context.entries, scene.counts.iter().copied());
        let gained: Vec<&Entry> = change.gained.iter().map(|(_, entry)| entry).collect();
        let (counts, _) = Counting::new(encoding, None).fill(&*view, &gained, &fresh)?;
        known.add(gained, counts);
        let counts: Vec<TokenCount> = after.entries.iter().map(|entry| known.get(entry)).collect();

        let kept = change.begins().unwrap_or(scene.counts.len());
        let told = |entries| told(&*view, entries, &known, &fresh);
        Ok(Surgery {
            commits: Vec::new(),
            before: scene.size(),
            after: Size::of(&counts),
            hidden: told(change.hidden())?,
            shown: told(change.shown())?,
            changed: told(change.altered())?,
            kept: Size::of(&scene.counts[..kept.min(scene.counts.len())]),
            provider: scene.says(&*view)?,
        })
    }
}
