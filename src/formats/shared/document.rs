//! Sessions that are one object: a list of records, and beside it what is known of the session.
//!
//! Deliberately absent: what a member or a record says; each format reads its own. Files with many sessions
//! ([`crate::formats::shared::conversations`]), and trees ([`crate::formats::shared::ways`]).

use std::ops::{Deref, DerefMut, Range};

use serde_json::value::RawValue;

use crate::error::Result;
use crate::formats::shared::parts;
use crate::formats::shared::records::{Held, Text};
use crate::formats::shared::spans::{Broken, elements, members};
use crate::formats::shared::teller::Teller;
use crate::formats::{Source, Step, StepEntry};
use crate::model::{Message, Millis, Role, UsageRecord};
use crate::wire::Notes;

/// How a format's object is read; what is known on the way.
pub(in crate::formats) trait Document: Default {
    /// The member with the records.
    const RECORDS: &'static str;
    /// What the object lacks of what the model was sent.
    const LACKING: &'static [&'static str] = &["system prompt", "tool definitions"];
    /// With what these begin.
    const OPEN: u8 = b'[';
    /// Whether the list of records may stand alone, without an object around it.
    const MAY_BE_LIST: bool = false;
    /// Other members that are lists.
    const LISTS: &'static [&'static str] = &[];

    /// A member beside the records; false where it is not read.
    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool;

    /// Where the records stand whose list begins at `start`.
    fn records(&mut self, bytes: &[u8], start: usize) -> (Vec<Range<usize>>, Option<Broken>) {
        elements(bytes, start)
    }

    /// A member that is a list: where its elements stand.
    #[allow(unused_variables)]
    fn list(&mut self, key: &str, found: Vec<Range<usize>>, teller: &mut ObjectTeller<'_, '_>) {}

    /// What is told before the records: the session, where no record says which it is.
    #[allow(unused_variables)]
    fn begin(&mut self, records: &[Range<usize>], teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        teller.open()
    }

    /// A record.
    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()>;

    /// What is told behind the records.
    #[allow(unused_variables)]
    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        Ok(())
    }
}

/// A member of an object.
pub(in crate::formats) struct Member<'m> {
    pub(in crate::formats) key: &'m str,
    pub(in crate::formats) raw: &'m RawValue,
    pub(in crate::formats) at: &'m Range<usize>,
}

impl Member<'_> {
    /// Its text, where it is one and not empty.
    pub(in crate::formats) fn word(&self) -> Option<String> {
        parts::said(Some(self.raw))
    }
}

/// Reads a session.
pub(in crate::formats) fn import<D: Document>(source: Source<'_>) -> Result<()> {
    import_held::<D>(&Held::read(source.input)?, source)
}

/// The same of a source that is held already. It may be the list of records alone.
pub(in crate::formats) fn import_held<D: Document>(held: &Held, source: Source<'_>) -> Result<()> {
    let teller = Teller::of(source.stem, D::LACKING, source.sink);
    let mut teller = ObjectTeller::of(held.text(), teller);
    let mut opened = Opened::<D>::read(held.start, &mut teller);
    let records = opened.tell(&mut teller)?;
    teller.close(held, opened.broken, records)
}

/// An object whose members were read.
pub(in crate::formats) struct Opened<D> {
    pub(in crate::formats) document: D,
    pub(in crate::formats) records: Vec<Range<usize>>,
    /// Whether there is a list of records.
    pub(in crate::formats) is_listed: bool,
    /// Why there may be more.
    pub(in crate::formats) broken: Option<Broken>,
}

impl<D: Document> Opened<D> {
    /// Reads the members of the object, or the list of records, that begins at `start`.
    pub(in crate::formats) fn read(start: usize, teller: &mut ObjectTeller<'_, '_>) -> Self {
        let text = teller.text;
        teller.begins = start;
        if D::MAY_BE_LIST && text.bytes.get(start) == Some(&b'[') {
            let mut document = D::default();
            let (records, broken) = document.records(text.bytes, start);
            return Self {
                document,
                records,
                is_listed: true,
                broken,
            };
        }
        let (keys, broken) = members(text.bytes, start);
        let mut opened = Self {
            document: D::default(),
            records: Vec::new(),
            is_listed: false,
            broken,
        };
        for (key, at) in keys {
            if key == D::RECORDS {
                let (found, torn) = opened.document.records(text.bytes, at.start);
                opened.is_listed = text.bytes.get(at.start) == Some(&D::OPEN);
                opened.broken = torn.or(opened.broken);
                opened.records = found;
            } else if D::LISTS.contains(&key.as_str()) {
                let (found, torn) = elements(text.bytes, at.start);
                opened.broken = torn.or(opened.broken);
                opened.document.list(&key, found, teller);
            } else if let Ok((raw, lone)) = text.decode(&at) {
                let member = Member {
                    key: &key,
                    raw: &raw,
                    at: &at,
                };
                let is_read = opened.document.member(&member, teller);
                teller.end.lone_surrogates += if is_read { lone } else { 0 };
            }
        }
        opened
    }

