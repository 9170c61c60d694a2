//! The newest request that a client sent on a path: what the next one is made of, and what stands around its messages.
//!
//! Deliberately absent: what is made of a context without it ([`crate::compile`]).

use crate::error::Result;
use crate::formats::Format;
use crate::formats::shared::sent::{Next, Wanted, beside_messages};
use crate::hash::CommitHash;
use crate::model::tokens::Counter;
use crate::query::requests::{on_path, on_path_or_standing, requests};
use crate::repo::path;
use crate::repo::repository::Repo;
use crate::store::View;

/// The newest request that a reply on the path to a commit answered; only one to `provider`, if that is said, and one
/// that can be told. Reads the session's file twice.
///
/// # Errors
///
/// The store's.
pub fn newest_request(
    repo: &Repo,
    tip: &CommitHash,
    provider: Option<&str>,
) -> Result<Option<NewestRequest>> {
    newest(&*repo.store.read()?, tip, provider)
}

fn newest(
    view: &dyn View,
    tip: &CommitHash,
    provider: Option<&str>,
) -> Result<Option<NewestRequest>> {
    let Some((session, _)) = path::session_of(view, tip)? else {
        return Ok(None);
    };
    // The session's file is only read where it is the provider's.
    let format = session.as_session().map(|(tool, _)| Format::named(tool));
    let format = format.and_then(Result::ok);
    let format = format.filter(|it| provider.is_none() || it.contents_of == provider);
    let Some(read) = format.and_then(|format| format.sent) else {
        return Ok(None);
    };
    let Some(on) = on_path(view, tip)? else {
        return Ok(None);
    };
    let mut newest = on.found.requests.iter().rev();
    let newest = newest.find_map(|request| Some((&request.id, on.replies.get(&request.id)?)));
    let Some((id, reply)) = newest else {
        return Ok(None);
    };
    let found = requests(view, &on.source, read, Wanted::Whole(id))?;
    let request = found.requests.into_iter().find(|it| it.id == *id);
    Ok(request.and_then(|request| {
        Some(NewestRequest {
            reply: *reply,
            headers: request.headers,
            json: request.json?,
            next: read.next,
        })
    }))
}

/// The system prompt and the definitions of tools, in Anthropic's form, that the newest request on the path to a commit
/// had, where its session's file holds them beside all requests.
///
/// # Errors
///
/// The store's.
pub fn standing(repo: &Repo, tip: &CommitHash) -> Result<Option<(Vec<String>, Vec<String>)>> {
    let json = standing_at(&*repo.store.read()?, tip)?;
    Ok(json.and_then(|json| beside_messages(&json)))
}

fn standing_at(view: &dyn View, tip: &CommitHash) -> Result<Option<String>> {
    Ok(match on_path_or_standing(view, tip)? {
        Ok(on) => on.found.standing,
        Err(standing) => standing,
    })
}

/// A request that others would follow.
pub struct NewestRequest {
    /// The reply that answered it.
    pub reply: CommitHash,
    /// What was sent beside the body: a header's name and its value.
    pub headers: Vec<(String, String)>,
    json: String,
    next: Next,
}

impl NewestRequest {
    /// The request that would follow, by what is made of the context that is meant, and by whether a setting has another
    /// value there. None where that is no request.
    pub fn followed_by(&self, made: &str, has_changed: &dyn Fn(&str) -> bool) -> Option<String> {
        (self.next)(&self.json, made, has_changed)
    }
}

/// What of a request is no message, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentShape {
    /// The system prompt's.
    pub system: u64,
    /// Those of the definitions of tools.
    pub tools: u64,
    /// How many tools there are.
    pub tool_count: u64,
}

/// That of the newest request that a reply on the path to a commit answered; none where no file holds it.
///
/// # Errors
///
/// The store's.
pub fn shape_sent(repo: &Repo, tip: &CommitHash, counter: &Counter) -> Result<Option<SentShape>> {
    shape_at(&*repo.store.read()?, tip, counter)
}

pub(crate) fn shape_at(
    view: &dyn View,
    tip: &CommitHash,
    counter: &Counter,
) -> Result<Option<SentShape>> {
    let json = match newest(view, tip, None)? {
        Some(newest) => Some(newest.json),
        None => standing_at(view, tip)?,
    };
    Ok(json.and_then(|json| shape_of(&json, counter)))
}

impl SentShape {
    /// All of it.
    pub fn tokens(&self) -> u64 {
        self.system + self.tools
    }
}

fn shape_of(json: &str, counter: &Counter) -> Option<SentShape> {
    let (system, tools) = beside_messages(json)?;
    let tokens = |texts: &[String]| texts.iter().map(|text| counter.text(text)).sum();
    Some(SentShape {
        system: tokens(&system),
        tools: tokens(&tools),
        tool_count: tools.len() as u64,
    })
}
