//! The keys of a record that the importer looks at; everything else stays in the source.

use serde::Deserialize;

use crate::model::Millis;
use crate::wire::json::{Raw, word};

/// A point in time, written out.
pub(super) fn time(raw: Raw<'_>) -> Option<Millis> {
    Millis::parse(&word(raw)?)
}

/// Whether a flag is there and true.
pub(super) fn is_true(raw: Raw<'_>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// One JSON value of a line. A record of an unknown type may hold what it likes by any key.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct Record<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Raw<'a>,
    pub(super) uuid: Raw<'a>,
    pub(super) parent_uuid: Raw<'a>,
    pub(super) logical_parent_uuid: Raw<'a>,
    pub(super) session_id: Raw<'a>,
    pub(super) agent_id: Raw<'a>,
    pub(super) timestamp: Raw<'a>,
    pub(super) cwd: Raw<'a>,
    pub(super) subtype: Raw<'a>,
    pub(super) operation: Raw<'a>,
    pub(super) leaf_uuid: Raw<'a>,
    pub(super) is_sidechain: Raw<'a>,
    pub(super) is_api_error_message: Raw<'a>,
    pub(super) is_compact_summary: Raw<'a>,
    pub(super) message: Raw<'a>,
    pub(super) attachment: Raw<'a>,
    pub(super) data: Raw<'a>,
    pub(super) content: Raw<'a>,
    pub(super) compact_metadata: Raw<'a>,
    pub(super) microcompact_metadata: Raw<'a>,
    pub(super) summary: Raw<'a>,
    pub(super) custom_title: Raw<'a>,
    pub(super) ai_title: Raw<'a>,
}

/// `message` of a user or assistant record.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct MessageHead<'a> {
    pub(super) id: Raw<'a>,
    pub(super) model: Raw<'a>,
    pub(super) content: Raw<'a>,
    pub(super) usage: Raw<'a>,
}

/// What pairs calls and results.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct BlockHead<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Raw<'a>,
    pub(super) id: Raw<'a>,
    pub(super) tool_use_id: Raw<'a>,
    pub(super) text: Raw<'a>,
}

/// `attachment`.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Attachment<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Raw<'a>,
    pub(super) prompt: Raw<'a>,
    #[serde(rename = "hookName")]
    pub(super) hook_name: Raw<'a>,
    #[serde(rename = "hookEvent")]
    pub(super) hook_event: Raw<'a>,
    #[serde(rename = "toolUseID")]
    pub(super) tool_use_id: Raw<'a>,
}

/// `data` of a progress record.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct ProgressData<'a> {
    #[serde(rename = "type")]
    pub(super) kind: Raw<'a>,
    pub(super) agent_id: Raw<'a>,
    pub(super) message: Raw<'a>,
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
