//! What a format of events is: how one record becomes events.

use serde_json::value::RawValue;

use crate::model::{Millis, StatedUsage, UsageRecord};
use crate::tree::Event;
use crate::wire::Notes;

/// Makes events of the records of a stream, one after the other.
pub trait EventReader {
    /// What the next record tells.
    fn read(&mut self, record: &RawValue) -> Telling;
}

/// What a record of a stream tells.
#[derive(Clone, Debug, Default)]
pub struct Telling {
    /// What happened.
    pub events: Vec<Event>,
    /// When.
    pub time: Option<Millis>,
    /// The session that it is of.
    pub session: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The model that speaks.
    pub model: Option<String>,
    /// What the provider counted for the reply that this record ends.
    pub usage: Option<UsageRecord>,
    /// What all requests of the session have come to so far, as far as the stream tells it.
    pub stated: Option<StatedUsage>,
    /// The type of the record, where it tells nothing of the conversation.
    pub other: Option<String>,
    /// What was kept opaque.
    pub notes: Notes,
}

impl Telling {
    /// A record that tells nothing of the conversation.
    pub(in crate::formats) fn other(kind: impl Into<String>) -> Self {
        Self {
            other: Some(kind.into()),
            ..Self::default()
        }
    }
}
