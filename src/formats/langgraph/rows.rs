//! The saver's database: the object of a thread, put together from its checkpoints.
//!
//! A checkpoint says how many of the first messages of the one before it it has, and which follow: by their numbers
//! among all messages of the thread. One without messages has those of the one before it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::state::State;
use super::thread::{Checkpoint, ID, PARENT, Thread, Write};
use super::{CHECKPOINTS, GRAPHS, MESSAGES, STARTED_BY, THREAD};
use crate::error::Result;
use crate::formats::shared::rows::{Rows, StoredSession, Tables, WithDocument, bytes, has, text};
use crate::wire::json::{Object, array};

/// The database's name where the deep agents' program has it.
pub(super) const DATABASE: &str = "sessions.db";

/// How threads stand in the database.
pub(super) const TABLES: Tables = Tables {
    // It stands wherever its program has put it.
    file: DATABASE,
    shown_by: &[
        (CHECKPOINTS, &[OWNER, SPACE, ID, PARENT, KIND, STATE]),
        (WRITES, &[OWNER, SPACE, ID, TASK, CHANNEL]),
    ],
    sessions,
    document,
};

const OWNER: &str = "thread_id";
/// The sub-graph that a checkpoint is of; empty: none.
const SPACE: &str = "checkpoint_ns";
const KIND: &str = "type";
const STATE: &str = "checkpoint";
const METADATA: &str = "metadata";

/// What tasks wrote, each for the step behind a checkpoint.
const WRITES: &str = "writes";
const TASK: &str = "task_id";
/// Where the task stands in its step; older tables do not have it.
const PATH: &str = "task_path";
const NUMBER: &str = "idx";
const CHANNEL: &str = "channel";
const VALUE: &str = "value";
const WRITE: [&str; 7] = [SPACE, ID, TASK, NUMBER, CHANNEL, KIND, VALUE];

