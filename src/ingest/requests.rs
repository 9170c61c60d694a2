//! The requests that a client wrote into the files of its sessions, as they are kept here.
//!
//! Deliberately absent: how a request is made of a context where none was recorded ([`crate::compile`]).

use std::collections::HashMap;

use super::outgoing::{format_of, texts};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::history::Repo;
use crate::history::kept::KeptSource;
use crate::interop::Problem;
use crate::interop::sent::{Bodies, ReadSent, SentRequest, SentRequests};
use crate::model::RefName;
use crate::store::{SourceRow, View};

/// The request that a reply answered.
#[derive(Debug)]
pub struct AnsweredRequest {
    /// The provider whose request it is.
    pub provider: &'static str,
    /// It, with its body.
    pub request: SentRequest,
    /// What is wrong with the records of requests in its file.
    pub problems: Vec<Problem>,
}

/// The request that a reply answered, where its client recorded it. Reads the session's file twice.
///
/// # Errors
///
/// The store's.
pub fn answered_request(repo: &Repo, reply: &CommitHash) -> Result<Option<AnsweredRequest>> {
    let view = repo.store.read()?;
    let mut wanted = None;
    let mut readable = Vec::new();
    for (source, spans) in view.records_of(reply)? {
        let format = format_of(&*view, source)?;
        let Some((read, provider)) = format.and_then(|it| Some((it.sent?, it.contents_of?))) else {
            continue;
        };
        let records = texts(&*view, source, &spans)?;
        let id = records
            .iter()
            .rev()
            .find_map(|text| (read.answered_by)(text));
        wanted = wanted.or(id);
        readable.push((source, read, provider));
    }
    let Some(id) = wanted else { return Ok(None) };
    // A fork has copies of replies, and not of the requests that they answered.
    for (source, read, provider) in readable {
        let Some(row) = view.source(source)? else {
            continue;
        };
        let found = requests(&*view, &row, read, Bodies::Of(&id))?;
        let request = found.requests.into_iter().find(|request| request.id == id);
        if let Some(request) = request {
            return Ok(Some(AnsweredRequest {
                provider,
                request,
                problems: found.problems,
            }));
        }
    }
    Ok(None)
}

/// What each kept file of a session, or of all sessions, holds of requests; newest file first. Files that hold none
/// are left out.
///
/// # Errors
///
/// The store's.
pub fn requests_of(
    repo: &Repo,
    session: Option<&RefName>,
    bodies: Bodies<'_>,
) -> Result<Vec<(RefName, SentRequests)>> {
    let view = repo.store.read()?;
    let sources = match session {
        Some(session) => view.sources(session)?,
        None => view.all_sources()?,
    };
    let mut all = Vec::new();
    for row in sources {
        let Some(read) = format_of(&*view, row.id)?.and_then(|format| format.sent) else {
            continue;
        };
        let found = requests(&*view, &row, read, bodies)?;
        if !found.requests.is_empty() || !found.problems.is_empty() {
            all.push((row.session, found));
        }
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
    let Some((session, _)) = repo.session_of(tip)? else {
        return Ok(None);
    };
    let found = requests_of(repo, Some(&session), Bodies::None)?;
    let Some((_, found)) = found.into_iter().next() else {
        return Ok(None);
    };
    let view = repo.store.read()?;
    let path = view.ancestors(tip, None, usize::MAX)?;
    let commits: Vec<CommitHash> = path.iter().map(|row| row.hash).collect();
    let mut replies = HashMap::new();
    for (commit, records) in commits.iter().zip(view.records(&commits)?) {
        for (source, spans) in records {
            let read = format_of(&*view, source)?.and_then(|format| format.sent);
            let Some(read) = read else { continue };
            for text in texts(&*view, source, &spans)? {
                let id = (read.answered_by)(&text);
                replies.extend(id.map(|id| (id, *commit)));
            }
        }
    }
    Ok(Some(RequestsOn {
        session,
        found,
        replies,
    }))
}

/// The requests of a session, as they lie to a path.
#[derive(Debug)]
pub struct RequestsOn {
    /// The session.
    pub session: RefName,
    /// Its requests.
    pub found: SentRequests,
    /// The replies on the path, by the ids of their requests.
    pub replies: HashMap<String, CommitHash>,
}

fn requests(
    view: &dyn View,
    row: &SourceRow,
    format: &ReadSent,
    bodies: Bodies<'_>,
) -> Result<SentRequests> {
    (format.read)(&KeptSource::new(view, row.id, row.size_bytes), bodies)
}
