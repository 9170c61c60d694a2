//! How earlier versions did it: a folder for each ref, `heads/NAME.tract/`, with its bundles and a `ref.json` that says which
//! these are. A ref that was taken away left one that says so.

use futures_util::{StreamExt, stream};
use object_store::path::Path;
use object_store::{Error as Said, ObjectStore};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tract::model::RefName;
use tract::sync::{LeftOut, OldRef, Shelved};
use tract::{Error, Result};

use super::super::number::{self, SUFFIX};
use super::super::strange;
use super::{AT_ONCE, Bucket, Looked, as_seen, errors, looked, name_at};

/// What says where a ref is.
const HEAD: &str = "ref.json";

/// A ref that is taken up.
pub(super) struct Old {
    name: RefName,
    head: Path,
    /// Which `ref.json` it was.
    tag: String,
    bundles: Vec<Path>,
}

/// What [`HEAD`] holds.
#[derive(Serialize, Deserialize)]
struct Spelled {
    name: String,
    put: String,
    bundles: Vec<String>,
    /// As [`OldRef`] spells it; none: the ref was taken away.
    at: Option<Box<RawValue>>,
}

impl Old {
    /// Where a bundle of its is.
    pub(super) fn bundle(&self, name: &str) -> Option<Path> {
        self.bundles
            .iter()
            .find(|path| path.as_ref() == name)
            .cloned()
    }
}

impl Bucket {
    /// Where a ref is.
    pub(super) fn folder(&self, name: &RefName) -> Path {
        let below = name.as_str().strip_prefix("refs/").unwrap_or_default();
        let folder = format!("{below}{SUFFIX}");
        let pieces = folder.split('/');
        pieces.fold(self.prefix.clone(), |path, piece| path.join(piece))
    }

    /// Takes up what earlier versions have put there.
    pub(super) fn look_back(&mut self, is: &mut Shelved) -> Result<()> {
        let mut heads = Vec::new();
        for folder in ["heads", "tags", "sessions"] {
            let folder = self.prefix.clone().join(folder);
            let found = self.all(self.store.list(Some(&folder)))?;
            let paths = found.into_iter().map(|object| object.location);
            let end = format!("{SUFFIX}/{HEAD}");
            heads.extend(paths.filter(|path| path.as_ref().ends_with(&end)));
        }
        self.olds.clear();
        let store = &*self.store;
        let looks = stream::iter(&heads).map(|path| looked(store, path));
        let found = self.all(looks.buffered(AT_ONCE))?;
        for (path, found) in heads.into_iter().zip(found) {
            let read = match found {
                None => continue,
                Some(Looked::Whole(text, tag)) => self.read_old(&path, &text, tag),
                Some(Looked::TooLong) => Err(strange("has a ref that is too long".to_owned())),
            };
            match read {
                Ok((old, None)) => self.olds.push(old),
                Ok((old, Some(at))) => {
                    let names = old.bundles.iter().map(ToString::to_string).collect();
                    if is.take_up(at, names, path.as_ref()) {
                        self.olds.push(old);
                    }
                }
                Err(Error::BrokenPeer { detail }) => {
                    let why = format!("it {detail}");
                    is.left_out.push(LeftOut::new(path.as_ref(), why));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// What a ref is, by what was read of it.
    fn read_old(&self, path: &Path, text: &[u8], tag: String) -> Result<(Old, Option<OldRef>)> {
        let none =
            |error: &dyn std::fmt::Display| strange(format!("has a ref that is none: {error}"));
        let spelled: Spelled = serde_json::from_slice(text).map_err(|error| none(&error))?;
        let at = spelled.at.as_ref();
        let at = at.map(|at| OldRef::from_json(at.get().as_bytes()));
        let at = at.transpose()?;
        let name: RefName = spelled.name.parse().map_err(|error| none(&error))?;
        let is_named = at.as_ref().is_none_or(|at| at.row.name == name);
        let folder = self.folder(&name);
        if !is_named || folder.clone().join(HEAD) != *path {
            return Err(strange(format!("has {name} by another name")));
        }
        let are_numbers = spelled.bundles.iter().all(|it| number::is_one(it));
        if !are_numbers || at.as_ref().map_or(0, |at| at.ends.len()) != spelled.bundles.len() {
            let name = name.short();
            return Err(strange(format!("says of {name} what cannot be")));
        }
        let bundles = spelled.bundles.iter();
        let bundles = bundles.map(|it| folder.clone().join(format!("{it}{SUFFIX}")));
        let old = Old {
            bundles: bundles.collect(),
            head: path.clone(),
            name,
            tag,
        };
        Ok((old, at))
    }

    /// Takes one away that is taken up, if it is still as it was. An earlier version that is about to move it finds that
    /// it is not.
    pub(super) fn take_old(&self, old: &Old) -> Result<(), Said> {
        let gone = Spelled {
            name: old.name.to_string(),
            put: number::drawn().map_err(|_| errors::no_tag())?,
            bundles: Vec::new(),
            at: None,
        };
        let text = serde_json::to_vec(&gone).unwrap_or_default();
        match self.put_if(&old.head, text, as_seen(&old.tag)) {
            Ok(_) => {}
            Err(said) if errors::is_lost(&said) => return Ok(()),
            Err(said) => return Err(said),
        }
        // So are those of pushes that broke off there.
        let folder = self.folder(&old.name);
        let found = self.wait(0, self.store.list_with_delimiter(Some(&folder)))?;
        let paths = found.objects.into_iter().map(|object| object.location);
        let is_bundle = |path: &Path| name_at(path).is_some();
        self.take_away(paths.filter(is_bundle).chain([old.head.clone()]))
    }
}
