//! Work that has ended: a result says that a process runs still, and an event at its end that it does no more. The model is
//! told of that only where it asks. An agent's own file says when its task is complete.
//!
//! # Source
//!
//! Observed: `exec_command_end` of Codex 0.118; `item_completed`, `task_complete` and `world_state` of 0.171.0, which names
//! the agents that there are: none of them lives on where the client is started again.

use serde::Deserialize;

use crate::formats::Input;
use crate::formats::shared::records::each_record;
use crate::formats::shared::running::EndedWork;
use crate::model::Millis;

/// What the records that matter have in them.
const MARKS: [&str; 6] = [
    "\"subagents\"",
    "exec_command_end",
    "CommandExecution",
    "session_meta",
    "task_started",
    "task_complete",
];

#[derive(Deserialize)]
struct EventRecord {
    #[serde(default)]
    timestamp: String,
    payload: EventPayload,
}

#[derive(Deserialize)]
struct EventPayload {
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    process_id: Option<String>,
    #[serde(default)]
    item: Option<CompletedItem>,
    #[serde(default)]
    state: WorldState,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WorldState {
    environments: Environments,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Environments {
    /// Absent where it has not changed.
    #[serde(deserialize_with = "present")]
    subagents: Option<Option<String>>,
}

fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(from).map(Some)
}

#[derive(Deserialize)]
struct CompletedItem {
    r#type: String,
    #[serde(default)]
    process_id: Option<String>,
}

/// The ids of processes that have ended, and of the session itself while it has nothing to do.
pub(super) fn ended(input: &dyn Input) -> crate::error::Result<EndedWork> {
    let mut ended = EndedWork::new();
    let (mut own, mut agents) = (None, Vec::new());
    each_record(input, &mut |_, text| {
        if !MARKS.iter().any(|mark| text.contains(mark)) {
            return;
        }
        let Ok(EventRecord { timestamp, payload }) = serde_json::from_str::<EventRecord>(text)
        else {
            return;
        };
        let time = Millis::parse(&timestamp);
        if let Some(now) = payload.state.environments.subagents {
            let now = agents_in(&now.unwrap_or_default());
            let before = std::mem::replace(&mut agents, now);
            let gone = before.into_iter().filter(|id| !agents.contains(id));
            ended.extend(gone.map(|id| (id, time)));
            return;
        }
        let item = payload
            .item
            .filter(|item| item.r#type == "CommandExecution");
        match &*payload.r#type {
            "exec_command_end" => ended.extend(payload.process_id.map(|id| (id, time))),
            "item_completed" => {
                let process = item.and_then(|item| item.process_id);
                ended.extend(process.map(|id| (id, time)));
            }
            "task_started" => drop(own.as_ref().and_then(|own| ended.remove(own))),
            "task_complete" => ended.extend(own.clone().map(|own| (own, time))),
            // The first is the file's own; a fork has its parent's behind it.
            "" if own.is_none() => own = payload.id,
            _ => {}
        }
    })?;
    Ok(ended)
}

/// The ids in a list of agents: `- ID: NAME`, one a line.
fn agents_in(list: &str) -> Vec<String> {
    let lines = list
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- "));
    let ids = lines.filter_map(|line| line.split(':').next());
    ids.map(str::to_owned).collect()
}
