//! Where rows get their numbers: from whoever writes alone, who sees the greatest, or from sequences.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};

use super::columns::damaged;
use super::turn::{MANY, NUMBERED, Turn};
use crate::error::{Error, Result};

/// How many numbers are asked for at once at least.
const FEW: usize = 8;

/// Those that a message and its commit need.
const RESERVED: [&str; 2] = ["contents", "commits"];

/// The numbers of rows that are still to be put.
#[derive(Default)]
pub(super) struct Numbers {
    /// The greatest given in each table, and in the beginning, where nobody else gives any.
    last: RefCell<HashMap<&'static str, (i64, i64)>>,
    /// Those that were reserved.
    reserved: RefCell<HashMap<&'static str, VecDeque<i64>>>,
}

impl Numbers {
    /// Takes in the greatest ones, which were told at the beginning where nobody else gives any.
    pub(super) fn took(&self, greatest: &[Option<String>]) {
        let number = |text: &Option<String>| text.as_deref().and_then(|text| text.parse().ok());
        let greatest = greatest.iter().map(|text| number(text).unwrap_or(0));
        let last = NUMBERED.into_iter().zip(greatest);
        self.last
            .replace(last.map(|(table, id)| (table, (id, id))).collect());
    }

    /// Takes in one of a content and one of a commit.
    pub(super) fn reserve(&self, both: [i64; 2]) {
        let mut reserved = self.reserved.borrow_mut();
        for (table, id) in RESERVED.into_iter().zip(both) {
            reserved.entry(table).or_default().push_back(id);
        }
    }

    /// The next one of a table; none where it has to be asked for.
    pub(super) fn next(&self, turn: Turn, table: &'static str) -> Option<i64> {
        if turn == Turn::Alone {
            let mut last = self.last.borrow_mut();
            let (id, _) = last.entry(table).or_default();
            *id += 1;
            return Some(*id);
        }
        self.reserved.borrow_mut().get_mut(table)?.pop_front()
    }

    /// The last one was not used, and nobody has seen it.
    pub(super) fn give_back(&self, table: &'static str) {
        if let Some((id, _)) = self.last.borrow_mut().get_mut(table) {
            *id -= 1;
        }
    }

    /// What asks for more of a table.
    pub(super) fn more(&self, turn: Turn, table: &'static str) -> Result<String> {
        if turn != Turn::OnBranch || !NUMBERED.contains(&table) {
            return Err(Error::store("no row is put here that needs a number"));
        }
        let mut reserved = self.reserved.borrow_mut();
        let row = reserved.entry(table).or_default();
        // So that many are asked for less often.
        let many = (row.capacity() * 2).clamp(FEW, MANY);
        Ok(format!("SELECT numbers('{table}', {many})"))
    }

    /// What asks for those that so many messages with their commits still need; none where they are here.
    pub(super) fn ahead(&self, messages: usize) -> Option<String> {
        let reserved = self.reserved.borrow();
        let lack = RESERVED.map(|table| {
            let here = reserved.get(table).map_or(0, VecDeque::len);
            (table, messages.saturating_sub(here).min(MANY))
        });
        let asks = lack.map(|(table, many)| format!("numbers('{table}', {many})"));
        let lacks = lack.iter().any(|(_, many)| *many > 0);
        lacks.then(|| format!("SELECT {}", asks.join(", ")))
    }

    pub(super) fn took_ahead(&self, told: &[Option<String>]) {
        let mut reserved = self.reserved.borrow_mut();
        for (table, more) in RESERVED.into_iter().zip(told) {
            let row = reserved.entry(table).or_default();
            row.extend(list(more.as_deref().unwrap_or_default()));
        }
    }

    pub(super) fn took_more(&self, table: &'static str, told: &str) -> Result<i64> {
        let mut all = list(told);
        let first = all.pop_front();
        self.reserved.borrow_mut().insert(table, all);
        first.ok_or_else(|| damaged("no number is left"))
    }

    /// What says how far the numbers went that were given without asking.
    pub(super) fn gave(&self) -> String {
        let last = self.last.borrow();
        let gave = NUMBERED.iter().filter_map(|table| {
            let (id, _) = last.get(table).filter(|(id, before)| id > before)?;
            Some(format!("SELECT numbered('{table}', {id}); "))
        });
        gave.collect()
    }
}

/// An array of numbers as a server writes it.
fn list(text: &str) -> VecDeque<i64> {
    let all = text.trim_matches(['{', '}']).split(',');
    all.filter_map(|one| one.parse().ok()).collect()
}
