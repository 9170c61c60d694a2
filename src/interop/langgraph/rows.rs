//! The saver's database: the object of a thread, put together from its checkpoints.
//!
//! A checkpoint says how many of the first messages of the one before it it has, and which follow: by their numbers
//! among all messages of the thread. One without messages has those of the one before it.

use std::collections::HashMap;

use serde_json::Value;

use super::state::{HABIT, State};
use super::{CHECKPOINTS, MESSAGES, THREAD};
use crate::error::Result;
use crate::interop::rows::{Rows, StoredSession, Tables, WithDocument, text};
use crate::interop::states::written;
use crate::wire::json::{Object, array};

/// How threads stand in the database.
pub(super) const TABLES: Tables = Tables {
    // It stands wherever its program has put it.
    file: "checkpoints.sqlite",
    shown_by: &[
        (CHECKPOINTS, &[OWNER, SPACE, ID, PARENT, KIND, STATE]),
        ("writes", &[OWNER, SPACE, ID, "task_id", "channel"]),
    ],
    sessions,
    document,
};

const OWNER: &str = "thread_id";
/// The sub-graph that a checkpoint is of; empty: none.
const SPACE: &str = "checkpoint_ns";
const ID: &str = "checkpoint_id";
const PARENT: &str = "parent_checkpoint_id";
const KIND: &str = "type";
const STATE: &str = "checkpoint";

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let mut newest: HashMap<String, i64> = HashMap::new();
    for row in rows.picked(CHECKPOINTS, &[OWNER, ID], None, &[])? {
        if let (Some(thread), Some(id)) = (text(&row, OWNER), text(&row, ID)) {
            let newest = newest.entry(thread.to_owned()).or_default();
            *newest = (*newest).max(time(id));
        }
    }
    let sums = rows.summed(CHECKPOINTS, OWNER, STATE, ID)?.into_iter();
    let stored = sums.map(|(id, rows, size_bytes, _)| StoredSession {
        updated: newest.get(&id).copied().unwrap_or_default(),
        id,
        rows,
        size_bytes,
        ..StoredSession::default()
    });
    Ok(stored.collect())
}

/// When a checkpoint was made, by its id (a UUID of version 6), in milliseconds since 1970; else 0.
fn time(id: &str) -> i64 {
    /// Steps of 100 ns from the beginning of the Gregorian calendar to that of 1970.
    const BEGIN: u64 = 0x01b2_1dd2_1381_4000;
    let Ok(id) = uuid::Uuid::parse_str(id) else {
        return 0;
    };
    let (high, middle, low, _) = id.as_fields();
    let steps = u64::from(high) << 28 | u64::from(middle) << 12 | u64::from(low & 0x0fff);
    let since = steps.checked_sub(BEGIN).map(|steps| steps / 10_000);
    match low >> 12 {
        6 => since
            .and_then(|it| i64::try_from(it).ok())
            .unwrap_or_default(),
        _ => 0,
    }
}

/// A checkpoint as far as it was read.
struct Checkpoint {
    id: String,
    parent: Option<String>,
    state: std::result::Result<State, String>,
}

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let columns = [SPACE, ID, PARENT, KIND, STATE];
    let all = rows.picked(CHECKPOINTS, &columns, Some((OWNER, id)), &[ID, SPACE])?;
    if all.is_empty() {
        return Ok(None);
    }
    let mut found = StoredSession {
        id: id.to_owned(),
        rows: all.len() as u64,
        ..StoredSession::default()
    };
    let mut checkpoints = Vec::new();
    let mut of_graphs_inside: u64 = 0;
    for row in all {
        found.size_bytes += length(row.get(STATE));
        let id = text(&row, ID).unwrap_or_default();
        found.updated = found.updated.max(time(id));
        if text(&row, SPACE).is_some_and(|space| !space.is_empty()) {
            of_graphs_inside += 1;
            continue;
        }
        checkpoints.push(Checkpoint {
            id: id.to_owned(),
            parent: text(&row, PARENT).map(str::to_owned),
            state: State::of(text(&row, KIND), row.get(STATE).unwrap_or(&Value::Null)),
        });
    }
    let channel = channel(&checkpoints);
    let mut listed = Listed::default();
    let lists: Vec<String> = checkpoints
        .into_iter()
        .map(|checkpoint| listed.checkpoint(checkpoint, channel.as_deref()))
        .collect();
    let mut thread = Object::new().string(OWNER, id);
    thread = thread.optional("channel", channel.as_deref());
    if of_graphs_inside > 0 {
        thread = thread.raw("of_graphs_inside", &of_graphs_inside.to_string());
    }
    let document = Object::new()
        .raw(THREAD, &thread.finish())
        .raw(MESSAGES, &array(listed.messages))
        .raw(CHECKPOINTS, &array(lists));
    Ok(Some((found, document.finish())))
}

