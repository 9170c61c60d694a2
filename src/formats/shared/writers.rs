//! How writers of records say what formats agree on.
//!
//! Deliberately absent: records; each format writes its own.

use crate::formats::shared::remarks::Remarks;
use crate::model::{Message, Part};
use crate::wire::json::{Object, is_object, quoted};

/// The texts among parts as one.
pub(in crate::formats) fn texts<'p>(
    parts: impl IntoIterator<Item = &'p Part>,
    between: &str,
) -> String {
    let texts: Vec<&str> = parts.into_iter().filter_map(Part::as_text).collect();
    texts.join(between)
}

/// The arguments of a call as JSON: what is no object is a string.
pub(in crate::formats) fn arguments(given: &str) -> String {
    if is_object(given) {
        given.to_owned()
    } else {
        quoted(given)
    }
}

/// The arguments of a call as an object: what is none stands in one.
pub(in crate::formats) fn input(given: &str) -> String {
    if is_object(given) {
        given.to_owned()
    } else {
        Object::new().string("input", given).finish()
    }
}

/// The calls of a message by their ids, with what each calls.
pub(in crate::formats) fn called(message: &Message) -> impl Iterator<Item = (String, String)> {
    message.parts.iter().filter_map(|part| match part {
        Part::ToolCall { id, name, .. } => Some((id.clone(), name.clone())),
        _ => None,
    })
}

/// The seal of what was thought, where its provider is one who `takes` it back.
pub(in crate::formats) fn seal<'p>(
    thought: &'p Part,
    takes: &[&str],
    remarks: &mut Remarks,
) -> Option<&'p str> {
    let (signature, provider) = match thought {
        Part::Thinking {
            signature,
            provider,
            ..
        } => (signature.as_ref(), provider.as_deref()),
        _ => return None,
    };
    let is_taken = provider.is_some_and(|it| takes.contains(&it));
    if signature.is_some() && !is_taken {
        remarks.add("a signature of another provider");
    }
    signature.filter(|_| is_taken).map(String::as_str)
}
