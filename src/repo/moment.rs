//! Moments in the names of revisions: `main@{yesterday}`.
//!
//! A repository neither knows the time nor reads it as people write it: whoever opens it says how.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::repo::repository::{ReadTime, Repo};

impl Repo {
    /// Says how the time in `REF@{TIME}` is read.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::model::{Draft, Message, Millis, Role};
    ///
    /// let mut repo = Repo::ephemeral()?;
    /// repo.read_times(Box::new(|text| (text == "noon").then_some(Millis(12))));
    /// let mut made = Vec::new();
    /// for (hour, text) in [(11, "one"), (13, "two")] {
    ///     let draft = Draft::append(Message::text(Role::User, text));
    ///     let call = Call::at(Millis(hour), "commit");
    ///     made.extend(repo.commit(call, &[draft], &CommitOptions::default())?);
    /// }
    /// assert_eq!(repo.resolve(&On::Head, "main@{noon}")?, made[0].hash);
    /// assert_eq!(repo.resolve(&On::Head, "HEAD")?, made[1].hash);
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn read_times(&mut self, read: ReadTime) {
        self.times = Some(read);
    }

    /// Hands on a revision in which each moment stands as a number. What is wrong names it as it was typed.
    pub(crate) fn with_moments<T>(
        &self,
        typed: &str,
        with: impl FnOnce(&str) -> Result<T>,
    ) -> Result<T> {
        let read = self.in_numbers(typed);
        with(&read).map_err(|error| match error {
            Error::UnknownRevision {
                text,
                nearest,
                nothing_yet,
            } if text == read => {
                let text = typed.to_owned();
                match self.unreadable(typed) {
                    Some(inside) => Error::UnreadableMoment { text, inside },
                    None => Error::UnknownRevision {
                        text,
                        nearest,
                        nothing_yet,
                    },
                }
            }
            Error::BeyondFirst { text, first } if text == read => Error::BeyondFirst {
                text: typed.to_owned(),
                first,
            },
            error => error,
        })
    }

    /// The first time in a revision that cannot be read as one.
    fn unreadable(&self, typed: &str) -> Option<String> {
        let read = self.times.as_ref()?;
        let mut moments = typed.split("@{").skip(1);
        let inside = moments.find_map(|behind| {
            let (inside, _) = behind.split_once('}')?;
            let is_number = inside.bytes().all(|byte| byte.is_ascii_digit());
            (!is_number && read(inside).is_none()).then_some(inside)
        });
        inside.map(str::to_owned)
    }

    fn in_numbers<'t>(&self, typed: &'t str) -> Cow<'t, str> {
        let Some(read) = self.times.as_ref().filter(|_| !typed.starts_with(":/")) else {
            return Cow::Borrowed(typed);
        };
        let mut text = String::new();
        let mut rest = typed;
        while let Some((before, behind)) = rest.split_once("@{") {
            let Some((inside, after)) = behind.split_once('}') else {
                break;
            };
            let is_number = inside.bytes().all(|byte| byte.is_ascii_digit());
            let time = (!is_number).then(|| read(inside)).flatten();
            text += before;
            text += &match time {
                // As many digits as say that it is a moment.
                Some(time) => format!("@{{{:012}}}", time.0.max(0)),
                None => format!("@{{{inside}}}"),
            };
            rest = after;
        }
        Cow::Owned(text + rest)
    }
}
