//! Processes that have ended: a result says that one runs still, and an event at its end that it does no more. The model is
//! told of that only where it asks.
//!
//! # Source
//!
//! Observed: `exec_command_end` of Codex 0.118.

use std::collections::HashSet;

use serde::Deserialize;

use crate::error::Result;
use crate::formats::Input;
use crate::formats::shared::records::each_record;

const END: &str = "exec_command_end";

#[derive(Deserialize)]
struct EventRecord {
    payload: CommandEnd,
}

#[derive(Deserialize)]
struct CommandEnd {
    r#type: String,
    #[serde(default)]
    process_id: Option<String>,
}

/// The ids of processes that have ended.
pub(super) fn ended(input: &dyn Input) -> Result<HashSet<String>> {
    let mut ended = HashSet::new();
    each_record(input, &mut |_, text| {
        if text.contains(END)
            && let Ok(EventRecord { payload }) = serde_json::from_str::<EventRecord>(text)
            && payload.r#type == END
        {
            ended.extend(payload.process_id);
        }
    })?;
    Ok(ended)
}
