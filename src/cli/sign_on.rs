//! Saying to a repository who is at work in it.

use tract::history::{AUTHOR_NAME, Identity, Repo};

use super::{App, Result};

impl App {
    /// Says to a repository who is at work.
    pub fn sign_on(&self, repo: &mut Repo) -> Result<()> {
        repo.sign_on(&self.identity()?);
        Ok(())
    }

    /// What the surroundings and one's own settings say of who is at work.
    pub(super) fn identity(&self) -> Result<Identity> {
        let mut identity = self.env.worker.clone();
        if identity.author.is_none() {
            let config = self.user_config()?;
            identity.own = config.values(AUTHOR_NAME).last().map(str::to_owned);
        }
        Ok(identity)
    }
}
