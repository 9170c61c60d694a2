//! Bundles in a bucket (`docs/sync.md`): a store of objects that puts one only where it is as it was seen. How it is
//! reached, and by whom, is not for here.
//!
//! Every put of a ref has a number that no other has. It stands in `ref.json`, so that none is ever the same as
//! an earlier one, and it names the bundle that was put with it, so that no two pushes share an object: what one takes
//! away, no other can be about to name.

mod errors;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use object_store::path::Path;
use object_store::{
    Error as Said, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutPayload,
    UpdateVersion,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tract::history::sync::{LeftOut, OnOffer, Shelf, Shelved};
use tract::model::RefName;
use tract::{Error, Result};

use super::strange;
pub use errors::meaning;

/// What says where a ref is.
const HEAD: &str = "ref.json";
/// What the folder of a ref ends with, and a bundle: a ref may stand below another.
const SUFFIX: &str = ".tract";
/// What says that the place is tract's, and which layout it has.
const MARKER: &str = "tract.json";
/// The layout.
const FORMAT: u32 = 1;
/// An ETag that no object has.
const NO_TAG: &str = "\"00000000000000000000000000000000\"";
/// The longest `ref.json`, in bytes: as long as a line between two pipes.
const LONGEST: u64 = 64 << 20;
/// For how long nothing may come.
const PATIENCE: Duration = Duration::from_secs(30);
/// How slowly a bundle may go there, in bytes a second.
const SLOWEST: u64 = 32 << 10;
/// How many refs are asked for at once.
const AT_ONCE: usize = 16;
/// How much older than its ref what no ref names has to be to be taken away: a push puts its bundle first.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// What to do where a push was too late, and where a pull was too slow.
const FIRST: &str = "someone pushed first: tract pull brings it, then push again";
const MEANWHILE: &str = "someone pushed meanwhile: try again, it continues from what is there now";

/// A bucket, or a part of one.
pub struct Bucket {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    address: String,
    runtime: Runtime,
    /// What `ref.json` said when it was last looked at.
    seen: BTreeMap<RefName, Seen>,
    /// What stands in the place of a `ref.json` and is none.
    broken: BTreeSet<Path>,
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

/// A ref as it was seen, or what is left of one.
#[derive(Clone)]
struct Seen {
    name: RefName,
    /// Which `ref.json` it was.
    tag: String,
    /// Which put brought it.
    put: Number,
    /// Its bundles by their numbers, the oldest first.
    bundles: Vec<Number>,
    /// Where it was; none: it was taken away.
    at: Option<Shelved>,
}

/// What a put is known by: 32 hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Number(String);

impl TryFrom<String> for Number {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
        if text.len() == 32 && text.chars().all(is_digit) {
            Ok(Self(text))
        } else {
            Err("no 32 hex digits")
        }
    }
}

impl From<Number> for String {
    fn from(number: Number) -> Self {
        number.0
    }
}

impl Number {
    fn draw() -> Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| Error::store(error.to_string()))?;
        Ok(Self(format!("{:032x}", u128::from_be_bytes(bytes))))
    }

    fn file(&self) -> String {
        format!("{}{SUFFIX}", self.0)
    }
}

/// What `ref.json` holds.
#[derive(Serialize, Deserialize)]
struct Spelled {
    name: String,
    put: Number,
    bundles: Vec<Number>,
    /// As [`Shelved`] spells it; none: the ref was taken away.
    at: Option<Box<RawValue>>,
}

/// What [`MARKER`] holds.
#[derive(Serialize, Deserialize)]
struct Marker {
    format: u32,
}

