//! What a context comes to, message by message; no body is read but of what a client says in the user's name.

use std::collections::BTreeSet;

use crate::context::{Context, Entry};
use crate::error::Result;
use crate::hash::ContentHash;
use crate::model::{Encoding, EntryId, HideKind, Role, Summed, TokenCount};
use crate::repo::counts::key;
use crate::repo::stretches::{Outline, Stood, each_appended};
use crate::repo::{load, prompts};
use crate::store::{CountKey, Facts, View};

/// How many messages are looked up at once.
const PAGE: usize = 1_024;

/// A context of which the messages are known, and their tokens.
pub(crate) fn of_context(
    view: &dyn View,
    context: &Context,
    counts: &[TokenCount],
) -> Result<Summed> {
    let placed = moved(context.entries.iter());
    let mut summing = Summing::new(view, context.hidden_entries(), context.hides, placed);
    let entries: Vec<&Entry> = context.entries.iter().collect();
    for (entries, counts) in entries.chunks(PAGE).zip(counts.chunks(PAGE)) {
        let contents: Vec<ContentHash> = entries.iter().map(|entry| entry.content).collect();
        let rows = load::rows(view, &contents)?;
        for (entry, count) in entries.iter().zip(counts) {
            let role = rows[&entry.content].role;
            summing.add((*entry).clone(), role, *count)?;
        }
    }
    summing.end()
}

/// The context that an outline has, of which no list is made; none where a message has no count.
pub(crate) fn of_outline(
    view: &dyn View,
    outline: &Outline,
    encoding: Encoding,
) -> Result<Option<Summed>> {
    let ones = outline.visible_ones();
    let contents: Vec<ContentHash> = ones.iter().map(|entry| entry.content).collect();
    let rows = load::rows(view, &contents)?;
    let keys: Vec<CountKey> = ones.iter().map(|entry| key(entry)).collect();
    let mut counts = view.counts(&keys, encoding)?.into_iter();
    let hides = HideKind::ALL.map(|kind| outline.active_hides(kind));
    let hidden = outline.entries() - outline.visible().len() as u64;
    let mut summing = Summing::new(view, hidden, hides, moved(ones.into_iter()));
    let facts = Facts {
        links: false,
        counts: Some(encoding),
    };
    let mut all = true;
    for stretch in outline.stretches.iter().filter(|one| one.fate.visible) {
        match &stretch.what {
            Stood::One(entry) => match counts.next().flatten() {
                Some(count) => {
                    let role = rows[&entry.content].role;
                    summing.add((**entry).clone(), role, count)?;
                }
                None => all = false,
            },
            Stood::From(first) => {
                let depths = *first..first + stretch.len as u64;
                each_appended(view, &outline.tip, depths, facts, &mut |one| {
                    let Some(count) = one.count.filter(|_| all) else {
                        all = false;
                        return Ok(());
                    };
                    let entry = Entry::new(EntryId::of(one.commit), one.content, None);
                    summing.add(entry, one.role, count)
                })?;
            }
        }
        if !all {
            return Ok(None);
        }
    }
    summing.end().map(Some)
}

/// How many drops put any of these in their place elsewhere.
fn moved<'a>(entries: impl Iterator<Item = &'a Entry>) -> u32 {
    let placed = entries.filter(|entry| entry.placed == Some(HideKind::Drop));
    let drops: BTreeSet<_> = placed.map(|entry| entry.id.commit).collect();
    drops.len() as u32
}

/// A context while its messages are taken in, in order.
struct Summing<'a> {
    view: &'a dyn View,
    summary: Summed,
    /// The newest of the user's, of which it is to be seen who says them.
    users: Vec<(Entry, TokenCount)>,
}

impl<'a> Summing<'a> {
    fn new(view: &'a dyn View, hidden: u64, hides: [u32; 5], moves: u32) -> Self {
        Self {
            view,
            summary: Summed {
                hidden,
                hides,
                moves,
                ..Summed::default()
            },
            users: Vec::new(),
        }
    }

    fn add(&mut self, entry: Entry, role: Role, count: TokenCount) -> Result<()> {
        self.summary.add(entry.id, entry.content, role, count);
        if role == Role::User {
            self.users.push((entry, count));
        }
        if self.users.len() == PAGE {
            self.ask()?;
        }
        Ok(())
    }

    /// Adds what a client says in the user's name.
    fn ask(&mut self) -> Result<()> {
        let entries: Vec<&Entry> = self.users.iter().map(|(entry, _)| entry).collect();
        let contents: Vec<ContentHash> = entries.iter().map(|entry| entry.content).collect();
        let rows = load::rows(self.view, &contents)?;
        let injected = prompts::injected_entries(self.view, &entries, &rows)?;
        for (entry, count) in self.users.drain(..) {
            if injected.contains(&entry.id) {
                self.summary.injected += count.tokens;
            }
        }
        Ok(())
    }

    fn end(mut self) -> Result<Summed> {
        self.ask()?;
        Ok(self.summary)
    }
}
