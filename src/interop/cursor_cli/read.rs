//! The importer: from state to state, what came to the messages and what a summary stands for.

use std::ops::Range;

use serde::Deserialize;

use super::said::said;
use super::{AGENT, MESSAGES, STATES};
use crate::error::Result;
use crate::interop::places;
use crate::interop::records::{Held, Text};
use crate::interop::states::{Document, Kept, tell};
use crate::interop::ways::Ways;
use crate::interop::{ImportOptions, Input, SessionEnd, SessionStart, Sink};
use crate::wire::json::decode;

/// What the tool calls a conversation that has no name.
const UNNAMED: &str = "New Agent";

pub(super) fn import(
    input: &dyn Input,
    options: ImportOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let held = Held::read(input)?;
    let text = held.text();
    let mut document: Document<Agent> = Document::of(&held, [AGENT, MESSAGES, STATES]);
    let about = std::mem::take(&mut document.about);
    let mut end = SessionEnd::lacking(&["tool definitions"]);
    end.title = about
        .name
        .filter(|name| !name.is_empty() && name != UNNAMED);
    end.cwd = about.workspace.as_deref().map(places::path);
    let id = about.id.filter(|id| !id.is_empty());
    sink.session(SessionStart::new(
        id.unwrap_or_else(|| options.stem.to_owned()),
    ))?;
    let messages = document.messages(text, said, &mut end, sink)?;
    let mut kept = Vec::new();
    for at in document.states {
        kept.push(state(text, at, sink)?);
    }
    held.end(document.broken, sink)?;
    sink.progress(text.bytes.len() as u64, messages.len() as u64);
    let parents = (0..kept.len()).map(|at| at.checked_sub(1)).collect();
    let (ways, _) = Ways::of(parents);
    tell(text, messages, kept, ways, end, sink)
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
    lazy! { struct Record { keeps, then, summary } }
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