fn sessions(rows: &dyn Rows) -> Result<Vec<StoredSession>> {
    let mut newest: HashMap<String, i64> = HashMap::new();
    for row in rows.picked(CHECKPOINTS, &[OWNER, ID], None, &[])? {
        if let (Some(thread), Some(id)) = (text(&row, OWNER), text(&row, ID)) {
            let newest = newest.entry(thread.to_owned()).or_default();
            *newest = (*newest).max(time(id));
        }
    }
    let mut writes: HashMap<String, (u64, u64)> = HashMap::new();
    if has(rows, WRITES, &WRITE)? {
        let sums = rows.summed(WRITES, OWNER, VALUE, NUMBER)?.into_iter();
        writes.extend(sums.map(|(id, rows, size_bytes, _)| (id, (rows, size_bytes))));
    }
    let sums = rows.summed(CHECKPOINTS, OWNER, STATE, ID)?.into_iter();
    let stored = sums.map(|(id, rows, size_bytes, _)| {
        let beside = writes.get(&id).copied().unwrap_or_default();
        StoredSession {
            updated: newest.get(&id).copied().unwrap_or_default(),
            id,
            rows: rows + beside.0,
            size_bytes: size_bytes + beside.1,
            ..StoredSession::default()
        }
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

fn document(rows: &dyn Rows, id: &str) -> Result<Option<WithDocument>> {
    let has_metadata = has(rows, CHECKPOINTS, &[METADATA])?;
    let mut columns = vec![SPACE, ID, PARENT, KIND, STATE];
    columns.extend(has_metadata.then_some(METADATA));
    let all = rows.picked(CHECKPOINTS, &columns, Some((OWNER, id)), &[ID, SPACE])?;
    if all.is_empty() {
        return Ok(None);
    }
    let mut found = StoredSession {
        id: id.to_owned(),
        rows: all.len() as u64,
        ..StoredSession::default()
    };
    // By the graph, the thread's own first.
    let mut graphs: BTreeMap<String, Thread> = [(String::new(), Thread::default())].into();
    for row in all {
        found.size_bytes += length(row.get(STATE));
        let id = text(&row, ID).unwrap_or_default();
        found.updated = found.updated.max(time(id));
        let space = text(&row, SPACE).unwrap_or_default();
        let thread = graphs.entry(space.to_owned()).or_default();
        let metadata = serde_json::from_slice(&bytes(row.get(METADATA)));
        let metadata: Value = metadata.unwrap_or_default();
        let counters = metadata.get("counters_since_delta_snapshot");
        let names = counters.and_then(Value::as_object).into_iter();
        thread.changing.extend(names.flat_map(Map::keys).cloned());
        thread.checkpoints.push(Checkpoint {
            id: id.to_owned(),
            parent: text(&row, PARENT).map(str::to_owned),
            state: State::of(text(&row, KIND), row.get(STATE).unwrap_or(&Value::Null)),
        });
    }
    if has(rows, WRITES, &WRITE)? {
        let path = has(rows, WRITES, &[PATH])?.then_some(PATH);
        let columns: Vec<&str> = WRITE.into_iter().chain(path).collect();
        let order: Vec<&str> = path.into_iter().chain([TASK, NUMBER]).collect();
        let all = rows.picked(WRITES, &columns, Some((OWNER, id)), &order)?;
        found.rows += all.len() as u64;
        for row in &all {
            found.size_bytes += length(row.get(VALUE));
        }
        for (space, thread) in &mut graphs {
            let own = all
                .iter()
                .filter(|row| text(row, SPACE).unwrap_or_default() == space);
            thread.take_writes(own.map(|row| Write {
                checkpoint: text(row, ID).unwrap_or_default(),
                channel: text(row, CHANNEL).unwrap_or_default(),
                kind: text(row, KIND),
                held: row.get(VALUE).unwrap_or(&Value::Null),
            }));
        }
    }
    Ok(Some((found, together(id, graphs))))
}

/// The object of a thread: its own graph, and those inside that have messages of their own. What a graph inside shares with
/// the one around it is there already.
fn together(id: &str, mut graphs: BTreeMap<String, Thread>) -> String {
    let mut own = graphs.remove("").unwrap_or_default();
    let about = Object::new().string(OWNER, id);
    let (about, rest) = put_together(about, &mut own);
    let (mut inside, mut of_graphs_inside) = (Vec::new(), 0);
    let mut named: BTreeSet<String> = BTreeSet::new();
    for (space, mut thread) in graphs {
        let count = thread.checkpoints.len();
        let about = Object::new().string(OWNER, &format!("{id}/{space}"));
        // `a:1|b:2` stands in `a:1`.
        let mut around = space.match_indices('|').map(|(at, _)| &space[..at]);
        let around = around.rfind(|space| named.contains(*space));
        let around = around.map_or_else(|| id.to_owned(), |space| format!("{id}/{space}"));
        let (about, rest) = put_together(about.string(STARTED_BY, &around), &mut thread);
        if thread.listed.has_others_than(&own.listed) {
            inside.push(rest(Object::new().raw(THREAD, &about.finish())).finish());
            named.insert(space);
        } else {
            of_graphs_inside += count;
        }
    }
    let about = match of_graphs_inside {
        0 => about,
        count => about.raw("of_graphs_inside", &count.to_string()),
    };
    let object = rest(Object::new().raw(THREAD, &about.finish()));
    match &inside[..] {
        [] => object.finish(),
        _ => object.raw(GRAPHS, &array(inside)).finish(),
    }
}

/// What is known of a graph's checkpoints, and what puts them into its object.
fn put_together(
    about: Object,
    thread: &mut Thread,
) -> (Object, impl FnOnce(Object) -> Object + use<>) {
    let (channels, left_out) = thread.channels();
    let mut about = about;
    if !channels.is_empty() {
        about = about.string("channel", &channels.join(", "));
    }
    if !left_out.is_empty() {
        about = about.raw("left_out", &json!(left_out).to_string());
    }
    let lists = array(thread.lists(&channels));
    let messages = array(&thread.listed.messages);
    let put = move |object: Object| object.raw(MESSAGES, &messages).raw(CHECKPOINTS, &lists);
    (about, put)
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
