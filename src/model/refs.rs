//! Names that point at commits.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::hash::CommitHash;

/// The full name of a ref: `HEAD`, `ORIG_HEAD`, `PREV_HEAD`, `refs/heads/main`,
/// `refs/tags/v1`, `refs/sessions/claude-code/ID`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefName(String);

/// What a ref holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefValue {
    /// A commit.
    Commit(CommitHash),
    /// Another ref, by name.
    Symbolic(RefName),
}

/// Where HEAD is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// On a branch, which may have no commit yet.
    Attached {
        /// The branch's full name.
        branch: RefName,
        /// Its tip; none while the branch is empty.
        tip: Option<CommitHash>,
    },
    /// At a commit, off every branch.
    Detached(CommitHash),
}

impl Head {
    /// The commit that HEAD stands on; none in an empty repository.
    pub fn commit(&self) -> Option<CommitHash> {
        match self {
            Self::Attached { tip, .. } => *tip,
            Self::Detached(commit) => Some(*commit),
        }
    }

    /// The branch that HEAD is on.
    pub fn branch(&self) -> Option<&RefName> {
        match self {
            Self::Attached { branch, .. } => Some(branch),
            Self::Detached(_) => None,
        }
    }
}

impl RefName {
    /// Where branches live.
    pub const HEADS: &'static str = "refs/heads/";
    /// Where tags live.
    pub const TAGS: &'static str = "refs/tags/";
    /// Where imported sessions live.
    pub const SESSIONS: &'static str = "refs/sessions/";

    /// `HEAD`.
    pub fn head() -> Self {
        Self("HEAD".to_owned())
    }

    /// `ORIG_HEAD`: where a soft reset came from.
    pub fn orig_head() -> Self {
        Self("ORIG_HEAD".to_owned())
    }

    /// `PREV_HEAD`: what `checkout -` goes to.
    pub fn prev_head() -> Self {
        Self("PREV_HEAD".to_owned())
    }

    /// `refs/heads/NAME`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRefName`] by the rules of [`RefName::from_str`], and for `HEAD` and names
    /// that begin with `-`.
    pub fn branch(name: &str) -> Result<Self> {
        if name == "HEAD" || name.starts_with('-') {
            let reason = "not a branch's name";
            return Err(Error::InvalidRefName {
                name: name.to_owned(),
                reason,
            });
        }
        Self::below(Self::HEADS, name)
    }

    /// The name below a folder; an error names it as it was typed.
    fn below(folder: &str, name: &str) -> Result<Self> {
        format!("{folder}{name}")
            .parse()
            .map_err(|error| match error {
                Error::InvalidRefName { reason, .. } => Error::InvalidRefName {
                    name: name.to_owned(),
                    reason,
                },
                other => other,
            })
    }

    /// `refs/tags/NAME`.
    ///
    /// # Errors
    ///
    /// As [`RefName::branch`].
    pub fn tag(name: &str) -> Result<Self> {
        Self::branch(name)?;
        Self::below(Self::TAGS, name)
    }

    /// `refs/sessions/TOOL/ID`, with every character of `id` that a ref name cannot hold
    /// replaced by `-`.
    pub fn session(tool: &str, id: &str) -> Self {
        let mut clean: String = id
            .chars()
            .map(|c| {
                if c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/') {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        for (from, to) in [("..", "-"), ("//", "/"), ("/.", "/-"), ("./", "-/")] {
            while clean.contains(from) {
                clean = clean.replace(from, to);
            }
        }
        let clean = clean.trim_matches(['.', '/']);
        let clean = if clean.is_empty() { "session" } else { clean };
        let clean = clean.strip_suffix(".lock").unwrap_or(clean);
        let name = format!("{}{tool}/{clean}", Self::SESSIONS);
        name.parse()
            .unwrap_or_else(|_| Self(format!("{}{tool}/session", Self::SESSIONS)))
    }

    /// The full name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as people type it: without `refs/heads/`, `refs/tags/` or `refs/`.
    pub fn short(&self) -> &str {
        [Self::HEADS, Self::TAGS, "refs/"]
            .iter()
            .find_map(|prefix| self.0.strip_prefix(prefix))
            .unwrap_or(&self.0)
    }

    /// The tool and the id of a session's ref.
    pub fn as_session(&self) -> Option<(&str, &str)> {
        self.0.strip_prefix(Self::SESSIONS)?.split_once('/')
    }

    /// Whether this is a branch.
    pub fn is_branch(&self) -> bool {
        self.0.starts_with(Self::HEADS)
    }
}

impl fmt::Display for RefName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for RefName {
    type Err = Error;

    /// Checks a full name.
    ///
    /// # Source
    ///
    /// git-check-ref-format(1), rules 1 to 10; `#` is ours, for parts.
    fn from_str(name: &str) -> Result<Self> {
        let wrong = |reason| {
            Err(Error::InvalidRefName {
                name: name.to_owned(),
                reason,
            })
        };
        if matches!(name, "HEAD" | "ORIG_HEAD" | "PREV_HEAD") {
            return Ok(Self(name.to_owned()));
        }
        if !name.starts_with("refs/") {
            return wrong("it must begin with refs/");
        }
        if name.len() > 1024 {
            return wrong("it is too long");
        }
        if name.contains("..") || name.contains("@{") {
            return wrong("'..' and '@{' have a meaning in revisions");
        }
        if name
            .chars()
            .any(|c| c.is_control() || " ~^:?*[\\#".contains(c))
        {
            return wrong("it holds a space, a control character or one of ~^:?*[\\#");
        }
        let bad = |piece: &str| {
            piece.is_empty() || piece == "@" || piece.starts_with('.') || piece.ends_with(".lock")
        };
        if name.split('/').any(bad) || name.ends_with('.') {
            return wrong(
                "a piece of it is empty, '@', begins or ends with '.', or ends with '.lock'",
            );
        }
        Ok(Self(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_git_refuses_are_refused() {
        for bad in [
            "-x", "HEAD", "a..b", "a\u{7}", "a.lock", "a b", "/a", "a/", "a//b", ".a", "a.", "",
        ] {
            assert!(RefName::branch(bad).is_err(), "{bad:?}");
        }
        for good in ["main", "feature/x", "日本", "a-b_c.d"] {
            assert_eq!(RefName::branch(good).expect(good).short(), good);
        }
    }

    #[test]
    fn any_session_id_becomes_a_name() {
        for id in [
            "",
            "..",
            "a b",
            "x.lock",
            "/a//b/",
            "a/.b",
            "../../etc",
            "\u{1b}[0m",
        ] {
            let name = RefName::session("codex", id);
            assert!(
                name.as_str().parse::<RefName>().is_ok(),
                "{id:?} gave {name}"
            );
        }
    }
}
