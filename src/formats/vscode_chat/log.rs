//! The log of changes: each line sets, cuts, extends or deletes something of the object before it.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::Result;
use crate::formats::shared::records::{LineReader, Record, each_line};
use crate::formats::{Input, Problem, Sink};
use crate::model::Span;

/// How deep a change may reach; none of the tool's comes near.
const PATH_MAX: usize = 64;

/// A line.
#[derive(Deserialize)]
struct Change {
    kind: u64,
    #[serde(default)]
    k: Vec<Value>,
    v: Option<Value>,
    i: Option<usize>,
}

/// Where a request comes from.
#[derive(Clone, Copy)]
pub(super) struct Touched {
    /// The line that it came with.
    made: Span,
    /// The last one that changed it.
    last: Span,
    /// The one that gave its result.
    result: Option<Span>,
}

impl Touched {
    fn by(span: Span) -> Self {
        Self {
            made: span,
            last: span,
            result: None,
        }
    }

    /// The lines that say it.
    pub(super) fn records(&self) -> Vec<Span> {
        let told = self.result.unwrap_or(self.last);
        let mut records = vec![self.made];
        records.extend((told != self.made).then_some(told));
        records
    }
}

/// The object that a log makes.
#[derive(Default)]
pub(super) struct Replayed {
    pub(super) object: Value,
    pub(super) touched: Vec<Touched>,
    pub(super) lone_surrogates: u64,
    changes: u64,
}

impl Replayed {
    /// How many changes say nothing of a request by themselves.
    pub(super) fn other(&self) -> u64 {
        let used: HashSet<Span> = self.touched.iter().flat_map(Touched::records).collect();
        self.changes - used.len() as u64
    }
}

/// Whether a source whose first line this is, is such a log.
pub(super) fn is_log(first_line: &str) -> bool {
    serde_json::from_str::<Change>(first_line).is_ok_and(|change| change.kind == 0)
}

/// Makes the object of a log.
pub(super) fn replay(input: &dyn Input, sink: &mut dyn Sink) -> Result<Replayed> {
    let mut reader = Reader {
        replayed: Replayed::default(),
        sink,
    };
    let lone_surrogates = each_line(input, &mut reader)?;
    Ok(Replayed {
        lone_surrogates,
        ..reader.replayed
    })
}

struct Reader<'a> {
    replayed: Replayed,
    sink: &'a mut dyn Sink,
}

impl LineReader for Reader<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }

    fn record(&mut self, record: Record<'_>) -> Result<()> {
        let (line, span) = (record.line, record.span());
        self.replayed.changes += 1;
        let done = serde_json::from_str::<Change>(record.value.get())
            .map_err(|error| format!("not a change: {error}"))
            .and_then(|change| self.replayed.apply(change, span));
        match done {
            Ok(()) => Ok(()),
            Err(reason) => self.sink.problem(Problem::new(line, reason)),
        }
    }
}

impl Replayed {
    fn apply(&mut self, change: Change, span: Span) -> Result<(), String> {
        let Change { kind, k, v, i } = change;
        if k.len() > PATH_MAX {
            return Err(format!("a change reaches deeper than {PATH_MAX}"));
        }
        match (kind, &k[..], v) {
            (0, _, Some(whole)) => self.object = whole,
            (1, [.., _], Some(value)) => put(&mut self.object, &k, Some(value))?,
            (2, [.., _], added) => extend(&mut self.object, &k, added, i)?,
            (3, [.., _], _) => put(&mut self.object, &k, None)?,
            _ => return Err("a change of an unknown kind".to_owned()),
        }
        self.touch(&k, kind == 2, i, span);
        Ok(())
    }

    /// Notes which requests a change was of.
    fn touch(&mut self, path: &[Value], extends: bool, cut: Option<usize>, span: Span) {
        let count = self.object["requests"].as_array().map_or(0, Vec::len);
        let is_requests = path.first().is_none_or(|first| first == "requests");
        match path.get(1).and_then(Value::as_u64) {
            Some(at) if is_requests => {
                if let Some(touched) = self.touched.get_mut(at as usize) {
                    touched.last = span;
                    let is_result = path.get(2).is_some_and(|key| key == "result");
                    touched.result = is_result.then_some(span).or(touched.result);
                    if path.len() == 2 {
                        *touched = Touched::by(span);
                    }
                }
            }
            _ if is_requests && extends && path.len() == 1 => {
                self.touched.truncate(cut.unwrap_or(usize::MAX));
            }
            _ if is_requests => self.touched.clear(),
            _ => {}
        }
        self.touched.resize(count, Touched::by(span));
    }
}

/// What a step of a path leads to.
fn step<'v>(value: &'v mut Value, key: &Value) -> Option<&'v mut Value> {
    match (value, key) {
        (Value::Object(members), Value::String(key)) => members.get_mut(key),
        (Value::Array(items), key) => items.get_mut(usize::try_from(key.as_u64()?).ok()?),
        _ => None,
    }
}

/// What holds the end of a path.
fn parent<'v>(object: &'v mut Value, path: &[Value]) -> Result<&'v mut Value, String> {
    let way = &path[..path.len().saturating_sub(1)];
    let found = way.iter().try_fold(object, step);
    found.ok_or_else(|| "a change of what is not there".to_owned())
}

/// Puts a value at the end of a path, or takes out what is there: of a list `null` stays.
fn put(object: &mut Value, path: &[Value], value: Option<Value>) -> Result<(), String> {
    let (parent, last) = (parent(object, path)?, &path[path.len() - 1]);
    match (parent, last) {
        (Value::Object(members), Value::String(key)) => match value {
            Some(value) => drop(members.insert(key.clone(), value)),
            None => drop(members.remove(key)),
        },
        (Value::Array(items), key) => {
            let at = key.as_u64().map_or(usize::MAX, |at| at as usize);
            let end = items.len();
            match (items.get_mut(at), value) {
                (Some(item), value) => *item = value.unwrap_or_default(),
                (None, Some(value)) if at == end => items.push(value),
                _ => return Err("a change behind the end of a list".to_owned()),
            }
        }
        _ => return Err("a change of what has no members".to_owned()),
    }
    Ok(())
}

/// Cuts a list, and adds to it; one that is not there begins empty.
fn extend(
    object: &mut Value,
    path: &[Value],
    added: Option<Value>,
    cut: Option<usize>,
) -> Result<(), String> {
    let added = match added {
        Some(Value::Array(added)) => added,
        None | Some(Value::Null) => Vec::new(),
        Some(_) => return Err("a change adds what is no list".to_owned()),
    };
    let last = &path[path.len() - 1];
    match step(parent(object, path)?, last) {
        Some(Value::Array(items)) => {
            items.truncate(cut.unwrap_or(usize::MAX));
            items.extend(added);
            Ok(())
        }
        None | Some(Value::Null) => put(object, path, Some(Value::Array(added))),
        Some(_) => Err("a change extends what is no list".to_owned()),
    }
}

/// The object of a session's text: itself, or what a log makes.
pub(super) fn object(text: &str) -> Option<Map<String, Value>> {
    struct Deaf;
    impl Sink for Deaf {}

    let text = text.trim_start_matches('\u{feff}');
    let whole = if text.lines().next().is_some_and(is_log) {
        replay(&text.as_bytes(), &mut Deaf).ok()?.object
    } else {
        serde_json::from_str(text).ok()?
    };
    match whole {
        Value::Object(object) => Some(object),
        _ => None,
    }
}
