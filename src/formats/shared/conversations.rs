//! Exports of all that somebody has said to a service: many conversations in one file, or one alone.
//!
//! Deliberately absent: what a conversation is; each format says.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::error::Result;
use crate::formats::shared::document::{Document, ObjectTeller, Opened};
use crate::formats::shared::head::{Keys, SourceHead};
use crate::formats::shared::records::{Held, Text};
use crate::formats::shared::spans::{Broken, elements, skip_space, skip_value};
use crate::formats::shared::teller::Teller;
use crate::formats::{Sink, Source};

/// Names of sessions, each of which is given once.
#[derive(Default)]
pub(in crate::formats) struct Names(BTreeMap<String, u64>);

impl Names {
    /// The name for a session of this id.
    pub(in crate::formats) fn of(&mut self, id: String) -> String {
        let mut name = id.clone();
        while self.0.contains_key(&name) {
            let times = self.0.entry(id.clone()).or_default();
            *times += 1;
            name = format!("{id}-{times}");
        }
        self.0.insert(name.clone(), 1);
        name
    }
}

/// Tells of one conversation, as a session that is called so where it has no id of its own; returns how many records
/// it has, none where it is no conversation.
pub(in crate::formats) fn tell<D: Document>(
    text: Text<'_>,
    at: &Range<usize>,
    stem: &str,
    names: &mut Names,
    sink: &mut dyn Sink,
) -> Result<Option<u64>> {
    let mut teller = ObjectTeller::of(text, Teller::of(stem, D::LACKING, sink));
    let mut found = Opened::<D>::read(at.start, &mut teller);
    if !found.is_listed {
        return Ok(None);
    }
    teller.start.id = names.of(std::mem::take(&mut teller.start.id));
    let count = found.tell(&mut teller)?;
    teller.end()?;
    Ok(Some(count))
}

/// Whether a source is such a file: a list of conversations, or one.
pub(in crate::formats) fn sniff<D: Document>(head: &SourceHead<'_>) -> Option<usize> {
    let is_one = |item: &Keys<'_>| item.has(D::RECORDS);
    let shows = head.object().is_some_and(is_one) || head.lists(is_one);
    shows.then_some(0)
}

/// Tells of each conversation of a source.
pub(in crate::formats) fn import<D: Document>(source: Source<'_>) -> Result<()> {
    import_held::<D>(&Held::read(source.input)?, source)
}

/// The same of a source that is held already.
pub(in crate::formats) fn import_held<D: Document>(held: &Held, source: Source<'_>) -> Result<()> {
    let text = held.text();
    let (conversations, broken) = match text.bytes.get(held.start) {
        Some(b'[') => elements(text.bytes, held.start),
        _ => objects(text.bytes, held.start),
    };
    let is_only = conversations.len() == 1;
    let is_list = text.bytes.get(held.start) == Some(&b'[');
    let end = conversations.last().map_or(held.start, |last| last.end);
    let (mut names, mut records) = (Names::default(), 0);
    for (at, number) in conversations.into_iter().zip(1..) {
        let stem = if is_only {
            source.stem.to_owned()
        } else {
            format!("{}/{number}", source.stem)
        };
        let (start, end) = (at.start, at.end as u64);
        match tell::<D>(text, &at, &stem, &mut names, source.sink)? {
            Some(more) => records += more,
            None => {
                let reason = format!("an entry without '{}'", D::RECORDS);
                source.sink.problem(text.problem(start, reason))?;
            }
        }
        source.sink.progress(end, records);
    }
    // Several, one a line, end with the last of them.
    if is_list || is_only || broken.is_some() {
        return held.end(broken, source.sink);
    }
    match skip_space(text.bytes, end) < text.bytes.len() {
        true => source
            .sink
            .problem(text.problem(end, "more text after the last object")),
        false => Ok(()),
    }
}

/// Where the objects stand that begin at `start`, and why there may be more.
fn objects(bytes: &[u8], start: usize) -> (Vec<Range<usize>>, Option<Broken>) {
    let (mut found, mut from) = (Vec::new(), start);
    while bytes.get(from) == Some(&b'{') || found.is_empty() {
        match skip_value(bytes, from) {
            Ok(end) => {
                found.push(from..end);
                from = skip_space(bytes, end);
            }
            Err(broken) => {
                found.push(from..bytes.len());
                return (found, Some(broken));
            }
        }
    }
    (found, None)
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn each_name_is_given_once() {
        let mut names = Names::default();
        let given = ["a", "a-2", "a", "a", "a-2", "a-2-2"].map(|id| names.of(id.to_owned()));
        assert_eq!(given, ["a", "a-2", "a-3", "a-4", "a-2-2", "a-2-2-2"]);
    }
}
