//! The contents of messages as a client wrote them, so that a request of unchanged messages is the
//! one that the client sent: a string stays a string, an empty result stays, and so does a mark for
//! the provider's cache.
//!
//! They are used where they are read as what would be written anyway. Deliberately absent: where they
//! come from.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::model::Part;
use crate::model::call::Arguments;
use crate::wire::json::{Object, Raw, array, string, tight};
use crate::wire::{Notes, anthropic, openai};

/// For each message the `content` of each record behind it, as JSON texts; nothing where none is
/// known. Of fewer than there are messages, the rest are not known.
pub type Contents = Vec<Vec<String>>;

/// The blocks of a request's messages that are not used yet, by message.
#[derive(Clone)]
pub(super) struct Said<'a>(Vec<Vec<&'a str>>);

impl<'a> Said<'a> {
    pub(super) fn of(contents: &'a [Vec<String>]) -> Self {
        let blocks = |content: &'a String| match serde_json::from_str::<Vec<&RawValue>>(content) {
            Ok(blocks) => blocks.into_iter().map(RawValue::get).collect(),
            Err(_) => vec![content.as_str()],
        };
        let of_message = |contents: &'a Vec<String>| contents.iter().flat_map(blocks).collect();
        Self(contents.iter().map(of_message).collect())
    }

    /// The block of message `number`, from 1, that says what `written` says: as it was, and maybe a
    /// string.
    pub(super) fn block(&mut self, number: usize, written: &str) -> Option<&'a str> {
        let blocks = self.0.get_mut(number.checked_sub(1)?)?;
        if blocks.is_empty() {
            return None;
        }
        let written = parts(written)?;
        let at = blocks
            .iter()
            .position(|block| parts(block).as_ref() == Some(&written))?;
        Some(blocks.remove(at))
    }
}

/// What a block, or a string in place of one, says.
fn parts(block: &str) -> Option<Vec<Part>> {
    let list = if block.starts_with('"') {
        block.to_owned()
    } else {
        array([block])
    };
    let raw = RawValue::from_string(list).ok()?;
    let mut parts = anthropic::parts(Some(&raw), &mut Notes::default()).ok()?;
    if let ([Part::ToolResult { content, .. }], true) = (&mut parts[..], is_empty(block)) {
        content.clear();
    }
    parts.iter_mut().for_each(tighten);
    Some(parts)
}

/// Leaves out of a block that is kept as it is what says nothing: white space and a mark for the provider's cache.
fn tighten(part: &mut Part) {
    match part {
        Part::Opaque { data, .. } => {
            if let Ok(Arguments(fields)) = serde_json::from_str(data) {
                let fields = fields.into_iter().filter(|(key, _)| key != anthropic::MARK);
                let object = fields.fold(Object::new(), |object, (key, value)| {
                    object.raw(&key, value.get())
                });
                *data = tight(&object.finish());
            }
        }
        Part::ToolResult { content, .. } => content.iter_mut().for_each(tighten),
        _ => {}
    }
}

/// Whether a result gave an empty string, which is as good as nothing.
fn is_empty(block: &str) -> bool {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        content: Raw<'a>,
    }
    let head = serde_json::from_str::<Head<'_>>(block);
    head.is_ok_and(|head| string(head.content).is_some_and(|text| text.is_empty()))
}

/// A message of OpenAI's form with its content as a client wrote it, if it then says the same.
pub(super) fn as_said(written: String, contents: Option<&Vec<String>>) -> String {
    let Some([content]) = contents.map(Vec::as_slice) else {
        return written;
    };
    let with_content = || {
        let Arguments(fields) = serde_json::from_str(&written).ok()?;
        let has_content = fields.iter().any(|(key, _)| key == "content");
        let object = fields
            .into_iter()
            .fold(Object::new(), |object, (key, value)| {
                let value = if key == "content" {
                    content
                } else {
                    value.get()
                };
                object.raw(&key, value)
            });
        has_content.then(|| object.finish())
    };
    let message = |text: &str| {
        let raw = serde_json::from_str::<&RawValue>(text).ok()?;
        openai::message(raw, &mut Notes::default()).ok()
    };
    match with_content() {
        Some(said) if message(&said).is_some_and(|it| Some(it) == message(&written)) => said,
        _ => written,
    }
}
