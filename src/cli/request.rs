//! What a model would be sent at a commit.

use tract::compile::Provider;
use tract::compile::{Compiled, Contents, RequestOptions, compile_as_said};
use tract::hash::CommitHash;
use tract::history::Repo;
use tract::ingest::{as_running, said};

use super::Failure;

/// The request, and what should be known about it; with the settings of the reply to it, if that is
/// known.
pub fn payload(
    repo: &Repo,
    commit: &CommitHash,
    reply: Option<&CommitHash>,
    options: &RequestOptions,
) -> Result<(String, Vec<String>), Failure> {
    let context = repo.context(commit)?;
    let messages = repo.messages(&context)?;
    // A reply brings the settings that it was made with.
    let settings = match reply {
        Some(reply) => repo.settings(&repo.context(reply)?)?,
        None => repo.settings(&context)?,
    };
    // Whoever asks for all of a request wants the one that a provider's cache knows.
    let contents = match options.whole_request {
        true => said(repo, &context, options.provider)?,
        false => Contents::new(),
    };
    let (messages, contents) = match reply {
        Some(reply) if options.provider == Provider::Anthropic => {
            as_running(repo, &context, reply, &settings, (messages, contents))?
        }
        _ => (messages, contents),
    };
    let Compiled {
        payload, notices, ..
    } = compile_as_said(&messages, &contents, &settings, options)?;
    let mut notices: Vec<String> = notices.iter().map(ToString::to_string).collect();
    if let Some((_, session)) = repo.session_of(commit)?
        && !session.absent.is_empty()
    {
        let absent = session.absent.join(", ");
        notices.push(format!("not in the session file: {absent}"));
    }
    Ok((payload, notices))
}
