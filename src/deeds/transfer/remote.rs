//! Other repositories by name.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deeds::{ApiError, At, Deed, Method};

/// The remotes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RemotesAnswer {
    /// Where they are, by their names.
    pub remotes: BTreeMap<String, String>,
}

impl RemotesAnswer {
    fn of(at: &At<'_>) -> Result<Self, ApiError> {
        let remotes = at.repo.remotes()?.into_iter();
        Ok(Self {
            remotes: remotes.map(|remote| (remote.name, remote.url)).collect(),
        })
    }
}

fn known(is_known: bool, name: &str) -> Result<(), ApiError> {
    match is_known {
        true => Ok(()),
        false => Err(ApiError::refused(format!("no remote '{name}'"))
            .with_hint("`tract remote` lists what there is")),
    }
}

/// Nothing is asked.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemotesParams {}

impl Method for RemotesParams {
    const NAME: &'static str = "remotes";
    const ABOUT: &'static str = "Lists the remotes.";
    const CHANGES: bool = false;
    type Answer = RemotesAnswer;

    fn act(self, at: &mut At<'_>) -> Result<RemotesAnswer, ApiError> {
        RemotesAnswer::of(at)
    }
}

/// Add a remote
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct RemoteAddParams {
    /// Its name here
    pub name: String,
    /// Where it is: a directory, ssh://HOST/PATH, HOST:PATH, or s3://BUCKET/PREFIX
    pub url: String,
}

impl Method for RemoteAddParams {
    const NAME: &'static str = "remote_add";
    const CHANGES: bool = true;
    type Answer = RemotesAnswer;

    fn act(self, at: &mut At<'_>) -> Result<RemotesAnswer, ApiError> {
        let url = at.host.kept_address(&self.url)?;
        at.repo.add_remote(&self.name, &url)?;
        RemotesAnswer::of(at)
    }
}

impl Deed for RemoteAddParams {
    const PLACES: &'static [&'static str] = &["name", "url"];
    const REMOTES: &'static [&'static str] = &["url"];
}

/// Change the URL of a remote
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct RemoteSetUrlParams {
    /// Its name here
    pub name: String,
    /// Where it is: a directory, ssh://HOST/PATH, HOST:PATH, or s3://BUCKET/PREFIX
    pub url: String,
}

impl Method for RemoteSetUrlParams {
    const NAME: &'static str = "remote_set_url";
    const CHANGES: bool = true;
    type Answer = RemotesAnswer;

    fn act(self, at: &mut At<'_>) -> Result<RemotesAnswer, ApiError> {
        let url = at.host.kept_address(&self.url)?;
        known(at.repo.move_remote(&self.name, &url)?, &self.name)?;
        RemotesAnswer::of(at)
    }
}

impl Deed for RemoteSetUrlParams {
    const PLACES: &'static [&'static str] = &["name", "url"];
    const REMOTES: &'static [&'static str] = &["url"];
}

/// Give a remote another name
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct RemoteRenameParams {
    /// Its name here
    pub old: String,
    /// Its new name
    pub new: String,
}

impl Method for RemoteRenameParams {
    const NAME: &'static str = "remote_rename";
    const CHANGES: bool = true;
    type Answer = RemotesAnswer;

    fn act(self, at: &mut At<'_>) -> Result<RemotesAnswer, ApiError> {
        let (line, Self { old, new }) = (self.line(), &self);
        known(at.repo.rename_remote(at.call(&line), old, new)?, old)?;
        RemotesAnswer::of(at)
    }
}

impl Deed for RemoteRenameParams {
    const PLACES: &'static [&'static str] = &["old", "new"];
    const REMOTES: &'static [&'static str] = &["old", "new"];
}

/// Remove a remote, and forget where its refs were
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct RemoteRemoveParams {
    /// Its name here
    pub name: String,
}

impl Method for RemoteRemoveParams {
    const NAME: &'static str = "remote_remove";
    const CHANGES: bool = true;
    type Answer = RemotesAnswer;

    fn act(self, at: &mut At<'_>) -> Result<RemotesAnswer, ApiError> {
        let (line, name) = (self.line(), &self.name);
        // Of one that has no name of its own, git:origin, there is what was seen.
        known(at.repo.forget_remote(at.call(&line), name)?, name)?;
        RemotesAnswer::of(at)
    }
}

impl Deed for RemoteRemoveParams {
    const PLACES: &'static [&'static str] = &["name"];
    const REMOTES: &'static [&'static str] = &["name"];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deeds::Still;
    use crate::repo::{On, Repo};

    #[test]
    fn a_remote_is_named_renamed_and_forgotten() {
        let repo = Repo::ephemeral().expect("a repository");
        let at = || At::new(&repo, On::Head, &Still);
        let (name, elsewhere) = (|| "origin".to_owned(), |url: &str| url.to_owned());
        let add = |url: &str| RemoteAddParams {
            name: name(),
            url: elsewhere(url),
        };
        assert!(add("talk").call(&mut at()).is_err());
        let answer = add("/srv/talk").call(&mut at()).expect("added");
        assert_eq!(answer.remotes["origin"], "/srv/talk");
        assert!(add("/srv/other").call(&mut at()).is_err());
        let rename = RemoteRenameParams {
            old: name(),
            new: "hub".to_owned(),
        };
        let answer = rename.clone().call(&mut at()).expect("renamed");
        assert_eq!(answer.remotes["hub"], "/srv/talk");
        assert!(rename.call(&mut at()).is_err());
        let gone = RemoteRemoveParams {
            name: "hub".to_owned(),
        };
        let answer = gone.clone().call(&mut at()).expect("forgotten");
        assert!(answer.remotes.is_empty());
        assert!(gone.call(&mut at()).is_err());
    }
}
