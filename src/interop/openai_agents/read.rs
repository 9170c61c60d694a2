//! The importer: the items of a session, in the order in which they stand or in that of its branches.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::rows::ITEM;
use super::{ITEMS, ORDER, SESSION};
use crate::error::Result;
use crate::interop::records::{Held, Text};
use crate::interop::rows::time;
use crate::interop::spans::{Broken, elements, members};
use crate::interop::ways::{Behind, Steps, Walker, Ways, walk};
use crate::interop::{Action, ImportOptions, Input, SessionEnd, SessionStart, Sink, Step};
use crate::model::{Message, Millis, Role};
use crate::wire::Notes;
use crate::wire::json::{decode, string};
use crate::wire::responses::{self, Meaning};

/// The branch that every session begins with.
const MAIN: &str = "main";

/// Reads a session.
pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let mut found = Found {
        text,
        items: Vec::new(),
        end: SessionEnd::lacking(&["instructions", "tool definitions"]),
        notes: Notes::default(),
    };
    let (keys, broken) = members(text.bytes, held.start);
    let at = |name: &str| {
        let found = keys.iter().find(|(key, _)| key == name);
        found.map(|(_, at)| at.clone())
    };
    let id = at(SESSION).and_then(|at| session_id(&text.decode(&at).ok()?.0));
    let (rows, list_broken) = at(ITEMS).map_or_else(Default::default, |at| list(text, &at));
    for row in rows {
        found.item(&row, sink)?;
    }
    let ways = match at(ORDER).map(|at| list(text, &at).0) {
        Some(order) if !order.is_empty() => found.in_order(&order),
        _ => (0..found.items.len()).map(|at| at.checked_sub(1)).collect(),
    };
    let count = found.items.len() as u64;
    sink.session(SessionStart::new(
        id.unwrap_or_else(|| options.stem.to_owned()),
    ))?;
    held.end(list_broken.or(broken), sink)?;
    sink.progress(text.bytes.len() as u64, count);
    found.tell(Ways::of(ways).0, sink)
}

/// The elements of a list.
fn list(text: Text<'_>, at: &Range<usize>) -> (Vec<Range<usize>>, Option<Broken>) {
    match text.bytes.get(at.start) {
        Some(b'[') => elements(text.bytes, at.start),
        _ => Default::default(),
    }
}

fn session_id(raw: &RawValue) -> Option<String> {
    lazy! { struct Session { session_id } }
    let session: Session<'_> = decode(Some(raw))?;
    string(session.session_id).filter(|id| !id.is_empty())
}

lazy! {
    /// What stands beside an item in its row.
    struct Columns { id, created_at }
}

lazy! {
    /// Where an item stands in a branch.
    struct Placed { message_id, branch_id }
}

/// An item by its row.
struct Item {
    id: Option<i64>,
    at: Range<usize>,
    time: Option<Millis>,
    /// None once it was told, and of one that cannot be read.
    meaning: Option<Meaning>,
}

struct Found<'t> {
    text: Text<'t>,
    items: Vec<Item>,
    end: SessionEnd,
    notes: Notes,
}

impl<'t> Found<'t> {
    /// Reads a row.
    fn item(&mut self, row: &Range<usize>, sink: &mut dyn Sink) -> Result<()> {
        let (text, notes) = (self.text, &mut self.notes);
        let (keys, _) = members(text.bytes, row.start);
        let item = keys.into_iter().find(|(key, _)| key == ITEM);
        let Some((_, at)) = item else {
            return sink.problem(text.problem(row.start, "a row without its item"));
        };
        let mut encrypted = false;
        let read = |raw: &RawValue| {
            encrypted = is_encrypted(raw);
            match encrypted {
                true => Ok(Meaning::Aside),
                false => Ok(responses::read(raw, notes)),
            }
        };
        let lone = &mut self.end.lone_surrogates;
        let mut meaning = text.message(&at, lone, sink, read)?;
        if let Some(Meaning::TooDeep(reason)) = &meaning {
            sink.problem(text.problem(at.start, reason.as_str()))?;
            meaning = None;
        }
        if matches!(meaning, Some(Meaning::Aside)) {
            self.end.other(match encrypted {
                true => "encrypted item",
                false => "item",
            });
        }
        let decoded = text.decode(row).ok();
        let columns: Columns<'_> = decoded
            .as_ref()
            .and_then(|(raw, _)| decode(Some(raw)))
            .unwrap_or_default();
        self.items.push(Item {
            id: decode(columns.id),
            at,
            time: string(columns.created_at).and_then(|it| time(&it)),
            meaning,
        });
        Ok(())
    }

