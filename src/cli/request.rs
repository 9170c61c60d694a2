//! What a model would be sent at a commit.

use tract::compile::{Compiled, Compiling, Contents, Notice, Provider, RequestOptions};
use tract::context::Context;
use tract::hash::CommitHash;
use tract::history::{Repo, Stored, newest_request};
use tract::ingest::{as_running, said, sent};
use tract::model::Settings;

use super::Result;
use super::sent::sent_with;

/// The request, and what should be known about it; with the settings of the reply to it, if that is
/// known. One that stands behind a request that its client recorded is made as the next one.
pub fn payload(
    repo: &Repo,
    commit: &CommitHash,
    reply: Option<&CommitHash>,
    options: &RequestOptions,
) -> Result<(String, Vec<String>)> {
    let context = repo.context(commit)?;
    // A reply brings the settings that it was made with.
    let settings = match reply {
        Some(reply) => repo.settings(&repo.context(reply)?)?,
        None => repo.settings(&context)?,
    };
    if options.whole_request
        && let Some(payload) = sent(repo, &context, commit, &settings, options.provider)?
    {
        return Ok((payload, Vec::new()));
    }
    let (mut payload, mut notices) = made(repo, (&context, &settings), reply, options)?;
    let mut beside = Vec::new();
    if options.whole_request
        && let Some(newest) = newest_request(repo, commit, Some(options.provider.as_str()))?
    {
        let before = repo.settings(&repo.context(&newest.reply)?)?;
        let has_changed = |key: &str| before.get(key) != settings.get(key);
        if let Some(next) = newest.followed_by(&payload, &has_changed) {
            payload = next;
            notices.retain(|notice| !matches!(notice, Notice::DefaultMaxTokens { .. }));
            let reply = newest.reply.short();
            beside.push(format!(
                "system prompt, tools and parameters are those of the request that {reply} answered"
            ));
            beside.extend(newest.headers.iter().map(sent_with));
        }
    }
    if let Some((_, session)) = repo.session_of(commit)?
        && !session.absent.is_empty()
    {
        let absent = session.absent.join(", ");
        beside.push(format!("not in the session file: {absent}"));
    }
    let notices = notices.iter().map(ToString::to_string);
    Ok((payload, notices.chain(beside).collect()))
}

/// What is made of a context and its settings.
fn made(
    repo: &Repo,
    (context, settings): (&Context, &Settings),
    reply: Option<&CommitHash>,
    options: &RequestOptions,
) -> Result<(String, Vec<Notice>)> {
    // Whoever asks for all of a request wants the one that a provider's cache knows.
    let contents = if options.whole_request {
        said(repo, context, options.provider)?
    } else {
        Contents::new()
    };
    // What a client sent while it ran may stand elsewhere than what it kept.
    let (messages, contents) = match reply {
        Some(reply) if options.provider == Provider::Anthropic => {
            let messages = (repo.messages(context)?, contents);
            let (messages, contents) = as_running(repo, context, reply, settings, messages)?;
            (Some(messages), contents)
        }
        _ => (None, contents),
    };
    let mut making = Compiling::new(&contents, settings, options);
    match messages {
        Some(messages) => messages.into_iter().for_each(|message| making.add(message)),
        None => repo.each_message(context, &mut |message| match message {
            Stored::Canonical(canonical) => making.add_canonical(canonical),
            Stored::Masked(message) => {
                making.add(message);
                Ok(())
            }
        })?,
    }
    let Compiled {
        payload, notices, ..
    } = making.finish()?;
    Ok((payload, notices))
}
