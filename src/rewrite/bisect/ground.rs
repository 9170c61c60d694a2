//! What a bisection is about, in a repository: the suspects behind a commit, and the context without some of them.

use std::collections::{BTreeMap, HashSet};

use crate::context::plan::PlanInput;
use crate::context::plan::bisect::{Unit, Without};
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::{Draft, EntryId};
use crate::repo::append::CommitOptions;
use crate::repo::call::Call;
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::rewrite::Needs;
use crate::rewrite::bisect::bisection::{Suspect, Suspects, Taken};
use crate::rewrite::scene::input;

/// A context that goes wrong, and all that may be why.
#[derive(Clone, Debug)]
pub struct Ground {
    tip: CommitHash,
    input: PlanInput,
    units: Vec<Unit>,
    pieces: BTreeMap<usize, Vec<Vec<(usize, u32)>>>,
    suspects: Suspects,
    /// Over time: the commit that goes well, and those after it.
    commits: Vec<CommitHash>,
}

impl Ground {
    /// All that may be why.
    pub fn suspects(&self) -> &Suspects {
        &self.suspects
    }

    /// The commit whose context goes wrong.
    pub fn tip(&self) -> CommitHash {
        self.tip
    }

    /// What a suspect is in the context: its messages, each with its number, from 1.
    pub fn messages(&self, suspect: &Suspect) -> Vec<(usize, EntryId)> {
        let places: Vec<usize> = match suspect {
            Suspect::Unit(unit) => self.units[*unit].places.clone(),
            Suspect::Piece(unit, piece) => {
                let parts = self.pieces.get(unit).map(|pieces| pieces[*piece].iter());
                parts.into_iter().flatten().map(|(at, _)| *at).collect()
            }
            _ => Vec::new(),
        };
        let number = |at: usize| {
            let before = self.input.order[..at].iter();
            before.filter(|entry| entry.entry.visible).count() + 1
        };
        let name = |at: &usize| (number(*at), self.input.order[*at].entry.id);
        places.iter().map(name).collect()
    }

    /// The parts that a piece is: of each its message and its number, from 0.
    pub fn parts(&self, suspect: &Suspect) -> Vec<(EntryId, u32)> {
        let Suspect::Piece(unit, piece) = suspect else {
            return Vec::new();
        };
        let parts = self.pieces.get(unit).map(|pieces| pieces[*piece].iter());
        let name = |(at, part): &(usize, u32)| (self.input.order[*at].entry.id, *part);
        parts.into_iter().flatten().map(name).collect()
    }

    /// The commit that a suspect is, over time.
    pub fn commit(&self, suspect: &Suspect) -> Option<CommitHash> {
        match suspect {
            Suspect::Commit(at) => self.commits.get(at + 1).copied(),
            Suspect::Hide(hide) => Some(*hide),
            _ => None,
        }
    }

    /// How many messages are left where this is taken out, and how many there are.
    pub fn left(&self, taken: &Taken) -> (usize, usize) {
        let all: usize = self.units.iter().map(|unit| unit.places.len()).sum();
        let out = taken.iter().map(|suspect| match suspect {
            Suspect::Unit(unit) => self.units[*unit].places.len(),
            _ => 0,
        });
        (all - out.sum::<usize>(), all)
    }
}

