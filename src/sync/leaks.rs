//! Which commits bring a secret that is about to leave.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::secret::{SecretCounts, Secrets, add_counts};
use crate::repo::ancestry;
use crate::repo::repository::Repo;
use crate::store::View;

/// How many commits' messages are read at once.
const SOME: usize = 256;

/// The secrets of several things that are to leave together: all are named at once.
#[derive(Default)]
pub struct Leaked {
    counts: SecretCounts,
    commits: Vec<String>,
}

impl Leaked {
    /// Notes the secrets for which something was refused. Those of commits that are named already were counted.
    ///
    /// # Errors
    ///
    /// Any other error.
    pub fn take<T>(&mut self, done: Result<T>) -> Result<Option<T>> {
        let (counts, commits) = match done {
            Err(Error::Leaks { counts, commits }) => (counts, commits),
            done => return done.map(Some),
        };
        let mut new = commits;
        let are_unnamed = new.is_empty();
        new.retain(|commit| !self.commits.contains(commit));
        if are_unnamed || !new.is_empty() {
            add_counts(&mut self.counts, &counts);
        }
        self.commits.extend(new);
        Ok(None)
    }

    /// # Errors
    ///
    /// [`Error::Leaks`] where anything was refused.
    pub fn end(self) -> Result<()> {
        let Self { counts, commits } = self;
        match counts.is_empty() {
            true => Ok(()),
            false => Err(Error::Leaks { counts, commits }),
        }
    }
}

impl Repo {
    /// The commits that lead to `tip` whose messages hold any of these secrets, oldest first.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn leaks(
        &self,
        tip: &CommitHash,
        secrets: &Secrets,
        texts: &BTreeSet<Vec<u8>>,
    ) -> Result<Vec<CommitHash>> {
        leaks(&*self.store.read()?, tip, secrets, texts)
    }
}

pub(crate) fn leaks(
    view: &dyn View,
    tip: &CommitHash,
    secrets: &Secrets,
    texts: &BTreeSet<Vec<u8>>,
) -> Result<Vec<CommitHash>> {
    let rows = ancestry::beyond(view, tip, &[])?;
    let mut leaks = Vec::new();
    for some in rows.chunks(SOME) {
        let contents = some.iter().flat_map(|row| row.commit.operation.contents());
        let contents: Vec<ContentHash> = contents.collect();
        let mut telling = BTreeSet::new();
        view.each_body(&contents, &mut |at, body| {
            let body = body.as_bytes();
            let found = secrets.find(body);
            if found
                .iter()
                .any(|it| texts.contains(&body[it.place.clone()]))
            {
                telling.insert(contents[at]);
            }
            Ok(())
        })?;
        let tells = |content: &ContentHash| telling.contains(content);
        let telling = some
            .iter()
            .filter(|row| row.commit.operation.contents().iter().any(tells));
        leaks.extend(telling.map(|row| row.hash));
    }
    Ok(leaks)
}
