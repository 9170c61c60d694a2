//! The importer: from state to state, what came to the messages and what a summary stands for.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::said::said;
use super::{AGENT, MESSAGES, STATES};
use crate::error::Result;
use crate::interop::places;
use crate::interop::records::{Held, Text};
use crate::interop::spans::{elements, members};
use crate::interop::states::{Kept, tell};
use crate::interop::ways::Ways;
use crate::interop::{ImportOptions, Input, SessionEnd, SessionStart, Sink};
use crate::wire::Notes;
use crate::wire::json::{Raw, decode};

/// What the tool calls a conversation that has no name.
const UNNAMED: &str = "New Agent";

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let (keys, mut broken) = members(text.bytes, held.start);
    let (mut about, mut messages, mut states) = (Agent::default(), Vec::new(), Vec::new());
    for (key, at) in keys {
        match key.as_str() {
            AGENT => {
                let decoded = text.decode(&at).ok();
                about = decoded
                    .and_then(|(raw, _)| decode(Some(&raw)))
                    .unwrap_or_default();
            }
            MESSAGES | STATES => {
                let (found, torn) = elements(text.bytes, at.start);
                broken = torn.or(broken);
                match key.as_str() {
                    MESSAGES => messages = found,
                    _ => states = found,
                }
            }
            _ => {}
        }
    }
    let mut end = SessionEnd::lacking(&["tool definitions"]);
    end.title = about
        .name
        .filter(|name| !name.is_empty() && name != UNNAMED);
    end.cwd = about.workspace.as_deref().map(places::path);
    let id = about.id.filter(|id| !id.is_empty());
    sink.session(SessionStart::new(
        id.unwrap_or_else(|| options.stem.to_owned()),
    ))?;
    let mut notes = Notes::default();
    let mut read_messages = Vec::new();
    for at in messages {
        let read = |raw: &RawValue| said(raw, &mut notes);
        let found = text.message(&at, &mut end.lone_surrogates, sink, read)?;
        read_messages.push((at, found));
    }
    end.opaque_blocks = notes.opaque_blocks;
    let mut kept = Vec::new();
    for at in states {
        kept.push(state(text, at, sink)?);
    }
    held.end(broken, sink)?;
    sink.progress(text.bytes.len() as u64, read_messages.len() as u64);
    let parents = (0..kept.len()).map(|at| at.checked_sub(1)).collect();
    let (ways, _) = Ways::of(parents);
    tell(text, read_messages, kept, ways, end, sink)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Agent {
    #[serde(rename = "agentId")]
    id: Option<String>,
    name: Option<String>,
    workspace: Option<String>,
}

fn state(text: Text<'_>, at: Range<usize>, sink: &mut dyn Sink) -> Result<Kept> {
    #[derive(Default, Deserialize)]
    #[serde(default, bound(deserialize = "'de: 'a"))]
    struct Record<'a> {
        keeps: Raw<'a>,
        then: Raw<'a>,
        summary: Raw<'a>,
    }
    let decoded = text.decode(&at).ok();
    let record = decoded
        .as_ref()
        .and_then(|(raw, _)| decode::<Record<'_>>(Some(raw)));
    if record.is_none() {
        sink.problem(text.problem(at.start, "a state that is no object"))?;
    }
    let record = record.unwrap_or_default();
    Ok(Kept {
        change: decode(record.keeps).zip(decode(record.then)),
        summary: decode(record.summary),
        time: None,
        at,
    })
}
