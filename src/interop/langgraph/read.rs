//! The importer: from checkpoint to checkpoint, what came to the messages and what went.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;

use super::said::said;
use super::{CHECKPOINTS, MESSAGES, THREAD};
use crate::error::Result;
use crate::interop::records::{Held, Text};
use crate::interop::states::{Document, Kept, tell};
use crate::interop::ways::Ways;
use crate::interop::{ImportOptions, Input, SessionEnd, SessionStart, Sink};
use crate::model::Millis;
use crate::wire::json::{decode, string};

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let mut document: Document<Thread> = Document::of(&held, [THREAD, MESSAGES, CHECKPOINTS]);
    let about = std::mem::take(&mut document.about);
    let mut end = SessionEnd::lacking(&["tool definitions"]);
    if about.of_graphs_inside > 0 {
        let kind = "checkpoint of a graph inside".to_owned();
        end.other_records.insert(kind, about.of_graphs_inside);
    }
    let id = about.thread_id.filter(|id| !id.is_empty());
    sink.session(SessionStart::new(
        id.unwrap_or_else(|| options.stem.to_owned()),
    ))?;
    let messages = document.messages(text, said, &mut end, sink)?;
    let mut records = Vec::new();
    for at in document.states {
        records.push(Checkpoint::read(text, at, sink)?);
    }
    held.end(document.broken, sink)?;
    sink.progress(text.bytes.len() as u64, records.len() as u64);
    let ways = ways(text, &records, sink)?;
    let states = records.into_iter().map(|it| it.kept).collect();
    tell(text, messages, states, ways, end, sink)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Thread {
    thread_id: Option<String>,
    of_graphs_inside: u64,
}

/// Where checkpoints lead.
fn ways(text: Text<'_>, records: &[Checkpoint], sink: &mut dyn Sink) -> Result<Ways> {
    let ids = records.iter().enumerate();
    let by_id: HashMap<&str, usize> = ids
        .filter_map(|(at, it)| Some((it.id.as_deref()?, at)))
        .collect();
    let parent = |it: &Checkpoint| by_id.get(it.parent.as_deref()?).copied();
    let (ways, circles) = Ways::of(records.iter().map(parent).collect());
    for at in circles {
        let reason = "a checkpoint that stands below itself";
        sink.problem(text.problem(records[at].kept.at.start, reason))?;
    }
    Ok(ways)
}

#[derive(Default)]
struct Checkpoint {
    id: Option<String>,
    parent: Option<String>,
    kept: Kept,
}

impl Checkpoint {
    fn read(text: Text<'_>, at: Range<usize>, sink: &mut dyn Sink) -> Result<Self> {
        lazy! { struct Record { checkpoint_id, parent_checkpoint_id, ts, keeps, then, unread } }
        let decoded = text.decode(&at).ok();
        let record = decoded
            .as_ref()
            .and_then(|(raw, _)| decode::<Record<'_>>(Some(raw)));
        let Some(record) = record else {
            sink.problem(text.problem(at.start, "a checkpoint that is no object"))?;
            let kept = Kept {
                at,
                ..Kept::default()
            };
            return Ok(Self {
                kept,
                ..Self::default()
            });
        };
        if let Some(reason) = string(record.unread) {
            sink.problem(text.problem(at.start, reason))?;
        }
        Ok(Self {
            id: string(record.checkpoint_id),
            parent: string(record.parent_checkpoint_id),
            kept: Kept {
                time: string(record.ts).and_then(|time| Millis::parse(&time)),
                change: decode(record.keeps).zip(decode(record.then)),
                summary: None,
                at,
            },
        })
    }
}
