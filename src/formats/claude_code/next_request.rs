//! The request that the client would send behind one that it sent.

use std::collections::{HashMap, VecDeque};

use crate::formats::shared::sent::as_blocks;
use crate::wire::anthropic::MARK;
use crate::wire::javascript::{JsValue, KeyOrder};

/// `sent` with the messages of `made`, and with those of its members whose settings have changed. A message that was
/// sent is as it was sent; where the last one bore a mark of the cache, the new last one does.
pub(super) fn next(sent: &str, made: &str, has_changed: &dyn Fn(&str) -> bool) -> Option<String> {
    let (mut next, made) = (JsValue::of(sent)?, JsValue::of(made)?);
    let mark = last_block(&mut next).and_then(|block| block.take(MARK));
    for (key, value) in made.members() {
        let key: String = serde_json::from_str(key).ok()?;
        match (key.as_str(), next.get_mut(&key)) {
            // What the conversation has of one stands behind the client's.
            ("system", Some(JsValue::List(own))) => own.extend_from_slice(value.elements()),
            ("messages", Some(sent)) => *sent = messages(sent, value),
            (key, known) if known.is_none() || has_changed(key) => next.set(key, value.clone()),
            _ => {}
        }
    }
    if let Some(mark) = mark
        && let Some(JsValue::List(messages)) = next.get_mut("messages")
    {
        messages.last_mut().map(as_blocks);
        if let Some(block) = last_block(&mut next) {
            block.set(MARK, mark);
        }
    }
    Some(next.to_text(KeyOrder::Kept))
}

/// These messages, each as it was sent where one that says the same was.
fn messages<'a>(sent: &JsValue<'a>, made: &JsValue<'a>) -> JsValue<'a> {
    let mut known: HashMap<String, VecDeque<&JsValue<'a>>> = HashMap::new();
    for message in sent.elements() {
        known.entry(said(message)).or_default().push_back(message);
    }
    let messages = made.elements().iter().map(|message| {
        let sent = known.get_mut(&said(message)).and_then(VecDeque::pop_front);
        let mut found = sent.unwrap_or(message).clone();
        // One that bore the mark is a string again.
        if let Some(content) = message.get("content").filter(|content| content.is_text()) {
            found.set("content", content.clone());
        }
        found
    });
    JsValue::List(messages.collect())
}

/// What a message says, in whatever form: its role and its blocks.
fn said(message: &JsValue<'_>) -> String {
    let mut text = String::new();
    let mut message = message.clone();
    as_blocks(&mut message);
    for key in ["role", "content"] {
        if let Some(value) = message.get(key) {
            value.write(&mut text, KeyOrder::Sorted, Some(MARK));
        }
    }
    text
}

/// The last block of a request's last message; none of one whose content is a string.
fn last_block<'r, 'a>(request: &'r mut JsValue<'a>) -> Option<&'r mut JsValue<'a>> {
    let JsValue::List(messages) = request.get_mut("messages")? else {
        return None;
    };
    match messages.last_mut()?.get_mut("content")? {
        JsValue::List(blocks) => blocks.last_mut(),
        _ => None,
    }
}
