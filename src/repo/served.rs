//! What serves a conversation at a commit: the model and the tier of service in force there, by the settings that name them.

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::Settings;
use crate::model::price::{Served, is_usual};
use crate::repo::repository::Repo;
use crate::repo::{in_force, load};
use crate::store::{CommitRow, View};

/// What the price of a reply depends on, by the settings that hold it: its model, tier, speed and region.
const SERVED: [&str; 4] = ["model", "service_tier", "speed", "inference_geo"];

/// What serves a conversation: each of [`SERVED`] that is in force and not the usual one. Hostile until escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ServedBy([Option<String>; 4]);

impl ServedBy {
    /// What prices depend on; none where no model is known.
    pub fn served(&self) -> Option<Served<'_>> {
        let [model, tier, speed, region] = self.0.each_ref().map(Option::as_deref);
        Some(Served {
            model: model?,
            tier,
            speed,
            region,
        })
    }

    /// By the settings that are in force.
    pub(crate) fn by(settings: &Settings) -> Self {
        Self(SERVED.map(|key| setting(settings, key)))
    }

    /// What has these words: model, tier, speed and region.
    pub(crate) fn of_words(words: [Option<String>; 4]) -> Self {
        Self(words)
    }

    /// Model, tier, speed and region.
    pub(crate) fn words(self) -> [Option<String>; 4] {
        self.0
    }
}

/// What is in force at a commit.
pub(crate) fn served_at(view: &dyn View, commit: &CommitHash) -> Result<ServedBy> {
    let mut held = match in_force::far(view, commit)? {
        Some(held) => held,
        None => view.settings_at(commit)?,
    };
    let mut served = ServedBy::default();
    for (key, found) in SERVED.iter().zip(&mut served.0) {
        let named = held.remove(*key);
        let named = named.map(|by| load::commit(view, &by)).transpose()?;
        *found = named.and_then(|row| setting(&row.commit.settings, key));
    }
    Ok(served)
}

/// What is in force after the next commit.
pub(crate) fn go_on(served: &mut ServedBy, next: &CommitRow) {
    for (key, found) in SERVED.iter().zip(&mut served.0) {
        if next.commit.settings.contains_key(*key) {
            *found = setting(&next.commit.settings, key);
        }
    }
}

/// What settings set one of these to, if that is a text, and not the usual one.
fn setting(settings: &Settings, key: &str) -> Option<String> {
    let value = settings.get(key)?;
    serde_json::from_str(value)
        .ok()
        .filter(|_| !is_usual(key, value))
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
        let [_, tier, ..] = self.served_at(commit)?.words();
        Ok(tier)
    }

    /// What serves the conversation at a commit.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn served_at(&self, commit: &CommitHash) -> Result<ServedBy> {
        served_at(&*self.store.read()?, commit)
    }
}

/// The model in force at a commit.
pub(crate) fn model_at(view: &dyn View, commit: &CommitHash) -> Result<Option<String>> {
    let [model, ..] = served_at(view, commit)?.words();
    Ok(model)
}

/// The model that a commit sets.
pub(crate) fn model_of(row: &CommitRow) -> Option<String> {
    setting(&row.commit.settings, SERVED[0])
}
