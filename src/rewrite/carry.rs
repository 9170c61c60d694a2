//! Operations of another path carried to this one, step by step, without storing anything on the way.
//!
//! What a commit of the other path has in its place here is told by its copy (`Commit::origin`); what both
//! paths have stands for itself. Deliberately absent: which operations are carried, and committing them.

use std::collections::{HashMap, HashSet};

use crate::context::plan::carry::{Carry, Carryover, Clash, Counterparts, Fit, Whose};
use crate::context::plan::{PartLink, PlanEntry, PlanInput, PlanPart};
use crate::context::{Order, OrderEntry};
use crate::error::{Conflict, Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::pairs::Links;
use crate::model::{Commit, EntryId, Hide, Message, Operation, Role, Sealed, TokenCount};
use crate::repo::{load, path};
use crate::store::{CommitRow, View};

/// Another path and this one, while operations of the former are carried over.
pub(crate) struct Carrier<'a> {
    view: &'a dyn View,
    there: Order,
    here: Order,
    counterparts: Counterparts,
    facts: HashMap<ContentHash, Fact>,
}

/// What a plan asks of a content.
struct Fact {
    role: Role,
    attached: bool,
    uses_tools: bool,
    /// Its parts, once somebody asked for them.
    parts: Option<Vec<PlanPart>>,
}

impl<'a> Carrier<'a> {
    /// From the other path as it is at `there` to this one as it is at `here`; none: before the first commit.
    pub(crate) fn between(
        view: &'a dyn View,
        there: Option<&CommitHash>,
        here: Option<&CommitHash>,
    ) -> Result<Self> {
        let order = |tip: Option<&CommitHash>| {
            tip.map_or_else(|| Ok(Order::default()), |tip| load::order(view, tip))
        };
        Ok(Self {
            view,
            there: order(there)?,
            here: order(here)?,
            counterparts: counterparts(view, there, here)?,
            facts: HashMap::new(),
        })
    }

    /// The same where both paths are known as they are, and what stands for what.
    pub(crate) fn of(
        view: &'a dyn View,
        there: Order,
        here: Order,
        counterparts: Counterparts,
    ) -> Self {
        Self {
            view,
            there,
            here,
            counterparts,
            facts: HashMap::new(),
        }
    }

    /// What the next commit of the other path is here, with its settings, note and author, as a copy of it;
    /// `settle` says whose change of a message holds that both paths changed, where that is known.
    ///
    /// # Errors
    ///
    /// [`Error::NotOnPath`] where the commit does not stand on the other path as it is now; the store's.
    pub(crate) fn carry(
        &mut self,
        hash: &CommitHash,
        commit: &Commit,
        settle: &dyn Fn(&Clash) -> Option<Whose>,
    ) -> Result<Carryover> {
        let mut carried = self.operation(hash, &commit.operation, settle)?;
        if let Carryover::Fits(fit) = &mut carried {
            for draft in &mut fit.drafts {
                draft.author.clone_from(&commit.author);
                draft.origin = Some(*hash);
            }
            // The last one stands for it.
            if let Some(draft) = fit.drafts.last_mut() {
                draft.settings.clone_from(&commit.settings);
                draft.note.clone_from(&commit.note);
            }
        }
        Ok(carried)
    }

    /// The same of an operation by itself.
    ///
    /// # Errors
    ///
    /// As [`Carrier::carry`].
    pub(crate) fn operation(
        &mut self,
        hash: &CommitHash,
        operation: &Operation,
        settle: &dyn Fn(&Clash) -> Option<Whose>,
    ) -> Result<Carryover> {
        let input = match operation {
            Operation::Append { .. } => PlanInput::default(),
            Operation::Edit { target, .. } if self.shows(target)? => PlanInput::default(),
            Operation::Edit { .. } => self.input(true)?,
            Operation::Hide(hide) => self.input(self.reaches_hidden(hide)?)?,
            Operation::Restore { .. } | Operation::Annotate { .. } => self.input(true)?,
        };
        let carry = Carry {
            there: &self.there,
            here: &self.here,
            input: &input,
            counterparts: &self.counterparts,
        };
        carry.operation(hash, operation, settle)
    }

