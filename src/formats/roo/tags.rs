//! The tags beside a message, and what they hide.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

/// What a record says of itself and of what hides it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Tags {
    role: Value,
    is_summary: Value,
    condense_id: Value,
    condense_parent: Value,
    is_truncation_marker: Value,
    truncation_id: Value,
    truncation_parent: Value,
}

/// A mark that hides: a summary or a truncation's marker, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mark<'a> {
    Summary(&'a str),
    Truncation(&'a str),
}

impl Tags {
    /// The tags of a record; none of them if it is no object.
    pub(super) fn of(record: &str) -> Self {
        serde_json::from_str(record).unwrap_or_default()
    }

    pub(super) fn is_summary(&self) -> bool {
        self.is_summary == true
    }

    pub(super) fn is_marker(&self) -> bool {
        self.is_truncation_marker == true
    }

    pub(super) fn is_user(&self) -> bool {
        self.role == "user"
    }

    /// The marks that it is.
    pub(super) fn marks(&self) -> impl Iterator<Item = Mark<'_>> {
        let summary = self.is_summary().then(|| id(&self.condense_id)).flatten();
        let marker = self.is_marker().then(|| id(&self.truncation_id)).flatten();
        let summary = summary.map(Mark::Summary).into_iter();
        summary.chain(marker.map(Mark::Truncation))
    }

    /// The marks that hide it, if they exist.
    pub(super) fn parents(&self) -> impl Iterator<Item = Mark<'_>> {
        let summary = id(&self.condense_parent).map(Mark::Summary).into_iter();
        summary.chain(id(&self.truncation_parent).map(Mark::Truncation))
    }
}

fn id(value: &Value) -> Option<&str> {
    value.as_str().filter(|id| !id.is_empty())
}

/// What is hidden in a list of records.
pub(super) struct Hidden<'a> {
    tags: &'a [Tags],
    /// The marks that exist, with the first record that is one.
    marks: HashMap<Mark<'a>, usize>,
    last_summary: Option<usize>,
}

impl<'a> Hidden<'a> {
    pub(super) fn of(tags: &'a [Tags]) -> Self {
        let mut marks = HashMap::new();
        for (at, record) in tags.iter().enumerate() {
            for mark in record.marks() {
                marks.entry(mark).or_insert(at);
            }
        }
        Self {
            tags,
            marks,
            last_summary: tags.iter().rposition(Tags::is_summary),
        }
    }

    /// Where the mark is that hides record `at` by its tag; none if that names nothing that
    /// exists.
    pub(super) fn by_tag(&self, at: usize) -> impl Iterator<Item = (Mark<'a>, usize)> {
        let parents = self.tags[at].parents();
        parents.filter_map(|mark| Some((mark, *self.marks.get(&mark)?)))
    }

    /// Whether the last summary hides record `at` by standing after it.
    ///
    /// A request begins at the last summary. The task stays in front of one that is an
    /// assistant's, for a request must begin with a user's message.
    pub(super) fn by_place(&self, at: usize) -> bool {
        self.last_summary
            .is_some_and(|last| at < last && !self.stays_in_front(at, last))
    }

    /// Whether record `at` is the task and stays in front of the one at `summary`.
    fn stays_in_front(&self, at: usize, summary: usize) -> bool {
        at == 0 && self.tags[0].is_user() && !self.tags[summary].is_user()
    }

    /// Whether the summary at `summary` hides record `at`, which stands before it. It hides no
    /// task that the last summary leaves in front.
    pub(super) fn hid(&self, summary: usize, at: usize) -> bool {
        let last = self.last_summary.unwrap_or(summary);
        !self.stays_in_front(at, summary) && !self.stays_in_front(at, last)
    }
}
