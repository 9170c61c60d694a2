//! A message that is written again after it was erased for good.
//!
//! A tombstone keeps its hash for ever, so the same message, written later, needs another one: its
//! canonical form says which time it is. Nobody is told: what is read back is the message alone.
//! Deliberately absent: which messages were erased; the store knows.

use crate::error::{Error, Result};
use crate::model::message::AGAIN;
use crate::model::{Message, Sealed};

impl Sealed<Message> {
    /// The same message as it is kept where it was erased so many times before; 0: as it is.
    ///
    /// ```
    /// use tract::model::{Message, Role, Sealed};
    ///
    /// let hello = Sealed::new(Message::text(Role::User, "hello"));
    /// let again = hello.again(1);
    /// assert_eq!(*again, *hello);
    /// assert_ne!(again.hash(), hello.hash());
    /// ```
    #[must_use]
    pub fn again(&self, times: u32) -> Self {
        let message = (**self).clone();
        match times {
            0 => Self::new(message),
            _ => {
                let plain = message.canonical();
                Self::under(message, format!("{AGAIN}{times},{}", &plain[1..]))
            }
        }
    }
}

impl Sealed<Message> {
    /// The message of these canonical bytes, which must be all of them and nothing else.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`].
    pub fn read(canonical: &str) -> Result<Self> {
        let message = Self::new(Message::from_canonical(canonical)?);
        let times = canonical
            .strip_prefix(AGAIN)
            .and_then(|rest| rest.split_once(',')?.0.parse().ok());
        let sealed = times.map_or(message.clone(), |times| message.again(times));
        if sealed.canonical() == canonical {
            Ok(sealed)
        } else {
            Err(Error::malformed("content", "not in canonical form"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Role;

    #[test]
    fn what_is_written_again_reads_as_it_was_and_has_another_name() {
        let hello = Sealed::new(Message::text(Role::User, "hello"));
        assert_eq!(hello.again(0), hello);
        let names = [0, 1, 2, 10, u32::MAX].map(|times| {
            let again = hello.again(times);
            let back = Message::from_canonical(again.canonical()).expect("reads back");
            assert_eq!((&back, &*again), (&*hello, &*hello));
            assert_eq!(Sealed::read(again.canonical()).expect("reads back"), again);
            // Written again, the text of an earlier time is where it begins.
            assert_eq!(again.again(1), hello.again(1));
            again.hash()
        });
        let differ = names.iter().collect::<std::collections::BTreeSet<_>>();
        assert_eq!(differ.len(), names.len());
    }

    #[test]
    fn the_field_has_one_spelling() {
        let rest = r#""role":"user"}"#;
        for times in [
            "0",
            "01",
            "-1",
            "1.0",
            "4294967296",
            "\"1\"",
            "",
            "+1",
            " 1",
        ] {
            let text = format!("{AGAIN}{times},{rest}");
            assert!(Message::from_canonical(&text).is_err(), "{text}");
        }
        for text in [
            r#"{"role":"user","again":1}"#,
            r#"{"again":1,"again":1,"role":"user"}"#,
            r#"{"again":1}"#,
        ] {
            assert!(Message::from_canonical(text).is_err(), "{text}");
        }
        for text in [
            r#"{"role": "user"}"#,
            r#"{"parts":[],"role":"user"}"#,
            r#"{"again":1,"role":"user" }"#,
        ] {
            assert!(Sealed::read(text).is_err(), "{text}");
        }
    }
}
