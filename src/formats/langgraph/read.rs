//! The importer: what is known of a thread; its checkpoints say the rest.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::said;
use super::{CHECKPOINTS, MESSAGES, THREAD};
use crate::formats::shared::states::{Said, States};
use crate::formats::shared::teller::Teller;
use crate::wire::Notes;
use crate::wire::json::decode;

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
            of_graphs_inside: u64,
            left_out: BTreeMap<String, u64>,
        }
        let about: About = decode(Some(raw)).unwrap_or_default();
        teller.name(about.thread_id.filter(|id| !id.is_empty()));
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