    /// Reads the members of an object inside the session's own: what is known of that one stays as it is.
    pub(in crate::formats) fn inside(start: usize, teller: &mut ObjectTeller<'_, '_>) -> Self {
        let end = std::mem::take(&mut teller.end);
        let opened = Self::read(start, teller);
        teller.end = end;
        opened
    }

    /// Tells of what it says; returns how many records it has.
    pub(in crate::formats) fn tell(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<u64> {
        let Self {
            document, records, ..
        } = self;
        document.begin(records, teller)?;
        for (number, at) in records.iter().enumerate() {
            teller.next = records.get(number + 1).cloned();
            document.record(at, teller)?;
        }
        document.finish(teller)?;
        Ok(records.len() as u64)
    }
}

/// What a record says, where that is messages alone.
#[derive(Default)]
pub(in crate::formats) struct Said {
    pub(in crate::formats) messages: Vec<Message>,
    /// What the record is where it says nothing.
    pub(in crate::formats) kind: String,
    pub(in crate::formats) time: Option<Millis>,
    /// What was counted for the reply among them.
    pub(in crate::formats) usage: Option<UsageRecord>,
    /// The model that holds from here on, as JSON.
    pub(in crate::formats) model: Option<String>,
}

/// What tells a sink of a document.
pub(in crate::formats) struct ObjectTeller<'t, 's> {
    pub(in crate::formats) text: Text<'t>,
    /// Where the object begins.
    pub(in crate::formats) begins: usize,
    /// Where the record behind the one that is read stands.
    pub(in crate::formats) next: Option<Range<usize>>,
    teller: Teller<'s>,
}

impl<'s> Deref for ObjectTeller<'_, 's> {
    type Target = Teller<'s>;

    fn deref(&self) -> &Teller<'s> {
        &self.teller
    }
}

impl DerefMut for ObjectTeller<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.teller
    }
}

impl<'t, 's> ObjectTeller<'t, 's> {
    pub(in crate::formats) fn of(text: Text<'t>, teller: Teller<'s>) -> Self {
        Self {
            text,
            begins: 0,
            next: None,
            teller,
        }
    }

    /// Tells that the session ends, and what is wrong behind its so many records.
    pub(in crate::formats) fn close(
        self,
        held: &Held,
        broken: Option<Broken>,
        records: u64,
    ) -> Result<()> {
        let teller = self.teller;
        held.end(broken, teller.sink)?;
        teller.sink.progress(self.text.bytes.len() as u64, records);
        teller.close()
    }

    /// What tells, for the next text.
    pub(in crate::formats) fn into_teller(self) -> Teller<'s> {
        self.teller
    }

    /// Tells that the session ends, where more may follow.
    pub(in crate::formats) fn end(self) -> Result<()> {
        self.teller.close()
    }

    /// Reads a record, which must be an object; none where that cannot be, which is told.
    pub(in crate::formats) fn read<T>(
        &mut self,
        at: &Range<usize>,
        read: impl FnOnce(&RawValue, &mut Notes) -> Result<T, String>,
    ) -> Result<Option<T>> {
        let Teller {
            sink, end, notes, ..
        } = &mut self.teller;
        let read = |raw: &RawValue| read(raw, notes);
        self.text.message(at, &mut end.lone_surrogates, *sink, read)
    }

    pub(in crate::formats) fn problem(
        &mut self,
        at: &Range<usize>,
        reason: impl Into<String>,
    ) -> Result<()> {
        let problem = self.text.problem(at.start, reason);
        self.teller.sink.problem(problem)
    }

    /// Opens the session, and tells the instructions that stand beside its messages.
    pub(in crate::formats) fn begin_with(
        &mut self,
        system: Option<(Message, Range<usize>)>,
    ) -> Result<()> {
        self.teller.open()?;
        let Some((system, at)) = system else {
            return Ok(());
        };
        self.teller
            .end
            .absent
            .retain(|what| what != "system prompt");
        let step = Step::append(system, self.text.span(&at));
        self.teller.step(step).map(drop)
    }

    /// Tells of what a record says; gives the entries that it makes.
    pub(in crate::formats) fn tell(
        &mut self,
        said: Said,
        at: &Range<usize>,
    ) -> Result<Vec<StepEntry>> {
        self.set("model", said.model);
        if said.messages.is_empty() {
            self.teller.end.other(said.kind);
        }
        let messages = said.messages.into_iter();
        let tell = |message: Message| {
            let usage = said.usage.clone();
            let usage = usage.filter(|_| message.role == Role::Assistant);
            self.append(message, at, said.time, usage)
        };
        messages.map(tell).collect()
    }

    /// Tells of a message at the end, by a record.
    pub(in crate::formats) fn append(
        &mut self,
        message: Message,
        at: &Range<usize>,
        time: Option<Millis>,
        usage: Option<UsageRecord>,
    ) -> Result<StepEntry> {
        self.teller.pair(&message, self.text, at)?;
        let step = Step::append(message, self.text.span(at));
        self.teller.step(step.at(time).recorded(usage))
    }
}
