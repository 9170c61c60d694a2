//! The importer: what is known of a thread; its checkpoints say the rest.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::said;
use super::{CHECKPOINTS, GRAPHS, MESSAGES, THREAD};
use crate::error::Result;
use crate::formats::Source;
use crate::formats::shared::conversations::{self, Names};
use crate::formats::shared::document;
use crate::formats::shared::records::Held;
use crate::formats::shared::spans::{elements, members};
use crate::formats::shared::states::{Conversation, Said, States};
use crate::formats::shared::teller::Teller;
use crate::wire::Notes;
use crate::wire::json::decode;

/// Tells of a thread, and then of each graph inside that has messages of its own: a session that the one around it began.
pub(super) fn import(source: Source<'_>) -> Result<()> {
    let held = Held::read(source.input)?;
    let (text, stem, sink) = (held.text(), source.stem, source.sink);
    let of_thread = Source {
        sink: &mut *sink,
        ..source
    };
    document::import_held::<Conversation<Thread>>(&held, of_thread)?;
    let (found, _) = members(text.bytes, held.start);
    let lists = found.iter().filter(|(key, _)| key == GRAPHS);
    let graphs = lists.flat_map(|(_, at)| elements(text.bytes, at.start).0);
    let mut names = Names::default();
    for (at, number) in graphs.zip(1..) {
        let stem = format!("{stem}/{number}");
        if conversations::tell::<Conversation<Thread>>(text, &at, &stem, &mut names, sink)?
            .is_none()
        {
            sink.problem(text.problem(at.start, "a graph inside without messages"))?;
        }
    }
    Ok(())
}

/// A thread.
#[derive(Default)]
pub(super) struct Thread;

impl States for Thread {
    const ABOUT: &'static str = THREAD;
    const MESSAGES: &'static str = MESSAGES;
    const STATES: &'static str = CHECKPOINTS;
    const STATE: &'static str = "checkpoint";
    const IS_LINKED: bool = true;

    fn about(raw: &RawValue, teller: &mut Teller<'_>) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct About {
            thread_id: Option<String>,
            started_by: Option<String>,
            of_graphs_inside: u64,
            left_out: BTreeMap<String, u64>,
        }
        let about: About = decode(Some(raw)).unwrap_or_default();
        teller.name(about.thread_id.filter(|id| !id.is_empty()));
        teller.start.descent.spawned_by = about.started_by;
        for (channel, messages) in about.left_out {
            let kind = format!("message of the channel {channel}");
            teller.end.other_records.insert(kind, messages);
        }
        if about.of_graphs_inside > 0 {
            let kind = "checkpoint of a graph inside".to_owned();
            let others = &mut teller.end.other_records;
            others.insert(kind, about.of_graphs_inside);
        }
    }

    fn said(raw: &RawValue, notes: &mut Notes) -> Result<Said, String> {
        said(raw, notes)
    }
}
