//! A streaming event as events.

use serde_json::Value;
use serde_json::value::RawValue;

use super::blocks::{Blocks, Streamed};
use crate::formats::shared::stream::{EventReader, Replies, Telling};
use crate::model::{Usage, UsageRecord};
use crate::tree::Happening;
use crate::wire::anthropic;
use crate::wire::json::{decode, string};

/// Knows which reply is under way, and its blocks.
#[derive(Default)]
pub(super) struct MessagesReader {
    replies: Replies,
    blocks: Blocks,
    /// What was counted so far: the input at the start of a reply, the output at its end.
    usage: Option<UsageRecord>,
}

lazy! {
    /// A reply as it begins.
    struct Begun { id, model, usage }
}

impl EventReader for MessagesReader {
    fn read(&mut self, record: &RawValue) -> Telling {
        let Ok(streamed) = serde_json::from_str::<Streamed<'_>>(record.get()) else {
            return Telling::other("(no object)");
        };
        let kind = string(streamed.kind).unwrap_or_else(|| "(no type)".to_owned());
        let mut told = Telling::default();
        match kind.as_str() {
            "message_start" => {
                let begun: Begun<'_> = decode(streamed.message).unwrap_or_default();
                let id = string(begun.id);
                told.session.clone_from(&id);
                self.blocks.clear();
                self.usage = anthropic::usage_record(begun.usage);
                told.events = self.replies.begin(id, string(begun.model), None);
            }
            "content_block_start" | "content_block_delta" => {
                let what = self.blocks.streamed(&streamed);
                self.replies.say(what, &mut told);
            }
            "content_block_stop" => {
                let block = self.blocks.whole(&streamed, &mut told.notes);
                let what = block.map_or(Happening::BlockEnd, Happening::Block);
                self.replies.say([what], &mut told);
            }
            "message_delta" => {
                self.count(anthropic::usage_record(streamed.usage));
                told.usage = self.usage.clone();
            }
            "message_stop" => {
                let rest = self.blocks.rest(&mut told.notes);
                let rest = rest.into_iter().map(Happening::Block);
                self.replies.say(rest, &mut told);
                self.replies.end(self.usage.take(), &mut told);
            }
            "error" => {
                let error: Value = decode(streamed.error).unwrap_or_default();
                let kind = error["type"].as_str();
                self.replies
                    .fail(error["message"].as_str().or(kind), &mut told);
            }
            _ => told.other = Some(kind),
        }
        told
    }
}

impl MessagesReader {
    /// Counts are of the whole reply; what a later one leaves out stands.
    fn count(&mut self, more: Option<UsageRecord>) {
        let Some(more) = more else { return };
        let UsageRecord { usage, detail } = self.usage.get_or_insert_default();
        let said = more.usage;
        let input = if said.input_tokens > 0 { said } else { *usage };
        *usage = Usage {
            output_tokens: said.output_tokens,
            reasoning_tokens: said.reasoning_tokens,
            ..input
        };
        if !more.detail.iterations.is_empty() {
            detail.iterations.clone_from(&more.detail.iterations);
        }
        detail.fuller(more.detail);
    }
}
