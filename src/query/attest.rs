//! What a run was, as a manifest: a few facts that follow from the commits of a branch alone, so that whoever has
//! them makes the same text again.
//!
//! The text is what is signed and compared, byte for byte. Deliberately absent: signatures, and where a text is kept.

mod reading;

pub use reading::ReadRun;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::error::Result;
use crate::formats::{FRONT_BYTES, Format};
use crate::hash::{CommitHash, Fingerprint, hex};
use crate::model::price::Prices;
use crate::model::{Millis, RefName, Span, ToolUses};
use crate::query::cost::BilledReply;
use crate::query::requests;
use crate::repo::repository::Repo;
use crate::repo::{kept, load};
use crate::store::View;

/// What the root's hash begins with, before the hashes of the commits.
const ROOT: &[u8] = b"tract attest 1\0";
/// How many commits are asked after at once.
const TOGETHER: usize = 512;
/// The manifest's version.
const VERSION: u32 = 1;

/// What a run was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest {
    /// The version of this form.
    pub attest: u32,
    /// The branch or session, where one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<RefName>,
    /// The commit in which it ends.
    pub tip: CommitHash,
    /// How many commits lead to it, itself included.
    pub commits: u64,
    /// The SHA-256 of `tract attest 1`, a NUL byte and the hashes of these commits, 32 bytes each, from the root on.
    pub root: String,
    /// Visible messages at the tip.
    pub messages: usize,
    /// The times of the first and the last commit that has one, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_ms: Option<i64>,
    /// Likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_ms: Option<i64>,
    /// Who made commits, where that was said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// The programs that commits came from: the tools of sessions, and those that committed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<String>,
    /// What each model answered, by its provider's count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<AttestedModel>,
    /// What that cost, in millionths of a US dollar; none where any reply's model has no price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// The price list by which it was worked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_list: Option<String>,
    /// How often each tool was called.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, u64>,
    /// The files of sessions that commits came from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<AttestedSource>,
    /// The requests that clients recorded with a hash of their own, by the replies that they got.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<AttestedRequest>,
}

/// What one model answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AttestedModel {
    /// Its name; empty where none is known.
    pub model: String,
    /// How many replies.
    pub replies: u64,
    /// Their input, cached or not.
    pub input_tokens: u64,
    /// What of it was read from a cache.
    pub cached_tokens: u64,
    /// Their output.
    pub output_tokens: u64,
}

/// A file of a session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct AttestedSource {
    /// The session.
    pub session: RefName,
    /// The format.
    pub format: String,
    /// How many bytes are kept.
    pub size_bytes: u64,
    /// Their SHA-256.
    pub sha256: String,
    /// The commit of git that was checked out when the session began, where the file says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_commit: Option<String>,
}

/// A request with its client's hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttestedRequest {
    /// The commit of the reply.
    pub reply: CommitHash,
    /// The client's SHA-256 of the request.
    pub sha256: String,
}

impl Manifest {
    /// The text: JSON, a member a line, with a line break at its end.
    ///
    /// # Errors
    ///
    /// Never, for such a type.
    pub fn text(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self).map_err(crate::Error::store)?;
        Ok(text + "\n")
    }
}

impl Repo {
    /// The manifest of the path to `tip`. Costs are by `prices`, which `price_list` names. Reads every commit of the
    /// path, and no body but of messages whose use of tools is not kept.
    ///
    /// # Errors
    ///
    /// The store's: what is damaged is named there.
    pub fn manifest(
        &self,
        name: Option<RefName>,
        tip: &CommitHash,
        prices: &Prices,
        price_list: &str,
    ) -> Result<Manifest> {
        let view = self.store.read()?;
        let view = &*view;
        let path = view.ancestors(tip, None, usize::MAX)?;
        let mut root = Fingerprint::default();
        root.update(ROOT);
        let (mut authors, mut clients) = (BTreeSet::new(), BTreeSet::new());
        let mut times: Option<(Millis, Millis)> = None;
        for row in path.iter().rev() {
            root.update(row.hash.as_bytes());
            if let Some(author) = &row.commit.author {
                authors.extend(author.name.clone());
                clients.extend(author.client.clone());
            }
            if let Some(time) = row.commit.time {
                times = Some(times.map_or((time, time), |(first, _)| (first, time)));
            }
        }
        let commits: Vec<CommitHash> = path.iter().map(|row| row.hash).collect();
        let sources = sources(view, &commits)?;
        let tools_of_sessions = sources.iter().filter_map(|one| one.session.as_session());
        clients.extend(tools_of_sessions.map(|(tool, _)| tool.to_owned()));
        let replies = self.billed(Some(tip), prices)?;
        let cost_micros = cost(&replies);
        let models = models(&replies);
        Ok(Manifest {
            attest: VERSION,
            name,
            tip: *tip,
            commits: path.len() as u64,
            root: hex(&root.value()),
            messages: load::context(view, tip)?.entries.len(),
            first_ms: times.map(|(first, _)| first.0),
            last_ms: times.map(|(_, last)| last.0),
            authors: authors.into_iter().collect(),
            clients: clients.into_iter().collect(),
            price_list: cost_micros.map(|_| price_list.to_owned()),
            cost_micros,
            models,
            tools: tools(view, &path)?,
            sources,
            requests: recorded(view, tip)?,
        })
    }
}

