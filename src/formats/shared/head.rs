//! The first records of a source, made ready to be looked at.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::formats::Input;
use crate::formats::shared::lines::lines;
use crate::formats::shared::records::without_mark;
use crate::formats::shared::spans::{elements, members, skip_space, skip_value};
use crate::formats::shared::sse;

/// How much of a source is looked at: 16 MiB.
const HEAD_BYTES: u64 = 16 << 20;
/// How many records are looked at.
const MAX_RECORDS: usize = 200;

/// The bytes that are looked at.
///
/// # Errors
///
/// [`Error::Io`] if the source cannot be read.
pub(in crate::formats) fn front(input: &dyn Input) -> Result<Vec<u8>> {
    input.front(HEAD_BYTES).map_err(Error::io("source"))
}

/// Whether the bytes are one JSON value.
pub(in crate::formats) fn is_complete(bytes: &[u8]) -> bool {
    skip_value(bytes, 0).is_ok_and(|end| skip_space(bytes, end) == bytes.len())
}

/// The keys of the object on a source's first line, as far as they are there, and whether it ends with the line.
pub(in crate::formats) fn first_line(front: &[u8]) -> (Vec<String>, bool) {
    let front = without_mark(front);
    let line = lines(&front[skip_space(front, 0)..]).next();
    let line = line.unwrap_or_default();
    let keys = members(line, 0).0.into_iter().map(|(key, _)| key);
    (keys.collect(), skip_value(line, 0).is_ok())
}

/// The first records of a source, as a format looks at them.
pub struct SourceHead<'a> {
    pub(in crate::formats) layout: Layout,
    pub(in crate::formats) records: Vec<Keys<'a>>,
}

/// How records lie in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats) enum Layout {
    /// One object. It may also be the only line of a file of lines.
    Object,
    /// The elements of one array.
    List,
    /// Objects, one a line. Lines that are no JSON object are left out.
    Lines,
}

impl<'a> SourceHead<'a> {
    pub(in crate::formats) fn document(bytes: &'a [u8], start: usize) -> Self {
        let (layout, starts) = match bytes[start] {
            b'{' => (Layout::Object, vec![start]),
            _ => {
                let (items, _) = elements(bytes, start);
                (Layout::List, items.iter().map(|item| item.start).collect())
            }
        };
        let starts = starts.into_iter().take(MAX_RECORDS);
        Self {
            layout,
            records: starts.map(|start| Keys::of(bytes, start)).collect(),
        }
    }

    pub(in crate::formats) fn lines(bytes: &'a [u8]) -> Self {
        let lines = lines(bytes).filter_map(sse::record);
        let objects = lines.filter(|line| line.get(skip_space(line, 0)) == Some(&b'{'));
        Self {
            layout: Layout::Lines,
            records: objects
                .take(MAX_RECORDS)
                .map(|line| Keys::of(line, 0))
                .collect(),
        }
    }

    /// Whether there are as many records as anybody looks at.
    pub(in crate::formats) fn is_full(&self) -> bool {
        self.records.len() == MAX_RECORDS
    }

    /// The first record of a file of lines, or the whole document, that `shows` something.
    pub(in crate::formats) fn first(&self, shows: impl Fn(&Keys<'a>) -> bool) -> Option<usize> {
        match self.layout {
            Layout::List => None,
            Layout::Object | Layout::Lines => self.records.iter().position(shows),
        }
    }

    /// The document, if it is an object.
    pub(in crate::formats) fn object(&self) -> Option<&Keys<'a>> {
        let first = self.records.first();
        first.filter(|_| self.layout == Layout::Object)
    }

    /// Whether the document is a list with an element that `shows` something.
    pub(in crate::formats) fn lists(&self, shows: impl Fn(&Keys<'a>) -> bool) -> bool {
        self.layout == Layout::List && self.records.iter().any(shows)
    }
}

/// The members of one object.
#[derive(Clone)]
pub(in crate::formats) struct Keys<'a> {
    bytes: &'a [u8],
    members: Vec<(String, Range<usize>)>,
}

impl<'a> Keys<'a> {
    pub(in crate::formats) fn of(bytes: &'a [u8], start: usize) -> Self {
        Self {
            bytes,
            members: members(bytes, start).0,
        }
    }

    fn get(&self, key: &str) -> Option<Range<usize>> {
        let found = self.members.iter().find(|(name, _)| name == key);
        found.map(|(_, span)| span.clone())
    }

    pub(in crate::formats) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(in crate::formats) fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.has(key))
    }

    pub(in crate::formats) fn text(&self, key: &str) -> Option<String> {
        serde_json::from_slice(&self.bytes[self.get(key)?]).ok()
    }

    pub(in crate::formats) fn number(&self, key: &str) -> Option<u64> {
        serde_json::from_slice(&self.bytes[self.get(key)?]).ok()
    }

    pub(in crate::formats) fn is(&self, key: &str, value: &str) -> bool {
        self.text(key).as_deref() == Some(value)
    }

    /// The members of an object within.
    pub(in crate::formats) fn inside(&self, key: &str) -> Option<Self> {
        let span = self.get(key)?;
        Some(Self::of(self.bytes, span.start))
    }

    /// The elements of a list within; none if there is no list by this key.
    pub(in crate::formats) fn list(
        &self,
        key: &str,
    ) -> Option<impl Iterator<Item = Self> + use<'a>> {
        let start = self.get(key)?.start;
        let bytes = self.bytes;
        let is_list = bytes.get(start) == Some(&b'[');
        let items = is_list.then(|| elements(bytes, start).0)?.into_iter();
        Some(items.map(move |item| Self::of(bytes, item.start)))
    }
}
