//! Where rows get their numbers: from whoever writes alone, who sees the greatest, or from sequences.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};

use super::columns::damaged;
use super::turn::{MANY, NUMBERED, SHARED, Turn};
use crate::error::{Error, Result};

/// How many numbers are asked for at once at least.
const FEW: usize = 8;

/// The numbers of rows that are still to be put.
#[derive(Default)]
pub(super) struct Numbers {
    /// The greatest given in each table, and in the beginning, where nobody else gives any.
    last: RefCell<HashMap<&'static str, (i64, i64)>>,
    /// Those that were reserved.
    reserved: RefCell<HashMap<&'static str, VecDeque<i64>>>,
}

impl Numbers {
    /// Takes in what was told at the beginning.
    pub(super) fn took(&self, turn: Turn, told: &[Option<String>]) {
        let number = |text: &Option<String>| text.as_deref().and_then(|text| text.parse().ok());
        match turn {
            Turn::Alone => {
                let greatest = told.iter().map(|text| number(text).unwrap_or(0));
                let last = NUMBERED.into_iter().zip(greatest);
                self.last
                    .replace(last.map(|(table, id)| (table, (id, id))).collect());
            }
            Turn::OnBranch => {
                let of = told
                    .iter()
                    .map(|text| list(text.as_deref().unwrap_or_default()));
                self.reserved.replace(SHARED.into_iter().zip(of).collect());
            }
            Turn::Aside => {}
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
        if turn != Turn::OnBranch || !SHARED.contains(&table) {
            return Err(Error::store("no row is put here that needs a number"));
        }
        let mut reserved = self.reserved.borrow_mut();
        let row = reserved.entry(table).or_default();
        // So that many are asked for less often.
        let many = (row.capacity() * 2).clamp(FEW, MANY);
        Ok(format!("SELECT numbers('{table}', {many})"))
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
        let gave = SHARED.iter().filter_map(|table| {
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
