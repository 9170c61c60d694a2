//! How the client of a session wrote the contents of its messages.

use std::collections::HashMap;

use super::outgoing::texts_of;
use crate::compile::{Contents, Provider};
use crate::context::Context;
use crate::error::Result;
use crate::formats::shared::records::{content, sends_callers, unmarked};
use crate::formats::{Format, RecordedRequest, Shape, cited};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Settings, Span};
use crate::repo::Repo;
use crate::repo::kept::{format_of, texts};
use crate::store::View;

/// The longest file that is looked at as one request.
const REQUEST_BYTES: u64 = 64 << 20;

/// For each visible message that was not changed since the contents of its records, where a provider
/// is sent them as they are: as they were last sent, where requests are recorded. A mark for the provider's cache stands where
/// the last request has it and nowhere else. Reads the records of the context.
///
/// # Errors
///
/// The store's.
pub fn said(repo: &Repo, context: &Context, provider: Provider) -> Result<Contents> {
    let view = repo.store.read()?;
    let as_appended = context.entries.iter().filter(|it| it.is_as_appended());
    let commits: Vec<CommitHash> = as_appended.map(|entry| entry.id.commit).collect();
    let is_sent = |format: &Format| format.contents_of == Some(provider.as_str());
    let mut texts = texts_of(&*view, &commits, is_sent)?.into_iter();
    let own = context.entries.iter().map(|entry| {
        if entry.is_as_appended() {
            texts.next().flatten().unwrap_or_default()
        } else {
            Vec::new()
        }
    });
    let mut kept: Vec<Vec<String>> = own.collect();
    let last = last_request(&*view, &commits, provider)?;
    let is_recorded = last.is_some();
    let mut sent: Vec<bool> = vec![false; kept.len()];
    if let Some(last) = last {
        let mut by_message: HashMap<ContentHash, Vec<Vec<String>>> = HashMap::new();
        for (message, records) in last.messages.iter().zip(last.records) {
            by_message.entry(message.hash()).or_default().push(records);
        }
        let entries = context
            .entries
            .iter()
            .zip(repo.messages(context)?)
            .enumerate();
        // Of two that say the same the later one was sent later.
        for (at, (entry, message)) in entries.rev() {
            let records = by_message.get_mut(&message.hash()).and_then(Vec::pop);
            if let Some(records) = records.filter(|_| entry.is_as_appended()) {
                kept[at] = records;
                sent[at] = true;
            }
        }
    }
    if provider == Provider::Responses {
        // There the items are what is sent.
        return Ok(kept);
    }
    let mut newest = kept.iter().flatten().rev();
    let callers = newest.find_map(|text| sends_callers(text)).unwrap_or(false);
    let contents = |(texts, was_sent): (Vec<String>, bool)| {
        let contents = texts.iter().filter_map(|text| content(text, callers));
        let is_marked = was_sent || !is_recorded;
        contents
            .map(|content| {
                if is_marked {
                    content
                } else {
                    unmarked(content)
                }
            })
            .collect()
    };
    Ok(kept.into_iter().zip(sent).map(contents).collect())
}

/// The same of the messages alone whose texts refer to something, in Anthropic's form, and without marks for its cache.
///
/// # Errors
///
/// The store's.
pub fn said_citing(repo: &Repo, context: &Context) -> Result<Contents> {
    let said = said(repo, context, Provider::Anthropic)?.into_iter();
    let citing = said.map(|contents| {
        let is_citing = |content: &String| !cited(content).is_empty();
        if contents.iter().any(is_citing) {
            contents.into_iter().map(unmarked).collect()
        } else {
            Vec::new()
        }
    });
    Ok(citing.collect())
}

/// The newest request that stands behind one of these commits of a session whose requests are recorded.
fn last_request(
    view: &dyn View,
    commits: &[CommitHash],
    provider: Provider,
) -> Result<Option<RecordedRequest>> {
    for commit in commits.iter().rev() {
        for (source, spans) in view.records_of(commit)? {
            let format = format_of(view, source)?;
            let format = format.filter(|format| format.shape == Shape::Lines);
            let Some((format, read)) = format.and_then(|it| Some((it, it.recorded?))) else {
                return Ok(None);
            };
            let last = spans.last().copied();
            let text = texts(view, source, last.as_slice())?.pop();
            let request = text.and_then(|text| read(format, &text));
            if let Some(request) = request.filter(|it| it.provider == provider.as_str()) {
                return Ok(Some(request));
            }
        }
    }
    Ok(None)
}

/// The request as a client sent it at a commit, where one is recorded behind it, of this provider, and the
/// context and its settings say just what it says. A file that is a request is one.
///
/// # Errors
///
/// The store's.
pub fn sent(
    repo: &Repo,
    context: &Context,
    commit: &CommitHash,
    settings: &Settings,
    provider: Provider,
) -> Result<Option<String>> {
    let view = repo.store.read()?;
    for (source, spans) in view.records_of(commit)? {
        let Some(format) = format_of(&*view, source)? else {
            continue;
        };
        let span = match format.shape {
            Shape::Lines => spans.last().copied(),
            Shape::Document => whole(&*view, source)?,
        };
        let (Some(read), Some(span)) = (format.recorded, span) else {
            continue;
        };
        let Some(text) = texts(&*view, source, &[span])?.pop() else {
            continue;
        };
        let says_the_same = |request: &RecordedRequest| {
            request.provider == provider.as_str()
                && in_force(&request.settings).eq(in_force(settings))
        };
        if let Some(request) = read(format, &text).filter(says_the_same)
            && request.messages == repo.messages(context)?
        {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// All of a source, unless it is too long for a request.
fn whole(view: &dyn View, source: u64) -> Result<Option<Span>> {
    let row = view.source(source)?;
    let span = row.map(|row| Span {
        offset: 0,
        len: row.size_bytes,
    });
    Ok(span.filter(|span| span.len <= REQUEST_BYTES))
}

/// The settings that say anything: one that is null is as good as none.
fn in_force(settings: &Settings) -> impl Iterator<Item = (&String, &String)> {
    settings.iter().filter(|(_, value)| *value != "null")
}