/// How far the bucket keeps to the condition of a put.
enum Kept {
    /// It put it, for the condition was met.
    Put,
    /// It refused, for the condition was not.
    Refused,
    /// It does not know any.
    Unknown,
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
            seen: BTreeMap::new(),
            broken: BTreeSet::new(),
            has_marker: false,
            is_tried: false,
            beside: Rc::default(),
        })
    }

    /// What is to be said beside what comes of it.
    pub fn beside(&self) -> Rc<Beside> {
        Rc::clone(&self.beside)
    }

    /// Where a ref is.
    fn folder(&self, name: &RefName) -> Path {
        let below = name.as_str().strip_prefix("refs/").unwrap_or_default();
        let folder = format!("{below}{SUFFIX}");
        let pieces = folder.split('/');
        pieces.fold(self.prefix.clone(), |path, piece| path.join(piece))
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
    fn look(&self, path: &Path) -> Result<Option<(Vec<u8>, String)>> {
        let found = self.all(stream::once(short(&*self.store, path)))?;
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

    /// What a ref is, by what was read of it.
    fn read_ref(&self, path: &Path, text: &[u8], tag: String) -> Result<Seen> {
        let spelled: Spelled = serde_json::from_slice(text)
            .map_err(|error| strange(format!("has a ref that is none: {error}")))?;
        let at = spelled.at.as_ref();
        let at = at.map(|at| Shelved::from_json(at.get().as_bytes()));
        let at = at.transpose()?;
        let name = spelled.name.parse::<RefName>();
        let name = name.map_err(|error| strange(format!("has a ref that is none: {error}")))?;
        let is_named = at.as_ref().is_none_or(|at| at.row.name == name);
        if !is_named || self.folder(&name).join(HEAD) != *path {
            return Err(strange(format!("has {name} by another name")));
        }
        if at.as_ref().map_or(0, |at| at.ends.len()) != spelled.bundles.len() {
            let name = name.short();
            return Err(strange(format!("says of {name} what cannot be")));
        }
        Ok(Seen {
            name,
            tag,
            put: spelled.put,
            bundles: spelled.bundles,
            at,
        })
    }

    /// Finds out, before anything is put, whether the bucket keeps to conditions: without them two pushes at once
    /// would both be told that theirs is there.
    fn try_conditions(&mut self) -> Result<()> {
        if self.is_tried {
            return Ok(());
        }
        let marker = self.prefix.clone().join(MARKER);
        let text = serde_json::to_vec(&Marker { format: FORMAT }).map_err(Error::store)?;
        let update = PutMode::Update(UpdateVersion {
            e_tag: Some(NO_TAG.to_owned()),
            version: None,
        });
        // Where it is not there yet, the first makes it.
        let mut answer = self.tried(&marker, &text, PutMode::Create)?;
        if !self.has_marker && matches!(answer, Kept::Put) {
            answer = self.tried(&marker, &text, PutMode::Create)?;
        }
        if matches!(answer, Kept::Refused) {
            answer = self.tried(&marker, &text, update)?;
        }
        if matches!(answer, Kept::Refused) {
            (self.has_marker, self.is_tried) = (true, true);
            return Ok(());
        }
        if !self.has_marker {
            let _ = self.wait(0, self.store.delete(&marker));
        }
        Err(self.unreachable(
            "the bucket does not keep to conditions (If-None-Match, If-Match), so that two pushes could overwrite \
             each other",
            "nothing was sent; S3 itself keeps to them, and newer versions of many that speak like it",
        ))
    }

    /// Refuses to move what has something else in its place: nobody has seen what that is.
    fn refuse_broken(&self, name: &RefName) -> Result<()> {
        let head = self.folder(name).join(HEAD);
        if !self.broken.contains(&head) {
            return Ok(());
        }
        let name = name.short();
        Err(strange(format!(
            "has something else in the place of {name}: take {head} away from the bucket"
        )))
    }

    fn tried(&self, marker: &Path, text: &[u8], mode: PutMode) -> Result<Kept> {
        match self.put_if(marker, text.to_owned(), mode) {
            Ok(_) => Ok(Kept::Put),
            Err(said) if errors::is_lost(&said) => Ok(Kept::Refused),
            Err(said) if errors::is_unknown(&said) => Ok(Kept::Unknown),
            Err(said) => Err(self.failed(&said)),
        }
    }

    /// Puts a ref where it is to be, if it is as it was seen; then takes away what it names no more.
    fn settle(
        &mut self,
        name: &RefName,
        number: Number,
        bundles: Vec<Number>,
        at: Option<&Shelved>,
    ) -> Result<()> {
        let path = self.folder(name).join(HEAD);
        let raw = |at: &Shelved| {
            let text = String::from_utf8(at.to_json()?).map_err(Error::store)?;
            RawValue::from_string(text).map_err(Error::store)
        };
        let spelled = Spelled {
            name: name.to_string(),
            put: number.clone(),
            bundles,
            at: at.map(raw).transpose()?,
        };
        let text = serde_json::to_vec(&spelled).map_err(Error::store)?;
        let was = self.seen.get(name).cloned();
        let mode = match &was {
            None => PutMode::Create,
            Some(was) => PutMode::Update(UpdateVersion {
                e_tag: Some(was.tag.clone()),
                version: None,
            }),
        };
        let is = match self.put_if(&path, text, mode) {
            Ok(tag) => Seen {
                name: name.clone(),
                tag: tag.ok_or_else(|| self.failed(&errors::no_tag()))?,
                put: number,
                bundles: spelled.bundles,
                at: at.cloned(),
            },
            Err(said) => {
                let there = self.look(&path).map_err(|_| self.failed(&said))?;
                let there = there.map(|(text, tag)| self.read_ref(&path, &text, tag));
                match there.transpose()? {
                    // It came through, and what got lost was the answer; somebody may have gone on from it.
                    Some(there) if there.put == number || there.bundles.contains(&number) => there,
                    there if errors::is_lost(&said) => {
                        return Err(self.lost(name, was.as_ref(), there.as_ref(), &number));
                    }
                    _ => return Err(self.failed(&said)),
                }
            }
        };
        self.seen.insert(name.clone(), is.clone());
        if let Err(said) = self.sweep(name, was.as_ref(), &is) {
            *self.beside.left.borrow_mut() = Some(errors::meaning(&said).reason);
        }
        Ok(())
    }

    /// Someone was first: what was put for nothing goes again.
    fn lost(
        &self,
        name: &RefName,
        was: Option<&Seen>,
        there: Option<&Seen>,
        number: &Number,
    ) -> Error {
        let bundle = self.folder(name).join(number.file());
        let _ = self.wait(0, self.store.delete(&bundle));
        self.beside.hint.set(Some(FIRST));
        moved(name, was, there)
    }

    /// Takes away what the ref has named up to now and names no more, and what an earlier push has left behind. It may
    /// hold what was erased.
    fn sweep(&self, name: &RefName, was: Option<&Seen>, is: &Seen) -> Result<(), Said> {
        let folder = self.folder(name);
        let found = self.wait(0, self.store.list_with_delimiter(Some(&folder)))?;
        let head = folder.clone().join(HEAD);
        let head = found.objects.iter().find(|it| it.location == head);
        // By the bucket's own clock, and only if nobody has gone on meanwhile: they know what is theirs.
        let head = head.filter(|head| head.e_tag.as_ref() == Some(&is.tag));
        let is_old = |object: &ObjectMeta| {
            let age = head.map(|head| head.last_modified - object.last_modified);
            age.and_then(|age| age.to_std().ok())
                .is_some_and(|age| age > ABANDONED)
        };
        for object in &found.objects {
            let Some(number) = numbered(&object.location) else {
                continue;
            };
            let was_named = was.is_some_and(|was| was.bundles.contains(&number));
            if !is.bundles.contains(&number) && (was_named || is_old(object)) {
                match self.wait(0, self.store.delete(&object.location)) {
                    Ok(()) | Err(Said::NotFound { .. }) => {}
                    Err(said) => return Err(said),
                }
            }
        }
        Ok(())
    }
}

impl Shelf for Bucket {
    fn list(&mut self) -> Result<OnOffer> {
        if let Some((text, _)) = self.look(&self.prefix.clone().join(MARKER))? {
            let marker = serde_json::from_slice::<Marker>(&text);
            let marker = marker.map_err(|_| {
                strange(format!(
                    "has a {MARKER} that is not tract's: another prefix"
                ))
            })?;
            if marker.format > FORMAT {
                return Err(strange(format!(
                    "has layout {}; this tract knows up to {FORMAT}",
                    marker.format
                )));
            }
            self.has_marker = true;
        }
        let mut heads = Vec::new();
        for folder in ["heads", "tags", "sessions"] {
            let folder = self.prefix.clone().join(folder);
            let found = self.all(self.store.list(Some(&folder)))?;
            let paths = found.into_iter().map(|object| object.location);
            let end = format!("{SUFFIX}/{HEAD}");
            heads.extend(paths.filter(|path| path.as_ref().ends_with(&end)));
        }
        let store = &*self.store;
        let looks = stream::iter(&heads).map(|path| looked(store, path));
        let found = self.all(looks.buffered(AT_ONCE))?;
        self.seen.clear();
        self.broken.clear();
        let mut listed = OnOffer::default();
        for (path, found) in heads.iter().zip(found) {
            let Some(found) = found else { continue };
            let read = match found {
                Looked::Whole(text, tag) => self.read_ref(path, &text, tag),
                Looked::TooLong => Err(strange("has a ref that is too long".to_owned())),
            };
            match read {
                Ok(seen) => {
                    listed.rows.extend(seen.at.clone());
                    self.seen.insert(seen.name.clone(), seen);
                }
                Err(Error::BrokenPeer { detail }) => {
                    let why = format!("it {detail}");
                    listed.left_out.push(LeftOut::new(path.as_ref(), why));
                    self.broken.insert(path.clone());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(listed)
    }

    fn read(&mut self, row: &Shelved, number: usize) -> Result<Vec<u8>> {
        let name = &row.row.name;
        let folder = self.folder(name);
        let seen = self.seen.get(name).cloned();
        let bundle = seen.as_ref().and_then(|seen| seen.bundles.get(number));
        let bundle = bundle.ok_or_else(|| strange(format!("has no {}", name.short())))?;
        let path = folder.clone().join(bundle.file());
        let body = self.wait(0, self.store.get(&path));
        match body {
            Ok(body) => {
                let parts = self.all(body.into_stream())?;
                Ok(parts.concat())
            }
            Err(said @ Said::NotFound { .. }) if !errors::is_no_bucket(&said) => {
                let head = folder.join(HEAD);
                let now = self.look(&head)?;
                if now.as_ref().map(|(_, tag)| tag) == seen.as_ref().map(|seen| &seen.tag) {
                    let name = name.short();
                    return Err(strange(format!("has lost a bundle that {name} is made of")));
                }
                let now = now.and_then(|(text, tag)| self.read_ref(&head, &text, tag).ok());
                self.beside.hint.set(Some(MEANWHILE));
                Err(moved(name, seen.as_ref(), now.as_ref()))
            }
            Err(said) => Err(self.failed(&said)),
        }
    }

    fn put(&mut self, was: Option<&Shelved>, is: &Shelved, bundle: Option<&[u8]>) -> Result<()> {
        self.try_conditions()?;
        self.refuse_broken(&is.row.name)?;
        let name = &is.row.name;
        let seen = self.seen.get(name);
        let mut bundles = seen.map_or(Vec::new(), |seen| seen.bundles.clone());
        if seen.and_then(|seen| seen.at.as_ref()) != was {
            return Err(strange(format!("is asked to move {name} from elsewhere")));
        }
        bundles.truncate(is.ends.len() - usize::from(bundle.is_some()));
        let number = Number::draw()?;
        if let Some(bundle) = bundle {
            let path = self.folder(name).join(number.file());
            let body = PutPayload::from(bundle.to_vec());
            let put = self.wait(bundle.len() as u64, self.store.put(&path, body));
            put.map_err(|said| self.failed(&said))?;
            bundles.push(number.clone());
        }
        self.settle(name, number, bundles, Some(is))
    }

    fn remove(&mut self, was: &Shelved) -> Result<()> {
        self.try_conditions()?;
        self.settle(&was.row.name, Number::draw()?, Vec::new(), None)
    }
}

/// What was found of an object that is read whole.
enum Looked {
    /// It, and its ETag.
    Whole(Vec<u8>, String),
    /// It is longer than any of its kind.
    TooLong,
}

/// An object that is read whole, and its ETag; none: there is none.
async fn short(store: &dyn ObjectStore, path: &Path) -> Result<Option<(Vec<u8>, String)>, Said> {
    match looked(store, path).await? {
        None => Ok(None),
        Some(Looked::Whole(text, tag)) => Ok(Some((text, tag))),
        Some(Looked::TooLong) => Err(errors::too_long()),
    }
}

async fn looked(store: &dyn ObjectStore, path: &Path) -> Result<Option<Looked>, Said> {
    let found = match store.get(path).await {
        Err(said @ Said::NotFound { .. }) if !errors::is_no_bucket(&said) => return Ok(None),
        found => found?,
    };
    let GetResult { meta, .. } = &found;
    if meta.size > LONGEST {
        return Ok(Some(Looked::TooLong));
    }
    let tag = meta.e_tag.clone().ok_or_else(errors::no_tag)?;
    Ok(Some(Looked::Whole(found.bytes().await?.into(), tag)))
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

/// The number that a bundle is named by; what else there is, is not ours to take away.
fn numbered(path: &Path) -> Option<Number> {
    let number = path.filename()?.strip_suffix(SUFFIX)?;
    number.to_owned().try_into().ok()
}

fn moved(name: &RefName, was: Option<&Seen>, there: Option<&Seen>) -> Error {
    let place = |seen: Option<&Seen>| match seen.and_then(|seen| seen.at.as_ref()) {
        Some(at) => at.row.commit.short(),
        None => "none".to_owned(),
    };
    Error::RefMoved {
        name: name.short().to_owned(),
        expected: place(was),
        found: place(there),
    }
}