    /// Whether what stands for an entry of the other path is visible here, or nothing does.
    fn shows(&self, there: &EntryId) -> Result<bool> {
        let there = self.there.entry(there)?.id;
        let here = self.stands(&there).map(|id| self.here.entry(&id));
        Ok(here.transpose()?.is_none_or(|entry| entry.visible))
    }

    /// Whether this path has an entry, and it is visible.
    pub(crate) fn shows_own(&self, id: &EntryId) -> Result<bool> {
        match self.here.entry(id) {
            Ok(entry) => Ok(entry.visible),
            Err(Error::NotOnPath { .. }) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// Whether a hide of the other path takes a message out of sight there that is hidden here.
    fn reaches_hidden(&self, hide: &Hide) -> Result<bool> {
        for id in self.there.covered(hide)? {
            if self.there.entry(&id)?.visible && !self.shows(&id)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Goes on to behind a commit of the other path.
    pub(crate) fn pass(&mut self, hash: CommitHash, commit: &Commit) -> Result<()> {
        self.there.apply(hash, commit)
    }

    /// Takes note of a message that may not be stored yet.
    pub(crate) fn know(&mut self, message: &Sealed<Message>) {
        let fact = Fact {
            role: message.role,
            attached: message.is_attached(),
            uses_tools: message.calls().chain(message.results()).next().is_some(),
            parts: Some(parts_of(message)),
        };
        self.facts.insert(message.hash(), fact);
    }

    /// Goes on to behind a commit of this path, which may stand for one of the other.
    pub(crate) fn make(&mut self, hash: CommitHash, commit: &Commit) -> Result<()> {
        self.here.apply(hash, commit)?;
        if let Some(origin) = commit.origin {
            self.counterparts.insert(origin, hash);
        }
        Ok(())
    }

    /// The entry of this path that stands for one of the other.
    pub(crate) fn stands(&self, there: &EntryId) -> Option<EntryId> {
        self.counterparts.entry(&self.here, there)
    }

    /// What plans need to know of this path as it is now; with `hidden`, of its hidden messages too.
    pub(crate) fn input(&mut self, hidden: bool) -> Result<PlanInput> {
        let entries: Vec<OrderEntry> = self.here.entries().collect();
        self.learn(&entries, hidden)?;
        let plan_entry = |entry: OrderEntry| {
            let fact = &self.facts[&entry.content];
            let parts = fact.parts.clone().unwrap_or_default();
            PlanEntry {
                run: None,
                role: fact.role,
                attached: fact.attached,
                injected: false,
                links: self.links(&entry, &parts),
                tokens: TokenCount::default(),
                parts,
                entry,
            }
        };
        Ok(PlanInput {
            order: entries.into_iter().map(plan_entry).collect(),
            edits: self.here.edits().collect(),
        })
    }

    /// The calls and results that an entry shows.
    fn links(&self, entry: &OrderEntry, parts: &[PlanPart]) -> Links {
        let mut links = Links::default();
        let mut add = |parts: &[PlanPart]| {
            for part in parts {
                match &part.link {
                    PartLink::Call { id, .. } => links.calls.push(id.clone()),
                    PartLink::Result(id) => links.results.push(id.clone()),
                    PartLink::None => {}
                }
            }
        };
        for (at, part) in parts.iter().enumerate() {
            let mut masked = entry.mask.parts().iter();
            match masked.find(|masked| masked.part as usize == at) {
                None => add(std::slice::from_ref(part)),
                Some(masked) => {
                    let stub = masked.stub.and_then(|stub| self.facts.get(&stub));
                    add(stub
                        .and_then(|stub| stub.parts.as_deref())
                        .unwrap_or_default());
                }
            }
        }
        links
    }

    /// Reads what is not known yet of these entries.
    fn learn(&mut self, entries: &[OrderEntry], hidden: bool) -> Result<()> {
        let stubs = entries.iter().flat_map(|entry| entry.mask.parts());
        let stubs: HashSet<ContentHash> = stubs.filter_map(|part| part.stub).collect();
        let named = entries.iter().map(|entry| entry.content);
        let named = named.chain(stubs.iter().copied());
        let unknown: HashSet<ContentHash> = named
            .filter(|content| !self.facts.contains_key(content))
            .collect();
        let unknown: Vec<ContentHash> = unknown.into_iter().collect();
        for (content, row) in load::rows(self.view, &unknown)? {
            let fact = Fact {
                role: row.role,
                attached: row.attached,
                uses_tools: row.calls + row.results > 0,
                parts: None,
            };
            self.facts.insert(content, fact);
        }
        let asked = entries.iter().filter(|entry| {
            let counts = hidden || entry.visible;
            counts && (self.facts[&entry.content].uses_tools || !entry.mask.is_empty())
        });
        let asked = asked.map(|entry| entry.content).chain(stubs);
        let unread: HashSet<ContentHash> = asked
            .filter(|content| self.facts[content].parts.is_none())
            .collect();
        let unread: Vec<ContentHash> = unread.into_iter().collect();
        for some in unread.chunks(BODIES) {
            for (content, body) in some.iter().zip(load::contents(self.view, some)?) {
                let fact = self.facts.get_mut(content).expect("its row was read");
                fact.parts = Some(parts_of(&body));
            }
        }
        Ok(())
    }
}

/// How many bodies are held at once.
const BODIES: usize = 256;

fn parts_of(message: &Message) -> Vec<PlanPart> {
    let part = |part| PlanPart {
        link: PartLink::of(part),
        tokens: 0,
    };
    message.parts.iter().map(part).collect()
}

/// Which commits that only the path to `here` has are copies of such of the path to `there`, or copies of the
/// same, or the other way round; of several the newest.
fn counterparts(
    view: &dyn View,
    there: Option<&CommitHash>,
    here: Option<&CommitHash>,
) -> Result<Counterparts> {
    let mut counterparts = Counterparts::default();
    let (Some(there), Some(here)) = (there, here) else {
        return Ok(counterparts);
    };
    let fork = path::last_shared(view, there, here)?;
    let own = |tip| view.ancestors(tip, fork.as_ref(), usize::MAX);
    let (theirs, ours) = (own(there)?, own(here)?);
    let has_copies = |rows: &[CommitRow]| rows.iter().any(|row| row.commit.origin.is_some());
    if !has_copies(&theirs) && !has_copies(&ours) {
        return Ok(counterparts);
    }
    let mut by_source: HashMap<CommitHash, CommitHash> = HashMap::new();
    for row in ours.iter().rev() {
        let sources = path::origins(view, row)?;
        by_source.insert(*sources.last().unwrap_or(&row.hash), row.hash);
        for (source, is_here) in sources.iter().zip(view.are_ancestors(&sources, here)?) {
            if !is_here {
                counterparts.insert(*source, row.hash);
            }
        }
    }
    for row in theirs.iter().rev() {
        let sources = path::origins(view, row)?;
        if let Some(here) = by_source.get(sources.last().unwrap_or(&row.hash)) {
            counterparts.insert(row.hash, *here);
        }
    }
    Ok(counterparts)
}

/// What a commit of another path is here; none: it is so already.
///
/// # Errors
///
/// [`Error::DoesNotFit`], [`Error::Conflicts`].
pub(crate) fn fitting(
    hash: &CommitHash,
    commit: &Commit,
    carried: Carryover,
) -> Result<Option<Fit>> {
    match carried {
        Carryover::Fits(fit) => Ok(Some(fit)),
        Carryover::Already => Ok(None),
        Carryover::Misfit(reason) => Err(Error::DoesNotFit {
            commit: hash.short(),
            what: commit.operation.verb(),
            reason,
        }),
        Carryover::Conflict(clashes) => Err(Error::Conflicts {
            conflicts: conflicts(hash, &clashes),
        }),
    }
}

/// What two paths changed differently, as an error tells it; `hash` is the operation of the other one.
pub(crate) fn conflicts(hash: &CommitHash, clashes: &[Clash]) -> Vec<Conflict> {
    let conflict = |clash: &Clash| Conflict {
        commit: hash.short(),
        message: clash.here.commit.short(),
        what: clash.kind.as_str(),
    };
    clashes.iter().map(conflict).collect()
}
