//! How the client of a session wrote the contents of its messages.

use super::outgoing::{format_of, texts, texts_of};
use crate::compile::{Contents, Provider};
use crate::context::Context;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::history::Repo;
use crate::interop::records::{content, sends_callers};
use crate::interop::{Format, RecordedRequest};
use crate::model::Settings;

/// For each visible message that was not changed since the contents of its records, where a provider
/// is sent them as they are. Reads the records of the context.
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
    let kept: Vec<Vec<String>> = own.collect();
    if provider == Provider::Responses {
        // There the items are what is sent.
        return Ok(kept);
    }
    let mut newest = kept.iter().flatten().rev();
    let callers = newest.find_map(|text| sends_callers(text)).unwrap_or(false);
    let contents = |texts: Vec<String>| {
        let contents = texts.iter().filter_map(|text| content(text, callers));
        contents.collect()
    };
    Ok(kept.into_iter().map(contents).collect())
}

/// The request as a client sent it at a commit, where one is recorded behind it, of this provider, and the
/// context and its settings say just what it says.
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
        let format = format_of(&*view, source)?;
        let (Some(read), Some(span)) = (format.and_then(|it| it.recorded), spans.last()) else {
            continue;
        };
        let Some(text) = texts(&*view, source, &[*span])?.pop() else {
            continue;
        };
        let says_the_same = |request: &RecordedRequest| {
            request.provider == provider.as_str()
                && in_force(&request.settings).eq(in_force(settings))
        };
        if let Some(request) = read(&text).filter(says_the_same)
            && request.messages == repo.messages(context)?
        {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// The settings that say anything: one that is null is as good as none.
fn in_force(settings: &Settings) -> impl Iterator<Item = (&String, &String)> {
    settings.iter().filter(|(_, value)| *value != "null")
}
