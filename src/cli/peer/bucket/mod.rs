//! Bundles in a bucket (`docs/sync.md`): a store of objects that puts one only where it is as it was seen. How it is
//! reached, and by whom, is not for here.
//!
//! `index.json` alone decides what is there. Every put of it has a number that no other has, so that none is ever the same as an
//! earlier one; and every bundle has, so that no two pushes share an object: what one takes away, no other can be about to name.

mod conditions;
mod errors;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use object_store::path::Path;
use object_store::{
    Error as Said, GetResult, ObjectStore, ObjectStoreExt, PutMode, PutPayload, UpdateVersion,
};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tract::sync::{Shelf, Shelved};
use tract::{Error, Result};

use super::number::{self, SUFFIX};
use super::strange;
pub use errors::meaning;

/// What says what is there.
const INDEX: &str = "index.json";
/// The folder of the bundles.
const BUNDLES: &str = "bundles";
/// What says that the place is tract's, and which layout it has.
const MARKER: &str = "tract.json";
/// The layout.
const FORMAT: u32 = 2;
/// An ETag that no object has.
const NO_TAG: &str = "\"00000000000000000000000000000000\"";
/// The longest of what says anything, in bytes: as long as a line between two pipes.
const LONGEST: u64 = 64 << 20;
/// For how long nothing may come.
const PATIENCE: Duration = Duration::from_secs(30);
/// How slowly a bundle may go there, in bytes a second.
const SLOWEST: u64 = 32 << 10;
/// What to do where a push was too late, where the place is another tract's, and where a pull was too slow.
const FIRST: &str = "someone pushed first: tract pull brings it, then push again";
const ANOTHER_PLACE: &str = "under another prefix the first push makes a new place";
const MEANWHILE: &str = "someone pushed meanwhile: try again, it continues from what is there now";

/// A bucket, or a part of one.
pub struct Bucket {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    address: String,
    runtime: Runtime,
    /// Which index it was when it was last looked at; none: there was none.
    tag: Option<String>,
    /// Whether a marker says that the place is tract's.
    has_marker: bool,
    /// Whether it was found to keep to conditions.
    is_tried: bool,
    beside: Rc<Beside>,
}

/// What is to be said beside an error or a success.
#[derive(Default)]
pub struct Beside {
    /// What to do about the last thing that went wrong.
    pub hint: Cell<Option<&'static str>>,
    /// Why what nothing leads to is still there.
    pub left: RefCell<Option<String>>,
}

/// What [`MARKER`] holds.
#[derive(Serialize, Deserialize)]
struct Marker {
    format: u32,
}

impl Bucket {
    /// What is below `prefix` in `store`, which is called `address` in errors.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn new(store: Arc<dyn ObjectStore>, prefix: Path, address: String) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        Ok(Self {
            store,
            prefix,
            address,
            runtime: runtime.map_err(Error::store)?,
            tag: None,
            has_marker: false,
            is_tried: false,
            beside: Rc::default(),
        })
    }

    /// What is to be said beside what comes of it.
    pub fn beside(&self) -> Rc<Beside> {
        Rc::clone(&self.beside)
    }

    /// Where a bundle is.
    fn bundle(&self, name: &str) -> Path {
        let folder = self.prefix.clone().join(BUNDLES);
        folder.join(format!("{name}{SUFFIX}"))
    }

    /// Waits for an answer, but not forever.
    fn wait<T>(
        &self,
        size_bytes: u64,
        answer: impl Future<Output = Result<T, Said>>,
    ) -> Result<T, Said> {
        let patience = PATIENCE + Duration::from_secs(size_bytes / SLOWEST);
        self.runtime.block_on(async {
            let answer = timeout(patience, answer).await;
            answer.unwrap_or_else(|_| Err(errors::silence()))
        })
    }

    /// All that comes, as long as something does.
    fn all<T>(&self, rows: impl Stream<Item = Result<T, Said>>) -> Result<Vec<T>> {
        let all = self.runtime.block_on(async {
            let mut rows = std::pin::pin!(rows);
            let mut all = Vec::new();
            while let Some(row) = next(&mut rows).await? {
                all.push(row);
            }
            Ok::<_, Said>(all)
        });
        all.map_err(|said| self.failed(&said))
    }

    /// An object and its ETag; none: there is none.
    fn look_at(&self, path: &Path) -> Result<Option<(Vec<u8>, String)>> {
        let found = self.all(stream::once(looked(&*self.store, path)))?;
        Ok(found.into_iter().next().flatten())
    }

    fn put_if(&self, path: &Path, text: Vec<u8>, mode: PutMode) -> Result<Option<String>, Said> {
        let put = self
            .store
            .put_opts(path, PutPayload::from(text), mode.into());
        Ok(self.wait(0, put)?.e_tag)
    }

    /// What went wrong, in the bucket's name.
    fn failed(&self, said: &Said) -> Error {
        let meant = errors::meaning(said);
        self.unreachable(meant.reason, meant.hint)
    }

    fn unreachable(&self, reason: impl Into<String>, hint: &'static str) -> Error {
        self.beside.hint.set(Some(hint));
        Error::Unreachable {
            address: self.address.clone(),
            reason: reason.into(),
        }
    }

    /// Puts the index, if it is as it was seen: whether it was.
    fn settle(&mut self, is: &Shelved, new: &[(String, Vec<u8>)]) -> Result<bool> {
        let path = self.prefix.clone().join(INDEX);
        let mode = self.tag.as_deref().map_or(PutMode::Create, as_seen);
        let said = match self.put_if(&path, is.to_json()?, mode) {
            Ok(tag) => {
                self.tag = Some(tag.ok_or_else(|| self.failed(&errors::no_tag()))?);
                return Ok(true);
            }
            Err(said) => said,
        };
        let there = self.look_at(&path).map_err(|_| self.failed(&said))?;
        if let Some((text, tag)) = &there {
            let there = Shelved::from_json(text)?;
            let is_named =
                |(name, _): &(String, Vec<u8>)| there.bundles.iter().any(|it| it.name == *name);
            // It came through, and what got lost was the answer; somebody may have gone on from it.
            if there.put == is.put {
                self.tag = Some(tag.clone());
                return Ok(true);
            }
            if new.iter().any(is_named) {
                self.tag = Some(NO_TAG.to_owned());
                return Ok(true);
            }
        }
        match errors::is_lost(&said) {
            true => Ok(false),
            false => Err(self.failed(&said)),
        }
    }

    /// Takes bundles away; one that is gone is.
    fn take_away(&self, paths: impl Iterator<Item = Path>) -> Result<(), Said> {
        for path in paths {
            match self.wait(0, self.store.delete(&path)) {
                Ok(()) | Err(Said::NotFound { .. }) => {}
                Err(said) => return Err(said),
            }
        }
        Ok(())
    }
}

