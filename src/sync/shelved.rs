//! What stands on a shelf: refs, the bundles that all of them share, and what is written of both (`docs/sync.md`).

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{LeftOut, PeerRef, strange};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::RefName;
use crate::sync::bundle::{KeptFile, Survey};

/// How many commits between the ends are remembered of each bundle.
const MARKS: usize = 64;

/// Where bundles are put and taken from. Names that it draws are never drawn again, by anybody: so what one takes away, no
/// other can be about to name.
pub trait Shelf {
    /// All that is there.
    fn look(&mut self) -> Result<Shelved>;

    /// A name that nothing there ever had.
    fn name(&mut self) -> Result<String>;

    /// Says that these bundles will be read.
    fn foresee(&mut self, _names: &[String]) -> Result<()> {
        Ok(())
    }

    /// A bundle; none: it is gone.
    fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>>;

    /// Puts these bundles there, then the index, if it is still as it was looked at; whether it was. What the index names no
    /// more is taken away then, and what was put for nothing otherwise.
    fn put(&mut self, is: &Shelved, new: &[(String, Vec<u8>)]) -> Result<bool>;
}

/// What stands on a shelf.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shelved {
    /// What the put that wrote this is known by.
    pub put: String,
    /// The refs, by name.
    pub refs: Vec<PeerRef>,
    /// The bundles, those with commits first. Each goes on from those before it.
    pub bundles: Vec<ShelvedBundle>,
    /// Messages on their paths that were erased by one who pushed them.
    pub erased: Vec<ContentHash>,
    /// What stands in the place of a ref and is none: it stays as it is.
    pub odd: Vec<Value>,
    /// What of all this is passed over.
    pub left_out: Vec<LeftOut>,
}

/// A bundle on a shelf.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShelvedBundle {
    /// What it is called there.
    pub name: String,
    /// Its length.
    pub size_bytes: u64,
    /// How many commits are in it; none: it brings session files alone.
    pub commits: u64,
    /// Whoever has these has all of its commits.
    pub ends: Vec<CommitHash>,
    /// More commits that are in it, or before it: ends of bundles that it was folded from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<CommitHash>,
    /// The session files in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<KeptFile>,
}

/// How [`Shelved`] is spelled.
#[derive(Serialize, Deserialize)]
struct Spelled {
    put: String,
    refs: Vec<Value>,
    bundles: Vec<ShelvedBundle>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    erased: Vec<ContentHash>,
}

impl Shelved {
    /// What is written of it where its bundles are (`docs/sync.md`).
    ///
    /// # Errors
    ///
    /// None that well-formed rows have.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        let refs = self.refs.iter().map(serde_json::to_value);
        let mut refs = refs
            .collect::<serde_json::Result<Vec<Value>>>()
            .map_err(Error::store)?;
        refs.extend(self.odd.iter().cloned());
        let spelled = Spelled {
            put: self.put.clone(),
            refs,
            bundles: self.bundles.clone(),
            erased: self.erased.clone(),
        };
        serde_json::to_vec(&spelled).map_err(Error::store)
    }

    /// The same, read again. It is a stranger's: a ref that is none is passed over, and the others come.
    ///
    /// # Errors
    ///
    /// [`Error::BrokenPeer`] for what is none.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let none = |error| strange(format!("has an index that is none: {error}"));
        let spelled: Spelled = serde_json::from_slice(text).map_err(none)?;
        let mut shelved = Self {
            put: spelled.put,
            bundles: spelled.bundles,
            erased: spelled.erased,
            ..Self::default()
        };
        for value in spelled.refs {
            let read = serde_json::from_value::<PeerRef>(value.clone());
            let why = match read {
                Ok(row) if shelved.get(&row.name).is_some() => "it is there twice".to_owned(),
                Ok(row) => match row.fault() {
                    None => {
                        shelved.refs.push(row);
                        continue;
                    }
                    Some(why) => why.to_owned(),
                },
                Err(error) => error.to_string(),
            };
            let name = value.get("name").and_then(Value::as_str).unwrap_or("a ref");
            shelved.left_out.push(LeftOut::new(name, why));
            shelved.odd.push(value);
        }
        shelved.refs.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(shelved)
    }

    /// The ref of that name.
    pub fn get(&self, name: &RefName) -> Option<&PeerRef> {
        self.refs.iter().find(|row| row.name == *name)
    }

    /// Puts a ref where it is to be, in place of whatever has its name.
    pub(super) fn set(&mut self, row: PeerRef) {
        self.unset(&row.name);
        self.refs.push(row);
        self.refs.sort_by(|one, other| one.name.cmp(&other.name));
    }

    pub(super) fn unset(&mut self, name: &RefName) {
        self.refs.retain(|it| it.name != *name);
        let is_it = |it: &Value| it.get("name").and_then(Value::as_str) == Some(name.as_str());
        self.odd.retain(|it| !is_it(it));
    }

    /// Commits of which all that leads to them is there.
    pub(super) fn known(&self) -> Vec<CommitHash> {
        let refs = self.refs.iter().map(|row| row.commit);
        let bundles = self.bundles.iter();
        let ends = bundles.flat_map(|it| it.ends.iter().chain(&it.marks).copied());
        let mut known: Vec<CommitHash> = refs.chain(ends).collect();
        known.sort_unstable();
        known.dedup();
        known
    }
}

impl ShelvedBundle {
    /// A bundle by that name, with these files, made from bundles with those marks.
    pub(super) fn of(
        name: String,
        bytes: &[u8],
        survey: &Survey,
        files: Vec<KeptFile>,
        marks: Vec<CommitHash>,
    ) -> Self {
        let ends = survey.ends();
        let mut seen: HashSet<CommitHash> = ends.iter().copied().collect();
        let mut marks: Vec<CommitHash> = marks
            .into_iter()
            .rev()
            .filter(|it| seen.insert(*it))
            .take(MARKS)
            .collect();
        marks.reverse();
        Self {
            name,
            size_bytes: bytes.len() as u64,
            commits: survey.commits.len() as u64,
            ends,
            marks,
            files,
        }
    }

    /// Whether it brings session files alone.
    pub(super) fn is_of_files(&self) -> bool {
        self.commits == 0
    }
}
