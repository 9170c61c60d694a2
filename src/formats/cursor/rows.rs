//! The editor's databases: the object of a chat, put together from its values.
//!
//! A workspace's has its older chats and composers whole, under one key each; newer versions have those of all
//! workspaces in one database, each bubble under a key of its own.

use serde_json::{Map, Value};

use super::{BUBBLES, CHAT};
use crate::error::Result;
use crate::formats::shared::rows::{
    Rows, StoredSession, Tables, WithDocument, bytes, has, is_json, sizes,
};
use crate::wire::json::{Object, array};

/// How chats stand in a database.
pub(super) const TABLES: Tables = Tables {
    // The editor keeps it elsewhere than its transcripts.
    file: "state.vscdb",
    shown_by: &[(ITEMS, &[KEY, VALUE])],
    sessions,
    document,
};

const ITEMS: &str = "ItemTable";
const NEWER: &str = "cursorDiskKV";
const KEY: &str = "key";
const VALUE: &str = "value";

/// The keys of a workspace's chats: where their lists are, by what they go, and where their bubbles are.
const OLDER: [(&str, &str, &str, &str); 2] = [
    (
        "composer.composerData",
        "allComposers",
        "composerId",
        "conversation",
    ),
    (
        "workbench.panel.aichat.view.aichat.chatdata",
        "tabs",
        "tabId",
        "bubbles",
    ),
];

/// What the keys of newer chats and of their bubbles begin with.
const COMPOSER: &str = "composerData:";
const BUBBLE: &str = "bubbleId:";

/// The list of a newer chat's bubbles, of which each names its own.
const HEADERS: &str = "fullConversationHeadersOnly";

/// The value under a key, which may be a text or bytes.
fn value(rows: &dyn Rows, table: &str, key: &str) -> Result<Option<String>> {
    let found = rows.picked(table, &[VALUE], Some((KEY, key)), &[])?;
    let held = found.first().and_then(|row| row.get(VALUE));
    let is_there = held.is_some_and(|held| held.is_string() || held.is_object());
    Ok(is_there.then(|| String::from_utf8_lossy(&bytes(held)).into_owned()))
}

/// A chat of an older version, as far as it is here.
struct Older {
    stored: StoredSession,
    about: Map<String, Value>,
    bubbles: Vec<Value>,
}

fn older(rows: &dyn Rows) -> Result<Vec<Older>> {
    let mut found = Vec::new();
    for (key, list, id, bubbles) in OLDER {
        let text = value(rows, ITEMS, key)?;
        let held: Option<Value> = text.and_then(|text| serde_json::from_str(&text).ok());
        let Some(Value::Array(chats)) = held.and_then(|mut it| it.get_mut(list).map(Value::take))
        else {
            continue;
        };
        for chat in chats {
            let Value::Object(mut about) = chat else {
                continue;
            };
            // Newer versions keep here no more than which there are.
            let Some(Value::Array(said)) = about.get_mut(bubbles).map(Value::take) else {
                continue;
            };
            about.retain(|key, _| key != bubbles);
            let name = about.get(id).and_then(Value::as_str).unwrap_or_default();
            let times = ["lastUpdatedAt", "lastSendTime", "createdAt"];
            let updated = times.iter().find_map(|key| about.get(*key)?.as_i64());
            found.push(Older {
                stored: StoredSession {
                    id: name.to_owned(),
                    rows: said.len() as u64,
                    size_bytes: said.iter().map(|it| it.to_string().len() as u64).sum(),
                    updated: updated.unwrap_or_default(),
                    ..StoredSession::default()
                },
                about,
                bubbles: said,
            });
        }
    }
    Ok(found)
}

/// Whether there is the table of newer versions.
fn is_newer(rows: &dyn Rows) -> Result<bool> {
    has(rows, NEWER, &[KEY, VALUE])
}

/// A chat of newer versions: what is known of it, and which bubbles it has.
struct Newer {
    about: Map<String, Value>,
    bubbles: Vec<String>,
    stored: StoredSession,
}