/// The files that commits came from.
fn sources(view: &dyn View, commits: &[CommitHash]) -> Result<Vec<AttestedSource>> {
    let mut ids = BTreeSet::new();
    for some in commits.chunks(TOGETHER) {
        let records = view.records(some)?.into_iter().flatten();
        ids.extend(records.map(|(source, _)| source));
    }
    let mut sources = Vec::with_capacity(ids.len());
    for id in ids {
        let row = view.source(id)?;
        let row = row.ok_or_else(|| kept::missing_source(id))?;
        let format = row.format;
        sources.push(AttestedSource {
            session: row.session,
            format: format.clone(),
            size_bytes: row.size_bytes,
            sha256: hex(&row.fingerprint),
            git_commit: git_commit(view, id, row.size_bytes, &format)?,
        });
    }
    sources.sort();
    Ok(sources)
}

/// The commit of git that was checked out when a session began.
fn git_commit(
    view: &dyn View,
    source: u64,
    size_bytes: u64,
    format: &str,
) -> Result<Option<String>> {
    let Ok(format) = Format::named(format) else {
        return Ok(None);
    };
    let front = Span {
        offset: 0,
        len: size_bytes.min(FRONT_BYTES),
    };
    let front = view.source_bytes(source, front)?;
    let first = front.split(|byte| *byte == b'\n').next();
    let first = String::from_utf8_lossy(first.unwrap_or_default());
    let resume = format.resume();
    Ok(resume.and_then(|resume| (resume.checked_out)(&first)))
}

fn models(replies: &[BilledReply]) -> Vec<AttestedModel> {
    let mut models: BTreeMap<&str, AttestedModel> = BTreeMap::new();
    for reply in replies {
        let name = reply.model.as_deref().unwrap_or_default();
        let model = models.entry(name).or_insert_with(|| AttestedModel {
            model: name.to_owned(),
            ..AttestedModel::default()
        });
        model.replies += 1;
        model.input_tokens += reply.usage.input_tokens;
        model.cached_tokens += reply.usage.cached_tokens;
        model.output_tokens += reply.usage.output_tokens;
    }
    models.into_values().collect()
}

/// What replies cost, where all have a price.
fn cost(replies: &[BilledReply]) -> Option<u64> {
    let sum: Option<f64> = replies.iter().map(|reply| reply.dollars).sum();
    let sum = sum.filter(|_| !replies.is_empty())?;
    Some((sum * 1e6).round() as u64)
}

/// How often the messages that commits append call each tool.
fn tools(view: &dyn View, path: &[crate::store::CommitRow]) -> Result<BTreeMap<String, u64>> {
    let mut tools = BTreeMap::new();
    let contents: Vec<_> = path.iter().filter_map(|row| row.appended()).collect();
    for some in contents.chunks(TOGETHER) {
        let kept = some.iter().zip(view.tool_uses(some)?);
        let rows = load::rows(view, some)?;
        for (content, kept) in kept {
            let uses = match kept {
                Some(uses) => Some(uses),
                None if rows[content].calls > 0 => ToolUses::of(&load::content(view, content)?),
                None => None,
            };
            for call in uses.into_iter().flat_map(|ToolUses { calls, .. }| calls) {
                *tools.entry(call.name).or_default() += 1;
            }
        }
    }
    Ok(tools)
}

/// The requests that clients recorded with a hash, in the order in which they were sent.
fn recorded(view: &dyn View, tip: &CommitHash) -> Result<Vec<AttestedRequest>> {
    let Some(on) = requests::on_path(view, tip)? else {
        return Ok(Vec::new());
    };
    let found = on.found.requests.into_iter().filter_map(|request| {
        let reply = *on.replies.get(&request.id)?;
        let sha256 = request.digest?;
        Some(AttestedRequest { reply, sha256 })
    });
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Draft, Message, Role};
    use crate::repo::{Call, CommitOptions, On};

    fn manifest(repo: &Repo) -> Manifest {
        let tip = repo.resolve(&On::Head, "HEAD").expect("a commit");
        let made = repo.manifest(None, &tip, &Prices::none(), "none");
        made.expect("it is whole")
    }

    /// What the page says of the root, by hand.
    #[test]
    fn the_root_is_of_all_commits_from_the_first_on() {
        let repo = Repo::ephemeral().expect("a repository");
        let mut all = b"tract attest 1\0".to_vec();
        for text in ["one", "two", "three"] {
            let draft = Draft::append(Message::text(Role::User, text));
            let made = repo.commit(Call::default(), &[draft], &CommitOptions::default());
            all.extend(made.expect("it commits")[0].hash.as_bytes());
            let mut root = Fingerprint::default();
            root.update(&all);
            assert_eq!(manifest(&repo).root, hex(&root.value()));
        }
        let made = manifest(&repo);
        assert_eq!((made.commits, made.messages), (3, 3));
        assert_eq!(made, manifest(&repo), "the same again");
    }
}
