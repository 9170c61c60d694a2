//! A plan's input, gathered from an outline: the visible entries one by one, and of the hidden ones what
//! the plan asks for.
//!
//! Hidden entries that no plan tells apart stand together: so a plan over 200 visible messages costs what
//! those cost, and one that reaches over a million hidden ones a look at each row, and at no body.
//! Deliberately absent: the context's settings, and counting what has no count yet.

use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::ops::Range;

use crate::context::plan::{PartLink, PlanEntry, PlanInput, PlanPart, Together};
use crate::context::{Entry, OrderEntry};
use crate::error::Result;
use crate::hash::ContentHash;
use crate::model::pairs::Links;
use crate::model::tokens::Counter;
use crate::model::{Encoding, EntryId, Part, Role, Standouts, TokenCount};
use crate::repo::counts::key;
use crate::repo::load::{self, Fresh};
use crate::repo::prompts;
use crate::repo::standouts::{self, links_of};
use crate::repo::stretches::{Outline, Stood, Stretch, each_appended};
use crate::rewrite::apart::apart_places;
use crate::rewrite::cut::Cut;
use crate::rewrite::needs::Needs;
use crate::store::{Appended, Facts, View};

/// How many bodies are held at once.
const BODIES: usize = 256;
/// Entries that are so near to each other are read in one go.
const NEAR: u64 = 16;
/// How many entries are first looked at for one that is not attached.
const LOOK_BACK: u64 = 16;

/// What is asked of messages that may be cut apart.
const LINKS: Facts = Facts {
    links: true,
    counts: None,
};

/// A plan's input on its way.
pub(super) struct Gather<'a> {
    view: &'a dyn View,
    outline: &'a Outline,
    needs: &'a Needs,
    /// What visible entries are counted in, if they are.
    encoding: Option<Encoding>,
    order: Vec<PlanEntry>,
    /// Of each entry, whether it calls tools or holds results.
    uses_tools: Vec<bool>,
    /// Of each entry, its tokens, if they are known.
    counts: Vec<Option<TokenCount>>,
    /// The entries of which only the place is known.
    ones: Vec<usize>,
    /// The entries that stand together unread, and the depths of their commits.
    unread: HashMap<usize, Range<u64>>,
    /// The visible entries, by how many stand before them, that stand by themselves; none: all do.
    apart: Option<Vec<Range<usize>>>,
    /// Which appends of the path stand out, where that is known.
    standouts: Option<Standouts>,
    /// Whether a message was found that a user typed.
    is_typed: bool,
}

/// A plan's input as it was gathered.
pub(super) struct Gathered {
    pub(super) input: PlanInput,
    /// The tokens of its visible entries, as far as they are known and asked for.
    pub(super) counts: Vec<Option<TokenCount>>,
    /// Whether a message is among those that stand by themselves which a user typed.
    pub(super) is_typed: bool,
}

impl<'a> Gather<'a> {
    /// From an outline in which the entries stand apart that the needs name.
    pub(super) fn of(
        view: &'a dyn View,
        outline: &'a Outline,
        needs: &'a Needs,
        encoding: Option<Encoding>,
    ) -> Result<Gathered> {
        let mut gather = Self {
            view,
            outline,
            needs,
            encoding,
            order: Vec::new(),
            uses_tools: Vec::new(),
            counts: Vec::new(),
            ones: Vec::new(),
            unread: HashMap::new(),
            apart: needs.apart.map(|apart| apart_places(outline, needs, apart)),
            standouts: match needs.hidden_links || needs.apart.is_some_and(|apart| apart.all) {
                true => standouts::known(view, outline)?,
                false => None,
            },
            is_typed: false,
        };
        let mut before = 0;
        for stretch in &outline.stretches {
            match stretch.what {
                Stood::One(_) => gather.one(stretch),
                Stood::From(first) => {
                    let depths = first..first + stretch.len as u64;
                    let together = needs.together && !stretch.fate.visible;
                    match (together, needs.hidden_links) {
                        _ if stretch.fate.visible && gather.apart.is_some() => {
                            gather.visible(stretch, depths, before)?
                        }
                        (false, _) => gather.each(stretch, depths)?,
                        (true, true) => gather.split(stretch, depths, &[])?,
                        (true, false) => gather.whole(stretch, depths)?,
                    }
                }
            }
            before += if stretch.fate.visible { stretch.len } else { 0 };
        }
        gather.fill()?;
        gather.find_hosts()?;
        gather.find_task()?;
        gather.read_bodies()?;
        let visible = gather.order.iter().zip(gather.counts);
        let visible = visible.filter(|(entry, _)| entry.entry.visible);
        let counts = visible.map(|(_, count)| count).collect();
        let input = PlanInput {
            order: gather.order,
            edits: outline.edits.clone(),
        };
        Ok(Gathered {
            input,
            counts,
            is_typed: gather.is_typed,
        })
    }