    /// The item before each one: where it is met first, in the order of the rows that say where items
    /// stand, the one before it in its branch. What stands in no branch is a way of its own.
    fn in_order(&self, order: &[Range<usize>]) -> Vec<Option<usize>> {
        let ids = self.items.iter().enumerate();
        let ids: HashMap<i64, usize> = ids.filter_map(|(at, item)| Some((item.id?, at))).collect();
        let mut branches: BTreeMap<(bool, String), Vec<usize>> = BTreeMap::new();
        for row in order {
            let Ok((raw, _)) = self.text.decode(row) else {
                continue;
            };
            let placed: Placed<'_> = decode(Some(&raw)).unwrap_or_default();
            let item = decode(placed.message_id).and_then(|id: i64| ids.get(&id));
            let branch = string(placed.branch_id).unwrap_or_else(|| MAIN.to_owned());
            if let Some(item) = item {
                let items = branches.entry((branch != MAIN, branch)).or_default();
                items.push(*item);
            }
        }
        let mut parents = vec![None; self.items.len()];
        let mut met = HashSet::new();
        for items in branches.values() {
            let mut before = None;
            for item in items {
                if met.insert(*item) {
                    parents[*item] = before;
                }
                before = Some(*item);
            }
        }
        parents
    }

    /// Tells of the way to the newest item, then of those that leave it.
    fn tell(self, ways: Ways, sink: &mut dyn Sink) -> Result<()> {
        let mut telling = Telling {
            found: self,
            calls: HashSet::new(),
            steps: Steps::of(sink),
        };
        walk(ways, None, &mut telling)?;
        let Telling { found, steps, .. } = telling;
        let mut end = found.end;
        end.opaque_blocks = found.notes.opaque_blocks;
        steps.sink.end(end)
    }
}

/// Whether an item is one that the SDK has encrypted.
fn is_encrypted(raw: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Envelope {
        __enc__: u64,
    }
    decode(Some(raw)).is_some_and(|it: Envelope| it.__enc__ == 1)
}

struct Telling<'t, 's> {
    found: Found<'t>,
    /// The calls that were told.
    calls: HashSet<String>,
    steps: Steps<'s>,
}

impl Telling<'_, '_> {
    /// The message that the next items of a way make, the items, and how many of the way they end at; no message of
    /// what is none.
    fn message(&mut self, way: &[usize], ways: &Ways) -> (Option<Message>, Vec<usize>, usize) {
        let items = &mut self.found.items;
        let mut reply = match items[way[0]].meaning.take() {
            Some(Meaning::Reply(parts)) => parts,
            Some(Meaning::Input(message) | Meaning::Output(message)) => {
                return (Some(message), vec![way[0]], 1);
            }
            Some(Meaning::Aside | Meaning::TooDeep(_)) | None => return (None, Vec::new(), 1),
        };
        // Up to where the model was given something, or another way begins.
        let mut of = vec![way[0]];
        let mut count = 1;
        while let Some(next) = way.get(count)
            && ways.children(way[count - 1]) == 1
        {
            match &mut items[*next].meaning {
                Some(Meaning::Reply(parts)) => {
                    reply.append(parts);
                    of.push(*next);
                }
                Some(Meaning::Input(_) | Meaning::Output(_)) => break,
                Some(Meaning::Aside | Meaning::TooDeep(_)) | None => {}
            }
            count += 1;
        }
        for part in &reply {
            self.calls
                .extend(responses::call_of(part).map(|(id, _)| id));
        }
        (Some(Message::new(Role::Assistant, reply)), of, count)
    }
}

impl<'s> Walker<'s> for Telling<'_, 's> {
    type State = ();

    fn steps(&mut self) -> &mut Steps<'s> {
        &mut self.steps
    }

    fn tell(&mut self, way: &[usize], ways: &Ways, behind: &mut Behind<()>) -> Result<usize> {
        let (message, of, count) = self.message(way, ways);
        let Some(message) = message else {
            return Ok(count);
        };
        let text = self.found.text;
        let first = &self.found.items[way[0]];
        let strays = message.results().filter(|call| !self.calls.contains(*call));
        for call in strays {
            let reason = format!("a tool result without its call '{call}'");
            let problem = text.problem(first.at.start, reason);
            self.steps.sink.problem(problem)?;
        }
        let of = of.iter().map(|at| &self.found.items[*at]);
        let last = of.clone().next_back().and_then(|item| item.time);
        let step = Step {
            time: last,
            records: of.map(|item| text.span(&item.at)).collect(),
            ..Step::new(Action::Append(message), text.span(&first.at))
        };
        self.steps.tell(step, &mut behind.last)?;
        Ok(count)
    }
}
