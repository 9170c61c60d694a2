//! What a repository does not let others do to its refs: its settings `receive.*`, by git's words.
//!
//! Whoever pushes is told with the refs, so that the rest goes; the repository itself asks again before it moves any.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::RefName;
use crate::repo::config::Config;

/// What is not let happen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Denials {
    /// No ref is deleted.
    pub deletes: bool,
    /// No ref loses commits.
    pub non_fast_forwards: bool,
    /// Neither happens to these branches: names, or `NAME/*` for all below it, or `*`.
    pub protected: Vec<String>,
}

/// By which of the settings something is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// `receive.denyDeletes`.
    Deletes,
    /// `receive.denyNonFastForwards`.
    NonFastForwards,
    /// `receive.protect`.
    Protected,
}

impl Denial {
    /// The setting.
    pub const fn setting(self) -> &'static str {
        match self {
            Self::Deletes => "receive.denyDeletes",
            Self::NonFastForwards => "receive.denyNonFastForwards",
            Self::Protected => "receive.protect",
        }
    }
}

/// What is done to a ref that others may have something against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harm {
    Delete,
    Replace,
}

impl Denials {
    /// What a repository is set to.
    pub(super) fn of(config: &Config) -> Result<Self> {
        let protected = config.get("receive.protect").unwrap_or_default();
        Ok(Self {
            deletes: config.flag("receive.denyDeletes")?,
            non_fast_forwards: config.flag("receive.denyNonFastForwards")?,
            protected: patterns(protected).map(str::to_owned).collect(),
        })
    }

    /// Whether nothing is denied.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// By which setting this is denied of a ref, if it is.
    pub(super) fn of_ref(&self, name: &RefName, harm: Harm) -> Option<Denial> {
        let branch = name.as_str().strip_prefix(RefName::HEADS);
        let is_protected = |branch| self.protected.iter().any(|one| fits(one, branch));
        match harm {
            _ if branch.is_some_and(is_protected) => Some(Denial::Protected),
            Harm::Delete => self.deletes.then_some(Denial::Deletes),
            Harm::Replace => self.non_fast_forwards.then_some(Denial::NonFastForwards),
        }
    }
}

/// Refuses a list of branches of which one could be none.
///
/// # Errors
///
/// [`Error::InvalidRefName`].
pub fn checked_patterns(list: &str) -> Result<String> {
    let mut all = Vec::new();
    for one in patterns(list) {
        match one.strip_suffix('*') {
            Some(folder) if folder.is_empty() || folder.ends_with('/') => {
                RefName::branch(&format!("{folder}x"))?;
            }
            _ => drop(RefName::branch(one)?),
        }
        all.push(one);
    }
    if all.is_empty() {
        return Err(Error::input("receive.protect", "it names no branch"));
    }
    Ok(all.join(","))
}

fn patterns(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|one| !one.is_empty())
}

fn fits(pattern: &str, branch: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(folder) if folder.is_empty() || folder.ends_with('/') => branch.starts_with(folder),
        _ => pattern == branch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_protected_is_a_branch_or_all_below_a_name() {
        let list = checked_patterns(" main, release/* ").expect("branches");
        assert_eq!(list, "main,release/*");
        let denials = Denials {
            protected: patterns(&list).map(str::to_owned).collect(),
            ..Denials::default()
        };
        let denied = |name: &str| {
            let name = name.parse().expect("a name");
            denials.of_ref(&name, Harm::Delete) == Some(Denial::Protected)
        };
        assert!(denied("refs/heads/main") && denied("refs/heads/release/1/x"));
        for free in ["refs/heads/main2", "refs/heads/release", "refs/tags/main"] {
            assert!(!denied(free), "{free}");
        }
        for odd in ["", " , ", "a*", "a..b", "-x"] {
            assert!(checked_patterns(odd).is_err(), "{odd:?}");
        }
    }
}
