//! Which messages of two contexts are one message.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::diff::alike::{Sketch, most_alike};
use crate::diff::list::{Alignment, align_equal, gaps};
use crate::diff::parts::{neutral, texts};
use crate::diff::{DiffOptions, Side};
use crate::model::{EntryId, Message, Part, Role};

/// How alike two messages of different histories must be to be one message that was typed anew.
const ALIKE: f64 = 0.4;

/// Which messages are the same: by name, then by content, then the most alike.
pub(super) fn align(before: &Side, after: &Side, options: &DiffOptions) -> Alignment {
    let places: HashMap<EntryId, usize> = (after.entries.iter().enumerate())
        .map(|(at, entry)| (entry.id, at))
        .collect();
    let mut pairs = Alignment::new();
    for (b, entry) in before.entries.iter().enumerate() {
        // Two histories hold their common entries in one order; this only makes sure.
        if let Some(a) = places.get(&entry.id)
            && pairs.last().is_none_or(|(_, last)| last < a)
        {
            pairs.push((b, *a));
        }
    }
    // Where one history knows a message of the other and doesn't show it, that is what happened to
    // it: another message of the same content is another message, unless a hide put it in place,
    // which may be a copy of what it hides.
    let strange = |side: &Side, at: usize| !side.known.contains(&side.entries[at].id);
    let placed = |side: &Side, at: usize| side.entries[at].placed.is_some();
    let any = |_: &Side, _: usize| true;
    for wanted in [neutral, said] {
        let equal = |old: &[&Message], new: &[&Message]| equal(old, new, |m| wanted(m, options));
        pairs = pair_more(pairs, (before, any), (after, any), equal);
        pairs.retain(|(b, a)| {
            before.entries[*b].id == after.entries[*a].id
                || placed(before, *b)
                || placed(after, *a)
                || strange(before, *b) && strange(after, *a)
        });
    }
    pair_more(pairs, (before, strange), (after, strange), alike)
}

/// Adds the pairs that `find` sees in each gap among the messages that fit there.
fn pair_more(
    mut pairs: Alignment,
    (before, fits_before): (&Side, impl Fn(&Side, usize) -> bool),
    (after, fits_after): (&Side, impl Fn(&Side, usize) -> bool),
    find: impl Fn(&[&Message], &[&Message]) -> Alignment,
) -> Alignment {
    for (b, a) in gaps(&pairs, before.entries.len(), after.entries.len()) {
        let b: Vec<usize> = b.filter(|at| fits_before(before, *at)).collect();
        let a: Vec<usize> = a.filter(|at| fits_after(after, *at)).collect();
        if b.is_empty() || a.is_empty() {
            continue;
        }
        let old: Vec<&Message> = b.iter().map(|at| &before.messages[*at]).collect();
        let new: Vec<&Message> = a.iter().map(|at| &after.messages[*at]).collect();
        pairs.extend(find(&old, &new).into_iter().map(|(x, y)| (b[x], a[y])));
    }
    pairs.sort_unstable();
    pairs
}

/// Which messages have one content, of which `wanted` is compared.
fn equal<'a>(
    before: &[&'a Message],
    after: &[&'a Message],
    wanted: impl Fn(&'a Message) -> Cow<'a, Message>,
) -> Alignment {
    let old: Vec<_> = before.iter().map(|message| wanted(message)).collect();
    let new: Vec<_> = after.iter().map(|message| wanted(message)).collect();
    align_equal(&old, &new)
}

/// The message without what only its provider reads; the whole message if that is all.
fn said<'a>(message: &'a Message, options: &DiffOptions) -> Cow<'a, Message> {
    let own = |part: &Part| matches!(part, Part::Thinking { .. } | Part::Opaque { .. });
    let message = neutral(message, options);
    if !message.parts.iter().any(own) || message.parts.iter().all(own) {
        return message;
    }
    let mut message = message.into_owned();
    message.parts.retain(|part| !own(part));
    Cow::Owned(message)
}

/// Which messages of different contents are one message: the only ones, if they are of one role,
/// or else the most alike of one role.
fn alike(before: &[&Message], after: &[&Message]) -> Alignment {
    if let ([old], [new]) = (before, after) {
        let same = (old.role == new.role).then_some((0, 0));
        return same.into_iter().collect();
    }
    let (old, new) = (looks(before), looks(after));
    most_alike(old.len(), new.len(), ALIKE, |b, a| {
        match old[b].0 == new[a].0 {
            true => old[b].1.likeness(&new[a].1),
            false => 0.0,
        }
    })
}

/// What likeness goes by.
fn looks(messages: &[&Message]) -> Vec<(Role, Sketch)> {
    let sketch = |message: &Message| Sketch::of(message.parts.iter().flat_map(texts));
    messages
        .iter()
        .map(|message| (message.role, sketch(message)))
        .collect()
}
