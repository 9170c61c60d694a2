//! What history is made of, read through the store: commits, messages, and, from a commit back to a
//! checkpoint and forward again, contexts.
//!
//! Deliberately absent: what any of it means to a command.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::mem;

use crate::compile::Beginning;
use crate::context::{Context, Entry, Mask, Order};
use crate::error::{Error, Result};
use crate::hash::{CommitHash, ContentHash};
use crate::model::{Commit, Message, RefName, Settings, UsageDetail, uses};
use crate::repo::stretches::Outline;
pub(crate) use crate::repo::stretches::unknown;
use crate::store::{CommitRow, ContentRow, OperationRow, View};

/// How many operations are read at once.
const PAGE: usize = 64;

/// The commit, which must be here.
pub(crate) fn commit(view: &dyn View, hash: &CommitHash) -> Result<CommitRow> {
    view.commit(hash)?.ok_or_else(|| unknown(hash))
}

/// The content, which must be here.
pub(crate) fn content(view: &dyn View, hash: &ContentHash) -> Result<Message> {
    Ok(contents(view, std::slice::from_ref(hash))?.remove(0))
}

/// The contents, which must be here.
pub(crate) fn contents(view: &dyn View, hashes: &[ContentHash]) -> Result<Vec<Message>> {
    #[cfg(test)]
    work::count(|work| work.bodies += hashes.len() as u64);
    let found = hashes.iter().zip(view.contents(hashes)?);
    let found = found.map(|(hash, message)| message.ok_or_else(|| missing(hash)));
    found.collect()
}

/// The commit that a ref points at itself.
pub(crate) fn tip(view: &dyn View, name: &RefName) -> Result<Option<CommitHash>> {
    Ok(view.reference(name)?.and_then(|value| value.commit()))
}

/// The refs below `prefix` that point at a commit, by name.
pub(crate) fn tips(view: &dyn View, prefix: &str) -> Result<Vec<(RefName, CommitHash)>> {
    let references = view.references(prefix)?.into_iter();
    let tips = references.filter_map(|(name, value)| Some((name, value.commit()?)));
    Ok(tips.collect())
}

/// The operations, newest first, from before `before`: read page by page as far as it is asked for.
pub(crate) fn operations(
    view: &dyn View,
    mut before: Option<u64>,
) -> impl Iterator<Item = Result<OperationRow>> + '_ {
    let mut page = Vec::new().into_iter();
    std::iter::from_fn(move || {
        if page.len() == 0 {
            match view.operations(before, PAGE) {
                Ok(rows) => page = rows.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
        let next: OperationRow = page.next()?;
        before = Some(next.id);
        Some(Ok(next))
    })
}

/// What listings show of these contents, which must be here.
pub(crate) fn rows(
    view: &dyn View,
    contents: &[ContentHash],
) -> Result<HashMap<ContentHash, ContentRow>> {
    let rows = contents.iter().zip(view.content_rows(contents)?);
    let rows = rows.map(|(hash, row)| Ok((*hash, row.ok_or_else(|| missing(hash))?)));
    rows.collect()
}

/// The same for whoever shows them: a message that begins with a call is told as the call is everywhere.
pub(crate) fn told_rows(
    view: &dyn View,
    contents: &[ContentHash],
) -> Result<HashMap<ContentHash, ContentRow>> {
    let mut rows = rows(view, contents)?;
    let calling: Vec<ContentHash> = rows
        .values()
        .filter(|row| row.calls > 0)
        .map(|row| row.hash)
        .collect();
    for (hash, uses) in calling.iter().zip(view.tool_uses(&calling)?) {
        let first = uses.as_ref().and_then(|uses| uses.calls.first());
        if let Some(row) = rows.get_mut(hash) {
            row.preview = uses::in_brief(std::mem::take(&mut row.preview), first);
        }
    }
    Ok(rows)
}

/// The same of one, if it is here.
pub(crate) fn told_row(view: &dyn View, content: &ContentHash) -> Result<Option<ContentRow>> {
    if view.content_row(content)?.is_none() {
        return Ok(None);
    }
    Ok(told_rows(view, &[*content])?.remove(content))
}

fn missing(hash: &ContentHash) -> Error {
    Error::damaged(format!("content {hash:.10} is missing"))
}

/// The details of all replies, read when one is asked for first, and once.
pub(crate) struct UsageDetails<'v> {
    view: &'v dyn View,
    read: OnceCell<HashMap<CommitHash, UsageDetail>>,
}

