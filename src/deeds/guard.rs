//! Secrets in what leaves: looked for before anything is written.

use std::io::{self, Write};

use crate::error::{Error, Result};
use crate::formats::shared::redaction::{FoundSecrets, Sieve};
use crate::hash::CommitHash;
use crate::model::secret::{Leaving, SecretCounts, Secrets};
use crate::repo::Repo;

/// What is held in memory of something that is looked at before it is written; more is made twice.
const HELD_BYTES: usize = 32 << 20;

/// Lets a session file out that `make` writes, unless there are secrets in it; or without them. `make`
/// is called twice where the file is large, or where it has to be another one. What was replaced comes
/// with what `make` says.
///
/// # Errors
///
/// [`Error::Leaks`] where there are secrets that must not leave, before anything is written; what `make` fails with.
pub fn guard<T>(
    (repo, commit): (&Repo, &CommitHash),
    leaving: Leaving<'_>,
    make: &mut dyn FnMut(&mut dyn Write) -> Result<T>,
    out: &mut dyn Write,
) -> Result<(T, SecretCounts)> {
    let Some(secrets) = leaving.secrets() else {
        return Ok((make(out)?, SecretCounts::new()));
    };
    let mut sieve = Sieve::finding(secrets);
    let mut held = Some(Vec::new());
    let done = make(&mut Both(&mut sieve, &mut held))?;
    let found = sieve.end().map_err(Error::io("output"))?;
    if found.counts.is_empty() {
        return Ok(match held {
            Some(bytes) => {
                out.write_all(&bytes).map_err(Error::io("output"))?;
                (done, found.counts)
            }
            None => (make(out)?, found.counts),
        });
    }
    refuse(repo, commit, leaving, &found)?;
    let mut sieve = Sieve::redacting(secrets, out);
    match held {
        Some(bytes) => sieve.write_all(&bytes).map_err(Error::io("output"))?,
        None => {
            make(&mut sieve)?;
        }
    }
    sieve.end().map_err(Error::io("output"))?;
    Ok((done, found.counts))
}

/// Refuses what was found, unless it is to be replaced.
fn refuse(
    repo: &Repo,
    commit: &CommitHash,
    leaving: Leaving<'_>,
    found: &FoundSecrets,
) -> Result<()> {
    let Leaving::Refused(secrets) = leaving else {
        return Ok(());
    };
    let commits = repo.leaks(commit, secrets, &found.texts)?;
    let commits = commits.iter().map(CommitHash::short).collect();
    let counts = found.counts.clone();
    Err(Error::Leaks { counts, commits })
}

/// Refuses a page with secrets on it, whichever way it is read.
///
/// # Errors
///
/// [`Error::Leaks`].
pub fn check_page(
    (repo, commit): (&Repo, &CommitHash),
    secrets: &Secrets,
    page: &[Vec<u8>],
) -> Result<()> {
    let mut found = FoundSecrets::default();
    for read in page {
        let mut one = FoundSecrets::default();
        one.look(read, secrets);
        found.texts.extend(one.texts);
        for (kind, count) in one.counts {
            let most = found.counts.entry(kind).or_default();
            *most = count.max(*most);
        }
    }
    if found.counts.is_empty() {
        Ok(())
    } else {
        refuse(repo, commit, Leaving::Refused(secrets), &found)
    }
}

/// Two that are written the same: a sieve, and what is held as long as it is not too much.
struct Both<'a, 'b>(&'a mut Sieve<'b>, &'a mut Option<Vec<u8>>);

impl Write for Both<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self(sieve, held) = self;
        sieve.write_all(bytes)?;
        let room = HELD_BYTES.saturating_sub(bytes.len());
        **held = held.take().filter(|kept| kept.len() <= room);
        if let Some(kept) = held {
            kept.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
