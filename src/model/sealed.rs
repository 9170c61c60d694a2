//! An object with its name: its canonical bytes and their hash, worked out once.

use std::ops::Deref;

/// What has a name: the hash of its canonical bytes.
pub trait Sealable {
    /// The name's type.
    type Name: Copy;

    /// The canonical bytes.
    fn canonical(&self) -> String;

    /// The name of what has these canonical bytes.
    fn name(canonical: &str) -> Self::Name;
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
        Self::under(object, canonical)
    }

    /// An object under canonical bytes that say more than it does.
    pub(super) fn under(object: T, canonical: String) -> Self {
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
