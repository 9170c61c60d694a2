//! Plans carried out: what a plan is made from, what it changes, and the commits that it makes.
//!
//! Deliberately absent: which messages go (that is [`crate::context::plan`]'s to say).

mod annotate;
mod clear;
mod compact;
mod drop;
mod prune;
mod restore;
mod truncate;

use std::collections::{HashMap, HashSet};

use crate::context::plan::{PartLink, PlanEntry, PlanInput, PlanPart};
use crate::context::{Context, Entry, Order};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::history::append::{Chain, CommitOptions, Committed, Expect};
use crate::history::call::{Call, On};
use crate::history::repo::Repo;
use crate::history::{counts, load};
use crate::model::pairs::Links;
use crate::model::tokens::{Counter, context_total};
use crate::model::{Draft, Encoding, EntryId, Message, Millis, Operation, Part, Role, TokenCount};
use crate::store::{CountKey, View};

pub use annotate::Annotated;
pub use compact::{Compaction, Extent, Summary};
pub use prune::{Limits, Prune};
pub use restore::{Lost, Restored, StillHidden};
pub use truncate::{Fraction, Marker, Reach, Truncate};

/// How often a plan is made anew because another process committed in between.
const ATTEMPTS: usize = 5;

/// How to carry a plan out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SurgeryOptions {
    /// What tokens are counted in.
    pub encoding: Encoding,
    /// Make no commit; say only what it would change.
    pub dry_run: bool,
}

/// What a plan is to be told beyond the visible messages; each costs reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The tool calls and results of hidden entries: for plans that reach over them.
    pub hidden_links: bool,
    /// The tokens of each tool result: for plans that take outputs out.
    pub part_tokens: bool,
}

/// What plans look at: the facts about every entry, and the messages that are visible.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// Where; none in an empty repository.
    pub tip: Option<CommitHash>,
    /// The plan's input.
    pub input: PlanInput,
    /// The visible entries.
    pub context: Context,
    /// Their messages, in order, hidden parts left out or replaced.
    pub messages: Vec<Message>,
    /// Their tokens, in order.
    pub counts: Vec<TokenCount>,
    order: Order,
}

impl Scene {
    /// The context's size.
    pub fn size(&self) -> Size {
        size(&self.counts)
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

/// A message that a plan hides, brings back or changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The entry.
    pub id: EntryId,
    /// Its number among the visible messages, from 1: before the change, or, for one that is new
    /// or comes back, after it.
    pub number: usize,
    /// Who speaks.
    pub role: Role,
    /// One line of it. Hostile until escaped.
    pub preview: String,
    /// Its tokens: before the change, or, for one that is new or comes back, after it.
    pub tokens: TokenCount,
}

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
    /// What plans look at where `on` stands. Folds the whole order, so it grows with history.
    pub fn scene(&self, on: &On, encoding: Encoding, needs: Needs) -> Result<Scene> {
        match self.head(on)?.commit() {
            Some(tip) => self.scene_at(&tip, encoding, needs),
            None => Ok(Scene::default()),
        }
    }

    /// What plans look at, at one commit.
    pub fn scene_at(&self, tip: &CommitHash, encoding: Encoding, needs: Needs) -> Result<Scene> {
        let order = self.order(tip)?;
        let counts = self.counts(&order.context(), encoding)?;
        let counter = needs.part_tokens.then(|| Counter::load(encoding));
        scene(&*self.store.read()?, *tip, order, counts, counter, needs)
    }