impl Repo {
    /// What may be why the context at a commit goes wrong. What the context at `good` has goes well, and stays. Settings
    /// count where requests hold them.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn bisect_ground(
        &self,
        tip: &CommitHash,
        good: Option<&CommitHash>,
        with_settings: bool,
    ) -> Result<Ground> {
        let stays: HashSet<EntryId> = match good {
            Some(good) => {
                let context = self.context(good)?;
                context.entries.iter().map(|entry| entry.id).collect()
            }
            None => HashSet::new(),
        };
        let context = self.context(tip)?;
        let settings = if with_settings {
            self.settings(&context)?
        } else {
            BTreeMap::new()
        };
        let needs = Needs {
            plain_parts: true,
            ..Needs::default()
        };
        let input = input(&*self.store.read()?, tip, &[], &needs)?;
        let units = input.units();
        let is_fixed = |unit: &Unit| {
            let known = |at: &usize| stays.contains(&input.order[*at].entry.id);
            unit.is_system || unit.is_prompt || unit.places.iter().all(known)
        };
        let (fixed, free): (Vec<usize>, Vec<usize>) =
            (0..units.len()).partition(|at| is_fixed(&units[*at]));
        let pieces = (0..units.len()).map(|at| (at, input.pieces(&units[at])));
        let pieces: BTreeMap<_, _> = pieces.filter(|(_, pieces)| !pieces.is_empty()).collect();
        let set = settings.into_iter();
        let set = set.filter(|(_, value)| value.trim() != "null");
        let suspects = Suspects {
            free,
            fixed,
            pieces: pieces
                .iter()
                .map(|(at, pieces)| (*at, pieces.len()))
                .collect(),
            hides: input.active_hides(),
            settings: set.map(|(key, _)| key).collect(),
            commits: None,
        };
        Ok(Ground {
            tip: *tip,
            input,
            units,
            pieces,
            suspects,
            commits: Vec::new(),
        })
    }

    /// The commits of the path to `tip` among which the first is that goes wrong: those after `good`, or after the first.
    ///
    /// # Errors
    ///
    /// [`Error::NotOnPath`] where `good` is none of the path's, or its end.
    pub fn bisect_path(&self, tip: &CommitHash, good: Option<&CommitHash>) -> Result<Ground> {
        let view = self.store.read()?;
        let mut commits = Vec::new();
        view.walk(tip, None, usize::MAX, &mut |row| {
            commits.push(row.hash);
            Ok(())
        })?;
        if let Some(good) = good {
            let at = commits.iter().position(|commit| commit == good);
            let at = at.filter(|at| at + 1 < commits.len());
            let entry = good.to_string();
            commits.drain(..at.ok_or(Error::NotOnPath { entry })?);
        }
        load::commit(&*view, tip)?;
        let suspects = Suspects {
            commits: Some(commits.len() - 1),
            ..Suspects::default()
        };
        Ok(Ground {
            tip: *tip,
            input: PlanInput::default(),
            units: Vec::new(),
            pieces: BTreeMap::new(),
            suspects,
            commits,
        })
    }

    /// The commit whose context is that of `ground` without what is taken out: with a note, a new one. A new one is on no
    /// branch, though the call names one: see [`Repo::commit_after`].
    ///
    /// # Errors
    ///
    /// As [`Repo::commit_after`].
    pub fn bisect_without(
        &self,
        call: Call<'_>,
        ground: &Ground,
        taken: &Taken,
        note: Option<String>,
    ) -> Result<CommitHash> {
        let mut without = Without::default();
        for suspect in taken {
            match suspect {
                Suspect::Unit(unit) => without.places.extend(&ground.units[*unit].places),
                Suspect::Piece(unit, piece) => {
                    let pieces = ground.pieces.get(unit).and_then(|it| it.get(*piece));
                    without.parts.extend(pieces.into_iter().flatten());
                }
                Suspect::Hide(hide) => without.hides.push(*hide),
                Suspect::Setting(key) => without.settings.push(key.clone()),
                Suspect::Commit(_) => {}
            }
        }
        let base = match ground.suspects.commits {
            Some(count) => ground.commits[count - taken.len()],
            None => ground.tip,
        };
        let mut drafts = ground.input.without(&without);
        if note.is_some() && drafts.is_empty() {
            let order = self.order(&base)?;
            let last = order.entries().next_back();
            drafts.extend(last.map(|it| Draft::idle(it.id, it.priority)));
        }
        let Some(last) = drafts.last_mut() else {
            return Ok(base);
        };
        last.note = note;
        let options = CommitOptions::default();
        let made = self.commit_after(call, Some(base), &drafts, &options)?;
        Ok(made.last().map_or(base, |commit| commit.hash))
    }
}
