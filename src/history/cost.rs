//! What replies were billed: every reply that a provider counted, once, with what its price depends on.
//!
//! Deliberately absent: prices ([`crate::model::price`]), and by what people want it summed up.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Repo, load, path};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::price::Prices;
use crate::model::{Millis, RefName, Usage};
use crate::store::View;

/// A reply that a provider counted.
#[derive(Clone, Debug, PartialEq)]
pub struct BilledReply {
    /// The commit that appends it.
    pub commit: CommitHash,
    /// The first session, by name, that has it.
    pub session: Option<RefName>,
    /// The working directory of that session. Hostile until escaped.
    pub directory: Option<String>,
    /// When it came.
    pub time: Option<Millis>,
    /// The model that made it. Hostile until escaped.
    pub model: Option<String>,
    /// What was counted.
    pub usage: Usage,
    /// What it cost, in US dollars; none where its model has no price.
    pub dollars: Option<f64>,
    /// The one that was counted before it on its path.
    pub before: Option<CommitHash>,
}

/// What some replies come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bill {
    /// How many replies.
    pub replies: u64,
    /// What was counted for them.
    pub usage: Usage,
    /// What those cost whose model has a price, in US dollars.
    pub dollars: f64,
    /// How many have a model without one.
    pub unpriced: u64,
}

impl Bill {
    /// What all of these replies come to.
    pub fn of<'r>(replies: impl IntoIterator<Item = &'r BilledReply>) -> Self {
        let mut bill = Self::default();
        for reply in replies {
            bill.add(reply);
        }
        bill
    }

    fn add(&mut self, reply: &BilledReply) {
        self.replies += 1;
        self.usage = self.usage.plus(reply.usage);
        match reply.dollars {
            Some(dollars) => self.dollars += dollars,
            None => self.unpriced += 1,
        }
    }
}

impl Repo {
    /// Every reply that a provider counted, each once and with its price, oldest first on each path: those on the path
    /// to `tip`, or all that sessions, branches and tags lead to.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn billed(&self, tip: Option<&CommitHash>, prices: &Prices) -> Result<Vec<BilledReply>> {
        let view = self.store.read()?;
        let mut found = Found {
            view: &*view,
            prices,
            directories: HashMap::new(),
            seen: HashSet::new(),
            counted: HashSet::new(),
            replies: Vec::new(),
        };
        match tip {
            Some(tip) => {
                let session = path::session_of(&*view, tip)?;
                if let Some((name, cwd)) = session.and_then(|(name, row)| Some((name, row.cwd?))) {
                    found.directories.insert(name.clone(), cwd);
                    found.path(Some(&name), tip)?;
                } else {
                    found.path(None, tip)?;
                }
            }
            None => {
                let sessions = view.sessions()?.into_iter();
                let directories = sessions.filter_map(|(name, row)| Some((name, row.cwd?)));
                found.directories = directories.collect();
                for (name, tip) in load::tips(&*view, RefName::SESSIONS)? {
                    found.path(Some(&name), &tip)?;
                }
                for prefix in [RefName::HEADS, RefName::TAGS] {
                    for (_, tip) in load::tips(&*view, prefix)? {
                        found.path(None, &tip)?;
                    }
                }
            }
        }
        Ok(found.replies)
    }
}

struct Found<'a> {
    view: &'a dyn View,
    prices: &'a Prices,
    directories: HashMap<RefName, String>,
    seen: HashSet<CommitHash>,
    counted: HashSet<CommitHash>,
    replies: Vec<BilledReply>,
}

impl Found<'_> {
    /// Adds the replies of a path that are on none before.
    fn path(&mut self, session: Option<&RefName>, tip: &CommitHash) -> Result<()> {
        if self.seen.contains(tip) {
            return Ok(());
        }
        let path = self.view.ancestors(tip, None, usize::MAX)?;
        let (mut model, mut before) = (None, None);
        let mut new = Vec::new();
        for row in path.into_iter().rev() {
            if let Some(named) = row.commit.settings.get("model") {
                model = serde_json::from_str::<String>(named).ok();
            }
            if self.seen.insert(row.hash) {
                new.push((row.hash, row.commit.time, model.clone()));
            } else if self.counted.contains(&row.hash) {
                before = Some(row.hash);
            }
        }
        let directory = session.and_then(|name| self.directories.get(name));
        let commits: Vec<CommitHash> = new.iter().map(|(commit, ..)| *commit).collect();
        for ((commit, time, model), usage) in new.into_iter().zip(self.view.usage(&commits)?) {
            let Some(usage) = usage else { continue };
            let dollars = model
                .as_deref()
                .and_then(|model| self.prices.of(model, &usage, time));
            self.replies.push(BilledReply {
                commit,
                session: session.cloned(),
                directory: directory.cloned(),
                time,
                model,
                usage,
                dollars,
                before,
            });
            self.counted.insert(commit);
            before = Some(commit);
        }
        Ok(())
    }
}

/// What replies come to, by a word that each has.
pub fn bills(
    replies: &[BilledReply],
    word_of: impl Fn(&BilledReply) -> String,
) -> BTreeMap<String, Bill> {
    let mut bills: BTreeMap<String, Bill> = BTreeMap::new();
    for reply in replies {
        bills.entry(word_of(reply)).or_default().add(reply);
    }
    bills
}
