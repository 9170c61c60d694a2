//! What a rollout begins with and another file holds: a fork's records up to where it was made, a
//! session's own up to where it was taken back.
//!
//! Those records are read as their own file's are, so that the same messages come of them, and what
//! this file says next is understood: which turns a rollback drops, which call an output answers. But
//! none of them is a record of this file.

use super::inheritance::Inherited;
use super::record::{self, Record, SessionMeta};
use super::session::Reader;
use crate::error::Result;
use crate::formats::Base;
use crate::formats::shared::parts;
use crate::formats::shared::records::{each_line, first_line};
use crate::model::Span;
use crate::wire::json::{Raw, decode};

/// How many files one may begin with, each in the next.
const DEPTH: usize = 64;

impl Reader<'_> {
    /// The place of the record just read, if it is one of this file.
    pub(super) fn own_span(&self) -> impl Iterator<Item = Span> + use<> {
        let is_own = self.inherited.is_none();
        is_own.then_some(self.current.span).into_iter()
    }

    /// Reads what the session begins with.
    pub(super) fn begin_with(&mut self, base: &Base) -> Result<()> {
        let here = self.current;
        let prompt = self.prompt.take();
        let own = std::mem::take(&mut self.teller.due);
        let notes = std::mem::take(&mut self.teller.notes);
        let came = self.read_base(base, 0);
        self.inherited = None;
        self.current = here;
        self.prompt = prompt;
        self.teller.notes = notes;
        came?;
        let brought = std::mem::take(&mut self.brought);
        let new = own.into_iter();
        let new = new.filter(|(key, value)| brought.get(key) != Some(value));
        self.teller.due.extend(new);
        Ok(())
    }

    /// Reads the records of a base, those that it begins with itself first.
    fn read_base(&mut self, base: &Base, depth: usize) -> Result<()> {
        let bases = self.bases;
        let input = bases.map(|bases| bases.find(base)).transpose()?.flatten();
        let Some(input) = input else {
            self.lacks(base, 0);
            return Ok(());
        };
        let first = first_line(input)?.and_then(|line| record::descent(&line));
        let before = first.and_then(|(_, descent)| descent.base);
        let start = before.as_ref().and_then(Base::records).unwrap_or(0);
        let records = base.records().unwrap_or(0);
        if depth == DEPTH || start > records {
            self.lacks(base, 0);
            return Ok(());
        }
        if let Some(before) = before {
            self.read_base(&before, depth + 1)?;
        }
        self.inherited = Some(Inherited::new(start, records));
        each_line(input, self)?;
        self.boundary()?;
        let read = self.inherited.take().map_or(0, |read| read.next());
        if read < records {
            self.lacks(base, read);
        }
        Ok(())
    }

    /// Says that of a base only so many records are here. The first that lacks any says so.
    fn lacks(&mut self, base: &Base, read: u64) {
        let end = &mut self.teller.end;
        if end.begins_in.is_some() {
            return;
        }
        // A file of a session has no name for who would import it.
        let session = base.thread.as_ref().unwrap_or(&base.session);
        let records = base.records().unwrap_or(0);
        end.absent.push(match read {
            0 => format!("its first {records} records, of session {session}, which is not here"),
            _ => format!(
                "records {read} to {} of session {session}, which is here only so far",
                records.saturating_sub(1)
            ),
        });
        end.begins_in = Some(session.clone());
    }

    /// Whether a record of another file is read on; of its first one only the system prompt is, and
    /// the tools.
    pub(super) fn inherits(&mut self, kind: &str, record: &Record<'_>) -> Result<bool> {
        let Some(inherited) = &mut self.inherited else {
            return Ok(true);
        };
        if !inherited.takes(decode::<u64>(record.ordinal)) {
            return Ok(false);
        }
        let meta = record.payload.filter(|_| kind == "session_meta");
        let Some(payload) = meta else {
            return Ok(true);
        };
        let meta = serde_json::from_str::<SessionMeta<'_>>(payload.get()).unwrap_or_default();
        if self.path.system.is_none() {
            self.brings("dynamic_tools", meta.dynamic_tools)?;
            let time = parts::time(record.timestamp);
            let text = meta.system_prompt();
            self.tell_system(text.map(|text| (text, None, time)))?;
        }
        Ok(false)
    }

    fn brings(&mut self, key: &str, value: Raw<'_>) -> Result<()> {
        self.setting(key, value)?;
        if let Some(value) = value {
            self.brought.insert(key.to_owned(), value.get().to_owned());
        }
        Ok(())
    }
}
