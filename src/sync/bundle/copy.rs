//! A copy of a path in memory, without its secrets.

use std::io::Cursor;

use super::BundleTip;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::RefName;
use crate::model::secret::{Leaving, SecretCounts, Secrets};
use crate::repo::ancestry;
use crate::repo::call::Call;
use crate::repo::load;
use crate::repo::repository::Repo;

impl Repo {
    /// A repository in memory with the path to `commit` and the session files behind it, all of it with
    /// `[redacted:KIND]` in place of secrets; what `commit` is called there; and how many there were.
    ///
    /// # Errors
    ///
    /// As [`Repo::bundle`].
    pub fn without_secrets(
        &self,
        commit: &CommitHash,
        secrets: &Secrets,
    ) -> Result<(Self, CommitHash, SecretCounts)> {
        let mut tips = vec![BundleTip::new(RefName::branch("main")?, *commit)];
        tips.extend(self.sessions_behind(commit)?);
        let (bytes, done) = self.bundle_leaving(&tips, true, Leaving::Redacted(secrets))?;
        let copy = Self::ephemeral()?;
        copy.unbundle(Call::default(), &mut Cursor::new(bytes), &mut |_| {})?;
        let renamed = *done.renamed.get(commit).unwrap_or(commit);
        Ok((copy, renamed, done.secrets))
    }

    /// The sessions whose files are behind a path, each up to where it is now.
    fn sessions_behind(&self, commit: &CommitHash) -> Result<Vec<BundleTip>> {
        let view = self.store.read()?;
        let path = ancestry::beyond(&*view, commit, &[])?;
        let path: Vec<CommitHash> = path.iter().map(|row| row.hash).collect();
        let mut tips: Vec<BundleTip> = Vec::new();
        for id in view.sources_behind(&path)? {
            let Some(source) = view.source(id)? else {
                continue;
            };
            let name = source.session;
            if let Some(commit) = load::tip(&*view, &name)?
                && !tips.iter().any(|tip| tip.name == name)
            {
                tips.push(BundleTip::new(name, commit));
            }
        }
        Ok(tips)
    }
}
