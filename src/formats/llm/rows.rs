//! The tool's database: the object of a conversation, put together from its rows.
//!
//! What stands in columns that hold JSON is put in as it is. Texts that several messages share (fragments) stand
//! with each that has them, the tools that were offered once for all.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;

use super::{CONVERSATION, DATABASE, MESSAGES, RESPONSES, TOOLS, TURNS};
use crate::error::Result;
use crate::formats::shared::rows::{
    self, Row, Rows, StoredSession, Tables, WithDocument, has, is_json, length, moment, text,
};
use crate::wire::json::{Object, array};

/// How conversations stand in the database.
pub(super) const TABLES: Tables = Tables {
    file: DATABASE,
    shown_by: &[
        (OLDER, &["id", "name", "model"]),
        (
            RESPONSES,
            &[
                "id",
                "model",
                "prompt",
                "system",
                TEXT,
                "conversation_id",
                TIME,
            ],
        ),
    ],
    sessions,
    document,
};

/// The tables of conversations: with replies, and with a tree of messages.
const OLDER: &str = "conversations";
const NEWER: &str = "threads";

const TEXT: &str = "response";
const TIME: &str = "datetime_utc";
const TIP: &str = "tip_message_hash";
const SCHEMA: &str = "schema_id";

/// The columns that hold JSON.
const JSON: [&str; 8] = [
    "options_json",
    "response_json",
    "prompt_json",
    "token_details",
    "provider_metadata",
    "payload",
    "arguments",
    "input_schema",
];

/// What the rows of a conversation are together.
#[derive(Clone, Copy, Default)]
struct Sum {
    rows: u64,
    bytes: u64,
    newest: i64,
}

impl Sum {
    fn take(&mut self, row: &Row) {
        self.newest = self.newest.max(moment(row, TIME));
    }

    /// That of all of these rows, the lengths of whose texts count.
    fn of(rows: &[Row], column: &str) -> Self {
        let mut sum = Self {
            rows: rows.len() as u64,
            bytes: length(rows, column),
            newest: 0,
        };
        rows.iter().for_each(|row| sum.take(row));
        sum
    }
}

/// Where a conversation's turns stand: the table, the column that names it, and that of what was given back.
const SAID: [(&str, &str, &str, &str); 2] = [
    (OLDER, RESPONSES, "conversation_id", TEXT),
    (NEWER, TURNS, "thread_id", "response_json"),
];

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    // The tree counts where a conversation stands in both.
    let mut found: BTreeMap<String, StoredSession> = BTreeMap::new();
    for (conversations, said, of, column) in SAID {
        if rows.columns(said)?.is_empty() || rows.columns(conversations)?.is_empty() {
            continue;
        }
        let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
        for (id, count, bytes, _) in rows.summed(said, of, column, "duration_ms")? {
            let sum = sums.entry(id).or_default();
            (sum.rows, sum.bytes) = (count, bytes);
        }
        for row in rows.picked(said, &[of, TIME], None, &[])? {
            if let Some(sum) = text(&row, of).and_then(|id| sums.get_mut(id)) {
                sum.take(&row);
            }
        }
        for row in rows.rows(conversations, None, &["id"])? {
            let Some(id) = text(&row, "id") else { continue };
            let sum = sums.get(id).copied().unwrap_or_default();
            let is_tree = row.contains_key(TIP);
            if !is_tree || text(&row, TIP).is_some() {
                found.insert(id.to_owned(), stored(&row, sum));
            }
        }
    }
    Ok(found.into_values().collect())
}

fn stored(row: &Row, mut sum: Sum) -> StoredSession {
    sum.take(row);
    StoredSession {
        id: text(row, "id").unwrap_or_default().to_owned(),
        rows: sum.rows,
        size_bytes: sum.bytes,
        updated: sum.newest,
        ..StoredSession::default()
    }
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let one = |table: &str| -> Result<Option<Row>> {
        if rows.columns(table)?.is_empty() {
            Ok(None)
        } else {
            Ok(rows.rows(table, Some(("id", id)), &[])?.into_iter().next())
        }
    };
    let thread = one(NEWER)?.filter(|row| text(row, TIP).is_some());
    if let Some(thread) = thread {
        return tree(rows, &thread).map(Some);
    }
    match one(OLDER)? {
        Some(conversation) => replies(rows, &conversation).map(Some),
        None => Ok(None),
    }
}