    /// Makes a plan where the call is on and commits its drafts as one operation, all or none. Where
    /// another process commits in between, the plan is made anew. No drafts: nothing happens.
    ///
    /// # Errors
    ///
    /// What the plan refuses, and whatever [`Repo::commit`] returns.
    pub fn operate(
        &self,
        call: Call<'_>,
        needs: Needs,
        options: &SurgeryOptions,
        mut plan: impl FnMut(&Scene) -> Result<Vec<Draft>>,
    ) -> Result<Surgery> {
        if !options.dry_run {
            self.refuse_detached(call.on)?;
        }
        let mut attempt = 1;
        loop {
            let scene = self.scene(call.on, options.encoding, needs)?;
            let drafts = plan(&scene)?;
            let mut surgery = self.forecast(&scene, &drafts, call.now, options.encoding)?;
            if options.dry_run || drafts.is_empty() {
                return Ok(surgery);
            }
            let how = CommitOptions {
                expect: Some(scene.tip.map_or(Expect::Nothing, Expect::At)),
                ..CommitOptions::default()
            };
            match self.commit(call, &drafts, &how) {
                Err(Error::RefMoved { .. }) if attempt < ATTEMPTS => attempt += 1,
                done => {
                    surgery.commits = done?;
                    return Ok(surgery);
                }
            }
        }
    }

    /// What `drafts` would change, made at `now`, without committing them.
    ///
    /// # Errors
    ///
    /// [`Error::NotOnPath`] and [`Error::NotRestorable`] by the rules of the fold.
    pub fn forecast(
        &self,
        scene: &Scene,
        drafts: &[Draft],
        now: Millis,
        encoding: Encoding,
    ) -> Result<Surgery> {
        let (mut order, mut chain) = (scene.order.clone(), scene.tip);
        let mut fresh: HashMap<ContentHash, &Message> = HashMap::new();
        for draft in drafts {
            fresh.extend(
                draft
                    .messages
                    .iter()
                    .map(|message| (message.hash(), &**message)),
            );
            let commit = Chain::at(chain).commit_of(draft, Some(now));
            let hash = commit.hash();
            order.apply(hash, &commit)?;
            chain = Some(hash);
        }
        let after = order.context();
        let view = self.store.read()?;
        let counts = counts_after(&*view, scene, &after, &fresh, encoding)?;
        let preview = |entry: &Entry| -> Result<(Role, String)> {
            if let Some(message) = fresh.get(&entry.content) {
                return Ok((message.role, crate::model::preview(message)));
            }
            let row = view.content_row(&entry.content)?;
            Ok(row.map_or((Role::User, String::new()), |row| (row.role, row.preview)))
        };
        let touched = |(at, entry): (usize, &Entry), counts: &[TokenCount]| -> Result<Touched> {
            let (role, preview) = preview(entry)?;
            Ok(Touched {
                id: entry.id,
                number: at + 1,
                role,
                preview,
                tokens: counts[at],
            })
        };
        let were: HashSet<EntryId> = scene.context.entries.iter().map(|e| e.id).collect();
        let mut surgery = Surgery {
            before: scene.size(),
            after: size(&counts),
            ..Surgery::default()
        };
        let later: HashMap<EntryId, &Entry> = after
            .entries
            .iter()
            .map(|entry| (entry.id, entry))
            .collect();
        for (at, entry) in scene.context.entries.iter().enumerate() {
            match later.get(&entry.id) {
                None => surgery.hidden.push(touched((at, entry), &scene.counts)?),
                Some(now) if now.content != entry.content || now.mask != entry.mask => {
                    surgery.changed.push(touched((at, entry), &scene.counts)?);
                }
                Some(_) => {}
            }
        }
        for (at, entry) in after.entries.iter().enumerate() {
            if !were.contains(&entry.id) {
                surgery.shown.push(touched((at, entry), &counts)?);
            }
        }
        let same = scene.context.entries.iter().zip(after.entries.iter());
        let same = same
            .take_while(|(a, b)| (a.id, a.content, &a.mask) == (b.id, b.content, &b.mask))
            .count();
        surgery.kept = size(&scene.counts[..same]);
        Ok(surgery)
    }
}

