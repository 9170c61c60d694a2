//! The name that a slip of the finger meant.

use strsim::normalized_damerau_levenshtein;

/// How alike a name must be, from 0 to 1.
const ALIKE: f64 = 0.5;
/// What a name has ahead that begins as it was typed.
const BEGINNING: f64 = 0.5;

/// The candidate that is closest to what was typed, if one is close. Case doesn't matter; the
/// beginning of a name is close to it.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let closeness = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        let alike = normalized_damerau_levenshtein(&typed, &candidate);
        if typed.len() >= 2 && candidate.starts_with(&typed) {
            alike + BEGINNING
        } else {
            alike
        }
    };
    candidates
        .into_iter()
        .map(|candidate| (closeness(candidate), candidate))
        .filter(|(closeness, _)| *closeness >= ALIKE)
        // Of two that are as near, the one of as many letters: two letters changed places.
        .max_by(|a, b| {
            let apart = |name: &str| typed.len().abs_diff(name.len());
            let nearer = a.0.total_cmp(&b.0);
            nearer.then_with(|| apart(b.1).cmp(&apart(a.1)))
        })
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Role;

    #[test]
    fn a_slip_of_the_finger_finds_its_role() {
        let near = |text| nearest(text, Role::ALL.map(Role::as_str));
        assert_eq!(near("usr"), Some("user"));
        assert_eq!(near("Assistent"), Some("assistant"));
        assert_eq!(near("dev"), Some("developer"));
        assert_eq!(near("xyzzy"), None);
        for names in [["status", "stats"], ["stats", "status"]] {
            assert_eq!(nearest("stauts", names), Some("status"));
        }
    }
}
