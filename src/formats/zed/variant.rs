//! The variants of what the editor keeps: an object with the variant's name for its one member, or the name alone.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::wire::json::{Raw, decode, string};

/// The name of a variant, and what it holds; none of what is no variant.
pub(super) fn variant(raw: &RawValue) -> Option<(String, Raw<'_>)> {
    if let Some(name) = string(Some(raw)) {
        return Some((name, None));
    }
    let held: BTreeMap<String, &RawValue> = decode(Some(raw))?;
    let is_one = held.len() == 1;
    let only = held.into_iter().next().filter(|_| is_one);
    only.map(|(name, held)| (name, Some(held)))
}
