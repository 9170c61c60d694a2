//! Records of a session that begins anew. The tool's store takes no row whose id it has, so that every message and
//! every part gets an id of its own: of the moment of writing, for ids wrap, and the tool takes no prompt for new whose
//! id is below those before it. It puts messages in order by their times, so that none is earlier than the one before it.

use std::collections::HashMap;

use serde_json::Value;

use super::ids::id;
use crate::formats::Document;
use crate::formats::shared::records::{replaced, rewritten};
use crate::formats::shared::spans::elements;
use crate::model::Millis;
use crate::wire::json::{array, quoted};

/// Renews records, one after the other.
pub(super) struct Renewing<'a> {
    document: &'a Document,
    /// The new ids of messages, by their old ones.
    ids: HashMap<String, String>,
    /// How many ids were given.
    given: u64,
    /// When the message before was made.
    time: Millis,
    /// The user's newest message.
    prompt: Option<String>,
}

impl<'a> Renewing<'a> {
    pub(super) fn of(document: &'a Document) -> Self {
        Self {
            document,
            ids: HashMap::new(),
            given: 0,
            time: Millis(0),
            prompt: None,
        }
    }

    /// The same record with ids of its own.
    pub(super) fn record(&mut self, record: &str) -> String {
        let read: Value = serde_json::from_str(record).unwrap_or_default();
        let info = &read["info"];
        let created = info["time"]["created"].as_i64().map(Millis);
        self.time = self.time.max(created.unwrap_or(self.time));
        let message = self.id("msg", 0);
        if let Some(old) = info["id"].as_str() {
            self.ids.insert(old.to_owned(), message.clone());
        }
        if info["role"] == "user" {
            self.prompt = Some(message.clone());
        }
        let renewed = rewritten(record, |key, value| {
            Some(match key {
                "info" => self.info(value, &message),
                "parts" => self.parts(value, &message),
                _ => value.to_owned(),
            })
        });
        self.given += 1 + read["parts"]
            .as_array()
            .map_or(0, |parts| parts.len() as u64);
        renewed.finish()
    }

    /// An id that was not given yet.
    fn id(&self, kind: &str, number: u64) -> String {
        let number = self.given + number;
        let now = self.document.now.unwrap_or(self.time);
        id(kind, now, number, &self.document.new_id(!number))
    }

    fn info(&self, info: &str, message: &str) -> String {
        let renewed = rewritten(info, |key, value| {
            Some(match key {
                "id" => quoted(message),
                "sessionID" => quoted(&self.document.session_id),
                "parentID" => quoted(self.renewed(value).or(self.prompt.as_ref())?),
                "time" => replaced(value, "created", &self.time.0.to_string()).finish(),
                _ => value.to_owned(),
            })
        });
        renewed.finish()
    }

    fn parts(&self, parts: &str, message: &str) -> String {
        let (found, _) = elements(parts.as_bytes(), 0);
        let parts = found.into_iter().zip(1..).map(|(at, number)| {
            let renewed = rewritten(&parts[at], |key, value| match key {
                "id" => Some(quoted(&self.id("prt", number))),
                "sessionID" => Some(quoted(&self.document.session_id)),
                "messageID" => Some(quoted(message)),
                // Whatever is not sent any more is not written.
                "tail_start_id" => self.renewed(value).map(|id| quoted(id)),
                _ => Some(value.to_owned()),
            });
            renewed.finish()
        });
        array(parts)
    }

    /// The new id of a message, by its old one in JSON.
    fn renewed(&self, old: &str) -> Option<&String> {
        let old: String = serde_json::from_str(old).ok()?;
        self.ids.get(&old)
    }
}
