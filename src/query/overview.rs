//! All conversations of a repository: what a list of them says of each.
//!
//! A conversation is a session, or a branch that ends elsewhere than the session that it came from. What is said of
//! one depends on its commits alone, but for the title: whoever lists often keeps it by where it ends.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::{Encoding, RefName, TokenCount};
use crate::repo::about::About;
use crate::repo::counts::Counts;
use crate::repo::path::SessionEnds;
use crate::repo::repository::Repo;
use crate::repo::{load, path, pictures, served, totals};

/// A conversation, and where it ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConversationTip {
    /// Its session or branch.
    pub name: RefName,
    /// Its last commit.
    pub tip: CommitHash,
    /// The first branch that ends where a session does, and follows it.
    pub branch: Option<RefName>,
    /// The newest purge when this was asked: what it erased is said no more, though no commit is another one.
    pub purge: Option<u64>,
}

/// What a list says of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    /// What tells it from others.
    pub about: About,
    /// The session that it came from, where it is a branch; the one that it went on from or was forked from, where it is
    /// a session.
    pub parent: Option<RefName>,
    /// Whether that has gone on since, so that this is another way than its own.
    pub is_fork: bool,
    /// The model in force at its end. Hostile until escaped.
    pub model: Option<String>,
    /// The tokens of its context, where they are known without counting.
    pub tokens: Option<TokenCount>,
}

impl Repo {
    /// All conversations: sessions with their sub-agents, by name, then branches that no session ends with.
    ///
    /// # Errors
    ///
    /// The store's.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, Repo};
    /// use tract::model::{Draft, Encoding, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "hello"));
    /// repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// let all = repo.conversations()?;
    /// assert_eq!(all[0].name.short(), "main");
    /// let overview = repo.overview(&all[0], Encoding::default())?;
    /// assert_eq!(overview.about.prompt.as_deref(), Some("hello"));
    /// assert_eq!(overview.parent, None);
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn conversations(&self) -> Result<Vec<ConversationTip>> {
        let view = self.store.read()?;
        let purge = view.last_purge()?;
        let branches = load::tips(&*view, RefName::HEADS)?;
        let sessions = load::tips(&*view, RefName::SESSIONS)?;
        let ends: HashSet<CommitHash> = sessions.iter().map(|(_, tip)| *tip).collect();
        let mut following: HashMap<CommitHash, RefName> = HashMap::new();
        for (name, tip) in branches.iter().rev() {
            following.insert(*tip, name.clone());
        }
        let own = branches.into_iter().filter(|(_, tip)| !ends.contains(tip));
        let sessions = sessions.into_iter().map(|(name, tip)| ConversationTip {
            branch: following.get(&tip).cloned(),
            name,
            tip,
            purge,
        });
        let own = own.map(|(name, tip)| ConversationTip {
            branch: Some(name.clone()),
            name,
            tip,
            purge,
        });
        Ok(sessions.chain(own).collect())
    }

    /// At most so many branches, those that were worked on last, the newest first.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn newest_branches(&self, most: usize) -> Result<Vec<RefName>> {
        let newest = self.store.read()?.active_branches(None, most)?;
        Ok(newest.into_iter().map(|(branch, _)| branch.name).collect())
    }

    /// What a list says of a conversation. Counts nothing.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn overview(&self, of: &ConversationTip, encoding: Encoding) -> Result<Overview> {
        let view = self.store.read()?;
        let parent = if of.name.is_branch() {
            path::session_of(&*view, &of.tip)?
        } else {
            path::predecessor(&*view, (&of.name, &of.tip), &SessionEnds::default())?
        };
        let known = |encoding| totals::at_commit(&*view, &of.tip, &Counts::default(), encoding);
        let mut total = known(encoding)?;
        let is_estimated = total.is_some_and(|total| total.estimates > 0);
        if let Some(by_rule) = pictures::other(&*view, &of.tip, encoding, is_estimated)? {
            total = known(by_rule)?;
        }
        let mut about = About::of(&*view, &of.tip)?;
        if let Some(own) = view.session(&of.name)? {
            (about.title, about.cwd) = (own.title, own.cwd.or(about.cwd));
        }
        let parent = parent.map(|(name, _)| name);
        let end = parent.as_ref().map(|parent| load::tip(&*view, parent));
        let is_fork = match end.transpose()?.flatten() {
            Some(end) => {
                let depth = load::commit(&*view, &end)?.depth;
                view.ancestor_at(&of.tip, depth)? != Some(end)
            }
            None => false,
        };
        Ok(Overview {
            about,
            parent,
            is_fork,
            model: served::model_at(&*view, &of.tip)?,
            tokens: total.map(|total| total.count()),
        })
    }
}
