//! Saying to a repository who is at work in it.

use tract::history::Repo;
use tract::model::Author;

use super::identity::AUTHOR_NAME;
use super::{App, Result};

impl App {
    /// Says to a repository who is at work.
    pub fn sign_on(&self, repo: &mut Repo) -> Result<()> {
        let worker = &self.env.worker;
        let (name, is_chosen) = self.name(Some(repo))?;
        let signs = is_chosen || repo.is_on_server();
        let author = Author {
            name,
            client: worker.client.clone(),
            run: worker.run.clone(),
        };
        repo.work_as(author.known(), signs);
        Ok(())
    }

    /// What whoever is at work goes by, and whether that was chosen: in a repository, or on a server.
    pub(super) fn name(&self, repo: Option<&Repo>) -> Result<(Option<String>, bool)> {
        let worker = &self.env.worker;
        Ok(match &worker.author {
            Some(name) if name.is_empty() => (None, false),
            Some(name) => (Some(name.clone()), true),
            None => match self.author_name(repo)? {
                Some(name) => (Some(name), true),
                None => (worker.account.clone(), false),
            },
        })
    }

    /// The name that is set: in the repository, unless it is many people's, else for all of one's own.
    fn author_name(&self, repo: Option<&Repo>) -> Result<Option<String>> {
        // What is damaged is said by whoever needs it.
        let own = repo.filter(|repo| !repo.is_on_server());
        let kept = own.and_then(|repo| repo.config().ok());
        let here = kept.and_then(|config| config.get(AUTHOR_NAME).map(str::to_owned));
        if here.is_some() {
            return Ok(here);
        }
        let config = self.user_config()?;
        Ok(config.values(AUTHOR_NAME).last().map(str::to_owned))
    }
}