    fn one(&mut self, stretch: &Stretch) {
        self.ones.push(self.order.len());
        self.push(stretch.fate.clone(), None, Role::User, false);
    }

    fn push(&mut self, entry: OrderEntry, run: Option<Together>, role: Role, attached: bool) {
        self.order.push(PlanEntry {
            entry,
            run,
            role,
            attached,
            injected: false,
            links: Links::default(),
            tokens: TokenCount::default(),
            parts: Vec::new(),
        });
        self.uses_tools.push(false);
        self.counts.push(None);
    }

    fn appended(&mut self, stretch: &Stretch, one: Appended) -> Result<()> {
        let entry = OrderEntry {
            id: EntryId::of(one.commit),
            content: one.content,
            ..stretch.fate.clone()
        };
        let links = if self.links_count(entry.visible) {
            links_of(self.view, &one)?
        } else {
            Links::default()
        };
        self.push(entry, None, one.role, one.attached);
        let at = self.order.len() - 1;
        self.order[at].links = links;
        self.uses_tools[at] = one.uses_tools;
        self.counts[at] = one.count;
        Ok(())
    }

    /// Whether a plan looks at the calls and results of such entries without their bodies.
    fn links_count(&self, visible: bool) -> bool {
        self.needs.no_parts && (visible || self.needs.hidden_links)
    }

    /// Each entry of a stretch by itself.
    fn each(&mut self, stretch: &Stretch, depths: Range<u64>) -> Result<()> {
        let visible = stretch.fate.visible;
        let facts = Facts {
            links: self.links_count(visible),
            counts: self.encoding.filter(|_| visible),
        };
        let (view, tip) = (self.view, self.outline.tip);
        each_appended(view, &tip, depths, facts, &mut |one| {
            self.appended(stretch, one)
        })
    }

    /// A stretch as one, of which no plan asks who speaks.
    fn whole(&mut self, stretch: &Stretch, depths: Range<u64>) -> Result<()> {
        if depths.end - depths.start == 1 {
            return self.each(stretch, depths);
        }
        self.unread.insert(self.order.len(), depths.clone());
        self.run(stretch, depths.clone(), &self.read(&ends(&depths))?);
        Ok(())
    }

    /// Entries that stand together, the first and the last of which are read.
    fn run(&mut self, stretch: &Stretch, depths: Range<u64>, read: &HashMap<u64, Appended>) {
        let (first, last) = (&read[&depths.start], &read[&(depths.end - 1)]);
        let entry = OrderEntry {
            id: EntryId::of(first.commit),
            content: first.content,
            ..stretch.fate.clone()
        };
        let run = Together {
            last: EntryId::of(last.commit),
            len: (depths.end - depths.start) as usize,
        };
        self.push(entry, Some(run), Role::Assistant, false);
    }

