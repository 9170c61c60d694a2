//! An object with its name: its canonical bytes and their hash, worked out once.

use std::ops::Deref;

use crate::hash::{CommitHash, ContentHash};
use crate::model::{Commit, Message};

/// What has a name: the hash of its canonical bytes.
pub trait Sealable {
    /// The name's type.
    type Name: Copy;

    /// The canonical bytes.
    fn canonical(&self) -> String;

    /// The name of what has these canonical bytes.
    fn name(canonical: &str) -> Self::Name;
}

impl Sealable for Message {
    type Name = ContentHash;

    fn canonical(&self) -> String {
        self.canonical()
    }

    fn name(canonical: &str) -> ContentHash {
        ContentHash::of(canonical)
    }
}

impl Sealable for Commit {
    type Name = CommitHash;

    fn canonical(&self) -> String {
        self.canonical()
    }

    fn name(canonical: &str) -> CommitHash {
        CommitHash::of(canonical)
    }
}

/// An object that changes no more, on its way into a store. It reads as the object itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed<T: Sealable> {
    object: T,
    canonical: String,
    name: T::Name,
}

impl<T: Sealable> Sealed<T> {
    /// Works out the canonical bytes and the hash.
    pub fn new(object: T) -> Self {
        let canonical = object.canonical();
        Self {
            name: T::name(&canonical),
            object,
            canonical,
        }
    }

    /// The canonical bytes.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The object's name.
    pub fn hash(&self) -> T::Name {
        self.name
    }

    /// The object.
    pub fn into_inner(self) -> T {
        self.object
    }
}

impl<T: Sealable> Deref for Sealed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T: Sealable> From<T> for Sealed<T> {
    fn from(object: T) -> Self {
        Self::new(object)
    }
}
