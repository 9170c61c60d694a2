//! Restore: named hidden messages come back with their tool partners.

use std::collections::BTreeMap;

use super::Conversation;
use crate::context::pairs::Pairs;
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::{Draft, EntryId, Operation};

/// Takes the named entries, and their tool partners, out of every hide that covers them: one draft
/// for each hide. Each hide stands for the rest.
///
/// # Errors
///
/// [`Error::NotOnPath`] for an entry that isn't there, [`Error::NotRestorable`] for one that no
/// hide covers.
pub fn restore(conversation: &Conversation, named: &[EntryId]) -> Result<Vec<Draft>> {
    let entries = &conversation.entries;
    let pairs = Pairs::new(entries.iter().map(|(_, facts)| &facts.links));
    let mut by_hide: BTreeMap<CommitHash, Vec<EntryId>> = BTreeMap::new();
    for id in named {
        let at = entries.iter().position(|(entry, _)| entry.id == *id);
        let at = at.ok_or_else(|| Error::NotOnPath {
            entry: id.to_string(),
        })?;
        if entries[at].0.hidden_by.is_empty() {
            let commit = id.commit.short();
            return Err(Error::NotRestorable {
                commit,
                reason: "no hide covers it",
            });
        }
        for member in pairs.group(at) {
            let entry = &entries[*member].0;
            for hide in &entry.hidden_by {
                let listed = by_hide.entry(*hide).or_default();
                if !listed.contains(&entry.id) {
                    listed.push(entry.id);
                }
            }
        }
    }
    Ok(by_hide
        .into_iter()
        .map(|(target, entries)| Draft::new(Operation::Restore { target, entries }, Vec::new()))
        .collect())
}
