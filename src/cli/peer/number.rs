//! What a put is known by, and a bundle that came with one: drawn by chance, so that none is ever there twice.

use tract::{Error, Result};

/// What every name of a file of tract's ends with, where it stands beside other things.
pub const SUFFIX: &str = ".tract";

/// 32 hex digits that nobody had before.
pub fn drawn() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::store(error.to_string()))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// Whether a text may be one.
pub fn is_one(text: &str) -> bool {
    let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    text.len() == 32 && text.chars().all(is_digit)
}
