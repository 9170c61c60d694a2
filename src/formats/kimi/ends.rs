//! Work that has ended. The model is told of it once it has answered; the record says it at once.
//!
//! # Source
//!
//! Observed: `task.terminated` of Kimi Code 2.1.0. A client that is started again calls `lost` what the one before it has
//! started: of a process it has not looked whether it runs.

use serde::Deserialize;

use crate::error::Result;
use crate::formats::Input;
use crate::formats::shared::records::each_record;
use crate::formats::shared::running::EndedWork;
use crate::model::Millis;

const END: &str = "task.terminated";

#[derive(Deserialize)]
struct TaskRecord {
    r#type: String,
    info: TaskInfo,
    #[serde(default)]
    time: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskInfo {
    task_id: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    kind: String,
}

/// The ids of the processes and agents that have ended.
pub(super) fn ended(input: &dyn Input) -> Result<EndedWork> {
    let mut ended = EndedWork::new();
    each_record(input, &mut |_, text| {
        if text.contains(END)
            && let Ok(record) = serde_json::from_str::<TaskRecord>(text)
            && record.r#type == END
        {
            let info = record.info;
            if info.status != "lost" || info.kind == "agent" {
                ended.insert(info.task_id, record.time.map(Millis));
            }
        }
    })?;
    Ok(ended)
}
