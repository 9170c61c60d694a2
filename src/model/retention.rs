//! How long what is kept stays, as it is set: the log, and imported sessions.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// How long the log is kept unless told otherwise.
const DAYS: u64 = 90;

/// How much of the log a collection forgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expire {
    /// Nothing.
    Never,
    /// What is older than so many days.
    Days(u64),
    /// All of it.
    Now,
}

impl Default for Expire {
    fn default() -> Self {
        Self::Days(DAYS)
    }
}

impl FromStr for Expire {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let days = text.strip_suffix(['d', 'D']).unwrap_or(text);
        match (text, days.parse()) {
            ("never", _) => Ok(Self::Never),
            ("now", _) => Ok(Self::Now),
            (_, Ok(days)) => Ok(Self::Days(days)),
            _ => {
                let what = format!("'{text}' is none of now, never, or a number of days");
                Err(Error::input("gc.reflogExpire", what))
            }
        }
    }
}

impl fmt::Display for Expire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("never"),
            Self::Days(days) => write!(f, "{days}"),
            Self::Now => f.write_str("now"),
        }
    }
}

/// Which sessions are kept whatever their age or number: a session stays if either says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// The newest so many.
    pub newest: Option<u64>,
    /// Those that something was said in, or that came in, within so many days.
    pub days: Option<u64>,
}

impl Retention {
    /// A rule as it is set; none: all are kept.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`].
    pub fn read(text: &str) -> Result<Option<Self>> {
        match text {
            "all" => Ok(None),
            rule => rule.parse().map(Some),
        }
    }
}

impl FromStr for Retention {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            let what = format!(
                "'{text}' is neither all, a number of sessions, a number of days such as 90d, nor both: 100,90d"
            );
            Error::input("gc.keep", what)
        };
        let mut kept = Self {
            newest: None,
            days: None,
        };
        for part in text.split(',').map(str::trim) {
            let (place, number) = match part.strip_suffix(['d', 'D']) {
                Some(days) => (&mut kept.days, days),
                None => (&mut kept.newest, part),
            };
            let number = number.parse().map_err(|_| wrong())?;
            if place.replace(number).is_some() {
                return Err(wrong());
            }
        }
        Ok(kept)
    }
}

impl fmt::Display for Retention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.newest, self.days) {
            (Some(newest), Some(days)) => write!(f, "{newest},{days}d"),
            (Some(newest), None) => write!(f, "{newest}"),
            (None, Some(days)) => write!(f, "{days}d"),
            (None, None) => f.write_str("all"),
        }
    }
}