    /// The entries at these depths.
    fn read(&self, depths: &BTreeSet<u64>) -> Result<HashMap<u64, Appended>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for depth in depths {
            match ranges.last_mut() {
                Some(last) if depth - last.end < NEAR => last.end = depth + 1,
                _ => ranges.push(*depth..depth + 1),
            }
        }
        let mut read = HashMap::new();
        for range in ranges {
            each_appended(self.view, &self.outline.tip, range, LINKS, &mut |one| {
                if depths.contains(&one.depth) {
                    read.insert(one.depth, one);
                }
                Ok(())
            })?;
        }
        Ok(read)
    }

    /// A visible stretch, before which so many visible entries stand, in parts: by themselves those that are asked for.
    fn visible(&mut self, stretch: &Stretch, depths: Range<u64>, before: usize) -> Result<()> {
        let end = before + stretch.len;
        let places = self.apart.iter().flatten();
        let places = places.map(|one| one.start.clamp(before, end)..one.end.clamp(before, end));
        let depth = |place: usize| depths.start + (place - before) as u64;
        let apart = places.filter(|one| !one.is_empty());
        let apart: Vec<Range<u64>> = apart.map(|one| depth(one.start)..depth(one.end)).collect();
        if self.needs.apart.is_some_and(|apart| apart.all) {
            return self.split(stretch, depths, &apart);
        }
        let mut next = depths.start;
        for one in apart {
            if next < one.start {
                self.whole(stretch, next..one.start)?;
            }
            next = one.end;
            self.each(stretch, one)?;
        }
        if next < depths.end {
            self.whole(stretch, next..depths.end)?;
        }
        Ok(())
    }

    /// A stretch in parts: together what no plan tells apart, by itself what it may, and what is asked for. As far as it is known
    /// what stands out, nothing else is read.
    fn split(&mut self, stretch: &Stretch, depths: Range<u64>, apart: &[Range<u64>]) -> Result<()> {
        let known = self.standouts.as_ref();
        let known = known.filter(|known| known.covered >= depths.start + standouts::FEWEST);
        let Some(known) = known else {
            return self.split_unknown(stretch, depths, apart);
        };
        let (end, tip) = (depths.end.min(known.covered), &self.outline.tip);
        let mut alone = standouts::around(self.view, tip, &(depths.start..end), apart, known)?;
        let mut next = depths.start;
        alone.push(end..end);
        for one in alone {
            match one.start - next {
                0 => {}
                1 => self.each(stretch, next..one.start)?,
                _ => {
                    let together = next..one.start;
                    let read = self.read(&ends(&together))?;
                    self.run(stretch, together, &read);
                }
            }
            next = one.end;
            if !one.is_empty() {
                self.each(stretch, one)?;
            }
        }
        if end < depths.end {
            self.split_unknown(stretch, end..depths.end, apart)?;
        }
        Ok(())
    }

    /// The same by a look at each.
    fn split_unknown(
        &mut self,
        stretch: &Stretch,
        depths: Range<u64>,
        apart: &[Range<u64>],
    ) -> Result<()> {
        let mut cut = Cut::default();
        each_appended(
            self.view,
            &self.outline.tip,
            depths.clone(),
            LINKS,
            &mut |one| {
                let links = links_of(self.view, &one)?;
                let is_asked = || apart.iter().any(|some| some.contains(&one.depth));
                let is_special = one.role.is_system() || one.attached || is_asked();
                cut.take(one.depth, &links, is_special);
                Ok(())
            },
        )?;
        let apart = cut.apart();
        let mut pieces = Vec::new();
        let mut next = depths.start;
        for one in apart.into_iter().chain([depths.end]) {
            pieces.extend((next < one).then_some(next..one));
            pieces.extend((one < depths.end).then_some(one..one + 1));
            next = one + 1;
        }
        let mut read = self.read(&pieces.iter().flat_map(ends).collect())?;
        for piece in pieces {
            if piece.end - piece.start > 1 {
                self.run(stretch, piece, &read);
                continue;
            }
            let one = read.remove(&piece.start);
            self.appended(stretch, one.expect("it is among the wanted ones"))?;
        }
        Ok(())
    }

    /// Looks up those of which only the place is known.
    fn fill(&mut self) -> Result<()> {
        let ones = mem::take(&mut self.ones);
        let contents: Vec<ContentHash> = ones
            .iter()
            .map(|at| self.order[*at].entry.content)
            .collect();
        let rows = load::rows(self.view, &contents)?;
        let mut users = Vec::new();
        for at in &ones {
            let entry = &mut self.order[*at];
            let row = &rows[&entry.entry.content];
            (entry.role, entry.attached) = (row.role, row.attached);
            self.uses_tools[*at] = row.calls + row.results > 0;
            let counts = self.links_count(self.order[*at].entry.visible);
            if counts && self.uses_tools[*at] {
                users.push(*at);
            }
        }
        let of = |at: &usize| self.order[*at].entry.content;
        let contents: Vec<ContentHash> = users.iter().map(of).collect();
        let uses = self.view.tool_uses(&contents)?;
        for ((at, content), uses) in users.iter().zip(&contents).zip(uses) {
            self.order[*at].links = match uses {
                Some(uses) => uses.links(),
                None => Links::of(&load::content(self.view, content)?),
            };
        }
        let Some(encoding) = self.encoding else {
            return Ok(());
        };
        let visible = ones.into_iter().filter(|at| self.order[*at].entry.visible);
        let visible: Vec<usize> = visible.collect();
        let key_of = |at: &usize| key(&Entry::from(&self.order[*at].entry));
        let keys: Vec<_> = visible.iter().map(key_of).collect();
        for (at, count) in visible.iter().zip(self.view.counts(&keys, encoding)?) {
            self.counts[*at] = count;
        }
        Ok(())
    }

    /// An attachment belongs to the message before it. Where those before it stand together unread, it
    /// is seen whether any of them is a message that something can belong to.
    fn find_hosts(&mut self) -> Result<()> {
        for at in (0..self.order.len().saturating_sub(1)).rev() {
            if self.order[at + 1].attached
                && let Some(depths) = self.unread.remove(&at)
            {
                self.order[at].attached = self.all_attached(depths)?;
            }
        }
        Ok(())
    }

    /// What a client says in the user's name before the first message that the user typed is no task; where no user
    /// typed any, it may be one.
    fn find_task(&mut self) -> Result<()> {
        let places = (0..self.order.len()).filter(|at| {
            let entry = &self.order[*at];
            let is_own = entry.entry.placed.is_none() && entry.entry.visible;
            is_own && entry.role == Role::User && !entry.attached && entry.run.is_none()
        });
        let places: Vec<usize> = places.collect();
        for some in places.chunks(LOOK_BACK as usize) {
            let said = some.iter().map(|at| &self.order[*at].entry);
            let said: Vec<_> = said.map(|entry| (entry.id.commit, entry.content)).collect();
            let typed = prompts::typed_contents(self.view, &said)?;
            if let Some(first) = typed.iter().position(|typed| *typed) {
                self.is_typed = true;
                for at in places.iter().take_while(|at| **at != some[first]) {
                    self.order[*at].injected = true;
                }
                break;
            }
        }
        Ok(())
    }

    fn all_attached(&self, depths: Range<u64>) -> Result<bool> {
        let (mut end, mut page) = (depths.end, LOOK_BACK);
        while end > depths.start {
            let start = end.saturating_sub(page).max(depths.start);
            let mut all = true;
            let (tip, facts) = (&self.outline.tip, Facts::default());
            each_appended(self.view, tip, start..end, facts, &mut |one| {
                all &= one.attached;
                Ok(())
            })?;
            if !all {
                return Ok(false);
            }
            (end, page) = (start, page * 8);
        }
        Ok(true)
    }

    fn is_read(&self, at: usize) -> bool {
        let (entry, needs) = (&self.order[at], self.needs);
        let (uses_tools, masked) = (self.uses_tools[at], !entry.entry.mask.is_empty());
        let parts = uses_tools && (!needs.no_parts || masked);
        if entry.run.is_some() {
            false
        } else if entry.entry.visible {
            parts || needs.plain_parts || masked
        } else {
            parts && needs.hidden_links
        }
    }

    /// The parts of those messages whose parts a plan asks for.
    fn read_bodies(&mut self) -> Result<()> {
        let read = (0..self.order.len()).filter(|at| self.is_read(*at));
        let read: Vec<usize> = read.collect();
        let encoding = self.encoding.filter(|_| self.needs.part_tokens);
        let counter = encoding.map(Counter::of);
        for some in read.chunks(BODIES) {
            let masks = some.iter().map(|at| &self.order[*at].entry.mask);
            let stubs = load::stubs(self.view, masks, &Fresh::new())?;
            let contents = some.iter().map(|at| self.order[*at].entry.content);
            let contents: Vec<ContentHash> = contents.collect();
            for (at, whole) in some.iter().zip(load::contents(self.view, &contents)?) {
                let entry = &mut self.order[*at];
                let parts = whole.parts.iter().map(|part| PlanPart {
                    link: PartLink::of(part),
                    tokens: match (&counter, part) {
                        (Some(counter), Part::ToolResult { .. }) => counter.part(part).tokens,
                        _ => 0,
                    },
                });
                entry.parts = parts.collect();
                let mask = &entry.entry.mask;
                let shown = mask.apply(whole, |stub| stubs.get(stub).cloned());
                entry.links = Links::of(&shown);
            }
        }
        Ok(())
    }
}

fn ends(depths: &Range<u64>) -> BTreeSet<u64> {
    [depths.start, depths.end - 1].into()
}
