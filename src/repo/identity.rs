//! Who is at work, by what the surroundings and the settings say: one rule for every door.

use crate::model::Author;
use crate::repo::repository::Repo;

/// What a door has found of who is at work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// `TRACT_AUTHOR`, which goes before all else; an empty one: nobody is to be named.
    pub author: Option<String>,
    /// `author.name` of one's own settings.
    pub own: Option<String>,
    /// `USER@HOST`, for where nobody has chosen a name.
    pub account: Option<String>,
    /// `TRACT_CLIENT`: the program that runs this, and its version.
    pub client: Option<String>,
    /// `TRACT_RUN`: what it is about.
    pub run: Option<String>,
}

impl Identity {
    /// What variables say of it, by their names. `user` and `host` are what the system calls both, for where none does.
    pub fn read(
        text: impl Fn(&str) -> Option<String>,
        user: Option<String>,
        host: Option<String>,
    ) -> Self {
        let given = |name: &str| text(name).filter(|value| !value.is_empty());
        let named = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(given);
        let host = host.filter(|name| !name.is_empty());
        let account = named
            .or(user)
            .map(|user| match host.or_else(|| given("COMPUTERNAME")) {
                Some(host) => format!("{user}@{host}"),
                None => user,
            });
        Self {
            author: text("TRACT_AUTHOR").map(|name| name.trim().to_owned()),
            own: None,
            account,
            client: given("TRACT_CLIENT"),
            run: given("TRACT_RUN"),
        }
    }

    /// What whoever is at work goes by, and whether that was chosen. `set` is what the repository says, if it does.
    pub fn name(&self, set: impl FnOnce() -> Option<String>) -> (Option<String>, bool) {
        match &self.author {
            Some(name) if name.is_empty() => (None, false),
            Some(name) => (Some(name.clone()), true),
            None => match set().or_else(|| self.own.clone()) {
                Some(name) => (Some(name), true),
                None => (self.account.clone(), false),
            },
        }
    }
}

impl Repo {
    /// Says who is at work from here on. A name is what somebody goes by and proves nothing. One that was chosen stands
    /// in commits; `USER@HOST` does only on a server, where it travels nowhere by itself.
    pub fn sign_on(&mut self, identity: &Identity) {
        let (name, is_chosen) = identity.name(|| self.author_name());
        let signs = is_chosen || self.is_on_server();
        let author = Author {
            name,
            client: identity.client.clone(),
            run: identity.run.clone(),
        };
        self.work_as(author.known(), signs);
    }

    /// The name that is set in the repository, unless it is many people's.
    fn author_name(&self) -> Option<String> {
        // What is damaged is said by whoever needs it.
        let kept = (!self.is_on_server()).then(|| self.config().ok()).flatten();
        kept.and_then(|config| config.get(AUTHOR_NAME).map(str::to_owned))
    }
}

/// The setting, of a repository's and of one's own.
pub const AUTHOR_NAME: &str = "author.name";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_chosen_goes_before_one_that_is_found() {
        let mut repo = Repo::ephemeral().expect("a repository");
        let text = |text: &str| Some(text.to_owned());
        let mut identity = Identity {
            account: text("me@here"),
            ..Identity::default()
        };
        let told = |repo: &mut Repo, identity: &Identity| {
            repo.sign_on(identity);
            let signature = repo.signature().and_then(|author| author.name.clone());
            (repo.worker().map(str::to_owned), signature)
        };
        assert_eq!(told(&mut repo, &identity), (text("me@here"), None));
        identity.own = text("Mara");
        assert_eq!(told(&mut repo, &identity), (text("Mara"), text("Mara")));
        repo.set_config(AUTHOR_NAME, Some("Here")).expect("set");
        assert_eq!(told(&mut repo, &identity), (text("Here"), text("Here")));
        identity.author = text("Now");
        assert_eq!(told(&mut repo, &identity), (text("Now"), text("Now")));
        identity.author = text("");
        assert_eq!(told(&mut repo, &identity), (None, None));
    }
}
