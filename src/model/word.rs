//! Types of few values, each of which is a word.

/// Shows a type by its `as_str` and reads it back from among its `ALL`; `$wrong` is the error for
/// any other text.
macro_rules! word {
    ($name:ty, $wrong:expr) => {
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::error::Error;

            fn from_str(text: &str) -> crate::error::Result<Self> {
                let found = Self::ALL.into_iter().find(|word| word.as_str() == text);
                found.ok_or_else(|| $wrong(text.to_owned()))
            }
        }
    };
}
pub(crate) use word;
