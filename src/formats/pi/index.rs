//! The first pass: every line is read once, and what remains of an entry is its place in the tree.

use std::collections::HashMap;
use std::rc::Rc;

use super::system;
use crate::error::Result;
use crate::formats::shared::parts::{said, time};
use crate::formats::shared::records::{self, LineReader, each_line_from};
use crate::formats::{Descent, Input, Problem, SessionEnd, SessionStart, Sink};
use crate::model::Span;
use crate::wire::json::{decode, quoted, string, word};

/// What no file has.
const LACKING: [&str; 2] = ["system prompt", "tool definitions"];
/// What none of OpenClaw's has. It is recorded elsewhere, cut and with secrets taken out, so that it is not what was sent.
const CLAWS_LACKING: [&str; 2] = [
    "system prompt",
    "tool definitions (some versions record both in ID.trajectory.jsonl, which is not read)",
];

lazy! {
    /// One line: the header or an entry.
    pub(super) struct Record {
        r#type, id, parent_id = "parentId", timestamp, message,
        /// Of a header.
        cwd,
        parent_session = "parentSession", model_id = "modelId",
        /// Of a compaction; older ones count entries, the header among them.
        summary,
        first_kept_entry_id = "firstKeptEntryId", first_kept_entry_index = "firstKeptEntryIndex",
        /// Of an extension's message.
        content,
        /// Of a session's name.
        name,
        /// Of a mark that the session stands elsewhere, and of what follows none of it.
        target_id = "targetId", append_parent_id = "appendParentId", append_mode = "appendMode",
        /// Of a header, where its row says which session's agent started it.
        spawned_by = "spawnedBy",
        /// Of a compaction: the prompt and the tools that hold behind it.
        system_message = "systemMessage",
        /// Of an edit: what is sent in place of an entry.
        replacement,
        /// Of a request that is no reply.
        model, usage,
    }
}

impl Record<'_> {
    /// What a header says of its session; `stem` is its name where it has no id.
    fn session(&self, stem: &str) -> SessionStart {
        let parent = string(self.parent_session);
        SessionStart {
            id: said(self.id).unwrap_or_else(|| stem.to_owned()),
            forked_from: parent.as_deref().and_then(id_of),
            descent: Descent {
                begun: time(self.timestamp),
                ..Descent::spawned_by(string(self.spawned_by))
            },
        }
    }
}

/// The session's id in the path of its file: what follows the time.
fn id_of(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next()?;
    let (_, id) = name.strip_suffix(".jsonl")?.split_once('_')?;
    Some(id.to_owned())
}

/// The session's id by its first line.
pub(super) fn descent(first_line: &str) -> Option<(String, Descent)> {
    let record = serde_json::from_str::<Record<'_>>(first_line).ok()?;
    let is_header = word(record.r#type)? == "session" && record.cwd.is_some();
    let start = record.session("");
    (is_header && !start.id.is_empty()).then_some((start.id, start.descent))
}

/// The session that the one was forked from whose header this is.
pub(super) fn copied_from(record: &str) -> Option<String> {
    if !record.contains(r#""parentSession""#) {
        return None;
    }
    let record = serde_json::from_str::<Record<'_>>(record).ok()?;
    string(record.parent_session).as_deref().and_then(id_of)
}

/// What an entry is to the importer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It says something.
    Message,
    /// It says the prompt, or what changes of it and of the tools.
    System,
    /// Another entry is sent otherwise from here on, or not.
    Edit(Option<u32>),
    /// A request that is no reply was counted.
    Usage,
    /// It sums up what stands before it on its way, but for what stands from this entry on.
    Compaction(Option<u32>),
    /// The session begins anew, but for what stands from this entry on.
    Reset(Option<u32>),
    /// The model is another one.
    Model,
    /// Nothing is sent of it.
    Other,
}

/// One entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) span: Span,
    pub(super) line: u64,
    pub(super) kind: Kind,
    /// The entry before it on its way. It always stands before it in the file, too.
    pub(super) parent: Option<u32>,
    /// The newest reset on its way.
    reset: Option<u32>,
}

/// All of a file but the text.
pub(super) struct Index {
    pub(super) start: Option<SessionStart>,
    pub(super) entries: Vec<Entry>,
    pub(super) end: SessionEnd,
    /// The models that entries change to, as JSON.
    pub(super) models: HashMap<u32, Rc<str>>,
    by_id: HashMap<String, u32>,
    /// Whether each entry follows the one before it, and nothing is summed up.
    pub(super) is_one_way: bool,
    /// Where the session stands.
    pub(super) leaf: Option<u32>,
    /// What the next entry is said to follow where it follows the leaf.
    appends: Option<u32>,
    /// The newest reset.
    reset: Option<u32>,
}

struct Reader<'a> {
    index: Index,
    stem: &'a str,
    /// Whether its tool takes out entries, and puts others elsewhere, and leaves the names of their parents.
    is_repaired: bool,
    sink: &'a mut dyn Sink,
}

