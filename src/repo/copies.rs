//! Which of several sessions that hold one message made it: the others are copies, by a fork or a resume.
//!
//! A copy never owns what it shares: its cost, its name, its requests are the original's. A session that `resume` wrote
//! here is a copy; so is one whose records name another session here; else the one that began first is the original,
//! and of two that began at once the one that came in first. Deliberately absent: how a record names another session;
//! its format knows.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::error::Result;
use crate::interop::copied::{FRONT_BYTES, FirstRecords};
use crate::model::{Millis, RefName, Span};
use crate::repo::kept::format_of;
use crate::store::{OriginRow, Tx, View};

/// How many forks of forks are told apart.
const FORKS: usize = 16;

/// How a session lies to others that share messages with it: an original is less than its copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// How many sessions it is a copy of, one of the other: those that its records name, and the one that was resumed.
    copies: usize,
    is_written: bool,
    began: Millis,
    source: u64,
}

/// What a session's first records say.
#[derive(Clone, Debug, Default)]
struct Front {
    began: Option<Millis>,
    forked_from: Option<RefName>,
    source: u64,
}

/// Tells originals from copies; what it has found out of a session is kept.
pub(crate) struct Copies<'v> {
    view: &'v dyn View,
    ranks: RefCell<HashMap<RefName, Rank>>,
    parents: RefCell<HashMap<RefName, Vec<RefName>>>,
}

impl<'v> Copies<'v> {
    pub(crate) fn of(view: &'v dyn View) -> Self {
        Self {
            view,
            ranks: RefCell::default(),
            parents: RefCell::default(),
        }
    }

    /// Whether one session made what both hold.
    pub(crate) fn is_older(&self, one: &RefName, other: &RefName) -> Result<bool> {
        Ok(self.rank(one)? < self.rank(other)?)
    }

    /// Puts originals before their copies.
    pub(crate) fn sort(&self, sessions: &mut Vec<RefName>) -> Result<()> {
        let mut ranked = Vec::with_capacity(sessions.len());
        for name in sessions.drain(..) {
            ranked.push((self.rank(&name)?, name));
        }
        ranked.sort();
        sessions.extend(ranked.into_iter().map(|(_, name)| name));
        Ok(())
    }

    fn rank(&self, name: &RefName) -> Result<Rank> {
        if let Some(known) = self.ranks.borrow().get(name) {
            return Ok(*known);
        }
        let front = self.front(name)?;
        let is_written = is_written(self.view, name)?;
        let parents = self.parents(name)?;
        // What was forked off a resumed session began with what that one made.
        let mut is_resumed = is_written;
        for parent in &parents {
            is_resumed |= self::is_written(self.view, parent)?;
        }
        let rank = Rank {
            copies: parents.len() + usize::from(is_resumed),
            is_written,
            began: front.began.unwrap_or(Millis(i64::MAX)),
            source: front.source,
        };
        self.ranks.borrow_mut().insert(name.clone(), rank);
        Ok(rank)
    }

    /// Whether one of two sessions says that it began as a copy of the other, or of a copy of that.
    pub(crate) fn are_kin(&self, one: &RefName, other: &RefName) -> Result<bool> {
        let (one, other) = (root(one), root(other));
        Ok(self.parents(&one)?.contains(&other) || self.parents(&other)?.contains(&one))
    }

    /// The sessions here of which one is a copy, each of the next.
    pub(crate) fn parents(&self, name: &RefName) -> Result<Vec<RefName>> {
        if let Some(known) = self.parents.borrow().get(name) {
            return Ok(known.clone());
        }
        let mut parents: Vec<RefName> = Vec::new();
        let mut next = self.front(name)?.forked_from;
        while let Some(parent) = next.filter(|it| it != name && !parents.contains(it)) {
            let front = self.front(&parent)?;
            if front.source == 0 || parents.len() == FORKS {
                break;
            }
            parents.push(parent);
            next = front.forked_from;
        }
        let kept = parents.clone();
        self.parents.borrow_mut().insert(name.clone(), kept);
        Ok(parents)
    }

    /// What the first file of a session begins with; of what stands below one without a file of its own, that one's.
    fn front(&self, name: &RefName) -> Result<Front> {
        let own = self.view.sources(name)?.pop();
        let above = root(name);
        let row = match own {
            None if above != *name => self.view.sources(&above)?.pop(),
            own => own,
        };
        let Some(row) = row else {
            let told = self.view.origin(&above)?;
            return Ok(told.map_or_else(Front::default, |told| Front {
                began: told.began,
                forked_from: told.copied_from,
                source: told.source.unwrap_or(u64::MAX),
            }));
        };
        let mut front = Front {
            source: row.id,
            ..Front::default()
        };
        let (Some(format), Some((tool, _))) = (format_of(self.view, row.id)?, name.as_session())
        else {
            return Ok(front);
        };
        let len = row.size_bytes.min(FRONT_BYTES);
        let bytes = self.view.source_bytes(row.id, Span { offset: 0, len })?;
        let told = FirstRecords::of(format, &String::from_utf8_lossy(&bytes));
        front.began = told.began;
        front.forked_from = told.copied_from.map(|id| RefName::session(tool, &id));
        Ok(front)
    }
}

/// Keeps what the file of a session begins with, before what is kept of it is erased.
pub(crate) fn keep_origin(tx: &dyn Tx, session: &RefName) -> Result<()> {
    let front = Copies::of(tx).front(session)?;
    if front.source == 0 || tx.origin(session)?.is_some() {
        return Ok(());
    }
    let origin = OriginRow {
        source: Some(front.source),
        began: front.began,
        copied_from: front.forked_from,
    };
    tx.put_origin(session, &origin)
}

/// Whether `resume` wrote a session, in this repository.
pub(crate) fn is_written(view: &dyn View, name: &RefName) -> Result<bool> {
    match root(name).as_session() {
        Some((tool, id)) => Ok(view.resumed(tool, id)?.is_some()),
        None => Ok(false),
    }
}

/// The session below which one stands: itself, or that of an agent, or of what was taken back.
fn root(name: &RefName) -> RefName {
    match name.as_session() {
        Some((tool, id)) => RefName::session(tool, id.split('/').next().unwrap_or(id)),
        None => name.clone(),
    }
}