/// The condition that an object is still the one with this ETag.
fn as_seen(tag: &str) -> PutMode {
    PutMode::Update(UpdateVersion {
        e_tag: Some(tag.to_owned()),
        version: None,
    })
}

impl Shelf for Bucket {
    fn look(&mut self) -> Result<Shelved> {
        let marker = self.look_at(&self.prefix.clone().join(MARKER))?;
        self.has_marker = marker.is_some();
        if let Some((text, _)) = marker {
            let marker = serde_json::from_slice::<Marker>(&text);
            let marker = marker.map_err(|_| {
                strange(format!(
                    "has a {MARKER} that is not tract's: another prefix"
                ))
            })?;
            if marker.format != FORMAT {
                let Marker { format } = marker;
                let reason = format!("it has layout {format}; this tract knows {FORMAT} alone");
                return Err(self.unreachable(reason, ANOTHER_PLACE));
            }
        }
        let found = self.look_at(&self.prefix.clone().join(INDEX))?;
        self.tag = found.as_ref().map(|(_, tag)| tag.clone());
        match found {
            Some((text, _)) => Shelved::from_json(&text),
            None => Ok(Shelved::default()),
        }
    }

    fn name(&mut self) -> Result<String> {
        number::drawn()
    }

    fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        if !number::is_one(name) {
            return Err(strange("has a bundle by a name that none has".to_owned()));
        }
        match self.wait(0, self.store.get(&self.bundle(name))) {
            Ok(body) => {
                let parts = self.all(body.into_stream())?;
                Ok(Some(parts.concat()))
            }
            Err(said @ Said::NotFound { .. }) if !errors::is_no_bucket(&said) => {
                self.beside.hint.set(Some(MEANWHILE));
                Ok(None)
            }
            Err(said) => Err(self.failed(&said)),
        }
    }

    fn put(&mut self, is: &Shelved, new: &[(String, Vec<u8>)]) -> Result<bool> {
        self.try_conditions()?;
        // Whatever is there before the index moves and it does not name was put for nothing: who put it is too late.
        let folder = self.prefix.clone().join(BUNDLES);
        let found = self.all(self.store.list(Some(&folder)))?;
        let named: HashSet<&str> = is.bundles.iter().map(|it| it.name.as_str()).collect();
        let is_gone = |path: &Path| name_at(path).is_some_and(|name| !named.contains(name));
        let gone = found.into_iter().map(|object| object.location);
        let gone: Vec<Path> = gone.filter(is_gone).collect();
        for (name, bytes) in new {
            let (path, body) = (self.bundle(name), PutPayload::from(bytes.clone()));
            let put = self.store.put(&path, body);
            let put = self.wait(bytes.len() as u64, put);
            put.map_err(|said| self.failed(&said))?;
        }
        if !self.settle(is, new)? {
            let own = new.iter().map(|(name, _)| self.bundle(name));
            let _ = self.take_away(own);
            self.beside.hint.set(Some(FIRST));
            return Ok(false);
        }
        if let Err(said) = self.take_away(gone.into_iter()) {
            *self.beside.left.borrow_mut() = Some(errors::meaning(&said).reason);
        }
        Ok(true)
    }
}

/// The name of the bundle at a path, if one may be there.
fn name_at(path: &Path) -> Option<&str> {
    let name = path.filename()?.strip_suffix(SUFFIX)?;
    number::is_one(name).then_some(name)
}

/// An object that is read whole, and its ETag; none: there is none.
async fn looked(store: &dyn ObjectStore, path: &Path) -> Result<Option<(Vec<u8>, String)>, Said> {
    let found = match store.get(path).await {
        Err(said @ Said::NotFound { .. }) if !errors::is_no_bucket(&said) => return Ok(None),
        found => found?,
    };
    let GetResult { meta, .. } = &found;
    if meta.size > LONGEST {
        return Err(errors::too_long());
    }
    let tag = meta.e_tag.clone().ok_or_else(errors::no_tag)?;
    Ok(Some((found.bytes().await?.into(), tag)))
}

/// The next row, but not forever.
async fn next<T>(
    rows: &mut (impl Stream<Item = Result<T, Said>> + Unpin),
) -> Result<Option<T>, Said> {
    match timeout(PATIENCE, rows.next()).await {
        Ok(row) => row.transpose(),
        Err(_) => Err(errors::silence()),
    }
}
