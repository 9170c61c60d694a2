//! A command as the operations keep it: as it was typed, but without what was said in it.

use std::fmt::Display;

pub use tract::deeds::without_text as rev;

/// A command line, put together word by word.
pub struct Typed(String);

impl Typed {
    /// A command's name.
    pub fn new(command: &str) -> Self {
        Self(command.to_owned())
    }

    /// One more word.
    pub fn word(mut self, word: impl Display) -> Self {
        self.0 += &format!(" {word}");
        self
    }

    /// Revisions.
    pub fn revs<'a>(self, revs: impl IntoIterator<Item = &'a String>) -> Self {
        revs.into_iter()
            .fold(self, |line, text| line.word(rev(text)))
    }

    /// An option with its value, where it was given.
    pub fn option(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.word(name).word(value),
            None => self,
        }
    }

    /// An option whose value is a text, where it was given.
    pub fn text(self, name: &str, given: bool) -> Self {
        self.option(name, given.then_some("…"))
    }

    /// The whole line.
    pub fn line(self) -> String {
        self.0
    }
}
