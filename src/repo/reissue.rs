//! What is written after a purge that erased the same words: a new message.
//!
//! A tombstone keeps its hash, so the message gets another one ([`Sealed::again`]). Whatever comes
//! from people or programs passes here on its way into the store; an import has a rule of its own
//! for the session that was erased ([`crate::ingest`]). Free where nothing ever was purged.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::error::Result;
use crate::hash::ContentHash;
use crate::model::{Draft, Message, Sealed};
use crate::store::View;

/// The forms in which a message may be here: as it is, and as it was written again after each purge
/// of it. All but the last are erased, and that one may not be here yet.
pub(crate) fn forms(view: &dyn View, message: &Sealed<Message>) -> Result<Vec<Sealed<Message>>> {
    let mut forms = vec![message.clone()];
    for times in 1.. {
        let last = forms[forms.len() - 1].hash();
        if !view.purged(&[last])?[0] {
            break;
        }
        forms.push(message.again(times));
    }
    Ok(forms)
}

/// The form of a message that is not erased.
pub(crate) fn renewed(view: &dyn View, message: &Sealed<Message>) -> Result<Sealed<Message>> {
    let mut forms = forms(view, message)?;
    Ok(forms.pop().expect("the message itself is one"))
}

/// A draft that names no erased message among those that it brings along.
pub(crate) fn renew<'d>(view: &dyn View, draft: &'d Draft) -> Result<Cow<'d, Draft>> {
    if draft.messages.is_empty() || view.last_purge()?.is_none() {
        return Ok(Cow::Borrowed(draft));
    }
    let messages = draft.messages.iter();
    let messages: Vec<_> = messages
        .map(|message| renewed(view, message))
        .collect::<Result<_>>()?;
    let names = draft.messages.iter().map(Sealed::hash);
    let names: HashMap<ContentHash, ContentHash> =
        names.zip(messages.iter().map(Sealed::hash)).collect();
    if names.iter().all(|(was, is)| was == is) {
        return Ok(Cow::Borrowed(draft));
    }
    let operation = draft
        .operation
        .with_contents(|name| *names.get(name).unwrap_or(name));
    Ok(Cow::Owned(Draft {
        operation,
        messages,
        settings: draft.settings.clone(),
        note: draft.note.clone(),
        author: draft.author.clone(),
        merged: draft.merged,
        origin: draft.origin,
    }))
}
