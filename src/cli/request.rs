//! What a model would be sent at a commit.

use tract::compile::{Compiled, Compiling, Contents, Provider, RequestOptions};
use tract::hash::CommitHash;
use tract::history::{Repo, Stored};
use tract::ingest::{as_running, said, sent};

use super::Result;

/// The request, and what should be known about it; with the settings of the reply to it, if that is
/// known.
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
    // Whoever asks for all of a request wants the one that a provider's cache knows.
    let contents = if options.whole_request {
        said(repo, &context, options.provider)?
    } else {
        Contents::new()
    };
    // What a client sent while it ran may stand elsewhere than what it kept.
    let (messages, contents) = match reply {
        Some(reply) if options.provider == Provider::Anthropic => {
            let messages = (repo.messages(&context)?, contents);
            let (messages, contents) = as_running(repo, &context, reply, &settings, messages)?;
            (Some(messages), contents)
        }
        _ => (None, contents),
    };
    let mut making = Compiling::new(&contents, &settings, options);
    match messages {
        Some(messages) => messages.into_iter().for_each(|message| making.add(message)),
        None => repo.each_message(&context, &mut |message| match message {
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
    let mut notices: Vec<String> = notices.iter().map(ToString::to_string).collect();
    if let Some((_, session)) = repo.session_of(commit)?
        && !session.absent.is_empty()
    {
        let absent = session.absent.join(", ");
        notices.push(format!("not in the session file: {absent}"));
    }
    Ok((payload, notices))
}
