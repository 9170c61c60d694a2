//! Who is at work, as far as the environment and the settings say: a name, the program, what it is about.
//!
//! A name is what somebody goes by and proves nothing. Without one it is `USER@HOST`, which stays where it is written:
//! commits, which travel, bear it only on a server.

use tract::history::Repo;
use tract::model::Author;

use super::{App, Result};

/// The setting, of a repository's and of one's own.
pub const AUTHOR_NAME: &str = "author.name";

/// What the environment says of who is at work.
#[derive(Clone, Debug, Default)]
pub struct Worker {
    /// `TRACT_AUTHOR`; an empty one: nobody is to be named.
    author: Option<String>,
    /// `TRACT_CLIENT`: the program that runs this, and its version.
    client: Option<String>,
    /// `TRACT_RUN`: what it is about.
    run: Option<String>,
    /// `USER@HOST`.
    account: Option<String>,
}

impl Worker {
    /// What the variables say, by their names.
    pub fn read(text: impl Fn(&str) -> Option<String>) -> Self {
        let given = |name: &str| text(name).filter(|value| !value.is_empty());
        let user = given("USER").or_else(|| given("LOGNAME"));
        let user = user.or_else(|| given("USERNAME")).or_else(uid);
        Self {
            author: text("TRACT_AUTHOR").map(|name| name.trim().to_owned()),
            client: given("TRACT_CLIENT"),
            run: given("TRACT_RUN"),
            account: user.map(|user| match host().or_else(|| given("COMPUTERNAME")) {
                Some(host) => format!("{user}@{host}"),
                None => user,
            }),
        }
    }

    /// Says which program this works for, where the environment does not.
    pub fn serves(&mut self, client: &str) {
        self.client.get_or_insert_with(|| client.to_owned());
    }
}

#[cfg(unix)]
fn uid() -> Option<String> {
    Some(format!("uid-{}", rustix::process::getuid().as_raw()))
}

#[cfg(not(unix))]
fn uid() -> Option<String> {
    None
}

#[cfg(unix)]
fn host() -> Option<String> {
    let system = rustix::system::uname();
    let name = system.nodename().to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(not(unix))]
fn host() -> Option<String> {
    None
}

impl App {
    /// Says to a repository who is at work.
    pub fn sign_on(&self, repo: &mut Repo) -> Result<()> {
        let worker = &self.env.worker;
        let (name, is_chosen) = match &worker.author {
            Some(name) if name.is_empty() => (None, false),
            Some(name) => (Some(name.clone()), true),
            None => match self.author_name(repo)? {
                Some(name) => (Some(name), true),
                None => (worker.account.clone(), false),
            },
        };
        let signs = is_chosen || repo.is_on_server();
        let author = Author {
            name,
            client: worker.client.clone(),
            run: worker.run.clone(),
        };
        repo.work_as(author.known(), signs);
        Ok(())
    }

    /// The name that is set: in the repository, unless it is many people's, else for all of one's own.
    fn author_name(&self, repo: &Repo) -> Result<Option<String>> {
        // What is damaged is said by whoever needs it.
        let kept = (!repo.is_on_server()).then(|| repo.config().ok()).flatten();
        let here = kept.and_then(|config| config.get(AUTHOR_NAME).map(str::to_owned));
        if here.is_some() {
            return Ok(here);
        }
        let config = self.user_config()?;
        Ok(config.values(AUTHOR_NAME).last().map(str::to_owned))
    }
}
