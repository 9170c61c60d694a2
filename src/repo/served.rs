//! What serves a conversation at a commit: the model and the tier of service in force there, by the settings that name them.

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::price::is_usual_tier;
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::store::{CommitRow, View};

/// What the price of a reply depends on, by the settings that hold it: its model, and its tier.
const SERVED: [&str; 2] = ["model", "service_tier"];

/// These settings, in force at a commit.
pub(crate) fn served_at(view: &dyn View, commit: &CommitHash) -> Result<[Option<String>; 2]> {
    let mut held = view.settings_at(commit)?;
    let mut served = [None, None];
    for (key, found) in SERVED.iter().zip(&mut served) {
        let named = held.remove(*key);
        let named = named.map(|by| load::commit(view, &by)).transpose()?;
        *found = named.and_then(|row| setting(&row, key));
    }
    Ok(served)
}

/// What is in force after the next commit.
pub(crate) fn go_on(served: &mut [Option<String>; 2], next: &CommitRow) {
    for (key, found) in SERVED.iter().zip(served) {
        if next.commit.settings.contains_key(*key) {
            *found = setting(next, key);
        }
    }
}

/// What a commit sets one of these to, if that is a text, and no tier that is the usual one.
fn setting(row: &CommitRow, key: &str) -> Option<String> {
    let value = row.commit.settings.get(key)?;
    let is_usual = key == "service_tier" && is_usual_tier(value);
    serde_json::from_str(value).ok().filter(|_| !is_usual)
}

impl Repo {
    /// The model in force at a commit. Hostile until escaped.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn model_at(&self, commit: &CommitHash) -> Result<Option<String>> {
        model_at(&*self.store.read()?, commit)
    }

    /// The tier of service in force at a commit, where it is not the usual one. Hostile until escaped.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn tier_at(&self, commit: &CommitHash) -> Result<Option<String>> {
        let [_, tier] = served_at(&*self.store.read()?, commit)?;
        Ok(tier)
    }
}

/// The model in force at a commit.
pub(crate) fn model_at(view: &dyn View, commit: &CommitHash) -> Result<Option<String>> {
    let [model, _] = served_at(view, commit)?;
    Ok(model)
}

/// The model that a commit sets.
pub(crate) fn model_of(row: &CommitRow) -> Option<String> {
    setting(row, SERVED[0])
}
