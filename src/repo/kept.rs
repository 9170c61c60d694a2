//! Kept session files: their bytes, as a reader of session formats takes them, and the records behind commits.

use std::io;
use std::slice;

use crate::error::{Error, Result};
use crate::formats::{Format, Input};
use crate::hash::CommitHash;
use crate::model::{RefName, Span};
use crate::store::{Records, View};

/// How many own commits may stand after an imported one before it no longer counts.
const SESSION_SEARCH: usize = 1_000;

/// A kept file up to somewhere.
pub(crate) struct KeptSource<'a> {
    view: &'a dyn View,
    id: u64,
    size_bytes: u64,
}

impl<'a> KeptSource<'a> {
    pub(crate) fn new(view: &'a dyn View, id: u64, size_bytes: u64) -> Self {
        Self {
            view,
            id,
            size_bytes,
        }
    }
}

impl Input for KeptSource<'_> {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let len = (buffer.len() as u64).min(self.size_bytes.saturating_sub(offset));
        let bytes = self.view.source_bytes(self.id, Span { offset, len });
        let bytes = bytes.map_err(io::Error::other)?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

/// Where these commits' records stand in a source.
pub(crate) fn spans(
    view: &dyn View,
    commits: &[CommitHash],
    source: u64,
) -> Result<Vec<Option<Vec<Span>>>> {
    let of_source = |records: Records| {
        let mut records = records.into_iter();
        let found = records.find(|(id, _)| *id == source);
        found.map(|(_, spans)| spans)
    };
    Ok(view.records(commits)?.into_iter().map(of_source).collect())
}

/// The format of a kept source, if it is one that is known.
pub(crate) fn format_of(view: &dyn View, source: u64) -> Result<Option<&'static Format>> {
    let row = view.source(source)?;
    Ok(row.and_then(|row| Format::named(&row.format).ok()))
}

/// The records themselves. One that is no UTF-8 is mended, as it was on the way in.
pub(crate) fn texts(view: &dyn View, source: u64, spans: &[Span]) -> Result<Vec<String>> {
    spans
        .iter()
        .map(|span| {
            let bytes = view.source_bytes(source, *span)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        })
        .collect()
}

/// The name of the request that the reply of a commit answers, where the first file that it came from says it. Where that is
/// not here, what was told of it, or of what it is a copy of.
pub(crate) fn request_of(view: &dyn View, commit: &CommitHash) -> Result<Option<String>> {
    let Some((source, spans)) = view.records_of(commit)?.pop() else {
        let told = view.usage_details(slice::from_ref(commit))?.remove(commit);
        if let Some(request) = told.and_then(|detail| detail.request) {
            return Ok(Some(request));
        }
        let origin = view.commit(commit)?.and_then(|row| row.commit.origin);
        return origin.map_or(Ok(None), |origin| request_of(view, &origin));
    };
    let Some(name) = format_of(view, source)?.and_then(|format| format.request_of) else {
        return Ok(None);
    };
    for span in spans {
        let record = texts(view, source, &[span])?.pop();
        let named = record.and_then(|record| name(&record));
        if named.is_some() {
            return Ok(named);
        }
    }
    Ok(None)
}

/// The id of the message in the name of a request that it answered.
pub(crate) fn message_in(request: &str) -> &str {
    request.split(' ').next().unwrap_or(request)
}

/// The newest imported commit on the path to one, with the sessions that it came from.
pub(crate) fn newest_imported(
    view: &dyn View,
    commit: &CommitHash,
) -> Result<Option<(CommitHash, Vec<RefName>)>> {
    // Imported commits come first on most paths, own ones last: look from the end, and most often
    // the end is all there is to look at.
    let (mut next, mut left, mut page) = (Some(*commit), SESSION_SEARCH, 4);
    while let Some(from) = next.filter(|_| left > 0) {
        let path = view.ancestors(&from, None, page.min(left))?;
        next = path.last().and_then(|row| row.commit.parent);
        left -= path.len();
        page *= 4;
        let path: Vec<CommitHash> = path.iter().map(|row| row.hash).collect();
        let found = first_imported(view, &path)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The first of these commits that was imported, with the sessions that it came from.
pub(crate) fn first_imported(
    view: &dyn View,
    commits: &[CommitHash],
) -> Result<Option<(CommitHash, Vec<RefName>)>> {
    let mut found = commits.iter().zip(view.records(commits)?);
    let Some((commit, records)) = found.find(|(_, records)| !records.is_empty()) else {
        return Ok(None);
    };
    let mut sessions: Vec<RefName> = Vec::with_capacity(records.len());
    for (source, _) in records {
        let row = view.source(source)?;
        let session = row.ok_or_else(|| missing_source(source))?.session;
        if !sessions.contains(&session) {
            sessions.push(session);
        }
    }
    Ok(Some((*commit, sessions)))
}

/// That a source of commits is not there.
pub(crate) fn missing_source(source: u64) -> Error {
    Error::damaged(format!(
        "source {source} is missing, and commits came from it"
    ))
}
