//! The importer: the items of a session, in the order in which they stand or in that of its branches.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::rows::ITEM;
use super::{ITEMS, ORDER, SESSION};
use crate::error::Result;
use crate::formats::Step;
use crate::formats::shared::conversations::Names;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::parts::said;
use crate::formats::shared::rows::time;
use crate::formats::shared::spans::members;
use crate::formats::shared::ways::{Behind, Walker, Ways, walk};
use crate::model::{Message, Millis, RefName, Role};
use crate::wire::json::{decode, string};
use crate::wire::name::plain;
use crate::wire::responses::{self, Meaning};

/// The branch that every session begins with.
const MAIN: &str = "main";

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

/// A session.
#[derive(Default)]
pub(super) struct Session {
    items: Vec<Item>,
    /// The rows that say where items stand.
    order: Vec<Range<usize>>,
    /// The branches that end at an item, by their names, but for the main one.
    names: HashMap<usize, String>,
}

impl Document for Session {
    const RECORDS: &'static str = ITEMS;
    const LACKING: &'static [&'static str] = &["instructions", "tool definitions"];
    const LISTS: &'static [&'static str] = &[ORDER];

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        lazy! { struct Row { session_id } }
        if member.key == SESSION {
            let row: Row<'_> = decode(Some(member.raw)).unwrap_or_default();
            teller.name(said(row.session_id));
        }
        false
    }

    fn list(&mut self, _: &str, found: Vec<Range<usize>>, _: &mut ObjectTeller<'_, '_>) {
        self.order = found;
    }

    fn record(&mut self, row: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let (keys, _) = members(teller.text.bytes, row.start);
        let item = keys.into_iter().find(|(key, _)| key == ITEM);
        let Some((_, at)) = item else {
            return teller.problem(row, "a row without its item");
        };
        let mut encrypted = false;
        let mut meaning = teller.read(&at, |raw, notes| {
            encrypted = is_encrypted(raw);
            if encrypted {
                Ok(Meaning::Aside)
            } else {
                Ok(responses::read(raw, notes))
            }
        })?;
        if let Some(Meaning::TooDeep(reason)) = &meaning {
            teller.problem(&at, reason)?;
            meaning = None;
        }
        if matches!(meaning, Some(Meaning::Aside)) {
            teller
                .end
                .other(if encrypted { "encrypted item" } else { "item" });
        }
        let decoded = teller.text.decode(row).ok();
        let columns = decoded.as_ref().and_then(|(raw, _)| decode(Some(raw)));
        let columns: Columns<'_> = columns.unwrap_or_default();
        self.items.push(Item {
            id: decode(columns.id),
            at,
            time: string(columns.created_at).and_then(|it| time(&it)),
            meaning,
        });
        Ok(())
    }

    /// Tells of the main branch, or of the way to the newest item, then of those that leave it.
    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let (parents, stands) = if self.order.is_empty() {
            let one = (0..self.items.len()).map(|at| at.checked_sub(1));
            (one.collect(), None)
        } else {
            self.in_order(teller)
        };
        walk(parents, stands, self, teller)
    }
}

impl Session {
    /// The item before each one: where it is met first, in the order of the rows that say where items
    /// stand, the one before it in its branch. What stands in no branch is a way of its own. And the end of the main branch, with
    /// which every program begins that opens the session.
    fn in_order(&mut self, teller: &ObjectTeller<'_, '_>) -> (Vec<Option<usize>>, Option<usize>) {
        let ids = self.items.iter().enumerate();
        let ids: HashMap<i64, usize> = ids.filter_map(|(at, item)| Some((item.id?, at))).collect();
        let mut branches: BTreeMap<(bool, String), Vec<usize>> = BTreeMap::new();
        for row in &self.order {
            let Ok((raw, _)) = teller.text.decode(row) else {
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
        let (mut met, mut stands) = (HashSet::new(), None);
        let mut names = Names::default();
        for ((is_other, branch), items) in &branches {
            match items.last() {
                Some(last) if *is_other => {
                    self.names
                        .entry(*last)
                        .or_insert_with(|| names.of(name_of(branch)));
                }
                last => stands = last.copied(),
            }
            let mut before = None;
            for item in items {
                if met.insert(*item) {
                    parents[*item] = before;
                }
                before = Some(*item);
            }
        }
        (parents, stands)
    }

    /// The message that the next items of a way make, the items, and how many of the way they end at; no message of
    /// what is none.
    fn message(
        &mut self,
        way: &[usize],
        ways: &Ways,
        calls: &mut HashSet<String>,
    ) -> (Option<Message>, Vec<usize>, usize) {
        let items = &mut self.items;
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
        calls.extend(
            reply
                .iter()
                .filter_map(|part| Some(responses::call_of(part)?.0)),
        );
        (Some(Message::new(Role::Assistant, reply)), of, count)
    }
}

/// The name of a branch, in the letters that a branch has here; one that is called as those are that were left is told apart.
fn name_of(branch: &str) -> String {
    let name = plain(branch, 80, MAIN);
    match name.starts_with(RefName::LEAF) {
        true => format!("branch-{name}"),
        false => name,
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

impl Walker for Session {
    const RECORD: &'static str = "item";
    type State = ();

    fn place(&self, at: usize) -> &Range<usize> {
        &self.items[at].at
    }

    fn name(&self, leaf: usize) -> Option<String> {
        self.names.get(&leaf).cloned()
    }

    fn tell(
        &mut self,
        way: &[usize],
        ways: &Ways,
        behind: &mut Behind<()>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<usize> {
        let (message, of, count) = self.message(way, ways, &mut teller.calls);
        let Some(message) = message else {
            return Ok(count);
        };
        let text = teller.text;
        let first = &self.items[way[0]].at;
        teller.pair(&message, text, first)?;
        let of = of.iter().map(|at| &self.items[*at]);
        let step = Step::append(message, text.span(first))
            .at(of.clone().next_back().and_then(|item| item.time))
            .by(of.map(|item| text.span(&item.at)).collect());
        teller.follow(step, &mut behind.last)?;
        Ok(count)
    }
}
