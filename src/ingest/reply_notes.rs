//! What a provider said of a reply beside its counts, as the records say it that were kept of the reply.

use crate::error::Result;
use crate::formats::shared::reply_notes::Remarked;
use crate::hash::CommitHash;
use crate::repo::Repo;
use crate::repo::kept::texts;

/// What a provider said of the reply that a commit appends, in whatever source says it first.
///
/// # Errors
///
/// The store's.
pub fn remarked(repo: &Repo, reply: &CommitHash) -> Result<Remarked> {
    let view = repo.store.read()?;
    for (source, spans) in view.records_of(reply)? {
        let found = Remarked::of(&texts(&*view, source, &spans)?);
        if found != Remarked::default() {
            return Ok(found);
        }
    }
    Ok(Remarked::default())
}