/// The object of a conversation of older versions.
fn replies(rows: &dyn Rows, conversation: &Row) -> Result<WithDocument> {
    let id = text(conversation, "id").unwrap_or_default();
    let replies = rows.rows(RESPONSES, Some(("conversation_id", id)), &["id"])?;
    let found = stored(conversation, Sum::of(&replies, TEXT));
    let mut beside = Beside::of(rows);
    let mut list = Vec::new();
    for reply in &replies {
        let id = text(reply, "id").unwrap_or_default();
        let mut object = object(reply);
        for (name, table) in [
            ("fragments", "prompt_fragments"),
            ("system_fragments", "system_fragments"),
        ] {
            object = with(object, name, beside.fragments(table, ("response_id", id))?);
        }
        let attached = beside.ids("prompt_attachments", ("response_id", id), "attachment_id")?;
        object = with(object, "attachments", beside.attachments(&attached)?);
        object = with(
            object,
            "tools",
            beside.tools("tool_responses", ("response_id", id))?,
        );
        for table in ["tool_results", "tool_calls"] {
            let mut list = Vec::new();
            for row in beside.rows(table, ("response_id", id), "id")? {
                let mut object = self::object(&row);
                if table == "tool_results"
                    && let Some(number) = row.get("id").and_then(Value::as_i64)
                {
                    let of = ("tool_result_id", &*number.to_string());
                    let table = "tool_results_attachments";
                    let attached = beside.ids(table, of, "attachment_id")?;
                    object = with(object, "attachments", beside.attachments(&attached)?);
                }
                list.push(object.finish());
            }
            object = with(object, table, list);
        }
        list.push(with_schema(object, reply, &beside)?.finish());
    }
    let document = Object::new()
        .raw(CONVERSATION, &self::object(conversation).finish())
        .raw(RESPONSES, &array(list))
        .raw(TOOLS, &array(beside.offered()?));
    Ok((found, document.finish()))
}

/// The object of a conversation with a tree: of each turn the messages that no turn before it has, then the turns.
fn tree(rows: &dyn Rows, thread: &Row) -> Result<WithDocument> {
    let id = text(thread, "id").unwrap_or_default();
    let turns = if rows.columns(TURNS)?.is_empty() {
        Vec::new()
    } else {
        rows.rows(TURNS, Some(("thread_id", id)), &["id"])?
    };
    let found = stored(thread, Sum::of(&turns, "response_json"));
    let tips = turns
        .iter()
        .chain([thread])
        .filter_map(|row| text(row, TIP));
    let (mut met, mut messages) = (HashSet::new(), Vec::new());
    let mut beside = Beside::of(rows);
    for tip in tips {
        let (mut way, mut next) = (Vec::new(), Some(tip.to_owned()));
        while let Some(hash) = next.take().filter(|hash| !met.contains(hash)) {
            let found = rows.rows(MESSAGES, Some(("hash", &hash)), &[])?;
            let Some(row) = found.into_iter().next() else {
                break;
            };
            met.insert(hash);
            next = text(&row, "parent_hash").map(str::to_owned);
            way.push(row);
        }
        for row in way.iter().rev() {
            messages.push(message(row, &mut beside)?);
        }
    }
    let mut list = Vec::new();
    for turn in &turns {
        let id = text(turn, "id").unwrap_or_default();
        let tools = beside.tools("turn_tools", ("turn_id", id))?;
        let object = with(object(turn), "tools", tools);
        list.push(with_schema(object, turn, &beside)?.finish());
    }
    let document = Object::new()
        .raw(CONVERSATION, &object(thread).finish())
        .raw(MESSAGES, &array(messages))
        .raw(TURNS, &array(list))
        .raw(TOOLS, &array(beside.offered()?));
    Ok((found, document.finish()))
}