impl Newer {
    /// The chat that this is the value of; without its bubbles' sizes.
    fn of(id: &str, text: &str) -> Option<Self> {
        let mut about: Map<String, Value> = serde_json::from_str(text).ok()?;
        let headers = about.get_mut(HEADERS).map(Value::take);
        about.retain(|key, _| key != HEADERS);
        let headers = headers.as_ref().and_then(Value::as_array);
        let named = headers.into_iter().flatten();
        let named = named.filter_map(|it| Some(it.get("bubbleId")?.as_str()?.to_owned()));
        let times = ["lastUpdatedAt", "createdAt"];
        let updated = times.iter().find_map(|key| about.get(*key)?.as_i64());
        Some(Self {
            bubbles: named.collect(),
            stored: StoredSession {
                id: id.to_owned(),
                rows: 1,
                size_bytes: text.len() as u64,
                updated: updated.unwrap_or_default(),
                ..StoredSession::default()
            },
            about,
        })
    }

    /// Counts a bubble of so many bytes.
    fn count(&mut self, bytes: u64) {
        self.stored.rows += 1;
        self.stored.size_bytes += bytes;
    }

    /// The key of a bubble.
    fn key(&self, bubble: &str) -> String {
        format!("{BUBBLE}{}:{bubble}", self.stored.id)
    }
}

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let mut found: Vec<StoredSession> = Vec::new();
    if is_newer(rows)? {
        let sizes = sizes(rows, [NEWER, KEY, VALUE])?;
        let mut ids: Vec<&str> = sizes
            .keys()
            .filter_map(|it| it.strip_prefix(COMPOSER))
            .collect();
        ids.sort_unstable();
        for id in ids {
            let text = value(rows, NEWER, &format!("{COMPOSER}{id}"))?;
            let Some(mut chat) = text.and_then(|text| Newer::of(id, &text)) else {
                continue;
            };
            for bubble in std::mem::take(&mut chat.bubbles) {
                if let Some(bytes) = sizes.get(&chat.key(&bubble)) {
                    chat.count(*bytes);
                }
            }
            // One in which nothing was said yet has its own row alone.
            found.extend((chat.stored.rows > 1).then_some(chat.stored));
        }
    }
    let older = older(rows)?.into_iter().map(|it| it.stored);
    for chat in older {
        if found.iter().all(|it| it.id != chat.id) {
            found.push(chat);
        }
    }
    Ok(found)
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    if is_newer(rows)?
        && let Some(text) = value(rows, NEWER, &format!("{COMPOSER}{id}"))?
        && let Some(chat) = Newer::of(id, &text)
        && let Some(found) = newer(rows, chat)?
    {
        return Ok(Some(found));
    }
    let chat = older(rows)?.into_iter().find(|it| it.stored.id == id);
    Ok(chat.map(|chat| {
        let bubbles = array(chat.bubbles.iter().map(Value::to_string));
        (chat.stored, object(chat.about, &bubbles))
    }))
}

/// A chat's object.
fn object(about: Map<String, Value>, bubbles: &str) -> String {
    let object = Object::new().raw(CHAT, &Value::Object(about).to_string());
    object.raw(BUBBLES, bubbles).finish()
}

/// A chat of newer versions with its bubbles; none that has no row beside its own.
fn newer(rows: &dyn Rows, mut chat: Newer) -> Result<Option<WithDocument>> {
    let mut bubbles = Vec::new();
    for bubble in std::mem::take(&mut chat.bubbles) {
        let text = value(rows, NEWER, &chat.key(&bubble))?;
        if let Some(text) = &text {
            chat.count(text.len() as u64);
        }
        bubbles.push(match text.filter(|text| is_json(text)) {
            Some(text) => text,
            None => Object::new()
                .string("bubbleId", &bubble)
                .raw("missing", "true")
                .finish(),
        });
    }
    let has_some = chat.stored.rows > 1;
    Ok(has_some.then(|| (chat.stored, object(chat.about, &array(bubbles)))))
}
