//! The keys of a record that the importer looks at; everything else stays in the source.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::wire::json::word;

/// A string, borrowed where it can be; none for anything else, so that a key of an unknown record
/// type may hold what it likes.
#[derive(Clone, Debug, Default)]
pub(super) struct Text<'a>(pub(super) Option<Cow<'a, str>>);

impl Text<'_> {
    pub(super) fn as_str(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(word(Some(raw))))
    }
}

/// Whether a flag is there and true.
pub(super) fn is_true(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// One JSON value of a line.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct Record<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) uuid: Text<'a>,
    pub(super) parent_uuid: Text<'a>,
    pub(super) logical_parent_uuid: Text<'a>,
    pub(super) session_id: Text<'a>,
    pub(super) agent_id: Text<'a>,
    pub(super) timestamp: Text<'a>,
    pub(super) cwd: Text<'a>,
    pub(super) subtype: Text<'a>,
    pub(super) operation: Text<'a>,
    pub(super) leaf_uuid: Text<'a>,
    pub(super) is_sidechain: Option<&'a RawValue>,
    pub(super) is_api_error_message: Option<&'a RawValue>,
    pub(super) is_compact_summary: Option<&'a RawValue>,
    pub(super) message: Option<&'a RawValue>,
    pub(super) attachment: Option<&'a RawValue>,
    pub(super) data: Option<&'a RawValue>,
    pub(super) content: Option<&'a RawValue>,
    pub(super) compact_metadata: Option<&'a RawValue>,
    pub(super) microcompact_metadata: Option<&'a RawValue>,
    pub(super) summary: Text<'a>,
    pub(super) custom_title: Text<'a>,
    pub(super) ai_title: Text<'a>,
}

/// `message` of a user or assistant record.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct MessageHead<'a> {
    pub(super) id: Text<'a>,
    pub(super) model: Text<'a>,
    pub(super) content: Option<&'a RawValue>,
    pub(super) usage: Option<&'a RawValue>,
}

/// What pairs calls and results.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct BlockHead<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) id: Text<'a>,
    pub(super) tool_use_id: Text<'a>,
    pub(super) text: Option<&'a RawValue>,
}

/// `attachment`.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Attachment<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) prompt: Option<&'a RawValue>,
}

/// `data` of a progress record.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct ProgressData<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) agent_id: Text<'a>,
    pub(super) message: Option<&'a RawValue>,
}

/// `compactMetadata`.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct CompactMetadata {
    pub(super) preserved_messages: Option<Preserved>,
}

/// The messages that a compaction keeps.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Preserved {
    pub(super) anchor_uuid: Option<String>,
    pub(super) uuids: Vec<String>,
}

/// `microcompactMetadata`.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct MicrocompactMetadata {
    pub(super) compacted_tool_ids: Vec<String>,
}
