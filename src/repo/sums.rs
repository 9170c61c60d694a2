//! What a context comes to, message by message; no body is read but of what a client says in the user's name.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::context::{Context, Entry};
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{
    BlockSum, Encoding, EntryId, HideKind, LargestEntry, PathSums, Role, Summed, TokenCount,
};
use crate::repo::counts::Counting;
use crate::repo::load::Fresh;
use crate::repo::stretches::{Outline, Stood, each_appended};
use crate::repo::{load, prompts};
use crate::store::{Facts, View};

/// How many messages are looked up at once.
const PAGE: usize = 1_024;

/// A context of which the messages are known, and their tokens.
pub(crate) fn of_context(
    view: &dyn View,
    tip: &CommitHash,
    context: &Context,
    counts: &[TokenCount],
) -> Result<Summed> {
    let placed = moved(context.entries.iter());
    let mut summing = Summing::new(view, *tip, context.hidden_entries(), context.hides, placed);
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

/// The context that an outline has, of which no list is made; none where an append has no count. Of what whole blocks of the
/// path's sums cover, no message is read.
pub(crate) fn of_outline(
    view: &dyn View,
    outline: &Outline,
    sums: Option<&PathSums>,
    encoding: Encoding,
) -> Result<Option<Summed>> {
    let ones = outline.visible_ones();
    let contents: Vec<ContentHash> = ones.iter().map(|entry| entry.content).collect();
    let rows = load::rows(view, &contents)?;
    // What a hide puts in place has no count at first.
    let counting = Counting::new(encoding);
    let mut counts = counting.fill(view, &ones, &Fresh::new())?.0.into_iter();
    let hides = HideKind::ALL.map(|kind| outline.active_hides(kind));
    let hidden = outline.entries() - outline.visible().len() as u64;
    let placed = moved(ones.into_iter());
    let facts = Facts {
        links: false,
        counts: Some(encoding),
    };
    let mut summing = Summing::new(view, outline.tip, hidden, hides, placed);
    let mut all = true;
    for stretch in outline.stretches.iter().filter(|one| one.fate.visible) {
        let first = match &stretch.what {
            Stood::One(entry) => {
                let count = counts.next().expect("each of them is counted");
                let role = rows[&entry.content].role;
                summing.add((**entry).clone(), role, count)?;
                continue;
            }
            Stood::From(first) => *first,
        };
        for part in stretch_parts(first..first + stretch.len as u64, sums) {
            let depths = match part {
                StretchPart::Summed { first, size, sum } => {
                    summing.add_block(first, size, sum);
                    continue;
                }
                StretchPart::Read(depths) => depths,
            };
            each_appended(view, &outline.tip, depths, facts, &mut |one| {
                let Some(count) = one.count.filter(|_| all) else {
                    all = false;
                    return Ok(());
                };
                let entry = Entry::new(EntryId::of(one.commit), one.content, None);
                summing.add(entry, one.role, count)
            })?;
            if !all {
                return Ok(None);
            }
        }
    }
    summing.end().map(Some)
}

/// A part of a stretch of appends.
pub(crate) enum StretchPart<'a> {
    /// Those at these depths, which are to be read.
    Read(Range<u64>),
    /// A whole block: from which depth on, how many, and what they come to.
    Summed {
        first: u64,
        size: u64,
        sum: &'a BlockSum,
    },
}

/// The appends at these depths, by the blocks that are summed up.
pub(crate) fn stretch_parts(depths: Range<u64>, sums: Option<&PathSums>) -> Vec<StretchPart<'_>> {
    let mut parts = Vec::new();
    let mut next = depths.start;
    if let Some(sums) = sums.filter(|sums| sums.size > 0) {
        let size = sums.size;
        let whole = depths.start.div_ceil(size)..depths.end / size;
        for at in whole {
            let Some(Some(sum)) = sums.blocks.get(at as usize) else {
                continue;
            };
            let first = at * size;
            if next < first {
                parts.push(StretchPart::Read(next..first));
            }
            parts.push(StretchPart::Summed { first, size, sum });
            next = first + size;
        }
    }
    if next < depths.end {
        parts.push(StretchPart::Read(next..depths.end));
    }
    parts
}

/// How many drops put any of these in their place elsewhere.
fn moved<'a>(entries: impl Iterator<Item = &'a Entry>) -> u32 {
    let placed = entries.filter(|entry| entry.placed == Some(HideKind::Drop));
    let drops: BTreeSet<_> = placed.map(|entry| entry.id.commit).collect();
    drops.len() as u32
}

/// A context while its messages are taken in, in order.
pub(crate) struct Summing<'a> {
    view: &'a dyn View,
    /// The commit of the context.
    tip: CommitHash,
    summary: Summed,
    /// At which depth the largest message was appended, where only a block says that it is.
    largest_at: Option<u64>,
    /// The newest of the user's, of which it is to be seen who says them.
    users: Vec<(Entry, TokenCount)>,
}

impl<'a> Summing<'a> {
    pub(crate) fn new(
        view: &'a dyn View,
        tip: CommitHash,
        hidden: u64,
        hides: [u32; 5],
        moves: u32,
    ) -> Self {
        Self {
            view,
            tip,
            largest_at: None,
            summary: Summed {
                hidden,
                hides,
                moves,
                ..Summed::default()
            },
            users: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, entry: Entry, role: Role, count: TokenCount) -> Result<()> {
        let largest = self.summary.largest;
        self.summary.add(entry.id, entry.content, role, count);
        if self.summary.largest != largest {
            self.largest_at = None;
        }
        if role == Role::User {
            self.users.push((entry, count));
        }
        if self.users.len() == PAGE {
            self.ask()?;
        }
        Ok(())
    }

    /// A block of appends, of which the first stands at this depth.
    fn add_block(&mut self, first: u64, size: u64, sum: &BlockSum) {
        let summary = &mut self.summary;
        let most = summary.largest.map(|largest| largest.tokens.tokens);
        if most.is_none_or(|most| sum.largest > most) {
            // Which entry it is, is looked up once it is known to be the largest of all.
            let nobody = [0; 32];
            summary.largest = Some(LargestEntry {
                entry: EntryId::of(CommitHash::from_bytes(nobody)),
                content: ContentHash::from_bytes(nobody),
                number: summary.total.messages + sum.largest_at + 1,
                tokens: TokenCount {
                    tokens: sum.largest,
                    estimated: false,
                },
            });
            self.largest_at = Some(first + sum.largest_at);
        }
        summary.total = summary.total.with(sum.total(size));
        for (tokens, more) in summary.by_role.iter_mut().zip(sum.by_role) {
            *tokens += more;
        }
        summary.injected += sum.injected;
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

    pub(crate) fn end(mut self) -> Result<Summed> {
        self.ask()?;
        let (Some(depth), Some(largest)) = (self.largest_at, &mut self.summary.largest) else {
            return Ok(self.summary);
        };
        let depths = depth..depth + 1;
        each_appended(self.view, &self.tip, depths, Facts::default(), &mut |one| {
            largest.entry = EntryId::of(one.commit);
            largest.content = one.content;
            Ok(())
        })?;
        Ok(self.summary)
    }
}
