//! What a model would be sent at a commit.

use tract::compile::{Compiled, RequestOptions, compile};
use tract::hash::CommitHash;
use tract::history::Repo;

use super::Failure;

/// The request, and what should be known about it.
pub fn payload(
    repo: &Repo,
    commit: &CommitHash,
    options: &RequestOptions,
) -> Result<(String, Vec<String>), Failure> {
    let context = repo.context(commit)?;
    let messages = repo.messages(&context)?;
    let settings = repo.settings(&context)?;
    let Compiled {
        payload, notices, ..
    } = compile(&messages, &settings, options)?;
    let mut notices: Vec<String> = notices.iter().map(ToString::to_string).collect();
    if let Some((_, session)) = repo.session_of(commit)?
        && !session.absent.is_empty()
    {
        let absent = session.absent.join(", ");
        notices.push(format!("not in the session file: {absent}"));
    }
    Ok((payload, notices))
}
