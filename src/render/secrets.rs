//! How many secrets there are, in words.

use super::plural;
use crate::model::secret::SecretCounts;

/// `3 secrets: 2 github-token, 1 aws-access-key`, the most first.
pub fn counted_secrets(counts: &SecretCounts) -> String {
    let all: usize = counts.values().sum();
    let kinds = counted_kinds(counts).join(", ");
    format!("{}: {kinds}", plural(all as u64, "secret"))
}

/// `2 github-token`, `1 aws-access-key`, the most first.
pub fn counted_kinds(counts: &SecretCounts) -> Vec<String> {
    let mut kinds: Vec<_> = counts.iter().collect();
    kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(**count), **kind));
    let kinds = kinds.into_iter();
    kinds
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect()
}
