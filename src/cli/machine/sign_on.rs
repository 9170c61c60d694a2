//! Saying to a repository who is at work in it.

use tract::model::secret::People;
use tract::render::Calendar;
use tract::render::calendar::Edge;
use tract::repo::{AUTHOR_NAME, Identity, Repo};

use crate::cli::app::system_time;
use crate::cli::{App, Result};

impl App {
    /// Says to a repository who is at work.
    pub fn sign_on(&self, repo: &mut Repo) -> Result<()> {
        repo.sign_on(&self.identity()?);
        self.read_times(repo);
        Ok(())
    }

    /// Has a repository read `main@{yesterday}`; a day alone is its end.
    pub fn read_times(&self, repo: &mut Repo) {
        let clock = self.env.clock;
        let zone = self.env.zone.clone();
        repo.read_times(Box::new(move |text| {
            let calendar = Calendar {
                now: clock.unwrap_or_else(system_time),
                zone: zone.read(),
                ages: false,
            };
            calendar.read(text, Edge::End)
        }));
    }

    /// Who is at work, by all names that are known here, and where.
    pub fn people(&self) -> Result<People> {
        let identity = self.identity()?;
        let mut people = People::default();
        // Where nobody says what the user is called, the machine still has a name.
        let account = identity.account;
        let host = account
            .as_deref()
            .and_then(|it| Some(it.split_once('@')?.1));
        host.into_iter().for_each(|host| people.meet_host(host));
        let account = account.filter(|it| !it.starts_with("uid-"));
        let home = self.env.home.as_ref().and_then(|home| home.to_str());
        let names = [&account, &identity.author, &identity.own];
        let names = names.into_iter().flatten().map(String::as_str);
        people.meet_one(names.chain(home));
        Ok(people)
    }

    /// What the surroundings and one's own settings say of who is at work.
    pub(in crate::cli) fn identity(&self) -> Result<Identity> {
        let mut identity = self.env.worker.clone();
        if identity.author.is_none() {
            let config = self.user_config()?;
            identity.own = config.values(AUTHOR_NAME).last().map(str::to_owned);
        }
        Ok(identity)
    }
}
