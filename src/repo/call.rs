//! What every command that changes something says of itself.

use std::fmt;

use crate::model::{Millis, RefName};

/// The line of history that a call acts on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum On {
    /// Where HEAD is.
    #[default]
    Head,
    /// A branch, as if HEAD were attached to it. HEAD itself never moves.
    Branch(RefName),
}

/// `HEAD`, or the branch as people type it.
impl fmt::Display for On {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Head => "HEAD",
            Self::Branch(branch) => branch.short(),
        })
    }
}

/// Where, when, and as what: one row of the operations.
///
/// ```
/// use tract::repo::{Call, On};
/// use tract::model::{Millis, RefName};
///
/// let on = On::Branch(RefName::branch("idea")?);
/// let call = Call::at(Millis(0), "truncate --keep 9").on(&on);
/// assert_eq!(call.on, &on);
/// # Ok::<(), tract::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call<'a> {
    /// The line of history that it acts on. What moves HEAD itself, or names its refs, doesn't ask.
    pub on: &'a On,
    /// The time, of the operation and of the commits that it makes.
    pub now: Millis,
    /// The command; message text replaced by `…`.
    pub what: &'a str,
}

impl<'a> Call<'a> {
    /// On HEAD.
    pub fn at(now: Millis, what: &'a str) -> Self {
        let on = &On::Head;
        Self { on, now, what }
    }

    /// The same, on another line of history.
    #[must_use]
    pub fn on(self, on: &'a On) -> Self {
        Self { on, ..self }
    }
}

/// On HEAD, at the beginning of time, of no words: for tests and examples.
impl Default for Call<'_> {
    fn default() -> Self {
        Self::at(Millis(0), "")
    }
}