/// A message of the tree with its parts.
fn message(row: &Row, beside: &mut Beside<'_>) -> Result<String> {
    let hash = text(row, "hash").unwrap_or_default();
    let mut parts = Vec::new();
    for mut part in beside.rows("parts", ("message_hash", hash), "position")? {
        let number = part.get("id").and_then(Value::as_i64);
        let number = number.unwrap_or_default().to_string();
        part.retain(|column, _| !["id", "message_hash", "position"].contains(&column.as_str()));
        let of = ("part_id", &*number);
        let payload = text(&part, "payload").unwrap_or_default();
        let (borrows, attaches) = (payload.contains("text_ref"), payload.contains("attachment"));
        let mut object = object(&part);
        if borrows {
            object = with(object, "fragments", beside.fragments("part_fragments", of)?);
        }
        if attaches {
            let ids = beside.ids("part_attachments", of, "attachment_id")?;
            object = with(object, "attachments", beside.attachments(&ids)?);
        }
        parts.push(object.finish());
    }
    let object = object(row).raw("parts", &array(parts));
    Ok(object.finish())
}

/// A row as it stands, without what is null.
fn object(row: &Row) -> Object {
    rows::object(row, |column| (column, JSON.contains(&column)))
}

/// An object with a list, where there is anything in it.
fn with(object: Object, name: &str, list: Vec<String>) -> Object {
    if list.is_empty() {
        object
    } else {
        object.raw(name, &array(list))
    }
}

/// The same with the schema that a reply was asked to follow.
fn with_schema(object: Object, row: &Row, beside: &Beside<'_>) -> Result<Object> {
    let Some(id) = text(row, SCHEMA) else {
        return Ok(object);
    };
    let found = beside.rows("schemas", ("id", id), "id")?;
    let schema = found.first().and_then(|row| text(row, "content"));
    Ok(match schema.filter(|it| is_json(it)) {
        Some(schema) => object.raw("schema", schema),
        None => object,
    })
}

/// The tables that others lead into.
struct Beside<'r> {
    all: &'r dyn Rows,
    /// The tools that were offered.
    tools: BTreeSet<i64>,
}

impl<'r> Beside<'r> {
    fn of(all: &'r dyn Rows) -> Self {
        Self {
            all,
            tools: BTreeSet::new(),
        }
    }

    /// The rows of a table in the order of a column; none where there is no such table yet.
    fn rows(&self, table: &str, of: (&str, &str), order: &str) -> Result<Vec<Row>> {
        if has(self.all, table, &[of.0, order])? {
            self.all.rows(table, Some(of), &[order])
        } else {
            Ok(Vec::new())
        }
    }

    /// What a table of pairs leads to, in its order.
    fn ids(&self, table: &str, of: (&str, &str), column: &str) -> Result<Vec<String>> {
        let rows = self.rows(table, of, "order")?;
        let ids = rows.iter().filter_map(|row| match row.get(column)? {
            Value::String(id) => Some(id.clone()),
            Value::Number(id) => Some(id.to_string()),
            _ => None,
        });
        Ok(ids.collect())
    }

    fn fragments(&self, table: &str, of: (&str, &str)) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for id in self.ids(table, of, "fragment_id")? {
            let rows = self.rows("fragments", ("id", &id), "id")?;
            found.extend(rows.iter().map(|row| object(row).finish()));
        }
        Ok(found)
    }

    /// Attachments with their bytes, where the database has them.
    fn attachments(&self, ids: &[String]) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for id in ids {
            let columns = self.all.columns("attachments")?;
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            if !columns.contains(&"id") {
                break;
            }
            let rows = self
                .all
                .picked("attachments", &columns, Some(("id", id)), &[])?;
            found.extend(rows.iter().map(|row| object(row).finish()));
        }
        Ok(found)
    }

    /// The numbers of the tools that were offered.
    fn tools(&mut self, table: &str, of: (&str, &str)) -> Result<Vec<String>> {
        let rows = self.rows(table, of, "tool_id")?;
        let ids = rows.iter().filter_map(|row| row.get("tool_id")?.as_i64());
        let ids: Vec<i64> = ids.collect();
        self.tools.extend(&ids);
        Ok(ids.iter().map(i64::to_string).collect())
    }

    /// All tools that were ever offered.
    fn offered(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for id in &self.tools {
            let rows = self.rows(TOOLS, ("id", &id.to_string()), "id")?;
            found.extend(rows.iter().map(|row| object(row).finish()));
        }
        Ok(found)
    }
}
