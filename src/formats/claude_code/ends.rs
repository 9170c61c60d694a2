//! Work that has ended, as the queue's records say it: the model is told of it once it has answered.
//!
//! # Source
//!
//! Observed: `queue-operation` of Claude Code 2.1.330 and 2.1.332.

use serde::Deserialize;

use crate::error::Result;
use crate::formats::Input;
use crate::formats::shared::records::each_record;
use crate::formats::shared::running::EndedWork;
use crate::model::Millis;
use crate::model::background::TaskEnd;

const QUEUED: &str = "queue-operation";

#[derive(Deserialize)]
struct QueueRecord {
    r#type: String,
    #[serde(default)]
    timestamp: String,
    #[serde(default)]
    content: String,
}

/// The ids of the shells and agents whose ends wait for the model.
pub(super) fn ended(input: &dyn Input) -> Result<EndedWork> {
    let mut ended = EndedWork::new();
    each_record(input, &mut |_, text| {
        if text.contains(QUEUED)
            && let Ok(record) = serde_json::from_str::<QueueRecord>(text)
            && record.r#type == QUEUED
        {
            let time = Millis::parse(&record.timestamp);
            let seen = TaskEnd::all(&record.content).filter(|task| task.is_seen);
            ended.extend(seen.map(|task| (task.id.to_owned(), time)));
        }
    })?;
    Ok(ended)
}