/// What plans look at, from the order at `tip` and the tokens of what is visible; `counter` counts
/// the tokens of parts.
pub(super) fn scene(
    view: &dyn View,
    tip: CommitHash,
    order: Order,
    counts: Vec<TokenCount>,
    counter: Option<Counter>,
    needs: Needs,
) -> Result<Scene> {
    let context = order.context();
    let messages = load::messages(view, &context.entries)?;
    let visible: HashMap<EntryId, usize> = context
        .entries
        .iter()
        .enumerate()
        .map(|(at, entry)| (entry.id, at))
        .collect();
    let contents: Vec<ContentHash> = order.entries().map(|entry| entry.content).collect();
    let rows: HashMap<ContentHash, _> = view
        .content_rows(&contents)?
        .into_iter()
        .flatten()
        .map(|row| (row.hash, row))
        .collect();
    let mut entries = Vec::with_capacity(contents.len());
    for entry in order.entries() {
        let row = rows.get(&entry.content).ok_or_else(|| Error::Damaged {
            detail: format!("content {:.10} is missing", entry.content),
        })?;
        let at = visible.get(&entry.id);
        let seen = match at {
            Some(at) => Some(messages[*at].clone()),
            None if needs.hidden_links && row.calls + row.results > 0 => {
                Some(load::message(view, &order_entry(&entry))?)
            }
            None => None,
        };
        let own = match &seen {
            Some(_) if !entry.mask.is_empty() => Some(load::content(view, &entry.content)?),
            Some(seen) => Some(seen.clone()),
            None => None,
        };
        let parts = own.iter().flat_map(|message| &message.parts);
        let parts = parts.map(|part| PlanPart {
            link: PartLink::of(part),
            tokens: match (&counter, part) {
                (Some(counter), Part::ToolResult { .. }) => counter.part(part).tokens,
                _ => 0,
            },
        });
        entries.push(PlanEntry {
            role: row.role,
            links: seen.as_ref().map(Links::of).unwrap_or_default(),
            tokens: at.map_or_else(TokenCount::default, |at| counts[*at]),
            parts: parts.collect(),
            entry,
        });
    }
    Ok(Scene {
        tip: Some(tip),
        input: PlanInput {
            edits: order.edits().collect(),
            order: entries,
        },
        context,
        messages,
        counts,
        order,
    })
}

fn size(counts: &[TokenCount]) -> Size {
    Size {
        messages: counts.len(),
        tokens: context_total(counts.iter().copied()),
    }
}

fn order_entry(entry: &crate::context::OrderEntry) -> Entry {
    Entry {
        id: entry.id,
        content: entry.content,
        mask: entry.mask.clone(),
        priority: entry.priority,
        placed: entry.placed.map(|(_, kind)| kind),
        edited: entry.edited,
    }
}

/// The tokens of the context after a change: most are known; what isn't stored yet is counted.
fn counts_after(
    view: &dyn View,
    scene: &Scene,
    after: &Context,
    fresh: &HashMap<ContentHash, &Message>,
    encoding: Encoding,
) -> Result<Vec<TokenCount>> {
    let before = scene.context.entries.iter().map(counts::key);
    let before: HashMap<CountKey, TokenCount> = before.zip(scene.counts.iter().copied()).collect();
    let keys: Vec<CountKey> = after.entries.iter().map(counts::key).collect();
    let stored = view.counts(&keys, encoding)?;
    let mut counter = None;
    let mut counts = Vec::with_capacity(keys.len());
    for ((entry, key), stored) in after.entries.iter().zip(&keys).zip(stored) {
        if let Some(count) = before.get(key).copied().or(stored) {
            counts.push(count);
            continue;
        }
        let find = |hash: &ContentHash| match fresh.get(hash) {
            Some(message) => Ok((*message).clone()),
            None => load::content(view, hash),
        };
        let mut stubs = HashMap::new();
        for stub in entry.mask.parts().iter().filter_map(|part| part.stub) {
            stubs.insert(stub, find(&stub)?);
        }
        let message = find(&entry.content)?;
        let message = entry.mask.apply(message, |stub| stubs.get(stub).cloned());
        let counter = counter.get_or_insert_with(|| Counter::load(encoding));
        counts.push(counter.message(&message));
    }
    Ok(counts)
}
