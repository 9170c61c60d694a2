//! From a commit back to a checkpoint, and forward again to its context.

use std::collections::HashMap;

use crate::context::{Context, Entry, Order};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::Message;
use crate::store::{CommitRow, View};

/// The commit, which must be here.
pub(crate) fn commit(view: &dyn View, hash: &CommitHash) -> Result<CommitRow> {
    view.commit(hash)?.ok_or_else(|| unknown(hash))
}

/// What is wrong with a commit that isn't here.
pub(crate) fn unknown(hash: &CommitHash) -> Error {
    Error::UnknownRevision {
        text: hash.to_string(),
        nearest: None,
    }
}

/// The content, which must be here.
pub(crate) fn content(view: &dyn View, hash: &ContentHash) -> Result<Message> {
    Ok(contents(view, std::slice::from_ref(hash))?.remove(0))
}

/// The contents, which must be here.
pub(crate) fn contents(view: &dyn View, hashes: &[ContentHash]) -> Result<Vec<Message>> {
    let missing = |hash: &ContentHash| Error::Damaged {
        detail: format!("content {hash:.10} is missing"),
    };
    let found = hashes.iter().zip(view.contents(hashes)?);
    found
        .map(|(hash, message)| message.ok_or_else(|| missing(hash)))
        .collect()
}

/// The messages of visible entries, hidden parts left out or replaced.
pub(crate) fn messages<'a>(
    view: &dyn View,
    entries: impl IntoIterator<Item = &'a Entry>,
) -> Result<Vec<Message>> {
    let entries: Vec<&Entry> = entries.into_iter().collect();
    let hashes: Vec<ContentHash> = entries.iter().map(|entry| entry.content).collect();
    let parts = entries.iter().flat_map(|entry| entry.mask.parts());
    let stubs: Vec<ContentHash> = parts.filter_map(|part| part.stub).collect();
    let stubs: HashMap<ContentHash, Message> = match stubs.is_empty() {
        true => HashMap::new(),
        false => stubs.iter().copied().zip(contents(view, &stubs)?).collect(),
    };
    let stub = |hash: &ContentHash| stubs.get(hash).cloned();
    let masked = entries.iter().zip(contents(view, &hashes)?);
    Ok(masked
        .map(|(entry, message)| entry.mask.apply(message, stub))
        .collect())
}

/// The message of one visible entry.
pub(crate) fn message(view: &dyn View, entry: &Entry) -> Result<Message> {
    Ok(messages(view, [entry])?.remove(0))
}

/// The context at `tip`: from the newest checkpoint forward, or, where an operation reaches
/// beyond what is visible, from the root.
pub(crate) fn context(view: &dyn View, tip: &CommitHash) -> Result<Context> {
    let (base, mut context) = match view.checkpoint(tip)? {
        Some((base, context)) => (Some(base), context),
        None => {
            commit(view, tip)?;
            (None, Context::default())
        }
    };
    let rows = view.ancestors(tip, base.as_ref(), usize::MAX)?;
    for row in rows.iter().rev() {
        match context.step(row.hash, &row.commit) {
            Some(next) => context = next,
            None => return Ok(order(view, tip)?.context()),
        }
    }
    Ok(context)
}

/// The whole order at `tip`, folded from the root over commit rows, without bodies.
pub(crate) fn order(view: &dyn View, tip: &CommitHash) -> Result<Order> {
    let mut order = Order::default();
    for row in view.ancestors(tip, None, usize::MAX)?.iter().rev() {
        order.apply(row.hash, &row.commit)?;
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use crate::compile::{RequestOptions, compile};
    use crate::history::{Call, CommitOptions, Repo};
    use crate::model::{Draft, EntryId, Message, Role};

    #[test]
    fn ten_thousand_visible_messages_are_compiled_in_few_statements() {
        let (repo, statements) = Repo::counting_statements();
        let said = |at: usize| Message::text(Role::User, at.to_string());
        let talk: Vec<Draft> = (0..10_000).map(|at| Draft::append(said(at))).collect();
        let commit = |drafts: &[Draft]| {
            let done = repo.commit(Call::default(), drafts, &CommitOptions::default());
            done.expect("commits")
        };
        let made = commit(&talk);
        let edited = made.iter().step_by(500);
        let edits: Vec<Draft> = edited
            .map(|made| Draft::edit(EntryId::of(made.hash), said(7)))
            .collect();
        let tip = commit(&edits).last().expect("some").hash;

        let before = statements.load(Ordering::Relaxed);
        let context = repo.context(&tip).expect("a context");
        let messages = repo.messages(&context).expect("messages");
        let settings = repo.settings(&context).expect("settings");
        let session = repo.session_of(&tip).expect("no session");
        let request = compile(&messages, &settings, &RequestOptions::default());
        let asked = statements.load(Ordering::Relaxed) - before;
        assert_eq!((messages.len(), session), (10_000, None));
        assert!(request.expect("a request").payload.len() > 10_000);
        assert!(asked <= 100, "{asked} statements");
    }
}
