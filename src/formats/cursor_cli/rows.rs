//! The tool's database: the object of the conversation in it, put together from what goes by hashes.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::protobuf::fields;
use super::{AGENT, DATABASE, MESSAGES, STATES};
use crate::error::Result;
use crate::formats::shared::places;
use crate::formats::shared::rows::{
    Rows, StoredSession, Tables, WithDocument, bytes, is_json, sizes,
};
use crate::formats::shared::states::written;
use crate::wire::json::{Object, array, is_object};

/// How the conversation stands in the database.
pub(super) const TABLES: Tables = Tables {
    // There is one for each conversation, further down.
    file: DATABASE,
    shown_by: &[(BLOBS, &[ID, DATA]), (META, &[KEY, VALUE])],
    sessions,
    document,
};

const BLOBS: &str = "blobs";
const ID: &str = "id";
const DATA: &str = "data";
const META: &str = "meta";
const KEY: &str = "key";
const VALUE: &str = "value";

/// What names the state that stands, and what nobody else is to have.
const LATEST: &str = "latestRootBlobId";
const SECRET: &str = "blobEncryptionKey";

/// Fields of a state: its messages, the places in which it worked, and what summaries stand for.
const OF_MESSAGES: u64 = 1;
const OF_WORKSPACES: u64 = 9;
const OF_ARCHIVES: u64 = 13;
/// Fields of what a summary stands for: its messages, and the summary.
const OF_SUMMED_UP: u64 = 1;
const OF_SUMMARY: u64 = 4;

/// What is under a hash.
fn blob(rows: &dyn Rows, id: &str) -> Result<Option<Vec<u8>>> {
    let found = rows.picked(BLOBS, &[DATA], Some((ID, id)), &[])?;
    Ok(found.first().map(|row| bytes(row.get(DATA))))
}

/// A hash in digits.
fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that digits stand for.
fn of_digits(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(byte).collect()
}

/// The messages that stood at one moment, by their hashes.
struct State {
    messages: Vec<String>,
    /// The one that stands for what the state before had.
    summary: Option<String>,
}

/// A conversation as far as it is here.
struct Conversation {
    about: Map<String, Value>,
    workspace: Option<String>,
    states: Vec<State>,
}

impl Conversation {
    fn of(rows: &dyn Rows) -> Result<Option<Self>> {
        let found = rows.picked(META, &[VALUE], Some((KEY, "0")), &[])?;
        let value = found.first().and_then(|row| row.get(VALUE)?.as_str());
        let about = value
            .and_then(of_digits)
            .and_then(|text| serde_json::from_slice(&text).ok());
        let Some(mut about): Option<Map<String, Value>> = about else {
            return Ok(None);
        };
        about.remove(SECRET);
        let latest = about.remove(LATEST);
        let latest = match latest.as_ref().and_then(Value::as_str) {
            Some(id) => blob(rows, id)?,
            None => None,
        };
        let Some(parts) = latest.as_deref().and_then(fields) else {
            return Ok(None);
        };
        let of = |number: u64| parts.iter().filter(move |it| it.0 == number).map(|it| it.1);
        let place = of(OF_WORKSPACES).next_back().map(String::from_utf8_lossy);
        let mut archives = Vec::new();
        let mut met = HashSet::new();
        for id in of(OF_ARCHIVES).filter(|id| met.insert(*id)) {
            archives.extend(Archive::read(rows, &digits(id))?);
        }
        Ok(Some(Self {
            workspace: place.map(|it| it.into_owned()),
            states: states(of(OF_MESSAGES).map(digits).collect(), archives),
            about,
        }))
    }

    fn id(&self) -> Option<&str> {
        self.about.get("agentId")?.as_str()
    }

    /// The messages, each once, in the order in which they came.
    fn messages(&self) -> Vec<&String> {
        let mut met = HashSet::new();
        let all = self.states.iter().flat_map(|state| &state.messages);
        all.filter(|id| met.insert(*id)).collect()
    }

