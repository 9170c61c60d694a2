//! Which agents' conversations belong to a call: those that a record of its session names together with
//! it.
//!
//! A tool tells in its own way whose conversation a call began (beside the result, in an event), and
//! each names the call by its id and the agent by the id that its branch has here. Deliberately absent:
//! how a record says so.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::formats::shared::records::each_record;
use crate::hash::CommitHash;
use crate::model::{Message, RefName, RefValue};
use crate::repo::Repo;
use crate::repo::kept::KeptSource;
use crate::store::View;

/// How the last part of an agent's branch begins; the agent's id follows.
const AGENT: &str = RefName::AGENT;

/// What is shorter is no id that could be looked for.
const ID_BYTES_MIN: usize = 8;

/// The refs of the agents that the calls and results of a commit's message concern, in the order in which
/// their session names them. Reads the file that the commit came from, where agents are here at all.
///
/// # Errors
///
/// The store's.
pub fn agents(repo: &Repo, commit: &CommitHash, message: &Message) -> Result<Vec<RefName>> {
    let calls = message.calls().chain(message.results());
    let calls = calls.filter(|id| id.len() >= ID_BYTES_MIN);
    let calls: BTreeSet<String> = calls.map(|id| format!("\"{id}\"")).collect();
    if calls.is_empty() {
        return Ok(Vec::new());
    }
    let view = repo.store.read()?;
    let mut agents = others(&*view, commit)?;
    if agents.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for (source, _) in view.records(&[*commit])?.remove(0) {
        let Some(row) = view.source(source)? else {
            continue;
        };
        // Each record of an agent's own file may name it.
        let own = last(&row.session);
        let own = own.strip_prefix(AGENT).unwrap_or(own);
        agents.retain(|id, _| id != own);
        let input = KeptSource::new(&*view, source, row.size_bytes);
        each_record(&input, &mut |_, record| {
            let is_named = |id: &str| record.contains(id);
            // Most records name none of the few calls.
            if calls.iter().any(|call| is_named(call)) {
                let named = agents.extract_if(.., |agent, _| is_named(agent));
                found.extend(named.map(|(_, name)| name));
            }
        })?;
    }
    Ok(found)
}

/// The agents that are here by their ids, but for those that the commit itself is of: their branch, or
/// where that is gone, their session.
fn others(view: &dyn View, commit: &CommitHash) -> Result<BTreeMap<String, RefName>> {
    let mut agents: BTreeMap<String, (RefName, CommitHash)> = BTreeMap::new();
    let mut tips = Vec::new();
    for (name, value) in view.references("")? {
        let RefValue::Commit(tip) = value else {
            continue;
        };
        match id(&name) {
            Some(id) => {
                // Branches come before sessions.
                agents.entry(id.to_owned()).or_insert((name, tip));
            }
            None => tips.push(tip),
        }
    }
    if agents.is_empty() {
        return Ok(BTreeMap::new());
    }
    let is_above = |tip: &CommitHash| view.is_ancestor(commit, tip);
    let mut is_of_another = false;
    for tip in &tips {
        if is_above(tip)? {
            is_of_another = true;
            break;
        }
    }
    let mut found = BTreeMap::new();
    for (id, (name, tip)) in agents {
        if is_of_another || !is_above(&tip)? {
            found.insert(id, name);
        }
    }
    Ok(found)
}

/// The id of the agent whose ref this is.
fn id(name: &RefName) -> Option<&str> {
    let id = last(name).strip_prefix(AGENT)?;
    (id.len() >= ID_BYTES_MIN).then_some(id)
}

fn last(name: &RefName) -> &str {
    name.as_str().rsplit('/').next().unwrap_or_default()
}
