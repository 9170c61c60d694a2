//! The requests that a client wrote into the files of its sessions, as they are kept here.
//!
//! Deliberately absent: how a request is made of a context where none was recorded ([`crate::compile`]).

use std::collections::HashMap;

use crate::error::Result;
use crate::formats::Problem;
use crate::formats::shared::sent::{ReadSent, SentRequest, SentRequests, Wanted};
use crate::hash::CommitHash;
use crate::model::RefName;
use crate::repo::kept::{KeptSource, format_of, spans, texts};
use crate::repo::path;
use crate::repo::repository::Repo;
use crate::store::{SourceRow, View};

/// The request that a reply answered.
#[derive(Debug)]
pub struct AnsweredRequest {
    /// It, whole.
    pub request: SentRequest,
    /// What is wrong with the records of requests in its file.
    pub problems: Vec<Problem>,
}

/// The request that a reply answered, where its client recorded it; only one to `provider`, if that is said. Reads
/// the session's file twice.
///
/// # Errors
///
/// The store's.
pub fn answered_request(
    repo: &Repo,
    reply: &CommitHash,
    provider: Option<&str>,
) -> Result<Option<AnsweredRequest>> {
    let view = repo.store.read()?;
    let mut wanted = None;
    let (mut readable, mut copied) = (Vec::new(), Vec::new());
    for (source, spans) in view.records_of(reply)? {
        let format = format_of(&*view, source)?;
        let format = format.filter(|it| provider.is_none() || it.contents_of == provider);
        let Some((format, read)) = format.and_then(|format| Some((format, format.sent?))) else {
            continue;
        };
        let records = texts(&*view, source, &spans)?;
        let parent = records.iter().find_map(|text| (format.copied_from)(text));
        copied.extend(parent.map(|id| (RefName::session(format.name, &id), read)));
        let id = records
            .iter()
            .rev()
            .find_map(|text| (read.answered_by)(text));
        wanted = wanted.or(id);
        readable.push((source, read));
    }
    let Some(id) = wanted else { return Ok(None) };
    // A fork has copies of replies, and not of the requests that they answered: those are in the session that it names.
    for (parent, read) in copied {
        let sources = view.sources(&parent)?.into_iter();
        readable.extend(sources.map(|source| (source.id, read)));
    }
    for (source, read) in readable {
        let Some(row) = view.source(source)? else {
            continue;
        };
        let found = requests(&*view, &row, read, Wanted::Whole(&id))?;
        let request = found.requests.into_iter().find(|request| request.id == id);
        if let Some(request) = request {
            return Ok(Some(AnsweredRequest {
                request,
                problems: found.problems,
            }));
        }
    }
    Ok(None)
}

/// What each kept file of a session, newest first, or of all sessions, oldest first, holds of requests. Files that hold
/// none are left out.
///
/// # Errors
///
/// The store's.
pub fn requests_of(
    repo: &Repo,
    session: Option<&RefName>,
    wanted: Wanted<'_>,
) -> Result<Vec<(SourceRow, SentRequests)>> {
    of_session(&*repo.store.read()?, session, wanted)
}

fn of_session(
    view: &dyn View,
    session: Option<&RefName>,
    wanted: Wanted<'_>,
) -> Result<Vec<(SourceRow, SentRequests)>> {
    let mut all = all_of(view, session, wanted)?;
    all.retain(|(_, found)| !found.requests.is_empty() || !found.problems.is_empty());
    Ok(all)
}

/// The same of all files, whatever they hold.
fn all_of(
    view: &dyn View,
    session: Option<&RefName>,
    wanted: Wanted<'_>,
) -> Result<Vec<(SourceRow, SentRequests)>> {
    let sources = match session {
        Some(session) => view.sources(session)?,
        None => view.all_sources()?,
    };
    let mut all = Vec::new();
    for row in sources {
        let Some(read) = format_of(view, row.id)?.and_then(|format| format.sent) else {
            continue;
        };
        let found = requests(view, &row, read, wanted)?;
        all.push((row, found));
    }
    Ok(all)
}

/// The newest session on the path to a commit, what its file holds of requests, and the commits of the path that
/// are replies, by the ids of the requests that they answer. None where no such file holds any.
///
/// # Errors
///
/// The store's.
pub fn requests_on(repo: &Repo, tip: &CommitHash) -> Result<Option<RequestsOn>> {
    on_path(&*repo.store.read()?, tip)
}

pub(crate) fn on_path(view: &dyn View, tip: &CommitHash) -> Result<Option<RequestsOn>> {
    Ok(on_path_or_standing(view, tip)?.ok())
}

/// The same; where no file holds any, what the newest has of a request without them.
pub(crate) fn on_path_or_standing(
    view: &dyn View,
    tip: &CommitHash,
) -> Result<std::result::Result<RequestsOn, Option<String>>> {
    let Some(file) = path::file_of(view, tip)? else {
        return Ok(Err(None));
    };
    let mut found = all_of(view, Some(&file), Wanted::Heads)?;
    let holds =
        |(_, it): &(SourceRow, SentRequests)| !it.requests.is_empty() || !it.problems.is_empty();
    let Some(at) = found.iter().position(holds) else {
        return Ok(Err(found.into_iter().find_map(|(_, it)| it.standing)));
    };
    let (source, found) = found.swap_remove(at);
    let path = view.ancestors(tip, None, usize::MAX)?;
    let commits: Vec<CommitHash> = path.iter().map(|row| row.hash).collect();
    let places = commits.iter().zip(spans(view, &commits, source.id)?);
    let places = places.flat_map(|(commit, spans)| {
        let spans = spans.unwrap_or_default().into_iter();
        spans.map(|span| (span.offset, *commit))
    });
    let places: HashMap<u64, CommitHash> = places.collect();
    let answered = found.requests.iter().filter_map(|request| {
        let reply = places.get(&request.reply?)?;
        Some((request.id.clone(), *reply))
    });
    Ok(Ok(RequestsOn {
        replies: answered.collect(),
        session: file,
        source,
        found,
    }))
}

/// The requests of a session, as they lie to a path.
#[derive(Debug)]
pub struct RequestsOn {
    /// The session.
    pub session: RefName,
    /// The file.
    pub source: SourceRow,
    /// Its requests.
    pub found: SentRequests,
    /// The replies on the path, by the ids of their requests.
    pub replies: HashMap<String, CommitHash>,
}

/// What a kept file holds of requests.
pub(crate) fn requests(
    view: &dyn View,
    row: &SourceRow,
    format: &ReadSent,
    wanted: Wanted<'_>,
) -> Result<SentRequests> {
    (format.read)(&kept(view, row), wanted)
}

/// A kept file.
pub(crate) fn kept<'v>(view: &'v dyn View, row: &SourceRow) -> KeptSource<'v> {
    KeptSource::new(view, row.id, row.size_bytes)
}
