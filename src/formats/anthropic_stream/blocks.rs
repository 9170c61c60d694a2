//! The blocks of a reply while they stream.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::formats::shared::records::rewritten;
use crate::model::Part;
use crate::tree::Happening;
use crate::wire::json::{Raw, array, decode, string};
use crate::wire::{Notes, anthropic};

lazy! {
    /// One of the provider's streaming events.
    pub(in crate::formats) struct Streamed {
        kind = "type", index, message, content_block, delta, usage, error,
    }
}

lazy! {
    /// A block that begins, or more of it.
    struct Piece { kind = "type", id, name, text, thinking, signature, partial_json }
}

/// Knows what streams: whose block a delta belongs to is said only once.
#[derive(Default)]
pub(in crate::formats) struct Blocks(BTreeMap<u64, Open>);

/// A block whose end was not told yet.
#[derive(Default)]
struct Open {
    kind: String,
    /// The block as it began.
    start: String,
    call: Option<String>,
    text: String,
    signature: Option<String>,
    /// What was written of a call's input.
    input: String,
}

impl Blocks {
    /// What a block's event tells while it streams; nothing of any other event.
    pub(in crate::formats) fn streamed(&mut self, streamed: &Streamed<'_>) -> Option<Happening> {
        let index = decode(streamed.index).unwrap_or_default();
        match string(streamed.kind)?.as_str() {
            "content_block_start" => self.start(index, streamed.content_block),
            "content_block_delta" => self.delta(index, decode(streamed.delta).unwrap_or_default()),
            "content_block_stop" => Some(Happening::BlockEnd),
            _ => None,
        }
    }

    fn start(&mut self, index: u64, raw: Raw<'_>) -> Option<Happening> {
        let block = decode::<Piece<'_>>(raw).unwrap_or_default();
        let mut open = Open {
            kind: string(block.kind).unwrap_or_default(),
            start: raw.map_or("null", RawValue::get).to_owned(),
            signature: string(block.signature).filter(|signature| !signature.is_empty()),
            ..Open::default()
        };
        let what = match open.kind.as_str() {
            "thinking" => Some(Happening::ThinkingStart),
            "tool_use" => {
                let call = string(block.id).unwrap_or_default();
                open.call = Some(call.clone());
                let name = string(block.name).unwrap_or_default();
                Some(Happening::CallStart { call, name })
            }
            _ => None,
        };
        self.0.insert(index, open);
        what
    }

    fn delta(&mut self, index: u64, delta: Piece<'_>) -> Option<Happening> {
        let open = self.0.entry(index).or_default();
        if let Some(more) = string(delta.signature) {
            *open.signature.get_or_insert_default() += &more;
        }
        let (said, thought) = (string(delta.text), string(delta.thinking));
        match (said, thought, string(delta.partial_json)) {
            (Some(text), ..) => {
                open.text += &text;
                let phase = None;
                Some(Happening::TextDelta { text, phase })
            }
            (_, Some(text), _) => {
                open.text += &text;
                Some(Happening::ThinkingDelta { text })
            }
            (.., Some(text)) => {
                open.input += &text;
                let call = open.call.clone()?;
                let offset = None;
                Some(Happening::CallInput { call, text, offset })
            }
            _ => None,
        }
    }

    /// All that has begun is forgotten: another reply begins.
    pub(in crate::formats) fn clear(&mut self) {
        self.0.clear();
    }

    /// The block that this event completes, as a whole reply would hold it.
    pub(super) fn whole(&mut self, streamed: &Streamed<'_>, notes: &mut Notes) -> Option<Part> {
        let index: u64 = decode(streamed.index).unwrap_or_default();
        self.0.remove(&index)?.whole(notes)
    }

    /// Those whose end was not told, when that of their reply is.
    pub(super) fn rest(&mut self, notes: &mut Notes) -> Vec<Part> {
        let open = std::mem::take(&mut self.0).into_values();
        open.filter_map(|open| open.whole(notes)).collect()
    }
}

impl Open {
    fn whole(self, notes: &mut Notes) -> Option<Part> {
        match self.kind.as_str() {
            // Nobody told how it began.
            "" => None,
            "text" => (!self.text.is_empty()).then(|| Part::text(self.text)),
            "thinking" => Some(Part::Thinking {
                text: self.text,
                signature: self.signature,
                provider: Some(anthropic::PROVIDER.to_owned()),
            }),
            _ => {
                let input = Some(self.input).filter(|input| !input.is_empty());
                let block = match input {
                    Some(input) if serde_json::from_str::<&RawValue>(&input).is_ok() => {
                        let change = |key: &str, value: &str| match key {
                            "input" => Some(input.clone()),
                            _ => Some(value.to_owned()),
                        };
                        rewritten(&self.start, change).finish()
                    }
                    // What is no JSON is kept by the call that streamed.
                    Some(_) => return None,
                    None => self.start,
                };
                let list = RawValue::from_string(array([block])).ok()?;
                anthropic::parts(Some(&list), notes).ok()?.pop()
            }
        }
    }
}