impl Index {
    /// Reads the lines of `input` from `offset` on.
    pub(super) fn read(
        input: &dyn Input,
        offset: u64,
        stem: &str,
        is_repaired: bool,
        sink: &mut dyn Sink,
    ) -> Result<Self> {
        let mut reader = Reader {
            index: Self {
                start: None,
                entries: Vec::new(),
                end: SessionEnd::lacking(if is_repaired {
                    &CLAWS_LACKING
                } else {
                    &LACKING
                }),
                models: HashMap::new(),
                by_id: HashMap::new(),
                is_one_way: true,
                leaf: None,
                appends: None,
                reset: None,
            },
            stem,
            is_repaired,
            sink,
        };
        reader.index.end.lone_surrogates = each_line_from(input, offset, &mut reader)?;
        Ok(reader.index)
    }

    /// Whether an entry that names this one before it follows the leaf, as its tool takes it: behind a reset, and
    /// where it names what was put beside.
    fn is_misplaced(&self, parent: Option<u32>, kind: &str) -> bool {
        let reset = parent.and_then(|at| self.entries[at as usize].reset);
        let is_beside = parent == self.appends && parent != self.leaf;
        reset != self.reset || is_beside && kind != "leaf"
    }

    /// The way from the root to an entry, or from behind the first entry that `stops` it.
    pub(super) fn way(&self, leaf: u32, stops: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut way = Vec::new();
        let mut next = Some(leaf);
        while let Some(at) = next.filter(|at| !stops(*at)) {
            way.push(at);
            next = self.entries[at as usize].parent;
        }
        way.reverse();
        way
    }
}

impl LineReader for Reader<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }

    fn record(&mut self, record: records::Record<'_>) -> Result<()> {
        let (line, span) = (record.line, record.span());
        let Some(record) = decode::<Record<'_>>(Some(record.value)) else {
            return self.sink.problem(Problem::new(line, "not an entry"));
        };
        let index = &mut self.index;
        let kind = word(record.r#type).unwrap_or_default();
        if kind == "session" {
            if index.start.is_none() && index.entries.is_empty() {
                index.start = Some(record.session(self.stem));
                index.end.cwd = string(record.cwd);
            }
            index.end.other("session");
            return Ok(());
        }
        let here = index.entries.len() as u32;
        let leaf = index.leaf;
        let id = string(record.id);
        let is_side = word(record.append_mode).as_deref() == Some("side");
        // OpenClaw's mark of where the session stands: what follows it goes on from there.
        let above = if kind == "leaf" {
            record.target_id.or(record.parent_id)
        } else {
            record.parent_id
        };
        let parent = match word(above) {
            Some(parent) => {
                let found = index.by_id.get(&*parent).copied();
                if found.is_none() && leaf.is_some() {
                    let what = "is not in the file before it; the entry before it is taken";
                    let reason = format!("parent {parent} {what}");
                    self.sink.problem(Problem {
                        harmless: self.is_repaired,
                        ..Problem::new(line, reason)
                    })?;
                }
                found.or(leaf)
            }
            // A way from the root; in the first version each follows the one before.
            None if id.is_some() => None,
            None => leaf,
        };
        let parent = if self.is_repaired && !is_side && index.is_misplaced(parent, &kind) {
            leaf
        } else {
            parent
        };
        index.is_one_way &= parent == here.checked_sub(1) && !is_side;
        let kind = match &*kind {
            "message" if system::of(None, record.message).is_some() => Kind::System,
            "message" | "custom_message" | "branch_summary" => Kind::Message,
            "usage" => Kind::Usage,
            "context_edit" => {
                index.is_one_way = false;
                let target = word(record.target_id);
                Kind::Edit(target.and_then(|id| index.by_id.get(&*id).copied()))
            }
            "compaction" | "reset" => {
                index.is_one_way = false;
                let by_id = word(record.first_kept_entry_id);
                let by_id = by_id.and_then(|id| index.by_id.get(&*id).copied());
                let by_place = decode::<u32>(record.first_kept_entry_index);
                let by_place = by_place.and_then(|place| place.checked_sub(1));
                let first = by_id.or(by_place.filter(|place| *place < here));
                if kind == "reset" {
                    Kind::Reset(first)
                } else {
                    Kind::Compaction(first)
                }
            }
            "model_change" => match string(record.model_id) {
                Some(model) => {
                    index.models.insert(here, quoted(&model).into());
                    Kind::Model
                }
                None => Kind::Other,
            },
            "session_info" => {
                let name = string(record.name);
                let name = name.map(|name| name.trim().to_owned());
                let name = name.filter(|name| !name.is_empty());
                index.end.title = name.or(index.end.title.take());
                Kind::Other
            }
            _ => Kind::Other,
        };
        if matches!(
            kind,
            Kind::Model | Kind::Other | Kind::Edit(_) | Kind::Usage
        ) {
            index.end.other(word(record.r#type).unwrap_or_default());
        }
        if let Kind::Reset(_) = kind {
            index.reset = Some(here);
        }
        let above = parent.and_then(|at| index.entries[at as usize].reset);
        index.entries.push(Entry {
            span,
            line,
            kind,
            parent,
            reset: index.reset.filter(|reset| *reset == here).or(above),
        });
        let appends = word(record.append_parent_id);
        let appends = appends.and_then(|id| index.by_id.get(&*id).copied());
        index.appends = appends.or(Some(here));
        if !is_side {
            index.leaf = Some(here);
        }
        if let Some(id) = id {
            index.by_id.insert(id, here);
        }
        Ok(())
    }
}
