//! Work that has ended. The model is told of it once it has answered; an agent's end stands in the record at once, and what is
//! not detached ends with the client.
//!
//! # Source
//!
//! Observed: `subagent.completed` and `session.shutdown` of Copilot CLI 1.0.102.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use crate::error::Result;
use crate::formats::Input;
use crate::formats::shared::records::each_record;
use crate::formats::shared::running::EndedWork;
use crate::model::Millis;
use crate::model::background::started;

/// What the types of the records that matter begin with.
const MARKS: [&str; 5] = [
    "tool.execution_start",
    "tool.execution_complete",
    "subagent.",
    "session.shutdown",
    "session.resume",
];

#[derive(Deserialize)]
struct EventRecord {
    r#type: String,
    #[serde(default)]
    timestamp: String,
    #[serde(default)]
    data: EventData,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct EventData {
    tool_call_id: String,
    arguments: Option<CallArguments>,
    result: Option<CallResult>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CallArguments {
    detach: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CallResult {
    content: String,
}

/// The ids of the shells and agents that have ended.
pub(super) fn ended(input: &dyn Input) -> Result<EndedWork> {
    let mut ended = EndedWork::new();
    let mut detached = HashSet::new();
    // What a call has started.
    let mut works: HashMap<String, Vec<String>> = HashMap::new();
    // What this run of the client has started: a shell of one that died may run still.
    let mut own = Vec::new();
    each_record(input, &mut |_, text| {
        if !MARKS.iter().any(|mark| text.contains(mark)) {
            return;
        }
        let Ok(record) = serde_json::from_str::<EventRecord>(text) else {
            return;
        };
        let (time, data) = (Millis::parse(&record.timestamp), record.data);
        match &*record.r#type {
            "tool.execution_start" if data.arguments.is_some_and(|it| it.detach) => {
                detached.insert(data.tool_call_id);
            }
            "tool.execution_complete" if !detached.contains(&data.tool_call_id) => {
                let content = data.result.unwrap_or_default().content;
                let ids = started(&content, "");
                own.extend(ids.iter().cloned());
                works.insert(data.tool_call_id, ids);
            }
            "subagent.completed" | "subagent.failed" => {
                let agents = works.get(&data.tool_call_id).into_iter().flatten();
                ended.extend(agents.map(|id| (id.clone(), time)));
            }
            "session.shutdown" => ended.extend(own.drain(..).map(|id| (id, time))),
            "session.resume" => own.clear(),
            _ => {}
        }
    })?;
    Ok(ended)
}