impl<'v> UsageDetails<'v> {
    /// Those that a view has.
    pub(crate) const fn of(view: &'v dyn View) -> Self {
        let read = OnceCell::new();
        Self { view, read }
    }

    /// All of them, by the commits of their replies.
    pub(crate) fn all(&self) -> Result<&HashMap<CommitHash, UsageDetail>> {
        if let Some(read) = self.read.get() {
            return Ok(read);
        }
        let read = self.view.all_usage_details()?;
        Ok(self.read.get_or_init(|| read))
    }
}

/// The messages of visible entries, hidden parts left out or replaced.
pub(crate) fn messages<'a>(
    view: &dyn View,
    entries: impl IntoIterator<Item = &'a Entry>,
) -> Result<Vec<Message>> {
    messages_with(view, entries, &Fresh::new())
}

/// A message of a context, as it is kept.
pub enum Stored<'a> {
    /// As it stands, by its canonical bytes.
    Canonical(&'a str),
    /// With parts hidden or replaced.
    Masked(Message),
}

/// Tells the messages of visible entries, one after the other: of many, some are read ahead.
pub(crate) fn each_message<'a>(
    view: &dyn View,
    entries: impl IntoIterator<Item = &'a Entry>,
    visit: &mut dyn FnMut(Stored<'_>) -> Result<()>,
) -> Result<()> {
    let entries: Vec<&Entry> = entries.into_iter().collect();
    let hashes: Vec<ContentHash> = entries.iter().map(|entry| entry.content).collect();
    let stubs = stubs(view, entries.iter().map(|entry| &entry.mask), &Fresh::new())?;
    #[cfg(test)]
    work::count(|work| work.bodies += hashes.len() as u64);
    let mut told = 0;
    view.each_body(&hashes, &mut |at, canonical| {
        if at != told {
            return Err(missing(&hashes[told]));
        }
        told += 1;
        let mask = &entries[at].mask;
        if mask.is_empty() {
            return visit(Stored::Canonical(canonical));
        }
        let message = Message::from_canonical(canonical)?;
        visit(Stored::Masked(
            mask.apply(message, |stub| stubs.get(stub).cloned()),
        ))
    })?;
    hashes.get(told).map_or(Ok(()), |lost| Err(missing(lost)))
}

/// Tells visible entries to what measures how a request begins with them.
pub(crate) fn tell_beginning<'a>(
    view: &dyn View,
    entries: impl IntoIterator<Item = &'a Entry>,
    beginning: &mut Beginning,
) -> Result<()> {
    each_message(view, entries, &mut |stored| match stored {
        Stored::Canonical(canonical) => beginning.add_canonical(canonical),
        Stored::Masked(message) => {
            beginning.add(message);
            Ok(())
        }
    })
}

/// The message of one visible entry.
pub(crate) fn message(view: &dyn View, entry: &Entry) -> Result<Message> {
    Ok(messages(view, [entry])?.remove(0))
}

/// Messages that may not be stored yet.
pub(crate) type Fresh<'a> = HashMap<ContentHash, &'a Message>;

/// The messages of visible entries, some of which may not be stored yet.
pub(crate) fn messages_with<'a>(
    view: &dyn View,
    entries: impl IntoIterator<Item = &'a Entry>,
    fresh: &Fresh<'_>,
) -> Result<Vec<Message>> {
    let entries: Vec<&Entry> = entries.into_iter().collect();
    let hashes: Vec<ContentHash> = entries.iter().map(|entry| entry.content).collect();
    let stubs = stubs(view, entries.iter().map(|entry| &entry.mask), fresh)?;
    let whole = entries.iter().zip(fetch(view, &hashes, fresh)?);
    let seen = whole.map(|(entry, whole)| entry.mask.apply(whole, |stub| stubs.get(stub).cloned()));
    Ok(seen.collect())
}