/// How many bytes a state has.
fn length(held: Option<&Value>) -> u64 {
    let bytes = match held {
        Some(Value::String(text)) => text.len(),
        Some(Value::Object(object)) => {
            let text = object.values().next().and_then(Value::as_str);
            let text = text.unwrap_or_default();
            text.len() / 4 * 3 - text.bytes().rev().take_while(|byte| *byte == b'=').count()
        }
        _ => 0,
    };
    bytes as u64
}

/// The channel that holds the messages: the framework's own, or else the first by name that holds some.
fn channel(checkpoints: &[Checkpoint]) -> Option<String> {
    let states = checkpoints.iter().filter_map(|it| it.state.as_ref().ok());
    let names: std::collections::BTreeSet<&String> = states
        .flat_map(|state| state.channels.iter())
        .filter(|(_, messages)| messages.as_array().is_some_and(|all| !all.is_empty()))
        .map(|(name, _)| name)
        .collect();
    let own = names.iter().find(|name| **name == HABIT);
    own.or(names.iter().next()).map(|name| (*name).clone())
}

/// The messages of a thread, each once, and which of them each checkpoint has.
#[derive(Default)]
struct Listed {
    messages: Vec<String>,
    numbers: HashMap<String, usize>,
    lists: HashMap<String, Vec<usize>>,
}

impl Listed {
    fn checkpoint(&mut self, checkpoint: Checkpoint, channel: Option<&str>) -> String {
        let object = Object::new().string(ID, &checkpoint.id);
        let object = object.optional(PARENT, checkpoint.parent.as_deref());
        let state = match checkpoint.state {
            Ok(state) => state,
            Err(reason) => return object.string("unread", &reason).finish(),
        };
        let object = object.optional("ts", state.time.as_deref());
        let messages = channel.and_then(|name| state.channels.get(name)?.as_array());
        let parent = checkpoint.parent.as_ref();
        let before = parent.and_then(|parent| self.lists.get(parent)).cloned();
        let before = before.unwrap_or_default();
        let Some(messages) = messages else {
            self.lists.insert(checkpoint.id, before);
            return object.finish();
        };
        let list: Vec<usize> = messages.iter().map(|one| self.number(one)).collect();
        let object = written(object, &list, &before);
        self.lists.insert(checkpoint.id, list);
        object.finish()
    }

    fn number(&mut self, message: &Value) -> usize {
        let text = message.to_string();
        let next = self.messages.len();
        match self.numbers.get(&text) {
            Some(number) => *number,
            None => {
                self.messages.push(text.clone());
                self.numbers.insert(text, next);
                next
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_its_time() {
        // As the state with this id says of itself: 2025-05-22T15:19:14.726471+00:00.
        assert_eq!(
            time("1f037201-f031-6ecc-8015-afbfc1fdbd6a"),
            1_747_927_154_726
        );
        assert_eq!(time("5e0f0c1e-0000-4000-8000-000000000001"), 0);
        assert_eq!(time("00000000-0000-6000-8000-000000000000"), 0);
        assert_eq!(time("soon"), 0);
    }
}
