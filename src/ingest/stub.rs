//! Files that a tool leaves of a session's id with no more in them than what a session begins with: they are no state of
//! the session, whichever comes in first.
//!
//! Deliberately absent: which tools do so; their formats say.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::file::FileInput;
use crate::error::Result;
use crate::formats::shared::records::beginning;
use crate::formats::{Action, Format, Input, Sink, Source, Step};
use crate::hash::{CommitHash, ContentHash};
use crate::model::Message;
use crate::store::{CommitRow, View};

/// How many messages one has at most, and how long it is.
const MESSAGES: usize = 4;
const BYTES: u64 = 256 << 10;

/// Whether nobody said anything on the path to a commit: all of it is its client's.
pub(super) fn is_stub(view: &dyn View, tip: &CommitHash) -> Result<bool> {
    let rows = view.ancestors(tip, None, MESSAGES + 1)?;
    let contents = rows.iter().map(CommitRow::appended);
    let contents: Option<Vec<ContentHash>> = contents.collect();
    let Some(contents) = contents.filter(|all| all.len() <= MESSAGES) else {
        return Ok(false);
    };
    let messages = view.contents(&contents)?;
    let is_clients = |message: &Option<Message>| message.as_ref().is_some_and(Message::is_injected);
    Ok(messages.iter().all(is_clients))
}

/// The stubs among the files of a format that say nothing more than others: a session that has nothing else keeps its newest by
/// name.
pub(super) fn left_out<'a>(
    files: impl Iterator<Item = &'a Path>,
    format: &'static Format,
) -> HashSet<PathBuf> {
    let (stubs, others): (Vec<&Path>, Vec<_>) = files.partition(|path| is_stub_file(path, format));
    if stubs.is_empty() {
        return HashSet::new();
    }
    let others = others.into_iter().filter_map(|path| id(path, format));
    let mut known: HashSet<String> = others.collect();
    let is_known = |path: &&&Path| id(path, format).is_some_and(|id| !known.insert(id));
    let stubs = stubs.iter().rev().filter(is_known);
    stubs.map(|path| path.to_path_buf()).collect()
}

/// The id of the session that a file says it is of.
fn id(path: &Path, format: &Format) -> Option<String> {
    let first = beginning(&FileInput::open_up_to(path, BYTES).ok()?).ok()??;
    let (id, _) = (format.home.as_ref()?.descent)(&first, "")?;
    Some(id)
}

/// Whether a file is one.
fn is_stub_file(path: &Path, format: &Format) -> bool {
    let is_short = std::fs::metadata(path).is_ok_and(|facts| facts.len() <= BYTES);
    let Some(input) = FileInput::open(path).ok().filter(|_| is_short) else {
        return false;
    };
    let mut said = StubSink::default();
    let is_read =
        input.size_bytes() <= BYTES && (format.read)(Source::of(&input, &mut said)).is_ok();
    is_read && !said.is_said && said.steps <= MESSAGES
}

/// Sees whether anybody says anything.
#[derive(Default)]
struct StubSink {
    steps: usize,
    is_said: bool,
}

impl Sink for StubSink {
    fn step(&mut self, step: Step) -> Result<()> {
        self.steps += 1;
        self.is_said |= match &step.action {
            Action::Append(message) => !message.is_injected(),
            Action::Hide(hide) => !hide.messages().all(Message::is_injected),
        };
        Ok(())
    }
}
