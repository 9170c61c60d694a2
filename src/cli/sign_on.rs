//! Saying to a repository who is at work in it.

use tract::history::{AUTHOR_NAME, Identity, Repo};

use super::{App, Result};

impl App {
    /// Says to a repository who is at work.
    pub fn sign_on(&self, repo: &mut Repo) -> Result<()> {
        let worker = &self.env.worker;
        let own = match worker.author {
            Some(_) => None,
            None => {
                let config = self.user_config()?;
                config.values(AUTHOR_NAME).last().map(str::to_owned)
            }
        };
        repo.sign_on(&Identity {
            author: worker.author.clone(),
            own,
            account: worker.account.clone(),
            client: worker.client.clone(),
            run: worker.run.clone(),
        });
        Ok(())
    }
}
