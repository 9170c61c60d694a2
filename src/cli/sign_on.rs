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
        let worker = &self.env.worker;
        let own = match worker.author {
            Some(_) => None,
            None => {
                let config = self.user_config()?;
                config.values(AUTHOR_NAME).last().map(str::to_owned)
            }
        };
        Ok(Identity {
            author: worker.author.clone(),
            own,
            account: worker.account.clone(),
            client: worker.client.clone(),
            run: worker.run.clone(),
        })
    }
}