/// What stands in the place of hidden parts.
pub(crate) fn stubs<'a>(
    view: &dyn View,
    masks: impl Iterator<Item = &'a Mask>,
    fresh: &Fresh<'_>,
) -> Result<HashMap<ContentHash, Message>> {
    let stubs = masks.flat_map(Mask::parts).filter_map(|part| part.stub);
    let stubs: Vec<ContentHash> = stubs.collect();
    let messages = fetch(view, &stubs, fresh)?;
    Ok(stubs.into_iter().zip(messages).collect())
}

fn fetch(view: &dyn View, hashes: &[ContentHash], fresh: &Fresh<'_>) -> Result<Vec<Message>> {
    let stored = hashes.iter().filter(|hash| !fresh.contains_key(*hash));
    let stored: Vec<ContentHash> = stored.copied().collect();
    let mut stored = if stored.is_empty() {
        Vec::new()
    } else {
        contents(view, &stored)?
    }
    .into_iter();
    let fetched = hashes.iter().map(|hash| match fresh.get(hash) {
        Some(message) => (*message).clone(),
        None => stored.next().expect("one for each that is not fresh"),
    });
    Ok(fetched.collect())
}

/// The context at `tip`: from the newest checkpoint forward, or, where an operation reaches
/// beyond what is visible, from what changes the conversation on the whole path.
pub(crate) fn context(view: &dyn View, tip: &CommitHash) -> Result<Context> {
    #[cfg(test)]
    work::count(|work| work.contexts += 1);
    let (base, mut context) = match view.checkpoint(tip)? {
        Some((base, context)) => (Some(base), context),
        None => {
            commit(view, tip)?;
            (None, Context::default())
        }
    };
    let mut is_enough = true;
    view.walk(tip, base.as_ref(), usize::MAX, &mut |row| {
        if is_enough {
            match mem::take(&mut context).advance(row.hash, &row.commit) {
                Some(next) => context = next,
                None => is_enough = false,
            }
        }
        Ok(())
    })?;
    if is_enough {
        Ok(context)
    } else {
        Outline::of(view, tip)?.context(view)
    }
}

/// The context at a commit from that at its parent.
pub(crate) fn next(
    view: &dyn View,
    before: Context,
    hash: CommitHash,
    commit: &Commit,
) -> Result<Context> {
    match before.advance(hash, commit) {
        Some(next) => Ok(next),
        None => context(view, &hash),
    }
}

/// The request settings in force in a context; JSON texts by key.
pub(crate) fn settings(view: &dyn View, context: &Context) -> Result<Settings> {
    let mut settings = Settings::new();
    for (key, by) in &context.settings {
        if let Some(value) = commit(view, by)?.commit.settings.remove(key) {
            settings.insert(key.clone(), value);
        }
    }
    Ok(settings)
}

/// The whole order at `tip`, folded from the root over commit rows, without bodies.
pub(crate) fn order(view: &dyn View, tip: &CommitHash) -> Result<Order> {
    #[cfg(test)]
    work::count(|work| work.orders += 1);
    let mut order = Order::default();
    view.walk(tip, None, usize::MAX, &mut |row| {
        order.apply(row.hash, &row.commit)
    })?;
    Ok(order)
}

/// How often this thread has folded a path or read a body.
#[cfg(test)]
pub(crate) mod work {
    use std::cell::Cell;

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct Work {
        pub(crate) orders: u64,
        pub(crate) contexts: u64,
        pub(crate) bodies: u64,
    }

    thread_local! {
        static WORK: Cell<Work> = const { Cell::new(Work { orders: 0, contexts: 0, bodies: 0 }) };
    }

    pub(crate) fn count(one: impl FnOnce(&mut Work)) {
        let mut work = WORK.get();
        one(&mut work);
        WORK.set(work);
    }

    /// The work that this does.
    pub(crate) fn of<T>(what: impl FnOnce() -> T) -> (Work, T) {
        WORK.take();
        let done = what();
        (WORK.take(), done)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use crate::compile::{RequestOptions, compile};
    use crate::model::{Draft, EntryId, Message, Role};
    use crate::repo::{Call, CommitOptions, Repo};

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
        let edited = made.iter().step_by(10);
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
