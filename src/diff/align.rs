//! Which messages of two contexts are one message.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::diff::alike::{Sketch, most_alike};
use crate::diff::list::{Alignment, align_equal, gaps};
use crate::diff::parts::{neutral, texts};
use crate::diff::{DiffOptions, Side, tools};
use crate::model::{EntryId, Message, Part};

/// How alike two messages of different histories must be to be one message that was typed anew.
const ALIKE: f64 = 0.4;

/// A message with the tools whose calls it answers: results of two tools are never one message.
#[derive(Clone, Copy)]
struct Told<'a> {
    message: &'a Message,
    tools: &'a [&'a str],
}

/// Which messages are the same: by name, then by content, then by what they call, then the most
/// alike.
pub(super) fn align(before: &Side, after: &Side, options: &DiffOptions) -> Alignment {
    let tools = [before, after].map(|side| {
        let answered = side.answered().into_iter();
        let names = answered.map(|calls| calls.into_iter().filter_map(tools::name).collect());
        names.collect::<Vec<Vec<&str>>>()
    });
    let [old, new] = [(before, &tools[0]), (after, &tools[1])].map(|(side, tools)| {
        let told = side.messages.iter().zip(tools);
        let told = told.map(|(message, tools)| Told { message, tools });
        told.collect::<Vec<Told<'_>>>()
    });
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
    let any = |_: usize| true;
    for wanted in [neutral as Wanted, said] {
        let equal = |old: &[Told<'_>], new: &[Told<'_>]| {
            align_equal(
                &contents(old, wanted, options),
                &contents(new, wanted, options),
            )
        };
        pairs = pair_more(pairs, (&old, any), (&new, any), equal);
        pairs.retain(|(b, a)| {
            before.entries[*b].id == after.entries[*a].id
                || placed(before, *b)
                || placed(after, *a)
                || strange(before, *b) && strange(after, *a)
        });
    }
    // Whatever was said beside it: the same call is the same step.
    let calls = |told: &[Told<'_>], at: usize| told[at].message.calls().next().is_some();
    let same_calls = |old: &[Told<'_>], new: &[Told<'_>]| align_equal(&called(old), &called(new));
    pairs = pair_more(
        pairs,
        (&old, |at| strange(before, at) && calls(&old, at)),
        (&new, |at| strange(after, at) && calls(&new, at)),
        same_calls,
    );
    let (before, after) = (|at| strange(before, at), |at| strange(after, at));
    pair_more(pairs, (&old, before), (&new, after), alike)
}

/// Adds the pairs that `find` sees in each gap among the messages that fit there.
fn pair_more<'a>(
    mut pairs: Alignment,
    (before, fits_before): (&[Told<'a>], impl Fn(usize) -> bool),
    (after, fits_after): (&[Told<'a>], impl Fn(usize) -> bool),
    find: impl Fn(&[Told<'a>], &[Told<'a>]) -> Alignment,
) -> Alignment {
    for (b, a) in gaps(&pairs, before.len(), after.len()) {
        let b: Vec<usize> = b.filter(|at| fits_before(*at)).collect();
        let a: Vec<usize> = a.filter(|at| fits_after(*at)).collect();
        if b.is_empty() || a.is_empty() {
            continue;
        }
        let old: Vec<Told<'a>> = b.iter().map(|at| before[*at]).collect();
        let new: Vec<Told<'a>> = a.iter().map(|at| after[*at]).collect();
        pairs.extend(find(&old, &new).into_iter().map(|(x, y)| (b[x], a[y])));
    }
    pairs.sort_unstable();
    pairs
}

/// What of a message is compared.
type Wanted = for<'a> fn(&'a Message, &DiffOptions) -> Cow<'a, Message>;

/// What is compared of these messages: equal ones have one content.
fn contents<'a>(
    told: &[Told<'a>],
    wanted: Wanted,
    options: &DiffOptions,
) -> Vec<(&'a [&'a str], Cow<'a, Message>)> {
    let of = |told: &Told<'a>| (told.tools, wanted(told.message, options));
    told.iter().map(of).collect()
}

/// The calls of each of these messages: tool and arguments.
fn called<'a>(told: &[Told<'a>]) -> Vec<Vec<(&'a str, &'a str)>> {
    fn call(part: &Part) -> Option<(&str, &str)> {
        match part {
            Part::ToolCall {
                name, arguments, ..
            } => Some((name, arguments)),
            _ => None,
        }
    }
    let calls = told.iter().map(|told| told.message.parts.iter());
    calls
        .map(|parts| parts.filter_map(call).collect())
        .collect()
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

/// Which messages of different contents are one message: the only ones, if they are of one role and
/// answer calls of the same tools, or else the most alike of such.
fn alike(before: &[Told<'_>], after: &[Told<'_>]) -> Alignment {
    let comparable = |old: &Told<'_>, new: &Told<'_>| {
        old.message.role == new.message.role && old.tools == new.tools
    };
    if let ([old], [new]) = (before, after) {
        return comparable(old, new).then_some((0, 0)).into_iter().collect();
    }
    let sketch = |told: &Told<'_>| Sketch::of(told.message.parts.iter().flat_map(texts));
    most_alike(before, after, ALIKE, sketch, comparable)
}
