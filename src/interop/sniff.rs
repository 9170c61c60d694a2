//! Which format a source is in, from its content alone.
//!
//! Each format says itself which record shows that a source is its own; here a source's first
//! records are made ready to be looked at. Deliberately absent: file names, and formats that this
//! crate cannot import (they are recognised only where they could be taken for another).

use std::ops::Range;

use super::records::without_mark;
use super::spans::{elements, members, skip_space, skip_value};
use super::{FORMATS, Format, Input};
use crate::error::{Error, Result};

/// How much of a source is looked at: 16 MiB.
const HEAD_BYTES: u64 = 16 << 20;
/// How many records are looked at.
const MAX_RECORDS: usize = 200;

/// The format of `input`; none if it is in none of the known ones, or empty.
///
/// # Errors
///
/// [`Error::Io`] if the source cannot be read.
pub fn sniff(input: &dyn Input) -> Result<Option<&'static Format>> {
    let bytes = input.front(HEAD_BYTES).map_err(Error::io("source"))?;
    let bytes = without_mark(&bytes);
    let start = skip_space(bytes, 0);
    Ok(match bytes.get(start) {
        Some(b'{' | b'[') if is_complete(bytes) => Head::document(bytes, start).format(),
        Some(b'{' | b'[') => match Head::lines(bytes).verdict() {
            Some(sure) => sure,
            None => Head::document(bytes, start).format(),
        },
        // A spoilt first line: the next one decides whether this is JSON Lines.
        Some(_) => memchr::memchr(b'\n', &bytes[start..]).and_then(|end| {
            let rest = &bytes[skip_space(bytes, start + end)..];
            rest.starts_with(b"{").then(|| Head::lines(rest).format())?
        }),
        None => None,
    })
}

/// Whether a source of a known format is JSON Lines, several of them, and not one document.
pub(super) fn is_lines(input: &dyn Input) -> Result<bool> {
    let bytes = input.front(HEAD_BYTES).map_err(Error::io("source"))?;
    let bytes = without_mark(&bytes);
    let lines = bytes.split(|byte| *byte == b'\n');
    let mut filled = lines.filter(|line| skip_space(line, 0) < line.len());
    let several = filled.nth(1).is_some();
    Ok(several && !is_complete(bytes) && Head::lines(bytes).format().is_some())
}

/// Whether the bytes are one JSON value.
fn is_complete(bytes: &[u8]) -> bool {
    skip_value(bytes, 0).is_ok_and(|end| skip_space(bytes, end) == bytes.len())
}

/// The first records of a source, as a format looks at them.
pub struct Head<'a> {
    pub(super) layout: Layout,
    pub(super) records: Vec<Keys<'a>>,
}

/// How records lie in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One object. It may also be the only line of a file of lines.
    Object,
    /// The elements of one array.
    List,
    /// Objects, one a line. Lines that are no JSON object are left out.
    Lines,
}

impl<'a> Head<'a> {
    fn document(bytes: &'a [u8], start: usize) -> Self {
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

    fn lines(bytes: &'a [u8]) -> Self {
        let lines = bytes.split(|byte| *byte == b'\n');
        let objects = lines.filter(|line| line.get(skip_space(line, 0)) == Some(&b'{'));
        Self {
            layout: Layout::Lines,
            records: objects
                .take(MAX_RECORDS)
                .map(|line| Keys::of(line, 0))
                .collect(),
        }
    }

    /// The first record of a file of lines, or the whole document, that `shows` something.
    pub(super) fn first(&self, shows: impl Fn(&Keys<'a>) -> bool) -> Option<usize> {
        match self.layout {
            Layout::List => None,
            Layout::Object | Layout::Lines => self.records.iter().position(shows),
        }
    }

    /// The document, if it is an object.
    pub(super) fn object(&self) -> Option<&Keys<'a>> {
        let first = self.records.first();
        first.filter(|_| self.layout == Layout::Object)
    }

    /// Whether the document is a list with an element that `shows` something.
    pub(super) fn lists(&self, shows: impl Fn(&Keys<'a>) -> bool) -> bool {
        self.layout == Layout::List && self.records.iter().any(shows)
    }

    /// The format that the earliest record shows; none within where that is no known one.
    fn verdict(&self) -> Option<Option<&'static Format>> {
        let foreign = foreign(self).map(|at| (at, None));
        let known = FORMATS
            .into_iter()
            .filter_map(|format| Some(((format.sniff)(self)?, Some(format))));
        let all = foreign.into_iter().chain(known);
        all.min_by_key(|(at, _)| *at).map(|(_, format)| format)
    }

    fn format(&self) -> Option<&'static Format> {
        self.verdict().flatten()
    }
}

/// The record that shows a format which is not imported and would be taken for another.
fn foreign(head: &Head<'_>) -> Option<usize> {
    // Amp's blocks are Anthropic's, but for the results.
    let of_amp = |message: Keys<'_>| {
        let mut blocks = message.list("content").into_iter().flatten();
        blocks.any(|block| block.has("toolUseID"))
    };
    if head.lists(|item| item.has_any(&["mapping", "say", "ask"]) || of_amp(item.clone())) {
        return Some(0);
    }
    if let Some(object) = head.object() {
        let own = object.has_any(&["trajectory", "mapping", "nextMessageId"]);
        if own || object.has("info") && object.has("messages") {
            return Some(0);
        }
    }
    head.first(|record| {
        // Gemini CLI's newer files: lines that change what stands before them.
        let of_gemini = record.has("projectHash") && !record.has("messages");
        // Qwen Code has Claude Code's envelope around Gemini's messages.
        let of_qwen = record.has("systemPayload")
            || record
                .inside("message")
                .is_some_and(|message| message.has("parts"));
        of_gemini
            || of_qwen
            || record.list("messages").into_iter().flatten().any(of_amp)
            || record.is("type", "session") && record.has("cwd")
            || record.has("type") && record.has("payload") && record.has("sessionId")
    })
}

/// The members of one object.
#[derive(Clone)]
pub(super) struct Keys<'a> {
    bytes: &'a [u8],
    members: Vec<(String, Range<usize>)>,
}

impl<'a> Keys<'a> {
    fn of(bytes: &'a [u8], start: usize) -> Self {
        Self {
            bytes,
            members: members(bytes, start).0,
        }
    }

    fn get(&self, key: &str) -> Option<Range<usize>> {
        let found = self.members.iter().find(|(name, _)| name == key);
        found.map(|(_, span)| span.clone())
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(super) fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.has(key))
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        serde_json::from_slice(&self.bytes[self.get(key)?]).ok()
    }

    pub(super) fn is(&self, key: &str, value: &str) -> bool {
        self.text(key).as_deref() == Some(value)
    }

    /// The members of an object within.
    pub(super) fn inside(&self, key: &str) -> Option<Self> {
        let span = self.get(key)?;
        Some(Self::of(self.bytes, span.start))
    }

    /// The elements of a list within; none if there is no list by this key.
    pub(super) fn list(&self, key: &str) -> Option<impl Iterator<Item = Self> + use<'a>> {
        let start = self.get(key)?.start;
        let bytes = self.bytes;
        let is_list = bytes.get(start) == Some(&b'[');
        let items = is_list.then(|| elements(bytes, start).0)?.into_iter();
        Some(items.map(move |item| Self::of(bytes, item.start)))
    }
}