    /// As a session, with the lengths of its messages; none in which nothing was said.
    fn stored(&self, sizes: impl Iterator<Item = u64>) -> Option<StoredSession> {
        let mut stored = StoredSession {
            id: self.id()?.to_owned(),
            cwd: self.workspace.as_deref().map(places::path),
            updated: self
                .about
                .get("createdAt")
                .and_then(Value::as_i64)
                .unwrap_or_default(),
            ..StoredSession::default()
        };
        for size in sizes {
            stored.rows += 1;
            stored.size_bytes += size;
        }
        (stored.rows > 0).then_some(stored)
    }
}

/// What a summary stands for.
struct Archive {
    messages: Vec<String>,
    summary: Option<String>,
}

impl Archive {
    fn read(rows: &dyn Rows, id: &str) -> Result<Option<Self>> {
        let held = blob(rows, id)?;
        let parts = held.as_deref().and_then(fields);
        Ok(parts.map(|parts| {
            let of = |number: u64| parts.iter().filter(move |it| it.0 == number).map(|it| it.1);
            Self {
                messages: of(OF_SUMMED_UP).map(digits).collect(),
                summary: of(OF_SUMMARY).next_back().map(digits),
            }
        }))
    }
}

/// The states behind each other: before each summary, and now. What stands now before anything that has to do with a
/// summary stood before each of them, too.
fn states(latest: Vec<String>, archives: Vec<Archive>) -> Vec<State> {
    let named: HashSet<&String> = archives
        .iter()
        .flat_map(|it| it.messages.iter().chain(&it.summary))
        .collect();
    let first = latest.iter().position(|id| named.contains(id));
    let always = &latest[..first.unwrap_or_default()];
    let (mut states, mut summary) = (Vec::new(), None);
    for archive in &archives {
        let own = archive.messages.iter();
        states.push(State {
            messages: always.iter().chain(own).cloned().collect(),
            summary: summary.take(),
        });
        summary.clone_from(&archive.summary);
    }
    states.push(State {
        messages: latest,
        summary,
    });
    states
}

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let Some(conversation) = Conversation::of(rows)? else {
        return Ok(Vec::new());
    };
    let sizes = sizes(rows, [BLOBS, ID, DATA])?;
    let messages = conversation.messages().into_iter();
    let stored = conversation.stored(messages.map(|id| sizes.get(id).copied().unwrap_or(0)));
    Ok(stored.into_iter().collect())
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let Some(conversation) = Conversation::of(rows)?.filter(|it| it.id() == Some(id)) else {
        return Ok(None);
    };
    let (mut numbers, mut sizes, mut messages) = (HashMap::new(), Vec::new(), Vec::new());
    for id in conversation.messages() {
        let held = blob(rows, id)?;
        sizes.push(held.as_ref().map_or(0, |bytes| bytes.len() as u64));
        let is_whole = held.is_some();
        let text = held.and_then(|bytes| String::from_utf8(bytes).ok());
        numbers.insert(id, messages.len());
        messages.push(match text.filter(|text| is_object(text) && is_json(text)) {
            Some(text) => text,
            None => {
                let key = if is_whole { "unread" } else { "missing" };
                Object::new().string(key, id).finish()
            }
        });
    }
    let mut before: Vec<usize> = Vec::new();
    let states = conversation.states.iter().map(|state| {
        let list: Vec<usize> = state.messages.iter().map(|id| numbers[id]).collect();
        let mut object = written(Object::new(), &list, &before);
        if let Some(summary) = state.summary.as_ref().and_then(|id| numbers.get(id)) {
            object = object.raw("summary", &summary.to_string());
        }
        before = list;
        object.finish()
    });
    let states = array(states);
    let Some(stored) = conversation.stored(sizes.into_iter()) else {
        return Ok(None);
    };
    let mut about = conversation.about;
    about.extend(
        conversation
            .workspace
            .map(|it| ("workspace".to_owned(), it.into())),
    );
    let document = Object::new()
        .raw(AGENT, &Value::Object(about).to_string())
        .raw(MESSAGES, &array(messages))
        .raw(STATES, &states);
    Ok(Some((stored, document.finish())))
}
